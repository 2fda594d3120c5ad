//! How the program ends: an exit code, and on standard error what went wrong and what to do.

use std::borrow::Cow;
use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use windlass_api::FirstTokenError;
use windlass_rest::problem::Exit;
use windlass_store_sqlite::OpenError as StoreError;
use windlass_worker::data_folder::OpenError as FolderError;

use crate::codes::Code;
use crate::settings::SettingsError;
use crate::verbs::complaints;

/// What went wrong, with the exit code that says so to scripts.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    /// The stable name of what went wrong; a server of another version may have one that is not known here.
    pub code: Cow<'static, str>,
    pub error: anyhow::Error,
    pub hint: Option<String>,
}

impl Failure {
    /// Something of that code.
    pub fn new(code: Code, error: impl Into<anyhow::Error>) -> Failure {
        Failure { exit: code.exit(), code: code.as_str().into(), error: error.into(), hint: None }
    }

    /// Used in a way that makes no sense.
    pub fn usage(error: impl Into<anyhow::Error>) -> Failure {
        let failure = Failure::from(error);
        // What has no name of its own is a mistake of whoever typed it.
        let code = match &*failure.code {
            "unexpected" => Code::Usage.as_str().into(),
            _ => failure.code,
        };
        Failure { exit: Exit::Usage, code, ..failure }
    }

    /// There is no such thing, as the server would say it.
    pub fn not_found(code: windlass_rest::ProblemCode, what: String) -> Failure {
        Failure { exit: code.exit(), code: code.as_str().into(), error: anyhow::Error::msg(what), hint: None }
    }

    /// Under another name.
    #[must_use]
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Failure {
        self.code = code.into();
        self
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
        match error.downcast_ref::<windlass_client::Error>() {
            Some(call) => Failure { exit: call.exit(), code: code_of_call(call), hint: call.hint(), error },
            None => Failure::new(code_of(&error), error),
        }
    }
}

/// The name of what went wrong with a call.
fn code_of_call(call: &windlass_client::Error) -> Cow<'static, str> {
    use windlass_client::Error;
    match call {
        Error::Unreachable { .. } => Code::Unreachable.as_str().into(),
        Error::TimedOut { .. } => Code::NoAnswer.as_str().into(),
        Error::Written { .. } => Code::System.as_str().into(),
        Error::Unreadable { .. } => Code::NotWindlass.as_str().into(),
        Error::Refused(refusal) if refusal.problem.code.is_empty() => Code::NotWindlass.as_str().into(),
        Error::Refused(refusal) => refusal.problem.code.clone().into(),
    }
}

/// The name of an error, from the outermost cause that has one.
fn code_of(error: &anyhow::Error) -> Code {
    let named = error.chain().find_map(|cause| {
        let settings = cause.downcast_ref::<SettingsError>().map(SettingsError::code);
        let client = || cause.downcast_ref::<windlass_client::SettingsError>().map(code_of_client);
        let store =
            || cause.downcast_ref::<StoreError>().map(code_of_store).or_else(|| code_of_database(cause));
        let folder = || {
            cause.downcast_ref::<FolderError>().map(|error| match error {
                FolderError::InUse(_) => Code::DataFolderInUse,
                FolderError::Io { .. } => Code::DataFolderUnusable,
                FolderError::Identity(_) => Code::DataFolderDamaged,
            })
        };
        let token = || {
            cause.downcast_ref::<FirstTokenError>().map(|error| match error {
                FirstTokenError::TooShort(_) => Code::BadToken,
                FirstTokenError::File { .. } => Code::DataFolderUnusable,
                FirstTokenError::Store(_) | FirstTokenError::Set(_) => Code::StoreUnusable,
            })
        };
        let system = || cause.is::<std::io::Error>().then_some(Code::System);
        settings.or_else(client).or_else(store).or_else(folder).or_else(token).or_else(system)
    });
    named.unwrap_or(Code::Unexpected)
}

