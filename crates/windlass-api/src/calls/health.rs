//! Whether the process lives and works, and a first page for who comes with a browser.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::response::Response;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use windlass_store::Store;

use crate::answers::{escaped, html, typed};
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

/// A page that says what this is.
pub fn home<S: Store + 'static>(api: &Arc<Api<S>>) -> Response {
    let page = PAGE.replace("{version}", &escaped(&api.config.version));
    html(page)
}

const PAGE: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Windlass</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}</style>
</head>
<body>
<h1>Windlass {version}</h1>
<p>This is a master of a Windlass cluster, a scheduler of tasks and workflows. This build has no user interface;
the command <code>windlass</code> and the REST interface do everything.</p>
<ul>
<li><a href=\"/api/v1/runs\">Runs</a>, <a href=\"/api/v1/workflows\">workflows</a>,
<a href=\"/api/v1/schedules\">schedules</a></li>
<li><a href=\"/api/v1/workers\">Workers</a>, <a href=\"/api/v1/cluster\">the cluster</a>,
<a href=\"/api/v1/pools\">pools</a></li>
<li><a href=\"/docs/\">Documents</a>, <a href=\"/api/docs\">everything that can be asked</a></li>
<li><a href=\"/readyz\">Readiness</a>, <a href=\"/metrics\">metrics</a></li>
</ul>
</body>
</html>
";
