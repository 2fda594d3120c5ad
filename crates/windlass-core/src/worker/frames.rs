//! What arrives from masters, and whether it may.

use windlass_model::{AttemptId, Epoch, Incarnation, ShardId};

use super::Worker;
use super::input::{Decision, Effect};
use super::local::State;
use crate::shard::input::ToWorker;
use crate::time::Now;
use crate::wire::{Body, Frame, FromWorker, Inventory, Order, Refusal, Round};

impl Worker {
    /// A frame arrived.
    pub(super) fn frame(&mut self, now: Now, frame: Frame, out: &mut Decision) {
        let ours = frame.incarnation == self.settings.life.incarnation;
        match frame.body {
            Body::Orders { shard, epoch, round, orders } => match self.admit_orders(shard, epoch, round) {
                Ok(()) => {
                    for order in orders {
                        if let Err(why) = self.order(now, frame.incarnation, (shard, epoch), order, out) {
                            self.refuse(Some((shard, epoch)), why, out);
                        }
                    }
                }
                Err(why) => self.refuse(Some((shard, epoch)), why, out),
            },
            Body::Heard { sent, shards } if ours => self.heard(now, sent, &shards, out),
            Body::Demand { owner, serial, grants_before, classes } if ours => {
                self.demanded(now, owner, serial, grants_before, classes);
            }
            Body::Declined(grants) if ours => self.declined(&grants),
            Body::Drain { revision, on } if ours => self.drain_told(now, revision, on, out),
            // They are about slots and clocks of a life that is over.
            Body::Heard { .. } | Body::Demand { .. } | Body::Declined(_) | Body::Drain { .. } => {
                let current = self.settings.life.incarnation;
                self.refuse(None, Refusal::OtherIncarnation { current }, out);
            }
        }
    }

    /// The owner of a shard gives an order.
    fn order(
        &mut self,
        now: Now,
        incarnation: Incarnation,
        (shard, epoch): (ShardId, Epoch),
        order: Order,
        out: &mut Decision,
    ) -> Result<(), Refusal> {
        if let Some(attempt) = about(&order).filter(|attempt| Worker::shard_of(*attempt) != shard) {
            return Err(Refusal::OtherShard(attempt));
        }
        // That a result is stored is true for ever, whichever life it was of.
        if let Order::Shard(ToWorker::Settled(attempt)) = order {
            self.settle(now, incarnation, attempt, out);
            return Ok(());
        }
        let current = self.settings.life.incarnation;
        if incarnation != current {
            return Err(Refusal::OtherIncarnation { current });
        }
        match order {
            Order::Shard(ToWorker::Assign(assignment)) => self.assigned(now, *assignment, out),
            Order::Shard(ToWorker::Kill(attempt, why)) => self.kill(now, attempt, why, out),
            Order::Shard(ToWorker::Recall(attempt)) => self.recall(now, attempt, out),
            Order::Shard(ToWorker::Go(attempt)) => self.go(now, attempt, out),
            Order::Shard(ToWorker::Settled(_)) => {}
            Order::Adopt => {
                let inventory = self.inventory(shard, epoch);
                out.effects.push(Effect::Send(FromWorker::Inventory(inventory)));
            }
        }
        Ok(())
    }

    /// Everything there is of a shard.
    fn inventory(&self, shard: ShardId, epoch: Epoch) -> Inventory {
        let (mut queued, mut held, mut running) = (Vec::new(), Vec::new(), Vec::new());
        for (attempt, live) in self.live.iter().filter(|(attempt, _)| Worker::shard_of(**attempt) == shard) {
            match live.state {
                State::Queued => queued.push(*attempt),
                State::Held => held.push(*attempt),
                State::Starting | State::Running | State::Ending { .. } => running.push(*attempt),
                State::Finished(_) => {}
            }
        }
        let finished = self.results.iter().filter(|(attempt, _)| Worker::shard_of(**attempt) == shard);
        let finished =
            finished.map(|(attempt, result)| (result.incarnation, *attempt, result.report.clone())).collect();
        let round = self.owners.get(&shard).map_or(Round(0), |owner| owner.round);
        Inventory { life: self.settings.life, shard, epoch, round, queued, held, running, finished }
    }

    /// Says that a frame was refused.
    pub(super) fn refuse(&self, named: Option<(ShardId, Epoch)>, why: Refusal, out: &mut Decision) {
        let life = self.settings.life;
        out.effects.push(Effect::Send(FromWorker::Refused { life, named, why }));
    }
}

/// The attempt that an order is about.
fn about(order: &Order) -> Option<AttemptId> {
    match order {
        Order::Shard(ToWorker::Assign(assignment)) => Some(assignment.attempt),
        Order::Shard(
            ToWorker::Kill(attempt, _)
            | ToWorker::Recall(attempt)
            | ToWorker::Settled(attempt)
            | ToWorker::Go(attempt),
        ) => Some(*attempt),
        Order::Adopt => None,
    }
}
