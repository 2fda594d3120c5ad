//! Executions of workflows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::jobs::JobCounts;
use crate::words::words;
use crate::{Priority, RunState, Time};

/// The most labels of a run, and the most characters of a label's name and of its value.
pub const MOST_LABELS: usize = 50;
/// See [`MOST_LABELS`].
pub const LABEL_NAME: usize = 100;
/// See [`MOST_LABELS`].
pub const LABEL_VALUE: usize = 250;

/// One execution of a workflow version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Run {
    /// 13 characters; increasing with the time of creation.
    pub id: String,
    /// Name of the workflow.
    pub workflow: String,
    /// The stored version that runs; null for a definition that came with the call.
    pub version: Option<u32>,
    /// Where it is.
    pub state: RunState,
    /// Why it is in this state.
    pub reason: String,
    /// How urgent it is.
    pub priority: Priority,
    /// What it was given, and the defaults of the rest.
    pub params: BTreeMap<String, Value>,
    /// The due time that it is about; never the start time.
    pub logical_time: Time,
    /// When it was created.
    pub created_at: Time,
    /// When its first job began.
    pub started_at: Option<Time>,
    /// When it ended.
    pub finished_at: Option<Time>,
    /// Who created it.
    pub created_by: String,
    /// What made it.
    pub trigger: Trigger,
    /// Not to begin before this moment.
    #[serde(default)]
    pub run_at: Option<Time>,
    /// Only this task and those after it were asked for.
    #[serde(default)]
    pub from_task: Option<String>,
    /// Only this task was asked for.
    #[serde(default)]
    pub only_task: Option<String>,
    /// What it was marked with.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The slice of everything in which it lives.
    pub shard: u32,
    /// Name of the master that owns the shard; null while nobody does.
    pub owner: Option<String>,
    /// Number of that ownership.
    pub epoch: u64,
    /// How many jobs are in each state.
    pub job_counts: JobCounts,
}

/// What made a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Trigger {
    /// Somebody asked for it.
    Call,
    /// A job whose task is this workflow.
    Parent {
        /// The run of that job.
        run: String,
        /// Its number.
        job: u32,
    },
    /// Somebody had a run done again.
    Rerun {
        /// The earlier run.
        run: String,
    },
    /// A schedule fired.
    Schedule {
        /// Id of the schedule.
        schedule: String,
        /// When it was due.
        due: Time,
    },
    /// A run of another workflow ended.
    After {
        /// That run.
        run: String,
    },
    /// A campaign over past firings.
    Backfill {
        /// Its id.
        backfill: String,
    },
}

/// Body of `POST /runs`: a stored workflow or a definition, not both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateRun {
    /// Name of a stored workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// A definition for this run only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Definition>,
    /// Parameters by name. A text is read as the parameter's type.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// Instead of the workflow's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Not to begin before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_at: Option<Time>,
    /// The due time that it is about; the time of the call unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical_time: Option<Time>,
    /// Only this task and those after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_task: Option<String>,
    /// Only this task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_task: Option<String>,
    /// Marks for people: at most 50, each with a name of 1 to 100 and a value of up to 250 characters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// A workflow definition: an object in the shape of a workflow file, or the text of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Definition {
    /// YAML or JSON text.
    Text(String),
    /// An object; anything else is refused with a diagnostic.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    Object(Value),
}

/// Which runs `GET /runs` lists, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct ListRuns {
    /// Only those in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<RunState>,
    /// Only those of this workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(pattern = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$"))]
    pub workflow: Option<String>,
    /// Only those created at or after this moment; a duration such as `2h` is one that long ago.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        param(
            pattern = "^([1-9][0-9]{0,2}(ms|s|m|h|d|w)|20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)$"
        )
    )]
    pub since: Option<String>,
    /// Only those whose id begins so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_prefix: Option<String>,
    /// At most this many, up to 1000; 100 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

words! {
    /// What is tried again when a run is recovered.
    #[derive(Default)]
    pub enum RecoverFrom {
        /// What failed or was stopped.
        #[default]
        Failed = "failed",
        /// Only what was stopped.
        Current = "current",
    }
}

/// Body of `POST /runs/{id}:recover`; may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Recover {
    /// What is tried again.
    #[serde(default)]
    pub from: RecoverFrom,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_not_known_is_refused() {
        let refused = serde_json::from_str::<CreateRun>(r#"{"workflow": "a", "parms": {}}"#).unwrap_err();
        assert!(refused.to_string().contains("unknown field `parms`"), "{refused}");
    }

    #[test]
    fn a_definition_is_text_or_an_object() {
        let text: CreateRun = serde_json::from_str(r#"{"definition": "name: a"}"#).unwrap();
        assert_eq!(text.definition, Some(Definition::Text("name: a".into())));
        let object: CreateRun = serde_json::from_str(r#"{"definition": {"name": "a"}}"#).unwrap();
        assert_eq!(object.definition, Some(Definition::Object(serde_json::json!({"name": "a"}))));
    }

    #[test]
    fn what_made_a_run_says_its_kind() {
        let after = Trigger::After { run: "0ABC".into() };
        assert_eq!(
            serde_json::to_value(&after).unwrap(),
            serde_json::json!({"kind": "after", "run": "0ABC"})
        );
        assert_eq!(serde_json::to_value(Trigger::Call).unwrap(), serde_json::json!({"kind": "call"}));
    }
}
