//! A run while it is open: what the shard keeps of it in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::{AttemptId, AttemptNumber, Fence, JobId, JobNumber, Name};
use windlass_workflow::Definition;
use windlass_workflow::definition::TaskIndex;
use windlass_workflow::expr::Value;

use super::gangs::{self, Gang};
use super::input::{JobPlace, WorkerLife};
use super::payload::{RunEnv, run_env};
use super::pools::{Ask, Asked};
use crate::job;
use crate::requirement::Requirement;
use crate::rows::{RunRow, Selection, Values};
use crate::run;
use crate::time::{Mono, Now, Wall};

/// A run with open work.
#[derive(Debug)]
pub struct OpenRun {
    /// What is stored of it.
    pub row: RunRow,
    /// What it runs.
    pub definition: Arc<Definition>,
    /// The variables of its processes, once one was assigned.
    pub(super) env: Option<Arc<RunEnv>>,
    /// The workflows it may call.
    pub pinned: Arc<BTreeMap<Name, Arc<Definition>>>,
    /// One for each task of the definition.
    pub tasks: Vec<OpenTask>,
    /// Tasks of which all dependencies are done and which were not looked at since.
    pub due: BTreeSet<TaskIndex>,
    /// Ordinary tasks that are not done; `finally` waits for zero.
    pub ordinary_open: usize,
    /// Tasks that are not done.
    pub open: usize,
    /// Attempts that are assigned, run or are being ended.
    pub attempts: usize,
    /// Of those, the ones not known to have started.
    pub unstarted: usize,
    /// Sub-workflows under way.
    pub children: usize,
    /// Whether a task has failed, or the run ran out of time.
    pub failed: bool,
    /// Whether it is being laid out from its rows: what a failure leads to was decided before.
    pub loading: bool,
    /// Whether what is stored of it is out of date.
    pub changed: bool,
    /// Counts what became ready.
    pub submissions: u32,
    /// The first job number that is not taken.
    pub next_number: u32,
    /// When it times out.
    pub deadline: Option<Mono>,
    /// Its gangs, by name.
    pub gangs: BTreeMap<Name, Gang>,
}

/// One task of an open run.
#[derive(Debug)]
pub struct OpenTask {
    /// Dependencies that are not done.
    pub missing: u32,
    /// Where it is.
    pub phase: Phase,
    /// What the only job of a task had before the task was reopened, so that no fence is used twice.
    pub past: Option<Job>,
}

/// Where a task is.
#[derive(Debug)]
pub enum Phase {
    /// Its dependencies are not done.
    Waiting,
    /// Its jobs are being worked on.
    Open(Box<Jobs>),
    /// All its jobs are over, or it was left out.
    Done(Box<Done>),
}

/// A task that is done.
#[derive(Debug)]
pub struct Done {
    /// How.
    pub end: job::End,
    /// What its jobs put out, by item; empty if none did.
    pub outputs: Vec<Option<Arc<Values>>>,
    /// Jobs that did not succeed, for retry and force-success.
    pub jobs: Option<Box<Jobs>>,
}

/// The jobs of one task. Those that have not begun are implied: a million of them cost nothing.
#[derive(Debug)]
pub struct Jobs {
    /// Number of the first.
    pub base: JobNumber,
    /// What they go through; `None` for a task without `foreach`.
    pub items: Option<Value>,
    /// How many there are.
    pub count: u32,
    /// The first that never was assigned; all after it have not begun.
    pub next: u32,
    /// If the rest was ended before it began: the first that never did.
    pub closed_from: Option<u32>,
    /// Those that have begun. Of many, the ones that succeeded are not kept.
    pub begun: BTreeMap<u32, Job>,
    /// Of those, the ones that are ready again.
    pub again: BTreeSet<u32>,
    /// Permits of their pool that ready ones wait for, or hold.
    pub asks: BTreeMap<u32, Asked>,
    /// How many have an attempt under way.
    pub running: u32,
    /// When the first of those has taken as long as it may, if the task has a timeout.
    pub timeout_due: Option<Mono>,
    /// How many are over.
    pub ended: u32,
    /// How many of those failed.
    pub failed: u32,
    /// How many of those were stopped.
    pub stopped: u32,
    /// Place in the order of what became ready.
    pub submission: u32,
    /// What they need of a worker.
    pub requirement: Arc<Requirement>,
    /// What they put out, by item; grows with the highest item that did.
    pub outputs: Vec<Option<Arc<Values>>>,
}

