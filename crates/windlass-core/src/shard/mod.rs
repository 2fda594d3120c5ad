//! The shard machine: everything that is decided about the runs of one shard.
//!
//! ```text
//! inputs ──► handle(now, input) ──► changes (to be stored) ──► messages (to be sent then)
//! ```
//!
//! A run is taken out of the map while something happens to it, and put back unless it is over; so each
//! step has the run and the rest of the shard side by side.

mod adopt;
pub mod backfill;
mod completions;
mod control;
mod create;
pub mod dependents;
mod dispatch;
mod gangs;
pub mod input;
mod invariants;
pub mod load;
mod lost_workers;
mod open_run;
pub mod outbox;
mod params;
pub mod payload;
pub mod pools;
mod progress;
mod queue;
mod reconcile;
pub mod rendered;
mod reopen;
mod reports;
pub mod schedules;
mod scope;
pub mod set_aside;
mod task_timeouts;
mod timers;
pub mod view;
mod waits;
pub mod why;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::{AttemptId, Epoch, Incarnation, JobId, Name, RunId, RunIdSource, ShardId, WorkerId};

use windlass_workflow::cron::Calendar;

use crate::order::OrderKey;
use crate::requirement::{Capability, Requirement};
use crate::rows::{Change, Key, KeyRow};
use crate::run;
use crate::time::{Mono, Now, Wall};

use input::{Answer, Call, CallId, Decision, Input, Message, Settings, ToHome, Wants, WorkerLife};
use open_run::OpenRun;
use pools::Pool;
use queue::Queue;
use reconcile::Unsettled;
use set_aside::SetAside;
use timers::Timers;

pub use why::Reason;

/// The runs of one shard, and all that is decided about them.
#[derive(Debug)]
pub struct Shard {
    settings: Settings,
    id: ShardId,
    ids: RunIdSource,
    epoch: Epoch,
    /// Counts what this shard has said and asked in this epoch.
    asks: u64,
    pools: BTreeMap<Name, Pool>,
    runs: BTreeMap<RunId, Box<OpenRun>>,
    /// Open runs that the load could not read.
    set_aside: BTreeMap<RunId, Option<Box<SetAside>>>,
    homes: BTreeMap<Name, Home>,
    keys: BTreeMap<Key, KeyRow>,
    queue: Queue,
    workers: BTreeMap<WorkerId, Worker>,
    /// Attempts that the load found assigned and of which their worker has not said since that it has them.
    unconfirmed: BTreeMap<WorkerLife, BTreeSet<AttemptId>>,
    timers: Timers,
    /// Runs that are over, and how they were stored last: what somebody read before that is not true any more.
    left: BTreeMap<RunId, u32>,
    unsettled: Unsettled,
    /// Jobs that keep their attempts although these lives of workers were lost.
    waited_for: BTreeMap<WorkerLife, BTreeSet<JobId>>,
    /// The runs of sub-workflows by the job they are run for.
    children: BTreeMap<JobId, RunId>,
    /// Sub-workflow runs that must be stopped because their parents are.
    to_stop: Vec<RunId>,
    /// Sub-workflow runs that ended and whose parents have not been told yet.
    ended_children: Vec<(JobId, run::End)>,
    waits: waits::Waits,
    dependents: dependents::Dependents,
    completions: completions::Completions,
    outbox: outbox::Outbox,
    backfills: backfill::Backfills,
    /// How many keys are kept before those that are not needed are dropped.
    keys_kept: usize,
    dispatching: bool,
    calendars: Arc<BTreeMap<Name, Calendar>>,
}

/// One workflow: its runs that count against its limit and, if it is stored, what is stored of it.
#[derive(Debug, Default)]
struct Home {
    active: BTreeSet<RunId>,
    pending: BTreeSet<RunId>,
    stored: Option<schedules::Stored>,
}

/// A worker as this shard knows it.
#[derive(Debug)]
struct Worker {
    incarnation: Incarnation,
    capability: Arc<Capability>,
}

