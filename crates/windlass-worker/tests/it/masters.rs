//! A worker and a master in earnest: a SQLite file, gRPC over a port, processes.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{self, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use windlass_clock::Clock;
use windlass_core::requirement::Capability;
use windlass_core::shard::view::JobsWanted;
use windlass_master::logs::LogWanted;
use windlass_master::wishes::{NewRun, What};
use windlass_master::{Config, Ended, Handle, Shell};
use windlass_model::{AttemptNumber, JobId, JobNumber, Name, RunId, RunState};
use windlass_protocol::log_filter::LogFilter;
use windlass_store::Store as _;
use windlass_store_sqlite::{OpenError, SqliteStore};
use windlass_worker::data_folder::DataFolder;
use windlass_worker::executors::Options;
use windlass_worker::life::{self, Command, Life};
use windlass_worker::logs::{Bounds, Logs};
use windlass_worker::masters::{Addresses, Masters};

const SECOND: windlass_model::Duration = windlass_model::Duration::from_secs(1);
const WAIT: Duration = Duration::from_secs(10);

struct RealMaster {
    handle: Handle<SqliteStore>,
    shell: JoinHandle<Ended>,
    address: SocketAddr,
    /// Its own, so that all of it can end at once.
    runtime: Option<Runtime>,
}

impl RealMaster {
    async fn start(folder: &Path, address: SocketAddr) -> RealMaster {
        let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let started = runtime.spawn(RealMaster::begin(folder.to_owned(), address)).await.unwrap();
        RealMaster { runtime: Some(runtime), ..started }
    }

