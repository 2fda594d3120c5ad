//! Gangs: tasks that start all together or not at all.
//!
//! ```text
//! Waiting ── a slot or permit for the first ──► Gathering ── all held ──► Going ── all started ──► Apart
//!    ▲                                              │ too long, one refuses or is lost │ one refuses or is lost
//!    └───────────────── all are back ────────── Releasing ◄────────────────────────────┘
//! ```
//!
//! A member that is over takes no part: it is not waited for, neither to be ready nor to be held. That go
//! was said, and that all have started, is stored in the run's row before anybody is told; a load that finds
//! open attempts without go takes them back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::{AttemptId, Duration, JobId, JobNumber, Name, RunId};
use windlass_workflow::Definition;
use windlass_workflow::definition::TaskIndex;

use super::Shard;
use super::dispatch::give_back;
use super::input::{Decision, JobPlace, Message, ToWorker, WorkerLife};
use super::open_run::{OpenRun, Phase};
use super::timers::Timer;
use super::why::Reason;
use crate::attempt::{self, StopReason};
use crate::job;
use crate::rows::{Change, GangRow, GangStage, JobRow};
use crate::time::{Mono, Now};

/// How often go is said again to who has not started.
const GO_AGAIN: Duration = Duration::from_secs(1);
/// How long a gang rests after it did not come together, at most; half of it the first time.
const REST_FIRST: Duration = Duration::from_secs(2);
/// And after many times in a row: seldom enough to leave slots and permits to others.
const REST_MAX: Duration = Duration::from_secs(60);
/// Why the jobs of a gang fail that lost one worker too many.
const TOO_MANY_LOSSES: &str = "its gang lost too many workers before all of it had started";

/// A gang of an open run.
#[derive(Debug)]
pub struct Gang {
    /// Its tasks. None has `foreach`, so each has one job.
    pub members: Vec<TaskIndex>,
    /// Where it is.
    pub stage: Stage,
    /// How many times in a row it did not come together.
    tries: u32,
    /// When its timer is due; one that fires before is an old one.
    due: Mono,
    /// What its members may do, as the queue has it.
    gate: Gate,
}

/// Where a gang is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not all of its members are ready, no slot was offered, or it rests.
    Waiting {
        /// It rests until then.
        until: Option<Mono>,
    },
    /// Its members are assigned one by one.
    Gathering {
        /// Those whose workers keep a slot.
        held: BTreeSet<TaskIndex>,
    },
    /// Go is stored. Some are not known to have started.
    Going,
    /// Its attempts are taken back, or ended where they have started.
    Releasing {
        /// Whether go may have been said.
        went: bool,
        /// How long it rests then.
        until: Option<Mono>,
    },
    /// All have started. Each is on its own.
    Apart,
}

/// What an attempt of a gang that has not started as a whole can have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Go was not said: it never ran, and never will.
    NotGone,
    /// Go may have been said: it may have started.
    Gone,
}

/// What the members of a gang may do that could start by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Ask their pool for a permit.
    pub ask: bool,
    /// Be assigned.
    pub start: bool,
}

impl Gate {
    /// For what is in no gang.
    pub const OPEN: Gate = Gate { ask: true, start: true };
    const SHUT: Gate = Gate { ask: false, start: false };
}

/// A member as its gang sees it.
#[derive(Clone, Copy)]
pub(super) enum Member {
    /// It takes no part.
    Over,
    /// It cannot start yet.
    NotReady,
    /// It could start, if it has the permit it needs.
    Ready { permitted: bool },
    /// It has an attempt.
    Tried(job::Attempt),
}

