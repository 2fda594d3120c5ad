//! Which call a method and a path mean: the one table of everything that is answered.
//!
//! A verb stands behind the last colon of a path (`/runs/{id}:stop`); only the verbs of that path are taken for one,
//! because names may have colons.

use hyper::Method;
use percent_encoding::percent_decode_str;
use windlass_rest::ProblemCode;

use crate::refusal::Refusal;

/// An enum whose members can be listed by name, so that a test sees what is not described.
macro_rules! listed {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$member_meta:meta])* $member:ident $(($($field:ty),+))?,)+
    }) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$member_meta])* $member $(($($field),+))?,)+
        }

        #[cfg(test)]
        impl $name {
            /// The names of all members.
            pub const MEMBERS: &'static [&'static str] = &[$(stringify!($member),)+];

            /// The name of this one.
            pub fn member(&self) -> &'static str {
                match self { $($name::$member { .. } => stringify!($member),)+ }
            }
        }
    };
}

listed! {
/// Something that can be asked of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A view of the web UI.
    Ui,
    /// A file that the web UI needs, by its name below `/assets`.
    UiFile(String),
    /// What can be asked, for programs.
    Description,
    /// The same for people.
    Docs,
    /// A document of the project, by its path below `/docs`.
    Page(String),
    /// Whether the process lives.
    Live,
    /// Whether it can do its work.
    Ready,
    /// What Prometheus reads.
    Metrics,
    /// The dispatch switch, on or off.
    Switch(bool),

    CreateRun,
    ListRuns,
    ShowRun(String),
    ControlRun(String, RunVerb),
    RunEvents(String),
    RunGraph(String),
    ListTasks(String),
    ListJobs(String),
    ShowJob(JobPath),
    ControlJob(JobPath, JobVerb),
    Why(JobPath),
    Log(JobPath, String),
    Events,

    ListWorkflows,
    ShowWorkflow(String),
    PutWorkflow(String),
    DeleteWorkflow(String),
    EnableWorkflow(String, bool),
    ListVersions(String),
    ShowVersion(String, String),
    WorkflowGraph(String),
    Dependencies(String),
    Validate,
    ImportCrontab,
    TestAlerts,

    ListSchedules,
    ShowSchedule(String),
    PauseSchedule(String, bool),
    ListFirings(String),
    ScheduleNext(String),
    CronNext,

    CreateBackfill,
    ListBackfills,
    ShowBackfill(String),
    ControlBackfill(String, BackfillVerb),

    ListCalendars,
    ShowCalendar(String),
    SetCalendar(String),
    DeleteCalendar(String),

    ListTriggers,
    ShowTrigger(String),
    SetTrigger(String),
    DeleteTrigger(String),
    FireTrigger(String),

    ListWorkers,
    ShowWorker(String),
    DrainWorker(String, bool),
    ShowCluster,
    ShowScheduler,
    ListPools,
    ShowPool(String),
    SetPool(String),
    DeletePool(String),

    /// A copy of everything.
    Backup,

    ListTokens,
    CreateToken,
    RevokeToken(String),

    /// Planned and not built: what, and who may do it once it is.
    NotYet(&'static str),
}
}

/// A job as a path names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobPath {
    pub run: String,
    pub job: String,
}

listed! {
/// What can be asked of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunVerb {
    Stop,
    Pause,
    Resume,
    Recover,
    Rerun,
}
}

listed! {
/// What can be asked of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobVerb {
    Retry,
    ForceSuccess,
    Approve,
    Reject,
}
}

listed! {
/// What can be asked of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackfillVerb {
    Pause,
    Resume,
    Stop,
}
}

