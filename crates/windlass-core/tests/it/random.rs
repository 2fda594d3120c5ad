//! Random workflows, random fates: whatever happens, everything that must hold holds, and every run
//! ends.

use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::attempt;
use windlass_core::requirement::Capability;
use windlass_core::run;
use windlass_core::shard::input::{Call, CallId, Command, Input, RecoverFrom, Report, WorkerLife};
use windlass_core::time::Wall;
use windlass_model::{AttemptId, Duration, Incarnation, JobNumber, Name};
use windlass_workflow::Definition;

use crate::world::{World, flow, life};

/// A workflow of up to eight tasks with random dependencies, rules and kinds.
fn workflow() -> impl Strategy<Value = String> {
    let task = (
        any::<u8>(),
        proptest::sample::select(vec!["all_success", "all_done", "any_failed", "none_failed", "always"]),
        proptest::sample::select(vec![
            "run: x",
            "run: x, retries: {max: 2, delay: 1s}",
            "run: x, foreach: [1, 2, 3]",
            "run: x, foreach: {items: [1, 2, 3, 4], max_parallel: 1}",
            "type: noop, on_worker_lost: fail",
            "type: approve",
            "type: wait, with: {for: 5s}",
            "run: x, when: 1 == 2",
            "type: wait, with: {until: '2026-05-28T20:27:00Z'}",
            "type: wait, with: {file: /x, every: 3s}, timeout: 60s",
            "type: wait, with: {file: /x, every: 3s}, timeout: {after: 5s, then: warn}, foreach: [1, 2]",
            "type: dependent, with: {workflow: other}, timeout: 40s",
            "type: approve, timeout: 90s",
            "type: noop, pool: p, foreach: [1, 2, 3]",
            "run: x, pool: p, retries: 1",
            "run: x, on_worker_lost: wait",
            "run: x, timeout: 30s, retries: 1",
            "run: x, timeout: {after: 10s, then: warn}",
            "GANG run: x",
            "GANG run: x, pool: p, retries: 1",
            "GANG run: x, on_worker_lost: {then: retry, max: 1}",
            "GANG run: x, on_worker_lost: wait, retries: 2",
            "GANG run: x, on_worker_lost: fail",
            "GANG run: x, when: 1 == 2",
        ]),
    );
    let limits = (proptest::option::of(1u32..3), any::<bool>(), any::<bool>());
    (proptest::collection::vec(task, 1..8), limits).prop_map(|(tasks, (max_active_runs, end, finally))| {
        let mut yaml = String::from("name: random\ntimeout: 5m\n");
        if let Some(limit) = max_active_runs {
            yaml += &format!("max_active_runs: {limit}\n");
        }
        if end {
            yaml += "on_task_failure: end\n";
        }
        yaml += "tasks:\n";
        let kinds: Vec<_> = tasks.iter().map(|(_, _, kind)| *kind).collect();
        let members: Vec<bool> = kinds.iter().map(|kind| kind.starts_with("GANG ")).collect();
        let many = members.iter().filter(|member| **member).count() > 1;
        // Members may not depend on each other, not by way of others either.
        let mut behind = vec![false; tasks.len()];
        for (index, (dependencies, trigger, kind)) in tasks.iter().enumerate() {
            let may = |before: usize| !(members[index] && (members[before] || behind[before]));
            let on: Vec<_> =
                (0..index).filter(|before| dependencies & (1 << before) != 0 && may(*before)).collect();
            behind[index] = on.iter().any(|before| members[*before] || behind[*before]);
            let kind = kind.replace("GANG ", if many { "gang: g, " } else { "" });
            let on: Vec<_> = on.into_iter().map(|before| format!("t{before}")).collect();
            // `any_failed` without dependencies would never run, and is refused.
            let trigger = if on.is_empty() && *trigger == "any_failed" { "all_done" } else { trigger };
            yaml += &format!("  t{index}: {{{kind}, trigger: {trigger}, depends_on: [{}]}}\n", on.join(", "));
        }
        if finally {
            yaml += "finally: {last: {run: x}}\n";
        }
        yaml
    })
}

