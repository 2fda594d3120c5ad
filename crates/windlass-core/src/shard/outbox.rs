//! What is told until it was heard: completions to workflows that listen, alerts to people.
//!
//! ```text
//! something happens ── the change and its outbox row, one commit ──► told ──► heard ── the row goes
//!                                                                     ▲ again, ever more slowly │
//! ```
//!
//! Whoever is told may be told twice, and knows it by the id, which is never used again.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::policy::AlertOn;
use windlass_model::{Duration, Name};
use windlass_workflow::Definition;
use windlass_workflow::definition::{Alert, AlertChannel};
use windlass_workflow::expr::{Fuel, Scope};
use windlass_workflow::template::{Segment, Template};

use super::Shard;
use super::create::{counts, new_row};
use super::input::{Decision, Message, ToHome};
use super::open_run::OpenRun;
use super::scope::RunScope;
use super::timers::Timer;
use crate::rows::{AlertNote, Change, Errand, OutboxId, OutboxRow, Stamp, Trigger};
use crate::run;
use crate::time::{Mono, Now, Wall};

/// How long after the first try the second comes; each wait is twice the one before.
const FIRST_AGAIN: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const MOST_AGAIN: Duration = Duration::from_secs(300);

/// What is to be told.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    entries: BTreeMap<OutboxId, Entry>,
    /// What homes of other workflows are to be told, by source and by whom, in order: one at a time.
    completions: BTreeMap<(Name, Name), std::collections::BTreeSet<OutboxId>>,
}

#[derive(Debug)]
struct Entry {
    errand: Errand,
    /// When it is told again.
    next: Mono,
    /// How long the wait after that is.
    wait: Duration,
}

impl Shard {
    /// The next place in the order of what this shard says.
    pub(super) fn stamp(&mut self) -> Stamp {
        self.asks += 1;
        Stamp { epoch: self.epoch, counter: self.asks }
    }

    /// Something is to be told, stored with what caused it.
    pub(super) fn post(&mut self, now: Now, errand: Errand, out: &mut Decision) {
        let id = OutboxId { shard: self.id, stamp: self.stamp() };
        out.changes.push(Change::Outbox(OutboxRow { id, errand: errand.clone() }));
        self.enter(now, id, errand);
    }

    /// What was to be told before a load is told now.
    pub(super) fn restore_outbox(&mut self, now: Now, rows: Vec<OutboxRow>) {
        for row in rows {
            self.enter(now, row.id, row.errand);
        }
    }

    fn enter(&mut self, now: Now, id: OutboxId, errand: Errand) {
        if let Some(line) = line(&errand) {
            self.outbox.completions.entry(line).or_default().insert(id);
        }
        self.outbox.entries.insert(id, Entry { errand, next: now.mono, wait: FIRST_AGAIN });
        self.timers.at(now.mono, Timer::Tell(id));
    }

    /// Something is due to be told, for the first time or again.
    pub(super) fn tell_outbox(&mut self, now: Now, id: OutboxId, out: &mut Decision) {
        let Some(entry) = self.outbox.entries.get_mut(&id) else { return };
        if entry.next > now.mono {
            return;
        }
        // Whoever is told keeps one mark for each source, so it is told in order.
        if let Some(line) = line(&entry.errand)
            && self.outbox.completions.get(&line).and_then(|line| line.first()) != Some(&id)
        {
            return;
        }
        let message = match &entry.errand {
            Errand::Alert(note) => Message::Deliver(id, Arc::clone(note)),
            Errand::Completion { listener, completion } => {
                Message::ToHome(listener.clone(), ToHome::Completed(id, completion.clone()))
            }
            Errand::Stage(next) => {
                Message::ToHome(next.stage.workflow.clone(), ToHome::NextStage(id, Arc::clone(next)))
            }
        };
        out.messages.push(message);
        entry.next = now.mono.after(entry.wait);
        entry.wait = Duration::from_millis(entry.wait.as_millis().saturating_mul(2)).min(MOST_AGAIN);
        self.timers.at(entry.next, Timer::Tell(id));
    }

