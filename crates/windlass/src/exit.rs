//! How the program ends: an exit code, and on standard error what went wrong and what to do.

use std::process::ExitCode;

use windlass_rest::problem::Exit;

/// What went wrong, with the exit code that says so to scripts.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub error: anyhow::Error,
    pub hint: Option<String>,
}

impl Failure {
    /// Used in a way that makes no sense.
    pub fn usage(error: impl Into<anyhow::Error>) -> Failure {
        Failure { exit: Exit::Usage, error: error.into(), hint: None }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure { exit: Exit::Failed, error: error.into(), hint: None }
    }
}

/// Says what went wrong, once, with its causes, and gives the exit code.
pub fn say(ended: Result<Exit, Failure>) -> ExitCode {
    let exit = match ended {
        Ok(exit) => exit,
        Err(Failure { exit, error, hint }) => {
            eprintln!("error: {error:#}");
            if let Some(hint) = hint {
                eprintln!("hint: {hint}");
            }
            exit
        }
    };
    ExitCode::from(exit as u8)
}
