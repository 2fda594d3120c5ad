//! A folder that is gone when nobody needs it any more.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;

/// How often its removal is tried: a process that was just killed may still make a file.
const REMOVALS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// A folder and everything in it.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new one, which nobody else has.
    pub fn new(parent: &Path) -> anyhow::Result<Folder> {
        let path = parent.join(format!("windlass-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Folder(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for _ in 0..REMOVALS {
            if std::fs::remove_dir_all(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}
