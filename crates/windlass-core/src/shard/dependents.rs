//! Tasks that wait for the run of another workflow.
//!
//! ```text
//! shard of the job                         home of the other workflow
//!   held, no slot     ── Watch(ask) ─────►   looks into memory, and once into the store
//!   decides           ◄─ Told(standing) ──   at once, and whenever it changes
//!   waits no longer   ── Unwatch(ask) ───►   forgets; so it does with who is silent for too long
//! ```
//!
//! Neither side stores anything: the job's row says that it waits, and what for follows from the definition.
//! Every message may be lost, repeated or late. A question is repeated as long as the job waits; an answer
//! names the question, and has a stamp by which an older one is known.
//!
//! Which run it is about is decided in one place: the newest of that logical time, whatever made it. A run that
//! ended in another way than the task wants is no end of the wait: it may be recovered, and a newer one may come.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::policy::CompletionOn;
use windlass_model::{Duration, JobId, JobNumber, Name, RunId, ShardId, TaskId};
use windlass_workflow::definition::{Dependency, Dependent, Match, Work};

use super::Shard;
use super::create::is_public;
use super::input::{Decision, FromHome, Message, Settings, ToHome};
use super::load::StoredRun;
use super::open_run::{OpenRun, Phase};
use super::pools::Ask;
use super::scope::RunScope;
use super::timers::Timer;
use crate::rows::Stamp;
use crate::time::{Mono, Now, Wall};
use crate::{job, run};

/// How often a question is repeated; a lost answer costs this long.
const REPEAT: Duration = Duration::from_secs(10);
/// After how long a home forgets who does not repeat a question: a few lost repetitions.
const FORGET: Duration = Duration::from_secs(60);

/// Which run a job waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The question.
    pub ask: Ask,
    /// The logical time of the run.
    pub logical_time: Wall,
    /// Only this task of it.
    pub task: Option<Arc<str>>,
}

/// How the run of a logical time stands, or one task of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is no such run.
    NoRun,
    /// It is not over.
    Open(RunId),
    /// It is over.
    Ended(RunId, job::End),
}

impl Standing {
    /// Whether this is what somebody waits for. A run that was stopped has neither succeeded nor failed.
    pub fn meets(self, on: CompletionOn) -> bool {
        match (self, on) {
            (Standing::NoRun | Standing::Open(_), _) => false,
            (Standing::Ended(_, end), CompletionOn::Success) => end == job::End::Success,
            (Standing::Ended(_, end), CompletionOn::Failure) => end == job::End::Failed,
            (Standing::Ended(..), CompletionOn::Done) => true,
        }
    }
}

/// A question to the store: which is the newest run of a workflow and logical time? Runs of sub-workflows and
/// of definitions that came with their submission are not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// Names it.
    pub stamp: Stamp,
    /// The workflow.
    pub workflow: Name,
    /// The logical time.
    pub logical_time: Wall,
    /// Whether the ends of its tasks matter.
    pub tasks: bool,
}

/// Everything that waits across homes, on both sides.
#[derive(Debug, Default)]
pub(super) struct Dependents {
    /// The questions of jobs of this shard.
    asking: BTreeMap<JobId, Asking>,
    /// The runs that somebody waits for, of workflows of which this is the home.
    watched: BTreeMap<(Name, Wall), Watched>,
    /// Whether the next look at who is still there is due.
    checking: bool,
}

/// What one job asks.
#[derive(Debug)]
struct Asking {
    needs: Match,
    questions: Vec<Question>,
    /// When they are asked again.
    next: Mono,
}

/// One question of a job.
#[derive(Debug)]
struct Question {
    workflow: Name,
    watch: Watch,
    on: CompletionOn,
    told: Option<(Stamp, Standing)>,
}

/// A run that somebody waits for.
#[derive(Debug, Default)]
struct Watched {
    watchers: BTreeMap<Ask, Watcher>,
    /// The newest run that is known.
    newest: Option<Newest>,
    /// Whether the store was asked, so that there is no newer one.
    sure: bool,
    /// What the store is asked.
    inquiry: Option<Inquiry>,
}

/// The newest run of a logical time.
#[derive(Debug)]
struct Newest {
    run: RunId,
    /// How it ended, if it did; while it is open it is in memory.
    end: Option<run::End>,
    /// How its tasks ended, if that is known.
    tasks: Option<BTreeMap<TaskId, job::End>>,
}

