//! What was done to a cluster, and when: which worker could work, whose master was disturbed, when the store was away.
//!
//! Times are those of the ledger: nanoseconds of the clock that all processes of this machine share.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as the ledger's tasks write it.
pub fn nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// How old what masters say about owners may be, in nanoseconds: they look at the store a few times in a lease.
const HEARSAY: u64 = 1_000_000_000;

/// A stretch of time; the end is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// When it begins.
    pub from: u64,
    /// When it is over.
    pub to: u64,
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// When something began or ended to be able to do anything, by its name.
    nodes: BTreeMap<String, Vec<(u64, bool)>>,
    /// When the store went away or came back.
    store: Vec<(u64, bool)>,
    /// Who owned each shard, whenever that was asked.
    owners: Vec<(u64, BTreeMap<u32, String>)>,
}

impl History {
    /// A master or worker can do something from now on, or cannot.
    pub fn note(&mut self, node: &str, is_up: bool) {
        self.nodes.entry(node.to_owned()).or_default().push((nanos(), is_up));
    }

    /// The store answers from now on, or does not.
    pub fn note_store(&mut self, is_up: bool) {
        self.store.push((nanos(), is_up));
    }

    /// Who owns the shards now.
    pub fn note_owners(&mut self, owners: BTreeMap<u32, String>) {
        // A change is all that is worth keeping.
        if self.owners.last().is_none_or(|(_, known)| *known != owners) {
            self.owners.push((nanos(), owners));
        }
    }

    /// When a worker could not do anything.
    pub fn downs(&self, node: &str) -> Vec<Span> {
        spans(self.nodes.get(node).map_or(&[][..], Vec::as_slice))
    }

    /// When the store was away.
    pub fn outages(&self) -> Vec<Span> {
        spans(&self.store)
    }

    /// When something happened to the owner of a shard.
    pub fn disturbances_of_owner(&self, shard: u32) -> Vec<u64> {
        let mut times = Vec::new();
        for (node, events) in &self.nodes {
            let its = events.iter().map(|(time, _)| *time).filter(|time| self.may_own(node, shard, *time));
            times.extend(its);
        }
        times
    }

    /// Whether somebody was seen as the owner of a shard around a moment.
    fn may_own(&self, node: &str, shard: u32, time: u64) -> bool {
        let after = |time: u64| self.owners.partition_point(|(seen, _)| *seen <= time);
        let first = after(time.saturating_sub(HEARSAY)).saturating_sub(1);
        let last = (after(time.saturating_add(HEARSAY)) + 1).min(self.owners.len());
        self.owners[first..last]
            .iter()
            .any(|(_, owners)| owners.get(&shard).is_some_and(|owner| owner == node))
    }
}

/// From each `false` to the next `true`.
fn spans(events: &[(u64, bool)]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut since = None;
    for (time, is_up) in events {
        match (since, is_up) {
            (None, false) => since = Some(*time),
            (Some(from), true) => {
                spans.push(Span { from, to: *time });
                since = None;
            }
            (None, true) | (Some(_), false) => {}
        }
    }
    spans.extend(since.map(|from| Span { from, to: u64::MAX }));
    spans
}
