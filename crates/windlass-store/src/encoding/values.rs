//! Parameters and outputs as JSON that keeps their types.
//!
//! What JSON has is written as JSON writes it: null, booleans, integers, text, lists, maps. A float always has a
//! fraction or an exponent, so that `1.0` does not come back as `1`. What JSON lacks is an object with one
//! key that begins with `$`:
//!
//! ```text
//! {"$date": "2024-02-29"}
//! {"$time": "2026-07-01T10:00:00Z[Europe/Oslo]"}     the instant, and the zone it is shown in
//! {"$span": {"months": 14, "days": 3, "seconds": 5, "nanoseconds": 0}}
//! {"$range": [3, 7, 12]}                             start, step, length
//! ```
//!
//! A key of a map that begins with `$` is written with one more.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use jiff::civil::Date;
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp, Zoned};
use serde_json::Value as Json;
use windlass_core::rows::Values;
use windlass_workflow::expr::{Range, Span, Value};

use super::Malformed;

/// How deep values may go: lists and maps inside each other. The JSON reader ends at 127 levels, of which the
/// object around all values and the marks take three. Deeper ones are refused before they are written.
pub const MAX_DEPTH: usize = 120;

/// Writes values by name.
pub fn to_text(values: &Values) -> String {
    let mut text = String::new();
    write_fields(values, &mut text);
    text
}

/// Reads what [`to_text`] wrote.
pub fn from_text(field: &'static str, text: &str) -> Result<Values, Malformed> {
    let wrong = |why: &dyn std::fmt::Display| Malformed::new(field, why);
    match serde_json::from_str(text).map_err(|error| wrong(&error))? {
        Json::Object(fields) => read_fields(fields).map_err(|why| wrong(&why)),
        _ => Err(wrong(&"not an object")),
    }
}

fn write_fields(fields: &BTreeMap<Arc<str>, Value>, text: &mut String) {
    text.push('{');
    for (place, (key, value)) in fields.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        if key.starts_with('$') {
            write_text(&format!("${key}"), text);
        } else {
            write_text(key, text);
        }
        text.push(':');
        write(value, text);
    }
    text.push('}');
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Int(int) => put(text, format_args!("{int}")),
        // Debug writes the shortest digits that read back as the same float, and never without a mark.
        Value::Float(float) => put(text, format_args!("{float:?}")),
        Value::Text(plain) => write_text(plain, text),
        Value::List(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Map(fields) => write_fields(fields, text),
        Value::Range(range) => {
            let (start, step, len) = (range.start(), range.step(), range.len());
            put(text, format_args!("{{\"$range\":[{start},{step},{len}]}}"));
        }
        Value::Date(date) => put(text, format_args!("{{\"$date\":\"{date}\"}}")),
        Value::Time(time) => {
            let zone = zone_text(time);
            put(text, format_args!("{{\"$time\":\"{}[{zone}]\"}}", time.timestamp()));
        }
        Value::Span(Span { months, days, time }) => {
            let (seconds, nanoseconds) = (time.as_secs(), time.subsec_nanos());
            put(
                text,
                format_args!(
                    "{{\"$span\":{{\"months\":{months},\"days\":{days},\
                     \"seconds\":{seconds},\"nanoseconds\":{nanoseconds}}}}}"
                ),
            );
        }
    }
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a string takes everything");
}

fn write_text(plain: &str, text: &mut String) {
    // Most text needs no escape, and then this is a copy.
    if plain.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        text.push_str(&Json::from(plain).to_string());
    } else {
        text.push('"');
        text.push_str(plain);
        text.push('"');
    }
}

/// A zone by its name or offset. One that has neither becomes the offset of this instant.
fn zone_text(time: &Zoned) -> String {
    let printer = DateTimePrinter::new();
    let zone = printer.time_zone_to_string(time.time_zone());
    zone.or_else(|_| printer.time_zone_to_string(&TimeZone::fixed(time.offset())))
        .unwrap_or_else(|_| "UTC".to_owned())
}

fn read_fields(fields: serde_json::Map<String, Json>) -> Result<Values, String> {
    let read = |(key, json): (String, Json)| {
        let key = match key.strip_prefix('$') {
            Some(rest) if rest.starts_with('$') => rest.into(),
            Some(_) => return Err(format!("unexpected key `{key}`")),
            None => key.into(),
        };
        Ok((key, read(json)?))
    };
    fields.into_iter().map(read).collect()
}

