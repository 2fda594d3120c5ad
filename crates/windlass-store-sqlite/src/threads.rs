//! Threads that own connections, and calls that wait for them.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

/// Calls that no thread has taken. A channel behind a lock would wake two threads for each: the one that takes the
/// call, and the one that waits next.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    /// A call has come, or the last one.
    news: Condvar,
}

#[derive(Default)]
struct State {
    calls: VecDeque<Call>,
    /// Whether no more will come.
    closed: bool,
    /// Threads that take calls.
    takers: usize,
}

impl Crew {
    pub(crate) fn start(name: &str, connections: Vec<Connection>) -> std::io::Result<Crew> {
        let mut crew = Crew { queue: Arc::default(), threads: Vec::new() };
        for mut connection in connections {
            let taker = Taker::new(&crew.queue);
            let thread = Builder::new().name(name.to_owned()).spawn(move || {
                while let Some(call) = taker.next() {
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
        let mut state = self.queue.state();
        if state.closed || state.takers == 0 {
            return Err(NoAnswer::Ended);
        }
        if state.calls.len() >= WAITING {
            return Err(NoAnswer::Full { waiting: WAITING });
        }
        state.calls.push_back(call);
        drop(state);
        self.queue.news.notify_one();
        Ok(waiting)
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked did so in its call, not while it held the queue.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// A thread's end of the queue.
struct Taker(Arc<Queue>);

impl Taker {
    fn new(queue: &Arc<Queue>) -> Taker {
        queue.state().takers += 1;
        Taker(Arc::clone(queue))
    }

    /// The next call; `None` when no more will come.
    fn next(&self) -> Option<Call> {
        let waits = |state: &mut State| state.calls.is_empty() && !state.closed;
        let state = self.0.news.wait_while(self.0.state(), waits);
        state.unwrap_or_else(PoisonError::into_inner).calls.pop_front()
    }
}

impl Drop for Taker {
    /// Calls that the last thread leaves behind, because it panicked, are answered by their silence.
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.takers -= 1;
        if state.takers == 0 {
            let left = std::mem::take(&mut state.calls);
            drop(state);
            drop(left);
        }
    }
}

impl Drop for Crew {
    /// Waits for what was called.
    fn drop(&mut self) {
        self.queue.state().closed = true;
        self.queue.news.notify_all();
        for thread in self.threads.drain(..) {
            // One that panicked has told its caller by its silence.
            let _ = thread.join();
        }
    }
}
