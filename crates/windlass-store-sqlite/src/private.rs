//! Files and folders that only the user who runs windlass can read: parameters and outputs may be anybody's secrets.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file, and makes an empty one if there is none. One that is there keeps the rights that somebody gave it.
///
/// SQLite would give a new file the rights of every other; to all that it puts beside the database file it gives the
/// rights of that.
pub(crate) fn make_file(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// Makes a folder, and those above it, if they are missing.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