fn read(json: Json) -> Result<Value, String> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(truth),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Value::Int(int),
            (None, Some(float)) if number.is_f64() && float.is_finite() => Value::Float(float),
            (None, _) => return Err(format!("{number} is out of range")),
        },
        Json::String(text) => Value::Text(text.into()),
        Json::Array(items) => Value::List(items.into_iter().map(read).collect::<Result<_, _>>()?),
        Json::Object(fields) => match marked(&fields) {
            Some((mark, json)) => read_marked(mark, json)?,
            None => Value::Map(Arc::new(read_fields(fields)?)),
        },
    })
}

/// The mark of an object that stands for what JSON lacks.
fn marked(fields: &serde_json::Map<String, Json>) -> Option<(&str, &Json)> {
    let (key, json) = fields.iter().next().filter(|_| fields.len() == 1)?;
    let mark = key.strip_prefix('$').filter(|mark| !mark.starts_with('$'))?;
    Some((mark, json))
}

fn read_marked(mark: &str, json: &Json) -> Result<Value, String> {
    let value = match mark {
        "date" => json.as_str().and_then(|text| text.parse::<Date>().ok()).map(Value::Date),
        "time" => json.as_str().and_then(read_time).map(Value::Time),
        "span" => read_span(json).map(Value::Span),
        "range" => read_range(json).map(Value::Range),
        _ => return Err(format!("unknown mark `${mark}`")),
    };
    value.ok_or_else(|| format!("{json} is not a {mark}"))
}

fn read_time(text: &str) -> Option<Zoned> {
    // The zones that the language itself uses: the same on every machine.
    static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);
    let (instant, zone) = text.strip_suffix(']')?.split_once('[')?;
    let instant: Timestamp = instant.parse().ok()?;
    let zone = DateTimeParser::new().parse_time_zone_with(&ZONES, zone).ok()?;
    Some(instant.to_zoned(zone))
}

fn read_span(json: &Json) -> Option<Span> {
    let fields = json.as_object().filter(|fields| fields.len() == 4)?;
    let part = |name: &str| fields.get(name)?.as_i64();
    let small = |name: &str| i32::try_from(part(name)?).ok();
    let (seconds, nanos) = (part("seconds")?, small("nanoseconds")?);
    let whole = nanos.abs() < 1_000_000_000 && (seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0));
    let time = whole.then(|| SignedDuration::new(seconds, nanos))?;
    Some(Span { months: small("months")?, days: small("days")?, time })
}

