//! Networks that lie: which ways are cut, for how long, and whose attempts may be given up for it.

use std::time::Duration;

use fastrand::Rng;

use crate::network::{Way, between};

/// Where the store lives.
pub const STORE: &str = "store";
/// Where the registry lives.
pub const REGISTRY: &str = "registry";

/// The lease of masters in a network that is cut.
pub const LEASE: Duration = Duration::from_secs(3);
/// How long a worker is silent there before it is lost.
pub const SILENCE: Duration = Duration::from_secs(4);

/// How long a way that flaps is cut or whole, in milliseconds.
const FLAP: std::ops::Range<u64> = 100..700;

/// A kind of partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Partition {
    /// A master or worker hears nobody, and nobody hears it.
    TwoWay,
    /// A master or worker hears everybody, and nobody hears it; or the other way round.
    OneWay,
    /// A master or worker is cut off and is not, again and again.
    Flapping,
    /// A master loses the store, and nothing else.
    StoreOnly,
    /// Masters lose the registry, and nothing else.
    RegistryOnly,
    /// A master loses the other masters, and nothing else.
    MasterMaster,
    /// A worker and a master lose each other, while other masters hear both.
    WorkerOwner,
}

impl Partition {
    /// Every kind.
    pub const ALL: [Partition; 7] = [
        Partition::TwoWay,
        Partition::OneWay,
        Partition::Flapping,
        Partition::StoreOnly,
        Partition::RegistryOnly,
        Partition::MasterMaster,
        Partition::WorkerOwner,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Partition::TwoWay => "two-way",
            Partition::OneWay => "one-way",
            Partition::Flapping => "flapping",
            Partition::StoreOnly => "store-only",
            Partition::RegistryOnly => "registry-only",
            Partition::MasterMaster => "master-master",
            Partition::WorkerOwner => "worker-owner",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Partition> {
        Partition::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Who there is to be cut off.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// The masters.
    pub masters: Vec<String>,
    /// The workers.
    pub workers: Vec<String>,
}

/// A partition that is to be made.
#[derive(Clone, Debug)]
pub struct Cut {
    /// What kind it is.
    pub kind: Partition,
    /// What is cut off, for people.
    pub what: String,
    /// The ways on which nothing arrives.
    pub ways: Vec<Way>,
    /// For how long.
    pub lasts: Duration,
    /// Workers whose attempts may be given up for it: who owns an attempt may hear nothing of its worker, by any way.
    pub unheard: Vec<String>,
    /// Masters and workers that may do less for it.
    pub hindered: Vec<String>,
    /// How long its ways are cut and whole by turns, if they are.
    pub flaps: Option<Vec<Duration>>,
}

impl Cut {
    /// Some partition of this kind. People are never cut off: a master that nobody else reaches must not say what it
    /// cannot know.
    pub fn random(kind: Partition, nodes: &Nodes, rng: &mut Rng) -> Cut {
        let lasts = LEASE * rng.u32(5..=30) / 10;
        let mut flaps = None;
        let (what, ways, hindered) = match kind {
            Partition::TwoWay | Partition::OneWay | Partition::Flapping => {
                let victim = nodes.any(rng);
                let mut ways = nodes.around(&victim);
                let how = match kind {
                    Partition::OneWay if rng.bool() => {
                        ways.retain(|(from, _)| *from == victim);
                        "is heard by nobody"
                    }
                    Partition::OneWay => {
                        ways.retain(|(_, to)| *to == victim);
                        "hears nobody"
                    }
                    Partition::Flapping => {
                        flaps = Some(turns(lasts, rng));
                        "comes and goes"
                    }
                    _ => "is cut off",
                };
                (format!("{victim} {how}"), ways, vec![victim])
            }
            Partition::StoreOnly => {
                let victim = pick(&nodes.masters, rng);
                (format!("{victim} loses the store"), between(&victim, STORE), vec![victim])
            }
            Partition::RegistryOnly => {
                let mut masters = nodes.masters.clone();
                rng.shuffle(&mut masters);
                masters.truncate(rng.usize(1..=masters.len()));
                let ways = masters.iter().flat_map(|master| between(master, REGISTRY)).collect();
                (format!("{} lose the registry", masters.join(", ")), ways, Vec::new())
            }
            Partition::MasterMaster => {
                let victim = pick(&nodes.masters, rng);
                let others = nodes.masters.iter().filter(|other| **other != victim);
                let ways = others.flat_map(|other| between(&victim, other)).collect();
                (format!("{victim} loses the other masters"), ways, vec![victim])
            }
            Partition::WorkerOwner => {
                let (worker, master) = (pick(&nodes.workers, rng), pick(&nodes.masters, rng));
                let what = format!("{worker} and {master} lose each other");
                (what, between(&worker, &master), vec![worker, master])
            }
        };
        let unheard = nodes.unheard(&ways);
        Cut { kind, what, ways, lasts, unheard, hindered, flaps }
    }
}

impl Nodes {
    fn any(&self, rng: &mut Rng) -> String {
        let all: Vec<_> = self.masters.iter().chain(&self.workers).cloned().collect();
        pick(&all, rng)
    }

    /// Everything to and from somebody that others of the cluster send or hear.
    fn around(&self, node: &str) -> Vec<Way> {
        let others = self.masters.iter().chain(&self.workers).map(String::as_str).chain([STORE, REGISTRY]);
        others.filter(|other| *other != node).flat_map(|other| between(node, other)).collect()
    }

    /// Workers from which nothing comes to some master, not even by way of another: one of the two has lost everybody.
    fn unheard(&self, ways: &[Way]) -> Vec<String> {
        let is_cut = |from: &String, to: &String| {
            let cut = |one: &String, other: &String| {
                ways.iter().any(|(from, to)| (from, to) == (one, other) || (to, from) == (one, other))
            };
            let direct = cut(from, to);
            let others = self.masters.iter().filter(|other| *other != to);
            direct && others.into_iter().all(|other| cut(from, other) || cut(other, to))
        };
        let unheard = |worker: &&String| self.masters.iter().any(|master| is_cut(worker, master));
        self.workers.iter().filter(unheard).cloned().collect()
    }
}

fn pick(some: &[String], rng: &mut Rng) -> String {
    some[rng.usize(..some.len())].clone()
}

/// Cut, whole, cut, whole, …; whole at the end.
fn turns(lasts: Duration, rng: &mut Rng) -> Vec<Duration> {
    let (mut turns, mut left) = (Vec::new(), lasts);
    while left > Duration::ZERO || turns.len() % 2 == 1 {
        let turn = Duration::from_millis(rng.u64(FLAP));
        left = left.saturating_sub(turn);
        turns.push(turn);
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Nodes {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Nodes { masters: names(&["m1", "m2", "m3"]), workers: names(&["w1", "w2"]) }
    }

    #[test]
    fn attempts_may_be_given_up_only_if_their_worker_is_heard_on_no_way() {
        let mut rng = Rng::with_seed(1);
        for kind in Partition::ALL {
            for _ in 0..50 {
                let cut = Cut::random(kind, &nodes(), &mut rng);
                let victim = cut.ways[0].0.clone();
                match kind {
                    Partition::TwoWay | Partition::Flapping if victim.starts_with('w') => {
                        assert_eq!(cut.unheard, [victim]);
                    }
                    Partition::TwoWay | Partition::Flapping => assert_eq!(cut.unheard, ["w1", "w2"]),
                    Partition::OneWay => assert!(!cut.unheard.is_empty()),
                    _ => assert!(cut.unheard.is_empty(), "{cut:?}"),
                }
                assert!(!cut.ways.is_empty() && cut.ways.iter().all(|(from, to)| from != to));
                assert_eq!(cut.flaps.is_some(), kind == Partition::Flapping);
                assert!(cut.flaps.is_none_or(|flaps| flaps.len() % 2 == 0), "it is whole at the end");
            }
        }
    }

    #[test]
    fn every_kind_has_a_name() {
        for kind in Partition::ALL {
            assert_eq!(Partition::named(kind.name()), Some(kind));
        }
        assert_eq!(Partition::named("none"), None);
    }
}
