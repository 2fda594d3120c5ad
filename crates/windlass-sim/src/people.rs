//! People: they submit runs until they have an answer, and interfere.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::master::Master;
use windlass_core::master::input::{Input, Reply};
use windlass_core::rows::{Key, Selection, Stage};
use windlass_core::run;
use windlass_core::shard::backfill::{Range, StartBackfill};
use windlass_core::shard::input::{
    Answer, Call, CallId, Command, Control, CreateRun, PutWorkflow, RecoverFrom, Refusal,
};
use windlass_core::shard::load::StoredRun;
use windlass_core::time::Wall;
use windlass_model::{Duration, JobId, JobNumber, Name, OwnerId, RunId, ShardCount, ShardId};
use windlass_store::shards::LoadedRun;

use crate::faults::SETTLE;
use crate::judge::MARK;
use crate::options::LEASE;
use crate::store::home;
use crate::world::{Event, World};

/// How long a caller waits.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many permits the only pool has.
pub const POOL: u32 = 2;
/// How long everything may take to come to its end once faults are over, in milliseconds.
const QUIET: u64 = 400_000;

/// How long a master may believe that it owns what it does not, once faults are over: two leases and a look.
const BELIEF: u64 = 3 * LEASE.as_millis();

/// What people want and know.
#[derive(Debug, Default)]
pub struct People {
    wishes: Vec<Wish>,
    calls: BTreeMap<CallId, Purpose>,
    called: u64,
    quiet_since: u64,
    /// Shards that a master believes to own and does not, and since when that was seen.
    wrong: BTreeMap<(usize, ShardId), u64>,
}

/// Something that somebody wants until it is done.
#[derive(Debug)]
struct Wish {
    what: What,
    done: bool,
    /// The master that was asked last.
    last: Option<usize>,
}

/// What somebody can want.
#[derive(Clone, Debug)]
pub enum What {
    /// A run of a workflow, with this key.
    Run { flow: usize, key: Arc<str>, logical: Wall },
    /// That a workflow is stored, and its schedules begin.
    Put { flow: usize },
    /// So many permits of the only pool.
    Pool(u32),
    /// That a workflow is disabled.
    Disable(Name),
    /// A backfill of `clock`.
    Backfill { from: Wall, to: Wall },
}

/// What a call is for.
#[derive(Clone, Debug)]
enum Purpose {
    Wish(usize),
    Control(RunId, Command),
    Question,
}

/// Whether a command says in the rows that follow from it who gave it.
fn leaves_a_mark(command: Command) -> bool {
    match command {
        Command::Stop | Command::Pause | Command::Resume => false,
        Command::Retry(_) | Command::ForceSuccess(_) | Command::Approve(..) | Command::Recover(_) => true,
    }
}

impl World {
    /// Plans what people will want.
    pub fn plan_people(&mut self) {
        self.wish(100, What::Pool(POOL));
        for flow in 0..self.flows.all.len() {
            let definition = &self.flows.all[flow].definition;
            if !definition.schedules.is_empty() || !definition.triggers.is_empty() {
                let when = self.random.between(200, 3_000);
                self.wish(when, What::Put { flow });
            }
        }
        let all: Vec<_> =
            (0..self.flows.all.len()).filter(|flow| self.flows.all[*flow].is(self.options.kind)).collect();
        let wanted: Vec<_> = match self.options.variety {
            0 => all,
            // Few workflows meet each other and their limits more often than many.
            few => (0..few).filter_map(|_| self.random.pick(&all)).collect(),
        };
        let bursts: Vec<_> =
            (0..self.options.bursts).map(|_| self.random.between(500, self.options.faults_for)).collect();
        for number in 0..self.options.submissions {
            let mut flow = self.random.pick(&wanted).unwrap_or(0);
            // A gang that no cluster of this size can hold would wait for ever, and rightly.
            let gang =
                self.flows.all[flow].definition.tasks.iter().filter(|task| task.gang.is_some()).count();
            if gang > self.options.slots.iter().sum::<u32>() as usize {
                flow = 0;
            }
            let when = match self.random.pick(&bursts) {
                Some(burst) => burst + self.random.between(0, 100),
                None => self.random.between(500, self.options.faults_for),
            };
            let key = format!("key-{number}").into();
            // Few times, so that runs of different workflows are about the same.
            let logical = Wall(self.options.wall + (when as i64 / 10_000) * 10_000);
            self.wish(when, What::Run { flow, key, logical });
        }
        // What runs long and may not run twice is mostly among it: it meets everything that goes wrong.
        let lonely = self.flows.all.iter().position(|flow| flow.definition.name.as_str() == "lonely");
        if let Some(flow) = lonely.filter(|_| self.random.chance(600)) {
            let when = self.random.between(500, self.options.faults_for / 2);
            let logical = Wall(self.options.wall);
            self.wish(when, What::Run { flow, key: "lonely".into(), logical });
        }
        if self.random.chance(500) {
            let (from, to) = (Wall(self.options.wall - 60_000), Wall(self.options.wall - 1));
            let when = self.random.between(3_000, self.options.faults_for);
            self.wish(when, What::Backfill { from, to });
        }
        let first = self.random.between(1_000, self.options.operate_every * 2 + 1_000);
        self.after(first, Event::Operate);
    }

