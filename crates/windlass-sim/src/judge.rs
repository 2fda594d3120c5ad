//! The judge: what really ran and what was really stored, against what must hold.

mod failures;
mod order;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::attempt;
use windlass_core::durable::Batch;
use windlass_core::job;
use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, BackfillState, Change, Firing, FiringRow, GangStage, JobRow, Key,
    OutboxId, RunRow, ScheduleRow, Trigger,
};
use windlass_core::run;
use windlass_core::shard::input::{Assignment, Command, WorkerLife};
use windlass_core::shard::payload::Payload;
use windlass_core::shard::pools::Ask;
use windlass_core::time::Wall;
use windlass_model::policy::{TriggerRule, WorkerLost};
use windlass_model::{
    AttemptId, AttemptNumber, Epoch, Fence, Incarnation, JobId, JobNumber, Name, OwnerId, RunId, ShardId,
    WorkerId,
};
use windlass_store::commit::Rejected;
use windlass_store::content::Reject;
use windlass_workflow::definition::{Task, TaskIndex, TaskType};

use crate::flows::Flows;
use crate::people::POOL;
use crate::store::Store;
use crate::worker::output_of;

use told::Told;

pub use told::MARK;

/// Everything that must hold, as it is told when it does not.
pub const INVARIANTS: &[(u8, &str)] = &[
    (1, "an acknowledged submission is never lost"),
    (2, "the same key gives the same run, and only one"),
    (3, "every due time of a schedule becomes one run or one recorded skip"),
    (4, "a result is accepted at most once, and never changes"),
    (5, "a result counts only from the life it was assigned to, while it is the current attempt"),
    (6, "a write of an old epoch changes nothing"),
    (7, "at most one master speaks for a shard, and epochs only rise"),
    (8, "two attempts of a job overlap only if the older one's worker was lost; never with orphan_timeout"),
    (9, "a task that must not be repeated when its worker is lost starts at most once"),
    (10, "a task starts only when it is assigned and its dependencies are accepted"),
    (11, "attempt numbers have no gaps, and no more of them fail than are allowed"),
    (12, "nothing starts after stopped or paused was shown"),
    (13, "an end is reopened only by somebody's command"),
    (14, "a run's end follows from the ends of its jobs"),
    (15, "limits hold: slots, permits, pools"),
    (16, "max_active_runs and serial order hold"),
    (17, "a startable job is never passed over for a lesser one"),
    (18, "what comes after sees exactly the accepted outputs"),
    (19, "nothing is signalled that this life did not start"),
    (20, "what may not run alone ends in time"),
    (21, "every run comes to its end"),
    (22, "every shard has one owner"),
    (23, "every accepted stop ends its run"),
    (24, "lost attempts are tried again or fail"),
    (25, "nothing is left over when nothing runs"),
    (26, "rows per run are bounded"),
    (27, "a clock that goes back repeats no firing and no id"),
    (28, "an edit changes no run that exists"),
    (29, "a record that cannot be stored or read harms only itself"),
    (30, "no message makes anybody panic"),
    (31, "a gang starts as a whole"),
    (32, "what people are told is true, and what they want is done once"),
];

/// Something that must not have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Of which invariant.
    pub invariant: u8,
    /// What happened.
    pub what: String,
}

/// A process that was started.
#[derive(Clone, Copy, Debug)]
struct Start {
    life: WorkerLife,
    running: bool,
    /// How it ended by itself, if it did.
    exited: Option<bool>,
    /// Whether its worker has written that down.
    written: bool,
}

/// Who judges.
#[derive(Debug)]
pub struct Judge {
    flows: Arc<Flows>,
    /// What was found.
    pub violations: Vec<Violation>,
    over: bool,
    runs: BTreeMap<RunId, Arc<RunRow>>,
    jobs: BTreeMap<JobId, JobRow>,
    attempts: BTreeMap<(JobId, AttemptNumber), AttemptRow>,
    numbers: BTreeMap<AttemptId, AttemptNumber>,
    fences: BTreeMap<JobId, Fence>,
    epochs: BTreeMap<ShardId, Epoch>,
    last: BTreeMap<ShardId, RunId>,
    keys: BTreeMap<(ShardId, Key), RunId>,
    starts: BTreeMap<AttemptId, Start>,
    /// Open attempts that hold a permit.
    with_permit: BTreeSet<(JobId, AttemptNumber)>,
    /// The runs of each workflow that count against its limit.
    active: BTreeMap<Name, BTreeSet<RunId>>,
    acknowledged: BTreeMap<Arc<str>, RunId>,
    stopped: BTreeSet<RunId>,
    reopens: BTreeSet<RunId>,
    pool: BTreeMap<JobId, Ask>,
    last_permit: Option<ShardId>,
    schedules: BTreeMap<(Name, Arc<str>), ScheduleRow>,
    firings: BTreeMap<(Name, Arc<str>, Wall), FiringRow>,
    /// What is to be told and was not.
    outbox: BTreeSet<OutboxId>,
    backfills: BTreeMap<BackfillId, BackfillRow>,
    /// Runs that the commit creates.
    fresh: Vec<Arc<RunRow>>,
    /// How often each run has ended.
    ends: BTreeMap<RunId, u32>,
    /// Attempts whose gang was told to go while they were its current ones.
    told_to_go: BTreeSet<AttemptId>,
    /// With which epoch a member of a gang was first told to go.
    gone: BTreeMap<AttemptId, Epoch>,
    /// Members of gangs for which a worker has said that it keeps a slot.
    held: BTreeSet<AttemptId>,
    /// Attempts whose outputs no store can hold.
    poisoned: BTreeSet<AttemptId>,
    told: Told,
    /// What was reached since somebody looked.
    pub hits: Vec<&'static str>,
    /// Attempts that were given up since then although they run, and may not run beside another.
    pub orphans: Vec<AttemptId>,
}