/// The gangs of a workflow, by name.
pub(super) fn gangs_of(definition: &Definition) -> BTreeMap<Name, Gang> {
    let mut gangs = BTreeMap::new();
    for (index, task) in definition.tasks.iter().enumerate() {
        let Some(name) = &task.gang else { continue };
        let gang = gangs.entry(name.clone()).or_insert_with(|| Gang {
            members: Vec::new(),
            stage: Stage::Waiting { until: None },
            tries: 0,
            due: Mono(0),
            gate: Gate::SHUT,
        });
        gang.members.push(TaskIndex(index as u32));
    }
    gangs
}

/// What a gang's members may do.
pub(super) fn gate(run: &OpenRun, gang: &Gang) -> Gate {
    let gathering = match &gang.stage {
        Stage::Apart => return Gate::OPEN,
        Stage::Going | Stage::Releasing { .. } | Stage::Waiting { until: Some(_) } => return Gate::SHUT,
        Stage::Waiting { until: None } => false,
        Stage::Gathering { .. } => true,
    };
    let mut start = true;
    for task in &gang.members {
        match member(run, *task) {
            Member::Over => {}
            Member::Ready { permitted } => start &= permitted,
            Member::Tried(_) if gathering => {}
            Member::NotReady | Member::Tried(_) => return Gate::SHUT,
        }
    }
    Gate { ask: true, start }
}

/// A task as its gang sees it.
pub(super) fn member(run: &OpenRun, task: TaskIndex) -> Member {
    let jobs = match &run.tasks[task.position()].phase {
        Phase::Waiting => return Member::NotReady,
        Phase::Done(_) => return Member::Over,
        Phase::Open(jobs) => jobs,
    };
    match jobs.begun.get(&0).map_or(job::State::Ready, |job| job.state) {
        job::State::Ready => {
            let pooled = run.definition.tasks[task.position()].pool.is_some();
            Member::Ready { permitted: !pooled || jobs.permitted() > 0 }
        }
        job::State::Running(attempt) => Member::Tried(attempt),
        job::State::Waiting | job::State::Backoff { .. } | job::State::Held => Member::NotReady,
        job::State::Ended(_) => Member::Over,
    }
}

impl OpenRun {
    /// The gang of a task that is in one.
    pub(super) fn gang(&self, task: TaskIndex) -> Option<(&Name, &Gang)> {
        let name = self.definition.tasks[task.position()].gang.as_ref()?;
        self.gangs.get_key_value(name)
    }

    /// What an attempt of this task can have done, if its gang has not started as a whole.
    pub(super) fn round(&self, task: TaskIndex) -> Option<Round> {
        match self.gang(task)?.1.stage {
            Stage::Gathering { .. } | Stage::Releasing { went: false, .. } => Some(Round::NotGone),
            Stage::Going | Stage::Releasing { went: true, .. } => Some(Round::Gone),
            Stage::Waiting { .. } | Stage::Apart => None,
        }
    }

    /// Whether an attempt of this task keeps its slot until its gang goes.
    pub(super) fn holds(&self, task: TaskIndex) -> bool {
        self.gang(task).is_some_and(|(_, gang)| gang.stage != Stage::Apart)
    }

    /// Whether what has not started of this task is the business of its gang.
    pub(super) fn gang_decides(&self, task: TaskIndex) -> bool {
        self.gang(task).is_some_and(|(_, gang)| matches!(gang.stage, Stage::Gathering { .. } | Stage::Going))
    }

    /// How many members of the gang of this task are with a worker, if they keep its slots.
    pub(super) fn members_with(&self, task: TaskIndex, life: WorkerLife) -> u32 {
        let Some((_, gang)) = self.gang(task).filter(|(_, gang)| gang.stage != Stage::Apart) else {
            return 0;
        };
        let with =
            |attempt: &job::Attempt| (attempt.worker, attempt.incarnation) == (life.worker, life.incarnation);
        self.attempts_of_gang(gang).iter().filter(|(_, attempt)| with(attempt)).count() as u32
    }

