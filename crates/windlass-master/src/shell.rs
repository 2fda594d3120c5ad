//! The loop of a master.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;
use windlass_clock::Clock;
use windlass_core::durable::{Contact, Sighting};
use windlass_core::master::Master;
use windlass_core::master::input::{Decision, Effect, Input, Settings, StoreAnswer};
use windlass_core::time::Now;
use windlass_model::{Name, OwnerId};
use windlass_store::Store;

use crate::alerts::{Alerts, Channels};
use crate::calls::Calls;
use crate::definitions::DefinitionCache;
use crate::feed::Feed;
use crate::handle::Handle;
use crate::measures::Measures;
use crate::peers::Peers;
use crate::random;
use crate::store_calls::StoreCalls;
use crate::streams::Streams;
use crate::workers::Names;

/// What waits for the loop. Who sends more waits: workers, callers, the store's answers. The loop itself never waits
/// for any of them.
const INBOX: usize = 16 << 10;
/// Inputs that are decided together: a commit of so many costs little more per input than one of all.
const BATCH: usize = 4 << 10;
/// A wake-up by the wall clock is looked at again after this, because the clock may be stepped meanwhile.
const WALL_LOOK: Duration = Duration::from_secs(1);

/// What a master is told once, at its start.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its name, a label that says which shards it should own.
    pub name: Name,
    /// Where other masters and workers reach it, as `http://host:port`.
    pub address: Arc<str>,
    /// How many commits may be under way side by side.
    pub lanes: u16,
    /// How many commits of one lane may be under way one behind the other.
    pub pipeline: usize,
    /// Without a renewal for so long, others may claim its shards.
    pub lease_ttl: windlass_model::Duration,
    /// A worker that nobody has heard of for so long is lost.
    pub worker_timeout: windlass_model::Duration,
    /// So long after a load, a worker that had attempts and was not heard of is lost.
    pub adoption_grace: windlass_model::Duration,
    /// How long a process has between being asked and being forced to end.
    pub kill_grace: windlass_model::Duration,
    /// How people are told of alerts.
    pub channels: Channels,
}

/// A look at the machine between two inputs.
pub(crate) type Look = Box<dyn FnOnce(&Master, Now) + Send>;

/// What reaches the loop.
pub(crate) enum Message {
    /// Something has happened.
    Input(Input),
    /// Somebody wants to see the machine.
    Inspect(Look),
}

/// Why a master has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything is given up in good order.
    Stopped,
    /// Another live master has its name.
    NameTaken(Sighting),
}

/// A master that runs.
pub struct Shell<S> {
    master: Master,
    clock: Clock,
    inbox: mpsc::Receiver<Message>,
    waiting: Vec<Message>,
    decision: Decision,
    stores: StoreCalls<S>,
    streams: Arc<Streams>,
    peers: Arc<Peers<S>>,
    calls: Arc<Calls>,
    alerts: Alerts,
    feed: Feed,
    tasks: TaskTracker,
    #[cfg(feature = "failpoints")]
    fail: crate::fail_points::FailPoints,
}

