//! Jobs that stood still although there was room for them.
//!
//! ```text
//! all it needs has ended ──────────── waits ───────────── START
//!         │   no slot is free   │ its owner dies │ free   │
//!         └── does not count ───┴─ counts anew ──┴─ counts ┘
//! ```
//!
//! From the ledger alone: what ran where, and what the trial itself did to whom. A job waits from when all that it needs
//! has ended, or its worker died, to its start. Of that, only time counts in which some worker had a free slot and the
//! store was there; and whenever something happens to the master that owns the job, it has its time again.

use std::collections::BTreeMap;
use std::time::Duration;

use windlass_rest::jobs::Job;

use crate::feed::Fed;
use crate::history::{History, Span};
use crate::ledger::Line;

/// How long is too long.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The longest that a job may wait for a slot that is there, if that is judged at all.
    pub limit: Option<Duration>,
    /// How much longer if its worker has died, which has to be noticed.
    pub notice: Duration,
    /// How long a worker takes from its start to taking work.
    pub warm_up: Duration,
    /// The workers, and how many attempts each runs at once.
    pub workers: BTreeMap<String, u32>,
}

/// How a job waited.
#[derive(Clone, Debug)]
pub struct Stall {
    /// The run.
    pub run: String,
    /// The task.
    pub task: String,
    /// For how long it waited although it could have started.
    pub waited: Duration,
    /// Whether that is too long.
    pub too_long: bool,
}

type Lines = BTreeMap<(String, u32), Vec<Line>>;

/// How long the jobs of these runs stood still, the longest first.
pub fn find(rule: &Rule, history: &History, runs: &[(&Fed, u32, Vec<Job>)], lines: &Lines) -> Vec<Stall> {
    let blocked = blocked(rule, history, runs, lines);
    let mut stalls = Vec::new();
    for (fed, shard, jobs) in runs {
        let disturbed = history.disturbances_of_owner(*shard);
        for job in jobs {
            let of = lines.get(&(fed.run.clone(), job.number)).map_or(&[][..], Vec::as_slice);
            for start in of.iter().filter(|line| line.event == "START") {
                let Some((since, retried)) = ready(fed, jobs, job, start, lines, history) else { continue };
                let waited = longest(Span { from: since, to: start.nanos }, &blocked, &disturbed);
                let notice = if retried { rule.notice } else { Duration::ZERO };
                stalls.push(Stall {
                    run: fed.run.clone(),
                    task: format!("{} (attempt {})", job.task, start.attempt),
                    waited,
                    too_long: rule.limit.is_some_and(|limit| waited > limit + notice),
                });
            }
        }
    }
    stalls.sort_by_key(|stall| std::cmp::Reverse((stall.too_long, stall.waited)));
    stalls
}

/// From when an attempt could have started, and whether it is one that follows on another.
fn ready(
    fed: &Fed,
    jobs: &[Job],
    job: &Job,
    start: &Line,
    lines: &Lines,
    history: &History,
) -> Option<(u64, bool)> {
    let mut since = fed.acknowledged;
    for need in fed.needs.get(&job.task).into_iter().flatten() {
        let need = jobs.iter().find(|job| job.task == *need)?;
        let ends = lines.get(&(fed.run.clone(), need.number))?.iter().filter(|line| line.event == "END");
        // The one that counted is the last, at most.
        since = since.max(ends.map(|line| line.nanos).filter(|end| *end < start.nanos).max()?);
    }
    let before = job.attempts.iter().find(|attempt| attempt.number + 1 == start.attempt);
    let Some(before) = before else { return Some((since, false)) };
    let downs = before.worker.as_ref().map(|worker| history.downs(worker)).unwrap_or_default();
    // It was given up because of the last thing that happened to its worker before it was tried again.
    let died = downs.iter().map(|down| down.from).filter(|from| *from < start.nanos).max();
    Some((since.max(died.unwrap_or(0)), true))
}

