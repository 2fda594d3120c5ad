//! A shard, a few workers and a clock, all in the test's hand.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use windlass_core::attempt;
use windlass_core::job;
use windlass_core::requirement::Capability;
use windlass_core::rows::{
    AlertNote, AttemptRow, BackfillId, BackfillRow, Change, FiringRow, GangStage, InboxRow, JobRow, Key,
    KeyRow, ListenerRow, OutboxId, OutboxRow, RunRow, ScheduleRow, Selection, TailRow, Trigger, Values,
    WorkflowRow,
};
use windlass_core::run;
use windlass_core::shard::input::{
    Answer, Assignment, Call, CallId, Command, Control, CreateRun, Decision, Input, Message, Offer,
    PutWorkflow, Report, Settings, ToWorker, WorkerLife,
};
use windlass_core::shard::load::{Rows, StoredRun};
use windlass_core::shard::pools::Ask;
use windlass_core::shard::schedules::StoredWorkflow;
use windlass_core::shard::set_aside::SetAside;
use windlass_core::shard::{Reason, Shard};
use windlass_core::time::{Mono, Now, Wall};
use windlass_core::wire::{GrantId, Inventory, Round};
use windlass_model::{
    AttemptId, AttemptNumber, Duration, Epoch, Incarnation, JobId, JobNumber, Name, RunId, ShardId, WorkerId,
};
use windlass_workflow::Definition;
use windlass_workflow::cron::Calendar;
use windlass_workflow::expr::Value;

/// The definition in a workflow file.
pub fn flow(yaml: &str) -> Arc<Definition> {
    match windlass_workflow::from_text(yaml.as_bytes()) {
        Ok(checked) => checked.definition,
        Err(wrong) => panic!("{}\nin\n{yaml}", wrong[0].render("test")),
    }
}

/// What is stored, and who runs what.
pub struct World {
    pub shard: Shard,
    pub now: Now,
    pub runs: BTreeMap<RunId, RunRow>,
    pub attempts: BTreeMap<(JobId, AttemptNumber), AttemptRow>,
    pub tails: BTreeMap<(JobId, AttemptNumber), Arc<str>>,
    pub jobs: BTreeMap<JobId, JobRow>,
    /// Assigned or running, by worker.
    pub held: Vec<(WorkerLife, Assignment)>,
    /// Attempts whose worker has said that they started.
    pub started: BTreeSet<AttemptId>,
    /// Kills and recalls that no worker has acted on yet.
    pub orders: Vec<(WorkerLife, ToWorker)>,
    /// What was left of the last offer.
    unused: Vec<GrantId>,
    pub answers: BTreeMap<CallId, Answer>,
    pub keys: Vec<KeyRow>,
    pub last: Option<RunId>,
    /// Messages between homes that have not arrived.
    pub mail: VecDeque<Input>,
    pub pools: BTreeMap<Name, u32>,
    pub permits: BTreeMap<(Name, JobId), Ask>,
    epoch: Epoch,
    pub workflows: BTreeMap<Name, WorkflowRow>,
    pub schedules: BTreeMap<(Name, Arc<str>), ScheduleRow>,
    pub firings: BTreeMap<(Name, Arc<str>, Wall), FiringRow>,
    pub calendars: Arc<BTreeMap<Name, Calendar>>,
    pub stored: BTreeMap<Name, Arc<Definition>>,
    pub listeners: BTreeMap<(Name, Name), ListenerRow>,
    pub inbox: BTreeMap<(Name, Name), InboxRow>,
    pub outbox: BTreeMap<OutboxId, OutboxRow>,
    pub backfills: BTreeMap<BackfillId, BackfillRow>,
    /// Every alert that went out, also again.
    pub alerts: Vec<(OutboxId, Arc<AlertNote>)>,
    /// Every row that the outbox ever had.
    pub posted: Vec<OutboxRow>,
    /// Every end of every run.
    pub ends: Vec<(RunId, run::State)>,
    id: ShardId,
    pub definitions: BTreeMap<RunId, Arc<Definition>>,
    /// Open runs that cannot be read.
    pub set_aside: BTreeSet<RunId>,
    workers: BTreeMap<WorkerId, (WorkerLife, Capability)>,
    pub pinned: Arc<BTreeMap<Name, Arc<Definition>>>,
    calls: u64,
    steps: u64,
    /// Everything that must hold is checked after so many steps: each, unless a test is too large for that.
    pub check_every: u64,
}

