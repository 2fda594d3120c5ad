//! The worker's end: starts a launcher, tells it what to do, hears what became of it.

use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, SocketFlags,
    SocketType, recv, sendmsg, shutdown, socketpair,
};

use crate::protocol::{self, Command, FromLauncher, Key, Signal, ToLauncher};

/// So much is read at once: a few hundred messages.
const READ: usize = 16 << 10;

/// A launcher that runs, or is coming up.
pub struct Launcher {
    /// To tell it what to do.
    pub sender: Sender,
    /// To hear what became of it. When this is dropped, everything the launcher started is ended.
    pub receiver: Receiver,
}

/// A launcher could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the launcher {program}")]
pub struct StartError {
    program: String,
    #[source]
    cause: io::Error,
}

impl Launcher {
    /// Starts `program`, which must call [`crate::run_if_asked`], as a launcher. It keeps `held` open until nothing
    /// runs any more that it has started.
    pub fn start(program: &Path, held: Option<OwnedFd>) -> Result<Launcher, StartError> {
        let failed = |cause| StartError { program: program.display().to_string(), cause };
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(|error| failed(error.into()))?;
        let keeper = std::process::Command::new(program)
            .arg(crate::ARGUMENT)
            .stdin(Stdio::from(theirs))
            .stdout(held.map_or_else(Stdio::null, Stdio::from))
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let socket = Arc::new(ours);
        let sender = Sender { socket: Arc::clone(&socket), unsent: Arc::default() };
        Ok(Launcher { sender, receiver: Receiver { socket, keeper, inbox: vec![] } })
    }
}

/// Tells a launcher what to do, from any thread, and never waits for it.
#[derive(Clone)]
pub struct Sender {
    socket: Arc<OwnedFd>,
    /// What the socket had no room for: no more than the starts of one worker's slots and their signals.
    unsent: Arc<Mutex<VecDeque<Unsent>>>,
}

struct Unsent {
    bytes: Vec<u8>,
    sent: usize,
    descriptors: Vec<OwnedFd>,
}

impl Sender {
    /// Starts a command whose standard output and error are these.
    pub fn spawn(&self, key: Key, command: Command, out: OwnedFd, err: OwnedFd) -> io::Result<()> {
        self.send(&ToLauncher::Spawn(key, command), vec![out, err])
    }

    /// Signals everything that was started under a key.
    pub fn signal(&self, key: Key, signal: Signal) -> io::Result<()> {
        self.send(&ToLauncher::Signal(key, signal), vec![])
    }

    fn send(&self, message: &ToLauncher, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        let mut bytes = vec![];
        protocol::encode(message, &mut bytes);
        let mut unsent = self.unsent.lock().unwrap_or_else(PoisonError::into_inner);
        unsent.push_back(Unsent { bytes, sent: 0, descriptors });
        self.flush_locked(&mut unsent)
    }

    /// Whether the launcher has not taken everything yet. Then [`Sender::flush`] is due when its socket is
    /// writable.
    pub fn is_behind(&self) -> bool {
        !self.unsent.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Sends on what had no room.
    pub fn flush(&self) -> io::Result<()> {
        self.flush_locked(&mut self.unsent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn flush_locked(&self, unsent: &mut VecDeque<Unsent>) -> io::Result<()> {
        while let Some(first) = unsent.front_mut() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            let descriptors: Vec<BorrowedFd<'_>> = first.descriptors.iter().map(AsFd::as_fd).collect();
            if !descriptors.is_empty() {
                ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
            }
            let bytes = [io::IoSlice::new(&first.bytes[first.sent..])];
            match sendmsg(&self.socket, &bytes, &mut ancillary, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => {
                    // Descriptors travel with the first byte.
                    first.descriptors.clear();
                    first.sent += sent;
                    if first.sent == first.bytes.len() {
                        unsent.pop_front();
                    }
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Hears what became of what a launcher was told.
pub struct Receiver {
    socket: Arc<OwnedFd>,
    keeper: Child,
    inbox: Vec<u8>,
}

impl Receiver {
    /// Appends what has been said to `out`, without waiting; false when the launcher is gone.
    pub fn receive(&mut self, out: &mut Vec<FromLauncher>) -> io::Result<bool> {
        let held = self.inbox.len();
        self.inbox.resize(held + READ, 0);
        let received =
            recv(&self.socket, &mut self.inbox[held..], RecvFlags::DONTWAIT).map(|(_, length)| length);
        self.inbox.truncate(held + received.unwrap_or(0));
        match received {
            Ok(0) | Err(Errno::CONNRESET) => return Ok(false),
            Ok(_) => {}
            Err(Errno::AGAIN | Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        let mut done = 0;
        while let Some((message, length)) = protocol::decode(&self.inbox[done..]).map_err(io::Error::other)? {
            done += length;
            out.push(message);
        }
        self.inbox.drain(..done);
        Ok(true)
    }

    /// The process number of the launcher's keeper, which is the worker's child. For tests.
    pub fn keeper(&self) -> u32 {
        self.keeper.id()
    }

    /// Ends everything that was started, if the launcher still runs, and returns when nothing of it does.
    ///
    /// Invariant: whichever of launcher and keeper dies first, the other ends everything before it ends itself;
    /// so when both have ended, nothing runs, unless somebody killed both at once.
    pub fn end(mut self) -> io::Result<()> {
        self.end_everything()
    }

    fn end_everything(&mut self) -> io::Result<()> {
        let _ = shutdown(&self.socket, Shutdown::Write);
        let ended = self.keeper.wait().map(drop);
        // The launcher says nothing any more that matters; its end is the end of the stream.
        let mut rest = [0; READ];
        loop {
            match recv(&self.socket, &mut rest, RecvFlags::empty()) {
                Ok((_, 0)) | Err(Errno::CONNRESET) => return ended,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for Receiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.end_everything();
    }
}
