//! A component in which every line joins two neighbouring layers.
//!
//! A long edge gets a *bend*, a node without a task, in each layer it crosses. From here on a node is
//! a task or a bend, and only [`Layered::is_bend`] tells them apart.

use std::ops::Range;

use super::adjacency::Adjacency;
use super::components::Component;
use super::layers::Flow;

/// Bends in a whole layout. Ten times the tasks of a large graph: enough for each edge of a usual
/// graph of 10,000 tasks, few enough that time and memory do not notice a graph of only long edges.
const BENDS_MAX: u64 = 100_000;

/// Which edges run through bends, by edge: all, or as many of the shortest as [`BENDS_MAX`] allows.
/// The others are straight lines that may pass over tasks and take no part in ordering.
pub(super) fn routed(flow: &Flow) -> Vec<bool> {
    let mut by_span: Vec<(u32, usize)> =
        (0..flow.edges.len()).filter_map(|edge| flow.span(edge).map(|span| (span, edge))).collect();
    by_span.sort_unstable();
    let mut routed = vec![false; flow.edges.len()];
    let mut bends = 0;
    for (span, edge) in by_span {
        bends += u64::from(span) - 1;
        if bends > BENDS_MAX {
            break;
        }
        routed[edge] = true;
    }
    routed
}

/// One component; its tasks come first among the nodes, in the component's order.
pub(super) struct Layered {
    task_count: usize,
    /// By node.
    pub(super) layers: Vec<u32>,
    /// By edge of the component, the nodes that are its bends, left to right.
    pub(super) bends: Vec<Range<usize>>,
    /// Lines to the layer on the left.
    pub(super) left: Adjacency,
    /// Lines to the layer on the right.
    pub(super) right: Adjacency,
    column_starts: Vec<usize>,
}

impl Layered {
    pub(super) fn new(flow: &Flow, routed: &[bool], component: &Component) -> Self {
        let node = |task: u32| component.tasks.partition_point(|&other| other < task) as u32;
        let mut layers: Vec<u32> = component.tasks.iter().map(|&task| flow.layers[task as usize]).collect();
        let mut bends = Vec::with_capacity(component.edges.len());
        let mut lines = Vec::new();
        for &edge in &component.edges {
            let first = layers.len();
            if routed[edge as usize] {
                let (from, to) = flow.edges[edge as usize];
                layers.extend(flow.layers[from as usize] + 1..flow.layers[to as usize]);
                let mut at = node(from);
                for bend in first as u32..layers.len() as u32 {
                    lines.push((at, bend));
                    at = bend;
                }
                lines.push((at, node(to)));
            }
            bends.push(first..layers.len());
        }

        let column_count = layers.iter().max().map_or(0, |&last| last as usize + 1);
        let mut column_starts = vec![0; column_count + 1];
        for &layer in &layers {
            column_starts[layer as usize + 1] += 1;
        }
        for column in 0..column_count {
            column_starts[column + 1] += column_starts[column];
        }
        Layered {
            task_count: component.tasks.len(),
            bends,
            left: Adjacency::new(layers.len(), lines.iter().map(|&(from, to)| (to, from))),
            right: Adjacency::new(layers.len(), lines.iter().copied()),
            layers,
            column_starts,
        }
    }

    pub(super) fn is_bend(&self, node: u32) -> bool {
        node as usize >= self.task_count
    }

    pub(super) fn node_count(&self) -> usize {
        self.layers.len()
    }

    pub(super) fn column_count(&self) -> usize {
        self.column_starts.len() - 1
    }

    /// Where the nodes of a layer stand in a list of all nodes sorted by layer.
    pub(super) fn column(&self, layer: usize) -> Range<usize> {
        self.column_starts[layer]..self.column_starts[layer + 1]
    }

    /// Nodes and lines: what one pass over the component costs.
    pub(super) fn size(&self) -> usize {
        self.node_count() + self.right.edge_count()
    }
}
