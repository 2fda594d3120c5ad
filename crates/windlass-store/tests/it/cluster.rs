//! A shard whose every decision goes through the store, whatever becomes of the commit.
//!
//! It is the loop of a master in small: handle, commit, then send. After an unknown or failed commit it claims,
//! which says whether the commit landed, loads, and handles again what did not land.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use windlass_core::attempt;
use windlass_core::requirement::Capability;
use windlass_core::rows::{AttemptRow, Key, RunRow, Selection};
use windlass_core::shard::Shard;
use windlass_core::shard::input::{
    Answer, Assignment, Call, CallId, Command, Control, CreateRun, Decision, Input, Message, Offer, Report,
    Settings, ToWorker, WorkerLife,
};
use windlass_core::shard::load::{Rows, StoredRun};
use windlass_core::time::{Mono, Now, Wall};
use windlass_core::wire::GrantId;
use windlass_model::{
    AttemptId, AttemptNumber, Duration, Epoch, JobId, Name, OwnerId, RunId, ShardCount, ShardId, WorkerId,
};
use windlass_store::commit::{Batch, Origin, Outcome};
use windlass_store::memory::{Fate, Model, Ticket};
use windlass_store::opening::StoreId;
use windlass_store::reads::{Filter, is_over};
use windlass_store::shards::{Commits, Loaded, LoadedRun};
use windlass_store::versions::NewVersion;
use windlass_workflow::Definition;
use windlass_workflow::version::ContentHash;

const OWNER: OwnerId = OwnerId(1);
const SHARD: ShardId = ShardId::LEADER;

pub fn flow(yaml: &str) -> Arc<Definition> {
    match windlass_workflow::from_text(yaml.as_bytes()) {
        Ok(checked) => checked.definition,
        Err(wrong) => panic!("{}\nin\n{yaml}", wrong[0].render("test")),
    }
}

pub struct Cluster {
    pub shard: Shard,
    pub now: Now,
    model: Model,
    epoch: Epoch,
    commits: Commits,
    /// What becomes of the next commits; then all is well.
    pub fates: VecDeque<Fate>,
    /// Commits that may still land.
    late: Vec<Ticket>,
    /// Assigned or running, by worker.
    pub held: Vec<(WorkerLife, Assignment)>,
    pub started: BTreeSet<AttemptId>,
    orders: Vec<(WorkerLife, ToWorker)>,
    workers: BTreeMap<WorkerId, (WorkerLife, Arc<Capability>)>,
    answers: BTreeMap<CallId, Answer>,
    /// Attempts as they were seen last, to see that none goes back.
    attempts: BTreeMap<(JobId, AttemptNumber), AttemptRow>,
    calls: u64,
    pub recoveries: u32,
    /// What was left of the last offer.
    unused: Vec<GrantId>,
}

impl Cluster {
    pub fn new() -> Cluster {
        let mut model = Model::new(StoreId(1), ShardCount::new(4).unwrap());
        model.register(OWNER, &Name::new("m").unwrap(), None, None).unwrap();
        let claimed = model.claim(SHARD, OWNER, None).unwrap();
        Cluster {
            shard: Shard::new(SHARD, Settings::default(), claimed.last_run),
            now: Now { mono: Mono(1_000), wall: Wall(1_780_000_000_000) },
            model,
            epoch: claimed.epoch,
            commits: claimed.commits,
            fates: VecDeque::new(),
            late: Vec::new(),
            held: Vec::new(),
            started: BTreeSet::new(),
            orders: Vec::new(),
            workers: BTreeMap::new(),
            answers: BTreeMap::new(),
            attempts: BTreeMap::new(),
            calls: 0,
            recoveries: 0,
            unused: Vec::new(),
        }
    }

