//! `windlass demo`: the founding demonstration. A master and three workers as processes of their own, a hundred
//! sleeping tasks, live progress, and a ledger at the end.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use windlass_client::{Client, Settings, Token};
use windlass_rest::problem::Exit;
use windlass_rest::runs::Run;
use windlass_trial::feed::{self, Fed};
use windlass_trial::verdict::{self, Disturbances, Verdict};
use windlass_trial::{Cluster, Ledger, Plan};

use crate::exit::Failure;
use crate::verbs::Global;

/// How often progress is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// A process that somebody killed is started again after this: long enough to be seen.
const BACK: Duration = Duration::from_secs(2);
/// Without progress for so long, the demonstration has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// Its flags.
#[derive(Debug, clap::Args)]
#[command(after_help = "While it runs, kill any of its processes by hand: their numbers are printed.")]
pub struct Args {
    /// How many tasks there are
    #[arg(long, default_value_t = 100, value_name = "N")]
    tasks: usize,
    /// Shortens the tasks, which sleep for 1 to 20 seconds
    #[arg(long, env = "DEMO_SCALE", default_value_t = 1.0, value_name = "FACTOR")]
    scale: f64,
    /// Port of the master; the UI is there
    #[arg(long, env = "DEMO_PORT", default_value_t = 8000, value_name = "PORT")]
    port: u16,
    /// Where the evidence is kept
    #[arg(long, default_value = "validation", value_name = "DIR")]
    evidence: PathBuf,
    /// The sleeping times follow from this
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

/// Shows it.
pub fn run(args: &Args, _global: &Global) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(show(args))
}

async fn show(args: &Args) -> Result<Exit, Failure> {
    let stamp = jiff::Zoned::now().strftime("%Y%m%dT%H%M%S").to_string();
    let evidence = args.evidence.join(stamp);
    std::fs::create_dir_all(&evidence).with_context(|| format!("cannot make {}", evidence.display()))?;
    let evidence = evidence.canonicalize()?;
    let program = std::env::current_exe()?;
    let plan = Plan { port: Some(args.port), slots: 4, ..Plan::new(&program, &evidence) };
    let mut cluster = Cluster::start(&plan).await?;
    println!("UI and API: {}", cluster.url.replace("127.0.0.1", "localhost"));
    for node in cluster.nodes() {
        println!("  {:<10} process {}", node.name, node.pid().unwrap_or_default());
    }
    println!("kill any of them and see: it is started again, and nothing is lost\n");
    let ledger = Ledger::new(&evidence.join("ledger"));
    let run = feed::submit(&cluster.client, work(args.tasks, args.scale, args.seed, &ledger)).await;
    let run = run?;
    let mut disturbed = Disturbances::default();
    let interrupted = tokio::select! {
        watched = watch(&mut cluster, &run.id, &mut disturbed) => { watched?; false }
        _ = tokio::signal::ctrl_c() => true,
    };
    if interrupted {
        eprintln!("\ninterrupted; everything is ended");
        cluster.end().await;
        return Ok(Exit::Interrupted);
    }
    let fed = [Fed::now(&run, std::collections::BTreeMap::new(), true)];
    let verdict = verdict::judge(&cluster.client, &fed, &ledger, &disturbed, PATIENCE).await;
    let tasks = tasks(&cluster.client, &run.id).await?;
    cluster.end().await;
    report(&evidence, &tasks, &verdict)?;
    Ok(if verdict.is_clean() && tasks.succeeded == tasks.submitted { Exit::Fine } else { Exit::Failed })
}

/// Starts the demonstration's work on a server that runs.
pub async fn submit(url: &str, token: Option<&str>) -> Result<Run, Failure> {
    let settings = Settings { server: url.to_owned(), token: token.map(Token::new), ..Settings::default() };
    let client = Client::new(&settings)?;
    let ledger = Ledger::new(&std::env::temp_dir().join(format!("windlass-demo-{}", std::process::id())));
    Ok(feed::submit(&client, work(100, 1.0, 1, &ledger)).await?)
}

