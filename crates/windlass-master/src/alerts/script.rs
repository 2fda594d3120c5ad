//! Alerts as scripts on workers: each is a run of its own, of a definition with one task.
//!
//! It is an ordinary submission whose key is the id of the alert, so that however often it is told there is one run,
//! which people find in the lists with what it printed.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use windlass_core::rows::{AlertNote, Values};
use windlass_core::shard::outbox::{SCRIPT, SCRIPT_GROUP, SCRIPT_TEXT};
use windlass_core::time::Wall;
use windlass_model::Name;
use windlass_store::Store;
use windlass_workflow::expr;

use super::{Channel, Telling};
use crate::Handle;
use crate::wishes::{NewRun, What};

/// Who submits these runs.
const BY: &str = "alert";
/// How long the submission may take.
const WAIT: Duration = Duration::from_secs(30);
/// A script that takes longer is ended: it tells somebody something, and must not keep a slot for ever.
const TIMEOUT: &str = "10m";

/// The way to workers.
pub struct Scripts<S>(pub Handle<S>);

impl<S: Store + 'static> Channel for Scripts<S> {
    fn leads_to(&self, target: &str) -> bool {
        target == SCRIPT
    }

    fn tell<'a>(&'a self, id: &'a str, note: &'a AlertNote) -> Telling<'a> {
        Box::pin(async move {
            let text = definition(note).to_string();
            let checked = windlass_workflow::from_text(text.as_bytes()).map_err(|wrong| {
                let first = wrong.first().map(|first| first.message.clone());
                format!("its script is not understood any more: {}", first.unwrap_or_default())
            })?;
            let wanted = NewRun {
                by: BY.into(),
                key: Some(id.into()),
                body: 0,
                what: What::Inline(checked.definition, text.into()),
                params: params(id, note),
                logical_time: Some(note.logical_time),
                labels: Default::default(),
                run_at: None,
                priority: None,
                from_task: None,
                only_task: None,
            };
            self.0.create_run(wanted, WAIT).await.map(drop).map_err(|error| error.to_string())
        })
    }
}

impl<S> std::fmt::Debug for Scripts<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripts")
    }
}

/// What is told of an alert, by the name of its variable without `ALERT_`.
fn told(id: &str, note: &AlertNote) -> [(&'static str, String); 7] {
    let moment = |wall: Wall| Timestamp::from_millisecond(wall.0).unwrap_or_default().to_string();
    [
        ("on", note.on.as_str().to_owned()),
        ("workflow", note.workflow.to_string()),
        ("run", note.run.map(|run| run.to_string()).unwrap_or_default()),
        ("reason", note.reason.to_string()),
        ("logical_time", moment(note.logical_time)),
        ("at", moment(note.at)),
        ("id", id.to_owned()),
    ]
}

/// The values that the script refers to.
fn values(note: &AlertNote) -> impl Iterator<Item = &(Arc<str>, Arc<str>)> {
    note.headers.iter().filter(|(name, _)| !matches!(&**name, SCRIPT_TEXT | SCRIPT_GROUP))
}

/// The workflow that the script is.
fn definition(note: &AlertNote) -> Value {
    let header = |name: &str| note.headers.iter().find(|(known, _)| &**known == name).map(|(_, value)| value);
    let name = format!("alert-of-{}", note.workflow);
    let name = Name::new(&name).map_or_else(|_| "alert".to_owned(), |name| name.to_string());
    let (mut params, mut env) = (Map::new(), Map::new());
    for (name, _) in told("", note) {
        let param = format!("alert_{name}");
        env.insert(param.to_uppercase(), format!("${{{{ params.{param} }}}}").into());
        params.insert(param, "".into());
    }
    params.extend(values(note).map(|(name, _)| (name.to_string(), "".into())));
    let mut task = json!({
        "run": header(SCRIPT_TEXT).map_or("", |text| &**text),
        "retries": {"max": 3, "delay": "10s", "backoff": "exponential"},
        "timeout": TIMEOUT,
    });
    if let Some(group) = header(SCRIPT_GROUP) {
        task["group"] = json!(**group);
    }
    let description = format!("tells that {} is {}", note.workflow, note.on.as_str());
    json!({"name": name, "description": description, "params": params, "env": env, "tasks": {"alert": task}})
}

/// What it is given.
fn params(id: &str, note: &AlertNote) -> Values {
    let told = told(id, note).into_iter().map(|(name, value)| (format!("alert_{name}").into(), value.into()));
    let values = values(note).map(|(name, value)| (Arc::clone(name), Arc::clone(value)));
    told.chain(values).map(|(name, value): (_, Arc<str>)| (name, expr::Value::Text(value))).collect()
}

#[cfg(test)]
mod tests {
    use windlass_model::RunId;
    use windlass_model::policy::AlertOn;

    use super::*;

    fn note(headers: &[(&str, &str)]) -> AlertNote {
        AlertNote {
            on: AlertOn::Failed,
            workflow: Name::new("nightly").unwrap(),
            run: RunId::from_u64(7),
            logical_time: Wall(0),
            reason: "it's `bad`: ${{ x }} $(y)".into(),
            at: Wall(1),
            url: SCRIPT.into(),
            headers: headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        }
    }

    #[test]
    fn a_script_is_a_workflow_of_one_task_that_is_given_every_value() {
        let text = "echo ${{ params.v1 }} \"$ALERT_REASON\" '$${{'";
        let note = note(&[(SCRIPT_TEXT, text), (SCRIPT_GROUP, "ops"), ("v1", "${{ run.id }}; rm -rf /")]);
        let text = definition(&note).to_string();
        let checked = windlass_workflow::from_text(text.as_bytes()).expect("a definition");
        assert_eq!(checked.definition.name.as_str(), "alert-of-nightly");
        assert_eq!(checked.definition.tasks[0].group.as_ref().map(Name::as_str), Some("ops"));
        let given = params("1-2-3", &note);
        assert_eq!(
            given.keys().cloned().collect::<Vec<_>>(),
            checked
                .definition
                .params
                .iter()
                .map(|param| Arc::from(param.name.as_str()))
                .collect::<std::collections::BTreeSet<Arc<str>>>()
                .into_iter()
                .collect::<Vec<_>>()
        );
        assert_eq!(given["v1"], expr::Value::Text("${{ run.id }}; rm -rf /".into()));
        assert_eq!(given["alert_reason"], expr::Value::Text("it's `bad`: ${{ x }} $(y)".into()));
    }

    #[test]
    fn a_workflow_with_a_very_long_name_is_told_of_too() {
        let mut note = note(&[(SCRIPT_TEXT, "true")]);
        note.workflow = (1..500).rev().find_map(|length| Name::new(&"x".repeat(length)).ok()).unwrap();
        let text = definition(&note).to_string();
        assert!(windlass_workflow::from_text(text.as_bytes()).is_ok());
    }
}
