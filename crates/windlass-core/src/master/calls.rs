//! Calls: to a shard here, or to the master that owns it, within the time that the caller waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::{AttemptId, OwnerId, RunId, ShardId};

use super::Master;
use super::claims::Peer;
use super::input::{Decision, Effect, FromPeer, Pass, Reply};
use crate::shard::input::{Answer, Call, CallId, Input, Offer};
use crate::time::{Mono, Now};

/// The calls that were not answered, and what else is remembered of them.
#[derive(Debug, Default)]
pub(super) struct Calls {
    waiting: BTreeMap<CallId, Pending>,
    deadlines: BTreeSet<(Mono, CallId)>,
    /// What was passed on to other masters and not answered.
    out: BTreeMap<Pass, CallId>,
    /// The newest of all that were passed on.
    passes: Pass,
    /// What other masters have passed on and may still come again.
    seen: BTreeMap<OwnerId, Seen>,
    named: u64,
    /// Results that the store could not hold as they were, and why.
    stripped: BTreeMap<AttemptId, Arc<str>>,
    /// Runs that the store cannot hold.
    quarantined: BTreeSet<RunId>,
    /// What was left of offers.
    pub unused: Vec<Offer>,
}

/// What another master has passed on.
#[derive(Debug)]
struct Seen {
    /// All below this is over.
    over_below: Pass,
    /// What has come of the rest.
    came: BTreeSet<Pass>,
    /// When the newest came.
    last: Mono,
}

/// A call that was not answered.
#[derive(Debug)]
struct Pending {
    origin: Origin,
    shard: ShardId,
    what: Call,
    until: Mono,
    place: Place,
}

/// Who made a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Somebody here.
    Here(CallId),
    /// Another master, on behalf of somebody there.
    There(OwnerId, Pass),
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nobody is known to own its shard, or it is not loaded yet.
    Waiting,
    /// Its shard is here and has handled it.
    Handled,
    /// With another master.
    PassedOn(OwnerId, Pass),
}

impl Calls {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn wake_at(&self) -> Option<Mono> {
        self.deadlines.first().map(|(until, _)| *until)
    }

    /// What a shard handled and did not become durable is handled again when there is a shard.
    pub fn wait_again(&mut self, shard: ShardId) {
        for pending in self.waiting.values_mut().filter(|pending| pending.shard == shard) {
            if pending.place == Place::Handled {
                pending.place = Place::Waiting;
            }
        }
    }

    fn remove(&mut self, id: CallId) -> Option<Pending> {
        let pending = self.waiting.remove(&id)?;
        self.deadlines.remove(&(pending.until, id));
        if let Place::PassedOn(_, pass) = pending.place {
            self.out.remove(&pass);
        }
        Some(pending)
    }

    /// Numbers one more passing on of a call; and what is over of those before.
    fn pass(&mut self, id: CallId) -> (Pass, Pass) {
        self.passes = Pass(self.passes.0 + 1);
        self.out.insert(self.passes, id);
        let over_below = self.out.first_key_value().map_or(self.passes, |(first, _)| *first);
        (self.passes, over_below)
    }

    /// Who passes something on is registered. One that a look does not show which began after that is gone for good,
    /// and nothing new comes from it.
    pub fn forget_gone(&mut self, began: Mono, known: &BTreeMap<OwnerId, Peer>) {
        self.seen.retain(|owner, seen| known.contains_key(owner) || seen.last >= began);
    }

    fn of(&self, shard: ShardId, place: Place) -> Vec<CallId> {
        let of = |pending: &Pending| pending.shard == shard && pending.place == place;
        self.waiting.iter().filter(|(_, pending)| of(pending)).map(|(id, _)| *id).collect()
    }

    /// A result is to be taken without what the store cannot hold.
    pub fn strip(&mut self, attempt: AttemptId, why: Arc<str>) {
        // One that was refused even without its outputs cannot be helped.
        if self.stripped.insert(attempt, why).is_some() {
            self.quarantined.insert(attempt.job.run);
        }
    }

    pub fn stripped(&self, attempt: AttemptId) -> Option<&Arc<str>> {
        self.stripped.get(&attempt)
    }

    pub fn settled(&mut self, attempt: AttemptId) {
        self.stripped.remove(&attempt);
    }

    /// A run that the store cannot hold as it is now stays there as it was, and out of memory.
    pub fn quarantine(&mut self, run: Option<RunId>) {
        self.quarantined.extend(run);
    }

