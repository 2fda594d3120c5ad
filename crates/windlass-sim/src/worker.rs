//! Workers as processes, and the processes they start.

use std::sync::Arc;

use windlass_core::shard::input::{Assignment, Report, ToWorker, WorkerLife};
use windlass_core::shard::payload::Payload;
use windlass_core::time::Mono;
use windlass_core::wire::{Body, FromWorker, Order};
use windlass_core::worker::Worker;
use windlass_core::worker::input::{Decision, Effect, Exit, Input, Settings, Signal};
use windlass_model::{AttemptId, Duration, Incarnation};
use windlass_workflow::expr::Value;

use crate::ambush::Moment;
use crate::options::{HEARTBEAT, KILL_GRACE, WORKER_TIMEOUT};
use crate::plots::Plot;
use crate::world::{Event, Node, Process, World};

impl World {
    /// A worker starts, if it does not run. Nothing of its last life runs any more.
    pub fn start_worker(&mut self, number: usize) {
        if self.workers[number].machine.is_some() {
            return;
        }
        let now = self.worker_now(number);
        let random = self.random.number() & 0xffff_ffff;
        let node = &mut self.workers[number];
        node.life += 1;
        (node.wake, node.inbox) = (None, None);
        node.heard_through.clear();
        node.contacts.clear();
        node.awake = now.mono;
        let incarnation = Incarnation((node.life << 32) | random);
        if node.life > 1 && !node.journal.is_empty() {
            self.reach.hit("worker restarted with its journal");
        }
        let settings = Settings {
            life: WorkerLife { worker: node.id, incarnation },
            capability: Arc::clone(&node.capability),
            heartbeat_every: HEARTBEAT,
            worker_timeout: WORKER_TIMEOUT,
            kill_grace: KILL_GRACE,
        };
        let mut out = Decision::default();
        node.machine = Some(Worker::start(now, settings, node.journal.clone(), &mut out));
        self.worker_does(number, out);
        let life = self.workers[number].life;
        self.after(1, Event::Connect(number, life));
        for (of, input) in std::mem::take(&mut self.workers[number].kept) {
            // At once, or when it is at work again.
            let delay = self.random.stretched(1, 4_000);
            self.after(delay, Event::Worker(number, of, Box::new(input)));
        }
    }

    /// Something reaches a worker.
    pub fn worker_gets(&mut self, number: usize, life: u64, input: Input) {
        if self.workers[number].life != life {
            // What was under way to a life that is over is mostly lost; some of it is kept on the way, and reaches
            // the next.
            let kept =
                matches!(input, Input::Frame(_)) && !self.quiet && self.random.chance(self.options.kept);
            if !kept {
                return;
            }
            if self.workers[number].machine.is_none() {
                self.workers[number].kept.push((life, input));
                return;
            }
            self.reach.hit("frame for an earlier life of a worker");
        }
        if let Input::Frame(frame) = &input
            && let Body::Orders { orders, .. } = &frame.body
        {
            for order in orders {
                if let Order::Shard(ToWorker::Recall(attempt)) = order
                    && !self.judge.has_started(*attempt)
                {
                    self.reach.hit("recall of a prefetched attempt");
                }
            }
        }
        if let Input::Frame(frame) = &input
            && let Body::Heard { sent, shards } = &frame.body
        {
            for (shard, _) in shards {
                let contact = self.workers[number].contacts.entry(*shard).or_insert(*sent);
                *contact = (*contact).max(*sent);
            }
        }
        let now = self.worker_now(number);
        let Some(machine) = &mut self.workers[number].machine else { return };
        let mut out = Decision::default();
        machine.handle(now, input, &mut out);
        self.worker_does(number, out);
    }

    /// A worker is woken.
    pub fn wake_worker(&mut self, number: usize, life: u64) {
        if self.workers[number].life != life || self.workers[number].wake.is_none_or(|wake| wake > self.time)
        {
            return;
        }
        self.workers[number].wake = None;
        self.worker_gets(number, life, Input::Woken);
    }