pub fn life(number: u64) -> WorkerLife {
    WorkerLife { worker: WorkerId(number), incarnation: Incarnation(1) }
}

impl World {
    pub fn new() -> World {
        World::of(ShardId::LEADER)
    }

    pub fn of(id: ShardId) -> World {
        World {
            id,
            posted: Vec::new(),
            ends: Vec::new(),
            listeners: BTreeMap::new(),
            inbox: BTreeMap::new(),
            outbox: BTreeMap::new(),
            backfills: BTreeMap::new(),
            alerts: Vec::new(),
            shard: Shard::new(id, Settings::default(), None),
            now: Now { mono: Mono(1_000), wall: Wall(1_780_000_000_000) },
            runs: BTreeMap::new(),
            attempts: BTreeMap::new(),
            tails: BTreeMap::new(),
            jobs: BTreeMap::new(),
            held: Vec::new(),
            started: BTreeSet::new(),
            orders: Vec::new(),
            unused: Vec::new(),
            answers: BTreeMap::new(),
            keys: Vec::new(),
            last: None,
            mail: VecDeque::new(),
            pools: BTreeMap::new(),
            permits: BTreeMap::new(),
            epoch: Epoch(1),
            workflows: BTreeMap::new(),
            schedules: BTreeMap::new(),
            firings: BTreeMap::new(),
            calendars: Arc::default(),
            stored: BTreeMap::new(),
            definitions: BTreeMap::new(),
            workers: BTreeMap::new(),
            pinned: Arc::default(),
            calls: 0,
            steps: 0,
            check_every: 1,
            set_aside: BTreeSet::new(),
        }
    }

    /// With one worker of many slots.
    pub fn with_worker() -> World {
        let mut world = World::new();
        world.worker(life(1), Capability { slots: 100, ..Capability::default() });
        world
    }

    pub fn worker(&mut self, life: WorkerLife, capability: Capability) {
        self.workers.insert(life.worker, (life, capability.clone()));
        self.input(Input::WorkerSeen(life, Arc::new(capability)));
    }

    /// Handles one input, stores and delivers what follows, and checks everything that must hold.
    pub fn input(&mut self, input: Input) {
        let mut decision = Decision::default();
        self.shard.handle(self.now, input, &mut decision);
        self.carry_out(decision);
    }

