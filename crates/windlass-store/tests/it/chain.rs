//! Masters that come, go, crash and lose answers, beside a ledger of a few numbers that says what the store
//! must do. Whatever happens: epochs rise, an epoch has one owner, and what a shard accepted is one chain.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::rows::{Change, RunRow, Selection, Trigger};
use windlass_core::run;
use windlass_core::time::Wall;
use windlass_model::{Epoch, Name, OwnerId, Priority, RunId, RunIdSource, ShardCount, ShardId};
use windlass_store::Store;
use windlass_store::commit::{Batch, Origin, Outcome};
use windlass_store::globals::Revision;
use windlass_store::leases::Sighting;
use windlass_store::memory::{Fate, MemoryStore, Ticket};
use windlass_store::opening::StoreId;
use windlass_store::reads::Filter;
use windlass_store::shards::Commits;

use crate::ready::ready;

const MASTERS: u8 = 3;
const SHARDS: u16 = 2;

/// Something that a master does; numbers choose masters and shards.
#[derive(Clone, Debug)]
enum Step {
    Register(u8),
    Renew(u8),
    Look(u8),
    Claim(u8, u16),
    Release(u8, u16),
    Leave(u8),
    Crash(u8),
    Commit(u8, u16, u8),
    Stale(u8, u16, u8),
    Land(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let who = 0..MASTERS;
    let shard = 0..SHARDS;
    prop_oneof![
        3 => who.clone().prop_map(Step::Register),
        2 => who.clone().prop_map(Step::Renew),
        3 => who.clone().prop_map(Step::Look),
        6 => (who.clone(), shard.clone()).prop_map(|(who, shard)| Step::Claim(who, shard)),
        1 => (who.clone(), shard.clone()).prop_map(|(who, shard)| Step::Release(who, shard)),
        1 => who.clone().prop_map(Step::Leave),
        1 => who.clone().prop_map(Step::Crash),
        12 => (who.clone(), 0..=SHARDS, 0u8..12).prop_map(|(who, shard, fate)| Step::Commit(who, shard, fate)),
        2 => (who, shard, 0u8..3).prop_map(|(who, shard, how)| Step::Stale(who, shard, how)),
        3 => any::<u8>().prop_map(Step::Land),
    ]
}

/// What a master believes.
#[derive(Default)]
struct Master {
    owner: u64,
    shards: BTreeMap<u16, (Epoch, Commits)>,
    seen: BTreeMap<OwnerId, Sighting>,
}

/// What must be true of one shard.
#[derive(Default)]
struct Ledger {
    owner: Option<OwnerId>,
    epoch: u64,
    /// Everything accepted: in which epoch, by whom, which run.
    chain: Vec<(u64, OwnerId, RunId)>,
}

struct World {
    store: MemoryStore,
    masters: Vec<Master>,
    ledgers: BTreeMap<u16, Ledger>,
    /// Who has a lease, and who has seen it stand where it stands.
    leases: BTreeMap<OwnerId, BTreeSet<u8>>,
    under_way: Vec<(Ticket, OwnerId, Vec<Batch>)>,
    tickets: u64,
    owners: u64,
    runs: i64,
}

fn shard(number: u16) -> ShardId {
    ShardId::new(number).unwrap()
}

impl World {
    fn new() -> World {
        World {
            store: MemoryStore::new(StoreId(1), ShardCount::new(SHARDS).unwrap()),
            masters: (0..MASTERS).map(|n| Master { owner: u64::from(n), ..Master::default() }).collect(),
            ledgers: (0..SHARDS).map(|n| (n, Ledger::default())).collect(),
            leases: BTreeMap::new(),
            under_way: Vec::new(),
            tickets: 0,
            owners: u64::from(MASTERS),
            runs: 0,
        }
    }

    fn owner(&self, who: u8) -> OwnerId {
        OwnerId(self.masters[usize::from(who)].owner)
    }

    fn master(&mut self, who: u8) -> &mut Master {
        &mut self.masters[usize::from(who)]
    }

