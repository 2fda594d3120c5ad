//! What others reach a master by: calls, looks at the machine, logs.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, oneshot};
use windlass_clock::Clock;
use windlass_core::master::Master;
use windlass_core::master::input::{Input, Reply};
use windlass_core::shard::input::{Answer, Call};
use windlass_core::time::Now;
use windlass_model::{Name, OwnerId, ShardCount, ShardId, WorkerId};
use windlass_protocol::v1::masters_server::MastersServer;
use windlass_protocol::v1::workers_server::WorkersServer;
use windlass_store::Store;

use crate::alerts::{Channels, Scripts};
use crate::calls::Calls;
use crate::definitions::DefinitionCache;
use crate::feed::{Feed, Touched};
use crate::logs::{LogError, LogReader, LogWanted};
use crate::measures::Measures;
use crate::peers::{self, PeerService, Peers};
use crate::shell::Message;
use crate::streams::{Streams, WorkerService};
use crate::workers::{Names, Worker};

/// The longest message of a worker: a thousand results with a full tail each.
const MESSAGE: usize = 128 << 20;

/// A master, for its callers. Cheap to clone.
pub struct Handle<S> {
    inner: Arc<Inner<S>>,
}

pub(crate) struct Inner<S> {
    inbox: mpsc::Sender<Message>,
    pub clock: Clock,
    pub store: Arc<S>,
    pub definitions: Arc<DefinitionCache<S>>,
    calls: Arc<Calls>,
    streams: Arc<Streams>,
    peers: Arc<Peers<S>>,
    names: Arc<Names>,
    feed: Feed,
    measures: Arc<Measures>,
    name: Name,
    owner: OwnerId,
    channels: Channels,
}

/// Why a call was not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Nothing was done.
    #[error("nobody could do it in time; nothing was done")]
    Unavailable,
    /// It may have been done.
    #[error("it is not known whether it was done; looking tells")]
    Unknown,
    /// The store cannot hold it.
    #[error("it cannot be stored: {0}")]
    Rejected(Arc<str>),
}

