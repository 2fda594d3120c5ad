//! How the program ends: an exit code, and on standard error what went wrong and what to do.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use windlass_rest::problem::Exit;

use crate::verbs::complaints;

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
        Failure { exit: Exit::Usage, ..Failure::from(error) }
    }

    /// There is no such thing.
    pub fn not_found(what: String) -> Failure {
        Failure { exit: Exit::NotFound, ..Failure::from(anyhow::Error::msg(what)) }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Whether nobody reads any more what is printed.
    pub fn is_broken_pipe(&self) -> bool {
        let error = self.error.downcast_ref::<std::io::Error>();
        error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        let error = error.into();
        let (exit, hint) = match error.downcast_ref::<windlass_client::Error>() {
            Some(call) => (call.exit(), call.hint().or_else(|| explained(call))),
            None => (Exit::Failed, None),
        };
        Failure { exit, error, hint }
    }
}

/// What to do about a problem that comes without advice.
fn explained(call: &windlass_client::Error) -> Option<String> {
    let code = call.problem()?.known_code()?;
    Some(format!("\"windlass explain {code}\" tells more"))
}

/// Says what went wrong, once, with its causes, and gives the exit code.
pub fn say(ended: Result<Exit, Failure>) -> ExitCode {
    let exit = match ended {
        Ok(exit) => exit,
        // Who reads has seen enough, as with `| head`.
        Err(failure) if failure.is_broken_pipe() => Exit::Fine,
        Err(failure) => {
            tell(&failure);
            failure.exit
        }
    };
    ExitCode::from(exit as u8)
}

/// Says what went wrong and what to do; nobody minds if nobody can read it.
pub fn tell(Failure { error, hint, .. }: &Failure) {
    let mut stderr = std::io::stderr().lock();
    let _ = writeln!(stderr, "error: {}", shown(error));
    let call = error.downcast_ref::<windlass_client::Error>();
    for diagnostic in call.and_then(|call| call.problem()).into_iter().flat_map(|said| &said.diagnostics) {
        let _ = writeln!(stderr, "{}", complaints::rendered("definition", diagnostic));
    }
    if let Some(hint) = hint {
        let _ = writeln!(stderr, "hint: {hint}");
    }
}

/// The error with its causes, and the code of a problem that the server told.
pub fn shown(error: &anyhow::Error) -> String {
    use windlass_client::Error;
    match error.downcast_ref::<Error>() {
        // What lies between is how HTTP is done here.
        Some(call @ Error::Unreachable { .. }) => format!("{call}: {}", error.root_cause()),
        Some(Error::Refused(refusal)) if !refusal.problem.code.is_empty() => {
            format!("{error:#} [{}]", refusal.problem.code)
        }
        Some(Error::Refused(_) | Error::TimedOut { .. } | Error::Unreadable { .. }) | None => {
            format!("{error:#}")
        }
    }
}
