//! What waits for what, as index arrays that a scheduler walks without looking anything up.

use std::collections::BTreeSet;

/// Position of a task in its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskIndex(pub u32);

impl TaskIndex {
    /// As an index into slices.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

/// The dependencies between the tasks of one definition; acyclic by construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    dependencies: Lists,
    dependents: Lists,
    order: Box<[TaskIndex]>,
}

/// The tasks of a circle, each depending on the next and the last on the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle(pub Vec<TaskIndex>);

impl Graph {
    /// The graph of `task_count` tasks where `edges` are (task, what it depends on); or its cycles, at
    /// most ten that share no task.
    pub fn new(task_count: usize, edges: &BTreeSet<(TaskIndex, TaskIndex)>) -> Result<Graph, Vec<Cycle>> {
        let dependencies = Lists::new(task_count, edges.iter().map(|(task, on)| (*task, *on)));
        let dependents = Lists::new(task_count, edges.iter().map(|(task, on)| (*on, *task)));
        let order = topological_order(&dependencies, &dependents);
        if order.len() < task_count {
            return Err(cycles(&dependencies, &order, task_count));
        }
        Ok(Graph { dependencies, dependents, order: order.into() })
    }

    /// What a task waits for, in the order of the file.
    pub fn dependencies(&self, task: TaskIndex) -> &[TaskIndex] {
        self.dependencies.of(task)
    }

    /// What waits for a task, in the order of the file.
    pub fn dependents(&self, task: TaskIndex) -> &[TaskIndex] {
        self.dependents.of(task)
    }

    /// Every task once, after all it depends on; otherwise in the order of the file.
    pub fn order(&self) -> &[TaskIndex] {
        &self.order
    }

    /// Every edge as (dependency, dependent), for drawing.
    pub fn edges(&self) -> impl Iterator<Item = (TaskIndex, TaskIndex)> {
        (0..self.order.len() as u32)
            .map(TaskIndex)
            .flat_map(|task| self.dependencies(task).iter().map(move |on| (*on, task)))
    }

    /// Everything `task` depends on, directly or not, in the order of the file.
    pub fn ancestors(&self, task: TaskIndex) -> Vec<TaskIndex> {
        self.dependencies.reachable(task)
    }

    /// Everything that depends on `task`, directly or not, in the order of the file.
    pub fn descendants(&self, task: TaskIndex) -> Vec<TaskIndex> {
        self.dependents.reachable(task)
    }
}

/// For each task a list of tasks, in two flat arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lists {
    starts: Box<[u32]>,
    items: Box<[TaskIndex]>,
}

impl Lists {
    fn new(count: usize, pairs: impl Iterator<Item = (TaskIndex, TaskIndex)> + Clone) -> Lists {
        let mut starts = vec![0u32; count + 1];
        for (from, _) in pairs.clone() {
            starts[from.position() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut items = vec![TaskIndex(0); starts[count] as usize];
        for (from, to) in pairs {
            let slot = &mut next[from.position()];
            items[*slot as usize] = to;
            *slot += 1;
        }
        Lists { starts: starts.into(), items: items.into() }
    }

    fn of(&self, task: TaskIndex) -> &[TaskIndex] {
        let position = task.position();
        &self.items[self.starts[position] as usize..self.starts[position + 1] as usize]
    }

    fn reachable(&self, from: TaskIndex) -> Vec<TaskIndex> {
        let mut seen = vec![false; self.starts.len() - 1];
        let mut open = vec![from];
        while let Some(task) = open.pop() {
            for next in self.of(task) {
                if !std::mem::replace(&mut seen[next.position()], true) {
                    open.push(*next);
                }
            }
        }
        (0..seen.len() as u32).map(TaskIndex).filter(|task| seen[task.position()]).collect()
    }
}

/// Every task after its dependencies; tasks in or behind a cycle are missing.
fn topological_order(dependencies: &Lists, dependents: &Lists) -> Vec<TaskIndex> {
    let count = dependencies.starts.len() - 1;
    let tasks = || (0..count as u32).map(TaskIndex);
    let mut missing: Vec<usize> = tasks().map(|task| dependencies.of(task).len()).collect();
    let mut order: Vec<TaskIndex> = tasks().filter(|task| missing[task.position()] == 0).collect();
    let mut done = 0;
    while done < order.len() {
        let task = order[done];
        done += 1;
        for dependent in dependents.of(task) {
            missing[dependent.position()] -= 1;
            if missing[dependent.position()] == 0 {
                order.push(*dependent);
            }
        }
    }
    order
}

/// Cycles among the tasks that `order` lacks; they share no task.
fn cycles(dependencies: &Lists, order: &[TaskIndex], task_count: usize) -> Vec<Cycle> {
    /// More than this helps nobody.
    const MOST: usize = 10;
    let mut sorted_out = vec![false; task_count];
    for task in order {
        sorted_out[task.position()] = true;
    }
    let mut found = Vec::new();
    for start in (0..task_count as u32).map(TaskIndex) {
        if found.len() == MOST {
            break;
        }
        let mut path: Vec<TaskIndex> = Vec::new();
        let mut place_in_path = std::collections::BTreeMap::new();
        let mut task = start;
        // From a task in or behind a cycle, some dependency always leads on, until one repeats or
        // the walk meets a cycle that was already told.
        while !sorted_out[task.position()] {
            if let Some(place) = place_in_path.insert(task, path.len()) {
                let mut circle = path[place..].to_vec();
                let first = (0..circle.len()).min_by_key(|index| circle[*index]).unwrap_or(0);
                circle.rotate_left(first);
                found.push(Cycle(circle));
                break;
            }
            path.push(task);
            match dependencies.of(task).iter().find(|on| !sorted_out[on.position()]) {
                Some(on) => task = *on,
                None => break,
            }
        }
        for task in path {
            sorted_out[task.position()] = true;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(count: usize, edges: &[(u32, u32)]) -> Result<Graph, Vec<Cycle>> {
        Graph::new(count, &edges.iter().map(|(task, on)| (TaskIndex(*task), TaskIndex(*on))).collect())
    }

    fn indexes(tasks: &[TaskIndex]) -> Vec<u32> {
        tasks.iter().map(|task| task.0).collect()
    }

    #[test]
    fn a_diamond_knows_both_directions() {
        let graph = graph(4, &[(1, 0), (2, 0), (3, 1), (3, 2)]).unwrap();
        assert_eq!(indexes(graph.dependencies(TaskIndex(3))), [1, 2]);
        assert_eq!(indexes(graph.dependents(TaskIndex(0))), [1, 2]);
        assert_eq!(indexes(graph.order()), [0, 1, 2, 3]);
        assert_eq!(indexes(&graph.ancestors(TaskIndex(3))), [0, 1, 2]);
        assert_eq!(indexes(&graph.descendants(TaskIndex(0))), [1, 2, 3]);
        assert_eq!(graph.edges().count(), 4);
    }

    #[test]
    fn cycles_are_told_as_paths_from_their_first_task() {
        let found = graph(7, &[(0, 1), (1, 2), (2, 1), (3, 3), (4, 5), (5, 6), (6, 4)]).unwrap_err();
        let paths: Vec<_> = found.iter().map(|cycle| indexes(&cycle.0)).collect();
        assert_eq!(paths, [vec![1, 2], vec![3], vec![4, 5, 6]]);
    }

    #[test]
    fn depth_costs_no_stack() {
        let edges: Vec<_> = (1..50_000).map(|task| (task, task - 1)).collect();
        let graph = graph(50_000, &edges).unwrap();
        assert_eq!(graph.ancestors(TaskIndex(49_999)).len(), 49_999);
    }
}
