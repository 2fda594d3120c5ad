//! Which versions a workflow calls: fixed when a run is created or a version is stored, directly and through
//! others, so that a later edit changes no run that exists.
//!
//! Workflows are read level by level ([`Pinning::wanted`]), because a store answers a list faster than a name at a
//! time. [`Pinning::finish`] refuses a circle. Nothing recurses: calls may be as deep as there are workflows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::{Name, TaskId};
use windlass_workflow::Definition;
use windlass_workflow::definition::Work;

/// No workflow calls more than so many others, directly or not. Each is named in every run of it, and read
/// with it when a shard is loaded.
pub const MOST_PINNED: usize = 2_000;

/// Everything that a workflow calls, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pins {
    /// The definitions.
    pub definitions: BTreeMap<Name, Arc<Definition>>,
    /// Their versions.
    pub versions: BTreeMap<Name, u32>,
}

/// Why what a workflow calls cannot be fixed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// A workflow that is called is not there.
    #[error("task `{task}` of workflow `{caller}` calls workflow `{missing}`, which does not exist")]
    Missing {
        /// The workflow that is not there.
        missing: Name,
        /// Who calls it.
        caller: Name,
        /// The task that calls it.
        task: TaskId,
    },
    /// Workflows call each other in a circle, so that a run of one would never end.
    #[error("workflows call each other in a circle: {}", spelled(.path))]
    Circle {
        /// From a workflow to itself.
        path: Vec<Name>,
    },
    /// It calls too many.
    #[error("workflow `{workflow}` calls more than {MOST_PINNED} others")]
    TooMany {
        /// The workflow.
        workflow: Name,
    },
}

fn spelled(path: &[Name]) -> String {
    path.iter().map(Name::as_str).collect::<Vec<_>>().join(" → ")
}

/// Fixes what a workflow calls. `newest` says the newest version of a workflow.
pub fn pin(
    definition: &Arc<Definition>,
    mut newest: impl FnMut(&Name) -> Option<(u32, Arc<Definition>)>,
) -> Result<Pins, PinError> {
    let mut pinning = Pinning::of(definition);
    loop {
        let wanted = pinning.wanted();
        if wanted.is_empty() {
            return pinning.finish();
        }
        for name in wanted {
            pinning.found(&name, newest(&name))?;
        }
    }
}

/// What a workflow calls, while it is being read.
#[derive(Debug)]
pub struct Pinning {
    top: Arc<Definition>,
    pins: Pins,
    /// Called by what was read, and not read yet; with who calls it.
    wanted: BTreeMap<Name, (Name, TaskId)>,
}

impl Pinning {
    /// Begins with a workflow. Whoever calls one of its name calls itself, whether it is stored yet or not: in
    /// one run a name means one thing.
    pub fn of(definition: &Arc<Definition>) -> Pinning {
        let mut pinning =
            Pinning { top: Arc::clone(definition), pins: Pins::default(), wanted: BTreeMap::new() };
        pinning.want_calls(definition);
        pinning
    }

    /// The workflows to be read next.
    pub fn wanted(&self) -> BTreeSet<Name> {
        self.wanted.keys().cloned().collect()
    }

    /// A wanted workflow was read: its newest version, or nothing.
    pub fn found(&mut self, name: &Name, newest: Option<(u32, Arc<Definition>)>) -> Result<(), PinError> {
        let Some((caller, task)) = self.wanted.remove(name) else { return Ok(()) };
        let Some((version, definition)) = newest else {
            return Err(PinError::Missing { missing: name.clone(), caller, task });
        };
        if self.pins.versions.len() == MOST_PINNED {
            return Err(PinError::TooMany { workflow: self.top.name.clone() });
        }
        self.pins.versions.insert(name.clone(), version);
        self.pins.definitions.insert(name.clone(), Arc::clone(&definition));
        self.want_calls(&definition);
        Ok(())
    }

    /// Everything was read: the pins, unless there is a circle.
    pub fn finish(self) -> Result<Pins, PinError> {
        match self.circle() {
            Some(path) => Err(PinError::Circle { path }),
            None => Ok(self.pins),
        }
    }

    fn want_calls(&mut self, definition: &Definition) {
        for (task, called) in calls(definition) {
            if *called != self.top.name && !self.pins.versions.contains_key(called) {
                self.wanted.entry(called.clone()).or_insert_with(|| (definition.name.clone(), task.clone()));
            }
        }
    }

    /// Follows every call once. What is on the way from the top and is called again closes a circle.
    fn circle(&self) -> Option<Vec<Name>> {
        let mut done: BTreeSet<&Name> = BTreeSet::new();
        let mut on_the_way: BTreeSet<&Name> = [&self.top.name].into();
        let mut way = vec![(&self.top.name, called_by(&self.top))];
        while let Some((name, left)) = way.last_mut() {
            let name = *name;
            let Some(next) = left.pop() else {
                on_the_way.remove(name);
                done.insert(name);
                way.pop();
                continue;
            };
            if on_the_way.contains(next) {
                let names = way.iter().map(|(name, _)| *name).skip_while(|name| *name != next);
                return Some(names.chain([next]).cloned().collect());
            }
            if !done.contains(next)
                && let Some(definition) = self.pins.definitions.get(next)
            {
                on_the_way.insert(next);
                way.push((next, called_by(definition)));
            }
        }
        None
    }
}

