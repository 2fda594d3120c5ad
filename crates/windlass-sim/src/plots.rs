//! Situations that are made to happen.
//!
//! What goes wrong by chance rarely meets what it could break: a worker that is given up while it runs something that
//! may not run twice, while a clock is stepped and its shard changes hands. So two thirds of all seeds have a plot. It
//! has the cluster that the situation needs, waits for its beginning, and brings the rest about, several times in each
//! seed. How long everything takes around that is drawn, so that what should hold is tried on both sides of each limit.

use windlass_core::master::input::StoreCall;
use windlass_core::run;
use windlass_core::shard::input::{Assignment, Command, RecoverFrom, ToWorker};
use windlass_core::wire::{Body, Frame, Order};
use windlass_model::{AttemptId, JobNumber, ShardId};

use crate::options::{Kind, Options};
use crate::random::Random;
use crate::world::{Event, Node, World};

/// A situation that is made to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plot {
    /// A worker is given up while it runs what may not run twice, and stays away. Then clocks are stepped and the shard
    /// is loaded anew, or somebody opens the run again.
    Orphan,
    /// A worker is given up and back before the commit that gave it work is known.
    LateCommit,
    /// Work that was sent to a worker gets there after it was given up and is back, or was taken back.
    LateOrder,
    /// A worker begins a new life while something is on its way to the last, and gets that.
    Rebirth,
    /// A renewal takes as long as a lease lasts, and its master loads its shards anew meanwhile.
    Theft,
    /// A master does not know what became of its commit, and cannot ask before another has come and gone.
    Doubt,
    /// Commits fail while those that follow from them are under way, in other shards.
    Chain,
    /// Masters stop in good order while commits are under way.
    HandOver,
    /// A worker loses touch while it keeps a slot for its member of a gang.
    Gang,
    /// What masters say to each other comes twice, and people give many commands.
    Echo,
}

/// Every plot: one of each in [`ROUND`](crate::options::ROUND) seeds.
pub const PLOTS: [Plot; 10] = [
    Plot::Orphan,
    Plot::LateCommit,
    Plot::LateOrder,
    Plot::Rebirth,
    Plot::Theft,
    Plot::Doubt,
    Plot::Chain,
    Plot::HandOver,
    Plot::Gang,
    Plot::Echo,
];

/// A worker that is out of touch for so long is given up by everybody, in milliseconds: its timeout, the time to ask
/// others, and a little.
const GIVEN_UP: (u64, u64) = (5_300, 7_500);
/// A worker that is back is at work again after so long: streams, two heartbeats, an inventory.
const AT_WORK: (u64, u64) = (1_200, 5_000);

impl Plot {
    /// Makes a cluster one that it can happen to.
    pub fn prepare(self, options: &mut Options, random: &mut Random) {
        let slots = |random: &mut Random, fewest: u64, most: u64| {
            let workers = random.between(fewest, 3);
            (0..workers).map(|_| random.between(1, most) as u32).collect::<Vec<_>>()
        };
        options.faults_for = random.between(40_000, 70_000);
        match self {
            Plot::Orphan => {
                options.slots = slots(random, 3, 3);
                (options.kind, options.variety) = (Kind::Alone, 0);
                (options.submissions, options.bursts) = (random.between(10, 40) as usize, 0);
                options.operate_every = random.between(2_000, 8_000);
                options.faults_for = random.between(60_000, 90_000);
            }
            Plot::LateCommit => {
                options.slots = slots(random, 1, 2);
                (options.pipeline, options.lanes) =
                    (random.between(1, 3) as usize, random.between(1, 2) as u16);
                options.submissions = random.between(60, 150) as usize;
                (options.store_delay, options.operate_every) = (random.stretched(1, 30), 4_000);
            }
            Plot::LateOrder => {
                options.slots = slots(random, 1, 3);
                options.submissions = random.between(60, 150) as usize;
                (options.store_delay, options.operate_every) = (random.stretched(1, 30), 2_000);
            }
            Plot::Rebirth => {
                options.slots = slots(random, 1, 3);
                options.submissions = random.between(60, 150) as usize;
                (options.kept, options.back_soon, options.away) = (1_000, 900, random.stretched(2, 40));
                (options.operate_every, options.stops) = (random.between(150, 600), 300);
                (options.store_delay, options.delay) = (random.stretched(1, 30), random.between(5, 60));
                options.brisk = 100;
            }
            Plot::Theft => {
                options.masters = random.between(2, 3) as usize;
                options.slots = slots(random, 3, 2);
                options.streams = 3;
                options.submissions = random.between(60, 150) as usize;
                options.store_delay = random.stretched(16, 120);
            }
            Plot::Doubt => {
                options.masters = 2;
                options.submissions = random.between(60, 150) as usize;
                options.store_delay = random.stretched(4, 60);
            }
            Plot::Chain => {
                options.slots = slots(random, 3, 4);
                (options.shards, options.lanes) = (random.between(4, 6) as u16, 1);
                options.pipeline = random.between(2, 4) as usize;
                (options.kind, options.variety) = (Kind::Pooled, 0);
                (options.submissions, options.brisk) = (random.between(100, 200) as usize, 900);
                (options.store_delay, options.delay) = (random.between(10, 60), random.stretched(1, 20));
                options.commit_fails = random.between(20, 80);
                options.operate_every = 6_000;
            }
            Plot::HandOver => {
                options.masters = random.between(2, 3) as usize;
                options.stop_every = random.between(2_500, 5_000);
                options.submissions = random.between(60, 150) as usize;
                (options.pipeline, options.lanes) =
                    (random.between(2, 4) as usize, random.between(1, 3) as u16);
                options.store_delay = random.stretched(1, 30);
            }
            Plot::Gang => {
                options.masters = random.between(2, 3) as usize;
                options.slots = slots(random, 3, 2);
                (options.kind, options.variety) = (Kind::Gangs, 0);
                (options.submissions, options.bursts) = (random.between(15, 50) as usize, 0);
                options.operate_every = 6_000;
            }
            Plot::Echo => {
                options.masters = random.between(2, 3) as usize;
                options.double = random.between(200, 500);
                options.longest_delay = random.between(1_000, 6_000);
                options.operate_every = random.between(100, 300);
                options.submissions = random.between(40, 100) as usize;
            }
        }
    }

