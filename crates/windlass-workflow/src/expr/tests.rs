//! The language as a whole, through the door its users have.

use std::fmt::Write;

use jiff::tz::{TimeZone, TimeZoneDatabase};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::codes::Code;
use crate::diagnostic::TextError;

fn oslo() -> TimeZone {
    TimeZoneDatabase::bundled().get("Europe/Oslo").unwrap()
}

fn scope() -> Values {
    let params = json!({"n": 3, "day": "2026-03-01", "text": "x", "none": null, "list": [1, 2, 3]});
    let tasks = json!({"check": {"outputs": {"bad": 0, "rows": 12}}});
    // A time in another zone than the scope's: what a store hands out.
    let logical_time: jiff::Timestamp = "2026-03-28T23:30:00Z".parse().unwrap();
    let run = std::collections::BTreeMap::from([(
        "logical_time".into(),
        Value::from(logical_time.to_zoned(TimeZone::UTC)),
    )]);
    Values::new(oslo())
        .with("params", Value::from_json(&params))
        .with("tasks", Value::from_json(&tasks))
        .with("run", run)
        .with("item", 7)
}

fn evaluate(source: &str) -> Result<Value, TextError> {
    Expression::parse(source)?.evaluate(&scope(), &mut Fuel::default())
}

/// Evaluates, and compares the JSON of the value.
#[track_caller]
fn check(source: &str, expected: &str) {
    match evaluate(source) {
        Ok(value) => assert_eq!(value.to_json().unwrap().to_string(), expected, "{source}"),
        Err(error) => panic!("{source}: {error} at {:?}", &source[error.at.clone()]),
    }
}

/// Parses or evaluates, and compares the message, the guilty text and the help (if `help` is not empty).
#[track_caller]
fn check_error(source: &str, message: &str, guilty: &str, help: &str) -> Code {
    let error = evaluate(source).expect_err(source);
    assert_eq!((error.message.as_str(), &source[error.at.clone()]), (message, guilty), "{source}");
    if !help.is_empty() {
        assert_eq!(error.help.as_deref(), Some(help), "{source}");
    }
    error.code
}

#[test]
fn literals_and_precedence_are_those_of_jinja() {
    check("1 + 2 * 3", "7");
    check("(1 + 2) * 3", "9");
    check("10 - 2 - 3", "5");
    check("-2 * -3", "6");
    check("- - 2", "2");
    check("-9223372036854775808", "-9223372036854775808");
    check("'a' ~ 1 + 2 ~ 'b' if false else 1 ~ 2 * 3", "\"16\"");
}

#[test]
fn filters_take_the_operand_before_them() {
    check("-5 | abs", "5");
    check("1 + -5 | abs", "6");
    check("not 'true' | bool", "false");
    check("'a,b' | split(',') | join('-') | upper", "\"A-B\"");
    check("params.list | first", "1");
    check("range(3) | join(',')", "\"0,1,2\"");
    check("(params.list | reverse)[0]", "3");
}

#[test]
fn all_kinds_of_literals_are_read() {
    check("true", "true");
    check("[false, null, none]", "[false,null,null]");
    check("[1, 2.5, 1e3, 'a', \"b\",]", "[1,2.5,1000.0,\"a\",\"b\"]");
    check("{'a': 1, \"b\": {'c': []},}", "{\"a\":1,\"b\":{\"c\":[]}}");
    check("{}", "{}");
    check(r"'it\'s\n\u00e9'", "\"it's\\né\"");
    check("{'b' ~ 1: 2}.b1", "2");
}

