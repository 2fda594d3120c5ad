//! Pools: named limits on how many jobs run at once, kept by the pool's home.
//!
//! ```text
//! asker                                   home
//!   slot offered, no permit ── Ask ─────►   waits in order, or:
//!   may assign             ◄─ Granted ──    permit row committed
//!   attempt over, or unused ── Return ──►   free for the next
//!   still alive?           ◄─ Check ────    now and then, and after a load
//! ```
//!
//! An ask is named by (job, asker's epoch, counter), so what speaks of an older one changes nothing. Every
//! message may be lost, repeated or late: an ask is repeated until it is answered, a grant that nobody wants is
//! returned, and a return that was lost is found by the check. So the home may count too many for a while,
//! never too few.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::{Duration, Epoch, JobId, Name};
use windlass_workflow::definition::TaskIndex;

use super::Shard;
use super::input::{Answer, CallId, Decision, FromPool, JobPlace, Message, Refusal, ToPool};
use super::open_run::{Job, OpenRun, Phase};
use super::timers::Timer;
use crate::job;
use crate::order::OrderKey;
use crate::rows::Change;
use crate::time::{Mono, Now};

/// How long a permit may be held by a job that does not start.
const UNUSED: Duration = Duration::from_secs(2);
/// How often an ask is repeated.
const REPEAT: Duration = Duration::from_secs(1);
/// How often the home asks who still lives.
const CHECK: Duration = Duration::from_secs(10);

/// One wish for a permit. Of two for one job, the greater is the newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ask {
    /// The job that wants it.
    pub job: JobId,
    /// The epoch of the shard that asks.
    pub epoch: Epoch,
    /// Counts the asks of that shard in that epoch.
    pub counter: u64,
}

/// An ask as the asker keeps it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Which.
    pub ask: Ask,
    /// Since when it is granted, if it is.
    pub granted: Option<Mono>,
    /// How the pool stood when its home last answered.
    pub told: Option<Arc<PoolStanding>>,
}

/// How a pool stands, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolStanding {
    /// How many permits there are.
    pub limit: u32,
    /// How many are taken.
    pub taken: u32,
    /// Some of the jobs that hold one.
    pub holders: Vec<JobId>,
}

/// So many holders of a pool are named.
const NAMED: usize = 8;

/// A pool in its home.
#[derive(Debug, Default)]
pub struct Pool {
    limit: u32,
    /// Whether somebody made it; otherwise somebody only asked.
    stored: bool,
    permits: BTreeMap<JobId, Ask>,
    waiting: BTreeMap<(OrderKey, JobId), Ask>,
}

impl Shard {
    /// Sets the limit of a pool.
    pub(super) fn set_pool(&mut self, now: Now, call: CallId, name: &Name, limit: u32, out: &mut Decision) {
        let pool = self.pools.entry(name.clone()).or_default();
        (pool.limit, pool.stored) = (limit, true);
        out.changes.push(Change::Pool(name.clone(), limit));
        out.messages.push(Message::Answer(call, Answer::Done));
        self.grant(now, name, out);
    }

    /// Deletes a pool of which no permit is held: what it has given must be counted until it comes back, also by a
    /// pool of the same name that somebody makes meanwhile. A limit of 0 lets it run empty.
    pub(super) fn delete_pool(&mut self, call: CallId, name: &Name, out: &mut Decision) {
        let answer = match self.pools.get(name) {
            Some(pool) if !pool.permits.is_empty() => Answer::Refused(Refusal::PoolInUse(pool.permits.len())),
            Some(pool) if pool.stored => {
                out.changes.push(Change::PoolGone(name.clone()));
                self.pools.remove(name);
                Answer::Done
            }
            Some(_) | None => Answer::Refused(Refusal::NoSuchPool),
        };
        out.messages.push(Message::Answer(call, answer));
    }

    /// A pool as it is stored; who holds its permits is asked.
    pub(super) fn restore_pool(&mut self, now: Now, name: Name, limit: u32, permits: Vec<Ask>) {
        let permits: BTreeMap<_, _> = permits.into_iter().map(|ask| (ask.job, ask)).collect();
        if !permits.is_empty() {
            self.timers.at(now.mono, Timer::CheckPool(name.clone()));
        }
        self.pools.insert(name, Pool { limit, stored: true, permits, waiting: BTreeMap::new() });
    }

