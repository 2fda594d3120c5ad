//! Cron rules against croniter, which others wrote: same rules, same zones, same firings.

use std::io::{BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use windlass_workflow::cron::{Rule, zone};

const START: Date = date(2023, 7, 1);
const END: Date = date(2025, 7, 1);

/// Whole and half hours, both halves of the year, changes at midnight, four changes a year, none.
const ZONES: &[&str] = &[
    "UTC",
    "Europe/Oslo",
    "America/New_York",
    "America/St_Johns",
    "America/Santiago",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Africa/Cairo",
    "Africa/Casablanca",
];

/// Each of these covers the whole two years. Left out is what croniter reads differently: `30W` in
/// February (it takes the month's last day, we nothing), `*/2` beside a weekday (it takes either, we
/// both, as Vixie cron does), `3-3` (it takes every value), and `W` or `L` in more complex lists.
const RULES: &[&str] = &[
    "0 3 * * *",
    "30 2 * * *",
    "0 0 * * *",
    "59 23 * * *",
    "15 4 * * 1-5",
    "0 9 * * MON-FRI",
    "0 9 * * mon,wed,fri",
    "30 18 * * 6,0",
    "30 18 * * 7",
    "0 12 * * SUN",
    "0 8 * * FRI-MON",
    "0 8 * * 5-7",
    "0 8 * * 1-5/2",
    "0 8 * * */2",
    "0 0 1 * *",
    "0 0 31 * *",
    "0 0 29 2 *",
    "0 0 30 4,6 *",
    "45 6 1,15 * *",
    "45 6 10-20/5 * *",
    "0 5 */10 * *",
    "0 5 5/10 * *",
    "0 0 1 1 *",
    "0 0 1 JAN,APR,JUL,OCT *",
    "0 0 1 */3 *",
    "0 0 1 2/3 *",
    "0 7 * NOV-FEB *",
    "0 7 * 6-8 1",
    "0 0 13 * 5",
    "0 0 1,15 * 3",
    "0 0 1-7 * MON",
    "0 6 25-31 12 0",
    "10 1 L * *",
    "10 1 L 2 *",
    "10 1 15,L * *",
    "20 2 * * 5#2",
    "20 2 * * MON#1",
    "20 2 * * 0#5",
    "20 2 * * 2#1,2#3",
    "0 9 15W * *",
    "0 9 1W * *",
    "0 9 28W * *",
    "0 9,17 * * *",
    "0 9-17 * * 1-5",
    "0,30 12 * * *",
    "5,25,45 6,18 * * *",
    "0 22-6 * * *",
    "0 */6 * * *",
    "0 */5 * * *",
    "30 1-23/4 * * *",
    "15 3/7 * * *",
    "7 * * * *",
    "*/30 9-17 * * 1-5",
    "*/15 6 * * *",
    "5/15 12 * * *",
    "3-59/13 0,12 * * *",
    "50-10/5 4 * * *",
    "0 0 3 * * *",
    "30 15 3 * * 1",
    "*/15 0 12 * * *",
    "0,30 0 0 1 * *",
    "5-20/5 30 6 L * *",
    "@daily",
    "@weekly",
    "@monthly",
    "@yearly",
];

/// Our spelling and croniter's, where they differ.
const TRANSLATED: &[(&str, &str)] =
    &[("20 2 * * 5L", "20 2 * * L5"), ("20 2 * * SUNL", "20 2 * * L0"), ("0 9 ? * 1#2", "0 9 * * 1#2")];

#[test]
fn rules_fire_when_croniter_says() {
    let rules: Vec<_> = RULES.iter().map(|rule| (*rule, *rule)).chain(TRANSLATED.iter().copied()).collect();
    let mut peer = ask_peer(&rules.iter().map(|(_, theirs)| *theirs).collect::<Vec<_>>());
    let mut expected = BufReader::new(peer.stdout.take().unwrap()).lines();
    let zones: Vec<_> = ZONES.iter().map(|name| Near::new(name)).collect();
    for (rule, _) in &rules {
        let parsed = Rule::parse(rule).unwrap();
        for near in &zones {
            let ours = near.quiet_firings(&parsed);
            let Some(line) = expected.next() else { panic!("no answer for {rule} in {}", near.name) };
            compare(rule, near, &ours, &line.unwrap());
        }
    }
    assert!(expected.next().is_none());
    assert!(peer.wait().unwrap().success());
}

fn compare(rule: &str, near: &Near, ours: &[i64], line: &str) {
    let theirs: Vec<i64> = line.split(' ').filter_map(|number| number.parse().ok()).collect();
    if ours == theirs {
        return;
    }
    let different = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    let index = different.unwrap_or(ours.len().min(theirs.len()));
    let show = |firings: &[i64]| {
        firings
            .get(index)
            .map(|at| Timestamp::from_second(*at).unwrap().to_zoned(near.zone.clone()).to_string())
    };
    panic!(
        "`{rule}` in {}: firing {index} is {:?}, croniter says {:?}",
        near.name,
        show(ours),
        show(&theirs)
    );
}

/// A zone and the moments around which the peer is not asked.
pub struct Near {
    name: String,
    zone: TimeZone,
    changes: Vec<i64>,
}

impl Near {
    /// As in `cron_peer.py`.
    const QUIET_SECS: i64 = 26 * 3_600;

    pub fn new(name: &str) -> Near {
        let zone = zone(name).unwrap();
        let (start, end) = (Self::midnight(&zone, START), Self::midnight(&zone, END));
        let margin = 4 * Self::QUIET_SECS;
        let offset = |at: i64| zone.to_offset(Timestamp::from_second(at).unwrap());
        let changes = zone
            .following(Timestamp::from_second(start - margin).unwrap())
            .map(|change| change.timestamp().as_second())
            .take_while(|at| *at < end + margin)
            .filter(|at| offset(at - 1) != offset(*at))
            .collect();
        Near { name: name.to_owned(), zone, changes }
    }

    fn quiet_firings(&self, rule: &Rule) -> Vec<i64> {
        let from = Timestamp::from_second(Self::midnight(&self.zone, START) - 1).unwrap();
        let end = Self::midnight(&self.zone, END);
        let firings = rule.upcoming(&self.zone, from, from).map(Timestamp::as_second);
        firings.take_while(|at| *at < end).filter(|at| self.is_quiet(*at)).collect()
    }

    pub fn is_quiet(&self, at: i64) -> bool {
        self.changes.iter().all(|change| (at - change).abs() > Self::QUIET_SECS)
    }

    fn midnight(zone: &TimeZone, date: Date) -> i64 {
        zone.to_zoned(date.at(0, 0, 0, 0)).unwrap().timestamp().as_second()
    }
}

#[expect(clippy::disallowed_types, reason = "the peer is a program, and this is a test")]
fn ask_peer(rules: &[&str]) -> std::process::Child {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cron_peer.py");
    // A file, not a second pipe: the peer answers while it reads, and both could wait for each other.
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(rules.join("\n").as_bytes()).unwrap();
    input.rewind().unwrap();
    std::process::Command::new(python())
        .arg(script)
        .args([START.to_string(), END.to_string()])
        .args(ZONES)
        .env("PYTHONTZPATH", "")
        .stdin(input)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test is told by its environment where its peer is")]
pub fn python() -> PathBuf {
    let python = match std::env::var_os("WINDLASS_TEST_PYTHON") {
        Some(python) => PathBuf::from(python),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.setup/venv/bin/python"),
    };
    assert!(
        python.exists(),
        "no Python with croniter at {}: run `make setup`, or set WINDLASS_TEST_PYTHON",
        python.display()
    );
    python
}