fn code_of_client(error: &windlass_client::SettingsError) -> Code {
    use windlass_client::SettingsError;
    match error {
        SettingsError::Server { .. } => Code::BadServerAddress,
        SettingsError::Token => Code::BadToken,
        SettingsError::Http(_) => Code::System,
    }
}

/// The name of what is wrong with a store in a database server.
#[cfg(feature = "postgres")]
fn code_of_database(cause: &(dyn std::error::Error + 'static)) -> Option<Code> {
    use windlass_store_postgres::{AddressError, OpenError};
    if cause.is::<AddressError>() {
        return Some(Code::BadSetting);
    }
    cause.downcast_ref::<OpenError>().map(|error| match error {
        OpenError::NotAStore { .. } => Code::NotAStore,
        OpenError::Refused { .. } => Code::StoreVersion,
        OpenError::Damaged { .. } => Code::StoreDamaged,
        OpenError::Server(_) => Code::StoreUnusable,
    })
}

#[cfg(not(feature = "postgres"))]
fn code_of_database(_: &(dyn std::error::Error + 'static)) -> Option<Code> {
    None
}

fn code_of_store(error: &StoreError) -> Code {
    match error {
        StoreError::InUse { .. } => Code::StoreInUse,
        StoreError::NotAStore { .. } => Code::NotAStore,
        StoreError::Refused { .. } => Code::StoreVersion,
        StoreError::Damaged { .. } | StoreError::Pages { .. } => Code::StoreDamaged,
        StoreError::File(fault) if fault.is_damage() => Code::StoreDamaged,
        _ => Code::StoreUnusable,
    }
}

/// What to do about something that comes without advice.
fn explain(code: &str) -> String {
    format!("\"windlass explain {code}\" tells more")
}

/// Says what is wrong with what was typed, as help does, with the code behind its first line.
pub fn mistyped(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Help and version are results.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let rendered = error.render();
    let colored = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let text = if colored { rendered.ansi().to_string() } else { rendered.to_string() };
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    // Without any verb, all of the help is shown: nothing was wrong.
    let code = if first.contains("error:") { format!(" [{}]", Code::Usage.as_str()) } else { String::new() };
    let _ = write!(std::io::stderr().lock(), "{first}{code}\n{rest}");
    ExitCode::from(Exit::Usage as u8)
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
pub fn tell(failure: &Failure) {
    let mut stderr = std::io::stderr().lock();
    let (said, advice) = shown(&failure.error);
    let _ = writeln!(stderr, "error: {said} [{}]", failure.code);
    let call = failure.error.downcast_ref::<windlass_client::Error>();
    for diagnostic in call.and_then(|call| call.problem()).into_iter().flat_map(|said| &said.diagnostics) {
        let _ = writeln!(stderr, "{}", complaints::rendered("definition", diagnostic));
    }
    let page = || windlass_docs::error_page(&failure.code).map(|_| explain(&failure.code));
    if let Some(hint) = failure.hint.clone().or(advice).or_else(page) {
        let _ = writeln!(stderr, "hint: {hint}");
    }
}

/// The error with its causes, and the advice that its own text ends with.
pub fn shown(error: &anyhow::Error) -> (String, Option<String>) {
    use windlass_client::Error;
    if let Some(call @ Error::Unreachable { .. }) = error.downcast_ref::<Error>() {
        // What lies between is how HTTP is done here.
        return (format!("{call}: {}", error.root_cause()), None);
    }
    let mut said: Vec<String> = Vec::new();
    let mut advice = None;
    for cause in error.chain() {
        let text = cause.to_string();
        let (what, hint) =
            text.split_once("; hint: ").map_or((&*text, None), |(what, hint)| (what, Some(hint)));
        // What is passed on as it is would be there twice.
        if said.last().is_none_or(|last| last != what) {
            said.push(what.to_owned());
        }
        advice = advice.or_else(|| hint.map(str::to_owned));
    }
    (said.join(": "), advice)
}
