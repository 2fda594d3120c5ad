//! The worker machine: everything that is decided about the attempts of one worker.
//!
//! ```text
//! inputs ──► handle(now, input) ──► journal (to be durable) ──► effects (to be done then)
//! ```
//!
//! It is the authority on its slots: masters say what they have, it grants free slots to the best of
//! them, and an attempt comes in on a grant. It refuses who speaks with old authority or to another
//! process life, starts nothing while out of touch with an attempt's owner, and keeps what became of each
//! attempt until a master has stored it.
//!
//! If the journal cannot be written, memory is ahead of what is durable: the shell ends the process, and
//! the next life starts from what the journal has.

mod contact;
mod drain;
mod frames;
mod grants;
pub mod input;
mod invariants;
mod lives;
pub mod local;
mod orders;
mod pace;
mod processes;
mod results;
mod room;
mod timers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::{AttemptId, ShardId};

use crate::durable::Revision;
use crate::order::OrderKey;
use crate::shard::input::Assignment;
use crate::time::{Mono, Now};
use crate::wire::Overload;

use contact::Owner;
use grants::Grants;
use input::{Decision, Input, Record, Settings, Wants};
use pace::Pace;
use results::Unsettled;
use room::Room;
use timers::Timers;

/// The attempts of one worker, and all that is decided about them.
#[derive(Debug)]
pub struct Worker {
    settings: Settings,
    /// Who owns each shard, as far as this life has heard.
    owners: BTreeMap<ShardId, Owner>,
    /// Taken and not over.
    live: BTreeMap<AttemptId, Live>,
    /// Those of them that wait for their turn, the best first.
    queue: BTreeSet<(OrderKey, AttemptId)>,
    /// How many of them keep a slot busy.
    used: u32,
    /// Over, and not known to be stored.
    results: BTreeMap<AttemptId, Unsettled>,
    /// Attempts that were ended here before they came, and until when they may still come.
    barred: BTreeMap<AttemptId, Mono>,
    room: Room,
    grants: Grants,
    pace: Pace,
    timers: Timers,
    next_heartbeat: Mono,
    last_heartbeat: Option<Mono>,
    drain: Drain,
    /// What masters said last about taking nothing new, and as of when.
    drain_told: (Revision, bool),
    overload: Option<Overload>,
}

/// An attempt that was taken and is not over.
#[derive(Debug)]
struct Live {
    assignment: Arc<Assignment>,
    state: local::State,
    /// When it was taken, or spawned once it was.
    since: Mono,
    /// When something happens to it by itself, at the earliest.
    due: Option<Mono>,
}

/// Whether a worker is leaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drain {
    No,
    /// It takes nothing new until it is told otherwise, and stays.
    Told,
    Finishing,
    Done,
}

impl Worker {
    /// A new process life, which begins with what the journal has of the lives before. The shell begins
    /// one only when nothing that an earlier life started runs any more.
    pub fn start(
        now: Now,
        settings: Settings,
        journal: impl IntoIterator<Item = Record>,
        out: &mut Decision,
    ) -> Worker {
        let mut worker = Worker {
            owners: BTreeMap::new(),
            live: BTreeMap::new(),
            queue: BTreeSet::new(),
            used: 0,
            results: BTreeMap::new(),
            barred: BTreeMap::new(),
            room: Room::of(&settings.capability),
            grants: Grants::default(),
            pace: Pace::default(),
            timers: Timers::default(),
            next_heartbeat: now.mono,
            last_heartbeat: None,
            drain: Drain::No,
            drain_told: (Revision::NONE, false),
            overload: None,
            settings,
        };
        worker.take_over(now, journal, out);
        worker.follow_up(now, out);
        worker
    }

    /// Decides what follows from an input, at the end of `out`. Same state, time and input: same
    /// decision, on every machine.
    pub fn handle(&mut self, now: Now, input: Input, out: &mut Decision) {
        match input {
            Input::Frame(frame) => self.frame(now, frame, out),
            Input::Spawned(attempt) => self.spawned(attempt, out),
            Input::SpawnFailed(attempt, reason) => self.spawn_failed(now, attempt, reason, out),
            Input::Exited(attempt, exit) => self.exited(now, attempt, exit, out),
            Input::Gone(attempt, process) => self.gone(now, attempt, process, out),
            Input::Drain => self.begin_drain(now, out),
            Input::Resume => self.end_drain(now, out),
            Input::Load(overload) => self.loaded(now, overload),
            Input::MasterGone(owner) => self.master_gone(owner),
            Input::Woken => {}
        }
        self.follow_up(now, out);
    }

    /// Does what the input and the time have made due: timers, then starts, then what is given back or
    /// granted because of them.
    fn follow_up(&mut self, now: Now, out: &mut Decision) {
        self.fire_timers(now, out);
        self.expire_grants(now);
        self.start_ready(now, out);
        self.keep_to_prefetch(now, out);
        self.grant(now, out);
        self.beat(now, out);
        self.say_if_drained(now, out);
    }

    /// What the worker would have its shell know.
    pub fn wants(&self) -> Wants {
        let times = [self.timers.next(), self.grants.next(), Some(self.next_heartbeat)];
        Wants { wake_at: times.into_iter().flatten().min() }
    }

    /// Whether attempts wait here for a slot: nothing stands still while what is said takes a moment longer.
    pub fn has_waiting(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Which process life this is.
    pub fn incarnation(&self) -> windlass_model::Incarnation {
        self.settings.life.incarnation
    }

    /// How many attempts are taken and not over, and how many results are not known to be stored.
    pub fn open(&self) -> (usize, usize) {
        (self.live.len(), self.results.len())
    }

    /// Whether it remembers nothing but who owns what.
    pub fn is_idle(&self) -> bool {
        self.live.is_empty()
            && self.results.is_empty()
            && self.barred.is_empty()
            && self.grants.is_empty()
            && self.timers.next().is_none()
    }

    fn shard_of(attempt: AttemptId) -> ShardId {
        attempt.job.run.shard()
    }
}
