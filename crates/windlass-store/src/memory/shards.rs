//! Claims and loads, in memory.

use windlass_model::{Epoch, OwnerId, ShardId};

use super::Model;
use crate::commit::Fenced;
use crate::leases::Sighting;
use crate::shards::{ClaimError, Claimed, LoadError, Loaded, LoadedRun, ReleaseError, Standing};

impl Model {
    /// See [`Store::claim`](crate::Store::claim).
    pub fn claim(
        &mut self,
        shard: ShardId,
        claimer: OwnerId,
        seen: Option<Sighting>,
    ) -> Result<Claimed, ClaimError> {
        let Some(row) = self.shards.get_mut(&shard) else { return Err(ClaimError::NoSuchShard { shard }) };
        if !self.leases.contains_key(&claimer) {
            return Err(ClaimError::NotRegistered { shard, claimer });
        }
        let others = row.owner.filter(|owner| *owner != claimer);
        if let Some(lease) = others.and_then(|owner| self.leases.get(&owner)) {
            let holder = Sighting { owner: lease.owner, counter: lease.counter };
            if seen != Some(holder) {
                return Err(ClaimError::Held { shard, holder });
            }
        }
        row.owner = Some(claimer);
        row.epoch = row.epoch.next();
        Ok(Claimed { epoch: row.epoch, commits: row.commits, last_run: row.last_run })
    }

    /// See [`Store::standings`](crate::Store::standings).
    pub fn standings(&self) -> Vec<Standing> {
        let rows = self.shards.iter();
        rows.map(|(shard, row)| Standing { shard: *shard, epoch: row.epoch, owner: row.owner }).collect()
    }

    /// See [`Store::release`](crate::Store::release).
    pub fn release(&mut self, shard: ShardId, owner: OwnerId, epoch: Epoch) -> Result<(), ReleaseError> {
        let row = self.fenced(shard, epoch, None)?;
        if row.owner != Some(owner) {
            let (current, current_commits) = (row.epoch, row.commits);
            let fenced = Fenced { shard, ours: epoch, our_commits: None, current, current_commits };
            return Err(fenced.into());
        }
        row.owner = None;
        row.epoch = row.epoch.next();
        Ok(())
    }

    /// See [`Store::load`](crate::Store::load).
    pub fn load(&mut self, shard: ShardId, epoch: Epoch) -> Result<Loaded, LoadError> {
        let row = self.fenced(shard, epoch, None)?;
        if row.loaded == epoch {
            return Err(LoadError::LoadedBefore { shard, epoch });
        }
        row.loaded = epoch;
        let last_run = row.last_run;
        let mut loaded = Loaded { last_run, ..Loaded::default() };
        for run in self.tables.open_runs(shard) {
            loaded.runs.push(LoadedRun {
                row: (**run).clone(),
                origin: self.tables.origin(run),
                jobs: self.tables.jobs_of(run.id).cloned().collect(),
                attempts: self.tables.attempts_of(run.id).cloned().collect(),
            });
        }
        loaded.keys = self.tables.open_keys(shard).cloned().collect();
        loaded.workflows = self.tables.workflows_of(shard);
        loaded.pools = self.tables.pools_of(shard);
        self.tables.load_homes(shard, &mut loaded);
        Ok(loaded)
    }
}
