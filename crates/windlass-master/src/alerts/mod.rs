//! What people want to be told, and the ways to tell them.
//!
//! The shard's owner is told by its machine to deliver something until it says that it was taken; the row of the outbox
//! goes only then. So a message may arrive twice, after an answer was lost or another master has taken over, and always
//! with the same id.

mod email;
mod script;
mod webhook;

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Semaphore, mpsc};
use tokio_util::task::TaskTracker;
use windlass_core::master::input::Input;
use windlass_core::rows::{AlertNote, OutboxId};

pub use email::{EmailError, Mail};
pub(crate) use script::Scripts;
pub use webhook::Webhook;

use crate::shell::Message;

/// How many messages are under way at once; the others wait. Enough for slow receivers, few enough for small ones.
const AT_ONCE: usize = 32;

/// A way to tell people something.
pub trait Channel: Send + Sync + std::fmt::Debug {
    /// Whether it is the way to there.
    fn leads_to(&self, target: &str) -> bool;

    /// Tells it. It was heard if this succeeds; otherwise somebody says it again, with the same id.
    fn tell<'a>(&'a self, id: &'a str, note: &'a AlertNote) -> Telling<'a>;
}

/// Something that is being told; an error says why it was not taken.
pub type Telling<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Every way that this master has.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    ways: Arc<[Arc<dyn Channel>]>,
}

impl Channels {
    /// These.
    pub fn new(ways: Vec<Arc<dyn Channel>>) -> Channels {
        Channels { ways: ways.into() }
    }

    /// These and one more.
    #[must_use]
    pub fn and(&self, way: Arc<dyn Channel>) -> Channels {
        Channels { ways: self.ways.iter().cloned().chain([way]).collect() }
    }

    /// Tells it by the way that leads there.
    pub async fn tell(&self, id: &str, note: &AlertNote) -> Result<(), String> {
        match self.ways.iter().find(|way| way.leads_to(&note.url)) {
            Some(way) => way.tell(id, note).await,
            None if note.url.starts_with("mailto:") => {
                Err("this master sends no mail: set `smtp` and `alert_from`".to_owned())
            }
            None => Err("there is no way to such an address".to_owned()),
        }
    }
}

/// The way to people.
pub(crate) struct Alerts {
    inbox: mpsc::Sender<Message>,
    tasks: TaskTracker,
    channels: Channels,
    /// What is being told now: saying it again before it is known what became of it would only make it arrive twice.
    under_way: Arc<Mutex<BTreeSet<OutboxId>>>,
    places: Arc<Semaphore>,
}

impl Alerts {
    pub fn new(inbox: mpsc::Sender<Message>, tasks: TaskTracker, channels: Channels) -> Alerts {
        Alerts {
            inbox,
            tasks,
            channels,
            under_way: Arc::default(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Tells people, and the machine when it was heard. The machine says it again until then.
    pub fn deliver(&self, id: OutboxId, note: Arc<AlertNote>) {
        if !self.under_way.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
            return;
        }
        let (inbox, channels) = (self.inbox.clone(), self.channels.clone());
        let (under_way, places) = (Arc::clone(&self.under_way), Arc::clone(&self.places));
        self.tasks.spawn(async move {
            let _place = places.acquire().await;
            let name = id.to_string();
            let told = tokio::select! {
                told = channels.tell(&name, &note) => told,
                // Nobody would hear that it was heard.
                () = inbox.closed() => Err("the master ends".to_owned()),
            };
            under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            match told {
                Ok(()) => {
                    let _ = inbox.send(Message::Input(Input::Delivered(id))).await;
                }
                Err(error) => tracing::warn!(
                    workflow = %note.workflow,
                    alert = %id,
                    on = note.on.as_str(),
                    error,
                    "an alert was not taken; it is said again"
                ),
            }
        });
    }
}
