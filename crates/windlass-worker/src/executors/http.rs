//! HTTP calls.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Method, Response, Url};
use windlass_core::rows::Values;
use windlass_core::shard::payload::HttpCall;
use windlass_core::worker::input::Exit;
use windlass_workflow::expr::Value;

use super::addresses::Reach;
use crate::logs::{Stream, Writer};

/// How long a connection may take to come up: longer than a lost packet or two.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may be silent. The time for all of it is the task's own limit.
const SILENCE: Duration = Duration::from_secs(300);
/// As browsers do.
const REDIRECTS: usize = 10;
/// The most of an answer that becomes an output; the same as a process may put out.
const BODY_MAX: usize = 256 << 10;

/// Makes calls.
#[derive(Clone, Debug)]
pub struct Caller {
    client: Client,
    reach: Reach,
}

/// Why there is no answer, in words.
type Failure = String;

impl Caller {
    /// One that may call these addresses.
    pub fn new(reach: Reach) -> Result<Caller, reqwest::Error> {
        let client = Client::builder()
            .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            // A proxy would choose the address after it was checked.
            .no_proxy()
            .dns_resolver(Arc::new(reach))
            .redirect(Policy::custom(move |attempt| follow(reach, attempt)))
            // Calls are rare beside connections that would be kept for them.
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(Caller { client, reach })
    }

    /// Makes a call, keeps the answer in the log, and says what it means.
    pub async fn call(&self, call: &HttpCall, log: Writer) -> Exit {
        let (exit, body) = match self.answer(call).await {
            Ok(answer) => answer,
            Err(reason) => (Exit { reason: reason.into(), ..Exit::default() }, vec![]),
        };
        let _ = tokio::task::spawn_blocking(move || keep(log, &body)).await;
        exit
    }

    async fn answer(&self, call: &HttpCall) -> Result<(Exit, Vec<u8>), Failure> {
        let mut url = Url::parse(&call.url).map_err(|error| format!("the URL is wrong: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("the URL is wrong: {} is not http or https", url.scheme()));
        }
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(call.query.iter().map(|(name, value)| (&**name, value)));
        }
        self.reach.check_url(&url).map_err(|error| error.to_string())?;
        let method = Method::from_bytes(call.method.as_bytes()).map_err(|error| error.to_string())?;
        let mut request = self.client.request(method, url).headers(headers(call)?);
        if let Some((body, _)) = &call.body {
            request = request.body(body.clone());
        }
        let mut response = request.send().await.map_err(described)?;
        let status = response.status().as_u16();
        let body = body(&mut response).await?;
        let is_json = response.headers().get(CONTENT_TYPE).is_some_and(is_json);
        Ok((exit(call, status, &body, is_json), body))
    }
}

/// Whether an answer is a success, and what it puts out.
fn exit(call: &HttpCall, status: u16, body: &[u8], is_json: bool) -> Exit {
    let success = match &call.expect_status[..] {
        [] => (200..300).contains(&status),
        rules => rules.iter().any(|(from, to)| (*from..=*to).contains(&status)),
    };
    let mut reasons = vec![];
    if !success {
        reasons.push(format!("HTTP status {status}"));
    }
    let mut outputs = Values::from([("status".into(), Value::Int(status.into()))]);
    if body.len() > BODY_MAX {
        reasons.push(format!("the answer was not put out: it has more than {} KiB", BODY_MAX >> 10));
    } else if let Some(json) = is_json.then(|| serde_json::from_slice(body).ok()).flatten() {
        outputs.insert("json".into(), Value::from_json(&json));
    } else {
        match std::str::from_utf8(body).ok().filter(|text| !text.contains('\0')) {
            Some(text) => drop(outputs.insert("body".into(), Value::Text(text.into()))),
            None => reasons.push("the answer was not put out: it is not text".into()),
        }
    }
    Exit { success, reason: reasons.join("; ").into(), outputs: Some(Arc::new(outputs)), process: None }
}

/// The body, or one byte more than may be put out.
async fn body(response: &mut Response) -> Result<Vec<u8>, Failure> {
    let mut body = vec![];
    while body.len() <= BODY_MAX {
        match response.chunk().await.map_err(described)? {
            Some(chunk) => body.extend_from_slice(&chunk[..chunk.len().min(BODY_MAX + 1 - body.len())]),
            None => break,
        }
    }
    Ok(body)
}

fn headers(call: &HttpCall) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    if call.body.as_ref().is_some_and(|(_, is_json)| *is_json) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    for (name, value) in &call.headers {
        let wrong = || format!("the header {name} cannot be sent");
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        headers.insert(name, HeaderValue::from_str(value).map_err(|_| wrong())?);
    }
    Ok(headers)
}

fn is_json(content_type: &HeaderValue) -> bool {
    let text = content_type.to_str().unwrap_or_default();
    let kind = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}

/// A redirect may lead nowhere that the call itself could not go.
fn follow(reach: Reach, attempt: Attempt<'_>) -> reqwest::redirect::Action {
    if attempt.previous().len() > REDIRECTS {
        return attempt.error("too many redirects");
    }
    match reach.check_url(attempt.url()) {
        Ok(()) => attempt.follow(),
        Err(error) => attempt.error(error),
    }
}

/// The causes of an error, without the URL, which may have a secret in its query.
fn described(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    let mut text = format!("the call failed: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn keep(mut log: Writer, body: &[u8]) {
    log.write(Stream::Out, body);
    log.finish();
}
