//! A network that can be cut: every process in a namespace of its own, and a router between them.
//!
//! ```text
//!   master   master2   worker1   store   registry     people (this process)
//!      │        │         │        │        │            │
//!      └────────┴─────────┴── router ───────┴────────────┘
//!                              ▲ cuts are made here
//! ```
//!
//! Dropping what a process sends in its own namespace would make its calls fail at once, which is an error and no
//! partition. The router drops what goes from one place to another in silence: sends succeed and nothing arrives. A cut
//! has a direction; a partition is a list of them.
//!
//! This process stays where it is. One thread of it lives in the namespace of the people, and carries what comes to a
//! [door](Place::door), a port of the loopback address, to the place behind it. Nothing of the machine's own network is
//! changed, and several networks have the same addresses side by side.
//!
//! The namespaces are gone when the last who knows the network is. What a process that was killed has left behind, the
//! next network removes: their names say whose they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// Where iproute2 keeps the names of namespaces.
const NAMES: &str = "/run/netns";
/// How names of namespaces of a trial begin; then come whose it is, which of theirs, and what it is for.
const PREFIX: &str = "windlass-";
/// In front of all other rules for what is carried where.
const CUT_RULE: &str = "pref 100";
/// Places are numbered in one byte of their address.
const MOST_PLACES: usize = 200;

/// Why there is no such network.
#[derive(Debug, thiserror::Error)]
#[error("network namespaces cannot be made here: {0}")]
pub struct Impossible(String);

/// What goes from one place to another.
pub type Way = (String, String);

/// Both directions between two places.
pub fn between(one: &str, other: &str) -> Vec<Way> {
    vec![(one.to_owned(), other.to_owned()), (other.to_owned(), one.to_owned())]
}

