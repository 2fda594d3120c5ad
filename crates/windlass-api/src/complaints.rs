//! What goes wrong for every caller is said now and then, not for every caller: while a store is away, a log would be as long
//! as there are people who try.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the same is said.
const EVERY: Duration = Duration::from_secs(10);

/// When each was said last, and how often it was not since. There are as many as there are kinds of calls and codes.
static SAID: Mutex<BTreeMap<Complaint, (Instant, u64)>> = Mutex::new(BTreeMap::new());

/// What is said, and about what.
type Complaint = (&'static str, String);

/// How many times the same was not said since, if it may be said now.
pub fn may_say(message: &'static str, about: &str) -> Option<u64> {
    let key = (message, about.to_owned());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    match said.get_mut(&key) {
        Some((last, unsaid)) if last.elapsed() < EVERY => {
            *unsaid += 1;
            None
        }
        Some((last, unsaid)) => {
            *last = Instant::now();
            Some(std::mem::take(unsaid))
        }
        None => {
            said.insert(key, (Instant::now(), 0));
            Some(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_said_once_in_a_while() {
        assert_eq!(may_say("a test", "one"), Some(0));
        assert_eq!((may_say("a test", "one"), may_say("a test", "one")), (None, None));
        assert_eq!(may_say("a test", "other"), Some(0), "something else");
        let long_ago = Instant::now().checked_sub(2 * EVERY).expect("the machine has run for a while");
        let key = ("a test", "one".to_owned());
        SAID.lock().expect("nobody panics with it").get_mut(&key).expect("it was said").0 = long_ago;
        assert_eq!(may_say("a test", "one"), Some(2), "it says how often it was not said");
    }
}
