//! Campaigns over past firings of a workflow.
//!
//! ```text
//! plan: times ──► │ done │ done │ open │ open │ to come …
//!                               └ parallel ──┘▲ cursor
//! ```
//!
//! The plan is made once and stored. The cursor moves in the same commit as the run that it passes, so no
//! logical time is run twice or left out, whoever owns the shard; how many runs are open is counted from the runs.
//!
//! ```text
//! home of a   a a a ── done, one commit with an errand ──► home of b   b b b ──► …
//! ```
//!
//! A campaign over several workflows is a chain of these, in an order in which each comes after what it needs. The
//! next begins when every run of the one before has succeeded; it is told through the outbox, and known by its key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::{Duration, Name, Priority, RunId};
use windlass_workflow::definition::{Dependency, Schedule, Work};

use super::Shard;
use super::create::new_row;
use super::dependents::logical_time;
use super::input::{Answer, CallId, Decision, Message, Refusal, ToHome};
use super::open_run::OpenRun;
use super::payload;
use super::schedules::{Stored, moment};
use super::scope::RunScope;
use super::timers::Timer;
use crate::rows::{
    BackfillId, BackfillRow, BackfillState, Chain, Change, Errand, Key, NextStage, OutboxId, RunRow, Stage,
    Trigger, Values,
};
use crate::run;
use crate::time::{Now, Wall};

/// The most runs of one campaign: its times are one row.
pub const MOST_TIMES: usize = 100_000;
/// The most times of a dependant for which an expression says what they need.
const MOST_WORKED_OUT: usize = 10_000;
/// Runs created in one decision.
const MOST_RUNS: usize = 100;
/// How long a campaign that has more to create waits for others to have their turn.
const TURN: Duration = Duration::from_millis(1);

/// A wanted campaign.
#[derive(Clone, Debug)]
pub struct StartBackfill {
    /// What makes the call unique.
    pub key: Key,
    /// Digest of what it asks for.
    pub body: u64,
    /// The campaign that the key belongs to as far as the caller has read, also if it is over: the shard remembers only
    /// those that are not.
    pub known: Option<BackfillRow>,
    /// Which past firings.
    pub range: Range,
    /// How many runs may be open at once; at least one is.
    pub parallel: u32,
    /// What the runs are given, over what their schedules say.
    pub params: Arc<Values>,
    /// How urgent the runs are, if not as the workflow says.
    pub priority: Option<Priority>,
    /// What is done with other workflows afterwards, in this order.
    pub then: Vec<Stage>,
}

/// Past firings of a workflow.
#[derive(Clone, Debug)]
pub struct Range {
    /// The workflow.
    pub workflow: Name,
    /// The first due time.
    pub from: Wall,
    /// The last due time.
    pub to: Wall,
    /// Whether only times without a successful run are meant.
    pub missing_only: bool,
    /// The logical times of the range that have a successful run, read by the caller.
    pub succeeded: BTreeMap<Wall, RunId>,
    /// Workflows of the same campaign that this one needs: their logical times, and whether each gets a run. With some,
    /// only times are meant that need one of theirs.
    pub upstream: BTreeMap<Name, BTreeMap<Wall, bool>>,
}

/// One logical time of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// The time.
    pub logical_time: Wall,
    /// The run that it has: a successful one, or one that is open.
    pub exists: Option<RunId>,
    /// Whether it gets a run.
    pub wanted: bool,
}

/// What can be done with a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackfillCommand {
    /// It creates no more runs; those it has go on.
    Pause,
    /// It goes on.
    Resume,
    /// It creates no more runs, and those it has are stopped.
    Stop,
}

/// Campaigns that are not over.
#[derive(Debug, Default)]
pub(super) struct Backfills {
    open: BTreeMap<BackfillId, Open>,
    /// Those that may create runs, or be over.
    due: BTreeSet<BackfillId>,
}

#[derive(Debug)]
struct Open {
    row: BackfillRow,
    /// Its runs that are not over.
    runs: BTreeSet<RunId>,
}

