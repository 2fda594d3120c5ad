//! The store as a server: slow, away, and sometimes silent about what it did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::durable::{Batch, GlobalKey, GlobalKind, Revision, Sighting};
use windlass_core::master::input::{
    ClaimFailure, FlightId, Found, Globals, Input, LeaseFailure, Look, Outcome, RegisterFailure, Renewal,
    StoreAnswer, StoreCall,
};
use windlass_core::rows::Change;
use windlass_core::time::Wall;
use windlass_model::{Epoch, Name, OwnerId, RunIdSource, ShardCount, ShardId};
use windlass_store::commit;
use windlass_store::leases::{RegisterError, RenewError};
use windlass_store::memory::{Fate, Model, Ticket};
use windlass_store::opening::StoreId;
use windlass_store::reads::FoundRun;
use windlass_store::resolve::Definitions;
use windlass_store::shards::{ClaimError, LoadedRun};
use windlass_store::versions::NewVersion;
use windlass_workflow::Definition;
use windlass_workflow::version::ContentHash;

use crate::flows::Flows;
use crate::options::Options;
use crate::world::{Event, World};

/// The store.
#[derive(Debug)]
pub struct Store {
    /// What it has.
    pub model: Model,
    /// Until when it is away.
    pub away_until: u64,
    /// How much longer than usual a call takes, one way.
    pub slower: u64,
    /// Workflows whose versions cannot be read.
    pub unreadable: BTreeSet<Name>,
    tickets: u64,
    late: BTreeMap<Ticket, Vec<Batch>>,
    /// Commits that a lane of a process life of a master waits for.
    pub under_way: BTreeMap<(usize, u64, u16), BTreeSet<u64>>,
    /// Commits of a lane of a process life of a master that will fail; whether nobody will know that.
    pub doomed: BTreeMap<(usize, u64, u16, u64), bool>,
    /// When the newest commit of a lane of a process life of a master gets to the store, and all of them at the earliest.
    arrivals: BTreeMap<(usize, u64, u16), u64>,
    earliest: u64,
    /// The owner id of each process life of a master.
    owners: BTreeMap<(usize, u64), OwnerId>,
    /// Who claimed a shard last, and whether it was loaded since.
    claims: BTreeMap<ShardId, (OwnerId, bool)>,
}

impl Store {
    /// A store that has the versions of all workflows, and gave out ids before.
    pub fn new(shards: u16, flows: &Flows, ids_from: Option<i64>) -> Store {
        let mut model = Model::new(StoreId(1), ShardCount::new(shards).expect("a number of shards"));
        for flow in flows.all.iter().filter(|flow| flow.stored) {
            let new = NewVersion {
                workflow: flow.definition.name.clone(),
                hash: ContentHash::of(&flow.definition),
                source: Arc::clone(&flow.source),
                created_by: "somebody".into(),
                created_at: Wall(0),
            };
            model.put_version(&new).expect("a version");
        }
        if let Some(wall) = ids_from {
            give_out_ids(&mut model, wall);
        }
        Store {
            model,
            away_until: 0,
            slower: 0,
            unreadable: BTreeSet::new(),
            tickets: 0,
            late: BTreeMap::new(),
            under_way: BTreeMap::new(),
            doomed: BTreeMap::new(),
            arrivals: BTreeMap::new(),
            earliest: 0,
            owners: BTreeMap::new(),
            claims: BTreeMap::new(),
        }
    }

    /// Commits that are sent from now on get there behind those that were sent before, which all do by then.
    pub fn in_order(&mut self, by: u64) {
        self.arrivals.clear();
        self.earliest = by;
    }

    /// When a commit gets there that could at that time: a lane's begin in the order in which they were sent.
    pub fn arrival(&mut self, number: usize, life: u64, lane: u16, soonest: u64) -> u64 {
        let before = self.arrivals.entry((number, life, lane)).or_default();
        *before = (*before).max(soonest).max(self.earliest);
        *before
    }