    /// Something was heard; hearing it twice is harmless.
    pub(super) fn delivered(&mut self, now: Now, id: OutboxId, out: &mut Decision) {
        let Some(entry) = self.outbox.entries.remove(&id) else { return };
        out.changes.push(Change::OutboxGone(id));
        let Some(key) = line(&entry.errand) else { return };
        let Some(line) = self.outbox.completions.get_mut(&key) else { return };
        line.remove(&id);
        match line.first().copied() {
            Some(next) => {
                if let Some(entry) = self.outbox.entries.get_mut(&next) {
                    entry.next = now.mono;
                }
                self.timers.at(now.mono, Timer::Tell(next));
            }
            None => {
                self.outbox.completions.remove(&key);
            }
        }
    }

    /// A run has ended: who wants to know is told.
    pub(super) fn alert_end(&mut self, now: Now, run: &OpenRun, end: run::End, out: &mut Decision) {
        let on = match end {
            run::End::Success => AlertOn::Success,
            run::End::Failed => AlertOn::Failed,
            run::End::Stopped => AlertOn::Stopped,
        };
        self.alert(now, run, on, &Arc::clone(&run.row.reason), out);
    }

    /// Something has happened to a run: who wants to know is told. The run of a sub-workflow is its parent's
    /// business.
    pub(super) fn alert(&mut self, now: Now, run: &OpenRun, on: AlertOn, reason: &str, out: &mut Decision) {
        if run.definition.alerts.is_empty() || !counts(&run.row) {
            return;
        }
        let subject = Subject { run: Some(run.row.id), logical_time: run.row.logical_time, on, reason };
        let definition = Arc::clone(&run.definition);
        self.post_alerts(now, &definition, &subject, &RunScope { run, item: None }, out);
    }

    /// A firing was skipped: who wants to know is told.
    pub(super) fn alert_skip(
        &mut self,
        now: Now,
        definition: &Arc<Definition>,
        due: Wall,
        reason: &str,
        out: &mut Decision,
    ) {
        let on = AlertOn::SkippedFiring;
        if !definition.alerts.iter().any(|alert| alert.on.contains(&on)) {
            return;
        }
        let Some(run) = no_run(now.wall, definition, due) else { return };
        let subject = Subject { run: None, logical_time: due, on, reason };
        self.post_alerts(now, definition, &subject, &RunScope { run: &run, item: None }, out);
    }

    fn post_alerts(
        &mut self,
        now: Now,
        definition: &Definition,
        subject: &Subject<'_>,
        scope: &dyn Scope,
        out: &mut Decision,
    ) {
        for alert in &definition.alerts {
            if alert.on.contains(&subject.on) {
                let note = note(now.wall, definition, alert, subject, scope);
                self.post(now, Errand::Alert(Arc::new(note)), out);
            }
        }
    }

    /// What must hold between any two inputs; for tests.
    pub(super) fn check_outbox(&self) {
        let mut completions = 0;
        for ((source, listener), line) in &self.outbox.completions {
            assert!(!line.is_empty(), "an empty line from {source} to {listener}");
            completions += line.len();
        }
        let told = self.outbox.entries.values().filter(|entry| line(&entry.errand).is_some());
        assert_eq!(told.count(), completions, "completions and their lines");
    }
}

/// From which workflow to which something is told, if the order matters.
fn line(errand: &Errand) -> Option<(Name, Name)> {
    match errand {
        Errand::Completion { listener, completion } => Some((completion.source.clone(), listener.clone())),
        Errand::Stage(next) => Some((next.source.clone(), next.stage.workflow.clone())),
        Errand::Alert(_) => None,
    }
}

/// What an alert is about.
struct Subject<'a> {
    run: Option<windlass_model::RunId>,
    logical_time: Wall,
    on: AlertOn,
    reason: &'a str,
}

