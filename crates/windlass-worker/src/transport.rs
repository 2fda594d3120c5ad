//! The way to masters and back.

use windlass_core::wire::{Frame, FromWorker};
use windlass_model::OwnerId;

/// What comes from masters.
#[derive(Clone, Debug)]
pub enum Incoming {
    /// A frame.
    Frame(Frame),
    /// A master is no longer there.
    MasterGone(OwnerId),
}

/// The way to masters and back. Frames may be lost, repeated and overtake each other on it.
pub trait Transport: Send {
    /// The next that came, when there is one; `None` when nothing will come any more. May be dropped before it is
    /// ready without losing anything.
    fn receive(&mut self) -> impl Future<Output = Option<Incoming>> + Send;

    /// The next that came, if there is one.
    fn try_receive(&mut self) -> Option<Incoming>;

    /// Sends all of these, in this order as far as they go to one place. Never waits: what has no room is dropped.
    /// The worker says again what matters.
    fn send(&mut self, messages: Vec<FromWorker>);
}
