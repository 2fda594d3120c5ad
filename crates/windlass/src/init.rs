//! Being process 1 of a container: whatever loses its parent there becomes our child, and nobody else reaps it.
//!
//! The program then starts itself once more and does nothing but wait: for its child, whose end is its own, and for
//! strangers, whose ends nobody asks for.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};
use tokio::signal::unix::{SignalKind, signal};

/// Becomes the init of a container if it is process 1 there; gives what its child ended with.
pub fn run_if_first() -> Option<ExitCode> {
    getpid().is_init().then(|| match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: cannot be process 1: {error}");
            ExitCode::FAILURE
        }
    })
}

fn run() -> std::io::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut ended = signal(SignalKind::child())?;
        let mut asked = [
            (signal(SignalKind::terminate())?, Signal::TERM),
            (signal(SignalKind::interrupt())?, Signal::INT),
            (signal(SignalKind::hangup())?, Signal::HUP),
        ];
        let [terminate, interrupt, hangup] = &mut asked;
        let child = Command::new("/proc/self/exe").args(std::env::args_os().skip(1)).spawn()?;
        let pid = Pid::from_child(&child);
        loop {
            let told = tokio::select! {
                _ = ended.recv() => None,
                _ = terminate.0.recv() => Some(terminate.1),
                _ = interrupt.0.recv() => Some(interrupt.1),
                _ = hangup.0.recv() => Some(hangup.1),
            };
            if let Some(signal) = told {
                let _ = kill_process(pid, signal);
            }
            while let Ok(Some((gone, status))) = wait(WaitOptions::NOHANG) {
                if gone == pid {
                    return Ok(code(status));
                }
            }
        }
    })
}

/// What a shell would say of it.
fn code(status: WaitStatus) -> ExitCode {
    let status = std::process::ExitStatus::from_raw(status.as_raw());
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