/// Somebody who waits for a run.
#[derive(Debug)]
struct Watcher {
    task: Option<Arc<str>>,
    /// When it was heard last.
    heard: Mono,
    told: Option<Standing>,
}

// --- the shard of the job ---------------------------------------------------------------------------

impl Shard {
    /// A job begins to wait for runs of other workflows, or goes on with it after a load.
    pub(super) fn ask_homes(
        &mut self,
        now: Now,
        run: &OpenRun,
        id: JobId,
        dependent: &Dependent,
        scope: &RunScope<'_>,
    ) -> Result<(), String> {
        let mut questions = Vec::new();
        for dependency in &dependent.on {
            let logical_time = logical_time(run, dependency, scope)?;
            self.asks += 1;
            let ask = Ask { job: id, epoch: self.epoch, counter: self.asks };
            let watch = Watch { ask, logical_time, task: dependency.task.clone() };
            let workflow = dependency.workflow.clone();
            questions.push(Question { workflow, watch, on: dependency.on, told: None });
        }
        let asking = Asking { needs: dependent.needs, questions, next: now.mono };
        self.dependents.asking.insert(id, asking);
        self.timers.at(now.mono, Timer::AskHomes(id.run, id.number));
        Ok(())
    }

    /// The questions of a job are due to be repeated.
    pub(super) fn ask_homes_again(&mut self, now: Now, id: JobId, out: &mut Decision) {
        let held = self.is_held(id);
        let Some(asking) = self.dependents.asking.get_mut(&id) else { return };
        if !held {
            self.stop_asking(id, out);
        } else if asking.next <= now.mono {
            asking.next = now.mono.after(REPEAT);
            self.timers.at(asking.next, Timer::AskHomes(id.run, id.number));
            for question in &asking.questions {
                let watch = ToHome::Watch(question.watch.clone());
                out.messages.push(Message::ToHome(question.workflow.clone(), watch));
            }
        }
    }

    fn stop_asking(&mut self, id: JobId, out: &mut Decision) {
        let Some(asking) = self.dependents.asking.remove(&id) else { return };
        for Question { workflow, watch, .. } in asking.questions {
            let over = ToHome::Unwatch(watch.ask, watch.logical_time);
            out.messages.push(Message::ToHome(workflow, over));
        }
    }

    /// The home of a workflow says how a run stands.
    pub(super) fn home_says(&mut self, now: Now, message: FromHome, out: &mut Decision) {
        let FromHome::Told { ask, stamp, standing } = message;
        let held = self.is_held(ask.job);
        let Some(asking) = self.dependents.asking.get_mut(&ask.job) else { return };
        if !held {
            return self.stop_asking(ask.job, out);
        }
        // Who was asked in another life of the job, or before a load, forgets it by itself.
        let question = asking.questions.iter_mut().find(|question| question.watch.ask == ask);
        let Some(question) = question else { return };
        if question.told.is_some_and(|(known, _)| known >= stamp) {
            return;
        }
        question.told = Some((stamp, standing));
        if asking.is_met() {
            self.stop_asking(ask.job, out);
            self.with_run(now, ask.job.run, out, |shard, run, out| {
                shard.hold_over(now, run, ask.job.number, true, "the other run ended", out);
            });
        }
    }

    /// What a job waits for, and how it stands as far as it is known.
    pub(super) fn dependencies_of(&self, id: JobId) -> Vec<(Name, Wall, Option<Standing>)> {
        let Some(asking) = self.dependents.asking.get(&id) else { return Vec::new() };
        let open = asking.questions.iter().filter(|question| !question.is_met());
        let shown = |question: &Question| {
            let standing = question.told.map(|(_, standing)| standing);
            (question.workflow.clone(), question.watch.logical_time, standing)
        };
        open.map(shown).collect()
    }

    /// Whether a job waits without a slot.
    pub(super) fn is_held(&self, id: JobId) -> bool {
        let Some(run) = self.runs.get(&id.run) else { return false };
        let Some(place) = run.place(id.number) else { return false };
        let Phase::Open(jobs) = &run.tasks[place.task.position()].phase else { return false };
        jobs.begun.get(&place.item).is_some_and(|job| job.state == job::State::Held)
    }

