//! Plays seeds, and says what must not have happened.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use windlass_sim::flows::Flows;
use windlass_sim::judge::INVARIANTS;
use windlass_sim::reach::{GOALS, Reach};
use windlass_sim::run::{Report, play};

/// Plays whole clusters in virtual time, with everything going wrong that can.
#[derive(Debug, Parser)]
struct Args {
    /// How many seeds to play.
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Plays this seed alone.
    #[arg(long)]
    seed: Option<u64>,
    /// Prints everything that happens.
    #[arg(long)]
    trace: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let flows = Arc::new(Flows::new());
    // A panic inside a seed is a finding like any other, told with its seed.
    std::panic::set_hook(Box::new(|_| {}));
    if let Some(seed) = args.seed {
        let report = play(seed, &flows, args.trace);
        print!("{}", report.trace);
        println!("seed {seed}: {} events, digest {:016x}", report.events, report.digest);
        return verdict(&report);
    }
    let began = Instant::now();
    let (mut events, mut reach, mut broken) = (0, Reach::default(), 0);
    for seed in args.from..args.from + args.seeds {
        let report = play(seed, &flows, false);
        events += report.events;
        reach.add(&report.reach);
        if report.violation.is_some() {
            broken += 1;
            verdict(&report);
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{} seeds, {events} events, {:.0} events/s, {broken} violations",
        args.seeds,
        events as f64 / seconds
    );
    for goal in GOALS {
        println!("{:>9}  {goal}", reach.of(goal));
    }
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn verdict(report: &Report) -> ExitCode {
    let Some(violation) = &report.violation else { return ExitCode::SUCCESS };
    let name =
        INVARIANTS.iter().find(|(number, _)| *number == violation.invariant).map_or("", |(_, name)| name);
    println!("seed {}: VIOLATION of {} ({name}): {}", report.seed, violation.invariant, violation.what);
    println!("  {}", report.options);
    println!("  again: cargo run --release -p windlass-sim -- --seed {} --trace", report.seed);
    ExitCode::FAILURE
}
