//! Writes a log.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::Instant;

use tokio::sync::watch;

use super::block::{self, BLOCK, HEAD, Head, LINE_HEAD, LINE_MAX, Stored};
use super::reader::Reader;
use super::{Bounds, LogId, Logs, Stream};

/// Writes what one attempt prints. The file is open only while it is written to, so that a thousand attempts need
/// no descriptors for their logs.
///
/// A log that cannot be written never fails its attempt: what has no place on the disk is dropped, and missing
/// from the numbers of lines.
#[derive(Debug)]
pub struct Writer {
    logs: Logs,
    id: LogId,
    path: PathBuf,
    bounds: Bounds,
    /// Tells followers that there is more.
    told: watch::Sender<()>,
    began: Instant,
    began_wall: i64,
    /// What each stream has printed since the end of its last line.
    unfinished: [Vec<u8>; 2],
    /// The block that is being filled, how much of it is in the file, and its place in the log.
    block: Vec<u8>,
    written: usize,
    sequence: u64,
    next_line: u64,
    /// Whether the last write failed, so that it is said once.
    failing: bool,
    /// Whether nothing was written yet.
    new: bool,
}

impl Writer {
    pub(super) fn new(
        logs: Logs,
        id: LogId,
        path: PathBuf,
        bounds: Bounds,
        told: watch::Sender<()>,
    ) -> Writer {
        let began_wall = logs.clock.now().wall.0;
        Writer {
            logs,
            id,
            path,
            bounds,
            told,
            began: Instant::now(),
            began_wall,
            unfinished: [vec![], vec![]],
            block: vec![],
            written: 0,
            sequence: 0,
            next_line: 0,
            failing: false,
            new: true,
        }
    }

    /// Takes what was printed. It is in the file after [`Writer::flush`].
    pub fn write(&mut self, stream: Stream, mut bytes: &[u8]) {
        let held = stream as usize;
        while !bytes.is_empty() {
            let room = LINE_MAX - self.unfinished[held].len();
            let within = &bytes[..bytes.len().min(room + 1)];
            match memchr::memchr(b'\n', within) {
                Some(end) => {
                    self.line(stream, &bytes[..end], false);
                    bytes = &bytes[end + 1..];
                }
                None if within.len() > room => {
                    self.line(stream, &bytes[..room], true);
                    bytes = &bytes[room..];
                }
                None => {
                    self.unfinished[held].extend_from_slice(bytes);
                    return;
                }
            }
        }
    }

    /// Adds a line to the block: what its stream has printed before, and this.
    fn line(&mut self, stream: Stream, rest: &[u8], goes_on: bool) {
        let held = &mut self.unfinished[stream as usize];
        let length = LINE_HEAD + held.len() + rest.len();
        if !self.block.is_empty() && self.block.len() + length > BLOCK {
            self.next_block();
        }
        if self.block.is_empty() {
            let (sequence, first_line) = (self.sequence, self.next_line);
            let head = Head { sequence, first_line, bounds: self.bounds, began: self.began_wall };
            self.block.extend_from_slice(&head.encode());
        }
        let after = u32::try_from(self.began.elapsed().as_millis()).unwrap_or(u32::MAX);
        let held = &mut self.unfinished[stream as usize];
        let text = if held.is_empty() {
            rest
        } else {
            held.extend_from_slice(rest);
            held
        };
        block::push(&Stored { stream, goes_on, after, text }, &mut self.block);
        self.unfinished[stream as usize].clear();
        self.next_line += 1;
    }

    fn next_block(&mut self) {
        self.flush();
        // A block of which a part is in the file stays with that part; one of which nothing is gives its place up.
        if self.written > 0 {
            self.sequence += 1;
        }
        self.block.clear();
        self.written = 0;
    }

    /// Puts everything but unfinished lines into the file.
    pub fn flush(&mut self) {
        if self.written == self.block.len() {
            return;
        }
        match self.write_block() {
            Ok(()) => {
                self.written = self.block.len();
                self.failing = false;
                self.new = false;
                self.told.send_replace(());
            }
            Err(error) if !self.failing => {
                self.failing = true;
                tracing::warn!(path = %self.path.display(), %error, "output is lost: the log cannot be written");
            }
            Err(_) => {}
        }
    }

    fn write_block(&self) -> io::Result<()> {
        let file = self.open()?;
        let place = self.bounds.place(self.sequence);
        if self.written == 0 && (self.failing || self.bounds.is_reused(self.sequence)) {
            // What was there before, or was left by a write that failed, would look like more lines of this block.
            let mut whole = self.block.clone();
            whole.resize(BLOCK, 0);
            return file.write_all_at(&whole, place);
        }
        file.write_all_at(&self.block[self.written..], place + self.written as u64)
    }

    fn open(&self) -> io::Result<File> {
        // An earlier life of this worker may have had an attempt of the same number.
        let open =
            || File::options().write(true).create(true).truncate(self.new).mode(0o600).open(&self.path);
        match (open(), self.path.parent()) {
            (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                open()
            }
            (opened, _) => opened,
        }
    }

    /// Ends the log: an unfinished line is one now.
    pub fn finish(mut self) {
        self.end();
    }

    /// The same, and gives the last of what was printed: at most so many bytes.
    pub fn finish_with_tail(mut self, bytes: usize) -> Vec<u8> {
        self.end();
        if self.sequence > 0 {
            let reader = Reader::open(&self.path).ok().flatten();
            return reader.and_then(|reader| reader.tail(bytes).ok()).unwrap_or_default();
        }
        // All of it is still here.
        let mut text = block::text(self.block.get(HEAD..).unwrap_or_default());
        text.split_off(text.len().saturating_sub(bytes))
    }

    fn end(&mut self) {
        for stream in [Stream::Out, Stream::Err] {
            if !self.unfinished[stream as usize].is_empty() {
                self.line(stream, &[], false);
            }
        }
        self.flush();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.logs.ended(self.id);
    }
}