impl Shard {
    /// What a campaign would do; changes nothing.
    pub fn plan(&self, range: &Range) -> Result<Vec<PlannedRun>, Refusal> {
        let home = self.homes.get(&range.workflow);
        let stored = home.and_then(|home| home.stored.as_ref()).ok_or(Refusal::NoSuchWorkflow)?;
        let mut times: BTreeSet<Wall> = BTreeSet::new();
        for schedule in &stored.definition.schedules {
            let anchor = stored.anchor(schedule).unwrap_or(range.from);
            for (index, due) in past_dues(schedule, anchor, range.from, range.to).enumerate() {
                // Also those that a calendar forbids have to be looked at.
                if index >= MOST_TIMES || times.len() >= MOST_TIMES {
                    return Err(Refusal::TooManyFirings(MOST_TIMES));
                }
                if self.calendars_allow(schedule, due) {
                    times.insert(due);
                }
            }
        }
        let again = match range.upstream.is_empty() {
            true => None,
            false => Some(self.needing(stored, times.clone(), &range.upstream)?),
        };
        if let Some(again) = &again {
            times = again.keys().copied().collect();
        }
        let mut existing = range.succeeded.clone();
        for id in home.into_iter().flat_map(|home| home.active.iter().chain(&home.pending)) {
            if let Some(run) = self.runs.get(id) {
                existing.insert(run.row.logical_time, *id);
            }
        }
        let planned = |logical_time: Wall| {
            let exists = existing.get(&logical_time).copied();
            // What needs a run that is done again is done again.
            let again = again.as_ref().is_some_and(|again| again.get(&logical_time) == Some(&true));
            PlannedRun { logical_time, exists, wanted: !range.missing_only || exists.is_none() || again }
        };
        Ok(times.into_iter().map(planned).collect())
    }

    /// The logical times of a workflow that need one of these, and whether that gets a run.
    fn needing(
        &self,
        stored: &Stored,
        scheduled: BTreeSet<Wall>,
        upstream: &BTreeMap<Name, BTreeMap<Wall, bool>>,
    ) -> Result<BTreeMap<Wall, bool>, Refusal> {
        let definition = &stored.definition;
        let mut found: BTreeMap<Wall, bool> = BTreeMap::new();
        let mut needs = |time: Wall, again: bool| *found.entry(time).or_default() |= again;
        for trigger in &definition.triggers {
            for (time, again) in upstream.get(&trigger.after).into_iter().flatten() {
                needs(*time, *again);
            }
        }
        // One without a schedule is run by hand, for the times of what it needs.
        let candidates = match definition.schedules.is_empty() {
            true => upstream.values().flat_map(BTreeMap::keys).copied().collect(),
            false => scheduled,
        };
        let dependencies = definition.tasks.iter().filter_map(|task| match &task.work {
            Work::Dependent(dependent) => Some(&dependent.on),
            _ => None,
        });
        for dependency in dependencies.flatten() {
            let Some(theirs) = upstream.get(&dependency.workflow) else { continue };
            if dependency.logical_time.is_some() && candidates.len() > MOST_WORKED_OUT {
                return Err(Refusal::TooManyFirings(MOST_WORKED_OUT));
            }
            for time in &candidates {
                let needed = match dependency.logical_time {
                    None => Some(*time),
                    Some(_) => needed_time(stored, dependency, *time),
                };
                if let Some(again) = needed.and_then(|needed| theirs.get(&needed)) {
                    needs(*time, *again);
                }
            }
        }
        if found.len() > MOST_TIMES {
            return Err(Refusal::TooManyFirings(MOST_TIMES));
        }
        Ok(found)
    }

    /// Starts a campaign, or finds the one that the same call started before.
    pub(super) fn start_backfill(
        &mut self,
        now: Now,
        call: CallId,
        wanted: StartBackfill,
        out: &mut Decision,
    ) {
        let open = self.backfills.open.values().map(|open| &open.row).find(|row| row.key == wanted.key);
        let answer = match open.or(wanted.known.as_ref().filter(|row| row.key == wanted.key)) {
            Some(row) if row.body == wanted.body => Answer::Backfill(row.id, row.times.len() as u32),
            Some(_) => Answer::Refused(Refusal::KeyReused),
            None => self.new_backfill(now, wanted, out).unwrap_or_else(Answer::Refused),
        };
        out.messages.push(Message::Answer(call, answer));
    }

