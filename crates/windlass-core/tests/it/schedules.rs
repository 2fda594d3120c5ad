//! Every due time of every schedule is accounted for.

use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::rows::{Firing, FiringRow, SkipCause, Trigger};
use windlass_core::run;
use windlass_core::shard::input::{Answer, Call, CallId, Expected, Input, PutWorkflow, Refusal};
use windlass_core::time::Wall;
use windlass_model::{Duration, Name};
use windlass_workflow::cron::Calendar;

use crate::world::{World, flow};

const HOUR: Duration = Duration::from_secs(3600);

/// A world at an even hour with an hourly workflow.
fn hourly(settings: &str) -> World {
    let mut world = World::with_worker();
    world.now.wall.0 -= world.now.wall.0 % 3_600_000;
    world.put(&flow(&format!(
        "name: x\nschedule: {{cron: '0 * * * *', {settings}}}\ntasks: {{a: {{run: x}}}}"
    )));
    world
}

/// The ledger as short words: `ran`, or the cause and how many.
fn ledger(world: &World) -> Vec<String> {
    let word = |row: &FiringRow| match row.outcome {
        Firing::Ran(_) => "ran".to_owned(),
        Firing::Skipped(cause) => format!("{cause:?} {}", row.count),
    };
    world.firings.values().map(word).collect()
}

#[test]
fn a_firing_in_time_becomes_a_run_of_its_due_time() {
    let mut world = hourly("");
    let start = world.now.wall;
    world.pass(HOUR);
    assert_eq!(ledger(&world), ["ran"]);
    let run = world.runs.values().next().unwrap();
    assert_eq!(run.logical_time, start.after(HOUR));
    assert!(matches!(run.trigger, Trigger::Schedule(_, due) if due == run.logical_time));
    assert_eq!(world.shard.wants().wake_at_wall, Some(start.after(HOUR).after(HOUR)));
}

#[test]
fn missed_firings_follow_their_policy() {
    for (policy, expected) in [
        ("latest", &["Missed 3", "ran"][..]),
        ("all", &["ran", "ran", "ran", "ran"]),
        ("none", &["Missed 4"]),
    ] {
        let mut world = hourly(&format!("catchup: {policy}, overlap: allow"));
        world.pass(Duration::from_secs(4 * 3600 + 90));
        assert_eq!(ledger(&world), expected, "{policy}");
    }
}

#[test]
fn a_minute_late_is_still_in_time() {
    let mut world = hourly("catchup: none");
    world.pass(Duration::from_secs(3600 + 60));
    assert_eq!(ledger(&world), ["ran"]);
}

#[test]
fn an_open_run_and_the_next_firing_meet_by_policy() {
    let mut world = hourly("overlap: skip");
    for _ in 0..3 {
        world.pass(HOUR);
    }
    assert_eq!(ledger(&world), ["ran", "Overlap 2"]);

    let mut world = hourly("overlap: queue");
    for _ in 0..3 {
        world.pass(HOUR);
    }
    assert_eq!(ledger(&world), ["ran", "ran", "ran"]);
    world.offer(10);
    assert_eq!(world.held.len(), 1, "one after the other");
    world.finish();
    assert!(world.runs.values().take(3).all(|run| run.state == run::State::Ended(run::End::Success)));

    let mut world = hourly("overlap: cancel_running");
    world.pass(HOUR);
    world.pass(HOUR);
    let states: Vec<_> = world.runs.values().map(|run| run.state).collect();
    assert_eq!(states, [run::State::Ended(run::End::Stopped), run::State::Running]);

    let mut world = hourly("overlap: allow");
    world.pass(HOUR);
    world.pass(HOUR);
    world.offer(10);
    assert_eq!(world.held.len(), 2);
}

#[test]
fn paused_and_disabled_schedules_say_so_in_the_ledger() {
    let mut world = hourly("");
    let (name, schedule) = world.schedules.keys().next().unwrap().clone();
    world.input(Input::Call(CallId(900), Call::PauseSchedule(name.clone(), Arc::clone(&schedule), true)));
    world.pass(HOUR);
    world.pass(HOUR);
    world.input(Input::Call(CallId(901), Call::PauseSchedule(name.clone(), schedule, false)));
    world.input(Input::Call(CallId(902), Call::EnableWorkflow(name.clone(), "me".into(), false)));
    world.pass(HOUR);
    world.input(Input::Call(CallId(903), Call::EnableWorkflow(name, "me".into(), true)));
    world.pass(HOUR);
    assert_eq!(ledger(&world), ["Paused 2", "Disabled 1", "ran"]);
}

