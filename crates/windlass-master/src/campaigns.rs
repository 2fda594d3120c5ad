//! Campaigns over past firings, as calls to the homes of their workflows: what is stored of runs and of earlier calls is
//! read here first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_core::rows::{BackfillId, BackfillRow, BackfillState, Chain, Key, Stage, Values};
use windlass_core::shard::backfill::{BackfillCommand, PlannedRun, Range, StartBackfill};
use windlass_core::shard::input::{Answer, Call, Refusal};
use windlass_core::time::Wall;
use windlass_model::{Name, Priority};
use windlass_store::Store;
use windlass_workflow::Definition;
use windlass_workflow::definition::Work;

use crate::Handle;
use crate::random;
use crate::wishes::{WishError, unexpected};

/// The most workflows of one campaign.
pub const MOST_STAGES: usize = 100;
/// How far from the range a firing of a dependant may be that needs a run in it.
const MARGIN: i64 = 35 * 24 * 3_600_000;
/// Workflows that are read at once.
const ROWS: usize = 1000;
/// How often somebody looks whether the next stage has begun.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A wanted campaign.
#[derive(Clone, Debug)]
pub struct NewBackfill {
    /// Who wants it.
    pub by: Arc<str>,
    /// What makes the call unique; random if the caller gave none.
    pub key: Option<Arc<str>>,
    /// A digest of what the caller asked for.
    pub body: u64,
    /// Which past firings.
    pub wanted: Wanted,
    /// How many runs may be open at once.
    pub parallel: u32,
    /// What the runs are given.
    pub params: Values,
    /// How urgent they are, if not as the workflow says.
    pub priority: Option<Priority>,
}

/// Which past firings are meant.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The workflow.
    pub workflow: Name,
    /// The first due time.
    pub from: Wall,
    /// The last one. What is still to come is not meant.
    pub to: Wall,
    /// Only those without a run.
    pub missing_only: bool,
    /// Also the workflows that need its runs.
    pub with_dependants: bool,
}

/// What a campaign would do with one workflow.
#[derive(Clone, Debug)]
pub struct PlannedStage {
    /// The workflow.
    pub workflow: Name,
    /// The workflows of the campaign that it needs, directly.
    pub needs: Vec<Name>,
    /// Every due time, oldest first.
    pub runs: Vec<PlannedRun>,
}

/// A later stage of a campaign: what is planned, and what is stored once it has begun.
#[derive(Clone, Debug)]
pub struct Later {
    /// The plan.
    pub stage: Stage,
    /// What there is.
    pub row: Option<BackfillRow>,
}