/// Finds the call; refuses what is at no path, and what a path does not take.
pub fn find(method: &Method, path: &str) -> Result<Call, Refusal> {
    let calls = all_at(path);
    if calls.is_empty() {
        let detail = format!("there is nothing at `{}`", path.chars().take(200).collect::<String>());
        return Err(Refusal::new(ProblemCode::NotFound, detail));
    }
    // Whoever may get something may ask about it.
    let wanted = if *method == Method::HEAD { &Method::GET } else { method };
    let allowed: Vec<_> = calls.iter().map(|(method, _)| method.as_str().to_owned()).collect();
    let found = calls.into_iter().find(|(method, _)| method == wanted);
    found
        .map(|(_, call)| call)
        .ok_or_else(|| Refusal::method_not_allowed(&allowed.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// Everything at a path, by method.
pub fn all_at(path: &str) -> Vec<(Method, Call)> {
    decoded(path).map(|segments| at(&segments)).unwrap_or_default()
}

fn decoded(path: &str) -> Option<Vec<String>> {
    let segments = path.strip_prefix('/')?.split('/');
    segments
        .map(|segment| percent_decode_str(segment).decode_utf8().ok().map(std::borrow::Cow::into_owned))
        .collect()
}

/// The calls at a path, by method.
fn at(segments: &[String]) -> Vec<(Method, Call)> {
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    match segments.as_slice() {
        // Views of the UI are its own affair; that nothing else is one keeps a mistyped path an error.
        [""] | ["login"] | ["runs" | "workflows" | "editor" | "schedules" | "backfills" | "cluster", ..] => {
            vec![(Method::GET, Call::Ui)]
        }
        ["assets", name] => vec![(Method::GET, Call::UiFile((*name).into()))],
        ["livez"] => vec![(Method::GET, Call::Live)],
        ["readyz" | "healthz"] => vec![(Method::GET, Call::Ready)],
        ["api", "openapi.json"] => vec![(Method::GET, Call::Description)],
        ["api", "docs"] => vec![(Method::GET, Call::Docs)],
        ["docs", rest @ ..] => vec![(Method::GET, Call::Page(rest.join("/")))],
        ["metrics"] => vec![(Method::GET, Call::Metrics)],
        ["scheduler", "start"] => vec![(Method::POST, Call::Switch(true))],
        ["scheduler", "stop"] => vec![(Method::POST, Call::Switch(false))],
        ["api", "v1", rest @ ..] => api(rest),
        _ => vec![],
    }
}

fn api(segments: &[&str]) -> Vec<(Method, Call)> {
    let get = |call| vec![(Method::GET, call)];
    let post = |call| vec![(Method::POST, call)];
    match segments {
        ["runs"] => vec![(Method::GET, Call::ListRuns), (Method::POST, Call::CreateRun)],
        ["runs", run] => match verb(run, run_verb) {
            Some((run, verb)) => post(Call::ControlRun(run, verb)),
            None => get(Call::ShowRun((*run).into())),
        },
        ["runs", run, "events"] => get(Call::RunEvents((*run).into())),
        ["runs", run, "graph"] => get(Call::RunGraph((*run).into())),
        ["runs", run, "tasks"] => get(Call::ListTasks((*run).into())),
        ["runs", run, "jobs"] => get(Call::ListJobs((*run).into())),
        ["runs", run, "jobs", job] => match verb(job, job_verb) {
            Some((job, verb)) => post(Call::ControlJob(JobPath { run: (*run).into(), job }, verb)),
            None => get(Call::ShowJob(job_path(run, job))),
        },
        ["runs", run, "jobs", job, "why"] => get(Call::Why(job_path(run, job))),
        ["runs", run, "jobs", job, "attempts", attempt, "log"] => {
            get(Call::Log(job_path(run, job), (*attempt).into()))
        }
        ["events"] => get(Call::Events),

        ["workflows"] => get(Call::ListWorkflows),
        ["workflows:validate"] => post(Call::Validate),
        ["import", "crontab"] => post(Call::ImportCrontab),
        ["workflows", name] => match verb(name, |verb| on_off(verb, "enable", "disable")) {
            Some((name, enabled)) => post(Call::EnableWorkflow(name, enabled)),
            None => vec![
                (Method::GET, Call::ShowWorkflow((*name).into())),
                (Method::PUT, Call::PutWorkflow((*name).into())),
                (Method::DELETE, Call::DeleteWorkflow((*name).into())),
            ],
        },
        ["workflows", name, "versions"] => get(Call::ListVersions((*name).into())),
        ["workflows", name, "versions", version] => get(Call::ShowVersion((*name).into(), (*version).into())),
        ["workflows", name, "graph"] => get(Call::WorkflowGraph((*name).into())),
        ["workflows", name, "dependencies"] => get(Call::Dependencies((*name).into())),

        ["schedules"] => get(Call::ListSchedules),
        ["schedules", id] => match verb(id, |verb| on_off(verb, "pause", "resume")) {
            Some((id, paused)) => post(Call::PauseSchedule(id, paused)),
            None => get(Call::ShowSchedule((*id).into())),
        },
        ["schedules", id, "firings"] => get(Call::ListFirings((*id).into())),
        ["schedules", id, "next"] => get(Call::ScheduleNext((*id).into())),
        ["cron", "next"] => get(Call::CronNext),

        ["backfills"] => vec![(Method::GET, Call::ListBackfills), (Method::POST, Call::CreateBackfill)],
        ["backfills", id] => match verb(id, backfill_verb) {
            Some((id, verb)) => post(Call::ControlBackfill(id, verb)),
            None => get(Call::ShowBackfill((*id).into())),
        },
        ["calendars"] => get(Call::ListCalendars),
        ["calendars", name] => vec![
            (Method::GET, Call::ShowCalendar((*name).into())),
            (Method::PUT, Call::SetCalendar((*name).into())),
            (Method::DELETE, Call::DeleteCalendar((*name).into())),
        ],

        ["triggers"] => get(Call::ListTriggers),
        ["triggers", id] => vec![
            (Method::GET, Call::ShowTrigger((*id).into())),
            (Method::PUT, Call::SetTrigger((*id).into())),
            (Method::DELETE, Call::DeleteTrigger((*id).into())),
            (Method::POST, Call::FireTrigger((*id).into())),
        ],

        ["workers"] => get(Call::ListWorkers),
        ["workers", id] => match verb(id, |verb| on_off(verb, "drain", "resume")) {
            Some((id, drain)) => post(Call::DrainWorker(id, drain)),
            None => get(Call::ShowWorker((*id).into())),
        },
        ["cluster"] => get(Call::ShowCluster),
        ["scheduler"] => get(Call::ShowScheduler),
        ["pools"] => get(Call::ListPools),
        ["pools", name] => vec![
            (Method::GET, Call::ShowPool((*name).into())),
            (Method::PUT, Call::SetPool((*name).into())),
            (Method::DELETE, Call::DeletePool((*name).into())),
        ],

        ["backup"] => get(Call::Backup),

        ["tokens"] => vec![(Method::GET, Call::ListTokens), (Method::POST, Call::CreateToken)],
        ["tokens", id] => vec![(Method::DELETE, Call::RevokeToken((*id).into()))],

        ["alerts:test"] => post(Call::TestAlerts),
        ["secrets" | "connections" | "users" | "audit"] => {
            not_yet(&[Method::GET], "this part of the interface")
        }
        _ => vec![],
    }
}

fn not_yet(methods: &[Method], what: &'static str) -> Vec<(Method, Call)> {
    methods.iter().map(|method| (method.clone(), Call::NotYet(what))).collect()
}

fn job_path(run: &str, job: &str) -> JobPath {
    JobPath { run: run.to_owned(), job: job.to_owned() }
}

/// What stands before the last colon and the verb behind it, if it is one.
fn verb<V>(segment: &str, read: impl Fn(&str) -> Option<V>) -> Option<(String, V)> {
    let (name, verb) = segment.rsplit_once(':')?;
    Some((name.to_owned(), read(verb)?))
}

fn run_verb(word: &str) -> Option<RunVerb> {
    Some(match word {
        "stop" => RunVerb::Stop,
        "pause" => RunVerb::Pause,
        "resume" => RunVerb::Resume,
        "recover" => RunVerb::Recover,
        "rerun" => RunVerb::Rerun,
        _ => return None,
    })
}

fn job_verb(word: &str) -> Option<JobVerb> {
    Some(match word {
        "retry" => JobVerb::Retry,
        "force-success" => JobVerb::ForceSuccess,
        "approve" => JobVerb::Approve,
        "reject" => JobVerb::Reject,
        _ => return None,
    })
}

fn backfill_verb(word: &str) -> Option<BackfillVerb> {
    Some(match word {
        "pause" => BackfillVerb::Pause,
        "resume" => BackfillVerb::Resume,
        "stop" => BackfillVerb::Stop,
        _ => return None,
    })
}

fn on_off(word: &str, on: &str, off: &str) -> Option<bool> {
    if word == on {
        Some(true)
    } else if word == off {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(method: &str, path: &str) -> Result<Call, u16> {
        find(&method.parse().unwrap(), path).map_err(|refusal| refusal.status())
    }

    #[test]
    fn a_verb_stands_behind_the_last_colon() {
        assert_eq!(found("POST", "/api/v1/runs/A:stop"), Ok(Call::ControlRun("A".into(), RunVerb::Stop)));
        assert_eq!(found("GET", "/api/v1/runs/A"), Ok(Call::ShowRun("A".into())));
        assert_eq!(found("GET", "/api/v1/runs/A:stop"), Err(405));
        assert_eq!(found("POST", "/api/v1/runs/A:jump"), Err(405), "it is taken for a name");
        let job = JobPath { run: "A".into(), job: "3".into() };
        assert_eq!(
            found("POST", "/api/v1/runs/A/jobs/3:force-success"),
            Ok(Call::ControlJob(job, JobVerb::ForceSuccess))
        );
        assert_eq!(found("POST", "/api/v1/workflows:validate"), Ok(Call::Validate));
    }

    #[test]
    fn names_may_have_anything() {
        assert_eq!(
            found("POST", "/api/v1/schedules/load@*%2F5%20*%20*%20*%20*%20UTC:pause"),
            Ok(Call::PauseSchedule("load@*/5 * * * * UTC".into(), true))
        );
        assert_eq!(found("GET", "/api/v1/runs/a%2F..%2Fb"), Ok(Call::ShowRun("a/../b".into())));
        assert_eq!(found("GET", "/api/v1/runs/%ff"), Err(404));
    }

    #[test]
    fn what_is_not_there_and_what_is_not_taken_differ() {
        for path in
            ["/nowhere", "/api/v1", "/api/v1/", "/api/v2/runs", "/api/v1/runs/", "//", "/api/v1/runs/A/b"]
        {
            let expected = if path == "/api/v1/runs/" { Ok(Call::ShowRun(String::new())) } else { Err(404) };
            assert_eq!(found("GET", path), expected, "{path}");
        }
        assert_eq!(found("DELETE", "/api/v1/runs"), Err(405));
        assert_eq!(found("HEAD", "/livez"), Ok(Call::Live));
    }
}
