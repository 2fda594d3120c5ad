//! What a seed's cluster is like, and what happens to it.

use windlass_model::Duration;

use crate::ambush::{MOMENTS, Moment};
use crate::plots::{PLOTS, Plot};
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

/// What the faults of a seed are about. With every kind of fault at once, one hides the other: a master that crashes
/// every second never lives to see its commits come back in the wrong order. So most seeds have few kinds of faults,
/// and those often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// Whatever is drawn.
    Anything,
    /// Workers that are back within milliseconds, while what was sent to their last life is still under way.
    Restarts,
    /// Commits that fail, take long, land late and out of order, several under way at a time.
    Commits,
    /// Renewals, claims and whole masters that stand still for about as long as a lease lasts.
    Leases,
    /// Masters that come and go while people stop and reopen runs.
    TakeOvers,
    /// Workers that nobody hears for a while, and messages that arrive after that.
    Silence,
}

/// Which workflows people run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any.
    Any,
    /// Those in which one waits for the other: for a permit, for a place, for the rest of a gang.
    Contended,
    /// Those that may not run twice at a time.
    Alone,
    /// Those with permits.
    Pooled,
    /// Those with gangs.
    Gangs,
}

/// Of so many seeds in a row, each plot has one; the others are left to chance.
pub const ROUND: u64 = 15;

/// Every focus.
const FOCUSES: [Focus; 6] =
    [Focus::Anything, Focus::Restarts, Focus::Commits, Focus::Leases, Focus::TakeOvers, Focus::Silence];

/// Drawn from the seed.
#[derive(Clone, Debug)]
pub struct Options {
    /// The one thing that is made to happen, if nothing is left to chance.
    pub plot: Option<Plot>,
    /// What its faults are about otherwise.
    pub focus: [Focus; 2],
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
    /// Of how many workflows they are; all there are if 0.
    pub variety: usize,
    /// Of which.
    pub kind: Kind,
    /// Per mille of ordinary processes that are over at once.
    pub brisk: u64,
    /// In how many bursts they come; each by itself if 0.
    pub bursts: usize,
    /// Per mille of messages that are lost.
    pub drop: u64,
    /// Per mille of messages that come twice, the second time perhaps much later.
    pub double: u64,
    /// Per mille of messages that take long.
    pub slow: u64,
    /// Longest ordinary delay of a message, in milliseconds.
    pub delay: u64,
    /// Longest delay of any message.
    pub longest_delay: u64,
    /// Per mille of messages on a link that is cut which arrive when the cut ends.
    pub held: u64,
    /// Per mille of the messages to a life of a worker that is over which its next life gets.
    pub kept: u64,
    /// Longest ordinary delay of a call to the store.
    pub store_delay: u64,
    /// Per mille of calls to the store that take long.
    pub store_slow: u64,
    /// Per mille of renewals that take very long.
    pub renew_slow: u64,
    /// Per mille of commits that take long.
    pub commit_slow: u64,
    /// Per mille of calls to the store that fail and were not done.
    pub store_fails: u64,
    /// The same of commits alone.
    pub commit_fails: u64,
    /// Per mille of calls to the store whose answer is lost.
    pub store_unknown: u64,
    /// The same of commits alone.
    pub commit_unknown: u64,
    /// Per mille of crashes, freezes, cuts and clock steps that are a master's; the others are a worker's.
    pub masters_blamed: u64,
    /// Mean time between crashes, in milliseconds; 0 for none.
    pub crash_every: u64,
    /// Per mille of restarts after which the same crashes again soon.
    pub crash_again: u64,
    /// Per mille of answers after which the master that gave it crashes soon.
    pub crash_answered: u64,
    /// Per mille of effects behind which a master or worker crashes.
    pub crash_between: u64,
    /// How long a worker is away at most, if it is back soon.
    pub away: u64,
    /// Per mille of crashes after which a worker is back soon.
    pub back_soon: u64,
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
    /// Whether commits of a lane may reach the store in another order than they were sent.
    pub overtaking: bool,
    /// What is lain in wait for, and per mille of such moments that are used.
    pub ambush: Option<(Moment, u64)>,
    /// Mean time between commands of people.
    pub operate_every: u64,
    /// Per mille of commands that stop a run, beside those that chance makes stops.
    pub stops: u64,
    /// The wall clock at the beginning.
    pub wall: i64,
    /// When the shards last gave out ids, and many of them; a clock was ahead then.
    pub ids_from: Option<i64>,
}

/// Moments of the wall clock to begin at: an ordinary one, and shortly before summer time begins and ends.
const BEGINNINGS: [i64; 3] = [1_780_000_000_000, 1_774_745_980_000, 1_792_889_980_000];

/// Draws how often something goes wrong.
struct Rates<'a> {
    random: &'a mut Random,
    /// Per mille of kinds of faults that there are none of.
    without: u64,
}

