//! Campaigns over past firings.

use windlass_rest::Page;
use windlass_rest::backfills::{Backfill, BackfillPlan, CreateBackfill, ListBackfills};

use super::runs::Nothing;
use crate::error::Error;
use crate::send::{Client, new_key};

/// What can be asked of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackfillVerb {
    /// Create no more runs.
    Pause,
    /// Go on.
    Resume,
    /// End it, and stop its runs.
    Stop,
}

impl BackfillVerb {
    /// As it stands in a path.
    pub fn as_str(self) -> &'static str {
        match self {
            BackfillVerb::Pause => "pause",
            BackfillVerb::Resume => "resume",
            BackfillVerb::Stop => "stop",
        }
    }
}

impl Client {
    /// What a campaign would do.
    pub async fn plan_backfill(&self, backfill: &CreateBackfill) -> Result<BackfillPlan, Error> {
        let dry = CreateBackfill { dry_run: true, ..backfill.clone() };
        self.create(self.api(&["backfills"]), &new_key(), &dry).await
    }

    /// Starts a campaign. The key is kept over repeats.
    pub async fn create_backfill(&self, key: &str, backfill: &CreateBackfill) -> Result<Backfill, Error> {
        let wet = CreateBackfill { dry_run: false, ..backfill.clone() };
        self.create(self.api(&["backfills"]), key, &wet).await
    }

    /// Some campaigns, newest first.
    pub async fn backfills(&self, query: &ListBackfills) -> Result<Page<Backfill>, Error> {
        self.get(self.api(&["backfills"]), query).await
    }

    /// One campaign.
    pub async fn backfill(&self, id: &str) -> Result<Backfill, Error> {
        self.get(self.api(&["backfills", id]), &()).await
    }

    /// Asks something of a campaign; the answer is the campaign as it is then.
    pub async fn backfill_verb(&self, id: &str, verb: BackfillVerb) -> Result<Backfill, Error> {
        self.act(self.api(&["backfills", &format!("{id}:{}", verb.as_str())]), &Nothing {}).await
    }
}