impl Judge {
    /// A judge who has seen nothing.
    pub fn new(flows: Arc<Flows>) -> Judge {
        Judge {
            flows,
            violations: Vec::new(),
            over: false,
            runs: BTreeMap::new(),
            jobs: BTreeMap::new(),
            attempts: BTreeMap::new(),
            numbers: BTreeMap::new(),
            fences: BTreeMap::new(),
            epochs: BTreeMap::new(),
            last: BTreeMap::new(),
            keys: BTreeMap::new(),
            starts: BTreeMap::new(),
            with_permit: BTreeSet::new(),
            active: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
            stopped: BTreeSet::new(),
            reopens: BTreeSet::new(),
            pool: BTreeMap::new(),
            last_permit: None,
            schedules: BTreeMap::new(),
            firings: BTreeMap::new(),
            outbox: BTreeSet::new(),
            backfills: BTreeMap::new(),
            fresh: Vec::new(),
            ends: BTreeMap::new(),
            told_to_go: BTreeSet::new(),
            gone: BTreeMap::new(),
            held: BTreeSet::new(),
            poisoned: BTreeSet::new(),
            told: Told::default(),
            hits: Vec::new(),
            orphans: Vec::new(),
        }
    }

    fn violated(&mut self, invariant: u8, what: String) {
        self.over = true;
        self.violations.push(Violation { invariant, what });
    }

    /// Whether there is nothing more to see.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The runs as they are stored.
    pub fn runs(&self) -> impl Iterator<Item = &RunRow> {
        self.runs.values().map(|row| &**row)
    }

    /// How many jobs a run has, as far as they are known.
    pub fn jobs_of(&self, run: RunId) -> usize {
        let Some(row) = self.runs.get(&run) else { return 0 };
        let expanded = row.expansions.last().map(|last| (last.base.0 + last.count) as usize);
        let tasks = self.flows.named(&row.workflow).map_or(0, |flow| flow.definition.tasks.len());
        expanded.unwrap_or(tasks)
    }

    /// The attempts as they are stored, job by job.
    pub fn attempts(&self) -> impl Iterator<Item = &AttemptRow> {
        self.attempts.values()
    }

    /// Every process that was ever started, with the worker's life that did, and whether it runs.
    pub fn processes(&self) -> impl Iterator<Item = (AttemptId, WorkerLife, bool)> {
        self.starts.iter().map(|(id, start)| (*id, start.life, start.running))
    }

    /// The run that was acknowledged for a key.
    pub fn run_of(&self, key: &str) -> Option<RunId> {
        self.acknowledged.get(key).copied()
    }

    /// How many permits of the pool are given.
    pub fn permits(&self) -> usize {
        self.pool.len()
    }

    /// What became of the due times of schedules.
    pub fn firings(&self) -> impl Iterator<Item = &FiringRow> {
        self.firings.values()
    }

    // --- what is stored -----------------------------------------------------------------------------

    /// A shard was claimed.
    pub fn claimed(&mut self, shard: ShardId, epoch: Epoch) {
        let before = self.epochs.insert(shard, epoch).unwrap_or(Epoch::NONE);
        if epoch <= before {
            self.violated(7, format!("shard {shard} was claimed with epoch {epoch} after {before}"));
        }
    }

    /// A commit was refused for its content: nothing that anybody does here should be.
    pub fn rejected(&mut self, rejected: &Rejected) {
        // Somebody asked again for what was done long ago, and is told to look.
        if matches!(rejected.why, Reject::KeyTaken { .. } | Reject::RunWentBack { .. }) {
            return;
        }
        if self.is_poison(rejected) {
            self.hits.push("poison refused by the store");
            return;
        }
        self.violated(29, format!("{rejected}: {}", rejected.why));
    }

    /// Somebody was refused what should be possible.
    pub fn refused(&mut self, why: &str) {
        self.violated(1, format!("somebody was refused: {why}"));
    }

