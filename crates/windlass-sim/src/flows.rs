//! The workflows that simulated people run.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::durable::Origin;
use windlass_model::Name;
use windlass_store::pins::pin;
use windlass_store::resolve::Definitions;
use windlass_workflow::Definition;

use crate::options::Kind;

/// Every workflow: whether it is stored before it is run, and its text.
const TEXTS: &[(bool, &str)] = &[
    (false, "name: single\ntasks: {a: {run: work}}"),
    (
        true,
        "name: chain\ntasks:\n  a: {run: work, retries: {max: 2, delay: 1s}}\n  b: {depends_on: [a], run: 'use ${{ \
         tasks.a.outputs.v }}', retries: {max: 2, delay: 1s}}\n  c: {depends_on: [b], run: work, trigger: all_done}",
    ),
    (
        true,
        "name: diamond\ndefaults: {retries: {max: 1, delay: 500ms}}\ntasks:\n  a: {run: work}\n  b: {depends_on: [a], \
         run: work}\n  c: {depends_on: [a], run: work, priority: high}\n  d: {depends_on: [b, c], run: work}",
    ),
    (false, "name: wide\ntasks: {a: {run: work, foreach: {items: '${{ range(6) }}', max_parallel: 3}}}"),
    (false, "name: pooled\ntasks: {a: {run: work, pool: p, foreach: '${{ range(4) }}'}}"),
    (true, "name: pooled-too\ntasks: {a: {run: work, pool: p}, b: {run: work, pool: p, depends_on: [a]}}"),
    (true, "name: alone\ntasks: {a: {run: work, orphan_timeout: 2s, retries: {max: 3, delay: 1s}}}"),
    (
        true,
        "name: lonely\ntasks: {a: {run: work, orphan_timeout: 20s, retries: {max: 3, delay: 1s}, foreach: '${{ range(3) \
         }}'}}",
    ),
    (
        false,
        "name: guarded\ntasks: {a: {run: work, orphan_timeout: 15s, on_worker_lost: fail, retries: {max: 3, delay: 1s}}}",
    ),
    (false, "name: precious\ntasks: {a: {run: work, orphan_timeout: 20s, on_worker_lost: fail}}"),
    (false, "name: awaited\ntasks: {a: {run: work, orphan_timeout: 15s, on_worker_lost: wait}}"),
    (false, "name: once\ntasks: {a: {run: work, on_worker_lost: fail}}"),
    (true, "name: part\ntasks: {x: {run: work}, y: {run: work, depends_on: [x]}}"),
    (
        true,
        "name: whole\ntasks:\n  a: {run: work}\n  sub: {type: workflow, with: {workflow: part}, depends_on: [a]}\n  z: \
         {run: work, depends_on: [sub]}",
    ),
    (true, "name: serial\nmax_active_runs: 1\ntasks: {a: {run: work}, b: {run: work, depends_on: [a]}}"),
    (
        true,
        "name: often\nschedule: [{cron: '@every 45s', catchup: all, overlap: allow}]\ntasks: {a: {run: work}}",
    ),
    (
        true,
        "name: clock\nschedule: [{cron: '*/10 * * * * *', timezone: Europe/Oslo, overlap: queue}]\ntasks: {a: {run: \
         work}}",
    ),
    (
        true,
        "name: asked\ntasks: {a: {run: work}, ok: {type: approve, depends_on: [a]}, b: {run: work, depends_on: [ok]}}",
    ),
    (false, "name: urgent\npriority: highest\ntasks: {a: {run: work}, b: {run: work}}"),
    (false, "name: idle\npriority: lowest\ntasks: {a: {run: work}, b: {run: work}}"),
    (false, "name: slow\ntasks: {a: {run: work, timeout: 2s, retries: {max: 1, delay: 1s}}}"),
    (
        true,
        "name: together\ntasks: {a: {run: work, gang: g}, b: {run: work, gang: g}, c: {run: work, depends_on: [a, b]}}",
    ),
    (true, "name: echo\ntriggers: [{after: diamond, on: done}]\ntasks: {a: {run: work}}"),
    (
        true,
        "name: needs\ntasks: {d: {type: dependent, with: {workflow: diamond}, timeout: 15s}, a: {run: work, depends_on: [d]}}",
    ),
    (
        false,
        "name: waits\nalerts: [{on: [failed], type: webhook, with: {url: 'http://hooks.example/x'}}]\ntasks: {t: {type: wait, \
         with: {for: 2s}}, f: {type: wait, with: {file: /ready, every: 1s}, timeout: 20s}, a: {run: work, depends_on: [t, f]}}",
    ),
    (false, "name: patient\ntasks: {a: {run: work, on_worker_lost: wait}}"),
    (
        false,
        "name: strict\non_task_failure: end\ntasks: {a: {run: work}, b: {run: work}, c: {run: work, depends_on: \
         [a]}}\nfinally: {z: {run: work}}",
    ),
];

