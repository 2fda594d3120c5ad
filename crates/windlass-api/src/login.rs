//! Who calls.

use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use windlass_rest::tokens::Role;
use windlass_rest::{ProblemCode, Time};
use windlass_store::Store;

use crate::refusal::Refusal;
use crate::roles::Caller;
use crate::server::Auth;
use crate::{loopback, tokens};

/// Who calls where nobody logs in.
const LOCAL: &str = "local";

/// Says who calls, or refuses. `opens_page` is for [`loopback::check`].
pub async fn caller<S: Store>(
    auth: Auth,
    store: &S,
    now: Time,
    parts: &Parts,
    opens_page: bool,
) -> Result<Caller, Refusal> {
    match auth {
        Auth::Loopback => {
            loopback::check(parts, opens_page)?;
            Ok(Caller { name: LOCAL.into(), role: Role::Admin })
        }
        Auth::Tokens => {
            let secret = secret(parts)?;
            let token = tokens::with_secret(store, secret, now).await?;
            let token = token.ok_or_else(|| refused("the token is unknown, expired or revoked"))?;
            Ok(Caller { name: token.name.into(), role: token.role })
        }
    }
}

fn secret(parts: &Parts) -> Result<&str, Refusal> {
    let header = parts.headers.get(AUTHORIZATION).ok_or_else(|| refused("no token was given"))?;
    let text = header.to_str().ok().and_then(|text| text.split_once(' '));
    match text {
        Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => Ok(secret.trim()),
        _ => Err(refused("the Authorization header has no bearer token")),
    }
}

fn refused(detail: &str) -> Refusal {
    Refusal::new(ProblemCode::Unauthenticated, detail)
        .hint("set WINDLASS_TOKEN or --token; the first token is in the server's data folder")
}