    /// A batch was applied.
    pub fn stored(&mut self, batch: &Batch) {
        if batch.epoch < self.epochs.get(&batch.shard).copied().unwrap_or(Epoch::NONE) {
            self.violated(6, format!("a batch of shard {} of epoch {} landed", batch.shard, batch.epoch));
        }
        self.note_marks(batch);
        self.check_order(batch);
        for change in &batch.changes {
            match change {
                Change::Run(row) => self.run_stored(row),
                Change::Attempt(row) => self.attempt_stored(row),
                Change::Job(row) => {
                    self.check_job(row);
                    self.jobs.insert(row.job, row.clone());
                }
                Change::Key(row) => {
                    let before = self.keys.insert((batch.shard, row.key.clone()), row.run);
                    if before.is_some_and(|before| before != row.run) {
                        self.violated(2, format!("{:?} made {before:?} and {}", row.key, row.run));
                    }
                }
                Change::LastRun(id) => {
                    let before = self.last.insert(batch.shard, *id);
                    if before.is_some_and(|before| before >= *id) || self.runs.contains_key(id) {
                        self.violated(27, format!("the id {id} was given out after {before:?}"));
                    }
                    if id.shard() != batch.shard {
                        self.violated(27, format!("the id {id} is not of shard {}", batch.shard));
                    }
                }
                Change::Schedule(row) => {
                    self.schedules.insert((row.workflow.clone(), Arc::clone(&row.schedule)), row.clone());
                }
                Change::Firing(row) => self.firing_stored(row),
                Change::Permit(_, ask) => {
                    self.pool.insert(ask.job, *ask);
                    self.last_permit = Some(ask.job.run.shard());
                    if self.pool.len() > POOL as usize {
                        self.violated(15, format!("{} permits of {POOL}", self.pool.len()));
                    }
                }
                Change::Outbox(row) => {
                    self.outbox.insert(row.id);
                }
                Change::OutboxGone(id) => {
                    self.outbox.remove(id);
                }
                Change::Backfill(row) => {
                    self.backfills.insert(row.id, row.clone());
                }
                Change::PermitGone(_, ask) => self.pool.retain(|_, held| held != ask),
                _ => {}
            }
        }
    }

    fn run_stored(&mut self, row: &Arc<RunRow>) {
        let before = self.runs.insert(row.id, Arc::clone(row));
        let active = self.active.entry(row.workflow.clone()).or_default();
        match is_active(row) {
            true => active.insert(row.id),
            false => active.remove(&row.id),
        };
        let mut unheld = None;
        for gang in &row.gangs {
            let was = before.as_ref().and_then(|row| row.gangs.iter().find(|one| one.gang == gang.gang));
            if gang.stage == GangStage::Started && was.is_none_or(|was| was.stage != GangStage::Started) {
                self.hits.push("gang started");
            }
            if gang.stage != GangStage::Waiting {
                let named = |task: &Task| task.gang.as_ref() == Some(&gang.gang);
                let flow = self.flows.named(&row.workflow);
                let tasks = flow.into_iter().flat_map(|flow| flow.definition.tasks.iter().enumerate());
                for (index, _) in tasks.filter(|(_, task)| named(task)) {
                    let job = JobId { run: row.id, number: JobNumber(index as u32) };
                    let Some(fence) = self.fences.get(&job).copied() else { continue };
                    let id = AttemptId { job, fence };
                    let goes =
                        gang.stage == GangStage::Go && was.is_none_or(|was| was.stage == GangStage::Waiting);
                    if goes && self.is_open(id) && !self.held.contains(&id) {
                        unheld = Some(id);
                    }
                    self.told_to_go.insert(id);
                }
            }
            if gang.losses > was.map_or(0, |was| was.losses) {
                self.hits.push("gang member lost");
            }
        }
        if let Some(id) = unheld {
            self.violated(31, format!("a gang goes, and nobody keeps a slot for {id}"));
        }
        if let Some(before) = &before {
            let was_over = matches!(before.state, run::State::Ended(_));
            let is_over = matches!(row.state, run::State::Ended(_));
            if was_over && !is_over && !self.reopens.contains(&row.id) {
                self.violated(13, format!("{} went from {:?} to {:?}", row.id, before.state, row.state));
            }
            let pinned =
                |row: &RunRow| (row.workflow.clone(), row.version, row.logical_time, row.params.clone());
            if pinned(before) != pinned(row) {
                self.violated(28, format!("{} is not a run of what it was", row.id));
            }
        }
        self.check_begin(before.as_deref(), row);
        if before.is_none() {
            self.fresh.push(Arc::clone(row));
        }
        // One that is reopened and ends in the same decision ends again.
        let known = before.is_some_and(|before| {
            matches!(before.state, run::State::Ended(_)) && before.revision == row.revision
        });
        if matches!(row.state, run::State::Ended(_)) && !known {
            *self.ends.entry(row.id).or_default() += 1;
        }
        match row.state {
            run::State::Ended(run::End::Success) => self.check_success(row),
            run::State::Ended(run::End::Failed) => self.check_failure(row),
            _ => {}
        }
    }

    /// What creates runs by itself creates each only once.
    fn check_origin(&mut self, row: &RunRow) {
        let of_same = |other: &&Arc<RunRow>| other.trigger == row.trigger && other.workflow == row.workflow;
        let same: Vec<_> = self.runs.values().filter(of_same).collect();
        let wrong = match row.trigger {
            Trigger::After(source) => same.len() as u32 > self.ends.get(&source).copied().unwrap_or(0),
            Trigger::Backfill(_) => {
                same.iter().filter(|other| other.logical_time == row.logical_time).count() > 1
            }
            Trigger::Parent(_) => {
                same.iter().filter(|other| !matches!(other.state, run::State::Ended(_))).count() > 1
            }
            Trigger::Schedule(..) => same.len() > 1,
            Trigger::Call | Trigger::Rerun(_) => false,
        };
        if wrong {
            self.violated(2, format!("{} is one run too many for {:?}", row.id, row.trigger));
        }
    }