#[test]
fn comparisons_are_numeric_chained_and_strict() {
    check("1 == 1.0", "true");
    check("9007199254740993 == 9007199254740992.0", "false");
    check("9223372036854775807 < 9223372036854775808.0", "true");
    check("1 < 2 < 3", "true");
    check("1 < 2 > 3", "false");
    check("'a' < 'b'", "true");
    check("range(3) == [0, 1, 2]", "true");
    check("null == 'a'", "false");
    check("[1] == ['1']", "false");
    check("2 in [1, 2.0]", "true");
    check("5 not in range(0, 10, 2)", "true");
    check("'b' in 'abc' and 'a' in {'a': 1}", "true");
    check("not 1 == 2", "true");
    check_error("1 < 'a'", "cannot order an integer and text", "1 < 'a'", "");
    check_error("[1] < [2]", "cannot order a list and a list", "[1] < [2]", "");
    check_error("true > false", "cannot order a boolean and a boolean", "true > false", "");
    let help = "convert the text: `x | int`";
    check_error("params.n == '3'", "an integer never equals text", "params.n == '3'", help);
    check_error("'x' != true", "text never equals a boolean", "'x' != true", "");
    check_error("1 in 5", "expected a list, a map or text to look in, found an integer", "1 in 5", "");
}

#[test]
fn logic_takes_booleans_only_and_stops_early() {
    check("true or 1 / 0 == 1", "true");
    check("false and 1 / 0 == 1", "false");
    check("1 if params.n > 2 else 1 / 0", "1");
    check("1 if false else 2 if false else 3", "3");
    let help = "compare it with something, such as `x == 1` or `x != null`";
    check_error("params.text and true", "expected a boolean, found text", "params.text", help);
    check_error("true and params.n", "expected a boolean, found an integer", "params.n", help);
    check_error("not null", "expected a boolean, found null", "null", help);
    check_error("1 if 'a' else 2", "expected a boolean, found text", "'a'", help);
    let when = Expression::parse(" params.text ").unwrap();
    let error = when.condition(&scope(), &mut Fuel::default()).unwrap_err();
    assert_eq!((error.message.as_str(), error.at), ("expected a boolean, found text", 1..12));
}

#[test]
fn arithmetic_is_checked() {
    check("7 / 2", "3.5");
    check("6 / 2", "3.0");
    check("[7 // 2, -7 // 2, 7 // -2, -7 // -2]", "[3,-4,-4,3]");
    check("[7 % 3, -7 % 3, 7 % -3, -7 % -3]", "[1,2,-2,-1]");
    check("[-7.5 // 2, -7.5 % 2]", "[-4.0,0.5]");
    check("'ab' + 'c' * 3", "\"abccc\"");
    check("'ab' * -1", "\"\"");
    check("[1] + range(2)", "[1,0,1]");
    check("null ~ 1 ~ true ~ [1]", "\"1true[1]\"");
    for zero in ["1 / 0", "1 // 0", "1 % 0", "1.5 / 0", "1 / 0.0", "0.0 % 0.0"] {
        check_error(zero, "division by zero", zero, "");
    }
    let too_large = "the result is too large for a number";
    for overflow in [
        "9223372036854775807 + 1",
        "-9223372036854775808 - 1",
        "9223372036854775807 * 2",
        "-9223372036854775808 // -1",
        "1e308 * 10",
        "abs(-9223372036854775808)",
        "1e300 | int",
        "len(range(-9223372036854775808, 9223372036854775807))",
    ] {
        check_error(overflow, too_large, overflow, "");
    }
    check("-9223372036854775808 % -1", "0");
    let help = "to join as text use `~`; to calculate, convert with `x | int` or `x | float`";
    check_error("1 + (2 + 'a')", "cannot add an integer and text", "2 + 'a'", help);
    check_error("[1] - 1", "cannot subtract an integer from a list", "[1] - 1", "");
}

