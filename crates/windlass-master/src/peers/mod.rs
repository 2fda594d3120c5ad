//! The other masters of the cluster.
//!
//! ```text
//! loop ── say ──► queue of the peer ──► keep: one stream to where its lease says it is ──► the peer
//! loop ◄── FromPeer ── decoded ◄── streams that this master opened, and those that others opened to it
//! ```
//!
//! What the machine says to a peer waits in a short queue, also while there is no stream yet; what comes on top of that
//! is dropped, because anything said between masters may be lost. A look at the leases says whom there is to talk to. A
//! master that comes shows the secret of the lease of the one it comes to: both read the same store, or it is sent away.

mod answers;
mod calls;
mod homes;
mod shapes;
mod streams;
mod updates;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use windlass_clock::Clock;
use windlass_core::durable::{Contact, Lease};
use windlass_core::master::input::{FromPeer, Input, Pass, Reply};
use windlass_model::{Duration as Millis, Name, OwnerId, WorkerId};
use windlass_protocol::v1::{self, peer_says::What};
use windlass_protocol::{from_worker, heard_of, to_worker};
use windlass_store::Store;

use crate::definitions::DefinitionCache;
use crate::feed::{Feed, Touched};
use crate::shell::Message;
use calls::{CallReader, NotRead};
use shapes::Undecodable;

pub use streams::{MESSAGE, PeerService};

/// Turns of the loop whose words wait for a peer. What comes on top of that is dropped: the peer is away.
const QUEUE: usize = 1024;
/// Calls of others that are being read at the same time; who sends more waits.
const READING: usize = 64;
/// The longest answer that is passed on. Longer ones are as good as lost on the way, and the caller is told at once.
const ANSWER: usize = 64 << 20;
/// How long a master that was told that somebody listens believes it.
const LISTENING: Duration = Duration::from_secs(5);
/// The same complaint about a peer is made no more often.
const COMPLAIN_EVERY: Duration = Duration::from_secs(10);
/// What masters of a different version, or something else, have sent: the code of the complaint.
const BAD_MESSAGE: &str = "bad_peer_message";

/// The way to the other masters, and from them.
pub struct Peers<S> {
    owner: OwnerId,
    name: Name,
    contact: Contact,
    clock: Clock,
    inbox: mpsc::Sender<Message>,
    feed: Feed,
    /// Masters at which somebody listens, and until when that is believed.
    listeners: Mutex<HashMap<OwnerId, Instant>>,
    reader: CallReader<S>,
    reading: Arc<Semaphore>,
    table: Mutex<Table>,
    /// What the present turn of the loop says to each.
    collected: Mutex<BTreeMap<OwnerId, Vec<Said>>>,
    complaints: Mutex<HashMap<&'static str, (Instant, u64)>>,
    stop: CancellationToken,
    streams: TaskTracker,
    tasks: TaskTracker,
}

/// Something that is said to another master.
enum Said {
    /// By the machine.
    Machine(FromPeer),
    /// Somebody here wants to hear of every change.
    Listening,
    /// This has changed here.
    Touched(Touched),
}

#[derive(Default)]
struct Table {
    links: HashMap<OwnerId, Link>,
    arrivals: u64,
    closed: bool,
}

/// The ways to one other master.
#[derive(Default)]
struct Link {
    /// The stream that this master keeps, while the peer has a lease.
    kept: Option<Kept>,
    /// Streams that the peer has opened, by when they came.
    arrived: BTreeMap<u64, mpsc::Sender<Vec<Said>>>,
}

struct Kept {
    contact: Contact,
    queue: mpsc::Sender<Vec<Said>>,
    stop: CancellationToken,
}

