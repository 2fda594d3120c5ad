//! Messages get lost, take long, come twice, and overtake each other.

use windlass_core::master::input::{FromPeer, Input as ToMaster, StreamId};
use windlass_core::shard::input::ToWorker as ShardOrder;
use windlass_core::wire::{Body, Frame, FromWorker, Order};
use windlass_core::worker::input::Input as ToWorker;

use crate::ambush::Moment;
use crate::world::{Event, Node, World};

impl World {
    /// How long a message takes each time it arrives: not at all, once, or twice.
    fn delays(&mut self, from: Node, to: Node) -> Vec<u64> {
        if let Some(heals) = self.cuts.get(&(from, to)).copied() {
            // What a connection that lives on has taken in comes out of it when the cut ends.
            return match heals {
                Some(heals) if self.random.chance(self.options.held) => {
                    vec![heals.saturating_sub(self.time) + self.random.between(1, 4_000)]
                }
                Some(_) | None => Vec::new(),
            };
        }
        if self.scripted {
            return vec![1];
        }
        if self.quiet {
            return vec![self.random.between(1, 5)];
        }
        if self.random.chance(self.options.drop) {
            return Vec::new();
        }
        let mut delays = vec![self.delay()];
        if self.random.chance(self.options.double) {
            delays.push(self.random.stretched(1, self.options.longest_delay));
        }
        delays
    }

    /// How long a message takes.
    pub fn delay(&mut self) -> u64 {
        let ordinary = self.random.between(1, self.options.delay.max(1));
        if !self.quiet && self.random.chance(self.options.slow) {
            ordinary + self.random.stretched(20, self.options.longest_delay.max(20))
        } else {
            ordinary
        }
    }

    /// A master sends to a worker, on its stream.
    pub fn master_to_worker(&mut self, master: usize, worker: usize, frame: &Frame) {
        if !self.streams.contains_key(&(worker, master)) {
            return;
        }
        let late = if assigns(frame) { self.ambush(Moment::Assign, Some(master), Some(worker)) } else { 0 };
        if let Some(delay) = self.plot_frame(worker, frame) {
            let life = self.workers[worker].life;
            self.note_frame_path(master, worker, frame);
            self.after(delay, Event::Worker(worker, life, Box::new(ToWorker::Frame(frame.clone()))));
            return;
        }
        for delay in self.delays(Node::Master(master), Node::Worker(worker)) {
            let delay = delay + late;
            let life = self.workers[worker].life;
            let input = Box::new(ToWorker::Frame(frame.clone()));
            self.note_frame_path(master, worker, frame);
            self.after(delay, Event::Worker(worker, life, input));
        }
    }

    fn note_frame_path(&mut self, master: usize, worker: usize, frame: &Frame) {
        if let Body::Orders { shard, .. } = &frame.body {
            self.workers[worker].heard_through.insert(*shard, master);
        }
    }

    /// A master sends to another.
    pub fn master_to_master(&mut self, from: usize, to: usize, message: &FromPeer) {
        for delay in self.delays(Node::Master(from), Node::Master(to)) {
            let (life, owner) = (self.masters[to].life, self.masters[from].owner);
            let input = Box::new(ToMaster::FromPeer(owner, message.clone()));
            self.after(delay, Event::Master(to, life, input));
        }
    }

    /// A worker sends to a master, on its stream.
    pub fn worker_to_master(&mut self, worker: usize, master: usize, message: &FromWorker) {
        if !self.streams.contains_key(&(worker, master)) {
            return;
        }
        for mut delay in self.delays(Node::Worker(worker), Node::Master(master)) {
            // A long list takes its time.
            let long = matches!(message, FromWorker::Inventory(_)) && !self.quiet;
            if long && self.random.chance(self.options.slow * 4) {
                delay += self.random.between(500, 6_000);
            }
            let life = self.masters[master].life;
            let input = Box::new(ToMaster::FromWorker(message.clone()));
            self.after(delay, Event::Master(master, life, input));
        }
    }

    /// A worker opens the streams that it lacks.
    pub fn connect(&mut self, worker: usize, life: u64) {
        if self.workers[worker].life != life {
            return;
        }
        let again = self.random.between(200, 800);
        self.after(again, Event::Connect(worker, life));
        if self.workers[worker].inbox.is_some() {
            return;
        }
        let open = self.streams.keys().filter(|(of, _)| *of == worker).count();
        if open >= self.options.streams {
            return;
        }
        let reachable: Vec<_> = (0..self.masters.len())
            .filter(|master| {
                let (here, there) = (Node::Worker(worker), Node::Master(*master));
                self.masters[*master].machine.is_some()
                    && self.masters[*master].inbox.is_none()
                    && !self.streams.contains_key(&(worker, *master))
                    && !self.cuts.contains_key(&(here, there))
                    && !self.cuts.contains_key(&(there, here))
            })
            .collect();
        if let Some(master) = self.random.pick(&reachable) {
            let stream = StreamId(self.events);
            self.streams.insert((worker, master), stream);
            let (life, id) = (self.masters[master].life, self.workers[worker].id);
            self.after(1, Event::Master(master, life, Box::new(ToMaster::Connected(id, stream))));
        }
    }

    /// A stream is gone, and both ends notice.
    pub fn close_stream(&mut self, worker: usize, master: usize) {
        let Some(stream) = self.streams.remove(&(worker, master)) else { return };
        let delay = self.random.between(1, 50);
        if self.masters[master].machine.is_some() {
            let (life, id) = (self.masters[master].life, self.workers[worker].id);
            // The other end may take its time to be noticed as gone.
            let half_open = !self.quiet && self.random.chance(400);
            let delay = if half_open { self.random.between(50, 4_000) } else { delay };
            self.after(delay, Event::Master(master, life, Box::new(ToMaster::Disconnected(id, stream))));
        }
        if self.workers[worker].machine.is_some() {
            let (life, owner) = (self.workers[worker].life, self.masters[master].owner);
            self.after(delay, Event::Worker(worker, life, Box::new(ToWorker::MasterGone(owner))));
        }
    }

    /// Closes a stream through which nothing has come for a while.
    pub fn close_if_cut(&mut self, worker: usize, master: usize) {
        let (here, there) = (Node::Worker(worker), Node::Master(master));
        if self.cuts.contains_key(&(here, there)) || self.cuts.contains_key(&(there, here)) {
            self.close_stream(worker, master);
        }
    }
}

/// Whether a frame gives its worker work.
fn assigns(frame: &Frame) -> bool {
    match &frame.body {
        Body::Orders { orders, .. } => {
            orders.iter().any(|order| matches!(order, Order::Shard(ShardOrder::Assign(_))))
        }
        Body::Heard { .. } | Body::Demand { .. } | Body::Declined(_) | Body::Drain { .. } => false,
    }
}
