//! The two clocks of this machine.

use rustix::time::{ClockId, clock_gettime};
use windlass_core::time::{Mono, Now, Wall};

/// The present moment.
///
/// The monotonic clock is the one that goes on while the machine is suspended: to its masters a worker is silent
/// then, and it must not take itself for in touch when it wakes.
pub fn now() -> Now {
    let mono = clock_gettime(ClockId::Boottime);
    let wall = clock_gettime(ClockId::Realtime);
    let millis = |seconds: i64, nanos: i64| seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000);
    Now {
        mono: Mono(millis(mono.tv_sec, mono.tv_nsec).max(0).cast_unsigned()),
        wall: Wall(millis(wall.tv_sec, wall.tv_nsec)),
    }
}
