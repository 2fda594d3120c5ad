//! The stable names of what goes wrong here, and the index of every code that a user can meet.
//!
//! A code is a promise: scripts match on it, and `docs/errors/` has a page about it. It is never renamed and never
//! reused for something else. What a page says beyond the first lines is written by hand; those lines, and the list
//! of all pages, come from here.

use std::borrow::Cow;

use windlass_rest::ProblemCode;
use windlass_rest::problem::Exit;
use windlass_rest::why::ReasonCode;

macro_rules! local_codes {
    ($($variant:ident = $text:literal, $exit:ident: $meaning:literal;)+) => {
        /// The stable name of an error that the program finds by itself, without a server.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)+
        }

        impl Code {
            /// Every code, in the order of the list.
            pub const ALL: &[Code] = &[$(Code::$variant,)+];

            /// As it stands in brackets.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)+ }
            }

            /// What the command line exits with.
            pub const fn exit(self) -> Exit {
                match self { $(Code::$variant => Exit::$exit,)+ }
            }

            /// What it means, in a sentence or two.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)+ }
            }
        }
    };
}

local_codes! {
    Usage = "usage", Usage:
        "The command cannot be done as it was typed: an unknown verb or flag, too many or too few arguments, or a value \
         that makes no sense there.";
    AmbiguousRun = "ambiguous_run", Usage:
        "Several runs begin with what was typed as the beginning of an id.";
    NoFittingJob = "no_fitting_job", Conflict:
        "A task with several jobs was named, and none of them is in a state for what was asked.";
    MissingVariable = "missing_variable", Usage:
        "A task was to get an environment variable that this environment does not have.";
    NotExplained = "unknown_code", NotFound:
        "`windlass explain` was asked about a code that does not exist.";
    FileNotFound = "file_not_found", NotFound:
        "A file that was named does not exist, or a folder has no workflow files in it.";
    FileExists = "file_exists", Conflict:
        "A file that was to be made is there already: a backup, or the store that a backup was to be restored to.";
    UnknownProfile = "unknown_profile", Usage:
        "What `--profile` or `WINDLASS_PROFILE` names is not in the file of profiles.";
    FileUnreadable = "file_unreadable", Failed:
        "A file that was named exists and cannot be read.";
    BadServerAddress = "bad_server_address", Usage:
        "What `--server` or `WINDLASS_SERVER` says is not the address of a server.";
    BadToken = "bad_token", Usage:
        "A token was given that cannot be one: it has characters that no token has, or it is too short to be safe.";
    Unreachable = "unreachable", Unreachable:
        "Nothing answers at the address of the server, or the connection broke before the answer was complete.";
    NoAnswer = "no_answer", Unreachable:
        "The server took the request and did not answer it in time. What was asked may or may not have been done.";
    NotWindlass = "not_windlass", Failed:
        "Something answered that is no Windlass server, or one of another version whose answers cannot be read.";
    SettingsFile = "settings_file", Usage:
        "The settings file cannot be read, is no TOML, or has a value that no setting takes.";
    UnknownSetting = "unknown_setting", Usage:
        "The settings file has a key that no setting has.";
    BadSetting = "bad_setting", Usage:
        "A setting has a value that it cannot have. The message says where the value came from.";
    MissingSetting = "missing_setting", Usage:
        "A setting that has no default was not given.";
    CannotListen = "cannot_listen", Failed:
        "The server cannot listen on the address that it was told: something else does, or it is not an address of this \
         machine, or the port is reserved.";
    StoreInUse = "store_in_use", Failed:
        "Another windlass has the store open. A SQLite store belongs to one process at a time.";
    StoreUnusable = "store_unusable", Failed:
        "The store's file or folder cannot be made, locked, read or written, or its server cannot be reached or used.";
    NotAStore = "not_a_store", Failed:
        "The file or database that was named as the store is one of something else.";
    StoreVersion = "store_version", Failed:
        "The store was written by a windlass that is too new or too old for this one, or was made with another number of \
         shards.";
    StoreDamaged = "store_damaged", Failed:
        "The store's file is damaged. Nothing was changed.";
    DataFolderInUse = "data_folder_in_use", Failed:
        "Another worker uses the data folder, or something that a former one started still runs.";
    DataFolderUnusable = "data_folder_unusable", Failed:
        "The worker's data folder cannot be made, read or written.";
    DataFolderDamaged = "data_folder_damaged", Failed:
        "The file that says which worker a data folder belongs to cannot be understood.";
    MasterNameTaken = "master_name_taken", Conflict:
        "Another live master of the same store has this name.";
    BadMasterAddress = "bad_master_address", Usage:
        "What a worker was told as the address of a master is none.";
    LauncherDied = "launcher_died", Failed:
        "The process that starts tasks has died, and everything that it had started with it.";
    ServerFailed = "server_failed", Failed:
        "A master or worker has ended by itself. The message has the cause.";
    System = "system", Failed:
        "The operating system refused something. The message has what it said.";
    Unexpected = "unexpected", Failed:
        "Something went wrong that has no code of its own. The message has all that is known.";
}

/// How an attempt can end badly, as its state says.
const ENDS: &[(&str, &str)] = &[
    (
        "failed",
        "The attempt ended with an error: its process exited with another code than 0 or died of a signal, could not be \
         started, or its call was answered in another way than expected.",
    ),
    (
        "timed_out",
        "The attempt ran longer than the task's `timeout` allows, and was ended with everything it started.",
    ),
    (
        "lost",
        "The worker that had the attempt was lost: it was not heard of for `worker_timeout`, or its process died. What \
         the attempt did is not known.",
    ),
    (
        "killed",
        "The attempt was ended on purpose: its run was stopped, the rest of its run was ended by a failure, or a member of \
         its gang could not start.",
    ),
];

/// What is known of a code in one of the vocabularies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub code: &'static str,
    pub kind: &'static str,
    pub exit: Option<Exit>,
    pub status: Option<u16>,
    pub meaning: Cow<'static, str>,
}

/// Every code that a user can meet, in the order of the list. One that two vocabularies have is there twice.
pub fn entries() -> Vec<Entry> {
    let complaints = windlass_workflow::Code::ALL.iter().map(|code| Entry {
        code: code.as_str(),
        kind: "workflow file",
        exit: Some(Exit::InvalidWorkflow),
        status: Some(ProblemCode::InvalidWorkflow.status()),
        meaning: code.meaning().into(),
    });
    let problems = ProblemCode::ALL.iter().map(|code| Entry {
        code: code.as_str(),
        kind: "server",
        exit: Some(code.exit()),
        status: Some(code.status()),
        meaning: code.meaning().into(),
    });
    let local = Code::ALL.iter().map(|code| Entry {
        code: code.as_str(),
        kind: "command line",
        exit: Some(code.exit()),
        status: None,
        meaning: code.meaning().into(),
    });
    let ends = ENDS.iter().map(|&(code, meaning)| Entry {
        code,
        kind: "attempt",
        exit: None,
        status: None,
        meaning: meaning.into(),
    });
    let reasons = ReasonCode::ALL.iter().map(|code| Entry {
        code: code.as_str(),
        kind: "why",
        exit: None,
        status: None,
        meaning: code.meaning().into(),
    });
    complaints.chain(problems).chain(local).chain(ends).chain(reasons).collect()
}

#[cfg(test)]
mod tests;