    pub fn is_quarantined(&self, run: RunId) -> bool {
        self.quarantined.contains(&run)
    }

    pub fn check(&self) {
        assert_eq!(self.waiting.len(), self.deadlines.len(), "a deadline for each call");
        let places = self.waiting.iter().filter_map(|(id, pending)| match pending.place {
            Place::PassedOn(_, pass) => Some((pass, *id)),
            Place::Waiting | Place::Handled => None,
        });
        assert_eq!(places.collect::<BTreeMap<_, _>>(), self.out, "calls passed on");
    }
}

impl Master {
    /// Somebody wants something of a shard.
    pub(super) fn called(
        &mut self,
        now: Now,
        origin: Origin,
        shard: ShardId,
        what: Call,
        until: Mono,
        out: &mut Decision,
    ) {
        if let Origin::There(owner, pass) = origin
            && !self.shards.contains_key(&shard)
        {
            out.effects.push(Effect::ToPeer(owner, FromPeer::Reply(pass, Reply::NotHere)));
            return;
        }
        self.calls.named += 1;
        let id = CallId(self.calls.named);
        self.calls.deadlines.insert((until, id));
        self.calls.waiting.insert(id, Pending { origin, shard, what, until, place: Place::Waiting });
        self.place_call(now, id, out);
    }

    /// Whether what another master passes on comes for the first time, and may be handled. What comes again may have
    /// been done and answered long ago.
    pub(super) fn is_first(
        &mut self,
        now: Now,
        peer: OwnerId,
        pass: Pass,
        over_below: Pass,
        out: &mut Decision,
    ) -> bool {
        let new = Seen { over_below: Pass(0), came: BTreeSet::new(), last: now.mono };
        let seen = self.calls.seen.entry(peer).or_insert(new);
        if over_below > seen.over_below {
            seen.over_below = over_below;
            seen.came = seen.came.split_off(&over_below);
        }
        seen.last = now.mono;
        let first = pass >= seen.over_below && seen.came.insert(pass);
        if first && !self.peers.contains_key(&peer) {
            // One that has come since the last look, or one that is gone, of which nothing is remembered: a look tells.
            self.lease.next_look = self.lease.next_look.map(|_| now.mono);
            out.effects.push(Effect::ToPeer(peer, FromPeer::Reply(pass, Reply::NotHere)));
            return false;
        }
        first
    }

    /// Hands a waiting call to its shard, or passes it on to its owner.
    fn place_call(&mut self, now: Now, id: CallId, out: &mut Decision) {
        let Some(pending) = self.calls.waiting.get_mut(&id) else { return };
        if pending.place != Place::Waiting {
            return;
        }
        let shard = pending.shard;
        let owner = self.owners.get(&shard).filter(|owner| {
            !self.shards.contains_key(&shard) && self.peers.get(owner).is_some_and(|peer| !peer.is_dead())
        });
        if let (Some(owner), Origin::Here(_)) = (owner, pending.origin) {
            let (left, what) = (pending.until.since(now.mono), pending.what.clone());
            let (pass, over_below) = self.calls.pass(id);
            if let Some(pending) = self.calls.waiting.get_mut(&id) {
                pending.place = Place::PassedOn(*owner, pass);
            }
            let call = FromPeer::Call { pass, over_below, shard, what, left };
            out.effects.push(Effect::ToPeer(*owner, call));
        } else if self.is_open(shard)
            && let Some(pending) = self.calls.waiting.get_mut(&id)
        {
            pending.place = Place::Handled;
            let what = pending.what.clone();
            self.decide(now, shard, Input::Call(id, what));
        }
    }

    /// A shard is here: what waited for it is handled.
    pub(super) fn call_waiting(&mut self, now: Now, shard: ShardId, out: &mut Decision) {
        for id in self.calls.of(shard, Place::Waiting) {
            self.place_call(now, id, out);
        }
    }

    /// Who owns what is known anew: what waits is placed, and what went to a master that has not answered and does
    /// not own the shard any more is asked of the one that does.
    pub(super) fn reroute_calls(&mut self, now: Now, out: &mut Decision) {
        let all: Vec<_> = self.calls.waiting.keys().copied().collect();
        for id in all {
            let Some(pending) = self.calls.waiting.get_mut(&id) else { continue };
            if let Place::PassedOn(owner, pass) = pending.place {
                let still = self.owners.get(&pending.shard) == Some(&owner)
                    && self.peers.get(&owner).is_some_and(|peer| !peer.is_dead());
                if !still && repeatable(&pending.what) {
                    pending.place = Place::Waiting;
                    self.calls.out.remove(&pass);
                }
            }
            self.place_call(now, id, out);
        }
    }