/// A workflow that can be run.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The definition.
    pub definition: Arc<Definition>,
    /// Its text.
    pub source: Arc<str>,
    /// Whether it is stored before it is run. Its version is 1 then.
    pub stored: bool,
    /// What it calls.
    pub pinned: Arc<BTreeMap<Name, Arc<Definition>>>,
    /// The same, as it is stored with runs.
    pub origin: Arc<Origin>,
}

impl Flow {
    /// Whether it is of this kind.
    pub fn is(&self, kind: Kind) -> bool {
        let mut tasks = self.definition.tasks.iter();
        match kind {
            Kind::Any => true,
            Kind::Contended => {
                self.definition.max_active_runs.is_some()
                    || tasks.any(|task| task.pool.is_some() || task.gang.is_some())
            }
            Kind::Alone => tasks.any(|task| task.orphan_timeout.is_some()),
            Kind::Pooled => tasks.any(|task| task.pool.is_some()),
            Kind::Gangs => tasks.any(|task| task.gang.is_some()),
        }
    }
}

/// Every workflow.
#[derive(Clone, Debug)]
pub struct Flows {
    /// In order.
    pub all: Vec<Flow>,
}

impl Flows {
    /// Reads them.
    pub fn new() -> Flows {
        let definitions: BTreeMap<_, _> = TEXTS
            .iter()
            .map(|(stored, text)| {
                let definition = read(text);
                (definition.name.clone(), (definition, *stored))
            })
            .collect();
        let part = Name::new("part").ok();
        let pinned: BTreeMap<Name, Arc<Definition>> = part
            .into_iter()
            .filter_map(|name| Some((name.clone(), Arc::clone(&definitions.get(&name)?.0))))
            .collect();
        let pinned = Arc::new(pinned);
        let all = TEXTS
            .iter()
            .map(|(stored, text)| {
                let definition = read(text);
                let calls = definition.name.as_str() == "whole";
                let pinned = if calls { Arc::clone(&pinned) } else { Arc::default() };
                let origin = Origin {
                    inline: (!stored).then(|| Arc::from(*text)),
                    pinned: pinned.keys().map(|name| (name.clone(), 1)).collect(),
                };
                let (source, origin) = (Arc::from(*text), Arc::new(origin));
                Flow { definition, source, stored: *stored, pinned, origin }
            })
            .collect();
        Flows { all }
    }

    /// Others, all of them stored. They may call each other.
    pub fn stored<T: AsRef<str>>(texts: &[T]) -> Flows {
        let definitions: BTreeMap<_, _> = texts
            .iter()
            .map(|text| read(text.as_ref()))
            .map(|definition| (definition.name.clone(), definition))
            .collect();
        let flow = |text: &str| {
            let definition = read(text);
            let newest = |name: &Name| Some((1, Arc::clone(definitions.get(name)?)));
            let pins = pin(&definition, newest).unwrap_or_else(|wrong| panic!("{wrong}"));
            let origin = Arc::new(Origin { inline: None, pinned: pins.versions });
            let pinned = Arc::new(pins.definitions);
            Flow { definition, source: text.into(), stored: true, pinned, origin }
        };
        Flows { all: texts.iter().map(|text| flow(text.as_ref())).collect() }
    }

    /// The workflow of that name.
    pub fn named(&self, name: &Name) -> Option<&Flow> {
        self.all.iter().find(|flow| flow.definition.name == *name)
    }
}

fn read(text: &str) -> Arc<Definition> {
    match windlass_workflow::from_text(text.as_bytes()) {
        Ok(checked) => checked.definition,
        Err(wrong) => panic!("{}\nin\n{text}", wrong[0].render("simulation")),
    }
}

impl Default for Flows {
    fn default() -> Flows {
        Flows::new()
    }
}

impl Definitions for Flows {
    fn version(&self, workflow: &Name, _number: u32) -> Option<Arc<Definition>> {
        self.named(workflow).map(|flow| Arc::clone(&flow.definition))
    }

    fn inline(&self, source: &str) -> Option<Arc<Definition>> {
        self.all.iter().find(|flow| *flow.source == *source).map(|flow| Arc::clone(&flow.definition))
    }
}
