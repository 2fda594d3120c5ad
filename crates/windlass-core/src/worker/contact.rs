//! Who owns each shard, and when it was last in touch.

use std::sync::Arc;

use windlass_model::{AttemptId, Duration, Epoch, ShardId};

use super::input::{Decision, Effect};
use super::{Drain, Live, Worker};
use crate::time::{Mono, Now};
use crate::wire::{FromWorker, Overload, Refusal, Round, Status};

/// Heartbeats that are sent because somebody's word is waited for are no more frequent than this.
const HURRIED: Duration = Duration::from_millis(50);

/// The owner of a shard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    /// The highest epoch seen.
    pub epoch: Epoch,
    /// And the latest round in it.
    pub round: Round,
    /// When the newest heartbeat was sent that an owner has answered. An answer to an earlier owner
    /// counts: a later one gives a worker at least as long before it counts it lost.
    pub contact: Option<Mono>,
}

impl Worker {
    /// Whether who names this epoch may speak for the shard. A higher one raises it.
    pub(super) fn admit(&mut self, shard: ShardId, epoch: Epoch) -> Result<(), Refusal> {
        let owner = self.owners.entry(shard).or_insert(Owner { epoch, round: Round(0), contact: None });
        if epoch < owner.epoch {
            return Err(Refusal::StaleEpoch { current: owner.epoch });
        }
        if epoch > owner.epoch {
            (owner.epoch, owner.round) = (epoch, Round(0));
        }
        Ok(())
    }

    /// The same for who gives orders in a round.
    pub(super) fn admit_orders(&mut self, shard: ShardId, epoch: Epoch, round: Round) -> Result<(), Refusal> {
        self.admit(shard, epoch)?;
        let Some(owner) = self.owners.get_mut(&shard) else { return Ok(()) };
        if round < owner.round {
            return Err(Refusal::StaleRound);
        }
        owner.round = round;
        Ok(())
    }

    /// The owner of shards has answered the heartbeat that was sent then.
    pub(super) fn heard(&mut self, now: Now, sent: Mono, shards: &[(ShardId, Epoch)], out: &mut Decision) {
        if sent > now.mono {
            return;
        }
        for (shard, epoch) in shards {
            match self.admit(*shard, *epoch) {
                Ok(()) => {
                    if let Some(owner) = self.owners.get_mut(shard) {
                        owner.contact = owner.contact.max(Some(sent));
                    }
                }
                Err(why) => self.refuse(Some((*shard, *epoch)), why, out),
            }
        }
    }

    /// When the owner of the shard was last in touch.
    pub(super) fn contact(&self, shard: ShardId) -> Option<Mono> {
        self.owners.get(&shard).and_then(|owner| owner.contact)
    }

    /// Whether an attempt may start, as far as contact goes. One that may not run alone for as long as
    /// the worker may be silent must not start late in that time: it would outlive its `orphan_timeout`.
    pub(super) fn in_touch(&self, now: Now, live: &Live) -> bool {
        let shard = Worker::shard_of(live.assignment.attempt);
        let limit = match live.assignment.orphan_timeout {
            Some(orphan) => orphan.min(self.settings.worker_timeout),
            None => self.settings.worker_timeout,
        };
        self.contact(shard).is_some_and(|contact| now.mono.since(contact) < limit)
    }

    /// An attempt has come from somebody who has not been in touch: the next heartbeat does not wait its turn.
    pub(super) fn seek_contact(&mut self, now: Now, attempt: AttemptId) {
        if self.live.get(&attempt).is_some_and(|live| !self.in_touch(now, live)) {
            let soonest = self.last_heartbeat.map_or(now.mono, |last| last.after(HURRIED));
            self.next_heartbeat = self.next_heartbeat.min(soonest);
        }
    }

    /// Says that it is there, if it is time to.
    pub(super) fn beat(&mut self, now: Now, out: &mut Decision) {
        if now.mono < self.next_heartbeat {
            return;
        }
        self.next_heartbeat = now.mono.after(self.settings.heartbeat_every);
        self.last_heartbeat = Some(now.mono);
        let status = Status {
            slots: self.room.slots(),
            used: self.used,
            queued: u32::try_from(self.queue.len()).unwrap_or(u32::MAX),
            draining: self.drain != Drain::No,
            overload: self.overload,
        };
        let capability = Arc::clone(&self.settings.capability);
        let beat = FromWorker::Heartbeat { life: self.settings.life, sent: now.mono, capability, status };
        out.effects.push(Effect::Send(beat));
    }

    /// What it has too little of has changed; masters are told at once.
    pub(super) fn loaded(&mut self, now: Now, overload: Option<Overload>) {
        if self.overload != overload {
            self.overload = overload;
            self.next_heartbeat = now.mono;
        }
    }
}