    /// A run that succeeded has no job whose last word is a failure.
    fn check_success(&mut self, row: &RunRow) {
        let first = JobId { run: row.id, number: JobNumber(0) };
        let last = JobId { run: row.id, number: JobNumber(u32::MAX) };
        let range = (first, AttemptNumber(0))..=(last, AttemptNumber(u32::MAX));
        let mut newest: BTreeMap<JobId, &AttemptRow> = BTreeMap::new();
        for ((job, _), attempt) in self.attempts.range(range) {
            newest.insert(*job, attempt);
        }
        let bad = newest.iter().find(|(job, attempt)| {
            let forced =
                self.jobs.get(job).is_some_and(|row| row.state == job::State::Ended(job::End::Success));
            let fine = matches!(
                attempt.state,
                attempt::State::Ended(attempt::End::Success | attempt::End::Returned)
            );
            !fine && !forced && !self.reopens.contains(&row.id)
        });
        if let Some((job, attempt)) = bad {
            let what = format!("{} succeeded, {job} ended {:?}", row.id, attempt.state);
            self.violated(14, what);
        }
    }

    fn attempt_stored(&mut self, row: &AttemptRow) {
        let key = (row.job, row.number);
        let id = AttemptId { job: row.job, fence: row.fence };
        let before = self.attempts.get(&key).cloned();
        let returned = |row: &AttemptRow| row.state == attempt::State::Ended(attempt::End::Returned);
        if let Some(before) = &before
            && matches!(before.state, attempt::State::Ended(_))
            && !returned(before)
        {
            self.violated(
                4,
                format!(
                    "the end of {} {} changed: {:?} to {:?}",
                    row.job, row.number, before.state, row.state
                ),
            );
        }
        let is_new = before.as_ref().is_none_or(|before| before.fence != row.fence);
        if is_new {
            let newest = self.fences.get(&row.job).copied();
            if newest.is_some_and(|newest| newest >= row.fence) {
                self.violated(5, format!("{} has fence {} after {newest:?}", row.job, row.fence));
            }
            self.fences.insert(row.job, row.fence);
            self.check_numbers(row);
        }
        self.numbers.insert(id, row.number);
        self.attempts.insert(key, row.clone());
        match row.permit.is_some() && !matches!(row.state, attempt::State::Ended(_)) {
            true => self.with_permit.insert(key),
            false => self.with_permit.remove(&key),
        };
        if let attempt::State::Ended(end) = row.state {
            self.check_end(id, row, end);
            let runs = self.starts.get(&id).is_some_and(|start| start.running);
            let alone = self.task_of(row.job).is_some_and(|(task, _)| task.orphan_timeout.is_some());
            if end == attempt::End::Lost && runs && alone {
                self.hits.push("wait for an orphan to end");
                self.orphans.push(id);
            }
            if end == attempt::End::Returned
                && self.task_of(row.job).is_some_and(|(task, _)| task.gang.is_some())
            {
                self.hits.push("gang released");
            }
        }
        self.check_retries(row);
    }

    fn check_numbers(&mut self, row: &AttemptRow) {
        let earlier = self.attempts.range((row.job, AttemptNumber(0))..(row.job, row.number));
        let shown = earlier.count() as u32;
        if row.number.0 != shown + 1 {
            self.violated(11, format!("{} has attempt {} after {shown}", row.job, row.number));
        }
        let never = attempt::State::Ended(attempt::End::Returned);
        let mut earlier = self.attempts.range((row.job, AttemptNumber(0))..(row.job, row.number));
        if let Some((_, burnt)) = earlier.find(|(_, earlier)| earlier.state == never) {
            let what = format!("attempt {} of {} never started, and keeps its number", burnt.number, row.job);
            self.violated(11, what);
        }
        if let Some((_, open)) = self
            .attempts
            .range((row.job, AttemptNumber(0))..(row.job, AttemptNumber(u32::MAX)))
            .find(|(_, other)| other.number != row.number && !matches!(other.state, attempt::State::Ended(_)))
        {
            let what = format!("{} was assigned again while attempt {} is open", row.job, open.number);
            self.violated(5, what);
        }
    }