    /// Does what a worker decided, once its journal has it.
    fn worker_does(&mut self, number: usize, out: Decision) {
        let life = self.workers[number].life;
        self.workers[number].journal.extend(out.journal);
        for effect in out.effects {
            if !self.quiet && self.random.chance(self.options.crash_between) {
                self.reach.hit("crash between two effects");
                self.crash_worker(number);
                return;
            }
            match effect {
                Effect::Spawn(assignment) => self.spawn(number, life, &assignment),
                Effect::Signal(attempt, signal) => self.signal(number, life, attempt, signal),
                Effect::Send(message) => self.worker_sends(number, &message),
                Effect::Drained => {}
            }
            if self.workers[number].life != life {
                return;
            }
        }
        let now = self.worker_now(number);
        let node = &mut self.workers[number];
        let Some(machine) = &node.machine else { return };
        if self.events.is_multiple_of(16) || self.trace.is_some() {
            machine.check_invariants();
        }
        // A long journal is written anew, as short as it can be.
        if node.journal.len() > 200 {
            node.journal = machine.journal_now();
        }
        if let Some(when) = machine.wants().wake_at {
            let when = self.time + when.since(now.mono).as_millis().max(1);
            if node.wake.is_none_or(|wake| when < wake || wake <= self.time) {
                node.wake = Some(when);
                self.at(when, Event::WakeWorker(number, life));
            }
        }
    }

    fn worker_sends(&mut self, number: usize, message: &FromWorker) {
        if let FromWorker::Report { attempt, report: Report::Held, .. } = message {
            self.judge.holds(*attempt);
        }
        let streams: Vec<_> =
            self.streams.keys().filter(|(worker, _)| *worker == number).map(|(_, master)| *master).collect();
        let wanted = match message {
            FromWorker::Heartbeat { sent, .. } => {
                self.look_at_orphans(number, *sent);
                for master in streams {
                    self.worker_to_master(number, master, message);
                }
                return;
            }
            FromWorker::Granted { owner, .. } => self.masters.iter().position(|node| node.owner == *owner),
            FromWorker::Report { attempt, .. } => {
                self.workers[number].heard_through.get(&attempt.job.run.shard()).copied()
            }
            FromWorker::Inventory(inventory) => {
                self.workers[number].heard_through.get(&inventory.shard).copied()
            }
            FromWorker::Refused { named, .. } => {
                named.and_then(|(shard, _)| self.workers[number].heard_through.get(&shard).copied())
            }
        };
        let through = wanted.filter(|master| streams.contains(master));
        if let Some(master) = through.or_else(|| self.random.pick(&streams)) {
            self.worker_to_master(number, master, message);
        }
    }

    /// What may not run alone is gone soon after it has run alone for as long as it may.
    fn look_at_orphans(&mut self, number: usize, now: Mono) {
        // The last signal, what it takes to act on it, and the time between two looks.
        const SOON: u64 = KILL_GRACE.as_millis() + 200 + 2 * HEARTBEAT.as_millis();
        let node = &self.workers[number];
        let late = node.processes.iter().find(|(attempt, process)| {
            let contact = node.contacts.get(&attempt.job.run.shard()).copied();
            let ends = process.orphan.zip(contact).map(|(orphan, contact)| contact.after(orphan));
            ends.is_some_and(|ends| now.since(ends.max(node.awake)).as_millis() > SOON)
        });
        if let Some((attempt, _)) = late {
            self.judge.runs_alone(*attempt);
        }
    }

    fn spawn(&mut self, number: usize, life: u64, assignment: &Assignment) {
        let attempt = assignment.attempt;
        if !self.quiet && self.random.chance(10) {
            let input = Input::SpawnFailed(attempt, "no such program".into());
            self.after(1, Event::Worker(number, life, Box::new(input)));
            self.judge.spawn_failed(attempt);
            return;
        }
        let (process, took) = if self.scripted { as_written(assignment) } else { self.by_chance(assignment) };
        let incarnation = self.workers[number].machine.as_ref().map(Worker::incarnation);
        let Some(incarnation) = incarnation else { return };
        let worker_life = WorkerLife { worker: self.workers[number].id, incarnation };
        self.workers[number].processes.insert(attempt, process);
        self.judge.starts(worker_life, assignment);
        let running = self.workers[number].processes.len();
        self.judge.slots(self.workers[number].id, running, self.workers[number].capability.slots);
        self.ambush(Moment::Spawn, None, Some(number));
        self.plot_spawn(number, assignment);
        let spawned = self.random.between(1, 5);
        self.after(spawned, Event::Worker(number, life, Box::new(Input::Spawned(attempt))));
        self.after(spawned + took, Event::ProcessEnds(number, life, attempt));
        if !self.quiet && self.random.chance(4) {
            self.crash_worker(number);
        }
    }

