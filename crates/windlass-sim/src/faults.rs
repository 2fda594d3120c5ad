//! What goes wrong, and when it stops.

use std::collections::btree_map::Entry;

use windlass_core::master::input::Input;

use crate::world::{Event, Fault, Node, World};

/// Once faults are over, everything that was on its way has arrived after so long, in milliseconds.
pub const SETTLE: u64 = 1_000;

impl World {
    /// Plans the first of each kind of fault.
    pub fn plan_faults(&mut self) {
        for fault in [
            Fault::Crash,
            Fault::Freeze,
            Fault::Cut,
            Fault::Step,
            Fault::Outage,
            Fault::Isolate,
            Fault::Stop,
            Fault::Stall,
        ] {
            self.plan(fault);
        }
    }

    fn every(&self, fault: Fault) -> u64 {
        match fault {
            Fault::Crash => self.options.crash_every,
            Fault::Freeze => self.options.freeze_every,
            Fault::Cut => self.options.cut_every,
            Fault::Step => self.options.step_every,
            Fault::Outage => self.options.outage_every,
            Fault::Isolate => self.options.isolate_every,
            Fault::Stop => self.options.stop_every,
            Fault::Stall => self.options.stall_every,
        }
    }

    fn plan(&mut self, fault: Fault) {
        let every = self.every(fault);
        if every > 0 {
            let delay = self.random.between(every / 4 + 1, every * 2);
            self.after(delay, Event::Fault(fault));
        }
    }

    fn somebody(&mut self) -> Node {
        if self.random.chance(self.options.masters_blamed) {
            Node::Master(self.random.below(self.masters.len()))
        } else {
            Node::Worker(self.random.below(self.workers.len()))
        }
    }

    /// Something goes wrong.
    pub fn fault(&mut self, fault: Fault) {
        if self.quiet {
            return;
        }
        self.plan(fault);
        match fault {
            Fault::Crash => {
                let node = self.somebody();
                self.crash(node);
            }
            Fault::Freeze => {
                let node = self.somebody();
                let long = self.random.stretched(100, 15_000);
                self.freeze(node, long);
            }
            Fault::Cut => {
                let (here, there) = (self.somebody(), self.somebody());
                if here == there {
                    return;
                }
                let long = self.random.between(200, 12_000);
                let both = self.random.chance(600);
                for (from, to) in [(here, there), (there, here)].into_iter().take(if both { 2 } else { 1 }) {
                    self.cut(from, to, long);
                }
                if let (Node::Worker(worker), Node::Master(master))
                | (Node::Master(master), Node::Worker(worker)) = (here, there)
                {
                    self.after(1_500, Event::CloseStream(worker, master));
                }
            }
            Fault::Step => {
                let step = self.random.between(0, 14_400_000) as i64 - 7_200_000;
                if step < 0 {
                    self.reach.hit("clock stepped back");
                }
                match self.somebody() {
                    Node::Master(number) => self.step_master(number, step),
                    Node::Worker(number) => self.workers[number].wall_off = step,
                }
            }
            Fault::Isolate => {
                let worker = self.random.below(self.workers.len());
                let longest = if self.random.chance(500) { 8_000 } else { 20_000 };
                let long = self.random.between(3_000, longest);
                self.isolate(worker, long);
            }
            Fault::Stop => {
                let number = self.random.below(self.masters.len());
                self.stop_master(number);
            }
            Fault::Stall => {
                let number = self.random.below(self.masters.len());
                let long = self.random.stretched(500, 15_000);
                self.stall(number, long);
            }
            Fault::Outage => {
                let long = self.random.between(500, 8_000);
                self.store.away_until = self.time + long;
            }
        }
    }

    /// A master's wall clock is off by so much from now on.
    pub fn step_master(&mut self, number: usize, off: i64) {
        if self.quiet {
            return;
        }
        self.masters[number].wall_off = off;
        // Whoever sleeps until a time of the wall clock notices.
        let life = self.masters[number].life;
        self.masters[number].wake = Some(self.time + 1);
        self.after(1, Event::WakeMaster(number, life));
    }

