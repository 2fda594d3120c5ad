//! How fast jobs go from submission to a stored result: a master, a worker and their streams in one process, over a
//! SQLite file. `end_to_end FOLDER JOBS [noop|true]` prints jobs per second.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::TcpListenerStream;
use windlass_clock::Clock;
use windlass_core::requirement::Capability;
use windlass_core::rows::Values;
use windlass_master::wishes::{NewRun, What};
use windlass_master::{Config, Handle, Shell};
use windlass_model::{Name, RunState};
use windlass_store_sqlite::SqliteStore;
use windlass_worker::data_folder::DataFolder;
use windlass_worker::executors::Options;
use windlass_worker::life::{self, Life};
use windlass_worker::logs::{Bounds, Logs};
use windlass_worker::masters::{Addresses, Masters};

const WAIT: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    if let Some(code) = windlass_launcher::run_if_asked() {
        return code;
    }
    let mut arguments = std::env::args().skip(1);
    let folder: PathBuf = arguments.next().expect("a folder").into();
    let jobs: u32 = arguments.next().expect("how many jobs").parse().expect("a number");
    let work = arguments.next().unwrap_or_else(|| "noop".into());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(measure(folder, jobs, &work));
    ExitCode::SUCCESS
}

async fn measure(folder: PathBuf, jobs: u32, work: &str) {
    let handle = master(folder.clone()).await;
    let work = match work {
        "noop" => "type: noop".to_owned(),
        command => format!("type: shell, with: {{command: [{command}]}}"),
    };
    let text = format!("name: many\ntasks: {{a: {{{work}, foreach: '${{{{ range({jobs}) }}}}'}}}}");
    let began = Instant::now();
    let definition = windlass_workflow::from_text(text.as_bytes()).expect("it is right").definition;
    let wanted = NewRun {
        by: "me".into(),
        key: None,
        body: 0,
        what: What::Inline(definition, text.into()),
        params: Values::default(),
        logical_time: None,
        run_at: None,
        priority: None,
        from_task: None,
        only_task: None,
    };
    let run = handle.create_run(wanted, WAIT).await.expect("it is created");
    let created = began.elapsed();
    loop {
        let view = handle.call(run.shard(), windlass_core::shard::input::Call::Run(run), WAIT).await;
        match view.expect("it answers") {
            windlass_core::shard::input::Answer::Run(Some(view)) => {
                let state = view.row.state.shown();
                assert!(!matches!(state, RunState::Failed | RunState::Stopped), "the run has {state:?}");
            }
            _ => break,
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let took = began.elapsed();
    println!("created {:.1} ms", created.as_secs_f64() * 1e3);
    println!("jobs_per_s {:.0}", f64::from(jobs) / took.as_secs_f64());
}

async fn master(folder: PathBuf) -> Handle<SqliteStore> {
    let path = folder.join("store.db");
    let open = move || SqliteStore::open(&path, &windlass_store_sqlite::Options::default());
    let store = Arc::new(tokio::task::spawn_blocking(open).await.expect("a thread").expect("a store"));
    let config = Config {
        name: Name::new("master").expect("a name"),
        lanes: 1,
        pipeline: 3,
        lease_ttl: windlass_model::Duration::from_secs(4),
        worker_timeout: windlass_model::Duration::from_secs(5),
        adoption_grace: windlass_model::Duration::from_secs(10),
        kill_grace: windlass_model::Duration::from_secs(10),
    };
    let (shell, handle) = Shell::new(&config, store, Clock::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    // Its own setting does not reach streams that are handed to it.
    let streams = TcpListenerStream::new(listener).map(|stream| {
        if let Ok(stream) = &stream {
            stream.set_nodelay(true).expect("a socket");
        }
        stream
    });
    let server = tonic::transport::Server::builder().add_service(handle.worker_service());
    tokio::spawn(server.serve_with_incoming(streams));
    tokio::spawn(shell.run());
    let data = DataFolder::open(&folder.join("worker")).expect("it opens");
    let logs = Logs::new(&data.logs(), Bounds::default());
    let addresses = Addresses {
        masters: vec![format!("http://{address}")],
        name: Name::new("worker").expect("a name"),
        token: None,
        program: "bench".into(),
    };
    let masters = Masters::connect(data.life(), addresses, logs.clone()).expect("addresses");
    let config = life::Config {
        capability: Capability { slots: 8, ..Capability::default() },
        heartbeat_every: windlass_model::Duration::from_secs(1),
        worker_timeout: windlass_model::Duration::from_secs(5),
        kill_grace: windlass_model::Duration::from_secs(10),
        options: Options::default(),
        clock: Clock::default(),
    };
    let (life, commands) = Life::begin(data, logs, config, masters).expect("it begins");
    tokio::spawn(async move {
        let ended = life.run().await;
        drop(commands);
        panic!("the worker has ended: {ended:?}");
    });
    handle
}
