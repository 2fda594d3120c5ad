//! Errors: RFC 9457 problems with stable codes.
//!
//! A code is a promise: scripts match on it. It is never renamed and never reused for something else. The table at the
//! end of this file is the only place that says what HTTP status and which exit code of the command line belong to
//! it, and what `windlass explain` tells.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::diagnostics::Diagnostic;

/// What `Content-Type` says of a [`Problem`].
pub const CONTENT_TYPE: &str = "application/problem+json";

/// An error as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// A reference to the page about the code.
    #[serde(rename = "type", default = "about_blank")]
    pub kind: String,
    /// What kind of error, the same for each of its code.
    #[serde(default)]
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What went wrong this time, in lower case without a full stop.
    #[serde(default)]
    pub detail: String,
    /// The stable name of the kind of error.
    #[serde(default)]
    pub code: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What is wrong with a workflow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

fn about_blank() -> String {
    "about:blank".to_owned()
}

impl Problem {
    /// A problem of that code; `detail` says what went wrong this time.
    pub fn new(code: ProblemCode, detail: impl Into<String>) -> Problem {
        Problem {
            kind: format!("/docs/errors/{code}"),
            title: code.title().to_owned(),
            status: code.status(),
            detail: detail.into(),
            code: code.as_str().to_owned(),
            hint: None,
            diagnostics: Vec::new(),
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what is wrong with a workflow.
    #[must_use]
    pub fn diagnostics(mut self, diagnostics: Vec<Diagnostic>) -> Problem {
        self.diagnostics = diagnostics;
        self
    }

    /// Its code, if it is known here; a newer server may have more.
    pub fn known_code(&self) -> Option<ProblemCode> {
        ProblemCode::ALL.iter().copied().find(|code| code.as_str() == self.code)
    }
}

/// What the command line exits with; interface and meaning are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Everything is fine.
    Fine = 0,
    /// The run failed, or something else went wrong.
    Failed = 1,
    /// It was called wrongly.
    Usage = 2,
    /// The workflow is invalid.
    InvalidWorkflow = 3,
    /// There is no such thing.
    NotFound = 4,
    /// It does not fit the state that things are in.
    Conflict = 5,
    /// The caller may not do it.
    NotAllowed = 6,
    /// The server cannot be reached, or cannot answer now.
    Unreachable = 7,
    /// Waiting took longer than allowed.
    TimedOut = 8,
    /// Interrupted with Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// For an answer whose code is not known: by its HTTP status.
    pub fn of_status(status: u16) -> Exit {
        match status {
            401 | 403 => Exit::NotAllowed,
            404 | 410 => Exit::NotFound,
            409 | 412 => Exit::Conflict,
            429 | 502..=504 => Exit::Unreachable,
            400..=499 => Exit::Usage,
            _ => Exit::Failed,
        }
    }
}

macro_rules! problem_codes {
    ($($variant:ident = $text:literal, $status:literal, $exit:ident, $title:literal: $meaning:literal;)+) => {
        /// The stable name of one kind of error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ProblemCode {
            $(#[doc = $title] $variant,)+
        }

        impl ProblemCode {
            /// Every code, in the order of the reference page.
            pub const ALL: &'static [ProblemCode] = &[$(ProblemCode::$variant,)+];

            /// The code as it is sent: lower case with underscores.
            pub const fn as_str(self) -> &'static str {
                match self { $(ProblemCode::$variant => $text,)+ }
            }

            /// The HTTP status that goes with it.
            pub const fn status(self) -> u16 {
                match self { $(ProblemCode::$variant => $status,)+ }
            }

            /// What the command line exits with.
            pub const fn exit(self) -> Exit {
                match self { $(ProblemCode::$variant => Exit::$exit,)+ }
            }

            /// A few words, the same every time.
            pub const fn title(self) -> &'static str {
                match self { $(ProblemCode::$variant => $title,)+ }
            }

            /// A paragraph, for `windlass explain`.
            pub const fn meaning(self) -> &'static str {
                match self { $(ProblemCode::$variant => $meaning,)+ }
            }
        }
    };
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

