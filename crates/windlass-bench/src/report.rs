//! What was measured, as rows that people and programs read.

use std::fmt::{self, Write as _};

use serde::{Serialize, Serializer};

use crate::plan::Figure;
use crate::samples::{Medians, Pairs};

/// Nobody is faster than a raw limit. What seems to be by more than the noise of a quiet machine was disturbed, or its
/// limit is none.
const BEATEN: f64 = 1.05;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The rows.
    pub items: Vec<Row>,
    /// How many processors there are.
    pub cores: usize,
    /// How busy the machine was before and after, over 1, 5 and 15 minutes.
    pub load_before: String,
    /// See above.
    pub load_after: String,
    /// How often everything was measured.
    pub rounds: usize,
}

/// One figure beside its limit.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which measurement made it.
    #[serde(serialize_with = "shown")]
    pub figure: Figure,
    /// What was measured.
    pub what: String,
    /// In what.
    #[serde(serialize_with = "shown")]
    pub unit: Unit,
    /// What it is with Windlass.
    pub ours: f64,
    /// What the limit is.
    pub limit_is: String,
    /// How much that is.
    pub limit: f64,
    /// The one divided by the other, or the median of that over the rounds.
    pub ratio: f64,
    /// What is wanted.
    #[serde(serialize_with = "shown_if_any")]
    pub target: Option<Target>,
    /// Whether it is so. Null with a target: a raw limit was beaten, so that something is wrong with the measurement.
    pub met: Option<bool>,
    /// What else is known.
    pub note: String,
}

/// In what a figure is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things per second.
    PerSecond,
    /// Milliseconds.
    Millis,
    /// Millions of bytes.
    Megabytes,
    /// Bytes.
    Bytes,
    /// Hundredths.
    Percent,
}

/// What is wanted of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// So much of a raw limit or more, but not more than the limit.
    OfLimit(f64),
    /// So much of another figure or more.
    OfOther(f64),
    /// So much or less, in the unit of the figure.
    AtMost(f64, Unit),
}

impl Row {
    /// A row with what follows from the figures.
    pub fn new(figure: Figure, what: impl Into<String>, unit: Unit, ours: f64) -> Row {
        Row {
            figure,
            what: what.into(),
            unit,
            ours,
            limit_is: String::new(),
            limit: f64::NAN,
            ratio: f64::NAN,
            target: None,
            met: None,
            note: String::new(),
        }
    }

    /// What it stands beside.
    #[must_use]
    pub fn beside(self, limit_is: impl Into<String>, limit: f64) -> Row {
        Row { limit_is: limit_is.into(), limit, ratio: self.ours / limit, ..self }
    }

    /// A figure that was measured in turns with its limit.
    pub(crate) fn of_pairs(figure: Figure, what: String, unit: Unit, pairs: &Pairs, limit_is: &str) -> Row {
        let Medians { ours, limit, ratio } = pairs.medians();
        Row { ratio, ..Row::new(figure, what, unit, ours).beside(limit_is, limit) }
    }

    /// What is wanted of it.
    #[must_use]
    pub fn wanted(self, target: Target) -> Row {
        let met = match target {
            Target::OfLimit(_) if self.ratio > BEATEN => None,
            Target::OfLimit(share) | Target::OfOther(share) => Some(self.ratio >= share),
            Target::AtMost(most, _) => Some(self.ours <= most),
        };
        Row { target: Some(target), met, ..self }
    }

    /// The limit is a bound that somebody has set, and is what is wanted.
    #[must_use]
    pub fn bounded(self, most: f64) -> Row {
        let target = Target::AtMost(most, self.unit);
        self.beside("bound", most).wanted(target)
    }

    /// What else is known.
    #[must_use]
    pub fn noting(self, note: impl Into<String>) -> Row {
        Row { note: note.into(), ..self }
    }
}

impl Report {
    /// Whether every target is met beyond doubt.
    pub fn meets_targets(&self) -> bool {
        self.missed().next().is_none()
    }

    /// The rows whose target is missed, or may be.
    pub fn missed(&self) -> impl Iterator<Item = &Row> {
        self.items.iter().filter(|row| row.target.is_some() && row.met != Some(true))
    }
}

