//! Fields with parts, as JSON text. Each has a mirror type here, so that the core's own may change.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use windlass_core::rows::{
    BackfillId, Chain, Expansion, Firing, GangRow, GangStage, Labels, Selection, SkipCause, Stage, Trigger,
};
use windlass_core::shard::pools::Ask;
use windlass_core::shard::view::Counts;
use windlass_core::time::Wall;
use windlass_model::policy::CompletionOn;
use windlass_model::{Epoch, JobNumber, Name, RunId};
use windlass_workflow::definition::TaskIndex;

use super::Malformed;

pub(super) fn write(shape: &impl Serialize) -> String {
    serde_json::to_string(shape).expect("shapes have text keys and finite numbers only")
}

pub(super) fn read<T: DeserializeOwned>(field: &'static str, text: &str) -> Result<T, Malformed> {
    serde_json::from_str(text).map_err(|error| Malformed::new(field, error))
}

pub(super) fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(
    field: &'static str,
    text: &str,
) -> Result<T, Malformed> {
    text.parse().map_err(|error| Malformed::new(field, error))
}

// --- what created a run -----------------------------------------------------------------------------

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum TriggerShape {
    Call,
    Parent { job: String },
    Rerun { run: String },
    Schedule { schedule: String, due: i64 },
    After { run: String },
    Backfill { backfill: String },
}

/// `"call"`, `{"parent":{"job":"01ABCDEFGHJKM.3"}}`, …
pub fn trigger_text(trigger: &Trigger) -> String {
    write(&match trigger {
        Trigger::Call => TriggerShape::Call,
        Trigger::Parent(job) => TriggerShape::Parent { job: job.to_string() },
        Trigger::Rerun(run) => TriggerShape::Rerun { run: run.to_string() },
        Trigger::Schedule(schedule, due) => {
            TriggerShape::Schedule { schedule: schedule.to_string(), due: due.0 }
        }
        Trigger::After(run) => TriggerShape::After { run: run.to_string() },
        Trigger::Backfill(BackfillId(id)) => TriggerShape::Backfill { backfill: id.to_string() },
    })
}

/// Reads what [`trigger_text`] wrote.
pub fn trigger(text: &str) -> Result<Trigger, Malformed> {
    Ok(match read("trigger", text)? {
        TriggerShape::Call => Trigger::Call,
        TriggerShape::Parent { job } => Trigger::Parent(parse("trigger", &job)?),
        TriggerShape::Rerun { run } => Trigger::Rerun(parse("trigger", &run)?),
        TriggerShape::Schedule { schedule, due } => Trigger::Schedule(schedule.into(), Wall(due)),
        TriggerShape::After { run } => Trigger::After(parse("trigger", &run)?),
        TriggerShape::Backfill { backfill } => Trigger::Backfill(BackfillId(parse("trigger", &backfill)?)),
    })
}

// --- which tasks take part --------------------------------------------------------------------------

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SelectionShape {
    All,
    From(u32),
    Only(u32),
}

/// `"all"`, `{"from":3}`, `{"only":3}`: the number of the task.
pub fn selection_text(selection: Selection) -> String {
    write(&match selection {
        Selection::All => SelectionShape::All,
        Selection::From(task) => SelectionShape::From(task.0),
        Selection::Only(task) => SelectionShape::Only(task.0),
    })
}

/// Reads what [`selection_text`] wrote.
pub fn selection(text: &str) -> Result<Selection, Malformed> {
    Ok(match read("selection", text)? {
        SelectionShape::All => Selection::All,
        SelectionShape::From(task) => Selection::From(TaskIndex(task)),
        SelectionShape::Only(task) => Selection::Only(TaskIndex(task)),
    })
}

// --- the jobs of foreach tasks ----------------------------------------------------------------------

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpansionShape {
    task: u32,
    base: u32,
    count: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    closed: bool,
}

/// `[{"task":2,"base":5,"count":1000000}]`
pub fn expansions_text(expansions: &[Expansion]) -> String {
    let shape = |expansion: &Expansion| ExpansionShape {
        task: expansion.task.0,
        base: expansion.base.0,
        count: expansion.count,
        closed: expansion.closed,
    };
    write(&expansions.iter().map(shape).collect::<Vec<_>>())
}

/// Reads what [`expansions_text`] wrote.
pub fn expansions(text: &str) -> Result<Vec<Expansion>, Malformed> {
    let row = |shape: ExpansionShape| Expansion {
        task: TaskIndex(shape.task),
        base: JobNumber(shape.base),
        count: shape.count,
        closed: shape.closed,
    };
    Ok(read::<Vec<_>>("expansions", text)?.into_iter().map(row).collect())
}