    /// Stores a version of a workflow; its number.
    pub fn apply(&mut self, yaml: &str) -> u32 {
        let definition = flow(yaml);
        let new = NewVersion {
            workflow: definition.name.clone(),
            hash: ContentHash::of(&definition),
            source: yaml.into(),
            created_by: "me".into(),
            created_at: self.now.wall,
        };
        self.model.put_version(&new).unwrap()
    }

    /// Submits a stored workflow, or the text of one.
    pub fn submit(&mut self, yaml: &str, version: Option<u32>, pinned: &[(&str, u32)]) -> RunId {
        let definition = flow(yaml);
        let pinned = pinned.iter().map(|(name, version)| (Name::new(name).unwrap(), *version)).collect();
        let inline = version.is_none().then(|| yaml.into());
        let origin = Origin { inline, pinned };
        self.calls += 1;
        let wanted = CreateRun {
            key: Key { principal: "me".into(), key: self.calls.to_string().into() },
            body: 0,
            known: None,
            definition,
            version,
            pinned: self.pinned(&origin),
            origin: Arc::new(origin),
            params: Arc::default(),
            logical_time: self.now.wall,
            labels: None,
            run_at: None,
            priority: None,
            selection: Selection::All,
            rerun_of: None,
        };
        let call = CallId(self.calls);
        self.decide(&Input::Call(call, Call::Create(Box::new(wanted))));
        match self.answers.remove(&call) {
            Some(Answer::Created(run)) => run,
            other => panic!("{other:?}"),
        }
    }

    pub fn control(&mut self, run: RunId, command: Command) {
        self.calls += 1;
        let call = CallId(self.calls);
        self.input(Input::Call(
            call,
            Call::Control(Control { by: "me".into(), run, command, comment: None, stored: None }),
        ));
        assert!(self.answers.remove(&call).is_some(), "every call gets an answer");
    }

    pub fn worker(&mut self, life: WorkerLife, slots: u32) {
        let capability = Arc::new(Capability { slots, ..Capability::default() });
        self.workers.insert(life.worker, (life, Arc::clone(&capability)));
        self.input(Input::WorkerSeen(life, capability));
    }

    /// Offers slots of a worker: the best class that fits it first, then the next.
    pub fn offer_to(&mut self, life: WorkerLife, slots: u32) {
        let Some((_, capability)) = self.workers.get(&life.worker).cloned() else { return };
        let mut grants: Vec<_> = (0..u64::from(slots)).map(GrantId).collect();
        let mut in_vain = BTreeSet::new();
        while !grants.is_empty() {
            let mut fitting: Vec<_> = self.shard.wants().demand;
            fitting.retain(|(class, ..)| capability.fits(class).is_ok() && !in_vain.contains(class));
            fitting.sort_by_key(|(_, best, _)| *best);
            let Some((class, ..)) = fitting.first().cloned() else { return };
            let before = fitting.get(1).map(|(_, best, _)| *best);
            let offered = grants.len();
            let offer =
                Offer { life, class: Arc::clone(&class), grants: std::mem::take(&mut grants), before };
            self.input(Input::Offer(offer));
            grants = std::mem::take(&mut self.unused);
            if grants.len() == offered {
                in_vain.insert(class);
            }
        }
    }

    pub fn pass(&mut self, duration: Duration) {
        self.now.mono = self.now.mono.after(duration);
        self.now.wall = self.now.wall.after(duration);
        self.input(Input::Woken);
    }

    pub fn report(&mut self, place: usize, report: Report) {
        let (life, assignment) = self.held.remove(place);
        self.input(Input::Report(life, assignment.attempt, report));
    }

    /// Workers do what they were told.
    pub fn obey(&mut self) {
        for (life, order) in std::mem::take(&mut self.orders) {
            let (attempt, report) = match order {
                ToWorker::Kill(attempt, why) => (attempt, Report::Killed(why, None)),
                ToWorker::Recall(attempt) if !self.started.contains(&attempt) => (attempt, Report::GivenBack),
                ToWorker::Recall(_) | ToWorker::Assign(_) | ToWorker::Settled(_) | ToWorker::Go(_) => {
                    continue;
                }
            };
            if let Some(place) = self.held.iter().position(|(_, held)| held.attempt == attempt) {
                self.held.remove(place);
                self.input(Input::Report(life, attempt, report));
            }
        }
    }

