//! A terminal of somebody who follows a page: an empty home, the program on the path, and a port of its own in the
//! place of 8000.

use std::fs::File;
use std::io::Read as _;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_windlass");
/// What a page says where the test has a folder and ports of its own.
const HOME: &str = "/home/ada";
/// Nothing that a page says takes longer, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Terminals at the same time: most of them wait most of the time.
const AT_ONCE: usize = 3;

/// Does something with each of these, a few at the same time. How many of them have failed.
pub fn at_once<T: Sync>(items: &[T], act: impl Fn(&T) + Sync) -> usize {
    let next = AtomicUsize::new(0);
    let failed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if std::panic::catch_unwind(AssertUnwindSafe(|| act(item))).is_err() {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    failed.into_inner()
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    /// Standard output and standard error in the order in which they were printed, as a page would show them.
    pub printed: Vec<String>,
}

/// A terminal.
pub struct Shell {
    folder: TempDir,
    /// What a page calls 8000, 8001, …
    ports: Vec<u16>,
    servers: Vec<Child>,
}

impl Shell {
    pub fn new() -> Shell {
        let folder = TempDir::with_prefix("windlass-docs-").unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        std::os::unix::fs::symlink(PROGRAM, folder.path().join("bin/windlass")).unwrap();
        let ports = (0..3).map(|_| windlass_trial::cluster::free_port().unwrap()).collect();
        Shell { folder, ports, servers: Vec::new() }
    }

    /// Where commands are typed.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Writes a file into the folder in which commands are typed.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.home().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, self.here(text)).unwrap();
    }

    /// Copies a folder of the repository beside what is typed.
    pub fn copy(&self, folder: &str) {
        let from = crate::blocks::root().join(folder);
        let done = Command::new("cp").arg("-r").arg(from).arg(self.home()).status().unwrap();
        assert!(done.success());
        for entry in std::fs::read_dir(self.home().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let text = std::fs::read_to_string(&path).unwrap();
                std::fs::write(&path, self.here(&text)).unwrap();
            }
        }
    }

    /// What is typed here instead of what a page says.
    fn here(&self, text: &str) -> String {
        let mut text = text.replace("target/release/windlass", "windlass");
        for (number, port) in self.ports.iter().enumerate() {
            for host in ["127.0.0.1", "localhost", "0.0.0.0"] {
                text = text.replace(&format!("{host}:{}", 8000 + number), &format!("{host}:{port}"));
            }
        }
        text.replace(HOME, &self.home().display().to_string())
    }

    /// What a page says instead of what was printed here.
    fn there(&self, text: &str) -> String {
        let mut text = text.replace(&self.home().display().to_string(), HOME);
        for (number, port) in self.ports.iter().enumerate() {
            text = text.replace(&format!(":{port}"), &format!(":{}", 8000 + number));
        }
        text
    }

    fn command(&self, typed: &str) -> Command {
        let mut command = Command::new("bash");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("WINDLASS_") {
                command.env_remove(name);
            }
        }
        let path = format!("{}:{}", self.folder.path().join("bin").display(), std::env::var("PATH").unwrap());
        let said = self.folder.path().join("exports");
        let before = format!("exec 2>&1; [ -e {0} ] && . {0}\n", said.display());
        command
            .args(["-c", &format!("{before}{}", self.here(typed))])
            .current_dir(self.home())
            .env("PATH", path)
            .env("HOME", self.home())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .env_remove("XDG_DATA_HOME")
            .env("WINDLASS_LISTEN", format!("127.0.0.1:{}", self.ports[0]))
            .env("WINDLASS_SERVER", format!("http://127.0.0.1:{}", self.ports[0]))
            .env("WINDLASS_MASTER", format!("http://127.0.0.1:{}", self.ports[0]))
            .stdin(Stdio::null());
        command
    }

    /// Types a command and waits for its end.
    pub fn run(&mut self, typed: &str) -> Ended {
        // What is exported is there for what is typed later.
        let exported = typed.strip_prefix("export ").and_then(|rest| rest.split('=').next());
        let typed = match exported {
            Some(name) => {
                &format!("{typed}; declare -px {name} >> {}", self.folder.path().join("exports").display())
            }
            None => typed,
        };
        let path = self.folder.path().join("printed");
        let mut child = self.command(typed).stdout(File::create(&path).unwrap()).spawn().unwrap();
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > PATIENCE {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("`{typed}` does not end:\n{}", std::fs::read_to_string(&path).unwrap());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut bytes = Vec::new();
        File::open(&path).unwrap().read_to_end(&mut bytes).unwrap();
        let printed = self.there(&String::from_utf8_lossy(&bytes));
        Ended { code: status.code().unwrap_or(-1), printed: printed.lines().map(str::to_owned).collect() }
    }

    /// Starts a server, and waits until it does its work.
    pub fn serve(&mut self, typed: &str) {
        let workers = || -> usize { self.ask("windlass workers list -o name").lines().count() };
        let is_worker = typed.contains("windlass worker");
        let before = if is_worker { workers() } else { 0 };
        let log = File::create(self.folder.path().join(format!("server{}", self.servers.len()))).unwrap();
        // What follows from the machine otherwise.
        let machine = [("WINDLASS_NAME", "laptop"), ("WINDLASS_SLOTS", "4")];
        let server = self.command(&format!("exec {typed}")).envs(machine).stdout(log).spawn().unwrap();
        let began = Instant::now();
        let is_ready = |shell: &Shell| match is_worker {
            true => shell.ask("windlass workers list -o name").lines().count() > before,
            false => {
                let port =
                    (0..shell.ports.len()).find(|number| typed.contains(&format!(":{}", 8000 + number)));
                let port = shell.ports[port.unwrap_or(0)];
                // Also where tokens are asked for.
                shell.ask(&format!("curl -sf http://127.0.0.1:{port}/readyz")).ends_with("ready\n")
            }
        };
        self.servers.push(server);
        while !is_ready(self) {
            let ended = self.servers.last_mut().unwrap().try_wait().unwrap();
            let printed = || self.said_by_servers();
            assert!(
                ended.is_none() && began.elapsed() < PATIENCE,
                "`{typed}` does not begin:\n{}",
                printed()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        // A standalone server is ready when its own worker is.
        while typed.contains("standalone") && self.ask("windlass workers list -o name").is_empty() {
            let token = typed.contains("0.0.0.0");
            if token {
                break;
            }
            assert!(began.elapsed() < PATIENCE, "no worker:\n{}", self.said_by_servers());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn ask(&self, typed: &str) -> String {
        let output = self.command(&format!("{typed} 2>/dev/null")).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What the servers have printed.
    pub fn said_by_servers(&self) -> String {
        let logs = (0..self.servers.len()).map(|number| self.folder.path().join(format!("server{number}")));
        logs.map(|log| std::fs::read_to_string(log).unwrap_or_default()).collect()
    }
}

impl Drop for Shell {
    /// Nothing outlives a worker that is killed, so this is all that is needed.
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
