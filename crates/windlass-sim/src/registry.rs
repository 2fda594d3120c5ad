//! A registry beside the store. It tells masters who is there: late, wrongly, or not at all.

use std::collections::BTreeSet;

use windlass_core::master::input::Input;
use windlass_model::OwnerId;

use crate::random::Random;
use crate::world::{Event, World};

/// A registry, if the cluster of this seed has one. It has its own randomness, so that everything else of a seed is the
/// same with and without it.
#[derive(Debug)]
pub struct Registry {
    random: Random,
    /// How often it speaks to each master, in milliseconds; 0 if there is none.
    every: u64,
    /// How late it speaks at most.
    late: u64,
    /// Per mille of what it says that is wrong.
    lies: u64,
    /// Per mille of what it should say and does not, because it is away.
    away: u64,
    /// Per mille of connections whose end is noticed when a master is gone.
    breaks: u64,
    /// Whoever was there once.
    known: Vec<OwnerId>,
}

impl Registry {
    /// That of a seed.
    pub fn new(seed: u64) -> Registry {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let every = if random.chance(500) { random.stretched(50, 2_000) } else { 0 };
        Registry {
            every,
            late: random.stretched(1, 8_000),
            lies: [0, 100, 500, 1_000][random.below(4)],
            away: [0, 0, 100, 600][random.below(4)],
            breaks: [0, 500, 1_000][random.below(3)],
            known: Vec::new(),
            random,
        }
    }

    /// None.
    pub fn none() -> Registry {
        let random = Random::new(0);
        Registry { random, every: 0, late: 1, lies: 0, away: 0, breaks: 0, known: Vec::new() }
    }
}

impl World {
    /// A master has started: it is told who is there.
    pub fn join_registry(&mut self, number: usize) {
        let (owner, life) = (self.masters[number].owner, self.masters[number].life);
        self.registry.known.push(owner);
        if self.registry.every > 0 {
            self.after(1, Event::Registry(number, life));
        }
    }

    /// The registry speaks to a life of a master.
    pub fn registry_speaks(&mut self, number: usize, life: u64) {
        if self.masters[number].life != life {
            return;
        }
        let here = self.masters.iter().filter(|node| node.machine.is_some()).map(|node| node.owner);
        let mut members: BTreeSet<_> = here.collect();
        let registry = &mut self.registry;
        if registry.random.chance(registry.lies) {
            let somebody = registry.known[registry.random.below(registry.known.len())];
            let goal = if members.remove(&somebody) {
                "registry missed a living master"
            } else {
                members.insert(somebody);
                "registry named a dead master"
            };
            self.reach.hit(goal);
        }
        let registry = &mut self.registry;
        let says = if registry.random.chance(registry.away) { None } else { Some(members) };
        let delay = registry.random.stretched(1, registry.late);
        let again = registry.random.between(registry.every / 2 + 1, registry.every * 2);
        let broken = registry.random.chance(registry.lies / 4);
        self.after(delay, Event::Master(number, life, Box::new(Input::Registry(says))));
        self.after(again, Event::Registry(number, life));
        // A connection may break between two that live.
        let other = (number + 1) % self.masters.len();
        if broken && other != number {
            let owner = self.masters[other].owner;
            self.after(delay, Event::Master(number, life, Box::new(Input::Unreachable(owner))));
        }
    }

    /// A master is gone: others may notice that their connections to it are.
    pub fn break_connections(&mut self, number: usize) {
        let owner = self.masters[number].owner;
        for other in 0..self.masters.len() {
            let (there, life) = (self.masters[other].machine.is_some(), self.masters[other].life);
            let registry = &mut self.registry;
            if other == number || !there || registry.every == 0 || !registry.random.chance(registry.breaks) {
                continue;
            }
            let delay = registry.random.stretched(1, 500);
            self.after(delay, Event::Master(other, life, Box::new(Input::Unreachable(owner))));
        }
    }
}
