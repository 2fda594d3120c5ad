//! What workers say.

use std::sync::Arc;

use windlass_core::rows::Values;
use windlass_core::shard::input::{Process, Report};
use windlass_core::time::{Mono, Wall};
use windlass_core::wire::{FromWorker, GrantId, Inventory, Overload, Refusal, Round, Status};
use windlass_model::{Epoch, Incarnation, OwnerId};
use windlass_workflow::expr::Value;

use crate::ids::{
    attempt, capability, life, requirement, shard_epoch, some_attempt, stop_reason, to_attempt,
    to_capability, to_life, to_requirement, to_shard, to_shard_epoch, to_stop_reason,
};
use crate::{Malformed, v1};
use v1::outcome::Kind;
use v1::worker_says::What;

/// As it is sent.
pub fn encode(message: &FromWorker) -> v1::WorkerSays {
    let what = match message {
        FromWorker::Heartbeat { life: who, sent, capability: has, status } => {
            What::Heartbeat(v1::Heartbeat {
                life: Some(life(*who)),
                sent: sent.0,
                capability: Some(capability(has)),
                slots: status.slots,
                used: status.used,
                queued: status.queued,
                draining: status.draining,
                overload: overload(status.overload).into(),
            })
        }
        FromWorker::Granted { life: who, owner, class, grants } => What::Granted(v1::Granted {
            life: Some(life(*who)),
            owner: owner.0,
            class: Some(requirement(class)),
            grants: grants.iter().map(|grant| grant.0).collect(),
        }),
        FromWorker::Report { life: who, attempt: of, report } => What::Report(v1::Report {
            life: Some(life(*who)),
            attempt: Some(attempt(*of)),
            outcome: Some(outcome(report)),
        }),
        FromWorker::Inventory(inventory) => What::Inventory(v1::Inventory {
            life: Some(life(inventory.life)),
            shard: inventory.shard.number().into(),
            epoch: inventory.epoch.0,
            round: inventory.round.0,
            queued: inventory.queued.iter().copied().map(attempt).collect(),
            held: inventory.held.iter().copied().map(attempt).collect(),
            running: inventory.running.iter().copied().map(attempt).collect(),
            finished: inventory
                .finished
                .iter()
                .map(|(incarnation, of, report)| v1::Finished {
                    incarnation: incarnation.0,
                    attempt: Some(attempt(*of)),
                    outcome: Some(outcome(report)),
                })
                .collect(),
        }),
        FromWorker::Refused { life: who, named, why } => What::Refused(v1::Refused {
            life: Some(life(*who)),
            named: named.map(shard_epoch),
            why: Some(match why {
                Refusal::StaleEpoch { current } => v1::refused::Why::StaleEpoch(current.0),
                Refusal::StaleRound => v1::refused::Why::StaleRound(true),
                Refusal::OtherIncarnation { current } => v1::refused::Why::OtherIncarnation(current.0),
                Refusal::OtherShard(of) => v1::refused::Why::OtherShard(attempt(*of)),
            }),
        }),
    };
    v1::WorkerSays { what: Some(what) }
}

/// What was sent, unless it is for the shell.
pub fn decode(what: What) -> Result<Option<FromWorker>, Malformed> {
    Ok(Some(match what {
        What::Hello(_) | What::Log(_) => return Ok(None),
        What::Heartbeat(beat) => {
            let overload = to_overload(beat.overload());
            FromWorker::Heartbeat {
                life: to_life(beat.life)?,
                sent: Mono(beat.sent),
                capability: Arc::new(to_capability(beat.capability)?),
                status: Status {
                    slots: beat.slots,
                    used: beat.used,
                    queued: beat.queued,
                    draining: beat.draining,
                    overload,
                },
            }
        }
        What::Granted(granted) => FromWorker::Granted {
            life: to_life(granted.life)?,
            owner: OwnerId(granted.owner),
            class: Arc::new(to_requirement(granted.class.unwrap_or_default())?),
            grants: granted.grants.into_iter().map(GrantId).collect(),
        },
        What::Report(report) => FromWorker::Report {
            life: to_life(report.life)?,
            attempt: some_attempt(report.attempt)?,
            report: to_report(report.outcome)?,
        },
        What::Inventory(inventory) => FromWorker::Inventory(to_inventory(inventory)?),
        What::Refused(refused) => FromWorker::Refused {
            life: to_life(refused.life)?,
            named: refused.named.map(to_shard_epoch).transpose()?,
            why: match refused.why.ok_or_else(|| Malformed::missing("the reason of a refusal"))? {
                v1::refused::Why::StaleEpoch(current) => Refusal::StaleEpoch { current: Epoch(current) },
                v1::refused::Why::StaleRound(_) => Refusal::StaleRound,
                v1::refused::Why::OtherIncarnation(current) => {
                    Refusal::OtherIncarnation { current: Incarnation(current) }
                }
                v1::refused::Why::OtherShard(of) => Refusal::OtherShard(to_attempt(of)?),
            },
        },
    }))
}