#[test]
fn a_deleted_workflow_fires_no_more_and_begins_anew() {
    let mut world = hourly("");
    let (name, _) = world.schedules.keys().next().unwrap().clone();
    let definition = Arc::clone(&world.stored[&name]);
    let delete = |world: &mut World, expected| world.call(Call::DeleteWorkflow(name.clone(), expected));
    world.pass(HOUR);
    assert_eq!(delete(&mut world, None), Answer::Refused(Refusal::RunsOpen(1)));
    world.finish();
    let other = Some(Expected::Version(9));
    assert_eq!(delete(&mut world, other), Answer::Refused(Refusal::Changed(Some(1))));
    assert_eq!(delete(&mut world, Some(Expected::Version(1))), Answer::Done);
    assert!(world.workflows.is_empty() && world.schedules.is_empty());
    assert_eq!(delete(&mut world, None), Answer::Refused(Refusal::NoSuchWorkflow));
    world.pass(HOUR);
    world.reload();
    world.pass(HOUR);
    assert_eq!(ledger(&world), ["ran"]);
    world.put(&definition);
    world.pass(HOUR);
    assert_eq!(ledger(&world), ["ran", "ran"], "what fell due meanwhile is not its business");
}

#[test]
fn a_definition_is_stored_only_over_the_one_that_its_author_has_seen() {
    let mut world = hourly("");
    let name = world.workflows.keys().next().unwrap().clone();
    let definition = Arc::clone(&world.stored[&name]);
    let put = |version, expected| {
        let (pinned, versions) = (Arc::default(), Arc::default());
        let definition = Arc::clone(&definition);
        let put = PutWorkflow { by: "me".into(), definition, version, expected, pinned, versions };
        Call::PutWorkflow(Box::new(put))
    };
    let changed = Answer::Refused(Refusal::Changed(Some(1)));
    assert_eq!(world.call(put(2, Some(Expected::Version(7)))), changed);
    assert_eq!(world.call(put(2, Some(Expected::Absent))), changed);
    assert_eq!(world.call(put(2, Some(Expected::Version(1)))), Answer::Done);
    assert_eq!(
        world.call(put(2, Some(Expected::Version(1)))),
        Answer::Done,
        "a repeat whose answer was lost"
    );
    assert_eq!(world.call(put(3, Some(Expected::Present))), Answer::Done);
    assert_eq!(world.workflows[&name].version, 3);
}

#[test]
fn calendars_forbid_days_and_an_unknown_one_forbids_all() {
    let mut world = hourly("calendar: {exclude: holidays}");
    world.pass(HOUR);
    let today =
        jiff::Timestamp::from_millisecond(world.now.wall.0).unwrap().to_zoned(jiff::tz::TimeZone::UTC).date();
    let holidays = |dates: Vec<jiff::civil::Date>| {
        Arc::new([(Name::new("holidays").unwrap(), Calendar::new(dates, []))].into())
    };
    world.input(Input::Calendars(holidays(vec![today])));
    world.pass(HOUR);
    world.input(Input::Calendars(holidays(vec![])));
    world.pass(HOUR);
    assert_eq!(ledger(&world), ["Calendar 2", "ran"]);
}

#[test]
fn a_clock_that_steps_back_fires_nothing_twice() {
    let mut world = hourly("overlap: allow");
    world.pass(HOUR);
    world.now.wall.0 -= 7_200_000;
    world.input(Input::Woken);
    world.pass(HOUR);
    world.pass(HOUR);
    assert_eq!(ledger(&world), ["ran"], "the hour was decided");
    world.pass(HOUR);
    assert_eq!(ledger(&world), ["ran", "ran"]);
}

#[test]
fn a_new_version_keeps_the_cursor_of_a_schedule_it_still_has() {
    let mut world = hourly("overlap: allow");
    world.pass(HOUR);
    world.put(&flow(
        "name: x\nschedule: [{cron: '0 * * * *', overlap: allow}, '30 * * * *']\ntasks: {b: {run: x}}",
    ));
    assert_eq!(ledger(&world), ["ran"], "the hour is not fired again");
    world.pass(HOUR);
    assert_eq!(world.firings.len(), 3);
    world.put(&flow("name: x\ntasks: {b: {run: x}}"));
    assert!(world.schedules.is_empty());
    world.pass(HOUR);
    assert_eq!(world.firings.len(), 3);
}

#[test]
fn nothing_fires_before_the_start_or_from_the_end_on() {
    let mut world = World::with_worker();
    world.now.wall = Wall(1_772_323_200_000); // 2026-03-01T00:00:00Z
    world.put(&flow("name: x\nschedule: {cron: '0 * * * *', overlap: allow, start: '2026-03-01T02:00:00Z', end: '2026-03-01T04:00:00Z'}\ntasks: {a: {run: x}}"));
    for _ in 0..6 {
        world.pass(HOUR);
    }
    let dues: Vec<_> =
        world.firings.values().map(|row| (row.first_due.0 - 1_772_323_200_000) / 3_600_000).collect();
    assert_eq!(dues, [2, 3]);
}

