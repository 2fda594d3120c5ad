//! Killing and freezing masters and workers at random, while there is work.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustix::process::Signal;
use serde_json::Value;

use crate::cluster::{Cluster, Plan};
use crate::feed::{self, Fed};
use crate::ledger::Ledger;
use crate::verdict::{self, Disturbances, Verdict};

/// Without any progress for so long after everything is back, work counts as lost.
const PATIENCE: Duration = Duration::from_secs(45);

/// Three times as long as anybody waits for a sign of life, with the short times of a trial.
const FROZEN: Duration = Duration::from_secs(6);

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
    /// Whether processes are also frozen, for longer than anybody waits for them.
    pub freeze: bool,
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
    /// How many times one of either was frozen.
    pub frozen: u64,
}

/// Puts a cluster through it. `say` hears what is done, for whoever watches.
pub async fn run(chaos: &Chaos, plan: &Plan, say: &mut dyn FnMut(&str)) -> anyhow::Result<Outcome> {
    let mut rng = Rng::with_seed(chaos.seed);
    let ledger = Ledger::new(&plan.folder.join("ledger"));
    let mut cluster = Cluster::start(plan).await?;
    let clients: Vec<_> =
        (0..cluster.urls.len()).map(|master| cluster.client_of(master)).collect::<Result<_, _>>()?;
    let fed = std::sync::Mutex::new(Vec::new());
    let until = Instant::now() + chaos.time;
    let mut feeding = Rng::with_seed(rng.u64(..));
    let feeds = async {
        while Instant::now() < until {
            let (definition, needs) = match &chaos.workflow {
                Some(own) => (own.clone(), BTreeMap::new()),
                None => feed::random(&mut feeding, &ledger),
            };
            // Any master takes anything.
            let client = &clients[feeding.usize(..clients.len())];
            match feed::submit(client, definition).await {
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
    let mut monkey =
        Monkey { rng, masters_killed: 0, workers_killed: 0, frozen: 0, disturbed: Disturbances::default() };
    let kills = monkey.kill(chaos, &mut cluster, until, say);
    let (feeds, kills) = tokio::join!(feeds, kills);
    kills?;
    feeds?;
    let fed = fed.into_inner().expect("nobody panics with it");
    say(&format!("{} runs were submitted; waiting for their ends", fed.len()));
    let verdict = verdict::judge(&cluster.client, &fed, &ledger, &monkey.disturbed, PATIENCE).await;
    cluster.end().await;
    let Monkey { masters_killed, workers_killed, frozen, .. } = monkey;
    Ok(Outcome { verdict, masters_killed, workers_killed, frozen })
}

struct Monkey {
    rng: Rng,
    masters_killed: u64,
    workers_killed: u64,
    frozen: u64,
    disturbed: Disturbances,
}

/// What was done to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Killed,
    Frozen,
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
        let mut back: Vec<(usize, Done, Instant)> = Vec::new();
        let masters = cluster.urls.len();
        while Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(self.rng.u64(300..2500))).await;
            let now = Instant::now();
            for (index, node) in cluster.nodes().enumerate() {
                match back.iter().find(|(due, _, when)| *due == index && *when <= now) {
                    Some((_, Done::Killed, _)) => {
                        node.start()?;
                        say(&format!("{} is started again", node.name));
                    }
                    Some((_, Done::Frozen, _)) => {
                        node.signal(Signal::CONT);
                        say(&format!("{} wakes", node.name));
                    }
                    None => {}
                }
            }
            back.retain(|(_, _, when)| *when > now);
            let first = if chaos.masters { 0 } else { masters };
            let victim = self.rng.usize(first..masters + cluster.workers.len());
            let delay = Duration::from_millis(self.rng.u64(0..4000));
            let freezes = chaos.freeze && self.rng.usize(..3) == 0;
            let is_up = !back.iter().any(|(known, ..)| *known == victim);
            let node = cluster.nodes().nth(victim).filter(|node| is_up && node.pid().is_some());
            let Some(node) = node else { continue };
            if victim >= masters {
                self.disturbed.note(&node.name);
            }
            if freezes {
                self.frozen += 1;
                node.signal(Signal::STOP);
                say(&format!("{} is frozen", node.name));
                back.push((victim, Done::Frozen, now + FROZEN + delay));
                continue;
            }
            if victim < masters {
                self.masters_killed += 1;
            } else {
                self.workers_killed += 1;
            }
            node.kill().await;
            say(&format!("{} is killed", node.name));
            back.push((victim, Done::Killed, now + delay));
        }
        for node in cluster.nodes() {
            node.signal(Signal::CONT);
            if node.ended().is_some() || node.pid().is_none() {
                node.start()?;
                say(&format!("{} is started again", node.name));
            }
        }
        Ok(())
    }
}
