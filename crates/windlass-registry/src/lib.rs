//! A registry: a faster ear for which masters there are, beside the store.
//!
//! ```text
//! attend ── session ──► join, then who is there, at each change ──► watch channel ──► the master machine
//!    ▲         │ it ended: nobody can say who is there
//!    └─────────┘ another, after a while
//! ```
//!
//! What a registry says is a hint. A master looks at the leases in the store when it hears something new, and decides by
//! what it finds there; so a registry that is away, wiped or wrong costs time and nothing else, and nobody waits for it.

mod address;
mod attend;
#[cfg(feature = "conformance")]
pub mod conformance;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use windlass_model::{Name, OwnerId};

pub use address::{Address, BadAddress};
pub use attend::attend;

/// Who is there, as the registry says it; `None` while it cannot say.
pub type Seen = Option<Vec<Member>>;

/// A master as it stands in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its process life.
    pub owner: OwnerId,
    /// Its name.
    pub name: Name,
    /// Where others reach it, as `http://host:port`.
    pub address: Arc<str>,
}

/// What stands under a member's own key.
#[derive(Serialize, Deserialize)]
struct Entry {
    name: String,
    address: String,
}

impl Member {
    /// The last part of the key under which it stands.
    pub fn key(&self) -> String {
        format!("{:016x}", self.owner.0)
    }

    /// What stands there.
    pub fn value(&self) -> Vec<u8> {
        let entry = Entry { name: self.name.to_string(), address: self.address.to_string() };
        // Two texts are always written.
        serde_json::to_vec(&entry).unwrap_or_default()
    }

    /// The member that stands under a key; `None` if that is something else, which others may have put there.
    pub fn read(key: &str, value: &[u8]) -> Option<Member> {
        let owner = u64::from_str_radix(key, 16).ok().filter(|_| key.len() == 16)?;
        let entry: Entry = serde_json::from_slice(value).ok()?;
        Some(Member {
            owner: OwnerId(owner),
            name: Name::new(&entry.name).ok()?,
            address: entry.address.into(),
        })
    }
}

/// Why a registry cannot be asked, or a session with it has ended.
#[derive(Debug, thiserror::Error)]
#[error("{tried}: {why}")]
pub struct Fault {
    /// What was tried.
    pub tried: &'static str,
    /// What came of it.
    pub why: String,
}

impl Fault {
    /// Something that was tried went wrong.
    pub fn new(tried: &'static str, why: impl fmt::Display) -> Fault {
        Fault { tried, why: why.to_string() }
    }
}

/// A registry of masters.
#[async_trait]
pub trait Registry: fmt::Debug + Send + Sync {
    /// Joins and stays, and says who is there: at once, and at each change. A member that is silent for the time of a
    /// session is gone. Ends in good order, and is gone at once, when it is told to leave; otherwise with a fault. A
    /// session that hears nothing from its registry for that time ends by itself, since it would not hear of changes.
    async fn session(
        &self,
        me: &Member,
        seen: &watch::Sender<Seen>,
        leave: &CancellationToken,
    ) -> Result<(), Fault>;

    /// Who is there now, for somebody who does not join.
    async fn members(&self) -> Result<Vec<Member>, Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_read_as_it_was_written() {
        let member = Member {
            owner: OwnerId(0xab),
            name: Name::new("m-1.eu").expect("a name"),
            address: "http://10.0.0.1:8000".into(),
        };
        assert_eq!(member.key(), "00000000000000ab");
        assert_eq!(Member::read(&member.key(), &member.value()), Some(member));
    }

    #[test]
    fn what_others_put_there_is_no_member() {
        for (key, value) in [
            ("00000000000000ab", "{}"),
            ("00000000000000ab", "no json"),
            ("ab", r#"{"name": "m", "address": "http://a:1"}"#),
            ("+0000000000000ab", r#"{"name": "", "address": "http://a:1"}"#),
            ("lock", r#"{"name": "m", "address": "http://a:1"}"#),
        ] {
            assert_eq!(Member::read(key, value.as_bytes()), None, "{key}: {value}");
        }
    }
}
