//! Random histories, every decision committed through the store, with lost answers and late landings: what
//! `load` gives back, the shard machine goes on from, nothing goes back, and every run ends.

use proptest::prelude::*;
use windlass_core::run;
use windlass_core::shard::input::{Command, Input, Report, WorkerLife};
use windlass_model::{Duration, Incarnation, JobNumber, WorkerId};
use windlass_store::memory::{Fate, Ticket};

use crate::cluster::Cluster;

const CHILD: &str =
    "name: child\ntasks: {a: {run: x, retries: {max: 1}}, b: {type: approve, depends_on: [a]}}\n";

/// A workflow of a few tasks of all kinds.
fn workflow() -> impl Strategy<Value = String> {
    let task = (
        any::<u8>(),
        prop::sample::select(vec!["all_success", "all_done", "always"]),
        prop::sample::select(vec![
            "run: x",
            "run: x, retries: {max: 2, delay: 1s}",
            "run: x, foreach: {items: [1, 2, 3, 4], max_parallel: 2}",
            "type: approve",
            "type: wait, with: {for: 5s}",
            "type: workflow, with: {workflow: child}",
            "run: x, when: 1 == 2",
        ]),
    );
    (prop::collection::vec(task, 1..6), prop::option::of(1u32..3)).prop_map(|(tasks, limit)| {
        let mut yaml = String::from("name: random\ntimeout: 5m\n");
        if let Some(limit) = limit {
            yaml += &format!("max_active_runs: {limit}\n");
        }
        yaml += "tasks:\n";
        for (index, (dependencies, trigger, kind)) in tasks.iter().enumerate() {
            let on: Vec<_> = (0..index)
                .filter(|before| dependencies & (1 << before) != 0)
                .map(|before| format!("t{before}"))
                .collect();
            yaml += &format!("  t{index}: {{{kind}, trigger: {trigger}, depends_on: [{}]}}\n", on.join(", "));
        }
        yaml
    })
}

/// Something that happens, and what becomes of the next commits.
#[derive(Clone, Debug)]
enum Step {
    Submit(bool),
    Offer(u8),
    Start(u8),
    Exit(u8, bool),
    GiveBack(u8),
    Obey,
    Lose,
    Pass(u16),
    Control(u8, u8, u8),
    Reload,
    Fates(Vec<u8>),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => any::<bool>().prop_map(Step::Submit),
        6 => (1u8..4).prop_map(Step::Offer),
        3 => any::<u8>().prop_map(Step::Start),
        8 => (any::<u8>(), prop::bool::weighted(0.7)).prop_map(|(place, success)| Step::Exit(place, success)),
        2 => any::<u8>().prop_map(Step::GiveBack),
        3 => Just(Step::Obey),
        1 => Just(Step::Lose),
        3 => (0u16..10_000).prop_map(Step::Pass),
        4 => (any::<u8>(), 0u8..7, 0u8..6).prop_map(|(run, command, job)| Step::Control(run, command, job)),
        2 => Just(Step::Reload),
        8 => prop::collection::vec(0u8..6, 1..5).prop_map(Step::Fates),
    ]
}

struct Player {
    cluster: Cluster,
    yaml: String,
    versions: (u32, u32),
    incarnation: u64,
    tickets: u64,
}

impl Player {
    fn new(yaml: String) -> Player {
        let mut cluster = Cluster::new();
        let versions = (cluster.apply(&yaml), cluster.apply(CHILD));
        let mut player = Player { cluster, yaml, versions, incarnation: 0, tickets: 0 };
        player.join();
        player
    }

    fn life(&self) -> WorkerLife {
        WorkerLife { worker: WorkerId(u64::MAX), incarnation: Incarnation(self.incarnation) }
    }

    fn join(&mut self) {
        self.incarnation += 1;
        self.cluster.worker(self.life(), 4);
    }

    fn submit(&mut self, inline: bool) {
        let version = (!inline).then_some(self.versions.0);
        self.cluster.submit(&self.yaml, version, &[("child", self.versions.1)]);
    }

