//! Whether the process lives and works.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::response::Response;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use windlass_store::Store;

use crate::answers::typed;
use crate::api::Api;

const TEXT: &str = "text/plain; charset=utf-8";

/// The process lives: it answers.
pub fn live() -> Response {
    typed(StatusCode::OK, TEXT, "ok\n")
}

/// It can do its work: it has a lease, and the shards that it owns are loaded. One that owns nothing, because others
/// own everything, is ready too.
pub async fn ready<S: Store + 'static>(api: &Arc<Api<S>>) -> Response {
    let live = api.handle.inspect(|master, _| master.live().count()).await;
    let leases = api.store().leases().await;
    let standings = api.store().standings().await;
    let mut report = Report::default();
    report.check("loop", live.is_some(), "the master's loop has ended");
    report.check("store", leases.is_ok() && standings.is_ok(), "the store cannot be read");
    let me = api.handle.owner();
    let leased = leases.is_ok_and(|leases| leases.iter().any(|lease| lease.owner == me));
    report.check("lease", leased, "it has no lease");
    let standings = standings.unwrap_or_default();
    let owned = standings.iter().filter(|standing| standing.owner == Some(me)).count();
    let nobodys = standings.iter().filter(|standing| standing.owner.is_none()).count();
    let loaded = live.unwrap_or_default();
    report.check("shards", nobodys == 0 && loaded >= owned, "shards are being claimed or loaded");
    let status = if report.good { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let end = if report.good { "ready\n" } else { "not ready\n" };
    let mut response = typed(status, TEXT, format!("{}{end}", report.text));
    if !report.good {
        response.headers_mut().insert("retry-after", HeaderValue::from_static("1"));
    }
    response
}

struct Report {
    good: bool,
    text: String,
}

impl Default for Report {
    fn default() -> Report {
        Report { good: true, text: String::new() }
    }
}

impl Report {
    fn check(&mut self, what: &str, good: bool, wrong: &str) {
        self.good &= good;
        let _ = match good {
            true => writeln!(self.text, "[+] {what}: ok"),
            false => writeln!(self.text, "[-] {what}: {wrong}"),
        };
    }
}
