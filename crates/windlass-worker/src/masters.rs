//! Streams to masters.
//!
//! One task for each address that was given keeps a stream open: it connects, says who this is, passes on what comes,
//! and begins again when the stream breaks. What is said to a master that is not there is lost; the machine says again
//! what matters.
//!
//! A master says where the others are, at the beginning and whenever that changes; each of them gets a stream, too. An
//! address that was only heard of is given up when there is no stream to it and the newest word does not name it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};
use windlass_core::shard::input::WorkerLife;
use windlass_core::wire::{Body, FromWorker};
use windlass_model::{Name, OwnerId, ShardId};
use windlass_protocol::v1::workers_client::WorkersClient;
use windlass_protocol::v1::{self, master_says, worker_says};
use windlass_protocol::{PROTOCOL, from_worker, to_worker};

use crate::log_answers::LogAnswers;
use crate::logs::Logs;
use crate::transport::{Incoming, Transport};

/// What waits for a master's stream. What comes on top of that is dropped: the master is stuck.
const QUEUE: usize = 1024;
/// What waits for the loop. The streams wait with more, and masters with them.
const INCOMING: usize = 1024;
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a silent connection is asked for a sign of life, and how long it has to answer: a peer that vanished
/// without a word is noticed within these.
const PING_EVERY: Duration = Duration::from_secs(2);
const PING_ANSWER: Duration = Duration::from_secs(3);
/// The first wait before another try, and the longest: a master that is back finds its workers at once.
const AGAIN_FIRST: Duration = Duration::from_millis(50);
const AGAIN_MAX: Duration = Duration::from_secs(1);
/// The longest message of a master: a few thousand assignments with long scripts.
const MESSAGE: usize = 128 << 20;

/// The most addresses that are heard of and tried: masters are few, and what one says must not cost without end.
const HEARD_MOST: usize = 64;

/// Where masters are, and who calls them.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// The addresses of masters, as `http://host:port`.
    pub masters: Vec<String>,
    /// What people call this worker.
    pub name: Name,
    /// What it joins with, where that is asked for.
    pub token: Option<Token>,
    /// The version of this program, for people.
    pub program: String,
}

/// A secret that is never printed.
#[derive(Clone)]
pub struct Token(MetadataValue<Ascii>);

/// A token that cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the token has characters that no token has")]
pub struct BadToken;