// --- what is decided about gangs --------------------------------------------------------------------

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GangShape {
    gang: String,
    stage: StageShape,
    losses: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StageShape {
    Waiting,
    Go,
    Started,
}

/// `[{"gang":"trainers","stage":"go","losses":0}]`
pub fn gangs_text(gangs: &[GangRow]) -> String {
    let shape = |row: &GangRow| GangShape {
        gang: row.gang.to_string(),
        stage: match row.stage {
            GangStage::Waiting => StageShape::Waiting,
            GangStage::Go => StageShape::Go,
            GangStage::Started => StageShape::Started,
        },
        losses: row.losses,
    };
    write(&gangs.iter().map(shape).collect::<Vec<_>>())
}

/// Reads what [`gangs_text`] wrote.
pub fn gangs(text: &str) -> Result<Vec<GangRow>, Malformed> {
    let row = |shape: GangShape| {
        let stage = match shape.stage {
            StageShape::Waiting => GangStage::Waiting,
            StageShape::Go => GangStage::Go,
            StageShape::Started => GangStage::Started,
        };
        Ok(GangRow { gang: name("gangs", &shape.gang)?, stage, losses: shape.losses })
    };
    read::<Vec<_>>("gangs", text)?.into_iter().map(row).collect()
}

// --- pinned versions --------------------------------------------------------------------------------

/// `{"load-staging":3}`: the workflow and its version.
pub fn pinned_text(pinned: &BTreeMap<Name, u32>) -> String {
    write(&pinned.iter().map(|(name, version)| (name.as_str(), *version)).collect::<BTreeMap<_, _>>())
}

/// Reads what [`pinned_text`] wrote.
pub fn pinned(text: &str) -> Result<BTreeMap<Name, u32>, Malformed> {
    let shape: BTreeMap<String, u32> = read("pinned versions", text)?;
    shape.into_iter().map(|(workflow, version)| Ok((name("pinned versions", &workflow)?, version))).collect()
}

// --- labels ------------------------------------------------------------------------------------------

/// `{"team":"data"}`
pub fn labels_text(labels: &Labels) -> String {
    write(&labels.iter().map(|(name, value)| (&**name, &**value)).collect::<BTreeMap<_, _>>())
}

/// Reads what [`labels_text`] wrote.
pub fn labels(text: &str) -> Result<Labels, Malformed> {
    let shape: BTreeMap<String, String> = read("labels", text)?;
    Ok(shape.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
}

// --- counts ------------------------------------------------------------------------------------------

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct CountsShape {
    #[serde(skip_serializing_if = "is_zero")]
    waiting: u64,
    #[serde(skip_serializing_if = "is_zero")]
    ready: u64,
    #[serde(skip_serializing_if = "is_zero")]
    running: u64,
    #[serde(skip_serializing_if = "is_zero")]
    backoff: u64,
    #[serde(skip_serializing_if = "is_zero")]
    held: u64,
    #[serde(skip_serializing_if = "is_zero")]
    success: u64,
    #[serde(skip_serializing_if = "is_zero")]
    failed: u64,
    #[serde(skip_serializing_if = "is_zero")]
    skipped: u64,
    #[serde(skip_serializing_if = "is_zero")]
    stopped: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// `{"success":3,"failed":1}`
pub fn counts_text(counts: &Counts) -> String {
    let Counts { waiting, ready, running, backoff, held, success, failed, skipped, stopped } = *counts;
    write(&CountsShape { waiting, ready, running, backoff, held, success, failed, skipped, stopped })
}

/// Reads what [`counts_text`] wrote.
pub fn counts(text: &str) -> Result<Counts, Malformed> {
    let shape: CountsShape = read("counts", text)?;
    let CountsShape { waiting, ready, running, backoff, held, success, failed, skipped, stopped } = shape;
    Ok(Counts { waiting, ready, running, backoff, held, success, failed, skipped, stopped })
}

/// A stored name.
pub fn name(field: &'static str, text: &str) -> Result<Name, Malformed> {
    Name::new(text).map_err(|error| Malformed::new(field, error))
}

// --- permits ----------------------------------------------------------------------------------------

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskShape {
    job: String,
    epoch: u64,
    counter: u64,
}

/// `{"job":"01ABCDEFGHJKM.3","epoch":7,"counter":12}`
pub fn ask_text(ask: &Ask) -> String {
    write(&AskShape { job: ask.job.to_string(), epoch: ask.epoch.0, counter: ask.counter })
}

/// Reads what [`ask_text`] wrote.
pub fn ask(text: &str) -> Result<Ask, Malformed> {
    let shape: AskShape = read("permit", text)?;
    Ok(Ask { job: parse("permit", &shape.job)?, epoch: Epoch(shape.epoch), counter: shape.counter })
}

// --- what became of a due time ----------------------------------------------------------------------

const SKIPS: &[(&str, SkipCause)] = &[
    ("overlap", SkipCause::Overlap),
    ("paused", SkipCause::Paused),
    ("disabled", SkipCause::Disabled),
    ("calendar", SkipCause::Calendar),
    ("missed", SkipCause::Missed),
];

/// `ran`, or the cause for which there is no run. The run has a field of its own.
pub const fn firing_word(outcome: Firing) -> &'static str {
    match outcome {
        Firing::Ran(_) => "ran",
        Firing::Skipped(SkipCause::Overlap) => "overlap",
        Firing::Skipped(SkipCause::Paused) => "paused",
        Firing::Skipped(SkipCause::Disabled) => "disabled",
        Firing::Skipped(SkipCause::Calendar) => "calendar",
        Firing::Skipped(SkipCause::Missed) => "missed",
    }
}

/// The outcome with that word, and that run.
pub fn firing(word: &str, run: Option<RunId>) -> Result<Firing, Malformed> {
    match (word, run) {
        ("ran", Some(run)) => Ok(Firing::Ran(run)),
        ("ran", None) => Err(Malformed::new("outcome", "it ran, and no run is named")),
        (word, _) => {
            let found = SKIPS.iter().find(|(known, _)| *known == word);
            let cause = found.map(|(_, cause)| *cause).ok_or_else(|| Malformed::word("outcome", word))?;
            Ok(Firing::Skipped(cause))
        }
    }
}

// --- which ends somebody wants to hear of -----------------------------------------------------------

/// `["success","failure"]`
pub fn ends_text(on: &[CompletionOn]) -> String {
    write(&on.iter().map(|on| on.as_str()).collect::<Vec<_>>())
}

/// Reads what [`ends_text`] wrote.
pub fn ends(text: &str) -> Result<Vec<CompletionOn>, Malformed> {
    read::<Vec<String>>("ends", text)?.iter().map(|word| parse("ends", word)).collect()
}

// --- the logical times of a backfill ----------------------------------------------------------------

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PlanShape {
    Times(Vec<i64>),
    Chain {
        times: Vec<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root: Option<String>,
        then: Vec<PartShape>,
    },
}

/// What a campaign does with one workflow.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartShape {
    workflow: String,
    times: Vec<i64>,
}

pub(super) fn stage_shape(stage: &Stage) -> PartShape {
    PartShape { workflow: stage.workflow.to_string(), times: numbers(&stage.times) }
}

pub(super) fn stage(field: &'static str, shape: PartShape) -> Result<Stage, Malformed> {
    Ok(Stage { workflow: name(field, &shape.workflow)?, times: walls(shape.times) })
}

fn numbers(times: &[Wall]) -> Vec<i64> {
    times.iter().map(|time| time.0).collect()
}

fn walls(times: Vec<i64>) -> Arc<[Wall]> {
    times.into_iter().map(Wall).collect()
}

/// `[1767225600000,1767312000000]`, or `{"times":[…],"then":[{"workflow":"report","times":[…]}]}` for a chain.
pub fn plan_text(times: &[Wall], chain: &Chain) -> String {
    let times = numbers(times);
    write(&match (chain.root, chain.then.is_empty()) {
        (None, true) => PlanShape::Times(times),
        (root, _) => PlanShape::Chain {
            times,
            root: root.map(|root| root.0.to_string()),
            then: chain.then.iter().map(stage_shape).collect(),
        },
    })
}

/// Reads what [`plan_text`] wrote.
pub fn plan(text: &str) -> Result<(Arc<[Wall]>, Arc<Chain>), Malformed> {
    Ok(match read("times", text)? {
        PlanShape::Times(times) => (walls(times), Arc::default()),
        PlanShape::Chain { times, root, then } => {
            let root = root.map(|root| parse("times", &root).map(BackfillId)).transpose()?;
            let then = then.into_iter().map(|shape| stage("times", shape)).collect::<Result<_, _>>()?;
            (walls(times), Arc::new(Chain { root, then }))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_as_they_were_promised_and_come_back() {
        let run: RunId = "01ABCDEFGHJKM".parse().unwrap();
        let job = "01ABCDEFGHJKM.3".parse().unwrap();
        for (row, text) in [
            (Trigger::Call, r#""call""#),
            (Trigger::Parent(job), r#"{"parent":{"job":"01ABCDEFGHJKM.3"}}"#),
            (Trigger::Rerun(run), r#"{"rerun":{"run":"01ABCDEFGHJKM"}}"#),
            (
                Trigger::Schedule("0 3 * * * UTC".into(), Wall(-5)),
                r#"{"schedule":{"schedule":"0 3 * * * UTC","due":-5}}"#,
            ),
            (Trigger::After(run), r#"{"after":{"run":"01ABCDEFGHJKM"}}"#),
            (Trigger::Backfill(BackfillId(run)), r#"{"backfill":{"backfill":"01ABCDEFGHJKM"}}"#),
        ] {
            assert_eq!((trigger_text(&row).as_str(), trigger(text)), (text, Ok(row)));
        }
        for (row, text) in [
            (Selection::All, r#""all""#),
            (Selection::From(TaskIndex(3)), r#"{"from":3}"#),
            (Selection::Only(TaskIndex(u32::MAX)), r#"{"only":4294967295}"#),
        ] {
            assert_eq!((selection_text(row).as_str(), selection(text)), (text, Ok(row)));
        }
        let expansion =
            |base, closed| Expansion { task: TaskIndex(2), base: JobNumber(base), count: 9, closed };
        let rows = vec![expansion(5, false), expansion(14, true)];
        let text = r#"[{"task":2,"base":5,"count":9},{"task":2,"base":14,"count":9,"closed":true}]"#;
        assert_eq!((expansions_text(&rows).as_str(), expansions(text)), (text, Ok(rows)));
        let gang = |stage, losses| GangRow { gang: Name::new("g").unwrap(), stage, losses };
        let rows =
            vec![gang(GangStage::Waiting, 0), gang(GangStage::Go, 1), gang(GangStage::Started, u32::MAX)];
        assert_eq!(gangs(&gangs_text(&rows)), Ok(rows));
        assert_eq!(gangs_text(&[gang(GangStage::Go, 1)]), r#"[{"gang":"g","stage":"go","losses":1}]"#);
        let rows = BTreeMap::from([(Name::new("load").unwrap(), 3)]);
        assert_eq!((pinned_text(&rows).as_str(), pinned(r#"{"load":3}"#)), (r#"{"load":3}"#, Ok(rows)));
        let row = Counts { success: 3, failed: 1, ..Counts::default() };
        let text = r#"{"success":3,"failed":1}"#;
        assert_eq!((counts_text(&row).as_str(), counts(text)), (text, Ok(row)));
        let rows = Labels::from([("team".into(), "data \"x\"".into())]);
        let text = r#"{"team":"data \"x\""}"#;
        assert_eq!((labels_text(&rows).as_str(), labels(text)), (text, Ok(rows)));
        let row = Ask { job, epoch: Epoch(u64::MAX), counter: 12 };
        let text = r#"{"job":"01ABCDEFGHJKM.3","epoch":18446744073709551615,"counter":12}"#;
        assert_eq!((ask_text(&row).as_str(), ask(text)), (text, Ok(row)));
        for (word, cause) in SKIPS {
            let row = Firing::Skipped(*cause);
            assert_eq!((firing_word(row), firing(word, None)), (*word, Ok(row)));
        }
        assert_eq!(firing(firing_word(Firing::Ran(run)), Some(run)), Ok(Firing::Ran(run)));
        let (rows, text) = (CompletionOn::ALL.to_vec(), r#"["success","failure","done"]"#);
        assert_eq!((ends_text(&rows).as_str(), ends(text)), (text, Ok(rows)));
        let rows: Arc<[Wall]> = Arc::new([Wall(i64::MIN), Wall(5)]);
        let text = "[-9223372036854775808,5]";
        let alone = Chain::default();
        assert_eq!(
            (plan_text(&rows, &alone).as_str(), plan(text)),
            (text, Ok((Arc::clone(&rows), Arc::default())))
        );
        let stage = Stage { workflow: Name::new("report").unwrap(), times: Arc::new([Wall(7)]) };
        let chain = Chain { root: Some(BackfillId(run)), then: vec![stage] };
        let text = r#"{"times":[-9223372036854775808,5],"root":"01ABCDEFGHJKM","then":[{"workflow":"report","times":[7]}]}"#;
        assert_eq!((plan_text(&rows, &chain).as_str(), plan(text)), (text, Ok((rows, Arc::new(chain)))));
    }

    #[test]
    fn what_is_damaged_is_said() {
        assert!(trigger("\"later\"").is_err() && trigger("{\"parent\":{\"job\":\"x\"}}").is_err());
        assert!(selection("").is_err() && expansions("[{}]").is_err() && ask("{}").is_err());
        assert!(pinned("{\"no name\":1}").is_err() && firing("ran", None).is_err());
        assert!(firing("sometimes", None).is_err());
        assert!(ends("[\"sometimes\"]").is_err() && plan("[1.5]").is_err());
        assert!(trigger("{\"after\":{\"run\":\"x\"}}").is_err());
    }
}
