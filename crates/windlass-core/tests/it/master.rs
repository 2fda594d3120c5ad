//! A master with one shard and one worker: what it says, and when.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::attempt::{self, StopReason};
use windlass_core::durable::{Batch, Claimed, Commits, Counter, Lease, Revision, Standing};
use windlass_core::master::Master;
use windlass_core::master::input::{
    Decision, Effect, FlightId, FromPeer, Input, Look, Outcome, Pass, Renewal, Reply, Settings, StoreAnswer,
    StoreCall, StreamId,
};
use windlass_core::requirement::{Capability, Requirement};
use windlass_core::rows::{AttemptRow, Change, RunRow, Selection, Trigger};
use windlass_core::run;
use windlass_core::shard::input::{Answer, Call, Command, Control, Process, Report, ToWorker, WorkerLife};
use windlass_core::shard::load::{Rows, StoredRun};
use windlass_core::time::{Mono, Now, Wall};
use windlass_core::wire::{Body, Frame, FromWorker, GrantId, Inventory, Order, Round, Status};
use windlass_model::{
    AttemptId, AttemptNumber, Duration, Epoch, Fence, Incarnation, JobId, JobNumber, Name, OwnerId, Priority,
    RunId, RunIdSource, ShardCount, ShardId, WorkerId,
};
use windlass_workflow::expr::Value;

use crate::world::flow;

const OWNER: OwnerId = OwnerId(7);
const LIFE: WorkerLife = WorkerLife { worker: WorkerId(1), incarnation: Incarnation(1) };
const SHARD: ShardId = ShardId::LEADER;
const PEER: OwnerId = OwnerId(8);

/// A master with one shard and one run, and a store that answers everything but commits.
struct Bench {
    master: Master,
    now: Now,
    epoch: Epoch,
    round: Round,
    attempt: AttemptId,
    /// Whether the attempt was assigned before the master came.
    assigned: bool,
    /// Commits that were not answered.
    commits: Vec<(FlightId, Vec<Batch>)>,
    /// What the worker was told.
    orders: Vec<ToWorker>,
    /// Of what work and how much of it the worker was told, and the first grant that counts as not arrived.
    demands: Vec<(GrantId, u64)>,
    /// Slots that the worker was told are not needed.
    declined: Vec<GrantId>,
    /// What the store says of other masters.
    leases: Vec<Lease>,
    /// What other masters were answered.
    replies: Vec<(Pass, Reply)>,
}

impl Bench {
    fn new(assigned: bool) -> Bench {
        let now = Now { mono: Mono(1_000), wall: Wall(1_780_000_000_000) };
        let settings = Settings {
            owner: OWNER,
            name: Name::new("m").unwrap(),
            shards: ShardCount::new(1).unwrap(),
            lanes: 1,
            pipeline: 1,
            lease_ttl: Duration::from_secs(3),
            worker_timeout: Duration::from_secs(4),
            adoption_grace: Duration::from_secs(5),
            shard: windlass_core::shard::input::Settings::default(),
        };
        let run = RunIdSource::new(SHARD, None).next_id(now.wall.0).unwrap();
        let attempt = AttemptId { job: JobId { run, number: JobNumber(0) }, fence: Fence(1) };
        let mut out = Decision::default();
        let master = Master::start(now, settings, &mut out);
        let (commits, orders) = (Vec::new(), Vec::new());
        let (epoch, round) = (Epoch::NONE, Round(0));
        let (leases, replies) = (Vec::new(), Vec::new());
        let (demands, declined) = (Vec::new(), Vec::new());
        let mut bench = Bench {
            master,
            now,
            epoch,
            round,
            attempt,
            assigned,
            commits,
            orders,
            demands,
            declined,
            leases,
            replies,
        };
        bench.does(out);
        bench.gets(Input::Connected(LIFE.worker, StreamId(1)));
        bench.heartbeat();
        bench
    }

    fn heartbeat(&mut self) {
        let status = Status { slots: 1, used: 0, queued: 0, draining: false, overload: None };
        let capability = Arc::new(Capability { slots: 1, ..Capability::default() });
        let beat = FromWorker::Heartbeat { life: LIFE, sent: Mono(1), capability, status };
        self.gets(Input::FromWorker(beat));
    }