    fn gang_row(&mut self, name: &Name) -> &mut GangRow {
        self.changed = true;
        let place = self.row.gangs.iter().position(|row| row.gang == *name);
        let place = place.unwrap_or_else(|| {
            let row = GangRow { gang: name.clone(), stage: GangStage::Waiting, losses: 0 };
            self.row.gangs.push(row);
            self.row.gangs.len() - 1
        });
        &mut self.row.gangs[place]
    }

    fn attempts_of_gang(&self, gang: &Gang) -> Vec<(TaskIndex, job::Attempt)> {
        let tried = |task: &TaskIndex| match member(self, *task) {
            Member::Tried(attempt) => Some((*task, attempt)),
            Member::Over | Member::NotReady | Member::Ready { .. } => None,
        };
        gang.members.iter().filter_map(tried).collect()
    }
}

impl Shard {
    /// Puts the members of a gang into the queue, or takes them out.
    pub(super) fn requeue_gang(&mut self, run: &mut OpenRun, name: &Name) {
        let Some(gang) = run.gangs.get(name) else { return };
        let (gate, members) = (gate(run, gang), gang.members.clone());
        if let Some(gang) = run.gangs.get_mut(name) {
            gang.gate = gate;
        }
        for task in members {
            self.enqueue(run, task, gate);
        }
    }

    /// The same when only one member has changed, or none: the others are looked at only if that lets them in
    /// or keeps them out.
    pub(super) fn requeue_member(&mut self, run: &mut OpenRun, name: &Name, changed: Option<TaskIndex>) {
        let Some(gang) = run.gangs.get(name) else { return };
        let gate = gate(run, gang);
        if gate != gang.gate {
            self.requeue_gang(run, name);
        } else if let Some(task) = changed {
            self.enqueue(run, task, gate);
        }
    }

    /// A member was given a slot or a permit: from now on the gang has so long to come together.
    pub(super) fn gather(&mut self, now: Now, run: &mut OpenRun, task: TaskIndex) {
        let (id, patience) = (run.row.id, self.settings.gang_patience);
        let Some(name) = run.definition.tasks[task.position()].gang.clone() else { return };
        let Some(gang) = run.gangs.get_mut(&name) else { return };
        if let Stage::Waiting { .. } = gang.stage {
            gang.stage = Stage::Gathering { held: BTreeSet::new() };
            self.wake_gang(id, gang, now.mono.after(patience));
        }
    }

    /// A worker says that it keeps a slot for the current attempt of a member.
    pub(super) fn member_held(&mut self, now: Now, run: &mut OpenRun, task: TaskIndex, out: &mut Decision) {
        let Some(name) = run.definition.tasks[task.position()].gang.clone() else { return };
        let Some(gang) = run.gangs.get_mut(&name) else { return };
        if let Stage::Gathering { held } = &mut gang.stage {
            held.insert(task);
            self.look_at_gang(now, run, &name, out);
        }
    }

    /// Something happened to the attempt of a member, which was in `before`.
    pub(super) fn member_event(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        task: TaskIndex,
        before: attempt::State,
        event: attempt::Event,
        out: &mut Decision,
    ) {
        let Some(name) = run.definition.tasks[task.position()].gang.clone() else { return };
        let Some(gang) = run.gangs.get_mut(&name) else { return };
        let went = gang.stage == Stage::Going;
        if let Stage::Gathering { held } = &mut gang.stage {
            held.remove(&task);
        }
        // What was being stopped, or is over by its own policy, leaves the others alone.
        let leaves = matches!(before, attempt::State::Stopping { .. });
        let together = matches!(gang.stage, Stage::Gathering { .. } | Stage::Going);
        let releasing = matches!(gang.stage, Stage::Releasing { .. });
        let over = matches!(member(run, task), Member::Over);
        match event {
            attempt::Event::GivenBack if together && !leaves => {
                let until = self.rest(now, run, &name);
                self.release(now, run, &name, went, until, out);
            }
            attempt::Event::WorkerLost | attempt::Event::Died if together && !leaves && !over => {
                run.gang_row(&name).losses += 1;
                self.release(now, run, &name, went, None, out);
            }
            // Nobody told it to: the worker is wrong, or the one who told it is not the owner any more.
            attempt::Event::Started if together && !went => {
                self.release(now, run, &name, true, None, out);
            }
            attempt::Event::Started if releasing => self.end_member(now, run, task, out),
            attempt::Event::Started
            | attempt::Event::StopAsked(_)
            | attempt::Event::GivenBack
            | attempt::Event::NotYet
            | attempt::Event::Exited { .. }
            | attempt::Event::KilledBy(_)
            | attempt::Event::WorkerLost
            | attempt::Event::Died => {}
        }
        self.look_at_gang(now, run, &name, out);
    }