/// When nothing could start: no worker had a free slot, or the store was away.
fn blocked(rule: &Rule, history: &History, runs: &[(&Fed, u32, Vec<Job>)], lines: &Lines) -> Vec<Span> {
    let warm_up = u64::try_from(rule.warm_up.as_nanos()).unwrap_or(u64::MAX);
    // Changes of how many slots are free, by worker.
    let mut changes: Vec<(u64, &str, i64)> = Vec::new();
    for worker in rule.workers.keys() {
        for down in history.downs(worker) {
            // More than it could ever have.
            changes.push((down.from, worker, -1_000_000));
            changes.push((down.to.saturating_add(warm_up), worker, 1_000_000));
        }
    }
    for (fed, _, jobs) in runs {
        for job in jobs {
            let of = lines.get(&(fed.run.clone(), job.number)).map_or(&[][..], Vec::as_slice);
            for start in of.iter().filter(|line| line.event == "START") {
                let attempt = job.attempts.iter().find(|attempt| attempt.number == start.attempt);
                let worker = attempt.and_then(|attempt| attempt.worker.as_deref());
                let Some((worker, _)) = worker.and_then(|worker| rule.workers.get_key_value(worker)) else {
                    continue;
                };
                let ended = of.iter().filter(|line| line.attempt == start.attempt && line.event != "START");
                let ended = ended.map(|line| line.nanos).max();
                let died =
                    history.downs(worker).iter().map(|down| down.from).find(|from| *from > start.nanos);
                let Some(end) = ended.or(died) else { continue };
                changes.push((start.nanos, worker, -1));
                changes.push((end, worker, 1));
            }
        }
    }
    changes.sort_unstable();
    let mut free: BTreeMap<&str, i64> =
        rule.workers.iter().map(|(worker, slots)| (worker.as_str(), i64::from(*slots))).collect();
    let mut spans = Vec::new();
    let mut since = None;
    for (time, worker, change) in changes {
        *free.entry(worker).or_default() += change;
        let is_full = free.values().all(|free| *free <= 0);
        match since {
            None if is_full => since = Some(time),
            Some(from) if !is_full => {
                spans.push(Span { from, to: time });
                since = None;
            }
            None | Some(_) => {}
        }
    }
    spans.extend(since.map(|from| Span { from, to: u64::MAX }));
    spans.extend(history.outages());
    spans.sort_unstable();
    spans
}

/// The longest stretch of a wait between things that excuse it. Time that is blocked does not count; a disturbance begins
/// the count anew.
fn longest(wait: Span, blocked: &[Span], disturbed: &[u64]) -> Duration {
    let inside = disturbed.iter().copied().filter(|time| wait.from < *time && *time < wait.to);
    let mut cuts: Vec<u64> = inside.chain([wait.from, wait.to.max(wait.from)]).collect();
    cuts.sort_unstable();
    let stretches = cuts.windows(2).map(|pair| {
        let (mut at, mut counted) = (pair[0], 0);
        for span in blocked.iter().filter(|span| span.to > pair[0] && span.from < pair[1]) {
            counted += span.from.saturating_sub(at);
            at = at.max(span.to.min(pair[1]));
        }
        counted + (pair[1] - at)
    });
    Duration::from_nanos(stretches.max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_free_time_counts_and_a_disturbance_begins_anew() {
        let wait = Span { from: 100, to: 200 };
        assert_eq!(longest(wait, &[], &[]).as_nanos(), 100);
        assert_eq!(
            longest(wait, &[Span { from: 50, to: 120 }, Span { from: 110, to: 130 }], &[]).as_nanos(),
            70
        );
        assert_eq!(longest(wait, &[], &[140]).as_nanos(), 60);
        assert_eq!(longest(wait, &[Span { from: 150, to: 190 }], &[140, 300]).as_nanos(), 40);
        assert_eq!(longest(wait, &[Span { from: 0, to: u64::MAX }], &[]).as_nanos(), 0);
    }
}