    fn gets(&mut self, input: Input) {
        let mut out = Decision::default();
        self.now.mono = self.now.mono.after(Duration::from_millis(10));
        self.master.handle(self.now, input, &mut out);
        self.master.flush(self.now, &mut out);
        self.does(out);
    }

    fn does(&mut self, out: Decision) {
        for effect in out.effects {
            match effect {
                Effect::Store(StoreCall::Commit(flight, batches)) => self.commits.push((flight, batches)),
                Effect::Store(call) => {
                    let answer = self.answer(call);
                    self.gets(Input::Stored(answer));
                }
                Effect::ToWorker(_, Frame { body: Body::Orders { round, orders, .. }, .. }) => {
                    self.round = round;
                    self.orders.extend(orders.into_iter().filter_map(|order| match order {
                        Order::Shard(order) => Some(order),
                        Order::Adopt => None,
                    }));
                }
                Effect::ToWorker(_, Frame { body: Body::Demand { grants_before, classes, .. }, .. }) => {
                    self.demands.push((grants_before, classes.iter().map(|class| class.count).sum()));
                }
                Effect::ToWorker(_, Frame { body: Body::Declined(grants), .. }) => {
                    self.declined.extend(grants);
                }
                Effect::ToPeer(_, FromPeer::Reply(pass, reply)) => self.replies.push((pass, reply)),
                _ => {}
            }
        }
    }

    fn answer(&mut self, call: StoreCall) -> StoreAnswer {
        match call {
            StoreCall::Register(_) => StoreAnswer::Registered(Ok(Counter(1))),
            StoreCall::Renew(_) => StoreAnswer::Renewed(Ok(Box::new(Renewal {
                counter: Counter(2),
                owned: vec![(SHARD, self.epoch)],
                revision: Revision::NONE,
                globals: None,
            }))),
            StoreCall::Look => {
                let standing = Standing { shard: SHARD, epoch: self.epoch, owner: None };
                StoreAnswer::Looked(Some(Look { leases: self.leases.clone(), standings: vec![standing] }))
            }
            StoreCall::Claim(shard, _) => {
                self.epoch = self.epoch.next();
                let claimed = Claimed { epoch: self.epoch, commits: Commits::NONE, last_run: None };
                StoreAnswer::Claimed(shard, Ok(claimed))
            }
            StoreCall::Load(shard, epoch) => {
                StoreAnswer::Loaded(shard, epoch, Some(Box::new(self.rows(epoch))))
            }
            other => panic!("{other:?}"),
        }
    }

    /// One run, whose only attempt is with the worker.
    fn rows(&self, epoch: Epoch) -> Rows {
        let definition = flow("name: f\ntasks: {a: {run: work}}");
        let attempt = AttemptRow {
            job: self.attempt.job,
            number: AttemptNumber::FIRST,
            fence: self.attempt.fence,
            worker: LIFE.worker,
            incarnation: LIFE.incarnation,
            state: attempt::State::Assigned,
            reason: "".into(),
            assigned_at: self.now.wall,
            started_at: None,
            finished_at: None,
            exit_code: None,
            signal: None,
            outputs: None,
            permit: None,
            for_gang: false,
        };
        let run = StoredRun {
            row: run_row(self.attempt.job.run, self.now.wall),
            definition,
            pinned: Arc::default(),
            jobs: Vec::new(),
            attempts: if self.assigned { vec![attempt] } else { Vec::new() },
        };
        Rows {
            last: Some(self.attempt.job.run),
            epoch,
            keys: Vec::new(),
            set_aside: BTreeMap::new(),
            runs: vec![run],
            workflows: Vec::new(),
            pools: Vec::new(),
            listeners: Vec::new(),
            inbox: Vec::new(),
            outbox: Vec::new(),
            backfills: Vec::new(),
            calendars: Arc::default(),
        }
    }

    /// Lets it look at the store.
    fn look(&mut self) {
        self.now.mono = self.now.mono.after(Duration::from_secs(1));
        self.gets(Input::Woken);
    }