    /// Somebody will want something at a time, and go on wanting it until it is done.
    pub fn wish(&mut self, when: u64, what: What) {
        self.people.wishes.push(Wish { what, done: false, last: None });
        let number = self.people.wishes.len() - 1;
        self.at(when.max(self.time), Event::Submit(number));
    }

    /// Somebody asks for what they want, again if need be.
    pub fn submit(&mut self, number: usize) {
        if self.people.wishes[number].done && (self.scripted || !self.random.chance(200)) {
            return;
        }
        let campaign = |wish: &Wish| matches!(wish.what, What::Backfill { .. }) && !wish.done;
        if let What::Disable(_) = self.people.wishes[number].what
            && (self.judge.backfills() || self.people.wishes.iter().any(campaign))
        {
            // A workflow that is disabled gets no new runs, also not those of a backfill.
            self.after(1_000, Event::Submit(number));
            return;
        }
        let shards = ShardCount::new(self.options.shards).expect("a number of shards");
        let (shard, call) = match self.people.wishes[number].what.clone() {
            What::Run { flow, key, logical } => {
                let flow = &self.flows.all[flow];
                let shard = if flow.stored {
                    home(self.options.shards, &flow.definition.name)
                } else {
                    shards.home("key", &key)
                };
                let key = Key { principal: "me".into(), key };
                let wanted = CreateRun {
                    known: self.store.model.key(shard, &key),
                    key,
                    body: 0,
                    definition: Arc::clone(&flow.definition),
                    version: flow.stored.then_some(1),
                    pinned: Arc::clone(&flow.pinned),
                    origin: Arc::clone(&flow.origin),
                    params: Arc::default(),
                    logical_time: logical,
                    labels: None,
                    run_at: None,
                    priority: None,
                    selection: Selection::All,
                    rerun_of: None,
                };
                (shard, Call::Create(Box::new(wanted)))
            }
            What::Put { flow } => {
                let flow = &self.flows.all[flow];
                let put = PutWorkflow {
                    expected: None,
                    by: "me".into(),
                    definition: Arc::clone(&flow.definition),
                    version: 1,
                    pinned: Arc::clone(&flow.pinned),
                    versions: Arc::new(flow.origin.pinned.clone()),
                };
                (home(self.options.shards, &flow.definition.name), Call::PutWorkflow(Box::new(put)))
            }
            What::Pool(permits) => {
                let pool = Name::new("p").expect("a name");
                (shards.home("pool", "p"), Call::SetPool(pool, permits))
            }
            What::Backfill { from, to } => {
                let workflow = Name::new("clock").expect("a name");
                let home = home(self.options.shards, &workflow);
                let key = Key { principal: "me".into(), key: "backfill".into() };
                let mut all = self.store.model.backfills(Some(&workflow), None, usize::MAX).into_iter();
                let known = all.find(|row| row.key == key);
                let range = Range {
                    workflow,
                    from,
                    to,
                    missing_only: false,
                    succeeded: BTreeMap::new(),
                    upstream: BTreeMap::new(),
                };
                let start = StartBackfill {
                    key,
                    body: 0,
                    known,
                    range,
                    parallel: 2,
                    params: Arc::default(),
                    priority: None,
                    then: vec![Stage {
                        workflow: Name::new("echo").expect("a name"),
                        times: Arc::new([from, to]),
                    }],
                };
                (home, Call::Backfill(Box::new(start)))
            }
            What::Disable(name) => {
                (home(self.options.shards, &name), Call::EnableWorkflow(name, "me".into(), false))
            }
        };
        let last = self.people.wishes[number].last;
        match self.call(shard, call, Purpose::Wish(number)) {
            Some(master) => {
                if last.is_some_and(|last| last != master)
                    && matches!(self.people.wishes[number].what, What::Run { .. })
                {
                    self.reach.hit("key retried on another master");
                }
                self.people.wishes[number].last = Some(master);
            }
            None => self.after(500, Event::Submit(number)),
        }
    }

