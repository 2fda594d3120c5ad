//! The worker machine's journal on disk.
//!
//! Each record is its length, its checksum and its content. What the end of the world left half written at the
//! end of the file is cut off; everything before it counts.
//!
//! A decision's records are written before its effects are done. That is enough for the death of the worker at
//! any instant. They are forced to the disk once a second: a power failure also ends every attempt, so that
//! all it can cost is the results of the last second, which are then lost, like the attempts it ended.

mod record;

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::worker::input::Record;

use crate::data_folder::replace;

/// The length and the checksum before each record.
const HEAD: usize = 8;
/// The longest record: 256 KiB of outputs as JSON, every character escaped, and a reason.
const LENGTH_MAX: usize = 4 << 20;
/// A journal is rewritten when it is longer than this and than twice what was left the last time: a few
/// milliseconds, once in about ten thousand attempts.
const REWRITE: u64 = 4 << 20;
/// Room on the disk that is taken ahead: the ends of thousands of attempts. A disk that others fill would end the worker
/// otherwise, and with it everything that it runs; a worker whose disk is full takes nothing new.
const RESERVE: u64 = 1 << 20;

/// The journal of one worker.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Arc<File>,
    length: u64,
    /// How long it may get.
    limit: u64,
    unsynced: bool,
    buffer: Vec<u8>,
    /// Up to here the disk has room.
    reserved: u64,
}

/// A journal that cannot be read or written. What is in memory may be ahead of it, so the process must end.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} the journal {path}")]
pub struct JournalError {
    what: &'static str,
    path: PathBuf,
    #[source]
    cause: io::Error,
}

impl JournalError {
    /// What the system said.
    pub fn cause(&self) -> &io::Error {
        &self.cause
    }
}

impl Journal {
    /// Opens a journal, or makes it, and gives what it says.
    pub fn open(path: &Path) -> Result<(Journal, Vec<Record>), JournalError> {
        let failed = |cause| JournalError { what: "read", path: path.to_owned(), cause };
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes).map_err(failed)?;
        let (records, length) = read_all(&bytes);
        if length < bytes.len() {
            let cut = bytes.len() - length;
            tracing::warn!(path = %path.display(), bytes = cut, "the end of the journal is damaged and was cut off");
            file.set_len(length as u64).map_err(failed)?;
        }
        file.seek(io::SeekFrom::Start(length as u64)).map_err(failed)?;
        let mut journal = Journal {
            path: path.to_owned(),
            file: Arc::new(file),
            length: length as u64,
            limit: REWRITE,
            unsynced: false,
            buffer: vec![],
            reserved: 0,
        };
        journal.reserve();
        Ok((journal, records))
    }

    /// Writes records at the end.
    pub fn append(&mut self, records: &[Record]) -> Result<(), JournalError> {
        if records.is_empty() {
            return Ok(());
        }
        self.buffer.clear();
        for record in records {
            write(record, &mut self.buffer);
        }
        (&*self.file).write_all(&self.buffer).map_err(|cause| self.failed(cause))?;
        self.length += self.buffer.len() as u64;
        self.unsynced = true;
        if self.length + RESERVE / 2 > self.reserved {
            self.reserve();
        }
        Ok(())
    }

    /// Whether it has grown so long that it should be written anew.
    pub fn is_long(&self) -> bool {
        self.length > self.limit
    }

    /// Replaces everything by these records, durably.
    pub fn rewrite(&mut self, records: &[Record]) -> Result<(), JournalError> {
        let mut bytes = vec![];
        for record in records {
            write(record, &mut bytes);
        }
        self.file = Arc::new(replace(&self.path, &bytes).map_err(|cause| self.failed(cause))?);
        self.length = bytes.len() as u64;
        self.limit = REWRITE.max(2 * self.length);
        self.unsynced = false;
        self.reserve();
        Ok(())
    }

    /// It could not be written anew: it goes on as it is, and is tried again when it is twice as long.
    pub fn put_off(&mut self) {
        self.limit = 2 * self.length;
    }

    /// Takes room on the disk for what is still to be written, as far as there is some.
    fn reserve(&mut self) {
        let taken =
            rustix::fs::fallocate(&*self.file, rustix::fs::FallocateFlags::KEEP_SIZE, self.length, RESERVE);
        // A file system that cannot do this, or a full one, is met when something is written.
        if taken.is_ok() {
            self.reserved = self.length + RESERVE;
        }
    }

    /// The file, if something in it is not known to be on the disk; from here on it counts as being forced there.
    pub fn take_unsynced(&mut self) -> Option<Arc<File>> {
        std::mem::take(&mut self.unsynced).then(|| Arc::clone(&self.file))
    }

    fn failed(&self, cause: io::Error) -> JournalError {
        JournalError { what: "write", path: self.path.clone(), cause }
    }
}

