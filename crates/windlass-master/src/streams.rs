//! The streams of workers to this master.
//!
//! Frames wait in a short queue for each stream. A worker that does not take them loses some: everything that matters
//! is said again, and a worker that stands still costs nobody else anything.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};
use windlass_core::master::input::{Input, StreamId};
use windlass_core::shard::input::WorkerLife;
use windlass_core::wire::{Frame, FromWorker};
use windlass_model::{Incarnation, Name, OwnerId, WorkerId};
use windlass_protocol::v1::workers_server::Workers;
use windlass_protocol::v1::{self, worker_says};
use windlass_protocol::{PROTOCOL, agree, from_worker, to_worker};

use crate::logs::LogQuestions;
use crate::shell::Message;
use crate::workers::Known;

/// Messages that wait for a worker. Each is what one decision of the master says to it.
const QUEUE: usize = 256;
/// How long a worker has to say who it is.
const HELLO: Duration = Duration::from_secs(10);

/// The streams of workers.
pub struct Streams {
    /// Hears the name of each worker that connects.
    named: Box<dyn Fn(WorkerId, Name) + Send + Sync>,
    inbox: mpsc::Sender<Message>,
    owner: OwnerId,
    name: Name,
    worker_timeout: Duration,
    /// Where all masters are.
    masters: Mutex<Vec<String>>,
    table: Mutex<Table>,
    /// What one decision says to each worker, until it is sent.
    collected: Mutex<HashMap<WorkerId, Vec<Frame>>>,
    pub questions: LogQuestions,
}

#[derive(Default)]
struct Table {
    opened: u64,
    open: HashMap<WorkerId, Vec<Open>>,
    known: HashMap<WorkerId, Known>,
    closed: bool,
}

struct Open {
    stream: StreamId,
    queue: mpsc::Sender<Outgoing>,
}

/// What goes to a worker.
pub enum Outgoing {
    /// Frames of the machine.
    Frames(Vec<Frame>),
    /// A question about a log, or the end of one.
    Log(v1::master_says::What),
    /// Who is at this end.
    Welcome(v1::Welcome),
}

impl Streams {
    pub fn new(
        named: Box<dyn Fn(WorkerId, Name) + Send + Sync>,
        inbox: mpsc::Sender<Message>,
        owner: OwnerId,
        name: Name,
        worker_timeout: windlass_model::Duration,
        address: &str,
    ) -> Streams {
        Streams {
            named,
            inbox,
            owner,
            name,
            worker_timeout: Duration::from_millis(worker_timeout.as_millis()),
            masters: Mutex::new(vec![address.to_owned()]),
            table: Mutex::default(),
            collected: Mutex::default(),
            questions: LogQuestions::default(),
        }
    }

    /// Collects a frame for a worker.
    pub fn say(&self, worker: WorkerId, frame: Frame) {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        collected.entry(worker).or_default().push(frame);
    }

    /// Sends what was collected: one message to each worker.
    pub fn send(&self) {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        if collected.is_empty() {
            return;
        }
        let table = self.table();
        for (worker, frames) in collected.drain() {
            table.send(worker, Outgoing::Frames(frames));
        }
    }

    /// Sends something else to a worker. Whether it has a stream here.
    pub fn send_to(&self, worker: WorkerId, what: Outgoing) -> bool {
        self.table().send(worker, what)
    }

    /// Tells every worker where masters are, if that has changed.
    pub fn tell_masters(&self, addresses: Vec<String>) {
        {
            let mut known = self.masters.lock().unwrap_or_else(PoisonError::into_inner);
            if *known == addresses {
                return;
            }
            *known = addresses;
        }
        let welcome = self.welcome(PROTOCOL);
        let table = self.table();
        for worker in table.open.keys() {
            table.send(*worker, Outgoing::Welcome(welcome.clone()));
        }
    }

    fn welcome(&self, protocol: u32) -> v1::Welcome {
        let masters = self.masters.lock().unwrap_or_else(PoisonError::into_inner).clone();
        v1::Welcome { protocol, owner: self.owner.0, name: self.name.to_string(), masters }
    }

    /// Ends every stream, and takes no new ones.
    pub fn close(&self) {
        let mut table = self.table();
        table.closed = true;
        table.open.clear();
    }

