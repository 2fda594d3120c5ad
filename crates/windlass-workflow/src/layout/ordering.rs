//! The order of the nodes within each layer: few lines should cross.
//!
//! Sweeps to and fro sort each layer by the mean position of its neighbours in the layer just
//! sorted, then swap neighbours that cross less the other way round; the best order seen wins. The
//! start is a depth-first walk by task index, so siblings stay in the order of the file unless a
//! crossing is saved by moving them, and a tree needs no sweep at all.

use super::layered::Layered;

/// The limit Graphviz's `dot` uses for the same sweeps.
const SWEEPS_MAX: usize = 24;

/// Even a huge graph gets one sweep each way.
const SWEEPS_MIN: usize = 2;

/// Nodes and lines visited by all sweeps together; about a tenth of a second.
const SWEEP_WORK_MAX: usize = 1_500_000;

/// Sweeps without a better order before giving up: one round of both directions and both tie-breaks.
const PATIENCE: usize = 4;

/// Nodes with more lines on a side than this are never swapped: comparing two costs their lines, and
/// a swap that carries a hub down a long layer would cost the square of its size.
const SWAP_LINES_MAX: usize = 32;

/// How many sweeps a layout with so many nodes and lines can afford.
pub(super) fn sweeps_for(size: usize) -> usize {
    (SWEEP_WORK_MAX / size.max(1)).clamp(SWEEPS_MIN, SWEEPS_MAX)
}

/// The nodes of a component layer by layer, each layer top to bottom.
#[derive(Clone)]
pub(super) struct Order {
    pub(super) nodes: Vec<u32>,
    /// By node, its index within its layer.
    pub(super) positions: Vec<u32>,
}

/// The best order found in so many sweeps.
pub(super) fn arrange(graph: &Layered, sweeps: usize) -> Order {
    let mut order = depth_first(graph);
    let mut best = order.clone();
    let mut fewest = crossings(graph, &best);
    let mut idle = 0;
    for sweep in 0..sweeps {
        if fewest == 0 || idle == PATIENCE {
            break;
        }
        let ties = if sweep / 2 % 2 == 0 { Ties::Keep } else { Ties::Reverse };
        if sweep % 2 == 0 {
            for layer in 1..graph.column_count() {
                sort_layer(graph, &mut order, layer, Side::Left, ties);
            }
        } else {
            for layer in (0..graph.column_count().saturating_sub(1)).rev() {
                sort_layer(graph, &mut order, layer, Side::Right, ties);
            }
        }
        swap_neighbours(graph, &mut order);
        let found = crossings(graph, &order);
        idle += 1;
        if found < fewest {
            (fewest, idle) = (found, 0);
            best.clone_from(&order);
        }
    }
    best
}

/// How many pairs of lines cross. Lines that share an end do not.
pub(super) fn crossings(graph: &Layered, order: &Order) -> u64 {
    let mut total = 0;
    for layer in 1..graph.column_count() {
        let mut ends = Fenwick::new(graph.column(layer).len());
        let mut lines = 0u64;
        for &node in &order.nodes[graph.column(layer - 1)] {
            let rights = graph.right.of(node);
            for &right in rights {
                total += lines - ends.count_up_to(order.positions[right as usize]);
            }
            for &right in rights {
                ends.add(order.positions[right as usize]);
            }
            lines += rights.len() as u64;
        }
    }
    total
}

/// Counts of positions with running sums, both in logarithmic time.
struct Fenwick(Vec<u64>);

impl Fenwick {
    fn new(len: usize) -> Self {
        Fenwick(vec![0; len + 1])
    }

