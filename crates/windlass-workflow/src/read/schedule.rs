//! Reads `schedule:`.

use jiff::Timestamp;
use windlass_model::Duration;
use windlass_model::policy::{Catchup, Overlap};

use super::fields::Fields;
use super::report::Report;
use super::scope::{Reads, Scope};
use super::workflow::MAX_PARAMS;
use super::{text, time, values};
use crate::codes::Code;
use crate::cron::{self, Rule};
use crate::definition::{CalendarUse, Schedule, Zone};
use crate::tree::{Node, Value};

/// More schedules of one workflow than anybody reads.
const MAX_SCHEDULES: usize = 100;
/// A firing moved by more than a day is another firing.
const MAX_JITTER: Duration = Duration::from_secs(24 * 3600);

/// A rule, a mapping, or a list of either. `zone` is that of the workflow, if it names one.
pub fn read_all(report: &mut Report, node: &Node, zone: Option<&Zone>) -> Option<Vec<Schedule>> {
    if let Value::List(items) = &node.value
        && items.len() > MAX_SCHEDULES
    {
        let message = format!("{} schedules; a workflow has at most {MAX_SCHEDULES}", items.len());
        report.error(Code::OutOfRange, node.span, message, None);
        return None;
    }
    let schedules = values::one_or_many(report, node, |report, node| read(report, node, zone))?;
    for (index, schedule) in schedules.iter().enumerate() {
        if schedules[..index].iter().any(|earlier| earlier.identity() == schedule.identity()) {
            let message = format!("two schedules are both `{}`", schedule.identity());
            let help = Some("give each an `id` of its own".into());
            let span = match &node.value {
                Value::List(items) => items.get(index).and_then(|item| item.span),
                _ => node.span,
            };
            report.error(Code::DuplicateName, span, message, help);
        }
    }
    Some(schedules)
}

fn read(report: &mut Report, node: &Node, workflow_zone: Option<&Zone>) -> Option<Schedule> {
    let default_zone = || workflow_zone.cloned().unwrap_or_else(Zone::utc);
    if matches!(node.value, Value::Text(..)) {
        let rule = rule(report, node)?;
        return Some(Schedule {
            id: None,
            rule,
            zone: default_zone(),
            catchup: Catchup::Latest,
            overlap: Overlap::Skip,
            jitter: Duration::ZERO,
            start: None,
            end: None,
            calendar: CalendarUse::default(),
            params: Vec::new(),
            priority: None,
        });
    }
    let mut fields = Fields::open(report, node, "a cron rule or a mapping")?;
    let rule = fields.require(report, "cron", rule);
    let id = fields.get(report, "id", text::name);
    let zone = fields.get(report, "timezone", zone_named).unwrap_or_else(default_zone);
    let catchup = fields.get(report, "catchup", |report, node| text::word(report, node, "catch-up policy"));
    let overlap = fields.get(report, "overlap", |report, node| text::word(report, node, "overlap policy"));
    let jitter = fields.get(report, "jitter", jitter);
    let start = fields.get(report, "start", |report, node| moment(report, node, &zone));
    let end = fields.get(report, "end", |report, node| moment(report, node, &zone));
    let end_span = fields.node("end").and_then(|node| node.span);
    let calendar = fields.get(report, "calendar", calendar);
    let params = fields.get(report, "params", |report, node| {
        if let Value::Map(entries) = &node.value
            && entries.len() > MAX_PARAMS
        {
            let message = format!("{} parameters; a workflow has at most {MAX_PARAMS}", entries.len());
            report.error(Code::OutOfRange, node.span, message, None);
            return None;
        }
        let (scope, mut reads) = (Scope::default(), Reads::new());
        values::map(report, node, |report, entry| values::value(report, &entry.node, &scope, &mut reads))
    });
    let priority = fields.get(report, "priority", |report, node| text::word(report, node, "priority"));
    fields.close(report);
    if let (Some(start), Some(end)) = (start, end)
        && end <= start
    {
        report.error(Code::OutOfRange, end_span, "the schedule ends before it starts", None);
    }
    Some(Schedule {
        id,
        rule: rule?,
        zone,
        catchup: catchup.unwrap_or(Catchup::Latest),
        overlap: overlap.unwrap_or(Overlap::Skip),
        jitter: jitter.unwrap_or(Duration::ZERO),
        start,
        end,
        calendar: calendar.unwrap_or_default(),
        params: params.unwrap_or_default(),
        priority,
    })
}

fn rule(report: &mut Report, node: &Node) -> Option<Rule> {
    let rule = text::plain(report, node)?;
    match Rule::parse(rule) {
        Ok(rule) => Some(rule),
        Err(error) => {
            report.text_error(node, error);
            None
        }
    }
}

/// A time zone by name.
pub fn zone_named(report: &mut Report, node: &Node) -> Option<Zone> {
    let name = text::plain(report, node)?;
    match cron::zone(name) {
        Ok(zone) => Some(Zone { name: zone.iana_name().unwrap_or(name).into(), zone }),
        Err(error) => {
            report.text_error(node, error);
            None
        }
    }
}

fn jitter(report: &mut Report, node: &Node) -> Option<Duration> {
    let jitter = text::duration(report, node)?;
    if jitter > MAX_JITTER {
        report.error(
            Code::OutOfRange,
            node.span,
            format!("{jitter} is more than the allowed {MAX_JITTER}"),
            None,
        );
        return None;
    }
    Some(jitter)
}

fn moment(report: &mut Report, node: &Node, zone: &Zone) -> Option<Timestamp> {
    let text = text::plain(report, node)?;
    let moment = time::parse(text, &zone.zone);
    if moment.is_none() {
        let message = format!("`{}` is not a time", super::report::shorten(text));
        let help = "write for example `2026-03-01`, `2026-03-01T06:30:00` or `2026-03-01T06:30:00Z`";
        report.error(Code::BadTime, node.span, message, Some(help.into()));
    }
    moment
}

fn calendar(report: &mut Report, node: &Node) -> Option<CalendarUse> {
    let mut fields = Fields::open(report, node, "a mapping with `exclude` or `require`")?;
    let mut names = |report: &mut Report, key| {
        fields
            .get(report, key, |report, node| values::one_or_many(report, node, text::name))
            .unwrap_or_default()
    };
    let calendar = CalendarUse { exclude: names(report, "exclude"), require: names(report, "require") };
    fields.close(report);
    Some(calendar)
}
