//! What holds for every cron rule, zone and moment; and what the reference page says.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use windlass_workflow::cron::{Rule, zone};

const ZONES: &[&str] = &[
    "UTC",
    "Europe/Oslo",
    "Europe/Dublin",
    "Europe/Moscow",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Juneau",
    "America/Caracas",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Pacific/Apia",
    "Pacific/Kwajalein",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Asia/Pyongyang",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Africa/Monrovia",
];

/// One field: a star, a value, a range or a list of them, with and without a step.
fn field(low: u8, high: u8) -> impl Strategy<Value = String> {
    let value = low..=high;
    let ordered = (value.clone(), value.clone()).prop_map(|(a, b)| (a.min(b), a.max(b)));
    let step = 1..=(high - low + 1);
    let item = prop_oneof![
        3 => value.clone().prop_map(|value| value.to_string()),
        1 => ordered.clone().prop_map(|(low, high)| format!("{low}-{high}")),
        1 => (ordered, step.clone()).prop_map(|((low, high), step)| format!("{low}-{high}/{step}")),
        1 => (value, step.clone()).prop_map(|(value, step)| format!("{value}/{step}")),
    ];
    prop_oneof![
        2 => Just("*".to_owned()),
        1 => step.prop_map(|step| format!("*/{step}")),
        4 => prop::collection::vec(item, 1..4).prop_map(|items| items.join(",")),
    ]
}

fn day() -> impl Strategy<Value = String> {
    let special =
        select(&["?", "L", "LW", "L-3", "15W", "1W", "31W", "1,L", "13"][..]).prop_map(str::to_owned);
    prop_oneof![2 => Just("*".to_owned()), 1 => special, 1 => field(1, 31)]
}

fn weekday() -> impl Strategy<Value = String> {
    let special = select(&["?", "5L", "MON#1", "0#5", "FRI-MON", "SUN", "6,7"][..]).prop_map(str::to_owned);
    prop_oneof![3 => Just("*".to_owned()), 1 => special, 1 => field(0, 6)]
}

/// Rules with minutes as their finest field.
fn minute_rule() -> impl Strategy<Value = Rule> {
    let month = prop_oneof![3 => Just("*".to_owned()), 1 => field(1, 12)];
    (field(0, 59), field(0, 23), day(), month, weekday())
        .prop_filter_map("never fires", |(m, h, d, mo, w)| Rule::parse(&format!("{m} {h} {d} {mo} {w}")).ok())
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let with_seconds = (field(0, 59), minute_rule())
        .prop_filter_map("never fires", |(second, rule)| Rule::parse(&format!("{second} {rule}")).ok());
    let every = (1..2_000_000u32).prop_map(|secs| Rule::parse(&format!("@every {secs}s")).unwrap());
    prop_oneof![4 => minute_rule(), 2 => with_seconds, 1 => every]
}

fn any_zone() -> impl Strategy<Value = TimeZone> {
    select(ZONES).prop_map(|name| zone(name).unwrap())
}

/// From 1840 to 2160, with parts of a second now and then.
fn any_moment() -> impl Strategy<Value = Timestamp> {
    (-4_100_000_000i64..6_000_000_000, select(&[0, 0, 1, 500_000_000, 999_999_999][..]))
        .prop_map(|(secs, nanos)| Timestamp::new(secs, nanos).unwrap())
}

/// A moment within two days of one of the zone's changes of offset, if it has any.
fn near_a_change(zone: &TimeZone, from: Timestamp, shift_secs: i64) -> Timestamp {
    let change = zone.following(from).next().map_or(from, |change| change.timestamp());
    change + SignedDuration::from_secs(shift_secs)
}

const SECOND: SignedDuration = SignedDuration::from_secs(1);
const CASES: u32 = 300;

fn config() -> ProptestConfig {
    ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        let _ = Rule::parse(&text);
        let _ = zone(&text);
    }

    #[test]
    fn no_text_of_cron_letters_makes_the_reader_panic(text in "[-0-9*/,?#LWlw@ a-zé]{0,40}") {
        if let Err(error) = Rule::parse(&text) {
            prop_assert!(text.get(error.at.clone()).is_some(), "{:?} is no place in {text:?}", error.at);
        }
    }

    #[test]
    fn the_canonical_text_is_the_same_rule(rule in any_rule()) {
        let again = Rule::parse(&rule.to_string()).unwrap();
        prop_assert_eq!(&again, &rule);
        prop_assert!(!rule.describe().is_empty());
    }

    #[test]
    fn next_and_previous_walk_the_same_firings(
        rule in any_rule(), zone in any_zone(), from in any_moment(), shift in -172_800i64..172_800,
    ) {
        let anchor = from - SignedDuration::from_secs(1_000_000);
        for from in [from, near_a_change(&zone, from, shift)] {
            let previous = rule.previous_before(&zone, anchor, from);
            let mut last = None;
            for next in rule.upcoming(&zone, anchor, from).take(12) {
                prop_assert!(next > from && last.is_none_or(|last| last < next), "{rule}: {last:?} then {next}");
                prop_assert_eq!(next.subsec_nanosecond(), 0);
                prop_assert_eq!(rule.next_after(&zone, anchor, last.unwrap_or(from)), Some(next));
                prop_assert_eq!(rule.previous_before(&zone, anchor, next + SECOND), Some(next));
                let before = rule.previous_before(&zone, anchor, next);
                match last {
                    Some(last) => prop_assert_eq!(before, Some(last)),
                    // Between the two lies nothing but perhaps `from` itself.
                    None => prop_assert!(before == previous || before == Some(from), "{rule}: {before:?}"),
                }
                last = Some(next);
            }
            if let Some(previous) = previous {
                prop_assert!(previous < from);
                prop_assert_eq!(rule.next_after(&zone, anchor, previous - SECOND), Some(previous));
            }
        }
    }

    #[test]
    fn around_a_change_the_firings_are_those_of_a_watched_clock(
        rule in minute_rule(), zone in any_zone(), from in 100_000_000i64..2_100_000_000, shift in -100_000i64..100_000,
    ) {
        let middle = near_a_change(&zone, Timestamp::from_second(from).unwrap(), shift);
        let start = middle.as_second().div_euclid(60) * 60;
        let window = start - 36 * 3_600..start + 36 * 3_600;
        let from = Timestamp::from_second(window.start - 1).unwrap();
        let firings = rule.upcoming(&zone, from, from).map(Timestamp::as_second);
        let firings: Vec<_> = firings.take_while(|at| *at < window.end).collect();
        prop_assert_eq!(firings, watch_the_clock(&rule, &zone, window), "{}", rule);
    }
}