    fn carry_out(&mut self, decision: Decision) {
        for change in decision.changes {
            match change {
                Change::Run(row) => {
                    if let (false, Some(stored)) =
                        (self.definitions.contains_key(&row.id), self.stored.get(&row.workflow))
                    {
                        self.definitions.insert(row.id, Arc::clone(stored));
                    }
                    // One that was over may have been reopened and have ended in the same decision.
                    if matches!(row.state, run::State::Ended(_)) {
                        self.ends.push((row.id, row.state));
                    }
                    self.runs.insert(row.id, (*row).clone());
                }
                Change::Attempt(row) => self.store_attempt(row),
                Change::Tail(row) => self.store_tail(row),
                Change::Job(row) => {
                    self.jobs.insert(row.job, row);
                }
                Change::Key(row) => self.keys.push(row),
                Change::Pool(name, limit) => {
                    self.pools.insert(name, limit);
                }
                Change::PoolGone(name) => {
                    self.pools.remove(&name).expect("a pool");
                }
                Change::Permit(name, ask) => {
                    self.permits.insert((name, ask.job), ask);
                }
                Change::PermitGone(name, ask) => {
                    self.permits.remove(&(name, ask.job));
                }
                Change::Workflow(row) => {
                    self.workflows.insert(row.name.clone(), row);
                }
                Change::WorkflowGone(name) => {
                    self.workflows.remove(&name).expect("a workflow");
                }
                Change::Schedule(row) => self.store_schedule(row),
                Change::ScheduleGone(workflow, schedule) => {
                    self.schedules.remove(&(workflow, schedule));
                }
                Change::Firing(row) => {
                    self.firings
                        .insert((row.workflow.clone(), Arc::clone(&row.schedule), row.first_due), row);
                }
                Change::LastRun(id) => self.last = Some(id),
                Change::Listener(row) => {
                    self.listeners.insert((row.source.clone(), row.listener.clone()), row);
                }
                Change::ListenerGone(source, listener) => {
                    self.listeners.remove(&(source, listener)).expect("a listener");
                }
                Change::Inbox(row) => {
                    let key = (row.listener.clone(), row.source.clone());
                    let before = self.inbox.insert(key, row.clone());
                    assert!(before.is_none_or(|before| before.last < row.last), "{row:?} went back");
                }
                Change::Outbox(row) => {
                    self.posted.push(row.clone());
                    assert!(self.outbox.insert(row.id, row).is_none(), "an id used twice");
                }
                Change::OutboxGone(id) => {
                    self.outbox.remove(&id).expect("something to be told");
                }
                Change::Backfill(row) => self.store_backfill(row),
            }
        }
        for message in decision.messages {
            match message {
                Message::Answer(call, answer) => {
                    self.answers.insert(call, answer);
                }
                Message::Worker(life, ToWorker::Assign(assignment)) => self.held.push((life, *assignment)),
                Message::Worker(_, ToWorker::Settled(_)) => {}
                Message::ToPool(name, message) => self.mail.push_back(Input::ToPool(name, message)),
                Message::FromPool(name, message) => self.mail.push_back(Input::FromPool(name, message)),
                Message::ToHome(name, message) => self.mail.push_back(Input::ToHome(name, message)),
                Message::FromHome(name, message) => self.mail.push_back(Input::FromHome(name, message)),
                // The store is read now; its answer may come late.
                Message::Lookup(inquiry) => {
                    let found = self.newest_run(&inquiry.workflow, inquiry.logical_time);
                    self.mail.push_back(Input::Found(inquiry, found));
                }
                Message::Deliver(id, note) => {
                    self.alerts.push((id, note));
                    self.mail.push_back(Input::Delivered(id));
                }
                Message::Worker(life, order) => {
                    if let ToWorker::Go(attempt) = order {
                        self.check_go(attempt);
                    }
                    self.orders.push((life, order));
                }
                Message::Unused(offer) => self.unused = offer.grants,
            }
        }
        self.steps += 1;
        if self.steps.is_multiple_of(self.check_every) {
            self.shard.check_invariants();
            self.check_pools();
        }
    }

    /// Nothing is told to go before that is stored, and before every member has an attempt or is over.
    fn check_go(&self, attempt: AttemptId) {
        let run = &self.runs[&attempt.job.run];
        let definition = self.stored_run(run).definition;
        let gang = definition.tasks[attempt.job.number.0 as usize].gang.clone();
        let row = run.gangs.iter().find(|row| Some(&row.gang) == gang.as_ref());
        assert_eq!(row.map(|row| row.stage), Some(GangStage::Go), "{attempt} goes");
        let members = definition.tasks.iter().enumerate().filter(|(_, task)| task.gang == gang);
        for number in members.map(|(index, _)| JobNumber(index as u32)) {
            let job = JobId { run: run.id, number };
            let newest = self.attempts.values().filter(|row| row.job == job).max_by_key(|row| row.fence);
            let takes_part = match newest {
                Some(row) => row.state != attempt::State::Ended(attempt::End::Returned),
                None => self.jobs.contains_key(&job),
            };
            let forced = self.jobs.get(&job).is_some_and(|row| matches!(row.state, job::State::Ended(_)));
            assert!(takes_part || forced, "{attempt} goes without {job}");
        }
    }

