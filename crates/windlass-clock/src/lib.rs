//! The two clocks of this machine, as the shells hand them to the core.
//!
//! The monotonic clock is the one that goes on while the machine is suspended: to everybody else a suspended
//! process is silent, and it must not take itself for in touch when it wakes. The wall clock may be shifted by a
//! file, for tests of what happens when clocks are wrong.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use windlass_core::time::{Mono, Now, Wall};

/// How often the file of a shifted clock is read.
const READ_EVERY: Duration = Duration::from_secs(1);

/// The clocks.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Added to the wall clock, in milliseconds.
    shift: Arc<AtomicI64>,
}

/// A file that does not say by how much a clock is shifted.
#[derive(Debug, thiserror::Error)]
#[error("cannot read a number of seconds from the test clock file {path}")]
pub struct ShiftError {
    path: PathBuf,
    #[source]
    cause: std::io::Error,
}

impl Clock {
    /// A clock whose wall time is shifted by the number of seconds in a file, which is read again every second. For
    /// tests only.
    pub fn shifted_by(path: &Path) -> Result<Clock, ShiftError> {
        let failed = |cause| ShiftError { path: path.to_owned(), cause };
        let clock = Clock::default();
        clock.shift.store(read(path).map_err(failed)?, Ordering::Relaxed);
        let (path, shift) = (path.to_owned(), Arc::downgrade(&clock.shift));
        let follow = move || {
            while let Some(shift) = shift.upgrade() {
                // A file that is just being written counts as it was.
                if let Ok(millis) = read(&path) {
                    shift.store(millis, Ordering::Relaxed);
                }
                drop(shift);
                std::thread::sleep(READ_EVERY);
            }
        };
        std::thread::Builder::new()
            .name("test clock".into())
            .spawn(follow)
            .map_err(|cause| ShiftError { path: PathBuf::new(), cause })?;
        Ok(clock)
    }

    /// The present moment.
    pub fn now(&self) -> Now {
        let mono = clock_gettime(ClockId::Boottime);
        let wall = clock_gettime(ClockId::Realtime);
        let wall = millis(wall.tv_sec, wall.tv_nsec).saturating_add(self.shift.load(Ordering::Relaxed));
        Now { mono: Mono(millis(mono.tv_sec, mono.tv_nsec).max(0).cast_unsigned()), wall: Wall(wall) }
    }
}

fn millis(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000)
}

fn read(path: &Path) -> std::io::Result<i64> {
    let text = std::fs::read_to_string(path)?;
    let seconds: f64 = text.trim().parse().map_err(std::io::Error::other)?;
    Ok((seconds * 1000.0) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_shifts_the_wall_clock_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clock");
        std::fs::write(&path, "-3600\n").unwrap();
        let (real, shifted) = (Clock::default(), Clock::shifted_by(&path).unwrap());
        let (real, shifted) = (real.now(), shifted.now());
        assert!((shifted.wall.0 - real.wall.0 + 3_600_000).abs() < 10_000);
        assert!(shifted.mono.since(real.mono).as_millis() < 10_000);
        std::fs::write(&path, "soon").unwrap();
        let refused = Clock::shifted_by(&path).unwrap_err().to_string();
        assert!(refused.contains("test clock file"), "{refused}");
    }
}