    /// What is stored of an attempt's end must be what happened.
    fn check_end(&mut self, id: AttemptId, row: &AttemptRow, end: attempt::End) {
        self.check_died(id, row);
        let start = self.starts.get(&id).copied();
        let life = WorkerLife { worker: row.worker, incarnation: row.incarnation };
        if start.is_some_and(|start| start.life != life) {
            self.violated(5, format!("{id} ran in another life than it was assigned to"));
        }
        let wrong = match (end, start) {
            (attempt::End::Success, Some(Start { exited: Some(true), .. })) => None,
            (attempt::End::Success, _) => Some("it did not succeed"),
            (attempt::End::Failed, Some(Start { exited: Some(false), .. })) => None,
            (attempt::End::Failed, _) => Some("it did not fail"),
            (attempt::End::Killed | attempt::End::TimedOut, Some(Start { running: true, .. })) => {
                Some("it still runs")
            }
            (attempt::End::Killed | attempt::End::TimedOut, _) => None,
            // A look at what a job waits for is over in no time, and never was an attempt.
            (attempt::End::Returned, Some(_)) if self.is_probe(row.job) => None,
            (attempt::End::Returned, Some(_)) => Some("it was started"),
            (attempt::End::Returned, None) => None,
            (attempt::End::Lost, _) => None,
        };
        if let Some(wrong) = wrong {
            self.violated(4, format!("{id} is stored as {end:?}, but {wrong}"));
        }
    }

    fn check_retries(&mut self, row: &AttemptRow) {
        let Some((task, _)) = self.task_of(row.job) else { return };
        if self.reopens.contains(&row.job.run) {
            return;
        }
        let (mut failed, mut lost) = (0, 0);
        let range = (row.job, AttemptNumber(0))..=(row.job, AttemptNumber(u32::MAX));
        for (_, attempt) in self.attempts.range(range).filter(|(_, attempt)| !attempt.for_gang) {
            match attempt.state {
                attempt::State::Ended(attempt::End::Failed | attempt::End::TimedOut) => failed += 1,
                attempt::State::Ended(attempt::End::Lost) => lost += 1,
                _ => {}
            }
        }
        let as_failure = task.on_worker_lost.then == WorkerLost::Fail;
        let failures = if as_failure { failed + lost } else { failed };
        if failures > task.retries.max + 1 {
            self.violated(11, format!("{} failed {failures} times of {}", row.job, task.retries.max + 1));
        }
        if !as_failure && lost > task.on_worker_lost.max + 1 {
            self.violated(11, format!("{} was lost {lost} times", row.job));
        }
    }

    fn firing_stored(&mut self, row: &FiringRow) {
        let key = (row.workflow.clone(), Arc::clone(&row.schedule), row.first_due);
        let before = self.firings.insert(key, row.clone());
        if let (Some(FiringRow { outcome: Firing::Ran(before), .. }), Firing::Ran(run)) =
            (before, row.outcome)
            && before != run
        {
            self.violated(3, format!("{} of {} became {before} and {run}", row.first_due, row.workflow));
        }
    }

    /// Limits hold after each commit as a whole.
    pub fn check_limits(&mut self) {
        for row in std::mem::take(&mut self.fresh) {
            self.check_origin(&row);
        }
        let pooled = self.with_permit.len();
        if pooled > POOL as usize {
            self.violated(15, format!("{pooled} attempts hold permits of a pool of {POOL}"));
        }
        let over =
            self.active.iter().map(|(name, active)| (name, active.len() as u32)).find(|(name, count)| {
                let limit = self.flows.named(name).and_then(|flow| flow.definition.max_active_runs);
                limit.is_some_and(|limit| *count > limit)
            });
        if let Some((name, count)) = over.map(|(name, count)| (name.clone(), count)) {
            self.violated(16, format!("{count} runs of {name} are active"));
        }
    }

    // --- what really happens ------------------------------------------------------------------------

    /// A worker starts a process.
    pub fn starts(&mut self, life: WorkerLife, assignment: &Assignment) {
        let id = assignment.attempt;
        let row = self.numbers.get(&id).and_then(|number| self.attempts.get(&(id.job, *number))).cloned();
        match &row {
            Some(row) if row.fence == id.fence && row.state == attempt::State::Assigned => {
                if (row.worker, row.incarnation) != (life.worker, life.incarnation) {
                    self.violated(5, format!("{id} starts in a life that it was not assigned to"));
                }
            }
            Some(row) => self.violated(10, format!("{id} starts, and is stored as {:?}", row.state)),
            None => self.violated(10, format!("{id} starts, and is not stored")),
        }
        if self.starts.contains_key(&id) {
            self.violated(8, format!("{id} starts twice"));
        }
        let Some((task, index)) = self.task_of(id.job) else { return };
        self.check_alone(id, &task);
        self.check_run_goes(id);
        self.check_dependencies(id, index, assignment);
        self.check_finally(id, index);
        self.check_gang(id, &task);
        let before = self.starts.range(all_of(id.job)).count();
        if before > 0
            && task.on_worker_lost.then == WorkerLost::Fail
            && task.retries.max == 0
            && !self.reopens.contains(&id.job.run)
        {
            self.violated(9, format!("{id} starts, and its job has started before"));
        }
        self.starts.insert(id, Start { life, running: true, exited: None, written: false });
    }

    fn check_alone(&mut self, id: AttemptId, task: &Task) {
        let others: Vec<_> = self
            .starts
            .range(all_of(id.job))
            .filter(|(other, start)| **other != id && start.running)
            .map(|(other, _)| *other)
            .collect();
        for other in others {
            let row = self.numbers.get(&other).and_then(|number| self.attempts.get(&(other.job, *number)));
            let lost = row.is_some_and(|row| row.state == attempt::State::Ended(attempt::End::Lost));
            if task.orphan_timeout.is_some() {
                self.violated(
                    8,
                    format!("{id} starts while {other} runs, which must not run beside another"),
                );
            } else if !lost {
                self.violated(8, format!("{id} starts while {other} runs, whose worker was not lost"));
            }
        }
    }

