//! Answers: JSON, text, and streams of events.

use std::convert::Infallible;
use std::io;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use windlass_rest::ProblemCode;

use crate::refusal::Refusal;

/// What comes of a call.
pub type Answer = Result<Response, Refusal>;

/// Events that wait for their reader. One that reads slower than this is not waited for: its stream is read again
/// from the state as it is when it has caught up.
const EVENTS: usize = 64;

/// Done, and this is how it is.
pub fn ok(shape: &impl Serialize) -> Answer {
    json(StatusCode::OK, shape)
}

/// A shape with a status.
pub fn json(status: StatusCode, shape: &impl Serialize) -> Answer {
    let body = serde_json::to_vec(shape).map_err(|error| {
        tracing::error!(%error, "an answer cannot be written");
        Refusal::new(ProblemCode::Internal, "the answer cannot be written")
    })?;
    Ok(typed(status, "application/json", body))
}

/// Nothing to say.
pub fn no_content() -> Answer {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

/// What the caller has is what there is.
pub fn not_modified() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response
}

/// An answer whose content has a name, so that a caller can say what it has seen.
pub fn tagged(mut response: Response, tag: &str) -> Response {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(ETAG, tag);
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    response
}

/// Text of some kind.
pub fn typed(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A page without scripts, for who comes with a browser.
pub fn html(page: impl Into<Body>) -> Response {
    let mut response = typed(StatusCode::OK, "text/html; charset=utf-8", page);
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    response.headers_mut().insert("content-security-policy", HeaderValue::from_static(policy));
    response
}

/// A file of the documents; what a page needs comes from this server, and nothing of it is a script.
pub fn document(kind: &'static str, body: String) -> Response {
    let mut response = typed(StatusCode::OK, kind, body);
    let policy =
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    response.headers_mut().insert("content-security-policy", HeaderValue::from_static(policy));
    response
}

/// Text inside a page.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// One server-sent event.
#[derive(Clone, Debug)]
pub struct SentEvent {
    /// Its kind.
    pub name: &'static str,
    /// What a reader says when it comes back.
    pub id: String,
    /// One line of JSON.
    pub data: String,
}

/// What goes into a stream of events.
enum Piece {
    Bytes(Bytes),
    /// The stream did not come to its end: the connection is broken, so that its reader comes back.
    Broken,
}

/// Where events are put.
#[derive(Clone)]
pub struct Events(mpsc::Sender<Piece>);

/// The reader of a stream is gone.
#[derive(Debug)]
pub struct Gone;

impl Events {
    /// Sends an event; waits while its reader is slow.
    pub async fn send(&self, event: SentEvent) -> Result<(), Gone> {
        let SentEvent { name, id, data } = event;
        self.put(Piece::Bytes(format!("event: {name}\nid: {id}\ndata: {data}\n\n").into())).await
    }

    /// Says that the stream is alive.
    pub async fn keep_alive(&self) -> Result<(), Gone> {
        self.put(Piece::Bytes(Bytes::from_static(b": alive\n\n"))).await
    }

    /// Breaks the stream off.
    pub async fn break_off(&self) {
        let _ = self.put(Piece::Broken).await;
    }

    /// Whether nobody reads any more.
    pub async fn closed(&self) {
        self.0.closed().await;
    }

    async fn put(&self, piece: Piece) -> Result<(), Gone> {
        self.0.send(piece).await.map_err(|_| Gone)
    }
}

/// An answer that is a stream of events, and where to put them. It ends when that is dropped.
pub fn events() -> (Events, Response) {
    let (sender, pieces) = mpsc::channel(EVENTS);
    let body = ReceiverStream::new(pieces).map(|piece| match piece {
        Piece::Bytes(bytes) => Ok(bytes),
        Piece::Broken => Err(io::Error::other("the server is stopping")),
    });
    let mut response = typed(StatusCode::OK, "text/event-stream", Body::from_stream(body));
    // A proxy that collects answers would keep live updates for itself.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    (Events(sender), response)
}

/// For services that cannot fail.
pub fn never(never: Infallible) -> Response {
    match never {}
}
