//! Named days on which schedules fire or do not.

use std::sync::Arc;

use windlass_core::durable::{GlobalKind, Revision};
use windlass_core::time::Wall;
use windlass_master::calendars::StoredCalendar;
use windlass_model::Name;
use windlass_rest::calendars::{Calendar, DESCRIPTION, Day, MOST_DATES, SetCalendar, Weekday};
use windlass_rest::{Page, PageQuery, ProblemCode, Time};
use windlass_store::Store;
use windlass_workflow::cron;

use super::scheduler::applied;
use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::{self, Asked};
use crate::refusal::Refusal;
use crate::roles::Caller;

/// Workflows that are read at once.
const ROWS: usize = 1000;

/// Some calendars, by name.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    let query: PageQuery = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let after = query.cursor.map(|cursor| Name::new(&cursor)).transpose();
    let after = after.map_err(|_| Refusal::bad_request("the cursor is not one of this list"))?;
    let rows = api.store().globals().await?;
    let mut found: Vec<_> = rows
        .iter()
        .filter(|row| row.key.kind == GlobalKind::Calendar)
        .filter(|row| after.as_ref().is_none_or(|after| *row.key.name > *after.as_str()))
        .filter_map(|row| Some((row.key.name.to_string(), StoredCalendar::read(row.value.as_deref()?).ok()?)))
        .collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    let more = found.len() > limit;
    found.truncate(limit);
    let next_cursor = found.last().filter(|_| more).map(|(name, _)| name.clone());
    let items = found.iter().map(|(name, stored)| shown(name, stored, None)).collect();
    answers::ok(&Page { items, next_cursor })
}

/// One calendar.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, name: &str, asked: &Asked) -> Answer {
    asked.no_query()?;
    let name = Name::new(name).map_err(|_| not_found(name))?;
    answers::ok(&one(api, &name).await?)
}

/// Makes a calendar, or changes it; answers when every live master has heard it.
pub async fn set<S: Store + 'static>(api: &Arc<Api<S>>, caller: &Caller, name: &str, asked: Asked) -> Answer {
    asked.no_query()?;
    let name =
        Name::new(name).map_err(|error| Refusal::bad_request(format!("the name of a calendar: {error}")))?;
    let SetCalendar { description, dates, weekdays } = asked.json().await?;
    if dates.len() > MOST_DATES {
        let detail = format!("a calendar may have {MOST_DATES} dates, not {}", dates.len());
        return Err(Refusal::bad_request(detail));
    }
    let plain = |text: &String| text.chars().count() <= DESCRIPTION && !text.chars().any(char::is_control);
    if description.as_ref().is_some_and(|description| !plain(description)) {
        return Err(Refusal::bad_request(format!(
            "a description has up to {DESCRIPTION} characters, none of them control characters"
        )));
    }
    let stored = StoredCalendar {
        calendar: cron::Calendar::new(
            dates.iter().map(|day| day.0),
            weekdays.iter().map(|day| jiff_day(*day)),
        ),
        description: description.map(Into::into),
        by: Some(Arc::clone(&caller.name)),
        at: Some(api.handle.now().wall),
    };
    let key = StoredCalendar::key(&name);
    let seen = api.store().global(&key).await?.map_or(Revision::NONE, |row| row.revision);
    let revision = api.store().set_global(&key, seen, Some(stored.text())).await?;
    tracing::info!(by = &*caller.name, calendar = %name, "a calendar was set");
    applied(api, revision).await?;
    answers::ok(&one(api, &name).await?)
}

/// Deletes a calendar that nobody uses.
pub async fn delete<S: Store + 'static>(api: &Arc<Api<S>>, name: &str, asked: Asked) -> Answer {
    asked.no_query()?;
    asked.nothing().await?;
    let name = Name::new(name).map_err(|_| not_found(name))?;
    let key = StoredCalendar::key(&name);
    let row = api.store().global(&key).await?.filter(|row| row.value.is_some());
    let row = row.ok_or_else(|| not_found(name.as_str()))?;
    let users = users(api, &name).await?;
    if let Some(first) = users.first() {
        let others = match users.len() {
            1 => String::new(),
            count => format!(" and of {} more", count - 1),
        };
        let detail = format!("schedules of workflow `{first}`{others} obey calendar `{name}`");
        return Err(Refusal::new(ProblemCode::InUse, detail)
            .hint("without it they would not fire on any day: take it out of them first"));
    }
    let revision = api.store().set_global(&key, row.revision, None).await?;
    applied(api, revision).await?;
    answers::no_content()
}

async fn one<S: Store + 'static>(api: &Arc<Api<S>>, name: &Name) -> Result<Calendar, Refusal> {
    let row = api.store().global(&StoredCalendar::key(name)).await?;
    let text = row.and_then(|row| row.value).ok_or_else(|| not_found(name.as_str()))?;
    let stored = StoredCalendar::read(&text).map_err(|error| {
        Refusal::new(ProblemCode::Internal, format!("calendar `{name}` cannot be read: {error}"))
    })?;
    Ok(shown(name.as_str(), &stored, Some(users(api, name).await?)))
}

/// The workflows whose schedules obey a calendar, by name.
async fn users<S: Store + 'static>(api: &Arc<Api<S>>, calendar: &Name) -> Result<Vec<String>, Refusal> {
    let mut users = Vec::new();
    let mut after: Option<Name> = None;
    loop {
        let rows = api.store().workflows(after.as_ref(), ROWS).await?;
        let Some(last) = rows.last().map(|row| row.name.clone()) else { return Ok(users) };
        for row in rows {
            let Some(definition) = api.handle.definition(&row.name, row.version).await? else { continue };
            let named = |schedule: &windlass_workflow::definition::Schedule| {
                schedule.calendar.exclude.contains(calendar) || schedule.calendar.require.contains(calendar)
            };
            if definition.schedules.iter().any(named) {
                users.push(row.name.to_string());
            }
        }
        after = Some(last);
    }
}

fn shown(name: &str, stored: &StoredCalendar, used_by: Option<Vec<String>>) -> Calendar {
    let mut weekdays: Vec<_> = stored.calendar.weekdays().map(rest_day).collect();
    weekdays.sort();
    Calendar {
        name: name.to_owned(),
        description: stored.description.as_deref().map(str::to_owned),
        dates: stored.calendar.dates().map(Day).collect(),
        weekdays,
        used_by,
        changed_at: stored.at.map(|Wall(at)| Time::from_unix_ms(at)),
        changed_by: stored.by.as_deref().map(str::to_owned),
    }
}

fn jiff_day(day: Weekday) -> jiff::civil::Weekday {
    use jiff::civil::Weekday as Day;
    match day {
        Weekday::Monday => Day::Monday,
        Weekday::Tuesday => Day::Tuesday,
        Weekday::Wednesday => Day::Wednesday,
        Weekday::Thursday => Day::Thursday,
        Weekday::Friday => Day::Friday,
        Weekday::Saturday => Day::Saturday,
        Weekday::Sunday => Day::Sunday,
    }
}

fn rest_day(day: jiff::civil::Weekday) -> Weekday {
    let same = |other: &&Weekday| jiff_day(**other) == day;
    Weekday::ALL.iter().find(same).copied().unwrap_or(Weekday::Monday)
}

fn not_found(name: &str) -> Refusal {
    let shown: String = name.chars().take(100).collect();
    Refusal::new(ProblemCode::CalendarNotFound, format!("there is no calendar `{shown}`"))
        .hint("`windlass calendars set NAME` makes one")
}