    fn play(&mut self, step: &Step) {
        let held = self.cluster.held.len();
        let place = |choice: u8| (held > 0).then(|| usize::from(choice) % held.max(1));
        match step {
            Step::Submit(inline) => self.submit(*inline),
            Step::Offer(slots) => self.cluster.offer_to(self.life(), u32::from(*slots)),
            Step::Start(choice) => {
                if let Some(place) = place(*choice) {
                    let (life, held) = self.cluster.held[place].clone();
                    self.cluster.started.insert(held.attempt);
                    self.cluster.input(Input::Report(life, held.attempt, Report::Started));
                }
            }
            Step::Exit(choice, success) => {
                if let Some(place) = place(*choice) {
                    let report =
                        Report::Exited { success: *success, reason: "".into(), outputs: None, process: None };
                    self.cluster.report(place, report);
                }
            }
            Step::GiveBack(choice) => {
                if let Some(place) = place(*choice)
                    && !self.cluster.started.contains(&self.cluster.held[place].1.attempt)
                {
                    self.cluster.report(place, Report::GivenBack);
                }
            }
            Step::Obey => self.cluster.obey(),
            Step::Lose => {
                let life = self.life();
                self.cluster.held.clear();
                self.cluster.input(Input::WorkerLost(life));
                self.join();
            }
            Step::Pass(millis) => self.cluster.pass(Duration::from_millis(u64::from(*millis))),
            Step::Control(choice, command, job) => {
                let open = self.cluster.open();
                let Some(run) = open.get(usize::from(*choice) % open.len().max(1)) else { return };
                let number = JobNumber(u32::from(*job));
                let command = match command {
                    0 => Command::Stop,
                    1 => Command::Pause,
                    2 | 3 => Command::Resume,
                    4 => Command::Approve(number, true),
                    5 => Command::ForceSuccess(number),
                    _ => Command::Retry(number),
                };
                self.cluster.control(run.id, command);
            }
            Step::Reload => {
                self.cluster.fates.clear();
                self.cluster.reload();
            }
            Step::Fates(fates) => {
                for fate in fates {
                    self.tickets += 1;
                    self.cluster.fates.push_back(match fate {
                        0 | 1 => Fate::Normal,
                        2 => Fate::UnavailableNotApplied,
                        3 => Fate::UnknownApplied,
                        4 => Fate::UnknownNotApplied,
                        _ => Fate::UnknownAppliedLater(Ticket(self.tickets)),
                    });
                }
            }
        }
    }

    /// All faults over: everything comes to an end.
    fn settle(&mut self) {
        self.cluster.fates.clear();
        for _ in 0..2_000 {
            let open = self.cluster.open();
            if open.is_empty() {
                return;
            }
            for row in open {
                if matches!(row.state, run::State::Pausing | run::State::Paused { .. }) {
                    self.cluster.control(row.id, Command::Resume);
                }
                for job in 0..6 {
                    self.cluster.control(row.id, Command::Approve(JobNumber(job), true));
                }
            }
            self.cluster.obey();
            let life = self.life();
            self.cluster.offer_to(life, 4);
            while !self.cluster.held.is_empty() {
                let done = Report::Exited { success: true, reason: "".into(), outputs: None, process: None };
                self.cluster.report(0, done);
            }
            self.cluster.pass(Duration::from_secs(1));
        }
        panic!("runs that do not end: {:?}", self.cluster.open());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_becomes_of_commits_nothing_goes_back_and_every_run_ends(
        yaml in workflow(),
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut player = Player::new(yaml);
        player.submit(false);
        for step in &steps {
            player.play(step);
        }
        player.settle();
        prop_assert_eq!(player.cluster.shard.open_runs(), 0);
    }
}

#[test]
fn lost_answers_are_met_and_settled() {
    let mut player = Player::new("name: random\ntasks: {a: {run: x, retries: 3}}\n".into());
    for fate in 2..6 {
        player.play(&Step::Fates(vec![fate]));
        player.submit(fate % 2 == 0);
        player.play(&Step::Fates(vec![fate]));
        player.play(&Step::Offer(1));
    }
    assert_eq!((player.cluster.recoveries, player.cluster.held.len()), (8, 4));
    player.settle();
}
