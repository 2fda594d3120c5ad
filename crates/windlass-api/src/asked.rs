//! What a call was asked: its query, its body, its key.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Query;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Frame};
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_rest::{MOST_ITEMS, ProblemCode, USUAL_ITEMS};

use crate::refusal::Refusal;

/// The largest body: a definition of tens of thousands of tasks.
const BODY: usize = 8 << 20;
/// How long a body may take to arrive: 8 MiB over a slow line. Whoever sends a byte now and then is not waited for.
const BODY_TIME: Duration = Duration::from_secs(30);
/// So much of a body that is too large is still read, and for so long, so that its caller hears why it is refused.
const PASSED_OVER: usize = 64 << 20;
const PASSED_OVER_TIME: Duration = Duration::from_secs(10);
/// The longest key that a caller may give.
const KEY: usize = 255;

/// A request whose path is understood.
pub struct Asked {
    parts: Parts,
    /// Behind a lock that nobody ever waits for: a body cannot be shared between threads, and the head is.
    body: Mutex<Body>,
}

/// What a body is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `application/json`
    Json,
    /// `application/yaml` and what else it is called.
    Yaml,
}

impl Asked {
    /// A request.
    pub fn new(parts: Parts, body: Body) -> Asked {
        Asked { parts, body: Mutex::new(body) }
    }

    /// The query; what is not known is refused.
    pub fn query<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let query = Query::<T>::try_from_uri(&self.parts.uri);
        query.map(|Query(query)| query).map_err(|error| Refusal::bad_request(error.body_text()))
    }

    /// A call that takes no query.
    pub fn no_query(&self) -> Result<(), Refusal> {
        self.query::<NoFields>().map(drop)
    }

    /// A JSON body.
    pub async fn json<T: DeserializeOwned>(self) -> Result<T, Refusal> {
        self.require(&[Format::Json])?;
        read(&self.bytes().await?)
    }

    /// A JSON body of at most so many bytes.
    pub async fn json_within<T: DeserializeOwned>(self, most: usize) -> Result<T, Refusal> {
        self.require(&[Format::Json])?;
        let bytes = self.bytes().await?;
        if bytes.len() > most {
            let detail = format!("the body of this call may have {} KiB", most >> 10);
            return Err(Refusal::new(ProblemCode::TooLarge, detail));
        }
        read(&bytes)
    }

    /// A JSON body that may be left out.
    pub async fn json_or_nothing<T: DeserializeOwned + Default>(self) -> Result<T, Refusal> {
        let typed = self.parts.headers.contains_key(CONTENT_TYPE);
        if typed {
            self.require(&[Format::Json])?;
        }
        let bytes = self.bytes().await?;
        match bytes.is_empty() {
            true => Ok(T::default()),
            false if typed => read(&bytes),
            false => Err(no_type()),
        }
    }

    /// A call whose path says everything; an empty object may come with it.
    pub async fn nothing(self) -> Result<(), Refusal> {
        self.json_or_nothing::<NoFields>().await.map(drop)
    }

    /// The text of a workflow, and what it is written in.
    pub async fn workflow(self) -> Result<(Format, String), Refusal> {
        let format = self.require(&[Format::Json, Format::Yaml])?;
        let text = String::from_utf8(self.bytes().await?)
            .map_err(|_| Refusal::bad_request("the body is no UTF-8 text"))?;
        Ok((format, text))
    }

    /// What makes the call unique, if its caller says.
    pub fn key(&self) -> Result<Option<String>, Refusal> {
        let Some(key) = self.parts.headers.get("idempotency-key") else { return Ok(None) };
        let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= KEY);
        key.map(|key| Some(key.to_owned())).ok_or_else(|| {
            Refusal::bad_request(format!("an Idempotency-Key has 1 to {KEY} printable ASCII characters"))
        })
    }

    /// A header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The event that a reader of a stream has seen last.
    pub fn last_event_id(&self) -> Option<&str> {
        self.header("last-event-id")
    }

    fn require(&self, formats: &[Format]) -> Result<Format, Refusal> {
        let Some(kind) = self.parts.headers.get(CONTENT_TYPE) else { return Err(no_type()) };
        let kind = kind.to_str().unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let format = match essence.as_str() {
            "application/json" => Some(Format::Json),
            "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => Some(Format::Yaml),
            _ => None,
        };
        format.filter(|format| formats.contains(format)).ok_or_else(|| {
            let taken = if formats.contains(&Format::Yaml) { "JSON or YAML" } else { "JSON" };
            let detail = format!("this call takes {taken}, not `{essence}`");
            Refusal::new(ProblemCode::UnsupportedMediaType, detail)
        })
    }

    async fn bytes(self) -> Result<Vec<u8>, Refusal> {
        let mut body = self.body.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Whoever says at once how much is coming is told at once.
        let arriving = match body.size_hint().lower() {
            announced if announced > BODY as u64 => Arrived::TooLarge,
            _ => match tokio::time::timeout(BODY_TIME, arrive(&mut body)).await {
                Ok(arrived) => arrived,
                Err(_) => {
                    let detail = format!("the body did not arrive within {} s", BODY_TIME.as_secs());
                    return Err(Refusal::bad_request(detail));
                }
            },
        };
        match arriving {
            Arrived::Whole(bytes) => Ok(bytes),
            Arrived::Broken(error) => Err(Refusal::bad_request(format!("the body did not arrive: {error}"))),
            Arrived::TooLarge => {
                // Many a caller reads no answer before it has sent everything. This ends by itself.
                tokio::spawn(pass_over(body));
                Err(Refusal::new(ProblemCode::TooLarge, format!("a body may have {} MiB", BODY >> 20)))
            }
        }
    }
}

