//! A year of firings in six zones, with outages, clocks that step and owners that die: the ledger equals what is computed
//! by looking at a clock on the wall, a quarter of an hour at a time.

use jiff::Timestamp;
use jiff::civil::{Date, time};
use jiff::tz::TimeZone;
use windlass_core::rows::FiringRow;
use windlass_core::time::Wall;
use windlass_model::{Duration, Name};

use crate::world::{World, flow};

const QUARTER: i64 = 15 * 60 * 1000;
const YEAR: i64 = 365 * 24 * 3_600_000;
const ZONES: [&str; 6] = [
    "Europe/Oslo",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Kolkata",
    "Africa/Casablanca",
];

/// When the clock of a zone shows half past two for the first time on each day, or has just jumped over it.
fn nightly(zone: &TimeZone, from: i64, to: i64) -> Vec<Wall> {
    let mut done: Option<Date> = None;
    let mut found = Vec::new();
    let mut at = from - from.rem_euclid(QUARTER) - 2 * 86_400_000;
    while at <= to {
        let shown = zone.to_datetime(Timestamp::from_millisecond(at).unwrap());
        if shown.time() >= time(2, 30, 0, 0) && done != Some(shown.date()) {
            done = Some(shown.date());
            found.push(Wall(at));
        }
        at += QUARTER;
    }
    found.retain(|due| due.0 > from);
    found
}

/// Whenever the clock of a zone shows a full hour.
fn hourly(zone: &TimeZone, from: i64, to: i64) -> Vec<Wall> {
    let first = from - from.rem_euclid(QUARTER) + QUARTER;
    let moments = (0..).map(|step| first + step * QUARTER).take_while(|at| *at <= to);
    let full = |at: &i64| zone.to_datetime(Timestamp::from_millisecond(*at).unwrap()).minute() == 0;
    moments.filter(full).map(Wall).collect()
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[test]
fn the_ledger_of_a_year_is_what_clocks_on_the_wall_say() {
    for seed in 1..=2 {
        let mut dice = Dice(seed);
        let mut world = World::with_worker();
        world.check_every = 50;
        let start: Timestamp = "2026-01-01T00:00:01Z".parse().unwrap();
        let start = start.as_millisecond();
        world.now.wall = Wall(start);
        for (number, zone) in ZONES.iter().enumerate() {
            for (kind, cron) in [("nightly", "30 2 * * *"), ("hourly", "0 * * * *")] {
                world.put(&flow(&format!(
                    "name: {kind}{number}\nschedule: {{cron: '{cron}', timezone: {zone}, id: t, catchup: none}}\ntasks: {{a: {{type: approve}}}}"
                )));
            }
        }
        while world.now.wall.0 < start + YEAR {
            match dice.roll(20) {
                // An outage of up to two days.
                0 => {
                    let away = Duration::from_secs(dice.roll(48 * 3600));
                    world.now.mono = world.now.mono.after(away);
                    world.now.wall = world.now.wall.after(away);
                    world.load();
                }
                // The clock steps, back or forth, by up to two hours.
                1 => world.now.wall.0 -= dice.roll(7_200_000) as i64,
                2 => world.now.wall.0 += dice.roll(7_200_000) as i64,
                // The owner dies.
                3 => world.reload(),
                _ => world.pass(Duration::from_secs(dice.roll(6 * 3600))),
            }
        }
        world.pass(Duration::from_secs(7_200));
        let highest = world.schedules.values().map(|row| row.cursor.0).max().unwrap();
        for (number, zone) in ZONES.iter().enumerate() {
            let zone = TimeZone::get(zone).unwrap();
            for kind in ["nightly", "hourly"] {
                let expected = match kind {
                    "nightly" => nightly(&zone, start, highest),
                    _ => hourly(&zone, start, highest),
                };
                let name = Name::new(&format!("{kind}{number}")).unwrap();
                let rows: Vec<&FiringRow> =
                    world.firings.values().filter(|row| row.workflow == name).collect();
                let mut left = &expected[..];
                for row in rows {
                    let (these, rest) = left.split_at((row.count as usize).min(left.len()));
                    assert_eq!(these.len() as u64, row.count, "{seed} {name}: {row:?} is too much");
                    assert_eq!(
                        (these.first(), these.last()),
                        (Some(&row.first_due), Some(&row.last_due)),
                        "{seed} {name}"
                    );
                    left = rest;
                }
                assert!(
                    left.iter().all(|due| due.0 > world.now.wall.0),
                    "{seed} {name}: {left:?} are not in the ledger"
                );
                assert!(expected.len() >= 360, "{name}: {}", expected.len());
            }
        }
    }
}
