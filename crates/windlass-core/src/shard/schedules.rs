//! Schedules and the ledger of what became of every due time.
//!
//! ```text
//!            cursor          now
//!   decided ───┤ due  due  due ├── not due yet
//!              missed missed ▲
//!                            the newest: late or in time
//! ```
//!
//! Invariant: the cursor only moves forward, and it moves in the same commit as the rows that say what
//! became of the due times it passes. So a clock that steps back fires nothing twice, and no due time is
//! passed over in silence.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use windlass_model::policy::{Catchup, Overlap};
use windlass_model::{Duration, Name};
use windlass_workflow::Definition;
use windlass_workflow::cron::CalendarRule;
use windlass_workflow::definition::Schedule;

use super::create::new_row;
use super::input::{Answer, CallId, Decision, Expected, Message, PutWorkflow, Refusal};
use super::open_run::OpenRun;
use super::scope::RunScope;
use super::timers::Timer;
use super::{Shard, payload};
use crate::durable::Origin;
use crate::rows::{Change, Firing, FiringRow, ScheduleRow, SkipCause, Trigger, WorkflowRow};
use crate::time::{Now, Wall};

/// A firing decided later than this was missed.
const LATE: Duration = Duration::from_secs(60);
/// Due times looked at in one decision; a schedule that slept for years is caught up in steps, between
/// which others have their turn.
const MOST_DUES: usize = 10_000;
/// How long a schedule that has more to decide waits for others to have their turn.
const TURN: Duration = Duration::from_millis(1);
/// Runs created in one decision.
const MOST_RUNS: usize = 100;

/// A stored workflow in its home.
#[derive(Debug)]
pub struct Stored {
    pub(super) row: WorkflowRow,
    pub(super) definition: Arc<Definition>,
    pub(super) pinned: Arc<BTreeMap<Name, Arc<Definition>>>,
    schedules: BTreeMap<Arc<str>, ScheduleState>,
}

impl Stored {
    /// What its runs are runs of.
    pub(super) fn origin(&self) -> Arc<Origin> {
        Arc::new(Origin { inline: None, pinned: (*self.row.pinned).clone() })
    }

    /// Where `@every` of a schedule starts to count.
    pub(super) fn anchor(&self, schedule: &Schedule) -> Option<Wall> {
        self.schedules.get(&*schedule.identity()).map(|state| state.row.anchor)
    }
}

/// What is stored of a workflow, with the definitions it needs.
#[derive(Clone, Debug)]
pub struct StoredWorkflow {
    /// The workflow.
    pub row: WorkflowRow,
    /// Its current version.
    pub definition: Arc<Definition>,
    /// The workflows it may call.
    pub pinned: Arc<BTreeMap<Name, Arc<Definition>>>,
    /// Its schedules, each with the newest row of its ledger.
    pub schedules: Vec<(ScheduleRow, Option<FiringRow>)>,
}

/// A schedule as far as it is decided.
#[derive(Debug)]
struct ScheduleState {
    row: ScheduleRow,
    /// The newest row of its ledger, if further skips may join it.
    last_skip: Option<FiringRow>,
}

