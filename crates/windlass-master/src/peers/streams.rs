//! Streams between masters: the one that this master keeps to each other, and those that come.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use prost::Message as _;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;
use tonic::{Request, Response, Status, Streaming};
use windlass_core::durable::Contact;
use windlass_model::OwnerId;
use windlass_protocol::v1::masters_client::MastersClient;
use windlass_protocol::v1::masters_server::Masters;
use windlass_protocol::v1::{self, peer_says::What};
use windlass_protocol::{PROTOCOL, agree};
use windlass_store::Store;

use super::{Peers, QUEUE, Said};
use crate::feed::Touched;

/// How long a connection may take, and how long the other has to say who it is.
const CONNECT: Duration = Duration::from_secs(5);
/// The same as workers have: a master that vanished without a word is noticed within these.
const PING_EVERY: Duration = Duration::from_secs(2);
const PING_ANSWER: Duration = Duration::from_secs(3);
/// The first wait before another try, and the longest.
const AGAIN_FIRST: Duration = Duration::from_millis(50);
const AGAIN_MAX: Duration = Duration::from_secs(1);
/// How long the last words to a master may take.
pub const GOODBYE: Duration = Duration::from_millis(500);
/// What goes in one message, unless one word alone has more.
const BATCH: usize = 4 << 20;
/// The longest message: the longest answer and what is around it, several times over.
pub const MESSAGE: usize = 256 << 20;
/// Messages on the way to the network. The pump waits with more, and the queue behind it fills.
const ON_THE_WAY: usize = 4;

/// Keeps a stream to another master open as long as its lease is there.
pub async fn keep<S: Store + 'static>(
    peers: Arc<Peers<S>>,
    peer: OwnerId,
    contact: Contact,
    mut said: mpsc::Receiver<Vec<Said>>,
    stop: CancellationToken,
) {
    let address = Arc::clone(&contact.address);
    let endpoint = match Endpoint::from_shared(contact.address.to_string()) {
        Ok(endpoint) => endpoint
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_ANSWER)
            .keep_alive_while_idle(true),
        Err(error) => {
            tracing::error!(master = %peer, %address, %error, "the lease of a master has an address that is none");
            return;
        }
    };
    let mut wait = AGAIN_FIRST;
    let mut complained = false;
    loop {
        let began = tokio::time::Instant::now();
        let ended = tokio::select! {
            ended = serve(&peers, peer, &endpoint, &contact, &mut said) => ended,
            () = stop.cancelled() => return,
        };
        if said.is_closed() && said.is_empty() {
            return;
        }
        if let Err(status) = ended
            && !complained
        {
            complained = true;
            let error = status.message();
            tracing::warn!(master = %peer, %address, error, "no stream to another master; it is tried again and again");
        }
        if began.elapsed() > AGAIN_MAX {
            (wait, complained) = (AGAIN_FIRST, false);
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = stop.cancelled() => return,
        }
        wait = (wait * 2).min(AGAIN_MAX);
    }
}

/// One stream, from its beginning to its end.
async fn serve<S: Store + 'static>(
    peers: &Arc<Peers<S>>,
    peer: OwnerId,
    endpoint: &Endpoint,
    contact: &Contact,
    said: &mut mpsc::Receiver<Vec<Said>>,
) -> Result<(), Status> {
    let channel = endpoint.connect().await.map_err(|error| Status::unavailable(chain(&error)))?;
    let (out, outgoing) = mpsc::channel(ON_THE_WAY);
    let _ = out.try_send(hello(peers, peer, &contact.secret));
    let mut client =
        MastersClient::new(channel).max_decoding_message_size(MESSAGE).max_encoding_message_size(MESSAGE);
    let request = Request::new(ReceiverStream::new(outgoing));
    let mut says = client.talk(request).await?.into_inner();
    let first = first(&mut says).await?;
    if OwnerId(first.from) != peer {
        return Err(Status::failed_precondition("another master answers there"));
    }
    tracing::info!(master = first.name, address = %contact.address, "connected to another master");
    let reading = read(peers, peer, says);
    tokio::pin!(reading);
    let pumped = tokio::select! {
        ended = &mut reading => {
            // Changes may have been on their way.
            peers.feed.told(Touched::default());
            peers.lost_touch(peer);
            return ended;
        }
        pumped = pump(peers, said, &out) => pumped,
    };
    // Nothing more is said: what is on the way shall arrive, and the other ends its side then.
    drop(out);
    let _ = tokio::time::timeout(GOODBYE, reading).await;
    pumped
}

