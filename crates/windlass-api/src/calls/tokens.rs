//! Tokens.

use std::sync::Arc;

use hyper::StatusCode;
use windlass_core::durable::{GlobalRow, Revision};
use windlass_rest::tokens::{CreateToken, CreatedToken};
use windlass_rest::{Page, PageQuery, ProblemCode};
use windlass_store::Store;

use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::{self, Asked};
use crate::refusal::Refusal;
use crate::roles::Caller;
use crate::tokens::{self, StoredToken};

/// The longest name: it is shown in lists.
const NAME: usize = 100;

/// Some tokens, by name.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    let query: PageQuery = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let mut tokens = tokens::all(api.store()).await?;
    if let Some(cursor) = query.cursor {
        tokens.retain(|(_, token)| token.name > cursor);
    }
    let more = tokens.len() > limit;
    tokens.truncate(limit);
    let next_cursor = tokens.last().filter(|_| more).map(|(_, last)| last.name.clone());
    let items = tokens.iter().map(|(row, token)| token.shown(&row.key.name)).collect();
    answers::ok(&Page { items, next_cursor })
}

/// Makes a token. A repeat of the call, whose answer may have been lost, gets a secret that takes the place of the
/// first one's.
pub async fn create<S: Store + 'static>(api: &Arc<Api<S>>, caller: &Caller, asked: Asked) -> Answer {
    asked.no_query()?;
    let key = asked
        .key()?
        .map(|key| blake3::hash(format!("{}\n{key}", caller.name).as_bytes()).to_hex().to_string());
    let CreateToken { name, role, expires_at } = asked.json().await?;
    if name.trim().is_empty() || name.chars().count() > NAME || name.chars().any(char::is_control) {
        return Err(Refusal::bad_request(format!(
            "the name of a token has 1 to {NAME} printable characters"
        )));
    }
    let token = StoredToken {
        name,
        role,
        created_at: api.now(),
        created_by: caller.name.to_string(),
        expires_at,
        key,
    };
    // Two calls at once would each find the name free; a repeat waits here for the first.
    let _turn = api.token_making.lock().await;
    let known = tokens::all(api.store()).await?;
    let same_key = |other: &StoredToken| other.key.is_some() && other.key == token.key;
    let same = |other: &StoredToken| {
        (&other.name, other.role, other.expires_at) == (&token.name, token.role, token.expires_at)
    };
    if let Some((_, other)) = known.iter().find(|(_, other)| same_key(other) && !same(other)) {
        let detail = format!("the key was used to make the token `{}`", other.name);
        return Err(Refusal::new(ProblemCode::KeyReused, detail));
    }
    if let Some((row, known)) = known.iter().find(|(_, known)| known.name == token.name) {
        if !same_key(known) {
            let detail = format!("there is a token `{}`", token.name);
            return Err(Refusal::new(ProblemCode::NameTaken, detail));
        }
        remove(api, row).await?;
    }
    let secret = tokens::new_secret();
    let key = tokens::key_of(&secret);
    api.store().set_global(&key, Revision::NONE, Some(token.text())).await?;
    tracing::info!(by = &*caller.name, token = token.name, role = token.role.as_str(), "a token was made");
    answers::json(StatusCode::CREATED, &CreatedToken { token: token.shown(&key.name), secret })
}

/// Has a token open nothing any more.
pub async fn revoke<S: Store + 'static>(api: &Arc<Api<S>>, id: &str, asked: Asked) -> Answer {
    asked.no_query()?;
    asked.nothing().await?;
    let all = tokens::all(api.store()).await?;
    let found = all.iter().find(|(row, token)| token.shown(&row.key.name).id == id || token.name == id);
    let (row, token) = found.ok_or_else(|| {
        let shown: String = id.chars().take(100).collect();
        Refusal::new(ProblemCode::TokenNotFound, format!("there is no token `{shown}`"))
    })?;
    remove(api, row).await?;
    tracing::info!(token = token.name, "a token was revoked");
    answers::no_content()
}

async fn remove<S: Store + 'static>(api: &Arc<Api<S>>, row: &GlobalRow) -> Result<(), Refusal> {
    api.store().set_global(&row.key, row.revision, None).await?;
    Ok(())
}
