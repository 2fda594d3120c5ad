//! When a rule fires in real time: local times laid over a zone's changes of offset.
//!
//! A zone is a row of segments, in each of which the wall clock runs evenly. A rule that goes by
//! elapsed time fires whenever the wall clock shows one of its times. A rule of fixed times fires
//! when the wall clock *first reaches* one of them, or jumps past it:
//!
//! ```text
//! gap:  clock goes  01:00 ··· 01:59 03:00 ···        `30 2 * * *`    fires at 03:00
//!                                                    `*/30 2 * * *`  does not fire
//!
//! fold: clock goes  02:00 ··· 02:59 02:00 ··· 02:59  `30 2 * * *`    fires in the first round
//!                                                    `*/30 2 * * *`  fires in both
//! ```
//!
//! Invariant: firings strictly increase, and `next_after` and `previous_before` walk the same ones.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::fields::{Fields, GREGORIAN_CYCLE_YEARS};
use super::rule::{Kind, Rule};

impl Rule {
    /// The first firing strictly after `from`, in whole seconds.
    ///
    /// `anchor` is where `@every` starts to count; other rules do not look at it. `None` means that
    /// the rule does not fire any more, or only at local times that this zone always skips.
    pub fn next_after(&self, zone: &TimeZone, anchor: Timestamp, from: Timestamp) -> Option<Timestamp> {
        self.upcoming(zone, anchor, from).next()
    }

    /// The last firing strictly before `from`, in whole seconds.
    pub fn previous_before(&self, zone: &TimeZone, anchor: Timestamp, from: Timestamp) -> Option<Timestamp> {
        let latest = from.as_second() - i64::from(from.subsec_nanosecond() <= 0);
        let at = match &self.kind {
            Kind::Every { period_secs } => {
                let anchor = floor(anchor);
                let periods = (latest - anchor).div_euclid(*period_secs);
                (periods >= 1).then(|| anchor + periods * period_secs)?
            }
            Kind::Fields(fields) => last_up_to(fields, zone, latest)?,
        };
        Timestamp::from_second(at).ok()
    }

    /// All firings strictly after `from`, in order.
    pub fn upcoming<'a>(&'a self, zone: &'a TimeZone, anchor: Timestamp, from: Timestamp) -> Upcoming<'a> {
        Upcoming { rule: self, zone, anchor: floor(anchor), earliest: floor(from) + 1, segment: None }
    }
}

/// The firings of a rule, in order; made by [`Rule::upcoming`].
#[derive(Clone, Debug)]
pub struct Upcoming<'a> {
    rule: &'a Rule,
    zone: &'a TimeZone,
    anchor: i64,
    /// The next firing is not before this second.
    earliest: i64,
    /// The segment `earliest` was in; kept because most firings have a neighbour in theirs.
    segment: Option<Segment>,
}

impl Iterator for Upcoming<'_> {
    type Item = Timestamp;

    fn next(&mut self) -> Option<Timestamp> {
        let at = match &self.rule.kind {
            Kind::Every { period_secs } => {
                let periods = (self.earliest - 1 - self.anchor).div_euclid(*period_secs) + 1;
                self.anchor + periods.max(1) * period_secs
            }
            Kind::Fields(fields) => self.first_from_earliest(fields)?,
        };
        self.earliest = at + 1;
        Timestamp::from_second(at).ok()
    }
}

impl Upcoming<'_> {
    fn first_from_earliest(&mut self, fields: &Fields) -> Option<i64> {
        let mut at = self.earliest;
        let horizon = at.saturating_add(HORIZON_SECS);
        while at < horizon {
            let segment = match self.segment {
                Some(segment) if segment.contains(at) => segment,
                _ => Segment::at(self.zone, at, fields.by_elapsed_time)?,
            };
            self.segment = Some(segment);
            if at == segment.start && segment.skipped_one_of(fields) {
                return Some(at);
            }
            let from = segment.fresh_from().max(at + segment.offset);
            if let Some(local) = fields.first_in(from..segment.end + segment.offset) {
                return Some(local - segment.offset);
            }
            at = segment.end;
        }
        None
    }
}