    /// What is known of workers that have said who they are.
    pub fn known(&self) -> HashMap<WorkerId, Known> {
        self.table().known.clone()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a worker in, unless somebody else is known by its name.
    fn open(&self, life: WorkerLife, name: &Name, program: String) -> Result<Opened, Status> {
        let mut table = self.table();
        if table.closed {
            return Err(Status::unavailable("this master is stopping"));
        }
        let rival = table.known.iter().find(|(worker, known)| {
            **worker != life.worker && known.name == *name && known.is_live(self.worker_timeout)
        });
        if let Some((rival, _)) = rival {
            return Err(Status::already_exists(format!(
                "another live worker ({rival}) is called `{name}`; start this one with another --name"
            )));
        }
        table.opened += 1;
        let stream = StreamId(table.opened);
        let (queue, outgoing) = mpsc::channel(QUEUE);
        table.open.entry(life.worker).or_default().push(Open { stream, queue });
        table.known.insert(life.worker, Known::new(name.clone(), program));
        Ok(Opened { stream, outgoing })
    }

    fn close_one(&self, worker: WorkerId, stream: StreamId) {
        let mut table = self.table();
        let Some(open) = table.open.get_mut(&worker) else { return };
        open.retain(|open| open.stream != stream);
        if open.is_empty() {
            table.open.remove(&worker);
        }
    }

    /// Reads what a worker says until its stream ends.
    async fn read(
        self: Arc<Streams>,
        life: WorkerLife,
        stream: StreamId,
        mut says: Streaming<v1::FromWorker>,
    ) {
        let worker_id = life.worker;
        loop {
            let message = match says.message().await {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(status) => {
                    tracing::info!(%worker_id, error = %status.message(), "the stream of a worker has broken");
                    break;
                }
            };
            if let Some(known) = self.table().known.get_mut(&worker_id) {
                known.heard();
            }
            for what in message.says.into_iter().filter_map(|says| says.what) {
                if let worker_says::What::Log(part) = what {
                    self.questions.answer(part);
                    continue;
                }
                let said = match from_worker::decode(what) {
                    Ok(Some(said)) if speaker(&said) == worker_id => said,
                    Ok(Some(_)) => {
                        tracing::error!(%worker_id, "a worker speaks for another and is cut off");
                        return self.end(worker_id, stream).await;
                    }
                    Ok(None) => continue,
                    Err(error) => {
                        tracing::error!(%worker_id, %error, "a worker is cut off");
                        return self.end(worker_id, stream).await;
                    }
                };
                if self.inbox.send(Message::Input(Input::FromWorker(said))).await.is_err() {
                    return;
                }
            }
        }
        self.end(worker_id, stream).await;
    }

    async fn end(&self, worker: WorkerId, stream: StreamId) {
        self.close_one(worker, stream);
        let _ = self.inbox.send(Message::Input(Input::Disconnected(worker, stream))).await;
    }
}

impl Table {
    /// The newest stream is used: an older one may be dead without anybody having noticed.
    fn send(&self, worker: WorkerId, what: Outgoing) -> bool {
        let newest = self.open.get(&worker).and_then(|open| open.last());
        newest.is_some_and(|open| open.queue.try_send(what).is_ok())
    }
}

/// A stream that was taken in.
struct Opened {
    stream: StreamId,
    outgoing: mpsc::Receiver<Outgoing>,
}

/// The worker that says something.
fn speaker(said: &FromWorker) -> WorkerId {
    match said {
        FromWorker::Heartbeat { life, .. }
        | FromWorker::Granted { life, .. }
        | FromWorker::Report { life, .. }
        | FromWorker::Refused { life, .. } => life.worker,
        FromWorker::Inventory(inventory) => inventory.life.worker,
    }
}

/// The service that workers connect to.
#[derive(Clone)]
pub struct WorkerService(pub(crate) Arc<Streams>);

#[tonic::async_trait]
impl Workers for WorkerService {
    type WorkStream = Pin<Box<dyn Stream<Item = Result<v1::ToWorker, Status>> + Send>>;

    async fn work(
        &self,
        request: Request<Streaming<v1::FromWorker>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let mut says = request.into_inner();
        let first = tokio::time::timeout(HELLO, says.message()).await;
        let first = first.map_err(|_| Status::deadline_exceeded("a worker must say who it is"))??;
        let hello = first.and_then(|first| first.says.into_iter().next()).and_then(|says| says.what);
        let Some(worker_says::What::Hello(hello)) = hello else {
            return Err(Status::invalid_argument("a worker's first word must be who it is"));
        };
        let protocol = agree(hello.protocol).ok_or_else(|| {
            Status::failed_precondition(format!(
                "this master speaks protocol {} to {}, the worker {}; use versions that are closer",
                windlass_protocol::OLDEST,
                PROTOCOL,
                hello.protocol
            ))
        })?;
        let life =
            hello.life.ok_or_else(|| Status::invalid_argument("a worker must say which life it is"))?;
        let life = WorkerLife { worker: WorkerId(life.worker), incarnation: Incarnation(life.incarnation) };
        let name = Name::new(&hello.name)
            .map_err(|error| Status::invalid_argument(format!("the name of a worker: {error}")))?;
        let Opened { stream, outgoing } = self.0.open(life, &name, hello.program)?;
        let connected = Message::Input(Input::Connected(life.worker, stream));
        self.0.inbox.send(connected).await.map_err(|_| Status::unavailable("this master is stopping"))?;
        tracing::info!(worker_id = %life.worker, worker = %name, "a worker has connected");
        (self.0.named)(life.worker, name);
        let welcome = self.0.welcome(protocol);
        self.0.table().send(life.worker, Outgoing::Welcome(welcome));
        tokio::spawn(Arc::clone(&self.0).read(life, stream, says));
        // Encoded where it is sent, so that the loop has nothing to do with it.
        let encoded = ReceiverStream::new(outgoing).map(|outgoing| Ok(encode(outgoing)));
        Ok(Response::new(Box::pin(encoded)))
    }
}

impl std::fmt::Debug for WorkerService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerService").finish_non_exhaustive()
    }
}

fn encode(outgoing: Outgoing) -> v1::ToWorker {
    let what = |what| v1::MasterSays { what: Some(what) };
    let says = match outgoing {
        Outgoing::Frames(frames) => {
            let frame = |frame| what(v1::master_says::What::Frame(to_worker::encode(frame)));
            frames.iter().map(frame).collect()
        }
        Outgoing::Log(question) => vec![what(question)],
        Outgoing::Welcome(welcome) => vec![what(v1::master_says::What::Welcome(welcome))],
    };
    v1::ToWorker { says }
}