    /// A run leaves memory, and with it what its jobs ask.
    pub(super) fn forget_questions(&mut self, run: RunId, out: &mut Decision) {
        if self.dependents.asking.is_empty() {
            return;
        }
        let first = JobId { run, number: JobNumber(0) };
        let last = JobId { run, number: JobNumber(u32::MAX) };
        let ids: Vec<_> = self.dependents.asking.range(first..=last).map(|(id, _)| *id).collect();
        for id in ids {
            self.stop_asking(id, out);
        }
    }
}

impl Asking {
    fn is_met(&self) -> bool {
        match self.needs {
            Match::All => self.questions.iter().all(Question::is_met),
            Match::Any => self.questions.iter().any(Question::is_met),
        }
    }
}

impl Question {
    fn is_met(&self) -> bool {
        self.told.is_some_and(|(_, standing)| standing.meets(self.on))
    }
}

pub(super) fn logical_time(
    run: &OpenRun,
    dependency: &Dependency,
    scope: &RunScope<'_>,
) -> Result<Wall, String> {
    match &dependency.logical_time {
        None => Ok(run.row.logical_time),
        Some(template) => super::payload::moment(template, scope),
    }
}

// --- the home of the other workflow -----------------------------------------------------------------

impl Shard {
    /// Somebody waits for a run of a workflow of which this is the home.
    pub(super) fn heard_watcher(&mut self, now: Now, workflow: &Name, watch: Watch, out: &mut Decision) {
        let key = (workflow.clone(), watch.logical_time);
        let watched = self.dependents.watched.entry(key.clone()).or_default();
        let Watch { ask, task, .. } = watch;
        watched.watchers.entry(ask).or_insert(Watcher { task, heard: now.mono, told: None }).heard = now.mono;
        // A repeated question is answered again: the answer may have been lost.
        if let Some(watcher) = watched.watchers.get_mut(&ask) {
            watcher.told = None;
        }
        if !self.dependents.checking {
            self.dependents.checking = true;
            self.timers.at(now.mono.after(REPEAT), Timer::CheckWatchers);
        }
        self.inquire(&key, false, out);
        self.tell(&key, out);
    }

    /// Somebody waits no longer.
    pub(super) fn unwatch(&mut self, workflow: &Name, ask: Ask, logical_time: Wall) {
        let key = (workflow.clone(), logical_time);
        let Some(watched) = self.dependents.watched.get_mut(&key) else { return };
        watched.watchers.remove(&ask);
        if watched.watchers.is_empty() {
            self.dependents.watched.remove(&key);
        }
    }

    /// Forgets who was not heard for long, and asks the store again what it has not answered.
    pub(super) fn check_watchers(&mut self, now: Now, out: &mut Decision) {
        self.dependents.checking = false;
        self.dependents.watched.retain(|_, watched| {
            watched.watchers.retain(|_, watcher| now.mono.since(watcher.heard) < FORGET);
            !watched.watchers.is_empty()
        });
        let keys: Vec<_> = self.dependents.watched.keys().cloned().collect();
        for key in &keys {
            self.inquire(key, true, out);
        }
        if !keys.is_empty() {
            self.dependents.checking = true;
            self.timers.at(now.mono.after(REPEAT), Timer::CheckWatchers);
        }
    }

    /// Asks the store what memory does not know; `again` also what it was asked before.
    fn inquire(&mut self, key: &(Name, Wall), again: bool, out: &mut Decision) {
        let Some(watched) = self.dependents.watched.get_mut(key) else { return };
        let tasks = watched.watchers.values().any(|watcher| watcher.task.is_some());
        let known = match &watched.newest {
            _ if !watched.sure => false,
            Some(Newest { end: Some(_), tasks: None, .. }) => !tasks,
            Some(_) | None => true,
        };
        if known {
            watched.inquiry = None;
            return;
        }
        match &watched.inquiry {
            Some(inquiry) if inquiry.tasks >= tasks => {
                if again {
                    out.messages.push(Message::Lookup(inquiry.clone()));
                }
            }
            Some(_) | None => {
                self.asks += 1;
                let stamp = Stamp { epoch: self.epoch, counter: self.asks };
                let (workflow, logical_time) = key.clone();
                let inquiry = Inquiry { stamp, workflow, logical_time, tasks };
                watched.inquiry = Some(inquiry.clone());
                out.messages.push(Message::Lookup(inquiry));
            }
        }
    }

