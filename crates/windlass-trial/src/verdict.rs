//! What a trial has shown: what the product says, held against the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use windlass_client::Client;
use windlass_rest::attempts::Attempt;
use windlass_rest::jobs::{Job, ListJobs};
use windlass_rest::{AttemptState, JobState, RunState};

use crate::feed::Fed;
use crate::history::{History, Span};
use crate::ledger::{Ledger, Line};
use crate::leftovers;
use crate::stalls;

/// How long a process may take to be gone after its attempt was said to be over: it is written down a moment before
/// the process has left the table of processes.
const GONE: Duration = Duration::from_secs(5);

/// Counts and complaints.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verdict {
    /// Runs that were acknowledged.
    pub submitted: u64,
    /// Of these, how many succeeded.
    pub succeeded: u64,
    /// Of these, how many are not over, or not known any more.
    pub lost: u64,
    /// Jobs of which two attempts were accepted.
    pub accepted_twice: u64,
    /// Jobs that were begun again although the worker that had them was not disturbed.
    pub redone: u64,
    /// Attempts that were begun again because their worker was lost.
    pub retried: u64,
    /// Processes that outlived their run.
    pub left_behind: u64,
    /// The longest that a job stood still although it could have started, in milliseconds; null if nobody looked.
    pub longest_stall_ms: Option<u64>,
    /// Everything that is wrong, one by one.
    pub violations: Vec<String>,
}

impl Verdict {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    fn violation(&mut self, what: String) {
        self.violations.push(what);
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("submitted", self.submitted),
            ("succeeded", self.succeeded),
            ("lost", self.lost),
            ("accepted twice", self.accepted_twice),
            ("redone for no reason", self.redone),
            ("retried after a worker's death", self.retried),
            ("processes left behind", self.left_behind),
        ];
        for (what, count) in rows {
            writeln!(f, "  {what:<32}{count:>8}")?;
        }
        if let Some(millis) = self.longest_stall_ms {
            writeln!(f, "  {:<32}{millis:>8}", "longest stall, ms")?;
        }
        for violation in self.violations.iter().take(20) {
            writeln!(f, "  WRONG: {violation}")?;
        }
        Ok(())
    }
}

/// Which workers were killed or frozen, and when.
#[derive(Clone, Debug, Default)]
pub struct Disturbances {
    times: BTreeMap<String, Vec<Timestamp>>,
    /// What a process says of a time is so wrong, at most.
    clocks_apart: Duration,
    /// Everything that was done to anybody, and what jobs must not wait for; nobody looks unless it is there.
    pub history: Option<(History, stalls::Rule)>,
}

impl Disturbances {
    /// None yet, among processes whose clocks are so far apart.
    pub fn with_clocks_apart(clocks_apart: Duration) -> Disturbances {
        Disturbances { clocks_apart, ..Disturbances::default() }
    }

    /// A worker is disturbed now.
    pub fn note(&mut self, worker: &str) {
        self.times.entry(worker.to_owned()).or_default().push(Timestamp::now());
    }

    /// Whether an attempt's worker was disturbed while it had the attempt.
    fn explain(&self, attempt: &Attempt) -> bool {
        // What is on its way to a dead worker was assigned after its death, until that is noticed.
        let apart = SignedDuration::try_from(self.clocks_apart).unwrap_or(SignedDuration::MAX);
        let (unnoticed, slack) = (SignedDuration::from_secs(6) + apart, SignedDuration::from_secs(1) + apart);
        let (began, ended) = (attempt.assigned_at, attempt.finished_at);
        let times = attempt.worker.as_ref().and_then(|worker| self.times.get(worker));
        times.into_iter().flatten().any(|time| {
            began.is_none_or(|began| began.timestamp() - unnoticed <= *time)
                && ended.is_none_or(|ended| *time <= ended.timestamp() + slack)
        })
    }
}

