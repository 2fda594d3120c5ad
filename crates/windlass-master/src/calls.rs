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
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    callers: HashMap<CallId, oneshot::Sender<Reply>>,
    /// Nobody will answer any more.
    closed: bool,
}

impl Calls {
    /// A name for a call, and where its answer will be.
    pub fn begin(&self) -> (CallId, oneshot::Receiver<Reply>) {
        let call = CallId(self.next.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.closed {
            waiting.callers.insert(call, sender);
        }
        (call, receiver)
    }

    /// Answers a call. A caller that went away does not hear it.
    pub fn answer(&self, call: CallId, reply: Reply) {
        let caller = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).callers.remove(&call);
        if let Some(caller) = caller {
            let _ = caller.send(reply);
        }
    }

    /// The master has ended: whoever waits, now or later, hears that nobody answers.
    pub fn close(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.closed = true;
        waiting.callers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_master_that_has_ended() {
        let calls = Calls::default();
        let (_, mut before) = calls.begin();
        calls.close();
        let (_, mut after) = calls.begin();
        assert_eq!(before.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert_eq!(after.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    }
}
