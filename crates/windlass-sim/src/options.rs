//! What a seed's cluster is like, and what happens to it.

use windlass_model::Duration;

use crate::random::Random;

/// Without a renewal for so long, a master's shards may be claimed.
pub const LEASE: Duration = Duration::from_secs(3);
/// A worker that nobody has heard of for so long is lost.
pub const WORKER_TIMEOUT: Duration = Duration::from_secs(4);
/// A load gives workers so long to be heard of.
pub const ADOPTION: Duration = Duration::from_secs(5);
/// How often workers say that they are there.
pub const HEARTBEAT: Duration = Duration::from_secs(1);
/// How long a process has between being asked and being forced to end.
pub const KILL_GRACE: Duration = Duration::from_secs(1);

/// Drawn from the seed.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many masters.
    pub masters: usize,
    /// How many slots each worker has.
    pub slots: Vec<u32>,
    /// To how many masters a worker has streams.
    pub streams: usize,
    /// How many shards.
    pub shards: u16,
    /// How many lanes a master has.
    pub lanes: u16,
    /// How many commits a lane has under way.
    pub pipeline: usize,
    /// How long things go wrong, in milliseconds.
    pub faults_for: u64,
    /// How many runs are submitted.
    pub submissions: usize,
    /// Per mille of messages that are lost.
    pub drop: u64,
    /// Per mille of messages that come twice.
    pub double: u64,
    /// Per mille of messages that take long.
    pub slow: u64,
    /// Longest ordinary delay of a message, in milliseconds.
    pub delay: u64,
    /// Longest ordinary delay of a call to the store.
    pub store_delay: u64,
    /// Per mille of renewals that take very long.
    pub renew_slow: u64,
    /// Per mille of calls to the store that fail and were not done.
    pub store_fails: u64,
    /// Per mille of calls to the store whose answer is lost.
    pub store_unknown: u64,
    /// Mean time between crashes, in milliseconds; 0 for none.
    pub crash_every: u64,
    /// Mean time between freezes.
    pub freeze_every: u64,
    /// Mean time between cuts.
    pub cut_every: u64,
    /// Mean time between steps of somebody's wall clock.
    pub step_every: u64,
    /// Mean time between outages of the store.
    pub outage_every: u64,
    /// Mean time between cuts of a worker from everybody.
    pub isolate_every: u64,
    /// Mean time between orderly restarts of a master.
    pub stop_every: u64,
    /// Mean time between times in which a master's calls to the store get stuck.
    pub stall_every: u64,
    /// Mean time between commands of people.
    pub operate_every: u64,
    /// Per mille of effects of a master behind which it crashes.
    pub crash_between: u64,
    /// The wall clock at the beginning.
    pub wall: i64,
    /// When the shards last gave out ids, and many of them; a clock was ahead then.
    pub ids_from: Option<i64>,
}

/// Moments of the wall clock to begin at: an ordinary one, and shortly before summer time begins and ends.
const BEGINNINGS: [i64; 3] = [1_780_000_000_000, 1_774_745_980_000, 1_792_889_980_000];

impl Options {
    /// What a seed says.
    pub fn draw(random: &mut Random) -> Options {
        let masters = random.between(1, 4).min(3) as usize;
        let workers = random.between(1, 4) as usize;
        let calm = random.chance(100);
        let rate = |random: &mut Random, low, high| {
            if calm || random.chance(300) { 0 } else { random.between(low, high) }
        };
        let wall = BEGINNINGS[random.below(BEGINNINGS.len())];
        Options {
            masters,
            slots: (0..workers).map(|_| random.between(1, 3) as u32).collect(),
            streams: random.between(1, masters as u64) as usize,
            shards: random.between(1, 6) as u16,
            lanes: random.between(1, 2) as u16,
            pipeline: random.between(1, 3) as usize,
            faults_for: random.between(15_000, 45_000),
            submissions: random.between(8, 24) as usize,
            drop: rate(random, 1, 60),
            double: rate(random, 1, 60),
            slow: rate(random, 1, 60),
            delay: random.between(1, 40),
            store_delay: random.between(1, 60),
            renew_slow: rate(random, 1, 60),
            store_fails: rate(random, 1, 40),
            store_unknown: rate(random, 1, 60),
            crash_every: rate(random, 2_000, 12_000),
            freeze_every: rate(random, 4_000, 20_000),
            cut_every: rate(random, 4_000, 20_000),
            step_every: rate(random, 4_000, 20_000),
            outage_every: rate(random, 10_000, 40_000),
            isolate_every: rate(random, 5_000, 20_000),
            stop_every: rate(random, 5_000, 20_000),
            stall_every: rate(random, 5_000, 20_000),
            operate_every: random.between(500, 4_000),
            crash_between: rate(random, 1, 4),
            wall,
            ids_from: random.chance(250).then_some(wall + 3_600_000),
        }
    }

    /// A cluster in which nothing goes wrong by itself.
    pub fn calm(masters: usize, slots: &[u32]) -> Options {
        Options {
            masters,
            slots: slots.to_vec(),
            streams: masters.min(2),
            shards: 4,
            lanes: 1,
            pipeline: 2,
            faults_for: 0,
            submissions: 0,
            drop: 0,
            double: 0,
            slow: 0,
            delay: 2,
            store_delay: 2,
            renew_slow: 0,
            store_fails: 0,
            store_unknown: 0,
            crash_every: 0,
            freeze_every: 0,
            cut_every: 0,
            step_every: 0,
            outage_every: 0,
            stop_every: 0,
            stall_every: 0,
            isolate_every: 0,
            operate_every: 0,
            crash_between: 0,
            wall: BEGINNINGS[0],
            ids_from: None,
        }
    }
}
