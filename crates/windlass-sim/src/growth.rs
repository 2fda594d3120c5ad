//! What a job costs in clusters of every size: the machines that ship, with simulated workers and masters.
//!
//! Nothing goes wrong here. Each cluster has as many jobs as it can run at once, several times over, in workflows that are at
//! home in every shard; each job takes a second of virtual time. What is measured is the real time that the machines of
//! masters take to decide, and what is sent and received. A machine is asked to decide for each message alone, which is more
//! often than a shell under load does; encoding, networks and the store are not in it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use windlass_core::master::input::Input as ToMaster;
use windlass_core::run;
use windlass_core::time::Wall;
use windlass_core::worker::input::Input as ToWorker;

use crate::flows::Flows;
use crate::options::Options;
use crate::people::What;
use crate::world::{Event, World};

/// Sizes of the table.
pub const WORKERS: [usize; 4] = [10, 100, 1_000, 10_000];
/// See [`WORKERS`].
pub const MASTERS: [usize; 3] = [1, 10, 30];

/// Attempts that a worker runs at once.
const SLOTS: u32 = 4;
/// Shards, so that thirty masters have two each.
const SHARDS: u16 = 64;
/// Workflows; each has a home of its own.
const FLOWS: usize = 64;
/// Jobs for each slot.
const WAVES: usize = 3;
/// How long a cluster is watched while it has nothing to do, in milliseconds of virtual time.
const IDLE: u64 = 5_000;
/// How often it is looked whether something is so, in milliseconds of virtual time: looking costs more than an event.
const LOOK: u64 = 20;
/// Nothing takes so long, in milliseconds of virtual time.
const LONG: u64 = 600_000;

/// What a cluster of one size costs.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// How many workers there are.
    pub workers: usize,
    /// How many masters.
    pub masters: usize,
    /// How many jobs were done.
    pub jobs: usize,
    /// Real time that masters took to decide for each job, all of them together.
    pub each: Duration,
    /// Messages between masters and workers, and among masters, for each job.
    pub messages_each: f64,
    /// The same in a second of virtual time while there was nothing to do, for each master.
    pub idle_messages: f64,
    /// Real time that a master took to decide in a second of that.
    pub idle: Duration,
    /// Virtual time from the first submission to the last end, in seconds.
    pub took: f64,
    /// Memory of the whole simulation, everybody in it, for each worker.
    pub bytes_each: f64,
}

/// Measures a cluster.
pub fn measure(masters: usize, workers: usize) -> Result<Row, String> {
    let before = resident();
    let jobs_each = (workers * SLOTS as usize * WAVES).div_ceil(FLOWS);
    let texts: Vec<String> = (0..FLOWS)
        .map(|number| {
            format!(
                "name: grow-{number}\ntasks: {{each: {{foreach: {{items: '${{{{ range({jobs_each}) }}}}'}}, run: work 1s}}}}\n"
            )
        })
        .collect();
    let options = Options { shards: SHARDS, ..Options::calm(masters, &vec![SLOTS; workers]) };
    let mut world = World::scripted(options, Arc::new(Flows::stored(&texts)));
    let mut messages = 0;
    for number in 0..masters {
        world.start_master(number);
    }
    until(&mut world, &mut messages, "every shard has an owner", |world| {
        world
            .masters
            .iter()
            .filter_map(|node| node.machine.as_ref())
            .map(|master| master.live().count())
            .sum::<usize>()
            == usize::from(SHARDS)
    })?;
    for number in 0..workers {
        world.start_worker(number);
    }
    let connected = world.time + 5_000;
    until(&mut world, &mut messages, "workers have connected", |world| world.time >= connected)?;
    (messages, world.masters_took) = (0, Duration::ZERO);
    let idle_until = world.time + IDLE;
    until(&mut world, &mut messages, "an idle while", |world| world.time >= idle_until)?;
    let seconds = IDLE as f64 / 1_000.0;
    let idle_messages = messages as f64 / seconds / masters as f64;
    let idle = world.masters_took.div_f64(seconds * masters as f64);
    (messages, world.masters_took) = (0, Duration::ZERO);
    let began = world.time;
    for flow in 0..FLOWS {
        let logical = Wall(world.options.wall + flow as i64);
        world.wish(world.time, What::Run { flow, key: format!("grow-{flow}").as_str().into(), logical });
    }
    until(&mut world, &mut messages, "every run has ended", |world| {
        let ended = world.judge.runs().filter(|row| row.state == run::State::Ended(run::End::Success));
        ended.count() == FLOWS
    })?;
    let jobs = FLOWS * jobs_each;
    Ok(Row {
        workers,
        masters,
        jobs,
        each: world.masters_took.div_f64(jobs as f64),
        messages_each: messages as f64 / jobs as f64,
        idle_messages,
        idle,
        took: (world.time - began) as f64 / 1_000.0,
        bytes_each: resident().saturating_sub(before) as f64 / workers as f64,
    })
}

/// Goes on until something is so.
fn until(
    world: &mut World,
    messages: &mut u64,
    what: &str,
    is_so: impl Fn(&World) -> bool,
) -> Result<(), String> {
    let give_up = world.time + LONG;
    loop {
        let look = world.time + LOOK;
        while world.time < look {
            let is_message = match world.next() {
                Some(Event::Master(_, _, input)) => {
                    matches!(**input, ToMaster::FromWorker(_) | ToMaster::FromPeer(..))
                }
                Some(Event::Worker(_, _, input)) => matches!(**input, ToWorker::Frame(_)),
                _ => false,
            };
            if !world.step() {
                return Err(format!("nothing happens any more: {what}"));
            }
            *messages += u64::from(is_message);
            if let Some(violation) = world.judge.violations.first() {
                return Err(format!("{what}: {violation:?}"));
            }
        }
        if is_so(world) {
            return Ok(());
        }
        if world.time > give_up {
            return Err(format!("not within {LONG} ms of virtual time: {what}"));
        }
    }
}

/// Memory of this process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// The first lines of the table.
pub const HEAD: &str = "\
| workers | masters | jobs | masters' time per job | messages per job | until all is done | idle: messages/s per master | idle: time per s of a master | memory per worker |
|---|---|---|---|---|---|---|---|---|";

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "| {} | {} | {} | {:.1} µs | {:.2} | {:.1} s | {:.0} | {:.1} ms | {:.0} kB |",
            self.workers,
            self.masters,
            self.jobs,
            self.each.as_secs_f64() * 1e6,
            self.messages_each,
            self.took,
            self.idle_messages,
            self.idle.as_secs_f64() * 1e3,
            self.bytes_each / 1e3
        )
    }
}
