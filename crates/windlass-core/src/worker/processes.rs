//! Attempts start, run and end.

use std::sync::Arc;

use windlass_model::{AttemptId, Duration};

use super::input::{Decision, Effect, Entry, Exit, Signal};
use super::local::{self, End, Event, Refused, State, Why};
use super::timers::Timer;
use super::{Live, Worker};
use crate::attempt::StopReason;
use crate::shard::input::{Process, Report};
use crate::time::{Mono, Now};

/// What was fetched ahead and has still no slot after this is given back: the attempts before it are
/// longer than was thought, and another worker may be idle. Ten times what may wait.
const WAIT_MAX: Duration = Duration::from_secs(1);

impl Worker {
    /// Starts the best of what waits, as many as slots are free. What is out of touch with its owner stays,
    /// and delays nobody.
    pub(super) fn start_ready(&mut self, now: Now, out: &mut Decision) {
        let free = self.room.slots().saturating_sub(self.used) as usize;
        let may_start = |(_, attempt): &&(_, AttemptId)| {
            self.live.get(attempt).is_some_and(|live| self.in_touch(now, live))
        };
        let ready: Vec<_> =
            self.queue.iter().filter(may_start).map(|(_, attempt)| *attempt).take(free).collect();
        for attempt in ready {
            self.spawn(now, attempt, Event::Turn, out);
        }
    }

    /// Starts an attempt whose turn it is, or whose gang goes.
    pub(super) fn spawn(&mut self, now: Now, attempt: AttemptId, event: Event, out: &mut Decision) {
        if self.step(now, attempt, event).is_err() {
            return;
        }
        let Some(live) = self.live.get_mut(&attempt) else { return };
        live.since = now.mono;
        let assignment = Arc::clone(&live.assignment);
        self.arm(now, attempt);
        self.journal(attempt, Entry::Started, out);
        out.effects.push(Effect::Spawn(assignment));
    }

    /// A process runs. Nobody acknowledges this: the end says it too.
    pub(super) fn spawned(&mut self, attempt: AttemptId, out: &mut Decision) {
        let Some(live) = self.live.get_mut(&attempt) else { return };
        if let Ok(state) = local::transition(live.state, Event::Spawned) {
            live.state = state;
            self.say(self.settings.life.incarnation, attempt, Report::Started, out);
        }
    }

    /// A process could not be spawned.
    pub(super) fn spawn_failed(
        &mut self,
        now: Now,
        attempt: AttemptId,
        reason: Arc<str>,
        out: &mut Decision,
    ) {
        let exit = Exit { reason, ..Exit::default() };
        self.over(now, attempt, Event::SpawnFailed, exit, out);
    }

    /// A process ended by itself.
    pub(super) fn exited(&mut self, now: Now, attempt: AttemptId, exit: Exit, out: &mut Decision) {
        self.over(now, attempt, Event::Exited, exit, out);
    }

    /// A process was ended.
    pub(super) fn gone(
        &mut self,
        now: Now,
        attempt: AttemptId,
        process: Option<Arc<Process>>,
        out: &mut Decision,
    ) {
        self.over(now, attempt, Event::Gone, Exit { process, ..Exit::default() }, out);
    }

    fn over(&mut self, now: Now, attempt: AttemptId, event: Event, exit: Exit, out: &mut Decision) {
        if let Ok(State::Finished(end)) = self.step(now, attempt, event) {
            self.finish(now, attempt, end, exit, out);
        }
    }

    /// An attempt of this life is over.
    pub(super) fn finish(&mut self, now: Now, attempt: AttemptId, end: End, exit: Exit, out: &mut Decision) {
        let report = match end {
            End::Exited => {
                let Exit { success, reason, outputs, process } = exit;
                Report::Exited { success, reason, outputs, process }
            }
            End::Killed(why) => Report::Killed(why, exit.process),
            End::Lost => Report::Lost,
            End::Returned => Report::GivenBack,
        };
        self.record(now, attempt, report, true, out);
    }