/// What came of a body.
enum Arrived {
    Whole(Vec<u8>),
    TooLarge,
    Broken(axum::Error),
}

async fn arrive(body: &mut Body) -> Arrived {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame.map(Frame::into_data) {
            Ok(Ok(data)) if bytes.len() + data.len() > BODY => return Arrived::TooLarge,
            Ok(Ok(data)) => bytes.extend_from_slice(&data),
            // Trailers.
            Ok(Err(_)) => {}
            Err(error) => return Arrived::Broken(error),
        }
    }
    Arrived::Whole(bytes)
}

/// Reads what nobody wants, up to a point.
async fn pass_over(mut body: Body) {
    let mut left = PASSED_OVER;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await
            && left > 0
        {
            left = left.saturating_sub(frame.data_ref().map_or(1, bytes::Bytes::len));
        }
    };
    let _ = tokio::time::timeout(PASSED_OVER_TIME, reading).await;
}

/// How many items a page shall have.
pub fn limit(asked: Option<u32>) -> Result<usize, Refusal> {
    within("limit", asked, USUAL_ITEMS)
}

/// A number of items between 1 and the most there may be.
pub fn within(what: &str, asked: Option<u32>, usual: u32) -> Result<usize, Refusal> {
    match asked.unwrap_or(usual) {
        count @ 1..=MOST_ITEMS => Ok(count as usize),
        count => Err(Refusal::bad_request(format!("`{what}` is 1 to {MOST_ITEMS}, not {count}"))),
    }
}

/// A digest of a request, so that its key is not used for another: the same whatever the order of its fields.
pub fn digest(request: &Value) -> u64 {
    let hash = blake3::hash(sorted(request).to_string().as_bytes());
    let (first, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
    u64::from_be_bytes(*first)
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    // A shape could be read from a list of its fields too, and nobody means that.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Refusal::bad_request("the body: a list stands where an object is expected"));
    }
    serde_json::from_slice(bytes).map_err(|error| Refusal::bad_request(format!("the body: {error}")))
}

fn no_type() -> Refusal {
    Refusal::new(ProblemCode::UnsupportedMediaType, "a body needs a Content-Type")
        .hint("send Content-Type: application/json")
}

/// No field is known.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_an_object() {
        assert!(read::<NoFields>(b" {} ").is_ok());
        assert_eq!(read::<NoFields>(b"\n[]").unwrap_err().status(), 400);
        assert_eq!(read::<NoFields>(b"").unwrap_err().status(), 400);
    }

    #[test]
    fn a_digest_knows_no_order_of_fields_but_every_value() {
        let one = serde_json::json!({"workflow": "a", "params": {"x": {"b": 1, "a": [1, 2]}}});
        let same = serde_json::json!({"params": {"x": {"a": [1, 2], "b": 1}}, "workflow": "a"});
        let other = serde_json::json!({"params": {"x": {"a": [2, 1], "b": 1}}, "workflow": "a"});
        assert_eq!(digest(&one), digest(&same));
        assert_ne!(digest(&one), digest(&other));
    }
}
