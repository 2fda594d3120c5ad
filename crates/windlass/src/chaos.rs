//! `windlass chaos`: a small cluster of processes that are killed at random, or whose network is cut, and a ledger that
//! says whether anything was lost.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use windlass_rest::problem::Exit;
use windlass_trial::Plan;
use windlass_trial::chaos::{self, Chaos, Outcome, ServerFaults, Work};
use windlass_trial::network::Network;
use windlass_trial::partitions::Partition;

use crate::codes::Code;
use crate::exit::Failure;
use crate::verbs::{Global, complaints};

/// Its flags.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "windlass chaos --seed 7 --time 1m\nwindlass chaos --masters 3 --store postgres --runs 300 --freeze\nwindlass chaos --masters 3 --store postgres --network all\nwindlass chaos --file my-workflow.yaml --rounds 5"
)]
pub struct Args {
    /// What is random follows from this; a fresh one unless told
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// For how long processes are killed
    #[arg(long, default_value = "60s", value_name = "D")]
    time: windlass_model::Duration,
    /// So many runs in the shape of a diamond, however long they take, instead of a time
    #[arg(long, conflicts_with_all = ["time", "file"], value_parser = clap::value_parser!(u64).range(1..=1_000_000), value_name = "N")]
    runs: Option<u64>,
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
    /// Freeze processes too, for half a lease time up to five
    #[arg(long)]
    freeze: bool,
    /// Lose the reply of every Nth COMMIT; needs --store postgres. For how long jobs stand still is told then, not judged
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000), value_name = "N")]
    swallow: Option<u64>,
    /// Stop PostgreSQL once for so long, and kill it once; needs --store postgres
    #[arg(long, value_name = "D")]
    outage: Option<windlass_model::Duration>,
    /// Let the clocks of all processes differ, each by up to so much to either side
    #[arg(long, value_name = "D")]
    clocks: Option<windlass_model::Duration>,
    /// Cut the network between processes instead of killing them: two-way, one-way, flapping, store-only, registry-only,
    /// master-master, worker-owner, several of these with commas, or all. Each is there at least once, however short the time
    /// is. Needs root, --store postgres, at least two masters, and etcd; for how long jobs stand still is told, not judged
    #[arg(long, conflicts_with_all = ["freeze", "swallow", "outage", "spare_masters"], value_delimiter = ',', value_parser = kinds, value_name = "KIND")]
    network: Vec<Kinds>,
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

/// What one word of `--network` means.
#[derive(Clone, Debug)]
struct Kinds(Vec<Partition>);

fn kinds(word: &str) -> Result<Kinds, String> {
    if word == "all" {
        return Ok(Kinds(Partition::ALL.to_vec()));
    }
    let known = Partition::ALL.map(Partition::name).join(", ");
    Partition::named(word)
        .map(|kind| Kinds(vec![kind]))
        .ok_or_else(|| format!("it is one of {known}, or all"))
}

impl Args {
    /// The kinds of partition that were asked for, each once.
    fn partitions(&self) -> Vec<Partition> {
        let mut partitions: Vec<_> = self.network.iter().flat_map(|kinds| kinds.0.iter().copied()).collect();
        partitions.sort_unstable();
        partitions.dedup();
        partitions
    }
}

