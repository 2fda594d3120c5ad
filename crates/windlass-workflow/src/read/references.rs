//! Resolves the names that tasks use for each other, and builds the graph.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::Name;
use windlass_model::policy::{Retries, TriggerRule};

use super::report::{Report, shorten};
use super::tasks::TaskDraft;
use super::work::{Draft, Named};
use crate::codes::Code;
use crate::definition::{Case, Graph, Switch, Task, TaskIndex, Work};
use crate::diagnostic::{Diagnostic, Severity, Span};

/// The most dependencies in one workflow.
const MAX_DEPENDENCIES: usize = 1_000_000;

/// Everything that is named in this file.
struct Names<'a> {
    drafts: &'a [Option<TaskDraft>],
    /// Every key under `tasks:` and `finally:`, also of tasks that are wrong themselves.
    ids: BTreeMap<&'a str, TaskIndex>,
}

/// One task waits for another, and where the file says so.
struct Wish {
    task: TaskIndex,
    on: TaskIndex,
    span: Option<Span>,
    path: String,
}

/// The tasks and their graph. `ids` are the keys of both sections in the order of `drafts`.
pub fn resolve(
    report: &mut Report,
    drafts: Vec<Option<TaskDraft>>,
    ids: &[Arc<str>],
    finally_count: usize,
) -> Option<(Vec<Task>, Graph)> {
    let ordinary_count = ids.len() - finally_count;
    let mut names = Names { drafts: &drafts, ids: BTreeMap::new() };
    for (position, id) in ids.iter().enumerate() {
        if names.ids.insert(id, TaskIndex(position as u32)).is_some() {
            duplicate(report, &drafts[position], id);
        }
    }
    let wishes = names.wishes(report, ordinary_count);
    let edges: BTreeSet<_> = wishes.iter().map(|wish| (wish.task, wish.on)).collect();
    if edges.len() > MAX_DEPENDENCIES {
        let message = format!("{} dependencies; a workflow has at most {MAX_DEPENDENCIES}", edges.len());
        report.error(Code::TooManyTasks, None, message, None);
        return None;
    }
    let graph = match Graph::new(ids.len(), &edges) {
        Ok(graph) => graph,
        Err(cycles) => {
            for cycle in cycles {
                tell_cycle(report, &cycle.0, &wishes, ids);
            }
            return None;
        }
    };
    check_gangs(report, &drafts, &graph);
    check_triggers(report, &drafts, &graph);
    let by_id: BTreeMap<String, TaskIndex> =
        ids.iter().enumerate().map(|(position, id)| (id.to_string(), TaskIndex(position as u32))).collect();
    let tasks: Option<Vec<Task>> = drafts.into_iter().map(|draft| Some(finish(draft?, &by_id))).collect();
    Some((tasks?, graph))
}

impl Names<'_> {
    fn wishes(&self, report: &mut Report, ordinary_count: usize) -> Vec<Wish> {
        let mut wishes = Vec::new();
        for (position, draft) in self.drafts.iter().enumerate() {
            let Some(draft) = draft else { continue };
            let task = TaskIndex(position as u32);
            for named in &draft.depends_on {
                let Some(on) = self.find(report, named) else { continue };
                let other_section = (on.position() >= ordinary_count) != draft.finally;
                if other_section {
                    wrong_section(report, draft, named);
                    continue;
                }
                wishes.push(Wish { task, on, span: named.span, path: named.path.clone() });
            }
            for read in &draft.reads {
                let named =
                    Named { task: read.task.as_str().into(), span: read.span, path: read.path.clone() };
                let Some(on) = self.find(report, &named) else { continue };
                match (draft.finally, on.position() >= ordinary_count) {
                    // What `finally` reads of ordinary tasks is there when it starts.
                    (true, false) => {}
                    (false, true) => wrong_section(report, draft, &named),
                    (true, true) | (false, false) => {
                        wishes.push(Wish { task, on, span: read.span, path: read.path.clone() });
                    }
                }
            }
            if let Draft::Switch(switch) = &draft.work {
                let branches = switch.cases.iter().map(|(_, then)| then).chain([&switch.default]);
                for named in branches.flatten() {
                    let Some(branch) = self.find(report, named) else { continue };
                    if (branch.position() >= ordinary_count) != draft.finally {
                        wrong_section(report, draft, named);
                        continue;
                    }
                    wishes.push(Wish { task: branch, on: task, span: named.span, path: named.path.clone() });
                }
            }
        }
        wishes
    }

    fn find(&self, report: &mut Report, named: &Named) -> Option<TaskIndex> {
        if let Some(index) = self.ids.get(&*named.task) {
            return Some(*index);
        }
        if report.is_full() {
            report.skip();
            return None;
        }
        /// More names than this are not read.
        const LISTED: usize = 10;
        let known = || self.ids.keys().copied();
        let help = report.did_you_mean(&named.task, known()).or_else(|| {
            let listed = known().collect::<Vec<_>>().join(", ");
            (self.ids.len() <= LISTED).then(|| format!("known are {listed}"))
        });
        let message = format!("unknown task `{}`", shorten(&named.task));
        report.push(complaint(Code::UnknownReference, named.span, &named.path, message, help));
        None
    }
}

