//! `windlass bench`: a cluster of its own, measured beside what the machine allows.

use std::path::PathBuf;

use windlass_bench::{Figure, Plan, Sizes};
use windlass_rest::problem::Exit;

use crate::exit::Failure;
use crate::roles::signals::Signals;
use crate::verbs::Global;
use crate::verbs::output::Out;

/// Its flags.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  windlass bench\n  windlass bench --only noop,latency --rounds 5\n  windlass bench --check -o json"
)]
pub struct Args {
    /// Only these of noop, processes, latency, chain, memory, growth, reading, schedules, start, postgres and failover
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<Figure>,
    /// No-op jobs of a run; there is less of everything else in proportion
    #[arg(long, default_value_t = Sizes::JOBS, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    jobs: u32,
    /// Finished jobs that are in the store when growth and reading are measured; twice the jobs unless told
    #[arg(long, value_name = "N")]
    finished: Option<u32>,
    /// How often each figure and its limit are measured, in turns; medians are shown
    #[arg(long, default_value = "3", value_parser = crate::verbs::words::at_least_one, value_name = "N")]
    rounds: usize,
    /// Folder on the disk to be measured; what is made there is removed. The system's temporary one unless told
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Exit with 1 if a target is missed or in doubt
    #[arg(long)]
    check: bool,
}

/// Measures, and prints a table.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let out = Out::new(global);
    let mut sizes = Sizes::in_proportion(args.jobs);
    sizes.finished = args.finished.unwrap_or(sizes.finished);
    let plan = Plan {
        program: std::env::current_exe()?,
        folder: args.folder.clone().unwrap_or_else(std::env::temp_dir),
        figures: if args.only.is_empty() { possible() } else { args.only.clone() },
        rounds: args.rounds,
        sizes,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let measured = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let mut say = |what: &str| out.note(what);
        tokio::select! {
            report = windlass_bench::run(&plan, &mut say) => report.map(Some),
            () = signals.next() => Ok(None),
        }
    });
    let Some(report) = measured? else {
        out.say("interrupted; everything is ended");
        return Ok(Exit::Interrupted);
    };
    out.one(&report, "", |out| out.line(report.to_string().trim_end()))?;
    for row in report.missed() {
        out.note(format_args!("a target is missed or in doubt: {} {}", row.figure, row.what));
    }
    Ok(if args.check && !report.meets_targets() { Exit::Failed } else { Exit::Fine })
}

/// Everything that can be measured on this machine.
fn possible() -> Vec<Figure> {
    let has_postgres = windlass_trial::postgres::PostgresServer::is_installed();
    if !has_postgres {
        eprintln!("PostgreSQL is not installed: what needs it is left out");
    }
    Figure::ALL.into_iter().filter(|figure| has_postgres || !figure.needs_postgres()).collect()
}
