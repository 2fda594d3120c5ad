//! Reads the settings that a task and `defaults:` share.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::policy::{OnWorkerLost, Retries, Timeout, TimeoutAction};
use windlass_model::quantity::Quantity;
use windlass_model::{Duration, Name, Priority};

use super::fields::Fields;
use super::report::Report;
use super::{text, values};
use crate::codes::Code;
use crate::tree::{Node, Value};

/// More attempts than anybody wants to wait for.
const MAX_RETRIES: u32 = 1000;

/// What a task says about how it is run; `None` means "as the defaults have it".
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub retries: Option<Retries>,
    pub timeout: Option<Timeout>,
    pub on_worker_lost: Option<OnWorkerLost>,
    pub orphan_timeout: Option<Duration>,
    pub group: Option<Name>,
    pub worker_labels: Option<BTreeMap<Name, Arc<str>>>,
    pub pool: Option<Name>,
    pub resources: Option<BTreeMap<Name, Quantity>>,
    pub priority: Option<Priority>,
}

impl Settings {
    /// The keys of these settings that make sense only for a task that takes a worker's slot.
    pub const SLOT_KEYS: &[&str] = &["on_worker_lost", "orphan_timeout", "pool", "resources"];
    /// Keys that choose a worker.
    pub const WORKER_KEYS: &[&str] = &["group", "worker_labels"];

    /// Reads the settings out of a task or `defaults:`, over those of `defaults`.
    pub fn read(report: &mut Report, fields: &mut Fields<'_>, defaults: &Settings) -> Settings {
        let retries = fields.get(report, "retries", |report, node| retries(report, node, defaults.retries));
        let timeout = fields.get(report, "timeout", timeout);
        let on_worker_lost = fields.get(report, "on_worker_lost", on_worker_lost);
        let orphan_timeout = fields.get(report, "orphan_timeout", text::positive_duration);
        let group = fields.get(report, "group", text::name);
        let worker_labels = fields.get(report, "worker_labels", labels);
        let pool = fields.get(report, "pool", text::name);
        let resources = fields.get(report, "resources", resources);
        let priority = fields.get(report, "priority", |report, node| text::word(report, node, "priority"));
        Settings {
            retries: retries.or(defaults.retries),
            timeout: timeout.or(defaults.timeout),
            on_worker_lost: on_worker_lost.or(defaults.on_worker_lost),
            orphan_timeout: orphan_timeout.or(defaults.orphan_timeout),
            group: group.or_else(|| defaults.group.clone()),
            worker_labels: worker_labels.or_else(|| defaults.worker_labels.clone()),
            pool: pool.or_else(|| defaults.pool.clone()),
            resources: resources.or_else(|| defaults.resources.clone()),
            priority: priority.or(defaults.priority),
        }
    }
}

/// `retries: 3`, or the long form; what it does not say is as in `defaults`.
fn retries(report: &mut Report, node: &Node, defaults: Option<Retries>) -> Option<Retries> {
    let base = defaults.unwrap_or(Retries::NONE);
    if let Value::Int(_) = node.value {
        return Some(Retries { max: text::number(report, node, 0, MAX_RETRIES)?, ..base });
    }
    let mut fields = Fields::open(report, node, "a number of retries or a mapping")?;
    let max = fields.get(report, "max", |report, node| text::number(report, node, 0, MAX_RETRIES));
    let delay = fields.get(report, "delay", text::duration);
    let backoff = fields.get(report, "backoff", |report, node| text::word(report, node, "backoff"));
    let max_delay = fields.get(report, "max_delay", text::duration);
    let span = fields.node("max_delay").map_or(node.span, |node| node.span);
    fields.close(report);
    let read = Retries {
        max: max.unwrap_or(base.max),
        delay: delay.unwrap_or(base.delay),
        backoff: backoff.unwrap_or(base.backoff),
        max_delay: max_delay.unwrap_or(base.max_delay.max(delay.unwrap_or(base.delay))),
    };
    if read.max_delay < read.delay {
        let message = format!("`max_delay` ({}) is shorter than `delay` ({})", read.max_delay, read.delay);
        report.error(Code::OutOfRange, span, message, None);
    }
    Some(read)
}

/// `timeout: 20m`, or `{after: 20m, then: warn}`.
pub fn timeout(report: &mut Report, node: &Node) -> Option<Timeout> {
    if !matches!(node.value, Value::Map(_)) {
        let after = text::positive_duration(report, node)?;
        return Some(Timeout { after, then: TimeoutAction::Fail });
    }
    let mut fields = Fields::open(report, node, "a duration or a mapping")?;
    let after = fields.require(report, "after", text::positive_duration);
    let then = fields.get(report, "then", |report, node| text::word(report, node, "timeout action"));
    fields.close(report);
    Some(Timeout { after: after?, then: then.unwrap_or(TimeoutAction::Fail) })
}

/// `on_worker_lost: fail`, or `{then: retry, max: 3}`.
fn on_worker_lost(report: &mut Report, node: &Node) -> Option<OnWorkerLost> {
    let base = OnWorkerLost::default();
    if !matches!(node.value, Value::Map(_)) {
        return Some(OnWorkerLost { then: text::word(report, node, "policy")?, ..base });
    }
    let mut fields = Fields::open(report, node, "a word or a mapping")?;
    let then = fields.get(report, "then", |report, node| text::word(report, node, "policy"));
    let max = fields.get(report, "max", |report, node| text::number(report, node, 0, MAX_RETRIES));
    fields.close(report);
    Some(OnWorkerLost { then: then.unwrap_or(base.then), max: max.unwrap_or(base.max) })
}

/// Labels: names and texts.
pub fn labels(report: &mut Report, node: &Node) -> Option<BTreeMap<Name, Arc<str>>> {
    named_map(report, node, text::label)
}

fn resources(report: &mut Report, node: &Node) -> Option<BTreeMap<Name, Quantity>> {
    named_map(report, node, text::quantity)
}

fn named_map<T>(
    report: &mut Report,
    node: &Node,
    mut read: impl FnMut(&mut Report, &Node) -> Option<T>,
) -> Option<BTreeMap<Name, T>> {
    let pairs = values::map(report, node, |report, entry| {
        let name = text::named(report, entry.key_span, &entry.key, Name::new);
        let value = read(report, &entry.node);
        name.zip(value)
    })?;
    Some(pairs.into_iter().map(|(_, pair)| pair).collect())
}
