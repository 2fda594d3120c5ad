//! Places at which tests let a master die: `WINDLASS_FAIL=point=abort@n` ends the process the n-th time it gets there.
//!
//! Only in builds with the feature `failpoints`. All of them are between two steps of the loop, which is where a
//! process that is killed leaves something half done.

use std::collections::BTreeMap;

use windlass_core::attempt;
use windlass_core::durable::Batch;
use windlass_core::master::input::{Effect, FlightId, Input, Reply, StoreAnswer, StoreCall};
use windlass_core::rows::Change;
use windlass_core::shard::input::{Answer, ToWorker};
use windlass_core::wire::{Body, FromWorker, Order};

/// Every place, by its name.
pub const POINTS: &[&str] = &[
    "submit.before_commit",
    "submit.after_commit_before_reply",
    "claim.after",
    "dispatch.before_persist",
    "dispatch.after_persist_before_send",
    "dispatch.after_send_before_ack",
    "result.before_commit",
    "result.after_commit_before_reply",
    "successor.before_create",
    "takeover.after_claim",
    "takeover.mid_reconcile",
    "stop.after_flag_before_kill",
    "fire.after_insert_before_advance",
    "lease.renew_reply_lost",
];

/// The place at which this process dies, if it was told one.
#[derive(Debug, Default)]
pub struct FailPoints {
    armed: Option<Armed>,
    /// What the commits under way have in them.
    flights: BTreeMap<FlightId, Contents>,
    /// Whether an assignment was handed to a stream since the last step.
    assigned: bool,
}

#[derive(Debug)]
struct Armed {
    point: String,
    left: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Contents {
    result: bool,
    firing: bool,
}

impl FailPoints {
    /// As the environment says.
    pub fn from_env() -> FailPoints {
        let armed = std::env::var("WINDLASS_FAIL").ok().and_then(|text| {
            let (point, action) = text.split_once('=')?;
            let count = action.strip_prefix("abort")?;
            let left = count.strip_prefix('@').map_or(Some(1), |number| number.parse().ok())?;
            assert!(POINTS.contains(&point), "there is no fail point `{point}`");
            Some(Armed { point: point.to_owned(), left })
        });
        FailPoints { armed, ..FailPoints::default() }
    }

    fn hit(&mut self, point: &str) {
        let Some(armed) = self.armed.as_mut().filter(|armed| armed.point == point) else { return };
        armed.left = armed.left.saturating_sub(1);
        if armed.left == 0 {
            eprintln!("fail point {point}");
            std::process::abort();
        }
    }

    /// Something has happened and is about to be decided on.
    pub fn before_input(&mut self, input: &Input) {
        match input {
            Input::Stored(StoreAnswer::Claimed(_, Ok(_))) => self.hit("claim.after"),
            Input::Stored(StoreAnswer::Renewed(Ok(_))) => self.hit("lease.renew_reply_lost"),
            Input::Stored(StoreAnswer::Committed(flight, _)) => {
                let contents = self.flights.remove(flight).unwrap_or_default();
                if contents.result {
                    self.hit("successor.before_create");
                }
                if contents.firing {
                    self.hit("fire.after_insert_before_advance");
                }
            }
            Input::FromWorker(FromWorker::Inventory(_)) => self.hit("takeover.mid_reconcile"),
            _ => {}
        }
    }

    /// Something was decided and is about to be done.
    pub fn before_effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Store(StoreCall::Load(..)) => self.hit("takeover.after_claim"),
            Effect::Store(StoreCall::Commit(flight, batches)) => self.before_commit(*flight, batches),
            Effect::Reply(_, Reply::Answered(Answer::Created(_))) => {
                self.hit("submit.after_commit_before_reply");
            }
            Effect::ToWorker(_, frame) => {
                let Body::Orders { orders, .. } = &frame.body else { return };
                for order in orders {
                    match order {
                        Order::Shard(ToWorker::Assign(_)) => {
                            self.hit("dispatch.after_persist_before_send");
                            self.assigned = true;
                        }
                        Order::Shard(ToWorker::Settled(_)) => self.hit("result.after_commit_before_reply"),
                        Order::Shard(ToWorker::Kill(..)) => self.hit("stop.after_flag_before_kill"),
                        Order::Shard(ToWorker::Recall(_) | ToWorker::Go(_)) | Order::Adopt => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Everything that was decided is done.
    pub fn after_effects(&mut self) {
        if std::mem::take(&mut self.assigned) {
            self.hit("dispatch.after_send_before_ack");
        }
    }

    fn before_commit(&mut self, flight: FlightId, batches: &[Batch]) {
        let mut contents = Contents::default();
        for change in batches.iter().flat_map(|batch| &batch.changes) {
            match change {
                Change::Key(_) => self.hit("submit.before_commit"),
                Change::Attempt(row) if row.state == attempt::State::Assigned => {
                    self.hit("dispatch.before_persist");
                }
                Change::Attempt(_) => {
                    contents.result = true;
                    self.hit("result.before_commit");
                }
                Change::Firing(_) => contents.firing = true,
                _ => {}
            }
        }
        self.flights.insert(flight, contents);
    }
}
