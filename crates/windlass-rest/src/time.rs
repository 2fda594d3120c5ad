//! Moments as they are sent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment: milliseconds of the Unix epoch, sent as RFC 3339 in UTC with milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// The moment at these milliseconds of the Unix epoch. What no calendar can show is moved to the nearest moment
    /// that it can.
    pub fn from_unix_ms(unix_ms: i64) -> Time {
        let [first, last] = [jiff::Timestamp::MIN, jiff::Timestamp::MAX].map(jiff::Timestamp::as_second);
        Time(unix_ms.clamp(first * 1000, last * 1000))
    }

    /// Milliseconds of the Unix epoch.
    pub const fn unix_ms(self) -> i64 {
        self.0
    }

    /// For arithmetic with calendars and zones.
    pub fn timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).expect("a time is made within the range of timestamps")
    }
}

impl From<jiff::Timestamp> for Time {
    fn from(timestamp: jiff::Timestamp) -> Time {
        Time::from_unix_ms(timestamp.as_millisecond())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.timestamp())
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Time {
    type Err = jiff::Error;

    /// Reads RFC 3339 with any offset; what is finer than a millisecond is cut off.
    fn from_str(text: &str) -> Result<Time, jiff::Error> {
        text.parse::<jiff::Timestamp>().map(Time::from)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| {
            serde::de::Error::custom(format_args!("`{text}` is no RFC 3339 time, like 2026-01-31T03:00:00Z"))
        })
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Time {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::schema::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .format(Some(utoipa::openapi::SchemaFormat::KnownFormat(utoipa::openapi::KnownFormat::DateTime)))
            .description(Some("RFC 3339, UTC, milliseconds"))
            .examples([serde_json::json!("2026-01-31T03:00:00.000Z")])
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Time {
    fn name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_sent_in_utc_with_milliseconds() {
        let time: Time = "2026-11-16T20:00:00+01:00".parse().unwrap();
        assert_eq!(serde_json::to_string(&time).unwrap(), r#""2026-11-16T19:00:00.000Z""#);
        let time: Time = serde_json::from_str(r#""2026-11-16T19:00:00.123456Z""#).unwrap();
        assert_eq!(time.to_string(), "2026-11-16T19:00:00.123Z");
        assert_eq!(Time::from_unix_ms(time.unix_ms()), time);
    }

    #[test]
    fn what_is_no_moment_is_refused_with_an_example() {
        let refused = serde_json::from_str::<Time>(r#""tomorrow""#).unwrap_err().to_string();
        assert!(refused.contains("`tomorrow` is no RFC 3339 time, like 2026-01-31T03:00:00Z"), "{refused}");
    }

    #[test]
    fn a_moment_beyond_every_calendar_is_the_last_one() {
        assert!(Time::from_unix_ms(i64::MAX).to_string().starts_with("9999-"));
        assert!(Time::from_unix_ms(i64::MIN).to_string().starts_with("-009999-"));
    }
}