impl Shard {
    /// Stores a version of a workflow. Schedules that it has in common with the version before go on where
    /// they were; new ones begin now, and so do those whose rule is another: what was due by the old rule is decided
    /// by the old version first, and nothing is due by the new one before it was there.
    pub(super) fn put_workflow(&mut self, now: Now, call: CallId, put: PutWorkflow, out: &mut Decision) {
        let name = put.definition.name.clone();
        let current = self.stored_version(&name);
        // What is stored already need not be expected: it may be this very call, whose answer was lost.
        let expects_other = put.expected.is_some_and(|expected| !expected.holds(current));
        if expects_other && current != Some(put.version) {
            out.messages.push(Message::Answer(call, Answer::Refused(Refusal::Changed(current))));
            return;
        }
        let changed = self.changed_rules(&put.definition);
        for identity in &changed {
            while self.is_due(now, &name, identity) {
                self.fire(now, &name, identity, out);
            }
        }
        let home = self.homes.entry(name.clone()).or_default();
        let before = home.stored.take();
        let enabled = before.as_ref().is_none_or(|before| before.row.enabled);
        let PutWorkflow { by, version, versions, definition, pinned, expected: _ } = put;
        let row = WorkflowRow { name: name.clone(), version, pinned: versions, enabled, by, at: now.wall };
        let last_version = before.as_ref().map(|before| Arc::clone(&before.definition));
        let mut known = before.map_or_else(BTreeMap::new, |before| before.schedules);
        let mut schedules = BTreeMap::new();
        for schedule in &definition.schedules {
            let identity: Arc<str> = schedule.identity().into();
            let begins = changed.contains(&identity);
            let mut state = known.remove(&identity).unwrap_or_else(|| {
                let row = ScheduleRow {
                    workflow: name.clone(),
                    schedule: Arc::clone(&identity),
                    anchor: now.wall,
                    cursor: now.wall,
                    paused: false,
                };
                out.changes.push(Change::Schedule(row.clone()));
                ScheduleState { row, last_skip: None }
            });
            if begins {
                state.row.cursor = state.row.cursor.max(now.wall);
                state.last_skip = None;
                out.changes.push(Change::Schedule(state.row.clone()));
            }
            schedules.insert(identity, state);
        }
        out.changes.extend(known.into_keys().map(|gone| Change::ScheduleGone(name.clone(), gone)));
        out.changes.push(Change::Workflow(row.clone()));
        let identities: Vec<_> = schedules.keys().cloned().collect();
        home.stored = Some(Stored { row, definition: Arc::clone(&definition), pinned, schedules });
        self.listen(now, last_version.as_deref(), &definition);
        for identity in identities {
            self.fire(now, &name, &identity, out);
        }
        out.messages.push(Message::Answer(call, Answer::Done));
    }

    /// The schedules that a version has in common with the one before, but with another rule.
    fn changed_rules(&self, definition: &Definition) -> Vec<Arc<str>> {
        let before = self.homes.get(&definition.name).and_then(|home| home.stored.as_ref());
        let Some(before) = before else { return Vec::new() };
        let changed = |schedule: &&Schedule| {
            let same = before.definition.schedules.iter().find(|one| one.identity() == schedule.identity());
            same.is_some_and(|same| (&same.rule, &same.zone) != (&schedule.rule, &schedule.zone))
        };
        definition.schedules.iter().filter(changed).map(|schedule| schedule.identity().into()).collect()
    }

    /// Whether something of a schedule is due and not decided.
    fn is_due(&self, now: Now, workflow: &Name, identity: &Arc<str>) -> bool {
        let Some(stored) = self.homes.get(workflow).and_then(|home| home.stored.as_ref()) else {
            return false;
        };
        let schedule = stored.definition.schedules.iter().find(|one| *one.identity() == **identity);
        let next = schedule.zip(stored.schedules.get(identity));
        next.and_then(|(schedule, state)| next_due(schedule, &state.row)).is_some_and(|due| due <= now.wall)
    }

    /// The version of a workflow that new runs get.
    fn stored_version(&self, name: &Name) -> Option<u32> {
        let stored = self.homes.get(name).and_then(|home| home.stored.as_ref());
        stored.map(|stored| stored.row.version)
    }

    /// Whether a workflow is stored and disabled.
    pub(super) fn is_disabled(&self, name: &Name) -> bool {
        let stored = self.homes.get(name).and_then(|home| home.stored.as_ref());
        stored.is_some_and(|stored| !stored.row.enabled)
    }

    /// A stored workflow after a load: what fell due meanwhile is decided now.
    pub(super) fn restore_workflow(&mut self, now: Now, loaded: StoredWorkflow, out: &mut Decision) {
        let name = loaded.row.name.clone();
        let state = |(row, last): (ScheduleRow, Option<FiringRow>)| {
            let last_skip = last.filter(|last| matches!(last.outcome, Firing::Skipped(_)));
            (Arc::clone(&row.schedule), ScheduleState { row, last_skip })
        };
        let schedules: BTreeMap<_, _> = loaded.schedules.into_iter().map(state).collect();
        let identities: Vec<_> = schedules.keys().cloned().collect();
        let StoredWorkflow { row, definition, pinned, .. } = loaded;
        let stored = Stored { row, definition: Arc::clone(&definition), pinned, schedules };
        self.homes.entry(name.clone()).or_default().stored = Some(stored);
        self.listen(now, None, &definition);
        for identity in identities {
            self.fire(now, &name, &identity, out);
        }
    }