    /// What a process does, and how long it takes.
    fn by_chance(&mut self, assignment: &Assignment) -> (Process, u64) {
        let process = Process {
            success: self.quiet || self.random.chance(880),
            deaf: self.random.chance(200),
            hangs: self.random.chance(500),
            orphan: assignment.orphan_timeout,
        };
        if self.quiet {
            // What is left over is over soon, however much it is.
            return (process, self.random.between(1, 100));
        }
        // What may not run alone is worth watching for longer.
        let alone = assignment.orphan_timeout.is_some();
        let (often, longest) = if alone { (700, 30_000) } else { (60, 12_000) };
        let took = if self.random.chance(often) {
            self.random.between(4_000, longest)
        } else if self.random.chance(self.options.brisk) {
            self.random.between(1, 30)
        } else {
            self.random.between(30, 1_500)
        };
        (process, took)
    }

    fn signal(&mut self, number: usize, life: u64, attempt: AttemptId, signal: Signal) {
        let Some(process) = self.workers[number].processes.get(&attempt) else {
            self.judge.signals_stranger(attempt);
            return;
        };
        if signal == Signal::Kill || !process.deaf {
            let delay = self.random.between(1, 200);
            self.after(delay, Event::ProcessGone(number, life, attempt));
        }
    }

    /// A process ends by itself.
    pub fn process_ends(&mut self, number: usize, life: u64, attempt: AttemptId) {
        if self.workers[number].life != life {
            return;
        }
        let Some(process) = self.workers[number].processes.get(&attempt).cloned() else { return };
        if process.hangs && (self.judge.is_lost(attempt) || self.judge.is_stopping(attempt.job.run)) {
            self.reach.hit("process ended only by a kill");
            return;
        }
        self.workers[number].processes.remove(&attempt);
        self.judge.ends(attempt, process.success);
        let mut token = output_of(attempt);
        if process.success && !self.quiet && self.random.chance(8) {
            token.push('\0');
            self.judge.poisons(attempt);
        }
        let outputs = [("v".into(), Value::Text(token.into()))].into();
        let exit = Exit {
            success: process.success,
            reason: if process.success { "".into() } else { "exit code 1".into() },
            outputs: process.success.then(|| Arc::new(outputs)),
            process: None,
        };
        self.worker_gets(number, life, Input::Exited(attempt, exit));
    }

    /// A process that was told to end is gone.
    pub fn process_gone(&mut self, number: usize, life: u64, attempt: AttemptId) {
        if self.workers[number].life != life {
            return;
        }
        if self.workers[number].processes.remove(&attempt).is_some() {
            self.judge.killed(attempt);
            self.worker_gets(number, life, Input::Gone(attempt, None));
        }
    }

    /// A worker is gone at once, and everything it ran with it.
    pub fn crash_worker(&mut self, number: usize) {
        if self.workers[number].machine.is_none() {
            return;
        }
        let lose = match self.random.below(20) {
            _ if self.scripted => 0,
            0..12 if self.options.plot == Some(Plot::Rebirth) => usize::MAX,
            0 => usize::MAX,
            1..4 => self.random.below(4),
            _ => 0,
        };
        let node = &mut self.workers[number];
        node.machine = None;
        node.life += 1;
        node.inbox = None;
        // A power failure may cost the last lines of the journal, a broken disk all of it.
        let keep = node.journal.len().saturating_sub(lose);
        for lost in node.journal.drain(keep..) {
            self.judge.forgets(lost.attempt);
        }
        for attempt in std::mem::take(&mut node.processes).into_keys() {
            self.judge.killed(attempt);
        }
        let open: Vec<_> = self.streams.keys().filter(|(worker, _)| *worker == number).copied().collect();
        for (worker, master) in open {
            self.close_stream(worker, master);
        }
        if self.scripted {
            return;
        }
        let soon = self.random.chance(self.options.back_soon);
        let delay =
            if soon { self.random.between(1, self.options.away) } else { self.random.stretched(50, 8_000) };
        self.after(delay, Event::StartWorker(number));
        self.perhaps_again(Node::Worker(number), delay);
    }
}

/// What a process of a script does: its text says how long it takes (`work 5s`, otherwise 100 ms), whether it
/// fails, and whether it is deaf to being asked to end.
fn as_written(assignment: &Assignment) -> (Process, u64) {
    let text = match &assignment.payload {
        Payload::Script { text, .. } => text,
        _ => "",
    };
    let took = text.split([' ', ',']).find_map(|word| word.parse::<Duration>().ok());
    let process = Process {
        success: !text.contains("fail"),
        deaf: text.contains("deaf"),
        hangs: false,
        orphan: assignment.orphan_timeout,
    };
    (process, took.map_or(100, Duration::as_millis))
}

/// What the process of an attempt puts out.
pub fn output_of(attempt: AttemptId) -> String {
    format!("out-{attempt}")
}
