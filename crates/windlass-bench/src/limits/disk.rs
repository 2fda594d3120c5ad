//! How fast a disk keeps what it is given.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// So much is appended before each flush: a page.
const PAGE: [u8; 4096] = [7; 4096];

/// How long so many appended pages take, each forced to the disk before the next.
pub fn flushes(folder: &Path, count: u32) -> anyhow::Result<Duration> {
    let path = folder.join("flushes");
    let mut file = File::create(&path)?;
    let began = Instant::now();
    for _ in 0..count {
        file.write_all(&PAGE)?;
        file.sync_data()?;
    }
    let took = began.elapsed();
    std::fs::remove_file(path)?;
    Ok(took)
}