#[test]
fn names_fields_and_indexes_are_followed() {
    check("item", "7");
    check("tasks.check.outputs.bad == 0 and not params.n == 4", "true");
    check("tasks['check'].outputs['rows']", "12");
    check("params.list[-1]", "3");
    check("params.list[0] + range(10)[-2]", "9");
    check("{'a': [5]}.a[0]", "5");
    check("params['te' ~ 'xt']", "\"x\"");
    let missing = "give a value for when it is missing: `… | default(x)`";
    check_error("params.absent", "there is no field `absent`", "absent", missing);
    check_error("params.lst", "there is no field `lst`", "lst", "did you mean `list`?");
    check_error("parms.n", "there is no `parms` here", "parms", "did you mean `params`?");
    check_error(
        "upper",
        "there is no `upper` here",
        "upper",
        "`upper` is a function: call it, as in `x | upper`",
    );
    check_error("params.list[3]", "there is no index 3: the list has 3 elements", "[3]", missing);
    check_error("params.list['a']", "a list has no field `a`", "'a'", "");
    check_error("params.none.x", "null has no fields", "x", missing);
    check_error("item.x", "an integer has no field `x`", "x", "");
    check_error("params.text[0]", "text cannot be indexed", "[0]", "");
}

#[test]
fn default_forgives_what_is_missing_and_nothing_else() {
    check("params.absent | default(1)", "1");
    check("default(params.absent, 1)", "1");
    check("params.none | default(1)", "1");
    check("params.absent.deeper[0] | default('a') | upper", "\"A\"");
    check("params.list[9] | default(params.none | default(4))", "4");
    check("params.n | default(1 / 0)", "3");
    check("(params.absent if true else 1) | default(2)", "2");
    check_error("(params.absent + 1) | default(1)", "there is no field `absent`", "absent", "");
    check_error("params.absent | upper | default(1)", "there is no field `absent`", "absent", "");
    check_error("item.x | default(1)", "an integer has no field `x`", "x", "");
    check_error("absent | default(1)", "there is no `absent` here", "absent", "");
}

#[test]
fn syntax_errors_point_at_the_guilty_bytes() {
    let check = |source: &str, message: &str, guilty: &str, help: &str| {
        let code = check_error(source, message, guilty, help);
        assert_eq!(code, Code::ExpressionSyntax, "{source}");
    };
    check("", "the expression is empty", "", "");
    check("  ", "the expression is empty", "  ", "");
    check("(1 + 2", "this parenthesis is never closed", "(", "add `)`");
    check("f([1, 2", "this bracket is never closed", "[", "add `]`");
    check("{'a': 1", "this brace is never closed", "{", "add `}`");
    check("len(", "this parenthesis is never closed", "(", "add `)`");
    check("(1]", "expected `)`, found `]`", "]", "");
    check("1 +", "expected a value, found the end", "", "");
    check("1 2", "expected the end of the expression, found a number", "2", "");
    check(
        "a = 1",
        "`=` is not part of the expression language",
        "=",
        "compare with `==`; an expression cannot assign",
    );
    check("a && b", "`&&` is not part of the expression language", "&&", "use `and`");
    check("!a", "`!` is not part of the expression language", "!", "use `not`");
    check(
        "1 ** 2",
        "`**` is not part of the expression language",
        "**",
        "there is no power operator; multiply",
    );
    check("1 if true", "an `if` without its `else`", "if true", "write `a if condition else b`");
    check("a is none", "`is` is not part of the expression language", "is", "");
    check(
        "'a'.upper()",
        "only functions can be called",
        "upper",
        "there are no methods: write `x | upper`, not `x.upper()`",
    );
    check("1 | 2", "expected the name of a filter, found a number", "2", "");
    check("a.", "expected the name of a field, found the end", "", "");
    check("{'a' 1}", "expected `:` and the value of this key, found a number", "1", "");
    check("[1, and]", "expected a value, found `and`", "and", "");
    check("9223372036854775808", "the number is too large", "9223372036854775808", "");
}

