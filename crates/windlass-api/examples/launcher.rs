//! The launcher of the workers in this crate's tests, whose own program cannot be one.

use std::process::ExitCode;

fn main() -> ExitCode {
    windlass_launcher::run_if_asked().unwrap_or_else(|| {
        eprintln!("this is started by tests");
        ExitCode::from(2)
    })
}
