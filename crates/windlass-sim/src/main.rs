//! Plays seeds, and says what must not have happened.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use windlass_sim::flows::Flows;
use windlass_sim::growth;
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
    /// Plays only every so many-th of them: those that are `from` modulo 15 have one plot.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    step: u64,
    /// Plays this seed alone.
    #[arg(long)]
    seed: Option<u64>,
    /// Prints everything that happens.
    #[arg(long)]
    trace: bool,
    /// Ends at the first violation, also if that is that a seed never ends.
    #[arg(long)]
    until_violation: bool,
    /// Plants bugs in a copy of the code, one at a time, and fails unless each is seen.
    #[arg(long)]
    mutants: bool,
    /// Measures what a job costs in clusters of 10 to 10,000 workers and 1 to 30 masters, and prints a table.
    #[arg(long, conflicts_with = "mutants")]
    growth: bool,
    /// With `--growth`: leaves out clusters with more workers.
    #[arg(long, requires = "growth", default_value_t = 10_000)]
    workers: usize,
    /// With `--mutants`: only the bugs of these names.
    #[arg(long, requires = "mutants")]
    only: Vec<String>,
    /// With `--mutants`: rewrites the page that says how each was caught.
    #[arg(long, requires = "mutants")]
    write: bool,
}

/// A seed takes a few hundredths of a second.
const LONGEST_SEED: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let args = Args::parse();
    if args.mutants {
        return hunt_mutants(&args);
    }
    if args.growth {
        return grow(args.workers);
    }
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
    let playing = Arc::new(AtomicU64::new(args.from));
    if args.until_violation {
        watch(Arc::clone(&playing));
    }
    for seed in (0..args.seeds).map(|number| args.from + number * args.step) {
        if args.until_violation {
            println!("playing {seed}");
            playing.store(seed, Ordering::Relaxed);
        }
        let report = play(seed, &flows, false);
        events += report.events;
        reach.add(&report.reach);
        if report.violation.is_some() {
            broken += 1;
            verdict(&report);
            if args.until_violation {
                return ExitCode::FAILURE;
            }
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

/// Prints a row for each size of a cluster.
fn grow(most: usize) -> ExitCode {
    println!("{}", growth::HEAD);
    for workers in growth::WORKERS.into_iter().filter(|workers| *workers <= most) {
        for masters in growth::MASTERS {
            match growth::measure(masters, workers) {
                Ok(row) => println!("{row}"),
                Err(error) => {
                    eprintln!("{masters} masters, {workers} workers: {error}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    ExitCode::SUCCESS
}

fn hunt_mutants(args: &Args) -> ExitCode {
    match windlass_sim::mutants::run(&args.only, args.write) {
        Ok(code) => code,
        Err(error) => {
            let mut cause: Option<&dyn std::error::Error> = Some(&error);
            while let Some(error) = cause {
                eprintln!("{error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

/// Ends the process if one seed takes too long.
fn watch(playing: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let mut since = (playing.load(Ordering::Relaxed), Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let seed = playing.load(Ordering::Relaxed);
            if seed != since.0 {
                since = (seed, Instant::now());
            } else if since.1.elapsed() > LONGEST_SEED {
                println!("seed {seed}: VIOLATION of 25 (): it never ends");
                std::process::exit(1);
            }
        }
    });
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
