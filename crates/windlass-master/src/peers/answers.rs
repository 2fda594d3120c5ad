//! Answers, as they are passed back.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_core::attempt::{self, StopReason};
use windlass_core::master::input::Reply;
use windlass_core::rows::{BackfillId, RunRow};
use windlass_core::shard::backfill::PlannedRun;
use windlass_core::shard::input::{Answer, Refusal};
use windlass_core::shard::rendered::Rendered;
use windlass_core::shard::view::{AttemptView, JobView, RunView, TaskView, Work};
use windlass_core::shard::why::Reason;
use windlass_core::time::{Mono, Wall};
use windlass_core::{job, run};
use windlass_model::{AttemptNumber, Fence, Incarnation, JobNumber, Name, WorkerId};
use windlass_store::encoding::{shapes as stored, states};

use super::shapes::{
    Decoded, FORMAT, PoolShape, StandingShape, Undecodable, ago, left, name, parse, read, run_state, some,
    task, then, until, values, values_text, write,
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReplyShape {
    Answered(Box<AnswerShape>),
    Unavailable,
    Unknown,
    Rejected { why: String },
    NotHere,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnswerShape {
    Created { run: String },
    Accepted { state: String },
    Done,
    Run(Option<Box<RunShape>>),
    Tasks(Option<Vec<TaskShape>>),
    Jobs(Option<Vec<JobShape>>),
    Why(Option<Vec<ReasonShape>>),
    Plan(Vec<PlannedShape>),
    Backfill { backfill: String, runs: u32 },
    Work { open_runs: u64, ready: Vec<ReadyShape>, running_jobs: u64 },
    Attempts(Vec<AttemptOnShape>),
    Refused(RefusalShape),
}

#[derive(Debug, Serialize, Deserialize)]
struct ReadyShape {
    group: Option<String>,
    priority: String,
    jobs: u64,
}

/// As it is sent.
pub fn encode(now: Mono, reply: &Reply) -> (u32, Vec<u8>) {
    let shape = match reply {
        Reply::Answered(answer) => ReplyShape::Answered(Box::new(answer_shape(now, answer))),
        Reply::Unavailable => ReplyShape::Unavailable,
        Reply::Unknown => ReplyShape::Unknown,
        Reply::Rejected(why) => ReplyShape::Rejected { why: why.to_string() },
        Reply::NotHere => ReplyShape::NotHere,
    };
    (FORMAT, write(&shape))
}

/// What was sent.
pub fn decode(now: Mono, format: u32, text: &[u8]) -> Decoded<Reply> {
    Ok(match read::<ReplyShape>(format, text)? {
        ReplyShape::Answered(answer) => Reply::Answered(answer.answer(now)?),
        ReplyShape::Unavailable => Reply::Unavailable,
        ReplyShape::Unknown => Reply::Unknown,
        ReplyShape::Rejected { why } => Reply::Rejected(why.into()),
        ReplyShape::NotHere => Reply::NotHere,
    })
}

fn answer_shape(now: Mono, answer: &Answer) -> AnswerShape {
    match answer {
        Answer::Created(run) => AnswerShape::Created { run: run.to_string() },
        Answer::Accepted(state) => AnswerShape::Accepted { state: states::run_word(*state).to_owned() },
        Answer::Done => AnswerShape::Done,
        Answer::Run(view) => AnswerShape::Run(view.as_deref().map(|view| Box::new(view.into()))),
        Answer::Tasks(tasks) => {
            let shape = |tasks: &Vec<TaskView>| tasks.iter().map(TaskShape::from).collect();
            AnswerShape::Tasks(tasks.as_ref().map(shape))
        }
        Answer::Jobs(jobs) => {
            let shape = |jobs: &Vec<JobView>| jobs.iter().map(|job| JobShape::of(now, job)).collect();
            AnswerShape::Jobs(jobs.as_ref().map(shape))
        }
        Answer::Why(why) => AnswerShape::Why(why.as_ref().map(|why| reasons(now, why))),
        Answer::Plan(runs) => AnswerShape::Plan(
            runs.iter()
                .map(|run| PlannedShape {
                    logical_time: run.logical_time.0,
                    exists: run.exists.map(|run| run.to_string()),
                    wanted: run.wanted,
                })
                .collect(),
        ),
        Answer::Backfill(BackfillId(id), runs) => {
            AnswerShape::Backfill { backfill: id.to_string(), runs: *runs }
        }
        Answer::Work(Work { open_runs, ready, running_jobs }) => AnswerShape::Work {
            open_runs: *open_runs,
            ready: ready
                .iter()
                .map(|((group, priority), jobs)| ReadyShape {
                    group: group.as_ref().map(Name::to_string),
                    priority: priority.to_string(),
                    jobs: *jobs,
                })
                .collect(),
            running_jobs: *running_jobs,
        },
        Answer::Attempts(attempts) => AnswerShape::Attempts(
            attempts
                .iter()
                .map(|view| AttemptOnShape {
                    job: view.job.to_string(),
                    workflow: view.workflow.to_string(),
                    task: view.task.to_string(),
                    number: view.number.0,
                    started_at: view.started_at.map(|at| at.0),
                })
                .collect(),
        ),
        Answer::Refused(refusal) => AnswerShape::Refused(refusal.into()),
    }
}

impl AnswerShape {
    fn answer(self, now: Mono) -> Decoded<Answer> {
        Ok(match self {
            AnswerShape::Created { run } => Answer::Created(parse(&run)?),
            AnswerShape::Accepted { state } => Answer::Accepted(run_state(&state)?),
            AnswerShape::Done => Answer::Done,
            AnswerShape::Run(view) => Answer::Run(some(view, |view| view.view().map(Box::new))?),
            AnswerShape::Tasks(tasks) => Answer::Tasks(some(tasks, |tasks| {
                tasks.into_iter().map(TaskShape::view).collect::<Decoded<_>>()
            })?),
            AnswerShape::Jobs(jobs) => Answer::Jobs(some(jobs, |jobs| {
                jobs.into_iter().map(|job| job.view(now)).collect::<Decoded<_>>()
            })?),
            AnswerShape::Why(why) => Answer::Why(some(why, |why| to_reasons(now, why))?),
            AnswerShape::Plan(runs) => {
                let planned = runs.into_iter().map(|run| {
                    Ok(PlannedRun {
                        logical_time: Wall(run.logical_time),
                        exists: some(run.exists, |run| parse(&run))?,
                        wanted: run.wanted,
                    })
                });
                Answer::Plan(planned.collect::<Decoded<_>>()?)
            }
            AnswerShape::Backfill { backfill, runs } => Answer::Backfill(BackfillId(parse(&backfill)?), runs),
            AnswerShape::Work { open_runs, ready, running_jobs } => {
                let ready = ready.into_iter().map(|ReadyShape { group, priority, jobs }| {
                    Ok(((some(group, |group| name(&group))?, parse(&priority)?), jobs))
                });
                Answer::Work(Work { open_runs, ready: ready.collect::<Decoded<_>>()?, running_jobs })
            }
            AnswerShape::Attempts(attempts) => {
                let views = attempts.into_iter().map(|shape| {
                    Ok(AttemptView {
                        job: parse(&shape.job)?,
                        workflow: name(&shape.workflow)?,
                        task: task(&shape.task)?,
                        number: AttemptNumber(shape.number),
                        started_at: shape.started_at.map(Wall),
                    })
                });
                Answer::Attempts(views.collect::<Decoded<_>>()?)
            }
            AnswerShape::Refused(refusal) => Answer::Refused(refusal.refusal()?),
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct PlannedShape {
    logical_time: i64,
    exists: Option<String>,
    wanted: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct AttemptOnShape {
    job: String,
    workflow: String,
    task: String,
    number: u32,
    started_at: Option<i64>,
}

// --- a run --------------------------------------------------------------------------------------------

/// A run, its fields as they are stored.
#[derive(Debug, Serialize, Deserialize)]
struct RunShape {
    id: String,
    workflow: String,
    version: Option<u32>,
    revision: u32,
    state: String,
    reason: String,
    priority: String,
    params: String,
    labels: Option<String>,
    logical_time: i64,
    run_at: Option<i64>,
    created_at: i64,
    created_by: String,
    trigger: String,
    started_at: Option<i64>,
    finished_at: Option<i64>,
    selection: String,
    serial: bool,
    ending: bool,
    stored_counts: Option<String>,
    expansions: String,
    gangs: String,
    counts: String,
}

impl From<&RunView> for RunShape {
    fn from(RunView { row, counts }: &RunView) -> RunShape {
        RunShape {
            id: row.id.to_string(),
            workflow: row.workflow.to_string(),
            version: row.version,
            revision: row.revision,
            state: states::run_word(row.state).to_owned(),
            reason: row.reason.to_string(),
            priority: row.priority.to_string(),
            params: values_text(&row.params),
            labels: row.labels.as_deref().map(stored::labels_text),
            logical_time: row.logical_time.0,
            run_at: row.run_at.map(|at| at.0),
            created_at: row.created_at.0,
            created_by: row.created_by.to_string(),
            trigger: stored::trigger_text(&row.trigger),
            started_at: row.started_at.map(|at| at.0),
            finished_at: row.finished_at.map(|at| at.0),
            selection: stored::selection_text(row.selection),
            serial: row.serial,
            ending: row.ending,
            stored_counts: row.counts.as_deref().map(stored::counts_text),
            expansions: stored::expansions_text(&row.expansions),
            gangs: stored::gangs_text(&row.gangs),
            counts: stored::counts_text(counts),
        }
    }
}

impl RunShape {
    fn view(self) -> Decoded<RunView> {
        let wrong = Undecodable::of;
        let row = RunRow {
            id: parse(&self.id)?,
            workflow: name(&self.workflow)?,
            version: self.version,
            revision: self.revision,
            state: run_state(&self.state)?,
            reason: self.reason.into(),
            priority: parse(&self.priority)?,
            params: values(&self.params)?,
            labels: some(self.labels, |labels| stored::labels(&labels).map(Arc::new).map_err(wrong))?,
            logical_time: Wall(self.logical_time),
            run_at: self.run_at.map(Wall),
            created_at: Wall(self.created_at),
            created_by: self.created_by.into(),
            trigger: stored::trigger(&self.trigger).map_err(wrong)?,
            started_at: self.started_at.map(Wall),
            finished_at: self.finished_at.map(Wall),
            selection: stored::selection(&self.selection).map_err(wrong)?,
            serial: self.serial,
            ending: self.ending,
            counts: some(self.stored_counts, |counts| stored::counts(&counts).map(Box::new).map_err(wrong))?,
            expansions: stored::expansions(&self.expansions).map_err(wrong)?,
            gangs: stored::gangs(&self.gangs).map_err(wrong)?,
        };
        Ok(RunView { row, counts: stored::counts(&self.counts).map_err(wrong)? })
    }
}

// --- tasks --------------------------------------------------------------------------------------------

#[derive(Debug, Serialize, Deserialize)]
struct TaskShape {
    task: String,
    first: u32,
    counts: String,
    part_size: u32,
    parts: Vec<String>,
}

impl From<&TaskView> for TaskShape {
    fn from(view: &TaskView) -> TaskShape {
        TaskShape {
            task: view.task.to_string(),
            first: view.first.0,
            counts: stored::counts_text(&view.counts),
            part_size: view.part_size,
            parts: view.parts.iter().map(stored::counts_text).collect(),
        }
    }
}

impl TaskShape {
    fn view(self) -> Decoded<TaskView> {
        let counts = |text: &String| stored::counts(text).map_err(Undecodable::of);
        Ok(TaskView {
            task: task(&self.task)?,
            first: JobNumber(self.first),
            counts: counts(&self.counts)?,
            part_size: self.part_size,
            parts: self.parts.iter().map(counts).collect::<Decoded<_>>()?,
        })
    }
}

// --- jobs ---------------------------------------------------------------------------------------------

#[derive(Debug, Serialize, Deserialize)]
struct JobShape {
    number: u32,
    task: String,
    index: Option<u32>,
    state: String,
    why: Vec<ReasonShape>,
    current: Option<CurrentShape>,
    outputs: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rendered: Option<RenderedShape>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CurrentShape {
    fence: u32,
    number: u32,
    worker: u64,
    incarnation: u64,
    assigned_at: i64,
    started_at: Option<i64>,
    since: u64,
    state: AttemptShape,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AttemptShape {
    Assigned,
    Running,
    Stopping { why: StopShape, started: bool },
    Ended { word: String },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StopShape {
    Stop,
    Timeout,
    Gang,
}

impl JobShape {
    fn of(now: Mono, view: &JobView) -> JobShape {
        JobShape {
            number: view.number.0,
            task: view.task.to_string(),
            index: view.index,
            state: view.state.to_string(),
            why: reasons(now, &view.why),
            current: view.current.as_ref().map(|current| CurrentShape::of(now, current)),
            outputs: view.outputs.as_deref().map(values_text),
            rendered: view.rendered.as_deref().map(RenderedShape::of),
        }
    }

    fn view(self, now: Mono) -> Decoded<JobView> {
        Ok(JobView {
            number: JobNumber(self.number),
            task: task(&self.task)?,
            index: self.index,
            state: parse(&self.state)?,
            why: to_reasons(now, self.why)?,
            current: some(self.current, |current| current.attempt(now))?,
            outputs: some(self.outputs, |outputs| values(&outputs))?,
            rendered: self.rendered.map(|rendered| Box::new(rendered.rendered())),
        })
    }
}

/// What a job runs. A master that does not know of it leaves it out.
#[derive(Debug, Serialize, Deserialize)]
struct RenderedShape {
    kind: String,
    text: String,
    env: Vec<(String, String)>,
    cut: bool,
    reads: Vec<(u32, u32)>,
}

impl RenderedShape {
    fn of(rendered: &Rendered) -> RenderedShape {
        RenderedShape {
            kind: rendered.kind.to_string(),
            text: rendered.text.clone(),
            env: rendered.env.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
            cut: rendered.cut,
            reads: rendered.reads.iter().map(|(first, count)| (first.0, *count)).collect(),
        }
    }

    fn rendered(self) -> Rendered {
        Rendered {
            kind: self.kind.into(),
            text: self.text,
            env: self.env.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            cut: self.cut,
            reads: self.reads.into_iter().map(|(first, count)| (JobNumber(first), count)).collect(),
        }
    }
}

impl CurrentShape {
    fn of(now: Mono, current: &job::Attempt) -> CurrentShape {
        CurrentShape {
            fence: current.fence.0,
            number: current.number.0,
            worker: current.worker.0,
            incarnation: current.incarnation.0,
            assigned_at: current.assigned_at.0,
            started_at: current.started_at.map(|at| at.0),
            since: ago(now, current.since),
            state: match current.state {
                attempt::State::Assigned => AttemptShape::Assigned,
                attempt::State::Running => AttemptShape::Running,
                attempt::State::Stopping { why, started } => AttemptShape::Stopping {
                    why: match why {
                        StopReason::Stop => StopShape::Stop,
                        StopReason::Timeout => StopShape::Timeout,
                        StopReason::Gang => StopShape::Gang,
                    },
                    started,
                },
                ended @ attempt::State::Ended(_) => AttemptShape::Ended {
                    word: states::attempt_word(ended).expect("ends are stored").to_owned(),
                },
            },
        }
    }

    fn attempt(self, now: Mono) -> Decoded<job::Attempt> {
        Ok(job::Attempt {
            fence: Fence(self.fence),
            number: AttemptNumber(self.number),
            worker: WorkerId(self.worker),
            incarnation: Incarnation(self.incarnation),
            assigned_at: Wall(self.assigned_at),
            started_at: self.started_at.map(Wall),
            since: then(now, self.since),
            state: match self.state {
                AttemptShape::Assigned => attempt::State::Assigned,
                AttemptShape::Running => attempt::State::Running,
                AttemptShape::Stopping { why, started } => attempt::State::Stopping {
                    why: match why {
                        StopShape::Stop => StopReason::Stop,
                        StopShape::Timeout => StopReason::Timeout,
                        StopShape::Gang => StopReason::Gang,
                    },
                    started,
                },
                AttemptShape::Ended { word } => states::attempt_state(&word).map_err(Undecodable::of)?,
            },
        })
    }
}

// --- why ----------------------------------------------------------------------------------------------

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReasonShape {
    Dependency { task: String },
    FinallyComesLast,
    RunLimit { limit: u32, active: u32 },
    NotBefore { at: i64 },
    Paused,
    Stopping,
    SwitchedOff,
    Backoff { left: u64 },
    MaxParallel { limit: u32 },
    Pool { pool: String, standing: Option<PoolShape> },
    Gang { gang: String, of: u32, ready: u32, held: u32, missing: Vec<String>, left: Option<u64> },
    LostWorker { worker: u64 },
    Approval { since: i64, by: Vec<String> },
    Time { since: i64, until: Option<i64> },
    NotYet { what: String, since: i64, left: Option<u64> },
    OtherRun { workflow: String, logical_time: i64, standing: Option<StandingShape> },
    SubWorkflow { run: Option<String> },
    NoWorkerFits { why: String },
    NoSlot,
    UnderWay,
    Behind { job: String },
    Over,
}

fn reasons(now: Mono, why: &[Reason]) -> Vec<ReasonShape> {
    why.iter().map(|reason| reason_shape(now, reason)).collect()
}

fn to_reasons(now: Mono, why: Vec<ReasonShape>) -> Decoded<Vec<Reason>> {
    why.into_iter().map(|reason| reason.reason(now)).collect()
}

fn reason_shape(now: Mono, reason: &Reason) -> ReasonShape {
    match reason {
        Reason::Dependency(task) => ReasonShape::Dependency { task: task.to_string() },
        Reason::FinallyComesLast => ReasonShape::FinallyComesLast,
        Reason::RunLimit { limit, active } => ReasonShape::RunLimit { limit: *limit, active: *active },
        Reason::NotBefore(at) => ReasonShape::NotBefore { at: at.0 },
        Reason::Paused => ReasonShape::Paused,
        Reason::Stopping => ReasonShape::Stopping,
        Reason::SwitchedOff => ReasonShape::SwitchedOff,
        Reason::Backoff(until) => ReasonShape::Backoff { left: left(now, *until) },
        Reason::MaxParallel(limit) => ReasonShape::MaxParallel { limit: *limit },
        Reason::Pool { pool, standing } => {
            ReasonShape::Pool { pool: pool.to_string(), standing: standing.as_deref().map(Into::into) }
        }
        Reason::Gang { gang, of, ready, held, missing, until } => ReasonShape::Gang {
            gang: gang.to_string(),
            of: *of,
            ready: *ready,
            held: *held,
            missing: missing.iter().map(ToString::to_string).collect(),
            left: until.map(|until| left(now, until)),
        },
        Reason::LostWorker(worker) => ReasonShape::LostWorker { worker: worker.0 },
        Reason::Approval { since, by } => {
            ReasonShape::Approval { since: since.0, by: by.iter().map(|by| (**by).to_owned()).collect() }
        }
        Reason::Time { since, until } => {
            ReasonShape::Time { since: since.0, until: until.map(|until| until.0) }
        }
        Reason::NotYet { what, since, next } => ReasonShape::NotYet {
            what: what.to_string(),
            since: since.0,
            left: next.map(|next| left(now, next)),
        },
        Reason::OtherRun { workflow, logical_time, standing } => ReasonShape::OtherRun {
            workflow: workflow.to_string(),
            logical_time: logical_time.0,
            standing: standing.map(Into::into),
        },
        Reason::SubWorkflow(run) => ReasonShape::SubWorkflow { run: run.map(|run| run.to_string()) },
        Reason::NoWorkerFits(why) => ReasonShape::NoWorkerFits { why: why.to_string() },
        Reason::NoSlot => ReasonShape::NoSlot,
        Reason::UnderWay => ReasonShape::UnderWay,
        Reason::Behind(job) => ReasonShape::Behind { job: job.to_string() },
        Reason::Over => ReasonShape::Over,
    }
}

impl ReasonShape {
    fn reason(self, now: Mono) -> Decoded<Reason> {
        Ok(match self {
            ReasonShape::Dependency { task: of } => Reason::Dependency(task(&of)?),
            ReasonShape::FinallyComesLast => Reason::FinallyComesLast,
            ReasonShape::RunLimit { limit, active } => Reason::RunLimit { limit, active },
            ReasonShape::NotBefore { at } => Reason::NotBefore(Wall(at)),
            ReasonShape::Paused => Reason::Paused,
            ReasonShape::Stopping => Reason::Stopping,
            ReasonShape::SwitchedOff => Reason::SwitchedOff,
            ReasonShape::Backoff { left } => Reason::Backoff(until(now, left)),
            ReasonShape::MaxParallel { limit } => Reason::MaxParallel(limit),
            ReasonShape::Pool { pool, standing } => {
                Reason::Pool { pool: name(&pool)?, standing: some(standing, |standing| standing.standing())? }
            }
            ReasonShape::Gang { gang, of, ready, held, missing, left } => Reason::Gang {
                gang: name(&gang)?,
                of,
                ready,
                held,
                missing: missing.iter().map(|of| task(of)).collect::<Decoded<_>>()?,
                until: left.map(|left| until(now, left)),
            },
            ReasonShape::LostWorker { worker } => Reason::LostWorker(WorkerId(worker)),
            ReasonShape::Approval { since, by } => {
                Reason::Approval { since: Wall(since), by: by.into_iter().map(Into::into).collect() }
            }
            ReasonShape::Time { since, until } => Reason::Time { since: Wall(since), until: until.map(Wall) },
            ReasonShape::NotYet { what, since, left } => Reason::NotYet {
                what: what.into(),
                since: Wall(since),
                next: left.map(|left| until(now, left)),
            },
            ReasonShape::OtherRun { workflow, logical_time, standing } => Reason::OtherRun {
                workflow: name(&workflow)?,
                logical_time: Wall(logical_time),
                standing: some(standing, |standing| standing.standing())?,
            },
            ReasonShape::SubWorkflow { run } => Reason::SubWorkflow(some(run, |run| parse(&run))?),
            ReasonShape::NoWorkerFits { why } => Reason::NoWorkerFits(why.into()),
            ReasonShape::NoSlot => Reason::NoSlot,
            ReasonShape::UnderWay => Reason::UnderWay,
            ReasonShape::Behind { job } => Reason::Behind(parse(&job)?),
            ReasonShape::Over => Reason::Over,
        })
    }
}

// --- refusals -----------------------------------------------------------------------------------------

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RefusalShape {
    NoSuchRun,
    Unreadable,
    NoSuchJob,
    KeyReused,
    Run(RunRefusedShape),
    Job(JobRefusedShape),
    Params { why: String },
    Disabled,
    NoSuchWorkflow,
    Changed { stored: Option<u32> },
    NoSuchPool,
    PoolInUse { jobs: u64 },
    RunsOpen { runs: u64 },
    BackfillOpen,
    NoSuchBackfill,
    TooManyFirings { most: u64 },
    NothingToRun,
    NoIds,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RunRefusedShape {
    Over,
    NotOver,
    Stopping,
    NotPaused,
    NotExpected,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum JobRefusedShape {
    StaleAttempt,
    AttemptOver,
    AttemptStarted,
    Over,
    NotOver,
    UnderWay,
    NotExpected,
}

impl From<&Refusal> for RefusalShape {
    fn from(refusal: &Refusal) -> RefusalShape {
        match refusal {
            Refusal::NoSuchRun => RefusalShape::NoSuchRun,
            Refusal::Unreadable => RefusalShape::Unreadable,
            Refusal::NoSuchJob => RefusalShape::NoSuchJob,
            Refusal::KeyReused => RefusalShape::KeyReused,
            Refusal::Run(refused) => RefusalShape::Run(match refused {
                run::Refused::Over => RunRefusedShape::Over,
                run::Refused::NotOver => RunRefusedShape::NotOver,
                run::Refused::Stopping => RunRefusedShape::Stopping,
                run::Refused::NotPaused => RunRefusedShape::NotPaused,
                run::Refused::NotExpected => RunRefusedShape::NotExpected,
            }),
            Refusal::Job(refused) => RefusalShape::Job(match refused {
                job::Refused::StaleAttempt => JobRefusedShape::StaleAttempt,
                job::Refused::Attempt(attempt::Refused::Over) => JobRefusedShape::AttemptOver,
                job::Refused::Attempt(attempt::Refused::AlreadyStarted) => JobRefusedShape::AttemptStarted,
                job::Refused::Over => JobRefusedShape::Over,
                job::Refused::NotOver => JobRefusedShape::NotOver,
                job::Refused::UnderWay => JobRefusedShape::UnderWay,
                job::Refused::NotExpected => JobRefusedShape::NotExpected,
            }),
            Refusal::Params(why) => RefusalShape::Params { why: why.clone() },
            Refusal::Disabled => RefusalShape::Disabled,
            Refusal::NoSuchWorkflow => RefusalShape::NoSuchWorkflow,
            Refusal::Changed(stored) => RefusalShape::Changed { stored: *stored },
            Refusal::NoSuchPool => RefusalShape::NoSuchPool,
            Refusal::PoolInUse(jobs) => RefusalShape::PoolInUse { jobs: *jobs as u64 },
            Refusal::RunsOpen(runs) => RefusalShape::RunsOpen { runs: *runs as u64 },
            Refusal::BackfillOpen => RefusalShape::BackfillOpen,
            Refusal::NoSuchBackfill => RefusalShape::NoSuchBackfill,
            Refusal::TooManyFirings(most) => RefusalShape::TooManyFirings { most: *most as u64 },
            Refusal::NothingToRun => RefusalShape::NothingToRun,
            Refusal::NoIds => RefusalShape::NoIds,
        }
    }
}

impl RefusalShape {
    fn refusal(self) -> Decoded<Refusal> {
        let count = |count: u64| usize::try_from(count).map_err(Undecodable::of);
        Ok(match self {
            RefusalShape::NoSuchRun => Refusal::NoSuchRun,
            RefusalShape::Unreadable => Refusal::Unreadable,
            RefusalShape::NoSuchJob => Refusal::NoSuchJob,
            RefusalShape::KeyReused => Refusal::KeyReused,
            RefusalShape::Run(refused) => Refusal::Run(match refused {
                RunRefusedShape::Over => run::Refused::Over,
                RunRefusedShape::NotOver => run::Refused::NotOver,
                RunRefusedShape::Stopping => run::Refused::Stopping,
                RunRefusedShape::NotPaused => run::Refused::NotPaused,
                RunRefusedShape::NotExpected => run::Refused::NotExpected,
            }),
            RefusalShape::Job(refused) => Refusal::Job(match refused {
                JobRefusedShape::StaleAttempt => job::Refused::StaleAttempt,
                JobRefusedShape::AttemptOver => job::Refused::Attempt(attempt::Refused::Over),
                JobRefusedShape::AttemptStarted => job::Refused::Attempt(attempt::Refused::AlreadyStarted),
                JobRefusedShape::Over => job::Refused::Over,
                JobRefusedShape::NotOver => job::Refused::NotOver,
                JobRefusedShape::UnderWay => job::Refused::UnderWay,
                JobRefusedShape::NotExpected => job::Refused::NotExpected,
            }),
            RefusalShape::Params { why } => Refusal::Params(why),
            RefusalShape::Disabled => Refusal::Disabled,
            RefusalShape::NoSuchWorkflow => Refusal::NoSuchWorkflow,
            RefusalShape::Changed { stored } => Refusal::Changed(stored),
            RefusalShape::NoSuchPool => Refusal::NoSuchPool,
            RefusalShape::PoolInUse { jobs } => Refusal::PoolInUse(count(jobs)?),
            RefusalShape::RunsOpen { runs } => Refusal::RunsOpen(count(runs)?),
            RefusalShape::BackfillOpen => Refusal::BackfillOpen,
            RefusalShape::NoSuchBackfill => Refusal::NoSuchBackfill,
            RefusalShape::TooManyFirings { most } => Refusal::TooManyFirings(count(most)?),
            RefusalShape::NothingToRun => Refusal::NothingToRun,
            RefusalShape::NoIds => Refusal::NoIds,
        })
    }
}

#[cfg(test)]
mod tests;
