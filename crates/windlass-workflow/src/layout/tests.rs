use std::collections::BTreeSet;

use proptest::prelude::*;

use super::components::Component;
use super::layered::{self, Layered};
use super::layers::Flow;
use super::{Layout, Place, layout, ordering};

/// Edges from text such as `0 -> 1 2; 1 2 -> 3`.
fn edges(text: &str) -> Vec<(u32, u32)> {
    let numbers =
        |side: &str| side.split_whitespace().map(|task| task.parse().unwrap()).collect::<Vec<u32>>();
    text.split(';')
        .filter_map(|rule| rule.split_once("->"))
        .flat_map(|(from, to)| {
            let to = numbers(to);
            numbers(from).into_iter().flat_map(move |from| to.clone().into_iter().map(move |to| (from, to)))
        })
        .collect()
}

/// The cells, one line per row: a task's index, `+` for a bend, `.` for nothing.
fn draw(layout: &Layout) -> String {
    let mut rows = vec![vec![".".to_owned(); layout.width as usize]; layout.height as usize];
    for &(x, y) in layout.edges.iter().flat_map(|edge| &edge.bends) {
        rows[y as usize][x as usize] = "+".to_owned();
    }
    for (task, place) in layout.places.iter().enumerate() {
        rows[place.y as usize][place.x as usize] = task.to_string();
    }
    rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>().join("\n")
}

fn check_drawing(task_count: usize, text: &str, expected: &[&str]) {
    let layout = checked(task_count, &edges(text));
    assert_eq!(draw(&layout), expected.join("\n"));
}

/// Lays out any graph and checks what holds for all of them.
fn checked(task_count: usize, edges: &[(u32, u32)]) -> Layout {
    let layout = layout(task_count, edges);
    assert_eq!(layout.places.len(), task_count);
    let cells: BTreeSet<_> = layout.places.iter().map(|place| (place.x, place.y)).collect();
    assert_eq!(cells.len(), task_count, "two tasks share a cell");
    let ranks: BTreeSet<_> = layout.places.iter().map(|place| (place.layer, place.order)).collect();
    assert_eq!(ranks.len(), task_count, "two tasks share a layer and an order");
    assert!(cells.iter().all(|&(x, y)| x < layout.width && y < layout.height));
    assert!(layout.edges.is_sorted_by_key(|edge| (edge.from, edge.to)));
    for &(x, y) in layout.edges.iter().flat_map(|edge| &edge.bends) {
        assert!(x < layout.width && y < layout.height);
        assert!(!cells.contains(&(x, y)), "a bend in a task's cell");
    }
    layout
}

/// Also for acyclic graphs: every edge goes right and is there.
fn checked_acyclic(task_count: usize, edges: &[(u32, u32)]) -> Layout {
    let layout = checked(task_count, edges);
    let distinct: BTreeSet<_> = edges.iter().copied().collect();
    assert!(layout.edges.iter().map(|edge| (edge.from, edge.to)).eq(distinct));
    for edge in &layout.edges {
        let (from, to) = (place(&layout, edge.from), place(&layout, edge.to));
        assert!(from.layer < to.layer, "{edge:?} does not go to a larger layer");
        assert_eq!(to.x - from.x, to.layer - from.layer, "{edge:?} leaves its component");
    }
    layout
}

fn place(layout: &Layout, task: u32) -> Place {
    layout.places[task as usize]
}

/// The cells a drawn edge passes in the layers between its ends.
fn passed(layout: &Layout, edge: &super::Edge) -> Vec<(u32, u32)> {
    let (from, to) = (place(layout, edge.from), place(layout, edge.to));
    let mut points = vec![(from.x, from.y)];
    points.extend(&edge.bends);
    points.push((to.x, to.y));
    let mut cells = Vec::new();
    for ends in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
        for x in x0 + 1..=x1 {
            let rise = (i64::from(y1) - i64::from(y0)) * i64::from(x - x0);
            assert_eq!(rise % i64::from(x1 - x0), 0, "{edge:?} passes between two cells of a layer");
            cells.push((x, (i64::from(y0) + rise / i64::from(x1 - x0)) as u32));
        }
    }
    cells.pop();
    cells
}