    fn play(&mut self, step: &Step) {
        match *step {
            Step::Register(who) => self.register(who),
            Step::Renew(who) => self.renew(who),
            Step::Look(who) => {
                let leases = ready(self.store.leases()).unwrap();
                assert!(leases.iter().map(|lease| lease.owner).eq(self.leases.keys().copied()));
                let seen = leases.iter().map(|lease| (lease.owner, lease.counter));
                self.master(who).seen =
                    seen.map(|(owner, counter)| (owner, Sighting { owner, counter })).collect();
                for watchers in self.leases.values_mut() {
                    watchers.insert(who);
                }
            }
            Step::Claim(who, of) => self.claim(who, of),
            Step::Release(who, of) => self.release(who, of),
            Step::Leave(who) => {
                let owner = self.owner(who);
                let Some(seen) = self.master(who).seen.get(&owner).copied() else { return };
                let standing = self.leases.get(&owner).is_none_or(|watchers| watchers.contains(&who));
                assert_eq!(ready(self.store.leave(seen)).is_ok(), standing);
                if standing && self.leases.remove(&owner).is_some() {
                    for ledger in self.ledgers.values_mut().filter(|ledger| ledger.owner == Some(owner)) {
                        (ledger.owner, ledger.epoch) = (None, ledger.epoch + 1);
                    }
                }
            }
            Step::Crash(who) => {
                self.owners += 1;
                *self.master(who) = Master { owner: self.owners, ..Master::default() };
                for watchers in self.leases.values_mut() {
                    watchers.remove(&who);
                }
            }
            Step::Commit(who, of, fate) => {
                let wanted: Vec<u16> = if of == SHARDS { (0..SHARDS).collect() } else { vec![of] };
                let believed = &self.masters[usize::from(who)].shards;
                let believed: Vec<_> =
                    wanted.iter().filter_map(|of| believed.get(of).map(|at| (*of, at.0, at.1))).collect();
                self.commit(who, &believed, fate);
            }
            Step::Stale(who, of, how) => {
                let Some((epoch, commits)) = self.master(who).shards.get(&of).copied() else { return };
                let wrong = match how {
                    0 => (of, Epoch(epoch.0.saturating_sub(1)), commits),
                    1 => (of, epoch, Commits(commits.0.saturating_sub(1))),
                    _ => (of, epoch, commits.next()),
                };
                self.commit(who, &[wrong], 0);
            }
            Step::Land(choice) => {
                if self.under_way.is_empty() {
                    return;
                }
                let place = usize::from(choice) % self.under_way.len();
                let (ticket, owner, batches) = self.under_way.remove(place);
                let expected = self.accepts(&batches);
                let outcome = self.store.model().land(ticket).unwrap();
                assert_eq!(outcome.is_committed(), expected, "{outcome:?}");
                if expected {
                    self.accept(owner, &batches);
                }
            }
        }
    }

    fn register(&mut self, who: u8) {
        let owner = self.owner(who);
        let name = Name::new(&format!("m{who}")).unwrap();
        // The former life of the same master has the name.
        let holder = ready(self.store.leases()).unwrap().into_iter().find(|lease| lease.name == name);
        let holder = holder.map(|lease| lease.owner).filter(|holder| *holder != owner);
        let seen = holder.and_then(|holder| self.master(who).seen.get(&holder).copied());
        let free = holder.is_none_or(|holder| self.leases[&holder].contains(&who));
        let registered = ready(self.store.register(owner, &name, None, seen));
        assert_eq!(registered.is_ok(), free, "{registered:?}");
        if free {
            holder.map(|holder| self.leases.remove(&holder));
            self.leases.entry(owner).or_default();
        }
    }

    fn renew(&mut self, who: u8) {
        let owner = self.owner(who);
        let renewed = ready(self.store.renew(owner, Revision::NONE));
        assert_eq!(renewed.is_ok(), self.leases.contains_key(&owner));
        let Ok(renewed) = renewed else { return };
        self.leases.insert(owner, BTreeSet::new());
        let own = self.ledgers.iter().filter(|(_, ledger)| ledger.owner == Some(owner));
        let own: Vec<_> = own.map(|(of, ledger)| (shard(*of), Epoch(ledger.epoch))).collect();
        assert_eq!(renewed.owned, own);
    }

    fn claim(&mut self, who: u8, of: u16) {
        let owner = self.owner(who);
        let holder = self.ledgers[&of].owner;
        let seen = holder.and_then(|holder| self.master(who).seen.get(&holder).copied());
        let gives_way = |holder| self.leases.get(&holder).is_none_or(|watchers| watchers.contains(&who));
        let free = holder.is_none_or(|holder| holder == owner || gives_way(holder));
        let expected = self.leases.contains_key(&owner) && free;
        let claimed = ready(self.store.claim(shard(of), owner, seen));
        assert_eq!(claimed.is_ok(), expected, "{claimed:?}");
        let Ok(claimed) = claimed else { return };
        let ledger = self.ledgers.get_mut(&of).unwrap();
        assert!(claimed.epoch.0 > ledger.epoch, "epochs rise");
        assert_eq!(claimed.commits.0, ledger.chain.len() as u64);
        assert_eq!(claimed.last_run, ledger.chain.last().map(|(_, _, run)| *run));
        (ledger.owner, ledger.epoch) = (Some(owner), claimed.epoch.0);
        let loaded = ready(self.store.load(shard(of), claimed.epoch)).unwrap();
        assert!(loaded.runs.iter().map(|run| run.row.id).eq(ledger.chain.iter().map(|(_, _, run)| *run)));
        self.master(who).shards.insert(of, (claimed.epoch, claimed.commits));
    }

    fn release(&mut self, who: u8, of: u16) {
        let owner = self.owner(who);
        let Some((epoch, _)) = self.master(who).shards.get(&of).copied() else { return };
        let ledger = self.ledgers.get_mut(&of).unwrap();
        let holds = ledger.owner == Some(owner) && ledger.epoch == epoch.0;
        assert_eq!(ready(self.store.release(shard(of), owner, epoch)).is_ok(), holds);
        if holds {
            (ledger.owner, ledger.epoch) = (None, ledger.epoch + 1);
        }
    }