#[test]
fn unknown_functions_and_wrong_argument_counts_are_found_while_parsing() {
    let check = |source: &str, message: &str, guilty: &str, help: &str| {
        assert!(Expression::parse(source).is_err());
        assert_eq!(check_error(source, message, guilty, help), Code::UnknownFunction);
    };
    check("x | uper", "there is no function `uper`", "uper", "did you mean `upper`?");
    check("strftime(x)", "there is no function `strftime`", "strftime", "");
    check("x | upper(1)", "`upper` takes 1 argument, found 2", "upper", "`upper(text)`: in upper case");
    check("replace('a')", "`replace` takes 3 arguments, found 1", "replace", "");
    check("range()", "`range` takes 1 to 3 arguments, found 0", "range", "");
    check("min()", "`min` takes at least 1 argument, found 0", "min", "");
}

#[test]
fn wrong_arguments_are_pointed_at() {
    check_error("upper(1)", "expected text, found an integer", "1", "");
    check_error("1 + item | upper", "expected text, found an integer", "item", "");
    check_error("'a' | replace('b', 1)", "expected text, found an integer", "1", "");
    check_error("'a' | trim | sum", "expected a list, found text", "'a' | trim", "");
    check_error("'12x' | int", "this cannot be read as an integer", "'12x'", "");
    check_error("float('nan')", "this cannot be read as a number", "'nan'", "");
    check_error(
        "bool('maybe')",
        "this cannot be read as a boolean",
        "'maybe'",
        "known are true, false, 1 and 0",
    );
    check_error("range(0, 1, 0)", "the step of a range cannot be 0", "0", "");
    check_error("[1, 'a'] | sort", "cannot order text and an integer", "[1, 'a'] | sort", "");
    check_error("[] | max", "the list is empty", "[]", "");
    check_error("{1: 2}", "expected text as a key, found an integer", "1", "");
    check_error("{'a': 2, 'a': 3}", "this key stands twice in the map", "'a'", "");
    check_error(
        "'{' | from_json",
        "this is not JSON: EOF while parsing an object at line 1 column 1",
        "'{'",
        "",
    );
}

#[test]
fn dates_are_counted_by_the_calendar() {
    check("date('2026-03-01') - days(1)", "\"2026-02-28\"");
    check("date('2026-01-31') + months(1)", "\"2026-02-28\"");
    check("date('2026-03-31') + months(1) - days(1)", "\"2026-04-29\"");
    check("date('2026-03-31') + (months(1) - days(1))", "\"2026-04-29\"");
    check("date('2026-03-01') - date('2026-02-01')", "\"P28D\"");
    check("date('2026-03-01') > date('2026-02-01')", "true");
    check("params.day | date | start_of('week')", "\"2026-02-23\"");
    check("params.day | date | end_of('week')", "\"2026-03-01\"");
    check("date('2026-05-20') | end_of('quarter')", "\"2026-06-30\"");
    check("date('2024-12-30').week", "1");
    check("[date('2026-03-01').weekday, date('2026-03-01').year]", "[7,2026]");
    check("date('2026-03-01') == date('2026-03-01')", "true");
    check("2 * weeks(1) == days(14)", "true");
    check("-days(1) < days(1)", "true");
    let zoned = "datetime('2026-03-01T06:30:00[America/New_York]')";
    let guilty = "'2026-03-01T06:30:00[America/New_York]'";
    check_error(zoned, "this cannot be read as a time", guilty, "");
    check("date(datetime('2026-03-01T23:30:00Z'))", "\"2026-03-02\"");
    check("date('2026-03-01T23:30:00Z')", "\"2026-03-02\"");
    check("format(params.day | date, '%Y%m%d')", "\"20260301\"");
    let help = "make it a time first: `x | datetime`";
    let hours = "date('2026-03-01') + hours(1)";
    check_error(hours, "a date has no time of day, so hours cannot be added to it", hours, help);
    check_error(
        "date('2026-02-30')",
        "this cannot be read as a date",
        "'2026-02-30'",
        "write it as `2026-03-01`",
    );
    let outside = "the result lies outside the calendar (years -9999 to 9999)";
    check_error("date('9999-12-31') + days(1)", outside, "date('9999-12-31') + days(1)", "");
    check_error(
        "date('2026-01-01') + years(100000000)",
        outside,
        "date('2026-01-01') + years(100000000)",
        "",
    );
    check_error("years(1000000000)", "the result is too large for a number", "years(1000000000)", "");
    check_error(
        "days(1) < hours(25)",
        "which of P1D and PT25H is longer depends on the calendar",
        "days(1) < hours(25)",
        "",
    );
    check_error("date('2026-03-01').yer", "a date has no field `yer`", "yer", "did you mean `year`?");
    check_error(
        "date('2026-03-01') | start_of('weak')",
        "there is no such unit of time",
        "'weak'",
        "did you mean `week`?",
    );
    let compared = "date('2026-03-01') == params.day";
    check_error(compared, "a date never equals text", compared, "convert the text: `x | date`");
    let compared = "date('2026-03-01') == run.logical_time";
    check_error(compared, "a date never equals a time", compared, "");
    let ordered = "date('2026-03-01') < run.logical_time";
    check_error(ordered, "cannot order a date and a time", ordered, "");
}