impl Token {
    /// A token as people write it.
    pub fn new(text: &str) -> Result<Token, BadToken> {
        let mut value: MetadataValue<Ascii> = format!("Bearer {text}").parse().map_err(|_| BadToken)?;
        value.set_sensitive(true);
        Ok(Token(value))
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// An address that is none.
#[derive(Debug, thiserror::Error)]
#[error("`{address}` is not the address of a master; write for example http://127.0.0.1:8000")]
pub struct BadAddress {
    address: String,
    #[source]
    cause: Option<tonic::transport::Error>,
}

/// The streams to masters.
#[derive(Debug)]
pub struct Masters {
    shared: Arc<Shared>,
    incoming: mpsc::Receiver<Incoming>,
    stop: CancellationToken,
}

#[derive(Debug)]
struct Shared {
    life: WorkerLife,
    addresses: Addresses,
    open: Mutex<Open>,
    incoming: mpsc::Sender<Incoming>,
    logs: Logs,
    stop: CancellationToken,
    tasks: TaskTracker,
}

#[derive(Debug, Default)]
struct Open {
    streams: HashMap<OwnerId, mpsc::Sender<Vec<v1::WorkerSays>>>,
    /// By whose stream the owner of a shard was last heard.
    owners: HashMap<ShardId, OwnerId>,
    /// The addresses that are tried.
    tried: HashSet<String>,
    /// Where masters are, by the newest word of one of them.
    heard: Vec<String>,
}

impl Masters {
    /// Begins to connect.
    pub fn connect(life: WorkerLife, addresses: Addresses, logs: Logs) -> Result<Masters, BadAddress> {
        let endpoints: Result<Vec<_>, _> = addresses.masters.iter().map(|text| endpoint(text)).collect();
        let (sender, incoming) = mpsc::channel(INCOMING);
        let stop = CancellationToken::new();
        let shared = Arc::new(Shared {
            life,
            addresses,
            open: Mutex::default(),
            incoming: sender,
            logs,
            stop: stop.clone(),
            tasks: TaskTracker::new(),
        });
        for (endpoint, address) in endpoints?.into_iter().zip(&shared.addresses.masters) {
            if shared.open().tried.insert(address.clone()) {
                shared.tasks.spawn(Arc::clone(&shared).keep(address.clone(), endpoint));
            }
        }
        Ok(Masters { shared, incoming, stop })
    }
}

impl Drop for Masters {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn endpoint(address: &str) -> Result<Endpoint, BadAddress> {
    let bad = |cause| BadAddress { address: address.to_owned(), cause };
    let endpoint = Endpoint::from_shared(address.to_owned()).map_err(|cause| bad(Some(cause)))?;
    // Without these it would be tried again and again, and never be reached.
    if endpoint.uri().scheme().is_none() || endpoint.uri().host().is_none() {
        return Err(bad(None));
    }
    Ok(endpoint
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_ANSWER)
        .keep_alive_while_idle(true))
}

impl Transport for Masters {
    async fn receive(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }

    fn try_receive(&mut self) -> Option<Incoming> {
        self.incoming.try_recv().ok()
    }

    fn send(&mut self, messages: Vec<FromWorker>) {
        let open = self.shared.open();
        let mut for_each: HashMap<OwnerId, Vec<v1::WorkerSays>> = HashMap::new();
        for message in &messages {
            let says = from_worker::encode(message);
            match open.way_for(message) {
                Way::All => {
                    for owner in open.streams.keys() {
                        for_each.entry(*owner).or_default().push(says.clone());
                    }
                }
                Way::One(owner) => for_each.entry(owner).or_default().push(says),
                Way::None => {}
            }
        }
        for (owner, says) in for_each {
            if let Some(stream) = open.streams.get(&owner)
                && stream.try_send(says).is_err()
            {
                tracing::warn!(master = %owner, "a master does not take what it is told");
            }
        }
    }
}

/// Where something goes.
enum Way {
    All,
    One(OwnerId),
    None,
}

impl Open {
    fn way_for(&self, message: &FromWorker) -> Way {
        let owner = match message {
            FromWorker::Heartbeat { .. } => return Way::All,
            FromWorker::Granted { owner, .. } => Some(*owner),
            FromWorker::Report { attempt, .. } => self.owners.get(&attempt.job.run.shard()).copied(),
            FromWorker::Inventory(inventory) => self.owners.get(&inventory.shard).copied(),
            FromWorker::Refused { named, .. } => {
                named.and_then(|(shard, _)| self.owners.get(&shard)).copied()
            }
        };
        // Any master passes on what is not for it.
        let known = owner.filter(|owner| self.streams.contains_key(owner));
        known.or_else(|| self.streams.keys().next().copied()).map_or(Way::None, Way::One)
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a stream to one address open.
    async fn keep(self: Arc<Shared>, address: String, endpoint: Endpoint) {
        let mut wait = AGAIN_FIRST;
        let mut said = false;
        loop {
            let began = tokio::time::Instant::now();
            let ended = tokio::select! {
                ended = self.serve(&endpoint) => ended,
                () = self.stop.cancelled() => return,
            };
            if self.gives_up(&address) {
                return;
            }
            if let Err(status) = ended
                && !said
            {
                said = true;
                let error = status.message();
                tracing::warn!(%address, error, "no stream to a master; it is tried again and again");
            }
            if began.elapsed() > AGAIN_MAX {
                (wait, said) = (AGAIN_FIRST, false);
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.stop.cancelled() => return,
            }
            wait = (wait * 2).min(AGAIN_MAX);
        }
    }

    /// A master has said where masters are: those that are new get a stream.
    fn hear_of(self: &Arc<Shared>, addresses: &[String]) {
        if addresses.is_empty() {
            return;
        }
        let mut open = self.open();
        open.heard = addresses.iter().take(HEARD_MOST).cloned().collect();
        for address in addresses.iter().take(HEARD_MOST) {
            if open.tried.len() >= HEARD_MOST + self.addresses.masters.len() || open.tried.contains(address) {
                continue;
            }
            match endpoint(address) {
                Ok(endpoint) => {
                    tracing::info!(%address, "heard of another master");
                    open.tried.insert(address.clone());
                    self.tasks.spawn(Arc::clone(self).keep(address.clone(), endpoint));
                }
                Err(error) => tracing::warn!(%error, "heard of a master at no address"),
            }
        }
    }

    /// Whether an address was only heard of, and is not spoken of any more.
    fn gives_up(&self, address: &str) -> bool {
        let mut open = self.open();
        let wanted = self.addresses.masters.iter().chain(&open.heard).any(|known| known == address);
        if !wanted {
            tracing::info!(address, "a master is not spoken of any more");
            open.tried.remove(address);
        }
        !wanted
    }

    async fn wait_until_gone(&self, owner: OwnerId) -> Result<(), Status> {
        while self.open().streams.contains_key(&owner) {
            tokio::time::sleep(AGAIN_MAX).await;
        }
        Ok(())
    }

    /// One stream, from its beginning to its end.
    async fn serve(self: &Arc<Shared>, endpoint: &Endpoint) -> Result<(), Status> {
        let channel = endpoint.connect().await.map_err(|error| Status::unavailable(chain(&error)))?;
        let (queue, outgoing) = mpsc::channel(QUEUE);
        let hello = worker_says::What::Hello(v1::Hello {
            protocol: PROTOCOL,
            life: Some(v1::Life { worker: self.life.worker.0, incarnation: self.life.incarnation.0 }),
            name: self.addresses.name.to_string(),
            program: self.addresses.program.clone(),
        });
        let _ = queue.try_send(vec![v1::WorkerSays { what: Some(hello) }]);
        let outgoing = ReceiverStream::new(outgoing).map(|says| v1::FromWorker { says });
        let mut request = Request::new(outgoing);
        if let Some(Token(token)) = &self.addresses.token {
            request.metadata_mut().insert("authorization", token.clone());
        }
        let mut client: WorkersClient<Channel> =
            WorkersClient::new(channel).max_decoding_message_size(MESSAGE);
        let mut says = client.work(request).await?.into_inner();
        let welcome = loop {
            let Some(message) = says.message().await? else { return Ok(()) };
            let welcome = message.says.into_iter().find_map(|says| match says.what {
                Some(master_says::What::Welcome(welcome)) => Some(welcome),
                _ => None,
            });
            if let Some(welcome) = welcome {
                break welcome;
            }
        };
        let owner = OwnerId(welcome.owner);
        self.hear_of(&welcome.masters);
        let is_new = {
            let mut open = self.open();
            let is_new = !open.streams.contains_key(&owner);
            if is_new {
                open.streams.insert(owner, queue.clone());
            }
            is_new
        };
        if !is_new {
            // The same master under another address: one stream to it is enough. When that has broken, this way may
            // still be good.
            drop((says, queue, client));
            return self.wait_until_gone(owner).await;
        }
        tracing::info!(master = welcome.name, address = %endpoint.uri(), "connected to a master");
        let ended = self.read(owner, &mut says, queue).await;
        self.open().streams.remove(&owner);
        let _ = self.incoming.send(Incoming::MasterGone(owner)).await;
        ended
    }

    /// Passes on what a master says until its stream ends.
    async fn read(
        self: &Arc<Shared>,
        owner: OwnerId,
        says: &mut Streaming<v1::ToWorker>,
        queue: mpsc::Sender<Vec<v1::WorkerSays>>,
    ) -> Result<(), Status> {
        let mut answers = LogAnswers::new(self.logs.clone(), queue);
        while let Some(message) = says.message().await? {
            for what in message.says.into_iter().filter_map(|says| says.what) {
                match what {
                    master_says::What::Frame(frame) => {
                        let frame =
                            to_worker::decode(frame).map_err(|error| Status::internal(error.to_string()))?;
                        self.learn(owner, &frame.body);
                        if self.incoming.send(Incoming::Frame(frame)).await.is_err() {
                            return Ok(());
                        }
                    }
                    master_says::What::Log(question) => answers.asked(question),
                    master_says::What::LogOver(question) => answers.over(question),
                    master_says::What::Welcome(welcome) => self.hear_of(&welcome.masters),
                }
            }
        }
        Ok(())
    }

    /// Who speaks for a shard is reached by the stream on which it spoke.
    fn learn(&self, owner: OwnerId, body: &Body) {
        match body {
            Body::Orders { shard, .. } => {
                self.open().owners.insert(*shard, owner);
            }
            Body::Heard { shards, .. } => {
                let mut open = self.open();
                for (shard, _) in shards {
                    open.owners.insert(*shard, owner);
                }
            }
            Body::Demand { .. } | Body::Declined(_) | Body::Drain { .. } => {}
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