    fn check_run_goes(&mut self, id: AttemptId) {
        let state = self.runs.get(&id.job.run).map(|row| row.state);
        match state {
            Some(run::State::Running | run::State::Pausing | run::State::Stopping) => {}
            Some(run::State::Pending | run::State::Paused { .. } | run::State::Ended(_)) | None => {
                self.violated(12, format!("{id} starts, and its run is {state:?}"));
            }
        }
    }

    /// Everything that a task depends on was accepted, and it sees the outputs of that.
    fn check_dependencies(&mut self, id: AttemptId, index: TaskIndex, assignment: &Assignment) {
        let Some(row) = self.runs.get(&id.job.run) else { return };
        let Some(flow) = self.flows.named(&row.workflow) else { return };
        let definition = Arc::clone(&flow.definition);
        let task = &definition.tasks[index.position()];
        if task.trigger != TriggerRule::AllSuccess || self.reopens.contains(&id.job.run) {
            return;
        }
        for on in definition.graph.dependencies(index) {
            if definition.tasks[on.position()].foreach.is_some() {
                continue;
            }
            let job = JobId { run: id.job.run, number: JobNumber(on.0) };
            let range = (job, AttemptNumber(0))..=(job, AttemptNumber(u32::MAX));
            let accepted = self
                .attempts
                .range(range)
                .find(|(_, row)| row.state == attempt::State::Ended(attempt::End::Success))
                .map(|(_, row)| AttemptId { job, fence: row.fence });
            let said =
                self.jobs.get(&job).is_some_and(|row| row.state == job::State::Ended(job::End::Success));
            if accepted.is_none() && !said {
                return self.violated(10, format!("{id} starts before {job} has succeeded"));
            }
            if let (Some(accepted), Payload::Script { env, text, .. }) = (accepted, &assignment.payload)
                && text.starts_with("use")
                && !env.iter().any(|(_, value)| *value == output_of(accepted))
            {
                return self.violated(18, format!("{id} does not see what {accepted} put out"));
            }
        }
    }

    /// What is in a gang starts only once it is stored that the gang goes.
    fn check_gang(&mut self, id: AttemptId, task: &Task) {
        let Some(name) = &task.gang else { return };
        let row = self.runs.get(&id.job.run);
        // Once all have started, each is on its own.
        let apart = row.is_some_and(|row| {
            row.gangs.iter().any(|gang| gang.gang == *name && gang.stage == GangStage::Started)
        });
        // The word to go may arrive after the gang was called off; then the start is ended again.
        if !apart && !self.told_to_go.contains(&id) {
            self.violated(31, format!("{id} starts, and its gang was not told to go"));
        }
    }

    /// What comes finally starts when nothing else of its run is under way.
    fn check_finally(&mut self, id: AttemptId, index: TaskIndex) {
        let Some(row) = self.runs.get(&id.job.run) else { return };
        let Some(flow) = self.flows.named(&row.workflow) else { return };
        let ordinary = flow.definition.ordinary_tasks().len();
        if index.position() < ordinary || self.reopens.contains(&id.job.run) {
            return;
        }
        let first = JobId { run: id.job.run, number: JobNumber(0) };
        let last = JobId { run: id.job.run, number: JobNumber(ordinary as u32 - 1) };
        let range = (first, AttemptNumber(0))..=(last, AttemptNumber(u32::MAX));
        let mut open = self.attempts.range(range).map(|(_, row)| row);
        let open = open.find(|row| !matches!(row.state, attempt::State::Ended(_))).map(|row| row.job);
        if let Some(job) = open {
            self.violated(10, format!("{id} comes last, and {job} is under way"));
        }
    }

    /// A worker keeps a slot for a member of a gang.
    pub fn holds(&mut self, id: AttemptId) {
        self.held.insert(id);
    }

    /// Whether an attempt is stored and not over.
    fn is_open(&self, id: AttemptId) -> bool {
        let row = self.numbers.get(&id).and_then(|number| self.attempts.get(&(id.job, *number)));
        row.is_some_and(|row| row.fence == id.fence && !matches!(row.state, attempt::State::Ended(_)))
    }

    /// A master tells a member of a gang to go, with the authority of this epoch.
    pub fn goes(&mut self, id: AttemptId, epoch: Epoch) {
        let first = *self.gone.entry(id).or_insert(epoch);
        if first < epoch {
            self.hits.push("go re-sent after a take-over");
        }
    }

    /// A process could not be started, and the worker will say that it failed.
    pub fn spawn_failed(&mut self, id: AttemptId) {
        let Some(number) = self.numbers.get(&id) else { return };
        let Some(row) = self.attempts.get(&(id.job, *number)) else { return };
        let life = WorkerLife { worker: row.worker, incarnation: row.incarnation };
        self.starts.insert(id, Start { life, running: false, exited: Some(false), written: false });
    }

