//! What people want, as calls to shards: what a call needs of the store is read here first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use windlass_core::durable::Origin;
use windlass_core::rows::{Key, Labels, RunRow, Selection, Trigger, Values};
use windlass_core::run;
use windlass_core::shard::input::{
    Answer, Call, Command, Control, CreateRun, Expected, PutWorkflow, Refusal,
};
use windlass_core::shard::load::StoredRun;
use windlass_core::shard::view::{
    AttemptView, Counts, JobView, JobsWanted, RunView, Stored, TaskView, TasksWanted, Work,
};
use windlass_core::shard::why::Reason;
use windlass_core::time::Wall;
use windlass_model::{JobId, Name, Priority, RunId, ShardId, TaskId, WorkerId};
use windlass_store::content::Reject;
use windlass_store::pins::{PinError, Pinning, Pins};
use windlass_store::shards::LoadedRun;
use windlass_store::versions::{NewVersion, PutVersionError};
use windlass_store::{Store, Unavailable};
use windlass_workflow::Definition;
use windlass_workflow::definition::TaskIndex;
use windlass_workflow::version::ContentHash;

use crate::Handle;
use crate::handle::CallError;
use crate::random;

/// A wanted run.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Who wants it.
    pub by: Arc<str>,
    /// What makes the call unique; random if the caller gave none.
    pub key: Option<Arc<str>>,
    /// A digest of what the caller asked for, so that the key is not used for something else.
    pub body: u64,
    /// What shall run.
    pub what: What,
    /// What it is given.
    pub params: Values,
    /// The time it is about; now if not told.
    pub logical_time: Option<Wall>,
    /// What it is marked with.
    pub labels: Labels,
    /// Nothing of it begins before this.
    pub run_at: Option<Wall>,
    /// How urgent it is, if not as its workflow says.
    pub priority: Option<Priority>,
    /// Only this task and those after it.
    pub from_task: Option<TaskId>,
    /// Only this task.
    pub only_task: Option<TaskId>,
}