    /// The epoch of a shard.
    pub fn epoch(&self, shard: ShardId) -> Epoch {
        self.model.standing(shard).map_or(Epoch::NONE, |(epoch, ..)| epoch)
    }

    /// Turns the dispatch switch.
    pub fn switch(&mut self, on: bool) {
        let key = GlobalKey { kind: GlobalKind::Dispatch, name: "".into() };
        let seen = self.model.global(&key).map_or(Revision::NONE, |row| row.revision);
        let _ = self.model.set_global(&key, seen, Some(if on { "on".into() } else { "off".into() }));
    }

    /// Whether dispatching is on.
    pub fn dispatching(&self) -> bool {
        let key = GlobalKey { kind: GlobalKind::Dispatch, name: "".into() };
        self.model.global(&key).is_none_or(|row| row.value.as_deref() != Some("off"))
    }
}

/// The workflows without some that cannot be read.
struct Readable<'a> {
    flows: &'a Flows,
    but: &'a BTreeSet<Name>,
}

impl Definitions for Readable<'_> {
    fn version(&self, workflow: &Name, number: u32) -> Option<Arc<Definition>> {
        if self.but.contains(workflow) { None } else { self.flows.version(workflow, number) }
    }

    fn inline(&self, source: &str) -> Option<Arc<Definition>> {
        self.flows.inline(source)
    }
}

/// Ids of a millisecond that is nearly used up are given out in every shard.
fn give_out_ids(model: &mut Model, wall: i64) {
    const NEARLY_ALL: usize = 4_094;
    let (owner, name) = (OwnerId(1), Name::new("before").expect("a name"));
    let counter = model.register(owner, &name, None, None).expect("a lease");
    for standing in model.standings() {
        let shard = standing.shard;
        let claimed = model.claim(shard, owner, None).expect("a shard");
        let mut ids = RunIdSource::new(shard, None);
        let last = (0..NEARLY_ALL).filter_map(|_| ids.next_id(wall)).last().expect("an id");
        let mut batch = Batch::empty(shard, claimed.epoch, claimed.commits);
        batch.changes.push(Change::LastRun(last));
        assert!(matches!(model.commit(vec![batch], Fate::Normal), commit::Outcome::Committed));
    }
    model.leave(Sighting { owner, counter }).expect("an end");
}

/// What becomes of a call to the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Luck {
    Fine,
    Fails,
    Unknown,
}

impl World {
    /// How long a call to the store takes, one way.
    pub fn store_delay(&mut self) -> u64 {
        if self.scripted {
            // Always the same: nothing overtakes anything.
            return 1 + self.store.slower;
        }
        if self.quiet {
            return self.random.between(1, 5);
        }
        let ordinary = self.random.between(1, self.options.store_delay.max(1));
        if self.random.chance(self.options.store_slow) {
            ordinary + self.random.stretched(50, 8_000)
        } else {
            ordinary
        }
    }

    /// How much longer than that this call of a master takes to get to the store.
    pub fn held_up(&mut self, number: usize, call: &StoreCall) -> u64 {
        if self.scripted {
            return self.masters[number].stalled_until.saturating_sub(self.time);
        }
        if self.quiet {
            return 0;
        }
        let slow = match call {
            // About as long as a lease lasts.
            StoreCall::Renew(_) if self.random.chance(self.options.renew_slow) => {
                self.random.between(1_000, 5_000)
            }
            StoreCall::Commit(..) => self.slow_commit(),
            _ => 0,
        };
        let stalled = self.masters[number].stalled_until.saturating_sub(self.time);
        // What got stuck does not all get free at the same moment.
        let stuck = stalled > 0 && self.random.chance(400);
        slow + stalled + if stuck { self.random.stretched(200, 12_000) } else { 0 }
    }

    /// How much longer than usual a commit takes, one way.
    fn slow_commit(&mut self) -> u64 {
        let slow = !self.quiet && self.random.chance(self.options.commit_slow / 2);
        if slow { self.random.stretched(50, 12_000) } else { 0 }
    }

