//! Tokens as they are stored: a global row for each, named by the hash of its secret.
//!
//! The secret itself is nowhere: who has it is recognised by its hash, which is also how its row is found. So a token
//! that is revoked opens nothing from then on, on every master.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_core::durable::{GlobalKey, GlobalKind, GlobalRow};
use windlass_rest::Time;
use windlass_rest::tokens::{Role, Token};
use windlass_store::Store;

use crate::random;
use crate::refusal::Refusal;

/// What begins every secret, so that one that is lost is recognised.
const PREFIX: &str = "wls_";
/// How much of a hash is shown as the id.
const ID: usize = 16;

/// A new secret: 32 random bytes.
pub fn new_secret() -> String {
    format!("{PREFIX}{}", random::hex(&random::bytes::<32>()))
}

/// What is stored of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredToken {
    pub name: String,
    pub role: Role,
    pub created_at: Time,
    pub created_by: String,
    pub expires_at: Option<Time>,
    /// Hash of the key of the call that made it: a repeat of it is answered, not refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl StoredToken {
    /// Reads a row.
    pub fn read(row: &GlobalRow) -> Option<StoredToken> {
        let text = row.value.as_deref()?;
        let token = serde_json::from_str(text);
        let unreadable = |error: &serde_json::Error| tracing::error!(%error, "a stored token cannot be read");
        token.inspect_err(unreadable).ok()
    }

    /// As it is stored.
    pub fn text(&self) -> Arc<str> {
        serde_json::json!(self).to_string().into()
    }

    /// As it is shown; `hash` is the name of its row.
    pub fn shown(&self, hash: &str) -> Token {
        Token {
            id: hash.chars().take(ID).collect(),
            name: self.name.clone(),
            role: self.role,
            created_at: self.created_at,
            created_by: Some(self.created_by.clone()),
            expires_at: self.expires_at,
            last_used_at: None,
        }
    }
}

/// The row of the token with this secret.
pub fn key_of(secret: &str) -> GlobalKey {
    let hash = blake3::hash(secret.as_bytes());
    GlobalKey { kind: GlobalKind::Token, name: hash.to_hex().as_str().into() }
}

/// Every token, by name.
pub async fn all<S: Store>(store: &S) -> Result<Vec<(GlobalRow, StoredToken)>, windlass_store::Unavailable> {
    let rows = store.globals().await?.into_iter().filter(|row| row.key.kind == GlobalKind::Token);
    let mut tokens: Vec<_> =
        rows.filter_map(|row| StoredToken::read(&row).map(|token| (row, token))).collect();
    tokens.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
    Ok(tokens)
}

/// The token with this secret, if it opens anything.
pub async fn with_secret<S: Store>(
    store: &S,
    secret: &str,
    now: Time,
) -> Result<Option<StoredToken>, Refusal> {
    let row = store.global(&key_of(secret)).await?;
    let token = row.as_ref().and_then(StoredToken::read);
    Ok(token.filter(|token| token.expires_at.is_none_or(|end| now < end)))
}