/// Waits until the runs are over, for so long without any progress, and judges them.
pub async fn judge(
    client: &Client,
    fed: &[Fed],
    ledger: &Ledger,
    disturbed: &Disturbances,
    patience: Duration,
) -> Verdict {
    let mut verdict = Verdict { submitted: fed.len() as u64, ..Verdict::default() };
    let ends = wait(client, fed, patience).await;
    let lines = ledger.by_job();
    let mut known = Vec::new();
    for fed in fed {
        match ends.get(&fed.run) {
            Some(RunState::Success) => verdict.succeeded += 1,
            Some(state) if state.is_end() => verdict.violation(format!("run {} has {state}", fed.run)),
            Some(state) => {
                verdict.lost += 1;
                verdict.violation(format!("run {} is still {state}", fed.run));
            }
            None => {
                verdict.lost += 1;
                verdict.violation(format!("run {} is not known", fed.run));
            }
        }
        match jobs(client, &fed.run).await {
            Ok(jobs) => {
                for job in &jobs {
                    judge_job(&mut verdict, fed, job, &lines, disturbed);
                }
                judge_order(&mut verdict, fed, &jobs, &lines);
                known.push((fed, jobs));
            }
            Err(error) => verdict.violation(format!("jobs of run {} cannot be read: {error}", fed.run)),
        }
    }
    judge_limits(&mut verdict, &known, &lines);
    if let Some((history, rule)) = &disturbed.history {
        let mut runs = Vec::new();
        for (fed, jobs) in known {
            let Ok(run) = client.run(&fed.run).await else { continue };
            runs.push((fed, run.shard, jobs));
        }
        judge_stalls(&mut verdict, &stalls::find(rule, history, &runs, &lines));
    }
    let runs: BTreeSet<String> = fed.iter().map(|fed| fed.run.clone()).collect();
    let began = Instant::now();
    let mut left = leftovers::of_runs(&runs);
    while !left.is_empty() && began.elapsed() < GONE {
        tokio::time::sleep(Duration::from_millis(50)).await;
        left = leftovers::of_runs(&runs);
    }
    verdict.left_behind = left.len() as u64;
    for (pid, command) in left {
        verdict.violation(format!("process {pid} was left behind: {command}"));
    }
    verdict
}

