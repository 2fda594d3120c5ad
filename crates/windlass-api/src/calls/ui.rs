//! The web UI: one page, and the files that it needs.

use axum::body::Body;
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_ENCODING, HeaderName, HeaderValue, VARY};
use windlass_rest::ProblemCode;
use windlass_store::Store;
use windlass_ui::Source;

use crate::answers::{Answer, escaped, html, typed};
use crate::api::Api;
use crate::asked::Asked;
use crate::random;
use crate::refusal::Refusal;

/// Stands in the page where its nonce belongs.
const NONCE: &str = "__NONCE__";
const POLICY: HeaderName = HeaderName::from_static("content-security-policy");

/// The page of the UI, whatever view of it is wanted; or one that says how to build it.
pub async fn page<S: Store + 'static>(api: &Api<S>) -> Answer {
    let found = read(&api.config.ui, Source::page).await?;
    Ok(match found {
        Some(page) => with_nonce(&page),
        None => html(NOT_BUILT.replace("{version}", &escaped(&api.config.version))),
    })
}

/// A file that the page needs. Its name changes with its content, so it may be kept for ever.
pub async fn asset<S: Store + 'static>(api: &Api<S>, name: &str, asked: &Asked) -> Answer {
    let accept = asked.header("accept-encoding").unwrap_or_default().to_owned();
    let wanted = name.to_owned();
    let found = read(&api.config.ui, move |ui| ui.asset(&wanted, &accept)).await?;
    let asset = found.ok_or_else(|| {
        let name: String = name.chars().take(200).collect();
        Refusal::new(ProblemCode::NotFound, format!("the user interface has no file `{name}`"))
            .hint("reload the page: the server may have another version than it had")
    })?;
    let mut response = typed(StatusCode::OK, asset.kind, Body::from(asset.body.into_owned()));
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = asset.encoding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    Ok(response)
}

/// Reads files where that may wait for a disk.
async fn read<T: Send + 'static>(
    ui: &Source,
    read: impl FnOnce(&Source) -> Option<T> + Send + 'static,
) -> Result<Option<T>, Refusal> {
    match ui {
        Source::Program => Ok(read(ui)),
        Source::Folder(_) => {
            let ui = ui.clone();
            tokio::task::spawn_blocking(move || read(&ui)).await.map_err(|error| {
                tracing::error!(%error, "a file of the user interface cannot be read");
                Refusal::new(ProblemCode::Internal, "a file of the user interface cannot be read")
            })
        }
    }
}

/// The page with a policy of its own: scripts only from here, styles from here or from what holds the nonce.
///
/// Parts of the UI make styles while it runs (an editor, a dialog that holds still what is behind it); they need the
/// nonce. No script does.
fn with_nonce(page: &str) -> Response {
    let nonce = random::hex(&random::bytes::<16>());
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = typed(StatusCode::OK, "text/html; charset=utf-8", page.replace(NONCE, &nonce));
    let headers = response.headers_mut();
    headers.insert(POLICY, HeaderValue::from_str(&policy).expect("a policy of printable letters"));
    headers.insert("referrer-policy", HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

const NOT_BUILT: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Windlass</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}</style>
</head>
<body>
<h1>Windlass {version}</h1>
<p>This is a master of a Windlass cluster, a scheduler of tasks and workflows. It works, but was built without its web
UI. To have it, run <code>make build</code> in the source tree, which needs Node.js 20; or run <code>make ui</code> there and
start this program with <code>WINDLASS_UI_DIR=ui/dist</code>.</p>
<p>The command <code>windlass</code> and the REST interface do everything meanwhile:</p>
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