/// Something that happens; numbers choose among what there is.
#[derive(Clone, Debug)]
enum Step {
    Submit,
    Offer(u8, u8),
    Start(u8),
    Exit(u8, bool),
    GiveBack(u8),
    Obey,
    Lose(u8),
    Repeat(u8),
    Pass(u16),
    JumpWall(i32),
    Control(u8, u8, u8),
    Switch(bool),
    Reload,
    Mail(u8),
    Hold(u8),
    StartUnheard(u8),
    LoseAssignment(u8),
    LoseOrder(u8),
    Died(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Submit),
        6 => (1u8..3, 1u8..4).prop_map(|(worker, slots)| Step::Offer(worker, slots)),
        4 => any::<u8>().prop_map(Step::Start),
        8 => (any::<u8>(), prop::bool::weighted(0.7)).prop_map(|(place, success)| Step::Exit(place, success)),
        2 => any::<u8>().prop_map(Step::GiveBack),
        4 => Just(Step::Obey),
        1 => (1u8..3).prop_map(Step::Lose),
        2 => any::<u8>().prop_map(Step::Repeat),
        3 => (0u16..20_000).prop_map(Step::Pass),
        1 => any::<i32>().prop_map(Step::JumpWall),
        4 => (any::<u8>(), 0u8..9, 0u8..10).prop_map(|(run, command, job)| Step::Control(run, command, job)),
        1 => any::<bool>().prop_map(Step::Switch),
        2 => Just(Step::Reload),
        8 => any::<u8>().prop_map(Step::Mail),
        6 => any::<u8>().prop_map(Step::Hold),
        2 => any::<u8>().prop_map(Step::StartUnheard),
        1 => any::<u8>().prop_map(Step::LoseAssignment),
        2 => any::<u8>().prop_map(Step::LoseOrder),
        1 => any::<u8>().prop_map(Step::Died),
    ]
}

struct Player {
    world: World,
    incarnations: [u64; 3],
    reported: Vec<(WorkerLife, AttemptId)>,
    /// Attempts that wait for a life of a worker that is over.
    died: Vec<(WorkerLife, AttemptId)>,
    stepped: bool,
}

impl Player {
    fn life(&self, worker: u8) -> WorkerLife {
        WorkerLife {
            incarnation: Incarnation(self.incarnations[usize::from(worker)]),
            ..life(u64::from(worker))
        }
    }

    fn join(&mut self, worker: u8) {
        self.incarnations[usize::from(worker)] += 1;
        let life = self.life(worker);
        self.world.worker(life, Capability { slots: 4, ..Capability::default() });
    }

    fn play(&mut self, definition: &Arc<Definition>, step: &Step) {
        let held = self.world.held.len();
        let place = |choice: u8| (held > 0).then(|| usize::from(choice) % held.max(1));
        let able =
            |world: &World, choice: u8| place(choice).filter(|place| world.may_run(&world.held[*place].1));
        match *step {
            Step::Submit => {
                self.world.submit(definition);
            }
            Step::Offer(worker, slots) => {
                let life = self.life(worker);
                self.world.offer_to(life, u32::from(slots));
            }
            Step::Start(choice) => {
                if let Some(place) = able(&self.world, choice) {
                    self.world.start(place);
                }
            }
            // The worker's word that it started is lost.
            Step::StartUnheard(choice) => {
                if let Some(place) = able(&self.world, choice) {
                    self.world.started.insert(self.world.held[place].1.attempt);
                }
            }
            Step::Hold(choice) => {
                if let Some((life, held)) = place(choice).map(|place| self.world.held[place].clone())
                    && !self.world.may_run(&held)
                {
                    self.world.input(Input::Report(life, held.attempt, Report::Held));
                }
            }
            Step::LoseAssignment(choice) => {
                if let Some(place) = place(choice)
                    && !self.world.started.contains(&self.world.held[place].1.attempt)
                {
                    self.world.held.remove(place);
                }
            }
            Step::LoseOrder(choice) => {
                if !self.world.orders.is_empty() {
                    let place = usize::from(choice) % self.world.orders.len();
                    self.world.orders.remove(place);
                }
            }
            // The next life of a worker says what died with the one before.
            Step::Died(choice) => {
                if !self.died.is_empty() {
                    let (life, attempt) = self.died.remove(usize::from(choice) % self.died.len());
                    self.reported.push((life, attempt));
                    self.world.input(Input::Report(life, attempt, Report::Lost));
                }
            }
            Step::Exit(choice, success) => {
                if let Some(place) = able(&self.world, choice) {
                    let (life, held) = self.world.held[place].clone();
                    self.reported.push((life, held.attempt));
                    self.world.report(
                        place,
                        Report::Exited { success, reason: "".into(), outputs: None, process: None },
                    );
                }
            }
            Step::GiveBack(choice) => {
                if let Some(place) = place(choice)
                    && !self.world.started.contains(&self.world.held[place].1.attempt)
                {
                    self.world.report(place, Report::GivenBack);
                }
            }
            Step::Obey => self.world.obey(),
            Step::Lose(worker) => {
                let life = self.life(worker);
                self.world.held.retain(|(owner, _)| *owner != life);
                let open = |world: &World| -> Vec<_> {
                    let rows = world.attempts.values().filter(|row| row.state == attempt::State::Assigned);
                    rows.filter(|row| (row.worker, row.incarnation) == (life.worker, life.incarnation))
                        .map(|row| (life, AttemptId { job: row.job, fence: row.fence }))
                        .collect()
                };
                let lost = open(&self.world);
                self.world.input(Input::WorkerLost(life));
                let waits = open(&self.world);
                self.reported.extend(lost.iter().filter(|one| !waits.contains(one)));
                self.died.extend(waits);
                self.join(worker);
            }
            // A report that arrives again, or late, changes nothing.
            Step::Repeat(choice) => {
                if let Some((life, attempt)) =
                    self.reported.get(usize::from(choice) % self.reported.len().max(1)).copied()
                {
                    let before = self.world.attempts.clone();
                    self.world.input(Input::Report(
                        life,
                        attempt,
                        Report::Exited { success: true, reason: "late".into(), outputs: None, process: None },
                    ));
                    assert_eq!(self.world.attempts, before, "a late report of {attempt} was believed");
                }
            }
            Step::Pass(millis) => self.world.pass(Duration::from_millis(u64::from(millis))),
            Step::JumpWall(millis) => {
                self.world.now.wall.0 += i64::from(millis);
                self.stepped = true;
            }
            Step::Control(choice, command, job) => {
                let runs: Vec<_> = self.world.runs.keys().copied().collect();
                let Some(run) = runs.get(usize::from(choice) % runs.len().max(1)) else { return };
                let number = JobNumber(u32::from(job));
                let command = match command {
                    0 => Command::Stop,
                    1 => Command::Pause,
                    2 | 3 => Command::Resume,
                    4 => Command::Approve(number, true),
                    5 => Command::ForceSuccess(number),
                    6 => Command::Retry(number),
                    7 => Command::Recover(RecoverFrom::Failed),
                    _ => Command::Recover(RecoverFrom::Current),
                };
                self.world.control(*run, command);
            }
            // Nothing is lost with a master's memory, and nothing comes of it by itself.
            Step::Reload => {
                let (attempts, states) = (self.world.attempts.clone(), self.states());
                self.world.load();
                assert_eq!(self.world.attempts, attempts, "a load changed attempts");
                // A wait that began before the wall clock was stepped may be over after a load.
                assert!(self.stepped || self.states() == states, "a load moved runs");
                self.world.tell();
            }
            // A message between homes arrives, out of order, twice or never.
            Step::Mail(choice) => {
                let waiting = self.world.mail.len();
                if let Some(input) = self.world.mail.remove(usize::from(choice) % waiting.max(1)) {
                    match choice % 5 {
                        0 => {}
                        1 => {
                            self.world.mail.push_back(input.clone());
                            self.world.input(input);
                        }
                        _ => self.world.input(input),
                    }
                }
            }
            Step::Switch(on) => self.world.input(Input::DispatchSwitch(on)),
        }
    }