    fn new_backfill(
        &mut self,
        now: Now,
        wanted: StartBackfill,
        out: &mut Decision,
    ) -> Result<Answer, Refusal> {
        if self.is_disabled(&wanted.range.workflow) {
            return Err(Refusal::Disabled);
        }
        let plan = self.plan(&wanted.range)?;
        let times: Arc<[Wall]> =
            plan.iter().filter(|planned| planned.wanted).map(|planned| planned.logical_time).collect();
        if times.is_empty() && wanted.then.iter().all(|stage| stage.times.is_empty()) {
            return Err(Refusal::NothingToRun);
        }
        let all = times.len() + wanted.then.iter().map(|stage| stage.times.len()).sum::<usize>();
        if all > MOST_TIMES {
            return Err(Refusal::TooManyFirings(MOST_TIMES));
        }
        let id = BackfillId(self.ids.next_id(now.wall.0).ok_or(Refusal::NoIds)?);
        out.changes.push(Change::LastRun(id.0));
        let row = BackfillRow {
            id,
            workflow: wanted.range.workflow,
            key: wanted.key,
            body: wanted.body,
            times,
            chain: Arc::new(Chain { root: None, then: wanted.then }),
            cursor: 0,
            parallel: wanted.parallel.max(1),
            params: wanted.params,
            priority: wanted.priority,
            succeeded: 0,
            failed: 0,
            state: BackfillState::Running,
            created_at: now.wall,
            finished_at: None,
        };
        let answer = Answer::Backfill(id, row.times.len() as u32);
        out.changes.push(Change::Backfill(row.clone()));
        self.backfills.open.insert(id, Open { row, runs: BTreeSet::new() });
        self.backfills.due.insert(id);
        Ok(answer)
    }

    /// The stage of a campaign before this one is done: it begins. One whose workflow is gone is stopped at once.
    pub(super) fn next_stage(&mut self, now: Now, id: OutboxId, next: &NextStage, out: &mut Decision) {
        let workflow = &next.stage.workflow;
        if self.take_in(workflow, &next.source, id, out)
            && let Some(run) = self.ids.next_id(now.wall.0)
        {
            out.changes.push(Change::LastRun(run));
            let gone = self.homes.get(workflow).is_none_or(|home| home.stored.is_none());
            let id = BackfillId(run);
            let row = BackfillRow {
                id,
                workflow: workflow.clone(),
                key: Chain::key(next.root, &next.by, workflow),
                body: 0,
                times: Arc::clone(&next.stage.times),
                chain: Arc::new(Chain { root: Some(next.root), then: next.then.clone() }),
                cursor: 0,
                parallel: next.parallel,
                params: Arc::default(),
                priority: next.priority,
                succeeded: 0,
                failed: 0,
                state: if gone { BackfillState::Stopped } else { BackfillState::Running },
                created_at: now.wall,
                finished_at: gone.then_some(now.wall),
            };
            out.changes.push(Change::Backfill(row.clone()));
            if !gone {
                self.backfills.open.insert(id, Open { row, runs: BTreeSet::new() });
                self.backfills.due.insert(id);
            }
        }
        let taken = ToHome::Taken { listener: workflow.clone(), id };
        out.messages.push(Message::ToHome(next.source.clone(), taken));
    }

    /// Does what somebody wants with a campaign. Doing it twice is harmless.
    pub(super) fn control_backfill(
        &mut self,
        call: CallId,
        id: BackfillId,
        command: BackfillCommand,
        out: &mut Decision,
    ) {
        let answer = match self.backfills.open.get_mut(&id) {
            None => Answer::Refused(Refusal::NoSuchBackfill),
            Some(open) => {
                let before = open.row.state;
                open.row.state = match (before, command) {
                    (BackfillState::Running, BackfillCommand::Pause) => BackfillState::Paused,
                    (BackfillState::Paused, BackfillCommand::Resume) => BackfillState::Running,
                    (BackfillState::Running | BackfillState::Paused, BackfillCommand::Stop) => {
                        self.to_stop.extend(&open.runs);
                        BackfillState::Stopping
                    }
                    (state, _) => state,
                };
                if open.row.state != before {
                    out.changes.push(Change::Backfill(open.row.clone()));
                    self.backfills.due.insert(id);
                }
                Answer::Done
            }
        };
        out.messages.push(Message::Answer(call, answer));
    }

    /// Whether a campaign of a workflow has something left to do.
    pub(super) fn has_open_backfill(&self, workflow: &Name) -> bool {
        self.backfills.open.values().any(|open| open.row.workflow == *workflow)
    }

    /// Campaigns as they are stored. Which of their runs are open is known already.
    pub(super) fn restore_backfills(&mut self, rows: Vec<BackfillRow>) {
        for row in rows.into_iter().filter(|row| !row.state.is_over()) {
            let of = |run: &&OpenRun| run.row.trigger == Trigger::Backfill(row.id);
            let runs: BTreeSet<RunId> =
                self.runs.values().map(|run| &**run).filter(of).map(|run| run.row.id).collect();
            if row.state == BackfillState::Stopping {
                self.to_stop.extend(&runs);
            }
            self.backfills.due.insert(row.id);
            self.backfills.open.insert(row.id, Open { row, runs });
        }
    }