    /// A master is told to stop in good order.
    pub fn stop_master(&mut self, number: usize) {
        let life = self.masters[number].life;
        if !self.quiet {
            self.after(0, Event::Master(number, life, Box::new(Input::Stop)));
        }
    }

    /// Somebody stands still for so long.
    pub fn freeze(&mut self, node: Node, long: u64) {
        let inbox = match node {
            Node::Master(number) => &mut self.masters[number].inbox,
            Node::Worker(number) => &mut self.workers[number].inbox,
        };
        if !self.quiet && inbox.is_none() {
            *inbox = Some(Vec::new());
            self.after(long, Event::Thaw(node));
        }
    }

    /// Nobody can reach a worker for so long.
    pub fn isolate(&mut self, worker: usize, long: u64) {
        if self.quiet {
            return;
        }
        for master in 0..self.masters.len() {
            let (here, there) = (Node::Worker(worker), Node::Master(master));
            for (from, to) in [(here, there), (there, here)] {
                self.cut(from, to, long);
            }
            self.after(1_500, Event::CloseStream(worker, master));
        }
    }

    /// A master's calls to the store get stuck for so long, or the answers, or both.
    pub fn stall(&mut self, number: usize, long: u64) {
        let until = self.time + long;
        let which = self.random.below(3);
        if which != 0 {
            self.masters[number].stalled_until = until;
        }
        if which != 1 {
            self.masters[number].deaf_until = until;
        }
    }

    /// Nothing of one reaches the other for so long.
    fn cut(&mut self, from: Node, to: Node, long: u64) {
        let heals = self.time + long;
        if let Entry::Vacant(cut) = self.cuts.entry((from, to)) {
            cut.insert(Some(heals));
            self.after(long, Event::Heal(from, to));
        }
    }

    /// Somebody is gone at once.
    pub fn crash(&mut self, node: Node) {
        match node {
            _ if self.quiet => {}
            Node::Master(number) => self.crash_master(number),
            Node::Worker(number) => self.crash_worker(number),
        }
    }

    /// Who starts after so long may crash again soon: what broke it is mostly still there.
    pub fn perhaps_again(&mut self, node: Node, start: u64) {
        if self.random.chance(self.options.crash_again) {
            let delay = start + self.random.stretched(50, 4_000);
            self.after(delay, Event::Crash(node));
        }
    }

    /// Somebody frozen goes on, and finds what has come meanwhile.
    pub fn thaw(&mut self, node: Node) {
        let inbox = match node {
            Node::Master(number) => self.masters[number].inbox.take(),
            Node::Worker(number) => self.workers[number].inbox.take(),
        };
        for event in inbox.into_iter().flatten() {
            self.after(0, event);
        }
        match node {
            Node::Master(number) => {
                let life = self.masters[number].life;
                self.masters[number].wake = Some(self.time);
                self.after(0, Event::WakeMaster(number, life));
            }
            Node::Worker(number) => {
                self.workers[number].awake = self.worker_now(number).mono;
                let life = self.workers[number].life;
                self.workers[number].wake = Some(self.time);
                self.after(0, Event::WakeWorker(number, life));
            }
        }
    }

    /// Faults are over: everybody is back, and every clock is right.
    pub fn become_quiet(&mut self) {
        self.quiet = true;
        self.cuts.clear();
        // What was stuck gets free.
        self.hurry(SETTLE);
        self.store.in_order(self.time + SETTLE);
        self.store.away_until = 0;
        for number in 0..self.masters.len() {
            self.masters[number].wall_off = 0;
            (self.masters[number].stalled_until, self.masters[number].deaf_until) = (0, 0);
            self.thaw(Node::Master(number));
            self.start_master(number);
        }
        for number in 0..self.workers.len() {
            self.workers[number].wall_off = 0;
            self.thaw(Node::Worker(number));
            self.start_worker(number);
        }
        self.calm_people();
        self.after(1_000, Event::Tick);
    }
}
