//! The server: its connections, and its end.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;
use windlass_master::Handle;
use windlass_store::Store;

use crate::api::Api;
use crate::front;

/// How long a caller has to send the head of a request.
const HEADERS: Duration = Duration::from_secs(10);
/// A silent HTTP/2 connection is asked so often whether it is there, and given up after so long without an answer:
/// a worker whose machine went dark is noticed within the time after which it counts as lost.
const PING_EVERY: Duration = Duration::from_secs(2);
const PING_LIMIT: Duration = Duration::from_secs(3);
/// Streams of one connection that may be open at once: a page, its live updates and some logs.
const STREAMS: u32 = 256;
/// So long after an end was asked for, what is still open is cut off.
const END_LIMIT: Duration = Duration::from_secs(5);
/// Without a descriptor left, the next connection is waited for so long.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// And said so often.
const COMPLAIN_EVERY: Duration = Duration::from_secs(10);

/// What a server is told once, at its start.
#[derive(Clone, Debug)]
pub struct Config {
    /// Who may call.
    pub auth: Auth,
    /// How long a call waits for the master before it is answered with "not now".
    pub wait: Duration,
    /// The address of the store as it is shown: without passwords.
    pub store: String,
    /// The version of the program.
    pub version: String,
    /// Where the web UI is.
    pub ui: windlass_ui::Source,
}

/// Who may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Programs of this machine, without login. Web pages of other origins are refused.
    Loopback,
    /// Whoever has a token, within its role.
    Tokens,
}

/// The HTTP server of a master.
pub struct Server<S> {
    api: Arc<Api<S>>,
}

impl<S: Store + 'static> Server<S> {
    /// A server that asks this master.
    pub fn new(handle: Handle<S>, config: Config) -> Server<S> {
        Server { api: Arc::new(Api::new(handle, config)) }
    }

    /// Serves until `stop`, then ends live updates, lets calls that are under way finish, and returns when all
    /// connections are gone or a few seconds have passed.
    pub async fn serve(self, listener: TcpListener, stop: CancellationToken) -> io::Result<()> {
        let router = front::router(&self.api);
        let connections = TaskTracker::new();
        let cut = CancellationToken::new();
        let mut complained = None;
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) if is_of_one_connection(&error) => continue,
                Err(error) => {
                    if complained.is_none_or(|at: Instant| at.elapsed() >= COMPLAIN_EVERY) {
                        tracing::warn!(%error, "connections cannot be accepted; it is tried again");
                        complained = Some(Instant::now());
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let connection = connection(stream, router.clone(), stop.clone());
            let cut = cut.clone();
            connections.spawn(async move {
                tokio::select! {
                    () = connection => {}
                    () = cut.cancelled() => {}
                }
            });
        }
        drop(listener);
        // Streams without end would keep their connections open.
        self.api.stop.cancel();
        connections.close();
        if tokio::time::timeout(END_LIMIT, connections.wait()).await.is_err() {
            cut.cancel();
            connections.wait().await;
        }
        self.api.tasks.close();
        let _ = tokio::time::timeout(END_LIMIT, self.api.tasks.wait()).await;
        Ok(())
    }
}

/// Serves one connection until it ends; after `stop` it takes no new requests.
async fn connection(stream: TcpStream, router: axum::Router, stop: CancellationToken) {
    if !matches!(tokio::time::timeout(HEADERS, begun(&stream)).await, Ok(true)) {
        return;
    }
    // A small answer that waits for another packet waits for nothing.
    let _ = stream.set_nodelay(true);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS).keep_alive(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_LIMIT)
        .max_concurrent_streams(STREAMS)
        .adaptive_window(true);
    let service =
        TowerToHyperService::new(router.map_request(|request: Request<Incoming>| request.map(Body::new)));
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection has broken");
    }
}

/// Waits until a caller has sent enough to tell which HTTP it speaks; `false` if it has gone. The timer of the head of a
/// request runs only from there on.
async fn begun(stream: &TcpStream) -> bool {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    /// What is there is looked at without being taken, so nobody says when there is more.
    const LOOK: Duration = Duration::from_millis(20);
    let mut bytes = [0; PREFACE.len()];
    loop {
        match stream.peek(&mut bytes).await {
            Ok(0) | Err(_) => return false,
            Ok(count) if count == PREFACE.len() || bytes[..count] != PREFACE[..count] => return true,
            Ok(_) => tokio::time::sleep(LOOK).await,
        }
    }
}

/// Errors of a connection that was gone before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}

impl<S> std::fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}
