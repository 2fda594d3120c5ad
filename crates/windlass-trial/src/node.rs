//! One process of a cluster: started, ended, frozen and started again.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use crate::network::Place;

/// How long a process that was asked to end may take before it is forced to.
const GRACE: Duration = Duration::from_secs(20);

/// A master or a worker.
#[derive(Debug)]
pub struct Node {
    /// What it is called.
    pub name: String,
    program: PathBuf,
    arguments: Vec<String>,
    /// Environment variables beside those that are inherited.
    environment: Vec<(String, String)>,
    /// What it prints, over all its lives.
    log: PathBuf,
    child: Option<Child>,
    /// Where it lives, if not where this process does.
    place: Option<Place>,
}

impl Node {
    /// A process that does not run yet.
    pub fn new(name: &str, program: &Path, arguments: Vec<String>, log: PathBuf) -> Node {
        Node {
            name: name.to_owned(),
            program: program.to_owned(),
            arguments,
            environment: Vec::new(),
            log,
            child: None,
            place: None,
        }
    }

    /// The same process in a place of its own.
    #[must_use]
    pub fn at(mut self, place: Option<&Place>) -> Node {
        self.place = place.cloned();
        self
    }

    /// Sets an environment variable for the next life, or takes it away.
    pub fn set_env(&mut self, name: &str, value: Option<&str>) {
        self.environment.retain(|(known, _)| known != name);
        if let Some(value) = value {
            self.environment.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Starts it. What it prints is added to its log.
    pub fn start(&mut self) -> anyhow::Result<()> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.with_context(|| format!("cannot write {}", self.log.display()))?;
        let mut command = match &self.place {
            Some(place) => Command::from(place.command(&self.program)),
            None => Command::new(&self.program),
        };
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true);
        // Ctrl-C in the terminal is for who watches, not for the cluster.
        command.process_group(0);
        let child = command.spawn().with_context(|| format!("cannot start {}", self.program.display()))?;
        self.child = Some(child);
        Ok(())
    }

    /// Its process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    /// How it has ended, if it was started and has ended by itself.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let ended = self.child.as_mut()?.try_wait().ok().flatten()?;
        self.child = None;
        Some(ended)
    }

    /// Waits until it has ended by itself.
    pub async fn wait(&mut self) -> Option<ExitStatus> {
        let ended = self.child.as_mut()?.wait().await.ok();
        self.child = None;
        ended
    }

    /// Kills it at once (`kill -9`).
    pub async fn kill(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.wait().await;
    }

    /// Asks it to end, and waits.
    pub async fn end(&mut self) {
        self.signal(Signal::TERM);
        // One that was frozen cannot hear.
        self.signal(Signal::CONT);
        if tokio::time::timeout(GRACE, self.wait()).await.is_err() {
            self.kill().await;
        }
    }

    /// Sends it a signal. Its number cannot have a new owner: it was not waited for.
    pub fn signal(&self, signal: Signal) {
        let pid = self.pid().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        if let Some(pid) = pid {
            let _ = kill_process(pid, signal);
        }
    }

    /// What it has printed.
    pub fn printed(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
