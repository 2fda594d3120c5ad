//! Reads a log, also while it is written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::Stream;
use super::block::{self, BLOCK, HEAD, Head};

/// A log that can be read. It sees what was in the file when it was opened, and of the rest only what its last
/// block has got since.
#[derive(Debug)]
pub struct Reader {
    file: File,
    /// The newest block.
    last: Head,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 0.
    pub number: u64,
    /// Where it was printed.
    pub stream: Stream,
    /// When it ended, in milliseconds of the Unix epoch.
    pub time: i64,
    /// Whether it was cut here, and the next line of its stream goes on with it.
    pub goes_on: bool,
    /// What it says, as it was printed.
    pub text: Vec<u8>,
}

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A line.
    Line(Line),
    /// Lines from this number up to below that one were not kept.
    Missing(u64, u64),
}

impl Reader {
    /// Opens a log; `None` if there is none, or nothing in it.
    pub(super) fn open(path: &Path) -> io::Result<Option<Reader>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        let Some(first) = head_at(&file, 0)? else { return Ok(None) };
        let blocks = length.div_ceil(BLOCK as u64);
        let last = match blocks.checked_sub(u64::from(first.bounds.head)) {
            None | Some(0) => head_at(&file, (blocks - 1) * BLOCK as u64)?,
            Some(ring) => newest(&file, u64::from(first.bounds.head), ring)?,
        };
        // The block may have been begun and not written.
        Ok(Some(Reader { file, last: last.unwrap_or(first) }))
    }

    /// Lines from a number on, at most so many and so many bytes of them (but at least one), and the number to go
    /// on with. Takes time for what it returns, not for what there is.
    pub fn read(&self, from: u64, limit: usize, bytes: usize) -> io::Result<(Vec<Item>, u64)> {
        let (mut items, mut next, mut left) = (vec![], from, bytes);
        let mut sequence = self.find(from)?;
        while sequence <= self.last.sequence && items.len() < limit {
            let Some((head, block)) = self.block(sequence)? else {
                // It was overwritten meanwhile: what is left begins later.
                sequence = self.oldest_after(sequence);
                continue;
            };
            for (number, stored) in (head.first_line..).zip(block::lines(&block[HEAD..])) {
                if number < next {
                    continue;
                }
                if items.len() >= limit || (left < stored.text.len() && !items.is_empty()) {
                    return Ok((items, next));
                }
                if number > next {
                    items.push(Item::Missing(next, number));
                }
                left = left.saturating_sub(stored.text.len());
                let time = head.began.saturating_add(stored.after.into());
                let (stream, goes_on, text) = (stored.stream, stored.goes_on, stored.text.to_vec());
                items.push(Item::Line(Line { number, stream, time, goes_on, text }));
                next = number + 1;
            }
            sequence = self.oldest_after(sequence);
        }
        Ok((items, next))
    }

    /// The last of the log, at most so many bytes of it, as it was printed.
    pub fn tail(&self, bytes: usize) -> io::Result<Vec<u8>> {
        let (mut text, mut sequence) = (vec![], self.last.sequence);
        loop {
            if let Some((_, block)) = self.block(sequence)? {
                let mut before = block::text(&block[HEAD..]);
                before.append(&mut text);
                text = before;
            }
            if sequence == 0 || text.len() >= bytes || self.oldest_after(sequence - 1) != sequence {
                let cut = text.len().saturating_sub(bytes);
                return Ok(text.split_off(cut));
            }
            sequence -= 1;
        }
    }

    /// How many lines the log has had so far.
    pub fn lines(&self) -> io::Result<u64> {
        let Some((head, block)) = self.block(self.last.sequence)? else { return Ok(self.last.first_line) };
        Ok(head.first_line + block::lines(&block[HEAD..]).count() as u64)
    }

    /// The block with a line, or the first one after it.
    fn find(&self, line: u64) -> io::Result<u64> {
        // The blocks that are there, without the gap between head and ring: the first that begins after the line.
        let gap = self.gap();
        let there = self.last.sequence + 1 - (gap.end - gap.start);
        let sequence = |index: u64| if index < gap.start { index } else { index + (gap.end - gap.start) };
        let (mut low, mut high) = (0, there);
        while low < high {
            let middle = low + (high - low) / 2;
            let head = head_at(&self.file, self.last.bounds.place(sequence(middle)))?;
            if head.is_some_and(|head| head.first_line <= line) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(sequence(low.saturating_sub(1)))
    }

    /// The blocks that were overwritten.
    fn gap(&self) -> std::ops::Range<u64> {
        let bounds = self.last.bounds;
        let head = u64::from(bounds.head);
        let first_of_ring = (self.last.sequence + 1).saturating_sub(u64::from(bounds.tail.max(1)));
        head..first_of_ring.max(head)
    }

    /// The first block after this one that is still there.
    fn oldest_after(&self, sequence: u64) -> u64 {
        let (next, gap) = (sequence + 1, self.gap());
        if gap.contains(&next) { gap.end } else { next }
    }

    fn block(&self, sequence: u64) -> io::Result<Option<(Head, Vec<u8>)>> {
        let mut bytes = vec![0; BLOCK];
        let length = read_at(&self.file, &mut bytes, self.last.bounds.place(sequence))?;
        bytes.truncate(length);
        let head = Head::decode(&bytes).filter(|head| head.sequence == sequence);
        Ok(head.map(|head| (head, bytes)))
    }
}

/// The newest block of a ring of which so many blocks are in the file: blocks rise up to it, and begin again lower
/// after it.
fn newest(file: &File, first: u64, blocks: u64) -> io::Result<Option<Head>> {
    let at = |index: u64| head_at(file, (first + index) * BLOCK as u64);
    let Some(lowest) = at(0)? else { return Ok(None) };
    let (mut low, mut high) = (0, blocks);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if at(middle)?.is_some_and(|head| head.sequence > lowest.sequence) {
            low = middle;
        } else {
            high = middle;
        }
    }
    at(low)
}

fn head_at(file: &File, place: u64) -> io::Result<Option<Head>> {
    let mut bytes = [0; HEAD];
    let length = read_at(file, &mut bytes, place)?;
    Ok(Head::decode(&bytes[..length]))
}

/// As much as there is.
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(&mut bytes[length..], place + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
