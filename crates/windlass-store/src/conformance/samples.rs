//! One of everything that a row can hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::{TimeZone, TimeZoneDatabase, offset};
use windlass_core::rows::Values;
use windlass_core::{attempt, job, run};
use windlass_workflow::expr::{Range, Span, Value};

/// Text that encodings get wrong.
pub(super) const TEXTS: &[&str] = &[
    "",
    " ",
    "plain",
    "quotes ' \" ` and \\ \\0 \\u0000",
    "line\nfeed\r\ttab \u{1} \u{7f}",
    "ünïcode ☃ 日本 𝕏 e\u{301} \u{202e}",
    "NULL",
    "{\"json\": [1]}",
    "$1 ? :a %s --; DROP TABLE runs",
];

pub(super) const RUN_STATES: &[run::State] = &[
    run::State::Pending,
    run::State::Running,
    run::State::Pausing,
    run::State::Paused { pending: true },
    run::State::Paused { pending: false },
    run::State::Stopping,
    run::State::Ended(run::End::Success),
    run::State::Ended(run::End::Failed),
    run::State::Ended(run::End::Stopped),
];

pub(super) const JOB_STATES: &[job::State] = &[
    job::State::Waiting,
    job::State::Ready,
    job::State::Held,
    job::State::Ended(job::End::Success),
    job::State::Ended(job::End::Failed),
    job::State::Ended(job::End::Skipped { by_failure: true }),
    job::State::Ended(job::End::Skipped { by_failure: false }),
    job::State::Ended(job::End::Stopped),
];

pub(super) const ATTEMPT_STATES: &[attempt::State] = &[
    attempt::State::Assigned,
    attempt::State::Ended(attempt::End::Success),
    attempt::State::Ended(attempt::End::Failed),
    attempt::State::Ended(attempt::End::Killed),
    attempt::State::Ended(attempt::End::Lost),
    attempt::State::Ended(attempt::End::TimedOut),
    attempt::State::Ended(attempt::End::Returned),
];

/// Values of every kind, at their edges.
pub(super) fn values() -> Arc<Values> {
    let mut all: Vec<Value> = TEXTS.iter().map(|text| Value::from(*text)).collect();
    all.extend([Value::Null, Value::Bool(true), Value::Bool(false)]);
    all.extend([0, 1, -1, i64::MIN, i64::MAX, (1 << 53) + 1].map(Value::Int));
    all.extend([0.0, -0.5, 1.0, 0.1, f64::MAX, f64::MIN_POSITIVE, 1e300].map(Value::Float));
    all.push(Value::Range(Range::new(3, i64::MAX, 7).expect("a range")));
    all.push(Value::Range(Range::new(0, 0, 1).expect("a range")));
    all.push(Value::Span(Span::of_months(-14)));
    all.push(Value::Span(Span { days: 3, ..Span::default() }));
    all.extend(times());
    let map = |pairs: &[(&str, Value)]| {
        Value::from(
            pairs.iter().map(|(key, value)| (Arc::from(*key), value.clone())).collect::<BTreeMap<_, _>>(),
        )
    };
    all.push(map(&[]));
    all.push(Value::from(Vec::new()));
    let inner = map(&[("", Value::Null), ("ü", Value::from("☃")), ("$type", Value::Int(1))]);
    all.push(Value::from(vec![inner.clone(), Value::from(vec![inner, Value::Float(2.0)])]));
    Arc::new(all.into_iter().enumerate().map(|(n, value)| (format!("v{n:03}").into(), value)).collect())
}

/// A day, and instants in zones of several kinds: with a name, without one, at the edges.
fn times() -> Vec<Value> {
    let zones = TimeZoneDatabase::bundled();
    let oslo = zones.get("Europe/Oslo").expect("a bundled zone");
    let noon = date(2026, 7, 1).at(12, 0, 0, 123_456_789);
    let in_zone = |zone: TimeZone| Value::Time(noon.to_zoned(zone).expect("a moment"));
    vec![
        Value::Date(date(2024, 2, 29)),
        Value::Date(date(-9999, 1, 1)),
        Value::Date(date(9999, 12, 31)),
        in_zone(TimeZone::UTC),
        in_zone(oslo.clone()),
        in_zone(TimeZone::fixed(offset(-5))),
        // The second of two equal readings of a clock that was set back.
        Value::Time(Timestamp::from_second(1_793_496_600).expect("a moment").to_zoned(oslo)),
    ]
}

/// Whether two sets of values are the same, not only equal: `1` is not `1.0`, a range is not a list.
pub(super) fn same(one: &Values, other: &Values) -> bool {
    format!("{one:?}") == format!("{other:?}")
}