impl<S: Store + 'static> Handle<S> {
    #[allow(clippy::too_many_arguments, reason = "called once, by the one that makes all of these")]
    pub(crate) fn new(
        inbox: mpsc::Sender<Message>,
        clock: Clock,
        store: Arc<S>,
        definitions: Arc<DefinitionCache<S>>,
        calls: Arc<Calls>,
        streams: Arc<Streams>,
        peers: Arc<Peers<S>>,
        names: Arc<Names>,
        feed: Feed,
        measures: Arc<Measures>,
        name: Name,
        owner: OwnerId,
        channels: Channels,
    ) -> Handle<S> {
        Handle {
            inner: Arc::new(Inner {
                inbox,
                clock,
                store,
                definitions,
                calls,
                streams,
                peers,
                names,
                feed,
                measures,
                name,
                owner,
                channels,
            }),
        }
    }

    pub(crate) fn inner(&self) -> &Inner<S> {
        &self.inner
    }

    /// The ways to tell people something.
    pub fn channels(&self) -> Channels {
        self.inner.channels.and(Arc::new(Scripts(self.clone())))
    }

    /// The present moment.
    pub fn now(&self) -> Now {
        self.inner.clock.now()
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.inner.store
    }

    /// The name of this master.
    pub fn name(&self) -> &Name {
        &self.inner.name
    }

    /// This process life of the master.
    pub fn owner(&self) -> OwnerId {
        self.inner.owner
    }

    /// How many shards the cluster has.
    pub fn shards(&self) -> ShardCount {
        self.inner.store.identity().shards
    }

    /// The service that workers connect to.
    pub fn worker_service(&self) -> WorkersServer<WorkerService> {
        WorkersServer::new(WorkerService(Arc::clone(&self.inner.streams))).max_decoding_message_size(MESSAGE)
    }

    /// The service that other masters connect to. It asks who comes by itself.
    pub fn peer_service(&self) -> MastersServer<PeerService<S>> {
        MastersServer::new(PeerService(Arc::clone(&self.inner.peers)))
            .max_decoding_message_size(peers::MESSAGE)
            .max_encoding_message_size(peers::MESSAGE)
    }

    /// Asks a shard for something, and waits so long for its answer.
    pub async fn call(&self, shard: ShardId, what: Call, wait: Duration) -> Result<Answer, CallError> {
        let (call, answer) = self.inner.calls.begin();
        let millis = windlass_model::Duration::from_millis(wait.as_millis().try_into().unwrap_or(u64::MAX));
        let until = self.now().mono.after(millis);
        let input = Input::Call { call, shard, what, until };
        if self.inner.inbox.send(Message::Input(input)).await.is_err() {
            return Err(CallError::Unavailable);
        }
        match answer.await {
            Ok(Reply::Answered(answer)) => Ok(answer),
            Ok(Reply::Unavailable | Reply::NotHere) => Err(CallError::Unavailable),
            Ok(Reply::Rejected(why)) => Err(CallError::Rejected(why)),
            // The master ended meanwhile, and whether it did it first is not known.
            Ok(Reply::Unknown) | Err(_) => Err(CallError::Unknown),
        }
    }

    /// Looks at the machine; `None` if it has ended.
    pub async fn inspect<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Master, Now) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, seen) = oneshot::channel();
        let look = Message::Inspect(Box::new(move |master, now| {
            let _ = sender.send(look(master, now));
        }));
        self.inner.inbox.send(look).await.ok()?;
        seen.await.ok()
    }

    /// The workers that this master knows.
    pub async fn workers(&self) -> Vec<Worker> {
        let (known, names) = (self.inner.streams.known(), Arc::clone(&self.inner.names));
        let workers = self.inspect(move |master, now| {
            let view = |worker: windlass_core::master::input::KnownWorker<'_>| {
                let said = known.get(&worker.life.worker);
                Worker {
                    life: worker.life,
                    name: said
                        .map(|said| said.name.to_string())
                        .or_else(|| names.of(worker.life.worker))
                        .unwrap_or_else(|| worker.life.worker.to_string()),
                    program: said.map(|said| said.program.clone()),
                    capability: Arc::clone(worker.capability),
                    status: worker.status,
                    silent: Duration::from_millis(now.mono.since(worker.heard).as_millis()),
                    lost: worker.lost,
                    draining: worker.draining,
                }
            };
            master.workers().map(view).collect()
        });
        workers.await.unwrap_or_default()
    }

    /// What people call a worker, if that is known.
    /// Knows workers that were there before this master, too.
    pub fn worker_name(&self, worker: WorkerId) -> Option<String> {
        self.inner.names.of(worker)
    }

    /// Hears which runs and jobs have changed, from now on, whoever owns them.
    pub fn feed(&self) -> broadcast::Receiver<Touched> {
        self.inner.feed.listen()
    }

    /// What was counted since the start of this master.
    pub fn measures(&self) -> &Measures {
        &self.inner.measures
    }

    /// Reads a log from the worker that has it.
    pub fn log(&self, worker: WorkerId, wanted: LogWanted) -> Result<LogReader, LogError> {
        LogReader::new(Arc::clone(&self.inner.streams), worker, wanted)
    }

    /// A global row was written: it is acted on at once.
    pub async fn globals_changed(&self) {
        let _ = self.inner.inbox.send(Message::Input(Input::GlobalsChanged)).await;
    }

    /// A registry says which masters are there; `None` while it cannot say.
    pub async fn registry_says(&self, members: Option<std::collections::BTreeSet<OwnerId>>) {
        let _ = self.inner.inbox.send(Message::Input(Input::Registry(members))).await;
    }

    /// Gives everything up in good order; [`Shell::run`](crate::Shell::run) ends when that is done.
    pub async fn stop(&self) {
        let _ = self.inner.inbox.send(Message::Input(Input::Stop)).await;
    }
}

impl<S> Clone for Handle<S> {
    fn clone(&self) -> Handle<S> {
        Handle { inner: Arc::clone(&self.inner) }
    }
}

impl<S> std::fmt::Debug for Handle<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("name", &self.inner.name).finish_non_exhaustive()
    }
}