    /// Enables or disables a workflow: a disabled one gets no new runs from its schedules.
    pub(super) fn enable_workflow(
        &mut self,
        now: Now,
        call: CallId,
        name: &Name,
        by: Arc<str>,
        enabled: bool,
        out: &mut Decision,
    ) {
        let stored = self.homes.get_mut(name).and_then(|home| home.stored.as_mut());
        let answer = match stored {
            Some(stored) => {
                (stored.row.enabled, stored.row.by, stored.row.at) = (enabled, by, now.wall);
                out.changes.push(Change::Workflow(stored.row.clone()));
                self.wake_backfills(name);
                Answer::Done
            }
            None => Answer::Refused(Refusal::NoSuchWorkflow),
        };
        out.messages.push(Message::Answer(call, answer));
    }

    /// Deletes a workflow of which nothing is open: it gets no new runs, from nobody. Its versions stay, for the runs
    /// that it had.
    pub(super) fn delete_workflow(
        &mut self,
        now: Now,
        call: CallId,
        name: &Name,
        expected: Option<Expected>,
        out: &mut Decision,
    ) {
        let current = self.stored_version(name);
        let answer = if current.is_some() && expected.is_some_and(|expected| !expected.holds(current)) {
            Answer::Refused(Refusal::Changed(current))
        } else if let open @ 1.. = self.open_runs_of(name) {
            Answer::Refused(Refusal::RunsOpen(open))
        } else if self.has_open_backfill(name) {
            Answer::Refused(Refusal::BackfillOpen)
        } else {
            match self.homes.get_mut(name).and_then(|home| home.stored.take()) {
                Some(stored) => {
                    let gone = |schedule| Change::ScheduleGone(name.clone(), schedule);
                    out.changes.extend(stored.schedules.into_keys().map(gone));
                    out.changes.push(Change::WorkflowGone(name.clone()));
                    self.listen_no_more(now, &stored.definition);
                    Answer::Done
                }
                None => Answer::Refused(Refusal::NoSuchWorkflow),
            }
        };
        out.messages.push(Message::Answer(call, answer));
    }

    /// Pauses or resumes a schedule: what falls due meanwhile is skipped, with a row that says so.
    pub(super) fn pause_schedule(
        &mut self,
        call: CallId,
        name: &Name,
        schedule: &str,
        paused: bool,
        out: &mut Decision,
    ) {
        let stored = self.homes.get_mut(name).and_then(|home| home.stored.as_mut());
        let answer = match stored.and_then(|stored| stored.schedules.get_mut(schedule)) {
            Some(state) => {
                state.row.paused = paused;
                out.changes.push(Change::Schedule(state.row.clone()));
                Answer::Done
            }
            None => Answer::Refused(Refusal::NoSuchWorkflow),
        };
        out.messages.push(Message::Answer(call, answer));
    }

    /// Decides every due time of a schedule up to now, and asks to be woken for the next.
    pub(super) fn fire(&mut self, now: Now, workflow: &Name, identity: &Arc<str>, out: &mut Decision) {
        // Its runs need the rest of the shard, so what is stored of it is taken out meanwhile.
        let Some(mut stored) = self.homes.get_mut(workflow).and_then(|home| home.stored.take()) else {
            return;
        };
        let definition = Arc::clone(&stored.definition);
        let schedule = definition.schedules.iter().find(|schedule| *schedule.identity() == **identity);
        if let (Some(schedule), Some(state)) = (schedule, stored.schedules.get_mut(identity)) {
            let template = RunTemplate {
                definition: &definition,
                version: stored.row.version,
                pinned: &stored.pinned,
                versions: &stored.row.pinned,
                enabled: stored.row.enabled,
            };
            self.decide_dues(now, &template, schedule, state, out);
        }
        self.homes.entry(workflow.clone()).or_default().stored = Some(stored);
    }

