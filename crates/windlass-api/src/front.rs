//! What every request passes: where it comes from, who sends it, what it asks for, whether they may.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use hyper::Request;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use tower::ServiceExt as _;
use tower::service_fn;
use tracing::Instrument as _;
use windlass_rest::ProblemCode;
use windlass_store::Store;

use crate::api::Api;
use crate::asked::Asked;
use crate::complaints::may_say;
use crate::refusal::Refusal;
use crate::roles::{Action, authorize};
use crate::{answers, calls, login, random, routes};

/// Names a request, in its answer and in the log.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Where masters talk to each other.
const MASTERS: &str = "/windlass.v1.Masters/";

/// Everything that the port serves.
pub fn router<S: Store + 'static>(api: &Arc<Api<S>>) -> Router {
    let api = Arc::clone(api);
    Router::new().fallback_service(service_fn(move |request: Request<Body>| {
        let api = Arc::clone(&api);
        async move { Ok::<_, std::convert::Infallible>(answer(&api, request).await) }
    }))
}

/// Answers a request, whatever happens.
async fn answer<S: Store + 'static>(api: &Arc<Api<S>>, request: Request<Body>) -> Response {
    let id = random::hex(&random::bytes::<8>());
    let began = Instant::now();
    let span =
        tracing::info_span!("request", request = id, method = %request.method(), path = request.uri().path());
    let is_grpc = request
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    let answering = async {
        if is_grpc && request.uri().path().starts_with(MASTERS) {
            return master(api, request).await;
        }
        if is_grpc {
            return worker(api, request).await;
        }
        let answered = AssertUnwindSafe(call(api, request)).catch_unwind().await;
        answered.unwrap_or_else(|panic| {
            tracing::error!(error = panicked(&*panic), "a call has panicked");
            let detail = format!("the server made a mistake; its log has the details under {id}");
            Refusal::new(ProblemCode::Internal, detail).into_response()
        })
    };
    let mut response = answering.instrument(span.clone()).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response.headers_mut().insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    let elapsed_ms = began.elapsed().as_millis() as u64;
    span.in_scope(|| tracing::debug!(status = response.status().as_u16(), elapsed_ms, "answered"));
    response
}

async fn call<S: Store + 'static>(api: &Arc<Api<S>>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let answered = async {
        let call = routes::find(&parts.method, parts.uri.path());
        // Whether the process lives is no secret, and whoever asks has no token and may use any name.
        let greets = call.as_ref().is_ok_and(|call| call.action() == Action::Greet);
        if greets && api.config.auth == crate::Auth::Tokens {
            return calls::greet(api, call?, Asked::new(parts, body)).await;
        }
        let opens_page = matches!(call, Ok(routes::Call::Ui));
        let caller =
            login::caller(api.config.auth, api.handle.store(), api.now(), &parts, opens_page).await?;
        let call = call?;
        authorize(&caller, call.action())?;
        Box::pin(calls::perform(api, &caller, call, Asked::new(parts, body))).await
    };
    answered.await.unwrap_or_else(|refusal| {
        // What somebody has to look at is always said; that something is away, now and then.
        let unsaid = match refusal.status() {
            503 => may_say("refused", refusal.code()),
            status => (status >= 500).then_some(0),
        };
        if let Some(unsaid) = unsaid {
            tracing::warn!(code = refusal.code(), error = refusal.detail(), unsaid, "refused");
        }
        refusal.into_response()
    })
}

/// The stream of another master, which shows what only those who read the store know.
async fn master<S: Store + 'static>(api: &Arc<Api<S>>, request: Request<Body>) -> Response {
    match api.handle.peer_service().oneshot(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => answers::never(never),
    }
}

/// The stream of a worker.
async fn worker<S: Store + 'static>(api: &Arc<Api<S>>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let caller = login::caller(api.config.auth, api.handle.store(), api.now(), &parts, false).await;
    if let Err(refusal) = caller.and_then(|caller| authorize(&caller, Action::Join)) {
        let detail = refusal.detail().to_owned();
        let status = match refusal.status() {
            401 => tonic::Status::unauthenticated(detail),
            403 => tonic::Status::permission_denied(detail),
            _ => tonic::Status::unavailable(detail),
        };
        return status.into_http::<Body>();
    }
    let request = Request::from_parts(parts, body);
    match api.handle.worker_service().oneshot(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => answers::never(never),
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}