fn hello<S>(peers: &Peers<S>, to: OwnerId, secret: &str) -> v1::FromMaster {
    let hello = v1::MasterHello {
        protocol: PROTOCOL,
        from: peers.owner.0,
        to: to.0,
        secret: secret.to_owned(),
        name: peers.name.to_string(),
    };
    v1::FromMaster { says: vec![v1::PeerSays { what: Some(What::Hello(hello)) }] }
}

/// The first word, which says who speaks.
async fn first(says: &mut Streaming<v1::FromMaster>) -> Result<v1::MasterHello, Status> {
    let first = tokio::time::timeout(CONNECT, says.message()).await;
    let first = first.map_err(|_| Status::deadline_exceeded("a master must say who it is"))??;
    match first.and_then(|first| first.says.into_iter().next()).and_then(|says| says.what) {
        Some(What::Hello(hello)) => Ok(hello),
        _ => Err(Status::invalid_argument("a master's first word must be who it is")),
    }
}

/// Takes what a peer says until its stream ends.
async fn read<S: Store + 'static>(
    peers: &Arc<Peers<S>>,
    peer: OwnerId,
    mut says: Streaming<v1::FromMaster>,
) -> Result<(), Status> {
    while let Some(message) = says.message().await? {
        for says in message.says {
            if !peers.hear(peer, says).await {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Sends what is said to a peer until its stream takes no more.
async fn pump<S: Store + 'static>(
    peers: &Peers<S>,
    said: &mut mpsc::Receiver<Vec<Said>>,
    out: &mpsc::Sender<v1::FromMaster>,
) -> Result<(), Status> {
    let gone = |_| Status::unavailable("the stream has ended");
    while let Some(turn) = said.recv().await {
        let mut message = v1::FromMaster::default();
        let mut size = 0;
        for says in turn.iter().filter_map(|what| peers.encode(what)) {
            size += says.encoded_len();
            message.says.push(says);
            if size >= BATCH {
                size = 0;
                out.send(std::mem::take(&mut message)).await.map_err(gone)?;
            }
        }
        if !message.says.is_empty() {
            out.send(message).await.map_err(gone)?;
        }
    }
    Ok(())
}

/// The service that other masters connect to.
pub struct PeerService<S>(pub(crate) Arc<Peers<S>>);

#[tonic::async_trait]
impl<S: Store + 'static> Masters for PeerService<S> {
    type TalkStream = Pin<Box<dyn Stream<Item = Result<v1::FromMaster, Status>> + Send>>;

    async fn talk(
        &self,
        request: Request<Streaming<v1::FromMaster>>,
    ) -> Result<Response<Self::TalkStream>, Status> {
        let peers = &self.0;
        let mut says = request.into_inner();
        let hello_there = first(&mut says).await?;
        // Hashes take the same time to compare, however much of the secret is right.
        let shown = blake3::hash(hello_there.secret.as_bytes());
        if OwnerId(hello_there.to) != peers.owner || shown != blake3::hash(peers.contact.secret.as_bytes()) {
            return Err(Status::permission_denied(
                "this is not the master that is meant, or it reads another store",
            ));
        }
        agree(hello_there.protocol).ok_or_else(|| {
            Status::failed_precondition(format!(
                "this master speaks protocol {} to {}, the other {}; use versions that are closer",
                windlass_protocol::OLDEST,
                PROTOCOL,
                hello_there.protocol
            ))
        })?;
        let peer = OwnerId(hello_there.from);
        let (queue, mut said) = mpsc::channel(QUEUE);
        let number = {
            let mut table = peers.table();
            if table.closed {
                return Err(Status::unavailable("this master is stopping"));
            }
            table.arrivals += 1;
            let number = table.arrivals;
            table.links.entry(peer).or_default().arrived.insert(number, queue);
            number
        };
        tracing::info!(master = hello_there.name, "another master has connected");
        let (out, outgoing) = mpsc::channel(ON_THE_WAY);
        let _ = out.try_send(hello(peers, peer, ""));
        let (peers, stop) = (Arc::clone(peers), peers.stop.child_token());
        let streams = peers.streams.clone();
        streams.spawn(async move {
            tokio::select! {
                _ended = read(&peers, peer, says) => {}
                _ended = pump(&peers, &mut said, &out) => {}
                () = out.closed() => {}
                () = stop.cancelled() => {}
            }
            peers.lost_touch(peer);
            let mut table = peers.table();
            if let Some(link) = table.links.get_mut(&peer) {
                link.arrived.remove(&number);
                if link.arrived.is_empty() && link.kept.is_none() {
                    table.links.remove(&peer);
                }
            }
        });
        let outgoing = tokio_stream::StreamExt::map(ReceiverStream::new(outgoing), Ok);
        Ok(Response::new(Box::pin(outgoing)))
    }
}

impl<S> std::fmt::Debug for PeerService<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PeerService").finish_non_exhaustive()
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