    async fn begin(folder: PathBuf, address: SocketAddr) -> RealMaster {
        let path = folder.join("store.db");
        let open = move || {
            let began = Instant::now();
            loop {
                match SqliteStore::open(&path, &windlass_store_sqlite::Options::default()) {
                    Ok(store) => return store,
                    // What an aborted master has under way ends soon.
                    Err(OpenError::InUse { .. }) if began.elapsed() < WAIT => {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        };
        let store = Arc::new(tokio::task::spawn_blocking(open).await.unwrap());
        for lease in store.leases().await.unwrap() {
            let seen = windlass_store::leases::Sighting { owner: lease.owner, counter: lease.counter };
            store.leave(seen).await.unwrap();
        }
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let config = Config {
            address: format!("http://{address}").into(),
            name: Name::new("master").unwrap(),
            lanes: 1,
            pipeline: 2,
            lease_ttl: windlass_model::Duration::from_secs(4),
            worker_timeout: windlass_model::Duration::from_secs(5),
            adoption_grace: windlass_model::Duration::from_secs(10),
            kill_grace: SECOND,
            channels: windlass_master::alerts::Channels::default(),
        };
        let (shell, handle) = Shell::new(&config, store, Clock::default());
        let service = handle.worker_service();
        tokio::spawn(async move {
            let incoming = TcpListenerStream::new(listener);
            tonic::transport::Server::builder()
                .add_service(service)
                .serve_with_incoming(incoming)
                .await
                .expect("it serves");
        });
        RealMaster { handle, shell: tokio::spawn(shell.run()), address, runtime: None }
    }

    async fn submit(&self, text: &str) -> RunId {
        let definition = windlass_workflow::from_text(text.as_bytes()).unwrap().definition;
        let wanted = NewRun {
            by: "me".into(),
            key: None,
            body: 0,
            what: What::Inline(definition, text.into()),
            params: windlass_core::rows::Values::default(),
            logical_time: None,
            labels: Default::default(),
            run_at: None,
            priority: None,
            from_task: None,
            only_task: None,
        };
        self.handle.create_run(wanted, WAIT).await.unwrap()
    }

    async fn ends(&self, run: RunId) -> RunState {
        let began = Instant::now();
        loop {
            let state = self.handle.run(run, WAIT).await.unwrap().unwrap().row.state.shown();
            if matches!(state, RunState::Success | RunState::Failed | RunState::Stopped) {
                return state;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "the run is {state:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// As a kill would.
    async fn dies(mut self) {
        let runtime = self.runtime.take();
        drop(self);
        tokio::task::spawn_blocking(|| drop(runtime)).await.unwrap();
    }

    async fn stops(mut self) {
        self.handle.stop().await;
        assert_eq!((&mut self.shell).await.unwrap(), Ended::Stopped);
        self.dies().await;
    }
}

struct RealWorker {
    commands: mpsc::Sender<Command>,
    life: JoinHandle<Result<life::Ended, life::LifeError>>,
}

fn worker(folder: &Path, address: SocketAddr) -> RealWorker {
    let data = DataFolder::open(folder).expect("it opens");
    let logs = Logs::new(&data.logs(), Bounds::default());
    let addresses = Addresses {
        masters: vec![format!("http://{address}")],
        name: Name::new("worker").unwrap(),
        token: None,
        program: "test".into(),
    };
    let masters = Masters::connect(data.life(), addresses, logs.clone()).unwrap();
    let config = life::Config {
        capability: Capability { slots: 4, ..Capability::default() },
        heartbeat_every: SECOND,
        worker_timeout: windlass_model::Duration::from_secs(5),
        kill_grace: SECOND,
        options: Options { launcher: crate::world::probe().into(), launchers: 2, ..Options::default() },
        clock: Clock::default(),
    };
    let (life, commands) = Life::begin(data, logs, config, masters).expect("it begins");
    RealWorker { commands, life: tokio::spawn(life.run()) }
}

const FLOW: &str = "
name: flow
params: {who: world}
tasks:
  a: {run: 'echo hello ${{ params.who }} from $WINDLASS_TASK of $WINDLASS_WORKFLOW; echo rows=12 >> $WINDLASS_OUTPUT'}
  b: {depends_on: [a], run: 'echo got ${{ tasks.a.outputs.rows }} >&2'}
  many: {depends_on: [b], foreach: '${{ range(50) }}', type: noop}
  three: {depends_on: [many], foreach: '${{ range(3) }}', run: 'echo item $WINDLASS_INDEX attempt $WINDLASS_ATTEMPT'}
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workflow_runs_from_submission_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let master = RealMaster::start(folder.path(), "127.0.0.1:0".parse().unwrap()).await;
    let worker = worker(&folder.path().join("worker"), master.address);
    let run = master.submit(FLOW).await;
    assert_eq!(master.ends(run).await, RunState::Success);
    let view = master.handle.run(run, WAIT).await.unwrap().unwrap();
    assert_eq!(view.counts.success, 2 + 50 + 3);
    let wanted = JobsWanted { limit: 1000, ..JobsWanted::default() };
    let jobs = master.handle.jobs(run, wanted, WAIT).await.unwrap().unwrap();
    assert_eq!(jobs.len(), 55);
    let attempts = master.handle.store().attempts(run, None, 1000).await.unwrap();
    assert_eq!(attempts.len(), 55);
    assert_eq!((attempts[0].exit_code, attempts[0].signal), (Some(0), None));
    assert!(attempts[0].started_at.is_some());
    let tail =
        master.handle.store().tail(JobId { run, number: JobNumber(0) }, AttemptNumber(1)).await.unwrap();
    assert_eq!(tail.as_deref(), Some("hello world from a of flow\n"));

    // Its log is read through its master, by line.
    let wanted = LogWanted {
        job: JobId { run, number: JobNumber(1) },
        attempt: AttemptNumber(1),
        tail: None,
        from_line: 0,
        limit: 10,
        follow: false,
        filter: LogFilter::default(),
    };
    let part = master.handle.log(attempts[1].worker, wanted).unwrap().first().await.unwrap().unwrap();
    assert_eq!((part.items.len(), part.complete), (1, true));
    assert_eq!((&part.items[0].text[..], part.items[0].stderr), (&b"got 12"[..], true));
    assert_eq!(master.handle.worker_name(attempts[1].worker).as_deref(), Some("worker"));

    worker.commands.send(Command::Drain).await.unwrap();
    assert_eq!(worker.life.await.unwrap().unwrap(), life::Ended::Drained);
    master.stops().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_goes_on_while_its_master_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let master = RealMaster::start(folder.path(), "127.0.0.1:0".parse().unwrap()).await;
    let address = master.address;
    let worker = worker(&folder.path().join("worker"), address);
    let ledger = folder.path().join("ledger");
    let text = format!(
        "name: long\ntasks:\n  a: {{run: 'echo began >> {0}; sleep 1.5; echo ended >> {0}'}}\n  b: {{depends_on: [a], \
         type: noop}}\n",
        ledger.display()
    );
    let run = master.submit(&text).await;
    let began = Instant::now();
    while std::fs::read_to_string(&ledger).unwrap_or_default() != "began\n" {
        assert!(began.elapsed() < Duration::from_secs(20), "it has not begun");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    master.dies().await;
    let master = RealMaster::start(folder.path(), address).await;
    assert_eq!(master.ends(run).await, RunState::Success);
    assert_eq!(std::fs::read_to_string(&ledger).unwrap(), "began\nended\n");
    let attempts = master.handle.store().attempts(run, None, 10).await.unwrap();
    assert_eq!(attempts.iter().map(|row| row.number.0).collect::<Vec<_>>(), [1, 1]);
    worker.commands.send(Command::End).await.unwrap();
    worker.life.await.unwrap().unwrap();
    master.stops().await;
}
