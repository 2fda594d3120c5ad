//! Live updates: what happens to one run, or to everything.
//!
//! The master's feed says what to look at again; what is sent is how that is now. So many changes of one job within
//! a moment are one event, and a reader that missed some has missed nothing that still matters.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout_at};
use windlass_core::shard::view::JobsWanted;
use windlass_master::feed::Touched;
use windlass_model::{JobNumber, RunId};
use windlass_rest::events::{Event, JobEvent, Resync};
use windlass_rest::jobs::Job;
use windlass_rest::runs::Run;
use windlass_store::Store;

use super::{jobs, runs, workers};
use crate::answers::{self, Answer, Events, Gone, SentEvent};
use crate::api::Api;
use crate::asked::Asked;
use crate::refusal::Refusal;

/// Changes are collected for so long: ten updates a second are more than a person sees.
const COLLECT: Duration = Duration::from_millis(100);
/// What the feed does not tell is looked at so often: reasons that change with time, workers, what other masters could
/// not tell.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A stream that has nothing to tell says that it is alive.
const ALIVE_EVERY: Duration = Duration::from_secs(15);
/// A run with more jobs is not compared as a whole: only jobs that the feed names are looked at.
const COMPARED: u64 = 1000;
/// The most jobs that are told of a run as it is at first; a reader of more reads lists.
const FIRST: usize = 10_000;
/// More runs than these in one moment are not told one by one: the reader reads lists again.
const MOST_RUNS: usize = 500;
/// Jobs that are read at once.
const PAGE: usize = 1000;

/// What happens to one run: how it is and its jobs are, then each change, until its end.
pub async fn of_run<S: Store + 'static>(api: &Arc<Api<S>>, run: &str, asked: &Asked) -> Answer {
    asked.no_query()?;
    let run = api.run_id(run)?;
    let feed = api.handle.feed();
    runs::seen(api, run).await?;
    Ok(stream(api, asked, move |teller| tell_run(teller, run, feed)))
}

/// Everything that happens.
pub fn of_everything<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    asked.no_query()?;
    let feed = api.handle.feed();
    Ok(stream(api, asked, move |teller| tell_everything(teller, feed)))
}

/// An answer that is told by a task of its own, until that or its reader or the server ends.
fn stream<S: Store + 'static, F>(
    api: &Arc<Api<S>>,
    asked: &Asked,
    tell: impl FnOnce(Teller<S>) -> F,
) -> axum::response::Response
where
    F: Future<Output = Result<(), Gone>> + Send + 'static,
{
    let (events, response) = answers::events();
    // Nothing is kept of what was told before: whatever a reader has seen, it may have missed something since.
    let comes_back = asked.last_event_id().is_some();
    let teller =
        Teller { api: Arc::clone(api), events: events.clone(), told: HashMap::new(), alive: Instant::now() };
    let mut greeting = teller.quiet();
    let (telling, stop) = (tell(teller), api.stop.clone());
    api.tasks.spawn(async move {
        let telling = async {
            if comes_back {
                greeting.resync("what happened while you were away is not known any more").await?;
            }
            telling.await
        };
        tokio::select! {
            _gone = telling => {}
            () = events.closed() => {}
            () = stop.cancelled() => events.break_off().await,
        }
    });
    response
}

/// Tells one reader.
struct Teller<S> {
    api: Arc<Api<S>>,
    events: Events,
    /// What was told last of each thing, as a digest.
    told: HashMap<Subject, u64>,
    /// When something was sent last.
    alive: Instant,
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subject {
    Run(RunId),
    Job(RunId, u32),
    Worker(String),
}

impl<S: Store + 'static> Teller<S> {
    /// Another that has told nothing.
    fn quiet(&self) -> Teller<S> {
        let (api, events) = (Arc::clone(&self.api), self.events.clone());
        Teller { api, events, told: HashMap::new(), alive: Instant::now() }
    }

    async fn send(&mut self, event: &Event) -> Result<(), Gone> {
        let Ok(data) = event.data() else { return Ok(()) };
        self.alive = Instant::now();
        self.events.send(SentEvent { name: event.name(), id: self.api.next_event_id(), data }).await
    }