    /// How long the cluster has to come to rest before it happens again, in milliseconds.
    fn rest(self) -> u64 {
        match self {
            Plot::Orphan => 6_000,
            Plot::LateCommit | Plot::LateOrder => 9_000,
            Plot::Rebirth => 800,
            Plot::Theft => 6_000,
            Plot::Doubt => 12_000,
            Plot::Gang => 6_000,
            Plot::HandOver => 2_500,
            Plot::Chain | Plot::Echo => 0,
        }
    }
}

impl World {
    /// Whether the plot of this seed is that one and may begin now.
    fn begins(&mut self, plot: Plot, often: u64) -> bool {
        let right = self.options.plot == Some(plot) && !self.quiet;
        let begins = right && self.time >= self.ambushed + plot.rest() && self.random.chance(often);
        if begins {
            self.ambushed = self.time;
        }
        begins
    }

    /// A master calls the store. How much later the call gets there.
    pub fn plot_store(&mut self, number: usize, life: u64, call: &StoreCall) -> u64 {
        match (self.options.plot, call) {
            (Some(Plot::LateCommit), StoreCall::Commit(_, batches)) => {
                let Some(worker) = self.assigned_to(batches) else { return 0 };
                if !self.begins(Plot::LateCommit, 400) {
                    return 0;
                }
                let long = self.random.between(GIVEN_UP.0, GIVEN_UP.1);
                self.isolate(worker, long);
                long + self.random.between(AT_WORK.0, AT_WORK.1)
            }
            (Some(Plot::Theft), StoreCall::Renew(_)) => self.plot_renewal(number),
            (Some(Plot::HandOver), StoreCall::Commit(..)) if !self.quiet && self.random.chance(120) => {
                self.random.between(1_000, 6_000)
            }
            (Some(Plot::HandOver), StoreCall::Release(..)) if self.begins(Plot::HandOver, 700) => {
                // Nobody else keeps it for long: it comes back while what is under way still is.
                for other in (0..self.masters.len()).filter(|other| *other != number) {
                    let soon = self.random.between(100, 1_500);
                    self.after(soon, Event::StopMaster(other));
                }
                0
            }
            (Some(Plot::Doubt), StoreCall::Commit(flight, _)) => {
                if !self.begins(Plot::Doubt, 150) {
                    return 0;
                }
                self.store.doomed.insert((number, life, flight.lane, flight.number), true);
                // Until another master has taken over, worked and gone.
                let long = self.random.between(5_000, 9_000);
                self.masters[number].stalled_until = self.time + long;
                for other in (0..self.masters.len()).filter(|other| *other != number) {
                    let gone = long.saturating_sub(self.random.between(50, 900));
                    self.after(gone, Event::StopMaster(other));
                }
                0
            }
            _ => 0,
        }
    }

    /// The answer to one renewal takes long, and the next renewal gets to the store so late that others have seen the
    /// lease stand still; meanwhile commits fail, so that the shards are claimed anew. How much later it gets there.
    fn plot_renewal(&mut self, number: usize) -> u64 {
        let (stage, since) = self.masters[number].theft;
        let stage = if self.time > since + 8_000 { 0 } else { stage };
        match stage {
            _ if self.quiet => 0,
            1 => {
                let from = self.time + self.random.between(10, 300);
                self.masters[number].failing = (from, from + self.random.between(100, 900));
                self.masters[number].theft = (2, self.time);
                self.random.between(700, 2_700)
            }
            2 => {
                self.masters[number].theft = (0, self.time);
                self.random.between(300, 1_800)
            }
            _ => {
                if self.begins(Plot::Theft, 500) {
                    self.masters[number].theft = (1, self.time);
                    self.masters[number].renewal_late = self.random.between(1_000, 2_300);
                }
                0
            }
        }
    }