/// A job that has begun.
#[derive(Clone, Debug)]
pub struct Job {
    /// Where it is.
    pub state: job::State,
    /// The newest assignment.
    pub fence: Fence,
    /// The newest attempt that users see; 0 before the first.
    pub number: AttemptNumber,
    /// Failed attempts that count against its retries.
    pub failures: u32,
    /// Lost attempts that count against its policy for lost workers.
    pub losses: u32,
    /// The permit of its pool that its current attempt holds, or a lost one that may still run alone.
    pub permit: Option<Ask>,
    /// Until when an attempt that was lost may still run although no other may beside it. The time is set when the
    /// worker is lost, and holds whatever else becomes of the job: stopped, failed, or tried again by somebody.
    pub alone_until: Mono,
}

impl Job {
    /// A job of which nothing has been tried.
    pub const fn new(state: job::State) -> Job {
        Job {
            state,
            fence: Fence(0),
            number: AttemptNumber(0),
            failures: 0,
            losses: 0,
            permit: None,
            alone_until: Mono(0),
        }
    }

    /// Where a job is that could start now, if it may not start beside an attempt that was lost.
    pub fn startable(&self, now: Now) -> job::State {
        match self.alone_until > now.mono {
            true => job::State::Backoff { until: self.alone_until },
            false => job::State::Ready,
        }
    }
}

impl Jobs {
    /// So many jobs of which none has begun.
    pub fn new(
        base: JobNumber,
        items: Option<Value>,
        count: u32,
        submission: u32,
        requirement: Requirement,
    ) -> Jobs {
        Jobs {
            requirement: Arc::new(requirement),
            base,
            items,
            count,
            next: 0,
            closed_from: None,
            begun: BTreeMap::new(),
            again: BTreeSet::new(),
            asks: BTreeMap::new(),
            running: 0,
            timeout_due: None,
            ended: 0,
            failed: 0,
            stopped: 0,
            submission,
            outputs: Vec::new(),
        }
    }

    /// All that never began end. Says how many.
    pub fn close_rest(&mut self) -> u32 {
        let never_begun = self.count - self.next;
        if never_begun > 0 {
            self.closed_from = Some(self.next);
            self.next = self.count;
            self.ended += never_begun;
            self.stopped += never_begun;
        }
        never_begun
    }

    /// All that never began may begin after all. Whether there are any.
    pub fn open_rest(&mut self) -> bool {
        let Some(first) = self.closed_from.take() else { return false };
        let never_begun = self.count - first;
        self.next = first;
        self.ended -= never_begun;
        self.stopped -= never_begun;
        true
    }

    /// How many could start.
    pub fn ready(&self) -> u32 {
        self.count - self.next + self.again.len() as u32
    }

    /// Those that could start, in order.
    pub fn ready_items(&self) -> impl Iterator<Item = u32> {
        self.again.iter().copied().chain(self.next..self.count)
    }

    /// The item that starts next; in a pool, the first that has a permit.
    pub fn first_startable(&self, pooled: bool) -> Option<u32> {
        match pooled {
            false => self.ready_items().next(),
            true => self.asks.iter().find(|(_, asked)| asked.granted.is_some()).map(|(item, _)| *item),
        }
    }

    /// An item that was ready is not any more. In a pool, a later item may begin before an earlier one; those
    /// passed over are ready again.
    pub fn begin(&mut self, item: u32) {
        if item >= self.next {
            self.again.extend(self.next..item);
            for passed in self.next..item {
                self.begun.insert(passed, Job::new(job::State::Ready));
            }
            self.next = item + 1;
        }
        self.again.remove(&item);
    }

    /// How many ready ones hold a permit.
    pub fn permitted(&self) -> u32 {
        self.asks.values().filter(|asked| asked.granted.is_some()).count() as u32
    }

    /// The value of an item.
    pub fn item(&self, item: u32) -> Option<Value> {
        self.items.as_ref()?.items()?.get(u64::from(item))
    }

    /// Whether a job that succeeded is kept: so is the only one of its task, because a whole task may be
    /// reopened and no fence is used twice.
    pub fn keeps_success(&self) -> bool {
        self.items.is_none()
    }

    /// Keeps what a job put out.
    pub fn keep_outputs(&mut self, item: u32, outputs: Option<Arc<Values>>) {
        let Some(outputs) = outputs else { return };
        let place = item as usize;
        if self.outputs.len() <= place {
            self.outputs.resize(place + 1, None);
        }
        self.outputs[place] = Some(outputs);
    }
}