    /// What becomes of a call.
    fn luck(&mut self, number: usize, commit: bool) -> Luck {
        let failing = self.masters[number].failing;
        let Options { store_fails, store_unknown, commit_fails, commit_unknown, .. } = self.options;
        let fails = store_fails.max(if commit { commit_fails } else { 0 });
        let unknown = store_unknown.max(if commit { commit_unknown } else { 0 });
        if self.time < self.store.away_until || commit && failing.0 < self.time && self.time < failing.1 {
            Luck::Fails
        } else if self.quiet {
            Luck::Fine
        } else if self.random.chance(fails) {
            Luck::Fails
        } else if self.random.chance(unknown) {
            Luck::Unknown
        } else {
            Luck::Fine
        }
    }

    /// A call reaches the store.
    pub fn store_gets(&mut self, number: usize, life: u64, call: StoreCall) {
        let commits = matches!(call, StoreCall::Commit(..));
        let doomed = match &call {
            StoreCall::Commit(flight, _) => {
                self.store.doomed.remove(&(number, life, flight.lane, flight.number))
            }
            _ => None,
        };
        let luck = match doomed {
            Some(true) if !self.quiet => Luck::Unknown,
            Some(false) if !self.quiet => Luck::Fails,
            Some(_) | None => self.luck(number, commits),
        };
        let owner = match self.masters[number].life == life {
            true => self.masters[number].owner,
            // The process is gone; its call arrives all the same, or not.
            false => match self.store.owners.get(&(number, life)) {
                Some(owner) if luck == Luck::Fine => *owner,
                Some(_) | None => return,
            },
        };
        self.store.owners.insert((number, life), owner);
        let done = luck == Luck::Fine || luck == Luck::Unknown && self.random.chance(600);
        let answer = match call {
            StoreCall::Commit(flight, batches) => self.commit(flight, batches, luck),
            _ if !done => failed(&call),
            StoreCall::Register(seen) => {
                let name = self.masters[number].name.clone();
                StoreAnswer::Registered(match self.store.model.register(owner, &name, None, seen) {
                    Ok(counter) => Ok(counter),
                    Err(RegisterError::NameTaken { holder, .. }) => Err(RegisterFailure::NameTaken(holder)),
                    Err(_) => Err(RegisterFailure::Failed),
                })
            }
            StoreCall::Renew(applied) => self.renew(owner, applied),
            StoreCall::Look => StoreAnswer::Looked(Some(Look {
                leases: self.store.model.leases(),
                standings: self.store.model.standings(),
            })),
            StoreCall::Leave(seen) => StoreAnswer::Left(self.store.model.leave(seen).is_ok()),
            StoreCall::Claim(shard, seen) => {
                let answer = match self.store.model.claim(shard, owner, seen) {
                    Ok(claimed) => {
                        self.judge.claimed(shard, claimed.epoch);
                        if let Some((before, false)) = self.store.claims.insert(shard, (owner, false))
                            && before != owner
                        {
                            self.reach.hit("take-over during take-over");
                        }
                        Ok(claimed)
                    }
                    Err(ClaimError::Held { holder, .. }) => Err(ClaimFailure::Held(holder)),
                    Err(ClaimError::NotRegistered { .. }) => Err(ClaimFailure::NotRegistered),
                    Err(_) => Err(ClaimFailure::Failed),
                };
                StoreAnswer::Claimed(shard, answer)
            }
            StoreCall::Load(shard, epoch) => {
                let rows = self.store.model.load(shard, epoch).ok().map(|loaded| {
                    self.store.claims.insert(shard, (owner, true));
                    let readable = Readable { flows: &self.flows, but: &self.store.unreadable };
                    let (rows, unreadable) = loaded.resolve(epoch, &readable);
                    assert!(unreadable.is_empty() || !self.store.unreadable.is_empty(), "{unreadable:?}");
                    Box::new(rows)
                });
                StoreAnswer::Loaded(shard, epoch, rows)
            }
            StoreCall::NewestRun(shard, inquiry) => {
                let found = self.store.model.newest_run(shard, &inquiry.workflow, inquiry.logical_time);
                let found = found.map(|FoundRun { row, origin }| {
                    let jobs = self.store.model.jobs(row.id, None, usize::MAX);
                    let attempts = self.store.model.attempts(row.id, None, usize::MAX);
                    let run = LoadedRun { row, origin, jobs, attempts }.resolve(&*self.flows);
                    Found::Run(Box::new(run.expect("a run that can be read")))
                });
                StoreAnswer::NewestRun(shard, inquiry, found.unwrap_or(Found::Nothing))
            }
            StoreCall::Release(shard, epoch) => {
                let done = self.store.model.release(shard, owner, epoch).is_ok();
                StoreAnswer::Released(shard, done)
            }
        };
        let answer = if luck == Luck::Unknown { lost(answer) } else { answer };
        self.note_outcome(number, life, &answer);
        let delay = match luck {
            Luck::Fine if commits => self.store_delay() + self.slow_commit(),
            Luck::Fine => self.store_delay(),
            Luck::Fails | Luck::Unknown => self.store_delay() + self.random.stretched(1, 1_500),
        };
        let mut stuck = self.masters[number].deaf_until.saturating_sub(self.time);
        if let StoreAnswer::Renewed(_) = answer {
            stuck += std::mem::take(&mut self.masters[number].renewal_late);
        }
        self.after(delay + stuck, Event::Master(number, life, Box::new(Input::Stored(answer))));
    }

