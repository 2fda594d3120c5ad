//! Schedules and cron rules.

use windlass_rest::cron::{CronNext, CronQuery};
use windlass_rest::schedules::{Firing, ListSchedules, NextQuery, Schedule};
use windlass_rest::{Page, PageQuery};

use super::runs::Nothing;
use crate::error::Error;
use crate::send::Client;

impl Client {
    /// Some schedules, by id.
    pub async fn schedules(&self, query: &ListSchedules) -> Result<Page<Schedule>, Error> {
        self.get(self.api(&["schedules"]), query).await
    }

    /// Has a schedule fire no more, or again.
    pub async fn pause_schedule(&self, id: &str, paused: bool) -> Result<Schedule, Error> {
        let verb = if paused { "pause" } else { "resume" };
        self.act(self.api(&["schedules", &format!("{id}:{verb}")]), &Nothing {}).await
    }

    /// What became of its due moments, newest first.
    pub async fn firings(&self, id: &str, query: &PageQuery) -> Result<Page<Firing>, Error> {
        self.get(self.api(&["schedules", id, "firings"]), query).await
    }

    /// When it is due next.
    pub async fn schedule_next(&self, id: &str, query: &NextQuery) -> Result<CronNext, Error> {
        self.get(self.api(&["schedules", id, "next"]), query).await
    }

    /// When a rule fires next.
    pub async fn cron_next(&self, query: &CronQuery) -> Result<CronNext, Error> {
        self.get(self.api(&["cron", "next"]), query).await
    }
}
