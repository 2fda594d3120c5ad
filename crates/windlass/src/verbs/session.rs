//! A conversation with a server: the client, where output goes, and lists read to their end.

use std::future::Future;

use windlass_client::{Client, Error, Patience, Settings, Token};
use windlass_rest::{MOST_ITEMS, Page};

use super::Global;
use super::output::Out;
use super::profiles::Given;
use crate::exit::Failure;

/// What a verb works with.
#[derive(Clone, Debug)]
pub struct Session {
    pub client: Client,
    pub out: Out,
    /// Where the address of the server came from.
    pub origin: String,
}

impl Session {
    /// As the flags say; nothing is sent yet.
    pub fn new(global: &Global) -> Result<Session, Failure> {
        let given = Given::new(global)?;
        let settings = Settings {
            server: given.server,
            token: given.token.as_deref().map(Token::new),
            patience: Patience::SHORT,
        };
        let client = Client::new(&settings)
            .map_err(|error| Failure::usage(error).hint("set --server to where Windlass listens"))?;
        Ok(Session { client, out: Out::new(global), origin: given.origin })
    }

    /// The same for somebody who waits anyway.
    pub fn patient(&self) -> Session {
        Session { client: self.client.with_patience(Patience::LONG), ..self.clone() }
    }
}

/// Reads a list page by page, up to `most` items; `page` is asked with how many and from where.
pub async fn all<T, F>(
    most: usize,
    mut page: impl FnMut(Option<u32>, Option<String>) -> F,
) -> Result<Vec<T>, Error>
where
    F: Future<Output = Result<Page<T>, Error>>,
{
    let mut items = Vec::new();
    let mut cursor = None;
    loop {
        let missing = u32::try_from(most - items.len()).unwrap_or(u32::MAX);
        let Page { items: more, next_cursor } = page(Some(missing.min(MOST_ITEMS)), cursor).await?;
        items.extend(more);
        cursor = next_cursor;
        if cursor.is_none() || items.len() >= most {
            items.truncate(most);
            return Ok(items);
        }
    }
}