impl Rates<'_> {
    /// From `low` to `high`, more often low than high; or not at all.
    fn some(&mut self, low: u64, high: u64) -> u64 {
        if self.random.chance(self.without) { 0 } else { self.random.stretched(low, high) }
    }
}

impl Options {
    /// What a seed says. Which plot it has is no matter of chance, so that each has its share of any range of seeds.
    pub fn draw(seed: u64, random: &mut Random) -> Options {
        match PLOTS.get((seed % ROUND) as usize) {
            Some(plot) => Options::plotted(random, *plot),
            None => Options::mixed(random),
        }
    }

    /// Some seeds have a little of something else beside their plot.
    fn plotted(random: &mut Random, plot: Plot) -> Options {
        let without = if random.chance(300) { 900 } else { 1_000 };
        let mut options = Options::some(random, [Focus::Anything; 2], without);
        (options.plot, options.ambush, options.step_every) = (Some(plot), None, 0);
        options.drop = if random.chance(700) { 0 } else { random.between(2, 20) };
        plot.prepare(&mut options, random);
        options.streams = options.streams.min(options.masters);
        options
    }

    /// Whatever chance makes of it.
    fn mixed(random: &mut Random) -> Options {
        let mut focus = [Focus::Anything; 2];
        let calm = random.chance(60);
        if !calm {
            focus[0] = FOCUSES[random.below(FOCUSES.len())];
        }
        if !calm && random.chance(400) {
            focus[1] = FOCUSES[random.below(FOCUSES.len())];
        }
        // Besides what a seed is about, little else goes wrong in it.
        let without = match focus {
            _ if calm => 1_000,
            [Focus::Anything, Focus::Anything] => 350,
            _ => 700,
        };
        let mut options = Options::some(random, focus, without);
        for focus in focus {
            options.sharpen(random, focus);
        }
        options.streams = options.streams.min(options.masters);
        options
    }

    /// Some of everything.
    fn some(random: &mut Random, focus: [Focus; 2], without: u64) -> Options {
        let masters = random.between(1, 4).min(3) as usize;
        let workers = random.between(1, 4) as usize;
        let wall = BEGINNINGS[random.below(BEGINNINGS.len())];
        let slots = (0..workers).map(|_| random.between(1, 3) as u32).collect();
        let (streams, shards) = (random.between(1, 3) as usize, random.between(1, 6) as u16);
        let (lanes, pipeline) = (random.between(1, 4) as u16, random.between(1, 4) as usize);
        let (faults_for, submissions) = (random.between(15_000, 90_000), random.stretched(8, 200) as usize);
        let variety = if random.chance(400) { 0 } else { random.between(1, 5) as usize };
        let bursts = if random.chance(500) { 0 } else { random.between(1, 8) as usize };
        let ids_from = random.chance(250).then_some(wall + 3_600_000);
        let (delay, store_delay) = (random.stretched(1, 60), random.stretched(1, 120));
        let longest_delay = random.stretched(2_000, 20_000);
        let (kept, held) = ([0, 400, 1_000][random.below(3)], [0, 300, 900][random.below(3)]);
        let kind = [Kind::Any, Kind::Any, Kind::Any, Kind::Contended, Kind::Alone][random.below(5)];
        let brisk = [100, 400, 900][random.below(3)];
        // Some messages are lost in most clusters.
        let drop = if without == 1_000 || random.chance(500) { 0 } else { random.between(2, 120) };
        let masters_blamed = [200, 600, 900][random.below(3)];
        let back_soon = [200, 500, 900][random.below(3)];
        let (away, operate_every) = (random.stretched(2, 500), random.stretched(200, 4_000));
        let ambush = (MOMENTS[random.below(MOMENTS.len())], random.between(100, 1_000));
        let ambush = (without < 1_000 && random.chance(800)).then_some(ambush);
        let step_every =
            if without == 1_000 || random.chance(500) { 0 } else { random.stretched(2_000, 20_000) };
        let stops = if random.chance(700) { 0 } else { random.between(100, 600) };
        let overtaking = without < 1_000 && random.chance(250);
        let mut rates = Rates { random, without };
        Options {
            plot: None,
            focus,
            masters,
            slots,
            streams,
            shards,
            lanes,
            pipeline,
            faults_for,
            submissions,
            variety,
            bursts,
            kind,
            brisk,
            drop,
            double: rates.some(1, 120),
            slow: rates.some(1, 120),
            delay,
            longest_delay,
            held,
            kept,
            store_delay,
            store_slow: rates.some(1, 60),
            renew_slow: rates.some(1, 120),
            commit_slow: rates.some(1, 120),
            store_fails: rates.some(1, 60),
            commit_fails: rates.some(1, 60),
            store_unknown: rates.some(1, 60),
            commit_unknown: rates.some(1, 60),
            masters_blamed,
            crash_every: rates.some(2_000, 12_000),
            crash_again: rates.some(50, 500),
            crash_answered: rates.some(1, 30),
            crash_between: rates.some(1, 6),
            away,
            back_soon,
            freeze_every: rates.some(3_000, 20_000),
            cut_every: rates.some(3_000, 20_000),
            step_every,
            outage_every: rates.some(8_000, 40_000),
            isolate_every: rates.some(4_000, 20_000),
            stop_every: rates.some(4_000, 20_000),
            stall_every: rates.some(4_000, 20_000),
            overtaking,
            ambush,
            operate_every,
            stops,
            wall,
            ids_from,
        }
    }

