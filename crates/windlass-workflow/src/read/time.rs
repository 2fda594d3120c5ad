//! Moments as people write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A moment: RFC 3339 with its offset, or a local time or date in `zone`.
pub fn parse(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    /// Longer than any time stamp with nanoseconds and an offset.
    const LONGEST: usize = 48;
    if text.len() > LONGEST {
        return None;
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    // A zone in brackets or an offset that is no RFC 3339 would be dropped in silence: refuse it.
    let local = text.len() <= "2026-03-01T06:30:00.000000000".len() && !text.contains(['[', '+', 'Z', 'z']);
    let date_time: DateTime = text.parse().ok().filter(|_| local)?;
    zone.to_timestamp(date_time).ok()
}