    /// Never more attempts of a pool than it has permits.
    fn check_pools(&self) {
        for (pool, limit) in &self.pools {
            let open = |row: &&AttemptRow| row.state == attempt::State::Assigned && row.permit.is_some();
            let holders = self.attempts.values().filter(open).count();
            assert!(holders <= *limit as usize, "{holders} hold permits of {pool}, which has {limit}");
        }
    }

    /// Every message between homes arrives, and those that follow.
    pub fn deliver(&mut self) {
        while let Some(input) = self.mail.pop_front() {
            self.input(input);
        }
    }

    /// The shard's memory is lost; another owner loads it from what is stored. Workers that are in touch
    /// say what they have.
    pub fn reload(&mut self) {
        self.load();
        self.tell();
    }

    /// The shard's memory is lost; another owner loads it, and has heard of no worker.
    pub fn load(&mut self) {
        let open =
            |row: &&RunRow| !matches!(row.state, run::State::Ended(_)) && !self.set_aside.contains(&row.id);
        let stored = self.runs.values().filter(open).map(|row| self.stored_run(row));
        let mut decision = Decision::default();
        let stored: Vec<_> = stored.collect();
        let workflows = self.workflows.values().map(|row| self.stored_workflow(row)).collect();
        self.epoch = self.epoch.next();
        let permits = |pool: &Name| {
            self.permits.iter().filter(|((name, _), _)| name == pool).map(|(_, ask)| *ask).collect()
        };
        let rows = Rows {
            last: self.last,
            epoch: self.epoch,
            pools: self.pools.iter().map(|(name, limit)| (name.clone(), *limit, permits(name))).collect(),
            keys: self.keys.clone(),
            runs: stored,
            workflows,
            listeners: self.listeners.values().cloned().collect(),
            inbox: self.inbox.values().cloned().collect(),
            outbox: self.outbox.values().cloned().collect(),
            backfills: self.backfills.values().filter(|row| !row.state.is_over()).cloned().collect(),
            set_aside: self
                .set_aside
                .iter()
                .map(|id| {
                    let stored = self.stored_run(&self.runs[id]);
                    let why = "its definition is not there".into();
                    (*id, Some(Box::new(SetAside { row: stored.row, attempts: stored.attempts, why })))
                })
                .collect(),
            calendars: Arc::clone(&self.calendars),
        };
        self.shard = Shard::load(self.now, self.id, Settings::default(), rows, &mut decision);
        self.carry_out(decision);
    }

    /// Workers say to a new owner that they are there, and what has started.
    pub fn tell(&mut self) {
        for (life, capability) in self.workers.clone().into_values() {
            self.input(Input::WorkerSeen(life, Arc::new(capability)));
        }
        let lives: BTreeSet<_> = self.held.iter().map(|(life, _)| *life).collect();
        for life in lives {
            self.input(Input::Inventory(self.inventory(life)));
        }
    }

    /// Everything that a worker has.
    pub fn inventory(&self, life: WorkerLife) -> Inventory {
        let has = self.held.iter().filter(|(of, _)| *of == life).map(|(_, held)| held.attempt);
        let (running, queued) = has.partition(|attempt| self.started.contains(attempt));
        let (held, finished) = (Vec::new(), Vec::new());
        Inventory {
            life,
            shard: self.id,
            epoch: self.epoch,
            round: Round(0),
            queued,
            held,
            running,
            finished,
        }
    }

    /// The newest run of a workflow and logical time that others can wait for.
    fn newest_run(&self, workflow: &Name, logical_time: Wall) -> Option<Box<StoredRun>> {
        let is = |row: &&RunRow| {
            row.workflow == *workflow
                && row.logical_time == logical_time
                && row.version.is_some()
                && !matches!(row.trigger, Trigger::Parent(_))
        };
        self.runs.values().rfind(is).map(|row| Box::new(self.stored_run(row)))
    }

    /// The cursor only moves forward, and the plan never changes.
    fn store_backfill(&mut self, row: BackfillRow) {
        if let Some(before) = self.backfills.get(&row.id) {
            assert!(row.cursor >= before.cursor && row.times == before.times, "{before:?} became {row:?}");
            assert!(!before.state.is_over(), "{before:?} was over");
        }
        self.backfills.insert(row.id, row);
    }

