//! What the machine allows, without Windlass.

pub mod disk;
pub mod postgres;
pub mod spawns;
pub mod sqlite;

use std::time::Duration;

use crate::observed::own_processor_seconds;

/// Does something that blocks beside the cluster's client, so that an interruption is still heard.
pub async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(work).await?
}

/// What a limit took: time, and seconds of a processor. The second is the same on a machine that is busy with other
/// things.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub time: Duration,
    pub used: f64,
}

impl Limit {
    /// Does it, beside a cluster that is idle.
    pub fn of(work: impl FnOnce() -> anyhow::Result<Duration>) -> anyhow::Result<Limit> {
        // Not the processes below: those are the cluster. What is started here is waited for here.
        let before = own_processor_seconds();
        let time = work()?;
        Ok(Limit { time, used: own_processor_seconds() - before })
    }

    /// So many of these in a second.
    pub fn rate(self, count: u32) -> f64 {
        f64::from(count) / self.time.as_secs_f64()
    }

    /// For a note: what each of so many used.
    pub fn each(self, count: u32) -> String {
        format!("{:.1} µs", self.used / f64::from(count) * 1e6)
    }
}