fn duplicate(report: &mut Report, draft: &Option<TaskDraft>, id: &str) {
    let span = draft.as_ref().and_then(|draft| draft.span);
    let message = format!("`{}` is the name of a task and of a task in `finally`", shorten(id));
    let help = Some("give one of them another name".into());
    report.push(complaint(Code::DuplicateName, span, &format!("finally.{id}"), message, help));
}

fn wrong_section(report: &mut Report, draft: &TaskDraft, named: &Named) {
    let (message, help) = if draft.finally {
        (
            format!("`{}` is not in `finally`", named.task),
            "tasks of `finally` start when all others are done; remove the dependency",
        )
    } else {
        (
            format!("`{}` is in `finally`, which starts when all other tasks are done", named.task),
            "move it to `tasks`, or remove the dependency",
        )
    };
    report.push(complaint(Code::UnknownReference, named.span, &named.path, message, Some(help.into())));
}

/// Tells a circle as a path, at the dependency that its first task has on its second.
fn tell_cycle(report: &mut Report, cycle: &[TaskIndex], wishes: &[Wish], ids: &[Arc<str>]) {
    /// A longer path is cut in the middle.
    const SHOWN: usize = 20;
    let (Some(first), Some(last)) = (cycle.first(), cycle.last()) else { return };
    let second = cycle.get(1).unwrap_or(first);
    let name = |task: &TaskIndex| ids[task.position()].to_string();
    let mut path: Vec<String> = cycle.iter().take(SHOWN).map(name).collect();
    if cycle.len() > SHOWN {
        path.push(format!("… {} more …", cycle.len() - SHOWN));
        path.push(name(last));
    }
    path.push(name(first));
    let message = if cycle.len() == 1 {
        format!("the task depends on itself: {}", path.join(" → "))
    } else {
        format!("the tasks depend on each other in a circle: {}", path.join(" → "))
    };
    let wish = wishes.iter().find(|wish| wish.task == *first && wish.on == *second);
    let (span, place) = wish.map_or((None, String::new()), |wish| (wish.span, wish.path.clone()));
    let help = if cycle.len() == 1 { "remove this dependency" } else { "remove one of these dependencies" };
    let help = Some(help.into());
    report.push(complaint(Code::Cycle, span, &place, message, help));
}

/// A gang has at least two members, and none waits for another.
fn check_gangs(report: &mut Report, drafts: &[Option<TaskDraft>], graph: &Graph) {
    // A task that could not be read may be the member that seems to be missing.
    let complete = drafts.iter().all(Option::is_some);
    let mut gangs: BTreeMap<&Name, Vec<TaskIndex>> = BTreeMap::new();
    for (position, draft) in drafts.iter().enumerate() {
        if let Some((draft, gang)) = draft.as_ref().and_then(|draft| Some((draft, draft.gang.as_ref()?))) {
            if draft.foreach.is_some() {
                let message = "a task with `foreach` cannot be in a gang".into();
                let help = Some("remove `gang`, or write its jobs as tasks".into());
                report.push(complaint(Code::BadGang, gang.span, &gang.path, message, help));
            }
            gangs.entry(&gang.name).or_default().push(TaskIndex(position as u32));
        }
    }
    let waiting = waiting_members(graph, gangs.values().map(Vec::as_slice));
    for ((gang, members), waits) in gangs.into_iter().zip(waiting) {
        let draft = |task: TaskIndex| drafts[task.position()].as_ref();
        let Some(first) = members.first().and_then(|member| draft(*member)) else { continue };
        let tell = |report: &mut Report, draft: &TaskDraft, message: String, help: &str| {
            if let Some(gang) = &draft.gang {
                report.push(complaint(Code::BadGang, gang.span, &gang.path, message, Some(help.into())));
            }
        };
        if members.len() == 1 && complete {
            let message = format!("the gang `{gang}` has a single member");
            tell(report, first, message, "give another task the same `gang`");
        }
        if members.iter().filter_map(|member| draft(*member)).any(|draft| draft.finally != first.finally) {
            let message = format!("the gang `{gang}` has members in `tasks` and in `finally`");
            tell(report, first, message, "use two gangs");
        }
        if report.is_full() {
            break;
        }
        if let Some(waits) = waits
            && let Some(on) = graph.ancestors(waits).into_iter().find(|on| members.binary_search(on).is_ok())
            && let (Some(waits), Some(on)) = (draft(waits), draft(on))
        {
            let message = format!(
                "in the gang `{gang}`, `{}` depends on `{}`: they cannot start together",
                waits.id, on.id
            );
            tell(report, waits, message, "remove the dependency, or take one of them out of the gang");
        }
    }
}