/// Crossings of the order chosen for a graph of one component.
fn crossings(task_count: u32, edges: &[(u32, u32)]) -> u64 {
    let flow = Flow::new(task_count, edges);
    let component =
        Component { tasks: (0..task_count).collect(), edges: (0..flow.edges.len() as u32).collect() };
    let graph = Layered::new(&flow, &layered::routed(&flow), &component);
    let order = ordering::arrange(&graph, ordering::sweeps_for(graph.size()));
    ordering::crossings(&graph, &order)
}

/// `layers` layers of `height` tasks; each task of a later layer has `lines` predecessors near it.
fn layered_graph(layers: u32, height: u32, lines: u32) -> Vec<(u32, u32)> {
    (height..layers * height)
        .flat_map(|to| {
            (0..lines).map(move |line| {
                let first = (to / height - 1) * height;
                (first + (to % height * 7 + line * 13) % height, to)
            })
        })
        .collect()
}

#[test]
fn nothing_is_nowhere() {
    assert_eq!(layout(0, &[]), Layout::default());
    assert_eq!(layout(0, &[(0, 1)]), Layout::default());
}

#[test]
fn a_diamond_keeps_siblings_in_order() {
    check_drawing(4, "0 -> 1 2; 1 2 -> 3", &["0 1 3", ". 2 ."]);
}

#[test]
fn a_fan_is_centred() {
    check_drawing(5, "0 -> 1 2 3; 1 2 3 -> 4", &[". 1 .", "0 2 4", ". 3 ."]);
}

#[test]
fn a_chain_is_a_row() {
    check_drawing(5, "4 -> 3; 3 -> 2; 2 -> 1; 1 -> 0", &["4 3 2 1 0"]);
}

#[test]
fn a_late_source_sits_next_to_its_first_successor() {
    let layout = checked_acyclic(5, &edges("0 -> 1; 1 -> 2; 2 -> 3; 4 -> 3"));
    assert_eq!(place(&layout, 4).layer, 2);
}

#[test]
fn components_do_not_interleave() {
    check_drawing(6, "0 -> 2; 2 -> 4; 1 -> 3; 3 -> 5", &["0 2 4", ". . .", "1 3 5"]);
}

#[test]
fn tasks_without_edges_form_a_grid_below() {
    check_drawing(7, "0 -> 1; 1 -> 2", &["0 1 2", ". . .", "3 4 5", "6 . ."]);
    let layout = checked(10_000, &[]);
    assert_eq!((layout.width, layout.height), (70, 143));
}

#[test]
fn a_long_edge_passes_beside_the_tasks_between() {
    let text = "0 -> 1; 1 -> 2; 2 -> 3; 3 -> 4; 0 -> 4";
    check_drawing(5, text, &[". 1 2 3 .", "0 . . . 4"]);
    let layout = checked_acyclic(5, &edges(text));
    let long = layout.edges.iter().find(|edge| (edge.from, edge.to) == (0, 4)).unwrap();
    assert_eq!(passed(&layout, long), [(1, 1), (2, 1), (3, 1)]);
}

#[test]
fn a_long_edge_bends_where_it_must() {
    let layout = checked_acyclic(6, &edges("0 -> 1; 1 -> 2; 2 -> 3; 3 -> 4; 4 -> 5; 0 -> 5; 1 -> 5; 0 -> 4"));
    let cells: BTreeSet<_> = layout.places.iter().map(|place| (place.x, place.y)).collect();
    assert!(layout.edges.iter().any(|edge| !edge.bends.is_empty()));
    for edge in &layout.edges {
        assert!(edge.bends.len() <= 2, "not straight between its ends: {edge:?}");
        assert!(passed(&layout, edge).iter().all(|cell| !cells.contains(cell)));
    }
}

#[test]
fn trees_have_no_crossings() {
    let out: Vec<_> = (1..500).map(|task| ((task - 1) / 3, task)).collect();
    assert_eq!(crossings(500, &out), 0);
    let into: Vec<_> = out.iter().map(|&(from, to)| (to, from)).collect();
    assert_eq!(crossings(500, &into), 0);
}