    /// Another master passes a call on.
    fn passed_on(&mut self, pass: u64, over_below: u64, command: Command) {
        let control =
            Control { by: "me".into(), run: self.attempt.job.run, command, comment: None, stored: None };
        let (pass, over_below) = (Pass(pass), Pass(over_below));
        let (what, left) = (Call::Control(control), Duration::from_secs(5));
        self.gets(Input::FromPeer(PEER, FromPeer::Call { pass, over_below, shard: SHARD, what, left }));
    }

    /// The worker says what it has.
    fn inventory(&mut self, finished: Vec<(Incarnation, AttemptId, Report)>) {
        let inventory = Inventory {
            life: LIFE,
            shard: SHARD,
            epoch: self.epoch,
            round: self.round,
            queued: Vec::new(),
            held: Vec::new(),
            running: Vec::new(),
            finished,
        };
        self.gets(Input::FromWorker(FromWorker::Inventory(inventory)));
    }

    /// The worker has slots for the run's task.
    fn granted(&mut self, grants: Vec<GrantId>) {
        let class = Arc::new(Requirement::of(&flow("name: f\ntasks: {a: {run: work}}").tasks[0]));
        self.gets(Input::FromWorker(FromWorker::Granted { life: LIFE, owner: OWNER, class, grants }));
    }

    /// A result that no store can hold.
    fn poison(&self) -> Vec<(Incarnation, AttemptId, Report)> {
        let outputs: BTreeMap<Arc<str>, Value> = [("v".into(), Value::Text("a\0b".into()))].into();
        let report = Report::Exited {
            success: true,
            reason: "".into(),
            outputs: Some(Arc::new(outputs)),
            process: None,
        };
        vec![(LIFE.incarnation, self.attempt, report)]
    }

    /// The commit that waits for an answer, and the attempt's row in it.
    fn commit(&mut self) -> (FlightId, usize, AttemptRow) {
        let (flight, batches) = self.commits.pop().expect("a commit");
        let mut rows = batches[0].changes.iter().enumerate().filter_map(|(index, change)| match change {
            Change::Attempt(row) => Some((index, row.clone())),
            _ => None,
        });
        let (index, row) = rows.next_back().expect("the end of the attempt");
        (flight, index, row)
    }
}

fn run_row(id: RunId, at: Wall) -> RunRow {
    RunRow {
        id,
        workflow: Name::new("f").unwrap(),
        version: None,
        revision: 1,
        state: run::State::Running,
        reason: "".into(),
        priority: Priority::Medium,
        params: Arc::default(),
        labels: None,
        counts: None,
        logical_time: at,
        run_at: None,
        created_at: at,
        created_by: "me".into(),
        trigger: Trigger::Call,
        started_at: Some(at),
        finished_at: None,
        selection: Selection::All,
        serial: false,
        ending: false,
        expansions: Vec::new(),
        gangs: Vec::new(),
    }
}

#[test]
fn a_result_in_an_inventory_is_taken_without_what_the_store_cannot_hold() {
    let mut bench = Bench::new(true);
    bench.inventory(bench.poison());
    let (flight, index, row) = bench.commit();
    assert!(row.outputs.is_some(), "as it came");
    let run = Some(bench.attempt.job.run);
    let rejected = Outcome::Rejected { shard: SHARD, index, run, why: "its outputs have a NUL".into() };
    bench.gets(Input::Stored(StoreAnswer::Committed(flight, rejected)));
    assert_eq!(bench.orders, [], "nothing is stored");

    // The shard was claimed and loaded again, and the worker says again what it has.
    assert_eq!(bench.epoch, Epoch::NONE.next().next());
    bench.inventory(bench.poison());
    let (flight, _, row) = bench.commit();
    assert_eq!((row.state, row.outputs), (attempt::State::Ended(attempt::End::Success), None));
    bench.gets(Input::Stored(StoreAnswer::Committed(flight, Outcome::Committed)));
    assert_eq!(bench.orders, [ToWorker::Settled(bench.attempt)]);
}