fn last_up_to(fields: &Fields, zone: &TimeZone, latest: i64) -> Option<i64> {
    let mut at = latest;
    let horizon = at.saturating_sub(HORIZON_SECS);
    while at > horizon {
        let segment = Segment::at(zone, at, fields.by_elapsed_time)?;
        if let Some(local) = fields.last_in(segment.fresh_from()..at + segment.offset + 1) {
            return Some(local - segment.offset);
        }
        if segment.skipped_one_of(fields) {
            return Some(segment.start);
        }
        at = segment.start - 1;
    }
    None
}

/// The calendar repeats after 400 years, and so do the yearly rules of zones: what did not fire in
/// that time will not. Only a rule whose local times are always skipped ever walks so far.
const HORIZON_SECS: i64 = GREGORIAN_CYCLE_YEARS as i64 * 146_097 / 400 * 86_400;

/// Twice the largest offset a zone can have: what the wall clock showed longer ago than this it
/// cannot show again.
const LONGEST_FOLD_SECS: i64 = 2 * 26 * 3_600;

/// A stretch of real time in which a zone's offset stays the same, in seconds: `start..end`.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: i64,
    end: i64,
    offset: i64,
    /// The local time up to which (exclusive) the wall clock had come before this segment. Later
    /// than the first local time of the segment after a fold, earlier after a gap.
    reached: i64,
}

impl Segment {
    /// The segment of this second; `None` beyond the ends of time.
    fn at(zone: &TimeZone, at: i64, by_elapsed_time: bool) -> Option<Segment> {
        let moment = Timestamp::from_second(at).ok()?;
        let offset = i64::from(zone.to_offset(moment).seconds());
        let next = zone.following(moment).next();
        let end = next.map_or(Timestamp::MAX.as_second() + 1, |next| next.timestamp().as_second());
        let start = transition_up_to(zone, at);
        let first_local = start.unwrap_or(Timestamp::MIN.as_second()) + offset;
        let reached = match start {
            // Elapsed time knows neither gap nor fold.
            Some(start) if !by_elapsed_time => reached_before(zone, start)?,
            Some(_) | None => first_local,
        };
        Some(Segment { start: first_local - offset, end, offset, reached })
    }

    fn contains(&self, at: i64) -> bool {
        (self.start..self.end).contains(&at)
    }

    /// The first local time in or after the start of this segment that was not shown before.
    fn fresh_from(&self) -> i64 {
        self.reached.max(self.start + self.offset)
    }

    /// Whether the wall clock jumped past one of the rule's times at the start of this segment.
    fn skipped_one_of(&self, fields: &Fields) -> bool {
        fields.first_in(self.reached..self.start + self.offset).is_some()
    }
}

/// The last change of offset at or before this second. What stands at the beginning of time has
/// nothing before it, so it changes nothing.
fn transition_up_to(zone: &TimeZone, at: i64) -> Option<i64> {
    let after = Timestamp::from_second(at + 1).unwrap_or(Timestamp::MAX);
    let start = zone.preceding(after).next()?.timestamp().as_second();
    (start > Timestamp::MIN.as_second()).then_some(start)
}

/// How far the wall clock had come before the change of offset at `start`. Folds can follow each
/// other closely, so all segments that end shortly before count, not only the last.
fn reached_before(zone: &TimeZone, start: i64) -> Option<i64> {
    let mut reached = i64::MIN;
    let mut end = Some(start);
    while let Some(end_secs) = end.filter(|end| *end > start - LONGEST_FOLD_SECS) {
        let last_moment = Timestamp::from_second(end_secs - 1).ok()?;
        reached = reached.max(end_secs + i64::from(zone.to_offset(last_moment).seconds()));
        end = transition_up_to(zone, end_secs - 1);
    }
    Some(reached)
}

