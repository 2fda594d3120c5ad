//! Threads that own connections, and calls that wait for them.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::fault::NoAnswer;

/// How many calls may wait for a crew. Who comes later is told that the store is unavailable, at once: a
/// scheduler that is so far ahead of its disk gains nothing from a longer queue.
const WAITING: usize = 1_024;

type Call = Box<dyn FnOnce(&mut Connection) + Send>;

/// Some threads with a connection each, which take calls from one queue.
#[derive(Debug)]
pub(crate) struct Crew {
    calls: Option<SyncSender<Call>>,
    threads: Vec<JoinHandle<()>>,
}

impl Crew {
    pub(crate) fn start(name: &str, connections: Vec<Connection>) -> std::io::Result<Crew> {
        let (calls, queue) = sync_channel::<Call>(WAITING);
        let queue = Arc::new(Mutex::new(queue));
        let mut crew = Crew { calls: Some(calls), threads: Vec::new() };
        for mut connection in connections {
            let queue = Arc::clone(&queue);
            let thread = Builder::new().name(name.to_owned()).spawn(move || {
                while let Some(call) = next(&queue) {
                    call(&mut connection);
                }
            })?;
            crew.threads.push(thread);
        }
        Ok(crew)
    }

    /// Hands work to one of the threads. It is done even if nobody waits for what it gives; if the thread ends
    /// before, the receiver says so.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<oneshot::Receiver<T>, NoAnswer> {
        let (answer, waiting) = oneshot::channel();
        let call: Call = Box::new(move |connection| {
            // Nobody waits any more: the caller gave up, and counts with either.
            let _ = answer.send(work(connection));
        });
        let calls = self.calls.as_ref().ok_or(NoAnswer::Ended)?;
        calls.try_send(call).map_err(|refused| match refused {
            TrySendError::Full(_) => NoAnswer::Full { waiting: WAITING },
            TrySendError::Disconnected(_) => NoAnswer::Ended,
        })?;
        Ok(waiting)
    }
}

/// The next call; `None` when no more will come.
fn next(queue: &Mutex<Receiver<Call>>) -> Option<Call> {
    // A thread that panicked did so in its call, not while it held the queue.
    queue.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

impl Drop for Crew {
    /// Waits for what was called.
    fn drop(&mut self) {
        self.calls = None;
        for thread in self.threads.drain(..) {
            // One that panicked has told its caller by its silence.
            let _ = thread.join();
        }
    }
}
