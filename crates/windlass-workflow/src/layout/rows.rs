//! The row of each node: lines should be short, and long ones straight.
//!
//! Each layer in turn takes the rows nearest to those of its neighbours that keep its order. That is
//! isotonic regression, which merging neighbours that want to pass each other solves exactly in
//! linear time. Afterwards, chains of nodes that nothing else hangs on are pulled straight.

use super::layered::Layered;
use super::ordering::Order;

/// Passes that pull each layer towards one side and then the other; they carry a position through
/// the whole graph. The second round starts from where the far end wants to be.
const CARRYING_ROUNDS: usize = 2;

/// Passes that weigh both sides; they settle what is between.
const SETTLING_ROUNDS: usize = 2;

/// A chain pulled straight may make room for another.
const STRAIGHTENING_ROUNDS: usize = 2;

/// The row of each node, from 0. Invariant: rows grow along each layer, so no two nodes share a cell.
pub(super) fn assign(graph: &Layered, order: &Order) -> Vec<u32> {
    let mut rows = centred(graph, order);
    let last = graph.column_count();
    for _ in 0..CARRYING_ROUNDS {
        (0..last).for_each(|layer| settle(graph, order, &mut rows, layer, Pull { left: true, right: false }));
        (0..last).rev().for_each(|layer| {
            settle(graph, order, &mut rows, layer, Pull { left: false, right: true });
        });
    }
    let both = Pull { left: true, right: true };
    for _ in 0..SETTLING_ROUNDS {
        (0..last).for_each(|layer| settle(graph, order, &mut rows, layer, both));
        (0..last).rev().for_each(|layer| settle(graph, order, &mut rows, layer, both));
    }
    let chains = chains(graph);
    for _ in 0..STRAIGHTENING_ROUNDS {
        for chain in &chains {
            straighten(graph, order, &mut rows, chain);
        }
    }
    without_empty_rows(&rows)
}

/// Each layer without gaps, its middle in row 0.
fn centred(graph: &Layered, order: &Order) -> Vec<i64> {
    (0..graph.node_count())
        .map(|node| {
            let height = graph.column(graph.layers[node] as usize).len();
            i64::from(order.positions[node]) - (height / 2) as i64
        })
        .collect()
}

#[derive(Clone, Copy)]
struct Pull {
    left: bool,
    right: bool,
}

/// Nodes of a layer that stand in consecutive rows. Its mean is where the first of them wants to be.
struct Run {
    sum: i64,
    weight: i64,
    len: usize,
}

impl Run {
    fn collides_with(&self, next: &Run) -> bool {
        i128::from(self.sum) * i128::from(next.weight) >= i128::from(next.sum) * i128::from(self.weight)
    }

    /// The mean, rounded. A half goes up the page for one node and down for several, so that a task
    /// with two successors agrees with them on the row of the first; with one rule for both, each
    /// pass would move one past the other. Runs do not share a mean, so they cannot collide by this.
    fn row(&self) -> i64 {
        let half = if self.len == 1 { self.weight - 1 } else { self.weight };
        (2 * self.sum + half).div_euclid(2 * self.weight)
    }
}

/// Moves the nodes of a layer to the rows with the least weighted squared distance to their
/// neighbours, without changing their order.
fn settle(graph: &Layered, order: &Order, rows: &mut [i64], layer: usize, pull: Pull) {
    let nodes = &order.nodes[graph.column(layer)];
    let mut runs: Vec<Run> = Vec::with_capacity(nodes.len());
    for (at, &node) in nodes.iter().enumerate() {
        let mut run = wish(graph, rows, node, pull);
        run.sum -= at as i64 * run.weight;
        while let Some(above) = runs.pop_if(|above| above.collides_with(&run)) {
            run =
                Run { sum: above.sum + run.sum, weight: above.weight + run.weight, len: above.len + run.len };
        }
        runs.push(run);
    }
    let mut at = 0;
    for run in runs {
        let row = run.row();
        for _ in 0..run.len {
            rows[nodes[at] as usize] = row + at as i64;
            at += 1;
        }
    }
}

