//! A master that hears of another by a registry: when it looks, and that it claims nothing for what it hears.

use std::collections::BTreeSet;

use windlass_core::durable::{Counter, Lease, Revision, Standing};
use windlass_core::master::Master;
use windlass_core::master::input::{
    Decision, Effect, FromPeer, Input, LeaseFailure, Look, Renewal, Settings, StoreAnswer, StoreCall,
};
use windlass_core::time::{Mono, Now, Wall};
use windlass_model::{Duration, Epoch, Name, OwnerId, ShardCount, ShardId};

const OWNER: OwnerId = OwnerId(7);
const PEER: OwnerId = OwnerId(8);
const PEER_NAME: &str = "m";
const LEASE: u64 = 3_000;
/// How often a master looks that hears of nobody.
const REGULAR: u64 = LEASE / 3;

/// A master beside a peer that owns the only shard. Each step is a millisecond, and the store answers at once.
struct Watch {
    master: Master,
    time: u64,
    /// When the peer stopped to renew, if it did.
    died: Option<u64>,
    /// Whether the peer has released the shard.
    released: bool,
    /// Whether the store is away: it answers, and does nothing.
    away: bool,
    looks: Vec<u64>,
    claims: Vec<u64>,
}

impl Watch {
    fn new() -> Watch {
        let settings = Settings {
            owner: OWNER,
            name: Name::new("own").unwrap(),
            shards: ShardCount::new(1).unwrap(),
            lanes: 1,
            pipeline: 1,
            lease_ttl: Duration::from_millis(LEASE),
            worker_timeout: Duration::from_secs(4),
            adoption_grace: Duration::from_secs(5),
            shard: windlass_core::shard::input::Settings::default(),
        };
        let mut out = Decision::default();
        let master = Master::start(at(1), settings, &mut out);
        let mut watch = Watch {
            master,
            time: 1,
            died: None,
            released: false,
            away: false,
            looks: vec![],
            claims: vec![],
        };
        watch.does(out);
        watch
    }

    fn hears(&mut self, input: Input) {
        let mut out = Decision::default();
        self.master.handle(at(self.time), input, &mut out);
        self.master.flush(at(self.time), &mut out);
        self.does(out);
    }

    fn members(&mut self, owners: &[OwnerId]) {
        let members: BTreeSet<_> = owners.iter().copied().collect();
        self.hears(Input::Registry(Some(members)));
    }

    fn passes(&mut self, millis: u64) {
        for _ in 0..millis {
            self.time += 1;
            if self.master.wants().wake_at.is_some_and(|when| when <= Mono(self.time)) {
                self.hears(Input::Woken);
            }
        }
    }

    fn does(&mut self, out: Decision) {
        for effect in out.effects {
            let Effect::Store(call) = effect else { continue };
            let answer = match call {
                StoreCall::Renew(_) if self.away => StoreAnswer::Renewed(Err(LeaseFailure::Failed)),
                StoreCall::Look if self.away => StoreAnswer::Looked(None),
                StoreCall::Register(_) => StoreAnswer::Registered(Ok(Counter(1))),
                StoreCall::Renew(_) => StoreAnswer::Renewed(Ok(Box::new(Renewal {
                    counter: Counter(2),
                    owned: vec![],
                    revision: Revision::NONE,
                    globals: None,
                }))),
                StoreCall::Look => {
                    self.looks.push(self.time);
                    StoreAnswer::Looked(Some(self.look()))
                }
                StoreCall::Claim(..) => {
                    self.claims.push(self.time);
                    continue;
                }
                other => panic!("{other:?}"),
            };
            self.hears(Input::Stored(answer));
        }
    }

    fn look(&self) -> Look {
        let renewed = self.died.unwrap_or(self.time) / REGULAR;
        let lease = Lease {
            owner: PEER,
            name: Name::new(PEER_NAME).unwrap(),
            counter: Counter(100 + renewed),
            applied: Revision::NONE,
            contact: None,
        };
        let standing =
            Standing { shard: ShardId::LEADER, epoch: Epoch::NONE, owner: (!self.released).then_some(PEER) };
        Look { leases: vec![lease], standings: vec![standing] }
    }

    /// How often it looks in so many milliseconds.
    fn looks_in(&mut self, millis: u64) -> u64 {
        let before = self.looks.len();
        self.passes(millis);
        (self.looks.len() - before) as u64
    }
}

fn at(time: u64) -> Now {
    Now { mono: Mono(time), wall: Wall(1_780_000_000_000) }
}

#[test]
fn looks_are_rare_while_the_registry_agrees_with_the_store_and_as_ever_otherwise() {
    let mut watch = Watch::new();
    let alone = watch.looks_in(30_000);
    assert_eq!(alone, 30_000 / REGULAR);
    watch.members(&[OWNER, PEER]);
    let rare = watch.looks_in(30_000);
    assert!(rare * 5 <= alone + 5, "{rare} beside {alone}");
    for wrong in [&[OWNER][..], &[PEER], &[], &[OWNER, PEER, OwnerId(9)]] {
        watch.members(wrong);
        let looks = watch.looks_in(30_000);
        assert!(looks.abs_diff(alone) <= 1, "{looks} beside {alone} with {wrong:?}");
    }
    watch.hears(Input::Registry(None));
    assert!(watch.looks_in(30_000).abs_diff(alone) <= 1);
    assert!(watch.claims.is_empty(), "everybody lives");
}

