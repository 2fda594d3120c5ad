//! Calls, as they are passed on.
//!
//! A call names the definitions and stored rows that it needs, and does not carry them: versions never change, and who
//! owns the shard reads them from the store that all masters share. What it reads is at least as new as what the first
//! master read.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_core::durable::Origin;
use windlass_core::rows::{BackfillId, Key, Stage};
use windlass_core::shard::backfill::{BackfillCommand, Range, StartBackfill};
use windlass_core::shard::input::{Call, Command, Control, CreateRun, Expected, PutWorkflow, RecoverFrom};
use windlass_core::shard::load::StoredRun;
use windlass_core::shard::view::{JobsWanted, TasksWanted};
use windlass_core::time::Wall;
use windlass_model::{JobNumber, Name, RunId, WorkerId};
use windlass_store::encoding::shapes as stored;
use windlass_store::resolve::Definitions as _;
use windlass_store::shards::LoadedRun;
use windlass_store::{Store, Unavailable};
use windlass_workflow::Definition;

use super::shapes::{
    Decoded, FORMAT, KeyShape, KnownShape, Undecodable, name, parse, read, some, task, values, values_text,
    write,
};
use crate::definitions::DefinitionCache;

/// Why a call that arrived cannot be handled.
#[derive(Debug, thiserror::Error)]
pub enum NotRead {
    /// It makes no sense.
    #[error(transparent)]
    Undecodable(#[from] Undecodable),
    /// What it names cannot be read now.
    #[error(transparent)]
    Store(#[from] Unavailable),
    /// What it names is not stored, or not to be read by this version.
    #[error("version {1:?} of workflow `{0}`, which it names, cannot be read")]
    NoDefinition(Name, Option<u32>),
    /// The run that it names cannot be read.
    #[error("run {0}, which it names, cannot be read")]
    NoRun(RunId),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CallShape {
    Create(Box<CreateShape>),
    Control {
        by: String,
        run: String,
        command: CommandShape,
        comment: Option<String>,
        with_stored: bool,
    },
    PutWorkflow {
        by: String,
        workflow: String,
        version: u32,
        expected: Option<ExpectedShape>,
        versions: BTreeMap<String, u32>,
    },
    EnableWorkflow {
        workflow: String,
        by: String,
        enabled: bool,
    },
    PauseSchedule {
        workflow: String,
        schedule: String,
        paused: bool,
    },
    DeleteWorkflow {
        workflow: String,
        expected: Option<ExpectedShape>,
    },
    SetPool {
        pool: String,
        limit: u32,
    },
    DeletePool {
        pool: String,
    },
    PlanBackfill(RangeShape),
    Backfill(Box<BackfillShape>),
    ControlBackfill {
        backfill: String,
        command: BackfillCommandShape,
    },
    Run {
        run: String,
    },
    Tasks {
        run: String,
        task: Option<String>,
        parts: u32,
    },
    Jobs {
        run: String,
        after: Option<u32>,
        limit: u64,
        task: Option<String>,
        state: Option<String>,
        #[serde(default)]
        rendered: bool,
    },
    Why {
        job: String,
    },
    Work,
    AttemptsOn {
        worker: u64,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct CreateShape {
    key: KeyShape,
    body: u64,
    known: Option<KnownShape>,
    workflow: String,
    version: Option<u32>,
    inline: Option<String>,
    pinned: BTreeMap<String, u32>,
    params: String,
    logical_time: i64,
    labels: Option<String>,
    run_at: Option<i64>,
    priority: Option<String>,
    selection: String,
    rerun_of: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CommandShape {
    Stop,
    Pause,
    Resume,
    Retry { job: u32 },
    ForceSuccess { job: u32 },
    Approve { job: u32, approved: bool },
    RecoverFailed,
    RecoverCurrent,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExpectedShape {
    Absent,
    Present,
    Version(u32),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BackfillCommandShape {
    Pause,
    Resume,
    Stop,
}

#[derive(Debug, Serialize, Deserialize)]
struct RangeShape {
    workflow: String,
    from: i64,
    to: i64,
    missing_only: bool,
    succeeded: Vec<(i64, String)>,
    #[serde(default)]
    upstream: BTreeMap<String, Vec<(i64, bool)>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct BackfillShape {
    key: KeyShape,
    body: u64,
    known: Option<String>,
    range: RangeShape,
    parallel: u32,
    params: String,
    priority: Option<String>,
    #[serde(default)]
    then: Vec<(String, Vec<i64>)>,
}

/// As it is sent.
pub fn encode(call: &Call) -> (u32, Vec<u8>) {
    (FORMAT, write(&shape(call)))
}

fn shape(call: &Call) -> CallShape {
    match call {
        Call::Create(create) => CallShape::Create(Box::new(create_shape(create))),
        Call::Control(control) => CallShape::Control {
            by: control.by.to_string(),
            run: control.run.to_string(),
            command: command_shape(control.command),
            comment: control.comment.as_deref().map(str::to_owned),
            with_stored: control.stored.is_some(),
        },
        Call::PutWorkflow(put) => CallShape::PutWorkflow {
            by: put.by.to_string(),
            workflow: put.definition.name.to_string(),
            version: put.version,
            expected: put.expected.map(Into::into),
            versions: by_name(&put.versions),
        },
        Call::EnableWorkflow(workflow, by, enabled) => CallShape::EnableWorkflow {
            workflow: workflow.to_string(),
            by: by.to_string(),
            enabled: *enabled,
        },
        Call::PauseSchedule(workflow, schedule, paused) => CallShape::PauseSchedule {
            workflow: workflow.to_string(),
            schedule: schedule.to_string(),
            paused: *paused,
        },
        Call::DeleteWorkflow(workflow, expected) => {
            CallShape::DeleteWorkflow { workflow: workflow.to_string(), expected: expected.map(Into::into) }
        }
        Call::SetPool(pool, limit) => CallShape::SetPool { pool: pool.to_string(), limit: *limit },
        Call::DeletePool(pool) => CallShape::DeletePool { pool: pool.to_string() },
        Call::PlanBackfill(range) => CallShape::PlanBackfill((&**range).into()),
        Call::Backfill(start) => CallShape::Backfill(Box::new(BackfillShape {
            key: (&start.key).into(),
            body: start.body,
            known: start.known.as_ref().map(|row| row.id.0.to_string()),
            range: (&start.range).into(),
            parallel: start.parallel,
            params: values_text(&start.params),
            priority: start.priority.map(|priority| priority.to_string()),
            then: start
                .then
                .iter()
                .map(|stage| (stage.workflow.to_string(), stage.times.iter().map(|time| time.0).collect()))
                .collect(),
        })),
        Call::ControlBackfill(BackfillId(id), command) => CallShape::ControlBackfill {
            backfill: id.to_string(),
            command: match command {
                BackfillCommand::Pause => BackfillCommandShape::Pause,
                BackfillCommand::Resume => BackfillCommandShape::Resume,
                BackfillCommand::Stop => BackfillCommandShape::Stop,
            },
        },
        Call::Run(run) => CallShape::Run { run: run.to_string() },
        Call::Tasks(run, wanted) => CallShape::Tasks {
            run: run.to_string(),
            task: wanted.task.as_ref().map(ToString::to_string),
            parts: wanted.parts,
        },
        Call::Jobs(run, wanted) => CallShape::Jobs {
            run: run.to_string(),
            after: wanted.after.map(|after| after.0),
            limit: wanted.limit as u64,
            task: wanted.task.as_ref().map(ToString::to_string),
            state: wanted.state.map(|state| state.to_string()),
            rendered: wanted.rendered,
        },
        Call::Why(job) => CallShape::Why { job: job.to_string() },
        Call::Work => CallShape::Work,
        Call::AttemptsOn(worker) => CallShape::AttemptsOn { worker: worker.0 },
    }
}

fn create_shape(create: &CreateRun) -> CreateShape {
    CreateShape {
        key: (&create.key).into(),
        body: create.body,
        known: create.known.as_ref().map(Into::into),
        workflow: create.definition.name.to_string(),
        version: create.version,
        inline: create.origin.inline.as_deref().map(str::to_owned),
        pinned: by_name(&create.origin.pinned),
        params: values_text(&create.params),
        logical_time: create.logical_time.0,
        labels: create.labels.as_deref().map(stored::labels_text),
        run_at: create.run_at.map(|at| at.0),
        priority: create.priority.map(|priority| priority.to_string()),
        selection: stored::selection_text(create.selection),
        rerun_of: create.rerun_of.map(|run| run.to_string()),
    }
}

fn command_shape(command: Command) -> CommandShape {
    match command {
        Command::Stop => CommandShape::Stop,
        Command::Pause => CommandShape::Pause,
        Command::Resume => CommandShape::Resume,
        Command::Retry(job) => CommandShape::Retry { job: job.0 },
        Command::ForceSuccess(job) => CommandShape::ForceSuccess { job: job.0 },
        Command::Approve(job, approved) => CommandShape::Approve { job: job.0, approved },
        Command::Recover(RecoverFrom::Failed) => CommandShape::RecoverFailed,
        Command::Recover(RecoverFrom::Current) => CommandShape::RecoverCurrent,
    }
}

impl CommandShape {
    fn command(&self) -> Command {
        match *self {
            CommandShape::Stop => Command::Stop,
            CommandShape::Pause => Command::Pause,
            CommandShape::Resume => Command::Resume,
            CommandShape::Retry { job } => Command::Retry(JobNumber(job)),
            CommandShape::ForceSuccess { job } => Command::ForceSuccess(JobNumber(job)),
            CommandShape::Approve { job, approved } => Command::Approve(JobNumber(job), approved),
            CommandShape::RecoverFailed => Command::Recover(RecoverFrom::Failed),
            CommandShape::RecoverCurrent => Command::Recover(RecoverFrom::Current),
        }
    }
}

impl From<Expected> for ExpectedShape {
    fn from(expected: Expected) -> ExpectedShape {
        match expected {
            Expected::Absent => ExpectedShape::Absent,
            Expected::Present => ExpectedShape::Present,
            Expected::Version(version) => ExpectedShape::Version(version),
        }
    }
}

impl From<ExpectedShape> for Expected {
    fn from(expected: ExpectedShape) -> Expected {
        match expected {
            ExpectedShape::Absent => Expected::Absent,
            ExpectedShape::Present => Expected::Present,
            ExpectedShape::Version(version) => Expected::Version(version),
        }
    }
}

impl From<&Range> for RangeShape {
    fn from(range: &Range) -> RangeShape {
        RangeShape {
            workflow: range.workflow.to_string(),
            from: range.from.0,
            to: range.to.0,
            missing_only: range.missing_only,
            succeeded: range.succeeded.iter().map(|(at, run)| (at.0, run.to_string())).collect(),
            upstream: range
                .upstream
                .iter()
                .map(|(workflow, times)| {
                    (workflow.to_string(), times.iter().map(|(time, again)| (time.0, *again)).collect())
                })
                .collect(),
        }
    }
}

impl RangeShape {
    fn range(self) -> Decoded<Range> {
        let succeeded = self.succeeded.iter().map(|(at, run)| Ok((Wall(*at), parse(run)?)));
        Ok(Range {
            workflow: name(&self.workflow)?,
            from: Wall(self.from),
            to: Wall(self.to),
            missing_only: self.missing_only,
            succeeded: succeeded.collect::<Decoded<_>>()?,
            upstream: self
                .upstream
                .into_iter()
                .map(|(workflow, times)| {
                    let times = times.into_iter().map(|(time, again)| (Wall(time), again)).collect();
                    Ok((name(&workflow)?, times))
                })
                .collect::<Decoded<_>>()?,
        })
    }
}

fn by_name(versions: &BTreeMap<Name, u32>) -> BTreeMap<String, u32> {
    versions.iter().map(|(name, version)| (name.to_string(), *version)).collect()
}

fn to_versions(versions: BTreeMap<String, u32>) -> Decoded<BTreeMap<Name, u32>> {
    versions.into_iter().map(|(workflow, version)| Ok((name(&workflow)?, version))).collect()
}

/// Reads calls that arrive, and what they name.
pub struct CallReader<S> {
    store: Arc<S>,
    definitions: Arc<DefinitionCache<S>>,
}

impl<S: Store> CallReader<S> {
    pub fn new(store: Arc<S>, definitions: Arc<DefinitionCache<S>>) -> CallReader<S> {
        CallReader { store, definitions }
    }

    /// What was sent.
    pub async fn decode(&self, format: u32, text: &[u8]) -> Result<Call, NotRead> {
        Ok(match read::<CallShape>(format, text)? {
            CallShape::Create(create) => Call::Create(Box::new(self.create(*create).await?)),
            CallShape::Control { by, run, command, comment, with_stored } => {
                let run: RunId = parse(&run)?;
                Call::Control(Control {
                    by: by.into(),
                    run,
                    command: command.command(),
                    comment: comment.map(Into::into),
                    stored: if with_stored { Some(Box::new(self.stored_run(run).await?)) } else { None },
                })
            }
            CallShape::PutWorkflow { by, workflow, version, expected, versions } => {
                let (workflow, versions) = (name(&workflow)?, to_versions(versions)?);
                Call::PutWorkflow(Box::new(PutWorkflow {
                    by: by.into(),
                    definition: self.definition(&workflow, version).await?,
                    version,
                    expected: expected.map(Into::into),
                    pinned: Arc::new(self.pinned(&versions).await?),
                    versions: Arc::new(versions),
                }))
            }
            CallShape::EnableWorkflow { workflow, by, enabled } => {
                Call::EnableWorkflow(name(&workflow)?, by.into(), enabled)
            }
            CallShape::PauseSchedule { workflow, schedule, paused } => {
                Call::PauseSchedule(name(&workflow)?, schedule.into(), paused)
            }
            CallShape::DeleteWorkflow { workflow, expected } => {
                Call::DeleteWorkflow(name(&workflow)?, expected.map(Into::into))
            }
            CallShape::SetPool { pool, limit } => Call::SetPool(name(&pool)?, limit),
            CallShape::DeletePool { pool } => Call::DeletePool(name(&pool)?),
            CallShape::PlanBackfill(range) => Call::PlanBackfill(Box::new(range.range()?)),
            CallShape::Backfill(start) => Call::Backfill(Box::new(self.backfill(*start).await?)),
            CallShape::ControlBackfill { backfill, command } => Call::ControlBackfill(
                BackfillId(parse(&backfill)?),
                match command {
                    BackfillCommandShape::Pause => BackfillCommand::Pause,
                    BackfillCommandShape::Resume => BackfillCommand::Resume,
                    BackfillCommandShape::Stop => BackfillCommand::Stop,
                },
            ),
            CallShape::Run { run } => Call::Run(parse(&run)?),
            CallShape::Tasks { run, task: of, parts } => {
                Call::Tasks(parse(&run)?, TasksWanted { task: some(of, |of| task(&of))?, parts })
            }
            CallShape::Jobs { run, after, limit, task: of, state, rendered } => Call::Jobs(
                parse(&run)?,
                JobsWanted {
                    after: after.map(JobNumber),
                    limit: usize::try_from(limit).unwrap_or(usize::MAX),
                    task: some(of, |of| task(&of))?,
                    state: some(state, |state| parse(&state))?,
                    rendered,
                },
            ),
            CallShape::Why { job } => Call::Why(parse(&job)?),
            CallShape::Work => Call::Work,
            CallShape::AttemptsOn { worker } => Call::AttemptsOn(WorkerId(worker)),
        })
    }

    async fn create(&self, create: CreateShape) -> Result<CreateRun, NotRead> {
        let workflow = name(&create.workflow)?;
        let definition = match (create.version, &create.inline) {
            (Some(version), _) => self.definition(&workflow, version).await?,
            (None, Some(text)) => {
                let known = self.definitions.all(Default::default()).await?;
                known.inline(text).ok_or_else(|| NotRead::NoDefinition(workflow, None))?
            }
            (None, None) => return Err(NotRead::NoDefinition(workflow, None)),
        };
        let key: Key = create.key.into();
        let versions = to_versions(create.pinned)?;
        Ok(CreateRun {
            body: create.body,
            known: some(create.known, |known| known.row(key.clone()))?,
            key,
            definition,
            version: create.version,
            pinned: Arc::new(self.pinned(&versions).await?),
            origin: Arc::new(Origin { inline: create.inline.map(Into::into), pinned: versions }),
            params: values(&create.params)?,
            logical_time: Wall(create.logical_time),
            labels: some(create.labels, |labels| {
                stored::labels(&labels).map(Arc::new).map_err(Undecodable::of)
            })?,
            run_at: create.run_at.map(Wall),
            priority: some(create.priority, |priority| parse(&priority))?,
            selection: stored::selection(&create.selection).map_err(Undecodable::of)?,
            rerun_of: some(create.rerun_of, |run| parse(&run))?,
        })
    }

    async fn backfill(&self, start: BackfillShape) -> Result<StartBackfill, NotRead> {
        let known = match some(start.known, |id| parse(&id))? {
            Some(id) => self.store.backfill(BackfillId(id)).await?,
            None => None,
        };
        Ok(StartBackfill {
            key: start.key.into(),
            body: start.body,
            known,
            range: start.range.range()?,
            parallel: start.parallel,
            params: values(&start.params)?,
            priority: some(start.priority, |priority| parse(&priority))?,
            then: start
                .then
                .into_iter()
                .map(|(workflow, times)| {
                    Ok(Stage { workflow: name(&workflow)?, times: times.into_iter().map(Wall).collect() })
                })
                .collect::<Decoded<_>>()?,
        })
    }

    async fn definition(&self, workflow: &Name, version: u32) -> Result<Arc<Definition>, NotRead> {
        let found = self.definitions.version(workflow, version).await?;
        found.ok_or_else(|| NotRead::NoDefinition(workflow.clone(), Some(version)))
    }

    async fn pinned(
        &self,
        versions: &BTreeMap<Name, u32>,
    ) -> Result<BTreeMap<Name, Arc<Definition>>, NotRead> {
        let mut pinned = BTreeMap::new();
        for (workflow, version) in versions {
            pinned.insert(workflow.clone(), self.definition(workflow, *version).await?);
        }
        Ok(pinned)
    }

    async fn stored_run(&self, run: RunId) -> Result<StoredRun, NotRead> {
        let found = self.store.run(run).await?.ok_or(NotRead::NoRun(run))?;
        let jobs = self.store.jobs(run, None, usize::MAX).await?;
        let attempts = self.store.attempts(run, None, usize::MAX).await?;
        let loaded = LoadedRun { row: found.row, origin: found.origin, jobs, attempts };
        let known = self.definitions.all(loaded.versions().collect()).await?;
        loaded.resolve(&known).map_err(|_| NotRead::NoRun(run))
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::rows::{KeyRow, Selection};
    use windlass_model::{JobId, JobState, Priority, ShardCount, TaskId};
    use windlass_store::memory::MemoryStore;
    use windlass_store::opening::StoreId;
    use windlass_store::versions::NewVersion;
    use windlass_workflow::definition::TaskIndex;
    use windlass_workflow::expr::Value;
    use windlass_workflow::version::ContentHash;

    use super::*;

    const TEXT: &str = "name: nightly\ntasks: {a: {type: noop}, b: {type: noop, depends_on: [a]}}";

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn run() -> RunId {
        "01ABCDEFGHJKM".parse().unwrap()
    }

    /// A store that has one version of a workflow, and a reader of it.
    async fn reader() -> (CallReader<MemoryStore>, Arc<Definition>) {
        let store = Arc::new(MemoryStore::new(StoreId(1), ShardCount::DEFAULT));
        let definition = windlass_workflow::from_text(TEXT.as_bytes()).unwrap().definition;
        let new = NewVersion {
            workflow: definition.name.clone(),
            hash: ContentHash::of(&definition),
            source: TEXT.into(),
            created_by: "me".into(),
            created_at: Wall(1),
        };
        assert_eq!(store.put_version(&new).await.unwrap(), 1);
        let definitions = Arc::new(DefinitionCache::new(Arc::clone(&store)));
        (CallReader::new(store, definitions), definition)
    }

    fn create(definition: &Arc<Definition>, version: Option<u32>) -> CreateRun {
        let key = Key { principal: "me".into(), key: "k\"1".into() };
        let pinned = BTreeMap::from([(definition.name.clone(), 1)]);
        CreateRun {
            known: Some(KeyRow { key: key.clone(), body: 9, run: run(), at: Wall(-3) }),
            key,
            body: u64::MAX,
            definition: Arc::clone(definition),
            version,
            pinned: Arc::new(BTreeMap::from([(definition.name.clone(), Arc::clone(definition))])),
            origin: Arc::new(Origin { inline: version.is_none().then(|| TEXT.into()), pinned }),
            params: Arc::new(BTreeMap::from([(Arc::from("x"), Value::Float(1.0))])),
            logical_time: Wall(5),
            labels: Some(Arc::new(BTreeMap::from([("team".into(), "data".into())]))),
            run_at: Some(Wall(7)),
            priority: Some(Priority::Low),
            selection: Selection::Only(TaskIndex(1)),
            rerun_of: Some(run()),
        }
    }

    #[tokio::test]
    async fn every_call_arrives_as_it_was_sent() {
        let (reader, definition) = reader().await;
        let range = Range {
            workflow: name("nightly"),
            from: Wall(1),
            to: Wall(2),
            missing_only: true,
            succeeded: BTreeMap::from([(Wall(1), run())]),
            upstream: BTreeMap::from([(name("other"), BTreeMap::from([(Wall(1), true), (Wall(2), false)]))]),
        };
        let control = |command| {
            let comment = Some("go".into());
            Call::Control(Control { by: "me".into(), run: run(), command, comment, stored: None })
        };
        let commands = [
            Command::Stop,
            Command::Pause,
            Command::Resume,
            Command::Retry(JobNumber(1)),
            Command::ForceSuccess(JobNumber(2)),
            Command::Approve(JobNumber(3), true),
            Command::Recover(RecoverFrom::Failed),
            Command::Recover(RecoverFrom::Current),
        ];
        let mut calls: Vec<_> = commands.map(control).into();
        for expected in [None, Some(Expected::Absent), Some(Expected::Present), Some(Expected::Version(3))] {
            calls.push(Call::DeleteWorkflow(name("nightly"), expected));
            calls.push(Call::PutWorkflow(Box::new(PutWorkflow {
                by: "me".into(),
                definition: Arc::clone(&definition),
                version: 1,
                expected,
                pinned: Arc::default(),
                versions: Arc::default(),
            })));
        }
        for command in [BackfillCommand::Pause, BackfillCommand::Resume, BackfillCommand::Stop] {
            calls.push(Call::ControlBackfill(BackfillId(run()), command));
        }
        let wanted = JobsWanted {
            after: Some(JobNumber(4)),
            limit: 1000,
            task: Some(TaskId::new("a").unwrap()),
            state: Some(JobState::Held),
            rendered: true,
        };
        calls.extend([
            Call::Create(Box::new(create(&definition, Some(1)))),
            Call::Create(Box::new(create(&definition, None))),
            Call::EnableWorkflow(name("w"), "me".into(), true),
            Call::PauseSchedule(name("w"), "0 3 * * *".into(), false),
            Call::SetPool(name("p"), 7),
            Call::DeletePool(name("p")),
            Call::PlanBackfill(Box::new(range.clone())),
            Call::Backfill(Box::new(StartBackfill {
                key: Key { principal: "me".into(), key: "k".into() },
                body: 1,
                known: None,
                range,
                parallel: 3,
                params: Arc::default(),
                priority: None,
                then: vec![Stage { workflow: name("after"), times: Arc::new([Wall(3)]) }],
            })),
            Call::Run(run()),
            Call::Tasks(run(), TasksWanted { task: wanted.task.clone(), parts: 600 }),
            Call::Tasks(run(), TasksWanted::default()),
            Call::Jobs(run(), wanted),
            Call::Jobs(run(), JobsWanted::default()),
            Call::Why(JobId { run: run(), number: JobNumber(2) }),
            Call::Work,
            Call::AttemptsOn(WorkerId(u64::MAX)),
        ]);
        for call in calls {
            let (format, text) = encode(&call);
            let back = reader.decode(format, &text).await.unwrap();
            assert_eq!(format!("{back:?}"), format!("{call:?}"));
        }
    }

    #[tokio::test]
    async fn what_names_something_that_is_not_there_is_refused() {
        let (reader, definition) = reader().await;
        let (format, text) = encode(&Call::Create(Box::new(create(&definition, Some(2)))));
        let refused = reader.decode(format, &text).await.unwrap_err();
        assert!(matches!(refused, NotRead::NoDefinition(_, Some(2))), "{refused}");
        let refused = reader.decode(format + 1, &text).await.unwrap_err();
        assert!(matches!(refused, NotRead::Undecodable(Undecodable::Format(_))), "{refused}");
        let text = br#"{"control":{"by":"me","run":"01ABCDEFGHJKM","command":"recover_failed","comment":null,"with_stored":true}}"#;
        let refused = reader.decode(format, text).await.unwrap_err();
        assert!(matches!(refused, NotRead::NoRun(_)), "{refused}");
        for cut in 0..text.len() {
            assert!(reader.decode(format, &text[..cut]).await.is_err());
        }
    }
}