impl<S: Store + 'static> Handle<S> {
    /// What a campaign would do, one stage for each workflow, each after what it needs.
    pub async fn plan_backfill(
        &self,
        wanted: &Wanted,
        wait: Duration,
    ) -> Result<Vec<PlannedStage>, WishError> {
        let range = self.range(wanted, BTreeMap::new()).await?;
        let runs = self.planned(range, wait).await?;
        let first = PlannedStage { workflow: wanted.workflow.clone(), needs: vec![], runs };
        let mut stages = vec![first];
        if !wanted.with_dependants {
            return Ok(stages);
        }
        for (workflow, needs) in ordered(&wanted.workflow, &self.links().await?)? {
            let times = |stage: &PlannedStage| {
                let times = stage.runs.iter().map(|run| (run.logical_time, run.wanted)).collect();
                (stage.workflow.clone(), times)
            };
            let upstream: BTreeMap<_, BTreeMap<_, _>> =
                stages.iter().filter(|stage| needs.contains(&stage.workflow)).map(times).collect();
            if upstream.values().all(BTreeMap::is_empty) {
                continue;
            }
            let wide = Wanted {
                workflow: workflow.clone(),
                from: Wall(wanted.from.0.saturating_sub(MARGIN)),
                to: Wall(wanted.to.0.saturating_add(MARGIN)),
                ..wanted.clone()
            };
            let runs = self.planned(self.range(&wide, upstream).await?, wait).await?;
            if !runs.is_empty() {
                let needs =
                    needs.into_iter().filter(|name| stages.iter().any(|stage| stage.workflow == *name));
                stages.push(PlannedStage { workflow, needs: needs.collect(), runs });
            }
        }
        Ok(stages)
    }

    async fn planned(&self, range: Range, wait: Duration) -> Result<Vec<PlannedRun>, WishError> {
        let workflow = range.workflow.clone();
        match self.call(self.home(&workflow), Call::PlanBackfill(Box::new(range)), wait).await? {
            Answer::Plan(plan) => Ok(plan),
            answer => Err(refused(&workflow, answer)),
        }
    }

    /// Starts a campaign, or finds the one that an earlier call with the same key started.
    pub async fn start_backfill(&self, new: NewBackfill, wait: Duration) -> Result<BackfillId, WishError> {
        let home = self.home(&new.wanted.workflow);
        let given = new.key.is_some();
        let key = new.key.unwrap_or_else(|| format!("{:016x}", random::number()).into());
        let key = Key { principal: new.by, key };
        let known = if given { self.store().backfill_of_key(home, &key).await? } else { None };
        let then = match (&known, new.wanted.with_dependants) {
            (None, true) => {
                let planned = self.plan_backfill(&new.wanted, wait).await?;
                let stage = |stage: &PlannedStage| Stage {
                    workflow: stage.workflow.clone(),
                    times: stage.runs.iter().filter(|run| run.wanted).map(|run| run.logical_time).collect(),
                };
                planned[1..].iter().map(stage).filter(|stage| !stage.times.is_empty()).collect()
            }
            (Some(_), _) | (None, false) => Vec::new(),
        };
        let start = StartBackfill {
            key,
            body: new.body,
            known,
            range: self.range(&new.wanted, BTreeMap::new()).await?,
            parallel: new.parallel,
            params: Arc::new(new.params),
            priority: new.priority,
            then,
        };
        match self.call(home, Call::Backfill(Box::new(start)), wait).await? {
            Answer::Backfill(id, _) => Ok(id),
            answer => Err(refused(&new.wanted.workflow, answer)),
        }
    }

    /// A campaign and its later stages, as they are stored; `None` if there is none.
    pub async fn backfill(&self, id: BackfillId) -> Result<Option<(BackfillRow, Vec<Later>)>, WishError> {
        let Some(row) = self.store().backfill(id).await? else { return Ok(None) };
        let later = self.later(&row).await?;
        Ok(Some((row, later)))
    }

    /// The later stages of a campaign.
    pub async fn later(&self, row: &BackfillRow) -> Result<Vec<Later>, WishError> {
        let root = row.chain.root.unwrap_or(row.id);
        let mut later = Vec::new();
        for stage in &row.chain.then {
            let key = Chain::key(root, &row.key.principal, &stage.workflow);
            let begun = self.store().backfill_of_key(self.home(&stage.workflow), &key).await?;
            later.push(Later { stage: stage.clone(), row: begun });
        }
        Ok(later)
    }

    /// Does something with the stage of a campaign that is under way; says how that is stored then, or `None` if there
    /// is no such campaign.
    pub async fn control_backfill(
        &self,
        id: BackfillId,
        command: BackfillCommand,
        wait: Duration,
    ) -> Result<Option<BackfillRow>, WishError> {
        let began = Instant::now();
        loop {
            let Some((row, later)) = self.backfill(id).await? else { return Ok(None) };
            let mut begun = later.iter().filter_map(|later| later.row.as_ref());
            let count = begun.clone().count();
            let current = begun.next_back().unwrap_or(&row);
            if !current.state.is_over() {
                match self
                    .call(current.id.0.shard(), Call::ControlBackfill(current.id, command), wait)
                    .await?
                {
                    Answer::Done => return Ok(self.store().backfill(current.id).await?),
                    // It has ended meanwhile.
                    Answer::Refused(Refusal::NoSuchBackfill) => {}
                    answer => return Err(unexpected(answer)),
                }
            } else if count == later.len() || current.state != BackfillState::Done || current.failed > 0 {
                return Ok(Some(current.clone()));
            }
            // The next stage is about to begin.
            if began.elapsed() > wait {
                return Err(WishError::Call(crate::handle::CallError::Unavailable));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn range(
        &self,
        wanted: &Wanted,
        upstream: BTreeMap<Name, BTreeMap<Wall, bool>>,
    ) -> Result<Range, WishError> {
        let Wanted { workflow, from, to, missing_only, .. } = wanted.clone();
        let to = to.min(self.now().wall);
        let succeeded = self.store().succeeded(self.home(&workflow), &workflow, from, to).await?;
        Ok(Range { workflow, from, to, missing_only, succeeded, upstream })
    }

    /// Which workflows need runs of which others, by `dependent` tasks or completion triggers.
    async fn links(&self) -> Result<Links, WishError> {
        let mut links = Links::new();
        let mut after: Option<Name> = None;
        loop {
            let rows = self.store().workflows(after.as_ref(), ROWS).await?;
            let Some(last) = rows.last().map(|row| row.name.clone()) else { return Ok(links) };
            for row in rows {
                let Some(definition) = self.definition(&row.name, row.version).await? else { continue };
                let needs = needs(&definition);
                if !needs.is_empty() {
                    links.insert(row.name, needs);
                }
            }
            after = Some(last);
        }
    }
}

/// What each workflow needs.
type Links = BTreeMap<Name, BTreeSet<Name>>;

/// What a workflow needs. That it needs its own earlier runs is its own affair: they come in order.
fn needs(definition: &Definition) -> BTreeSet<Name> {
    let tasks = definition.tasks.iter().filter_map(|task| match &task.work {
        Work::Dependent(dependent) => Some(dependent.on.iter().map(|on| &on.workflow)),
        _ => None,
    });
    let triggers = definition.triggers.iter().map(|trigger| &trigger.after);
    tasks.flatten().chain(triggers).filter(|name| **name != definition.name).cloned().collect()
}

/// The workflows that need one, directly or not, each after what it needs among them, with what that is.
fn ordered(root: &Name, links: &Links) -> Result<Vec<(Name, BTreeSet<Name>)>, WishError> {
    let mut reached = BTreeSet::from([root.clone()]);
    loop {
        let more: Vec<_> = links
            .iter()
            .filter(|(name, needs)| !reached.contains(*name) && !needs.is_disjoint(&reached))
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        reached.extend(more);
        if reached.len() > MOST_STAGES {
            return Err(WishError::TooManyDependants(MOST_STAGES));
        }
    }
    let mut done = BTreeSet::from([root.clone()]);
    let mut order = Vec::new();
    let inside = |name: &Name| -> BTreeSet<Name> {
        links.get(name).map(|needs| needs.intersection(&reached).cloned().collect()).unwrap_or_default()
    };
    // What the root needs of its dependants is a circle too.
    let back = inside(root);
    while done.len() < reached.len() {
        let next = reached.iter().find(|name| !done.contains(*name) && inside(name).is_subset(&done));
        let Some(next) = next.cloned() else {
            let left = reached.difference(&done).cloned().collect();
            return Err(WishError::DependantsInACircle(left));
        };
        order.push((next.clone(), inside(&next)));
        done.insert(next);
    }
    match back.is_empty() {
        true => Ok(order),
        false => Err(WishError::DependantsInACircle(back.into_iter().chain([root.clone()]).collect())),
    }
}

fn refused(workflow: &Name, answer: Answer) -> WishError {
    match answer {
        Answer::Refused(Refusal::NoSuchWorkflow) => WishError::NoSuchWorkflow(workflow.clone()),
        answer => unexpected(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn links(needs: &[(&str, &[&str])]) -> Links {
        needs
            .iter()
            .map(|(one, others)| (name(one), others.iter().map(|other| name(other)).collect()))
            .collect()
    }

    #[test]
    fn dependants_come_after_what_they_need() {
        let links = links(&[("d", &["b", "c"]), ("b", &["a", "z"]), ("c", &["a"]), ("x", &["y"])]);
        let order: Vec<_> = ordered(&name("a"), &links).unwrap();
        let names: Vec<_> = order.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["b", "c", "d"]);
        assert_eq!(order[0].1, BTreeSet::from([name("a")]), "what is outside of the campaign does not count");
        assert!(ordered(&name("d"), &links).unwrap().is_empty());
    }

    #[test]
    fn a_circle_is_said() {
        for needs in [links(&[("b", &["a", "c"]), ("c", &["b"])]), links(&[("b", &["a"]), ("a", &["b"])])] {
            assert!(matches!(ordered(&name("a"), &needs), Err(WishError::DependantsInACircle(_))));
        }
    }
}