/// The rows of a node's neighbours, weighted; without any, the node is content where it is.
fn wish(graph: &Layered, rows: &[i64], node: u32, pull: Pull) -> Run {
    let lefts = if pull.left { graph.left.of(node) } else { &[] };
    let rights = if pull.right { graph.right.of(node) } else { &[] };
    let mut wish = Run { sum: 0, weight: 0, len: 1 };
    for &next in lefts.iter().chain(rights) {
        // The weights of Graphviz's `dot`: a kink in the middle of a long edge is the worst.
        let weight = match (graph.is_bend(node), graph.is_bend(next)) {
            (true, true) => 8,
            (true, false) | (false, true) => 2,
            (false, false) => 1,
        };
        wish.sum += weight * rows[next as usize];
        wish.weight += weight;
    }
    if wish.weight == 0 {
        wish = Run { sum: rows[node as usize], weight: 1, len: 1 };
    }
    wish
}

/// Maximal ways along which each node is the only one on its side of the next. The bends of an edge
/// are always on one chain.
fn chains(graph: &Layered) -> Vec<Vec<u32>> {
    let follower = |node: u32| match graph.right.of(node) {
        &[next] if graph.left.of(next).len() == 1 => Some(next),
        _ => None,
    };
    let follows = |node: u32| matches!(graph.left.of(node), &[before] if follower(before).is_some());
    (0..graph.node_count() as u32)
        .filter(|&node| !follows(node) && follower(node).is_some())
        .map(|head| std::iter::successors(Some(head), |&node| follower(node)).collect())
        .collect()
}

/// Puts each stretch of the chain that has a common free row into one.
fn straighten(graph: &Layered, order: &Order, rows: &mut [i64], chain: &[u32]) {
    let mut stretch_start = 0;
    let mut common = (i64::MIN, i64::MAX);
    for (at, &node) in chain.iter().enumerate() {
        let free = free_rows(graph, order, rows, node);
        let narrowed = (common.0.max(free.0), common.1.min(free.1));
        if narrowed.0 <= narrowed.1 {
            common = narrowed;
        } else {
            level(graph, rows, &chain[stretch_start..at], common);
            (stretch_start, common) = (at, free);
        }
    }
    level(graph, rows, &chain[stretch_start..], common);
}

/// The first and the last row a node may stand in without passing another of its layer.
fn free_rows(graph: &Layered, order: &Order, rows: &[i64], node: u32) -> (i64, i64) {
    let column = &order.nodes[graph.column(graph.layers[node as usize] as usize)];
    let at = order.positions[node as usize] as usize;
    let above = at.checked_sub(1).map_or(i64::MIN, |above| rows[column[above] as usize] + 1);
    let below = column.get(at + 1).map_or(i64::MAX, |&below| rows[below as usize] - 1);
    (above, below)
}

/// Puts a stretch of a chain into one of its common rows: the row of the node before or after it if
/// that is next to where the stretch is now, else the nearest to where it is.
fn level(graph: &Layered, rows: &mut [i64], stretch: &[u32], (first, last): (i64, i64)) {
    let (&[head, ..], &[.., tail]) = (stretch, stretch) else { return };
    let sum: i64 = stretch.iter().map(|&node| rows[node as usize]).sum();
    let mean = sum.div_euclid(stretch.len() as i64);
    let ends = [graph.left.of(head), graph.right.of(tail)];
    let row = ends
        .iter()
        .filter_map(|end| match end {
            &[only] => Some(rows[*only as usize]),
            _ => None,
        })
        .find(|row| (mean - 1..=mean + 1).contains(row) && (first..=last).contains(row))
        .unwrap_or(mean.clamp(first, last));
    for &node in stretch {
        rows[node as usize] = row;
    }
}

/// Closes the rows in which no layer has a node; that keeps order and straightness.
fn without_empty_rows(rows: &[i64]) -> Vec<u32> {
    let mut by_row: Vec<u32> = (0..rows.len() as u32).collect();
    by_row.sort_unstable_by_key(|&node| rows[node as usize]);
    let mut closed = vec![0; rows.len()];
    let mut row = 0;
    for pair in by_row.windows(2) {
        let (above, below) = (pair[0] as usize, pair[1] as usize);
        row += u32::from(rows[above] != rows[below]);
        closed[below] = row;
    }
    closed
}
