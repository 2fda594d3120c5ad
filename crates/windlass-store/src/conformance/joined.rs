//! Several calls at once, whatever runtime the backend needs.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Polls all of them until all are done; what they gave, in their order.
pub(super) async fn joined<T>(calls: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut open: Vec<(Pin<Box<_>>, Option<T>)> =
        calls.into_iter().map(|call| (Box::pin(call), None)).collect();
    poll_fn(|context| {
        for (call, done) in &mut open {
            if done.is_none()
                && let Poll::Ready(value) = call.as_mut().poll(context)
            {
                *done = Some(value);
            }
        }
        if open.iter().all(|(_, done)| done.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    open.into_iter().filter_map(|(_, done)| done).collect()
}