/// The workflows that a workflow calls itself, each once, last name first.
fn called_by(definition: &Definition) -> Vec<&Name> {
    let names: BTreeSet<_> = calls(definition).map(|(_, called)| called).collect();
    names.into_iter().rev().collect()
}

fn calls(definition: &Definition) -> impl Iterator<Item = (&TaskId, &Name)> {
    definition.tasks.iter().filter_map(|task| match &task.work {
        Work::Workflow(sub) => Some((&task.id, &sub.workflow)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(text: &str) -> Arc<Definition> {
        match windlass_workflow::from_text(text.as_bytes()) {
            Ok(checked) => checked.definition,
            Err(wrong) => panic!("{}\nin\n{text}", wrong[0].render("test")),
        }
    }

    /// A workflow that calls others, in tasks `t0`, `t1`, …; one that calls none has a task of its own.
    fn caller(name: &str, calls: &[&str]) -> Arc<Definition> {
        let tasks: Vec<_> = calls
            .iter()
            .enumerate()
            .map(|(at, called)| format!("t{at}: {{type: workflow, with: {{workflow: {called}}}}}"))
            .collect();
        let tasks = if tasks.is_empty() { "a: {run: x}".to_owned() } else { tasks.join(", ") };
        flow(&format!("name: {name}\ntasks: {{{tasks}}}"))
    }

    /// Pins the first of several workflows; each has the version that its place says.
    fn pinned(flows: &[Arc<Definition>]) -> Result<Pins, PinError> {
        let stored: BTreeMap<_, _> =
            (1..).zip(flows).map(|(at, flow)| (flow.name.clone(), (at, flow))).collect();
        pin(&flows[0], |name| stored.get(name).map(|(version, flow)| (*version, Arc::clone(flow))))
    }

    fn refused(flows: &[Arc<Definition>]) -> String {
        pinned(flows).map(|pins| pins.versions).expect_err("a refusal").to_string()
    }

    #[test]
    fn everything_that_is_called_is_pinned_also_through_others_and_only_once() {
        let flows = [
            caller("top", &["left", "right"]),
            caller("left", &["leaf"]),
            caller("right", &["leaf"]),
            caller("leaf", &[]),
        ];
        let pins = pinned(&flows).expect("pins");
        let versions: Vec<_> =
            pins.versions.iter().map(|(name, version)| (name.as_str(), *version)).collect();
        assert_eq!(versions, [("leaf", 4), ("left", 2), ("right", 3)]);
        assert!(pins.definitions.keys().eq(pins.versions.keys()));
        assert_eq!(pinned(&[caller("alone", &[])]), Ok(Pins::default()));
    }

    #[test]
    fn workflows_that_call_each_other_are_refused_with_the_way_around() {
        let pair = [caller("a", &["b"]), caller("b", &["a"])];
        assert_eq!(refused(&pair), "workflows call each other in a circle: a → b → a");
        assert_eq!(refused(&[caller("a", &["a"])]), "workflows call each other in a circle: a → a");
        let behind =
            [caller("top", &["x", "a"]), caller("x", &[]), caller("a", &["b"]), caller("b", &["x", "a"])];
        assert_eq!(refused(&behind), "workflows call each other in a circle: a → b → a");
    }

    #[test]
    fn a_workflow_that_is_not_there_is_named_with_the_task_that_calls_it() {
        let flows = [caller("top", &["middle"]), caller("middle", &["top-of-nothing"])];
        assert_eq!(
            refused(&flows),
            "task `t0` of workflow `middle` calls workflow `top-of-nothing`, which does not exist"
        );
    }

    #[test]
    fn depth_costs_no_stack_and_the_number_is_bounded() {
        let chain = |length: usize| -> Vec<_> {
            let name = |at: usize| format!("level-{at}");
            let called = |at: usize| if at + 1 < length { vec![name(at + 1)] } else { Vec::new() };
            (0..length)
                .map(|at| caller(&name(at), &called(at).iter().map(String::as_str).collect::<Vec<_>>()))
                .collect()
        };
        assert_eq!(pinned(&chain(MOST_PINNED + 1)).map(|pins| pins.versions.len()), Ok(MOST_PINNED));
        assert_eq!(refused(&chain(MOST_PINNED + 2)), "workflow `level-0` calls more than 2000 others");
    }

    #[test]
    fn many_ways_to_the_same_workflow_are_followed_once() {
        // Two calls on each of sixty levels: 2^60 ways, sixty workflows.
        let name = |at: usize| format!("level-{at}");
        let flows: Vec<_> = (0..60)
            .map(|at| match at {
                59 => caller(&name(at), &[]),
                _ => caller(&name(at), &[&name(at + 1), &name(at + 1)]),
            })
            .collect();
        assert_eq!(pinned(&flows).map(|pins| pins.versions.len()), Ok(59));
    }
}
