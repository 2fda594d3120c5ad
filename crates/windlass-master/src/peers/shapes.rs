//! Parts that calls, answers and inputs have in common, as they are sent.
//!
//! A sent shape is a promise to other versions of Windlass, so each of the core's types has a mirror here. What is
//! stored in the same way is written in the same way: see `windlass_store::encoding`. A moment of a process's own clock
//! means nothing to another process; it is sent as how far away it is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_core::order::OrderKey;
use windlass_core::rows::{Key, KeyRow, OutboxId, Stamp, Values};
use windlass_core::shard::dependents;
use windlass_core::shard::pools::{Ask, PoolStanding};
use windlass_core::time::{Mono, Wall};
use windlass_core::{job, run};
use windlass_model::{Duration, Epoch, JobId, Name, ShardId, TaskId};
use windlass_store::encoding::{states, values};

/// A message that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// Written in a way that this version does not know.
    #[error("format {0} is not known")]
    Format(u32),
    /// Not what it should be.
    #[error("{0}")]
    Malformed(String),
}

impl Undecodable {
    pub fn of(error: impl std::fmt::Display) -> Undecodable {
        Undecodable::Malformed(error.to_string())
    }
}

pub type Decoded<T> = Result<T, Undecodable>;

/// The version of these shapes that is written, and the only one that is read.
pub const FORMAT: u32 = 1;

pub fn write(shape: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(shape).expect("shapes have text keys and finite numbers only")
}

pub fn read<'a, T: Deserialize<'a>>(format: u32, text: &'a [u8]) -> Decoded<T> {
    if format != FORMAT {
        return Err(Undecodable::Format(format));
    }
    serde_json::from_slice(text).map_err(Undecodable::of)
}

pub fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Decoded<T> {
    text.parse().map_err(Undecodable::of)
}

pub fn some<T, U>(value: Option<T>, read: impl FnOnce(T) -> Decoded<U>) -> Decoded<Option<U>> {
    value.map(read).transpose()
}

pub fn name(text: &str) -> Decoded<Name> {
    Name::new(text).map_err(Undecodable::of)
}

pub fn task(text: &str) -> Decoded<TaskId> {
    TaskId::new(text).map_err(Undecodable::of)
}

pub fn shard(number: u32) -> Decoded<ShardId> {
    let shard = u16::try_from(number).ok().and_then(ShardId::new);
    shard.ok_or_else(|| Undecodable::Malformed(format!("{number} is no shard")))
}

/// Values, as they are stored.
pub fn values_text(values: &Values) -> String {
    values::to_text(values)
}

pub fn values(text: &str) -> Decoded<Arc<Values>> {
    values::from_text("values", text).map(Arc::new).map_err(Undecodable::of)
}

/// How far away a moment that comes is.
pub fn left(now: Mono, until: Mono) -> u64 {
    until.since(now).as_millis()
}

pub fn until(now: Mono, left: u64) -> Mono {
    now.after(Duration::from_millis(left))
}

/// How long ago a moment was.
pub fn ago(now: Mono, then: Mono) -> u64 {
    now.since(then).as_millis()
}

pub fn then(now: Mono, ago: u64) -> Mono {
    Mono(now.0.saturating_sub(ago))
}

pub fn run_state(word: &str) -> Decoded<run::State> {
    states::run_state(word).map_err(Undecodable::of)
}

pub fn run_end_word(end: run::End) -> String {
    states::run_word(run::State::Ended(end)).to_owned()
}

