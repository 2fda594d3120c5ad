//! Neighbours of nodes, packed into two flat lists: graphs here are read far more than built.

/// For each node, the nodes at the other end of its edges.
pub(super) struct Adjacency {
    starts: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Adjacency {
    /// From pairs `(node, neighbour)`; the neighbours of a node keep the order of the pairs.
    pub(super) fn new(node_count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0; node_count + 1];
        for (node, _) in pairs.clone() {
            starts[node as usize + 1] += 1;
        }
        for node in 0..node_count {
            starts[node + 1] += starts[node];
        }
        let mut free = starts.clone();
        let mut neighbours = vec![0; starts[node_count]];
        for (node, neighbour) in pairs {
            let slot = &mut free[node as usize];
            neighbours[*slot] = neighbour;
            *slot += 1;
        }
        Adjacency { starts, neighbours }
    }

    pub(super) fn of(&self, node: u32) -> &[u32] {
        &self.neighbours[self.starts[node as usize]..self.starts[node as usize + 1]]
    }

    pub(super) fn edge_count(&self) -> usize {
        self.neighbours.len()
    }
}