    /// A process ended by itself.
    pub fn ends(&mut self, id: AttemptId, success: bool) {
        if let Some(start) = self.starts.get_mut(&id) {
            (start.running, start.exited, start.written) = (false, Some(success), true);
        }
    }

    /// A process was killed.
    pub fn killed(&mut self, id: AttemptId) {
        if let Some(start) = self.starts.get_mut(&id) {
            start.running = false;
        }
    }

    /// A process runs on although nobody has been in touch with its worker for too long.
    pub fn runs_alone(&mut self, id: AttemptId) {
        self.violated(20, format!("{id} runs on without anybody in touch"));
    }

    /// So many processes of a worker run.
    pub fn slots(&mut self, worker: WorkerId, running: usize, slots: u32) {
        if running > slots as usize {
            self.violated(15, format!("worker {worker} runs {running} in {slots} slots"));
        }
    }

    /// A worker signalled what does not run.
    pub fn signals_stranger(&mut self, id: AttemptId) {
        if !self.starts.contains_key(&id) {
            self.violated(19, format!("{id} is signalled and was never started"));
        }
    }

    /// Whether a process of an attempt was started.
    pub fn has_started(&self, id: AttemptId) -> bool {
        self.starts.contains_key(&id)
    }

    /// Whether an attempt is stored as lost.
    pub fn is_lost(&self, id: AttemptId) -> bool {
        let row = self.numbers.get(&id).and_then(|number| self.attempts.get(&(id.job, *number)));
        row.is_some_and(|row| row.fence == id.fence && row.state == attempt::State::Ended(attempt::End::Lost))
    }

    /// Whether a run is stored as being stopped.
    pub fn is_stopping(&self, run: RunId) -> bool {
        self.runs.get(&run).is_some_and(|row| row.state == run::State::Stopping)
    }

    // --- what is said -------------------------------------------------------------------------------

    /// A master answers for a shard.
    pub fn speaks(&mut self, owner: OwnerId, shard: ShardId, epoch: Epoch, current: Epoch) {
        if epoch != current {
            self.violated(
                7,
                format!("{owner} speaks for shard {shard} at epoch {epoch}, which is at {current}"),
            );
        }
    }

    /// A master tells a worker that a result is stored.
    pub fn settles(&mut self, id: AttemptId, incarnation: Incarnation) {
        let row = self.numbers.get(&id).and_then(|number| self.attempts.get(&(id.job, *number)));
        if row.is_some_and(|row| {
            row.fence == id.fence
                && row.incarnation == incarnation
                && !matches!(row.state, attempt::State::Ended(_))
        }) {
            self.violated(4, format!("{id} is called settled, and nothing is stored of its end"));
        }
    }

    /// A submission was acknowledged.
    pub fn acknowledged(&mut self, key: &Arc<str>, run: RunId, there: bool) {
        if !there {
            self.violated(1, format!("{run} was acknowledged and is not stored"));
        }
        let before = self.acknowledged.insert(Arc::clone(key), run);
        if before.is_some_and(|before| before != run) {
            self.violated(2, format!("{key} was answered {before:?} and {run}"));
        }
    }

    /// A campaign was acknowledged: it is stored, and there is only one.
    pub fn acknowledged_backfill(&mut self, id: BackfillId) {
        if !self.backfills.contains_key(&id) {
            self.violated(1, format!("{id:?} was acknowledged and is not stored"));
        }
        let first = self.backfills.values().filter(|row| row.chain.root.is_none()).count();
        if first > 1 {
            self.violated(2, format!("one key made {first} campaigns"));
        }
    }

    /// A command was accepted.
    pub fn controlled(&mut self, run: RunId, command: Command) {
        if command == Command::Stop {
            self.stopped.insert(run);
            let state = self.runs.get(&run).map(|row| row.state);
            let obeyed = matches!(state, Some(run::State::Stopping | run::State::Ended(_)));
            if !obeyed && !self.reopens.contains(&run) {
                self.violated(23, format!("the stop of {run} was accepted, and it is {state:?}"));
            }
        }
    }

    /// Somebody may reopen a run.
    pub fn reopens(&mut self, run: RunId) {
        self.reopens.insert(run);
    }

    // --- what is worth reaching ---------------------------------------------------------------------

    /// Whether a batch decides several due times of a schedule at once.
    pub fn catches_up(&self, batch: &Batch) -> bool {
        let ran = batch
            .changes
            .iter()
            .filter(|change| matches!(change, Change::Firing(row) if matches!(row.outcome, Firing::Ran(_))));
        ran.count() > 1
    }

    /// Whether a batch gives a permit to another shard than had the last.
    pub fn moves_permit(&self, batch: &Batch) -> bool {
        batch.changes.iter().any(|change| match change {
            Change::Permit(_, ask) => self.last_permit.is_some_and(|last| last != ask.job.run.shard()),
            _ => false,
        })
    }

    // --- the end ------------------------------------------------------------------------------------

