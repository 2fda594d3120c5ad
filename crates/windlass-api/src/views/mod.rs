//! What the master and its store know, in the shapes of the interface.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_core::rows::Values;
use windlass_core::time::Wall;
use windlass_rest::Time;

pub mod backfills;
pub mod diagnostics;
pub mod jobs;
pub mod runs;
pub mod schedules;
pub mod why;
pub mod workers;

/// A moment.
pub fn time(wall: Wall) -> Time {
    Time::from_unix_ms(wall.0)
}

/// Values by name; what JSON cannot say is null.
pub fn values(values: &Values) -> BTreeMap<String, Value> {
    let json = |value: &windlass_workflow::expr::Value| value.to_json().unwrap_or(Value::Null);
    values.iter().map(|(name, value)| (name.to_string(), json(value))).collect()
}