    /// The store says which is the newest run. Everything decided before the inquiry was in it; what was decided
    /// since is in memory, and counts more.
    pub(super) fn found(
        &mut self,
        now: Now,
        inquiry: &Inquiry,
        stored: Option<Box<StoredRun>>,
        out: &mut Decision,
    ) {
        let key = (inquiry.workflow.clone(), inquiry.logical_time);
        let Some(watched) = self.dependents.watched.get_mut(&key) else { return };
        if watched.inquiry.as_ref() != Some(inquiry) {
            return;
        }
        if let Some(stored) = stored {
            let (run, state) = (stored.row.id, stored.row.state);
            let end = match state {
                run::State::Ended(end) => Some(end),
                run::State::Pending
                | run::State::Running
                | run::State::Pausing
                | run::State::Paused { .. }
                | run::State::Stopping => None,
            };
            let is_open = self.runs.contains_key(&run);
            match &mut watched.newest {
                Some(known) if known.run > run => {}
                Some(known) if known.run == run => {
                    if known.end.is_some() && known.end == end && inquiry.tasks && known.tasks.is_none() {
                        known.tasks = Some(ends_of_tasks(now, *stored));
                    }
                }
                _ if is_open => watched.newest = Some(Newest { run, end: None, tasks: None }),
                _ if end.is_some() => {
                    let tasks = inquiry.tasks.then(|| ends_of_tasks(now, *stored));
                    watched.newest = Some(Newest { run, end, tasks });
                }
                // Open in the store and not here: not a run of this shard. It will be asked again.
                _ => return,
            }
        }
        watched.sure = true;
        watched.inquiry = None;
        self.inquire(&key, false, out);
        self.tell(&key, out);
    }

    /// Something has changed in a run: who waits for it is told, if it is the newest of its logical time.
    pub(super) fn tell_watchers(&mut self, run: &OpenRun, out: &mut Decision) {
        if self.dependents.watched.is_empty() || !is_public(&run.row) {
            return;
        }
        let key = (run.row.workflow.clone(), run.row.logical_time);
        let Some(watched) = self.dependents.watched.get_mut(&key) else { return };
        if watched.newest.as_ref().is_some_and(|newest| newest.run > run.row.id) {
            return;
        }
        let end = match run.row.state {
            run::State::Ended(end) => Some(end),
            run::State::Pending
            | run::State::Running
            | run::State::Pausing
            | run::State::Paused { .. }
            | run::State::Stopping => None,
        };
        let any_task = watched.watchers.values().any(|watcher| watcher.task.is_some());
        let tasks = (end.is_some() && any_task).then(|| tasks_done(run));
        watched.newest = Some(Newest { run: run.row.id, end, tasks });
        if !watched.sure {
            return;
        }
        let shard_stamp = |asks: &mut u64, epoch| {
            *asks += 1;
            Stamp { epoch, counter: *asks }
        };
        for (ask, watcher) in &mut watched.watchers {
            let standing = standing_of(run, watcher.task.as_deref());
            if watcher.told != Some(standing) {
                watcher.told = Some(standing);
                let stamp = shard_stamp(&mut self.asks, self.epoch);
                let told = FromHome::Told { ask: *ask, stamp, standing };
                out.messages.push(Message::FromHome(key.0.clone(), told));
            }
        }
    }

    /// Tells everybody who waits for a run what they have not been told.
    fn tell(&mut self, key: &(Name, Wall), out: &mut Decision) {
        let Some(watched) = self.dependents.watched.get_mut(key).filter(|watched| watched.sure) else {
            return;
        };
        let open = watched.newest.as_ref().and_then(|newest| self.runs.get(&newest.run));
        for (ask, watcher) in &mut watched.watchers {
            let task = watcher.task.as_deref();
            let standing = match (&watched.newest, open) {
                (None, _) => Standing::NoRun,
                (Some(_), Some(run)) => standing_of(run, task),
                (Some(Newest { run, end: Some(end), tasks }), None) => match (task, tasks) {
                    (None, _) => Standing::Ended(*run, end_of(*end)),
                    (Some(task), Some(tasks)) => Standing::Ended(*run, task_end(tasks, task)),
                    // The store is being asked.
                    (Some(_), None) => continue,
                },
                // It is being changed right now, and whoever changes it tells.
                (Some(Newest { end: None, .. }), None) => continue,
            };
            if watcher.told != Some(standing) {
                watcher.told = Some(standing);
                self.asks += 1;
                let stamp = Stamp { epoch: self.epoch, counter: self.asks };
                let told = FromHome::Told { ask: *ask, stamp, standing };
                out.messages.push(Message::FromHome(key.0.clone(), told));
            }
        }
    }