pub fn run_end(word: &str) -> Decoded<run::End> {
    match run_state(word)? {
        run::State::Ended(end) => Ok(end),
        _ => Err(Undecodable::Malformed(format!("`{word}` is no end of a run"))),
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEndShape {
    Success,
    Failed,
    Skipped { by_failure: bool },
    Stopped,
}

impl From<job::End> for JobEndShape {
    fn from(end: job::End) -> JobEndShape {
        match end {
            job::End::Success => JobEndShape::Success,
            job::End::Failed => JobEndShape::Failed,
            job::End::Skipped { by_failure } => JobEndShape::Skipped { by_failure },
            job::End::Stopped => JobEndShape::Stopped,
        }
    }
}

impl From<JobEndShape> for job::End {
    fn from(end: JobEndShape) -> job::End {
        match end {
            JobEndShape::Success => job::End::Success,
            JobEndShape::Failed => job::End::Failed,
            JobEndShape::Skipped { by_failure } => job::End::Skipped { by_failure },
            JobEndShape::Stopped => job::End::Stopped,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct KeyShape {
    pub principal: String,
    pub key: String,
}

impl From<&Key> for KeyShape {
    fn from(key: &Key) -> KeyShape {
        KeyShape { principal: key.principal.to_string(), key: key.key.to_string() }
    }
}

impl From<KeyShape> for Key {
    fn from(key: KeyShape) -> Key {
        Key { principal: key.principal.into(), key: key.key.into() }
    }
}

/// What is stored of a key; which one it is, is known.
#[derive(Debug, Serialize, Deserialize)]
pub struct KnownShape {
    pub body: u64,
    pub run: String,
    pub at: i64,
}

impl From<&KeyRow> for KnownShape {
    fn from(row: &KeyRow) -> KnownShape {
        KnownShape { body: row.body, run: row.run.to_string(), at: row.at.0 }
    }
}

impl KnownShape {
    pub fn row(self, key: Key) -> Decoded<KeyRow> {
        Ok(KeyRow { key, body: self.body, run: parse(&self.run)?, at: Wall(self.at) })
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StampShape {
    pub epoch: u64,
    pub counter: u64,
}

impl From<Stamp> for StampShape {
    fn from(stamp: Stamp) -> StampShape {
        StampShape { epoch: stamp.epoch.0, counter: stamp.counter }
    }
}

impl From<StampShape> for Stamp {
    fn from(stamp: StampShape) -> Stamp {
        Stamp { epoch: Epoch(stamp.epoch), counter: stamp.counter }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct OutboxShape {
    pub shard: u32,
    pub stamp: StampShape,
}

impl From<OutboxId> for OutboxShape {
    fn from(id: OutboxId) -> OutboxShape {
        OutboxShape { shard: id.shard.number().into(), stamp: id.stamp.into() }
    }
}

impl OutboxShape {
    pub fn id(&self) -> Decoded<OutboxId> {
        Ok(OutboxId { shard: shard(self.shard)?, stamp: self.stamp.into() })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct AskShape {
    pub job: String,
    pub epoch: u64,
    pub counter: u64,
}

impl From<Ask> for AskShape {
    fn from(ask: Ask) -> AskShape {
        AskShape { job: ask.job.to_string(), epoch: ask.epoch.0, counter: ask.counter }
    }
}

impl AskShape {
    pub fn ask(&self) -> Decoded<Ask> {
        Ok(Ask { job: parse(&self.job)?, epoch: Epoch(self.epoch), counter: self.counter })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct OrderShape {
    pub run_priority: String,
    pub run: String,
    pub task_priority: String,
    pub submission: u32,
}

impl From<OrderKey> for OrderShape {
    fn from(key: OrderKey) -> OrderShape {
        OrderShape {
            run_priority: key.run_priority.to_string(),
            run: key.run.to_string(),
            task_priority: key.task_priority.to_string(),
            submission: key.submission,
        }
    }
}

impl OrderShape {
    pub fn key(&self) -> Decoded<OrderKey> {
        Ok(OrderKey {
            run_priority: parse(&self.run_priority)?,
            run: parse(&self.run)?,
            task_priority: parse(&self.task_priority)?,
            submission: self.submission,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct PoolShape {
    pub limit: u32,
    pub taken: u32,
    pub holders: Vec<String>,
}

impl From<&PoolStanding> for PoolShape {
    fn from(standing: &PoolStanding) -> PoolShape {
        let holders = standing.holders.iter().map(JobId::to_string).collect();
        PoolShape { limit: standing.limit, taken: standing.taken, holders }
    }
}

impl PoolShape {
    pub fn standing(&self) -> Decoded<Arc<PoolStanding>> {
        let holders = self.holders.iter().map(|job| parse(job)).collect::<Result<_, _>>()?;
        Ok(Arc::new(PoolStanding { limit: self.limit, taken: self.taken, holders }))
    }
}

/// How the run of another workflow stands.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandingShape {
    NoRun,
    Open { run: String },
    Ended { run: String, end: JobEndShape },
}

impl From<dependents::Standing> for StandingShape {
    fn from(standing: dependents::Standing) -> StandingShape {
        match standing {
            dependents::Standing::NoRun => StandingShape::NoRun,
            dependents::Standing::Open(run) => StandingShape::Open { run: run.to_string() },
            dependents::Standing::Ended(run, end) => {
                StandingShape::Ended { run: run.to_string(), end: end.into() }
            }
        }
    }
}

impl StandingShape {
    pub fn standing(&self) -> Decoded<dependents::Standing> {
        Ok(match self {
            StandingShape::NoRun => dependents::Standing::NoRun,
            StandingShape::Open { run } => dependents::Standing::Open(parse(run)?),
            StandingShape::Ended { run, end } => dependents::Standing::Ended(parse(run)?, (*end).into()),
        })
    }
}
