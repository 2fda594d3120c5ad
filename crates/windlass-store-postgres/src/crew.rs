//! Tasks that own connections, and calls that wait for them.
//!
//! Whoever calls may give up at any moment. The call is carried to its end all the same, by the task that has the
//! connection: so no connection is ever left inside a transaction that somebody began and nobody ended.

use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};

use crate::connect::Connector;
use crate::fault::{NoAnswer, ServerFault};
use crate::session::Session;

/// How many calls may wait for a crew. Who comes later is told that the store is unavailable, at once: a scheduler
/// that is so far ahead of its store gains nothing from a longer queue.
const WAITING: usize = 1_024;

type Call = Box<dyn FnOnce(Seat) -> Pin<Box<dyn Future<Output = Seat> + Send>> + Send>;

/// The place of one connection, which may be gone and come back.
#[derive(Debug)]
pub(crate) struct Seat {
    connector: Arc<Connector>,
    session: Option<Arc<Session>>,
}

impl Seat {
    pub(crate) fn new(connector: Arc<Connector>) -> Seat {
        Seat { connector, session: None }
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// A connection, and whether it is a new one.
    pub(crate) async fn session(&mut self) -> Result<(Arc<Session>, bool), ServerFault> {
        if let Some(session) = self.session.as_ref().filter(|session| !session.is_closed()) {
            return Ok((Arc::clone(session), false));
        }
        let session = Arc::new(self.connector.connect().await?);
        self.session = Some(Arc::clone(&session));
        Ok((session, true))
    }

    /// Gives the connection up: what was under way on it is over, and the server rolls it back.
    pub(crate) fn hang_up(&mut self) {
        self.session = None;
    }
}

/// Some connections that take calls from one queue, each one call at a time.
#[derive(Debug)]
pub(crate) struct Crew {
    calls: mpsc::Sender<Call>,
}

impl Crew {
    /// Starts a task for each seat. They end when nobody can call any more.
    pub(crate) fn start(seats: Vec<Seat>) -> Crew {
        let (calls, queue) = mpsc::channel::<Call>(WAITING);
        let queue = Arc::new(Mutex::new(queue));
        for mut seat in seats {
            let queue = Arc::clone(&queue);
            tokio::spawn(async move {
                while let Some(call) = next(&queue).await {
                    seat = call(seat).await;
                }
            });
        }
        Crew { calls }
    }

    /// Hands work to one of the connections. It is done even if nobody waits for what it gives; if the task ends
    /// before, the receiver says so.
    pub(crate) fn call<T: Send + 'static, F>(
        &self,
        work: impl FnOnce(Seat) -> F + Send + 'static,
    ) -> Result<oneshot::Receiver<T>, NoAnswer>
    where
        F: Future<Output = (Seat, T)> + Send + 'static,
    {
        let (answer, waiting) = oneshot::channel();
        let call: Call = Box::new(move |seat| {
            let work = work(seat);
            Box::pin(async move {
                let (seat, value) = work.await;
                // Nobody waits any more: the caller gave up, and counts with either.
                let _ = answer.send(value);
                seat
            })
        });
        self.calls.try_send(call).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => NoAnswer::Full { waiting: WAITING },
            mpsc::error::TrySendError::Closed(_) => NoAnswer::Ended,
        })?;
        Ok(waiting)
    }
}

/// The next call; `None` when no more will come.
async fn next(queue: &Mutex<mpsc::Receiver<Call>>) -> Option<Call> {
    queue.lock().await.recv().await
}