    /// Nobody can tell whether these were done. What can be repeated without harm will be.
    pub(super) fn leave_unknown(&mut self, calls: impl Iterator<Item = CallId>, out: &mut Decision) {
        for id in calls {
            if self.calls.waiting.get(&id).is_some_and(|pending| !repeatable(&pending.what)) {
                self.answer(id, Reply::Unknown, out);
            }
        }
    }

    /// A shard went to somebody else. What is in doubt and cannot be repeated has an unknown end.
    pub(super) fn orphan_calls(
        &mut self,
        now: Now,
        shard: ShardId,
        doubtful: &BTreeSet<CallId>,
        out: &mut Decision,
    ) {
        self.leave_unknown(doubtful.iter().copied(), out);
        self.calls.wait_again(shard);
        for id in self.calls.of(shard, Place::Waiting) {
            let origin = self.calls.waiting.get(&id).map(|pending| pending.origin);
            match origin {
                // Whoever passed it on looks for the owner.
                Some(Origin::There(..)) => self.answer(id, Reply::NotHere, out),
                Some(Origin::Here(_)) | None => self.place_call(now, id, out),
            }
        }
    }

    /// Another master has said what came of a call.
    pub(super) fn peer_replied(
        &mut self,
        now: Now,
        peer: OwnerId,
        pass: Pass,
        reply: Reply,
        out: &mut Decision,
    ) {
        let Some(id) = self.calls.out.get(&pass).copied() else { return };
        let Some(pending) = self.calls.waiting.get_mut(&id) else { return };
        if pending.place != Place::PassedOn(peer, pass) {
            return;
        }
        match reply {
            Reply::NotHere => {
                pending.place = Place::Waiting;
                self.calls.out.remove(&pass);
                if self.owners.get(&pending.shard) == Some(&peer) {
                    self.owners.remove(&pending.shard);
                }
                self.lease.next_look = self.lease.next_look.map(|_| now.mono);
            }
            Reply::Answered(_) | Reply::Unavailable | Reply::Unknown | Reply::Rejected(_) => {
                self.answer(id, reply, out);
            }
        }
    }

    /// Tells a caller what came of its call.
    pub(super) fn answer(&mut self, id: CallId, reply: Reply, out: &mut Decision) {
        let Some(pending) = self.calls.remove(id) else { return };
        out.effects.push(match pending.origin {
            Origin::Here(call) => Effect::Reply(call, reply),
            Origin::There(owner, pass) => Effect::ToPeer(owner, FromPeer::Reply(pass, reply)),
        });
    }

    pub(super) fn answer_all(&mut self, answers: Vec<(CallId, Answer)>, out: &mut Decision) {
        for (id, answer) in answers {
            self.answer(id, Reply::Answered(answer), out);
        }
    }

    /// Nobody waits any more for calls whose time is over.
    pub(super) fn expire_calls(&mut self, now: Now, out: &mut Decision) {
        while let Some((until, id)) = self.calls.deadlines.first().copied()
            && until <= now.mono
        {
            let place = self.calls.waiting.get(&id).map(|pending| pending.place);
            let reply = match place {
                Some(Place::Waiting) | None => Reply::Unavailable,
                Some(Place::Handled | Place::PassedOn(..)) => Reply::Unknown,
            };
            self.answer(id, reply, out);
        }
    }
}

/// Whether a call that may have been done can be done again without harm: then its end need not stay unknown.
fn repeatable(what: &Call) -> bool {
    match what {
        Call::Create(_)
        | Call::PutWorkflow(_)
        | Call::EnableWorkflow(..)
        | Call::PauseSchedule(..)
        | Call::SetPool(..)
        | Call::PlanBackfill(_)
        | Call::Backfill(_)
        | Call::Run(_)
        | Call::Tasks(..)
        | Call::Jobs(..)
        | Call::Why(_)
        | Call::Work
        | Call::AttemptsOn(_) => true,
        // Somebody may have made another of that name meanwhile.
        Call::DeleteWorkflow(..) | Call::DeletePool(_) => false,
        Call::Control(_) | Call::ControlBackfill(..) => false,
    }
}
