//! What a worker and its launcher say to each other.
//!
//! Each message is its length (32 bits), a kind (8 bits) and its fields, little-endian. A `Spawn` comes with two
//! descriptors: standard output and standard error. Both ends are the same binary, so nothing here is a promise
//! to anybody; it is still read with care, because a wrong message must end a launcher, not mislead it.

use std::fmt;

/// Longest message: longer than any argument list the kernel takes (6 MiB with the usual stack limit).
const LENGTH_MAX: usize = 16 << 20;

/// What a worker calls something it has started. Never used twice in one launcher's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

/// What a launcher is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToLauncher {
    /// Start this. Answered with `Spawned` or `Failed`.
    Spawn(Key, Command),
    /// Signal everything that was started under this key. What is gone cannot be signalled; nothing is said then.
    Signal(Key, Signal),
}

/// What to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program, looked for in `PATH` unless it has a slash, and its arguments.
    pub argv: Vec<Vec<u8>>,
    /// Variables that are added to those of the launcher, `NAME=value`; the last of a name counts.
    pub env: Vec<Vec<u8>>,
    /// The folder to start in.
    pub folder: Vec<u8>,
}

/// How a process is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Asked.
    Term,
    /// Forced.
    Kill,
}

/// What a launcher says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromLauncher {
    /// It runs, as the leader of its own session and group: its number, and since when, in nanoseconds of the
    /// machine's monotonic clock. It may be said a few milliseconds later, and with what became of it meanwhile.
    Spawned(Key, u32, u64),
    /// It could not be started: the system's error number. Nothing of it runs.
    Failed(Key, i32),
    /// The process that was started has ended; what it started may still run.
    Exited(Key, Status),
    /// Everything that was started under the key is gone.
    Gone(Key),
    /// A process could not be signalled: its number, and the system's error number.
    Unkillable(Key, u32, i32),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Code(code) => write!(f, "exit code {code}"),
            Status::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// A message that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Its length is beyond any message's.
    #[error("a message of {0} bytes is too long")]
    Length(usize),
    /// There is no such kind.
    #[error("there is no message of kind {0}")]
    Kind(u8),
    /// It ends too early or too late.
    #[error("a message does not have the length of its content")]
    Content,
    /// It came without its descriptors.
    #[error("a message came without its descriptors")]
    Descriptors,
}

