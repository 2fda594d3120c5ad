//! Which layer each task is in, and which edges the layers can honour.

use super::adjacency::Adjacency;

/// The tidied graph with a layer for each task.
pub(super) struct Flow {
    /// Distinct edges between two different tasks that exist, sorted.
    pub(super) edges: Vec<(u32, u32)>,
    /// By task. Invariant: a forward edge leads to a larger layer.
    pub(super) layers: Vec<u32>,
    /// By edge: false for an edge that closes a cycle.
    pub(super) forward: Vec<bool>,
}

impl Flow {
    pub(super) fn new(task_count: u32, edges: &[(u32, u32)]) -> Self {
        let mut edges: Vec<(u32, u32)> = edges
            .iter()
            .copied()
            .filter(|&(from, to)| from != to && from < task_count && to < task_count)
            .collect();
        edges.sort_unstable();
        edges.dedup();

        let sequence = sequence(task_count as usize, &edges);
        let mut rank = vec![0u32; task_count as usize];
        for (at, &task) in sequence.iter().enumerate() {
            rank[task as usize] = at as u32;
        }
        let forward: Vec<bool> =
            edges.iter().map(|&(from, to)| rank[from as usize] < rank[to as usize]).collect();
        let layers = layers(&sequence, &edges, &forward);
        Flow { edges, layers, forward }
    }

    /// Layers from the start of an edge to its end; `None` for one that closes a cycle.
    pub(super) fn span(&self, edge: usize) -> Option<u32> {
        let (from, to) = self.edges[edge];
        self.forward[edge].then(|| self.layers[to as usize] - self.layers[from as usize])
    }
}

/// Every task once, after its predecessors as far as cycles permit. Where only cycles are left, the
/// task with the smallest index goes first.
fn sequence(task_count: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let after = Adjacency::new(task_count, edges.iter().copied());
    let mut waiting_for = vec![0u32; task_count];
    for &(_, to) in edges {
        waiting_for[to as usize] += 1;
    }
    let mut listed: Vec<bool> = waiting_for.iter().map(|&count| count == 0).collect();
    let mut sequence: Vec<u32> = (0..task_count as u32).filter(|&task| listed[task as usize]).collect();
    let mut unlisted_from = 0;
    let mut done = 0;
    loop {
        if done == sequence.len() {
            while unlisted_from < task_count && listed[unlisted_from] {
                unlisted_from += 1;
            }
            if unlisted_from == task_count {
                return sequence;
            }
            listed[unlisted_from] = true;
            sequence.push(unlisted_from as u32);
        }
        for &next in after.of(sequence[done]) {
            let next_at = next as usize;
            waiting_for[next_at] -= 1;
            if waiting_for[next_at] == 0 && !listed[next_at] {
                listed[next_at] = true;
                sequence.push(next);
            }
        }
        done += 1;
    }
}

/// Longest way to each task; then a task with more successors than predecessors moves right, up to
/// its first successor, which shortens more lines than it lengthens.
///
/// Invariant: the tasks of a longest way never move, so no layer of a component is empty.
fn layers(sequence: &[u32], edges: &[(u32, u32)], forward: &[bool]) -> Vec<u32> {
    let edges = edges.iter().zip(forward).filter(|(_, forward)| **forward).map(|(edge, _)| *edge);
    let after = Adjacency::new(sequence.len(), edges.clone());
    let mut layers = vec![0u32; sequence.len()];
    for &task in sequence {
        let next_layer = layers[task as usize] + 1;
        for &next in after.of(task) {
            layers[next as usize] = layers[next as usize].max(next_layer);
        }
    }
    let mut before_count = vec![0usize; sequence.len()];
    for (_, to) in edges {
        before_count[to as usize] += 1;
    }
    for &task in sequence.iter().rev() {
        let nexts = after.of(task);
        if nexts.len() > before_count[task as usize]
            && let Some(first) = nexts.iter().map(|&next| layers[next as usize]).min()
        {
            layers[task as usize] = first - 1;
        }
    }
    layers
}