/// A network. Cheap to clone; it is removed with the last clone and the last place.
#[derive(Clone, Debug)]
pub struct Network(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    prefix: String,
    made: Mutex<Made>,
    people: mpsc::UnboundedSender<Errand>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Made {
    places: BTreeMap<String, Ipv4Addr>,
    cuts: BTreeSet<(Ipv4Addr, Ipv4Addr)>,
}

/// Where a process lives.
#[derive(Clone, Debug)]
pub struct Place {
    network: Network,
    name: String,
    address: Ipv4Addr,
}

/// What the thread among the people is asked to do.
#[derive(Debug)]
enum Errand {
    /// Carry what comes here to there.
    Door(TcpListener, SocketAddr),
    /// Connect to there.
    Connect(SocketAddr, oneshot::Sender<io::Result<TcpStream>>),
}

impl Network {
    /// A router with nobody but the people, after what others left behind is removed.
    pub fn new() -> Result<Network, Impossible> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        sweep();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let pid = std::process::id();
        let began = began(pid).ok_or_else(|| Impossible("this process is not in /proc".to_owned()))?;
        // Errands stay few: each is somebody who waits, or a door.
        let (people, errands) = mpsc::unbounded_channel();
        let inner = Inner {
            prefix: format!("{PREFIX}{pid}-{began}-{number}-"),
            made: Mutex::default(),
            people,
            thread: Mutex::default(),
        };
        let network = Network(Arc::new(inner));
        let forbidden = |error: anyhow::Error| Impossible(format!("{error:#}"));
        network.make_router().map_err(forbidden)?;
        let place = network.place("people").map_err(forbidden)?;
        let thread = live_at(&place.namespace_file(), errands).map_err(forbidden)?;
        *network.0.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(network)
    }

    fn make_router(&self) -> anyhow::Result<()> {
        let router = self.0.namespace("router");
        ip(&["-batch", "-"], &format!("netns add {router}\n"))?;
        ip(&["-n", &router, "-batch", "-"], "link set lo up\n")?;
        let forward = "echo 1 > /proc/sys/net/ipv4/ip_forward";
        run(Command::new("nsenter").arg(self.0.net("router")).args(["sh", "-c", forward]), "")
    }

    /// The place of this name, which is made if it is not there.
    pub fn place(&self, name: &str) -> anyhow::Result<Place> {
        let mut made = self.made();
        if let Some(address) = made.places.get(name) {
            return Ok(Place { network: self.clone(), name: name.to_owned(), address: *address });
        }
        let number = made.places.len() + 1;
        let byte = u8::try_from(number).ok().filter(|_| number <= MOST_PLACES);
        let byte = byte.with_context(|| format!("a network has at most {MOST_PLACES} places"))?;
        let (address, gate) = (Ipv4Addr::new(10, 77, byte, 2), Ipv4Addr::new(10, 77, byte, 1));
        let (router, there, link) =
            (self.0.namespace("router"), self.0.namespace(name), format!("n{number}"));
        let link_to_it =
            format!("link add name {link} netns {router} type veth peer name eth0 netns {there}\n");
        ip(&["-batch", "-"], &format!("netns add {there}\n{link_to_it}"))?;
        let its_side = format!(
            "link set lo up\naddr add {address}/24 dev eth0\nlink set eth0 up\nroute add default via {gate}\n"
        );
        ip(&["-n", &there, "-batch", "-"], &its_side)?;
        let our_side = format!("addr add {gate}/24 dev {link}\nlink set {link} up\n");
        ip(&["-n", &router, "-batch", "-"], &our_side)?;
        made.places.insert(name.to_owned(), address);
        Ok(Place { network: self.clone(), name: name.to_owned(), address })
    }

    /// From now on nothing arrives on these ways, and nobody is told. Those that are cut already stay so.
    pub async fn cut(&self, ways: &[Way]) -> anyhow::Result<()> {
        self.change(ways, true).await
    }

    /// These ways carry again.
    pub async fn mend(&self, ways: &[Way]) -> anyhow::Result<()> {
        self.change(ways, false).await
    }

    /// All ways carry again.
    pub async fn heal(&self) -> anyhow::Result<()> {
        let network = self.clone();
        let task = move || {
            let mut made = network.made();
            let cuts: Vec<_> = made.cuts.iter().copied().collect();
            network.set(&mut made, &cuts, false)
        };
        tokio::task::spawn_blocking(task).await?
    }

    async fn change(&self, ways: &[Way], is_cut: bool) -> anyhow::Result<()> {
        let (network, ways) = (self.clone(), ways.to_vec());
        let task = move || {
            let mut made = network.made();
            let mut wanted = Vec::new();
            for (from, to) in &ways {
                let find = |name: &String| {
                    made.places.get(name).copied().with_context(|| format!("there is no place `{name}`"))
                };
                let way = (find(from)?, find(to)?);
                if made.cuts.contains(&way) != is_cut {
                    wanted.push(way);
                }
            }
            network.set(&mut made, &wanted, is_cut)
        };
        // It waits for another program.
        tokio::task::spawn_blocking(task).await?
    }

    fn set(&self, made: &mut Made, ways: &[(Ipv4Addr, Ipv4Addr)], is_cut: bool) -> anyhow::Result<()> {
        if ways.is_empty() {
            return Ok(());
        }
        let verb = if is_cut { "add" } else { "del" };
        let rule = |(from, to): &(Ipv4Addr, Ipv4Addr)| {
            format!("rule {verb} from {from} to {to} {CUT_RULE} blackhole\n")
        };
        let rules: String = ways.iter().map(rule).collect();
        ip(&["-n", &self.0.namespace("router"), "-batch", "-"], &rules)?;
        for way in ways {
            if is_cut {
                made.cuts.insert(*way);
            } else {
                made.cuts.remove(way);
            }
        }
        Ok(())
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.0.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn namespace(&self, place: &str) -> String {
        format!("{}{place}", self.prefix)
    }

    /// What nsenter is told.
    fn net(&self, place: &str) -> String {
        format!("--net={NAMES}/{}", self.namespace(place))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Without anybody to send errands the thread ends.
        let (nobody, _) = mpsc::unbounded_channel();
        self.people = nobody;
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
        let made = self.made.get_mut().unwrap_or_else(PoisonError::into_inner);
        for place in made.places.keys().map(String::as_str).chain(["router"]) {
            let _ = ip(&["netns", "del", &format!("{}{place}", self.prefix)], "");
        }
    }
}

impl Place {
    /// What it is called in its network.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One of its ports, as other places reach it.
    pub fn at(&self, port: u16) -> SocketAddr {
        (self.address, port).into()
    }

    /// A command that enters the namespace and becomes the program, with the same number.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.args([&self.network.0.net(&self.name), "--"]).arg(program);
        command
    }

    /// An address on loopback behind which one of its ports is, for this process.
    pub fn door(&self, port: u16) -> anyhow::Result<SocketAddr> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        self.ask(Errand::Door(listener, self.at(port)))?;
        Ok(address)
    }

    /// A connection to one of its ports, from the people.
    pub async fn connect(&self, port: u16) -> anyhow::Result<tokio::net::TcpStream> {
        let (answer, answered) = oneshot::channel();
        self.ask(Errand::Connect(self.at(port), answer))?;
        let stream = answered.await.context("the network is gone")??;
        Ok(tokio::net::TcpStream::from_std(stream)?)
    }

    fn ask(&self, errand: Errand) -> anyhow::Result<()> {
        self.network.0.people.send(errand).ok().context("nobody carries anything into the network")
    }

    fn namespace_file(&self) -> PathBuf {
        Path::new(NAMES).join(self.network.0.namespace(&self.name))
    }
}

