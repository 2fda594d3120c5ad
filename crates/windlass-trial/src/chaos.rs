//! Killing masters and workers at random, while there is work.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::Value;

use crate::cluster::{Cluster, Plan};
use crate::feed::{self, Fed};
use crate::ledger::Ledger;
use crate::verdict::{self, Disturbances, Verdict};

/// Without any progress for so long after everything is back, work counts as lost.
const PATIENCE: Duration = Duration::from_secs(45);

/// What shall happen.
#[derive(Clone, Debug)]
pub struct Chaos {
    /// What is random follows from this.
    pub seed: u64,
    /// For how long things are killed.
    pub time: Duration,
    /// Somebody's own workflow, instead of made-up ones.
    pub workflow: Option<Value>,
    /// Whether masters are killed too.
    pub masters: bool,
}

/// What happened.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The judgement.
    pub verdict: Verdict,
    /// How many times a master was killed.
    pub masters_killed: u64,
    /// How many times a worker was killed.
    pub workers_killed: u64,
}

/// Puts a cluster through it. `say` hears what is done, for whoever watches.
pub async fn run(chaos: &Chaos, plan: &Plan, say: &mut dyn FnMut(&str)) -> anyhow::Result<Outcome> {
    let mut rng = Rng::with_seed(chaos.seed);
    let ledger = Ledger::new(&plan.folder.join("ledger"));
    let mut cluster = Cluster::start(plan).await?;
    let (client, fed) = (cluster.client.clone(), std::sync::Mutex::new(Vec::new()));
    let until = Instant::now() + chaos.time;
    let mut feeding = Rng::with_seed(rng.u64(..));
    let feeds = async {
        while Instant::now() < until {
            let (definition, needs) = match &chaos.workflow {
                Some(own) => (own.clone(), BTreeMap::new()),
                None => feed::random(&mut feeding, &ledger),
            };
            match feed::submit(&client, definition).await {
                Ok(run) => fed.lock().expect("nobody panics with it").push(Fed {
                    run: run.id,
                    needs,
                    ledgered: chaos.workflow.is_none(),
                }),
                // Not acknowledged: nothing is owed.
                Err(error) if error.problem().is_none() => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(Duration::from_millis(feeding.u64(20..200))).await;
        }
        Ok(())
    };
    let mut monkey = Monkey { rng, masters_killed: 0, workers_killed: 0, disturbed: Disturbances::default() };
    let kills = monkey.kill(chaos, &mut cluster, until, say);
    let (feeds, kills) = tokio::join!(feeds, kills);
    kills?;
    feeds?;
    let fed = fed.into_inner().expect("nobody panics with it");
    say(&format!("{} runs were submitted; waiting for their ends", fed.len()));
    let verdict = verdict::judge(&cluster.client, &fed, &ledger, &monkey.disturbed, PATIENCE).await;
    cluster.end().await;
    Ok(Outcome { verdict, masters_killed: monkey.masters_killed, workers_killed: monkey.workers_killed })
}

struct Monkey {
    rng: Rng,
    masters_killed: u64,
    workers_killed: u64,
    disturbed: Disturbances,
}

impl Monkey {
    /// Kills something every now and then, and starts it again after a while. Everything is up at the end.
    async fn kill(
        &mut self,
        chaos: &Chaos,
        cluster: &mut Cluster,
        until: Instant,
        say: &mut dyn FnMut(&str),
    ) -> anyhow::Result<()> {
        let mut back: Vec<(usize, Instant)> = Vec::new();
        while Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(self.rng.u64(300..2500))).await;
            let now = Instant::now();
            for (index, node) in cluster.nodes().enumerate() {
                if back.iter().any(|(due, when)| *due == index && *when <= now) {
                    node.start()?;
                    say(&format!("{} is started again", node.name));
                }
            }
            back.retain(|(_, when)| *when > now);
            let victim = self.rng.usize(if chaos.masters { 0 } else { 1 }..=cluster.workers.len());
            let delay = Duration::from_millis(self.rng.u64(0..4000));
            let Some(node) = cluster.nodes().nth(victim).filter(|node| node.pid().is_some()) else {
                continue;
            };
            if victim == 0 {
                self.masters_killed += 1;
            } else {
                self.workers_killed += 1;
                self.disturbed.note(&node.name);
            }
            node.kill().await;
            say(&format!("{} is killed", node.name));
            back.push((victim, now + delay));
        }
        for node in cluster.nodes() {
            if node.ended().is_some() || node.pid().is_none() {
                node.start()?;
                say(&format!("{} is started again", node.name));
            }
        }
        Ok(())
    }
}
