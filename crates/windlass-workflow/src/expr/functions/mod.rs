//! The closed table of functions. Each is also a filter: `x | f(a)` is `f(x, a)`.
//!
//! `docs/reference/expressions.md` is generated from this table, and a test evaluates its examples.

mod context;
mod convert;
mod lists;
mod numbers;
mod text;
mod times;

pub(super) use context::Context;

use super::Value;
use super::problem::Problem;

/// One function of the language.
#[derive(Debug)]
pub struct Function {
    /// How it is called.
    pub name: &'static str,
    /// How it is called with its arguments; those in brackets may be left out.
    pub signature: &'static str,
    /// The fewest arguments, the value before a filter counted.
    pub min: usize,
    /// The most arguments; `usize::MAX` for any number.
    pub max: usize,
    /// What it gives, in one line.
    pub doc: &'static str,
    /// An expression that uses it.
    pub example: &'static str,
    /// What the example gives, as JSON.
    pub gives: &'static str,
    body: Body,
}

type Body = fn(&mut Context<'_>) -> Result<Value, Problem>;

impl Function {
    /// Whether it can be called with so many arguments.
    pub fn takes(&self, arguments: usize) -> bool {
        (self.min..=self.max).contains(&arguments)
    }

    /// How many arguments it takes, in words.
    pub(super) fn arity(&self) -> String {
        match (self.min, self.max) {
            (1, 1) => "1 argument".to_owned(),
            (1, usize::MAX) => "at least 1 argument".to_owned(),
            (min, usize::MAX) => format!("at least {min} arguments"),
            (min, max) if min == max => format!("{min} arguments"),
            (min, max) => format!("{min} to {max} arguments"),
        }
    }

    /// Whether it is the one function that may meet a missing value.
    pub(super) fn is_default(&self) -> bool {
        self.name == "default"
    }
}

/// The function of this name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// Calls `function` with arguments whose number the parser has checked.
pub(super) fn call(function: &Function, mut context: Context<'_>) -> Result<Value, Problem> {
    (function.body)(&mut context)
}

macro_rules! functions {
    ($($signature:literal $min:literal..=$max:expr, $body:path, $doc:literal, $example:literal => $gives:literal;)+) => {
        /// Every function, in the order of the reference page.
        pub static FUNCTIONS: &[Function] = &[$(Function {
            name: name_of($signature),
            signature: $signature,
            min: $min,
            max: $max,
            doc: $doc,
            example: $example,
            gives: $gives,
            body: $body,
        },)+];
    };
}

/// The part of a signature before the parenthesis.
const fn name_of(signature: &'static str) -> &'static str {
    let bytes = signature.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b'(' {
        end += 1;
    }
    signature.split_at(end).0
}

const MANY: usize = usize::MAX;

functions! {
    // Missing values and types.
    "default(x, fallback)" 2..=2, convert::default, "`x`, or `fallback` if `x` is missing or null",
        "{'a': 1}.b | default(5)" => "5";
    "int(x)" 1..=1, convert::int, "an integer from text, a boolean or a float, whose fraction is cut off",
        "'42' | int" => "42";
    "float(x)" 1..=1, convert::float, "a float from text or an integer", "'2.5' | float" => "2.5";
    "bool(x)" 1..=1, convert::boolean, "a boolean from `'true'`, `'false'`, 1 or 0", "'true' | bool" => "true";
    "string(x)" 1..=1, convert::string, "text, as the value appears in `${{ }}` within other text",
        "[1, 2] | string" => "\"[1,2]\"";
    "to_json(x)" 1..=1, convert::to_json, "compact JSON", "{'a': null} | to_json" => "\"{\\\"a\\\":null}\"";
    "from_json(text)" 1..=1, convert::from_json, "the value that JSON text describes",
        "('[1, 2]' | from_json)[1]" => "2";

    // Numbers.
    "range([start,] stop[, step])" 1..=3, numbers::range, "the integers from `start` to before `stop`",
        "range(1, 10, 4)" => "[1,5,9]";
    "abs(x)" 1..=1, numbers::abs, "the number or span without its sign", "abs(-3)" => "3";
    "round(x[, digits])" 1..=2, numbers::round,
        "the nearest integer, or float with so many digits; halves go to the even neighbour",
        "2.345 | round(1)" => "2.3";
    "min(list) or min(a, b, …)" 1..=MANY, numbers::min, "the smallest", "min(3, 1, 2)" => "1";
    "max(list) or max(a, b, …)" 1..=MANY, numbers::max, "the largest", "[3, 1, 2] | max" => "3";
    "sum(list)" 1..=1, numbers::sum, "the sum of numbers; 0 if there are none", "range(5) | sum" => "10";

    // Text.
    "lower(text)" 1..=1, text::lower, "in lower case", "'Oslo' | lower" => "\"oslo\"";
    "upper(text)" 1..=1, text::upper, "in upper case", "'Oslo' | upper" => "\"OSLO\"";
    "trim(text)" 1..=1, text::trim, "without white space at both ends", "' a b ' | trim" => "\"a b\"";
    "replace(text, from, to)" 3..=3, text::replace, "with every `from` replaced by `to`",
        "'a-b-c' | replace('-', '/')" => "\"a/b/c\"";
    "split(text[, separator])" 1..=2, text::split, "the parts between separators; without one, the words",
        "'a,b' | split(',')" => "[\"a\",\"b\"]";
    "join(list[, separator])" 1..=2, text::join, "the elements as text, one after the other",
        "[1, 2, 3] | join('-')" => "\"1-2-3\"";
    "starts_with(text, start)" 2..=2, text::starts_with, "whether the text starts so",
        "'s3://x' | starts_with('s3:')" => "true";
    "ends_with(text, end)" 2..=2, text::ends_with, "whether the text ends so",
        "'a.csv' | ends_with('.csv')" => "true";
    "contains(x, item)" 2..=2, lists::contains, "whether a list, text or map has it: `item in x`",
        "[1, 2] | contains(2)" => "true";

    // Lists and maps.
    "len(x)" 1..=1, lists::len, "how many elements, characters or keys", "len('Ålesund')" => "7";
    "length(x)" 1..=1, lists::len, "the same as `len`", "[1, 2] | length" => "2";
    "first(list)" 1..=1, lists::first, "the first element", "['a', 'b'] | first" => "\"a\"";
    "last(list)" 1..=1, lists::last, "the last element", "['a', 'b'] | last" => "\"b\"";
    "sort(list)" 1..=1, lists::sort, "in rising order; equals stay as they were", "[3, 1, 2] | sort" => "[1,2,3]";
    "unique(list)" 1..=1, lists::unique, "without repetitions; the first of equals stays",
        "[2, 1, 2] | unique" => "[2,1]";
    "reverse(x)" 1..=1, lists::reverse, "a list or text from the end", "range(3) | reverse" => "[2,1,0]";
    "keys(map)" 1..=1, lists::keys, "the keys in order", "{'b': 1, 'a': 2} | keys" => "[\"a\",\"b\"]";
    "values(map)" 1..=1, lists::values, "the values in the order of their keys",
        "{'b': 1, 'a': 2} | values" => "[2,1]";
    "get(x, key[, fallback])" 2..=3, lists::get,
        "the value of a key or index; if there is none, `fallback` or null",
        "get({'a': 1}, 'b', 0)" => "0";

    // Dates and times.
    "date(x)" 1..=1, times::date, "a date from a time, or from text such as `2026-03-01`",
        "date('2026-03-01') + days(1)" => "\"2026-03-02\"";
    "datetime(x)" 1..=1, times::datetime,
        "a time from a date (its start), RFC 3339 text, local text, or seconds since 1970",
        "datetime('2026-03-01T00:00:00Z')" => "\"2026-03-01T01:00:00+01:00\"";
    "seconds(n)" 1..=1, times::seconds, "a span of seconds", "seconds(90)" => "\"PT1M30S\"";
    "minutes(n)" 1..=1, times::minutes, "a span of minutes", "minutes(5)" => "\"PT5M\"";
    "hours(n)" 1..=1, times::hours, "a span of hours", "hours(2)" => "\"PT2H\"";
    "days(n)" 1..=1, times::days, "a span of calendar days", "date('2026-03-01') - days(1)" => "\"2026-02-28\"";
    "weeks(n)" 1..=1, times::weeks, "a span of weeks", "weeks(2)" => "\"P14D\"";
    "months(n)" 1..=1, times::months, "a span of months; a day that a month lacks becomes its last",
        "date('2026-01-31') + months(1)" => "\"2026-02-28\"";
    "years(n)" 1..=1, times::years, "a span of years", "date('2024-02-29') + years(1)" => "\"2025-02-28\"";
    "start_of(x, unit)" 2..=2, times::start_of,
        "the start of the `year`, `quarter`, `month`, `week` (Monday), `day` or `hour`",
        "date('2026-05-20') | start_of('quarter')" => "\"2026-04-01\"";
    "end_of(x, unit)" 2..=2, times::end_of, "the last day of a date's unit, the last nanosecond of a time's",
        "date('2026-02-10') | end_of('month')" => "\"2026-02-28\"";
    "format(x, pattern)" 2..=2, times::format, "a date or time as text, by a strftime pattern",
        "date('2026-03-01') | format('%d.%m.%Y')" => "\"01.03.2026\"";
    "in_zone(time, zone)" 2..=2, times::in_zone, "the same instant, shown in another zone",
        "datetime('2026-03-01T12:00:00Z') | in_zone('Asia/Tokyo')" => "\"2026-03-01T21:00:00+09:00\"";
    "epoch(x)" 1..=1, times::epoch, "seconds since 1970-01-01T00:00:00Z, rounded down",
        "datetime('2026-03-01T00:00:00Z') | epoch" => "1772323200";
    "total(span, unit)" 2..=2, times::total,
        "a span in `seconds`, `minutes`, `hours`, `days`, `weeks`, or of months alone in `months`, `years`; a day counts 24 hours",
        "(date('2026-03-01') - date('2026-02-01')) | total('days')" => "28";
}
