//! When a schedule fires: cron rules, time zones and calendars.
//!
//! A [`Rule`] is read once and then answers, for any zone and moment, when it fires next and when it
//! fired last. Nothing here looks at a clock: the moment comes in as an argument, and the zones come
//! from the database inside the program, so that every master gives the same answer.
//!
//! Deliberately absent: overlap, catching up and jitter. They are decisions about firings, and this
//! module only says when firings are due.

mod rule;

mod grammar;

mod fields;

mod set;

mod firing;

mod describe;

mod zone;

mod calendar;

pub use calendar::{Calendar, CalendarRule};
pub use firing::Upcoming;
pub use rule::{LONGEST_TEXT, Rule};
pub use zone::zone;
