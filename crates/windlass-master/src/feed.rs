//! What has changed, for who wants to hear of it: live updates.
//!
//! It says which runs and jobs to look at again, not how they are: whoever hears it asks the master, whose answer is
//! never older. Nothing is collected while nobody listens, here or at another master.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::{Notify, broadcast};
use windlass_core::durable::Batch;
use windlass_core::master::input::Input;
use windlass_core::rows::Change;
use windlass_core::shard::input::Report;
use windlass_core::wire::FromWorker;
use windlass_model::{JobId, JobNumber, RunId};

/// Changes that wait for a listener. One that is slower misses some, and is told that it did.
const WAITING: usize = 1024;

/// Runs that have changed, each with those of its jobs that have. None at all: something was missed.
pub type Touched = Arc<BTreeMap<RunId, BTreeSet<JobNumber>>>;

/// Where changes are told.
#[derive(Clone, Debug)]
pub struct Feed {
    /// What changes in shards of this master.
    here: broadcast::Sender<Touched>,
    /// That, and what other masters tell of theirs.
    all: broadcast::Sender<Touched>,
    listened: Arc<Notify>,
}

impl Default for Feed {
    fn default() -> Feed {
        let (here, all) = (broadcast::Sender::new(WAITING), broadcast::Sender::new(WAITING));
        Feed { here, all, listened: Arc::default() }
    }
}

impl Feed {
    /// Hears of every change from now on.
    pub fn listen(&self) -> broadcast::Receiver<Touched> {
        let listener = self.all.subscribe();
        self.listened.notify_one();
        listener
    }

    /// Hears of changes in shards of this master only, for another one.
    pub(crate) fn listen_here(&self) -> broadcast::Receiver<Touched> {
        self.here.subscribe()
    }

    /// Whether somebody wants to hear of everything.
    pub(crate) fn is_wanted(&self) -> bool {
        self.all.receiver_count() > 0
    }

    /// Somebody has begun to listen.
    pub(crate) async fn listened(&self) {
        self.listened.notified().await;
    }

    /// Another master tells what has changed there; nothing, if something was missed.
    pub(crate) fn told(&self, touched: Touched) {
        let _ = self.all.send(touched);
    }

    /// What a commit touches, if somebody listens.
    pub(crate) fn of_commit(&self, batches: &[Batch]) -> Option<Touched> {
        self.is_heard().then(|| {
            let mut touched = BTreeMap::<_, BTreeSet<_>>::new();
            for change in batches.iter().flat_map(|batch| &batch.changes) {
                let (run, job) = match change {
                    Change::Run(row) => (row.id, None),
                    Change::Attempt(row) => (row.job.run, Some(row.job.number)),
                    Change::Job(row) => (row.job.run, Some(row.job.number)),
                    _ => continue,
                };
                touched.entry(run).or_default().extend(job);
            }
            Arc::new(touched)
        })
    }

    /// The job whose attempt an input says has started, which nothing stores, if somebody listens.
    pub(crate) fn of_input(&self, input: &Input) -> Option<Touched> {
        match input {
            Input::FromWorker(FromWorker::Report { attempt, report: Report::Started, .. })
                if self.is_heard() =>
            {
                let JobId { run, number } = attempt.job;
                Some(Arc::new(BTreeMap::from([(run, BTreeSet::from([number]))])))
            }
            _ => None,
        }
    }

    /// Tells everybody.
    pub(crate) fn tell(&self, touched: Option<Touched>) {
        if let Some(touched) = touched.filter(|touched| !touched.is_empty()) {
            // It does not matter if nobody listens any more.
            let _ = self.here.send(Arc::clone(&touched));
            let _ = self.all.send(touched);
        }
    }

    fn is_heard(&self) -> bool {
        self.here.receiver_count() > 0 || self.is_wanted()
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::durable::Commits;
    use windlass_core::job;
    use windlass_core::rows::JobRow;
    use windlass_core::time::Wall;
    use windlass_model::{Epoch, ShardId};

    use super::*;

    fn batch() -> Batch {
        let job = JobId { run: RunId::from_u64(1 << 30).unwrap(), number: JobNumber(3) };
        let row = JobRow::new(job, job::State::Held, "it waits", Wall(0));
        let changes = vec![Change::Job(row), Change::LastRun(job.run)];
        Batch { changes, ..Batch::empty(ShardId::LEADER, Epoch(1), Commits::NONE) }
    }

    #[test]
    fn a_commit_is_told_to_who_listens_and_costs_nothing_otherwise() {
        let feed = Feed::default();
        assert_eq!(feed.of_commit(&[batch()]), None);
        let mut heard = feed.listen();
        let touched = feed.of_commit(&[batch()]);
        feed.tell(touched);
        let told = heard.try_recv().unwrap();
        let expected = (RunId::from_u64(1 << 30).unwrap(), BTreeSet::from([JobNumber(3)]));
        assert_eq!(*told, BTreeMap::from([expected]));
        drop(heard);
        assert_eq!(feed.of_commit(&[batch()]), None);
    }

    #[test]
    fn who_is_too_slow_is_told() {
        let feed = Feed::default();
        let mut heard = feed.listen();
        for _ in 0..=WAITING {
            feed.tell(feed.of_commit(&[batch()]));
        }
        assert!(matches!(heard.try_recv(), Err(broadcast::error::TryRecvError::Lagged(_))));
    }
}
