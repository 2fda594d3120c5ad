//! The one place where calls are made: addresses, headers, answers, and what is tried again.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, HeaderValue, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use windlass_rest::scheduler::NotSwitched;
use windlass_rest::{Problem, ProblemCode, Time};

use crate::error::{Error, Refusal, SettingsError};
use crate::settings::{Patience, Settings};

/// How long one try may take. A server answers 503 itself before this.
const TRY_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for a call that copies everything.
const SLOW_TIMEOUT: Duration = Duration::from_secs(3600);
/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The first pause before a call is tried again; each is twice the one before, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_secs(2);
/// How much of an answer that nobody can read is shown.
const SHOWN_CHARS: usize = 120;

/// A client of one server. Cheap to clone; clones share connections.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    server: Url,
    token: Option<HeaderValue>,
    patience: Patience,
}

impl Client {
    /// A client; nothing is sent yet.
    pub fn new(settings: &Settings) -> Result<Client, SettingsError> {
        let server = server_url(&settings.server)?;
        let token = settings.token.as_ref().map(|token| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
                .map_err(|_| SettingsError::Token)?;
            value.set_sensitive(true);
            Ok(value)
        });
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            // A redirect would carry the token to somebody else.
            .redirect(reqwest::redirect::Policy::none());
        if is_loopback(&server) {
            http = http.no_proxy();
        }
        let http = http.build().map_err(SettingsError::Http)?;
        Ok(Client { http, server, token: token.transpose()?, patience: settings.patience })
    }

    /// The same client, trying for as long as this.
    #[must_use]
    pub fn with_patience(&self, patience: Patience) -> Client {
        Client { patience, ..self.clone() }
    }

    /// Where the server is, for people.
    pub fn server(&self) -> &str {
        self.server.as_str().trim_end_matches('/')
    }

    pub(crate) fn patience(&self) -> Patience {
        self.patience
    }

    /// A path below `/api/v1`; each segment is encoded.
    pub(crate) fn api(&self, segments: &[&str]) -> Url {
        self.at(&["api", "v1"], segments)
    }

    /// A path of the server itself.
    pub(crate) fn root(&self, segments: &[&str]) -> Url {
        self.at(&[], segments)
    }

    fn at(&self, before: &[&str], segments: &[&str]) -> Url {
        let mut url = self.server.clone();
        url.path_segments_mut()
            .expect("a server's address was checked to be http")
            .pop_if_empty()
            .extend(before)
            .extend(segments);
        url
    }

    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        url: Url,
        query: &impl Serialize,
    ) -> Result<T, Error> {
        let call = Call::new(Method::GET, with_query(url, query)).repeatable();
        self.read(&call, self.send(&call).await?).await
    }

    /// A POST that creates: sent under a key, so that its repeats are harmless.
    pub(crate) async fn create<T: DeserializeOwned>(
        &self,
        url: Url,
        key: &str,
        body: &impl Serialize,
    ) -> Result<T, Error> {
        let call = Call::new(Method::POST, url).json(body).key(key).repeatable();
        self.read(&call, self.send(&call).await?).await
    }

    /// A POST that changes something that exists. It is repeated only if it cannot have arrived.
    pub(crate) async fn act<T: DeserializeOwned>(&self, url: Url, body: &impl Serialize) -> Result<T, Error> {
        let call = Call::new(Method::POST, url).json(body);
        self.read(&call, self.send(&call).await?).await
    }

    pub(crate) async fn put<T: DeserializeOwned>(&self, url: Url, body: Body) -> Result<T, Error> {
        let call = Call { body: Some(body), ..Call::new(Method::PUT, url) }.repeatable();
        self.read(&call, self.send(&call).await?).await
    }

    pub(crate) async fn post_body<T: DeserializeOwned>(&self, url: Url, body: Body) -> Result<T, Error> {
        let call = Call { body: Some(body), ..Call::new(Method::POST, url) }.repeatable();
        self.read(&call, self.send(&call).await?).await
    }

    pub(crate) async fn delete(&self, url: Url) -> Result<(), Error> {
        let call = Call::new(Method::DELETE, url).repeatable();
        self.send(&call).await.map(drop)
    }

    /// A GET whose answer is a stream of server-sent events; it may take as long as it likes.
    pub(crate) async fn stream(
        &self,
        url: Url,
        query: &impl Serialize,
        last_id: Option<&str>,
    ) -> Result<Response, Error> {
        let mut call = Call::new(Method::GET, with_query(url, query)).repeatable();
        call.events = true;
        call.last_id = last_id.map(str::to_owned);
        let response = self.send(&call).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        if kind.starts_with("text/event-stream") {
            return Ok(response);
        }
        Err(self.unreadable(&call, format!("no event stream but `{kind}`")))
    }

    /// A GET whose answer is a file; it may take as long as it likes. Says how many bytes there were.
    pub(crate) async fn download(&self, url: Url, mut into: impl std::io::Write) -> Result<u64, Error> {
        let mut call = Call::new(Method::GET, url).repeatable();
        (call.events, call.slow) = (true, true);
        let mut response = self.send(&call).await?;
        let expected = response.content_length();
        let mut size = 0;
        while let Some(piece) = response.chunk().await.map_err(|cause| self.unreachable(cause))? {
            size += piece.len() as u64;
            into.write_all(&piece).map_err(|cause| Error::Written { cause })?;
        }
        match expected {
            Some(expected) if expected != size => {
                Err(self.unreadable(&call, format!("{size} bytes of {expected}")))
            }
            Some(_) | None => Ok(size),
        }
    }

    /// Whether a path of the server itself answers with success, and what it says.
    pub async fn probe(&self, path: &str) -> Result<String, Error> {
        let call = Call::new(Method::GET, self.root(&[path])).repeatable();
        let response = self.send(&call).await?;
        response.text().await.map_err(|cause| self.unreachable(cause))
    }

    /// What the server's clock shows, to the second, if it says so.
    pub async fn server_time(&self) -> Result<Option<Time>, Error> {
        let call = Call::new(Method::GET, self.root(&["livez"])).repeatable();
        let response = self.send(&call).await?;
        let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
        // HTTP writes `GMT` where mail writes an offset.
        let date = date.and_then(|date| date.strip_suffix("GMT")).map(|date| format!("{date}+0000"));
        Ok(date.and_then(|date| jiff::fmt::rfc2822::parse(&date).ok()).map(|date| date.timestamp().into()))
    }

    async fn send(&self, call: &Call) -> Result<Response, Error> {
        let begun = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let (failure, wait) = match self.try_once(call).await {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            let wait = wait.unwrap_or_else(|| jittered(pause));
            let patience = match (&failure, call.repeatable) {
                (Error::Refused(refusal), _) if refusal.problem.status == 503 => self.patience.unavailable,
                (Error::Unreachable { cause, .. }, _) if cause.is_connect() => self.patience.unreachable,
                (Error::Unreachable { .. }, true) => self.patience.unreachable,
                (Error::TimedOut { .. }, true) => self.patience.unavailable,
                (
                    Error::Unreachable { .. }
                    | Error::Written { .. }
                    | Error::TimedOut { .. }
                    | Error::Refused(_)
                    | Error::Unreadable { .. },
                    _,
                ) => return Err(failure),
            };
            if begun.elapsed() + wait > patience {
                return Err(failure);
            }
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    /// One try: the answer if it is a success, else why not, and when the server wants to be asked again.
    async fn try_once(&self, call: &Call) -> Result<Response, (Error, Option<Duration>)> {
        let most = if call.slow { SLOW_TIMEOUT } else { TRY_TIMEOUT };
        let Ok(answer) = tokio::time::timeout(most, self.request(call).send()).await else {
            return Err((Error::TimedOut { server: self.server().to_owned() }, None));
        };
        let response = answer.map_err(|cause| (self.unreachable(cause), None))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let wait = retry_after(&response);
        let text = response.text().await.unwrap_or_default();
        Err((self.refused(call, status, &text), wait))
    }

    fn request(&self, call: &Call) -> RequestBuilder {
        let mut request = self.http.request(call.method.clone(), call.url.clone());
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.clone());
        }
        if call.events {
            request = request.header(ACCEPT, "text/event-stream");
        } else {
            request = request.header(ACCEPT, "application/json").timeout(TRY_TIMEOUT);
        }
        if let Some(id) = &call.last_id {
            request = request.header("Last-Event-ID", id);
        }
        if let Some(key) = &call.key {
            request = request.header("Idempotency-Key", key);
        }
        match &call.body {
            Some(body) => request.header(CONTENT_TYPE, body.kind).body(body.text.clone()),
            None => request,
        }
    }

    async fn read<T: DeserializeOwned>(&self, call: &Call, response: Response) -> Result<T, Error> {
        let text = response.text().await.map_err(|cause| self.unreachable(cause))?;
        serde_json::from_str(&text).map_err(|error| {
            let saw =
                if text.trim_start().starts_with(['{', '[']) { error.to_string() } else { shown(&text) };
            self.unreadable(call, saw)
        })
    }

    pub(crate) fn unreachable(&self, cause: reqwest::Error) -> Error {
        let server = self.server().to_owned();
        if cause.is_timeout() && !cause.is_connect() {
            Error::TimedOut { server }
        } else {
            Error::Unreachable { server, cause }
        }
    }

    fn unreadable(&self, call: &Call, saw: String) -> Error {
        Error::Unreadable { server: self.server().to_owned(), call: call.to_string(), saw }
    }

    fn refused(&self, call: &Call, status: StatusCode, text: &str) -> Error {
        // The founding calls answer `{"error": …}` when there is nothing to do.
        if let Ok(NotSwitched { error }) = serde_json::from_str(text) {
            let problem =
                Problem { status: status.as_u16(), ..Problem::new(ProblemCode::StateConflict, error) };
            return Error::Refused(Box::new(Refusal { call: call.to_string(), problem }));
        }
        // What stands between us and the server (a proxy) does not speak in problems.
        let problem = serde_json::from_str(text).unwrap_or_else(|_| Problem {
            kind: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or("refused").to_lowercase(),
            status: status.as_u16(),
            detail: format!("{call} was answered with {status}: {}", shown(text)),
            code: String::new(),
            hint: None,
            diagnostics: Vec::new(),
        });
        Error::Refused(Box::new(Refusal { call: call.to_string(), problem }))
    }
}