    /// A gang goes on as far as it can: what a change to one of its members calls for after each.
    pub(super) fn look_at_gang(&mut self, now: Now, run: &mut OpenRun, name: &Name, out: &mut Decision) {
        if run.loading {
            return;
        }
        let Some(gang) = run.gangs.get(name) else { return };
        let attempts = run.attempts_of_gang(gang);
        match &gang.stage {
            Stage::Gathering { held } => {
                let waits = |task: &TaskIndex| match member(run, *task) {
                    Member::Over => false,
                    Member::Tried(attempt) => {
                        attempt.state != attempt::State::Assigned || !held.contains(task)
                    }
                    Member::NotReady | Member::Ready { .. } => true,
                };
                if attempts.is_empty() && gang.members.iter().all(|task| !waits(task)) {
                    self.set_stage(run, name, Stage::Waiting { until: None });
                } else if self.dispatching && !gang.members.iter().any(waits) {
                    self.go(now, run, name, out);
                }
            }
            Stage::Going => {
                let unstarted =
                    |(_, attempt): &(_, job::Attempt)| super::reports::is_unstarted(attempt.state);
                if !attempts.iter().any(unstarted) {
                    run.gang_row(name).stage = GangStage::Started;
                    self.set_stage(run, name, Stage::Apart);
                }
            }
            Stage::Releasing { until, .. } if attempts.is_empty() => {
                let until = *until;
                self.all_back(now, run, name, until, out);
            }
            Stage::Releasing { .. } | Stage::Waiting { .. } | Stage::Apart => {}
        }
        self.requeue_member(run, name, None);
    }

    fn set_stage(&mut self, run: &mut OpenRun, name: &Name, stage: Stage) {
        if let Some(gang) = run.gangs.get_mut(name) {
            if stage == Stage::Apart {
                gang.tries = 0;
            }
            gang.stage = stage;
        }
    }

    /// All are held: each is told to start, once that is stored.
    fn go(&mut self, now: Now, run: &mut OpenRun, name: &Name, out: &mut Decision) {
        run.gang_row(name).stage = GangStage::Go;
        self.set_stage(run, name, Stage::Going);
        self.say_go(now, run, name, out);
    }

    /// Tells every member that has not started to start.
    pub(super) fn say_go(&mut self, now: Now, run: &mut OpenRun, name: &Name, out: &mut Decision) {
        let id = run.row.id;
        let Some(gang) = run.gangs.get(name) else { return };
        for (task, attempt) in run.attempts_of_gang(gang) {
            if attempt.state == attempt::State::Assigned {
                out.messages.push(order(id, task, attempt, ToWorker::Go));
            }
        }
        if let Some(gang) = run.gangs.get_mut(name) {
            self.wake_gang(id, gang, now.mono.after(GO_AGAIN));
        }
    }

