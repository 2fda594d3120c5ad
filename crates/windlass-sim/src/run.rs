//! One seed from its beginning to its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::flows::Flows;
use crate::judge::Violation;
use crate::reach::Reach;
use crate::world::World;

/// What came of a seed.
#[derive(Debug)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// How many events there were.
    pub events: u64,
    /// A digest of everything that happened.
    pub digest: u64,
    /// What must not have happened.
    pub violation: Option<Violation>,
    /// What was reached.
    pub reach: Reach,
    /// What happened, line by line, if it was wanted.
    pub trace: String,
    /// What the seed's cluster was like.
    pub options: String,
}

/// No seed takes this many events unless something goes round in circles.
const MOST_EVENTS: u64 = 2_000_000;

/// Plays a seed.
pub fn play(seed: u64, flows: &Arc<Flows>, trace: bool) -> Report {
    let mut world = World::new(seed, Arc::clone(flows), trace);
    let options = format!("{:?}", world.options);
    let played = catch_unwind(AssertUnwindSafe(|| {
        while world.step() {
            if world.events > MOST_EVENTS {
                return Err("it goes round in circles".to_owned());
            }
        }
        Ok(())
    }));
    let violation = match played {
        Ok(Ok(())) => world.judge.violations.first().cloned(),
        Ok(Err(what)) => Some(Violation { invariant: 25, what }),
        Err(panic) => {
            let what = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Some(Violation { invariant: 30, what: what.unwrap_or_else(|| "a panic".to_owned()) })
        }
    };
    Report {
        seed,
        events: world.events,
        digest: world.digest(),
        violation,
        reach: world.reach.clone(),
        trace: world.trace.take().unwrap_or_default(),
        options,
    }
}
