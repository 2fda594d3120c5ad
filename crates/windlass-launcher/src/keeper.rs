//! The keeper: the launcher's parent, which ends what a dead launcher leaves.

use std::fs::File;
use std::io;
use std::process::{Command, ExitCode, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, wait};

use crate::start::block_signals;
use crate::tree::Children;

/// The second argument of the launcher proper; the third is the keeper's process number.
pub const INNER: &str = "inner";

/// Starts the launcher, and waits for its end. The socket to the worker is standard input.
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("windlass launcher: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    // The terminal's interrupt is for the worker, which ends both of us when it ends.
    let _signals = block_signals()?;
    let me = getpid();
    set_child_subreaper(Some(me))?;
    let launcher = Command::new("/proc/self/exe")
        .args([crate::ARGUMENT, INNER, &me.as_raw_nonzero().to_string()])
        .stdin(Stdio::inherit())
        .spawn()?;
    // The worker sees the launcher's end only if nobody else has the socket.
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    let launcher = Pid::from_raw(launcher.id().cast_signed());
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, _))) if Some(ended) == launcher => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Children::new()?.end_all()
}
