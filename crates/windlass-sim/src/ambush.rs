//! Faults that wait for their moment.
//!
//! What goes wrong at any time mostly goes wrong when nothing depends on it. In most seeds something is lain in wait
//! for: when it happens, those who take part in it may be cut off, crash, stand still or be told to stop, and what they
//! just said may be late or be lost. Which of that, and how much at once, is drawn anew each time.

use windlass_core::attempt;
use windlass_core::durable::Batch;
use windlass_core::master::input::FlightId;
use windlass_core::rows::Change;

use crate::world::{Event, Node, World};

/// Something worth lying in wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A worker is given work.
    Assign,
    /// A process starts.
    Spawn,
    /// A commit is sent.
    Commit,
    /// A shard is claimed.
    Claim,
    /// A shard is released.
    Release,
    /// A lease is renewed.
    Renew,
    /// A caller is answered.
    Answer,
}

/// Every moment.
pub const MOMENTS: [Moment; 7] = [
    Moment::Assign,
    Moment::Spawn,
    Moment::Commit,
    Moment::Claim,
    Moment::Release,
    Moment::Renew,
    Moment::Answer,
];

/// Two ambushes are at least so far apart, in milliseconds: the cluster has to come to rest to be surprised.
const REST: u64 = 5_000;
/// How long somebody is out of touch: about as long as it takes to be given up.
const LONG: (u64, u64) = (2_500, 9_000);
/// How late something comes at most: when whoever was given up is back.
const LATEST: u64 = 14_000;

impl World {
    /// It is that moment, of this master and perhaps of this worker. How much later what they say arrives.
    pub fn ambush(&mut self, moment: Moment, master: Option<usize>, worker: Option<usize>) -> u64 {
        let Some((awaited, often)) = self.options.ambush else { return 0 };
        if self.quiet || moment != awaited || self.time < self.ambushed + REST || !self.random.chance(often) {
            return 0;
        }
        self.ambushed = self.time;
        let worker = worker.unwrap_or_else(|| self.random.below(self.workers.len()));
        let master = master.unwrap_or_else(|| self.random.below(self.masters.len()));
        // Two at once: more would only hide each other.
        for _ in 0..2 {
            self.spring(master, worker);
        }
        if self.random.chance(500) { self.random.between(1_000, LATEST) } else { 0 }
    }

    /// One of the things that can happen to those who take part.
    fn spring(&mut self, master: usize, worker: usize) {
        let soon = self.random.stretched(1, 300);
        let long = self.random.between(LONG.0, LONG.1);
        match self.random.below(9) {
            0 | 1 => {
                // Until it is given up, or until what it runs has ended by itself.
                let longest = if self.random.chance(500) { 9_000 } else { 20_000 };
                let long = self.random.between(4_500, longest);
                self.after(soon / 2, Event::Isolate(worker, long));
            }
            2 => self.after(soon, Event::Crash(Node::Worker(worker))),
            3 => self.after(soon, Event::Crash(Node::Master(master))),
            4 => {
                let node = if self.random.chance(700) { Node::Master(master) } else { Node::Worker(worker) };
                self.after(soon, Event::Freeze(node, long));
            }
            5 => {
                let long = self.random.between(LONG.0, LATEST);
                self.stall(master, long);
            }
            6 => self.after(soon, Event::Interfere),
            // One that is told to stop now, or later whoever has taken over by then.
            7 => self.after(soon, Event::StopMaster(master)),
            _ => {
                let other = self.random.below(self.masters.len());
                self.after(long, Event::StopMaster(other));
            }
        }
    }

    /// The worker that a commit gives work to, if there is one.
    pub fn assigned_to(&self, batches: &[Batch]) -> Option<usize> {
        let changes = batches.iter().flat_map(|batch| &batch.changes);
        let assigned = changes.filter_map(|change| match change {
            Change::Attempt(row) if row.state == attempt::State::Assigned => Some(row.worker),
            _ => None,
        });
        assigned.max().and_then(|worker| self.worker_of(worker))
    }

    /// The same for a commit, which may also fail.
    pub fn ambush_commit(&mut self, master: usize, life: u64, flight: FlightId, batches: &[Batch]) -> u64 {
        let before = self.ambushed;
        let worker = self.assigned_to(batches);
        let late = self.ambush(Moment::Commit, Some(master), worker);
        if self.ambushed != before && self.random.chance(600) {
            let unknown = self.random.chance(500);
            self.store.doomed.insert((master, life, flight.lane, flight.number), unknown);
            return late / 8;
        }
        late
    }
}
