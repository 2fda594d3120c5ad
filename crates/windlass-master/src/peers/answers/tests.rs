use std::collections::BTreeMap;

use windlass_core::rows::{Expansion, GangRow, GangStage, Selection, Trigger};
use windlass_core::shard::dependents::Standing;
use windlass_core::shard::pools::PoolStanding;
use windlass_core::shard::rendered::Rendered;
use windlass_core::shard::view::Counts;
use windlass_model::{Duration, JobId, JobState, Name, Priority, RunId, TaskId};
use windlass_workflow::definition::TaskIndex;
use windlass_workflow::expr::Value;

use super::*;

/// The clocks of two masters have nothing to do with each other.
const HERE: Mono = Mono(1_000_000);
const THERE: Mono = Mono(77_000);

fn run() -> RunId {
    "01ABCDEFGHJKM".parse().unwrap()
}

fn job() -> JobId {
    "01ABCDEFGHJKM.3".parse().unwrap()
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn task(text: &str) -> TaskId {
    TaskId::new(text).unwrap()
}

fn view() -> RunView {
    let values = BTreeMap::from([(Arc::from("day"), Value::Float(1.0)), (Arc::from("$x"), Value::Int(2))]);
    let counts = Counts { waiting: 1, ready: 2, running: 3, backoff: 4, held: 5, ..Counts::default() };
    RunView {
        row: RunRow {
            id: run(),
            workflow: name("nightly"),
            version: Some(3),
            revision: 9,
            state: run::State::Paused { pending: true },
            reason: "because \"so\"".into(),
            priority: Priority::Highest,
            params: Arc::new(values),
            labels: Some(Arc::new(BTreeMap::from([("team".into(), "data".into())]))),
            logical_time: Wall(-1),
            run_at: Some(Wall(5)),
            created_at: Wall(1),
            created_by: "me".into(),
            trigger: Trigger::Parent(job()),
            started_at: Some(Wall(2)),
            finished_at: None,
            selection: Selection::From(TaskIndex(2)),
            serial: true,
            ending: true,
            counts: Some(Box::new(Counts { failed: 7, ..Counts::default() })),
            expansions: vec![Expansion {
                task: TaskIndex(1),
                base: JobNumber(4),
                count: 1_000_000,
                closed: true,
            }],
            gangs: vec![GangRow { gang: name("g"), stage: GangStage::Go, losses: 2 }],
        },
        counts,
    }
}

fn attempt(state: attempt::State) -> job::Attempt {
    job::Attempt {
        fence: Fence(5),
        number: AttemptNumber(2),
        worker: WorkerId(u64::MAX),
        incarnation: Incarnation(1 << 63),
        assigned_at: Wall(10),
        started_at: Some(Wall(11)),
        since: HERE,
        state,
    }
}

/// Every reason, with moments at the present one: another clock shows another number for it.
fn all_reasons(now: Mono) -> Vec<Reason> {
    let soon = now.after(Duration::from_secs(3));
    let standing = PoolStanding { limit: 1, taken: 1, holders: vec![job()] };
    vec![
        Reason::Dependency(task("a")),
        Reason::FinallyComesLast,
        Reason::RunLimit { limit: 1, active: 2 },
        Reason::NotBefore(Wall(3)),
        Reason::Paused,
        Reason::Stopping,
        Reason::SwitchedOff,
        Reason::Backoff(soon),
        Reason::MaxParallel(4),
        Reason::Pool { pool: name("p"), standing: None },
        Reason::Pool { pool: name("p"), standing: Some(Arc::new(standing)) },
        Reason::Gang {
            gang: name("g"),
            of: 3,
            ready: 2,
            held: 1,
            missing: vec![task("b")],
            until: Some(soon),
        },
        Reason::LostWorker(WorkerId(9)),
        Reason::Approval { since: Wall(1), by: vec!["boss".into()] },
        Reason::Time { since: Wall(1), until: Some(Wall(2)) },
        Reason::NotYet { what: "file".into(), since: Wall(1), next: Some(soon) },
        Reason::OtherRun {
            workflow: name("w"),
            logical_time: Wall(1),
            standing: Some(Standing::Open(run())),
        },
        Reason::SubWorkflow(Some(run())),
        Reason::NoWorkerFits("none".into()),
        Reason::NoSlot,
        Reason::UnderWay,
        Reason::Behind(job()),
        Reason::Over,
    ]
}

fn job_view(now: Mono, current: Option<job::Attempt>) -> JobView {
    JobView {
        number: JobNumber(3),
        task: task("load"),
        index: Some(1),
        state: JobState::Backoff,
        why: all_reasons(now),
        current,
        outputs: Some(Arc::new(BTreeMap::from([(Arc::from("rows"), Value::Int(12))]))),
        rendered: Some(Box::new(Rendered {
            kind: "shell".into(),
            text: "echo \"$__windlass_1\"".into(),
            env: vec![("__windlass_1".into(), "it's".into())],
            cut: true,
            reads: vec![(JobNumber(1), 1), (JobNumber(9), 40)],
        })),
    }
}

fn sent(reply: &Reply) -> Reply {
    let (format, text) = encode(HERE, reply);
    decode(THERE, format, &text).unwrap()
}

#[test]
fn every_answer_comes_back_as_it_was() {
    let refusals = [
        Refusal::NoSuchRun,
        Refusal::Unreadable,
        Refusal::NoSuchJob,
        Refusal::KeyReused,
        Refusal::Run(run::Refused::Over),
        Refusal::Run(run::Refused::NotOver),
        Refusal::Run(run::Refused::Stopping),
        Refusal::Run(run::Refused::NotPaused),
        Refusal::Run(run::Refused::NotExpected),
        Refusal::Job(job::Refused::StaleAttempt),
        Refusal::Job(job::Refused::Attempt(attempt::Refused::Over)),
        Refusal::Job(job::Refused::Attempt(attempt::Refused::AlreadyStarted)),
        Refusal::Job(job::Refused::Over),
        Refusal::Job(job::Refused::NotOver),
        Refusal::Job(job::Refused::UnderWay),
        Refusal::Job(job::Refused::NotExpected),
        Refusal::Params("wrong".into()),
        Refusal::Disabled,
        Refusal::NoSuchWorkflow,
        Refusal::Changed(Some(4)),
        Refusal::Changed(None),
        Refusal::NoSuchPool,
        Refusal::PoolInUse(3),
        Refusal::RunsOpen(2),
        Refusal::BackfillOpen,
        Refusal::NoSuchBackfill,
        Refusal::TooManyFirings(100),
        Refusal::NothingToRun,
        Refusal::NoIds,
    ];
    let attempts = vec![AttemptView {
        job: job(),
        workflow: name("w"),
        task: task("a"),
        number: AttemptNumber(1),
        started_at: None,
    }];
    let planned = PlannedRun { logical_time: Wall(3), exists: Some(run()), wanted: false };
    let mut answers = vec![
        Answer::Created(run()),
        Answer::Accepted(run::State::Stopping),
        Answer::Accepted(run::State::Ended(run::End::Failed)),
        Answer::Done,
        Answer::Run(None),
        Answer::Run(Some(Box::new(view()))),
        Answer::Tasks(None),
        Answer::Tasks(Some(vec![TaskView {
            task: task("each"),
            first: JobNumber(7),
            counts: view().counts,
            part_size: 3,
            parts: vec![Counts::default(), view().counts],
        }])),
        Answer::Jobs(None),
        Answer::Why(None),
        Answer::Plan(vec![planned]),
        Answer::Backfill(BackfillId(run()), 7),
        Answer::Work(Work {
            open_runs: 1,
            ready: [((None, Priority::Medium), 2), ((Some(name("gpu")), Priority::Highest), 4)].into(),
            running_jobs: 3,
        }),
        Answer::Attempts(attempts),
    ];
    answers.extend(refusals.map(Answer::Refused));
    for answer in answers {
        let reply = Reply::Answered(answer);
        assert_eq!(sent(&reply), reply);
    }
    for reply in [Reply::Unavailable, Reply::Unknown, Reply::Rejected("no".into()), Reply::NotHere] {
        assert_eq!(sent(&reply), reply);
    }
}

#[test]
fn moments_are_as_far_away_on_the_clock_of_who_reads_them() {
    let why = Reply::Answered(Answer::Why(Some(all_reasons(HERE))));
    assert_eq!(sent(&why), Reply::Answered(Answer::Why(Some(all_reasons(THERE)))));
    let states = [
        attempt::State::Assigned,
        attempt::State::Running,
        attempt::State::Stopping { why: StopReason::Timeout, started: true },
        attempt::State::Stopping { why: StopReason::Gang, started: false },
        attempt::State::Ended(attempt::End::TimedOut),
    ];
    for state in states {
        let current = attempt(state);
        let jobs = |now: Mono| {
            let current = job::Attempt { since: now, ..current };
            Reply::Answered(Answer::Jobs(Some(vec![job_view(now, Some(current)), job_view(now, None)])))
        };
        assert_eq!(sent(&jobs(HERE)), jobs(THERE));
    }
    // One that was long before the other process began cannot be told; nothing breaks.
    let old = Reply::Answered(Answer::Jobs(Some(vec![job_view(
        HERE,
        Some(job::Attempt { since: Mono(0), ..attempt(attempt::State::Running) }),
    )])));
    let Reply::Answered(Answer::Jobs(Some(jobs))) = sent(&old) else { panic!("jobs") };
    assert_eq!(jobs[0].current.unwrap().since, Mono(0));
}

#[test]
fn what_makes_no_sense_is_said_and_never_a_panic() {
    let (format, text) = encode(HERE, &Reply::Answered(Answer::Run(Some(Box::new(view())))));
    assert!(decode(THERE, format + 1, &text).is_err());
    for end in 0..text.len() {
        assert!(decode(THERE, format, &text[..end]).is_err(), "cut after {end}");
    }
    for wrong in [
        r#"{"answered":{"accepted":{"state":"melting"}}}"#,
        r#"{"answered":{"created":{"run":"nobody"}}}"#,
        r#"{"answered":{"why":[{"boredom":{}}]}}"#,
        r#""gone""#,
    ] {
        assert!(decode(THERE, format, wrong.as_bytes()).is_err(), "{wrong}");
    }
}
