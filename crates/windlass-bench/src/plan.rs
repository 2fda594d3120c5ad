//! What is measured, and how much of it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// A measurement that can be asked for by name. It may make several rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// No-op jobs a second, from a submission to stored results.
    Noop,
    /// Processes a second, with their logs.
    Processes,
    /// From a submission to the first instruction of its process.
    Latency,
    /// One task after the other.
    Chain,
    /// Memory of what waits.
    Memory,
    /// No-op jobs a second in a store that is full of finished ones.
    Growth,
    /// Lists and runs, looked at in such a store.
    Reading,
    /// Many schedules, and what happens when all of them are due at once.
    Schedules,
    /// From nothing to ready, and what it costs to be idle.
    Start,
    /// No-op jobs a second over PostgreSQL, with one master and with several.
    Postgres,
    /// How long work stands still when its master ends.
    Failover,
}

impl Figure {
    /// All of them, in the order in which they are measured.
    pub const ALL: [Figure; 11] = [
        Figure::Noop,
        Figure::Processes,
        Figure::Latency,
        Figure::Chain,
        Figure::Memory,
        Figure::Growth,
        Figure::Reading,
        Figure::Schedules,
        Figure::Start,
        Figure::Postgres,
        Figure::Failover,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Figure::Noop => "noop",
            Figure::Processes => "processes",
            Figure::Latency => "latency",
            Figure::Chain => "chain",
            Figure::Memory => "memory",
            Figure::Growth => "growth",
            Figure::Reading => "reading",
            Figure::Schedules => "schedules",
            Figure::Start => "start",
            Figure::Postgres => "postgres",
            Figure::Failover => "failover",
        }
    }

    /// Whether it needs the programs of PostgreSQL.
    pub fn needs_postgres(self) -> bool {
        matches!(self, Figure::Postgres | Figure::Failover)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Figure {
    type Err = String;

    fn from_str(name: &str) -> Result<Figure, String> {
        let known = Figure::ALL.map(Figure::as_str).join(", ");
        let found = Figure::ALL.into_iter().find(|figure| figure.as_str() == name);
        found.ok_or_else(|| format!("`{name}` is none of {known}"))
    }
}

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program that is measured.
    pub program: PathBuf,
    /// On the disk of this folder; what is made there is removed.
    pub folder: PathBuf,
    /// Which figures.
    pub figures: Vec<Figure>,
    /// How often; medians are reported.
    pub rounds: usize,
    /// How much of everything.
    pub sizes: Sizes,
}

/// How much of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// No-op jobs of a run.
    pub jobs: u32,
    /// Processes of a run.
    pub processes: u32,
    /// Submissions, one after the other.
    pub submissions: u32,
    /// Tasks of a chain.
    pub steps: u32,
    /// Runs of one task each that wait, and schedules.
    pub runs: u32,
    /// Finished jobs that are in the store.
    pub finished: u32,
    /// How long it is looked at while there is nothing to do.
    pub idle: Duration,
    /// Masters that are killed, one after the other, and as many that are asked to end.
    pub kills: u32,
}

impl Sizes {
    /// The number of jobs at which everything has its own full size.
    pub const JOBS: u32 = 100_000;

    /// Everything in proportion to a number of jobs. What has enough to be measured well does not grow further.
    pub fn in_proportion(jobs: u32) -> Sizes {
        let share = |full: u32, least: u32| {
            let part = u64::from(full) * u64::from(jobs) / u64::from(Sizes::JOBS);
            u32::try_from(part).unwrap_or(full).clamp(least, full)
        };
        Sizes {
            jobs,
            processes: share(3_000, 20),
            submissions: share(200, 5),
            steps: share(100, 10),
            runs: share(10_000, 20),
            finished: jobs.saturating_mul(2),
            idle: Duration::from_millis(share(20_000, 1_000).into()),
            kills: share(50, 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_read_by_its_name() {
        for figure in Figure::ALL {
            assert_eq!(figure.to_string().parse(), Ok(figure));
        }
        assert!("speed".parse::<Figure>().expect_err("there is none").contains("noop, processes"));
    }

    #[test]
    fn a_small_measurement_is_small_in_everything() {
        let full = Sizes::in_proportion(Sizes::JOBS);
        assert_eq!((full.processes, full.submissions, full.steps, full.runs), (3_000, 200, 100, 10_000));
        assert_eq!((full.finished, full.idle.as_secs()), (200_000, 20));
        let toy = Sizes::in_proportion(200);
        assert_eq!((toy.processes, toy.submissions, toy.steps, toy.runs), (20, 5, 10, 20));
        assert_eq!((toy.finished, toy.idle.as_secs()), (400, 1));
        let large = Sizes::in_proportion(10_000_000);
        assert_eq!((large.processes, large.finished), (3_000, 20_000_000));
    }
}