    fn decide_dues(
        &mut self,
        now: Now,
        template: &RunTemplate<'_>,
        schedule: &Schedule,
        state: &mut ScheduleState,
        out: &mut Decision,
    ) {
        let timer = Timer::Fire(state.row.workflow.clone(), Arc::clone(&state.row.schedule));
        let mut dues = dues(schedule, &state.row, now.wall);
        let more = dues.len() > MOST_DUES;
        dues.truncate(MOST_DUES);
        let mut created = 0;
        for (index, due) in dues.iter().enumerate() {
            if created == MOST_RUNS {
                break;
            }
            let later_due = more || index + 1 < dues.len();
            let missed = later_due || now.wall.0.saturating_sub(due.0) > LATE.as_millis() as i64;
            let skip = self.skip_cause(template, schedule, state, *due, missed, later_due);
            match skip {
                Some(cause) => {
                    // Of consecutive skips for one cause, the first is told.
                    if state.skip(*due, cause, now.wall, out) {
                        let reason = format!("a firing was skipped: {}", cause.as_str());
                        self.alert_skip(now, template.definition, *due, &reason, out);
                    }
                }
                None => {
                    self.run_for(now, template, schedule, state, *due, out);
                    created += 1;
                }
            }
            state.row.cursor = *due;
        }
        if !dues.is_empty() {
            out.changes.push(Change::Schedule(state.row.clone()));
        }
        if more || created == MOST_RUNS {
            self.timers.at(now.mono.after(TURN), timer);
        } else if let Some(next) = next_due(schedule, &state.row) {
            self.timers.at_wall(next, timer);
        }
    }

    /// Why a due time becomes no run; `None` if it does.
    fn skip_cause(
        &self,
        template: &RunTemplate<'_>,
        schedule: &Schedule,
        state: &ScheduleState,
        due: Wall,
        missed: bool,
        later_due: bool,
    ) -> Option<SkipCause> {
        let wanted = match (missed, schedule.catchup) {
            (false, _) | (true, Catchup::All) => true,
            (true, Catchup::Latest) => !later_due,
            (true, Catchup::None) => false,
        };
        let open = self
            .homes
            .get(&state.row.workflow)
            .is_some_and(|home| !home.active.is_empty() || !home.pending.is_empty());
        if !template.enabled {
            Some(SkipCause::Disabled)
        } else if state.row.paused {
            Some(SkipCause::Paused)
        } else if !self.calendars_allow(schedule, due) {
            Some(SkipCause::Calendar)
        } else if !wanted {
            Some(SkipCause::Missed)
        } else if open && schedule.overlap == Overlap::Skip {
            Some(SkipCause::Overlap)
        } else {
            None
        }
    }

    /// The next due time of a schedule, and what would keep it back if it were due now.
    pub fn next_firing(&self, workflow: &Name, schedule: &str) -> Option<(Wall, Option<SkipCause>)> {
        let stored = self.homes.get(workflow)?.stored.as_ref()?;
        let state = stored.schedules.get(schedule)?;
        let schedule = stored.definition.schedules.iter().find(|one| *one.identity() == *schedule)?;
        let template = RunTemplate {
            definition: &stored.definition,
            version: stored.row.version,
            pinned: &stored.pinned,
            versions: &stored.row.pinned,
            enabled: stored.row.enabled,
        };
        let due = next_due(schedule, &state.row)?;
        Some((due, self.skip_cause(&template, schedule, state, due, false, false)))
    }

    /// Whether the calendars of a schedule allow a day. One that is not known allows nothing: running on a
    /// holiday because a name is misspelt would be the worse surprise.
    pub(super) fn calendars_allow(&self, schedule: &Schedule, due: Wall) -> bool {
        let find =
            |names: &[Name]| names.iter().map(|name| self.calendars.get(name)).collect::<Option<Vec<_>>>();
        let (Some(exclude), Some(require)) =
            (find(&schedule.calendar.exclude), find(&schedule.calendar.require))
        else {
            return false;
        };
        CalendarRule { exclude, require }.allows_firing(&schedule.zone.zone, moment(due))
    }

