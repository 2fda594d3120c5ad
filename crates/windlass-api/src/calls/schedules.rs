//! Schedules, their ledger, and cron rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use windlass_core::rows::ScheduleRow;
use windlass_core::shard::input::Call;
use windlass_core::time::Wall;
use windlass_model::Name;
use windlass_rest::cron::{CronNext, CronQuery, CronTime};
use windlass_rest::schedules::{ListSchedules, NextQuery, Schedule};
use windlass_rest::{Page, PageQuery, ProblemCode, Time};
use windlass_store::Store;
use windlass_workflow::cron::{Calendar, CalendarRule, Rule, zone};
use windlass_workflow::definition;

use crate::answers::{self, Answer};
use crate::api::{Api, workflow_name};
use crate::asked::{self, Asked};
use crate::refusal::Refusal;
use crate::views;

/// How many moments are told when nobody says.
const USUAL_TIMES: u32 = 5;
/// Due times that are looked at for one that a calendar allows: years of a daily rule.
const MOST_LOOKS: usize = 10_000;

/// Some schedules, by id.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    let query: ListSchedules = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let workflow = query.workflow.map(|name| workflow_name(&name)).transpose()?;
    let after = query.cursor.as_deref().map(parts).transpose();
    let after = after.map_err(|_| Refusal::bad_request("the cursor is not one of this list"))?;
    let after = after.as_ref().map(|(name, schedule)| (name, *schedule));
    let mut rows = api.store().schedules(workflow.as_ref(), after, limit + 1).await?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next_cursor =
        rows.last().filter(|_| more).map(|last| views::schedules::id(&last.workflow, &last.schedule));
    let calendars = calendars(api).await;
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        items.extend(shown(api, &row, &calendars).await?);
    }
    answers::ok(&Page { items, next_cursor })
}

/// One schedule.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, id: &str, asked: &Asked) -> Answer {
    asked.no_query()?;
    answers::ok(&one(api, id).await?)
}

/// Has a schedule fire no more, or again.
pub async fn pause<S: Store + 'static>(api: &Arc<Api<S>>, id: &str, paused: bool, asked: Asked) -> Answer {
    asked.no_query()?;
    asked.nothing().await?;
    let row = found(api, id).await?;
    let call = Call::PauseSchedule(row.workflow.clone(), Arc::clone(&row.schedule), paused);
    api.handle.done(api.handle.home(&row.workflow), call, api.wait()).await?;
    answers::ok(&one(api, id).await?)
}

/// What became of due moments, newest first.
pub async fn firings<S: Store + 'static>(api: &Arc<Api<S>>, id: &str, asked: &Asked) -> Answer {
    let query: PageQuery = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let before = query.cursor.as_deref().map(str::parse::<i64>).transpose();
    let before = before.map_err(|_| Refusal::bad_request("the cursor is not one of this list"))?;
    let (workflow, schedule) = parts(id)?;
    let mut rows = api.store().firings(&workflow, schedule, before.map(Wall), limit + 1).await?;
    if rows.is_empty() {
        // One that is gone still has its ledger; one that never was has none.
        found(api, id).await?;
    }
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next_cursor = rows.last().filter(|_| more).map(|last| last.first_due.0.to_string());
    answers::ok(&Page { items: rows.iter().map(views::schedules::firing).collect(), next_cursor })
}

/// When a schedule is due next.
pub async fn next<S: Store + 'static>(api: &Arc<Api<S>>, id: &str, asked: &Asked) -> Answer {
    let query: NextQuery = asked.query()?;
    let count = asked::within("count", query.count, USUAL_TIMES)?;
    let row = found(api, id).await?;
    let Some(rule) = rule(api, &row).await? else { return Err(not_found(id)) };
    let times =
        due(&rule, &row, &calendars(api).await, api.now().timestamp()).take(count).collect::<Vec<_>>();
    answers::ok(&CronNext {
        items: moments(&rule.zone.zone, &times),
        description: Some(rule.rule.describe()),
    })
}

/// When a rule fires next.
pub fn cron_next<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    let query: CronQuery = asked.query()?;
    let count = asked::within("count", query.count, USUAL_TIMES)?;
    let wrong = |what: &str, error: windlass_workflow::TextError| {
        let refusal = Refusal::bad_request(format!("`{what}`: {}", error.message));
        match error.help {
            Some(help) => refusal.hint(help),
            None => refusal,
        }
    };
    let rule = Rule::parse(&query.expr).map_err(|error| wrong("expr", error))?;
    let zone = zone(query.tz.as_deref().unwrap_or("UTC")).map_err(|error| wrong("tz", error))?;
    let from = query.from.unwrap_or_else(|| api.now()).timestamp();
    let times: Vec<_> = rule.upcoming(&zone, from, from).take(count).collect();
    answers::ok(&CronNext { items: moments(&zone, &times), description: Some(rule.describe()) })
}

