//! What this machine has too little of to take more work.

use std::path::{Path, PathBuf};

use windlass_core::wire::Overload;

/// Below or above which a worker takes nothing new.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The disk that must have room.
    pub folder: PathBuf,
    /// So many bytes of it must be free.
    pub free_disk: u64,
    /// So many bytes of memory must be available.
    pub free_memory: u64,
    /// The load average of a minute may be so much for each core; `None` lets it be anything.
    pub load_per_core: Option<f64>,
}

impl Limits {
    /// What there is too little of now. What cannot be found out is taken for enough.
    pub fn look(&self) -> Option<Overload> {
        if free_disk(&self.folder).is_some_and(|free| free < self.free_disk) {
            return Some(Overload::Disk);
        }
        let read = |path| std::fs::read_to_string(path).ok();
        if read("/proc/meminfo").and_then(|text| available(&text)).is_some_and(|free| free < self.free_memory)
        {
            return Some(Overload::Memory);
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        let load = || read("/proc/loadavg")?.split(' ').next()?.parse::<f64>().ok();
        match self.load_per_core {
            Some(most) if load().is_some_and(|load| load > most * cores) => Some(Overload::Cpu),
            Some(_) | None => None,
        }
    }
}

fn free_disk(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Bytes of memory that can be had without swapping, from the text of `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_is_said_the_disk_first() {
        let enough =
            Limits { folder: std::env::temp_dir(), free_disk: 0, free_memory: 0, load_per_core: None };
        assert_eq!(enough.look(), None);
        let short = |limits: Limits| limits.look();
        assert_eq!(
            short(Limits { free_disk: u64::MAX, free_memory: u64::MAX, ..enough.clone() }),
            Some(Overload::Disk)
        );
        assert_eq!(short(Limits { free_memory: u64::MAX, ..enough.clone() }), Some(Overload::Memory));
        assert_eq!(short(Limits { load_per_core: Some(-1.0), ..enough }), Some(Overload::Cpu));
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   12 kB\n"), Some(12 << 10));
    }
}
