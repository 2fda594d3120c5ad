//! Amounts of what a task needs and a worker has: `cpu: 1.5`, `memory: 512MiB`, `gpu: 1`.

use std::fmt;
use std::str::FromStr;

/// An amount in thousandths, so that half a core is exact and sums never drift.
///
/// ```
/// use windlass_model::quantity::Quantity;
///
/// let memory: Quantity = "512MiB".parse()?;
/// assert_eq!(memory, Quantity::whole(512 * 1024 * 1024));
/// assert_eq!(memory.to_string(), "512MiB");
/// # Ok::<(), windlass_model::quantity::QuantityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Quantity(u64);

/// Suffixes, largest first, with what they multiply.
const SUFFIXES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

impl Quantity {
    /// The largest amount: a pebibyte.
    pub const MAX: Quantity = Quantity((1 << 50) * 1000);

    /// That many whole units, at most [`Quantity::MAX`].
    pub const fn whole(units: u64) -> Quantity {
        let thousandths = units.saturating_mul(1000);
        if thousandths > Self::MAX.0 { Self::MAX } else { Quantity(thousandths) }
    }

    /// That many thousandths of a unit; `None` beyond [`Quantity::MAX`].
    pub const fn from_thousandths(thousandths: u64) -> Option<Quantity> {
        if thousandths > Self::MAX.0 { None } else { Some(Quantity(thousandths)) }
    }

    /// The amount in thousandths of a unit.
    pub const fn thousandths(self) -> u64 {
        self.0
    }
}

/// Why a text is no amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Nothing that looks like an amount.
    #[error("`{0}` is not an amount; write for example `2`, `0.5`, `512MiB`, `4GB`")]
    Unreadable(String),
    /// Finer than a thousandth.
    #[error("`{0}` has more than three decimal places")]
    TooFine(String),
    /// More than a pebibyte.
    #[error("`{0}` is more than a pebibyte")]
    TooLarge(String),
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        /// Longer than any amount that means something.
        const LONGEST: usize = 40;
        let shown = || text.chars().take(LONGEST).collect::<String>();
        let unreadable = || QuantityError::Unreadable(shown());
        if text.len() > LONGEST {
            return Err(unreadable());
        }
        let (number, factor) = SUFFIXES
            .iter()
            .find_map(|(suffix, factor)| text.strip_suffix(suffix).map(|number| (number, *factor)))
            .unwrap_or((text, 1));
        let number = number.trim_end();
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) {
            return Err(unreadable());
        }
        if fraction.len() > 3 {
            return Err(QuantityError::TooFine(shown()));
        }
        // At most 40 digits: parsing can only fail by overflow.
        let too_large = || QuantityError::TooLarge(shown());
        let whole: u64 = whole.parse().map_err(|_| too_large())?;
        let fraction: u64 = format!("{fraction:0<3}").parse().map_err(|_| too_large())?;
        whole
            .checked_mul(1000)
            .and_then(|thousandths| thousandths.checked_add(fraction)?.checked_mul(factor))
            .filter(|thousandths| *thousandths <= Self::MAX.0)
            .map(Quantity)
            .ok_or_else(too_large)
    }
}

impl fmt::Display for Quantity {
    /// A binary suffix where it divides evenly, a plain number otherwise; reads back as the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / 1000, self.0 % 1000);
        if fraction != 0 {
            return f.pad(format!("{whole}.{fraction:03}").trim_end_matches('0'));
        }
        let binary = SUFFIXES[..4].iter().find(|(_, factor)| whole != 0 && whole % factor == 0);
        match binary {
            Some((suffix, factor)) => f.pad(&format!("{}{suffix}", whole / factor)),
            None => f.pad(&whole.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, thousandths) in [
            ("0", 0),
            ("1", 1000),
            ("0.5", 500),
            ("512MiB", 512 * 1024 * 1024 * 1000),
            ("4 GB", 4_000_000_000_000),
            ("1.5KiB", 1_536_000),
        ] {
            assert_eq!(text.parse(), Ok(Quantity(thousandths)), "{text}");
        }
    }

    #[test]
    fn wrong_amounts_are_refused() {
        for text in ["", "x", "-1", "1.", ".5", "1e9", "MiB", "1 2", "0x10"] {
            assert!(matches!(text.parse::<Quantity>(), Err(QuantityError::Unreadable(_))), "{text}");
        }
        assert!(matches!("0.0001".parse::<Quantity>(), Err(QuantityError::TooFine(_))));
        assert!(matches!("99999TiB".parse::<Quantity>(), Err(QuantityError::TooLarge(_))));
    }

    proptest! {
        #[test]
        fn written_amounts_read_back(thousandths in 0..=Quantity::MAX.0) {
            prop_assert_eq!(Quantity(thousandths).to_string().parse(), Ok(Quantity(thousandths)));
        }

        #[test]
        fn no_text_panics(text in "[0-9.]{0,30}.{0,5}") {
            let _ = text.parse::<Quantity>();
        }
    }
}
