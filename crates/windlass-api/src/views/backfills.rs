//! Campaigns as people see them.

use windlass_core::rows::{self, BackfillRow};
use windlass_core::shard::backfill::PlannedRun;
use windlass_master::campaigns::Later;
use windlass_rest::backfills::{self, Backfill, BackfillStage, BackfillState};

use super::time;

/// Where a campaign is.
pub fn state(row: &BackfillRow) -> BackfillState {
    match row.state {
        rows::BackfillState::Running => BackfillState::Running,
        rows::BackfillState::Paused => BackfillState::Paused,
        rows::BackfillState::Stopping => BackfillState::Stopping,
        rows::BackfillState::Done if row.failed > 0 => BackfillState::Failed,
        rows::BackfillState::Done => BackfillState::Done,
        rows::BackfillState::Stopped => BackfillState::Stopped,
    }
}

/// A campaign, with its later stages as far as they have begun.
pub fn backfill(row: &BackfillRow, later: &[Later]) -> Backfill {
    let mut stages = vec![stage(row)];
    for Later { stage: planned, row } in later {
        let before = stages.last().map_or(BackfillState::Done, |before| before.state);
        stages.push(row.as_ref().map_or_else(
            || BackfillStage {
                workflow: planned.workflow.to_string(),
                id: None,
                state: match before {
                    BackfillState::Failed | BackfillState::Stopped => BackfillState::Stopped,
                    _ => BackfillState::Waiting,
                },
                total: planned.times.len() as u64,
                created: 0,
                succeeded: 0,
                failed: 0,
            },
            stage,
        ));
    }
    let last = later.last().and_then(|last| last.row.as_ref()).unwrap_or(row);
    let first = row.times.first().copied();
    Backfill {
        id: row.id.0.to_string(),
        workflow: row.workflow.to_string(),
        state: whole(&stages),
        from: first.map(time),
        to: row.times.last().copied().map(time),
        total: stages.iter().map(|stage| stage.total).sum(),
        created: stages.iter().map(|stage| stage.created).sum(),
        succeeded: stages.iter().map(|stage| stage.succeeded).sum(),
        failed: stages.iter().map(|stage| stage.failed).sum(),
        parallel: row.parallel,
        params: super::values(&row.params),
        priority: row.priority.map(Into::into),
        created_at: time(row.created_at),
        created_by: row.key.principal.to_string(),
        finished_at: match whole(&stages).is_end() {
            true if last.finished_at.is_some() => last.finished_at.map(time),
            true => later
                .iter()
                .filter_map(|later| later.row.as_ref()?.finished_at)
                .max()
                .or(row.finished_at)
                .map(time),
            false => None,
        },
        part_of: row.chain.root.map(|root| root.0.to_string()),
        stages,
    }
}

/// Where a campaign is as a whole: where the first stage is that is not done.
fn whole(stages: &[BackfillStage]) -> BackfillState {
    let current = stages.iter().find(|stage| stage.state != BackfillState::Done);
    match current.map_or(BackfillState::Done, |stage| stage.state) {
        // It is about to begin.
        BackfillState::Waiting => BackfillState::Running,
        state => state,
    }
}

fn stage(row: &BackfillRow) -> BackfillStage {
    BackfillStage {
        workflow: row.workflow.to_string(),
        id: Some(row.id.0.to_string()),
        state: state(row),
        total: row.times.len() as u64,
        created: u64::from(row.cursor),
        succeeded: u64::from(row.succeeded),
        failed: u64::from(row.failed),
    }
}

/// One due time of a plan.
pub fn planned(run: &PlannedRun) -> backfills::PlannedRun {
    backfills::PlannedRun {
        logical_time: time(run.logical_time),
        exists: run.exists.map(|run| run.to_string()),
        wanted: run.wanted,
    }
}
