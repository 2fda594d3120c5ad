//! Clusters of real processes that are killed, frozen and started again, judged by the ledger that their tasks write.
//!
//! Each test has a folder, a port and processes of its own, and signals nothing else. Nobody sleeps to be in time: tasks
//! wait at gates that the test opens, and the test waits for what it needs to see, for a limited time.
//! `WINDLASS_TRIAL_SCALE` multiplies what is worth doing more often. The tests of `crash_points` need a program that
//! was built with the feature `failpoints`.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod link;
mod world;

mod backups;
#[cfg(feature = "postgres")]
mod cluster;
#[cfg(feature = "failpoints")]
mod crash_points;
mod data;
mod disks;
mod founding;
mod hostile;
mod masters;
mod nasty;
#[cfg(feature = "postgres")]
mod postgres;
mod stops;
mod stores;
mod workers;