    fn renew(&mut self, owner: OwnerId, applied: Revision) -> StoreAnswer {
        StoreAnswer::Renewed(match self.store.model.renew(owner, applied) {
            Ok(renewed) => Ok(Box::new(Renewal {
                counter: renewed.counter,
                owned: renewed.owned,
                revision: renewed.revision,
                globals: (renewed.revision != applied)
                    .then(|| Globals { dispatching: self.store.dispatching(), ..Globals::default() }),
            })),
            Err(RenewError::NotRegistered { .. }) => Err(LeaseFailure::NotRegistered),
            Err(_) => Err(LeaseFailure::Failed),
        })
    }

    fn commit(&mut self, flight: FlightId, batches: Vec<Batch>, luck: Luck) -> StoreAnswer {
        let fate = match luck {
            Luck::Fine => Fate::Normal,
            Luck::Fails => Fate::UnavailableNotApplied,
            Luck::Unknown => match self.random.below(3) {
                0 => Fate::UnknownApplied,
                1 => Fate::UnknownNotApplied,
                _ => {
                    self.store.tickets += 1;
                    let ticket = Ticket(self.store.tickets);
                    self.store.late.insert(ticket, batches.clone());
                    let delay = self.random.between(1, 9_000);
                    self.after(delay, Event::Land(ticket));
                    Fate::UnknownAppliedLater(ticket)
                }
            },
        };
        let before = self.standing(&batches);
        let copy = batches.clone();
        let outcome = self.store.model.commit(batches, fate);
        if self.standing(&copy) != before {
            self.judge_commit(&copy);
        }
        let outcome = match outcome {
            commit::Outcome::Committed => Outcome::Committed,
            commit::Outcome::Fenced(_) => {
                self.reach.hit("stale fence refused");
                Outcome::Fenced
            }
            commit::Outcome::Rejected(rejected) => {
                self.judge.rejected(&rejected);
                let why = rejected.why.to_string().into();
                Outcome::Rejected { shard: rejected.shard, index: rejected.index, run: rejected.run, why }
            }
            commit::Outcome::Unavailable(_) | commit::Outcome::Unknown(_) => Outcome::Failed,
        };
        StoreAnswer::Committed(flight, outcome)
    }

