//! Whether the kernel has ended processes because memory ran out.

use std::fs;

/// Counts how often the kernel has done so, on the whole machine: what cannot be told exactly without a control
/// group for each attempt is at least told as what it probably was.
#[derive(Debug)]
pub struct OutOfMemory {
    seen: u64,
}

impl OutOfMemory {
    /// From now on.
    pub fn new() -> OutOfMemory {
        OutOfMemory { seen: count() }
    }

    /// Whether it has happened since this was asked last.
    pub fn happened(&mut self) -> bool {
        let before = std::mem::replace(&mut self.seen, count());
        self.seen > before
    }
}

fn count() -> u64 {
    let counters = fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let line = counters.lines().find_map(|line| line.strip_prefix("oom_kill "));
    line.and_then(|number| number.parse().ok()).unwrap_or(0)
}
