//! Clusters of real processes that are killed, frozen and started again, judged by the ledger that their tasks write.
//!
//! Each test has a folder, a port and processes of its own, and signals nothing else. Nobody sleeps to be in time: tasks
//! wait at gates that the test opens, and the test waits for what it needs to see, for a limited time.
//! `WINDLASS_TRIAL_SCALE` multiplies what is worth doing more often. The tests of `crash_points` need a program that
//! was built with the feature `failpoints`.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod link;
mod world;

mod alert_scripts;
#[cfg(feature = "postgres")]
mod alerts;
mod backups;
#[cfg(feature = "postgres")]
mod chaos;
#[cfg(feature = "postgres")]
mod cluster;
#[cfg(feature = "failpoints")]
mod crash_points;
mod data;
#[cfg(feature = "postgres")]
mod deploy;
mod disks;
#[cfg(feature = "postgres")]
mod failover;
mod founding;
mod hostile;
mod masters;
#[cfg(feature = "postgres")]
mod murder;
mod nasty;
#[cfg(feature = "postgres")]
mod outages;
#[cfg(all(feature = "postgres", feature = "etcd"))]
mod partitions;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(all(feature = "postgres", feature = "etcd", feature = "zookeeper"))]
mod registries;
mod schedules;
mod stops;
mod stores;
mod workers;
