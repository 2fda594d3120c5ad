//! Ready jobs meet free slots.

use std::sync::Arc;

use windlass_model::policy::TimeoutAction;
use windlass_model::{AttemptId, AttemptNumber, Fence, JobId};
use windlass_workflow::definition::{Task, TaskIndex};

use super::Shard;
use super::gangs::Gate;
use super::input::{Assignment, Decision, JobPlace, Message, Offer, ToPool, ToWorker, WorkerLife};
use super::open_run::{Job, OpenRun};
use super::payload::payload;
use super::pools::Ask;
use super::queue::Entry;
use super::reconcile::Wanted;
use super::scope::RunScope;
use crate::order::OrderKey;
use crate::rows::{AttemptRow, Change, JobRow};
use crate::time::Now;
use crate::wire::GrantId;
use crate::{attempt, job};

impl Shard {
    /// A worker has free slots: the best jobs of the class are assigned. What is left is for somebody else.
    pub(super) fn offer(&mut self, now: Now, mut offer: Offer, out: &mut Decision) {
        let worker = self.workers.get(&offer.life.worker);
        let known = worker.is_some_and(|worker| worker.incarnation == offer.life.incarnation);
        while known
            && self.dispatching
            && !offer.grants.is_empty()
            && let Some((key, entry)) = self.queue.best_of(&offer.class)
            && offer.before.is_none_or(|before| key < before)
        {
            let slots = offer.grants.len() as u32;
            if entry.startable == 0 {
                // There is a slot for it: now it may ask its pool.
                let many = slots.min(entry.askable);
                self.with_run(now, key.run, out, |shard, run, out| {
                    shard.ask_many(now, run, entry.task, many, out);
                });
                continue;
            }
            let many = slots.min(entry.startable);
            let full = self.with_run(now, key.run, out, |shard, run, out| {
                shard.assign_many(now, run, entry.task, &mut offer, many, out)
            });
            if full == Some(true) {
                break;
            }
        }
        if !offer.grants.is_empty() {
            out.messages.push(Message::Unused(offer));
        }
    }

    /// Assigns up to `many` jobs of one task, each on one of the offered slots. `true` if the worker cannot take
    /// the next: a worker grants more than it has slots if attempts are short, but each member of a gang keeps one
    /// busy. One that is given too many gives some back, and if it is the first to offer its slots each time, the
    /// gang never comes together.
    fn assign_many(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        task: TaskIndex,
        offer: &mut Offer,
        many: u32,
        out: &mut Decision,
    ) -> bool {
        let slots = self.workers.get(&offer.life.worker).map_or(0, |worker| worker.capability.slots);
        let mut full = false;
        for _ in 0..many {
            full = run.members_with(task, offer.life) >= slots;
            if full {
                break;
            }
            let pooled = run.definition.tasks[task.position()].pool.is_some();
            let Some(item) = run.jobs(task).and_then(|jobs| jobs.first_startable(pooled)) else { break };
            let Some(grant) = offer.grants.last().copied() else { break };
            if self.assign(now, run, JobPlace { task, item }, (offer.life, grant), out) {
                offer.grants.pop();
            }
        }
        self.requeue(run, task);
        full
    }

    /// Assigns one job; `false` if its values cannot be worked out, and it failed.
    fn assign(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        place: JobPlace,
        (life, grant): (WorkerLife, GrantId),
        out: &mut Decision,
    ) -> bool {
        let definition = Arc::clone(&run.definition);
        let task = &definition.tasks[place.task.position()];
        let order = run_order(run, place.task);
        let (Some(id), Some(order)) = (run.job_id(place), order) else { return false };
        let Some(jobs) = run.jobs(place.task) else { return false };
        let value = jobs.item(place.item);
        let scope = RunScope { run, item: value.map(|value| (place.item, value)) };
        let made = payload(task, &definition.env, &scope);
        let Some(jobs) = run.jobs(place.task) else { return false };
        jobs.begin(place.item);
        let permit = jobs.asks.remove(&place.item).map(|asked| asked.ask);
        let job = jobs.begun.entry(place.item).or_insert(Job::new(job::State::Ready));
        let payload = match made {
            Ok(Some(payload)) => payload,
            Ok(None) => return false,
            Err(problem) => {
                if let Ok(state) = job::transition(job.state, job::Event::CannotBegin) {
                    job.state = state;
                }
                out.changes.push(Change::Job(JobRow::new(id, job.state, problem, now.wall)));
                give_back(task, permit, out);
                // Before its end may close the task, which then is in no queue to be taken out of.
                self.requeue(run, place.task);
                self.job_ended(now, run, place, out);
                return false;
            }
        };
        job.permit = permit;
        job.fence = job.fence.next().max(Fence::first_in(self.epoch));
        job.number = AttemptNumber(job.number.0 + 1);
        let current = job::Attempt {
            fence: job.fence,
            number: job.number,
            worker: life.worker,
            incarnation: life.incarnation,
            assigned_at: now.wall,
            started_at: None,
            since: now.mono,
            state: attempt::State::Assigned,
        };
        let Ok(state) = job::transition(job.state, job::Event::Assigned(current)) else { return false };
        job.state = state;
        out.changes.push(Change::Attempt(open_row(id, job, current)));
        jobs.running += 1;
        let requirement = Arc::clone(&jobs.requirement);
        let index = jobs.items.is_some().then_some(place.item);
        run.attempts += 1;
        run.unstarted += 1;
        let assignment = Assignment {
            attempt: AttemptId { job: id, fence: current.fence },
            number: current.number,
            order,
            requirement,
            grant,
            task: task.id.clone(),
            index,
            env: run.env(),
            payload,
            hold: task.gang.is_some() && run.holds(place.task),
            timeout: match super::waits::probe_every(task) {
                Some(_) => Some(super::waits::PROBE_TIMEOUT),
                None => task
                    .timeout
                    .filter(|timeout| timeout.then == TimeoutAction::Fail)
                    .map(|timeout| timeout.after),
            },
            orphan_timeout: task.orphan_timeout,
        };
        out.messages.push(Message::Worker(life, ToWorker::Assign(Box::new(assignment))));
        self.watch(now, run.row.id, place, now.mono, Wanted::Start);
        if task.timeout.is_some() {
            self.watch_timeout(run, place.task, now.mono);
        }
        if task.gang.is_some() {
            self.gather(now, run, place.task);
        }
        true
    }