    pub fn open(&self) -> Vec<RunRow> {
        let filter = Filter { sub_workflows: true, ..Filter::default() };
        let page = self.model.runs(&filter, None, usize::MAX);
        page.runs.into_iter().rev().filter(|row| !is_over(row)).collect()
    }

    #[allow(clippy::needless_pass_by_value, reason = "inputs are made where they are given")]
    pub fn input(&mut self, input: Input) {
        self.decide(&input);
    }

    /// Handles an input until its decision is known to be stored, then sends what follows from it.
    fn decide(&mut self, input: &Input) {
        loop {
            let mut decision = Decision::default();
            self.shard.handle(self.now, input.clone(), &mut decision);
            self.shard.check_invariants();
            if self.store(decision) {
                return;
            }
        }
    }

    /// Commits a decision and sends its messages; `false` if it did not land and must be decided again. Either
    /// way the shard is as the store has it.
    fn store(&mut self, decision: Decision) -> bool {
        let batch = Batch {
            shard: SHARD,
            epoch: self.epoch,
            commits: self.commits,
            origins: decision.origins,
            changes: decision.changes,
        };
        let fate = self.fates.pop_front().unwrap_or(Fate::Normal);
        if let Fate::UnknownAppliedLater(ticket) = fate {
            self.late.push(ticket);
        }
        let landed = match self.model.commit(vec![batch], fate) {
            Outcome::Committed => {
                self.commits = self.commits.next();
                true
            }
            Outcome::Unavailable(_) | Outcome::Unknown(_) => return self.recover(decision.messages),
            refused @ (Outcome::Fenced(_) | Outcome::Rejected(_)) => panic!("{refused:?}"),
        };
        self.look();
        self.send(decision.messages);
        landed
    }

    /// Claims and loads; whether the commit that was in doubt landed, in which case its messages are sent.
    fn recover(&mut self, messages: Vec<Message>) -> bool {
        self.recoveries += 1;
        let before = self.commits;
        let loaded = self.claim();
        assert!(self.commits == before || self.commits == before.next());
        let landed = self.commits != before;
        if landed {
            self.send(messages);
        }
        self.resume(loaded);
        landed
    }

    fn claim(&mut self) -> Loaded {
        let claimed = self.model.claim(SHARD, OWNER, None).unwrap();
        assert!(claimed.epoch > self.epoch);
        (self.epoch, self.commits) = (claimed.epoch, claimed.commits);
        self.look();
        let before = self.model.clone();
        // Whatever was under way lands now, and changes nothing.
        for ticket in self.late.drain(..) {
            if let Some(outcome) = self.model.land(ticket) {
                assert!(matches!(outcome, Outcome::Fenced(_)), "{outcome:?}");
            }
        }
        let loaded = self.model.load(SHARD, self.epoch).unwrap();
        let mut before = before;
        assert_eq!(before.load(SHARD, self.epoch).unwrap(), loaded, "a late commit changed something");
        loaded
    }

    /// The memory is lost between two decisions: nothing moves by that alone.
    pub fn reload(&mut self) {
        let states = |cluster: &Cluster| cluster.open().iter().map(|row| row.state).collect::<Vec<_>>();
        let (attempts, before) = (self.attempts.clone(), states(self));
        // Not their order keys: a load counts submissions anew.
        let waiting = |cluster: &Cluster| cluster.shard.wants().demand.iter().map(|(_, _, n)| n).sum::<u64>();
        let ready = waiting(self);
        let loaded = self.claim();
        self.resume(loaded);
        assert_eq!(self.attempts, attempts, "a load changed attempts");
        assert_eq!(states(self), before, "a load moved runs");
        assert_eq!(waiting(self), ready, "a load changed what waits");
    }

