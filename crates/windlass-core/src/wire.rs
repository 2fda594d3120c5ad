//! What owners of shards and workers say to each other: plain data, before any encoding.
//!
//! ```text
//! owner ── Frame ──► any master ──► worker        orders, demand, answers to heartbeats
//! owner ◄─────────── any master ◄── FromWorker    heartbeats, grants, reports, inventories, refusals
//! ```
//!
//! Any master passes frames on unchanged: what authorises one is the (shard, epoch) it names, not the
//! stream it came by. So frames may be lost, repeated and overtake each other, and every one of them is
//! harmless then. Two rules of owners make that cheap for workers to see:
//!
//! - an assignment that is sent again in the same epoch names the same grant;
//! - what a new owner found assigned and the worker does not know is never sent again: the worker has seen the new
//!   epoch, so it can never start, and counts as given back.

use std::sync::Arc;

use windlass_model::{AttemptId, Epoch, Incarnation, OwnerId, ShardId};

use crate::durable::Revision;
use crate::order::OrderKey;
use crate::requirement::{Capability, Requirement};
use crate::shard::input::{Report, ToWorker, WorkerLife};
use crate::time::Mono;

/// Something for one process life of a worker. Another life refuses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The life it is for. For a `Settled`: the life whose result was stored, which may be over.
    pub incarnation: Incarnation,
    /// What it says.
    pub body: Body,
}

/// What a worker is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The owner of a shard gives orders.
    Orders {
        /// Which shard.
        shard: ShardId,
        /// With which authority.
        epoch: Epoch,
        /// Rises when the worker was lost and is back: what was sent before that and arrives later is refused.
        round: Round,
        /// In this order.
        orders: Vec<Order>,
    },
    /// The owner of shards has heard a heartbeat.
    Heard {
        /// When the worker sent that heartbeat, by the worker's own clock.
        sent: Mono,
        /// The shards it speaks for, and with which authority.
        shards: Vec<(ShardId, Epoch)>,
    },
    /// What a master has ready to run, all of it: classes that are not named have nothing. It authorises
    /// nothing, so it names no epoch: what follows from it is a grant, and using that takes one.
    Demand {
        /// Which master.
        owner: OwnerId,
        /// Rises with each: an older one that arrives later is ignored.
        serial: u64,
        /// Grants before this one have arrived: what is ready beside those that were used is told.
        grants_before: GrantId,
        /// For each class.
        classes: Vec<Demand>,
    },
    /// A master has nothing for these grants.
    Declined(Vec<GrantId>),
    /// Somebody wants the worker to take nothing new, or to take work again. Every master says what it has read last,
    /// until the worker says the same.
    Drain {
        /// Of two words, the one of the greater revision is the newer.
        revision: Revision,
        /// Whether it shall take nothing new.
        on: bool,
    },
}

/// An order about the attempts of a shard.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// What the shard decided.
    Shard(ToWorker),
    /// The shard has a new owner, who asks what there is.
    Adopt,
}

/// Ready work of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// What it needs of a worker.
    pub class: Arc<Requirement>,
    /// The place of the best of it in the order of things.
    pub best: OrderKey,
    /// How many.
    pub count: u64,
}

/// Counts how often a master has met a worker anew. Within an epoch, what belongs to an earlier round is void.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Round(pub u64);

impl Round {
    /// The one after.
    #[must_use]
    pub const fn next(self) -> Round {
        Round(self.0 + 1)
    }
}

/// A free slot, promised to one master. Numbered by the worker, never twice in one process life, and good
/// for one assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantId(pub u64);

/// What a worker says. What one decision says to one place travels together.
#[derive(Clone, Debug, PartialEq)]
pub enum FromWorker {
    /// To every master: it is there. Whoever owns shards answers with [`Body::Heard`].
    Heartbeat {
        /// Who.
        life: WorkerLife,
        /// When it was sent, by the worker's own clock. It comes back in the answer.
        sent: Mono,
        /// What the worker is and has in all.
        capability: Arc<Capability>,
        /// How it is.
        status: Status,
    },
    /// To a master: it may send so many assignments of a class.
    Granted {
        /// Who grants.
        life: WorkerLife,
        /// To whom.
        owner: OwnerId,
        /// For what.
        class: Arc<Requirement>,
        /// One for each assignment.
        grants: Vec<GrantId>,
    },
    /// To the owner of the attempt's shard: what became of it.
    Report {
        /// The life the attempt was given to; not always the one that speaks.
        life: WorkerLife,
        /// Which attempt.
        attempt: AttemptId,
        /// What became of it.
        report: Report,
    },
    /// To the new owner of a shard: everything there is of it.
    Inventory(Inventory),
    /// To who sent it: a frame that was refused.
    Refused {
        /// Who refuses.
        life: WorkerLife,
        /// The shard and epoch it named, if it named any.
        named: Option<(ShardId, Epoch)>,
        /// Why.
        why: Refusal,
    },
}

/// How a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// How many attempts it runs at once.
    pub slots: u32,
    /// How many slots are in use.
    pub used: u32,
    /// How many attempts wait in it.
    pub queued: u32,
    /// Whether it takes nothing new, because it was told so.
    pub draining: bool,
    /// What it has too little of to take anything new.
    pub overload: Option<Overload>,
}

/// What a worker can have too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overload {
    /// Processor time.
    Cpu,
    /// Memory.
    Memory,
    /// Room on its disk.
    Disk,
}

/// Everything a worker has of one shard.
#[derive(Clone, Debug, PartialEq)]
pub struct Inventory {
    /// Who has it.
    pub life: WorkerLife,
    /// Of which shard.
    pub shard: ShardId,
    /// For the owner of this epoch.
    pub epoch: Epoch,
    /// And in this round.
    pub round: Round,
    /// Not started.
    pub queued: Vec<AttemptId>,
    /// Holding a slot until their gang goes.
    pub held: Vec<AttemptId>,
    /// Started and not over.
    pub running: Vec<AttemptId>,
    /// Over, and not yet stored: the life they belong to, and what became of them.
    pub finished: Vec<(Incarnation, AttemptId, Report)>,
}

/// Why a frame was refused. Nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The shard has a newer owner.
    #[error("the shard is owned with epoch {current}")]
    StaleEpoch {
        /// The highest epoch the worker has seen.
        current: Epoch,
    },
    /// It was sent before the worker was lost and came back.
    #[error("the owner has met the worker anew since")]
    StaleRound,
    /// It is for another process life of the worker.
    #[error("the worker's process life is {current}")]
    OtherIncarnation {
        /// The life that refuses.
        current: Incarnation,
    },
    /// It is about an attempt of another shard than the one it speaks for.
    #[error("the attempt {0} is of another shard")]
    OtherShard(AttemptId),
}
