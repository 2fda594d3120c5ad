//! Which processes there are below this one, whose they are, and how they are signalled safely.
//!
//! A process number may be used again as soon as its process was reaped. So a number is signalled only if the
//! process is a child of this one, which nobody else can reap, or through a pidfd of a process whose parent was
//! looked up after the pidfd was opened.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, getpgid, getpid, kill_process,
    kill_process_group, pidfd_open, pidfd_send_signal, setrlimit, wait,
};

/// Marks begin here: in microseconds, twelve days. See [`Marks`].
const MARK_FIRST: u64 = 1 << 40;

/// How long the end of everything waits for a child's end before it looks whether there are new ones.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The children of this process, its own and those it was left.
pub struct Children {
    list: File,
    text: Vec<u8>,
}

impl Children {
    /// For the calling thread, which must be the process's only one.
    pub fn new() -> io::Result<Children> {
        let me = getpid().as_raw_nonzero();
        Ok(Children { list: File::open(format!("/proc/self/task/{me}/children"))?, text: vec![0; 4096] })
    }

    /// All of them, dead ones that were not reaped too. Complete, because only this process takes children off
    /// the list, by reaping them, and not while it reads.
    pub fn list(&mut self) -> io::Result<impl Iterator<Item = Pid> + '_> {
        let mut length = 0;
        loop {
            match self.list.read_at(&mut self.text[length..], length as u64)? {
                0 => break,
                read => length += read,
            }
            if length == self.text.len() {
                self.text.resize(2 * length, 0);
            }
        }
        Ok(pids(std::str::from_utf8(&self.text[..length]).unwrap_or_default()))
    }

    /// Ends all children, and what they leave, until nothing is left.
    pub fn end_all(&mut self) -> io::Result<()> {
        loop {
            for child in self.list()? {
                let _ = signal_child(child, Signal::KILL);
            }
            loop {
                match wait(WaitOptions::NOHANG) {
                    Ok(Some(_)) | Err(Errno::INTR) => {}
                    Ok(None) => break,
                    Err(Errno::CHILD) => return Ok(()),
                    Err(error) => return Err(error.into()),
                }
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

/// Signals a child of this process, and its group if it leads one: neither number can be in use by anybody else
/// before the child is reaped.
pub fn signal_child(child: Pid, signal: Signal) -> Result<(), Errno> {
    if child.as_raw_nonzero().get() > 1 && getpgid(Some(child)) == Ok(child) {
        kill_process_group(child, signal)
    } else {
        kill_process(child, signal)
    }
}

/// Signals a process that had this parent when it was looked up.
pub fn signal_descendant(process: Pid, parent: Pid, signal: Signal) -> Result<(), Errno> {
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    // From here on the handle means one process. If it has the parent that was seen, or was left to this one, it is
    // a descendant whether or not its number had another owner before.
    match parent_of(process) {
        Some(now) if now == parent || now == getpid() => pidfd_send_signal(handle, signal),
        Some(_) | None => Err(Errno::SRCH),
    }
}

/// Everything below a process, each with its parent. What comes and goes meanwhile may be missing.
pub fn descendants(of: Pid) -> Vec<(Pid, Pid)> {
    let mut found = vec![];
    let mut unseen = vec![of];
    while let Some(parent) = unseen.pop() {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", parent.as_raw_nonzero())) else {
            continue;
        };
        for thread in threads.flatten() {
            let Ok(text) = std::fs::read_to_string(thread.path().join("children")) else { continue };
            for child in pids(&text) {
                found.push((child, parent));
                unseen.push(child);
            }
        }
    }
    found
}

/// Marks tell whose an orphan is. A process that has left its session and lost its parent still has the resource
/// limits it was started with, and its descendants too, unless it sets them. One of them says how long a real-time
/// process may run without a pause; by default it is unlimited. A number beyond twelve days means the same to
/// everybody, and an attempt to the launcher.
pub struct Marks {
    last: u64,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark(u64);

impl Marks {
    /// None given yet.
    pub fn new() -> Marks {
        Marks { last: MARK_FIRST }
    }

    /// Marks what this process starts from now on. Where the limit is lower than that already, a mark stays
    /// unseen, and orphans are known by their session only.
    pub fn next(&mut self) -> Mark {
        self.last += 1;
        let _ = setrlimit(Resource::Rttime, Rlimit { current: Some(self.last), maximum: None });
        Mark(self.last)
    }
}

/// The mark of a process, if it has one.
pub fn mark_of(process: Pid) -> Option<Mark> {
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", process.as_raw_nonzero())).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"))?;
    let soft: u64 = line.split_whitespace().next()?.parse().ok()?;
    (soft > MARK_FIRST).then_some(Mark(soft))
}

fn parent_of(process: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // The second field is the program's name in parentheses, and may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    Pid::from_raw(rest.split_whitespace().nth(1)?.parse().ok()?)
}

fn pids(text: &str) -> impl Iterator<Item = Pid> + '_ {
    text.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?))
}