fn read_range(json: &Json) -> Option<Range> {
    let [start, step, len] = json.as_array()?.as_slice() else { return None };
    Range::from_parts(start.as_i64()?, step.as_i64()?, len.as_u64()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether two values are the same, not only equal: `1` is not `1.0`, a range is not a list.
    fn same(one: &Values, other: &Values) -> bool {
        format!("{one:?}") == format!("{other:?}")
    }

    fn check(value: Value, expected: &str) {
        let values: Values = [("v".into(), value)].into();
        let text = to_text(&values);
        assert_eq!(text, format!("{{\"v\":{expected}}}"));
        let back = from_text("outputs", &text).unwrap();
        assert!(same(&back, &values), "{back:?}");
    }

    #[test]
    fn a_person_can_read_what_is_stored() {
        check(Value::Null, "null");
        check(Value::Int(i64::MIN), "-9223372036854775808");
        check(Value::Float(1.0), "1.0");
        check(Value::Float(1e300), "1e300");
        check(Value::Float(-0.0), "-0.0");
        check(Value::from("say \"hi\"\n"), r#""say \"hi\"\n""#);
        check(Value::from(vec![Value::Int(1), Value::Bool(true)]), "[1,true]");
        check(Value::Date(jiff::civil::date(-44, 3, 15)), r#"{"$date":"-000044-03-15"}"#);
        check(Value::Range(Range::new(3, 30, 7).unwrap()), r#"{"$range":[3,7,4]}"#);
        let time = SignedDuration::new(-5, -250);
        check(
            Value::Span(Span { months: 14, days: -3, time }),
            r#"{"$span":{"months":14,"days":-3,"seconds":-5,"nanoseconds":-250}}"#,
        );
        let map = |key: &str| Value::from(BTreeMap::from([(Arc::from(key), Value::Int(1))]));
        check(map("date"), r#"{"date":1}"#);
        check(map("$date"), r#"{"$$date":1}"#);
        check(map("$$"), r#"{"$$$":1}"#);
        check(map(""), r#"{"":1}"#);
    }

    #[test]
    fn a_time_keeps_its_instant_and_its_zone() {
        let zones = TimeZoneDatabase::bundled();
        let at = |seconds: i64, zone: TimeZone| {
            Value::Time(Timestamp::from_second(seconds).unwrap().to_zoned(zone))
        };
        let oslo = || zones.get("Europe/Oslo").unwrap();
        check(at(1_782_900_000, oslo()), r#"{"$time":"2026-07-01T10:00:00Z[Europe/Oslo]"}"#);
        check(at(0, TimeZone::UTC), r#"{"$time":"1970-01-01T00:00:00Z[UTC]"}"#);
        // Both readings of a clock that was set back, and the time before zones had whole minutes.
        for seconds in [1_793_493_000, 1_793_496_600, -3_000_000_000] {
            let values: Values = [("v".into(), at(seconds, oslo()))].into();
            let back = from_text("outputs", &to_text(&values)).unwrap();
            assert!(same(&back, &values), "{back:?} {values:?}");
        }
        for offset in [-5 * 3600, 20_700, 3_601] {
            let zone = TimeZone::fixed(jiff::tz::Offset::from_seconds(offset).unwrap());
            let values: Values = [("v".into(), at(5, zone))].into();
            let back = from_text("outputs", &to_text(&values)).unwrap();
            assert!(same(&back, &values), "{back:?} {values:?}");
        }
    }

    #[test]
    fn what_is_damaged_is_said_and_never_a_panic() {
        for wrong in [
            "",
            "[]",
            "{\"a\":",
            "{\"$a\":1}",
            "{\"v\":{\"$date\":\"2026-02-30\"}}",
            "{\"v\":{\"$time\":\"2026-07-01T10:00:00Z[Nowhere/At_All]\"}}",
            "{\"v\":{\"$span\":{\"months\":1,\"days\":1,\"seconds\":5,\"nanoseconds\":-1}}}",
            "{\"v\":{\"$span\":{\"months\":1,\"days\":1,\"seconds\":5,\"nanoseconds\":1000000000}}}",
            "{\"v\":{\"$range\":[1,0,3]}}",
            "{\"v\":{\"$range\":[9223372036854775807,1,3]}}",
            "{\"v\":{\"$new\":1}}",
            "{\"v\":{\"$date\":\"2026-02-03\",\"other\":1}}",
            "{\"v\":9223372036854775808}",
            "{\"v\":1e999}",
        ] {
            let refused = from_text("outputs", wrong);
            assert!(refused.is_err(), "{wrong} is {refused:?}");
        }
    }

    #[test]
    fn the_deepest_values_can_be_read_back() {
        let mut value = Value::Range(Range::new(0, 3, 1).unwrap());
        for level in 0..MAX_DEPTH {
            value = match level % 2 {
                0 => Value::from(vec![value]),
                _ => Value::from(BTreeMap::from([(Arc::from("$"), value)])),
            };
        }
        let values: Values = [("v".into(), value)].into();
        assert!(same(&from_text("outputs", &to_text(&values)).unwrap(), &values));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            any::<f64>().prop_filter("floats are finite", |float| float.is_finite()).prop_map(Value::Float),
            any::<String>().prop_map(Value::from),
            (any::<i64>(), any::<i64>(), any::<i64>())
                .prop_filter_map("a step", |(start, stop, step)| Range::new(start, stop, step))
                .prop_map(Value::Range),
            (-1_000_000_000..1_000_000_000i64)
                .prop_map(|s| { Value::Time(Timestamp::from_second(s).unwrap().to_zoned(TimeZone::UTC)) }),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[$a-z]{0,4}", inner, 0..4).prop_map(|map| {
                    Value::from(
                        map.into_iter().map(|(k, v)| (k.into(), v)).collect::<BTreeMap<Arc<str>, _>>(),
                    )
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_come_back_exactly(fields in proptest::collection::btree_map("[$a-z]{0,4}", any_value(), 0..4)) {
            let values: Values = fields.into_iter().map(|(key, value)| (key.into(), value)).collect();
            let text = to_text(&values);
            let back = from_text("outputs", &text).unwrap();
            prop_assert!(same(&back, &values), "{}", text);
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = from_text("outputs", &text);
        }
    }
}
