//! Any text as a cron rule: its firings strictly increase, and looking back finds the same ones.
#![no_main]

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use windlass_workflow::cron::{Rule, zone};

fuzz_target!(|input: (u8, u32, &str)| {
    let (zone_choice, moment, text) = input;
    let Ok(rule) = Rule::parse(text) else { return };
    let names = ["UTC", "Europe/Oslo", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo"];
    let zone = zone(names[usize::from(zone_choice) % names.len()]).expect("a known zone");
    let anchor = Timestamp::UNIX_EPOCH;
    let from = Timestamp::from_second(i64::from(moment)).expect("in range");
    let canonical = Rule::parse(&rule.to_string()).expect("canonical text is a rule");
    let mut last = from;
    for _ in 0..5 {
        let Some(next) = rule.next_after(&zone, anchor, last) else { break };
        assert!(next > last);
        assert_eq!(canonical.next_after(&zone, anchor, last), Some(next), "{text} is not {canonical}");
        let one_second = jiff::SignedDuration::from_secs(1);
        assert_eq!(rule.previous_before(&zone, anchor, next + one_second), Some(next));
        last = next;
    }
    let _ = rule.describe();
});