impl OpenRun {
    /// A run of which nothing has begun.
    pub fn new(
        row: RunRow,
        definition: Arc<Definition>,
        pinned: Arc<BTreeMap<Name, Arc<Definition>>>,
    ) -> OpenRun {
        let finally = definition.finally_count;
        let ordinary = definition.tasks.len() - finally;
        let missing = |task: usize| {
            let dependencies = definition.graph.dependencies(TaskIndex(task as u32)).len() as u32;
            // A task of `finally` also waits for the end of all ordinary ones.
            dependencies + u32::from(task >= ordinary)
        };
        let tasks: Vec<_> = (0..definition.tasks.len())
            .map(|task| OpenTask { missing: missing(task), phase: Phase::Waiting, past: None })
            .collect();
        let due = (0..tasks.len())
            .filter(|task| tasks[*task].missing == 0)
            .map(|task| TaskIndex(task as u32))
            .collect();
        OpenRun {
            due,
            ordinary_open: ordinary,
            open: tasks.len(),
            attempts: 0,
            unstarted: 0,
            children: 0,
            failed: false,
            loading: false,
            changed: true,
            submissions: 0,
            next_number: tasks.len() as u32,
            deadline: None,
            gangs: gangs::gangs_of(&definition),
            env: None,
            row,
            definition,
            pinned,
            tasks,
        }
    }

    /// Every attempt that is assigned, runs or is being ended, and who has it.
    pub fn current_attempts(&self) -> impl Iterator<Item = (WorkerLife, AttemptId)> {
        let open = self.tasks.iter().filter_map(|task| match &task.phase {
            Phase::Open(jobs) => Some(jobs),
            Phase::Waiting | Phase::Done(_) => None,
        });
        open.flat_map(move |jobs| {
            jobs.begun.iter().filter_map(move |(item, job)| match job.state {
                job::State::Running(current) => {
                    let number = JobNumber(jobs.base.0 + item);
                    let attempt = AttemptId { job: JobId { run: self.row.id, number }, fence: current.fence };
                    let life = WorkerLife { worker: current.worker, incarnation: current.incarnation };
                    Some((life, attempt))
                }
                job::State::Waiting
                | job::State::Ready
                | job::State::Backoff { .. }
                | job::State::Held
                | job::State::Ended(_) => None,
            })
        })
    }

    /// It fails before anything of it begins, and says why.
    pub fn fail_at_once(&mut self, at: Wall, problem: String) {
        self.row.state = run::State::Ended(run::End::Failed);
        self.row.reason = problem.into();
        self.row.finished_at = Some(at);
        self.changed = true;
    }

    /// The id of a job.
    pub fn job_id(&self, place: JobPlace) -> Option<JobId> {
        let base = match &self.tasks[place.task.position()].phase {
            Phase::Open(jobs) => jobs.base,
            Phase::Done(done) => done.jobs.as_ref().map_or(JobNumber(place.task.0), |jobs| jobs.base),
            Phase::Waiting => JobNumber(place.task.0),
        };
        Some(JobId { run: self.row.id, number: JobNumber(base.0.checked_add(place.item)?) })
    }

    /// Where the job of that number is: the first numbers are one for each task, then come the blocks
    /// of expanded tasks.
    pub fn place(&self, number: JobNumber) -> Option<JobPlace> {
        if let Some(task) = self.definition.tasks.get(number.0 as usize) {
            // The number of an expanded task stands for the task, not for one of its jobs.
            return task.foreach.is_none().then_some(JobPlace { task: TaskIndex(number.0), item: 0 });
        }
        let after = self.row.expansions.partition_point(|expansion| expansion.base <= number);
        let expansion = self.row.expansions.get(after.checked_sub(1)?)?;
        let item = number.0 - expansion.base.0;
        (item < expansion.count && !expansion.closed).then_some(JobPlace { task: expansion.task, item })
    }

    /// The variables of its processes.
    pub fn env(&mut self) -> Arc<RunEnv> {
        Arc::clone(self.env.get_or_insert_with(|| Arc::new(run_env(&self.row))))
    }

    /// The jobs of a task that is open.
    pub fn jobs(&mut self, task: TaskIndex) -> Option<&mut Jobs> {
        match &mut self.tasks[task.position()].phase {
            Phase::Open(jobs) => Some(jobs),
            Phase::Waiting | Phase::Done(_) => None,
        }
    }

    /// Whether a task takes part in this run.
    pub fn selected(&self, task: TaskIndex) -> bool {
        match self.row.selection {
            Selection::All => true,
            Selection::Only(only) => only == task,
            Selection::From(first) => first == task || self.definition.graph.ancestors(task).contains(&first),
        }
    }
}