    /// An attempt's end never changes; a fence only rises.
    fn store_attempt(&mut self, row: AttemptRow) {
        let key = (row.job, row.number);
        if let Some(before) = self.attempts.get(&key) {
            assert!(row.fence >= before.fence, "{} went back", row.job);
            let over = matches!(before.state, attempt::State::Ended(end) if end != attempt::End::Returned);
            assert!(!over || *before == row, "the end of {} changed: {before:?} to {row:?}", row.job);
        }
        self.attempts.insert(key, row);
    }

    /// What an attempt printed comes with its end.
    fn store_tail(&mut self, row: TailRow) {
        let state = self.attempts.get(&(row.job, row.number)).map(|row| row.state);
        assert!(matches!(state, Some(attempt::State::Ended(_))), "{row:?} of an attempt in {state:?}");
        self.tails.insert((row.job, row.number), row.text);
    }

    pub fn stored_run(&self, row: &RunRow) -> StoredRun {
        StoredRun {
            row: row.clone(),
            definition: match self.definitions.get(&row.id) {
                Some(definition) => Arc::clone(definition),
                None => {
                    Arc::clone(self.pinned.get(&row.workflow).unwrap_or_else(|| &self.stored[&row.workflow]))
                }
            },
            pinned: Arc::clone(&self.pinned),
            jobs: self.jobs.values().filter(|job| job.job.run == row.id).cloned().collect(),
            attempts: self.attempts.values().filter(|attempt| attempt.job.run == row.id).cloned().collect(),
        }
    }

    fn stored_workflow(&self, row: &WorkflowRow) -> StoredWorkflow {
        let newest = |schedule: &ScheduleRow| {
            let of =
                |firing: &&FiringRow| (&firing.workflow, &firing.schedule) == (&row.name, &schedule.schedule);
            self.firings.values().rfind(of).cloned()
        };
        let schedules = self.schedules.values().filter(|schedule| schedule.workflow == row.name);
        StoredWorkflow {
            row: row.clone(),
            definition: Arc::clone(&self.stored[&row.name]),
            pinned: Arc::clone(&self.pinned),
            schedules: schedules.map(|schedule| (schedule.clone(), newest(schedule))).collect(),
        }
    }

    /// A cursor only moves forward.
    fn store_schedule(&mut self, row: ScheduleRow) {
        let key = (row.workflow.clone(), Arc::clone(&row.schedule));
        if let Some(before) = self.schedules.get(&key) {
            assert!(row.cursor >= before.cursor && row.anchor == before.anchor, "{before:?} became {row:?}");
        }
        self.schedules.insert(key, row);
    }

    /// Stores a workflow.
    pub fn put(&mut self, definition: &Arc<Definition>) {
        self.calls += 1;
        self.stored.insert(definition.name.clone(), Arc::clone(definition));
        let put = PutWorkflow {
            expected: None,
            by: "me".into(),
            definition: Arc::clone(definition),
            version: 1,
            pinned: Arc::clone(&self.pinned),
            versions: Arc::default(),
        };
        self.input(Input::Call(CallId(self.calls), Call::PutWorkflow(Box::new(put))));
    }

    pub fn submit(&mut self, definition: &Arc<Definition>) -> RunId {
        self.submit_with(definition, Values::new(), Selection::All)
    }

    pub fn submit_with(
        &mut self,
        definition: &Arc<Definition>,
        params: Values,
        selection: Selection,
    ) -> RunId {
        let key = format!("key-{}", self.calls);
        match self.create(definition, params, selection, &key, 0) {
            Answer::Created(run) => {
                self.definitions.insert(run, Arc::clone(definition));
                run
            }
            other => panic!("{other:?}"),
        }
    }