/// A table in Markdown.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} processors; load {} before, {} after; rounds: {}\n",
            self.cores, self.load_before, self.load_after, self.rounds
        )?;
        writeln!(f, "| | ours | limit | ours / limit | target | |\n|---|---|---|---|---|---|")?;
        for row in &self.items {
            let mut what = format!("**{}** {}", row.figure, row.what);
            if !row.note.is_empty() {
                write!(what, "<br>{}", row.note)?;
            }
            let target = row.target.map(|target| target.to_string()).unwrap_or_default();
            let met = match row.met {
                Some(true) => "met",
                Some(false) => "MISSED",
                None if row.target.is_some() => "DOUBTFUL",
                None => "",
            };
            writeln!(
                f,
                "| {what} | {} | {} ({}) | {} | {target} | {met} |",
                amount(row.ours, row.unit),
                amount(row.limit, row.unit),
                row.limit_is,
                ratio(row.ratio),
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::OfLimit(share) | Target::OfOther(share) => write!(f, "≥ {} of that", ratio(*share)),
            Target::AtMost(most, unit) => write!(f, "≤ {}", amount(*most, *unit)),
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::PerSecond => "/s",
            Unit::Millis => "ms",
            Unit::Megabytes => "MB",
            Unit::Bytes => "B",
            Unit::Percent => "%",
        })
    }
}

fn amount(number: f64, unit: Unit) -> String {
    let digits = match number.abs() {
        100.0.. => 0,
        10.0..100.0 => 1,
        _ => 2,
    };
    let blank = if unit == Unit::PerSecond { "" } else { " " };
    format!("{number:.digits$}{blank}{unit}")
}

fn ratio(ratio: f64) -> String {
    if ratio < 10.0 { format!("{:.0} %", 100.0 * ratio) } else { format!("{ratio:.0} ×") }
}

fn shown<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn shown_if_any<S: Serializer>(value: &Option<impl fmt::Display>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(rows: Vec<Row>) -> Report {
        let load = "0.10 0.20 0.30".to_owned();
        Report { items: rows, cores: 2, load_before: load.clone(), load_after: load, rounds: 3 }
    }

    #[test]
    fn a_row_says_whether_its_target_is_met() {
        let fast =
            Row::new(Figure::Noop, "no-op jobs", Unit::PerSecond, 50_000.0).beside("bare SQLite", 400_000.0);
        let slow =
            Row::new(Figure::Latency, "submit to start", Unit::Millis, 3.5).beside("insert + spawn", 1.25);
        let report = report(vec![
            fast.wanted(Target::OfLimit(0.1)).noting("13 µs each"),
            slow.wanted(Target::AtMost(3.0, Unit::Millis)),
            Row::new(Figure::Start, "idle", Unit::Megabytes, 31.0).bounded(60.0),
        ]);
        let table = report.to_string();
        let rows: Vec<&str> = table.lines().skip(4).collect();
        assert_eq!(
            rows,
            [
                "| **noop** no-op jobs<br>13 µs each | 50000/s | 400000/s (bare SQLite) | 12 % | ≥ 10 % of that | met |",
                "| **latency** submit to start | 3.50 ms | 1.25 ms (insert + spawn) | 280 % | ≤ 3.00 ms | MISSED |",
                "| **start** idle | 31.0 MB | 60.0 MB (bound) | 52 % | ≤ 60.0 MB | met |",
            ]
        );
        assert!(!report.meets_targets());
        assert_eq!(report.missed().count(), 1);
    }

    #[test]
    fn who_beats_a_raw_limit_has_measured_something_else() {
        let row =
            Row::new(Figure::Processes, "processes", Unit::PerSecond, 1_000.0).beside("posix_spawn", 500.0);
        let doubtful = report(vec![row.clone().wanted(Target::OfLimit(0.7))]);
        assert!(doubtful.to_string().contains("DOUBTFUL"), "{doubtful}");
        assert!(!doubtful.meets_targets());
        assert!(report(vec![row.wanted(Target::OfOther(0.7))]).meets_targets());
    }

    #[test]
    fn programs_read_the_same() {
        let row = Row::new(Figure::Chain, "a step", Unit::Millis, 0.5).beside("two flushes", 0.25);
        let json = serde_json::to_value(report(vec![row])).expect("it can be written");
        assert_eq!(json["items"][0]["figure"], "chain");
        assert_eq!(json["items"][0]["unit"], "ms");
        assert_eq!(json["items"][0]["ratio"], 2.0);
        assert_eq!(json["items"][0]["target"], serde_json::Value::Null);
    }
}