#[test]
fn crossings_that_must_be_are_counted_once() {
    assert_eq!(crossings(4, &edges("0 1 -> 2 3")), 1);
    assert_eq!(crossings(6, &edges("0 1 2 -> 3 4 5")), 9);
    assert_eq!(crossings(4, &edges("0 -> 1 2; 1 2 -> 3")), 0);
}

#[test]
fn crossings_that_need_not_be_are_undone() {
    assert_eq!(crossings(8, &edges("0 -> 7; 1 -> 6; 2 -> 5; 3 -> 4; 4 -> 5; 6 -> 7")), 0);
    // A zigzag, numbered so that the order of the file crosses.
    assert_eq!(crossings(7, &edges("0 -> 6; 2 -> 6; 2 -> 4; 1 -> 4; 1 -> 5; 3 -> 5")), 0);
}

#[test]
fn edges_that_mean_nothing_are_left_out() {
    let layout = checked(3, &[(0, 1), (0, 1), (1, 1), (1, 9), (9, 1), (u32::MAX, u32::MAX)]);
    assert_eq!(layout.edges.len(), 1);
    assert_eq!(draw(&layout), "0 1\n. .\n2 .");
}

#[test]
fn an_edge_that_closes_a_cycle_runs_backwards() {
    let layout = checked(3, &edges("0 -> 1; 1 -> 2; 2 -> 0"));
    assert_eq!(draw(&layout), "0 1 2");
    assert_eq!(layout.edges.len(), 3);
}

#[test]
fn a_layered_graph_of_ten_thousand_is_drawn() {
    checked_acyclic(10_000, &layered_graph(100, 100, 2));
}

#[test]
fn a_chain_of_fifty_thousand_is_drawn() {
    let chain: Vec<_> = (1..50_000).map(|task| (task - 1, task)).collect();
    let layout = checked_acyclic(50_000, &chain);
    assert_eq!((layout.width, layout.height), (50_000, 1));
}

#[test]
fn a_fan_of_five_thousand_is_a_column() {
    let fan: Vec<_> = (1..=5_000).flat_map(|task| [(0, task), (task, 5_001)]).collect();
    let layout = checked_acyclic(5_002, &fan);
    assert_eq!((layout.width, layout.height), (3, 5_000));
    assert!((1..=5_000).all(|task| place(&layout, task).order == task - 1));
    assert_eq!(crossings(5_002, &fan), 0);
}

#[test]
fn more_long_edges_than_bends_are_drawn_straight() {
    let mut edges: Vec<_> = (1..5_000).map(|task| (task - 1, task)).collect();
    edges.extend((2..5_000).map(|task| (0, task)));
    let layout = checked_acyclic(5_000, &edges);
    let of_zero = |to| layout.edges.iter().find(|edge| (edge.from, edge.to) == (0, to)).unwrap();
    assert!(!of_zero(2).bends.is_empty());
    assert!(of_zero(4_999).bends.is_empty());
}

fn acyclic_graph() -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (2..40u32).prop_flat_map(|task_count| {
        let edge = (0..task_count, 1..task_count).prop_map(move |(from, step)| (from, from + step));
        let edges = prop::collection::vec(edge, 0..80).prop_map(move |mut edges| {
            edges.retain(|&(_, to)| to < task_count);
            // Index order must not be the order of the flow.
            for (from, to) in &mut edges {
                (*from, *to) = (task_count - 1 - *from, task_count - 1 - *to);
            }
            edges
        });
        (Just(task_count as usize), edges)
    })
}

proptest! {
    #[test]
    fn acyclic_graphs_flow_right_and_overlap_nowhere((task_count, edges) in acyclic_graph()) {
        let drawn = checked_acyclic(task_count, &edges);
        prop_assert_eq!(&layout(task_count, &edges), &drawn);
        let cells: BTreeSet<_> = drawn.places.iter().map(|place| (place.x, place.y)).collect();
        for edge in &drawn.edges {
            prop_assert!(passed(&drawn, edge).iter().all(|cell| !cells.contains(cell)));
        }
    }

    #[test]
    fn any_edges_at_all_give_every_task_a_place(
        task_count in 0..30usize,
        edges in prop::collection::vec((0..35u32, 0..35u32), 0..120),
    ) {
        checked(task_count, &edges);
    }
}