    /// Submits a run of a stored workflow about a time.
    pub fn submit_at(&mut self, workflow: &str, logical_time: Wall) -> Answer {
        let name = Name::new(workflow).unwrap();
        let definition = Arc::clone(&self.stored[&name]);
        let key = format!("at-{}-{}", self.calls, self.now.mono.0);
        let pinned = Arc::clone(&self.pinned);
        let wanted = CreateRun {
            key: Key { principal: "me".into(), key: key.into() },
            body: 0,
            definition,
            version: Some(1),
            origin: Arc::default(),
            pinned,
            params: Arc::default(),
            logical_time,
            labels: None,
            run_at: None,
            priority: None,
            selection: Selection::All,
            rerun_of: None,
            known: None,
        };
        self.call(Call::Create(Box::new(wanted)))
    }

    pub fn create(
        &mut self,
        definition: &Arc<Definition>,
        params: Values,
        selection: Selection,
        key: &str,
        body: u64,
    ) -> Answer {
        self.calls += 1;
        let call = CallId(self.calls);
        let wanted = CreateRun {
            key: Key { principal: "me".into(), key: key.into() },
            body,
            known: None,
            definition: Arc::clone(definition),
            version: Some(1),
            pinned: Arc::clone(&self.pinned),
            origin: Arc::default(),
            params: Arc::new(params),
            logical_time: self.now.wall,
            labels: None,
            run_at: None,
            priority: None,
            selection,
            rerun_of: None,
        };
        self.input(Input::Call(call, Call::Create(Box::new(wanted))));
        self.answers.remove(&call).expect("an answer")
    }

    pub fn control(&mut self, run: RunId, command: Command) -> Answer {
        self.calls += 1;
        let call = CallId(self.calls);
        let over = self.runs.get(&run).is_some_and(|row| matches!(row.state, run::State::Ended(_)));
        let stored = over.then(|| Box::new(self.stored_run(&self.runs[&run])));
        self.input(Input::Call(
            call,
            Call::Control(Control { by: "me".into(), run, command, comment: None, stored }),
        ));
        self.answers.remove(&call).expect("an answer")
    }