#[test]
fn what_a_killed_process_printed_does_not_keep_its_end_from_being_stored() {
    let mut bench = Bench::new(true);
    let process = Process { signal: Some(9), tail: Some("a\0b".into()), ..Process::default() };
    let killed = Report::Killed(StopReason::Timeout, Some(Arc::new(process)));
    let said = vec![(LIFE.incarnation, bench.attempt, killed)];
    bench.inventory(said.clone());
    let has_tail = |batch: &Batch| batch.changes.iter().any(|change| matches!(change, Change::Tail(_)));
    assert!(has_tail(&bench.commits[0].1[0]), "as it came");
    let (flight, index, _) = bench.commit();
    let run = Some(bench.attempt.job.run);
    let rejected =
        Outcome::Rejected { shard: SHARD, index: index + 1, run, why: "its tail has a NUL".into() };
    bench.gets(Input::Stored(StoreAnswer::Committed(flight, rejected)));

    bench.inventory(said);
    assert!(!has_tail(&bench.commits[0].1[0]), "without what the store cannot hold");
    let (flight, _, row) = bench.commit();
    let end = attempt::State::Ended(attempt::End::TimedOut);
    assert_eq!((row.state, row.signal), (end, Some(9)), "the rest is kept");
    bench.gets(Input::Stored(StoreAnswer::Committed(flight, Outcome::Committed)));
    assert_eq!(bench.orders, [ToWorker::Settled(bench.attempt)]);
}

#[test]
fn an_order_that_waits_for_its_commit_is_void_when_its_worker_is_lost() {
    let mut bench = Bench::new(false);
    bench.inventory(Vec::new());
    bench.granted(vec![GrantId(0)]);
    let (flight, _, row) = bench.commit();
    assert_eq!(row.state, attempt::State::Assigned);

    // Nothing is heard of the worker for too long, then it is back; the commit is still under way.
    for _ in 0..6 {
        bench.now.mono = bench.now.mono.after(Duration::from_secs(1));
        bench.gets(Input::Woken);
    }
    bench.heartbeat();
    bench.gets(Input::Stored(StoreAnswer::Committed(flight, Outcome::Committed)));
    assert_eq!(bench.orders, [], "the attempt was given up");
    let (_, _, row) = bench.commit();
    assert_eq!(row.state, attempt::State::Ended(attempt::End::Lost));
}

#[test]
fn a_master_that_is_alone_keeps_a_slot_for_what_becomes_ready_next() {
    let mut bench = Bench::new(false);
    bench.inventory(Vec::new());
    bench.granted(vec![GrantId(0), GrantId(1)]);
    let (flight, ..) = bench.commit();
    bench.gets(Input::Stored(StoreAnswer::Committed(flight, Outcome::Committed)));
    assert_eq!(bench.declined, [], "one slot is kept");
    bench.demands.clear();

    // What becomes ready is assigned in the very commit, and nothing new is asked for before that is sent.
    let (attempt, report) = (bench.attempt, Report::GivenBack);
    bench.gets(Input::FromWorker(FromWorker::Report { life: LIFE, attempt, report }));
    let (flight, batches) = bench.commits.pop().expect("a commit");
    let states: Vec<_> = batches[0]
        .changes
        .iter()
        .filter_map(|change| match change {
            Change::Attempt(row) => Some(row.state),
            _ => None,
        })
        .collect();
    assert_eq!(states, [attempt::State::Ended(attempt::End::Returned), attempt::State::Assigned]);
    assert_eq!(bench.demands, []);
    bench.gets(Input::Stored(StoreAnswer::Committed(flight, Outcome::Committed)));
    let on = bench.orders.iter().filter_map(|order| match order {
        ToWorker::Assign(assignment) => Some(assignment.grant),
        _ => None,
    });
    assert_eq!(on.collect::<Vec<_>>(), [GrantId(1), GrantId(0)]);
    assert_eq!(bench.demands, [(GrantId(2), 1)], "the next slot, beside the two that have arrived");

    // Two masters share their workers: nobody keeps anything.
    bench.granted(vec![GrantId(2)]);
    assert_eq!(bench.declined, []);
    bench.leases.push(Lease {
        owner: PEER,
        name: Name::new("other").unwrap(),
        counter: Counter(1),
        applied: Revision::NONE,
        contact: None,
    });
    bench.look();
    assert_eq!(bench.declined, [GrantId(2)]);
}

