//! Follows a log as it is written.

use std::io;

use tokio::sync::watch;

use super::{Item, LogId, Logs};

/// Lines and bytes that are given at once: what a reader takes without feeling that it waits.
const LINES: usize = 1000;
const BYTES: usize = 256 << 10;

/// A log that is followed.
#[derive(Debug)]
pub struct Follow {
    logs: Logs,
    id: LogId,
    next: u64,
    /// Tells when there is more; nothing once the log is complete.
    tells: Option<watch::Receiver<()>>,
}

impl Follow {
    pub(super) fn new(logs: Logs, id: LogId, from: u64, tells: Option<watch::Receiver<()>>) -> Follow {
        Follow { logs, id, next: from, tells }
    }

    /// What comes next, as soon as there is something; `None` when the log is complete.
    pub async fn next(&mut self) -> io::Result<Option<Vec<Item>>> {
        loop {
            // Before the look: what comes after it is told.
            if let Some(tells) = &mut self.tells {
                tells.mark_unchanged();
                if tells.has_changed().is_err() {
                    self.tells = None;
                }
            }
            let items = self.read().await?;
            if !items.is_empty() {
                return Ok(Some(items));
            }
            match &mut self.tells {
                None => return Ok(None),
                Some(tells) => {
                    if tells.changed().await.is_err() {
                        self.tells = None;
                    }
                }
            }
        }
    }

    /// The line that comes next.
    pub fn next_line(&self) -> u64 {
        self.next
    }

    async fn read(&mut self) -> io::Result<Vec<Item>> {
        let (logs, id, from) = (self.logs.clone(), self.id, self.next);
        let read = move || match logs.open(id)? {
            Some(reader) => reader.read(from, LINES, BYTES),
            None => Ok((vec![], from)),
        };
        let (items, next) = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
        self.next = next;
        Ok(items)
    }
}
