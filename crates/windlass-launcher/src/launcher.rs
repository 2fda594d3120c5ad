//! The launcher proper: starts, signals and reaps, as it is told, and says what became of it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send};
use rustix::process::{
    Pid, PidfdFlags, Signal as System, WaitOptions, WaitStatus, getpgid, getpid, getppid, getsid, pidfd_open,
    set_child_subreaper, wait,
};

use crate::monotonic;
use crate::protocol::{self, Command, FromLauncher, Key, Malformed, Signal, Status, ToLauncher};
use crate::start::{Start, Starter, block_signals};
use crate::tree::{self, Children, Mark, Marks};

/// So much is read from the worker at once.
const READ: usize = 64 << 10;
/// Descriptors that come with one read: the kernel's own limit for one message.
const DESCRIPTORS: usize = 253;
/// That something runs may be said so much later, in nanoseconds. Of what ends sooner, the worker hears once instead of
/// twice, and is woken once. Nobody misses so short a time.
const START_UNSAID: u64 = 5_000_000;
/// Variables of the worker that are its own business, its tokens above all.
const PRIVATE: &[u8] = b"WINDLASS_";

/// Serves the worker at the other end of standard input, then ends everything it started.
pub fn main() -> ExitCode {
    let ended = Launcher::new().and_then(|mut launcher| {
        let served = launcher.serve();
        // Whatever happened, nothing stays behind; and the worker sees its socket close only then.
        launcher.children.end_all().and(served)
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("windlass launcher: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Launcher {
    worker: OwnedFd,
    /// Readable when a child has ended.
    signals: OwnedFd,
    /// Readable when the keeper has ended.
    keeper: OwnedFd,
    /// What came from the worker and is not a whole message yet, and the descriptors that came with it.
    inbox: Vec<u8>,
    descriptors: VecDeque<OwnedFd>,
    /// What the worker has not taken yet. It stays small: a handful of short messages for each attempt.
    outbox: Vec<u8>,
    /// Until when all of that may wait for more, if it may.
    unsaid_until: Option<u64>,
    null: File,
    variables: Vec<CString>,
    starter: Starter,
    children: Children,
    marks: Marks,
    trees: BTreeMap<Key, Tree>,
    /// The processes that were started and not reaped.
    leaders: HashMap<Pid, Key>,
    /// What this process was left by parents that died, and whose it is, as far as that is known.
    orphans: HashMap<Pid, Option<Key>>,
}

/// Everything that runs under a key.
struct Tree {
    mark: Mark,
    session: Pid,
    /// Whether the process that was started was not reaped yet.
    led: bool,
    /// Whether everything that turns up in it is to be killed.
    forced: bool,
}

impl Launcher {
    fn new() -> io::Result<Launcher> {
        let signals = block_signals()?;
        set_child_subreaper(Some(getpid()))?;
        let keeper = std::env::args().nth(3).and_then(|text| Pid::from_raw(text.parse().ok()?));
        let keeper = keeper.ok_or_else(|| io::Error::other("started by hand"))?;
        let keeper_handle = pidfd_open(keeper, PidfdFlags::empty())?;
        if getppid() != Some(keeper) {
            return Err(io::Error::other("the keeper is gone"));
        }
        let worker = rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?;
        let null = File::options().read(true).write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&null)?;
        let variables = std::env::vars_os()
            .filter(|(name, _)| !name.as_bytes().starts_with(PRIVATE))
            .filter_map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok())
            .collect();
        Ok(Launcher {
            worker,
            signals,
            keeper: keeper_handle,
            inbox: vec![],
            descriptors: VecDeque::new(),
            outbox: vec![],
            unsaid_until: None,
            null,
            variables,
            starter: Starter::new(),
            children: Children::new()?,
            marks: Marks::new(),
            trees: BTreeMap::new(),
            leaders: HashMap::new(),
            orphans: HashMap::new(),
        })
    }

    /// Until the worker or the keeper is gone.
    fn serve(&mut self) -> io::Result<()> {
        loop {
            let may_wait = self.may_wait();
            let wanted = match may_wait {
                Some(_) => PollFlags::IN,
                None if self.outbox.is_empty() => PollFlags::IN,
                None => PollFlags::IN | PollFlags::OUT,
            };
            let mut ready = [
                PollFd::new(&self.worker, wanted),
                PollFd::new(&self.signals, PollFlags::IN),
                PollFd::new(&self.keeper, PollFlags::IN),
            ];
            match poll(&mut ready, may_wait.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [worker, signals, keeper] = ready.map(|fd| !fd.revents().is_empty());
            if keeper {
                return Ok(());
            }
            // Ends first: what is started next may be given the number of a process that is reaped here.
            if signals {
                self.reap()?;
            }
            if worker && !self.listen()? {
                return Ok(());
            }
            if self.may_wait().is_none() && !self.speak()? {
                return Ok(());
            }
        }
    }

    /// How long what there is to say may wait for more; `None` if there is nothing, or it may not.
    fn may_wait(&self) -> Option<Timespec> {
        let left = self.unsaid_until?.checked_sub(monotonic()).filter(|left| *left > 0)?;
        Some(Timespec { tv_sec: 0, tv_nsec: left.cast_signed() })
    }

    /// Takes and does what the worker has said; false if it is gone.
    fn listen(&mut self) -> io::Result<bool> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let held = self.inbox.len();
        self.inbox.resize(held + READ, 0);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let mut buffer = [io::IoSliceMut::new(&mut self.inbox[held..])];
        let received = recvmsg(&self.worker, &mut buffer, &mut ancillary, flags).map(|message| message.bytes);
        self.inbox.truncate(held + received.unwrap_or(0));
        match received {
            Ok(0) | Err(Errno::CONNRESET) => return Ok(false),
            Ok(_) => {}
            Err(Errno::AGAIN | Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        let mut done = 0;
        while let Some((message, length)) = protocol::decode(&self.inbox[done..]).map_err(io::Error::other)? {
            done += length;
            match message {
                ToLauncher::Spawn(key, command) => {
                    let (Some(out), Some(err)) = (self.descriptors.pop_front(), self.descriptors.pop_front())
                    else {
                        return Err(io::Error::other(Malformed::Descriptors));
                    };
                    self.spawn(key, &command, &out, &err);
                }
                ToLauncher::Signal(key, signal) => self.signal(key, signal)?,
            }
        }
        self.inbox.drain(..done);
        Ok(true)
    }

    /// Sends what there is to say, as much as the worker takes; false if it is gone.
    fn speak(&mut self) -> io::Result<bool> {
        self.unsaid_until = None;
        while !self.outbox.is_empty() {
            match send(&self.worker, &self.outbox, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => drop(self.outbox.drain(..sent)),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(Errno::PIPE | Errno::CONNRESET) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    fn say(&mut self, message: &FromLauncher) {
        self.unsaid_until = match message {
            FromLauncher::Spawned(_, _, since) if self.outbox.is_empty() => Some(since + START_UNSAID),
            FromLauncher::Spawned(..) => self.unsaid_until,
            _ => None,
        };
        protocol::encode(message, &mut self.outbox);
    }

    fn spawn(&mut self, key: Key, command: &Command, out: &OwnedFd, err: &OwnedFd) {
        let mark = self.marks.next();
        match self.start(command, out, err) {
            Ok(leader) => {
                self.trees.insert(key, Tree { mark, session: leader, led: true, forced: false });
                self.leaders.insert(leader, key);
                let process = leader.as_raw_nonzero().get().cast_unsigned();
                self.say(&FromLauncher::Spawned(key, process, monotonic()));
            }
            Err(error) => {
                let number = error.raw_os_error().unwrap_or_else(|| Errno::INVAL.raw_os_error());
                self.say(&FromLauncher::Failed(key, number));
            }
        }
    }

    fn start(&mut self, command: &Command, out: &OwnedFd, err: &OwnedFd) -> io::Result<Pid> {
        let strings = |list: &[Vec<u8>]| {
            list.iter().map(|text| CString::new(text.clone())).collect::<Result<Vec<_>, _>>()
        };
        let (arguments, added) = (strings(&command.argv)?, strings(&command.env)?);
        let variables = merged(&self.variables, &added);
        let program = find(arguments.first().ok_or(Errno::INVAL)?, &variables)?;
        let folder = CString::new(command.folder.clone())?;
        let arguments: Vec<&CStr> = arguments.iter().map(CString::as_c_str).collect();
        self.starter.start(&Start {
            program: &program,
            arguments: &arguments,
            variables: &variables,
            folder: &folder,
            streams: [self.null.as_fd(), out.as_fd(), err.as_fd()],
        })
    }

    /// Signals a whole tree: the group of its leader at once, and then whatever has left it.
    fn signal(&mut self, key: Key, signal: Signal) -> io::Result<()> {
        self.adopt()?;
        let Some(tree) = self.trees.get_mut(&key) else { return Ok(()) };
        tree.forced |= signal == Signal::Kill;
        let group = tree.session;
        let mut refused = vec![];
        let mut note = |process: Pid, result: Result<(), Errno>| match result {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => refused.push((process, error)),
        };
        let mut roots: Vec<Pid> =
            self.orphans.iter().filter(|(_, owner)| **owner == Some(key)).map(|(pid, _)| *pid).collect();
        let below: Vec<_> = roots
            .iter()
            .chain(tree.led.then_some(&group))
            .flat_map(|root| tree::descendants(*root))
            .collect();
        if tree.led {
            for each in system(signal) {
                note(group, tree::signal_child(group, *each));
            }
            // They had it with their group.
            roots.retain(|root| getpgid(Some(*root)) != Ok(group));
        }
        for root in roots {
            for each in system(signal) {
                note(root, rustix::process::kill_process(root, *each));
            }
        }
        for (process, parent) in below {
            if !(tree.led && getpgid(Some(process)) == Ok(group)) {
                for each in system(signal) {
                    note(process, tree::signal_descendant(process, parent, *each));
                }
            }
        }
        for (process, error) in refused {
            let process = process.as_raw_nonzero().get().cast_unsigned();
            self.say(&FromLauncher::Unkillable(key, process, error.raw_os_error()));
        }
        Ok(())
    }

    /// Reaps everything that has ended, and says which trees are gone with it.
    fn reap(&mut self) -> io::Result<()> {
        // However many have ended, there is one signal of it; the next end is another.
        let _ = rustix::io::read(&self.signals, &mut [0u8; 128]);
        let mut any = false;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((ended, status))) => {
                    any = true;
                    self.reaped(ended, status);
                }
                Ok(None) | Err(Errno::CHILD) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if any { self.end_trees() } else { Ok(()) }
    }

    fn reaped(&mut self, ended: Pid, status: WaitStatus) {
        self.orphans.remove(&ended);
        let Some(key) = self.leaders.remove(&ended) else { return };
        if let Some(tree) = self.trees.get_mut(&key) {
            tree.led = false;
        }
        let status = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Status::Code(code),
            (None, signal) => Status::Signal(signal.unwrap_or_default()),
        };
        self.say(&FromLauncher::Exited(key, status));
    }

    /// Says which trees without a leader have nobody left, and ends what is to end.
    ///
    /// Invariant: of a tree whose leader was reaped, every process is an orphan or below one. So when there is no
    /// orphan of it, it is gone; and when an orphan ends, a signal says so, and what it leaves are orphans.
    fn end_trees(&mut self) -> io::Result<()> {
        if self.leaders.len() < self.trees.len() {
            self.adopt()?;
            let leaderless: Vec<Key> =
                self.trees.iter().filter(|(_, tree)| !tree.led).map(|(key, _)| *key).collect();
            for key in leaderless {
                if !self.orphans.values().any(|owner| *owner == Some(key)) {
                    self.trees.remove(&key);
                    self.say(&FromLauncher::Gone(key));
                }
            }
        }
        for (orphan, owner) in &self.orphans {
            // What hides whose it is may stay while it could be anybody's.
            let forced = match owner {
                Some(key) => self.trees.get(key).is_none_or(|tree| tree.forced && !tree.led),
                None => self.trees.is_empty(),
            };
            if forced {
                let _ = rustix::process::kill_process(*orphan, System::KILL);
            }
        }
        Ok(())
    }

    /// Finds out which processes were left to this one since, and whose they are.
    fn adopt(&mut self) -> io::Result<()> {
        for child in self.children.list()? {
            if !self.leaders.contains_key(&child) && !self.orphans.contains_key(&child) {
                let owner = owner(&self.trees, child);
                self.orphans.insert(child, owner);
            }
        }
        Ok(())
    }
}

/// Whose an orphan is: by its mark, or else by its session.
fn owner(trees: &BTreeMap<Key, Tree>, orphan: Pid) -> Option<Key> {
    let (mark, session) = (tree::mark_of(orphan), getsid(Some(orphan)).ok());
    let marked = trees.iter().find(|(_, tree)| Some(tree.mark) == mark);
    let found = marked.or_else(|| trees.iter().find(|(_, tree)| Some(tree.session) == session));
    found.map(|(key, _)| *key)
}

/// What a process is sent. One that was stopped gets to see that it is asked to end only when it goes on.
fn system(signal: Signal) -> &'static [System] {
    match signal {
        Signal::Term => &[System::TERM, System::CONT],
        Signal::Kill => &[System::KILL],
    }
}

/// Variables with others added; the last of a name counts.
fn merged<'a>(ours: &'a [CString], added: &'a [CString]) -> Vec<&'a CStr> {
    let mut all: Vec<&CStr> = vec![];
    let mut names = std::collections::HashSet::new();
    for variable in added.iter().rev().chain(ours) {
        let name = variable.to_bytes().split(|byte| *byte == b'=').next().unwrap_or_default();
        if names.insert(name) {
            all.push(variable);
        }
    }
    all
}

/// The file of a program.
fn find(name: &CStr, variables: &[&CStr]) -> io::Result<CString> {
    if name.to_bytes().contains(&b'/') {
        return Ok(name.to_owned());
    }
    let path = variables.iter().find_map(|variable| variable.to_bytes().strip_prefix(b"PATH="));
    let folders = path.unwrap_or(b"/usr/local/bin:/usr/bin:/bin").split(|byte| *byte == b':');
    for folder in folders.filter(|folder| folder.starts_with(b"/")) {
        let file = CString::new([folder, b"/", name.to_bytes()].concat())?;
        let path = std::path::PathBuf::from(std::ffi::OsString::from_vec(file.as_bytes().to_vec()));
        if access(&file, Access::EXEC_OK).is_ok() && path.is_file() {
            return Ok(file);
        }
    }
    Err(Errno::NOENT.into())
}