/// One call, as it is repeated.
struct Call {
    method: Method,
    url: Url,
    body: Option<Body>,
    key: Option<String>,
    events: bool,
    /// Whether the server may take its time before it answers.
    slow: bool,
    last_id: Option<String>,
    /// Whether doing it twice is the same as doing it once.
    repeatable: bool,
}

/// What is sent.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub kind: &'static str,
    pub text: String,
}

impl Body {
    pub fn json(value: &impl Serialize) -> Body {
        let text = serde_json::to_string(value).expect("shapes have text keys and finite numbers");
        Body { kind: "application/json", text }
    }

    /// A workflow file; JSON is YAML too.
    pub fn yaml(text: impl Into<String>) -> Body {
        Body { kind: "application/yaml", text: text.into() }
    }
}

impl Call {
    fn new(method: Method, url: Url) -> Call {
        Call {
            method,
            url,
            body: None,
            key: None,
            events: false,
            slow: false,
            last_id: None,
            repeatable: false,
        }
    }

    fn json(self, body: &impl Serialize) -> Call {
        Call { body: Some(Body::json(body)), ..self }
    }

    fn key(self, key: &str) -> Call {
        Call { key: Some(key.to_owned()), ..self }
    }

    fn repeatable(self) -> Call {
        Call { repeatable: true, ..self }
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.url.path())
    }
}

