//! Runs that begin when a run of another workflow ends.
//!
//! ```text
//! home of the listener                     home of the source
//!   `triggers` of its version ── Listen ──►  a row; Listening says so
//!                                            a run ends: one outbox row for each listener, in its commit
//!   a run and its mark        ◄─ Completed ─ the oldest that is not taken
//!   in one commit             ── Taken ───►  the row goes, the next is told
//! ```
//!
//! What the listener's version says when it is told decides; what the source's home knows is only whom to tell. So
//! a stale row costs a message, and the answer removes it. The listener keeps a mark for each source, the
//! newest completion that it has dealt with, and is told in order: a completion becomes one run, whoever
//! owns the shards by then. A run that is reopened and ends again has completed again.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::policy::CompletionOn;
use windlass_model::{Duration, Name};
use windlass_workflow::Definition;

use super::Shard;
use super::create::{is_public, new_row};
use super::input::{Decision, Message, ToHome};
use super::open_run::OpenRun;
use super::timers::Timer;
use crate::rows::{Change, Completion, Errand, InboxRow, ListenerRow, OutboxId, Stamp, Trigger, Values};
use crate::run;
use crate::time::{Mono, Now};

/// How often the wish to listen is repeated until it is answered.
const REPEAT: Duration = Duration::from_secs(5);

/// Both sides of listening.
#[derive(Debug, Default)]
pub(super) struct Completions {
    /// Who listens to workflows of which this is the home: by source, then listener.
    listeners: BTreeMap<Name, BTreeMap<Name, ListenerRow>>,
    /// What workflows of this home want, and have not been answered: by listener and source.
    wishes: BTreeMap<(Name, Name), Wish>,
    /// Up to where completions were dealt with: by listener and source.
    inbox: BTreeMap<(Name, Name), OutboxId>,
}

/// A word that has not been answered.
#[derive(Debug)]
struct Wish {
    on: Vec<CompletionOn>,
    stamp: Stamp,
    /// When it is repeated.
    next: Mono,
}

impl Shard {
    pub(super) fn restore_completions(&mut self, listeners: Vec<ListenerRow>, inbox: Vec<InboxRow>) {
        for row in listeners {
            let of_source = self.completions.listeners.entry(row.source.clone()).or_default();
            of_source.insert(row.listener.clone(), row);
        }
        let mark = |row: InboxRow| ((row.listener, row.source), row.last);
        self.completions.inbox = inbox.into_iter().map(mark).collect();
    }

    // --- the listener -------------------------------------------------------------------------------

    /// A workflow has a new version, or was loaded: the homes of those it listens to, or has listened to, hear
    /// what it wants.
    pub(super) fn listen(&mut self, now: Now, before: Option<&Definition>, definition: &Definition) {
        self.wish(now, &definition.name, before, Some(definition));
    }

    /// A workflow is gone: the homes of those it has listened to hear that.
    pub(super) fn listen_no_more(&mut self, now: Now, gone: &Definition) {
        self.wish(now, &gone.name, Some(gone), None);
    }

    fn wish(
        &mut self,
        now: Now,
        listener: &Name,
        before: Option<&Definition>,
        definition: Option<&Definition>,
    ) {
        let mut wanted: BTreeMap<Name, Vec<CompletionOn>> = BTreeMap::new();
        for trigger in before.into_iter().flat_map(|before| &before.triggers) {
            wanted.entry(trigger.after.clone()).or_default();
        }
        for trigger in definition.into_iter().flat_map(|definition| &definition.triggers) {
            let on = wanted.entry(trigger.after.clone()).or_default();
            if !on.contains(&trigger.on) {
                on.push(trigger.on);
            }
        }
        for (source, on) in wanted {
            let wish = Wish { on, stamp: self.stamp(), next: now.mono };
            let key = (listener.clone(), source.clone());
            self.completions.wishes.insert(key, wish);
            self.timers.at(now.mono, Timer::Listen(listener.clone(), source));
        }
    }

    /// A wish to listen is due to be repeated.
    pub(super) fn listen_again(&mut self, now: Now, listener: &Name, source: &Name, out: &mut Decision) {
        let Some(wish) = self.completions.wishes.get_mut(&(listener.clone(), source.clone())) else { return };
        if wish.next > now.mono {
            return;
        }
        wish.next = now.mono.after(REPEAT);
        let (on, stamp) = (wish.on.clone(), wish.stamp);
        self.timers.at(wish.next, Timer::Listen(listener.clone(), source.clone()));
        let listen = ToHome::Listen { listener: listener.clone(), on, stamp };
        out.messages.push(Message::ToHome(source.clone(), listen));
    }

    /// The source has heard it.
    pub(super) fn listening(&mut self, listener: &Name, source: Name, stamp: Stamp) {
        let key = (listener.clone(), source);
        if self.completions.wishes.get(&key).is_some_and(|wish| wish.stamp == stamp) {
            self.completions.wishes.remove(&key);
        }
    }

    /// A run of another workflow has ended, and this is the home of one that listens to it.
    pub(super) fn completed(
        &mut self,
        now: Now,
        listener: &Name,
        id: OutboxId,
        completion: &Completion,
        out: &mut Decision,
    ) {
        let source = completion.source.clone();
        let key = (listener.clone(), source.clone());
        let known = self.completions.inbox.get(&key).is_some_and(|last| *last >= id);
        if !known && !self.listens(listener, &source) {
            let stamp = self.stamp();
            let no = ToHome::NotListening { listener: listener.clone(), id, stamp };
            out.messages.push(Message::ToHome(source, no));
            return;
        }
        if self.take_in(listener, &source, id, out) {
            self.run_after(now, listener, completion, out);
        }
        let taken = ToHome::Taken { listener: listener.clone(), id };
        out.messages.push(Message::ToHome(source, taken));
    }

