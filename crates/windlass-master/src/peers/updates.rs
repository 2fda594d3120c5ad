//! Live updates: a master at which somebody listens is told what changes at the others.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::broadcast::error::RecvError;
use windlass_model::{JobNumber, OwnerId, RunId};
use windlass_protocol::v1;
use windlass_store::Store;

use super::{LISTENING, Peers, Said};
use crate::feed::Touched;

/// How often the others are told that somebody listens: several times before they stop believing it.
const SAY_EVERY: Duration = Duration::from_secs(1);

impl<S: Store + 'static> Peers<S> {
    /// Tells the others whenever somebody listens here, until the end.
    pub fn begin(self: &Arc<Peers<S>>) {
        let peers = Arc::clone(self);
        self.tasks.spawn(async move {
            loop {
                tokio::select! {
                    () = peers.feed.listened() => {}
                    () = tokio::time::sleep(SAY_EVERY) => {}
                    () = peers.stop.cancelled() => return,
                }
                if peers.table().closed {
                    return;
                }
                if peers.feed.is_wanted() {
                    let others: Vec<_> = peers.table().links.keys().copied().collect();
                    for other in others {
                        peers.tell(other, vec![Said::Listening]);
                    }
                }
            }
        });
    }

    /// Somebody listens at another master: it is told what changes here for so long.
    pub(super) fn hear_listening(self: &Arc<Peers<S>>, peer: OwnerId, time: Duration) {
        let until = Instant::now() + time.min(LISTENING * 2);
        let known = self.listeners.lock().unwrap_or_else(PoisonError::into_inner).insert(peer, until);
        if known.is_some() {
            return;
        }
        let (peers, mut feed) = (Arc::clone(self), self.feed.listen_here());
        self.tasks.spawn(async move {
            loop {
                let until = {
                    let mut listeners = peers.listeners.lock().unwrap_or_else(PoisonError::into_inner);
                    match listeners.get(&peer).copied() {
                        Some(until) if until > Instant::now() => until,
                        _ => {
                            listeners.remove(&peer);
                            return;
                        }
                    }
                };
                tokio::select! {
                    heard = feed.recv() => match heard {
                        Ok(touched) => peers.tell(peer, vec![Said::Touched(touched)]),
                        Err(RecvError::Lagged(_)) => {
                            peers.tell(peer, vec![Said::Touched(Touched::default())]);
                        }
                        Err(RecvError::Closed) => return,
                    },
                    () = tokio::time::sleep_until(until.into()) => {}
                    () = peers.stop.cancelled() => return,
                }
            }
        });
    }
}

/// As it is sent.
pub fn encode(touched: &Touched) -> v1::Touched {
    let run = |(run, jobs): (&RunId, &std::collections::BTreeSet<JobNumber>)| v1::TouchedRun {
        run: run.to_u64(),
        jobs: jobs.iter().map(|job| job.0).collect(),
    };
    v1::Touched { runs: touched.iter().map(run).collect(), missed: touched.is_empty() }
}

/// What was sent. What makes no sense counts as missed.
pub fn decode(touched: &v1::Touched) -> Touched {
    let mut runs = BTreeMap::new();
    for run in &touched.runs {
        let Some(id) = RunId::from_u64(run.run) else { return Touched::default() };
        runs.insert(id, run.jobs.iter().copied().map(JobNumber).collect());
    }
    if touched.missed { Touched::default() } else { Arc::new(runs) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn changes_come_back_as_they_were_and_what_was_missed_is_said() {
        let run = RunId::from_u64(1 << 30).unwrap();
        let jobs = BTreeSet::from([JobNumber(0), JobNumber(u32::MAX)]);
        let touched: Touched = Arc::new(BTreeMap::from([(run, jobs)]));
        assert_eq!(decode(&encode(&touched)), touched);
        let missed = encode(&Touched::default());
        assert!(missed.missed && decode(&missed).is_empty());
        let wrong = v1::TouchedRun { run: u64::MAX, jobs: vec![1] };
        assert!(decode(&v1::Touched { runs: vec![wrong], missed: false }).is_empty());
    }
}
