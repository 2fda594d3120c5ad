//! What is to be told, as JSON text.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_core::rows::{AlertNote, BackfillId, Completion, Errand, NextStage};
use windlass_core::run;
use windlass_core::time::Wall;

use super::shapes::{PartShape, name, parse, read, stage as read_stage, stage_shape, write};
use super::{Malformed, states};

const FIELD: &str = "errand";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum ErrandShape {
    Completion {
        listener: String,
        source: String,
        run: String,
        logical_time: i64,
        end: String,
    },
    Stage {
        source: String,
        root: String,
        by: String,
        parallel: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        priority: Option<String>,
        stage: PartShape,
        then: Vec<PartShape>,
    },
    Alert {
        on: String,
        workflow: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<String>,
        logical_time: i64,
        reason: String,
        at: i64,
        url: String,
        headers: Vec<(String, String)>,
    },
}

/// `{"completion":{"listener":"report","source":"nightly","run":"01ABCDEFGHJKM",…,"end":"success"}}`, …
pub fn errand_text(errand: &Errand) -> String {
    write(&match errand {
        Errand::Completion { listener, completion } => ErrandShape::Completion {
            listener: listener.to_string(),
            source: completion.source.to_string(),
            run: completion.run.to_string(),
            logical_time: completion.logical_time.0,
            end: states::run_word(run::State::Ended(completion.end)).to_owned(),
        },
        Errand::Stage(next) => ErrandShape::Stage {
            source: next.source.to_string(),
            root: next.root.0.to_string(),
            by: next.by.to_string(),
            parallel: next.parallel,
            priority: next.priority.map(|priority| priority.to_string()),
            stage: stage_shape(&next.stage),
            then: next.then.iter().map(stage_shape).collect(),
        },
        Errand::Alert(note) => ErrandShape::Alert {
            on: note.on.to_string(),
            workflow: note.workflow.to_string(),
            run: note.run.map(|run| run.to_string()),
            logical_time: note.logical_time.0,
            reason: note.reason.to_string(),
            at: note.at.0,
            url: note.url.to_string(),
            headers: note.headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        },
    })
}

/// Reads what [`errand_text`] wrote.
pub fn errand(text: &str) -> Result<Errand, Malformed> {
    Ok(match read(FIELD, text)? {
        ErrandShape::Completion { listener, source, run, logical_time, end } => Errand::Completion {
            listener: name(FIELD, &listener)?,
            completion: Completion {
                source: name(FIELD, &source)?,
                run: parse(FIELD, &run)?,
                logical_time: Wall(logical_time),
                end: read_end(&end)?,
            },
        },
        ErrandShape::Stage { source, root, by, parallel, priority, stage, then } => {
            Errand::Stage(Arc::new(NextStage {
                source: name(FIELD, &source)?,
                root: BackfillId(parse(FIELD, &root)?),
                by: by.into(),
                parallel,
                priority: priority.map(|word| parse(FIELD, &word)).transpose()?,
                stage: read_stage(FIELD, stage)?,
                then: then.into_iter().map(|shape| read_stage(FIELD, shape)).collect::<Result<_, _>>()?,
            }))
        }
        ErrandShape::Alert { on, workflow, run, logical_time, reason, at, url, headers } => {
            Errand::Alert(Arc::new(AlertNote {
                on: parse(FIELD, &on)?,
                workflow: name(FIELD, &workflow)?,
                run: run.map(|run| parse(FIELD, &run)).transpose()?,
                logical_time: Wall(logical_time),
                reason: reason.into(),
                at: Wall(at),
                url: url.into(),
                headers: headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            }))
        }
    })
}

fn read_end(word: &str) -> Result<run::End, Malformed> {
    match states::run_state(word) {
        Ok(run::State::Ended(end)) => Ok(end),
        Ok(_) | Err(_) => Err(Malformed::word(FIELD, word)),
    }
}

#[cfg(test)]
mod tests {
    use windlass_model::Name;
    use windlass_model::policy::AlertOn;

    use super::*;

    #[test]
    fn errands_are_as_they_were_promised_and_come_back() {
        let name = |text| Name::new(text).unwrap();
        let run = "01ABCDEFGHJKM".parse().unwrap();
        for (end, word) in
            [(run::End::Success, "success"), (run::End::Failed, "failed"), (run::End::Stopped, "stopped")]
        {
            let completion = Completion { source: name("nightly"), run, logical_time: Wall(-5), end };
            let row = Errand::Completion { listener: name("report"), completion };
            let text = format!(
                r#"{{"completion":{{"listener":"report","source":"nightly","run":"01ABCDEFGHJKM","logical_time":-5,"end":"{word}"}}}}"#
            );
            assert_eq!((errand_text(&row), errand(&text)), (text, Ok(row)));
        }
        let note = |on, run| {
            Errand::Alert(Arc::new(AlertNote {
                on,
                workflow: name("nightly"),
                run,
                logical_time: Wall(1),
                reason: "it said \"no\"".into(),
                at: Wall(2),
                url: "https://example.com/?a=b".into(),
                headers: vec![("X-Same".into(), "1".into()), ("X-Same".into(), "2".into())],
            }))
        };
        let text = r#"{"alert":{"on":"worker_lost","workflow":"nightly","logical_time":1,"reason":"it said \"no\"","at":2,"url":"https://example.com/?a=b","headers":[["X-Same","1"],["X-Same","2"]]}}"#;
        let row = note(AlertOn::WorkerLost, None);
        assert_eq!((errand_text(&row).as_str(), errand(text)), (text, Ok(row)));
        for on in AlertOn::ALL {
            let row = note(*on, Some(run));
            assert_eq!(errand(&errand_text(&row)), Ok(row));
        }
    }

    #[test]
    fn what_is_damaged_is_said() {
        for wrong in [
            "",
            r#""alert""#,
            r#"{"completion":{"listener":"a","source":"b","run":"01ABCDEFGHJKM","logical_time":1,"end":"running"}}"#,
            r#"{"completion":{"listener":"a","source":"no name","run":"01ABCDEFGHJKM","logical_time":1,"end":"failed"}}"#,
            r#"{"alert":{"on":"boredom","workflow":"a","logical_time":1,"reason":"","at":2,"url":"","headers":[]}}"#,
        ] {
            assert!(errand(wrong).is_err(), "{wrong}");
        }
    }
}
