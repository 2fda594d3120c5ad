//! `calendars`: named days on which schedules fire or do not.

use clap::{Args, Subcommand};
use serde_json::json;
use windlass_rest::calendars::{Calendar, Day, SetCalendar, Weekday};
use windlass_rest::problem::Exit;
use windlass_rest::{PageQuery, ProblemCode};
use windlass_workflow::diagnostic::did_you_mean;

use super::names::says;
use super::output::Column;
use super::session::{Session, all};
use super::times::ago_if;
use super::words;
use crate::exit::Failure;

/// Calendars.
#[derive(Debug, Subcommand)]
pub enum Calendars {
    /// List calendars
    #[command(after_help = "Example:\n  windlass calendars list")]
    List,
    /// Show a calendar and which workflows use it
    #[command(after_help = "Example:\n  windlass calendars show holidays")]
    Show(Named),
    /// Make a calendar, or say anew which days it has
    Set(Set),
    /// Delete a calendar that no schedule obeys
    #[command(after_help = "Example:\n  windlass calendars delete holidays")]
    Delete(Named),
}

/// A calendar.
#[derive(Debug, Args)]
pub struct Named {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
}

/// The days of a calendar.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass calendars set holidays --date 2026-12-25 --date 2026-12-26
  windlass calendars set weekend --weekday saturday --weekday sunday")]
pub struct Set {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// A day, such as 2026-12-25; may be repeated
    #[arg(long = "date", value_name = "DATE", value_parser = |text: &str| text.parse::<Day>())]
    dates: Vec<Day>,
    /// A day of every week, such as sunday; may be repeated
    #[arg(long = "weekday", value_name = "DAY", value_parser = words::weekday)]
    weekdays: Vec<Weekday>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

const COLUMNS: &[Column<Calendar>] = &[
    ("CALENDAR", |calendar| calendar.name.clone()),
    ("WEEKDAYS", |calendar| weekdays(calendar)),
    ("DATES", |calendar| calendar.dates.len().to_string()),
    ("CHANGED", |calendar| ago_if(calendar.changed_at)),
];

const WIDE: &[Column<Calendar>] = &[
    ("BY", |calendar| calendar.changed_by.clone().unwrap_or_default()),
    ("DESCRIPTION", |calendar| calendar.description.clone().unwrap_or_default()),
];

fn weekdays(calendar: &Calendar) -> String {
    calendar.weekdays.iter().map(|day| day.as_str()).collect::<Vec<_>>().join(",")
}

impl Calendars {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let out = &session.out;
        match self {
            Calendars::List => {
                let hint = "no calendars; make one with: windlass calendars set NAME --date DATE";
                out.list(&every(session).await?, COLUMNS, WIDE, hint)?;
            }
            Calendars::Show(Named { name }) => {
                let calendar = known(session, &name, session.client.calendar(&name).await).await?;
                out.one(&calendar, &calendar.name, |out| {
                    let dates: Vec<_> = calendar.dates.iter().map(ToString::to_string).collect();
                    out.fields(&[
                        ("calendar", calendar.name.clone()),
                        ("description", calendar.description.clone().unwrap_or_default()),
                        ("weekdays", weekdays(&calendar)),
                        ("dates", dates.join(" ")),
                        ("used by", calendar.used_by.clone().unwrap_or_default().join(" ")),
                        ("changed", ago_if(calendar.changed_at)),
                        ("by", calendar.changed_by.clone().unwrap_or_default()),
                    ])
                })?;
            }
            Calendars::Set(Set { name, dates, weekdays: days, description }) => {
                let set = SetCalendar { description, dates, weekdays: days };
                let calendar = session.client.set_calendar(&name, &set).await?;
                let said = format!(
                    "{} has {} dates and {} weekdays",
                    calendar.name,
                    calendar.dates.len(),
                    calendar.weekdays.len()
                );
                out.one(&calendar, &calendar.name, |out| out.line(said))?;
            }
            Calendars::Delete(Named { name }) => {
                known(session, &name, session.client.delete_calendar(&name).await).await?;
                let gone = json!({"name": name, "deleted": true});
                out.one(&gone, &name, |out| out.line(format!("{name} deleted")))?;
            }
        }
        Ok(Exit::Fine)
    }
}

async fn every(session: &Session) -> Result<Vec<Calendar>, windlass_client::Error> {
    all(
        usize::MAX,
        |limit, cursor| async move { session.client.calendars(&PageQuery { limit, cursor }).await },
    )
    .await
}

/// What came of a call; one that found nothing gets a suggestion.
async fn known<T>(
    session: &Session,
    name: &str,
    result: Result<T, windlass_client::Error>,
) -> Result<T, Failure> {
    match result {
        Err(error) if says(&error, ProblemCode::CalendarNotFound) => {
            let calendars = every(session).await.unwrap_or_default();
            let near = did_you_mean(name, calendars.iter().map(|calendar| calendar.name.as_str()));
            let failure = Failure::from(error);
            Err(match near {
                Some(near) => failure.hint(near),
                None => failure,
            })
        }
        result => Ok(result?),
    }
}
