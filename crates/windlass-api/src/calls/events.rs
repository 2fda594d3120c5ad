//! Live updates.

use std::sync::Arc;

use windlass_store::Store;

use crate::answers::Answer;
use crate::api::Api;
use crate::asked::Asked;
use crate::refusal::Refusal;

/// What happens to one run.
pub async fn of_run<S: Store + 'static>(_api: &Arc<Api<S>>, _run: &str, _asked: &Asked) -> Answer {
    Err(Refusal::not_yet("live updates"))
}

/// Everything that happens.
pub fn of_everything<S: Store + 'static>(_api: &Arc<Api<S>>, _asked: &Asked) -> Answer {
    Err(Refusal::not_yet("live updates"))
}
