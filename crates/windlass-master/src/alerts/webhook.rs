//! A call to an HTTP address, as a CloudEvent.
//!
//! The body is signed with HMAC-SHA256 if a secret is set, so that a receiver knows who speaks.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use serde_json::json;
use sha2::Sha256;
use windlass_core::rows::AlertNote;
use windlass_core::time::Wall;

use super::{Channel, Telling};

/// How long a connection may take to come up.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a receiver may take. A slower one is asked again, and knows the message by its id.
const WHOLE: Duration = Duration::from_secs(20);

/// Calls addresses.
#[derive(Clone)]
pub struct Webhook {
    client: reqwest::Client,
    secret: Option<Box<str>>,
}

impl Webhook {
    /// Calls that are signed with the secret, if there is one.
    pub fn new(secret: Option<&str>) -> Result<Webhook, reqwest::Error> {
        let client = reqwest::Client::builder()
            .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .timeout(WHOLE)
            .no_proxy()
            // Whoever is elsewhere by now is told here, by a person.
            .redirect(Policy::none())
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(Webhook { client, secret: secret.filter(|secret| !secret.is_empty()).map(Into::into) })
    }

    async fn call(&self, id: &str, note: &AlertNote) -> Result<(), String> {
        let body = event(id, note).to_string();
        let mut headers = HeaderMap::new();
        for (name, value) in &note.headers {
            let name =
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no header"))?;
            let value =
                HeaderValue::from_str(value).map_err(|_| format!("`{name}` has a value that is none"))?;
            headers.append(name, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/cloudevents+json"));
        if let Some(secret) = &self.secret {
            let signature = format!("sha256={}", signature(secret.as_bytes(), body.as_bytes()));
            let signature = HeaderValue::from_str(&signature).map_err(|error| error.to_string())?;
            headers.insert("windlass-signature", signature);
        }
        let answer = self.client.post(&*note.url).headers(headers).body(body).send().await;
        let status = answer.map_err(|error| causes(&error.without_url()))?.status();
        if status.is_success() { Ok(()) } else { Err(format!("it answered {}", status.as_u16())) }
    }
}

impl Channel for Webhook {
    fn leads_to(&self, target: &str) -> bool {
        target.starts_with("http://") || target.starts_with("https://")
    }

    fn tell<'a>(&'a self, id: &'a str, note: &'a AlertNote) -> Telling<'a> {
        Box::pin(self.call(id, note))
    }
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").finish_non_exhaustive()
    }
}

/// As CloudEvents 1.0 has it.
fn event(id: &str, note: &AlertNote) -> serde_json::Value {
    json!({
        "specversion": "1.0",
        "id": id,
        "source": format!("/windlass/workflows/{}", note.workflow),
        "type": format!("windlass.{}", note.on.as_str()),
        "subject": note.run.map(|run| run.to_string()).unwrap_or_else(|| note.workflow.to_string()),
        "time": moment(note.at),
        "datacontenttype": "application/json",
        "data": {
            "on": note.on.as_str(),
            "workflow": note.workflow.as_str(),
            "run": note.run.map(|run| run.to_string()),
            "logical_time": moment(note.logical_time),
            "reason": &*note.reason,
        },
    })
}

pub(super) fn moment(wall: Wall) -> String {
    let moment = Timestamp::from_millisecond(wall.0).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

fn signature(secret: &[u8], body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key may have any length");
    mac.update(body);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What went wrong, and why.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !said.contains(&more) {
            said = format!("{said}: {more}");
        }
        cause = error.source();
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_what_others_compute() {
        // RFC 4231, test case 2.
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature(b"Jefe", b"what do ya want for nothing?"), expected);
    }
}