/// The whole second at or before a moment.
fn floor(at: Timestamp) -> i64 {
    at.as_second() - i64::from(at.subsec_nanosecond() < 0)
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::super::{Rule, zone};

    /// The firings after `from`, written as local time with offset, must begin like `expected`, and
    /// the same ones must be found from the other side.
    fn check(zone_name: &str, rule: &str, from: &str, expected: &[&str]) {
        let (zone, rule) = (zone(zone_name).unwrap(), Rule::parse(rule).unwrap());
        let from: Timestamp = from.parse().unwrap();
        let show = |at: Timestamp| {
            let text = at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
            if &text[16..19] == ":00" { format!("{}{}", &text[..16], &text[19..]) } else { text }
        };
        let firings: Vec<_> = rule.upcoming(&zone, from, from).take(expected.len()).collect();
        let shown: Vec<_> = firings.iter().copied().map(show).collect();
        assert_eq!(shown, expected, "{rule} in {zone_name} after {from}");

        let after_last = firings[firings.len() - 1] + SignedDuration::from_secs(1);
        let last = rule.previous_before(&zone, from, after_last);
        let backwards = std::iter::successors(last, |at| rule.previous_before(&zone, from, *at));
        let mut backwards: Vec<_> = backwards.take(firings.len()).collect();
        backwards.reverse();
        assert_eq!(backwards, firings, "{rule} in {zone_name}, backwards");
    }

    #[test]
    fn fixed_times_in_a_gap_fire_once_right_after_it() {
        // In Oslo, 02:00 to 03:00 is missing on the 31st.
        let (oslo, gap) = ("Europe/Oslo", "2024-03-30T12:00:00Z");
        check(oslo, "30 2 * * *", gap, &["2024-03-31T03:00+02:00", "2024-04-01T02:30+02:00"]);
        check(oslo, "30 2 31 3 *", gap, &["2024-03-31T03:00+02:00", "2025-03-31T02:30+02:00"]);
        check(
            oslo,
            "15 2,3 * * *",
            gap,
            &["2024-03-31T03:00+02:00", "2024-03-31T03:15+02:00", "2024-04-01T02:15+02:00"],
        );
        check(
            oslo,
            "0,30 2 * * *",
            gap,
            &["2024-03-31T03:00+02:00", "2024-04-01T02:00+02:00", "2024-04-01T02:30+02:00"],
        );
        check(oslo, "0 3 * * *", gap, &["2024-03-31T03:00+02:00", "2024-04-01T03:00+02:00"]);
        check(
            oslo,
            "0 2-3 * * *",
            gap,
            &["2024-03-31T03:00+02:00", "2024-04-01T02:00+02:00", "2024-04-01T03:00+02:00"],
        );
        check(
            oslo,
            "*/20 30 2 * * *",
            gap,
            &["2024-03-31T03:00+02:00", "2024-04-01T02:30+02:00", "2024-04-01T02:30:20+02:00"],
        );
        check(
            "America/New_York",
            "30 2 * * *",
            "2024-03-09T12:00:00Z",
            &["2024-03-10T03:00-04:00", "2024-03-11T02:30-04:00"],
        );
    }

    #[test]
    fn fixed_times_in_a_fold_fire_once_the_first_time() {
        // In Oslo, 02:00 to 03:00 comes twice on the 27th.
        let (oslo, fold) = ("Europe/Oslo", "2024-10-26T12:00:00Z");
        check(oslo, "30 2 * * *", fold, &["2024-10-27T02:30+02:00", "2024-10-28T02:30+01:00"]);
        check(
            oslo,
            "0,30 2 * * *",
            fold,
            &["2024-10-27T02:00+02:00", "2024-10-27T02:30+02:00", "2024-10-28T02:00+01:00"],
        );
        check(oslo, "0 3 * * *", fold, &["2024-10-27T03:00+01:00", "2024-10-28T03:00+01:00"]);
        check(
            "America/New_York",
            "30 1 * * *",
            "2024-11-02T12:00:00Z",
            &["2024-11-03T01:30-04:00", "2024-11-04T01:30-05:00"],
        );
        // Asked in the middle of the second round, the time is already past.
        check(oslo, "45 2 * * *", "2024-10-27T01:10:00Z", &["2024-10-28T02:45+01:00"]);
    }

    #[test]
    fn intervals_go_by_elapsed_time() {
        let (oslo, gap) = ("Europe/Oslo", "2024-03-31T00:00:00Z");
        check(oslo, "*/30 2 * * *", gap, &["2024-04-01T02:00+02:00", "2024-04-01T02:30+02:00"]);
        check(
            oslo,
            "30 * * * *",
            gap,
            &["2024-03-31T01:30+01:00", "2024-03-31T03:30+02:00", "2024-03-31T04:30+02:00"],
        );
        check(
            oslo,
            "*/30 2 * * *",
            "2024-10-26T12:00:00Z",
            &[
                "2024-10-27T02:00+02:00",
                "2024-10-27T02:30+02:00",
                "2024-10-27T02:00+01:00",
                "2024-10-27T02:30+01:00",
                "2024-10-28T02:00+01:00",
            ],
        );
        check(
            oslo,
            "0 * * * *",
            "2024-10-26T23:30:00Z",
            &["2024-10-27T02:00+02:00", "2024-10-27T02:00+01:00", "2024-10-27T03:00+01:00"],
        );
    }

    #[test]
    fn half_hour_changes_and_odd_offsets() {
        let (gap, fold) = ("2024-10-05T00:00:00Z", "2024-04-06T00:00:00Z");
        let howe = "Australia/Lord_Howe"; // 02:00 becomes 02:30 in October and 01:30 in April.
        check(howe, "15 2 * * *", gap, &["2024-10-06T02:30+11:00", "2024-10-07T02:15+11:00"]);
        check(howe, "45 1 * * *", fold, &["2024-04-07T01:45+11:00", "2024-04-08T01:45+10:30"]);
        check(
            howe,
            "*/15 1 * * *",
            "2024-04-06T14:20:00Z",
            &[
                "2024-04-07T01:30+11:00",
                "2024-04-07T01:45+11:00",
                "2024-04-07T01:30+10:30",
                "2024-04-07T01:45+10:30",
                "2024-04-08T01:00+10:30",
            ],
        );
        // Newfoundland used to change at one minute past midnight.
        let johns = "America/St_Johns";
        let (gap, fold) = ("2010-03-13T12:00:00Z", "2010-11-06T12:00:00Z");
        check(johns, "30 0 * * *", gap, &["2010-03-14T01:01-02:30", "2010-03-15T00:30-02:30"]);
        check(johns, "30 23 * * *", fold, &["2010-11-06T23:30-02:30", "2010-11-07T23:30-03:30"]);
        check(johns, "0 0 * * *", fold, &["2010-11-07T00:00-02:30", "2010-11-08T00:00-03:30"]);
        check("Asia/Kathmandu", "0 0 * * *", "2024-01-01T00:00:00Z", &["2024-01-02T00:00+05:45"]);
        check("Asia/Kathmandu", "10 0 * * *", "1985-12-31T00:00:00Z", &["1986-01-01T00:15+05:45"]);
        check("Africa/Monrovia", "30 0 7 1 *", "1972-01-06T12:00:00Z", &["1972-01-07T00:44:30+00:00"]);
        check("Etc/GMT-2", "0 3 * * *", "2024-01-01T00:00:00Z", &["2024-01-01T03:00+02:00"]);
    }

    #[test]
    fn a_day_that_was_left_out_fires_at_the_start_of_the_next() {
        let apia = "Pacific/Apia"; // The 30th of December 2011 did not exist.
        check(
            apia,
            "0 12 * * *",
            "2011-12-29T00:00:00Z",
            &["2011-12-29T12:00-10:00", "2011-12-31T00:00+14:00", "2011-12-31T12:00+14:00"],
        );
        let once_a_year = &["2011-12-31T00:00+14:00", "2012-12-30T00:00+14:00"];
        check(apia, "0 0 30 12 *", "2011-12-01T00:00:00Z", once_a_year);
        let twice_a_day = &["2011-12-31T00:00+14:00", "2011-12-31T12:00+14:00"];
        check(apia, "0 */12 * * *", "2011-12-29T23:00:00Z", twice_a_day);
    }

    #[test]
    fn midnight_may_be_missing_or_come_twice() {
        let (sao_paulo, gap) = ("America/Sao_Paulo", "2018-11-03T12:00:00Z");
        check(sao_paulo, "0 0 * * *", gap, &["2018-11-04T01:00-02:00", "2018-11-05T00:00-02:00"]);
        check(sao_paulo, "0 0 * * 0", gap, &["2018-11-04T01:00-02:00", "2018-11-11T00:00-02:00"]);
        let fold = "2018-02-17T12:00:00Z";
        check(sao_paulo, "30 23 * * *", fold, &["2018-02-17T23:30-02:00", "2018-02-18T23:30-03:00"]);
        check(sao_paulo, "0 0 * * *", fold, &["2018-02-18T00:00-03:00", "2018-02-19T00:00-03:00"]);
        let cairo = &["2024-04-26T01:00+03:00", "2024-04-27T00:30+03:00"];
        check("Africa/Cairo", "30 0 * * *", "2024-04-25T12:00:00Z", cairo);
        let beirut = &["2024-03-31T01:00+03:00", "2024-04-01T00:00+03:00"];
        check("Asia/Beirut", "0 0 * * *", "2024-03-30T12:00:00Z", beirut);
    }

    #[test]
    fn rare_days_are_found_across_a_century() {
        check("UTC", "0 0 29 2 *", "2096-03-01T00:00:00Z", &["2104-02-29T00:00+00:00"]);
        check("UTC", "0 0 ? 2 MON#5", "2072-03-01T00:00:00Z", &["2112-02-29T00:00+00:00"]);
    }

    #[test]
    fn every_counts_from_its_anchor() {
        let (utc, rule) = (zone("UTC").unwrap(), Rule::parse("@every 10m").unwrap());
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let anchor = at("2024-01-01T00:00:30.5Z");
        let next = |from: &str| rule.next_after(&utc, anchor, at(from)).unwrap();
        let previous = |from: &str| rule.previous_before(&utc, anchor, at(from));
        assert_eq!(next("2023-01-01T00:00:00Z"), at("2024-01-01T00:10:30Z"));
        assert_eq!(next("2024-01-01T00:00:30Z"), at("2024-01-01T00:10:30Z"));
        assert_eq!(next("2024-01-01T00:10:29.9Z"), at("2024-01-01T00:10:30Z"));
        assert_eq!(next("2024-01-01T00:10:30Z"), at("2024-01-01T00:20:30Z"));
        assert_eq!(previous("2024-01-01T00:10:30Z"), None);
        assert_eq!(previous("2024-01-01T00:10:30.1Z"), Some(at("2024-01-01T00:10:30Z")));
        assert_eq!(previous("2024-01-01T01:00:00Z"), Some(at("2024-01-01T00:50:30Z")));
    }

    #[test]
    fn parts_of_a_second_do_not_confuse_before_and_after() {
        let (utc, rule) = (zone("UTC").unwrap(), Rule::parse("* * * * * *").unwrap());
        for (from, previous, next) in [
            ("1969-12-31T23:59:58.5Z", "1969-12-31T23:59:58Z", "1969-12-31T23:59:59Z"),
            ("1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:01Z"),
            ("1970-01-01T00:00:00.5Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z"),
        ] {
            let from: Timestamp = from.parse().unwrap();
            assert_eq!(rule.previous_before(&utc, from, from).unwrap().to_string(), previous);
            assert_eq!(rule.next_after(&utc, from, from).unwrap().to_string(), next);
        }
    }

    #[test]
    fn the_ends_of_time_end_the_search() {
        for zone_name in ["UTC", "Europe/Oslo", "Pacific/Apia", "America/Juneau"] {
            let zone = zone(zone_name).unwrap();
            for rule in ["* * * * * *", "0 0 29 2 *", "30 2 * * *", "*/5 * * * *", "@every 3653d"] {
                let rule = Rule::parse(rule).unwrap();
                let (min, max) = (Timestamp::MIN, Timestamp::MAX);
                assert!(rule.next_after(&zone, max, max).is_none());
                assert!(rule.previous_before(&zone, min, min).is_none());
                assert!(rule.next_after(&zone, min, min).is_some(), "{rule} {zone_name}");
                assert!(rule.previous_before(&zone, min, max).is_some());
            }
        }
        // Always in Oslo's gap, and an interval: it never fires there, and the search says so.
        let rule = Rule::parse("*/30 2 ? 3 SUNL").unwrap();
        let from = "2024-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(rule.next_after(&zone("Europe/Oslo").unwrap(), from, from), None);
        assert!(rule.next_after(&zone("Asia/Tokyo").unwrap(), from, from).is_some());
    }
}
