//! What people type, against nothing or against a server that answers what it is told to.

mod fake;

mod help;
mod offline;
mod online;
mod waiting;

use std::process::{Command, Stdio};

/// How a command ended.
#[derive(Debug)]
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

/// The program, without anything of this environment that it would look at.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("WINDLASS_") {
            command.env_remove(name);
        }
    }
    command.env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

fn windlass(args: &[&str]) -> Ended {
    ended(&program().args(args).output().unwrap())
}

fn ended(output: &std::process::Output) -> Ended {
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

impl Ended {
    /// Standard output, which must be one JSON document.
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    fn check(&self, code: i32, stdout: &str, stderr: &str) {
        assert_eq!((self.code, self.stdout.as_str(), self.stderr.as_str()), (code, stdout, stderr));
    }
}
