//! Runs come into being, begin, and leave.

use std::sync::Arc;

use windlass_model::policy::{AlertOn, TimeoutAction};
use windlass_model::{Duration, JobId, Name, RunId};
use windlass_workflow::Definition;

use super::Shard;
use super::input::{Answer, CallId, CreateRun, Decision, Message, Refusal};
use super::open_run::OpenRun;
use super::timers::Timer;
use crate::rows::{Change, KeyRow, RunRow, Selection, Trigger, Values};
use crate::run;
use crate::time::{Now, Wall};

/// Of so many runs that are over it is remembered how they were stored last.
const REMEMBERED: usize = 1_000;
/// What is said of a run that takes longer than its timeout.
pub(super) const TOOK_LONG: &str = "the run took longer than its timeout";
/// Keys are not looked through before there are so many.
const KEYS: usize = 10_000;
/// How long the key of a run that is over is kept in memory.
const KEYS_LIVE: Duration = Duration::from_secs(24 * 3600);
/// Keys of runs that are over, at most: some tens of megabytes.
const MOST_KEYS: usize = 100_000;

impl Shard {
    /// Creates the wanted run, or finds the one that the same call created before.
    pub(super) fn create(&mut self, now: Now, call: CallId, wanted: CreateRun, out: &mut Decision) {
        let answer = match self.keys.get(&wanted.key).or(wanted.known.as_ref()) {
            Some(known) if known.body == wanted.body => Answer::Created(known.run),
            Some(_) => Answer::Refused(Refusal::KeyReused),
            None => match self.create_new(now, wanted, out) {
                Ok(run) => Answer::Created(run),
                Err(refusal) => Answer::Refused(refusal),
            },
        };
        out.messages.push(Message::Answer(call, answer));
    }

    fn create_new(&mut self, now: Now, wanted: CreateRun, out: &mut Decision) -> Result<RunId, Refusal> {
        if wanted.version.is_some() && self.is_disabled(&wanted.definition.name) {
            return Err(Refusal::Disabled);
        }
        let id = self.ids.next_id(now.wall.0).ok_or(Refusal::NoIds)?;
        let by = Arc::clone(&wanted.key.principal);
        let trigger = wanted.rerun_of.map_or(Trigger::Call, Trigger::Rerun);
        let mut row = new_row(id, &wanted.definition, now.wall, by, trigger);
        row.version = wanted.version;
        row.priority = wanted.priority.unwrap_or(row.priority);
        row.logical_time = wanted.logical_time;
        row.run_at = wanted.run_at;
        row.labels = wanted.labels;
        row.selection = wanted.selection;
        let mut run = OpenRun::new(row, wanted.definition, wanted.pinned);
        run.bind(&wanted.params).map_err(Refusal::Params)?;
        out.origins.insert(id, wanted.origin);
        let key = KeyRow { key: wanted.key, body: wanted.body, run: id, at: now.wall };
        self.drop_old_keys(now.wall);
        self.keys.insert(key.key.clone(), key.clone());
        out.changes.push(Change::LastRun(id));
        out.changes.push(Change::Key(key));
        self.add(now, run, out);
        Ok(id)
    }

    /// Creates the run of a sub-workflow for a job of `parent`.
    pub(super) fn create_child(
        &mut self,
        now: Now,
        parent: &OpenRun,
        job: JobId,
        definition: Arc<Definition>,
        params: &Values,
        out: &mut Decision,
    ) -> Result<(), String> {
        let id = self.ids.next_id(now.wall.0).ok_or("this shard has no run ids left")?;
        out.changes.push(Change::LastRun(id));
        let by = Arc::clone(&parent.row.created_by);
        let mut row = new_row(id, &definition, now.wall, by, Trigger::Parent(job));
        row.priority = parent.row.priority;
        row.logical_time = parent.row.logical_time;
        // It is looked at when its timer is: a chain of a thousand sub-workflows costs no stack.
        let mut run = OpenRun::new(row, definition, Arc::clone(&parent.pinned));
        run.bind(params)?;
        run.row.revision += 1;
        out.changes.push(Change::Run(Arc::new(run.row.clone())));
        self.timers.at(now.mono, Timer::Begin(id));
        self.runs.insert(id, Box::new(OpenRun { changed: false, ..run }));
        self.children.insert(job, id);
        Ok(())
    }

    pub(super) fn add(&mut self, now: Now, run: OpenRun, out: &mut Decision) {
        if counts(&run.row) {
            self.homes.entry(run.row.workflow.clone()).or_default().pending.insert(run.row.id);
        }
        if let Some(when) = run.row.run_at {
            self.timers.at_wall(when, Timer::Begin(run.row.id));
        }
        self.put_back(now, Box::new(run), out);
    }

    /// Begins a pending run if it may.
    pub(super) fn begin(&mut self, now: Now, run: &mut OpenRun) {
        if !self.may_begin(now.wall, run) {
            return;
        }
        let Ok(state) = run::transition(run.row.state, run::Event::Begun) else { return };
        run.row.state = state;
        run.row.started_at = Some(now.wall);
        run.changed = true;
        // One that was reopened has open tasks already.
        self.requeue_all(run);
        if counts(&run.row)
            && let Some(home) = self.homes.get_mut(&run.row.workflow)
        {
            home.pending.remove(&run.row.id);
            home.active.insert(run.row.id);
            // Several places may have come free at once: whoever is next looks too.
            if let Some(next) = home.pending.first() {
                self.timers.at(now.mono, Timer::Begin(*next));
            }
        }
        if let Some(timeout) = run.definition.timeout {
            let deadline = now.mono.after(timeout.after);
            run.deadline = Some(deadline);
            self.timers.at(deadline, Timer::RunTimeout(run.row.id));
        }
    }

