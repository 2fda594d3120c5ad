//! Run and job ids.
//!
//! ```text
//!  63           22 21        12 11         0
//!  ├── 41 bits ───┼─ 10 bits ──┼─ 12 bits ─┤
//!  milliseconds     shard         sequence
//!  since 2026-01-01
//! ```
//!
//! A run id is 63 bits, written as 13 characters of Crockford base32, so that ids sort by time as
//! numbers and as text, name their shard, and survive being read aloud.

use std::fmt;
use std::str::FromStr;

use crate::shard::{SHARD_BITS, ShardId};

const SEQUENCE_BITS: u32 = 12;
const SEQUENCE_MAX: u64 = (1 << SEQUENCE_BITS) - 1;
const MILLIS_BITS: u32 = 41;
/// Characters of a written id: 13 × 5 bits hold 63.
const LENGTH: usize = 13;
/// Crockford base32: no I, L, O, U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The moment from which ids count: 2026-01-01T00:00:00Z in milliseconds of the Unix epoch.
pub const ID_EPOCH_UNIX_MS: i64 = 1_767_225_600_000;

/// One execution of a workflow version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(u64);

impl RunId {
    /// The number that is stored; below 2^63.
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// The id with that stored number, if it is below 2^63.
    pub const fn from_u64(number: u64) -> Option<RunId> {
        if number >> 63 == 0 { Some(RunId(number)) } else { None }
    }

    /// The shard in which the run was created, and lives.
    pub const fn shard(self) -> ShardId {
        match ShardId::new(((self.0 >> SEQUENCE_BITS) & ((1 << SHARD_BITS) - 1)) as u16) {
            Some(shard) => shard,
            None => unreachable!(), // Ten bits are always a shard.
        }
    }

    /// About when it was created, in milliseconds of the Unix epoch. Never behind the clock that
    /// made it, but ahead of it after a clock step: good for people, not for decisions.
    pub const fn unix_ms(self) -> i64 {
        (self.0 >> (SEQUENCE_BITS + SHARD_BITS)) as i64 + ID_EPOCH_UNIX_MS
    }

    const fn from_parts(millis: u64, shard: ShardId, sequence: u64) -> RunId {
        RunId(
            (millis << (SHARD_BITS + SEQUENCE_BITS)) | ((shard.number() as u64) << SEQUENCE_BITS) | sequence,
        )
    }

    const fn millis(self) -> u64 {
        self.0 >> (SHARD_BITS + SEQUENCE_BITS)
    }

    const fn sequence(self) -> u64 {
        self.0 & SEQUENCE_MAX
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; LENGTH];
        for (index, slot) in text.iter_mut().enumerate() {
            let shift = 5 * (LENGTH - 1 - index);
            *slot = ALPHABET[((self.0 >> shift) & 31) as usize];
        }
        f.pad(std::str::from_utf8(&text).expect("the alphabet is ASCII"))
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunId({self})")
    }
}

/// Why a text is no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Not 13 characters.
    #[error("a run id has {LENGTH} characters, this has {0}")]
    Length(usize),
    /// A character outside the alphabet.
    #[error("`{0}` does not occur in run ids, which are made of digits and letters without I, L, O and U")]
    Character(char),
    /// More than 63 bits.
    #[error("the first character of a run id is at most 7")]
    TooLarge,
    /// The part after the dot of a job id is no number.
    #[error("a job id is a run id, a dot and a number")]
    JobNumber,
}

impl FromStr for RunId {
    type Err = IdError;

    /// Reads what people type: either case, and O, I, L for the digits they look like.
    fn from_str(text: &str) -> Result<Self, IdError> {
        let length = text.chars().count();
        if length != LENGTH {
            return Err(IdError::Length(length));
        }
        let mut number: u64 = 0;
        for (index, character) in text.chars().enumerate() {
            let digit = digit(character).ok_or(IdError::Character(character))?;
            if index == 0 && digit > 7 {
                return Err(IdError::TooLarge);
            }
            number = (number << 5) | digit;
        }
        RunId::from_u64(number).ok_or(IdError::TooLarge)
    }
}

fn digit(character: char) -> Option<u64> {
    let upper = match character.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    ALPHABET.iter().position(|letter| char::from(*letter) == upper).map(|position| position as u64)
}

/// Hands out the run ids of one shard, strictly increasing whatever the clock does.
///
/// The last id is part of the shard's stored row, so neither a clock step nor a take-over nor
/// retention ever repeats one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunIdSource {
    shard: ShardId,
    last: Option<RunId>,
}

impl RunIdSource {
    /// Goes on after `last`, the newest id this shard ever gave out.
    pub fn new(shard: ShardId, last: Option<RunId>) -> RunIdSource {
        let other = last.map(RunId::shard).filter(|other| *other != shard);
        assert!(other.is_none(), "{last:?} is an id of shard {other:?}, not of shard {shard}");
        RunIdSource { shard, last }
    }

    /// The newest id given out.
    pub const fn last(&self) -> Option<RunId> {
        self.last
    }

