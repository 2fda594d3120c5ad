//! Whom to talk to, and for how long to try.

use std::fmt;
use std::time::Duration;

/// The server when nobody says: where `windlass standalone` listens.
pub const DEFAULT_SERVER: &str = "http://127.0.0.1:8000";

/// Whom to talk to, and for how long to try.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the server is; `/api/v1` is added to it.
    pub server: String,
    /// Who calls.
    pub token: Option<Token>,
    /// For how long to try.
    pub patience: Patience,
}

/// A bearer token. It is never printed.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// The token with this text.
    pub fn new(text: impl Into<String>) -> Token {
        Token(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// For how long a call is tried again, from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// While nothing answers at all.
    pub unreachable: Duration,
    /// While the server says that it cannot answer now.
    pub unavailable: Duration,
}

impl Patience {
    /// For somebody who looks at a terminal: that nothing listens is told at once, and a fail-over, which takes a few
    /// seconds, is waited for.
    pub const SHORT: Patience =
        Patience { unreachable: Duration::from_millis(400), unavailable: Duration::from_secs(20) };

    /// For somebody who waits for a run anyway: restarts of a server are sat out.
    pub const LONG: Patience =
        Patience { unreachable: Duration::from_secs(120), unavailable: Duration::from_secs(120) };
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { server: DEFAULT_SERVER.to_owned(), token: None, patience: Patience::SHORT }
    }
}
