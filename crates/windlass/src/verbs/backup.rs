//! `backup` and `restore`: everything into a file, and out of one.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use jiff::Timestamp;
use serde_json::json;
use windlass_core::time::Wall;
use windlass_rest::problem::Exit;
use windlass_store_sqlite::{OpenError, RestoreError};

use super::output::Out;
use super::session::Session;
use crate::codes::Code;
use crate::exit::Failure;
use crate::roles::StoreUrl;
use crate::settings::{Role, Settings};

/// Where a copy goes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass backup /var/backups/windlass-monday.db
  windlass --server http://scheduler:8000 backup here.db")]
pub struct Backup {
    /// A file that is not there yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// A backup to go back to.
#[derive(Debug, Args)]
#[command(after_help = "\
Stop the server first; workers may stay and are told to end what the backup does not know of. Jobs that the backup
has as done stay done, what was under way is tried again.

Examples:
  windlass restore /var/backups/windlass-monday.db --replace
  windlass restore monday.db --store sqlite:/srv/windlass/store.db")]
pub struct Restore {
    /// What `windlass backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where the store shall be; of `windlass standalone` unless told
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    store: Option<String>,
    /// Data folder of `windlass standalone`
    #[arg(long, value_name = "DIR")]
    data: Option<String>,
    /// Move a store that is there aside, instead of refusing
    #[arg(long)]
    replace: bool,
}

impl Backup {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let file = &self.file;
        if file.exists() {
            return Err(exists(format!("cannot write a backup to `{}`: it exists", file.display()))
                .hint("name another file, or move it away"));
        }
        let cannot = || format!("cannot write a backup to `{}`", file.display());
        let partial = beside(file, ".partial");
        let mut open = OpenOptions::new();
        // Tokens are in it, as hashes, and whatever tasks have put out.
        let mut copy =
            open.write(true).create(true).truncate(true).mode(0o600).open(&partial).with_context(cannot)?;
        let written = session.client.backup(&mut copy).await;
        let size = match written {
            Ok(size) => size,
            Err(error) => {
                let _ = fs::remove_file(&partial);
                return Err(Failure::from(error));
            }
        };
        copy.sync_all()
            .and_then(|()| fs::rename(&partial, file))
            .and_then(|()| sync_folder(file))
            .with_context(cannot)?;
        let shown = file.display().to_string();
        session.out.one(&json!({"file": shown, "bytes": size}), &shown, |out| {
            out.line(format!("{shown}: {:.1} MiB", size as f64 / f64::from(1 << 20)))
        })?;
        session.out.note(format!("back to it: windlass restore {shown}"));
        Ok(Exit::Fine)
    }
}

impl Restore {
    pub fn run(self, out: &Out) -> Result<Exit, Failure> {
        let place = match self.place()? {
            StoreUrl::Sqlite(place) => place,
            #[cfg(feature = "postgres")]
            StoreUrl::Postgres(address) => {
                let error = anyhow!("cannot restore `{}` to {address}: it is no file", self.file.display());
                return Err(Failure::new(Code::Usage, error)
                    .hint("PostgreSQL is restored with its own tools: see the page about backups"));
            }
        };
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        }
        let now = Wall(Timestamp::now().as_millisecond());
        let (restored, aside) = match self.replace {
            true => windlass_store_sqlite::restore_over(&self.file, &place, now),
            false => windlass_store_sqlite::restore(&self.file, &place, now).map(|restored| (restored, None)),
        }
        .map_err(refused)?;
        let shown = place.display().to_string();
        let told = json!({
            "store": format!("sqlite:{shown}"),
            "id": restored.id.to_string(),
            "moved_aside": aside.as_ref().map(|aside| aside.display().to_string()),
        });
        out.one(&told, &shown, |out| out.line(format!("{shown} is restored from {}", self.file.display())))?;
        if let Some(aside) = aside {
            out.note(format!("what was there is in {}", aside.display()));
        }
        out.note("start the server: what was under way is tried again, what was done stays done");
        Ok(Exit::Fine)
    }

    fn place(&self) -> Result<StoreUrl, Failure> {
        if let Some(store) = &self.store {
            return StoreUrl::read(store);
        }
        let data = match &self.data {
            Some(data) => PathBuf::from(data),
            None => {
                let settings = Settings::of_role(Role::Standalone, None).map_err(Failure::usage)?;
                crate::roles::places::data(&settings)?
            }
        };
        Ok(StoreUrl::Sqlite(crate::roles::standalone::store_file(&data)))
    }
}

/// The error says what to do; scripts are told what kind it is.
fn refused(error: RestoreError) -> Failure {
    let (code, hint) = match &error {
        RestoreError::Exists { .. } => (Some(Code::FileExists), Some("with --replace it is moved aside")),
        RestoreError::Open { cause: OpenError::InUse { .. }, .. } => {
            (None, Some("stop the server that uses it; its workers may stay"))
        }
        RestoreError::Copy { cause, .. } if cause.kind() == io::ErrorKind::NotFound => {
            (Some(Code::FileNotFound), Some("name a file that `windlass backup` wrote"))
        }
        RestoreError::Damaged { .. } => (Some(Code::StoreDamaged), Some("use an older backup")),
        RestoreError::Copy { .. } | RestoreError::Open { .. } => {
            (None, Some("name a file that `windlass backup` wrote"))
        }
    };
    let failure = match code {
        Some(code) => Failure::new(code, error),
        None => Failure::from(error),
    };
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn exists(what: String) -> Failure {
    Failure::new(Code::FileExists, anyhow!(what))
}

fn sync_folder(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) if folder != Path::new("") => File::open(folder)?.sync_all(),
        Some(_) | None => File::open(".")?.sync_all(),
    }
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
