//! Futures that never wait.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The value of a future that never waits, as those of the store in memory.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the store in memory waits for nothing"),
    }
}
