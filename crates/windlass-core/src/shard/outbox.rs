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
use windlass_workflow::template::Template;

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
    /// What the homes of listeners are to be told, by source and listener, in order: one at a time.
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
        if let Errand::Completion { listener, completion } = &errand {
            let line = (completion.source.clone(), listener.clone());
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
        let message = match &entry.errand {
            Errand::Alert(note) => Message::Deliver(id, Arc::clone(note)),
            Errand::Completion { listener, completion } => {
                // The listener keeps one mark for each source, so it is told in order.
                let line = self.outbox.completions.get(&(completion.source.clone(), listener.clone()));
                if line.and_then(|line| line.first()) != Some(&id) {
                    return;
                }
                Message::ToHome(listener.clone(), ToHome::Completed(id, completion.clone()))
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
        let Errand::Completion { listener, completion } = entry.errand else { return };
        let key = (completion.source, listener);
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
        // There is no run; the address may still name the workflow and the time.
        let Some(id) = windlass_model::RunId::from_u64(0) else { return };
        let mut row = new_row(id, definition, now.wall, "schedule".into(), Trigger::Call);
        row.logical_time = due;
        let run = OpenRun::new(row, Arc::clone(definition), Arc::default());
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
        for Alert { on, channel } in &definition.alerts {
            if !on.contains(&subject.on) {
                continue;
            }
            let AlertChannel::Webhook { url, headers } = channel;
            let header = |(name, value): &(Arc<str>, Template)| (Arc::clone(name), text(value, scope));
            let note = AlertNote {
                on: subject.on,
                workflow: definition.name.clone(),
                run: subject.run,
                logical_time: subject.logical_time,
                reason: subject.reason.into(),
                at: now.wall,
                url: text(url, scope),
                headers: headers.iter().map(header).collect(),
            };
            self.post(now, Errand::Alert(Arc::new(note)), out);
        }
    }

    /// What must hold between any two inputs; for tests.
    pub(super) fn check_outbox(&self) {
        let mut completions = 0;
        for ((source, listener), line) in &self.outbox.completions {
            assert!(!line.is_empty(), "an empty line from {source} to {listener}");
            completions += line.len();
        }
        let told =
            self.outbox.entries.values().filter(|entry| matches!(entry.errand, Errand::Completion { .. }));
        assert_eq!(told.count(), completions, "completions and their lines");
    }
}

/// What an alert is about.
struct Subject<'a> {
    run: Option<windlass_model::RunId>,
    logical_time: Wall,
    on: AlertOn,
    reason: &'a str,
}

/// What a template stands for. One that cannot be worked out stands for itself, so that whoever reads the
/// failed call sees why.
fn text(template: &Template, scope: &dyn Scope) -> Arc<str> {
    let value = template.evaluate(scope, &mut Fuel::default());
    let text = value.ok().and_then(|value| value.to_env().ok());
    text.map_or_else(|| template.source().into(), Into::into)
}