impl<S: Store + 'static> Shell<S> {
    /// A master that owns nothing yet, and what others reach it by.
    pub fn new(config: &Config, store: Arc<S>, clock: Clock) -> (Shell<S>, Handle<S>) {
        let owner = OwnerId(random::number());
        let settings = Settings {
            owner,
            name: config.name.clone(),
            shards: store.identity().shards,
            lanes: config.lanes,
            pipeline: config.pipeline,
            lease_ttl: config.lease_ttl,
            worker_timeout: config.worker_timeout,
            adoption_grace: config.adoption_grace,
            shard: windlass_core::shard::input::Settings {
                kill_grace: config.kill_grace,
                ..windlass_core::shard::input::Settings::default()
            },
        };
        let contact = Contact { address: Arc::clone(&config.address), secret: random::secret().into() };
        let (sender, inbox) = mpsc::channel(INBOX);
        let tasks = TaskTracker::new();
        let mut decision = Decision::default();
        let master = Master::start(clock.now(), settings, &mut decision);
        let definitions = Arc::new(DefinitionCache::new(Arc::clone(&store)));
        let names = Arc::new(Names::default());
        let (feed, measures) = (Feed::default(), Arc::new(Measures::default()));
        let named = {
            let (names, store, tasks) = (Arc::clone(&names), Arc::clone(&store), tasks.clone());
            move |worker, name: Name| {
                let (names, store) = (Arc::clone(&names), Arc::clone(&store));
                tasks.spawn(async move { names.store(&*store, worker, &name).await });
            }
        };
        let peers = Arc::new(Peers::new(
            owner,
            config.name.clone(),
            contact.clone(),
            clock.clone(),
            Arc::clone(&store),
            Arc::clone(&definitions),
            feed.clone(),
            sender.clone(),
            tasks.clone(),
        ));
        let streams = Arc::new(Streams::new(
            Box::new(named),
            sender.clone(),
            owner,
            config.name.clone(),
            config.worker_timeout,
            &config.address,
        ));
        let calls = Arc::new(Calls::default());
        let handle = Handle::new(
            sender.clone(),
            clock.clone(),
            Arc::clone(&store),
            Arc::clone(&definitions),
            Arc::clone(&calls),
            Arc::clone(&streams),
            Arc::clone(&peers),
            Arc::clone(&names),
            feed.clone(),
            Arc::clone(&measures),
            config.name.clone(),
            owner,
            config.channels.clone(),
        );
        let stores = StoreCalls::new(
            store,
            owner,
            config.name.clone(),
            contact,
            definitions,
            names,
            feed.clone(),
            measures,
            sender.clone(),
            tasks.clone(),
        );
        let alerts = Alerts::new(sender, tasks.clone(), handle.channels());
        let waiting = Vec::with_capacity(BATCH);
        let shell = Shell {
            master,
            clock,
            inbox,
            waiting,
            decision,
            stores,
            streams,
            peers,
            calls,
            alerts,
            feed,
            tasks,
            #[cfg(feature = "failpoints")]
            fail: crate::fail_points::FailPoints::from_env(),
        };
        (shell, handle)
    }

    /// Takes what waits, decides, and does what follows; until there is an end.
    pub async fn run(mut self) -> Ended {
        self.peers.begin();
        let ended = loop {
            if let Some(ended) = self.perform() {
                break ended;
            }
            self.wait().await;
            let now = self.clock.now();
            for message in self.waiting.drain(..) {
                match message {
                    Message::Input(input) => {
                        #[cfg(feature = "failpoints")]
                        self.fail.before_input(&input);
                        if let Input::Stored(StoreAnswer::Looked(Some(look))) = &input {
                            let addresses = self.peers.meet(&look.leases);
                            self.streams.tell_masters(addresses);
                        }
                        let started = self.feed.of_input(&input);
                        self.master.handle(now, input, &mut self.decision);
                        self.feed.tell(started);
                    }
                    Message::Inspect(look) => look(&self.master, now),
                }
            }
            self.master.flush(now, &mut self.decision);
        };
        // Nothing that still arrives is taken, and whoever waits for an answer stops waiting.
        self.inbox.close();
        self.calls.close();
        self.peers.close().await;
        self.streams.close();
        self.tasks.close();
        ended
    }

    /// Does what was decided, in that order.
    fn perform(&mut self) -> Option<Ended> {
        for effect in self.decision.effects.drain(..) {
            #[cfg(feature = "failpoints")]
            self.fail.before_effect(&effect);
            match effect {
                Effect::Store(call) => self.stores.ask(call),
                Effect::ToWorker(worker, frame) => self.streams.say(worker, frame),
                Effect::ToPeer(peer, what) => self.peers.say(peer, what),
                Effect::Deliver(id, note) => self.alerts.deliver(id, note),
                Effect::Reply(call, reply) => self.calls.answer(call, reply),
                Effect::NameTaken(rival) => return Some(Ended::NameTaken(rival)),
                Effect::Stopped => return Some(Ended::Stopped),
            }
        }
        self.streams.send();
        self.peers.send();
        #[cfg(feature = "failpoints")]
        self.fail.after_effects();
        None
    }

    /// Waits until something has happened or the machine wants to be woken, and takes all there is.
    async fn wait(&mut self) {
        let (wants, now) = (self.master.wants(), self.clock.now());
        let mono = wants.wake_at.map(|when| Duration::from_millis(when.since(now.mono).as_millis()));
        let wall = wants.wake_at_wall.map(|when| {
            Duration::from_millis(when.0.saturating_sub(now.wall.0).max(0).cast_unsigned()).min(WALL_LOOK)
        });
        let delay = [mono, wall].into_iter().flatten().min();
        tokio::select! {
            _ = self.inbox.recv_many(&mut self.waiting, BATCH) => {}
            () = tokio::time::sleep(delay.unwrap_or_default()), if delay.is_some() => {
                self.waiting.push(Message::Input(Input::Woken));
            }
        }
    }
}

impl<S> std::fmt::Debug for Shell<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shell").field("master", &self.master).finish_non_exhaustive()
    }
}