    /// The next id: `ms = max(clock, last ms)`, sequence + 1; after 4,095 the next millisecond.
    ///
    /// `None` only when the 41 bits of milliseconds are used up, in September 2095.
    pub fn next_id(&mut self, wall_unix_ms: i64) -> Option<RunId> {
        let clock = wall_unix_ms.saturating_sub(ID_EPOCH_UNIX_MS).max(0) as u64;
        let (millis, sequence) = match self.last {
            Some(last) if last.millis() >= clock => match last.sequence() {
                // Invariant: the sequence never carries into the shard bits.
                SEQUENCE_MAX => (last.millis() + 1, 0),
                sequence => (last.millis(), sequence + 1),
            },
            Some(_) | None => (clock, 0),
        };
        if millis >> MILLIS_BITS != 0 {
            return None;
        }
        let id = RunId::from_parts(millis, self.shard, sequence);
        self.last = Some(id);
        self.last
    }
}

/// Position of a job in its run, from 0 in the order the definition gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobNumber(pub u32);

impl fmt::Display for JobNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One execution of a task inside a run. Written `RUN.NUMBER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId {
    /// The run it belongs to.
    pub run: RunId,
    /// Its place in the run.
    pub number: JobNumber,
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.run, self.number)
    }
}

impl FromStr for JobId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let (run, number) = text.split_once('.').ok_or(IdError::JobNumber)?;
        let plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| plain).ok_or(IdError::JobNumber)?;
        Ok(JobId { run: run.parse()?, number: JobNumber(number) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHARD: ShardId = ShardId::new(7).unwrap();
    const NOW: i64 = ID_EPOCH_UNIX_MS + 12_345;

    #[test]
    fn an_id_knows_its_time_and_shard() {
        let mut source = RunIdSource::new(SHARD, None);
        let id = source.next_id(NOW).unwrap();
        assert_eq!((id.shard(), id.unix_ms()), (SHARD, NOW));
        assert_eq!(id.to_string().len(), LENGTH);
    }

    #[test]
    fn a_clock_step_back_never_repeats_an_id() {
        let mut source = RunIdSource::new(SHARD, None);
        let before = source.next_id(NOW).unwrap();
        let after = source.next_id(NOW - 3_600_000).unwrap();
        assert!(after > before);
        let mut taken_over = RunIdSource::new(SHARD, source.last());
        assert!(taken_over.next_id(0).unwrap() > after);
    }

    #[test]
    fn the_sequence_moves_to_the_next_millisecond_and_never_into_the_shard() {
        let mut source = RunIdSource::new(SHARD, None);
        let ids: Vec<_> = (0..10_000).map(|_| source.next_id(NOW).unwrap()).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(ids.iter().all(|id| id.shard() == SHARD));
        assert_eq!(ids[4096].unix_ms(), NOW + 1);
    }

    #[test]
    fn ids_end_rather_than_wrap_around() {
        let mut source = RunIdSource::new(SHARD, None);
        assert_eq!(source.next_id(i64::MAX), None);
        assert_eq!(source.last(), None);
        assert!(source.next_id(ID_EPOCH_UNIX_MS + (1 << 41) - 1).is_some());
    }

    #[test]
    fn ids_are_read_as_people_type_them() {
        let id: RunId = "01ABCDEFGHJKM".parse().unwrap();
        assert_eq!("oiabcdefghjkm".parse(), Ok(id));
        assert_eq!("01ABC".parse::<RunId>(), Err(IdError::Length(5)));
        assert_eq!("01ABCDEFGHJKU".parse::<RunId>(), Err(IdError::Character('U')));
        assert_eq!("8000000000000".parse::<RunId>(), Err(IdError::TooLarge));
        assert_eq!("0123456789AB€".parse::<RunId>(), Err(IdError::Character('€')));
    }

    #[test]
    fn job_ids_are_a_run_and_a_number() {
        let job: JobId = "01ABCDEFGHJKM.12".parse().unwrap();
        assert_eq!(job.number, JobNumber(12));
        assert_eq!(job.to_string(), "01ABCDEFGHJKM.12");
        for wrong in [
            "01ABCDEFGHJKM",
            "01ABCDEFGHJKM.",
            "01ABCDEFGHJKM.-1",
            "01ABCDEFGHJKM.+1",
            "01ABCDEFGHJKM.99999999999",
        ] {
            assert_eq!(wrong.parse::<JobId>(), Err(IdError::JobNumber), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn written_ids_read_back_and_sort_like_numbers(a in 0..1u64 << 63, b in 0..1u64 << 63) {
            let (a, b) = (RunId::from_u64(a).unwrap(), RunId::from_u64(b).unwrap());
            prop_assert_eq!(a.to_string().parse(), Ok(a));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }

        #[test]
        fn ids_strictly_increase_under_any_clock(clock in proptest::collection::vec(0..1i64 << 40, 1..200)) {
            let mut source = RunIdSource::new(SHARD, None);
            let mut last = None;
            for ms in clock {
                let id = source.next_id(ID_EPOCH_UNIX_MS + ms);
                prop_assert!(id > last);
                last = id;
            }
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = text.parse::<RunId>();
            let _ = text.parse::<JobId>();
        }
    }
}
