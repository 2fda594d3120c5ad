//! What shards of different owners say to each other.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_core::rows::{Completion, Errand};
use windlass_core::shard::dependents::Watch;
use windlass_core::shard::input::{FromHome, FromPool, Input, ToHome, ToPool};
use windlass_core::time::Wall;
use windlass_store::encoding::errands;

use super::shapes::{
    AskShape, Decoded, FORMAT, OrderShape, OutboxShape, PoolShape, StampShape, StandingShape, Undecodable,
    name, parse, read, run_end, run_end_word, write,
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HomeShape {
    ToPool { pool: String, what: ToPoolShape },
    FromPool { pool: String, what: FromPoolShape },
    ToHome { workflow: String, what: ToHomeShape },
    FromHome { workflow: String, what: FromHomeShape },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToPoolShape {
    Ask { ask: AskShape, order: OrderShape },
    Return { ask: AskShape },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FromPoolShape {
    Granted { ask: AskShape },
    Check { ask: AskShape },
    Wait { ask: AskShape, standing: PoolShape },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToHomeShape {
    Watch { ask: AskShape, logical_time: i64, task: Option<String> },
    Unwatch { ask: AskShape, logical_time: i64 },
    Listen { listener: String, on: Vec<String>, stamp: StampShape },
    Listening { source: String, stamp: StampShape },
    NextStage { id: OutboxShape, errand: String },
    Completed { id: OutboxShape, source: String, run: String, logical_time: i64, end: String },
    Taken { listener: String, id: OutboxShape },
    NotListening { listener: String, id: OutboxShape, stamp: StampShape },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FromHomeShape {
    Told { ask: AskShape, stamp: StampShape, standing: StandingShape },
}

/// As it is sent; `None` for what one shard never says to another.
pub fn encode(input: &Input) -> Option<(u32, Vec<u8>)> {
    let shape = match input {
        Input::ToPool(pool, what) => HomeShape::ToPool { pool: pool.to_string(), what: to_pool(*what) },
        Input::FromPool(pool, what) => HomeShape::FromPool { pool: pool.to_string(), what: from_pool(what) },
        Input::ToHome(workflow, what) => {
            HomeShape::ToHome { workflow: workflow.to_string(), what: to_home(what) }
        }
        Input::FromHome(workflow, FromHome::Told { ask, stamp, standing }) => HomeShape::FromHome {
            workflow: workflow.to_string(),
            what: FromHomeShape::Told {
                ask: (*ask).into(),
                stamp: (*stamp).into(),
                standing: (*standing).into(),
            },
        },
        Input::Call(..)
        | Input::WorkerSeen(..)
        | Input::WorkerLost(_)
        | Input::Offer(_)
        | Input::Report(..)
        | Input::Inventory(_)
        | Input::Calendars(_)
        | Input::Found(..)
        | Input::Delivered(_)
        | Input::DispatchSwitch(_)
        | Input::Woken => return None,
    };
    Some((FORMAT, write(&shape)))
}

fn to_pool(what: ToPool) -> ToPoolShape {
    match what {
        ToPool::Ask(ask, order) => ToPoolShape::Ask { ask: ask.into(), order: order.into() },
        ToPool::Return(ask) => ToPoolShape::Return { ask: ask.into() },
    }
}

fn from_pool(what: &FromPool) -> FromPoolShape {
    match what {
        FromPool::Granted(ask) => FromPoolShape::Granted { ask: (*ask).into() },
        FromPool::Check(ask) => FromPoolShape::Check { ask: (*ask).into() },
        FromPool::Wait(ask, standing) => {
            FromPoolShape::Wait { ask: (*ask).into(), standing: (&**standing).into() }
        }
    }
}

fn to_home(what: &ToHome) -> ToHomeShape {
    match what {
        ToHome::Watch(watch) => ToHomeShape::Watch {
            ask: watch.ask.into(),
            logical_time: watch.logical_time.0,
            task: watch.task.as_deref().map(str::to_owned),
        },
        ToHome::Unwatch(ask, logical_time) => {
            ToHomeShape::Unwatch { ask: (*ask).into(), logical_time: logical_time.0 }
        }
        ToHome::Listen { listener, on, stamp } => ToHomeShape::Listen {
            listener: listener.to_string(),
            on: on.iter().map(ToString::to_string).collect(),
            stamp: (*stamp).into(),
        },
        ToHome::Listening { source, stamp } => {
            ToHomeShape::Listening { source: source.to_string(), stamp: (*stamp).into() }
        }
        // As it is stored: it is the same promise.
        ToHome::NextStage(id, next) => ToHomeShape::NextStage {
            id: (*id).into(),
            errand: errands::errand_text(&Errand::Stage(Arc::clone(next))),
        },
        ToHome::Completed(id, completion) => ToHomeShape::Completed {
            id: (*id).into(),
            source: completion.source.to_string(),
            run: completion.run.to_string(),
            logical_time: completion.logical_time.0,
            end: run_end_word(completion.end),
        },
        ToHome::Taken { listener, id } => {
            ToHomeShape::Taken { listener: listener.to_string(), id: (*id).into() }
        }
        ToHome::NotListening { listener, id, stamp } => ToHomeShape::NotListening {
            listener: listener.to_string(),
            id: (*id).into(),
            stamp: (*stamp).into(),
        },
    }
}

/// What was sent.
pub fn decode(format: u32, text: &[u8]) -> Decoded<Input> {
    Ok(match read::<HomeShape>(format, text)? {
        HomeShape::ToPool { pool, what } => Input::ToPool(
            name(&pool)?,
            match what {
                ToPoolShape::Ask { ask, order } => ToPool::Ask(ask.ask()?, order.key()?),
                ToPoolShape::Return { ask } => ToPool::Return(ask.ask()?),
            },
        ),
        HomeShape::FromPool { pool, what } => Input::FromPool(
            name(&pool)?,
            match what {
                FromPoolShape::Granted { ask } => FromPool::Granted(ask.ask()?),
                FromPoolShape::Check { ask } => FromPool::Check(ask.ask()?),
                FromPoolShape::Wait { ask, standing } => FromPool::Wait(ask.ask()?, standing.standing()?),
            },
        ),
        HomeShape::ToHome { workflow, what } => Input::ToHome(name(&workflow)?, decode_to_home(what)?),
        HomeShape::FromHome { workflow, what } => {
            let FromHomeShape::Told { ask, stamp, standing } = what;
            let told =
                FromHome::Told { ask: ask.ask()?, stamp: stamp.into(), standing: standing.standing()? };
            Input::FromHome(name(&workflow)?, told)
        }
    })
}

fn decode_to_home(what: ToHomeShape) -> Decoded<ToHome> {
    Ok(match what {
        ToHomeShape::Watch { ask, logical_time, task } => ToHome::Watch(Watch {
            ask: ask.ask()?,
            logical_time: Wall(logical_time),
            task: task.map(Into::into),
        }),
        ToHomeShape::Unwatch { ask, logical_time } => ToHome::Unwatch(ask.ask()?, Wall(logical_time)),
        ToHomeShape::Listen { listener, on, stamp } => ToHome::Listen {
            listener: name(&listener)?,
            on: on.iter().map(|on| parse(on)).collect::<Decoded<_>>()?,
            stamp: stamp.into(),
        },
        ToHomeShape::Listening { source, stamp } => {
            ToHome::Listening { source: name(&source)?, stamp: stamp.into() }
        }
        ToHomeShape::NextStage { id, errand } => match errands::errand(&errand) {
            Ok(Errand::Stage(next)) => ToHome::NextStage(id.id()?, next),
            Ok(_) | Err(_) => return Err(Undecodable::of("the next stage of a backfill cannot be read")),
        },
        ToHomeShape::Completed { id, source, run, logical_time, end } => ToHome::Completed(
            id.id()?,
            Completion {
                source: name(&source)?,
                run: parse(&run)?,
                logical_time: Wall(logical_time),
                end: run_end(&end)?,
            },
        ),
        ToHomeShape::Taken { listener, id } => ToHome::Taken { listener: name(&listener)?, id: id.id()? },
        ToHomeShape::NotListening { listener, id, stamp } => {
            ToHome::NotListening { listener: name(&listener)?, id: id.id()?, stamp: stamp.into() }
        }
    })
}

#[cfg(test)]
mod tests {
    use windlass_core::order::OrderKey;
    use windlass_core::rows::{BackfillId, NextStage, OutboxId, Stage, Stamp};
    use windlass_core::shard::dependents::Standing;
    use windlass_core::shard::pools::{Ask, PoolStanding};
    use windlass_core::{job, run};
    use windlass_model::policy::CompletionOn;
    use windlass_model::{Epoch, JobId, Name, Priority, RunId, ShardId};

    use super::*;

    #[test]
    fn everything_that_shards_say_comes_back_as_it_was() {
        let name = |text: &str| Name::new(text).unwrap();
        let job: JobId = "01ABCDEFGHJKM.3".parse().unwrap();
        let run: RunId = job.run;
        let ask = Ask { job, epoch: Epoch(7), counter: u64::MAX };
        let stamp = Stamp { epoch: Epoch(u64::MAX), counter: 3 };
        let id = OutboxId { shard: ShardId::new(63).unwrap(), stamp };
        let order = OrderKey {
            run_priority: Priority::High,
            run,
            task_priority: Priority::Lowest,
            submission: u32::MAX,
        };
        let standing = PoolStanding { limit: 1, taken: 2, holders: vec![job] };
        let completion =
            Completion { source: name("nightly"), run, logical_time: Wall(-5), end: run::End::Stopped };
        let stage = |workflow| Stage { workflow: name(workflow), times: Arc::new([Wall(-1), Wall(7)]) };
        let next = Arc::new(NextStage {
            source: name("nightly"),
            root: BackfillId(run),
            by: "me".into(),
            parallel: 3,
            priority: Some(Priority::Low),
            stage: stage("w"),
            then: vec![stage("x")],
        });
        let watch = Watch { ask, logical_time: Wall(i64::MIN), task: Some("load".into()) };
        let told = |standing| FromHome::Told { ask, stamp, standing };
        let skipped = job::End::Skipped { by_failure: true };
        let inputs = [
            Input::ToPool(name("p"), ToPool::Ask(ask, order)),
            Input::ToPool(name("p"), ToPool::Return(ask)),
            Input::FromPool(name("p"), FromPool::Granted(ask)),
            Input::FromPool(name("p"), FromPool::Check(ask)),
            Input::FromPool(name("p"), FromPool::Wait(ask, Arc::new(standing))),
            Input::ToHome(name("w"), ToHome::Watch(watch.clone())),
            Input::ToHome(name("w"), ToHome::Watch(Watch { task: None, ..watch })),
            Input::ToHome(name("w"), ToHome::Unwatch(ask, Wall(1))),
            Input::ToHome(
                name("w"),
                ToHome::Listen {
                    listener: name("l"),
                    on: vec![CompletionOn::Success, CompletionOn::Failure, CompletionOn::Done],
                    stamp,
                },
            ),
            Input::ToHome(name("w"), ToHome::Listening { source: name("s"), stamp }),
            Input::ToHome(name("w"), ToHome::NextStage(id, next)),
            Input::ToHome(name("w"), ToHome::Completed(id, completion)),
            Input::ToHome(name("w"), ToHome::Taken { listener: name("l"), id }),
            Input::ToHome(name("w"), ToHome::NotListening { listener: name("l"), id, stamp }),
            Input::FromHome(name("w"), told(Standing::NoRun)),
            Input::FromHome(name("w"), told(Standing::Open(run))),
            Input::FromHome(name("w"), told(Standing::Ended(run, skipped))),
            Input::FromHome(name("w"), told(Standing::Ended(run, job::End::Success))),
        ];
        for input in inputs {
            let (format, text) = encode(&input).expect("shards say it");
            let back = decode(format, &text).unwrap();
            assert_eq!(format!("{back:?}"), format!("{input:?}"));
        }
        assert!(encode(&Input::Woken).is_none(), "what is between a shard and its own master stays there");
    }

    #[test]
    fn what_makes_no_sense_is_said_and_never_a_panic() {
        let (_, text) = encode(&Input::ToPool(
            Name::new("p").unwrap(),
            ToPool::Return(Ask { job: "01ABCDEFGHJKM.3".parse().unwrap(), epoch: Epoch(1), counter: 1 }),
        ))
        .unwrap();
        assert!(decode(FORMAT + 1, &text).unwrap_err().to_string().contains("format 2"));
        for end in 0..text.len() {
            assert!(decode(FORMAT, &text[..end]).is_err(), "cut after {end}");
        }
        for wrong in [
            r#"{"to_pool":{"pool":"no name","what":{"return":{"ask":{"job":"01ABCDEFGHJKM.3","epoch":1,"counter":1}}}}}"#,
            r#"{"to_pool":{"pool":"p","what":{"return":{"ask":{"job":"nonsense","epoch":1,"counter":1}}}}}"#,
            r#"{"to_home":{"workflow":"w","what":{"completed":{"id":{"shard":9999,"stamp":{"epoch":1,"counter":1}},"source":"s","run":"01ABCDEFGHJKM","logical_time":1,"end":"success"}}}}"#,
            r#"{"woken":null}"#,
        ] {
            assert!(decode(FORMAT, wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
