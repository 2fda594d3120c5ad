//! The machine room: workers, masters, pools, the dispatch switch.

use windlass_rest::cluster::Cluster;
use windlass_rest::pools::{Pool, SetPool};
use windlass_rest::scheduler::{Scheduler, Switched};
use windlass_rest::workers::Worker;
use windlass_rest::{Page, PageQuery};

use super::runs::Nothing;
use crate::error::Error;
use crate::send::{Body, Client};

impl Client {
    /// Some workers, by name.
    pub async fn workers(&self, query: &PageQuery) -> Result<Page<Worker>, Error> {
        self.get(self.api(&["workers"]), query).await
    }

    /// One worker, by name or id, with what it does.
    pub async fn worker(&self, id: &str) -> Result<Worker, Error> {
        self.get(self.api(&["workers", id]), &()).await
    }

    /// Has a worker take nothing new, or again.
    pub async fn drain_worker(&self, id: &str, drain: bool) -> Result<Worker, Error> {
        let verb = if drain { "drain" } else { "resume" };
        self.act(self.api(&["workers", &format!("{id}:{verb}")]), &Nothing {}).await
    }

    /// Masters, shards, epochs.
    pub async fn cluster(&self) -> Result<Cluster, Error> {
        self.get(self.api(&["cluster"]), &()).await
    }

    /// Some pools, by name.
    pub async fn pools(&self, query: &PageQuery) -> Result<Page<Pool>, Error> {
        self.get(self.api(&["pools"]), query).await
    }

    /// One pool.
    pub async fn pool(&self, name: &str) -> Result<Pool, Error> {
        self.get(self.api(&["pools", name]), &()).await
    }

    /// Makes a pool, or changes its limit.
    pub async fn set_pool(&self, name: &str, pool: &SetPool) -> Result<Pool, Error> {
        self.put(self.api(&["pools", name]), Body::json(pool)).await
    }

    /// Deletes a pool.
    pub async fn delete_pool(&self, name: &str) -> Result<(), Error> {
        self.delete(self.api(&["pools", name])).await
    }

    /// Writes a copy of everything, as of now; says how many bytes there were.
    pub async fn backup(&self, into: impl std::io::Write) -> Result<u64, Error> {
        self.download(self.api(&["backup"]), into).await
    }

    /// Whether anything is dispatched.
    pub async fn scheduler(&self) -> Result<Scheduler, Error> {
        self.get(self.api(&["scheduler"]), &()).await
    }

    /// Has everything be dispatched, or nothing.
    pub async fn switch_scheduler(&self, on: bool) -> Result<Switched, Error> {
        let verb = if on { "start" } else { "stop" };
        self.act(self.root(&["scheduler", verb]), &Nothing {}).await
    }
}
