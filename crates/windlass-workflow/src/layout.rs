//! Where each task of a graph is drawn.
//!
//! The picture is a grid of cells: one unit is the cell of one node, layers run left to right along
//! `x`, and `y` grows downwards. Positions are integers, so every machine draws the same picture;
//! how many pixels a cell has is the viewer's business. Nothing here knows about names, states or
//! colours.
//!
//! ```text
//!   tidy edges ─► layers ─► components ─► per component: bends, order, rows ─► packing
//! ```
//!
//! - A task's layer is the longest way to it; a task with more successors than predecessors then
//!   moves right, next to its first successor, so that a source does not sit far from its use.
//! - Within a component, `x` is the layer. A layer is always one column, however high: a fan-out of
//!   5,000 is a column of 5,000, because wrapping it would send its edges through its own tasks.
//! - An edge over several layers gets a free cell in each of them, so that it passes no task's cell.
//! - Components do not interleave: each has its own rectangle, with one free cell between two.
//! - Tasks without any edge form one grid below the rest.
//!
//! The cost is bounded: sweeps and bends have budgets, and a graph too large for them is drawn less
//! well, not later. No step recurses.

mod adjacency;
mod components;
mod layered;
mod layers;
mod ordering;
mod packing;
mod rows;
#[cfg(test)]
mod tests;

use components::Component;
use layered::Layered;
use layers::Flow;
use packing::Size;

/// A drawn graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// One place per task, by task index. No two tasks share a cell.
    pub places: Vec<Place>,
    /// Each distinct edge between two different tasks, sorted by `from`, then `to`.
    pub edges: Vec<Edge>,
    /// Cells from left to right; every `x` is smaller.
    pub width: u32,
    /// Cells from top to bottom; every `y` is smaller.
    pub height: u32,
}

/// Where one task is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Depth within its component, from 0; an edge leads to a larger layer.
    pub layer: u32,
    /// Rank among all tasks of that layer, from 0, top to bottom, then left to right.
    pub order: u32,
    /// Column of the cell.
    pub x: u32,
    /// Row of the cell.
    pub y: u32,
}

/// How one edge is drawn: from its source through the bends to its target, in straight lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the task that comes first.
    pub from: u32,
    /// Index of the task that depends on it.
    pub to: u32,
    /// Cells `(x, y)` where the line changes its direction; usually none. In a graph of more long
    /// edges than the budget allows, the longest have none either and may pass over tasks.
    pub bends: Vec<(u32, u32)>,
}

/// Draws a graph of `task_count` tasks; an edge `(from, to)` names two of them by index.
///
/// The graph should be acyclic. Of one that is not, the edges that close a cycle are drawn backwards,
/// without bends. Self-loops, duplicates and edges to tasks that do not exist are left out. An index
/// is a `u32`, so tasks beyond `u32::MAX` get no place.
///
/// ```
/// use windlass_workflow::layout::layout;
///
/// // 0 ─► 1 ─► 3
/// //   └► 2 ─┘
/// let diamond = layout(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
/// assert_eq!((diamond.width, diamond.height), (3, 2));
/// assert_eq!((diamond.places[2].x, diamond.places[2].y), (1, 1));
/// ```
pub fn layout(task_count: usize, edges: &[(u32, u32)]) -> Layout {
    let task_count = u32::try_from(task_count).unwrap_or(u32::MAX);
    let flow = Flow::new(task_count, edges);
    let routed = layered::routed(&flow);
    let (components, lonely) = components::split(&flow);

    let graphs: Vec<Layered> =
        components.iter().map(|component| Layered::new(&flow, &routed, component)).collect();
    let sweeps = ordering::sweeps_for(graphs.iter().map(Layered::size).sum());
    let drawn: Vec<Drawn> = graphs.into_iter().map(|graph| Drawn::new(graph, sweeps)).collect();

    let sizes: Vec<Size> = drawn.iter().map(Drawn::size).collect();
    let packing = packing::pack(&sizes, lonely.len());

    let mut layout = Layout {
        places: flow.layers.iter().map(|&layer| Place { layer, ..Place::default() }).collect(),
        edges: flow.edges.iter().map(|&(from, to)| Edge { from, to, bends: Vec::new() }).collect(),
        width: packing.size.width,
        height: packing.size.height,
    };
    for ((component, drawn), &corner) in components.iter().zip(&drawn).zip(&packing.corners) {
        drawn.put(&mut layout, component, corner);
    }
    for (&task, (x, y)) in lonely.iter().zip(packing.grid()) {
        let place = &mut layout.places[task as usize];
        (place.x, place.y) = (x, y);
    }
    number_within_layers(&mut layout.places);
    layout
}

/// One component with its rows decided, its corner still at `(0, 0)`.
struct Drawn {
    graph: Layered,
    rows: Vec<u32>,
}

impl Drawn {
    fn new(graph: Layered, sweeps: usize) -> Self {
        let order = ordering::arrange(&graph, sweeps);
        let rows = rows::assign(&graph, &order);
        Drawn { graph, rows }
    }

    fn size(&self) -> Size {
        Size {
            width: self.graph.column_count() as u32,
            height: self.rows.iter().max().map_or(0, |highest| highest + 1),
        }
    }

    fn put(&self, layout: &mut Layout, component: &Component, (left, top): (u32, u32)) {
        let cell = |node: usize| (left + self.graph.layers[node], top + self.rows[node]);
        for (node, &task) in component.tasks.iter().enumerate() {
            let place = &mut layout.places[task as usize];
            (place.x, place.y) = cell(node);
        }
        for (&edge, bends) in component.edges.iter().zip(&self.graph.bends) {
            let edge = &mut layout.edges[edge as usize];
            let from = layout.places[edge.from as usize];
            let to = layout.places[edge.to as usize];
            edge.bends = corners((from.x, from.y), bends.clone().map(cell), (to.x, to.y));
        }
    }
}

/// The points at which the line turns. Each point is one column right of the one before.
fn corners(from: (u32, u32), through: impl Iterator<Item = (u32, u32)>, to: (u32, u32)) -> Vec<(u32, u32)> {
    let mut through = through.peekable();
    let mut turns = Vec::new();
    let mut before = from;
    while let Some(here) = through.next() {
        let after = through.peek().copied().unwrap_or(to);
        if i64::from(here.1) - i64::from(before.1) != i64::from(after.1) - i64::from(here.1) {
            turns.push(here);
        }
        before = here;
    }
    turns
}

fn number_within_layers(places: &mut [Place]) {
    let mut reading: Vec<u32> = (0..places.len() as u32).collect();
    reading.sort_unstable_by_key(|&task| {
        let place = places[task as usize];
        (place.layer, place.y, place.x)
    });
    let (mut layer, mut order) = (0, 0);
    for task in reading {
        let place = &mut places[task as usize];
        if place.layer != layer {
            (layer, order) = (place.layer, 0);
        }
        place.order = order;
        order += 1;
    }
}