#[test]
fn what_another_master_passes_on_is_done_once_however_often_and_late_it_comes() {
    let mut bench = Bench::new(false);
    let name = Name::new("other").unwrap();
    bench.leases.push(Lease {
        owner: PEER,
        name,
        counter: Counter(1),
        applied: Revision::NONE,
        contact: None,
    });
    bench.look();
    bench.passed_on(1, 1, Command::Pause);
    let (flight, _) = bench.commits.pop().expect("the run is paused");
    bench.passed_on(1, 1, Command::Pause);
    bench.gets(Input::Stored(StoreAnswer::Committed(flight, Outcome::Committed)));
    assert!(
        matches!(bench.replies[..], [(Pass(1), Reply::Answered(Answer::Accepted(_)))]),
        "{:?}",
        bench.replies
    );

    // Somebody resumes it; then the first call arrives once more, and once more when its number is forgotten.
    bench.passed_on(2, 1, Command::Resume);
    bench.passed_on(1, 1, Command::Pause);
    bench.passed_on(4, 3, Command::Resume);
    bench.passed_on(1, 1, Command::Pause);
    bench.passed_on(3, 3, Command::Resume);
    while let Some((flight, _)) = bench.commits.pop() {
        bench.gets(Input::Stored(StoreAnswer::Committed(flight, Outcome::Committed)));
    }
    let mut answered: Vec<_> = bench.replies.iter().map(|(pass, _)| pass.0).collect();
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3, 4], "each once");
}

#[test]
fn what_a_stranger_passes_on_is_not_done_until_a_look_has_shown_who_it_is() {
    let mut bench = Bench::new(false);
    let name = Name::new("other").unwrap();
    bench.leases.push(Lease {
        owner: PEER,
        name,
        counter: Counter(1),
        applied: Revision::NONE,
        contact: None,
    });
    bench.passed_on(1, 1, Command::Pause);
    assert_eq!(bench.replies, [(Pass(1), Reply::NotHere)], "it has come since the last look");
    // It was told that nothing was done, and passes the call on anew; the first one comes again after all.
    bench.look();
    bench.passed_on(1, 1, Command::Pause);
    assert!(bench.commits.is_empty(), "only what was passed on anew is done");
    bench.passed_on(2, 2, Command::Pause);
    assert_eq!(bench.commits.len(), 1);
}

#[test]
fn it_looks_what_it_may_own_as_soon_as_its_first_renewal_gives_the_right() {
    let now = |ms| Now { mono: Mono(ms), wall: Wall(1_780_000_000_000) };
    let settings = Settings {
        owner: OWNER,
        name: Name::new("m").unwrap(),
        shards: ShardCount::new(1).unwrap(),
        lanes: 1,
        pipeline: 1,
        lease_ttl: Duration::from_secs(60),
        worker_timeout: Duration::from_secs(4),
        adoption_grace: Duration::from_secs(5),
        shard: windlass_core::shard::input::Settings::default(),
    };
    let mut master = Master::start(now(1_000), settings, &mut Decision::default());
    let mut asked = |ms, answer| {
        let mut out = Decision::default();
        master.handle(now(ms), Input::Stored(answer), &mut out);
        master.flush(now(ms), &mut out);
        let calls = out.effects.into_iter().filter_map(|effect| match effect {
            Effect::Store(call) => Some(call),
            _ => None,
        });
        calls.collect::<Vec<_>>()
    };
    let look = || {
        let standing = Standing { shard: SHARD, epoch: Epoch::NONE, owner: None };
        StoreAnswer::Looked(Some(Look { leases: vec![], standings: vec![standing] }))
    };
    let calls = asked(1_001, StoreAnswer::Registered(Ok(Counter(1))));
    assert_eq!(calls, [StoreCall::Renew(Revision::NONE)], "without a renewal it may own nothing");
    let (counter, revision) = (Counter(2), Revision::NONE);
    let renewal = Renewal { counter, owned: vec![], revision, globals: None };
    assert_eq!(asked(1_003, StoreAnswer::Renewed(Ok(Box::new(renewal)))), [StoreCall::Look]);
    assert_eq!(asked(1_004, look()), [StoreCall::Claim(SHARD, None)]);
}