    /// A gang did not come together: what is held is taken back, what has started is ended, permits go back.
    /// When all of that has happened it is tried again.
    pub(super) fn release(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        name: &Name,
        went: bool,
        until: Option<Mono>,
        out: &mut Decision,
    ) {
        let id = run.row.id;
        let definition = Arc::clone(&run.definition);
        let Some(gang) = run.gangs.get_mut(name) else { return };
        gang.stage = Stage::Releasing { went, until };
        let members = gang.members.clone();
        if went {
            run.gang_row(name).stage = GangStage::Waiting;
        }
        for task in members {
            match member(run, task) {
                Member::Tried(attempt) => match attempt.state {
                    attempt::State::Assigned => {
                        out.messages.push(order(id, task, attempt, ToWorker::Recall));
                    }
                    attempt::State::Running => self.end_member(now, run, task, out),
                    attempt::State::Stopping { .. } | attempt::State::Ended(_) => {}
                },
                Member::Ready { .. } => {
                    let Some(jobs) = run.jobs(task) else { continue };
                    for asked in std::mem::take(&mut jobs.asks).into_values() {
                        give_back(&definition.tasks[task.position()], Some(asked.ask), out);
                    }
                }
                Member::Over | Member::NotReady => {}
            }
        }
        self.look_at_gang(now, run, name, out);
    }

    /// Ends the attempt of a member that has started without the others.
    fn end_member(&mut self, now: Now, run: &mut OpenRun, task: TaskIndex, out: &mut Decision) {
        self.ask_to_stop(now, run, JobPlace { task, item: 0 }, StopReason::Gang, out);
    }

    /// Everything of a gang that did not come together is back.
    fn all_back(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        name: &Name,
        until: Option<Mono>,
        out: &mut Decision,
    ) {
        let id = run.row.id;
        let until = until.filter(|until| *until > now.mono);
        let Some(gang) = run.gangs.get_mut(name) else { return };
        gang.stage = Stage::Waiting { until };
        if let Some(until) = until {
            self.wake_gang(id, gang, until);
        }
        let members = gang.members.clone();
        let losses = run.row.gangs.iter().find(|row| row.gang == *name).map_or(0, |row| row.losses);
        let open = |task: &&TaskIndex| !matches!(member(run, **task), Member::Over);
        let cap = |task: &TaskIndex| run.definition.tasks[task.position()].on_worker_lost.max;
        if members.iter().filter(open).map(cap).min().is_some_and(|cap| losses > cap) {
            self.fail_members(now, run, name, &members, out);
        }
    }

    /// A gang that cannot be started fails with all of its members that have begun.
    fn fail_members(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        name: &Name,
        members: &[TaskIndex],
        out: &mut Decision,
    ) {
        let mut failed = Vec::new();
        for task in members {
            let id = JobId { run: run.row.id, number: JobNumber(task.0) };
            let Some(jobs) = run.jobs(*task) else { continue };
            jobs.begin(0);
            let job = jobs.begun.entry(0).or_insert(super::open_run::Job::new(job::State::Ready));
            let ready = match job.state {
                job::State::Backoff { .. } => job::transition(job.state, job::Event::BackoffOver),
                state => Ok(state),
            };
            let over = ready.and_then(|state| job::transition(state, job::Event::CannotBegin));
            let Ok(state) = over else { continue };
            job.state = state;
            out.changes.push(Change::Job(JobRow::new(id, state, TOO_MANY_LOSSES, now.wall)));
            failed.push(JobPlace { task: *task, item: 0 });
        }
        self.requeue_gang(run, name);
        for place in failed {
            self.job_ended(now, run, place, out);
        }
    }

    /// When a gang that did not come together is tried again: later each time, and not when others are
    /// that failed at the same moment. The spread follows from the ids, so that it is the same for everybody.
    fn rest(&mut self, now: Now, run: &mut OpenRun, name: &Name) -> Option<Mono> {
        let id = run.row.id;
        let gang = run.gangs.get_mut(name)?;
        gang.tries = gang.tries.saturating_add(1);
        let doubled = REST_FIRST.as_millis().saturating_mul(1 << (gang.tries - 1).min(20));
        let most = doubled.min(REST_MAX.as_millis());
        let seed = [id.to_u64(), u64::from(gang.members.first()?.0), u64::from(gang.tries)];
        let spread = seed.into_iter().fold(0, |mixed: u64, part| mix(mixed ^ part)) % (most / 2);
        Some(now.mono.after(Duration::from_millis(most / 2 + spread)))
    }

