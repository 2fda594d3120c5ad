//! The folders in which attempts work: empty, and each attempt's own while it runs.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};

/// Folders that wait to be removed. Beyond that whoever gives one back removes it, and waits.
const REMOVALS: usize = 1000;
/// Folders that are kept for the next attempt: as many as a large worker has slots.
const KEPT: usize = 256;

/// Gives out folders. One that is still empty when it comes back is used again: making and removing one costs a
/// disk more than a process costs the system.
#[derive(Debug)]
pub struct Folders {
    path: PathBuf,
    made: u64,
    free: Vec<PathBuf>,
    removals: SyncSender<PathBuf>,
}

impl Folders {
    /// Folders below this one, which is empty.
    pub fn new(path: PathBuf) -> io::Result<Folders> {
        let (removals, to_remove) = sync_channel::<PathBuf>(REMOVALS);
        // It ends when the sender is dropped. What it leaves then is removed at the next start.
        std::thread::Builder::new().name("removals".into()).spawn(move || {
            for folder in to_remove {
                remove(&folder);
            }
        })?;
        Ok(Folders { path, made: 0, free: vec![], removals })
    }

    /// An empty folder.
    pub fn take(&mut self) -> io::Result<PathBuf> {
        if let Some(folder) = self.free.pop() {
            return Ok(folder);
        }
        self.made += 1;
        let folder = self.path.join(self.made.to_string());
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(folder)
    }

    /// Takes a folder back in which nothing runs any more.
    pub fn give_back(&mut self, folder: PathBuf) {
        if self.free.len() < KEPT && is_pristine(&folder).unwrap_or(false) {
            self.free.push(folder);
        } else if let Err(TrySendError::Full(folder) | TrySendError::Disconnected(folder)) =
            self.removals.try_send(folder)
        {
            remove(&folder);
        }
    }
}

/// Whether a folder is as it was made.
fn is_pristine(folder: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(folder)?;
    let ours = found.uid() == rustix::process::geteuid().as_raw();
    Ok(found.is_dir() && ours && found.mode() & 0o7777 == 0o700 && fs::read_dir(folder)?.next().is_none())
}

fn remove(folder: &Path) {
    // An empty one needs no descriptor to be removed.
    match fs::remove_dir(folder).or_else(|_| fs::remove_dir_all(folder)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(path = %folder.display(), %error, "a work folder cannot be removed");
        }
        Ok(()) | Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_an_untouched_folder_is_used_again() {
        let root = tempfile::tempdir().expect("a folder");
        let mut folders = Folders::new(root.path().to_owned()).expect("it starts");
        let first = folders.take().expect("it is made");
        folders.give_back(first.clone());
        assert_eq!(folders.take().expect("it is there"), first);
        fs::set_permissions(&first, fs::Permissions::from_mode(0o755)).expect("it is changed");
        folders.give_back(first.clone());
        let second = folders.take().expect("it is made");
        assert_ne!(second, first);
        fs::write(second.join("left"), "").expect("it is written");
        folders.give_back(second.clone());
        assert_ne!(folders.take().expect("it is made"), second);
    }
}