    /// Tells something unless it was told just so.
    async fn tell(&mut self, subject: Subject, event: &Event, seen: u64) -> Result<(), Gone> {
        if self.told.insert(subject, seen) == Some(seen) {
            return Ok(());
        }
        self.send(event).await
    }

    async fn tell_run(&mut self, id: RunId, run: &Run) -> Result<(), Gone> {
        self.tell(Subject::Run(id), &Event::Run(run.clone()), digest(run)).await
    }

    async fn tell_job(&mut self, id: RunId, run: &Run, job: Job) -> Result<(), Gone> {
        let subject = Subject::Job(id, job.number);
        let seen = digest(&job);
        let event = JobEvent { run: run.id.clone(), workflow: run.workflow.clone(), job };
        self.tell(subject, &Event::Job(event), seen).await
    }

    async fn resync(&mut self, reason: &str) -> Result<(), Gone> {
        self.told.clear();
        self.send(&Event::Resync(Resync { reason: reason.to_owned() })).await
    }

    async fn keep_alive(&mut self) -> Result<(), Gone> {
        if self.alive.elapsed() >= ALIVE_EVERY {
            self.alive = Instant::now();
            self.events.keep_alive().await?;
        }
        Ok(())
    }

    /// Jobs after one, at most so many.
    async fn jobs(&self, run: RunId, after: Option<JobNumber>, limit: usize) -> Result<Vec<Job>, Refusal> {
        let wanted = JobsWanted { after, limit, task: None, state: None, rendered: false };
        let views = jobs::views(&self.api, run, wanted).await?;
        jobs::shown(&self.api, run, &views).await
    }

    /// Tells the jobs of a run as they are, from the first on.
    async fn tell_all_jobs(
        &mut self,
        id: RunId,
        run: &Run,
        most: usize,
    ) -> Result<Result<(), Refusal>, Gone> {
        let (mut after, mut count) = (None, 0);
        loop {
            let page = match self.jobs(id, after, PAGE).await {
                Ok(page) => page,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let Some(last) = page.last().map(|job| job.number) else { return Ok(Ok(())) };
            let full = page.len() == PAGE;
            count += page.len();
            for job in page {
                self.tell_job(id, run, job).await?;
            }
            if !full || count >= most {
                return Ok(Ok(()));
            }
            after = Some(JobNumber(last));
        }
    }

    /// Tells some jobs of a run as they are.
    async fn tell_jobs(
        &mut self,
        id: RunId,
        run: &Run,
        mut wanted: BTreeSet<JobNumber>,
    ) -> Result<Result<(), Refusal>, Gone> {
        while let Some(first) = wanted.first().copied() {
            // Neighbours are read together.
            let span = wanted.iter().take_while(|number| (number.0 - first.0) < PAGE as u32).last();
            let limit = span.map_or(1, |last| last.0 - first.0 + 1);
            let page = match self.jobs(id, first.0.checked_sub(1).map(JobNumber), limit as usize).await {
                Ok(page) => page,
                Err(refusal) => return Ok(Err(refusal)),
            };
            for job in page {
                if wanted.contains(&JobNumber(job.number)) {
                    self.tell_job(id, run, job).await?;
                }
            }
            wanted.retain(|number| number.0 - first.0 >= limit);
        }
        Ok(Ok(()))
    }
}

async fn tell_run<S: Store + 'static>(
    mut teller: Teller<S>,
    id: RunId,
    mut feed: Receiver<Touched>,
) -> Result<(), Gone> {
    let mut touched: Option<BTreeSet<JobNumber>> = None;
    let mut first = true;
    loop {
        let told = match runs::seen(&teller.api, id).await {
            Ok(run) => {
                if first {
                    teller.tell_run(id, &run).await?;
                }
                // The jobs are read after the run: when that is over, they are as they stay.
                let told = match touched.take() {
                    _ if first || run.job_counts.total <= COMPARED => {
                        teller.tell_all_jobs(id, &run, FIRST).await?
                    }
                    Some(jobs) => teller.tell_jobs(id, &run, jobs).await?,
                    None => Ok(()),
                };
                if told.is_ok() {
                    teller.tell_run(id, &run).await?;
                    first = false;
                    if run.state.is_end() {
                        return Ok(());
                    }
                }
                told
            }
            Err(refusal) => Err(refusal),
        };
        // It is gone, by its retention: there is nothing more to tell.
        if told.is_err_and(|refusal| refusal.status() == 404) {
            return Ok(());
        }
        let look_at = Instant::now() + LOOK_EVERY;
        let mut until = look_at;
        while let Ok(heard) = timeout_at(until, feed.recv()).await {
            match heard {
                // Another master could not tell everything.
                Ok(changes) if changes.is_empty() => {
                    teller.resync("more has happened than could be told").await?;
                    first = true;
                }
                Ok(changes) => {
                    let Some(jobs) = changes.get(&id) else { continue };
                    touched.get_or_insert_default().extend(jobs);
                }
                Err(RecvError::Lagged(_)) => {
                    teller.resync("more has happened than could be told").await?;
                    first = true;
                }
                // The master has ended, and the server will.
                Err(RecvError::Closed) => {
                    tokio::time::sleep_until(look_at).await;
                    break;
                }
            }
            until = until.min(Instant::now() + COLLECT);
        }
        teller.keep_alive().await?;
    }
}

