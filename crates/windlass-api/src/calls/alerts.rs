//! Trying whether alerts arrive.

use std::sync::Arc;

use futures_util::future::join_all;
use windlass_core::shard::outbox::samples;
use windlass_rest::ProblemCode;
use windlass_rest::alerts::{TestAlerts, TestedAlert, TestedAlerts};
use windlass_store::Store;

use super::workflows;
use crate::answers::{self, Answer};
use crate::api::{Api, workflow_name};
use crate::asked::Asked;
use crate::random;
use crate::refusal::Refusal;
use crate::roles::Caller;

/// Tells each alert of a workflow once, now, and says what came of it. Nothing is said again.
pub async fn test<S: Store + 'static>(api: &Arc<Api<S>>, caller: &Caller, asked: Asked) -> Answer {
    asked.no_query()?;
    let TestAlerts { workflow } = asked.json().await?;
    let row = workflows::row(api, &workflow_name(&workflow)?).await?;
    let definition = api.handle.definition(&row.name, row.version).await?;
    let definition = definition.ok_or_else(|| {
        Refusal::new(ProblemCode::Internal, format!("workflow `{}` cannot be read", row.name))
    })?;
    tracing::info!(by = &*caller.name, workflow = %row.name, "alerts are tested");
    let notes = samples(api.handle.now().wall, &definition);
    let told = notes.iter().map(async |note| {
        let id = format!("test-{}", random::hex(&random::bytes::<8>()));
        let told = api.handle.channels().tell(&id, note).await;
        TestedAlert { target: note.url.to_string(), accepted: told.is_ok(), detail: told.err() }
    });
    answers::ok(&TestedAlerts { items: join_all(told).await })
}
