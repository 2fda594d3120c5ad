//! Why a job does not run, with the same facts as data.

use serde_json::{Map, Value, json};
use windlass_core::shard::dependents::Standing;
use windlass_core::shard::view::JobView;
use windlass_core::shard::why::Reason;
use windlass_core::time::{Mono, Now, Wall};
use windlass_model::{JobState, WorkerId};
use windlass_rest::why::{self, ReasonCode, Why};

use super::time;

/// Why a job does not run.
pub fn why(now: Now, view: &JobView, worker: &dyn Fn(WorkerId) -> String) -> Why {
    let alone = match view.state {
        JobState::Success | JobState::Failed | JobState::Skipped | JobState::Stopped => Reason::Over,
        JobState::Running | JobState::Waiting | JobState::Ready | JobState::Backoff | JobState::Held => {
            Reason::UnderWay
        }
    };
    let reasons = if view.why.is_empty() { std::slice::from_ref(&alone) } else { &*view.why };
    Why {
        job: view.number.0,
        task: view.task.to_string(),
        index: view.index,
        state: view.state.into(),
        reasons: reasons.iter().map(|reason| one(now, reason, worker)).collect(),
    }
}

fn one(now: Now, reason: &Reason, worker: &dyn Fn(WorkerId) -> String) -> why::Reason {
    why::Reason {
        code: code(reason).as_str().to_owned(),
        text: reason.text(now).into_owned(),
        remedy: reason.remedy().into_owned(),
        details: details(now, reason, worker),
    }
}

fn code(reason: &Reason) -> ReasonCode {
    match reason {
        Reason::Dependency(_) => ReasonCode::Dependency,
        Reason::FinallyComesLast => ReasonCode::FinallyComesLast,
        Reason::RunLimit { .. } => ReasonCode::RunLimit,
        Reason::NotBefore(_) => ReasonCode::NotBefore,
        Reason::Paused => ReasonCode::Paused,
        Reason::Stopping => ReasonCode::Stopping,
        Reason::SwitchedOff => ReasonCode::SchedulerStopped,
        Reason::Backoff(_) => ReasonCode::Backoff,
        Reason::MaxParallel(_) => ReasonCode::MaxParallel,
        Reason::Pool { .. } => ReasonCode::Pool,
        Reason::Gang { .. } => ReasonCode::Gang,
        Reason::LostWorker(_) => ReasonCode::LostWorker,
        Reason::Approval { .. } => ReasonCode::Approval,
        Reason::Time { .. } => ReasonCode::Time,
        Reason::NotYet { .. } => ReasonCode::NotYet,
        Reason::OtherRun { .. } => ReasonCode::OtherRun,
        Reason::SubWorkflow(_) => ReasonCode::SubWorkflow,
        Reason::NoWorkerFits(_) => ReasonCode::NoWorkerFits,
        Reason::NoSlot => ReasonCode::NoSlot,
        Reason::UnderWay => ReasonCode::UnderWay,
        Reason::Behind(_) => ReasonCode::Behind,
        Reason::Over => ReasonCode::Over,
    }
}

fn details(now: Now, reason: &Reason, worker: &dyn Fn(WorkerId) -> String) -> Map<String, Value> {
    let moment = |wall: Wall| json!(time(wall));
    let due = |until: Mono| moment(now.wall.after(until.since(now.mono)));
    let fields: Vec<(&str, Value)> = match reason {
        Reason::Dependency(task) => vec![("task", json!(task.as_str()))],
        Reason::RunLimit { limit, active } => vec![("limit", json!(limit)), ("active", json!(active))],
        Reason::NotBefore(when) => vec![("until", moment(*when))],
        Reason::Backoff(until) => vec![("until", due(*until))],
        Reason::MaxParallel(limit) => vec![("limit", json!(limit))],
        Reason::Pool { pool, standing } => {
            let mut fields = vec![("pool", json!(pool.as_str()))];
            if let Some(standing) = standing {
                let holders: Vec<_> = standing.holders.iter().map(ToString::to_string).collect();
                fields.push(("limit", json!(standing.limit)));
                fields.push(("taken", json!(standing.taken)));
                fields.push(("holders", json!(holders)));
            }
            fields
        }
        Reason::Gang { gang, of, ready, held, missing, until } => {
            let missing: Vec<_> = missing.iter().map(windlass_model::TaskId::as_str).collect();
            let mut fields = vec![
                ("gang", json!(gang.as_str())),
                ("of", json!(of)),
                ("ready", json!(ready)),
                ("held", json!(held)),
                ("missing", json!(missing)),
            ];
            fields.extend(until.map(|until| ("until", due(until))));
            fields
        }
        Reason::LostWorker(id) => vec![("worker", json!(worker(*id)))],
        Reason::Approval { since, by } => {
            let by: Vec<&str> = by.iter().map(|name| &**name).collect();
            vec![("since", moment(*since)), ("by", json!(by))]
        }
        Reason::Time { since, until } => {
            let mut fields = vec![("since", moment(*since))];
            fields.extend(until.map(|until| ("until", moment(until))));
            fields
        }
        Reason::NotYet { what, since, next } => {
            let mut fields = vec![("what", json!(&**what)), ("since", moment(*since))];
            fields.extend(next.map(|next| ("until", due(next))));
            fields
        }
        Reason::OtherRun { workflow, logical_time, standing } => {
            let mut fields =
                vec![("workflow", json!(workflow.as_str())), ("logical_time", moment(*logical_time))];
            let run = standing.as_ref().and_then(|standing| match standing {
                Standing::NoRun => None,
                Standing::Open(run) | Standing::Ended(run, ..) => Some(*run),
            });
            fields.extend(run.map(|run| ("run", json!(run.to_string()))));
            fields
        }
        Reason::SubWorkflow(run) => run.map(|run| ("run", json!(run.to_string()))).into_iter().collect(),
        Reason::NoWorkerFits(why) => vec![("needs", json!(&**why))],
        Reason::Behind(job) => vec![("run", json!(job.run.to_string())), ("job", json!(job.number.0))],
        Reason::FinallyComesLast
        | Reason::Paused
        | Reason::Stopping
        | Reason::SwitchedOff
        | Reason::NoSlot
        | Reason::UnderWay
        | Reason::Over => vec![],
    };
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_one_word_everywhere() {
        let reasons = [
            Reason::Dependency(windlass_model::TaskId::new("a").unwrap()),
            Reason::FinallyComesLast,
            Reason::RunLimit { limit: 1, active: 1 },
            Reason::NotBefore(Wall(0)),
            Reason::Paused,
            Reason::Stopping,
            Reason::SwitchedOff,
            Reason::Backoff(Mono(0)),
            Reason::MaxParallel(1),
            Reason::Pool { pool: windlass_model::Name::new("p").unwrap(), standing: None },
            Reason::LostWorker(WorkerId(1)),
            Reason::Time { since: Wall(0), until: None },
            Reason::SubWorkflow(None),
            Reason::NoWorkerFits("".into()),
            Reason::NoSlot,
            Reason::UnderWay,
            Reason::Over,
        ];
        for reason in reasons {
            assert_eq!(reason.code(), code(&reason).as_str());
        }
    }
}