/// What shall run.
#[derive(Clone, Debug)]
pub enum What {
    /// The newest version of a stored workflow.
    Workflow(Name),
    /// A definition that came with the call, and its text.
    Inline(Arc<Definition>, Arc<str>),
}

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum WishError {
    /// There is no such workflow.
    #[error("there is no workflow `{0}`")]
    NoSuchWorkflow(Name),
    /// There is no such task.
    #[error("workflow `{workflow}` has no task `{task}`")]
    NoSuchTask {
        /// The workflow.
        workflow: Name,
        /// The task.
        task: TaskId,
        /// The tasks that it has.
        known: Vec<TaskId>,
    },
    /// There is no such run.
    #[error("there is no run {0}")]
    NoSuchRun(RunId),
    /// What is stored of the run cannot be read.
    #[error("what is stored of run {run} cannot be read: {why}")]
    Unreadable {
        /// Which run.
        run: RunId,
        /// What is wrong.
        why: String,
    },
    /// Workflows need runs of each other, so none of them can come first.
    #[error("workflows need runs of each other in a circle: {}", .0.iter().map(Name::as_str).collect::<Vec<_>>().join(", "))]
    DependantsInACircle(Vec<Name>),
    /// More workflows than one campaign may have.
    #[error("more than {0} workflows need its runs")]
    TooManyDependants(usize),
    /// What it calls cannot be called.
    #[error(transparent)]
    Pins(#[from] PinError),
    /// The store cannot hold it.
    #[error("it cannot be stored")]
    Content(#[source] Reject),
    /// The shard has refused it.
    #[error(transparent)]
    Refused(Refusal),
    /// Nobody has answered.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The store has not answered.
    #[error(transparent)]
    Store(#[from] Unavailable),
}

impl<S: Store + 'static> Handle<S> {
    /// The shard that is the home of a workflow.
    pub fn home(&self, workflow: &Name) -> ShardId {
        self.shards().home("workflow", workflow.as_str())
    }

    /// Creates a run, or finds the one that an earlier call with the same key created. Says whether it is the latter
    /// only through its id.
    pub async fn create_run(&self, wanted: NewRun, wait: Duration) -> Result<RunId, WishError> {
        let (version, definition, inline) = match wanted.what {
            What::Workflow(name) => {
                let newest = self.newest(&name).await?;
                let (version, definition) = newest.ok_or(WishError::NoSuchWorkflow(name))?;
                (Some(version), definition, None)
            }
            What::Inline(definition, text) => (None, definition, Some(text)),
        };
        let selection = selection(&definition, wanted.from_task, wanted.only_task)?;
        let given = wanted.key.is_some();
        let key: Arc<str> = wanted.key.unwrap_or_else(|| format!("{:016x}", random::number()).into());
        let shard = match version {
            Some(_) => self.home(&definition.name),
            None => self.shards().home("key", &key),
        };
        let key = Key { principal: wanted.by, key };
        // Nobody can have used a key that was made just now.
        let known = if given { self.store().key(shard, &key).await? } else { None };
        let pins = self.pins(&definition).await?;
        let create = CreateRun {
            key,
            body: wanted.body,
            known,
            version,
            pinned: Arc::new(pins.definitions),
            origin: Arc::new(Origin { inline, pinned: pins.versions }),
            params: Arc::new(wanted.params),
            logical_time: wanted.logical_time.unwrap_or(self.now().wall),
            labels: Some(wanted.labels).filter(|labels| !labels.is_empty()).map(Arc::new),
            run_at: wanted.run_at,
            priority: wanted.priority,
            selection,
            rerun_of: None,
            definition,
        };
        self.created(shard, create, wait).await
    }

    /// Runs what a run has run once more, with what it was given.
    pub async fn rerun(
        &self,
        run: RunId,
        by: Arc<str>,
        key: Option<Arc<str>>,
        wait: Duration,
    ) -> Result<RunId, WishError> {
        let found = self.store().run(run).await?.ok_or(WishError::NoSuchRun(run))?;
        let stored = self.stored_run(LoadedRun {
            row: found.row,
            origin: Arc::clone(&found.origin),
            jobs: Vec::new(),
            attempts: Vec::new(),
        });
        let StoredRun { row, definition, pinned, .. } = stored.await?;
        let key: Arc<str> = key.unwrap_or_else(|| format!("{:016x}", random::number()).into());
        let key = Key { principal: by, key };
        let known = self.store().key(run.shard(), &key).await?;
        let create = CreateRun {
            key,
            body: run.to_u64(),
            known,
            version: row.version,
            pinned,
            origin: found.origin,
            params: row.params,
            logical_time: row.logical_time,
            labels: row.labels,
            run_at: None,
            priority: Some(row.priority),
            selection: row.selection,
            rerun_of: Some(run),
            definition,
        };
        self.created(run.shard(), create, wait).await
    }

    async fn created(&self, shard: ShardId, create: CreateRun, wait: Duration) -> Result<RunId, WishError> {
        let mut again = create.clone();
        let answer = match self.call(shard, Call::Create(Box::new(create)), wait).await {
            // The key was used after it was looked for, by a run that was over, and forgotten by its shard, before this call
            // was dealt with: the shard moved in between. Now it is found.
            Err(CallError::Rejected(why)) if again.known.is_none() => {
                again.known = self.store().key(shard, &again.key).await?;
                if again.known.is_none() {
                    return Err(CallError::Rejected(why).into());
                }
                self.call(shard, Call::Create(Box::new(again)), wait).await?
            }
            answered => answered?,
        };
        match answer {
            Answer::Created(run) => Ok(run),
            answer => Err(unexpected(answer)),
        }
    }

    /// Does something with a run; says where the run is now.
    pub async fn control(
        &self,
        run: RunId,
        by: Arc<str>,
        command: Command,
        comment: Option<Arc<str>>,
        wait: Duration,
    ) -> Result<run::State, WishError> {
        let reopens = matches!(command, Command::Retry(_) | Command::ForceSuccess(_) | Command::Recover(_));
        let found = self.store().run(run).await?.ok_or(WishError::NoSuchRun(run))?;
        let stored = match found.row.state {
            run::State::Ended(_) if reopens => Some(Box::new(self.whole_run(run).await?)),
            _ => None,
        };
        let control = Control { by, run, command, comment, stored };
        match self.call(run.shard(), Call::Control(control), wait).await? {
            Answer::Accepted(state) => Ok(state),
            // It has ended since it was read.
            Answer::Refused(Refusal::NoSuchRun) if reopens && found.row.finished_at.is_none() => {
                Err(WishError::Call(CallError::Unavailable))
            }
            Answer::Refused(Refusal::NoSuchRun) => Err(WishError::Refused(Refusal::Run(run::Refused::Over))),
            answer => Err(unexpected(answer)),
        }
    }

    /// Stores a definition as a version of its workflow, and makes it the one that new runs get. Says its number.
    pub async fn put_workflow(
        &self,
        definition: Arc<Definition>,
        source: Arc<str>,
        by: Arc<str>,
        expected: Option<Expected>,
        wait: Duration,
    ) -> Result<u32, WishError> {
        let pins = self.pins(&definition).await?;
        let new = NewVersion {
            workflow: definition.name.clone(),
            hash: ContentHash::of(&definition),
            source,
            created_by: Arc::clone(&by),
            created_at: self.now().wall,
        };
        let version = self.store().put_version(&new).await.map_err(|error| match error {
            PutVersionError::Rejected { why, .. } => WishError::Content(why),
            PutVersionError::Unavailable(error) => WishError::Store(error),
            // Putting it again is harmless.
            PutVersionError::Unknown(_) => WishError::Call(CallError::Unknown),
        })?;
        let home = self.home(&definition.name);
        let put = PutWorkflow {
            by,
            definition,
            version,
            expected,
            pinned: Arc::new(pins.definitions),
            versions: Arc::new(pins.versions),
        };
        self.done(home, Call::PutWorkflow(Box::new(put)), wait).await?;
        Ok(version)
    }

    /// A call that is either done or refused.
    pub async fn done(&self, shard: ShardId, call: Call, wait: Duration) -> Result<(), WishError> {
        match self.call(shard, call, wait).await? {
            Answer::Done => Ok(()),
            answer => Err(unexpected(answer)),
        }
    }

    /// A run as it is now, open or over; `None` if there is none.
    pub async fn run(&self, run: RunId, wait: Duration) -> Result<Option<RunView>, WishError> {
        if let Answer::Run(Some(view)) = self.call(run.shard(), Call::Run(run), wait).await? {
            return Ok(Some(*view));
        }
        let Some(found) = self.store().run(run).await? else { return Ok(None) };
        let counts = match &found.row.counts {
            Some(counts) => **counts,
            None => self.stored_counts(run).await?,
        };
        Ok(Some(RunView { row: found.row, counts }))
    }

    /// How many jobs of a run are where, as far as that is stored: all there is to know of one that is over.
    pub async fn stored_counts(&self, run: RunId) -> Result<Counts, WishError> {
        Ok(Stored::of(self.now(), self.whole_run(run).await?).counts())
    }

    /// What a run runs; `None` if there is no such run, or it cannot be read.
    pub async fn definition_of(&self, run: RunId) -> Result<Option<Arc<Definition>>, WishError> {
        let Some(found) = self.store().run(run).await? else { return Ok(None) };
        let row = found.row;
        match row.version {
            Some(version) => Ok(self.definition(&row.workflow, version).await?),
            None => {
                let loaded = LoadedRun { row, origin: found.origin, jobs: Vec::new(), attempts: Vec::new() };
                Ok(Some(self.stored_run(loaded).await?.definition))
            }
        }
    }

    /// How the tasks of a run stand, open or over; `None` if there is no such run.
    pub async fn tasks(
        &self,
        run: RunId,
        wanted: TasksWanted,
        wait: Duration,
    ) -> Result<Option<Vec<TaskView>>, WishError> {
        let call = Call::Tasks(run, wanted.clone());
        if let Answer::Tasks(Some(tasks)) = self.call(run.shard(), call, wait).await? {
            return Ok(Some(tasks));
        }
        Ok(self.stored_view(run).await?.map(|stored| stored.tasks(&wanted)))
    }

    /// Jobs of a run, open or over; `None` if there is none.
    pub async fn jobs(
        &self,
        run: RunId,
        wanted: JobsWanted,
        wait: Duration,
    ) -> Result<Option<Vec<JobView>>, WishError> {
        let call = Call::Jobs(run, wanted.clone());
        if let Answer::Jobs(Some(jobs)) = self.call(run.shard(), call, wait).await? {
            return Ok(Some(jobs));
        }
        Ok(self.stored_view(run).await?.map(|stored| stored.jobs(&wanted)))
    }

    /// A run as it is stored; `None` if there is none.
    async fn stored_view(&self, run: RunId) -> Result<Option<Stored>, WishError> {
        match self.store().run(run).await? {
            Some(_) => Ok(Some(Stored::of(self.now(), self.whole_run(run).await?))),
            None => Ok(None),
        }
    }

    /// Why a job does not run; `None` if it is not open.
    pub async fn why(&self, job: JobId, wait: Duration) -> Result<Option<Vec<Reason>>, WishError> {
        match self.call(job.run.shard(), Call::Why(job), wait).await? {
            Answer::Why(why) => Ok(why),
            answer => Err(unexpected(answer)),
        }
    }

    /// Asks every shard the same, whoever owns it. Those that do not answer in time are left out.
    async fn each_shard<T: Send + 'static>(
        &self,
        what: Call,
        wait: Duration,
        read: fn(Answer) -> Option<T>,
    ) -> BTreeMap<ShardId, T> {
        let mut asked = JoinSet::new();
        for shard in self.shards().shards() {
            let (handle, what) = (self.clone(), what.clone());
            asked.spawn(async move { Some((shard, read(handle.call(shard, what, wait).await.ok()?)?)) });
        }
        let mut answers = BTreeMap::new();
        while let Some(answer) = asked.join_next().await {
            answers.extend(answer.ok().flatten());
        }
        answers
    }

    /// How much work is not over, by shard.
    pub async fn work(&self, wait: Duration) -> BTreeMap<ShardId, Work> {
        let read = |answer| match answer {
            Answer::Work(work) => Some(work),
            _ => None,
        };
        self.each_shard(Call::Work, wait, read).await
    }

    /// What a worker has, in the order of shards and runs.
    pub async fn attempts_on(&self, worker: WorkerId, wait: Duration) -> Vec<AttemptView> {
        let read = |answer| match answer {
            Answer::Attempts(attempts) => Some(attempts),
            _ => None,
        };
        let found = self.each_shard(Call::AttemptsOn(worker), wait, read).await;
        found.into_values().flatten().collect()
    }

    /// A version of a workflow that was read before, or is read now.
    pub async fn definition(
        &self,
        workflow: &Name,
        version: u32,
    ) -> Result<Option<Arc<Definition>>, Unavailable> {
        self.inner().definitions.version(workflow, version).await
    }

    /// The definition that the text of a submission means, read if no open run has it.
    pub fn inline<E>(
        &self,
        source: &str,
        read: impl FnOnce() -> Result<Arc<Definition>, E>,
    ) -> Result<Arc<Definition>, E> {
        self.inner().definitions.inline().get(source, read)
    }

    /// The version of a workflow that new runs get, and its number.
    pub async fn newest(&self, workflow: &Name) -> Result<Option<(u32, Arc<Definition>)>, Unavailable> {
        self.inner().definitions.newest(workflow).await
    }

    /// Everything that is stored of a run.
    async fn whole_run(&self, run: RunId) -> Result<StoredRun, WishError> {
        let found = self.store().run(run).await?.ok_or(WishError::NoSuchRun(run))?;
        let jobs = self.store().jobs(run, None, usize::MAX).await?;
        let attempts = self.store().attempts(run, None, usize::MAX).await?;
        self.stored_run(LoadedRun { row: found.row, origin: found.origin, jobs, attempts }).await
    }

    async fn stored_run(&self, loaded: LoadedRun) -> Result<StoredRun, WishError> {
        let run = loaded.row.id;
        let known = self.inner().definitions.all(loaded.versions().collect()).await?;
        loaded.resolve(&known).map_err(|record| WishError::Unreadable { run, why: record.why })
    }

    /// Every workflow that a definition calls, in its newest version.
    async fn pins(&self, definition: &Arc<Definition>) -> Result<Pins, WishError> {
        let mut pinning = Pinning::of(definition);
        loop {
            let wanted = pinning.wanted();
            if wanted.is_empty() {
                return Ok(pinning.finish()?);
            }
            for name in wanted {
                let newest = self.newest(&name).await?;
                pinning.found(&name, newest)?;
            }
        }
    }
}

fn selection(
    definition: &Definition,
    from: Option<TaskId>,
    only: Option<TaskId>,
) -> Result<Selection, WishError> {
    let find = |task: TaskId| {
        let place = definition.tasks.iter().position(|known| known.id == task);
        place.map(|place| TaskIndex(place as u32)).ok_or_else(|| WishError::NoSuchTask {
            workflow: definition.name.clone(),
            task,
            known: definition.tasks.iter().map(|task| task.id.clone()).collect(),
        })
    };
    Ok(match (from, only) {
        (None, None) => Selection::All,
        (_, Some(only)) => Selection::Only(find(only)?),
        (Some(from), None) => Selection::From(find(from)?),
    })
}

/// A refusal, or an answer to another question, which no shard gives.
pub(crate) fn unexpected(answer: Answer) -> WishError {
    match answer {
        Answer::Refused(refusal) => WishError::Refused(refusal),
        _ => WishError::Call(CallError::Unknown),
    }
}

/// A run that nobody else shows: of a sub-workflow.
pub fn is_child(row: &RunRow) -> bool {
    matches!(row.trigger, Trigger::Parent(_))
}

/// Values by name, as they came in JSON.
pub fn values(json: &BTreeMap<String, serde_json::Value>) -> Values {
    let value = windlass_workflow::expr::Value::from_json;
    json.iter().map(|(name, json)| (name.as_str().into(), value(json))).collect()
}
