//! Named limits on how many jobs run at once.

use serde::{Deserialize, Serialize};

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// How many permits there are.
    pub limit: u32,
    /// How many of them are held.
    pub taken: u32,
    /// How many jobs wait for one.
    #[serde(default)]
    pub waiting: u64,
    /// Who holds them, as `RUN.JOB`; at most a hundred.
    #[serde(default)]
    pub holders: Vec<String>,
}

/// Body of `PUT /pools/{name}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetPool {
    /// How many permits there are. Fewer than are held takes none back.
    #[serde(deserialize_with = "whole")]
    pub limit: u32,
}

/// A number that may be written as `3` or as `3.0`: JSON knows no difference.
fn whole<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = serde_json::Number::deserialize(deserializer)?;
    let whole = number.as_u64().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0 && *float >= 0.0)?;
        (float <= f64::from(u32::MAX)).then_some(float as u64)
    });
    whole.and_then(|whole| u32::try_from(whole).ok()).ok_or_else(|| {
        serde::de::Error::custom(format_args!(
            "`limit` is a whole number from 0 to {}, not {number}",
            u32::MAX
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_whole_number() {
        let read = |text: &str| serde_json::from_str::<SetPool>(&format!("{{\"limit\": {text}}}")).ok();
        for (text, limit) in
            [("3", Some(3)), ("3.0", Some(3)), ("0", Some(0)), ("3.5", None), ("-1", None), ("5e9", None)]
        {
            assert_eq!(read(text).map(|set| set.limit), limit, "{text}");
        }
    }
}