impl Shard {
    /// A shard without runs whose newest id is `last`.
    pub fn new(id: ShardId, settings: Settings, last: Option<RunId>) -> Shard {
        Shard {
            settings,
            id,
            ids: RunIdSource::new(id, last),
            epoch: Epoch::NONE.next(),
            asks: 0,
            pools: BTreeMap::new(),
            runs: BTreeMap::new(),
            set_aside: BTreeMap::new(),
            homes: BTreeMap::new(),
            keys: BTreeMap::new(),
            queue: Queue::default(),
            workers: BTreeMap::new(),
            unconfirmed: BTreeMap::new(),
            left: BTreeMap::new(),
            timers: Timers::default(),
            unsettled: Unsettled::default(),
            waited_for: BTreeMap::new(),
            children: BTreeMap::new(),
            to_stop: Vec::new(),
            ended_children: Vec::new(),
            waits: waits::Waits::default(),
            dependents: dependents::Dependents::default(),
            completions: completions::Completions::default(),
            outbox: outbox::Outbox::default(),
            backfills: backfill::Backfills::default(),
            keys_kept: 0,
            dispatching: true,
            calendars: Arc::default(),
        }
    }

    /// Decides what follows from an input, at the end of `out`. Same state, time and input: same
    /// decision, on every machine.
    pub fn handle(&mut self, now: Now, input: Input, out: &mut Decision) {
        match input {
            Input::Call(call, wanted) => self.call(now, call, wanted, out),
            Input::WorkerSeen(life, capability) => {
                self.workers.insert(life.worker, Worker { incarnation: life.incarnation, capability });
                self.worker_back(now, life);
            }
            Input::WorkerLost(life) => self.worker_lost(now, life, out),
            Input::Offer(offer) => self.offer(now, offer, out),
            Input::Report(life, attempt, report) => self.report(now, life, attempt, report, out),
            Input::Inventory(inventory) => self.inventory(now, inventory, out),
            Input::Calendars(calendars) => self.calendars = calendars,
            Input::ToPool(name, message) => self.at_pool(now, &name, message, out),
            Input::FromPool(name, message) => self.pool_says(now, &name, message, out),
            Input::ToHome(name, message) => self.at_home(now, &name, message, out),
            Input::FromHome(_, message) => self.home_says(now, message, out),
            Input::Found(inquiry, stored) => self.found(now, &inquiry, stored, out),
            Input::Delivered(id) => self.delivered(now, id, out),
            Input::DispatchSwitch(on) => self.dispatching = on,
            Input::Woken => {}
        }
        self.follow_up(now, out);
    }

    /// Does what somebody wants, and answers.
    fn call(&mut self, now: Now, call: CallId, wanted: Call, out: &mut Decision) {
        match wanted {
            Call::Create(wanted) => self.create(now, call, *wanted, out),
            Call::Control(control) => self.control(now, call, control, out),
            Call::PutWorkflow(put) => self.put_workflow(now, call, *put, out),
            Call::EnableWorkflow(name, by, enabled) => {
                self.enable_workflow(now, call, &name, by, enabled, out);
            }
            Call::PauseSchedule(name, schedule, paused) => {
                self.pause_schedule(call, &name, &schedule, paused, out);
            }
            Call::DeleteWorkflow(name, expected) => self.delete_workflow(now, call, &name, expected, out),
            Call::SetPool(name, limit) => self.set_pool(now, call, &name, limit, out),
            Call::DeletePool(name) => self.delete_pool(call, &name, out),
            Call::PlanBackfill(range) => {
                let answer = self.plan(&range).map_or_else(Answer::Refused, Answer::Plan);
                out.messages.push(Message::Answer(call, answer));
            }
            Call::Backfill(wanted) => self.start_backfill(now, call, *wanted, out),
            Call::ControlBackfill(id, command) => self.control_backfill(call, id, command, out),
            Call::Run(run) => {
                let answer = Answer::Run(self.run_view(run).map(Box::new));
                out.messages.push(Message::Answer(call, answer));
            }
            Call::Tasks(run, wanted) => {
                let answer = Answer::Tasks(self.tasks_view(run, &wanted));
                out.messages.push(Message::Answer(call, answer));
            }
            Call::Jobs(run, wanted) => {
                let answer = Answer::Jobs(self.jobs_view(run, &wanted));
                out.messages.push(Message::Answer(call, answer));
            }
            Call::Why(job) => out.messages.push(Message::Answer(call, Answer::Why(self.why(job)))),
            Call::Work => out.messages.push(Message::Answer(call, Answer::Work(self.work()))),
            Call::AttemptsOn(worker) => {
                let attempts = Answer::Attempts(self.attempts_on(worker));
                out.messages.push(Message::Answer(call, attempts));
            }
        }
    }