    /// A shard says something to a pool of which this is the home.
    pub(super) fn at_pool(&mut self, now: Now, name: &Name, message: ToPool, out: &mut Decision) {
        let pool = self.pools.entry(name.clone()).or_default();
        match message {
            ToPool::Ask(ask, order) => match pool.permits.get(&ask.job) {
                Some(held) if *held == ask => out.messages.push(granted(name, ask)),
                Some(held) if *held > ask => {}
                // The holder asks anew: what it held before is over.
                Some(_) => {
                    pool.permits.insert(ask.job, ask);
                    out.changes.push(Change::Permit(name.clone(), ask));
                    out.messages.push(granted(name, ask));
                }
                None => {
                    let newer = pool.waiting.iter().any(|((_, job), known)| *job == ask.job && *known > ask);
                    if !newer {
                        pool.waiting.retain(|(_, job), _| *job != ask.job);
                        pool.waiting.insert((order, ask.job), ask);
                    }
                }
            },
            ToPool::Return(ask) => {
                if pool.permits.get(&ask.job) == Some(&ask) {
                    pool.permits.remove(&ask.job);
                    out.changes.push(Change::PermitGone(name.clone(), ask));
                }
                pool.waiting.retain(|_, known| *known != ask);
            }
        }
        self.grant(now, name, out);
        // Who has to wait is told for what; it asks again, and is told again.
        if let ToPool::Ask(ask, order) = message
            && let Some(standing) = self.pool_standing(name)
            && self.pools.get(name).is_some_and(|pool| pool.waiting.get(&(order, ask.job)) == Some(&ask))
        {
            out.messages.push(Message::FromPool(name.clone(), FromPool::Wait(ask, standing)));
        }
    }

    /// Gives free permits to those who wait, the best first.
    fn grant(&mut self, now: Now, name: &Name, out: &mut Decision) {
        let Some(pool) = self.pools.get_mut(name) else { return };
        let mut any = false;
        while pool.permits.len() < pool.limit as usize
            && let Some((_, ask)) = pool.waiting.pop_first()
        {
            pool.permits.insert(ask.job, ask);
            out.changes.push(Change::Permit(name.clone(), ask));
            out.messages.push(granted(name, ask));
            any = true;
        }
        if any {
            self.timers.at(now.mono.after(CHECK), Timer::CheckPool(name.clone()));
        }
    }

    /// Asks everybody who holds a permit whether it is still needed.
    pub(super) fn check_pool(&mut self, now: Now, name: &Name, out: &mut Decision) {
        let Some(pool) = self.pools.get(name) else { return };
        let checks = pool.permits.values().map(|ask| Message::FromPool(name.clone(), FromPool::Check(*ask)));
        out.messages.extend(checks);
        if !pool.permits.is_empty() {
            self.timers.at(now.mono.after(CHECK), Timer::CheckPool(name.clone()));
        }
    }

    /// The home of a pool says something to this shard.
    pub(super) fn pool_says(&mut self, now: Now, name: &Name, message: FromPool, out: &mut Decision) {
        let (ask, is_grant) = match message {
            FromPool::Granted(ask) => (ask, true),
            FromPool::Check(ask) => (ask, false),
            FromPool::Wait(ask, standing) => return self.pool_is_full(ask, standing),
        };
        let wanted =
            self.with_run(now, ask.job.run, out, |shard, run, _| shard.is_wanted(now, run, ask, is_grant));
        if wanted != Some(true) && !self.set_aside.contains_key(&ask.job.run) {
            out.messages.push(Message::ToPool(name.clone(), ToPool::Return(ask)));
        }
    }

    /// The home of a pool says for what an ask waits. It changes nothing but what can be told.
    fn pool_is_full(&mut self, ask: Ask, standing: Arc<PoolStanding>) {
        let Some(run) = self.runs.get_mut(&ask.job.run) else { return };
        let Some(place) = run.place(ask.job.number) else { return };
        let asked = run.jobs(place.task).and_then(|jobs| jobs.asks.get_mut(&place.item));
        if let Some(asked) = asked.filter(|asked| asked.ask == ask) {
            asked.told = Some(standing);
        }
    }

