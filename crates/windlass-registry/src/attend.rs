//! Stays in a registry, whatever becomes of it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{Member, Registry, Seen};

/// The first wait before another session, and the longest.
const AGAIN_FIRST: Duration = Duration::from_millis(100);
const AGAIN_MAX: Duration = Duration::from_secs(5);
/// While a registry is away, that is said no more often.
const COMPLAIN_EVERY: Duration = Duration::from_secs(30);

/// Has one session after the other until it is told to leave. Between two of them nobody can say who is there.
pub async fn attend(
    registry: Arc<dyn Registry>,
    me: Member,
    seen: watch::Sender<Seen>,
    leave: CancellationToken,
) {
    let (mut wait, mut complained) = (AGAIN_FIRST, None::<Instant>);
    loop {
        let began = Instant::now();
        let ended = registry.session(&me, &seen, &leave).await;
        let was_in = seen.send_replace(None).is_some();
        match ended {
            Ok(()) => return,
            Err(fault) if was_in || complained.is_none_or(|when| when.elapsed() > COMPLAIN_EVERY) => {
                complained = Some(Instant::now());
                tracing::warn!(code = "registry_unreachable", error = %fault, "the registry cannot be asked; the store is looked at as often as without one");
            }
            Err(_) => {}
        }
        if was_in || began.elapsed() > AGAIN_MAX {
            wait = AGAIN_FIRST;
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = leave.cancelled() => return,
        }
        wait = (wait * 2).min(AGAIN_MAX);
    }
}