/// A message that can be written and read.
pub trait Message: Sized {
    /// Appends kind and fields.
    fn write(&self, out: &mut Writer<'_>);
    /// Reads what `write` wrote.
    fn read(kind: u8, fields: &mut Reader<'_>) -> Result<Self, Malformed>;
}

/// Appends a message to `out`.
pub fn encode(message: &impl Message, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    message.write(&mut Writer(out));
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Takes the first message from `bytes`, if all of it is there, and says how long it was.
pub fn decode<M: Message>(bytes: &[u8]) -> Result<Option<(M, usize)>, Malformed> {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > LENGTH_MAX {
        return Err(Malformed::Length(length));
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    let (kind, fields) = body.split_first().ok_or(Malformed::Content)?;
    let mut fields = Reader(fields);
    let message = M::read(*kind, &mut fields)?;
    if fields.0.is_empty() { Ok(Some((message, 4 + length))) } else { Err(Malformed::Content) }
}

const SPAWN: u8 = 1;
const TERM: u8 = 2;
const KILL: u8 = 3;

impl Message for ToLauncher {
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            ToLauncher::Spawn(key, command) => {
                out.kind(SPAWN);
                out.u64(key.0);
                out.list(&command.argv);
                out.list(&command.env);
                out.bytes(&command.folder);
            }
            ToLauncher::Signal(key, signal) => {
                out.kind(match signal {
                    Signal::Term => TERM,
                    Signal::Kill => KILL,
                });
                out.u64(key.0);
            }
        }
    }

    fn read(kind: u8, fields: &mut Reader<'_>) -> Result<ToLauncher, Malformed> {
        let key = Key(fields.u64()?);
        Ok(match kind {
            SPAWN => {
                let (argv, env) = (fields.list()?, fields.list()?);
                ToLauncher::Spawn(key, Command { argv, env, folder: fields.bytes()? })
            }
            TERM => ToLauncher::Signal(key, Signal::Term),
            KILL => ToLauncher::Signal(key, Signal::Kill),
            other => return Err(Malformed::Kind(other)),
        })
    }
}

const SPAWNED: u8 = 1;
const FAILED: u8 = 2;
const EXITED: u8 = 3;
const SIGNALLED: u8 = 4;
const GONE: u8 = 5;
const UNKILLABLE: u8 = 6;

impl Message for FromLauncher {
    fn write(&self, out: &mut Writer<'_>) {
        let (kind, key) = match self {
            FromLauncher::Spawned(key, _, _) => (SPAWNED, key),
            FromLauncher::Failed(key, _) => (FAILED, key),
            FromLauncher::Exited(key, Status::Code(_)) => (EXITED, key),
            FromLauncher::Exited(key, Status::Signal(_)) => (SIGNALLED, key),
            FromLauncher::Gone(key) => (GONE, key),
            FromLauncher::Unkillable(key, _, _) => (UNKILLABLE, key),
        };
        out.kind(kind);
        out.u64(key.0);
        match self {
            FromLauncher::Spawned(_, pid, since) => {
                out.u32(*pid);
                out.u64(*since);
            }
            FromLauncher::Failed(_, number)
            | FromLauncher::Exited(_, Status::Code(number) | Status::Signal(number)) => {
                out.u32(number.cast_unsigned());
            }
            FromLauncher::Gone(_) => {}
            FromLauncher::Unkillable(_, pid, error) => {
                out.u32(*pid);
                out.u32(error.cast_unsigned());
            }
        }
    }

    fn read(kind: u8, fields: &mut Reader<'_>) -> Result<FromLauncher, Malformed> {
        let key = Key(fields.u64()?);
        Ok(match kind {
            SPAWNED => FromLauncher::Spawned(key, fields.u32()?, fields.u64()?),
            FAILED => FromLauncher::Failed(key, fields.u32()?.cast_signed()),
            EXITED => FromLauncher::Exited(key, Status::Code(fields.u32()?.cast_signed())),
            SIGNALLED => FromLauncher::Exited(key, Status::Signal(fields.u32()?.cast_signed())),
            GONE => FromLauncher::Gone(key),
            UNKILLABLE => FromLauncher::Unkillable(key, fields.u32()?, fields.u32()?.cast_signed()),
            other => return Err(Malformed::Kind(other)),
        })
    }
}

/// Appends fields.
pub struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn kind(&mut self, kind: u8) {
        self.0.push(kind);
    }

    fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.0.extend_from_slice(bytes);
    }

    fn list(&mut self, items: &[Vec<u8>]) {
        self.u32(items.len() as u32);
        for item in items {
            self.bytes(item);
        }
    }
}

/// Takes fields.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Content)?;
        self.0 = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(bytes.try_into().map_err(|_| Malformed::Content)?))
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| Malformed::Content)?))
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Malformed> {
        let length = self.u32()? as usize;
        Ok(self.take(length)?.to_vec())
    }

    fn list(&mut self) -> Result<Vec<Vec<u8>>, Malformed> {
        let count = self.u32()?;
        (0..count).map(|_| self.bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check<M: Message + PartialEq + fmt::Debug>(message: &M) {
        let mut bytes = vec![];
        encode(message, &mut bytes);
        for cut in 0..bytes.len() {
            assert!(matches!(decode::<M>(&bytes[..cut]), Ok(None)), "cut at {cut}");
        }
        let length = bytes.len();
        bytes.push(7);
        assert_eq!(
            decode(&bytes)
                .expect("it is well formed")
                .map(|(read, length): (M, usize)| (read == *message, length)),
            Some((true, length))
        );
    }

    #[test]
    fn every_message_reads_back() {
        let key = Key(u64::MAX - 1);
        let command = Command {
            argv: vec![b"a".to_vec(), vec![], vec![0xff, 0]],
            env: vec![b"A=b".to_vec()],
            folder: b"/".to_vec(),
        };
        check(&ToLauncher::Spawn(key, command));
        check(&ToLauncher::Signal(key, Signal::Term));
        check(&ToLauncher::Signal(key, Signal::Kill));
        check(&FromLauncher::Spawned(key, 77, 1 << 50));
        check(&FromLauncher::Failed(key, 2));
        check(&FromLauncher::Exited(key, Status::Code(255)));
        check(&FromLauncher::Exited(key, Status::Signal(9)));
        check(&FromLauncher::Gone(key));
        check(&FromLauncher::Unkillable(key, 77, 1));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), length in 0..64u32) {
            let _ = decode::<ToLauncher>(&bytes);
            let framed = [&length.to_le_bytes()[..], &bytes].concat();
            let _ = decode::<ToLauncher>(&framed);
            let _ = decode::<FromLauncher>(&framed);
        }
    }
}