fn server_url(text: &str) -> Result<Url, SettingsError> {
    let refused = |why: &str| SettingsError::Server { server: text.to_owned(), why: why.to_owned() };
    let url = Url::parse(text).map_err(|error| match text.contains("://") {
        true => refused(&error.to_string()),
        false => refused("it begins with http:// or https://"),
    })?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(refused("it begins with http:// or https://")),
    }
}

fn is_loopback(server: &Url) -> bool {
    server.host_str().is_some_and(|host| {
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

/// Adds the fields of a flat struct; those that are null are left out.
fn with_query(mut url: Url, query: &impl Serialize) -> Url {
    let fields = serde_json::to_value(query).expect("queries are flat structs");
    for (name, value) in fields.as_object().into_iter().flatten() {
        match value {
            serde_json::Value::Null => {}
            serde_json::Value::String(text) => drop(url.query_pairs_mut().append_pair(name, text)),
            other => drop(url.query_pairs_mut().append_pair(name, &other.to_string())),
        }
    }
    url
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds: u64 = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    // Callers that were sent away together shall not come back together.
    Some(Duration::from_secs(seconds) + jittered(FIRST_PAUSE))
}

/// Between half of it and the whole.
fn jittered(pause: Duration) -> Duration {
    let [byte] = random::<1>();
    pause / 2 + (pause / 2).mul_f64(f64::from(byte) / 255.0)
}

/// A random Idempotency-Key.
pub fn new_key() -> String {
    random::<16>().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .expect("Linux gives a few random bytes to everybody");
    bytes
}

/// The first words of something that nobody can read.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "an empty answer".to_owned() } else { line.chars().take(SHOWN_CHARS).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(server: &str) -> Client {
        Client::new(&Settings { server: server.into(), ..Settings::default() }).unwrap()
    }

    #[test]
    fn ids_cannot_leave_their_segment() {
        let client = client("http://localhost:8000/prefix/");
        assert_eq!(client.api(&["runs", "a/../b:stop"]).path(), "/prefix/api/v1/runs/a%2F..%2Fb:stop");
        assert_eq!(client.server(), "http://localhost:8000/prefix");
    }

    #[test]
    fn a_query_leaves_out_what_is_not_asked() {
        let query = windlass_rest::runs::ListRuns {
            workflow: Some("a&b".into()),
            limit: Some(3),
            ..windlass_rest::runs::ListRuns::default()
        };
        let url = with_query(client("http://x").api(&["runs"]), &query);
        assert_eq!(url.as_str(), "http://x/api/v1/runs?workflow=a%26b&limit=3");
    }

    #[test]
    fn an_address_without_a_scheme_is_refused_with_what_is_missing() {
        let refused = server_url("localhost:8000").unwrap_err().to_string();
        assert_eq!(refused, "`localhost:8000` is no address of a server: it begins with http:// or https://");
        assert!(server_url("ftp://x").is_err());
    }

    #[test]
    fn keys_differ_and_pauses_stay_in_their_bounds() {
        assert_ne!(new_key(), new_key());
        assert_eq!(new_key().len(), 32);
        for _ in 0..100 {
            let pause = jittered(FIRST_PAUSE);
            assert!(pause >= FIRST_PAUSE / 2 && pause <= FIRST_PAUSE);
        }
    }
}
