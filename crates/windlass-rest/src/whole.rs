//! Whole numbers in bodies: `3` and `3.0` are the same number, for JSON knows no difference.

use serde::{Deserialize as _, Deserializer, de::Error};
use serde_json::Number;

/// A number that has to be there.
pub fn required<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    whole(&Number::deserialize(deserializer)?)
}

/// A number that may be missing.
pub fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Option::<Number>::deserialize(deserializer)?.map(|number| whole(&number)).transpose()
}

fn whole<E: Error>(number: &Number) -> Result<u32, E> {
    let whole = number.as_u64().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0 && *float >= 0.0)?;
        (float <= f64::from(u32::MAX)).then_some(float as u64)
    });
    whole.and_then(|whole| u32::try_from(whole).ok()).ok_or_else(|| {
        E::custom(format_args!("a whole number from 0 to {} is expected, not {number}", u32::MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Body {
        #[serde(deserialize_with = "required")]
        needed: u32,
        #[serde(default, deserialize_with = "optional")]
        spare: Option<u32>,
    }

    fn read(needed: &str, spare: &str) -> Option<(u32, Option<u32>)> {
        let text = format!("{{\"needed\": {needed}{spare}}}");
        serde_json::from_str::<Body>(&text).ok().map(|body| (body.needed, body.spare))
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        for (text, number) in
            [("3", Some(3)), ("3.0", Some(3)), ("0", Some(0)), ("3.5", None), ("-1", None), ("5e9", None)]
        {
            assert_eq!(read(text, ""), number.map(|number| (number, None)), "{text}");
            let spare = format!(", \"spare\": {text}");
            assert_eq!(read("1", &spare), number.map(|number| (1, Some(number))), "{text}");
        }
        assert_eq!(read("1", ", \"spare\": null"), Some((1, None)));
        assert_eq!(read("null", ""), None);
    }
}