/// In Oslo clocks go forward at 2026-03-29T02:00 and back at 2026-10-25T03:00.
#[test]
fn times_follow_the_clock_changes_of_their_zone() {
    check("run.logical_time", "\"2026-03-29T00:30:00+01:00\"");
    check("run.logical_time | date", "\"2026-03-29\"");
    check("run.logical_time + hours(2)", "\"2026-03-29T03:30:00+02:00\"");
    check("run.logical_time + days(1)", "\"2026-03-30T00:30:00+02:00\"");
    check("run.logical_time + hours(24)", "\"2026-03-30T01:30:00+02:00\"");
    check("(run.logical_time + days(1) - run.logical_time) | total('hours')", "23");
    check("datetime('2026-10-26T00:00') - datetime('2026-10-25T00:00') == hours(25)", "true");
    // 02:30 does not exist on the one day and happens twice on the other.
    check("datetime('2026-03-28T02:30') + days(1)", "\"2026-03-29T03:30:00+02:00\"");
    check("datetime('2026-10-24T02:30') + days(1)", "\"2026-10-25T02:30:00+02:00\"");
    check("datetime('2026-10-25T02:30') + hours(1)", "\"2026-10-25T02:30:00+01:00\"");
    check("(datetime('2026-10-25T02:30') + hours(1)) | start_of('hour')", "\"2026-10-25T02:00:00+01:00\"");
    check("datetime('2026-10-25T12:00') | start_of('day')", "\"2026-10-25T00:00:00+02:00\"");
    check("datetime('2026-10-25T12:00') | end_of('day')", "\"2026-10-25T23:59:59.999999999+01:00\"");
    check("datetime('2026-03-29T01:10') | end_of('hour') | format('%H:%M:%S')", "\"01:59:59\"");
    check("datetime('2026-03-29') | start_of('month')", "\"2026-03-01T00:00:00+01:00\"");
    check("run.logical_time | in_zone('America/New_York') | date", "\"2026-03-28\"");
    check("run.logical_time == (run.logical_time | in_zone('UTC'))", "true");
    check("[run.logical_time.hour, run.logical_time.minute, run.logical_time.date]", "[0,30,\"2026-03-29\"]");
    check("{'t': run.logical_time | in_zone('UTC')}.t.hour", "23");
    check("run.logical_time | epoch", "1774740600");
    check("datetime(1774740600) == run.logical_time", "true");
    check("datetime('1969-12-31T23:59:59.5Z') | epoch", "-1");
    check("minutes(90) | total('hours')", "1.5");
    check("(years(1) + months(6)) | total('years')", "1.5");
    check_error(
        "in_zone(run.logical_time, 'Europe/Olso')",
        "there is no such time zone",
        "'Europe/Olso'",
        "",
    );
    check_error("months(1) | total('days')", "months have no fixed length in smaller units", "months(1)", "");
    check_error("datetime('soon')", "this cannot be read as a time", "'soon'", "");
}