    /// Puts a task into the queue with as many jobs as may start, or takes it out.
    pub(super) fn requeue(&mut self, run: &mut OpenRun, task: TaskIndex) {
        match run.definition.tasks[task.position()].gang.clone() {
            None => self.enqueue(run, task, Gate::OPEN),
            Some(gang) => self.requeue_member(run, &gang, Some(task)),
        }
    }

    /// The same for one task, as far as its gang lets it.
    pub(super) fn enqueue(&mut self, run: &mut OpenRun, task: TaskIndex, gate: Gate) {
        let Some(key) = run_order(run, task) else { return };
        let dispatches = run.row.state.dispatches();
        let limit =
            run.definition.tasks[task.position()].foreach.as_ref().and_then(|foreach| foreach.max_parallel);
        let takes_slot = run.definition.tasks[task.position()].work.takes_slot();
        let pooled = run.definition.tasks[task.position()].pool.is_some();
        let Some(jobs) = run.jobs(task) else { return };
        let room = limit.map_or(u32::MAX, |limit| limit.saturating_sub(jobs.running));
        let ready = if dispatches && takes_slot { jobs.ready().min(room) } else { 0 };
        let (startable, askable) = match pooled {
            false => (ready, 0),
            true => (jobs.permitted().min(ready), ready.saturating_sub(jobs.asks.len() as u32)),
        };
        let startable = if gate.start { startable } else { 0 };
        let askable = if gate.ask { askable } else { 0 };
        self.queue.set(&jobs.requirement, key, Entry { task, startable, askable });
    }

    /// Puts every open task of a run into the queue, or takes it out.
    pub(super) fn requeue_all(&mut self, run: &mut OpenRun) {
        for task in 0..run.tasks.len() {
            if run.definition.tasks[task].gang.is_none() {
                self.enqueue(run, TaskIndex(task as u32), Gate::OPEN);
            }
        }
        let gangs: Vec<_> = run.gangs.keys().cloned().collect();
        for gang in gangs {
            self.requeue_gang(run, &gang);
        }
    }
}

/// The row of an attempt that is not over.
pub(super) fn open_row(id: JobId, job: &Job, current: job::Attempt) -> AttemptRow {
    AttemptRow {
        job: id,
        number: current.number,
        fence: current.fence,
        worker: current.worker,
        incarnation: current.incarnation,
        state: attempt::State::Assigned,
        reason: "".into(),
        assigned_at: current.assigned_at,
        started_at: None,
        finished_at: None,
        exit_code: None,
        signal: None,
        outputs: None,
        permit: job.permit,
        for_gang: false,
    }
}

/// The place of an open task in the order of things.
pub(super) fn run_order(run: &mut OpenRun, task: TaskIndex) -> Option<OrderKey> {
    let (run_priority, id) = (run.row.priority, run.row.id);
    let task_priority = run.definition.tasks[task.position()].priority;
    let submission = run.jobs(task)?.submission;
    Some(OrderKey { run_priority, run: id, task_priority, submission })
}

/// A permit that is not needed any more goes back to its pool.
pub(super) fn give_back(task: &Task, permit: Option<Ask>, out: &mut Decision) {
    if let (Some(pool), Some(ask)) = (&task.pool, permit) {
        out.messages.push(Message::ToPool(pool.clone(), ToPool::Return(ask)));
    }
}
