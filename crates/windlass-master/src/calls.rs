//! Callers that wait for an answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;
use windlass_core::master::input::Reply;
use windlass_core::shard::input::CallId;

/// Callers that wait, by the names of their calls. As many as there are requests under way.
#[derive(Debug, Default)]
pub struct Calls {
    next: AtomicU64,
    waiting: Mutex<HashMap<CallId, oneshot::Sender<Reply>>>,
}

impl Calls {
    /// A name for a call, and where its answer will be.
    pub fn begin(&self) -> (CallId, oneshot::Receiver<Reply>) {
        let call = CallId(self.next.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(call, sender);
        (call, receiver)
    }

    /// Answers a call. A caller that went away does not hear it.
    pub fn answer(&self, call: CallId, reply: Reply) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&call);
        if let Some(waiting) = waiting {
            let _ = waiting.send(reply);
        }
    }
}
