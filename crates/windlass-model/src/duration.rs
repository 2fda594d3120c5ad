//! Lengths of time as people write them: `30s`, `20m`, `1h30m`, `7d`.

use std::fmt;
use std::str::FromStr;

use jiff::{Span, SpanRelativeTo};

/// A length of time in whole milliseconds, measured on a clock that nobody steps.
///
/// ```
/// use windlass_model::Duration;
///
/// let timeout: Duration = "1h30m".parse()?;
/// assert_eq!(timeout.as_millis(), 5_400_000);
/// assert_eq!(timeout.to_string(), "1h30m");
/// # Ok::<(), windlass_model::duration::DurationError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// The longest that can be written: a hundred years. Anything longer is a typing mistake.
    pub const MAX: Duration = Duration(100 * 366 * 24 * 3_600_000);

    /// That many milliseconds, at most [`Duration::MAX`].
    pub const fn from_millis(millis: u64) -> Duration {
        if millis > Self::MAX.0 { Self::MAX } else { Duration(millis) }
    }

    /// That many seconds, at most [`Duration::MAX`].
    pub const fn from_secs(secs: u64) -> Duration {
        Duration::from_millis(secs.saturating_mul(1000))
    }

    /// The whole length in milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Whether it is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl From<Duration> for std::time::Duration {
    fn from(duration: Duration) -> Self {
        std::time::Duration::from_millis(duration.0)
    }
}

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// A bare number.
    #[error("`{0}` has no unit; write `{0}s` for seconds")]
    NoUnit(String),
    /// Nothing that looks like a duration.
    #[error("`{0}` is not a duration; write for example `30s`, `20m`, `1h30m`, `7d`")]
    Unreadable(String),
    /// Months or years.
    #[error("`{0}` has months or years, whose length varies; use days or weeks")]
    Calendar(String),
    /// Below zero.
    #[error("`{0}` is negative")]
    Negative(String),
    /// Not a whole number of milliseconds.
    #[error("`{0}` is finer than a millisecond")]
    TooFine(String),
    /// Longer than a hundred years.
    #[error("`{0}` is longer than a hundred years")]
    TooLong(String),
}

impl FromStr for Duration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        /// Longer than any duration that means something.
        const LONGEST: usize = 64;
        let shown = || text.chars().take(LONGEST).collect::<String>();
        if !text.is_empty() && text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(DurationError::NoUnit(shown()));
        }
        // The ISO 8601 form `PT5M` and signs such as `5m ago` are read by jiff but not by people.
        let plain = text.len() <= LONGEST && text.starts_with(|first: char| first.is_ascii_digit());
        let negative = text.starts_with('-');
        if !plain && !negative {
            return Err(DurationError::Unreadable(shown()));
        }
        let span: Span = text.parse().map_err(|_| DurationError::Unreadable(shown()))?;
        if span.is_negative() {
            return Err(DurationError::Negative(shown()));
        }
        if span.get_months() != 0 || span.get_years() != 0 {
            return Err(DurationError::Calendar(shown()));
        }
        let exact = span
            .to_duration(SpanRelativeTo::days_are_24_hours())
            .map_err(|_| DurationError::TooLong(shown()))?;
        if exact.subsec_nanos() % 1_000_000 != 0 {
            return Err(DurationError::TooFine(shown()));
        }
        let millis = u64::try_from(exact.as_millis()).map_err(|_| DurationError::TooLong(shown()))?;
        if millis > Self::MAX.0 {
            return Err(DurationError::TooLong(shown()));
        }
        Ok(Duration(millis))
    }
}

impl fmt::Display for Duration {
    /// The shortest form that reads back as the same duration: `1h30m`, `500ms`, `7d`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.pad("0s");
        }
        let mut text = String::new();
        let mut rest = self.0;
        for (unit, millis) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)] {
            if rest >= millis {
                text += &format!("{}{unit}", rest / millis);
                rest %= millis;
            }
        }
        f.pad(&text)
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Duration({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in [
            ("0s", 0),
            ("500ms", 500),
            ("30s", 30_000),
            ("1.5s", 1500),
            ("20m", 1_200_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("2 hours", 7_200_000),
            ("7d", 604_800_000),
            ("2w", 1_209_600_000),
        ] {
            assert_eq!(text.parse(), Ok(Duration(millis)), "{text}");
        }
    }

    #[test]
    fn wrong_durations_say_what_to_write() {
        for (text, message) in [
            ("30", "`30` has no unit; write `30s` for seconds"),
            ("soon", "`soon` is not a duration; write for example `30s`, `20m`, `1h30m`, `7d`"),
            ("", "`` is not a duration; write for example `30s`, `20m`, `1h30m`, `7d`"),
            ("PT5M", "`PT5M` is not a duration; write for example `30s`, `20m`, `1h30m`, `7d`"),
            ("5m ago", "`5m ago` is negative"),
            ("-5m", "`-5m` is negative"),
            ("1mo", "`1mo` has months or years, whose length varies; use days or weeks"),
            ("1us", "`1us` is finer than a millisecond"),
            ("9999999d", "`9999999d` is not a duration; write for example `30s`, `20m`, `1h30m`, `7d`"),
            ("40000d", "`40000d` is longer than a hundred years"),
        ] {
            assert_eq!(text.parse::<Duration>().unwrap_err().to_string(), message, "{text}");
        }
    }

    proptest! {
        #[test]
        fn written_durations_read_back(millis in 0..=Duration::MAX.0) {
            prop_assert_eq!(Duration(millis).to_string().parse(), Ok(Duration(millis)));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = text.parse::<Duration>();
        }

        #[test]
        fn nearly_right_texts_do_not_panic(text in "[0-9.]{0,20} ?(ms|s|m|h|d|w|mo|y|us|ns| ago|-|,){0,4}") {
            if let Ok(duration) = text.parse::<Duration>() {
                prop_assert!(duration <= Duration::MAX);
            }
        }
    }
}