    /// Makes a move, and keeps everything that is counted in step with it. What is over leaves.
    pub(super) fn step(&mut self, now: Now, attempt: AttemptId, event: Event) -> Result<State, Refused> {
        let Some(live) = self.live.get_mut(&attempt) else { return Err(Refused::Over) };
        let before = live.state;
        let after = local::transition(before, event)?;
        live.state = after;
        if before == State::Queued && after != State::Queued {
            self.queue.remove(&(live.assignment.order, attempt));
        }
        match (before.takes_slot(), after.takes_slot()) {
            (false, true) => self.used += 1,
            (true, false) => self.used = self.used.saturating_sub(1),
            (true, true) | (false, false) => {}
        }
        if let State::Finished(_) = after
            && let Some(live) = self.live.remove(&attempt)
        {
            self.timers.set(Timer::Attempt(attempt), live.due, None);
            self.room.release(&live.assignment.requirement);
            if before.has_started() {
                self.pace.took(now.mono.since(live.since));
            }
        }
        Ok(after)
    }

    /// Sets an attempt's timer to when something happens to it by itself.
    pub(super) fn arm(&mut self, now: Now, attempt: AttemptId) {
        let contact = self.contact(Worker::shard_of(attempt));
        let Some(live) = self.live.get(&attempt) else { return };
        let due = match live.state {
            State::Queued => Some(now.mono.after(WAIT_MAX)),
            State::Held => Some(self.hold_ends(live, contact)),
            State::Starting | State::Running => {
                [timeout_ends(live), orphan_ends(live, contact)].into_iter().flatten().min()
            }
            State::Ending { signal: Signal::Term, .. } => Some(now.mono.after(self.settings.kill_grace)),
            State::Ending { signal: Signal::Kill, .. } | State::Finished(_) => None,
        };
        let Some(live) = self.live.get_mut(&attempt) else { return };
        self.timers.set(Timer::Attempt(attempt), live.due, due);
        live.due = due;
    }

    /// An attempt's timer has fired. What it is about may have moved since it was set.
    pub(super) fn attempt_due(&mut self, now: Now, attempt: AttemptId, out: &mut Decision) {
        let contact = self.contact(Worker::shard_of(attempt));
        let Some(live) = self.live.get_mut(&attempt) else { return };
        live.due = None;
        let Some(live) = self.live.get(&attempt) else { return };
        let past = |when: Option<Mono>| when.filter(|when| *when <= now.mono);
        match live.state {
            State::Queued if self.used >= self.room.slots() => self.give_back(now, attempt, out),
            State::Held if self.hold_ends(live, contact) <= now.mono => self.give_back(now, attempt, out),
            State::Queued | State::Held => self.arm(now, attempt),
            State::Starting | State::Running => {
                match (past(timeout_ends(live)), past(orphan_ends(live, contact))) {
                    (None, None) => self.arm(now, attempt),
                    (Some(timeout), Some(orphan)) if orphan < timeout => {
                        self.stop(now, attempt, Why::Orphan, out);
                    }
                    (None, Some(_)) => self.stop(now, attempt, Why::Orphan, out),
                    (Some(_), Some(_) | None) => {
                        self.stop(now, attempt, Why::Stop(StopReason::Timeout), out);
                    }
                }
            }
            State::Ending { .. } => {
                if let Ok(State::Ending { signal, .. }) = self.step(now, attempt, Event::GraceOver) {
                    out.effects.push(Effect::Signal(attempt, signal));
                }
            }
            State::Finished(_) => {}
        }
    }

    /// When a hold is dropped unless its owner is in touch by then.
    fn hold_ends(&self, live: &Live, contact: Option<Mono>) -> Mono {
        contact.unwrap_or(live.since).max(live.since).after(self.settings.worker_timeout)
    }
}

fn timeout_ends(live: &Live) -> Option<Mono> {
    live.assignment.timeout.map(|timeout| live.since.after(timeout))
}

/// When it has run without contact for as long as it may. Counted from the last contact even if it started
/// later: its owner counts from there too.
fn orphan_ends(live: &Live, contact: Option<Mono>) -> Option<Mono> {
    live.assignment.orphan_timeout.map(|orphan| contact.unwrap_or(live.since).after(orphan))
}
