//! Refusals as problems: what every error below becomes for who called.

use std::error::Error;

use axum::response::{IntoResponse, Response};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use windlass_core::shard::input;
use windlass_master::handle::CallError;
use windlass_master::wishes::WishError;
use windlass_rest::problem::{self, Problem, ProblemCode};
use windlass_store::Unavailable;
use windlass_store::encoding::Malformed;
use windlass_store::globals::SetGlobalError;
use windlass_store::pins::PinError;
use windlass_workflow::diagnostic::did_you_mean;

use crate::complaints::may_say;
use crate::views::diagnostics;

/// A call that is not done, and what its caller is told.
#[derive(Debug)]
pub struct Refusal {
    problem: Box<Problem>,
    /// The methods that a path takes, if it was another.
    allow: Option<String>,
}

impl Refusal {
    /// A refusal of that code; `detail` says what went wrong this time.
    pub fn new(code: ProblemCode, detail: impl Into<String>) -> Refusal {
        Refusal { problem: Box::new(Problem::new(code, detail)), allow: None }
    }

    /// What cannot be understood.
    pub fn bad_request(detail: impl Into<String>) -> Refusal {
        Refusal::new(ProblemCode::BadRequest, detail)
    }

    /// What is planned and not built.
    pub fn not_yet(detail: impl Into<String>) -> Refusal {
        Refusal::new(ProblemCode::NotYetSupported, detail)
    }

    /// A path that takes other methods.
    pub fn method_not_allowed(allowed: &[&str]) -> Refusal {
        let allowed = allowed.join(", ");
        let mut refusal = Refusal::new(ProblemCode::MethodNotAllowed, format!("this path takes {allowed}"));
        refusal.allow = Some(allowed);
        refusal
    }