    /// Drops the orders that workers were given, and says which kinds they were.
    pub fn lose_orders(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.orders).into_iter().map(|(_, order)| kind(&order)).collect()
    }

    /// The stored row of the newest attempt of a job.
    pub fn newest(&self, run: RunId, number: u32) -> &AttemptRow {
        let job = JobId { run, number: JobNumber(number) };
        let of_it = self.attempts.values().filter(|row| row.job == job);
        of_it.max_by_key(|row| row.fence).expect("an attempt")
    }

    /// Offers slots of worker 1.
    pub fn offer(&mut self, slots: u32) {
        self.offer_to(life(1), slots);
    }

    /// Offers so many slots of every worker.
    fn offer_all(&mut self, slots: u32) {
        let lives: Vec<_> = self.workers.values().map(|(life, _)| *life).collect();
        for life in lives {
            self.offer_to(life, slots);
        }
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

    pub fn call(&mut self, what: Call) -> Answer {
        self.calls += 1;
        let call = CallId(self.calls);
        self.input(Input::Call(call, what));
        self.answers.remove(&call).expect("an answer")
    }

    pub fn pass(&mut self, duration: Duration) {
        self.now.mono = self.now.mono.after(duration);
        self.now.wall = self.now.wall.after(duration);
        self.input(Input::Woken);
    }

    /// The tasks that workers hold, in the order they were assigned.
    pub fn held_tasks(&self) -> Vec<String> {
        self.held.iter().map(|(_, assignment)| self.task_of(assignment.attempt.job)).collect()
    }

    pub fn task_of(&self, job: JobId) -> String {
        let expansion = |run: &RunRow| {
            run.expansions
                .iter()
                .rfind(|one| one.base <= job.number)
                .map(|one| (one.task, job.number.0 - one.base.0))
        };
        match self.runs.get(&job.run).and_then(expansion) {
            Some((task, item)) => format!("{}[{item}]", task.0),
            None => job.number.0.to_string(),
        }
    }

    /// A worker says that the assignment at this place of `held` started.
    pub fn start(&mut self, place: usize) {
        let (life, assignment) = self.held[place].clone();
        self.started.insert(assignment.attempt);
        self.input(Input::Report(life, assignment.attempt, Report::Started));
    }

    /// A worker reports on the assignment at this place of `held`, and drops it.
    pub fn report(&mut self, place: usize, report: Report) {
        let (life, assignment) = self.held.remove(place);
        self.input(Input::Report(life, assignment.attempt, report));
    }

    pub fn succeed(&mut self, place: usize) {
        self.report(place, ok());
    }

    pub fn fail(&mut self, place: usize) {
        self.report(
            place,
            Report::Exited { success: false, reason: "exit code 1".into(), outputs: None, process: None },
        );
    }

    /// Workers do what they were told: end what shall end, give back what has not started.
    pub fn obey(&mut self) {
        for (life, order) in std::mem::take(&mut self.orders) {
            let (attempt, report) = match order {
                ToWorker::Kill(attempt, why) => (attempt, Report::Killed(why, None)),
                ToWorker::Recall(attempt) if self.started.contains(&attempt) => (attempt, Report::Started),
                ToWorker::Recall(attempt) => (attempt, Report::GivenBack),
                ToWorker::Go(attempt) => (attempt, Report::Started),
                ToWorker::Assign(_) | ToWorker::Settled(_) => continue,
            };
            match self.held.iter().position(|(_, held)| held.attempt == attempt) {
                Some(place) if report == Report::Started => self.start(place),
                Some(place) => {
                    self.held.remove(place);
                    self.input(Input::Report(life, attempt, report));
                }
                // What a worker does not know it bars, and says so. Another life of it refuses the order.
                None if self.workers.get(&life.worker).is_some_and(|(current, _)| *current == life) => {
                    self.input(Input::Report(life, attempt, Report::GivenBack));
                }
                None => {}
            }
        }
    }

    /// Workers say of everything that they hold for a gang that they do.
    pub fn hold(&mut self) {
        for (life, held) in self.held.clone() {
            if held.hold && !self.started.contains(&held.attempt) {
                self.input(Input::Report(life, held.attempt, Report::Held));
            }
        }
    }

    /// Whether an attempt has started, or may do so by itself.
    pub fn may_run(&self, assignment: &Assignment) -> bool {
        !assignment.hold || self.started.contains(&assignment.attempt)
    }

    /// Runs everything to its end; every attempt succeeds.
    pub fn finish(&mut self) {
        for _ in 0..100_000 {
            self.deliver();
            self.offer_all(10);
            self.deliver();
            self.offer_all(10);
            self.obey();
            self.hold();
            self.obey();
            match self.held.iter().position(|(_, held)| self.may_run(held)) {
                Some(place) => self.succeed(place),
                None => match self.shard.wants().wake_at {
                    Some(when) => self.pass(when.since(self.now.mono).max(Duration::from_millis(1))),
                    None => return,
                },
            }
        }
        panic!("it does not come to an end");
    }

    pub fn state(&self, run: RunId) -> run::State {
        self.runs[&run].state
    }

    /// How a job ended or waits, by what is stored of it.
    pub fn job(&self, run: RunId, number: u32) -> Option<job::State> {
        self.jobs.get(&JobId { run, number: JobNumber(number) }).map(|row| row.state)
    }

    pub fn why(&self, run: RunId, number: u32) -> Vec<Reason> {
        self.shard.why(JobId { run, number: JobNumber(number) }).unwrap_or_default()
    }
}

fn kind(order: &ToWorker) -> &'static str {
    match order {
        ToWorker::Assign(_) => "assign",
        ToWorker::Kill(..) => "kill",
        ToWorker::Recall(_) => "recall",
        ToWorker::Settled(_) => "settled",
        ToWorker::Go(_) => "go",
    }
}

pub fn ok() -> Report {
    Report::Exited { success: true, reason: "".into(), outputs: None, process: None }
}

pub fn outputs(pairs: &[(&str, i64)]) -> Report {
    let values = pairs.iter().map(|(key, value)| (Arc::from(*key), Value::Int(*value))).collect();
    Report::Exited { success: true, reason: "".into(), outputs: Some(Arc::new(values)), process: None }
}