    /// The next campaign that has something to do does it; `false` if none has.
    pub(super) fn step_backfills(&mut self, now: Now, out: &mut Decision) -> bool {
        let Some(id) = self.backfills.due.pop_first() else { return false };
        let mut created = 0;
        while let Some(time) = self.next_time(id)
            && self.backfill_run(now, id, time, out)
        {
            created += 1;
            if created == MOST_RUNS {
                // Others have their turn, also if its runs end as soon as they begin.
                self.backfills.due.remove(&id);
                self.timers.at(now.mono.after(TURN), Timer::Backfill(id));
                break;
            }
        }
        let Some(open) = self.backfills.open.get_mut(&id) else { return true };
        if open.runs.is_empty() {
            let all = open.row.cursor as usize == open.row.times.len();
            open.row.state = match open.row.state {
                BackfillState::Stopping => BackfillState::Stopped,
                BackfillState::Running | BackfillState::Paused if all => BackfillState::Done,
                state => state,
            };
        }
        if open.row.state.is_over() {
            open.row.finished_at = Some(now.wall);
            out.changes.push(Change::Backfill(open.row.clone()));
            let row = open.row.clone();
            self.backfills.open.remove(&id);
            self.backfills.due.remove(&id);
            self.begin_next(now, &row, out);
        } else if created > 0 {
            out.changes.push(Change::Backfill(open.row.clone()));
        }
        true
    }

    /// A stage of a campaign is over: the next begins if every run has succeeded.
    fn begin_next(&mut self, now: Now, row: &BackfillRow, out: &mut Decision) {
        let Some((stage, then)) = row.chain.then.split_first() else { return };
        if row.state != BackfillState::Done || row.failed > 0 {
            return;
        }
        let next = NextStage {
            source: row.workflow.clone(),
            root: row.chain.root.unwrap_or(row.id),
            by: Arc::clone(&row.key.principal),
            parallel: row.parallel,
            priority: row.priority,
            stage: stage.clone(),
            then: then.to_vec(),
        };
        self.post(now, Errand::Stage(Arc::new(next)), out);
    }

    /// The logical time of the run that a campaign may create now.
    fn next_time(&self, id: BackfillId) -> Option<Wall> {
        let open = self.backfills.open.get(&id)?;
        let room = open.runs.len() < open.row.parallel as usize;
        let next = open.row.times.get(open.row.cursor as usize).copied();
        next.filter(|_| room && open.row.state == BackfillState::Running)
    }

    /// A campaign that had more to do than one decision allows goes on.
    pub(super) fn backfill_due(&mut self, id: BackfillId) {
        self.backfills.due.insert(id);
    }

    /// Creates the run of one logical time; `false` if the workflow takes none now. One whose parameters do
    /// not fit fails at once, and counts.
    fn backfill_run(&mut self, now: Now, id: BackfillId, time: Wall, out: &mut Decision) -> bool {
        let Some(open) = self.backfills.open.get_mut(&id) else { return false };
        let stored = self.homes.get(&open.row.workflow).and_then(|home| home.stored.as_ref());
        let Some(stored) = stored.filter(|stored| stored.row.enabled) else { return false };
        let Some(run_id) = self.ids.next_id(now.wall.0) else { return false };
        out.changes.push(Change::LastRun(run_id));
        out.origins.insert(run_id, stored.origin());
        let by = Arc::clone(&open.row.key.principal);
        let mut row = new_row(run_id, &stored.definition, now.wall, by, Trigger::Backfill(id));
        let schedule = stored.definition.schedules.iter().find(|schedule| {
            let anchor = stored.anchor(schedule).unwrap_or(time);
            past_dues(schedule, anchor, time, time).next().is_some()
        });
        row.version = Some(stored.row.version);
        row.logical_time = time;
        row.priority =
            open.row.priority.or(schedule.and_then(|schedule| schedule.priority)).unwrap_or(row.priority);
        let mut run = OpenRun::new(row, Arc::clone(&stored.definition), Arc::clone(&stored.pinned));
        let of_schedule = schedule.map_or(&[][..], |schedule| &schedule.params[..]);
        let given = payload::values(of_schedule, &RunScope { run: &run, item: None });
        let bound = given.and_then(|mut given| {
            given.extend(open.row.params.iter().map(|(name, value)| (Arc::clone(name), value.clone())));
            run.bind(&given)
        });
        if let Err(problem) = bound {
            run.fail_at_once(now.wall, problem);
        }
        // Before it is added, because it may end on the spot.
        open.runs.insert(run_id);
        open.row.cursor += 1;
        self.add(now, run, out);
        true
    }