    /// A workflow with mistakes.
    pub fn invalid(found: &[windlass_workflow::Diagnostic]) -> Refusal {
        let errors = found.iter().filter(|found| found.severity == windlass_workflow::Severity::Error);
        let count = errors.clone().count();
        let first = errors.map(|error| error.message.as_str()).next().unwrap_or("it cannot be read");
        let detail = match count {
            0 | 1 => format!("the workflow has a mistake: {first}"),
            count => format!("the workflow has {count} mistakes; the first: {first}"),
        };
        let problem = Problem::new(ProblemCode::InvalidWorkflow, detail);
        Refusal { problem: Box::new(problem.diagnostics(diagnostics::sent(found))), allow: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Refusal {
        self.problem.hint = Some(hint.into());
        self
    }

    /// The stable name of what went wrong.
    pub fn code(&self) -> &str {
        &self.problem.code
    }

    /// What went wrong.
    pub fn detail(&self) -> &str {
        &self.problem.detail
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.problem.status
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal { problem, allow } = self;
        let status =
            hyper::StatusCode::from_u16(problem.status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = Response::new(axum::body::Body::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(problem::CONTENT_TYPE));
        if matches!(problem.status, 429 | 503) {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if problem.status == 401 {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(allow) = allow.and_then(|allow| HeaderValue::from_str(&allow).ok()) {
            headers.insert(ALLOW, allow);
        }
        response
    }
}

impl From<WishError> for Refusal {
    fn from(error: WishError) -> Refusal {
        let detail = error.to_string();
        match error {
            WishError::NoSuchWorkflow(_) => Refusal::new(ProblemCode::WorkflowNotFound, detail)
                .hint("`windlass workflows list` shows what there is"),
            WishError::NoSuchTask { task, known, .. } => {
                let refusal = Refusal::new(ProblemCode::JobNotFound, detail);
                match did_you_mean(task.as_str(), known.iter().map(windlass_model::TaskId::as_str)) {
                    Some(hint) => refusal.hint(hint),
                    None => refusal,
                }
            }
            WishError::NoSuchRun(_) => Refusal::new(ProblemCode::RunNotFound, detail),
            WishError::Unreadable { run, .. } => {
                tracing::error!(run_id = %run, error = detail, "a stored run cannot be read");
                Refusal::new(ProblemCode::Internal, detail)
            }
            WishError::DependantsInACircle(_) => Refusal::new(ProblemCode::WorkflowCircle, detail)
                .hint("backfill them one by one, without their dependants"),
            WishError::TooManyDependants(_) => Refusal::new(ProblemCode::TooManyFirings, detail)
                .hint("backfill it without its dependants, and then each of those"),
            WishError::Pins(PinError::Circle { .. }) => Refusal::new(ProblemCode::WorkflowCircle, detail),
            WishError::Pins(PinError::Missing { .. } | PinError::TooMany { .. }) => {
                Refusal::new(ProblemCode::InvalidWorkflow, detail)
            }
            WishError::Content(why) => Refusal::bad_request(format!("it cannot be stored: {why}")),
            WishError::Refused(refused) => refused.into(),
            WishError::Call(error) => error.into(),
            WishError::Store(error) => error.into(),
        }
    }
}

impl From<input::Refusal> for Refusal {
    fn from(refused: input::Refusal) -> Refusal {
        use input::Refusal as R;
        let code = match &refused {
            R::NoSuchRun => ProblemCode::RunNotFound,
            R::Unreadable => ProblemCode::Internal,
            R::NoSuchJob => ProblemCode::JobNotFound,
            R::KeyReused => ProblemCode::KeyReused,
            R::Run(_) | R::Job(_) => ProblemCode::StateConflict,
            R::Params(_) => ProblemCode::BadParams,
            R::Disabled => ProblemCode::WorkflowDisabled,
            R::Changed(_) => ProblemCode::VersionMismatch,
            R::RunsOpen(_) | R::BackfillOpen | R::PoolInUse(_) => ProblemCode::InUse,
            R::NoSuchPool => ProblemCode::PoolNotFound,
            R::NoSuchWorkflow => ProblemCode::WorkflowNotFound,
            R::NoSuchBackfill => ProblemCode::BackfillNotFound,
            R::TooManyFirings(_) => ProblemCode::TooManyFirings,
            R::NothingToRun => ProblemCode::NothingToRun,
            R::NoIds => ProblemCode::Unavailable,
        };
        let hint = match &refused {
            R::RunsOpen(_) => Some("wait for them or stop them: `windlass stop --all --workflow NAME`"),
            R::PoolInUse(_) => {
                Some("a limit of 0 gives no new ones: `windlass pools set NAME --limit 0`, then wait")
            }
            R::Changed(_) => Some("read it again, and repeat the change on what is there now"),
            _ => None,
        };
        let refusal = Refusal::new(code, refused.to_string());
        match hint {
            Some(hint) => refusal.hint(hint),
            None => refusal,
        }
    }
}

impl From<CallError> for Refusal {
    fn from(error: CallError) -> Refusal {
        let code = match &error {
            CallError::Unavailable | CallError::Unknown => ProblemCode::Unavailable,
            CallError::Rejected(_) => ProblemCode::BadRequest,
        };
        Refusal::new(code, error.to_string())
    }
}

impl From<Unavailable> for Refusal {
    fn from(error: Unavailable) -> Refusal {
        if let Some(malformed) = malformed(&error) {
            // Calling again does not help: somebody has to look at the row.
            tracing::error!(tried = error.tried, error = %malformed, "what is stored cannot be read");
            let detail = format!("cannot {}: what is stored cannot be read: {malformed}", error.tried);
            return Refusal::new(ProblemCode::Internal, detail);
        }
        if let Some(unsaid) = may_say("the store has failed", error.tried) {
            let (backend, tried) = (error.backend, error.tried);
            tracing::warn!(backend, tried, error = %error.cause, unsaid, "the store has failed");
        }
        Refusal::new(ProblemCode::Unavailable, error.to_string())
    }
}

/// The row that cannot be understood, if it is that.
fn malformed(error: &Unavailable) -> Option<&Malformed> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&*error.cause);
    while let Some(error) = cause {
        if let Some(malformed) = error.downcast_ref() {
            return Some(malformed);
        }
        cause = error.source();
    }
    None
}

impl From<SetGlobalError> for Refusal {
    fn from(error: SetGlobalError) -> Refusal {
        let detail = error.to_string();
        match error {
            SetGlobalError::Unavailable(error) => error.into(),
            SetGlobalError::Changed { .. } => {
                Refusal::new(ProblemCode::Unavailable, "somebody else changes it at this moment")
            }
            SetGlobalError::Rejected(why) => Refusal::bad_request(format!("it cannot be stored: {why}")),
            SetGlobalError::Unknown(_) => Refusal::new(ProblemCode::Unavailable, detail),
        }
    }
}
