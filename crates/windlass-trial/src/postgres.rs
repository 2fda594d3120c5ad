//! A PostgreSQL server of one's own: started, stopped, killed and started again, and gone with its starter.
//!
//! The data folder is temporary and the port a free one of this machine. A small watcher process holds the other end of
//! a pipe: when the starter is gone, however it went, the watcher ends the server and removes the folder.

use std::fs;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::cluster::free_port;
use crate::network::Place;

/// Who owns everything in a server that was started here, and what lets them in.
pub const USER: &str = "windlass";
/// See [`USER`].
pub const PASSWORD: &str = "haul-away";

/// A server that is not ready by then will not be.
const START_WAIT: Duration = Duration::from_secs(60);
/// A server that has not ended by then is forced to.
const STOP_WAIT: Duration = Duration::from_secs(30);

/// Reads until the starter is gone, then ends what it left. The first argument is the folder.
const WATCHER: &str = r#"
trap '' INT TERM HUP
cat >/dev/null
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ]; then
    kill -QUIT "$pid" 2>/dev/null
    for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
fi
rm -rf "$1"
"#;

/// How a server is made to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Connections are ended, and everything is written down.
    Fast,
    /// At once: the next start recovers from the log.
    Immediate,
    /// `kill -9`.
    Kill,
}

/// A server.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    folder: PathBuf,
    /// Where it lives, if not where this process does.
    place: Option<Place>,
    port: u16,
    settings: Vec<String>,
    server: Option<Child>,
    /// Open as long as this process lives.
    _life: ChildStdin,
    watcher: Child,
}

impl PostgresServer {
    /// Whether there is a server to be started on this machine.
    pub fn is_installed() -> bool {
        programs().is_ok()
    }

    /// Makes a new, empty server and starts it. Settings are such as `max_connections=20`.
    pub fn start(settings: &[&str]) -> anyhow::Result<PostgresServer> {
        PostgresServer::start_at(None, settings)
    }

    /// The same in a place of its own, open to the others of its network.
    pub fn start_at(place: Option<&Place>, settings: &[&str]) -> anyhow::Result<PostgresServer> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let programs = programs()?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("windlass-postgres-{}-{number}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut watcher = Command::new("sh")
            .args(["-c", WATCHER, "watch-postgres"])
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("cannot start a shell")?;
        let life = watcher.stdin.take().context("the watcher has no input")?;
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        let place = place.cloned();
        let mut server =
            PostgresServer { programs, folder, place, port: 0, settings, server: None, _life: life, watcher };
        server.make()?;
        server.run()?;
        Ok(server)
    }

    fn make(&self) -> anyhow::Result<()> {
        let password = self.folder.join("password");
        fs::write(&password, PASSWORD)?;
        self.give(&self.folder)?;
        let made = self
            .command("initdb")
            .args(["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"])
            .arg(format!("--username={USER}"))
            .arg(format!("--pwfile={}", password.display()))
            .arg("-D")
            .arg(self.folder.join("data"))
            .output()
            .context("cannot run initdb")?;
        if !made.status.success() {
            bail!("initdb failed: {}", String::from_utf8_lossy(&made.stderr));
        }
        if self.place.is_some() {
            // Only loopback is let in otherwise.
            let mut rules = fs::OpenOptions::new().append(true).open(self.folder.join("data/pg_hba.conf"))?;
            writeln!(rules, "host all all all scram-sha-256")?;
        }
        Ok(())
    }

    /// Makes a file or folder the server's, and nobody else's.
    pub fn give(&self, path: &Path) -> anyhow::Result<()> {
        let private = Command::new("chmod").args(["-R", "go="]).arg(path).status()?;
        anyhow::ensure!(private.success(), "cannot make {} private", path.display());
        if is_root() {
            // PostgreSQL does not run as root.
            let owned = Command::new("chown").args(["-R", "postgres:postgres"]).arg(path).status()?;
            anyhow::ensure!(owned.success(), "cannot give {} to the user postgres", path.display());
        }
        Ok(())
    }