#[test]
fn unique_agrees_with_equality() {
    check("[1, 1.0, '1', true, 1.5, 1.5] | unique", "[1,\"1\",true,1.5]");
    check("[[1], range(1, 2), [1.0], ['1']] | unique | len", "2");
    check(
        "[date('2026-03-01'), '2026-03-01', run.logical_time, run.logical_time | in_zone('UTC')] | unique | len",
        "3",
    );
    check("[{'a': 1}, {'a': 1.0}, {}] | unique | len", "2");
}

#[test]
fn the_examples_of_the_functions_are_true() {
    for function in FUNCTIONS {
        check(function.example, function.gives);
        assert!(function.example.contains(function.name), "{}", function.name);
        let twins = FUNCTIONS.iter().filter(|other| other.name == function.name);
        assert_eq!(twins.count(), 1, "{}", function.name);
    }
}

#[test]
fn references_have_their_path_and_their_bytes() {
    let check = |source: &str, expected: &[&str]| {
        let found: Vec<String> = Expression::parse(source)
            .unwrap()
            .references()
            .into_iter()
            .map(|reference| {
                let mut text = reference.root.to_string();
                reference.path.iter().for_each(|field| write!(text, ".{field}").unwrap());
                let flags = [(reference.dynamic, "[*]"), (reference.defaulted, "?")];
                flags.iter().filter(|(set, _)| *set).for_each(|(_, mark)| text.push_str(mark));
                let ranges: Vec<_> = reference.path_at.iter().map(|at| &source[at.clone()]).collect();
                format!("{text} @ {} / {}", &source[reference.at], ranges.join(" "))
            })
            .collect();
        assert_eq!(found, expected, "{source}");
    };
    check(
        "tasks.check.outputs.bad == 0 and not params.dry_run",
        &[
            "tasks.check.outputs.bad @ tasks.check.outputs.bad / check outputs bad",
            "params.dry_run @ params.dry_run / dry_run",
        ],
    );
    check("tasks['check'].x", &["tasks.check.x @ tasks['check'].x / 'check' x"]);
    check("tasks[item].outputs", &["tasks[*] @ tasks / ", "item @ item / "]);
    check("params.list[0].x", &["params.list[*] @ params.list / list"]);
    check("(params.x) | default(params.y)", &["params.x? @ params.x / x", "params.y @ params.y / y"]);
    check(
        "default(params.x, 1) + default(params.y + 1, 1)",
        &["params.x? @ params.x / x", "params.y @ params.y / y"],
    );
    check("params.a | upper | default(1)", &["params.a @ params.a / a"]);
    check(
        "{a: [b, -c]} if d else f ~ range(g)",
        &["a", "b", "c", "d", "f", "g"]
            .map(|n| format!("{n} @ {n} / "))
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
    check("'params.x' ~ 1", &[]);
}

#[test]
fn bombs_run_out_of_fuel_or_room() {
    let too_long = "the expression ran too long";
    let too_large = "the text would be longer than 1 MiB";
    let message = |source: &str| evaluate(source).expect_err(source).message;
    assert_eq!(message("'x' * 1000000000000"), too_large);
    assert_eq!(message("range(10000000000) | join(',')"), too_long);
    assert_eq!(message("range(9223372036854775807) | sum"), too_long);
    assert_eq!(message("range(9223372036854775807) | sort"), too_long);
    assert_eq!(message("range(9223372036854775807) ~ ''"), too_long);
    assert_eq!(message("'a' in range(9223372036854775807)"), too_long);
    let doubling = format!("'xxxxxxxxxxxxxxxx'{}", " | replace('x', 'xxxx')".repeat(50));
    assert_eq!(message(&doubling), too_long);
    let splits = format!("('x' * 60000){}", " | split('x') | join('x')".repeat(50));
    assert_eq!(message(&splits), too_long);
    let lists = format!("range(9000){}", " | sort | reverse".repeat(50));
    assert_eq!(message(&lists), too_long);
    let compared = format!("[{}] | sort", "'y' * 900000,".repeat(100));
    assert_eq!(message(&compared), too_long);
    let nested = format!("{}'x' * 500000{} | to_json", "[".repeat(60), "]".repeat(60));
    assert!(evaluate(&nested).is_ok());
    check("range(1000000000000) | len", "1000000000000");
    check("range(1000000000000)[-1]", "999999999999");
}

#[test]
fn values_from_outside_are_paid_for_when_they_are_read() {
    let big =
        Values::new(TimeZone::UTC).with("big", "y".repeat(1_000_000)).with("list", vec![Value::Null; 90_000]);
    // White space that is only trimmed away is read all the same.
    let big = big.with("spaced", " ".repeat(1_600_000) + "1");
    let run = |source: &str| {
        let mut fuel = Fuel::default();
        Expression::parse(source).unwrap().evaluate(&big, &mut fuel).map(|_| Fuel::DEFAULT - fuel.left())
    };
    assert_eq!(run("big"), Ok(1));
    assert_eq!(run("list[5]"), Ok(4));
    assert!(run("len(big)").unwrap() > 60_000);
    assert!(run("[len(big), len(big)]").is_err());
    for reads in ["int", "bool", "date", "datetime"] {
        let source = format!("[spaced | {reads}, spaced | {reads}]");
        assert_eq!(run(&source).unwrap_err().message, "the expression ran too long", "{reads}");
    }
    assert!(run("list + list").is_err());
    assert!(run("list == list and list == list").is_err());
    assert!(run(&format!("[{}] | to_json", "big,".repeat(1000))).is_err());
    // Each quote is written as two bytes: many small pieces are not free either.
    assert!(run("('\"' * 10000) | to_json").unwrap() > 1000);
}

#[test]
fn deep_and_long_input_is_refused_without_harm() {
    let message = |source: &str| Expression::parse(source).unwrap_err().message;
    let too_deep = "the expression is nested deeper than 64 levels";
    for nesting in ["(", "[", "-", "not ", "{'a':", "1 if true else ", "len(", "1[", "'a'|default("] {
        assert_eq!(message(&nesting.repeat(1000)), too_deep, "{nesting}");
    }
    assert_eq!(message(&"(".repeat(10_000)), too_deep);
    assert_eq!(message(&"1+".repeat(500_000)), "an expression may have at most 16384 bytes");
    // Long chains are flat, so they may be as long as the text.
    check(&format!("1{}", "+1".repeat(8000)), "8001");
    check(&format!("'a'{}", " | upper".repeat(1500)), "\"A\"");
    check(&format!("true{}", " and true".repeat(1500)), "true");
    check(&format!("1{}", " ~ 1".repeat(20)), &format!("\"{}\"", "1".repeat(21)));
    let within = MAX_DEPTH - 1;
    check(&format!("{}1{}", "(".repeat(within), ")".repeat(within)), "1");
}

#[test]
fn a_message_does_not_repeat_a_long_key() {
    let error = evaluate("params['k' * 100000]").unwrap_err();
    assert!(error.message.len() < 100, "{}", error.message.len());
}

#[test]
fn expressions_and_values_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<(Expression, Value, Values, crate::template::Template)>();
}