    /// A commit of unknown outcome lands, or is refused.
    pub fn land(&mut self, ticket: Ticket) {
        let Some(batches) = self.store.late.remove(&ticket) else { return };
        match self.store.model.land(ticket) {
            Some(commit::Outcome::Committed) => {
                self.reach.hit("unknown commit applied later");
                self.judge_commit(&batches);
            }
            Some(_) => self.reach.hit("late commit refused"),
            None => {}
        }
    }

    fn standing(&self, batches: &[Batch]) -> Vec<Option<u64>> {
        let commits = |batch: &Batch| self.store.model.standing(batch.shard).map(|(_, commits, _)| commits.0);
        batches.iter().map(commits).collect()
    }

    fn judge_commit(&mut self, batches: &[Batch]) {
        for batch in batches {
            if self.judge.catches_up(batch) {
                self.reach.hit("catch-up");
            }
            if self.judge.moves_permit(batch) {
                self.reach.hit("permit moved between shards");
            }
            self.judge.stored(batch);
        }
        self.judge.check_limits();
    }

    /// Notes whether something was decided behind a commit that failed.
    fn note_outcome(&mut self, number: usize, life: u64, answer: &StoreAnswer) {
        let StoreAnswer::Committed(flight, outcome) = answer else { return };
        let lane = self.store.under_way.entry((number, life, flight.lane)).or_default();
        lane.remove(&flight.number);
        if *outcome == Outcome::Failed && lane.iter().any(|later| *later > flight.number) {
            self.reach.hit("batch void behind an unknown one");
        }
    }
}

/// The answer to a call that was not done.
fn failed(call: &StoreCall) -> StoreAnswer {
    match call {
        StoreCall::Register(_) => StoreAnswer::Registered(Err(RegisterFailure::Failed)),
        StoreCall::Renew(_) => StoreAnswer::Renewed(Err(LeaseFailure::Failed)),
        StoreCall::Look => StoreAnswer::Looked(None),
        StoreCall::Leave(_) => StoreAnswer::Left(false),
        StoreCall::Claim(shard, _) => StoreAnswer::Claimed(*shard, Err(ClaimFailure::Failed)),
        StoreCall::Load(shard, epoch) => StoreAnswer::Loaded(*shard, *epoch, None),
        StoreCall::Release(shard, _) => StoreAnswer::Released(*shard, false),
        StoreCall::NewestRun(shard, inquiry) => {
            StoreAnswer::NewestRun(*shard, inquiry.clone(), Found::Failed)
        }
        StoreCall::Commit(flight, _) => StoreAnswer::Committed(*flight, Outcome::Failed),
    }
}

/// The answer to a call that was done, and of which nobody hears.
fn lost(answer: StoreAnswer) -> StoreAnswer {
    match answer {
        StoreAnswer::Registered(_) => StoreAnswer::Registered(Err(RegisterFailure::Failed)),
        StoreAnswer::Renewed(_) => StoreAnswer::Renewed(Err(LeaseFailure::Failed)),
        StoreAnswer::Looked(_) => StoreAnswer::Looked(None),
        StoreAnswer::Left(_) => StoreAnswer::Left(false),
        StoreAnswer::Claimed(shard, _) => StoreAnswer::Claimed(shard, Err(ClaimFailure::Failed)),
        StoreAnswer::Loaded(shard, epoch, _) => StoreAnswer::Loaded(shard, epoch, None),
        StoreAnswer::Released(shard, _) => StoreAnswer::Released(shard, false),
        StoreAnswer::NewestRun(shard, inquiry, _) => StoreAnswer::NewestRun(shard, inquiry, Found::Failed),
        StoreAnswer::Committed(flight, _) => StoreAnswer::Committed(flight, Outcome::Failed),
    }
}

/// The home of a workflow.
pub fn home(shards: u16, name: &Name) -> ShardId {
    ShardCount::new(shards).expect("a number of shards").home("workflow", name.as_str())
}
