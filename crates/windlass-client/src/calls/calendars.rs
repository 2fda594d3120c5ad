//! Named days on which schedules fire or do not.

use windlass_rest::calendars::{Calendar, SetCalendar};
use windlass_rest::{Page, PageQuery};

use crate::error::Error;
use crate::send::{Body, Client};

impl Client {
    /// Some calendars, by name.
    pub async fn calendars(&self, query: &PageQuery) -> Result<Page<Calendar>, Error> {
        self.get(self.api(&["calendars"]), query).await
    }

    /// One calendar, with who uses it.
    pub async fn calendar(&self, name: &str) -> Result<Calendar, Error> {
        self.get(self.api(&["calendars", name]), &()).await
    }

    /// Makes a calendar, or changes it.
    pub async fn set_calendar(&self, name: &str, calendar: &SetCalendar) -> Result<Calendar, Error> {
        self.put(self.api(&["calendars", name]), Body::json(calendar)).await
    }

    /// Deletes a calendar.
    pub async fn delete_calendar(&self, name: &str) -> Result<(), Error> {
        self.delete(self.api(&["calendars", name])).await
    }
}
