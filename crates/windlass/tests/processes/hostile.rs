//! Callers that are slow, many, or speak nonsense, and tasks that put out far too much: each has an end, a message,
//! and costs nobody else anything.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use windlass_rest::AttemptState;
use windlass_rest::logs::LogQuery;

use crate::world::{World, many, scale};

/// What a request may cost at most, whoever else is connected.
const PROMPT: Duration = Duration::from_secs(5);

async fn connect(world: &World) -> TcpStream {
    TcpStream::connect(world.cluster.url.strip_prefix("http://").unwrap()).await.unwrap()
}

/// Whether the server has ended a connection within so long; what it said is read and passed over.
async fn is_ended(stream: &mut TcpStream, within: Duration) -> bool {
    let mut bytes = [0; 4096];
    let reading = async { while matches!(stream.read(&mut bytes).await, Ok(1..)) {} };
    tokio::time::timeout(within, reading).await.is_ok()
}

/// Others are served, and promptly.
async fn assert_serves(world: &mut World) {
    let began = Instant::now();
    assert_eq!(world.hasty().probe("livez").await.unwrap(), "ok\n");
    assert!(began.elapsed() < PROMPT, "an answer took {:?}", began.elapsed());
    let run = world.submit(many(2, "true")).await;
    world.succeeds(&run).await;
    let printed = world.cluster.master.printed();
    assert!(!printed.contains("panicked"), "{printed}");
}

/// How much memory the master has in use.
fn memory(world: &World) -> u64 {
    crate::data::resident(world.cluster.master.pid().unwrap())
}