    fn commit(&mut self, who: u8, believed: &[(u16, Epoch, Commits)], fate: u8) {
        let owner = self.owner(who);
        let mut batches = Vec::new();
        for (of, epoch, commits) in believed {
            self.runs += 1;
            let row = row(*of, self.runs, owner);
            let origins = [(row.id, Arc::new(Origin { inline: Some("x".into()), ..Origin::default() }))];
            batches.push(Batch {
                shard: shard(*of),
                epoch: *epoch,
                commits: *commits,
                changes: vec![Change::LastRun(row.id), Change::Run(Arc::new(row))],
                origins: origins.into(),
            });
        }
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let fate = match fate {
            0..8 => Fate::Normal,
            8 => Fate::UnavailableNotApplied,
            9 => Fate::UnknownApplied,
            10 => Fate::UnknownNotApplied,
            _ => Fate::UnknownAppliedLater(ticket),
        };
        let expected = self.accepts(&batches);
        let outcome = self.store.model().commit(batches.clone(), fate);
        match (&outcome, fate) {
            (Outcome::Committed, Fate::Normal) => assert!(expected),
            (Outcome::Fenced(fenced), Fate::Normal) => {
                assert!(!expected);
                assert_eq!(fenced.current.0, self.ledgers[&fenced.shard.number()].epoch);
            }
            (Outcome::Unavailable(_), Fate::UnavailableNotApplied) => {}
            (Outcome::Unknown(_), Fate::UnknownApplied | Fate::UnknownNotApplied) => {}
            (Outcome::Unknown(_), Fate::UnknownAppliedLater(ticket)) => {
                self.under_way.push((ticket, owner, batches.clone()));
            }
            (other, fate) => panic!("{other:?} of {fate:?}"),
        }
        if expected && matches!(fate, Fate::Normal | Fate::UnknownApplied) {
            self.accept(owner, &batches);
        }
        // A master goes on only from what it was told; otherwise it has to claim.
        for (of, ..) in believed {
            if outcome.is_committed() {
                self.master(who).shards.entry(*of).and_modify(|at| at.1 = at.1.next());
            }
        }
    }

    fn accepts(&self, batches: &[Batch]) -> bool {
        batches.iter().all(|batch| {
            let ledger = &self.ledgers[&batch.shard.number()];
            ledger.owner.is_some()
                && ledger.epoch == batch.epoch.0
                && ledger.chain.len() as u64 == batch.commits.0
        })
    }

    fn accept(&mut self, owner: OwnerId, batches: &[Batch]) {
        for batch in batches {
            let ledger = self.ledgers.get_mut(&batch.shard.number()).unwrap();
            assert_eq!(ledger.owner, Some(owner), "somebody else's epoch");
            let run = *batch.origins.keys().next().unwrap();
            ledger.chain.push((batch.epoch.0, owner, run));
        }
    }

    /// What the store holds is what the ledgers say, and nothing else.
    fn check(&self) {
        let mut owners = BTreeMap::new();
        let mut all = Vec::new();
        for (of, ledger) in &self.ledgers {
            let standing = self.store.model().standing(shard(*of)).unwrap();
            assert_eq!(standing, (Epoch(ledger.epoch), Commits(ledger.chain.len() as u64), ledger.owner));
            assert!(ledger.chain.is_sorted_by_key(|(epoch, ..)| *epoch), "the chain goes by epochs");
            for (epoch, owner, run) in &ledger.chain {
                assert_eq!(owners.entry((*of, *epoch)).or_insert(*owner), owner, "two owners in an epoch");
                all.push(*run);
            }
        }
        all.sort_by_key(|run| std::cmp::Reverse(*run));
        let stored = ready(self.store.runs(&Filter::default(), None, usize::MAX)).unwrap();
        assert!(stored.runs.iter().map(|row| row.id).eq(all));
    }
}

fn row(of: u16, number: i64, by: OwnerId) -> RunRow {
    let at = Wall(1_780_000_000_000 + number);
    RunRow {
        serial: false,
        id: RunIdSource::new(shard(of), None).next_id(at.0).unwrap(),
        workflow: Name::new("chain").unwrap(),
        version: None,
        revision: 1,
        state: run::State::Running,
        reason: "".into(),
        priority: Priority::Medium,
        params: Arc::default(),
        labels: None,
        counts: None,
        logical_time: at,
        run_at: None,
        created_at: at,
        created_by: by.to_string().into(),
        trigger: Trigger::Call,
        started_at: None,
        finished_at: None,
        selection: Selection::All,
        ending: false,
        expansions: Vec::new(),
        gangs: Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_masters_do_each_shard_has_one_chain(
        steps in proptest::collection::vec(step(), 0..150),
    ) {
        let mut world = World::new();
        for who in 0..MASTERS {
            world.play(&Step::Register(who));
        }
        for step in &steps {
            world.play(step);
            world.check();
        }
    }
}
