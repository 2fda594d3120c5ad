//! From a path to a store that is nobody else's, whole, and of the current version.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use windlass_model::ShardCount;
use windlass_store::encoding::Malformed;
use windlass_store::opening::{self, Identity, SchemaVersion, StoreId};

use crate::fault::{DAMAGE_HINT, FileFault};
use crate::lock::{Holder, Lock};
use crate::migrate;
use crate::private;
use crate::queries;
use crate::queries::identity::{self, Kind};
use crate::threads::Crew;

/// Files of up to this size are read through when they are opened: a fraction of a second. Damage in a larger one is
/// met when it is reached.
const READ_THROUGH: u64 = 64 << 20;

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of shards; `None` takes that of the file, or the default for a new one.
    pub shards: Option<ShardCount>,
    /// How many reads may be under way at once.
    pub readers: usize,
    /// The file may not have more pages of 4 KiB than this; `None` leaves that to the disk.
    pub max_pages: Option<u32>,
}

impl Default for Options {
    /// Two readers, one for each core of a small machine: a slow list does not hold up a detail.
    fn default() -> Options {
        Options { shards: None, readers: 2, max_pages: None }
    }
}

/// Why a file cannot be used as a store.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error(
        "cannot open `{}`: {holder} has it open; hint: a SQLite store belongs to one windlass at a time, \
         end the other one or use another data folder", .file.display()
    )]
    InUse {
        /// The database file.
        file: PathBuf,
        /// Who has it.
        holder: Holder,
    },
    /// The lock beside the file cannot be taken.
    #[error(
        "cannot lock `{}`; hint: let the user that runs windlass write the folder, and keep it on a local \
         disk", .file.display()
    )]
    LockFile {
        /// The lock file.
        file: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The folder of the file cannot be made or found.
    #[error("cannot find or make the data folder `{}`; hint: make it, or name another", .folder.display())]
    Folder {
        /// Which folder.
        folder: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The file cannot be made.
    #[error("cannot make `{}`; hint: let the user that runs windlass write the folder", .file.display())]
    Create {
        /// Which file.
        file: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// A database of something else.
    #[error(
        "cannot open `{}`: it is an SQLite database, but not of windlass; hint: name another file",
        .file.display()
    )]
    NotAStore {
        /// Which file.
        file: PathBuf,
    },
    /// It has other shapes or another number of shards.
    #[error("cannot open `{}`", .file.display())]
    Refused {
        /// Which file.
        file: PathBuf,
        /// Why.
        #[source]
        why: opening::OpenError,
    },
    /// What every store has is missing or cannot be understood.
    #[error("cannot open `{}`: its own description is damaged; hint: {DAMAGE_HINT}", .file.display())]
    Damaged {
        /// Which file.
        file: PathBuf,
        /// What is wrong with it.
        #[source]
        cause: Malformed,
    },
    /// Its pages do not fit together.
    #[error("cannot open `{}`: the database file is damaged ({found}); hint: {DAMAGE_HINT}", .file.display())]
    Pages {
        /// Which file.
        file: PathBuf,
        /// What SQLite found first.
        found: String,
    },
    /// SQLite cannot use it.
    #[error("cannot open the store")]
    File(#[from] FileFault),
    /// No thread could be started.
    #[error("cannot start the threads of the store; hint: raise the limit on processes of the user")]
    Threads(#[source] io::Error),
}

/// An open file, with everything that belongs to it. Dropped in this order: readers, the writer, and the lock
/// when nothing is left that could write.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) readers: Crew,
    pub(crate) writer: Crew,
    pub(crate) identity: Identity,
    pub(crate) file: Arc<Path>,
    _lock: Lock,
}

pub(crate) fn open(path: &Path, options: &Options) -> Result<Opened, OpenError> {
    let file = real_path(path)?;
    let lock = Lock::take(&file)?;
    let fault = |error: rusqlite::Error| FileFault::new(&file, error.into());
    if !file.exists() {
        private::make_file(&file).map_err(|cause| OpenError::Create { file: file.clone(), cause })?;
    }
    let writer = Connection::open_with_flags(&file, flags()).map_err(fault)?;
    let identity = prepare(&writer, &file, options)?;
    let mut readers = Vec::new();
    for _ in 0..options.readers.max(1) {
        let reader = Connection::open_with_flags(&file, flags()).map_err(fault)?;
        identity::prepare_reader(&reader).map_err(fault)?;
        readers.push(reader);
    }
    let writer = Crew::start("windlass-write", vec![writer]).map_err(OpenError::Threads)?;
    let readers = Crew::start("windlass-read", readers).map_err(OpenError::Threads)?;
    Ok(Opened { readers, writer, identity, file: file.into(), _lock: lock })
}

/// Makes the file a store of the current version that nobody owns, and says which.
pub(crate) fn prepare(writer: &Connection, file: &Path, options: &Options) -> Result<Identity, OpenError> {
    let fault = |error: rusqlite::Error| OpenError::File(FileFault::new(file, error.into()));
    // Before anything is written: the file may be somebody else's, or a newer program's.
    let kind = identity::kind(writer).map_err(fault)?;
    let found = match kind {
        Kind::Foreign => return Err(OpenError::NotAStore { file: file.to_owned() }),
        Kind::Empty => SchemaVersion(0),
        Kind::Store(schema) => {
            check(writer, file, schema, options.shards)?;
            check_pages(writer, file)?;
            schema
        }
    };
    identity::prepare_writer(writer, options.max_pages).map_err(fault)?;
    bring_forward(writer, kind, found, options).map_err(fault)?;
    read_identity(writer, file)
}

/// Refuses what this program cannot use. Of a newer file not even the identity is sure to be readable.
fn check(
    connection: &Connection,
    file: &Path,
    schema: SchemaVersion,
    wanted: Option<ShardCount>,
) -> Result<(), OpenError> {
    let refused = |why| OpenError::Refused { file: file.to_owned(), why };
    let known = SchemaVersion::OLDEST..=SchemaVersion::CURRENT;
    if !known.contains(&schema) {
        let id = read_identity(connection, file).map_or(StoreId(0), |identity| identity.id);
        let unread = Identity { id, shards: ShardCount::DEFAULT, schema };
        return unread.check(None).map_err(refused);
    }
    read_identity(connection, file)?.check(wanted).map_err(refused)
}

/// Refuses a file whose pages do not fit together, before anything makes it worse.
fn check_pages(connection: &Connection, file: &Path) -> Result<(), OpenError> {
    if std::fs::metadata(file).is_ok_and(|known| known.len() > READ_THROUGH) {
        return Ok(());
    }
    let found = identity::check_pages(connection).map_err(|error| FileFault::new(file, error.into()))?;
    // SQLite's words have lines.
    let one_line = |found: String| found.split_whitespace().collect::<Vec<_>>().join(" ");
    match found.map(one_line) {
        Some(found) => Err(OpenError::Pages { file: file.to_owned(), found }),
        None => Ok(()),
    }
}

pub(crate) fn read_identity(connection: &Connection, file: &Path) -> Result<Identity, OpenError> {
    let found = identity::get(connection, SchemaVersion::CURRENT);
    let found = found.map_err(|error| FileFault::new(file, error.into()))?;
    let missing = || Err(Malformed::new("row", "it is missing"));
    found.unwrap_or_else(missing).map_err(|cause| OpenError::Damaged { file: file.to_owned(), cause })
}

/// In one transaction, so that a crash leaves the file as it was. The lock proves that no former owner lives, so
/// nothing of theirs needs to be waited for.
fn bring_forward(
    writer: &Connection,
    kind: Kind,
    found: SchemaVersion,
    options: &Options,
) -> rusqlite::Result<()> {
    queries::begin_writing(writer)?;
    migrate::forward(writer, found)?;
    if kind == Kind::Empty {
        identity::create(writer, options.shards.unwrap_or(ShardCount::DEFAULT))?;
    }
    identity::forget_owners(writer)?;
    queries::commit(writer)
}

/// The file itself, whatever links lead to it: two names of one file must be one lock.
pub(crate) fn real_path(path: &Path) -> Result<PathBuf, OpenError> {
    if let Ok(real) = path.canonicalize() {
        return Ok(real);
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    };
    let failed = |cause| OpenError::Folder { folder: folder.to_owned(), cause };
    private::make_folder(folder).map_err(failed)?;
    let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::IsADirectory.into()))?;
    Ok(folder.canonicalize().map_err(failed)?.join(name))
}

/// Each connection stays in its own thread, so SQLite needs no lock around it; a path is never taken for a URI.
pub(crate) fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX
}