impl<S: Store + 'static> Peers<S> {
    #[allow(clippy::too_many_arguments, reason = "called once, by the one that makes all of these")]
    pub fn new(
        owner: OwnerId,
        name: Name,
        contact: Contact,
        clock: Clock,
        store: Arc<S>,
        definitions: Arc<DefinitionCache<S>>,
        feed: Feed,
        inbox: mpsc::Sender<Message>,
        tasks: TaskTracker,
    ) -> Peers<S> {
        Peers {
            owner,
            name,
            contact,
            clock,
            inbox,
            feed,
            listeners: Mutex::default(),
            reader: CallReader::new(store, definitions),
            reading: Arc::new(Semaphore::new(READING)),
            table: Mutex::default(),
            collected: Mutex::default(),
            complaints: Mutex::default(),
            stop: CancellationToken::new(),
            streams: TaskTracker::new(),
            tasks,
        }
    }

    /// A look has shown these leases: whoever is new is called, whoever is gone is forgotten. Says where all masters
    /// are, this one too.
    pub fn meet(self: &Arc<Peers<S>>, leases: &[Lease]) -> Vec<String> {
        let mut there: BTreeMap<_, _> = leases
            .iter()
            .filter(|lease| lease.owner != self.owner)
            .filter_map(|lease| Some((lease.owner, lease.contact.clone()?)))
            .collect();
        let mut addresses: Vec<_> = there.values().map(|contact| contact.address.to_string()).collect();
        addresses.push(self.contact.address.to_string());
        addresses.sort_unstable();
        addresses.dedup();
        let mut table = self.table();
        if table.closed {
            return addresses;
        }
        for (owner, link) in &mut table.links {
            if let Some(kept) = &link.kept {
                if there.get(owner) == Some(&kept.contact) {
                    there.remove(owner);
                } else {
                    kept.stop.cancel();
                    link.kept = None;
                }
            }
        }
        for (owner, contact) in there {
            let (queue, said) = mpsc::channel(QUEUE);
            let stop = self.stop.child_token();
            self.streams.spawn(streams::keep(Arc::clone(self), owner, contact.clone(), said, stop.clone()));
            table.links.entry(owner).or_default().kept = Some(Kept { contact, queue, stop });
        }
        table.links.retain(|_, link| link.kept.is_some() || !link.arrived.is_empty());
        addresses
    }

    /// Collects what is said to a peer.
    pub fn say(&self, peer: OwnerId, what: FromPeer) {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        collected.entry(peer).or_default().push(Said::Machine(what));
    }

    /// Sends what was collected.
    pub fn send(&self) {
        let collected = std::mem::take(&mut *self.collected.lock().unwrap_or_else(PoisonError::into_inner));
        for (peer, said) in collected {
            self.tell(peer, said);
        }
    }

    fn tell(&self, peer: OwnerId, said: Vec<Said>) {
        let sent = {
            let table = self.table();
            let link = table.links.get(&peer);
            // A stream that the peer opened is up; the one that is kept may be waiting for the peer.
            let arrived = link.and_then(|link| link.arrived.values().next_back());
            let kept = link.and_then(|link| link.kept.as_ref()).map(|kept| &kept.queue);
            match (arrived, kept) {
                (Some(arrived), kept) => match (arrived.try_send(said), kept) {
                    (Ok(()), _) => true,
                    (Err(refused), Some(kept)) => kept.try_send(refused.into_inner()).is_ok(),
                    (Err(_), None) => false,
                },
                (None, Some(kept)) => kept.try_send(said).is_ok(),
                (None, None) => false,
            }
        };
        if !sent {
            self.complain(
                "say something to a master",
                &format_args!("there is no way to {peer}, or it is full"),
            );
        }
    }

    /// Says the last words, ends every stream, and takes no new ones.
    pub async fn close(&self) {
        self.send();
        {
            let mut table = self.table();
            table.closed = true;
            table.links.clear();
        }
        self.streams.close();
        let _ = tokio::time::timeout(streams::GOODBYE, self.streams.wait()).await;
        self.stop.cancel();
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As it is sent; `None` for what has no way of being sent.
    fn encode(&self, said: &Said) -> Option<v1::PeerSays> {
        let what = match said {
            Said::Machine(what) => self.encode_machine(what)?,
            Said::Listening => What::Listening(LISTENING.as_millis() as u64),
            Said::Touched(touched) => What::Touched(updates::encode(touched)),
        };
        Some(v1::PeerSays { what: Some(what) })
    }

    fn encode_machine(&self, what: &FromPeer) -> Option<What> {
        Some(match what {
            FromPeer::ToWorker(worker, frame) => {
                What::ToWorker(v1::Relayed { worker: worker.0, frame: Some(to_worker::encode(frame)) })
            }
            FromPeer::FromWorker(message) => What::FromWorker(from_worker::encode(message)),
            FromPeer::Ask(worker) => What::Ask(worker.0),
            FromPeer::Heard(life, capability, ago) => What::Heard(heard_of::encode(*life, capability, *ago)),
            FromPeer::Call { pass, over_below, shard, what, left } => {
                let (format, call) = calls::encode(what);
                What::Call(v1::PassedCall {
                    pass: pass.0,
                    over_below: over_below.0,
                    shard: shard.number().into(),
                    left: left.as_millis(),
                    format,
                    call,
                })
            }
            FromPeer::Reply(pass, reply) => {
                let now = self.clock.now().mono;
                let mut encoded = answers::encode(now, reply);
                if encoded.1.len() > ANSWER {
                    self.complain("pass an answer on", &format_args!("it has {} bytes", encoded.1.len()));
                    encoded = answers::encode(now, &Reply::Unknown);
                }
                let (format, reply) = encoded;
                What::Reply(v1::PassedReply { pass: pass.0, format, reply })
            }
            FromPeer::Home(shard, input) => {
                let (format, input) = homes::encode(input)?;
                What::Home(v1::ToShard { shard: shard.number().into(), format, input })
            }
            FromPeer::Released { shard, leaving } => {
                What::Released(v1::ShardFree { shard: shard.number().into(), leaving: *leaving })
            }
        })
    }

    /// A stream to or from a peer has ended: perhaps the peer has. A hint, so that nobody waits to give it.
    fn lost_touch(&self, peer: OwnerId) {
        let _ = self.inbox.try_send(Message::Input(Input::Unreachable(peer)));
    }

    /// Takes what a peer says to the loop. `false` when the master has ended.
    async fn hear(self: &Arc<Peers<S>>, peer: OwnerId, says: v1::PeerSays) -> bool {
        let said = match says.what {
            None | Some(What::Hello(_)) => return true,
            Some(What::Call(call)) => return self.hear_call(peer, call).await,
            Some(What::Listening(millis)) => {
                self.hear_listening(peer, Duration::from_millis(millis));
                return true;
            }
            Some(What::Touched(touched)) => {
                self.feed.told(updates::decode(&touched));
                return true;
            }
            Some(what) => self.decode(what),
        };
        match said {
            Ok(said) => self.inbox.send(Message::Input(Input::FromPeer(peer, said))).await.is_ok(),
            Err(error) => {
                self.complain("read what a master said", &error);
                true
            }
        }
    }

    fn decode(&self, what: What) -> Result<FromPeer, Undecodable> {
        let malformed = |error: windlass_protocol::Malformed| Undecodable::of(error);
        let missing = |what: &str| Undecodable::Malformed(format!("{what} is missing"));
        Ok(match what {
            What::ToWorker(relayed) => {
                let frame = relayed.frame.ok_or_else(|| missing("a frame"))?;
                let frame = to_worker::decode(frame).map_err(malformed)?;
                FromPeer::ToWorker(WorkerId(relayed.worker), frame)
            }
            What::FromWorker(says) => {
                let what = says.what.ok_or_else(|| missing("what a worker says"))?;
                let said = from_worker::decode(what).map_err(malformed)?;
                FromPeer::FromWorker(said.ok_or_else(|| missing("what a worker says"))?)
            }
            What::Ask(worker) => FromPeer::Ask(WorkerId(worker)),
            What::Heard(heard) => {
                let (life, capability, ago) = heard_of::decode(heard).map_err(malformed)?;
                FromPeer::Heard(life, capability, ago)
            }
            What::Reply(reply) => {
                let now = self.clock.now().mono;
                FromPeer::Reply(Pass(reply.pass), answers::decode(now, reply.format, &reply.reply)?)
            }
            What::Home(home) => {
                let input = homes::decode(home.format, &home.input)?;
                FromPeer::Home(shapes::shard(home.shard)?, Box::new(input))
            }
            What::Released(free) => {
                FromPeer::Released { shard: shapes::shard(free.shard)?, leaving: free.leaving }
            }
            What::Hello(_) | What::Call(_) | What::Listening(_) | What::Touched(_) => {
                return Err(missing("a meaning here"));
            }
        })
    }

    /// A call names rows of the store, and others must not wait while they are read.
    async fn hear_call(self: &Arc<Peers<S>>, peer: OwnerId, call: v1::PassedCall) -> bool {
        let Ok(permit) = Arc::clone(&self.reading).acquire_owned().await else { return false };
        let peers = Arc::clone(self);
        self.tasks.spawn(async move {
            let read = peers.read_call(&call).await;
            drop(permit);
            match read {
                Ok(said) => {
                    // If nobody takes it any more, the master has ended.
                    let _ = peers.inbox.send(Message::Input(Input::FromPeer(peer, said))).await;
                }
                Err(error) => {
                    peers.complain("read a call of another master", &error);
                    // Nothing was done.
                    let reply = FromPeer::Reply(Pass(call.pass), Reply::Unavailable);
                    peers.tell(peer, vec![Said::Machine(reply)]);
                }
            }
        });
        !self.inbox.is_closed()
    }

    async fn read_call(&self, call: &v1::PassedCall) -> Result<FromPeer, NotRead> {
        Ok(FromPeer::Call {
            pass: Pass(call.pass),
            over_below: Pass(call.over_below),
            shard: shapes::shard(call.shard)?,
            what: self.reader.decode(call.format, &call.call).await?,
            left: Millis::from_millis(call.left),
        })
    }

    /// Says that something is wrong with a peer, but not a thousand times.
    fn complain(&self, tried: &'static str, error: &dyn std::fmt::Display) {
        let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, unsaid) = complaints.entry(tried).or_insert_with(|| {
            let long_ago = Instant::now().checked_sub(COMPLAIN_EVERY).unwrap_or_else(Instant::now);
            (long_ago, 0)
        });
        if last.elapsed() < COMPLAIN_EVERY {
            *unsaid += 1;
            return;
        }
        *last = Instant::now();
        let unsaid = std::mem::take(unsaid);
        drop(complaints);
        tracing::warn!(code = BAD_MESSAGE, tried, %error, unsaid, "what masters say to each other was lost");
    }
}