/// A thread that lives in a namespace and does errands there.
fn live_at(namespace: &Path, errands: mpsc::UnboundedReceiver<Errand>) -> anyhow::Result<JoinHandle<()>> {
    let namespace = File::open(namespace).with_context(|| format!("cannot open {}", namespace.display()))?;
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("people".to_owned()).spawn(move || {
        // Only this thread moves: what it opens from now on is there.
        let moved = move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network));
        let is_there = moved.is_ok();
        let _ = tell.send(moved);
        if is_there && let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            runtime.block_on(do_errands(errands));
        }
    })?;
    told.recv().context("a thread has ended")?.context("cannot enter a namespace")?;
    Ok(thread)
}

async fn do_errands(mut errands: mpsc::UnboundedReceiver<Errand>) {
    let mut under_way = JoinSet::new();
    while let Some(errand) = errands.recv().await {
        while under_way.try_join_next().is_some() {}
        match errand {
            Errand::Door(listener, to) => {
                under_way.spawn(keep_door(listener, to));
            }
            Errand::Connect(to, answer) => {
                under_way.spawn(async move {
                    let connected = tokio::net::TcpStream::connect(to).await;
                    let _ = answer.send(connected.and_then(tokio::net::TcpStream::into_std));
                });
            }
        }
    }
}

/// Carries every connection that comes.
async fn keep_door(listener: TcpListener, to: SocketAddr) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut carried = JoinSet::new();
    loop {
        let Ok((mut near, _)) = listener.accept().await else { continue };
        while carried.try_join_next().is_some() {}
        carried.spawn(async move {
            // Whoever is not there is not there for who knocks either: the connection ends.
            if let Ok(mut far) = tokio::net::TcpStream::connect(to).await {
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            }
        });
    }
}

/// Removes the namespaces of trials whose process is gone, and ends what they left running in them.
fn sweep() {
    let Ok(names) = fs::read_dir(NAMES) else { return };
    for name in names.flatten() {
        let name = name.file_name().to_string_lossy().into_owned();
        if !is_orphan(&name) {
            continue;
        }
        let left = Command::new("ip").args(["netns", "pids", &name]).output();
        let left = left.map(|left| String::from_utf8_lossy(&left.stdout).into_owned()).unwrap_or_default();
        for pid in left.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
            let _ = kill_process(pid, Signal::KILL);
        }
        // Somebody else may sweep at the same time.
        let _ = ip(&["netns", "del", &name], "");
    }
}

/// Whether a namespace is that of a trial whose process is gone.
fn is_orphan(namespace: &str) -> bool {
    let Some(mut words) = namespace.strip_prefix(PREFIX).map(|rest| rest.split('-')) else { return false };
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
    let (Some(pid), Some(since)) = (number(), number()) else { return false };
    u32::try_from(pid).is_ok_and(|pid| began(pid) != Some(since))
}

