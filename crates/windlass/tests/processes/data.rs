//! Many descriptors, much output, and texts that are hard to carry.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use windlass_rest::AttemptState;
use windlass_rest::logs::{LogQuery, Stream};
use windlass_rest::workers::WorkerState;
use windlass_trial::node::Node;

use crate::world::{DEADLINE, World, many, scale, task, worker_arguments};

/// F62
#[tokio::test]
async fn a_worker_with_few_descriptors_does_what_it_can_at_once_and_fails_nothing() {
    const LIMIT: usize = 128;
    let mut world = World::new(0, 1).await;
    let number = world.add_worker("http://unused", 1, &[]);
    let name = format!("worker{number}");
    let data = world.folder().join(&name);
    let arguments = worker_arguments(&data, &name, &world.cluster.url, 200, &[]);
    let limited = format!("ulimit -n {LIMIT}; exec \"$0\" \"$@\"");
    let shell = ["-c".to_owned(), limited, crate::world::PROGRAM.to_owned()];
    let log = world.folder().join("limited.log");
    *world.worker(number) =
        Node::new(&name, Path::new("/bin/sh"), shell.into_iter().chain(arguments).collect(), log);
    world.worker(number).start().unwrap();
    world.worker_is(number, WorkerState::Online).await;
    // More at once than there are descriptors for, then many short ones.
    let count = 150 * scale();
    let run = world.submit(many(count, "sleep 0.5")).await;
    let pid = world.worker(number).pid().unwrap();
    let mut most = 0;
    while !world.run(&run).await.state.is_end() {
        most = most.max(descriptors(pid));
    }
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert!(most <= LIMIT, "{most} descriptors");
    assert_eq!((world.count("START", &run), world.count("END", &run)), (count, count));
    assert_eq!(world.worker(number).pid(), Some(pid));
    // What was in use for attempts is free again.
    let idle = descriptors(pid);
    let next = world.submit(many(100, "true")).await;
    world.succeeds(&next).await;
    world.idle().await;
    assert!(descriptors(pid) <= idle + 4, "{idle}, then {}", descriptors(pid));
}

/// F63
#[tokio::test]
async fn much_output_costs_neither_memory_nor_much_disk_and_its_end_can_be_read_at_any_time() {
    const PRINTED: usize = 50_000_000;
    let mut world = World::new(1, 4).await;
    let warm = world.submit(many(8, "echo warm")).await;
    world.succeeds(&warm).await;
    let (worker, master) = (world.worker(1).pid().unwrap(), world.cluster.master.pid().unwrap());
    let before = (resident(worker), resident(master));
    let does = format!("yes 'a line of some forty letters, and a few' | head -c {PRINTED}; echo the end");
    let count = 3 * scale();
    let run = world.submit(many(count, &does)).await;
    let (mut most, mut tails, began) = ((0, 0), 0, Instant::now());
    while !world.run(&run).await.state.is_end() {
        assert!(began.elapsed() < DEADLINE * 2, "it takes too long");
        most = (most.0.max(resident(worker)), most.1.max(resident(master)));
        let query = LogQuery { tail: Some(5), limit: Some(10), ..LogQuery::default() };
        if let Ok(page) = world.client().log(&run, 0, 1, &query).await {
            assert!(page.items.len() <= 11, "{page:?}");
            tails += usize::from(!page.items.is_empty());
        }
    }
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert!(tails > 0, "nobody could read while it ran");
    // Flat: a fraction of what one of them prints.
    let grown = (most.0.saturating_sub(before.0), most.1.saturating_sub(before.1));
    assert!(grown.0 < 40 << 20 && grown.1 < 40 << 20, "the worker and the master grew by {grown:?} bytes");
    for job in world.jobs(&run).await {
        let query = LogQuery { tail: Some(1), ..LogQuery::default() };
        let page = world.client().log(&run, job.number, 1, &query).await.unwrap();
        assert_eq!(page.items.last().map(|line| line.text.as_str()), Some("the end"));
    }
    let logs = size(&world.folder().join("worker1/logs"));
    assert!(logs < count as u64 * (20 << 20), "{logs} bytes of logs");
}

/// F64
#[tokio::test]
async fn texts_of_every_kind_arrive_as_they_were_sent() {
    let mut world = World::prepare(1, 4, |_| {});
    for name in ["LANG", "LC_ALL"] {
        world.worker(1).set_env(name, Some("C"));
        world.cluster.master.set_env(name, Some("C"));
    }
    world.start().await;
    let texts = [
        "漢字かな交じり文 한국어",
        "🦀👩‍👩‍👧‍👦🏳️‍🌈",
        "\u{202e}שלום עולם\u{202c} العربية",
        "quotes ' \" ` $HOME $(id) ${x} \\ \t tab, ; | & > < * ? ~ # !",
        " leading and trailing ",
        "",
    ];
    let long = "ü".repeat(32 << 10);
    let mut params = serde_json::Map::new();
    let mut tasks = serde_json::Map::new();
    for (number, text) in texts.iter().copied().chain([long.as_str()]).enumerate() {
        params.insert(format!("p{number}"), json!({"type": "string", "default": text}));
        let file = world.folder().join(format!("text{number}"));
        // From a parameter to the environment, from there to an output, from there to another task, and to a file.
        let out = format!("printf 'v=%s\\n' ${{{{ params.p{number} }}}} >> \"$WINDLASS_OUTPUT\"");
        let read = format!("printf '%s' ${{{{ tasks.a{number}.outputs.v }}}} > '{}'", file.display());
        tasks.insert(format!("a{number}"), task(&out));
        let mut reads = task(&read);
        reads["depends_on"] = json!([format!("a{number}")]);
        tasks.insert(format!("b{number}"), reads);
    }
    let run = world.submit_with(Value::Object(tasks), json!({"params": params})).await;
    world.succeeds(&run).await;
    for (number, text) in texts.iter().copied().chain([long.as_str()]).enumerate() {
        let read = std::fs::read(world.folder().join(format!("text{number}"))).unwrap();
        assert!(read == text.as_bytes(), "text {number}: {:?}", String::from_utf8_lossy(&read));
        let job = world.job(&run, &format!("a{number}")).await;
        assert!(job.outputs["v"] == json!(text), "text {number} in the API");
    }
    // What is printed may be anything.
    let prints = "printf 'nul:\\000: bad:\\377\\376: \\346\\274\\242\\n'; printf 'no end of line'";
    let run = world.one(prints).await;
    world.succeeds(&run).await;
    let page = world.client().log(&run, 0, 1, &LogQuery::default()).await.unwrap();
    let lines: Vec<_> = page
        .items
        .iter()
        .filter(|line| line.stream == Stream::Stdout)
        .map(|line| line.text.as_str())
        .collect();
    assert_eq!(lines, ["nul:\0: bad:\u{fffd}\u{fffd}: 漢", "no end of line"]);
    assert_eq!(world.states(&run, "a").await, [AttemptState::Success]);
    world.judge_undisturbed().await;
}

/// How many descriptors a process has open.
pub fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// How much memory a process has in use.
pub fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

/// How many bytes of disk a folder takes.
pub fn size(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            if entry.path().is_dir() { size(&entry.path()) } else { entry.metadata().unwrap().blocks() * 512 }
        })
        .sum()
}
