//! What the expressions of a run can read.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use windlass_workflow::expr::{Lookup, Scope, Value};

use super::open_run::{Done, OpenRun, Phase};
use crate::rows::{Trigger, Values};

/// The names of one run, and of one item of a task with `foreach`.
pub struct RunScope<'a> {
    pub run: &'a OpenRun,
    pub item: Option<(u32, Value)>,
}

impl Scope for RunScope<'_> {
    fn zone(&self) -> &TimeZone {
        self.run.definition.time_zone()
    }

    fn lookup(&self, root: &str, path: &[Arc<str>]) -> Lookup {
        match root {
            "params" => match path.first() {
                Some(name) => match self.run.row.params.get(name) {
                    Some(value) => Lookup::Found { value: value.clone(), used: 1 },
                    None => {
                        Lookup::Missing { depth: 1, known: self.run.row.params.keys().cloned().collect() }
                    }
                },
                None => Lookup::Found { value: map(&self.run.row.params), used: 0 },
            },
            "run" => match path.first() {
                Some(field) => self.run_field(field).map_or_else(
                    || Lookup::Missing { depth: 1, known: Vec::new() },
                    |value| Lookup::Found { value, used: 1 },
                ),
                None => Lookup::Missing { depth: 1, known: Vec::new() },
            },
            "tasks" => self.task_field(path),
            "item" => match &self.item {
                Some((_, value)) => Lookup::Found { value: value.clone(), used: 0 },
                None => Lookup::Missing { depth: 0, known: Vec::new() },
            },
            "index" => match self.item {
                Some((index, _)) => Lookup::Found { value: Value::Int(i64::from(index)), used: 0 },
                None => Lookup::Missing { depth: 0, known: Vec::new() },
            },
            _ => Lookup::Missing { depth: 0, known: Vec::new() },
        }
    }
}

impl RunScope<'_> {
    fn run_field(&self, field: &str) -> Option<Value> {
        let row = &self.run.row;
        let moment = |wall: crate::time::Wall| {
            let moment = Timestamp::from_millisecond(wall.0).ok()?;
            Some(Value::Time(moment.to_zoned(self.zone().clone())))
        };
        let text = |text: &str| Some(Value::Text(text.into()));
        match field {
            "id" => text(&row.id.to_string()),
            "workflow" => text(row.workflow.as_str()),
            "version" => Some(row.version.map_or(Value::Null, |version| Value::Int(i64::from(version)))),
            "logical_time" => moment(row.logical_time),
            "created_at" => moment(row.created_at),
            "created_by" => text(&row.created_by),
            "trigger" => text(match row.trigger {
                Trigger::Call => "call",
                Trigger::Parent(_) => "parent",
                Trigger::Rerun(_) => "rerun",
                Trigger::Schedule(..) => "schedule",
                Trigger::After(_) => "after",
                Trigger::Backfill(_) => "backfill",
            }),
            _ => None,
        }
    }

    fn task_field(&self, path: &[Arc<str>]) -> Lookup {
        let missing = |depth| Lookup::Missing { depth, known: Vec::new() };
        let [id, field, ..] = path else { return missing(path.len() + 1) };
        let Some((index, task)) = self.run.definition.task(id) else { return missing(1) };
        // An expression that reads a task waits for it, so it is done; `finally` may read any.
        let Phase::Done(done) = &self.run.tasks[index.position()].phase else { return missing(2) };
        let value = match &**field {
            "state" => Value::Text(crate::job::State::Ended(done.end).shown().as_str().into()),
            "outputs" if task.foreach.is_some() => all_outputs(done),
            "outputs" => done
                .outputs
                .first()
                .and_then(Option::as_ref)
                .map_or_else(|| map(&Values::new()), |outputs| map(outputs)),
            _ => return missing(2),
        };
        Lookup::Found { value, used: 2 }
    }
}

/// The outputs of a task with `foreach`, by item.
fn all_outputs(done: &Done) -> Value {
    let empty = Values::new();
    Value::List(done.outputs.iter().map(|outputs| map(outputs.as_deref().unwrap_or(&empty))).collect())
}

fn map(values: &Values) -> Value {
    Value::Map(Arc::new(values.clone()))
}
