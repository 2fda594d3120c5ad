//! What a plain (unquoted) scalar means: YAML 1.2's core schema, without its traps.

use std::sync::Arc;

use super::{Place, Value};

/// Why a plain scalar is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScalarError {
    /// Does not fit 64 bits.
    #[error("this number is too large")]
    TooLarge,
    /// `.inf` or `.nan`.
    #[error("infinity and not-a-number are not values a workflow can have")]
    NotFinite,
}

/// Reads a plain scalar. `yes`, `no`, `on`, `off`, dates and times are text, as YAML 1.2 has it.
pub fn plain(text: &str, place: Place) -> Result<Value, ScalarError> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(ScalarError::NotFinite);
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|c| c.is_digit(radix))
        {
            return i64::from_str_radix(digits, radix).map(Value::Int).map_err(|_| ScalarError::TooLarge);
        }
    }
    if is_digits(unsigned) {
        return text.parse().map(Value::Int).map_err(|_| ScalarError::TooLarge);
    }
    if is_float(unsigned) {
        let number: f64 = text.parse().map_err(|_| ScalarError::TooLarge)?;
        return if number.is_finite() { Ok(Value::Float(number)) } else { Err(ScalarError::TooLarge) };
    }
    Ok(Value::Text(Arc::from(text), place))
}

/// `text`, if the number or boolean read from it would be shown in another way.
pub fn written(value: &Value, text: &str) -> Option<Arc<str>> {
    let shown = match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Null | Value::Text(..) | Value::List(_) | Value::Map(_) => return None,
    };
    (shown != text).then(|| text.into())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `[0-9]*(\.[0-9]*)?([eE][-+]?[0-9]+)?` with at least one digit before the exponent.
fn is_float(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits_or_nothing = |part: &str| part.is_empty() || is_digits(part);
    let exponent_fits =
        exponent.is_none_or(|exponent| is_digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)));
    digits_or_nothing(whole)
        && digits_or_nothing(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_yaml_1_2_says() {
        let read = |text| plain(text, Place::Whole);
        for (text, number) in [("0", 0), ("-7", -7), ("+7", 7), ("0755", 755), ("0x1F", 31), ("0o17", 15)] {
            assert_eq!(read(text), Ok(Value::Int(number)), "{text}");
        }
        for (text, number) in [("1.5", 1.5), ("-1e3", -1000.0), (".5", 0.5), ("1.", 1.0)] {
            assert_eq!(read(text), Ok(Value::Float(number)), "{text}");
        }
        for text in
            ["yes", "no", "on", "off", "2026-01-01", "12:30:00", "1_000", ".", "-", "e5", "1e", "0x", "--1"]
        {
            assert!(matches!(read(text), Ok(Value::Text(..))), "{text}");
        }
        assert_eq!(read("99999999999999999999"), Err(ScalarError::TooLarge));
        assert_eq!(read("1e999"), Err(ScalarError::TooLarge));
        assert_eq!(read("-.inf"), Err(ScalarError::NotFinite));
    }
}