async fn tell_everything<S: Store + 'static>(
    mut teller: Teller<S>,
    mut feed: Receiver<Touched>,
) -> Result<(), Gone> {
    let mut touched = BTreeMap::<RunId, BTreeSet<JobNumber>>::new();
    let mut look_at = Instant::now();
    loop {
        let mut until = look_at;
        while let Ok(heard) = timeout_at(until, feed.recv()).await {
            match heard {
                Ok(changes) if changes.is_empty() => {
                    touched.clear();
                    teller.resync("more has happened than could be told").await?;
                }
                Ok(changes) => {
                    for (run, jobs) in changes.iter() {
                        touched.entry(*run).or_default().extend(jobs);
                    }
                }
                Err(RecvError::Lagged(_)) => {
                    touched.clear();
                    teller.resync("more has happened than could be told").await?;
                }
                Err(RecvError::Closed) => {
                    tokio::time::sleep_until(look_at).await;
                    break;
                }
            }
            until = until.min(Instant::now() + COLLECT);
        }
        if touched.len() > MOST_RUNS {
            touched.clear();
            teller.resync("more has happened than could be told").await?;
        }
        for (id, jobs) in std::mem::take(&mut touched) {
            let told = match runs::seen(&teller.api, id).await {
                Ok(run) => match teller.tell_jobs(id, &run, jobs.clone()).await? {
                    Ok(()) => {
                        teller.tell_run(id, &run).await?;
                        // What is over is not told again, and need not be remembered.
                        if run.state.is_end() {
                            teller.told.retain(|subject, _| !subject.is_of(id));
                        }
                        Ok(())
                    }
                    Err(refusal) => Err(refusal),
                },
                Err(refusal) => Err(refusal),
            };
            if told.is_err_and(|refusal| refusal.status() != 404) {
                touched.entry(id).or_default().extend(jobs);
            }
        }
        if Instant::now() >= look_at {
            look_at = Instant::now() + LOOK_EVERY;
            for worker in workers::all(&teller.api).await {
                // When it was heard of changes all the time, and is not worth an event.
                let seen = digest(&windlass_rest::workers::Worker { last_seen_at: None, ..worker.clone() });
                teller.tell(Subject::Worker(worker.id.clone()), &Event::Worker(worker), seen).await?;
            }
        }
        teller.keep_alive().await?;
    }
}

impl Subject {
    fn is_of(&self, run: RunId) -> bool {
        match self {
            Subject::Run(id) | Subject::Job(id, _) => *id == run,
            Subject::Worker(_) => false,
        }
    }
}

/// Tells two states of a thing apart.
fn digest(shape: &impl serde::Serialize) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(shape).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}