    /// Starts it again after it was stopped, on the same port, and waits until it is ready.
    pub fn run(&mut self) -> anyhow::Result<()> {
        let give_up = Instant::now() + START_WAIT;
        loop {
            if self.port == 0 {
                self.port = free_port()?;
            }
            let mut child = self.spawn()?;
            while child.try_wait()?.is_none() {
                if self.is_ready() {
                    self.server = Some(child);
                    return Ok(());
                }
                if Instant::now() > give_up {
                    child.kill()?;
                    bail!("the server is not ready after {START_WAIT:?}: {}", self.log());
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            // Somebody took the port, or what was killed is not quite gone.
            if Instant::now() > give_up {
                bail!("the server does not start: {}", self.log());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn spawn(&self) -> anyhow::Result<Child> {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.folder.join("log"))?;
        let mut command = self.command("postgres");
        command
            .arg("-D")
            .arg(self.folder.join("data"))
            .args(["-p", &self.port.to_string(), "-c", &format!("listen_addresses={}", self.address().ip())])
            .args(["-c", "unix_socket_directories="]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0);
        command.spawn().context("cannot run postgres")
    }

    fn is_ready(&self) -> bool {
        let host = self.address().ip().to_string();
        let ready =
            self.inside("pg_isready").args(["-q", "-h", &host, "-p", &self.port.to_string()]).status();
        ready.is_ok_and(|status| status.success())
    }

    /// One of PostgreSQL's programs, as a user that may run it.
    fn command(&self, program: &str) -> Command {
        let mut command = if is_root() {
            let mut command = self.inside("setpriv");
            let user = ["--reuid=postgres", "--regid=postgres", "--init-groups", "--"];
            command.args(user).arg(self.programs.join(program));
            command
        } else {
            self.inside(program)
        };
        command.current_dir("/").env("LC_ALL", "C");
        command
    }

    /// A program, PostgreSQL's own if it has one of that name, where the server is.
    fn inside(&self, program: &str) -> Command {
        let own = self.programs.join(program);
        let program = if own.exists() { own } else { PathBuf::from(program) };
        self.place.as_ref().map_or_else(|| Command::new(&program), |place| place.command(&program))
    }

    /// Makes it end, and waits until it has.
    pub fn stop(&mut self, how: Stop) -> anyhow::Result<()> {
        let Some(mut server) = self.server.take() else { return Ok(()) };
        let signal = match how {
            Stop::Fast => Signal::INT,
            Stop::Immediate => Signal::QUIT,
            Stop::Kill => Signal::KILL,
        };
        let give_up = Instant::now() + STOP_WAIT;
        send(&server, signal)?;
        while server.try_wait()?.is_none() {
            if Instant::now() > give_up {
                server.kill()?;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Freezes the process that takes new connections; those that are there live on.
    pub fn freeze(&self) -> anyhow::Result<()> {
        self.server.as_ref().map_or(Ok(()), |server| send(server, Signal::STOP))
    }

    /// Lets it go on.
    pub fn thaw(&self) -> anyhow::Result<()> {
        self.server.as_ref().map_or(Ok(()), |server| send(server, Signal::CONT))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        let loopback = || (Ipv4Addr::LOCALHOST, self.port).into();
        self.place.as_ref().map_or_else(loopback, |place| place.at(self.port))
    }

    /// The address of a database, as a store is told it.
    pub fn url(&self, database: &str) -> String {
        self.url_at(self.address(), database)
    }

    /// The same by another way, such as a proxy.
    pub fn url_at(&self, way: SocketAddr, database: &str) -> String {
        format!("postgres://{USER}:{PASSWORD}@{way}/{database}")
    }

    /// Makes a new database.
    pub fn create_database(&self, name: &str) -> anyhow::Result<()> {
        self.sql("postgres", &format!("CREATE DATABASE {name}")).map(drop)
    }

    /// Does something in a database; what it gives, as text.
    pub fn sql(&self, database: &str, statement: &str) -> anyhow::Result<String> {
        let done = self
            .inside("psql")
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "-v", "ON_ERROR_STOP=1"])
            .args(["-d", &self.url(database), "-c", statement])
            .output()
            .context("cannot run psql")?;
        if !done.status.success() {
            bail!("`{statement}` failed: {}", String::from_utf8_lossy(&done.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    /// Its own log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// The folder with everything that is its.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let _ = self.stop(Stop::Immediate);
        // The watcher would do the rest, but a test that has ended should leave nothing for a moment either.
        let _ = fs::remove_dir_all(&self.folder);
        let _ = self.watcher.kill();
        let _ = self.watcher.wait();
    }
}

fn send(to: &Child, signal: Signal) -> anyhow::Result<()> {
    let pid = i32::try_from(to.id()).ok().and_then(Pid::from_raw).context("a process has a number")?;
    Ok(kill_process(pid, signal)?)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Where PostgreSQL's programs are: the newest that Debian has installed, or those of the search path.
fn programs() -> anyhow::Result<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for version in fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten() {
        let bin = version.path().join("bin");
        let number = version.file_name().to_string_lossy().parse().unwrap_or(0);
        if bin.join("postgres").exists() {
            found.push((number, bin));
        }
    }
    if let Some((_, bin)) = found.into_iter().max() {
        return Ok(bin);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let known = std::env::split_paths(&path).find(|folder| folder.join("initdb").exists());
    known.context("PostgreSQL is not installed; hint: run scripts/ensure-packages")
}