problem_codes! {
    BadRequest = "bad_request", 400, Usage, "bad request":
        "The request cannot be understood: its body is no JSON (or YAML where that is taken), a field is unknown, \
         missing or of another type, or a query parameter cannot be read. The detail names it. Nothing was done.";
    BadParams = "bad_params", 422, Usage, "parameters do not fit":
        "The parameters given to a run do not fit those that its workflow declares: one is unknown, a required one is \
         missing, or a value is not of its type. `windlass workflows show NAME` lists what it takes.";
    InvalidWorkflow = "invalid_workflow", 422, InvalidWorkflow, "invalid workflow":
        "The workflow definition has mistakes. Each is in `diagnostics` with its place, a code of its own and what to \
         write instead; `windlass validate FILE` shows the same without a server. Nothing was stored or started.";
    WorkflowCircle = "workflow_circle", 422, InvalidWorkflow, "workflows call each other in a circle":
        "A workflow runs itself as a sub-workflow, directly or through others, so a run of it would never end; or \
         workflows of a backfill with dependants need runs of each other, so none can come first. The detail names \
         them. Nothing was done.";
    NameMismatch = "name_mismatch", 422, InvalidWorkflow, "another name":
        "The name in the definition is not the name in the path of the call. Change one of them.";
    KeyReused = "key_reused", 422, Conflict, "idempotency key used for another request":
        "The Idempotency-Key of this call was used before, for a call with another body. A key stands for one request: \
         its repeats get the first one's answer. Use a new key for a new request.";
    NothingToRun = "nothing_to_run", 422, Usage, "nothing to run":
        "The range of a backfill has no firing of the workflow's schedule, or each of them has a run already.";
    TooManyFirings = "too_many_firings", 422, Usage, "too many firings":
        "The range of a backfill has more firings than one campaign may have, or more workflows depend on it. Split it.";
    Unauthenticated = "unauthenticated", 401, NotAllowed, "not logged in":
        "The server wants to know who calls: no token was given, or it is unknown, expired or revoked. Set \
         WINDLASS_TOKEN or --token; `windlass tokens create` makes one, and the first is in the server's data folder.";
    Forbidden = "forbidden", 403, NotAllowed, "not allowed":
        "The caller is known and its role does not allow this. `windlass tokens list` shows roles.";
    ForeignOrigin = "foreign_origin", 403, NotAllowed, "refused for where it comes from":
        "A server without login answers only programs of its own machine: the Host header must be a loopback name, and \
         a web page of another origin is refused. Use http://127.0.0.1 or http://localhost, or switch on login.";
    RunNotFound = "run_not_found", 404, NotFound, "no such run":
        "There is no run of that id: it never was, or it is older than its workflow's retention. `windlass runs list` \
         shows what there is.";
    JobNotFound = "job_not_found", 404, NotFound, "no such job":
        "The run has no job of that number, or no task of that name.";
    AttemptNotFound = "attempt_not_found", 404, NotFound, "no such attempt":
        "The job has had no attempt of that number.";
    LogNotFound = "log_not_found", 404, NotFound, "no log":
        "Nothing is left of what the attempt printed: it never started a process, or its log is gone with its worker.";
    WorkflowNotFound = "workflow_not_found", 404, NotFound, "no such workflow":
        "No workflow of that name is stored, or it has no such version. `windlass workflows list` shows what there is, \
         `windlass apply -f FILE` stores one.";
    ScheduleNotFound = "schedule_not_found", 404, NotFound, "no such schedule":
        "There is no schedule of that id. An id is WORKFLOW@NAME; `windlass schedules list` shows them.";
    BackfillNotFound = "backfill_not_found", 404, NotFound, "no such backfill":
        "There is no campaign of that id. `windlass backfill list` shows what there is.";
    CalendarNotFound = "calendar_not_found", 404, NotFound, "no such calendar":
        "No calendar of that name is stored. `windlass calendars list` shows what there is, `windlass calendars set NAME` \
         makes one. A schedule that names it does not fire on any day.";
    TriggerNotFound = "trigger_not_found", 404, NotFound, "no such trigger":
        "There is no trigger of that id that can be called. `windlass triggers list` shows what there is, `windlass \
         triggers set ID --workflow NAME` makes one.";
    WorkerNotFound = "worker_not_found", 404, NotFound, "no such worker":
        "No worker of that name or id is known. `windlass workers list` shows who is.";
    PoolNotFound = "pool_not_found", 404, NotFound, "no such pool":
        "There is no pool of that name. `windlass pools set NAME --limit N` makes one.";
    TokenNotFound = "token_not_found", 404, NotFound, "no such token":
        "There is no token of that name or id. `windlass tokens list` shows them.";
    NotFound = "not_found", 404, NotFound, "no such path":
        "The server has nothing at this path. `/api/docs` lists what it has.";
    MethodNotAllowed = "method_not_allowed", 405, Usage, "not with this method":
        "There is something at this path, and it does not take this HTTP method. `/api/docs` lists what it takes.";
    StateConflict = "state_conflict", 409, Conflict, "not in this state":
        "What was asked does not fit the state that the run or job is in: a run that is over cannot be paused, one that \
         is not over cannot be recovered, a job under way cannot be retried. The detail says which. Nothing was done.";
    WorkflowDisabled = "workflow_disabled", 409, Conflict, "workflow is disabled":
        "New runs of the workflow are switched off. `windlass workflows enable NAME` allows them again.";
    NameTaken = "name_taken", 409, Conflict, "name is taken":
        "Something of that name exists, and names of its kind are unique.";
    InUse = "in_use", 409, Conflict, "still in use":
        "It cannot be deleted while something needs it: runs that are not over, workflows that call it or whose \
         schedules obey it, jobs that hold its permits. The detail says what.";
    VersionMismatch = "version_mismatch", 412, Conflict, "changed in the meantime":
        "Somebody changed it since it was read (If-Match). Read it again and repeat the change.";
    TooLarge = "too_large", 413, Usage, "too large":
        "The body is larger than the server takes. The detail says how much it takes.";
    UnsupportedMediaType = "unsupported_media_type", 415, Usage, "not in this format":
        "The Content-Type is not one that this call takes: JSON everywhere, and YAML for workflows.";
    TooManyRequests = "too_many_requests", 429, Unreachable, "too many requests":
        "The server has more to do than it takes on. Retry-After says when to come back.";
    Internal = "internal", 500, Failed, "mistake of the server":
        "The server made a mistake. Its log has the details under the id in the detail. What was asked may or may not \
         have been done; repeating it with the same Idempotency-Key is safe.";
    NotYetSupported = "not_yet_supported", 501, Usage, "not there yet":
        "This is planned and not built. The detail says what works instead, if anything does.";
    Unavailable = "unavailable", 503, Unreachable, "not available now":
        "Nobody could answer in time: the owner of what was asked for is being replaced, the store cannot be reached, or \
         the server is starting or stopping. Nothing acknowledged is lost. Retry-After says when to try again; with the \
         same Idempotency-Key nothing happens twice.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_sent_as_rfc_9457_says() {
        let problem = Problem::new(ProblemCode::RunNotFound, "there is no run 0123")
            .hint("`windlass runs list` shows what there is");
        let sent = serde_json::to_value(&problem).unwrap();
        assert_eq!(
            sent,
            serde_json::json!({
                "type": "/docs/errors/run_not_found",
                "title": "no such run",
                "status": 404,
                "detail": "there is no run 0123",
                "code": "run_not_found",
                "hint": "`windlass runs list` shows what there is",
            })
        );
        assert_eq!(serde_json::from_value::<Problem>(sent).unwrap(), problem);
        assert_eq!(problem.known_code(), Some(ProblemCode::RunNotFound));
    }

    #[test]
    fn codes_are_unique_and_their_exits_fit_their_statuses() {
        let mut texts: Vec<_> = ProblemCode::ALL.iter().map(|code| code.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), ProblemCode::ALL.len());
        for code in ProblemCode::ALL {
            let by_status = Exit::of_status(code.status());
            // Statuses of one kind may mean several things; these say more than their status does.
            let finer = matches!(code.status(), 422 | 501);
            assert!(finer || by_status == code.exit(), "{code}: {by_status:?}");
        }
    }
}
