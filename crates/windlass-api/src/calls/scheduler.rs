//! The global dispatch switch.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use tokio::time::Instant;
use windlass_core::durable::Revision;
use windlass_master::switch::Switch;
use windlass_rest::scheduler::{
    ALREADY_RUNNING, NOT_RUNNING, NotSwitched, STARTED, STOPPED, Scheduler, Switched,
};
use windlass_rest::{ProblemCode, Time};
use windlass_store::Store;

use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::Asked;
use crate::refusal::Refusal;
use crate::roles::Caller;

/// How often the leases are looked at while masters hear of a change.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A lease that stands still for so long is of a master that is dead: it starts nothing either.
const DEAD_AFTER: Duration = Duration::from_secs(6);

/// How the switch stands.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    asked.no_query()?;
    answers::ok(&now(api).await?)
}

/// How the switch stands.
pub async fn now<S: Store + 'static>(api: &Arc<Api<S>>) -> Result<Scheduler, Refusal> {
    let row = api.store().global(&Switch::key()).await?;
    let switch = row.as_ref().map(Switch::read).unwrap_or_default();
    Ok(Scheduler {
        running: switch.on,
        changed_at: switch.at.map(|at| Time::from_unix_ms(at.0)),
        changed_by: switch.by.map(|by| by.to_string()),
    })
}

/// Switches; answers when every live master has heard it.
pub async fn switch<S: Store + 'static>(
    api: &Arc<Api<S>>,
    caller: &Caller,
    on: bool,
    asked: Asked,
) -> Answer {
    asked.no_query()?;
    asked.nothing().await?;
    let key = Switch::key();
    let row = api.store().global(&key).await?;
    if row.as_ref().map(Switch::read).unwrap_or_default().on == on {
        let error = if on { ALREADY_RUNNING } else { NOT_RUNNING };
        return answers::json(StatusCode::BAD_REQUEST, &NotSwitched { error: error.to_owned() });
    }
    let switch = Switch { on, by: Some(Arc::clone(&caller.name)), at: Some(api.handle.now().wall) };
    let seen = row.map_or(Revision::NONE, |row| row.revision);
    let revision = api.store().set_global(&key, seen, Some(switch.text())).await?;
    tracing::info!(by = &*caller.name, on, "the scheduler was switched");
    applied(api, revision).await?;
    let message = if on { STARTED } else { STOPPED };
    answers::ok(&Switched { message: message.to_owned() })
}

/// Waits until every live master has acted on a change of the global rows.
pub async fn applied<S: Store + 'static>(api: &Arc<Api<S>>, revision: Revision) -> Result<(), Refusal> {
    let began = Instant::now();
    let mut seen = BTreeMap::new();
    loop {
        // The first has it read, the second has it say so.
        api.handle.globals_changed().await;
        let leases = api.store().leases().await?;
        let behind = leases.iter().find(|lease| {
            let (counter, since) = seen.entry(lease.owner).or_insert((lease.counter, Instant::now()));
            if *counter != lease.counter {
                (*counter, *since) = (lease.counter, Instant::now());
            }
            lease.applied < revision && since.elapsed() < DEAD_AFTER
        });
        let Some(behind) = behind else { return Ok(()) };
        if began.elapsed() > api.wait() {
            let detail = format!("it is written, and master `{}` has not acted on it yet", behind.name);
            return Err(Refusal::new(ProblemCode::Unavailable, detail));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