fn moments(zone: &TimeZone, times: &[Timestamp]) -> Vec<CronTime> {
    let moment = |time: &Timestamp| CronTime {
        time: Time::from(*time),
        local: Some(time.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()),
    };
    times.iter().map(moment).collect()
}

async fn one<S: Store + 'static>(api: &Arc<Api<S>>, id: &str) -> Result<Schedule, Refusal> {
    let row = found(api, id).await?;
    shown(api, &row, &calendars(api).await).await?.ok_or_else(|| not_found(id))
}

/// A schedule; `None` if its workflow has lost it meanwhile.
async fn shown<S: Store + 'static>(
    api: &Arc<Api<S>>,
    row: &ScheduleRow,
    calendars: &Calendars,
) -> Result<Option<Schedule>, Refusal> {
    let Some(workflow) = api.store().workflow(&row.workflow).await? else { return Ok(None) };
    let Some(rule) = rule(api, row).await? else { return Ok(None) };
    let last = api.store().firings(&row.workflow, &row.schedule, None, 1).await?;
    let next = due(&rule, row, calendars, api.now().timestamp()).next();
    let next = next.filter(|_| workflow.enabled && !row.paused).map(Time::from);
    Ok(Some(views::schedules::schedule(row, &rule, workflow.enabled, next, last.first())))
}

/// The rule of a schedule, in the version that its workflow has.
async fn rule<S: Store + 'static>(
    api: &Arc<Api<S>>,
    row: &ScheduleRow,
) -> Result<Option<definition::Schedule>, Refusal> {
    let Some(workflow) = api.store().workflow(&row.workflow).await? else { return Ok(None) };
    let definition = api.handle.definition(&row.workflow, workflow.version).await?;
    Ok(definition.and_then(|definition| {
        definition.schedules.iter().find(|rule| rule.identity() == *row.schedule).cloned()
    }))
}

type Calendars = Arc<BTreeMap<Name, Calendar>>;

async fn calendars<S: Store + 'static>(api: &Arc<Api<S>>) -> Calendars {
    let calendars = api.handle.inspect(|master, _| Arc::clone(&master.globals().calendars)).await;
    calendars.unwrap_or_default()
}

/// When a schedule is due, with calendars, start and end obeyed. A calendar that is not known allows nothing.
fn due<'a>(
    rule: &'a definition::Schedule,
    row: &ScheduleRow,
    calendars: &'a Calendars,
    now: Timestamp,
) -> impl Iterator<Item = Timestamp> + 'a {
    let anchor = Timestamp::from_millisecond(row.anchor.0).unwrap_or(now);
    // A moment before its start is not due, and its start itself is.
    let before_start =
        rule.start.and_then(|start| start.checked_sub(jiff::SignedDuration::from_millis(1)).ok());
    let from = before_start.map_or(now, |start| start.max(now));
    let find = |names: &[Name]| names.iter().map(|name| calendars.get(name)).collect::<Option<Vec<_>>>();
    let used = find(&rule.calendar.exclude).zip(find(&rule.calendar.require));
    let used = used.map(|(exclude, require)| CalendarRule { exclude, require });
    rule.rule
        .upcoming(&rule.zone.zone, anchor, from)
        .take(MOST_LOOKS)
        .take_while(|due| rule.end.is_none_or(|end| *due < end))
        .filter(move |due| used.as_ref().is_some_and(|used| used.allows_firing(&rule.zone.zone, *due)))
}

/// A stored schedule.
async fn found<S: Store + 'static>(api: &Arc<Api<S>>, id: &str) -> Result<ScheduleRow, Refusal> {
    let (workflow, schedule) = parts(id)?;
    let rows = api.store().schedules(Some(&workflow), None, usize::from(u16::MAX)).await?;
    rows.into_iter().find(|row| &*row.schedule == schedule).ok_or_else(|| not_found(id))
}

/// The two parts of an id.
fn parts(id: &str) -> Result<(Name, &str), Refusal> {
    let (workflow, schedule) = id.split_once('@').ok_or_else(|| not_found(id))?;
    Ok((Name::new(workflow).map_err(|_| not_found(id))?, schedule))
}

fn not_found(id: &str) -> Refusal {
    let shown: String = id.chars().take(100).collect();
    Refusal::new(ProblemCode::ScheduleNotFound, format!("there is no schedule `{shown}`"))
        .hint("an id is WORKFLOW@NAME; `windlass schedules list` shows them")
}