    /// A run of a campaign has ended.
    pub(super) fn backfill_ended(&mut self, run: &OpenRun, end: run::End, out: &mut Decision) {
        let Trigger::Backfill(id) = run.row.trigger else { return };
        let Some(open) = self.backfills.open.get_mut(&id) else { return };
        if !open.runs.remove(&run.row.id) {
            return;
        }
        match end {
            run::End::Success => open.row.succeeded += 1,
            run::End::Failed | run::End::Stopped => open.row.failed += 1,
        }
        out.changes.push(Change::Backfill(open.row.clone()));
        self.backfills.due.insert(id);
    }

    /// Whether what somebody read of a run that is over can be true. If it has ended otherwise since, its campaign has
    /// counted that.
    pub(super) fn backfill_knows(&self, row: &RunRow) -> bool {
        let Trigger::Backfill(id) = row.trigger else { return true };
        let Some(open) = self.backfills.open.get(&id) else { return true };
        match row.state {
            run::State::Ended(run::End::Success) => open.row.succeeded > 0,
            run::State::Ended(run::End::Failed | run::End::Stopped) => open.row.failed > 0,
            run::State::Pending
            | run::State::Running
            | run::State::Pausing
            | run::State::Paused { .. }
            | run::State::Stopping => true,
        }
    }

    /// A run of a campaign is open again: it takes its place, and its end will be counted anew.
    pub(super) fn backfill_reopened(&mut self, run: &OpenRun, before: run::End, out: &mut Decision) {
        let Trigger::Backfill(id) = run.row.trigger else { return };
        let Some(open) = self.backfills.open.get_mut(&id) else { return };
        if !open.runs.insert(run.row.id) {
            return;
        }
        match before {
            run::End::Success => open.row.succeeded = open.row.succeeded.saturating_sub(1),
            run::End::Failed | run::End::Stopped => open.row.failed = open.row.failed.saturating_sub(1),
        }
        out.changes.push(Change::Backfill(open.row.clone()));
    }

    /// A workflow was enabled: its campaigns go on.
    pub(super) fn wake_backfills(&mut self, workflow: &Name) {
        let own = self.backfills.open.values().filter(|open| open.row.workflow == *workflow);
        self.backfills.due.extend(own.map(|open| open.row.id));
    }

    /// What must hold between any two inputs; for tests.
    pub(super) fn check_backfills(&self) {
        assert!(self.backfills.due.is_empty(), "campaigns were left to do");
        for (id, open) in &self.backfills.open {
            let counted = u64::from(open.row.succeeded) + u64::from(open.row.failed);
            assert_eq!(
                u64::from(open.row.cursor),
                counted + open.runs.len() as u64,
                "{id:?}: every logical time up to the cursor has one run"
            );
            assert!(!open.row.state.is_over(), "{id:?} is over and still in memory");
            for run in &open.runs {
                let run = self.runs.get(run).unwrap_or_else(|| panic!("{id:?} counts a run that is over"));
                assert_eq!(run.row.trigger, Trigger::Backfill(*id));
            }
        }
        for run in self.runs.values() {
            if let Trigger::Backfill(id) = run.row.trigger
                && let Some(open) = self.backfills.open.get(&id)
            {
                assert!(open.runs.contains(&run.row.id), "{id:?} does not count {}", run.row.id);
            }
        }
    }
}

/// The logical time that a dependency of a run about this time names; `None` if that cannot be worked out.
fn needed_time(stored: &Stored, dependency: &Dependency, time: Wall) -> Option<Wall> {
    let id = RunId::from_u64(0)?;
    let mut row = new_row(id, &stored.definition, time, "plan".into(), Trigger::Call);
    row.logical_time = time;
    let mut run = OpenRun::new(row, Arc::clone(&stored.definition), Arc::clone(&stored.pinned));
    run.bind(&Values::new()).ok()?;
    logical_time(&run, dependency, &RunScope { run: &run, item: None }).ok()
}

/// The due times of a schedule in a range, both ends included.
fn past_dues(schedule: &Schedule, anchor: Wall, from: Wall, to: Wall) -> impl Iterator<Item = Wall> {
    let start = schedule.start.map_or(from, |start| from.max(Wall(start.as_millisecond())));
    // Due times are whole seconds.
    let before = moment(Wall(start.0.saturating_sub(1)));
    schedule
        .rule
        .upcoming(&schedule.zone.zone, moment(anchor), before)
        .take_while(move |due| due.as_millisecond() <= to.0 && schedule.end.is_none_or(|end| *due < end))
        .map(|due| Wall(due.as_millisecond()))
}