/// Where each run is once all are over, or nothing has moved for so long.
pub(crate) async fn wait(client: &Client, fed: &[Fed], patience: Duration) -> BTreeMap<String, RunState> {
    let mut ends = BTreeMap::new();
    let (mut moved, mut progress) = (Instant::now(), 0);
    loop {
        let mut ended = 0;
        for fed in fed {
            let over = ends.get(&fed.run).is_some_and(|state: &RunState| state.is_end());
            if !over && let Ok(run) = client.run(&fed.run).await {
                ended += run.job_counts.ended();
                ends.insert(fed.run.clone(), run.state);
            }
            ended += u64::from(over) * 1_000_000;
        }
        if ends.len() == fed.len() && ends.values().all(|state| state.is_end()) {
            return ends;
        }
        if ended != progress {
            (moved, progress) = (Instant::now(), ended);
        }
        if moved.elapsed() > patience {
            return ends;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn jobs(client: &Client, run: &str) -> Result<Vec<Job>, windlass_client::Error> {
    let mut query = ListJobs { limit: Some(1000), ..ListJobs::default() };
    let mut jobs = Vec::new();
    loop {
        let page = client.jobs(run, &query).await?;
        jobs.extend(page.items);
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            return Ok(jobs);
        }
    }
}

type Lines = BTreeMap<(String, u32), Vec<Line>>;

fn judge_job(verdict: &mut Verdict, fed: &Fed, job: &Job, lines: &Lines, disturbed: &Disturbances) {
    let what = format!("job {}.{} ({})", fed.run, job.number, job.task);
    let accepted = job.attempts.iter().filter(|attempt| attempt.state == AttemptState::Success).count();
    if accepted > 1 {
        verdict.accepted_twice += 1;
        verdict.violation(format!("{accepted} attempts of {what} were accepted"));
    }
    let numbers: Vec<u32> = job.attempts.iter().map(|attempt| attempt.number).collect();
    if numbers.iter().zip(1..).any(|(number, expected)| *number != expected) {
        verdict.violation(format!("attempts of {what} are numbered {numbers:?}"));
    }
    for attempt in &job.attempts {
        // Nothing of chaos fails by itself, so that there every further attempt wants a reason.
        let is_last = job.attempts.last().is_some_and(|last| last.number == attempt.number);
        if attempt.state != AttemptState::Lost && (is_last || disturbed.history.is_none()) {
            continue;
        }
        if disturbed.explain(attempt) {
            verdict.retried += 1;
        } else {
            verdict.redone += 1;
            let worker = attempt.worker.as_deref().unwrap_or("nobody");
            let state = attempt.state;
            verdict.violation(format!("{what} was {state} on {worker}, which nobody had disturbed then"));
        }
    }
    if !fed.ledgered {
        return;
    }
    let lines = lines.get(&(fed.run.clone(), job.number)).map_or(&[][..], Vec::as_slice);
    let mut starts: Vec<u32> =
        lines.iter().filter(|line| line.event == "START").map(|line| line.attempt).collect();
    starts.sort_unstable();
    if starts.windows(2).any(|pair| pair[0] == pair[1]) {
        verdict.violation(format!("an attempt of {what} was started twice: {starts:?}"));
    }
    judge_overlap(verdict, fed, job, lines);
    if job.state == JobState::Success {
        let last = job.attempts.last().map_or(0, |attempt| attempt.number);
        let ended = lines.iter().any(|line| line.event == "END" && line.attempt == last);
        if !ended {
            verdict.violation(format!("{what} is a success, but attempt {last} never ended: {lines:?}"));
        }
    }
}

/// Two attempts of a job ran at once only if the older one's worker was lost, and never if it ends by itself then.
fn judge_overlap(verdict: &mut Verdict, fed: &Fed, job: &Job, lines: &[Line]) {
    let alone = fed.limited.get(&job.task).is_some_and(|limit| limit.alone);
    for attempt in job.attempts.iter().filter(|attempt| alone || attempt.state != AttemptState::Lost) {
        let Some(ran) = ran(lines, attempt.number) else { continue };
        let later = lines.iter().filter(|line| line.event == "START" && line.attempt > attempt.number);
        if let Some(next) = later.filter(|line| line.nanos < ran.to).min_by_key(|line| line.nanos) {
            let (run, number, task) = (&fed.run, job.number, &job.task);
            verdict.violation(format!(
                "attempts {} and {} of job {run}.{number} ({task}) ran at once",
                attempt.number, next.attempt
            ));
        }
    }
}

/// When an attempt ran, if it wrote down both ends.
fn ran(lines: &[Line], attempt: u32) -> Option<Span> {
    let of = || lines.iter().filter(move |line| line.attempt == attempt);
    let from = of().find(|line| line.event == "START")?.nanos;
    let to = of().filter(|line| line.event != "START").map(|line| line.nanos).max()?;
    Some(Span { from, to })
}

/// No pool had more at once than it may. Attempts whose worker was lost are not counted: nobody knows of them. Those that
/// end by themselves then are.
fn judge_limits(verdict: &mut Verdict, known: &[(&Fed, Vec<Job>)], lines: &Lines) {
    let mut limits = BTreeMap::new();
    let mut changes: BTreeMap<&str, Vec<(u64, i64)>> = BTreeMap::new();
    for (fed, jobs) in known {
        for job in jobs {
            let Some(limit) = fed.limited.get(&job.task) else { continue };
            let lines = lines.get(&(fed.run.clone(), job.number)).map_or(&[][..], Vec::as_slice);
            let counted =
                job.attempts.iter().filter(|attempt| limit.alone || attempt.state != AttemptState::Lost);
            limits.insert(limit.pool, limit.limit);
            for ran in counted.filter_map(|attempt| ran(lines, attempt.number)) {
                changes.entry(limit.pool).or_default().extend([(ran.from, 1), (ran.to, -1)]);
            }
        }
    }
    for (pool, limit) in limits {
        let mut changes = changes.remove(pool).unwrap_or_default();
        // Of what happens at once, ends come first.
        changes.sort_unstable();
        let (mut running, mut most) = (0_i64, 0);
        for (_, change) in changes {
            running += change;
            most = most.max(running);
        }
        if most > i64::from(limit) {
            verdict.violation(format!("{most} jobs of pool {pool} ran at once, which may have {limit}"));
        }
    }
}

/// Nothing stood still for no reason.
fn judge_stalls(verdict: &mut Verdict, stalls: &[stalls::Stall]) {
    let longest = stalls.iter().map(|stall| stall.waited).max().unwrap_or_default();
    verdict.longest_stall_ms = Some(u64::try_from(longest.as_millis()).unwrap_or(u64::MAX));
    for stall in stalls.iter().filter(|stall| stall.too_long) {
        let (task, run, waited) = (&stall.task, &stall.run, stall.waited);
        verdict.violation(format!("{task} of run {run} could have started {waited:.1?} before it did"));
    }
}

/// Nothing began before what it needs had ended.
fn judge_order(verdict: &mut Verdict, fed: &Fed, jobs: &[Job], lines: &Lines) {
    let of = |task: &str| {
        let job = jobs.iter().find(|job| job.task == task)?;
        lines.get(&(fed.run.clone(), job.number))
    };
    for (task, needs) in &fed.needs {
        let Some(began) = of(task).and_then(|lines| first(lines, "START")) else { continue };
        for need in needs {
            let ended = of(need).and_then(|lines| first(lines, "END"));
            if ended.is_none_or(|ended| ended > began) {
                verdict.violation(format!("{task} of run {} began before {need} had ended", fed.run));
            }
        }
    }
}

fn first(lines: &[Line], event: &str) -> Option<u64> {
    lines.iter().filter(|line| line.event == event).map(|line| line.nanos).min()
}
