//! What a new process life takes over from the lives before, and leaves to the next.

use std::collections::BTreeMap;

use windlass_model::{AttemptId, Incarnation};

use super::Worker;
use super::input::{Decision, Entry, Record};
use super::local::State;
use crate::shard::input::Report;
use crate::time::Now;

impl Worker {
    /// Says of everything that earlier lives had taken and not finished that it died with them, and says
    /// again what they had finished.
    ///
    /// Also what is only written down as assigned counts as lost, not as given back: whether it started is
    /// known only if the journal kept its last line, which a power failure may cost.
    pub(super) fn take_over(
        &mut self,
        now: Now,
        journal: impl IntoIterator<Item = Record>,
        out: &mut Decision,
    ) {
        let mut last: BTreeMap<AttemptId, (Incarnation, Entry)> = BTreeMap::new();
        for Record { incarnation, attempt, entry } in journal {
            match entry {
                Entry::Assigned | Entry::Started | Entry::Finished(_) => {
                    last.insert(attempt, (incarnation, entry));
                }
                Entry::Settled => {
                    last.remove(&attempt);
                }
            }
        }
        for (attempt, (incarnation, entry)) in last {
            let report = match entry {
                Entry::Finished(report) => report,
                Entry::Assigned | Entry::Started | Entry::Settled => {
                    let entry = Entry::Finished(Report::Lost);
                    out.journal.push(Record { incarnation, attempt, entry });
                    Report::Lost
                }
            };
            self.keep(now, incarnation, attempt, report, true, out);
        }
    }

    /// The shortest journal that the next life could begin with: what the shell writes when the journal has
    /// grown long.
    pub fn journal_now(&self) -> Vec<Record> {
        let incarnation = self.settings.life.incarnation;
        let live = self.live.iter().map(|(attempt, live)| {
            let entry = match live.state {
                State::Queued | State::Held => Entry::Assigned,
                State::Starting | State::Running | State::Ending { .. } | State::Finished(_) => {
                    Entry::Started
                }
            };
            Record { incarnation, attempt: *attempt, entry }
        });
        let results = self.results.iter().map(|(attempt, result)| Record {
            incarnation: result.incarnation,
            attempt: *attempt,
            entry: Entry::Finished(result.report.clone()),
        });
        live.chain(results).collect()
    }
}
