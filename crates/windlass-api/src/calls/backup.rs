//! A copy of everything, while everything goes on.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, HeaderValue};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use windlass_rest::ProblemCode;
use windlass_store::Store;
use windlass_store::copies::{CopyError, StoreCopy};

use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::Asked;
use crate::refusal::Refusal;
use crate::roles::Caller;

/// What a copy of a SQLite store is.
const KIND: &str = "application/vnd.sqlite3";
/// How much of the copy is read at once.
const PIECE: usize = 256 << 10;
/// Pieces that wait for a reader; its thread waits when there are more.
const WAITING: usize = 4;

/// Takes a copy of the store and sends it.
pub async fn backup<S: Store + 'static>(api: &Arc<Api<S>>, caller: &Caller, asked: &Asked) -> Answer {
    asked.no_query()?;
    let handle = api.handle.clone();
    let copied = tokio::task::spawn_blocking(move || handle.store().copy()).await;
    let copied = copied.map_err(|error| Refusal::new(ProblemCode::Internal, error.to_string()))?;
    let StoreCopy { size, bytes: mut copy } = copied?;
    tracing::info!(by = &*caller.name, size, "a backup was taken");
    let (sender, pieces) = mpsc::channel(WAITING);
    // It ends with the copy, or with whoever reads it.
    api.tasks.spawn_blocking(move || {
        loop {
            let mut piece = vec![0; PIECE];
            let read = copy.read(&mut piece);
            let last = !matches!(read, Ok(1..));
            let sent = match read {
                Ok(0) => return,
                Ok(count) => {
                    piece.truncate(count);
                    sender.blocking_send(Ok(Bytes::from(piece)))
                }
                Err(error) => sender.blocking_send(Err(error)),
            };
            if last || sent.is_err() {
                return;
            }
        }
    });
    let mut response = answers::typed(StatusCode::OK, KIND, Body::from_stream(ReceiverStream::new(pieces)));
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(size));
    let name = HeaderValue::from_static("attachment; filename=\"windlass-backup.db\"");
    response.headers_mut().insert(CONTENT_DISPOSITION, name);
    Ok(response)
}

impl From<CopyError> for Refusal {
    fn from(error: CopyError) -> Refusal {
        match &error {
            CopyError::Elsewhere => {
                Refusal::new(ProblemCode::NotYetSupported, error.to_string()).hint("for PostgreSQL: pg_dump")
            }
            CopyError::UnderWay => Refusal::new(ProblemCode::TooManyRequests, error.to_string())
                .hint("wait until it is done, and ask again"),
            CopyError::Failed(cause) => {
                let mut detail = error.to_string();
                let mut next: Option<&dyn std::error::Error> = Some(&**cause);
                while let Some(cause) = next {
                    detail = format!("{detail}: {cause}");
                    next = cause.source();
                }
                tracing::error!(error = detail, "a backup cannot be taken");
                Refusal::new(ProblemCode::Unavailable, detail)
                    .hint("it needs as much room beside the store as the store takes")
            }
        }
    }
}