/// What each alert of a workflow would say, for somebody who tries whether it arrives.
pub fn samples(now: Wall, definition: &Arc<Definition>) -> Vec<AlertNote> {
    let Some(run) = no_run(now, definition, now) else { return Vec::new() };
    let scope = RunScope { run: &run, item: None };
    let sample = |alert: &Alert| {
        let on = alert.on.first().copied()?;
        let reason = "this is a test: nothing has happened";
        let subject = Subject { run: None, logical_time: now, on, reason };
        Some(note(now, definition, alert, &subject, &scope))
    };
    definition.alerts.iter().filter_map(sample).collect()
}

/// Where there is no run, an address may still name the workflow and the time.
fn no_run(now: Wall, definition: &Arc<Definition>, logical_time: Wall) -> Option<OpenRun> {
    let id = windlass_model::RunId::from_u64(0)?;
    let mut row = new_row(id, definition, now, "schedule".into(), Trigger::Call);
    row.logical_time = logical_time;
    Some(OpenRun::new(row, Arc::clone(definition), Arc::default()))
}

fn note(
    now: Wall,
    definition: &Definition,
    alert: &Alert,
    subject: &Subject<'_>,
    scope: &dyn Scope,
) -> AlertNote {
    let (url, headers) = match &alert.channel {
        AlertChannel::Webhook { url, headers } => {
            let header = |(name, value): &(Arc<str>, Template)| (Arc::clone(name), text(value, scope));
            (text(url, scope), headers.iter().map(header).collect())
        }
        AlertChannel::Email { to, subject } => {
            let to: Vec<_> = to.iter().map(|to| text(to, scope)).collect();
            let subject = subject.iter().map(|subject| ("Subject".into(), text(subject, scope)));
            (format!("mailto:{}", to.join(",")).into(), subject.collect())
        }
        AlertChannel::Script { source, group } => {
            let mut told = vec![];
            let script = script(source, scope, &mut told);
            let group = group.iter().map(|group| (SCRIPT_GROUP.into(), group.as_str().into()));
            let script = (SCRIPT_TEXT.into(), script.into());
            (SCRIPT.into(), std::iter::once(script).chain(group).chain(told).collect())
        }
    };
    AlertNote {
        on: subject.on,
        workflow: definition.name.clone(),
        run: subject.run,
        logical_time: subject.logical_time,
        reason: subject.reason.into(),
        at: now,
        url,
        headers,
    }
}

/// Where an alert goes that is a script for a worker.
pub const SCRIPT: &str = "script:";
/// What of its headers is the text, whose expressions are `params.v1`, `params.v2` and so on.
pub const SCRIPT_TEXT: &str = "run";
/// What of them is the group of workers that may run it. The others are the values of those parameters.
pub const SCRIPT_GROUP: &str = "group";

/// The text of a script in which each expression is a parameter, and their values: what is worked out now stays so, and
/// no value gets into the text.
fn script(source: &Template, scope: &dyn Scope, values: &mut Vec<(Arc<str>, Arc<str>)>) -> String {
    let mut script = String::new();
    for segment in source.segments() {
        match segment {
            Segment::Literal { text, .. } => script += &text.replace("${{", "$${{"),
            Segment::Hole(hole) => {
                let value = hole.expression.evaluate(scope, &mut Fuel::default());
                let text = value.ok().and_then(|value| value.to_env().ok());
                let text = text.unwrap_or_else(|| hole.expression.source().to_owned());
                let name = format!("v{}", values.len() + 1);
                script += &format!("${{{{ params.{name} }}}}");
                values.push((name.into(), text.into()));
            }
        }
    }
    script
}

/// What a template stands for. One that cannot be worked out stands for itself, so that whoever reads the
/// failed call sees why.
fn text(template: &Template, scope: &dyn Scope) -> Arc<str> {
    let value = template.evaluate(scope, &mut Fuel::default());
    let text = value.ok().and_then(|value| value.to_env().ok());
    text.map_or_else(|| template.source().into(), Into::into)
}