    fn add(&mut self, position: u32) {
        let mut at = position as usize + 1;
        while at < self.0.len() {
            self.0[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    fn count_up_to(&self, position: u32) -> u64 {
        let mut at = position as usize + 1;
        let mut sum = 0;
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}

/// Each layer in the order a walk along the lines, first to the right, first meets its nodes.
fn depth_first(graph: &Layered) -> Order {
    let node_count = graph.node_count();
    let mut seen = vec![false; node_count];
    let mut free: Vec<usize> = (0..graph.column_count()).map(|layer| graph.column(layer).start).collect();
    let mut order = Order { nodes: vec![0; node_count], positions: vec![0; node_count] };
    let mut to_visit = Vec::new();
    // Sources first; what they do not reach is joined by edges that have no bends.
    let nodes = 0..node_count as u32;
    let starts = nodes.clone().filter(|&node| graph.left.of(node).is_empty()).chain(nodes);
    for start in starts {
        to_visit.push(start);
        while let Some(node) = to_visit.pop() {
            if std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            let layer = graph.layers[node as usize] as usize;
            order.positions[node as usize] = (free[layer] - graph.column(layer).start) as u32;
            order.nodes[free[layer]] = node;
            free[layer] += 1;
            let unseen = |next: &&u32| !seen[**next as usize];
            to_visit.extend(graph.left.of(node).iter().rev().filter(unseen));
            to_visit.extend(graph.right.of(node).iter().rev().filter(unseen));
        }
    }
    order
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// What becomes of nodes that want the same position. Reversing them now and then leads out of
/// orders that no single sweep improves.
#[derive(Clone, Copy)]
enum Ties {
    Keep,
    Reverse,
}

/// Sorts a layer by the mean position of each node's neighbours on one side. Nodes without any keep
/// their positions.
fn sort_layer(graph: &Layered, order: &mut Order, layer: usize, side: Side, ties: Ties) {
    // Means are compared as fixed-point numbers: exact enough, and the same on every machine.
    const FRACTION_BITS: u32 = 20;
    let column = graph.column(layer);
    let mut wishes: Vec<(u64, u32, u32)> = Vec::with_capacity(column.len());
    let mut slots: Vec<usize> = Vec::with_capacity(column.len());
    for at in column.clone() {
        let node = order.nodes[at];
        let neighbours = match side {
            Side::Left => graph.left.of(node),
            Side::Right => graph.right.of(node),
        };
        if neighbours.is_empty() {
            continue;
        }
        let sum: u64 = neighbours.iter().map(|&next| u64::from(order.positions[next as usize])).sum();
        let position = order.positions[node as usize];
        let tie = match ties {
            Ties::Keep => position,
            Ties::Reverse => u32::MAX - position,
        };
        wishes.push(((sum << FRACTION_BITS) / neighbours.len() as u64, tie, node));
        slots.push(at);
    }
    wishes.sort_unstable();
    for ((_, _, node), at) in wishes.into_iter().zip(slots) {
        order.nodes[at] = node;
        order.positions[node as usize] = (at - column.start) as u32;
    }
}

/// One pass over each layer that swaps two neighbours if their lines then cross less.
fn swap_neighbours(graph: &Layered, order: &mut Order) {
    let mut upper = Ends::default();
    let mut lower = Ends::default();
    for layer in 0..graph.column_count() {
        let column = graph.column(layer);
        let start = column.start;
        let Some(&first) = order.nodes[column.clone()].first() else { continue };
        upper.load(graph, order, first);
        for at in column.skip(1) {
            let node = order.nodes[at];
            lower.load(graph, order, node);
            if upper.is_better_below(&lower) {
                order.nodes.swap(at - 1, at);
                order.positions[node as usize] = (at - 1 - start) as u32;
                order.positions[order.nodes[at] as usize] = (at - start) as u32;
            } else {
                std::mem::swap(&mut upper, &mut lower);
            }
        }
    }
}

/// Sorted positions at the far ends of one node's lines; not filled in for a hub.
#[derive(Default)]
struct Ends {
    is_hub: bool,
    left: Vec<u32>,
    right: Vec<u32>,
}

impl Ends {
    fn load(&mut self, graph: &Layered, order: &Order, node: u32) {
        let (lefts, rights) = (graph.left.of(node), graph.right.of(node));
        self.is_hub = lefts.len().max(rights.len()) > SWAP_LINES_MAX;
        for (ends, neighbours) in [(&mut self.left, lefts), (&mut self.right, rights)] {
            ends.clear();
            if !self.is_hub {
                ends.extend(neighbours.iter().map(|&next| order.positions[next as usize]));
                ends.sort_unstable();
            }
        }
    }

    fn is_better_below(&self, below: &Ends) -> bool {
        !self.is_hub && !below.is_hub && self.crossings_above(below) > below.crossings_above(self)
    }

    /// Crossings between the lines of the two if `self` stands above `below`.
    fn crossings_above(&self, below: &Ends) -> usize {
        inversions(&self.left, &below.left) + inversions(&self.right, &below.right)
    }
}

/// Pairs of which the one from `above` is larger than the one from `below`; both are sorted.
fn inversions(above: &[u32], below: &[u32]) -> usize {
    let mut smaller = 0;
    let mut total = 0;
    for &end in above {
        while smaller < below.len() && below[smaller] < end {
            smaller += 1;
        }
        total += smaller;
    }
    total
}
