//! The bytes of a log's block: a head, then lines.

use super::{Bounds, Stream};

/// Bytes of a block: one write, and all that is read to find a line.
pub const BLOCK: usize = 64 << 10;
/// Bytes of a block's head.
pub const HEAD: usize = 32;
/// Bytes before each line.
pub const LINE_HEAD: usize = 7;
/// The longest line. What is longer becomes several.
pub const LINE_MAX: usize = 8 << 10;

const MAGIC: [u8; 4] = *b"WLL1";

/// Marks of a line. None of them: the block has no more lines.
const IS_LINE: u8 = 1;
const FROM_ERR: u8 = 2;
const GOES_ON: u8 = 4;

/// What a block says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its place in the log.
    pub sequence: u64,
    /// The number of its first line.
    pub first_line: u64,
    /// How much of the log is kept.
    pub bounds: Bounds,
    /// When the log began, in milliseconds of the Unix epoch.
    pub began: i64,
}

/// A line in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// Where it was printed.
    pub stream: Stream,
    /// Whether it was cut here and the next line of its stream goes on with it.
    pub goes_on: bool,
    /// When it ended, in milliseconds since the log began.
    pub after: u32,
    /// What it says, without its end.
    pub text: &'a [u8],
}

impl Head {
    /// Its bytes.
    pub fn encode(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        let fields: [&[u8]; 6] = [
            &MAGIC,
            &self.sequence.to_le_bytes(),
            &self.first_line.to_le_bytes(),
            &self.bounds.head.to_le_bytes(),
            &self.bounds.tail.to_le_bytes(),
            &self.began.to_le_bytes(),
        ];
        let mut place = 0;
        for field in fields {
            bytes[place..place + field.len()].copy_from_slice(field);
            place += field.len();
        }
        bytes
    }

    /// Reads what `encode` made.
    pub fn decode(bytes: &[u8]) -> Option<Head> {
        let bytes: &[u8; HEAD] = bytes.first_chunk()?;
        let rest = bytes.strip_prefix(&MAGIC)?;
        let u64_at = |place: usize| rest[place..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let u16_at = |place: usize| rest[place..].first_chunk().map(|bytes| u16::from_le_bytes(*bytes));
        Some(Head {
            sequence: u64_at(0)?,
            first_line: u64_at(8)?,
            bounds: Bounds { head: u16_at(16)?, tail: u16_at(18)? },
            began: u64_at(20)?.cast_signed(),
        })
    }
}

impl Bounds {
    /// Where in the file a block is.
    pub fn place(self, sequence: u64) -> u64 {
        let (head, tail) = (u64::from(self.head), u64::from(self.tail.max(1)));
        let index = if sequence < head { sequence } else { head + (sequence - head) % tail };
        index * BLOCK as u64
    }

    /// Whether another block was in its place before.
    pub fn is_reused(self, sequence: u64) -> bool {
        sequence >= u64::from(self.head) + u64::from(self.tail.max(1))
    }
}

/// Appends a line to a block.
pub fn push(line: &Stored<'_>, block: &mut Vec<u8>) {
    let stream = match line.stream {
        Stream::Out => 0,
        Stream::Err => FROM_ERR,
    };
    block.push(IS_LINE | stream | if line.goes_on { GOES_ON } else { 0 });
    block.extend_from_slice(&(line.text.len() as u16).to_le_bytes());
    block.extend_from_slice(&line.after.to_le_bytes());
    block.extend_from_slice(line.text);
}

/// What the lines of a block say, as it was printed, given what comes after its head.
pub fn text(bytes: &[u8]) -> Vec<u8> {
    let mut text = vec![];
    for line in lines(bytes) {
        text.extend_from_slice(line.text);
        if !line.goes_on {
            text.push(b'\n');
        }
    }
    text
}

/// The lines of a block, given what comes after its head.
pub fn lines(mut bytes: &[u8]) -> impl Iterator<Item = Stored<'_>> {
    std::iter::from_fn(move || {
        let (head, rest) = bytes.split_first_chunk::<LINE_HEAD>()?;
        let [marks, l0, l1, a0, a1, a2, a3] = *head;
        if marks & IS_LINE == 0 {
            return None;
        }
        let (text, rest) = rest.split_at_checked(u16::from_le_bytes([l0, l1]).into())?;
        bytes = rest;
        let stream = if marks & FROM_ERR == 0 { Stream::Out } else { Stream::Err };
        let after = u32::from_le_bytes([a0, a1, a2, a3]);
        Some(Stored { stream, goes_on: marks & GOES_ON != 0, after, text })
    })
}