    /// What must hold between any two inputs; for tests.
    pub(super) fn check_dependents(&self) {
        for ((workflow, time), watched) in &self.dependents.watched {
            assert!(!watched.watchers.is_empty(), "{workflow} at {time} is watched by nobody");
            assert!(watched.sure || watched.inquiry.is_some(), "{workflow} at {time}: nobody is asked");
            assert!(self.dependents.checking, "nobody will look after {workflow} at {time}");
            let Some(newest) = &watched.newest else { continue };
            assert_eq!(
                newest.end.is_none(),
                self.runs.contains_key(&newest.run),
                "{workflow} at {time}: {newest:?}"
            );
        }
        for (id, run) in &self.runs {
            for (index, task) in run.definition.tasks.iter().enumerate() {
                let (Work::Dependent(_), Phase::Open(jobs)) = (&task.work, &run.tasks[index].phase) else {
                    continue;
                };
                for (item, job) in &jobs.begun {
                    let id = JobId { run: *id, number: JobNumber(jobs.base.0 + item) };
                    let asks = self.dependents.asking.contains_key(&id);
                    assert!(job.state != job::State::Held || asks, "{id} waits for runs and asks nobody");
                }
            }
        }
    }
}

/// How a run in memory stands, or a task of it.
fn standing_of(run: &OpenRun, task: Option<&str>) -> Standing {
    let id = run.row.id;
    let ended = matches!(run.row.state, run::State::Ended(_));
    match (task, run.row.state) {
        (None, run::State::Ended(end)) => Standing::Ended(id, end_of(end)),
        (None, _) => Standing::Open(id),
        (Some(task), _) => match run.definition.task(task) {
            Some((index, _)) => match &run.tasks[index.position()].phase {
                Phase::Done(done) => Standing::Ended(id, done.end),
                Phase::Waiting | Phase::Open(_) if ended => Standing::Ended(id, job::End::Stopped),
                Phase::Waiting | Phase::Open(_) => Standing::Open(id),
            },
            None if ended => Standing::Ended(id, LEFT_OUT),
            None => Standing::Open(id),
        },
    }
}

/// How a task that a run does not have counts.
const LEFT_OUT: job::End = job::End::Skipped { by_failure: false };

fn task_end(tasks: &BTreeMap<TaskId, job::End>, task: &str) -> job::End {
    tasks.iter().find(|(id, _)| id.as_str() == task).map_or(LEFT_OUT, |(_, end)| *end)
}

fn end_of(end: run::End) -> job::End {
    match end {
        run::End::Success => job::End::Success,
        run::End::Failed => job::End::Failed,
        run::End::Stopped => job::End::Stopped,
    }
}

/// How each task of a run that is over ended; one of which nothing came was stopped with its run.
fn tasks_done(run: &OpenRun) -> BTreeMap<TaskId, job::End> {
    let end = |phase: &Phase| match phase {
        Phase::Done(done) => done.end,
        Phase::Waiting | Phase::Open(_) => job::End::Stopped,
    };
    let tasks = run.definition.tasks.iter().zip(&run.tasks);
    tasks.map(|(task, open)| (task.id.clone(), end(&open.phase))).collect()
}

/// How each task of a stored run that is over ended: as a shard that has nothing else would lay it out.
fn ends_of_tasks(now: Now, stored: StoredRun) -> BTreeMap<TaskId, job::End> {
    let mut aside = Shard::new(stored.row.id.shard(), Settings::default(), None);
    let run = aside.restore(now, stored, &mut Decision::default());
    tasks_done(&run)
}

/// The shard that a message of a home is for.
impl FromHome {
    /// Where the job lives that it is about.
    pub fn shard(&self) -> ShardId {
        let FromHome::Told { ask, .. } = self;
        ask.job.run.shard()
    }
}