/// Does it, and says how it went.
pub fn run(args: &Args, _global: &Global) -> Result<Exit, Failure> {
    if args.masters == 0 || args.masters > 1 && args.store.is_none() {
        let error = anyhow::anyhow!("{} masters cannot share a file", args.masters);
        return Err(Failure::new(Code::BadSetting, error).hint("add --store postgres"));
    }
    let own_server = args.store.as_deref() == Some("postgres");
    if !own_server && (args.swallow.is_some() || args.outage.is_some()) {
        let error = anyhow::anyhow!("only a server that is started here can be stopped or lose replies");
        return Err(Failure::new(Code::BadSetting, error).hint("add --store postgres"));
    }
    let partitions = args.partitions();
    if !partitions.is_empty() && (!own_server || args.masters < 2) {
        let error = anyhow::anyhow!("a network that can be cut has several masters and a server of its own");
        return Err(Failure::new(Code::BadSetting, error).hint("add --masters 3 --store postgres"));
    }
    let workflow = args.file.as_ref().map(|file| read(file)).transpose()?;
    let first = args.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut clean = true;
    for seed in (first..).take(args.rounds.try_into().unwrap_or(usize::MAX)) {
        let folder = args.folder.clone().unwrap_or_else(std::env::temp_dir);
        let folder = folder.join(format!("windlass-chaos-{}-{seed}", std::process::id()));
        let amount = args.runs.map_or_else(|| format!("{} of", args.time), |runs| format!("{runs} runs in"));
        println!("seed {seed}: {amount} chaos in {}", folder.display());
        let plan = Plan {
            masters: args.masters,
            store: args.store.clone().filter(|_| !own_server),
            workers: args.workers,
            slots: args.slots,
            ..plan(&folder, !partitions.is_empty())?
        };
        let chaos = Chaos {
            seed,
            work: args.runs.map_or(Work::For(Duration::from(args.time)), Work::Runs),
            workflow: workflow.clone(),
            masters: !args.spare_masters,
            freeze: args.freeze,
            server: own_server.then(|| ServerFaults {
                swallow_every: args.swallow.unwrap_or(0),
                outage: args.outage.map(Duration::from),
            }),
            clocks: args.clocks.map_or(Duration::ZERO, Duration::from),
            partitions: partitions.clone(),
        };
        let mut say = |what: &str| eprintln!("  {what}");
        let outcome = runtime.block_on(chaos::run(&chaos, &plan, &mut say))?;
        print_done(args, &outcome);
        if outcome.verdict.is_clean() {
            if args.folder.is_none() {
                let _ = std::fs::remove_dir_all(&folder);
            }
        } else {
            clean = false;
            println!(
                "  again with: windlass chaos --seed {seed}{}\n  logs: {}",
                again(args),
                folder.display()
            );
        }
    }
    Ok(if clean { Exit::Fine } else { Exit::Failed })
}

/// A cluster with short times, in a network of its own if that is to be cut.
fn plan(folder: &std::path::Path, in_network: bool) -> Result<Plan, Failure> {
    let plan = Plan::new(&std::env::current_exe()?, folder);
    if !in_network {
        return Ok(plan.impatient());
    }
    let network = Network::new().map_err(|error| {
        Failure::new(Code::System, error).hint(
            "run it as root, where `ip netns add` is allowed; scripts/ensure-packages installs what it needs",
        )
    })?;
    Ok(plan.in_network(&network))
}

/// What was done, and what came of it.
fn print_done(args: &Args, outcome: &Outcome) {
    let rows = [
        ("masters killed", outcome.masters_killed, args.network.is_empty()),
        ("workers killed", outcome.workers_killed, args.network.is_empty()),
        ("frozen", outcome.frozen, args.freeze),
        ("replies of COMMIT lost", outcome.swallowed, args.swallow.is_some()),
        ("times without PostgreSQL", outcome.outages, args.outage.is_some()),
    ];
    for (what, count, _) in rows.iter().filter(|(_, _, is_told)| *is_told) {
        println!("  {what:<32}{count:>8}");
    }
    for (kind, count) in &outcome.partitions {
        println!("  {:<32}{count:>8}", format!("partitions, {}", kind.name()));
    }
    print!("{}", outcome.verdict);
}

/// The flags that made a round what it was, beside its seed.
fn again(args: &Args) -> String {
    let mut flags = match args.runs {
        Some(runs) => format!(" --runs {runs}"),
        None => format!(" --time {}", args.time),
    };
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
    if let Some(every) = args.swallow {
        flags.push_str(&format!(" --swallow {every}"));
    }
    if let Some(outage) = args.outage {
        flags.push_str(&format!(" --outage {outage}"));
    }
    if let Some(clocks) = args.clocks {
        flags.push_str(&format!(" --clocks {clocks}"));
    }
    if !args.network.is_empty() {
        let kinds: Vec<_> = args.partitions().into_iter().map(Partition::name).collect();
        flags.push_str(&format!(" --network {}", kinds.join(",")));
    }
    flags
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
