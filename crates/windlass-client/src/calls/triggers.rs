//! What starts runs from outside.

use serde_json::Value;
use windlass_rest::triggers::{Fired, RunTrigger, SetTrigger, SetTriggerAnswer};
use windlass_rest::{Page, PageQuery};

use crate::error::Error;
use crate::send::{Body, Client};

impl Client {
    /// Some triggers.
    pub async fn triggers(&self, query: &PageQuery) -> Result<Page<RunTrigger>, Error> {
        self.get(self.api(&["triggers"]), query).await
    }

    /// Makes a trigger, or changes it; a new secret is in this answer only.
    pub async fn set_trigger(&self, id: &str, trigger: &SetTrigger) -> Result<SetTriggerAnswer, Error> {
        self.put(self.api(&["triggers", id]), Body::json(trigger)).await
    }

    /// Deletes a trigger and its token.
    pub async fn delete_trigger(&self, id: &str) -> Result<(), Error> {
        self.delete(self.api(&["triggers", id])).await
    }

    /// Calls a trigger. The key is kept over repeats.
    pub async fn fire_trigger(&self, id: &str, key: &str, payload: &Value) -> Result<Fired, Error> {
        self.create(self.api(&["triggers", id]), key, payload).await
    }
}