    fn wake_gang(&mut self, run: RunId, gang: &mut Gang, when: Mono) {
        gang.due = when;
        if let Some(first) = gang.members.first() {
            self.timers.at(when, Timer::Gang(run, *first));
        }
    }

    /// A gang's timer has fired.
    pub(super) fn gang_due(&mut self, now: Now, run: &mut OpenRun, first: TaskIndex, out: &mut Decision) {
        let Some(name) = run.definition.tasks[first.position()].gang.clone() else { return };
        let Some(gang) = run.gangs.get_mut(&name) else { return };
        if gang.due > now.mono {
            return;
        }
        match &mut gang.stage {
            Stage::Waiting { until } => {
                *until = None;
                self.requeue_gang(run, &name);
            }
            Stage::Gathering { .. } => {
                let until = self.rest(now, run, &name);
                self.release(now, run, &name, false, until, out);
            }
            Stage::Going => self.say_go(now, run, &name, out),
            Stage::Releasing { .. } | Stage::Apart => {}
        }
    }

    /// The run is being paused: what is held is taken back. A gang that was told to go starts.
    pub(super) fn pause_gangs(&mut self, now: Now, run: &mut OpenRun, out: &mut Decision) {
        let gathering = |gang: &Gang| matches!(gang.stage, Stage::Gathering { .. });
        let names: Vec<_> =
            run.gangs.iter().filter(|(_, gang)| gathering(gang)).map(|(name, _)| name.clone()).collect();
        for name in names {
            self.release(now, run, &name, false, None, out);
        }
    }

    /// Part of the run was opened again: gangs of which nothing runs start together again, as far as they
    /// are not over, and their losses are forgiven.
    pub(super) fn regroup(&mut self, run: &mut OpenRun) {
        let names: Vec<_> = run.gangs.keys().cloned().collect();
        for name in names {
            let Some(gang) = run.gangs.get(&name) else { continue };
            let idle = run.attempts_of_gang(gang).is_empty();
            let Some(stage) = run.row.gangs.iter().find(|row| row.gang == name).map(|row| row.stage) else {
                continue;
            };
            if !idle {
                continue;
            }
            if stage != GangStage::Waiting {
                self.set_stage(run, &name, Stage::Waiting { until: None });
            }
            *run.gang_row(&name) = GangRow { gang: name.clone(), stage: GangStage::Waiting, losses: 0 };
        }
    }

    /// The gangs of a run as its rows say they are. Open attempts without go are not to start: whoever held
    /// them together is gone.
    pub(super) fn resume_gangs(&mut self, now: Now, run: &mut OpenRun, out: &mut Decision) {
        let names: Vec<_> = run.gangs.keys().cloned().collect();
        for name in names {
            let stage = run.row.gangs.iter().find(|row| row.gang == name).map(|row| row.stage);
            match stage.unwrap_or(GangStage::Waiting) {
                GangStage::Started => self.set_stage(run, &name, Stage::Apart),
                GangStage::Go => {
                    self.set_stage(run, &name, Stage::Going);
                    self.say_go(now, run, &name, out);
                }
                GangStage::Waiting => {
                    let Some(gang) = run.gangs.get(&name) else { continue };
                    if !run.attempts_of_gang(gang).is_empty() {
                        // A start that failed after go leaves the same rows.
                        self.set_stage(run, &name, Stage::Releasing { went: stage.is_some(), until: None });
                        self.recall_all(run, &name, out);
                    }
                }
            }
            self.requeue_gang(run, &name);
        }
    }