/// When a process began, in ticks since the machine did: its number may have another owner later.
fn began(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Its name may have blanks in it.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

fn ip(arguments: &[&str], input: &str) -> anyhow::Result<()> {
    run(Command::new("ip").args(arguments), input)
}

fn run(command: &mut Command, input: &str) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run `{program}`; hint: install it with scripts/ensure-packages"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that has ended before it has read everything says why itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let done = child.wait_with_output()?;
    if !done.status.success() {
        bail!("`{program}` says: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// What is waited for is there long before this.
    const LONG: Duration = Duration::from_secs(60);
    /// What is cut does not arrive however long this is.
    const WHILE: Duration = Duration::from_millis(500);

    /// A network, or word that there is none to be judged.
    fn network() -> Option<Network> {
        Network::new().inspect_err(|error| println!("not judged: {error}")).ok()
    }

    /// Somebody at a place who says everything twice.
    async fn echo(place: &Place, port: u16) {
        let (namespace, at) = (place.namespace_file(), place.at(port));
        let (tell, told) = oneshot::channel();
        std::thread::spawn(move || {
            let namespace = File::open(namespace).unwrap();
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            let listener = TcpListener::bind(at).unwrap();
            tell.send(()).unwrap();
            while let Ok((mut stream, _)) = listener.accept() {
                std::thread::spawn(move || {
                    let mut said = [0];
                    while io::Read::read_exact(&mut stream, &mut said).is_ok() {
                        stream.write_all(&[said[0], said[0]]).unwrap();
                    }
                });
            }
        });
        told.await.unwrap();
    }

    async fn answer(stream: &mut tokio::net::TcpStream, wait: Duration) -> Option<[u8; 2]> {
        let mut heard = [0, 0];
        tokio::time::timeout(wait, stream.read_exact(&mut heard)).await.ok()?.unwrap();
        Some(heard)
    }

    #[tokio::test]
    async fn what_is_cut_is_dropped_in_silence_and_arrives_once_it_is_mended() {
        let Some(network) = network() else { return };
        let place = network.place("echo").unwrap();
        echo(&place, 9).await;
        let mut stream = tokio::net::TcpStream::connect(place.door(9).unwrap()).await.unwrap();
        stream.write_all(b"a").await.unwrap();
        assert_eq!(answer(&mut stream, LONG).await, Some(*b"aa"));
        for (from, to) in [("people", "echo"), ("echo", "people")] {
            let way = [(from.to_owned(), to.to_owned())];
            network.cut(&way).await.unwrap();
            network.cut(&way).await.unwrap();
            stream.write_all(b"b").await.unwrap();
            assert_eq!(answer(&mut stream, WHILE).await, None, "from {from} to {to}");
            network.mend(&way).await.unwrap();
            assert_eq!(answer(&mut stream, LONG).await, Some(*b"bb"));
        }
        network.cut(&between("people", "echo")).await.unwrap();
        assert!(tokio::time::timeout(WHILE, place.connect(9)).await.is_err(), "nobody is told");
        network.heal().await.unwrap();
        let mut other = tokio::time::timeout(LONG, place.connect(9)).await.unwrap().unwrap();
        other.write_all(b"c").await.unwrap();
        assert_eq!(answer(&mut other, LONG).await, Some(*b"cc"));
        assert!(network.cut(&between("people", "nobody")).await.is_err());
    }

    #[test]
    fn a_network_leaves_nothing_and_removes_what_the_dead_have_left() {
        let Some(network) = network() else { return };
        let names = |prefix: &str| {
            let names = fs::read_dir(NAMES).unwrap().flatten();
            names.filter(|name| name.file_name().to_string_lossy().starts_with(prefix)).count()
        };
        let prefix = network.0.prefix.clone();
        network.place("one").unwrap();
        assert_eq!(names(&prefix), 3, "router, people and one");
        let panicked = std::thread::spawn(move || {
            let _network = network;
            panic!("a test may fail");
        });
        assert!(panicked.join().is_err());
        assert_eq!(names(&prefix), 0);
        // Nobody's process was ever the first of a machine and began before it.
        let dead = format!("{PREFIX}1-{}-0-router", u64::MAX);
        ip(&["netns", "add", &dead], "").unwrap();
        let mut sleep = Command::new("nsenter");
        let mut left = sleep.arg(format!("--net={NAMES}/{dead}")).args(["sleep", "1000"]).spawn().unwrap();
        // Others may sweep, too, as soon as it is there.
        let is_in = || Command::new("ip").args(["netns", "pids", &dead]).output().unwrap().stdout.len() > 1;
        while !is_in() && left.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let next = Network::new().unwrap();
        assert_eq!(names(&dead), 0);
        assert!(!left.wait().unwrap().success(), "it was killed");
        assert_eq!(names(&next.0.prefix), 2);
    }
}