#[test]
fn jitter_delays_the_start_and_not_the_logical_time() {
    let mut world = hourly("jitter: 10m, overlap: allow");
    world.pass(HOUR);
    let run = world.runs.values().next().unwrap().clone();
    let starts = run.run_at.unwrap();
    assert!(run.logical_time <= starts && starts.0 <= run.logical_time.0 + 600_000);
    world.offer(1);
    assert_eq!(world.held.is_empty(), starts > world.now.wall);
    world.pass(Duration::from_secs(600));
    world.offer(1);
    assert_eq!(world.held.len(), 1);
}

#[test]
fn years_of_missed_seconds_are_caught_up_in_steps() {
    let mut world = World::with_worker();
    world.put(&flow("name: x\nschedule: '* * * * * *'\ntasks: {a: {run: x}}"));
    world.pass(Duration::from_secs(500_000));
    assert_eq!(ledger(&world), ["Missed 10000"], "others have their turn");
    for _ in 0..49 {
        world.pass(Duration::from_millis(1));
    }
    assert_eq!(ledger(&world), ["Missed 499999", "ran"]);
}

#[test]
fn parameters_of_a_schedule_reach_its_runs_and_wrong_ones_fail_them() {
    let mut world = World::with_worker();
    world.put(&flow(
        "name: x\nparams: {day: {type: date, default: '${{ run.logical_time | date }}'}, n: 1}\nschedule: {cron: '@every 1h', params: {n: 5}}\ntasks: {a: {run: 'echo ${{ params.day }} ${{ params.n }}'}}",
    ));
    world.pass(HOUR);
    let run = world.runs.values().next().unwrap();
    assert_eq!(run.params.get("n").unwrap().to_text().unwrap(), "5");
    assert_eq!(run.params.get("day").unwrap().to_text().unwrap(), "2026-05-28");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Outages, clock steps, pauses, new versions, loads: each due time is in the ledger exactly once.
    #[test]
    fn the_ledger_has_neither_holes_nor_doubles(
        rule in proptest::sample::select(vec!["*/7 * * * *", "0 3 * * *", "30 2 * * *", "@every 50m", "0,30 1-3 * * *"]),
        zone in proptest::sample::select(vec!["UTC", "Europe/Oslo", "Australia/Lord_Howe"]),
        policy in proptest::sample::select(vec!["latest", "all", "none"]),
        overlap in proptest::sample::select(vec!["skip", "queue", "cancel_running", "allow"]),
        steps in proptest::collection::vec((0u8..6, 1u32..200_000), 1..25),
    ) {
        let mut world = World::with_worker();
        // Two days before Oslo's clocks go forward.
        world.now.wall = Wall(1_774_576_800_000);
        let yaml = format!("name: x\nschedule: {{id: s, cron: '{rule}', timezone: {zone}, catchup: {policy}, overlap: {overlap}}}\ntasks: {{a: {{type: noop}}}}");
        let definition = flow(&yaml);
        world.put(&definition);
        let key = world.schedules.keys().next().unwrap().clone();
        let anchor = world.schedules[&key].anchor;
        for (kind, amount) in steps {
            match kind {
                0 | 1 => world.pass(Duration::from_secs(u64::from(amount))),
                2 => {
                    world.offer(3);
                    while !world.held.is_empty() {
                        world.succeed(0);
                    }
                }
                3 => world.reload(),
                4 => world.now.wall.0 -= i64::from(amount) * 100,
                _ => {
                    let paused = world.schedules[&key].paused;
                    world.input(Input::Call(CallId(999), Call::PauseSchedule(key.0.clone(), Arc::clone(&key.1), !paused)));
                }
            }
        }
        for _ in 0..50 {
            world.pass(Duration::from_millis(1));
        }

        let schedule = &definition.schedules[0];
        let moment = |wall: Wall| jiff::Timestamp::from_millisecond(wall.0).unwrap();
        let expected: Vec<i64> = schedule
            .rule
            .upcoming(&schedule.zone.zone, moment(anchor), moment(anchor))
            .map(jiff::Timestamp::as_millisecond)
            .take_while(|due| *due <= world.schedules[&key].cursor.0)
            .collect();
        let mut told = Vec::new();
        for row in world.firings.values() {
            let spoken: Vec<i64> = expected.iter().copied().filter(|due| (row.first_due.0..=row.last_due.0).contains(due)).collect();
            prop_assert_eq!(spoken.len() as u64, row.count, "{:?}", row);
            told.extend(spoken);
        }
        prop_assert_eq!(told, expected.clone(), "the ledger, in order, is every due time once");
        let undecided = schedule.rule.next_after(&schedule.zone.zone, moment(anchor), moment(world.schedules[&key].cursor));
        prop_assert!(undecided.is_none_or(|due| due.as_millisecond() > world.now.wall.0), "something due was not decided");
        for row in world.firings.values() {
            if let Firing::Skipped(cause) = row.outcome {
                prop_assert!(cause != SkipCause::Missed || policy != "all", "`all` misses nothing");
            }
        }
    }
}
