//! The launcher as a binary of its own, for tests and measurements; the product's binary is its own launcher.
//!
//! `windlass-launcher hold SCRIPT` is a worker that runs a shell script and waits to be killed.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use windlass_launcher::Launcher;
use windlass_launcher::protocol::{Command, Key};

fn main() -> ExitCode {
    if let Some(code) = windlass_launcher::run_if_asked() {
        return code;
    }
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(word), Some(script)) if word == "hold" => hold(script),
        (_, _) => {
            eprintln!("windlass-launcher is started by workers");
            ExitCode::from(2)
        }
    }
}

fn hold(script: OsString) -> ExitCode {
    let held = std::env::current_exe().and_then(|program| {
        let null = || File::options().write(true).open("/dev/null").map(OwnedFd::from);
        let launcher = Launcher::start(&program, None).map_err(std::io::Error::other)?;
        let argv = vec![b"sh".to_vec(), b"-c".to_vec(), script.into_vec()];
        let command = Command { argv, env: vec![], folder: b"/".to_vec() };
        launcher.sender.spawn(Key(1), command, null()?, null()?)?;
        Ok(launcher)
    });
    match held {
        Ok(_launcher) => loop {
            std::thread::park();
        },
        Err(error) => {
            eprintln!("windlass-launcher: {error}");
            ExitCode::FAILURE
        }
    }
}
