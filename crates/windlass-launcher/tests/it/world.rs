//! A launcher, what it has said, and a look at the processes of the machine.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use windlass_launcher::Launcher;
use windlass_launcher::protocol::{Command, FromLauncher, Key, Signal, Status};

/// Longer than anything takes on a machine that does ten other things.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct World {
    launcher: Option<Launcher>,
    heard: VecDeque<FromLauncher>,
    next: u64,
}

impl World {
    pub fn new() -> World {
        let launcher = Launcher::start(Path::new(program()), None).expect("it starts");
        World { launcher: Some(launcher), heard: VecDeque::new(), next: 0 }
    }

    fn launcher(&mut self) -> &mut Launcher {
        self.launcher.as_mut().expect("it was not ended")
    }

    /// Starts a shell script, without waiting.
    pub fn send(&mut self, script: &str) -> Key {
        self.send_argv(&["sh", "-c", script])
    }

    pub fn send_argv(&mut self, argv: &[&str]) -> Key {
        self.next += 1;
        let key = Key(self.next);
        let argv = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
        let command = Command { argv, env: vec![b"GIVEN=yes".to_vec()], folder: b"/".to_vec() };
        self.launcher().sender.spawn(key, command, null(), null()).expect("it is sent");
        key
    }

    /// Starts a shell script, and waits until it runs.
    pub fn start(&mut self, script: &str) -> Key {
        let key = self.send(script);
        let said = self.hear();
        assert!(matches!(said, FromLauncher::Spawned(started, _, _) if started == key), "{said:?}");
        key
    }

    pub fn signal(&mut self, key: Key, signal: Signal) {
        self.launcher().sender.signal(key, signal).expect("it is sent");
    }

    /// The next thing that is said.
    pub fn hear(&mut self) -> FromLauncher {
        loop {
            if let Some(said) = self.heard.pop_front() {
                return said;
            }
            assert!(self.listen(PATIENCE), "the launcher is gone");
        }
    }

    /// Takes what is said within some time; false if the launcher is gone.
    pub fn listen(&mut self, wait: Duration) -> bool {
        let launcher = self.launcher.as_mut().expect("it was not ended");
        let wait = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() };
        let ready =
            poll(&mut [PollFd::new(&launcher.receiver, PollFlags::IN)], Some(&wait)).expect("it waits");
        assert!(ready > 0 || wait.tv_sec < 1, "nothing was said for long");
        let mut heard = vec![];
        let open = launcher.receiver.receive(&mut heard).expect("it is heard");
        self.heard.extend(heard);
        open
    }

    /// Checks that nothing more was said so far.
    pub fn expect_silence(&mut self) {
        self.listen(Duration::from_millis(50));
        assert_eq!(self.heard.front(), None);
    }

    pub fn expect_exit(&mut self, key: Key, status: Status) {
        assert_eq!(self.hear(), FromLauncher::Exited(key, status));
    }

    pub fn expect_gone(&mut self, key: Key) {
        assert_eq!(self.hear(), FromLauncher::Gone(key));
    }

    pub fn keeper(&mut self) -> u32 {
        self.launcher().receiver.keeper()
    }

    /// The launcher's own process number.
    pub fn process(&mut self) -> u32 {
        let keeper = self.keeper();
        let child = || {
            let children = fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children")).ok()?;
            children.split_whitespace().next()?.parse().ok()
        };
        eventually("the keeper has a launcher", || child().is_some());
        child().expect("just seen")
    }

    /// Waits until the launcher is gone, and with it everything.
    pub fn expect_end(&mut self) {
        while self.listen(PATIENCE) {}
        self.end();
    }

    pub fn end(&mut self) {
        self.launcher.take().expect("it was not ended").receiver.end().expect("it ends");
    }
}

/// The binary that is a launcher.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_windlass-launcher")
}

/// An argument for `sleep` that no other process has: about a day, and a fraction nobody else uses.
pub fn long() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("86400.{:07}{next:03}", std::process::id())
}

/// The processes that sleep for this long. A shell that is about to become one does not count: while it does, it has
/// no arguments at all.
pub fn running(long: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("it is mounted");
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has = |process: &u32| {
        let arguments = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        arguments == format!("sleep\0{long}\0").as_bytes()
    };
    numbers.filter(has).collect()
}

pub fn kill(process: u32) {
    let process = rustix::process::Pid::from_raw(process.cast_signed()).expect("a process");
    rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("it is there");
}

/// Waits for a condition.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}: not so after a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// How many descriptors a process has open.
pub fn descriptors(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).expect("it runs").count()
}

fn null() -> OwnedFd {
    File::options().write(true).open("/dev/null").expect("it opens").into()
}
