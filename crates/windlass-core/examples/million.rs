//! A `foreach` of a million no-op jobs through the shard machine alone: assign and result.
//!
//! `cargo run --release -p windlass-core --example million -- [JOBS]`
#![allow(clippy::disallowed_methods, reason = "this is the program that looks at the clock")]

use std::sync::Arc;
use std::time::Instant;

use windlass_core::requirement::{Capability, Requirement};
use windlass_core::rows::{Key, Selection, Values};
use windlass_core::shard::Shard;
use windlass_core::shard::input::{
    Call, CallId, CreateRun, Decision, Input, Message, Offer, Report, Settings, ToWorker, WorkerLife,
};
use windlass_core::time::{Mono, Now, Wall};
use windlass_core::wire::GrantId;
use windlass_model::{Incarnation, ShardId, WorkerId};

/// Slots offered, and results reported, in one batch.
const BATCH: u64 = 1_000;

fn main() {
    let jobs: u64 = std::env::args().nth(1).map_or(1_000_000, |jobs| jobs.parse().expect("a number"));
    let yaml = format!("name: million\ntasks: {{each: {{type: noop, foreach: '${{{{ range({jobs}) }}}}'}}}}");
    let definition = windlass_workflow::from_text(yaml.as_bytes()).expect("right").definition;
    let life = WorkerLife { worker: WorkerId(1), incarnation: Incarnation(1) };
    let now = Now { mono: Mono(0), wall: Wall(1_780_000_000_000) };
    let mut shard = Shard::new(ShardId::LEADER, Settings::default(), None);
    let mut out = Decision::default();
    let capability = Capability { slots: BATCH as u32, ..Capability::default() };
    shard.handle(now, Input::WorkerSeen(life, Arc::new(capability)), &mut out);

    let before = resident_kib();
    let wanted = CreateRun {
        key: Key { principal: "me".into(), key: "million".into() },
        body: 0,
        known: None,
        definition,
        version: None,
        pinned: Arc::default(),
        origin: Arc::default(),
        params: Arc::new(Values::new()),
        logical_time: now.wall,
        labels: None,
        run_at: None,
        priority: None,
        selection: Selection::All,
        rerun_of: None,
    };
    shard.handle(now, Input::Call(CallId(1), Call::Create(Box::new(wanted))), &mut out);
    let waiting = (resident_kib() - before) * 1024 / jobs.max(1);

    let class = Arc::new(Requirement::default());
    let start = Instant::now();
    let (mut done, mut changes) = (0, 0);
    while done < jobs {
        out.changes.clear();
        out.messages.clear();
        let grants = (0..BATCH).map(GrantId).collect();
        let offer = Offer { life, class: Arc::clone(&class), grants, before: None };
        shard.handle(now, Input::Offer(offer), &mut out);
        let assigned: Vec<_> = out
            .messages
            .drain(..)
            .filter_map(|message| match message {
                Message::Worker(_, ToWorker::Assign(assignment)) => Some(assignment.attempt),
                _ => None,
            })
            .collect();
        changes += out.changes.len();
        out.changes.clear();
        for attempt in assigned {
            let report = Report::Exited { success: true, reason: "".into(), outputs: None, process: None };
            shard.handle(now, Input::Report(life, attempt, report), &mut out);
            done += 1;
        }
        changes += out.changes.len();
    }
    let took = start.elapsed();
    assert_eq!(shard.open_runs(), 0, "the run is over");
    println!("| jobs | jobs/s | ns per job | changes | bytes per waiting job |");
    println!("|---|---|---|---|---|");
    let rate = done as f64 / took.as_secs_f64();
    println!("| {done} | {rate:.0} | {} | {changes} | {waiting} |", took.as_nanos() / u128::from(done));
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