    /// Makes that often which the seed is about, and the cluster one that it can happen to.
    fn sharpen(&mut self, random: &mut Random, focus: Focus) {
        match focus {
            Focus::Anything => {}
            Focus::Restarts => {
                self.masters_blamed = 100;
                self.crash_every = random.stretched(800, 4_000);
                self.crash_again = random.between(0, 600);
                (self.back_soon, self.away) = (950, random.stretched(2, 100));
                self.kept = random.between(500, 1_000);
                self.crash_between = random.stretched(1, 20);
                (self.slow, self.double) = (random.between(20, 200), random.between(50, 400));
                self.longest_delay = random.stretched(500, 8_000);
                (self.drop, self.commit_slow) = (random.between(0, 60), random.stretched(5, 100));
            }
            Focus::Commits => {
                self.shards = random.between(2, 6) as u16;
                (self.lanes, self.pipeline) = (random.between(1, 2) as u16, random.between(2, 4) as usize);
                self.kind = if random.chance(400) { Kind::Contended } else { self.kind };
                self.store_delay = random.stretched(10, 200);
                self.commit_slow = random.stretched(10, 200);
                self.commit_fails = random.stretched(5, 80);
                self.commit_unknown = random.stretched(5, 80);
            }
            Focus::Leases => {
                (self.masters, self.masters_blamed) = (random.between(2, 3) as usize, 900);
                self.renew_slow = random.stretched(50, 400);
                self.freeze_every = random.stretched(4_000, 12_000);
                self.stall_every = random.stretched(5_000, 20_000);
                self.commit_unknown = random.stretched(5, 80);
                self.commit_fails = random.stretched(5, 80);
            }
            Focus::TakeOvers => {
                (self.masters, self.masters_blamed) = (random.between(2, 3) as usize, 900);
                self.crash_every = random.stretched(3_000, 12_000);
                self.stop_every = random.stretched(4_000, 15_000);
                self.crash_answered = random.stretched(5, 60);
                self.commit_unknown = random.stretched(5, 80);
                self.operate_every = random.stretched(100, 800);
                self.stops = if random.chance(500) { 0 } else { random.between(100, 600) };
            }
            Focus::Silence => {
                self.isolate_every = random.stretched(5_000, 15_000);
                self.slow = random.stretched(10, 100);
                self.longest_delay = random.between(10_000, 20_000);
                self.held = random.between(500, 1_000);
                self.kind = if random.chance(500) { Kind::Alone } else { self.kind };
                let moment = [Moment::Assign, Moment::Spawn, Moment::Commit][random.below(3)];
                self.ambush = Some((moment, random.between(200, 900)));
                self.commit_slow = random.stretched(10, 100);
                self.store_slow = random.stretched(2, 30);
            }
        }
    }

    /// A cluster in which nothing goes wrong by itself.
    pub fn calm(masters: usize, slots: &[u32]) -> Options {
        Options {
            plot: None,
            focus: [Focus::Anything; 2],
            masters,
            slots: slots.to_vec(),
            streams: masters.min(2),
            shards: 4,
            lanes: 1,
            pipeline: 2,
            faults_for: 0,
            submissions: 0,
            variety: 0,
            kind: Kind::Any,
            brisk: 400,
            bursts: 0,
            drop: 0,
            double: 0,
            slow: 0,
            delay: 2,
            longest_delay: 2,
            held: 0,
            kept: 400,
            store_delay: 2,
            store_slow: 0,
            renew_slow: 0,
            commit_slow: 0,
            store_fails: 0,
            commit_fails: 0,
            store_unknown: 0,
            commit_unknown: 0,
            masters_blamed: 600,
            crash_every: 0,
            crash_again: 0,
            crash_answered: 0,
            crash_between: 0,
            away: 300,
            back_soon: 400,
            freeze_every: 0,
            cut_every: 0,
            step_every: 0,
            outage_every: 0,
            stop_every: 0,
            stall_every: 0,
            isolate_every: 0,
            overtaking: false,
            ambush: None,
            operate_every: 0,
            stops: 0,
            wall: BEGINNINGS[0],
            ids_from: None,
        }
    }
}
