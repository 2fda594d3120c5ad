//! What really ran: a file outside the product, to which every task of a trial appends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a task of a trial is called by in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// `START`, `END` or `TERM`.
    pub event: String,
    /// The run.
    pub run: String,
    /// The task.
    pub task: String,
    /// Number of the job in its run.
    pub job: u32,
    /// Number of the attempt.
    pub attempt: u32,
    /// The process.
    pub pid: u32,
    /// When, in nanoseconds of a clock that all tasks of a machine share.
    pub nanos: u64,
}

/// The file.
#[derive(Clone, Debug)]
pub struct Ledger {
    path: PathBuf,
}

impl Ledger {
    /// The ledger in a file, which tasks make.
    pub fn new(path: &Path) -> Ledger {
        Ledger { path: path.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Shell text that writes `START`, does something, and writes `END` if that succeeded. A process that is asked to
    /// end writes `TERM`. Needs the path in the variable `LEDGER`.
    pub fn script(does: &str) -> String {
        // One short line each, so that lines of several processes never mix.
        format!(
            "note() {{ echo \"$1 $WINDLASS_RUN $WINDLASS_TASK $WINDLASS_JOB $WINDLASS_ATTEMPT $$ $(date +%s%N)\" >> \
             \"$LEDGER\"; }}\ntrap 'note TERM; exit 143' TERM\nnote START\n{does}\nstatus=$?\n[ $status -eq 0 ] && note \
             END\nexit $status"
        )
    }

    /// Everything that was written. A line that a killed process left half-written is passed over.
    pub fn read(&self) -> Vec<Line> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().filter_map(parse).collect()
    }

    /// The lines of each job.
    pub fn by_job(&self) -> BTreeMap<(String, u32), Vec<Line>> {
        let mut jobs: BTreeMap<_, Vec<Line>> = BTreeMap::new();
        for line in self.read() {
            jobs.entry((line.run.clone(), line.job)).or_default().push(line);
        }
        jobs
    }
}

fn parse(line: &str) -> Option<Line> {
    let mut words = line.split(' ');
    let mut word = || words.next();
    let line = Line {
        event: word()?.to_owned(),
        run: word()?.to_owned(),
        task: word()?.to_owned(),
        job: word()?.parse().ok()?,
        attempt: word()?.parse().ok()?,
        pid: word()?.parse().ok()?,
        nanos: word()?.parse().ok()?,
    };
    words.next().is_none().then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_halves_are_not() {
        let folder = std::env::temp_dir().join(format!("windlass-ledger-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let ledger = Ledger::new(&folder.join("ledger"));
        std::fs::write(ledger.path(), "START R a 0 1 77 5\nEND R a 0 1 77 9\nSTART R b 1 1\n").unwrap();
        let read = ledger.read();
        assert_eq!(read.len(), 2);
        assert_eq!((read[1].event.as_str(), read[1].attempt, read[1].nanos), ("END", 1, 9));
        assert_eq!(ledger.by_job().len(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