    /// Whether something told by a source is new to who is told; it is not from now on.
    pub(super) fn take_in(
        &mut self,
        listener: &Name,
        source: &Name,
        id: OutboxId,
        out: &mut Decision,
    ) -> bool {
        let key = (listener.clone(), source.clone());
        if self.completions.inbox.get(&key).is_some_and(|last| *last >= id) {
            return false;
        }
        self.completions.inbox.insert(key, id);
        let row = InboxRow { listener: listener.clone(), source: source.clone(), last: id };
        out.changes.push(Change::Inbox(row));
        true
    }

    fn listens(&self, listener: &Name, source: &Name) -> bool {
        let stored = self.homes.get(listener).and_then(|home| home.stored.as_ref());
        stored.is_some_and(|stored| stored.definition.triggers.iter().any(|trigger| trigger.after == *source))
    }

    /// A completion becomes a run, if the listener wants one for such an end. A disabled workflow lets it pass.
    fn run_after(&mut self, now: Now, listener: &Name, completion: &Completion, out: &mut Decision) {
        let Some(stored) = self.homes.get(listener).and_then(|home| home.stored.as_ref()) else { return };
        let wanted = stored
            .definition
            .triggers
            .iter()
            .any(|trigger| trigger.after == completion.source && meets(completion.end, trigger.on));
        if !wanted || !stored.row.enabled {
            return;
        }
        let (definition, version, pinned) =
            (Arc::clone(&stored.definition), stored.row.version, Arc::clone(&stored.pinned));
        let origin = stored.origin();
        let Some(id) = self.ids.next_id(now.wall.0) else { return };
        out.changes.push(Change::LastRun(id));
        out.origins.insert(id, origin);
        let mut row = new_row(id, &definition, now.wall, "trigger".into(), Trigger::After(completion.run));
        row.version = Some(version);
        row.logical_time = completion.logical_time;
        let mut run = OpenRun::new(row, definition, pinned);
        if let Err(problem) = run.bind(&Values::new()) {
            run.fail_at_once(now.wall, problem);
        }
        self.add(now, run, out);
    }

    // --- the source ---------------------------------------------------------------------------------

    /// A workflow says which ends it wants to hear of.
    pub(super) fn heard_listener(
        &mut self,
        source: &Name,
        listener: Name,
        on: Vec<CompletionOn>,
        stamp: Stamp,
        out: &mut Decision,
    ) {
        let known = self.completions.listeners.get(source).and_then(|listeners| listeners.get(&listener));
        if known.is_some_and(|known| known.stamp > stamp) {
            return;
        }
        let answer = ToHome::Listening { source: source.clone(), stamp };
        out.messages.push(Message::ToHome(listener.clone(), answer));
        if on.is_empty() {
            return self.drop_listener(source, &listener, stamp, out);
        }
        if known.is_none_or(|known| known.stamp < stamp) {
            let row = ListenerRow { source: source.clone(), listener: listener.clone(), on, stamp };
            out.changes.push(Change::Listener(row.clone()));
            self.completions.listeners.entry(source.clone()).or_default().insert(listener, row);
        }
    }

    /// Forgets a listener, unless it has said since that it listens.
    fn drop_listener(&mut self, source: &Name, listener: &Name, stamp: Stamp, out: &mut Decision) {
        let Some(listeners) = self.completions.listeners.get_mut(source) else { return };
        if listeners.get(listener).is_some_and(|known| known.stamp <= stamp) {
            listeners.remove(listener);
            out.changes.push(Change::ListenerGone(source.clone(), listener.clone()));
        }
        if listeners.is_empty() {
            self.completions.listeners.remove(source);
        }
    }

    /// A run has ended: everybody who listens for such an end will be told.
    pub(super) fn tell_listeners(&mut self, now: Now, run: &OpenRun, end: run::End, out: &mut Decision) {
        if self.completions.listeners.is_empty() || !is_public(&run.row) {
            return;
        }
        // A campaign does what its plan says, and nothing that follows from it by itself.
        if matches!(run.row.trigger, Trigger::Backfill(_)) {
            return;
        }
        let Some(listeners) = self.completions.listeners.get(&run.row.workflow) else { return };
        let wants = |row: &&ListenerRow| row.on.iter().any(|on| meets(end, *on));
        let told: Vec<_> = listeners.values().filter(wants).map(|row| row.listener.clone()).collect();
        for listener in told {
            let completion = Completion {
                source: run.row.workflow.clone(),
                run: run.row.id,
                logical_time: run.row.logical_time,
                end,
            };
            self.post(now, Errand::Completion { listener, completion }, out);
        }
    }

    /// Who listened does so no longer.
    pub(super) fn not_listening(
        &mut self,
        now: Now,
        source: &Name,
        listener: &Name,
        id: OutboxId,
        stamp: Stamp,
        out: &mut Decision,
    ) {
        self.delivered(now, id, out);
        self.drop_listener(source, listener, stamp, out);
    }
}

/// Whether an end is one that counts. A run that was stopped has neither succeeded nor failed.
fn meets(end: run::End, on: CompletionOn) -> bool {
    match on {
        CompletionOn::Success => end == run::End::Success,
        CompletionOn::Failure => end == run::End::Failed,
        CompletionOn::Done => true,
    }
}