    fn states(&self) -> Vec<run::State> {
        self.world.runs.values().map(|row| row.state).collect()
    }

    /// All faults over: everything comes to an end.
    fn settle(&mut self) {
        // Somebody has set the clock right: a wait until a moment goes by it.
        self.world.now.wall = self.world.now.wall.max(Wall(1_780_000_060_000));
        self.world.input(Input::DispatchSwitch(true));
        for _ in 0..2_000 {
            let open: Vec<_> = self
                .world
                .runs
                .values()
                .filter(|row| !matches!(row.state, run::State::Ended(_)))
                .map(|row| (row.id, row.state))
                .collect();
            if open.is_empty() {
                return;
            }
            for (run, state) in open {
                if matches!(state, run::State::Pausing | run::State::Paused { .. }) {
                    self.world.control(run, Command::Resume);
                }
                for job in 0..8 {
                    self.world.control(run, Command::Approve(JobNumber(job), true));
                }
            }
            for (life, attempt) in std::mem::take(&mut self.died) {
                self.world.input(Input::Report(life, attempt, Report::Lost));
            }
            self.world.obey();
            self.world.deliver();
            for worker in [1, 2] {
                self.world.offer_to(self.life(worker), 4);
                self.world.deliver();
                self.world.offer_to(self.life(worker), 4);
                self.world.deliver();
            }
            self.world.hold();
            self.world.obey();
            while let Some(place) = self.world.held.iter().position(|(_, held)| self.world.may_run(held)) {
                self.world.succeed(place);
            }
            self.world.pass(Duration::from_secs(1));
        }
        let open: Vec<_> =
            self.world.runs.values().filter(|row| !matches!(row.state, run::State::Ended(_))).collect();
        panic!("{} runs do not end, the first is {:?}", open.len(), open.first());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_everything_holds_and_every_run_ends(
        yaml in workflow(),
        steps in proptest::collection::vec(step(), 0..120),
    ) {
        let definition = flow(&yaml);
        let mut player = Player { world: World::new(), incarnations: [0; 3], reported: Vec::new(), died: Vec::new(), stepped: false };
        player.join(1);
        player.join(2);
        player.world.input(Input::Call(CallId(0), Call::SetPool(Name::new("p").unwrap(), 2)));
        player.world.submit(&definition);
        for step in &steps {
            player.play(&definition, step);
        }
        player.settle();
        prop_assert_eq!(player.world.shard.open_runs(), 0);
        prop_assert!(player.world.shard.wants().demand.is_empty());
        for _ in 0..3 {
            player.world.pass(Duration::from_secs(10));
            player.world.deliver();
        }
        prop_assert!(player.world.permits.is_empty(), "permits leaked: {:?}", player.world.permits);
    }
}
