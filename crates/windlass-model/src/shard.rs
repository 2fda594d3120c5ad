//! Shards: the fixed slices into which a cluster divides everything it decides about.

use std::fmt;

/// Bits of a run id that name its shard.
pub(crate) const SHARD_BITS: u32 = 10;

/// One slice of the cluster's work, from 0. The owner of shard 0 is the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(u16);

impl ShardId {
    /// The shard whose owner does the cluster-wide chores.
    pub const LEADER: ShardId = ShardId(0);

    /// The shard of that number, if a run id can name it.
    pub const fn new(number: u16) -> Option<ShardId> {
        if (number as u32) < (1 << SHARD_BITS) { Some(ShardId(number)) } else { None }
    }

    /// The number, from 0.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// How much a master of that name should own this shard: of several, the one with the most. When one comes
    /// or goes, only the shards that it gets or had move.
    pub fn weight(self, master: &str) -> u64 {
        let hash = fnv1a(fnv1a(FNV_OFFSET, master.as_bytes()), &[0]);
        finish(fnv1a(hash, &self.0.to_be_bytes()))
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many shards a cluster has: set once, when its store is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardCount(u16);

impl ShardCount {
    /// What a cluster has unless told otherwise: enough for a few dozen masters.
    pub const DEFAULT: ShardCount = ShardCount(64);

    /// Between 1 and 1,024, the most that a run id can name.
    pub const fn new(count: u16) -> Option<ShardCount> {
        if count >= 1 && (count as u32) <= (1 << SHARD_BITS) { Some(ShardCount(count)) } else { None }
    }

    /// The number of shards.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Every shard, from 0.
    pub fn shards(self) -> impl Iterator<Item = ShardId> {
        (0..self.0).map(ShardId)
    }

    /// The home of a named thing. The same on every machine and in every version: it is stored.
    pub fn home(self, kind: &str, name: &str) -> ShardId {
        let hash = fnv1a(fnv1a(FNV_OFFSET, kind.as_bytes()), &[0]);
        let hash = finish(fnv1a(hash, name.as_bytes()));
        ShardId((hash % u64::from(self.0)) as u16)
    }
}

/// FNV-1a, written out because its result is part of the stored data and may never change.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// Spreads the high bits over the low ones: FNV alone is poor in the few bits that choose a shard.
fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_never_moves() {
        let count = ShardCount::DEFAULT;
        let homes = [("workflow", "nightly-sales"), ("workflow", "load-staging"), ("pool", "warehouse")]
            .map(|(kind, name)| count.home(kind, name).number());
        assert_eq!(homes, [21, 34, 57], "homes are stored: changing the hash strands every named thing");
    }

    #[test]
    fn homes_spread_over_all_shards() {
        let count = ShardCount::DEFAULT;
        let mut load = [0; 64];
        for n in 0..64_000 {
            load[usize::from(count.home("workflow", &format!("flow-{n}")).number())] += 1;
        }
        assert!(load.iter().all(|n| (800..1200).contains(n)), "{load:?}");
    }

    #[test]
    fn shard_numbers_are_bounded_by_the_id() {
        assert_eq!(ShardId::new(1023).map(ShardId::number), Some(1023));
        assert_eq!(ShardId::new(1024), None);
        assert!(ShardCount::new(0).is_none() && ShardCount::new(1025).is_none());
        assert_eq!(ShardCount::new(3).map(|count| count.shards().count()), Some(3));
    }
}