    /// A frame is sent to a worker. When it gets there, if that is not left to chance.
    pub fn plot_frame(&mut self, worker: usize, frame: &Frame) -> Option<u64> {
        let Body::Orders { orders, .. } = &frame.body else { return None };
        let about = orders.iter().find_map(|order| match order {
            Order::Shard(ToWorker::Assign(assignment)) => Some(assignment.attempt),
            Order::Shard(_) | Order::Adopt => None,
        });
        let goes = orders.iter().any(|order| matches!(order, Order::Shard(ToWorker::Go(_))));
        let ends = orders.iter().any(|order| {
            matches!(order, Order::Shard(ToWorker::Kill(..) | ToWorker::Recall(_) | ToWorker::Go(_)))
        });
        match (self.options.plot?, about) {
            (Plot::LateOrder, Some(attempt)) if self.begins(Plot::LateOrder, 400) => {
                if self.random.chance(500) {
                    let long = self.random.between(GIVEN_UP.0, GIVEN_UP.1);
                    self.after(0, Event::Isolate(worker, long));
                    Some(long + self.random.between(AT_WORK.0, AT_WORK.1))
                } else {
                    let soon = self.random.between(1, 60);
                    let command = if self.random.chance(500) { Command::Pause } else { Command::Stop };
                    self.after(soon, Event::Command(attempt.job.run, command));
                    self.after(soon + 2_000, Event::Command(attempt.job.run, Command::Resume));
                    Some(self.random.between(400, 4_000))
                }
            }
            (Plot::Rebirth, None) if ends && self.begins(Plot::Rebirth, 900) => {
                self.after(0, Event::Crash(Node::Worker(worker)));
                Some(self.random.between(1, 3))
            }
            (Plot::Rebirth, Some(_)) if self.begins(Plot::Rebirth, 100) => {
                self.after(0, Event::Crash(Node::Worker(worker)));
                Some(self.random.between(1, 3))
            }
            (Plot::Rebirth, Some(attempt)) if !self.quiet && self.random.chance(250) => {
                // Somebody has second thoughts while it starts.
                let soon = self.random.between(1, 120);
                let command = if self.random.chance(500) { Command::Pause } else { Command::Stop };
                self.after(soon, Event::Command(attempt.job.run, command));
                self.after(soon + 3_000, Event::Command(attempt.job.run, Command::Resume));
                None
            }
            (Plot::Gang, _) if goes && self.begins(Plot::Gang, 900) => {
                // Long enough to drop what it keeps, too short to be given up. The word to go is lost, or late.
                let long = self.random.between(3_900, 4_980);
                self.isolate(worker, long);
                None
            }
            (Plot::Gang, _) if about.is_some() && self.begins(Plot::Gang, 150) => {
                // Long enough to drop what it keeps, too short to be given up; or the other way round.
                let long = if self.random.chance(700) { (3_900, 4_980) } else { GIVEN_UP };
                let long = self.random.between(long.0, long.1);
                let soon = self.random.between(0, 30);
                self.after(soon, Event::Isolate(worker, long));
                None
            }
            _ => None,
        }
    }

    /// A worker starts something.
    pub fn plot_spawn(&mut self, worker: usize, assignment: &Assignment) {
        let lonely = assignment.orphan_timeout.is_some_and(|orphan| orphan.as_millis() >= 10_000);
        if lonely && self.begins(Plot::Orphan, 600) {
            let soon = self.random.between(50, 1_500);
            let long = self.random.between(10_000, 26_000);
            self.after(soon, Event::Isolate(worker, long));
        }
    }

    /// What may not run beside another was given up, and runs.
    pub fn orphaned(&mut self, attempt: AttemptId) {
        if self.options.plot != Some(Plot::Orphan) || self.quiet {
            return;
        }
        let run = attempt.job.run;
        if self.random.chance(500) {
            // Whoever loads the shard next is ahead.
            for number in 0..self.masters.len() {
                let ahead = self.random.between(20_000, 7_200_000) as i64;
                self.after(0, Event::StepMaster(number, ahead));
            }
            if let Some(owner) = self.owner_of(run.shard()) {
                let soon = self.random.between(20, 1_500);
                self.after(soon, Event::Crash(Node::Master(owner)));
            }
            return;
        }
        let soon = self.random.between(50, 1_000);
        let over = self.judge.runs().any(|row| row.id == run && matches!(row.state, run::State::Ended(_)));
        if !over {
            self.after(soon, Event::Command(run, Command::Stop));
        }
        let again = match self.random.below(3) {
            0 => Command::Retry(JobNumber(attempt.job.number.0)),
            1 => Command::Recover(RecoverFrom::Failed),
            _ => Command::Recover(RecoverFrom::Current),
        };
        let later = soon + self.random.between(200, 2_000);
        self.after(later, Event::Command(run, again));
        self.after(later + 1_000, Event::Command(run, Command::Recover(RecoverFrom::Failed)));
    }

    /// The master that works for a shard.
    fn owner_of(&self, shard: ShardId) -> Option<usize> {
        let epoch = self.store.epoch(shard);
        self.masters.iter().position(|node| {
            node.machine.as_ref().is_some_and(|machine| machine.live().any(|live| live == (shard, epoch)))
        })
    }
}
