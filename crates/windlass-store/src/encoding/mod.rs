//! How rows are written down, the same for every backend.
//!
//! A stored shape is a promise, so it lives here and not in the core. A backend keeps each field of a row as a
//! column of its own; what follows is the same in all of them:
//!
//! - a state is one word ([`states`]), the one that users see where there is only one;
//! - a wall-clock time is a whole number of milliseconds of the Unix epoch;
//! - a run id is its number, below 2^63; other 64-bit ids and counters go through [`signed`];
//! - whatever has parts is JSON text ([`shapes`], [`errands`]); parameters and outputs are JSON that keeps their types
//!   ([`values`]). The text is kept as it is written: PostgreSQL's `jsonb` would make `1e16` an integer.
//!
//! Reading back is total: what cannot be understood is [`Malformed`], and harms nothing but its own row.

pub mod errands;
pub mod shapes;
pub mod states;
pub mod values;

/// A stored field that cannot be understood: damaged, or written by something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its {field} cannot be read: {why}")]
pub struct Malformed {
    /// Which field.
    pub field: &'static str,
    /// What is wrong, for people.
    pub why: String,
}

impl Malformed {
    /// A field for which something is wrong.
    pub fn new(field: &'static str, why: impl std::fmt::Display) -> Malformed {
        Malformed { field, why: why.to_string() }
    }

    /// A field that has another word than any of the known.
    pub fn word(field: &'static str, word: &str) -> Malformed {
        // Damaged text may be long; the beginning tells enough.
        let start: String = word.chars().take(WORD_SHOWN).collect();
        Malformed::new(field, format_args!("`{start}` is not a known word"))
    }
}

/// How much of an unknown word a message shows: more than the longest known one.
const WORD_SHOWN: usize = 40;

/// A number as databases keep it, which have no unsigned ones: the same 64 bits.
pub const fn signed(number: u64) -> i64 {
    number.cast_signed()
}

/// The number that [`signed`] wrote.
pub const fn unsigned(stored: i64) -> u64 {
    stored.cast_unsigned()
}