    /// Does what the input has made due, until nothing is: timers, sub-workflows to stop, parents to tell.
    /// A list, not a recursion: sub-workflows may be a thousand deep.
    fn follow_up(&mut self, now: Now, out: &mut Decision) {
        loop {
            self.fire_timers(now, out);
            if let Some(run) = self.to_stop.pop() {
                self.with_run(now, run, out, |shard, run, out| {
                    shard.stop(now, run, "its parent was stopped", out);
                });
            } else if let Some((job, end)) = self.ended_children.pop() {
                self.tell_parent(now, job, end, out);
            } else if self.step_backfills(now, out) {
                // It may have more to do, and others too.
            } else {
                return;
            }
        }
    }

    /// A shard says something to a workflow of which this is the home.
    fn at_home(&mut self, now: Now, name: &Name, message: ToHome, out: &mut Decision) {
        match message {
            ToHome::Watch(watch) => self.heard_watcher(now, name, watch, out),
            ToHome::Unwatch(ask, logical_time) => self.unwatch(name, ask, logical_time),
            ToHome::Listen { listener, on, stamp } => self.heard_listener(name, listener, on, stamp, out),
            ToHome::Listening { source, stamp } => self.listening(name, source, stamp),
            ToHome::NextStage(id, next) => self.next_stage(now, id, &next, out),
            ToHome::Completed(id, completion) => self.completed(now, name, id, &completion, out),
            ToHome::Taken { id, .. } => self.delivered(now, id, out),
            ToHome::NotListening { listener, id, stamp } => {
                self.not_listening(now, name, &listener, id, stamp, out);
            }
        }
    }

    /// What the shard would have its master know.
    pub fn wants(&self) -> Wants {
        Wants { wake_at: self.wake_at(), wake_at_wall: self.wake_at_wall(), demand: self.demand().collect() }
    }

    /// The moment at which it must be woken even if nothing happens.
    pub fn wake_at(&self) -> Option<Mono> {
        self.timers.next_mono()
    }

    /// The same on the wall clock.
    pub fn wake_at_wall(&self) -> Option<Wall> {
        self.timers.next_wall()
    }

    /// For each class of ready work: the best key and how many jobs.
    pub fn demand(&self) -> impl Iterator<Item = (Arc<Requirement>, OrderKey, u64)> {
        self.queue.demand().filter(|_| self.dispatching)
    }

    /// The best key of ready work of a class.
    pub fn best_of(&self, class: &Requirement) -> Option<OrderKey> {
        self.queue.best_of(class).filter(|_| self.dispatching).map(|(key, _)| key)
    }

    /// How many runs are open.
    pub fn open_runs(&self) -> usize {
        self.runs.len()
    }

    /// Does something with an open run, then stores it if it changed and drops it if it is over.
    fn with_run<T>(
        &mut self,
        now: Now,
        id: RunId,
        out: &mut Decision,
        work: impl FnOnce(&mut Shard, &mut OpenRun, &mut Decision) -> T,
    ) -> Option<T> {
        let mut run = self.runs.remove(&id)?;
        let result = work(self, &mut run, out);
        self.put_back(now, run, out);
        Some(result)
    }

    fn put_back(&mut self, now: Now, mut run: Box<OpenRun>, out: &mut Decision) {
        self.advance(now, &mut run, out);
        let changed = std::mem::take(&mut run.changed);
        if changed {
            run.row.revision += 1;
            run.row.counts =
                matches!(run.row.state, run::State::Ended(_)).then(|| Box::new(view::counts(&run)));
            out.changes.push(Change::Run(Arc::new(run.row.clone())));
        }
        self.tell_watchers(&run, out);
        match run.row.state {
            run::State::Ended(end) => {
                self.forget(now, &run, end);
                self.forget_waits(run.row.id);
                self.forget_questions(run.row.id, out);
                // One that was only looked at, and stays as it ended, has not ended again.
                if changed {
                    self.after_end(now, &run, end, out);
                }
            }
            run::State::Pending
            | run::State::Running
            | run::State::Pausing
            | run::State::Paused { .. }
            | run::State::Stopping => {
                self.runs.insert(run.row.id, run);
            }
        }
    }

    /// What follows elsewhere from the end of a run: who listens, people, its campaign.
    fn after_end(&mut self, now: Now, run: &OpenRun, end: run::End, out: &mut Decision) {
        self.tell_listeners(now, run, end, out);
        self.alert_end(now, run, end, out);
        self.backfill_ended(run, end, out);
    }
}