/// Bytes that a value holds, shared parts counted each time.
fn size(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::Text(text) => text.len(),
            Value::List(items) => items.iter().map(size).sum(),
            Value::Map(fields) => fields.iter().map(|(key, value)| key.len() + size(value)).sum(),
            _ => 0,
        }
}

/// Pieces that make expressions which often parse and often do much.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1"),
        Just("0"),
        Just("-3"),
        Just("2.5"),
        Just("'xyz'"),
        Just("''"),
        Just("true"),
        Just("null"),
        Just("params.list"),
        Just("params.n"),
        Just("params.absent"),
        Just("run.logical_time"),
        Just("days(3)"),
        Just("date('2026-03-29')"),
        Just("9223372036854775807"),
        Just("range(50000)"),
        Just("{'a': 1}"),
        Just("months(-1)"),
        Just("hours(7)"),
        Just("'day'"),
        Just("'%Y %255d'"),
    ]
    .prop_map(str::to_owned);
    let operator = prop::sample::select(vec![
        "+", "-", "*", "/", "//", "%", "~", "==", "<", ">=", "in", "not in", "and", "or", "!=",
    ]);
    let function = prop::sample::select(FUNCTIONS.iter().collect::<Vec<_>>());
    leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            (inner.clone(), operator.clone(), inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (function.clone(), prop::collection::vec(inner.clone(), 1..4)).prop_map(
                |(function, mut arguments)| {
                    arguments.truncate(function.max);
                    while arguments.len() < function.min {
                        arguments.push("'x'".to_owned());
                    }
                    format!("{}({})", function.name, arguments.join(", "))
                }
            ),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("{a}[{b}]")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(source in "\\PC{0,60}") {
        let _ = evaluate(&source);
    }

    #[test]
    fn arbitrary_tokens_never_panic(tokens in prop::collection::vec(prop::sample::select(vec![
        "a", "1", "'x'", "(", ")", "[", "]", "{", "}", ",", ":", ".", "|", "~", "+", "-", "*", "//", "%", "==",
        "<", "not", "in", "if", "else", "and", "or", "len", "default", "params", "range", "}}", "\\", "'", "1.5",
    ]), 0..20)) {
        let source = tokens.join(" ");
        if let Err(error) = evaluate(&source) {
            prop_assert!(source.get(error.at.clone()).is_some(), "{source}: {error:?}");
        }
    }

    #[test]
    fn evaluation_stays_within_its_fuel(source in expression(), units in 0_u64..20_000) {
        let parsed = Expression::parse(&source).unwrap();
        let mut fuel = Fuel::new(units);
        match parsed.evaluate(&scope(), &mut fuel) {
            // 100 bytes a unit: an element with its text, or sixteen bytes of text; the literals are given.
            Ok(value) => prop_assert!(size(&value) as u64 <= 100 * (units - fuel.left()) + 1000, "{source}"),
            Err(error) => prop_assert!(source.get(error.at.clone()).is_some(), "{source}: {error:?}"),
        }
    }

    #[test]
    fn what_is_displayed_parses_to_the_same(source in expression()) {
        let parsed = Expression::parse(&source).unwrap();
        let again = Expression::parse(&parsed.to_string()).unwrap();
        prop_assert_eq!(&parsed, &again);
        prop_assert_eq!(parsed.references(), again.references());
    }

    #[test]
    fn integers_agree_with_a_wider_model(a in any::<i64>(), b in any::<i64>(), small in -50_i64..50) {
        for (left, right) in [(a, b), (a, small), (small, b)] {
            let (x, y) = (i128::from(left), i128::from(right));
            let floor = |x: i128, y: i128| x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0);
            let models = [
                ("+", Some(x + y)),
                ("-", Some(x - y)),
                ("*", Some(x * y)),
                ("//", (y != 0).then(|| floor(x, y))),
                ("%", (y != 0).then(|| x - y * floor(x, y))),
            ];
            for (operator, expected) in models {
                let expected = expected.and_then(|wide| i64::try_from(wide).ok());
                let found = evaluate(&format!("{left} {operator} {right}")).ok();
                prop_assert_eq!(found, expected.map(Value::Int), "{} {} {}", left, operator, right);
            }
            let order = evaluate(&format!("[{left} < {right}, {left} == {right}, {left} >= {right}]"));
            let expected = [left < right, left == right, left >= right].map(Value::Bool);
            prop_assert_eq!(order.unwrap(), Value::from(expected.to_vec()));
        }
    }
}