    /// Calls some master; which one, if one is there.
    fn call(&mut self, shard: ShardId, what: Call, purpose: Purpose) -> Option<usize> {
        let up: Vec<_> =
            (0..self.masters.len()).filter(|number| self.masters[*number].machine.is_some()).collect();
        let master = self.random.pick(&up)?;
        self.people.called += 1;
        let call = CallId(self.people.called);
        self.people.calls.insert(call, purpose);
        let until = self.master_now(master).mono.after(PATIENCE);
        let input = Input::Call { call, shard, what, until };
        let (life, delay) = (self.masters[master].life, self.delay());
        self.after(delay, Event::Master(master, life, Box::new(input)));
        self.after(PATIENCE.as_millis() + 4_000, Event::GiveUp(call));
        Some(master)
    }

    /// No answer came.
    pub fn give_up(&mut self, call: CallId) {
        if let Some(Purpose::Wish(number)) = self.people.calls.remove(&call) {
            self.after(100, Event::Submit(number));
        }
    }

    /// An answer came.
    pub fn answered(&mut self, call: CallId, reply: Reply) {
        let Some(purpose) = self.people.calls.remove(&call) else { return };
        match (purpose, reply) {
            (Purpose::Wish(number), Reply::Answered(answer)) => self.wish_answered(number, answer),
            (
                Purpose::Wish(number),
                Reply::Unavailable | Reply::Unknown | Reply::NotHere | Reply::Rejected(_),
            ) => {
                let delay = self.random.between(50, 500);
                self.after(delay, Event::Submit(number));
            }
            (Purpose::Control(run, command), Reply::Answered(Answer::Accepted(_))) => {
                if leaves_a_mark(command) {
                    self.judge.told(call.0, true);
                }
                if let Command::Recover(_) = command {
                    self.reach.hit("run reopened from the store");
                }
                self.judge.controlled(run, command);
            }
            (
                Purpose::Control(_, command),
                Reply::Answered(Answer::Refused(_)) | Reply::Unavailable | Reply::Rejected(_),
            ) => {
                if leaves_a_mark(command) {
                    self.judge.told(call.0, false);
                }
            }
            (Purpose::Control(..) | Purpose::Question, _) => {}
        }
    }

    fn wish_answered(&mut self, number: usize, answer: Answer) {
        let wish = &mut self.people.wishes[number];
        if let (What::Backfill { .. }, Answer::Refused(Refusal::NoSuchWorkflow)) = (&wish.what, &answer) {
            // It is not stored yet.
            self.after(1_000, Event::Submit(number));
            return;
        }
        wish.done = true;
        match (&wish.what, answer) {
            (What::Run { key, .. }, Answer::Created(run)) => {
                let there = self.store.model.run(run).is_some();
                self.judge.acknowledged(key, run, there);
            }
            (What::Run { .. } | What::Backfill { .. }, Answer::Refused(Refusal::Disabled)) => {}
            (What::Backfill { .. }, Answer::Backfill(id, _)) => self.judge.acknowledged_backfill(id),
            (What::Put { .. } | What::Pool(_) | What::Disable(_), Answer::Done) => {}
            (What::Disable(_), Answer::Refused(Refusal::NoSuchWorkflow)) => {}
            (_, answer) => self.judge.refused(&format!("{answer:?}")),
        }
        // Some are so careful that they ask again.
        if !self.quiet && self.random.chance(150) {
            let delay = self.random.between(100, 3_000);
            self.after(delay, Event::Submit(number));
        }
    }

