//! What Prometheus reads.

use std::sync::Arc;

use hyper::StatusCode;
use windlass_store::Store;

use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::Asked;

/// The state of this master in the text format of Prometheus.
pub async fn metrics<S: Store + 'static>(_api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    asked.no_query()?;
    Ok(answers::typed(
        StatusCode::OK,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        "# EOF\n",
    ))
}
