//! `windlass chaos`: a small cluster of processes that are killed at random, and a ledger that says whether anything
//! was lost.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use windlass_rest::problem::Exit;
use windlass_trial::Plan;
use windlass_trial::chaos::{self, Chaos, Outcome};
use windlass_trial::postgres::PostgresServer;

use crate::codes::Code;
use crate::exit::Failure;
use crate::verbs::{Global, complaints};

/// The database of a server that is started for a round.
const DATABASE: &str = "windlass";

/// Its flags.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "windlass chaos --seed 7 --time 1m\nwindlass chaos --masters 3 --store postgres --freeze\nwindlass chaos --file my-workflow.yaml --rounds 5"
)]
pub struct Args {
    /// What is random follows from this; a fresh one unless told
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// For how long processes are killed
    #[arg(long, default_value = "60s", value_name = "D")]
    time: windlass_model::Duration,
    /// How many times, each with the next seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    rounds: u64,
    /// How many masters there are; more than one need --store
    #[arg(long, default_value_t = 1, value_name = "N")]
    masters: usize,
    /// Where masters keep the truth: a URL of an empty database, or `postgres` for a server that is started for each round;
    /// a file unless told
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Freeze processes too, for three times as long as anybody waits for a sign of life
    #[arg(long)]
    freeze: bool,
    /// How many workers there are
    #[arg(long, default_value_t = 3, value_name = "N")]
    workers: usize,
    /// How many attempts each of them runs at once
    #[arg(long, default_value_t = 4, value_name = "N")]
    slots: u32,
    /// Kill workers only
    #[arg(long)]
    spare_masters: bool,
    /// A workflow of your own instead of made-up ones; its tasks must succeed
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Where everything is kept; a temporary folder unless told
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Does it, and says how it went.
pub fn run(args: &Args, _global: &Global) -> Result<Exit, Failure> {
    if args.masters == 0 || args.masters > 1 && args.store.is_none() {
        let error = anyhow::anyhow!("{} masters cannot share a file", args.masters);
        return Err(Failure::new(Code::BadSetting, error).hint("add --store postgres"));
    }
    let workflow = args.file.as_ref().map(|file| read(file)).transpose()?;
    let first = args.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut clean = true;
    for seed in (first..).take(args.rounds.try_into().unwrap_or(usize::MAX)) {
        let folder = args.folder.clone().unwrap_or_else(std::env::temp_dir);
        let folder = folder.join(format!("windlass-chaos-{}-{seed}", std::process::id()));
        println!("seed {seed}: {} of chaos in {}", args.time, folder.display());
        let server = match args.store.as_deref() {
            Some("postgres") => Some(started()?),
            Some(_) | None => None,
        };
        let store = server.as_ref().map(|server| server.url(DATABASE)).or_else(|| args.store.clone());
        let plan = Plan {
            masters: args.masters,
            store,
            workers: args.workers,
            slots: args.slots,
            ..Plan::new(&std::env::current_exe()?, &folder).impatient()
        };
        let chaos = Chaos {
            seed,
            time: Duration::from(args.time),
            workflow: workflow.clone(),
            masters: !args.spare_masters,
            freeze: args.freeze,
        };
        let mut say = |what: &str| eprintln!("  {what}");
        let Outcome { verdict, masters_killed, workers_killed, frozen } =
            runtime.block_on(chaos::run(&chaos, &plan, &mut say))?;
        println!(
            "  {:<32}{masters_killed:>8}\n  {:<32}{workers_killed:>8}",
            "masters killed", "workers killed"
        );
        if args.freeze {
            println!("  {:<32}{frozen:>8}", "frozen");
        }
        print!("{verdict}");
        if verdict.is_clean() {
            if args.folder.is_none() {
                let _ = std::fs::remove_dir_all(&folder);
            }
        } else {
            clean = false;
            println!(
                "  again with: windlass chaos --seed {seed} --time {}{}\n  logs: {}",
                args.time,
                again(args),
                folder.display()
            );
        }
    }
    Ok(if clean { Exit::Fine } else { Exit::Failed })
}

/// The flags that made a round what it was, beside its seed and time.
fn again(args: &Args) -> String {
    let mut flags = String::new();
    if args.masters > 1 {
        flags.push_str(&format!(" --masters {}", args.masters));
    }
    match args.store.as_deref() {
        Some("postgres") => flags.push_str(" --store postgres"),
        // It may have a password in it.
        Some(_) => flags.push_str(" --store URL"),
        None => {}
    }
    if args.freeze {
        flags.push_str(" --freeze");
    }
    flags
}

/// A server with an empty database.
fn started() -> Result<PostgresServer, Failure> {
    let server = PostgresServer::start(&[])?;
    server.create_database(DATABASE)?;
    Ok(server)
}

/// The workflow as an object, after it was checked.
fn read(file: &std::path::Path) -> Result<serde_json::Value, Failure> {
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    match windlass_workflow::from_text(&text) {
        Ok(checked) => Ok(serde_json::to_value(windlass_workflow::file::to_json(&checked.definition))?),
        Err(_) => Err(complaints::refused(&file.display().to_string())
            .hint(format!("`windlass validate {}` says why", file.display()))),
    }
}
