//! What the system says of processes: memory and time of a processor.

use std::fs;

use anyhow::Context as _;

/// A process and everything below it.
pub fn tree(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(process) = found.get(next).copied() {
        next += 1;
        let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    found
}

/// Memory that is resident in a process, in bytes.
pub fn resident(process: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    Ok(kilobytes.context("the system does not say how much memory is resident")? * 1024.0)
}

/// Seconds of a processor that a process has used, with everything below it, also what has ended there.
pub fn processor_seconds(root: u32) -> f64 {
    let ticks: u64 = tree(root).into_iter().filter_map(ticks).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// The same of this process alone, with what it has started and waited for.
pub fn own_processor_seconds() -> f64 {
    let ticks = ticks(std::process::id()).unwrap_or_default();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

fn ticks(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, which is in brackets, may have blanks and brackets of its own.
    let (_, fields) = stat.rsplit_once(')')?;
    // In user and kernel mode, its own and that of the children it has waited for: fields 14 to 17 of the line.
    let fields = fields.split_whitespace().skip(11).take(4);
    fields.map(|field| field.parse::<u64>().ok()).sum()
}

/// How many processes wanted a processor, on average over 1, 5 and 15 minutes.
pub fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_observed() {
        let own = std::process::id();
        assert!(tree(own).contains(&own));
        assert!(resident(own).expect("it is there") > 100_000.0);
        assert!(ticks(own).is_some());
        assert_eq!(load_average().split(' ').count(), 3);
    }
}