#[tokio::test]
async fn callers_that_send_a_byte_now_and_then_are_sent_away() {
    let mut world = World::new(1, 4).await;
    let begins = [
        "GET /api/v1/runs HTTP/1.1\r\nhost: loc",
        "POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{",
        "",
    ];
    let mut slow = Vec::new();
    for begin in begins.iter().cycle().take(30 * scale()) {
        let mut stream = connect(&world).await;
        stream.write_all(begin.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let began = Instant::now();
    let dripping = async {
        // A byte a second, until nobody listens any more.
        while !slow.is_empty() {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let mut open = Vec::new();
            for mut stream in std::mem::take(&mut slow) {
                let dripped = stream.write_all(b"x").await.is_ok();
                if dripped && !is_ended(&mut stream, Duration::from_millis(1)).await {
                    open.push(stream);
                }
            }
            slow = open;
            assert!(began.elapsed() < Duration::from_secs(90), "{} are still there", slow.len());
        }
    };
    dripping.await;
    assert_serves(&mut world).await;
    world.judge_undisturbed().await;
}

#[tokio::test]
async fn idle_connections_cost_little_and_keep_nobody_out() {
    // Descriptors of this process limit how many it can hold: 10,000 need `ulimit -n 20000` here and there.
    let count = 1_000 * scale().min(10);
    let mut world = World::new(1, 4).await;
    assert_serves(&mut world).await;
    let before = memory(&world);
    let mut idle = Vec::with_capacity(count);
    while idle.len() < count {
        idle.push(connect(&world).await);
    }
    assert_serves(&mut world).await;
    let each = memory(&world).saturating_sub(before) / count as u64;
    assert!(each < 32 << 10, "{each} bytes for each connection");
    // Whoever says nothing is sent away, and its descriptor is free again.
    for stream in &mut idle {
        assert!(is_ended(stream, Duration::from_secs(60)).await, "an idle connection is still there");
    }
    let pid = world.cluster.master.pid().unwrap();
    world.until("descriptors are free", async || crate::data::descriptors(pid) < 200).await;
    assert_serves(&mut world).await;
    world.judge_undisturbed().await;
}

/// What begins every connection of HTTP/2, with empty settings.
const HTTP_2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// `GET /livez` of `localhost`, as HPACK writes it without a table.
fn head() -> Vec<u8> {
    let mut head = vec![0x82, 0x86];
    for (name, value) in [(":path", "/livez"), (":authority", "localhost")] {
        head.push(0);
        head.push(name.len() as u8);
        head.extend_from_slice(name.as_bytes());
        head.push(value.len() as u8);
        head.extend_from_slice(value.as_bytes());
    }
    head
}

#[tokio::test]
async fn streams_that_are_begun_and_dropped_cost_their_connection() {
    let mut world = World::new(1, 4).await;
    assert_serves(&mut world).await;
    let before = memory(&world);
    for _ in 0..4 {
        let mut stream = connect(&world).await;
        stream.write_all(HTTP_2).await.unwrap();
        let mut sent = 0;
        let (mut reader, mut writer) = stream.into_split();
        let reading = tokio::spawn(async move {
            let mut bytes = [0; 16 << 10];
            while matches!(reader.read(&mut bytes).await, Ok(1..)) {}
        });
        let flood = async {
            for number in 0..20_000u32 * scale() as u32 {
                let id = number * 2 + 1;
                let mut both = frame(1, 0x5, id, &head());
                both.extend(frame(3, 0, id, &8u32.to_be_bytes()));
                if writer.write_all(&both).await.is_err() {
                    return;
                }
                sent = number;
            }
        };
        let flooded = tokio::time::timeout(Duration::from_secs(60), flood).await;
        assert!(flooded.is_ok(), "the server stalls");
        drop(writer);
        tokio::time::timeout(Duration::from_secs(30), reading).await.expect("the connection ends").unwrap();
        eprintln!("{sent} streams were begun and dropped");
    }
    assert_serves(&mut world).await;
    let grown = memory(&world).saturating_sub(before);
    assert!(grown < 60 << 20, "the master grew by {grown} bytes");
    world.judge_undisturbed().await;
}

#[tokio::test]
async fn heads_without_end_are_cut_off() {
    let mut world = World::new(1, 4).await;
    assert_serves(&mut world).await;
    let before = memory(&world);
    // HTTP/1.1: one line without end, and many of them.
    for line in ["x-long: ".to_owned() + &"a".repeat(1 << 20), "x-many: a\r\n".repeat(100_000)] {
        let mut stream = connect(&world).await;
        let begun = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n";
        stream.write_all(begun).await.unwrap();
        let _ = stream.write_all(line.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer:.200}");
    }
    // HTTP/2: a head that is continued for ever.
    let mut stream = connect(&world).await;
    stream.write_all(HTTP_2).await.unwrap();
    stream.write_all(&frame(1, 0x1, 1, &head())).await.unwrap();
    let more = frame(9, 0, 1, &[0x00, 0x01, b'x', 0x01, b'y'].repeat(3_000));
    let mut sent = 0;
    while sent < 64 << 20 && stream.write_all(&more).await.is_ok() {
        sent += more.len();
    }
    assert!(sent < 64 << 20, "{sent} bytes of one head were taken");
    assert!(is_ended(&mut stream, Duration::from_secs(20)).await);
    assert_serves(&mut world).await;
    let grown = memory(&world).saturating_sub(before);
    assert!(grown < 60 << 20, "the master grew by {grown} bytes");
    world.judge_undisturbed().await;
}

#[tokio::test]
async fn nonsense_on_the_port_harms_nobody() {
    let mut world = World::new(1, 4).await;
    assert_serves(&mut world).await;
    let before = memory(&world);
    let seed: u64 = std::env::var("WINDLASS_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(7);
    let mut rng = fastrand::Rng::with_seed(seed);
    let rounds = 300 * scale();
    for round in 0..rounds {
        let mut stream = connect(&world).await;
        let mut bytes: Vec<u8> = match round % 6 {
            // Nothing that anybody speaks.
            0 => Vec::new(),
            // TLS.
            1 => b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
            // HTTP/2 that goes astray.
            2 => HTTP_2.to_vec(),
            3 => [HTTP_2, &frame(rng.u8(0..12), rng.u8(..), rng.u32(0..5), &vec![0; rng.usize(0..200)])]
                .concat(),
            // HTTP/1.1 that does.
            4 => b"POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"
                .to_vec(),
            // A worker's stream with garbage in it.
            _ => grpc(&mut rng),
        };
        let noise = rng.usize(0..3_000);
        bytes.extend(std::iter::repeat_with(|| rng.u8(..)).take(noise));
        let _ = stream.write_all(&bytes).await;
        let _ = is_ended(&mut stream, Duration::from_millis(2)).await;
    }
    assert_serves(&mut world).await;
    let grown = memory(&world).saturating_sub(before);
    assert!(grown < 40 << 20, "the master grew by {grown} bytes in {rounds} rounds");
    let pid = world.cluster.master.pid().unwrap();
    world.until("descriptors are free", async || crate::data::descriptors(pid) < 100).await;
    world.judge_undisturbed().await;
}

/// A call of the workers' service whose messages are random bytes, or random pieces of messages.
fn grpc(rng: &mut fastrand::Rng) -> Vec<u8> {
    let mut head = vec![0x83, 0x86];
    for (name, value) in [
        (":path", "/windlass.v1.Workers/Work"),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ] {
        head.push(0);
        head.push(name.len() as u8);
        head.extend_from_slice(name.as_bytes());
        head.push(value.len() as u8);
        head.extend_from_slice(value.as_bytes());
    }
    let mut bytes = [HTTP_2, &frame(1, 0x4, 1, &head)].concat();
    for _ in 0..rng.usize(1..6) {
        let length = rng.usize(0..400);
        let message: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(length).collect();
        let announced = if rng.bool() { message.len() as u32 } else { rng.u32(..) };
        let mut data = vec![rng.u8(0..3)];
        data.extend_from_slice(&announced.to_be_bytes());
        data.extend_from_slice(&message);
        bytes.extend(frame(0, 0, 1, &data));
    }
    bytes
}

#[tokio::test]
async fn a_line_without_end_takes_neither_memory_nor_disk() {
    // 500 MB with WINDLASS_TRIAL_SCALE=10 or more.
    let size = 50_000_000 * scale().min(10);
    let mut world = World::new(1, 2).await;
    assert_serves(&mut world).await;
    let (worker, master) = (world.worker(1).pid().unwrap(), world.cluster.master.pid().unwrap());
    let before = (crate::data::resident(worker), crate::data::resident(master));
    let run = world.one(&format!("head -c {size} /dev/zero | tr '\\0' x; echo; echo the end")).await;
    world.succeeds(&run).await;
    let after = (crate::data::resident(worker), crate::data::resident(master));
    let grown = (after.0.saturating_sub(before.0), after.1.saturating_sub(before.1));
    assert!(grown.0 < 40 << 20 && grown.1 < 40 << 20, "the worker and the master grew by {grown:?} bytes");
    let query = LogQuery { tail: Some(1), ..LogQuery::default() };
    let page = world.client().log(&run, 0, 1, &query).await.unwrap();
    assert_eq!(page.items.last().map(|line| line.text.as_str()), Some("the end"));
    assert!(crate::data::size(&world.folder().join("worker1/logs")) < 20 << 20);
    world.judge_undisturbed().await;
}

#[tokio::test]
async fn outputs_that_are_too_large_are_left_out_and_that_is_said() {
    let mut world = World::new(1, 2).await;
    let big =
        "{ printf 'v='; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo n=1; } >> \"$WINDLASS_OUTPUT\"";
    let run = world.submit(json!({"a": crate::world::task(big)})).await;
    world.succeeds(&run).await;
    let job = world.job(&run, "a").await;
    assert!(job.outputs.is_empty(), "{:?}", job.outputs.keys());
    assert_eq!(job.attempts[0].state, AttemptState::Success, "what has succeeded has succeeded");
    let said = job.attempts[0].reason.clone();
    assert!(said.contains("outputs were ignored: they have more than 256 KiB"), "{said}");
    assert_serves(&mut world).await;
    world.judge_undisturbed().await;
}

#[tokio::test]
async fn a_task_that_takes_more_memory_than_it_may_fails_alone() {
    let mut world = World::new(1, 4).await;
    // The kernel of a container may not let anybody limit a group of processes; a limit of the process itself is
    // everywhere.
    let greedy = "ulimit -v 200000; exec python3 -c 'x = bytearray(400 << 20)'";
    let killed = "kill -9 $$";
    let tasks = json!({
        "greedy": {"run": greedy, "retries": 0},
        "killed": {"run": killed, "retries": 0},
        "other": {"run": "sleep 1; echo fine"},
    });
    let run = world.submit_with(tasks, json!({"on_task_failure": "continue"})).await;
    world.forget(&run);
    let over = world.over(&run).await;
    assert_eq!(over.state.as_str(), "failed", "{}", over.reason);
    let greedy = world.job(&run, "greedy").await;
    assert_eq!(greedy.attempts[0].exit_code, Some(1), "{greedy:?}");
    let page = world.client().log(&run, greedy.number, 1, &LogQuery::default()).await.unwrap();
    assert!(page.items.iter().any(|line| line.text.contains("MemoryError")), "{page:?}");
    let killed = world.job(&run, "killed").await;
    assert_eq!(killed.attempts[0].signal, Some(9), "{killed:?}");
    assert!(killed.reason.contains('9'), "{}", killed.reason);
    assert_eq!(world.states(&run, "other").await, [AttemptState::Success]);
    assert_serves(&mut world).await;
    world.judge_undisturbed().await;
}