/// Tasks that sleep for 1 to 20 seconds.
fn work(tasks: usize, scale: f64, seed: u64, ledger: &Ledger) -> serde_json::Value {
    let mut rng = fastrand::Rng::with_seed(seed);
    let millis: Vec<u64> = (0..tasks).map(|_| (rng.u64(1..=20) as f64 * 1000.0 * scale) as u64).collect();
    feed::sleepers("demo", &millis, ledger)
}

/// Shows progress until the run is over. What dies is started again.
async fn watch(cluster: &mut Cluster, run: &str, disturbed: &mut Disturbances) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut dead: Vec<(usize, Instant)> = Vec::new();
    let terminal = std::io::stdout().is_terminal();
    let mut shown = String::new();
    loop {
        for (index, node) in cluster.nodes().enumerate() {
            if let Some(status) = node.ended() {
                println!("\n{} was killed ({status}); it comes back in {} s", node.name, BACK.as_secs());
                dead.push((index, Instant::now() + BACK));
                disturbed.note(&node.name);
            }
            if dead.iter().any(|(due, when)| *due == index && *when <= Instant::now()) {
                node.start()?;
                println!("\n{} is started again as process {}", node.name, node.pid().unwrap_or_default());
            }
        }
        dead.retain(|(_, when)| *when > Instant::now());
        // A master that is away answers later: nobody waits for it here.
        let looked = tokio::time::timeout(LOOK * 4, cluster.client.run(run)).await;
        if let Ok(Ok(run)) = looked {
            let counts = run.job_counts;
            let line = format!(
                "{:>4} s  {:>3} of {} done, {} running, {} waiting, {} failed",
                began.elapsed().as_secs(),
                counts.success,
                counts.total,
                counts.running,
                counts.waiting + counts.ready + counts.backoff,
                counts.failed
            );
            if terminal {
                print!("\r{line}   ");
                std::io::stdout().flush()?;
            } else if line.split_once("s ").map(|(_, rest)| rest) != Some(&shown) {
                println!("{line}");
                shown = line.split_once("s ").map_or(String::new(), |(_, rest)| rest.to_owned());
            }
            if run.state.is_end() {
                println!();
                return Ok(());
            }
        } else {
            println!("\nthe master does not answer; tasks run on");
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Tasks instead of runs: what the demonstration is about.
#[derive(Debug, serde::Serialize)]
struct Tasks {
    submitted: u64,
    succeeded: u64,
    lost: u64,
    accepted_twice: u64,
}

async fn tasks(client: &Client, run: &str) -> anyhow::Result<Tasks> {
    let counts = client.run(run).await?.job_counts;
    let lost = counts.total - counts.ended();
    Ok(Tasks { submitted: counts.total, succeeded: counts.success, lost, accepted_twice: 0 })
}

fn report(evidence: &std::path::Path, tasks: &Tasks, verdict: &Verdict) -> anyhow::Result<()> {
    let tasks = Tasks { accepted_twice: verdict.accepted_twice, ..*tasks };
    println!("\nledger of tasks");
    for (what, count) in [
        ("submitted", tasks.submitted),
        ("succeeded", tasks.succeeded),
        ("lost", tasks.lost),
        ("accepted twice", tasks.accepted_twice),
        ("retried after a worker's death", verdict.retried),
        ("redone for no reason", verdict.redone),
        ("processes left behind", verdict.left_behind),
    ] {
        println!("  {what:<32}{count:>6}");
    }
    for violation in &verdict.violations {
        println!("  WRONG: {violation}");
    }
    let summary = serde_json::json!({"tasks": tasks, "runs": verdict});
    let path = evidence.join("summary.json");
    std::fs::write(&path, serde_json::to_string_pretty(&summary)?)?;
    println!("\nevidence: {}", evidence.display());
    Ok(())
}
