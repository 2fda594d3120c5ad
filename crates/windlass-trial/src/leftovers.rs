//! Processes that outlived the run they belong to.

use std::collections::BTreeSet;

/// Processes whose environment says that they belong to one of these runs: their numbers, and what they are.
pub fn of_runs(runs: &BTreeSet<String>) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    let Ok(processes) = std::fs::read_dir("/proc") else { return found };
    for process in processes.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // Gone, or somebody else's.
        let Ok(environment) = std::fs::read(process.path().join("environ")) else { continue };
        let marked = environment.split(|byte| *byte == 0).any(|variable| {
            let run = variable.strip_prefix(b"WINDLASS_RUN=").and_then(|run| str::from_utf8(run).ok());
            run.is_some_and(|run| runs.contains(run))
        });
        if marked {
            let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    found
}