    fn may_begin(&self, wall: Wall, run: &OpenRun) -> bool {
        run.row.state == run::State::Pending
            && run.row.run_at.is_none_or(|when| when <= wall)
            && self.place_free(run)
    }

    /// Whether its workflow's limit leaves a place, and no older run waits for it.
    pub(super) fn place_free(&self, run: &OpenRun) -> bool {
        let (Some(limit), true) = (run_limit(run), counts(&run.row)) else { return true };
        let Some(home) = self.homes.get(&run.row.workflow) else { return true };
        let older_waits = home.pending.first().is_some_and(|first| *first < run.row.id);
        home.active.len() < limit as usize && !older_waits
    }

    /// How many runs of a workflow are not over; those that a run of another waits for are not counted.
    pub(super) fn open_runs_of(&self, workflow: &Name) -> usize {
        self.homes.get(workflow).map_or(0, |home| home.active.len() + home.pending.len())
    }

    /// The limit and the number of active runs of a workflow.
    pub(super) fn active_runs(&self, workflow: &Name) -> usize {
        self.homes.get(workflow).map_or(0, |home| home.active.len())
    }

    /// The run took as long as it may.
    pub(super) fn run_timed_out(&mut self, now: Now, run: &mut OpenRun, out: &mut Decision) {
        let due = run.deadline.is_some_and(|deadline| deadline <= now.mono);
        let fails = run.definition.timeout.is_some_and(|timeout| timeout.then == TimeoutAction::Fail);
        if !due || run.row.ending {
            return;
        }
        run.deadline = None;
        run.row.reason = TOOK_LONG.into();
        run.changed = true;
        self.alert(now, run, if fails { AlertOn::TimedOut } else { AlertOn::Late }, TOOK_LONG, out);
        if fails {
            run.failed = true;
            self.end_rest(now, run, out);
        }
    }

    /// Drops keys of runs that are over, once there are many: those of more than a day ago, then the oldest.
    /// The store keeps them, and refuses one that is used again.
    fn drop_old_keys(&mut self, now: Wall) {
        if self.keys.len() < self.keys_kept.max(KEYS) {
            return;
        }
        let (runs, day_ago) = (&self.runs, now.0.saturating_sub(KEYS_LIVE.as_millis() as i64));
        self.keys.retain(|_, row| row.at.0 > day_ago || runs.contains_key(&row.run));
        let mut over: Vec<_> =
            self.keys.values().map(|row| row.run).filter(|run| !runs.contains_key(run)).collect();
        if over.len() > MOST_KEYS {
            over.sort_unstable();
            let oldest = over[over.len() - MOST_KEYS];
            self.keys.retain(|_, row| row.run >= oldest || runs.contains_key(&row.run));
        }
        // So that each look is paid for by as many new keys.
        self.keys_kept = self.keys.len() * 2;
    }

    /// A run that is over leaves memory, and its place goes to the next.
    pub(super) fn forget(&mut self, now: Now, run: &OpenRun, end: run::End) {
        self.left.insert(run.row.id, run.row.revision);
        if self.left.len() > REMEMBERED {
            self.left.pop_first();
        }
        if let Trigger::Parent(job) = run.row.trigger {
            self.children.remove(&job);
            self.ended_children.push((job, end));
        }
        if !counts(&run.row) {
            return;
        }
        let Some(home) = self.homes.get_mut(&run.row.workflow) else { return };
        home.active.remove(&run.row.id);
        home.pending.remove(&run.row.id);
        if home.active.is_empty() && home.pending.is_empty() && home.stored.is_none() {
            self.homes.remove(&run.row.workflow);
            return;
        }
        // Whoever is next begins in the same decision; a limit never leaks a place.
        if let Some(next) = home.pending.first() {
            self.timers.at(now.mono, Timer::Begin(*next));
        }
    }

    /// Tells the job that a sub-workflow was run for how it ended.
    pub(super) fn tell_parent(&mut self, now: Now, job: JobId, end: run::End, out: &mut Decision) {
        self.with_run(now, job.run, out, |shard, run, out| {
            run.children = run.children.saturating_sub(1);
            let (success, reason) = match end {
                run::End::Success => (true, "its run succeeded"),
                run::End::Failed => (false, "its run failed"),
                run::End::Stopped => (false, "its run was stopped"),
            };
            shard.hold_over(now, run, job.number, success, reason, out);
        });
    }
}

/// How many runs of its workflow may be active for a run to begin.
pub(super) fn run_limit(run: &OpenRun) -> Option<u32> {
    if run.row.serial { Some(1) } else { run.definition.max_active_runs }
}

/// Whether a run takes a place among the active runs of its workflow. A sub-workflow's run is seen by its
/// parent only.
pub(super) fn counts(row: &RunRow) -> bool {
    row.trigger.parent().is_none()
}

/// Whether a run is one that other workflows can wait for and listen to: of a stored version, so that its
/// workflow's home is where it lives, and not a sub-workflow's.
pub(super) fn is_public(row: &RunRow) -> bool {
    row.version.is_some() && counts(row)
}

/// A run of which nothing is decided yet.
pub(super) fn new_row(
    id: RunId,
    definition: &Definition,
    at: Wall,
    by: Arc<str>,
    trigger: Trigger,
) -> RunRow {
    RunRow {
        id,
        workflow: definition.name.clone(),
        version: None,
        revision: 0,
        state: run::State::Pending,
        reason: "".into(),
        priority: definition.priority,
        params: Arc::default(),
        labels: None,
        logical_time: at,
        run_at: None,
        created_at: at,
        created_by: by,
        trigger,
        started_at: None,
        finished_at: None,
        selection: Selection::All,
        serial: false,
        ending: false,
        counts: None,
        expansions: Vec::new(),
        gangs: Vec::new(),
    }
}
