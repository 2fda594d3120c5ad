//! Clusters of real processes that are killed, frozen and started again, judged by the ledger that their tasks write.
//!
//! Each test has a folder, a port and processes of its own, and signals nothing else. Nobody sleeps to be in time: tasks
//! wait at gates that the test opens, and the test waits for what it needs to see, for a limited time.

mod world;

mod founding;
