//! What masters say to workers.

use std::sync::Arc;

use windlass_core::durable::Revision;
use windlass_core::shard::input::ToWorker;
use windlass_core::time::Mono;
use windlass_core::wire::{Body, Demand, Frame, GrantId, Order, Round};
use windlass_model::{Epoch, Incarnation, OwnerId};

use crate::assignments::{Shared, Sharing};
use crate::ids::{
    attempt, order_key, requirement, shard_epoch, some_attempt, stop_reason, to_attempt, to_order_key,
    to_requirement, to_shard, to_shard_epoch, to_stop_reason,
};
use crate::{Malformed, v1};
use v1::order::What;

/// As it is sent.
pub fn encode(frame: &Frame) -> v1::Frame {
    let body = match &frame.body {
        Body::Orders { shard, epoch, round, orders } => {
            let mut sharing = Sharing::default();
            let orders =
                orders.iter().map(|order| v1::Order { what: Some(encode_order(order, &mut sharing)) });
            let orders = orders.collect();
            let Shared { texts, variables, classes } = sharing.finish();
            v1::frame::Body::Orders(v1::Orders {
                shard: shard.number().into(),
                epoch: epoch.0,
                round: round.0,
                orders,
                texts,
                variables,
                classes,
            })
        }
        Body::Heard { sent, shards } => v1::frame::Body::Heard(v1::Heard {
            sent: sent.0,
            shards: shards.iter().copied().map(shard_epoch).collect(),
        }),
        Body::Demand { owner, serial, grants_before, classes } => v1::frame::Body::Demand(v1::Demand {
            owner: owner.0,
            serial: *serial,
            grants_before: grants_before.0,
            classes: classes
                .iter()
                .map(|demand| v1::DemandOfClass {
                    class: Some(requirement(&demand.class)),
                    best: Some(order_key(demand.best)),
                    count: demand.count,
                })
                .collect(),
        }),
        Body::Declined(grants) => {
            v1::frame::Body::Declined(v1::Declined { grants: grants.iter().map(|grant| grant.0).collect() })
        }
        Body::Drain { revision, on } => v1::frame::Body::Drain(v1::Drain { revision: revision.0, on: *on }),
    };
    v1::Frame { incarnation: frame.incarnation.0, body: Some(body) }
}

fn encode_order(order: &Order, sharing: &mut Sharing) -> What {
    match order {
        Order::Adopt => What::Adopt(true),
        Order::Shard(ToWorker::Assign(assignment)) => What::Assign(sharing.encode(assignment)),
        Order::Shard(ToWorker::Kill(of, why)) => {
            What::Kill(v1::Kill { attempt: Some(attempt(*of)), why: stop_reason(*why).into() })
        }
        Order::Shard(ToWorker::Recall(of)) => What::Recall(attempt(*of)),
        Order::Shard(ToWorker::Settled(of)) => What::Settled(attempt(*of)),
        Order::Shard(ToWorker::Go(of)) => What::Go(attempt(*of)),
    }
}

/// What was sent.
pub fn decode(frame: v1::Frame) -> Result<Frame, Malformed> {
    let body = match frame.body.ok_or_else(|| Malformed::missing("what a frame says"))? {
        v1::frame::Body::Orders(orders) => {
            let shared = Shared { texts: orders.texts, variables: orders.variables, classes: orders.classes };
            let mut shared = shared.decode()?;
            let list = orders.orders.into_iter().map(|order| {
                Ok(match order.what.ok_or_else(|| Malformed::missing("an order"))? {
                    What::Adopt(_) => Order::Adopt,
                    What::Assign(assignment) => {
                        Order::Shard(ToWorker::Assign(Box::new(shared.assignment(assignment)?)))
                    }
                    What::Kill(kill) => {
                        let why = to_stop_reason(kill.why())?;
                        Order::Shard(ToWorker::Kill(some_attempt(kill.attempt)?, why))
                    }
                    What::Recall(of) => Order::Shard(ToWorker::Recall(to_attempt(of)?)),
                    What::Settled(of) => Order::Shard(ToWorker::Settled(to_attempt(of)?)),
                    What::Go(of) => Order::Shard(ToWorker::Go(to_attempt(of)?)),
                })
            });
            Body::Orders {
                shard: to_shard(orders.shard)?,
                epoch: Epoch(orders.epoch),
                round: Round(orders.round),
                orders: list.collect::<Result<_, Malformed>>()?,
            }
        }
        v1::frame::Body::Heard(heard) => Body::Heard {
            sent: Mono(heard.sent),
            shards: heard.shards.into_iter().map(to_shard_epoch).collect::<Result<_, _>>()?,
        },
        v1::frame::Body::Demand(demand) => Body::Demand {
            owner: OwnerId(demand.owner),
            serial: demand.serial,
            grants_before: GrantId(demand.grants_before),
            classes: demand
                .classes
                .into_iter()
                .map(|class| {
                    Ok(Demand {
                        class: Arc::new(to_requirement(class.class.unwrap_or_default())?),
                        best: to_order_key(class.best)?,
                        count: class.count,
                    })
                })
                .collect::<Result<_, Malformed>>()?,
        },
        v1::frame::Body::Declined(declined) => {
            Body::Declined(declined.grants.into_iter().map(GrantId).collect())
        }
        v1::frame::Body::Drain(drain) => Body::Drain { revision: Revision(drain.revision), on: drain.on },
    };
    Ok(Frame { incarnation: Incarnation(frame.incarnation), body })
}