fn to_inventory(inventory: v1::Inventory) -> Result<Inventory, Malformed> {
    let attempts = |list: Vec<v1::Attempt>| list.into_iter().map(to_attempt).collect::<Result<Vec<_>, _>>();
    let finished = inventory.finished.into_iter().map(|finished| {
        let incarnation = Incarnation(finished.incarnation);
        Ok((incarnation, some_attempt(finished.attempt)?, to_report(finished.outcome)?))
    });
    Ok(Inventory {
        life: to_life(inventory.life)?,
        shard: to_shard(inventory.shard)?,
        epoch: Epoch(inventory.epoch),
        round: Round(inventory.round),
        queued: attempts(inventory.queued)?,
        held: attempts(inventory.held)?,
        running: attempts(inventory.running)?,
        finished: finished.collect::<Result<_, Malformed>>()?,
    })
}

fn outcome(report: &Report) -> v1::Outcome {
    let plain = |kind: Kind| v1::Outcome { kind: kind.into(), ..v1::Outcome::default() };
    match report {
        Report::Held => plain(Kind::Held),
        Report::Started => plain(Kind::Started),
        Report::GivenBack => plain(Kind::GivenBack),
        Report::Exited { success, reason, outputs, process: of } => v1::Outcome {
            reason: reason.to_string(),
            outputs: outputs.as_deref().map(json).unwrap_or_default(),
            process: of.as_deref().map(process),
            ..plain(if *success { Kind::Succeeded } else { Kind::Failed })
        },
        Report::Killed(why, of) => v1::Outcome {
            why: stop_reason(*why).into(),
            process: of.as_deref().map(process),
            ..plain(Kind::Killed)
        },
        Report::Lost => plain(Kind::Lost),
    }
}

fn to_report(outcome: Option<v1::Outcome>) -> Result<Report, Malformed> {
    let outcome = outcome.ok_or_else(|| Malformed::missing("what became of an attempt"))?;
    let (kind, why) = (outcome.kind(), outcome.why());
    let of = outcome.process.map(|process| Arc::new(to_process(process)));
    Ok(match kind {
        Kind::Held => Report::Held,
        Kind::Started => Report::Started,
        Kind::GivenBack => Report::GivenBack,
        Kind::Succeeded | Kind::Failed => Report::Exited {
            success: kind == Kind::Succeeded,
            reason: outcome.reason.into(),
            outputs: to_values(&outcome.outputs)?,
            process: of,
        },
        Kind::Killed => Report::Killed(to_stop_reason(why)?, of),
        Kind::Lost => Report::Lost,
        Kind::Unknown => return Err(Malformed::wrong("what became of an attempt", "of an unknown kind")),
    })
}

fn process(process: &Process) -> v1::Process {
    v1::Process {
        started_at: process.started_at.map(|at| at.0),
        exit_code: process.exit_code,
        signal: process.signal,
        tail: process.tail.as_deref().map(str::to_owned),
    }
}

fn to_process(process: v1::Process) -> Process {
    Process {
        started_at: process.started_at.map(Wall),
        exit_code: process.exit_code,
        signal: process.signal,
        tail: process.tail.map(Into::into),
    }
}

/// Outputs are texts and JSON values, so nothing is lost.
fn json(values: &Values) -> String {
    let field = |(key, value): (&Arc<str>, &Value)| Some((key.to_string(), value.to_json().ok()?));
    serde_json::Value::Object(values.iter().filter_map(field).collect()).to_string()
}

fn to_values(text: &str) -> Result<Option<Arc<Values>>, Malformed> {
    if text.is_empty() {
        return Ok(None);
    }
    let fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(text).map_err(|error| Malformed::wrong("outputs", error))?;
    let values = fields.iter().map(|(key, value)| (key.as_str().into(), Value::from_json(value)));
    Ok(Some(Arc::new(values.collect())))
}

fn overload(overload: Option<Overload>) -> v1::Overload {
    match overload {
        None => v1::Overload::None,
        Some(Overload::Cpu) => v1::Overload::Cpu,
        Some(Overload::Memory) => v1::Overload::Memory,
        Some(Overload::Disk) => v1::Overload::Disk,
    }
}

fn to_overload(overload: v1::Overload) -> Option<Overload> {
    match overload {
        v1::Overload::None => None,
        v1::Overload::Cpu => Some(Overload::Cpu),
        v1::Overload::Memory => Some(Overload::Memory),
        v1::Overload::Disk => Some(Overload::Disk),
    }
}