/// The slow truth: look at the wall clock every minute. An interval fires when the clock shows one
/// of its times; a fixed rule when the clock passes one for the first time.
fn watch_the_clock(rule: &Rule, zone: &TimeZone, window: std::ops::Range<i64>) -> Vec<i64> {
    const LOOK_BACK_SECS: i64 = 3 * 86_400;
    let utc = TimeZone::UTC;
    let from = Timestamp::from_second(window.start - 2 * LOOK_BACK_SECS).unwrap();
    let named: BTreeSet<i64> = rule
        .upcoming(&utc, from, from)
        .map(Timestamp::as_second)
        .take_while(|local| *local < window.end + LOOK_BACK_SECS)
        .collect();
    let text = rule.to_string();
    let is_interval = text.split(' ').take(2).any(|field| field.contains(['*', '/']));

    let mut firings = Vec::new();
    let mut reached = i64::MAX;
    for at in (window.start - LOOK_BACK_SECS..window.end).step_by(60) {
        let local = at + i64::from(zone.to_offset(Timestamp::from_second(at).unwrap()).seconds());
        let passed = reached.min(local)..=local;
        let fires = match is_interval {
            true => named.contains(&local),
            false => reached <= local && named.range(passed).next().is_some(),
        };
        if fires && at >= window.start {
            firings.push(at);
        }
        reached = if reached == i64::MAX { local + 1 } else { reached.max(local + 1) };
    }
    firings
}

#[test]
fn the_reference_page_tells_the_truth() {
    let page = include_str!("../../../../docs/reference/cron.md");
    let (mut described, mut changes, mut refused) = (0, 0, 0);
    let mut heading = "";
    for line in page.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text;
        }
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let [_, first, rest @ .., _] = &cells[..] else { continue };
        let Some(rule) = first.strip_prefix('`').and_then(|rule| rule.strip_suffix('`')) else { continue };
        match (heading, rest) {
            ("Examples" | "Nicknames", [words]) => {
                assert_eq!(Rule::parse(rule).unwrap().describe(), *words, "{rule}");
                described += 1;
            }
            ("When the clocks change", [gap, fold]) => {
                assert_eq!(firings_on(rule, "2024-03-31"), *gap, "{rule}");
                assert_eq!(firings_on(rule, "2024-10-27"), *fold, "{rule}");
                changes += 1;
            }
            ("What is refused", _) => {
                assert!(Rule::parse(rule).is_err(), "{rule}");
                refused += 1;
            }
            _ => {}
        }
    }
    assert!(described >= 20 && changes >= 5 && refused >= 5, "{described}, {changes}, {refused}");
}

#[test]
fn the_schedule_of_the_reference_page_is_right() {
    let page = include_str!("../../../../docs/reference/cron.md");
    let schedule = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let file = format!("name: x\n{schedule}tasks: {{a: {{run: x}}}}\n");
    let definition = windlass_workflow::from_text(file.as_bytes()).unwrap().definition;
    assert_eq!(definition.schedules[0].identity(), "0 3 * * 1-5 Europe/Oslo");
}

/// The firings of a day in Oslo before 05:00, as the page writes them: `02:30 (+2)`.
fn firings_on(rule: &str, day: &str) -> String {
    let (oslo, rule) = (zone("Europe/Oslo").unwrap(), Rule::parse(rule).unwrap());
    let midnight = oslo.to_timestamp(format!("{day}T00:00").parse().unwrap()).unwrap();
    let morning = oslo.to_timestamp(format!("{day}T05:00").parse().unwrap()).unwrap();
    let firings: Vec<_> = rule
        .upcoming(&oslo, midnight, midnight - SECOND)
        .take_while(|at| *at < morning)
        .map(|at| {
            let local = at.to_zoned(oslo.clone());
            format!("{} ({:+})", local.strftime("%H:%M"), local.offset().seconds() / 3_600)
        })
        .collect();
    if firings.is_empty() { "none".to_owned() } else { firings.join(", ") }
}