    /// Whether a permit is wanted or in use; a fresh grant is noted.
    fn is_wanted(&mut self, now: Now, run: &mut OpenRun, ask: Ask, is_grant: bool) -> bool {
        let Some(place) = run.place(ask.job.number) else { return false };
        let Some(jobs) = run.jobs(place.task) else { return false };
        let holds = |job: &Job| job.permit == Some(ask) && !matches!(job.state, job::State::Ended(_));
        if jobs.begun.get(&place.item).is_some_and(holds) {
            return true;
        }
        let Some(asked) = jobs.asks.get_mut(&place.item).filter(|asked| asked.ask == ask) else {
            return false;
        };
        if is_grant && asked.granted.is_none() {
            asked.granted = Some(now.mono);
            self.timers.at(now.mono.after(UNUSED), Timer::Permit(ask.job.run, ask.job.number));
            self.gather(now, run, place.task);
            self.requeue(run, place.task);
        }
        true
    }

    /// Asks for permits for up to `many` ready jobs of a task.
    pub(super) fn ask_many(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        task: TaskIndex,
        many: u32,
        out: &mut Decision,
    ) {
        let Some(pool) = run.definition.tasks[task.position()].pool.clone() else { return };
        let Some(order) = super::dispatch::run_order(run, task) else { return };
        let (id, epoch) = (run.row.id, self.epoch);
        let Some(jobs) = run.jobs(task) else { return };
        let items: Vec<u32> =
            jobs.ready_items().filter(|item| !jobs.asks.contains_key(item)).take(many as usize).collect();
        for item in items {
            self.asks += 1;
            let number = windlass_model::JobNumber(jobs.base.0 + item);
            let ask = Ask { job: JobId { run: id, number }, epoch, counter: self.asks };
            jobs.asks.insert(item, Asked { ask, granted: None, told: None });
            out.messages.push(Message::ToPool(pool.clone(), ToPool::Ask(ask, order)));
            self.timers.at(now.mono.after(REPEAT), Timer::Permit(id, number));
        }
        self.requeue(run, task);
    }

    /// An ask is due to be repeated, or a permit has been held long enough without use.
    pub(super) fn permit_due(&mut self, now: Now, run: &mut OpenRun, place: JobPlace, out: &mut Decision) {
        let Some(pool) = run.definition.tasks[place.task.position()].pool.clone() else { return };
        let Some(order) = super::dispatch::run_order(run, place.task) else { return };
        let gathering = run.gang_decides(place.task);
        let Some(jobs) = run.jobs(place.task) else { return };
        let Some(asked) = jobs.asks.get(&place.item).cloned() else { return };
        let number = asked.ask.job.number;
        match asked.granted {
            None => {
                out.messages.push(Message::ToPool(pool, ToPool::Ask(asked.ask, order)));
                self.timers.at(now.mono.after(REPEAT), Timer::Permit(run.row.id, number));
            }
            // It goes back with the slots of its gang, should the gang not come together.
            Some(_) if gathering => {}
            Some(since) if now.mono.since(since) >= UNUSED => {
                jobs.asks.remove(&place.item);
                out.messages.push(Message::ToPool(pool, ToPool::Return(asked.ask)));
                self.requeue(run, place.task);
            }
            Some(_) => {}
        }
    }

    /// Gives back every permit that the ready jobs of a run wait for or hold.
    pub(super) fn drop_asks(&mut self, run: &mut OpenRun, out: &mut Decision) {
        let definition = Arc::clone(&run.definition);
        for (open, task) in run.tasks.iter_mut().zip(&definition.tasks) {
            let (Phase::Open(jobs), Some(pool)) = (&mut open.phase, &task.pool) else { continue };
            let asks = std::mem::take(&mut jobs.asks).into_values();
            out.messages.extend(asks.map(|asked| Message::ToPool(pool.clone(), ToPool::Return(asked.ask))));
        }
    }

    /// How a pool stands, if this is its home.
    pub(super) fn pool_standing(&self, name: &Name) -> Option<Arc<PoolStanding>> {
        let pool = self.pools.get(name)?;
        Some(Arc::new(PoolStanding {
            limit: pool.limit,
            taken: pool.permits.len() as u32,
            holders: pool.permits.keys().copied().take(NAMED).collect(),
        }))
    }
}

fn granted(name: &Name, ask: Ask) -> Message {
    Message::FromPool(name.clone(), FromPool::Granted(ask))
}