/// `any_failed` without anything that could fail never starts.
fn check_triggers(report: &mut Report, drafts: &[Option<TaskDraft>], graph: &Graph) {
    for (position, draft) in drafts.iter().enumerate() {
        let Some(draft) = draft.as_ref().filter(|draft| draft.trigger == TriggerRule::AnyFailed) else {
            continue;
        };
        // Names that do not resolve were told; only a task that names none waits for nothing.
        if draft.depends_on.is_empty() && graph.dependencies(TaskIndex(position as u32)).is_empty() {
            let message = "the task never starts: it waits for a failure, but depends on nothing";
            let help = Some("name tasks under `depends_on`, or remove `trigger`".into());
            let path = format!("{}.{}", if draft.finally { "finally" } else { "tasks" }, draft.id);
            report.push(complaint(Code::ConflictingKeys, draft.span, &path, message.into(), help));
        }
    }
}

/// For each gang, a member that depends on another member, if there is one.
///
/// Sixty-four gangs share one walk over the graph: each task learns which of them stand above it.
fn waiting_members<'a>(
    graph: &Graph,
    gangs: impl Iterator<Item = &'a [TaskIndex]>,
) -> Vec<Option<TaskIndex>> {
    let gangs: Vec<_> = gangs.collect();
    let mut waiting = vec![None; gangs.len()];
    for (gangs, waiting) in gangs.chunks(64).zip(waiting.chunks_mut(64)) {
        let mut own = vec![0_u64; graph.order().len()];
        for (gang, members) in gangs.iter().enumerate() {
            for member in *members {
                own[member.position()] = 1 << gang;
            }
        }
        let mut above = vec![0_u64; own.len()];
        for task in graph.order() {
            let met = graph
                .dependencies(*task)
                .iter()
                .fold(0, |met, on| met | above[on.position()] | own[on.position()]);
            above[task.position()] = met;
            if met & own[task.position()] != 0 {
                waiting[own[task.position()].trailing_zeros() as usize].get_or_insert(*task);
            }
        }
    }
    waiting
}

fn finish(draft: TaskDraft, by_id: &BTreeMap<String, TaskIndex>) -> Task {
    let indexes = |named: &[Named]| -> Vec<TaskIndex> {
        let mut found: Vec<_> = named.iter().filter_map(|named| by_id.get(&*named.task).copied()).collect();
        let mut seen = BTreeSet::new();
        found.retain(|index| seen.insert(*index));
        found
    };
    let depends_on = indexes(&draft.depends_on);
    let work = match draft.work {
        Draft::Work(work) => work,
        Draft::Switch(switch) => Work::Switch(Switch {
            cases: switch.cases.into_iter().map(|(when, then)| Case { when, then: indexes(&then) }).collect(),
            default: indexes(&switch.default),
        }),
    };
    let settings = draft.settings;
    Task {
        id: draft.id,
        description: draft.description,
        work,
        depends_on,
        trigger: draft.trigger,
        when: draft.when,
        foreach: draft.foreach,
        env: draft.env,
        retries: settings.retries.unwrap_or(Retries::NONE),
        timeout: settings.timeout,
        on_worker_lost: settings.on_worker_lost.unwrap_or_default(),
        orphan_timeout: settings.orphan_timeout,
        group: settings.group,
        worker_labels: settings.worker_labels.unwrap_or_default(),
        pool: settings.pool,
        resources: settings.resources.unwrap_or_default(),
        priority: settings.priority.unwrap_or_default(),
        gang: draft.gang.map(|gang| gang.name),
    }
}

fn complaint(
    code: Code,
    span: Option<Span>,
    path: &str,
    message: String,
    help: Option<String>,
) -> Diagnostic {
    Diagnostic { code, severity: Severity::Error, span, path: path.to_owned(), message, help }
}