#[test]
fn whoever_is_missing_from_the_registry_is_looked_at_at_once_and_claimed_from_after_its_lease() {
    let mut watch = Watch::new();
    watch.members(&[OWNER, PEER]);
    watch.passes(20_300);
    watch.died = Some(watch.time);
    watch.passes(50);
    watch.members(&[OWNER]);
    assert_eq!(watch.looks.last(), Some(&watch.time), "it looks when it hears of it");
    let heard = watch.time;
    watch.passes(LEASE + 100);
    assert_eq!(watch.claims, [heard + LEASE], "a lease after it was seen to stand still, and not before");
}

#[test]
fn a_connection_that_breaks_is_a_reason_to_look_and_none_to_claim() {
    let mut watch = Watch::new();
    watch.members(&[OWNER, PEER]);
    watch.passes(20_300);
    watch.hears(Input::Unreachable(PEER));
    assert_eq!(watch.looks.last(), Some(&watch.time));
    watch.passes(20_000);
    assert!(watch.claims.is_empty(), "it lives");
    assert!(watch.looks_in(30_000) <= 6, "it was seen to move: looks are rare again");
    watch.died = Some(watch.time);
    watch.hears(Input::Unreachable(PEER));
    let heard = watch.time;
    // The registry still names it.
    watch.passes(LEASE + 100);
    assert_eq!(watch.claims, [heard + LEASE]);
}

#[test]
fn a_dead_master_whom_the_registry_names_and_nobody_misses_is_found() {
    let mut watch = Watch::new();
    watch.members(&[OWNER, PEER]);
    watch.passes(20_300);
    watch.died = Some(watch.time);
    watch.passes(4 * LEASE);
    assert_eq!(watch.claims.len(), 1, "{:?}", watch.looks);
}

#[test]
fn after_an_outage_of_the_store_everybody_gets_the_time_of_a_lease_to_come_back() {
    let mut watch = Watch::new();
    watch.passes(20_300);
    // Nobody can renew; this master is the first who can again.
    watch.died = Some(watch.time);
    watch.away = true;
    watch.passes(10 * LEASE);
    watch.away = false;
    watch.passes(LEASE - REGULAR);
    assert!(watch.claims.is_empty(), "the peer had no chance yet");
    watch.died = None;
    watch.passes(10 * LEASE);
    assert!(watch.claims.is_empty(), "it took the chance");
}

#[test]
fn who_does_not_come_back_from_an_outage_is_claimed_from_after_a_lease() {
    let mut watch = Watch::new();
    watch.passes(20_300);
    watch.died = Some(watch.time);
    watch.away = true;
    watch.passes(10 * LEASE);
    watch.away = false;
    watch.passes(LEASE + 3 * REGULAR);
    assert_eq!(watch.claims.len(), 1);
}

#[test]
fn who_was_frozen_judges_nobody_by_the_time_that_it_slept() {
    let mut watch = Watch::new();
    watch.passes(20_300);
    // The whole machine stands still: the clock goes on, and nobody renews.
    watch.died = Some(watch.time);
    watch.time += 3 * LEASE;
    watch.passes(LEASE - REGULAR);
    assert!(watch.claims.is_empty());
    watch.died = None;
    watch.passes(10 * LEASE);
    assert!(watch.claims.is_empty());
}

#[test]
fn a_shard_of_a_master_that_is_about_to_end_is_claimed_at_once() {
    let shard = ShardId::LEADER;
    assert!(shard.weight(PEER_NAME) > shard.weight("own"), "the peer should own it");
    for leaving in [false, true] {
        let mut watch = Watch::new();
        watch.passes(5_000);
        watch.released = true;
        watch.hears(Input::FromPeer(PEER, FromPeer::Released { shard, leaving }));
        let heard = watch.time;
        watch.passes(LEASE / 2);
        // One that stays may have another reason, and takes it again.
        assert_eq!(watch.claims, if leaving { vec![heard] } else { vec![] });
    }
}

#[test]
fn a_registry_that_changes_its_mind_all_the_time_costs_few_looks() {
    let mut watch = Watch::new();
    watch.passes(5_000);
    let before = watch.looks.len();
    for _ in 0..10_000 {
        watch.members(&[OWNER]);
        watch.members(&[OWNER, PEER]);
        watch.hears(Input::Unreachable(PEER));
        watch.passes(1);
    }
    let looks = (watch.looks.len() - before) as u64;
    assert!(looks <= 10_000 / (REGULAR / 8) + 1, "{looks} looks");
    assert!(watch.claims.is_empty());
}