    /// What is still held, untold or under way.
    pub fn left_over(&self) -> Option<String> {
        if !self.pool.is_empty() {
            return Some(format!("permits are held by {:?}", self.pool.keys()));
        }
        if let Some(id) = self.outbox.first() {
            return Some(format!("{id:?} was not told"));
        }
        for row in self.backfills.values() {
            let later = self.backfills.values().filter(|later| later.chain.root == Some(row.id)).count();
            let done = row.state == BackfillState::Done && row.failed == 0;
            let expected = usize::from(done && !row.chain.then.is_empty());
            if row.chain.root.is_none() && later != expected {
                return Some(format!("{:?} is {:?} and has {later} stages after it", row.id, row.state));
            }
        }
        let open = self.backfills.values().find(|row| !row.state.is_over());
        open.map(|row| format!("{:?} is {:?}", row.id, row.state))
    }

    /// A master goes on believing that it owns what it does not.
    pub fn believes(&mut self, master: &Name, shard: ShardId) {
        self.violated(22, format!("{master} keeps shard {shard}, which is not its own"));
    }

    /// Not everything came to its end.
    pub fn stuck(&mut self, what: &str, runs: usize) {
        self.violated(if runs > 0 { 21 } else { 25 }, format!("{what} ({runs} runs are open)"));
    }

    /// Everything came to its end.
    pub fn end(&mut self, store: &Store) {
        self.over = true;
        for (key, run) in self.acknowledged.clone() {
            if store.model.run(run).is_none() {
                self.violated(1, format!("{run} of {key} is gone"));
            }
        }
        let running = self.starts.iter().find(|(_, start)| start.running).map(|(id, _)| *id);
        if let Some(id) = running {
            self.violated(25, format!("{id} still runs"));
        }
        let open = self.attempts.values().find(|row| !matches!(row.state, attempt::State::Ended(_))).cloned();
        if let Some(row) = open {
            self.violated(24, format!("attempt {} of {} is still {:?}", row.number, row.job, row.state));
        }
        for row in self.schedules.values().cloned().collect::<Vec<_>>() {
            self.check_ledger(&row);
        }
    }

    /// Every due time up to the cursor is in the ledger, once.
    fn check_ledger(&mut self, row: &ScheduleRow) {
        let Some(flow) = self.flows.named(&row.workflow) else { return };
        let Some(schedule) = flow.definition.schedules.iter().find(|one| *one.identity() == *row.schedule)
        else {
            return;
        };
        let moment = |wall: Wall| jiff::Timestamp::from_millisecond(wall.0).expect("a time");
        let dues: Vec<i64> = schedule
            .rule
            .upcoming(&schedule.zone.zone, moment(row.anchor), moment(row.anchor))
            .map(jiff::Timestamp::as_millisecond)
            .take_while(|due| *due <= row.cursor.0)
            .collect();
        let lowest = (row.workflow.clone(), Arc::clone(&row.schedule), Wall(i64::MIN));
        let highest = (row.workflow.clone(), Arc::clone(&row.schedule), Wall(i64::MAX));
        let mut place = 0;
        let mut wrong = None;
        for (_, firing) in self.firings.range(lowest..=highest) {
            let decided = dues.get(place..place + firing.count as usize).unwrap_or_default();
            let fits =
                decided.first() == Some(&firing.first_due.0) && decided.last() == Some(&firing.last_due.0);
            if !fits {
                wrong = Some(format!("{firing:?} does not follow on {:?}", dues.get(place)));
                break;
            }
            if let Firing::Ran(run) = firing.outcome
                && !self.runs.contains_key(&run)
            {
                wrong = Some(format!("{run} of {} is not there", firing.first_due));
            }
            place += firing.count as usize;
        }
        if place < dues.len() && wrong.is_none() {
            wrong =
                Some(format!("{} due times of {} are not accounted for", dues.len() - place, row.workflow));
        }
        if let Some(wrong) = wrong {
            self.violated(3, wrong);
        }
    }

    fn is_probe(&self, job: JobId) -> bool {
        self.task_of(job).is_some_and(|(task, _)| task.work.task_type() == TaskType::Wait)
    }

    /// Whether a backfill is under way.
    pub fn backfills(&self) -> bool {
        self.backfills.values().any(|row| !row.state.is_over())
    }

    /// The task of a job, and which it is.
    fn task_of(&self, job: JobId) -> Option<(Task, TaskIndex)> {
        let row = self.runs.get(&job.run)?;
        let flow = self.flows.named(&row.workflow)?;
        let tasks = &flow.definition.tasks;
        let index = match tasks.get(job.number.0 as usize) {
            Some(_) => TaskIndex(job.number.0),
            None => row.expansions.iter().rfind(|expansion| expansion.base <= job.number)?.task,
        };
        Some((tasks[index.position()].clone(), index))
    }
}

/// Every attempt of a job.
fn all_of(job: JobId) -> std::ops::RangeInclusive<AttemptId> {
    AttemptId { job, fence: Fence(0) }..=AttemptId { job, fence: Fence(u32::MAX) }
}

/// Whether a run counts against the limit of its workflow.
fn is_active(row: &RunRow) -> bool {
    let active = match row.state {
        run::State::Running | run::State::Pausing | run::State::Stopping => true,
        run::State::Paused { pending } => !pending,
        run::State::Pending | run::State::Ended(_) => false,
    };
    active && !matches!(row.trigger, Trigger::Parent(_))
}