    /// Somebody does something, and somebody else will later.
    pub fn operate(&mut self) {
        if self.quiet {
            return;
        }
        let delay = self.random.between(1, self.options.operate_every * 2);
        self.after(delay, Event::Operate);
        self.interfere();
    }

    /// Somebody does something with a run, or asks about it.
    pub fn interfere(&mut self) {
        if self.quiet {
            return;
        }
        if self.random.chance(60) {
            let on = !self.store.dispatching();
            self.store.switch(on);
            return;
        }
        let runs: Vec<_> = self.judge.runs().map(|row| (row.id, row.state)).collect();
        let Some((run, state)) = self.random.pick(&runs) else { return };
        let job = JobNumber(self.random.below(self.judge.jobs_of(run) + 1) as u32);
        if self.random.chance(150) {
            let call = Call::Why(JobId { run, number: job });
            self.call(run.shard(), call, Purpose::Question);
            return;
        }
        let open = [
            Command::Stop,
            Command::Pause,
            Command::Pause,
            Command::Resume,
            Command::Resume,
            Command::Retry(job),
            Command::ForceSuccess(job),
            Command::Approve(JobNumber(1), true),
            Command::Approve(JobNumber(1), false),
        ];
        let over = [
            Command::Recover(RecoverFrom::Failed),
            Command::Recover(RecoverFrom::Current),
            Command::Retry(job),
            Command::ForceSuccess(job),
        ];
        let command = match state {
            run::State::Ended(_) => self.random.pick(&over),
            _ if self.random.chance(self.options.stops) => Some(Command::Stop),
            _ => self.random.pick(&open),
        };
        if let Some(command) = command {
            self.control(run, command);
        }
    }

    /// Somebody gives a command, unless faults are over.
    pub fn command(&mut self, run: RunId, command: Command) {
        if !self.quiet {
            self.control(run, command);
        }
    }

    /// Somebody gives a command, once.
    pub fn control(&mut self, run: RunId, command: Command) {
        let stored = self.stored_run(run).map(Box::new);
        let reopens = matches!(command, Command::Recover(_) | Command::Retry(_) | Command::ForceSuccess(_));
        if reopens {
            self.judge.reopens(run);
        }
        if command == Command::Stop {
            let owned = |number: &usize| {
                let machine = self.masters[*number].machine.as_ref();
                machine.is_some_and(|machine| machine.live().any(|(shard, _)| shard == run.shard()))
            };
            if !(0..self.masters.len()).any(|number| owned(&number)) {
                self.reach.hit("stop during take-over");
            }
        }
        let control = Control { by: "me".into(), run, command, comment: None, stored };
        if reopens && !self.quiet && self.random.chance(400) {
            let delay = self.random.between(10, 6_000);
            self.after(delay, Event::Again(Box::new(control.clone())));
        }
        self.give_command(control);
    }

    /// Somebody gives a command again, not having noticed what came of it.
    pub fn control_again(&mut self, control: Control) {
        if !self.quiet {
            self.reach.hit("command repeated on an old run");
            self.give_command(control);
        }
    }

    fn give_command(&mut self, control: Control) {
        let (run, command) = (control.run, control.command);
        // Each call has a name of its own, by which the judge finds what it did.
        let by = format!("{MARK}{}", self.people.called + 1).into();
        let call = Call::Control(Control { by, ..control });
        self.call(run.shard(), call, Purpose::Control(run, command));
    }

    /// What is stored of a run that is over.
    fn stored_run(&self, run: RunId) -> Option<StoredRun> {
        let found = self.store.model.run(run)?;
        if !matches!(found.row.state, run::State::Ended(_)) {
            return None;
        }
        let loaded = LoadedRun {
            row: found.row,
            origin: found.origin,
            jobs: self.store.model.jobs(run, None, usize::MAX),
            attempts: self.store.model.attempts(run, None, usize::MAX),
        };
        loaded.resolve(&*self.flows).ok()
    }