    /// Goes on with what was loaded; workers that are in touch say what they have.
    fn resume(&mut self, loaded: Loaded) {
        let mut decision = Decision::default();
        assert!(loaded.unreadable.is_empty());
        let runs = loaded.runs.into_iter().map(|run| self.stored_run(run)).collect();
        let rows = Rows {
            last: loaded.last_run,
            epoch: self.epoch,
            keys: loaded.keys,
            runs,
            workflows: Vec::new(),
            pools: loaded.pools,
            listeners: loaded.listeners,
            inbox: loaded.inbox,
            outbox: loaded.outbox,
            backfills: loaded.backfills,
            set_aside: BTreeMap::new(),
            calendars: Arc::default(),
        };
        self.shard = Shard::load(self.now, SHARD, Settings::default(), rows, &mut decision);
        self.shard.check_invariants();
        let epoch = self.epoch;
        self.store(decision);
        if self.epoch != epoch {
            // The answer to what followed from the load was lost, and another load has taken its place.
            return;
        }
        for (life, capability) in self.workers.clone().into_values() {
            self.input(Input::WorkerSeen(life, capability));
        }
        for (life, held) in self.held.clone() {
            if self.started.contains(&held.attempt) {
                self.input(Input::Report(life, held.attempt, Report::Started));
            }
        }
    }

    /// What the store has of a run, with the definitions that its origin names.
    fn stored_run(&self, run: LoadedRun) -> StoredRun {
        let LoadedRun { row, origin, jobs, attempts } = run;
        let definition = match (&row.trigger, row.version, &origin.inline) {
            (windlass_core::rows::Trigger::Parent(_), _, _) => {
                self.definition(&row.workflow, origin.pinned[&row.workflow])
            }
            (_, Some(version), None) => self.definition(&row.workflow, version),
            (_, None, Some(inline)) => flow(inline),
            other => panic!("{other:?}"),
        };
        StoredRun { pinned: self.pinned(&origin), row, definition, jobs, attempts }
    }

    fn pinned(&self, origin: &Origin) -> Arc<BTreeMap<Name, Arc<Definition>>> {
        let pinned = origin.pinned.iter();
        Arc::new(pinned.map(|(name, version)| (name.clone(), self.definition(name, *version))).collect())
    }

    fn definition(&self, workflow: &Name, version: u32) -> Arc<Definition> {
        flow(&self.model.version(workflow, version).unwrap().content.source)
    }

    fn send(&mut self, messages: Vec<Message>) {
        for message in messages {
            match message {
                Message::Answer(call, answer) => drop(self.answers.insert(call, answer)),
                Message::Worker(life, ToWorker::Assign(assignment)) => self.held.push((life, *assignment)),
                Message::Worker(_, ToWorker::Settled(_)) => {}
                Message::Worker(life, order) => self.orders.push((life, order)),
                Message::Unused(offer) => self.unused = offer.grants,
                other => panic!("no workflow here needs another home: {other:?}"),
            }
        }
    }

    /// No attempt goes back, and none disappears.
    fn look(&mut self) {
        let filter = Filter { sub_workflows: true, ..Filter::default() };
        let mut now = BTreeMap::new();
        for run in self.model.runs(&filter, None, usize::MAX).runs {
            let attempts = self.model.attempts(run.id, None, usize::MAX);
            now.extend(attempts.into_iter().map(|row| ((row.job, row.number), row)));
        }
        for (key, before) in &self.attempts {
            let row = &now[key];
            assert!(row.fence >= before.fence, "{} went back", row.job);
            let over = matches!(before.state, attempt::State::Ended(end) if end != attempt::End::Returned);
            assert!(!over || row == before, "the end of {} changed: {before:?} to {row:?}", row.job);
        }
        self.attempts = now;
    }
}
