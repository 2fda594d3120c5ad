//! When a workflow runs by itself.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use windlass_model::policy::{Catchup, Overlap};
use windlass_model::{Duration, Name, Priority};

use super::ValueTemplate;
use crate::cron::Rule;

/// A time zone with the name it was asked for by.
#[derive(Clone, Debug)]
pub struct Zone {
    /// Its name in the time zone database.
    pub name: Arc<str>,
    /// Its rules.
    pub zone: TimeZone,
}

impl Zone {
    /// Coordinated universal time.
    pub fn utc() -> Zone {
        Zone { name: "UTC".into(), zone: TimeZone::UTC }
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// One rule by which a workflow runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// What it is called; without a name, its rule and zone identify it across versions.
    pub id: Option<Name>,
    /// When it fires.
    pub rule: Rule,
    /// The zone whose clock the rule follows.
    pub zone: Zone,
    /// What becomes of missed firings.
    pub catchup: Catchup,
    /// What happens while an earlier run is open.
    pub overlap: Overlap,
    /// Each firing starts up to so much later, spread evenly.
    pub jitter: Duration,
    /// Nothing fires before this.
    pub start: Option<Timestamp>,
    /// Nothing fires at or after this.
    pub end: Option<Timestamp>,
    /// Days on which it fires or does not.
    pub calendar: CalendarUse,
    /// Parameters of the runs it starts.
    pub params: Vec<(Arc<str>, ValueTemplate)>,
    /// Priority of the runs it starts, instead of the workflow's.
    pub priority: Option<Priority>,
}

impl Schedule {
    /// What identifies it among the schedules of its workflow, the same across versions.
    pub fn identity(&self) -> String {
        match &self.id {
            Some(id) => id.to_string(),
            // `@every` counts elapsed time: no zone is part of it.
            None if self.rule.is_every() => self.rule.to_string(),
            None => format!("{} {}", self.rule, self.zone.name),
        }
    }
}

/// Calendars that a schedule obeys, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalendarUse {
    /// It does not fire on the days of these.
    pub exclude: Vec<Name>,
    /// It fires only on the days of all of these.
    pub require: Vec<Name>,
}
