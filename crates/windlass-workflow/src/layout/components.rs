//! Which tasks hang together.

use super::layers::Flow;

/// Two or more tasks joined by forward edges.
#[derive(Default)]
pub(super) struct Component {
    /// Task indices, ascending.
    pub(super) tasks: Vec<u32>,
    /// Indices of its forward edges, ascending.
    pub(super) edges: Vec<u32>,
}

/// The components, by their smallest task, and the tasks that have no edge.
pub(super) fn split(flow: &Flow) -> (Vec<Component>, Vec<u32>) {
    let mut chief: Vec<u32> = (0..flow.layers.len() as u32).collect();
    let mut joined = vec![false; chief.len()];
    for (&(from, to), _) in flow.edges.iter().zip(&flow.forward).filter(|(_, forward)| **forward) {
        (joined[from as usize], joined[to as usize]) = (true, true);
        let (a, b) = (find(&mut chief, from), find(&mut chief, to));
        chief[a.max(b) as usize] = a.min(b);
    }

    let mut components: Vec<Component> = Vec::new();
    let mut lonely = Vec::new();
    let mut number = vec![0usize; chief.len()];
    for task in 0..chief.len() as u32 {
        if !joined[task as usize] {
            lonely.push(task);
            continue;
        }
        // The chief is the smallest of its component, so it gets its number before the others ask.
        let chief = find(&mut chief, task);
        if chief == task {
            number[task as usize] = components.len();
            components.push(Component::default());
        }
        components[number[chief as usize]].tasks.push(task);
        number[task as usize] = number[chief as usize];
    }
    for (edge, &(from, _)) in flow.edges.iter().enumerate().filter(|&(edge, _)| flow.forward[edge]) {
        components[number[from as usize]].edges.push(edge as u32);
    }
    (components, lonely)
}

fn find(chief: &mut [u32], mut task: u32) -> u32 {
    while chief[task as usize] != task {
        let above = chief[chief[task as usize] as usize];
        chief[task as usize] = above;
        task = above;
    }
    task
}