fn write(record: &Record, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD]);
    record::encode(record, out);
    let content = &out[start + HEAD..];
    let (length, checksum) = (content.len() as u32, crc32fast::hash(content));
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + HEAD].copy_from_slice(&checksum.to_le_bytes());
}

/// All whole records, and where they end.
fn read_all(bytes: &[u8]) -> (Vec<Record>, usize) {
    let (mut records, mut end) = (vec![], 0);
    while let Some((record, length)) = read(&bytes[end..]) {
        records.push(record);
        end += length;
    }
    (records, end)
}

fn read(bytes: &[u8]) -> Option<(Record, usize)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (checksum, rest) = rest.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    let content = rest.get(..length).filter(|_| length <= LENGTH_MAX)?;
    (crc32fast::hash(content) == u32::from_le_bytes(*checksum)).then_some(())?;
    Some((record::decode(content)?, HEAD + length))
}

#[cfg(test)]
mod tests {
    use super::record::samples;
    use super::*;

    fn check(path: &Path, wanted: &[Record]) {
        let (_, records) = Journal::open(path).expect("it opens");
        assert_eq!(records, wanted);
    }

    #[test]
    fn what_was_written_is_read_by_the_next_life() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let records = samples();
        let (mut journal, none) = Journal::open(&path).expect("it opens");
        assert_eq!(none, []);
        for part in records.chunks(2) {
            journal.append(part).expect("it is written");
        }
        check(&path, &records);
        let (mut journal, _) = Journal::open(&path).expect("it opens");
        journal.append(&records[..1]).expect("it is written");
        check(&path, &[&records[..], &records[..1]].concat());
    }

    #[test]
    fn wherever_it_was_cut_or_damaged_everything_before_that_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let records = samples();
        let (mut journal, _) = Journal::open(&path).expect("it opens");
        let mut ends = vec![0];
        for record in &records {
            journal.append(std::slice::from_ref(record)).expect("it is written");
            ends.push(journal.length as usize);
        }
        let whole = std::fs::read(&path).expect("it is there");
        for place in 0..whole.len() {
            let kept = ends.iter().rposition(|end| *end <= place).expect("zero is");
            std::fs::write(&path, &whole[..place]).expect("it is written");
            check(&path, &records[..kept]);
            let mut damaged = whole.clone();
            damaged[place] ^= 0x40;
            std::fs::write(&path, &damaged).expect("it is written");
            check(&path, &records[..kept]);
            check(&path, &records[..kept]);
        }
    }

    #[test]
    fn a_rewritten_journal_has_what_it_was_given_and_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let records = samples();
        let (mut journal, _) = Journal::open(&path).expect("it opens");
        while !journal.is_long() {
            journal.append(&records).expect("it is written");
        }
        journal.rewrite(&records[1..]).expect("it is written");
        assert!(!journal.is_long());
        journal.append(&records[..1]).expect("it is written");
        check(&path, &[&records[1..], &records[..1]].concat());
    }
}
