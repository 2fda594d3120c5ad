//! Workers that another master has heard of.

use std::sync::Arc;

use windlass_core::requirement::Capability;
use windlass_core::shard::input::WorkerLife;
use windlass_model::Duration;

use crate::ids::{capability, life, to_capability, to_life};
use crate::{Malformed, v1};

/// As it is sent.
pub fn encode(who: WorkerLife, has: &Capability, ago: Duration) -> v1::HeardOf {
    v1::HeardOf { life: Some(life(who)), capability: Some(capability(has)), ago: ago.as_millis() }
}

/// What was sent.
pub fn decode(heard: v1::HeardOf) -> Result<(WorkerLife, Arc<Capability>, Duration), Malformed> {
    let capability = to_capability(heard.capability)?;
    Ok((to_life(heard.life)?, Arc::new(capability), Duration::from_millis(heard.ago)))
}
