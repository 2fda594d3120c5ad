//! Keys to the interface.

use windlass_rest::tokens::{CreateToken, CreatedToken, Token};
use windlass_rest::{Page, PageQuery};

use crate::error::Error;
use crate::send::{Client, new_key};

impl Client {
    /// Makes a token; its secret is in this answer only.
    pub async fn create_token(&self, token: &CreateToken) -> Result<CreatedToken, Error> {
        self.create(self.api(&["tokens"]), &new_key(), token).await
    }

    /// Some tokens.
    pub async fn tokens(&self, query: &PageQuery) -> Result<Page<Token>, Error> {
        self.get(self.api(&["tokens"]), query).await
    }

    /// Has a token open nothing any more; by id or name.
    pub async fn revoke_token(&self, id: &str) -> Result<(), Error> {
        self.delete(self.api(&["tokens", id])).await
    }
}