    /// Faults are over: nothing new is wanted.
    pub fn calm_people(&mut self) {
        self.people.quiet_since = self.time;
        self.store.switch(true);
        let scheduled: Vec<_> = self
            .flows
            .all
            .iter()
            .filter(|flow| !flow.definition.schedules.is_empty())
            .map(|flow| flow.definition.name.clone())
            .collect();
        for name in scheduled {
            self.wish(self.time + 20_000, What::Disable(name));
        }
    }

    /// Does everything come to its end?
    pub fn tick(&mut self) {
        let open: Vec<_> = self
            .judge
            .runs()
            .filter(|row| !matches!(row.state, run::State::Ended(_)))
            .map(|row| (row.id, row.state, row.workflow.as_str() == "asked"))
            .collect();
        self.check_beliefs();
        let wishes = self.people.wishes.iter().all(|wish| wish.done);
        if open.is_empty() && wishes && self.at_rest() {
            self.judge_end();
            return;
        }
        if self.time - self.people.quiet_since > QUIET {
            let waits = open.first().map(|(run, state, _)| format!("{run} is {state:?}"));
            let waits = waits.unwrap_or_else(|| format!("wishes done: {wishes}; {}", self.unrest()));
            self.judge.stuck(&waits, open.len());
            return;
        }
        for (run, state, asked) in open {
            match state {
                run::State::Pausing | run::State::Paused { .. } => self.control(run, Command::Resume),
                run::State::Running if asked => self.control(run, Command::Approve(JobNumber(1), true)),
                run::State::Running | run::State::Pending | run::State::Stopping | run::State::Ended(_) => {}
            }
        }
        self.after(1_000, Event::Tick);
    }

    /// A master that can ask the store knows soon what it does not own any more, also if nothing happens there.
    fn check_beliefs(&mut self) {
        if self.time < self.people.quiet_since + SETTLE {
            return;
        }
        let mut wrong = BTreeMap::new();
        for (number, node) in self.masters.iter().enumerate() {
            for (shard, epoch) in node.machine.iter().flat_map(Master::live) {
                if self.store.epoch(shard) != epoch {
                    let since = self.people.wrong.get(&(number, shard)).copied().unwrap_or(self.time);
                    wrong.insert((number, shard), since);
                }
            }
        }
        if let Some(((number, shard), _)) = wrong.iter().find(|(_, since)| self.time - **since > BELIEF) {
            self.judge.believes(&self.masters[*number].name, *shard);
        }
        self.people.wrong = wrong;
    }

    /// Whether everybody has what they want.
    pub fn all_content(&self) -> bool {
        self.people.wishes.iter().all(|wish| wish.done)
    }

    /// Whether nobody has anything left to do.
    fn at_rest(&self) -> bool {
        self.unrest().is_empty()
    }

    fn unrest(&self) -> String {
        let mut owned: BTreeMap<ShardId, usize> = BTreeMap::new();
        for node in &self.masters {
            let Some(machine) = &node.machine else { return "a master is down".into() };
            for (shard, _) in machine.live() {
                *owned.entry(shard).or_default() += 1;
            }
            let (runs, calls) = machine.open();
            if (runs, calls) != (0, 0) {
                return format!("{} has {runs} runs and {calls} calls", node.name);
            }
        }
        if owned.len() != usize::from(self.options.shards) || owned.values().any(|count| *count != 1) {
            return format!("shards are owned by so many: {owned:?}");
        }
        for node in &self.workers {
            let Some(machine) = &node.machine else { return "a worker is down".into() };
            if machine.open() != (0, 0) {
                return format!("worker {} has {:?}", node.id, machine.open());
            }
            let gone = |owner: &OwnerId| !self.masters.iter().any(|master| master.owner == *owner);
            if let Some(owner) = machine.demanders().find(gone) {
                return format!("worker {} keeps slots for {owner}, which is gone", node.id);
            }
        }
        if let Some(left) = self.judge.left_over() {
            return left;
        }
        String::new()
    }

    fn judge_end(&mut self) {
        self.judge.end(&self.store);
    }
}