    /// A due time becomes a run.
    fn run_for(
        &mut self,
        now: Now,
        template: &RunTemplate<'_>,
        schedule: &Schedule,
        state: &mut ScheduleState,
        due: Wall,
        out: &mut Decision,
    ) {
        let Some(id) = self.ids.next_id(now.wall.0) else { return };
        out.changes.push(Change::LastRun(id));
        let origin = Origin { inline: None, pinned: template.versions.clone() };
        out.origins.insert(id, Arc::new(origin));
        let by = "schedule".into();
        let trigger = Trigger::Schedule(Arc::clone(&state.row.schedule), due);
        let mut row = new_row(id, template.definition, now.wall, by, trigger);
        row.version = Some(template.version);
        row.priority = schedule.priority.unwrap_or(row.priority);
        row.logical_time = due;
        row.serial = matches!(schedule.overlap, Overlap::Queue | Overlap::CancelRunning);
        row.run_at = (!schedule.jitter.is_zero()).then(|| due.after(spread(schedule.jitter, id.to_u64())));
        if schedule.overlap == Overlap::CancelRunning
            && let Some(home) = self.homes.get(&state.row.workflow)
        {
            self.to_stop.extend(home.active.iter().chain(&home.pending));
        }
        let mut run = OpenRun::new(row, Arc::clone(template.definition), Arc::clone(template.pinned));
        let bound = payload::values(&schedule.params, &RunScope { run: &run, item: None })
            .and_then(|given| run.bind(&given));
        if let Err(problem) = bound {
            run.fail_at_once(now.wall, problem);
        }
        self.add(now, run, out);
        state.last_skip = None;
        let (workflow, schedule) = (state.row.workflow.clone(), Arc::clone(&state.row.schedule));
        let outcome = Firing::Ran(id);
        out.changes.push(Change::Firing(FiringRow {
            workflow,
            schedule,
            first_due: due,
            last_due: due,
            count: 1,
            outcome,
            at: now.wall,
        }));
    }
}

/// What the runs of a schedule are made of.
struct RunTemplate<'a> {
    definition: &'a Arc<Definition>,
    version: u32,
    pinned: &'a Arc<BTreeMap<Name, Arc<Definition>>>,
    versions: &'a BTreeMap<Name, u32>,
    enabled: bool,
}

impl ScheduleState {
    /// Records a skip, in the row of the skip before it if the cause is the same; whether it is the first.
    fn skip(&mut self, due: Wall, cause: SkipCause, at: Wall, out: &mut Decision) -> bool {
        let outcome = Firing::Skipped(cause);
        let row = match self.last_skip.take() {
            Some(row) if row.outcome == outcome => {
                FiringRow { last_due: due, count: row.count + 1, at, ..row }
            }
            Some(_) | None => FiringRow {
                workflow: self.row.workflow.clone(),
                schedule: Arc::clone(&self.row.schedule),
                first_due: due,
                last_due: due,
                count: 1,
                outcome,
                at,
            },
        };
        // Of several skips in one decision, only the row as it is in the end need be stored.
        if let Some(Change::Firing(last)) = out.changes.last_mut()
            && (&last.workflow, &last.schedule, last.first_due)
                == (&row.workflow, &row.schedule, row.first_due)
        {
            *last = row.clone();
        } else {
            out.changes.push(Change::Firing(row.clone()));
        }
        let is_first = row.count == 1;
        self.last_skip = Some(row);
        is_first
    }
}

/// The due times after the cursor up to now, oldest first; one more than are decided at once if there are.
fn dues(schedule: &Schedule, row: &ScheduleRow, now: Wall) -> Vec<Wall> {
    schedule
        .rule
        .upcoming(&schedule.zone.zone, moment(row.anchor), after(schedule, row))
        .take_while(|due| due.as_millisecond() <= now.0 && schedule.end.is_none_or(|end| *due < end))
        .take(MOST_DUES + 1)
        .map(|due| Wall(due.as_millisecond()))
        .collect()
}

/// The first due time after the cursor.
fn next_due(schedule: &Schedule, row: &ScheduleRow) -> Option<Wall> {
    let due = schedule.rule.next_after(&schedule.zone.zone, moment(row.anchor), after(schedule, row))?;
    schedule.end.is_none_or(|end| due < end).then(|| Wall(due.as_millisecond()))
}

/// From where the next due time is sought: the cursor, or just before the start.
fn after(schedule: &Schedule, row: &ScheduleRow) -> Timestamp {
    let second = jiff::SignedDuration::from_secs(1);
    let before_start = schedule.start.and_then(|start| start.checked_sub(second).ok());
    before_start.map_or(moment(row.cursor), |start| start.max(moment(row.cursor)))
}

pub(super) fn moment(wall: Wall) -> Timestamp {
    Timestamp::from_millisecond(wall.0).unwrap_or(if wall.0 < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

/// A share of the jitter that looks random and is the same whenever it is asked for.
fn spread(jitter: Duration, seed: u64) -> Duration {
    let mixed = (seed ^ (seed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Duration::from_millis((mixed >> 16) % (jitter.as_millis() + 1))
}
