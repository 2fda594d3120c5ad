//! From nothing to ready, the same after a `kill -9` in the middle of work, and what it costs to be idle: of
//! `windlass standalone`, which is everything in one process and the small ones that start tasks.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use windlass_client::{Client, Patience, Settings};
use windlass_trial::feed;
use windlass_trial::node::Node;

use crate::observed::{processor_seconds, resident, tree};
use crate::plan::{Figure, Plan};
use crate::report::{Row, Unit};
use crate::samples::median;
use crate::stage::{finished, noops};

/// Bounds: milliseconds to be ready, megabytes and percent of one processor while idle.
const READY: f64 = 1_000.0;
const IDLE_MEMORY: f64 = 60.0;
const IDLE_PROCESSOR: f64 = 0.5;
/// How often it is asked whether it is ready.
const LOOK: Duration = Duration::from_millis(2);
/// Without an answer for so long, it never will be ready.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long what runs goes on before the kill.
const KILL_AFTER: Duration = Duration::from_millis(50);

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let (mut cold, mut killed, mut idle) = (vec![], vec![], None);
    for round in 0..plan.rounds {
        let own = folder.join(round.to_string());
        std::fs::create_dir_all(&own)?;
        let port = TcpListener::bind("127.0.0.1:0").context("there is no free port")?.local_addr()?.port();
        let mut node = standalone(plan, &own, port);
        let client = client(port)?;
        cold.push(ready(&mut node, &client).await?);
        if idle.is_none() {
            idle = Some(observe(&node, plan.sizes.idle).await?);
        }
        let run = feed::submit(&client, noops(plan.sizes.jobs)).await?;
        tokio::time::sleep(KILL_AFTER).await;
        node.kill().await;
        killed.push(ready(&mut node, &client).await?);
        finished(&client.with_patience(Patience::LONG), &run.id, Instant::now()).await?;
        node.end().await;
    }
    let (memory, processor) = idle.context("there is no round")?;
    let row = |what: &str, unit, ours| Row::new(Figure::Start, what, unit, ours);
    Ok(vec![
        row("nothing → ready", Unit::Millis, median(cold)).bounded(READY),
        row("`kill -9` in the middle of a run → ready", Unit::Millis, median(killed)).bounded(READY),
        row("idle: resident, all processes", Unit::Megabytes, memory / 1e6).bounded(IDLE_MEMORY),
        row("idle: of one processor", Unit::Percent, processor).bounded(IDLE_PROCESSOR),
    ])
}

fn standalone(plan: &Plan, folder: &Path, port: u16) -> Node {
    let data = folder.join("data").display().to_string();
    let listen = format!("127.0.0.1:{port}");
    let arguments = ["standalone", "--name", "bench", "--listen", &listen, "--data", &data];
    let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
    Node::new("standalone", &plan.program, arguments, folder.join("standalone.log"))
}

/// One that says at once that nobody answers.
fn client(port: u16) -> anyhow::Result<Client> {
    let patience = Patience { unreachable: Duration::ZERO, unavailable: Duration::ZERO };
    let server = format!("http://127.0.0.1:{port}");
    Ok(Client::new(&Settings { server, token: None, patience })?)
}

/// Starts it: milliseconds until it says that it is ready.
async fn ready(node: &mut Node, client: &Client) -> anyhow::Result<f64> {
    let began = Instant::now();
    node.start()?;
    while client.probe("readyz").await.is_err() {
        if let Some(status) = node.ended() {
            bail!("it has ended with {status}:\n{}", node.printed());
        }
        if began.elapsed() > PATIENCE {
            bail!("it is not ready after {} s:\n{}", PATIENCE.as_secs(), node.printed());
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// Bytes that are resident, and percent of a processor, while nothing is to be done.
async fn observe(node: &Node, time: Duration) -> anyhow::Result<(f64, f64)> {
    let process = node.pid().context("it has ended")?;
    let before = processor_seconds(process);
    tokio::time::sleep(time).await;
    let used = processor_seconds(process) - before;
    let memory = tree(process).into_iter().map(resident).sum::<anyhow::Result<f64>>()?;
    Ok((memory, 100.0 * used / time.as_secs_f64()))
}