    fn recall_all(&mut self, run: &OpenRun, name: &Name, out: &mut Decision) {
        let Some(gang) = run.gangs.get(name) else { return };
        let attempts = run.attempts_of_gang(gang).into_iter();
        let assigned = attempts.filter(|(_, attempt)| attempt.state == attempt::State::Assigned);
        out.messages
            .extend(assigned.map(|(task, attempt)| order(run.row.id, task, attempt, ToWorker::Recall)));
    }
}

/// What must hold of the gangs of a run; panics if it does not. For tests.
pub(super) fn check_gangs(run: &OpenRun, timers: &super::timers::Timers) {
    for (name, gang) in &run.gangs {
        let id = format!("{}: the gang {name}, {:?}", run.row.id, gang.stage);
        let row = run.row.gangs.iter().find(|row| row.gang == *name);
        let stored = row.map_or(GangStage::Waiting, |row| row.stage);
        let attempts = run.attempts_of_gang(gang);
        let running = attempts.iter().any(|(_, attempt)| attempt.state == attempt::State::Running);
        let unstarted = attempts.iter().any(|(_, attempt)| super::reports::is_unstarted(attempt.state));
        let (wanted, sleeps) = match &gang.stage {
            Stage::Waiting { until } => {
                assert!(attempts.is_empty(), "{id} has attempts");
                (GangStage::Waiting, until.is_none())
            }
            Stage::Gathering { held } => {
                let tried = |task: &TaskIndex| attempts.iter().any(|(other, _)| other == task);
                assert!(held.iter().all(tried), "{id} holds what was not assigned");
                assert!(!running, "{id} has started before go");
                (GangStage::Waiting, false)
            }
            Stage::Going => {
                assert!(unstarted, "{id} has started and is not apart");
                (GangStage::Go, false)
            }
            Stage::Releasing { .. } => {
                assert!(!attempts.is_empty() && !running, "{id} keeps running, or is back");
                (GangStage::Waiting, true)
            }
            Stage::Apart => (GangStage::Started, true),
        };
        assert_eq!(stored, wanted, "{id} as it is stored");
        let timer = gang.members.first().map(|first| Timer::Gang(run.row.id, *first));
        assert!(sleeps || timer.is_some_and(|timer| timers.has(gang.due, timer)), "{id} has no timer");
    }
}

/// What a member waits for because of its gang.
pub(super) fn why(run: &OpenRun, task: TaskIndex) -> Option<Reason> {
    let (name, gang) = run.gang(task)?;
    let until = match &gang.stage {
        Stage::Apart | Stage::Going => return None,
        Stage::Waiting { until } | Stage::Releasing { until, .. } => *until,
        Stage::Gathering { .. } => None,
    };
    let (mut of, mut ready, mut missing) = (0, 0, Vec::new());
    for task in &gang.members {
        match member(run, *task) {
            Member::Over => continue,
            Member::NotReady => missing.push(run.definition.tasks[task.position()].id.clone()),
            Member::Ready { .. } | Member::Tried(_) => ready += 1,
        }
        of += 1;
    }
    let held = match &gang.stage {
        Stage::Gathering { held } => held.len() as u32,
        Stage::Waiting { .. } | Stage::Going | Stage::Releasing { .. } | Stage::Apart => 0,
    };
    Some(Reason::Gang { gang: name.clone(), of, ready, held, missing, until })
}

/// An order about the attempt of a member.
fn order(
    run: RunId,
    task: TaskIndex,
    attempt: job::Attempt,
    order: impl FnOnce(AttemptId) -> ToWorker,
) -> Message {
    let life = WorkerLife { worker: attempt.worker, incarnation: attempt.incarnation };
    let id = AttemptId { job: JobId { run, number: JobNumber(task.0) }, fence: attempt.fence };
    Message::Worker(life, order(id))
}

/// Spreads the bits of a number (the finaliser of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
