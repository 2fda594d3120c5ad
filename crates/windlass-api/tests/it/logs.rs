//! What attempts printed.

use windlass_rest::RunState;
use windlass_rest::logs::{LogLevel, LogPage, LogQuery, Stream};

use crate::world::World;

fn texts(page: &LogPage) -> Vec<&str> {
    page.items.iter().map(|line| line.text.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_are_read_from_the_start_the_middle_and_the_end() {
    let world = World::new().await;
    let run = world.run("name: print\ntasks: {a: {run: 'seq 1 10; echo oops >&2'}}").await;
    world.until_run(&run.id, RunState::Success).await;
    let read = async |query: LogQuery| world.client.log(&run.id, 0, 1, &query).await.unwrap();
    let page = read(LogQuery { from_line: Some(3), limit: Some(2), ..LogQuery::default() }).await;
    assert_eq!((texts(&page), page.next_line, page.complete), (vec!["3", "4"], 5, false));
    let page = read(LogQuery { from_line: Some(5), ..LogQuery::default() }).await;
    assert_eq!((page.items.len(), page.next_line, page.complete), (7, 12, true));
    assert!(page.items.iter().any(|line| line.stream == Stream::Stderr && line.text == "oops"));
    let page = read(LogQuery { tail: Some(3), ..LogQuery::default() }).await;
    assert_eq!((page.items.len(), page.items[0].number, page.complete), (3, 9, true));
    let page = read(LogQuery { tail: Some(1000), ..LogQuery::default() }).await;
    assert_eq!(page.items.len(), 11);
    let page = read(LogQuery { from_line: Some(100), ..LogQuery::default() }).await;
    assert_eq!((page.items.len(), page.complete), (0, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_lines_of_some_text_or_level_are_read() {
    let world = World::new().await;
    let script = "for i in $(seq 1 5); do echo \"INFO step $i\"; done; echo 'ERROR it broke' ; echo odd >&2; echo Step 9";
    let run = world.run(&format!("name: w\ntasks:\n  a:\n    run: |\n      {script}")).await;
    world.until_run(&run.id, RunState::Success).await;
    let read = async |query: LogQuery| world.client.log(&run.id, 0, 1, &query).await.unwrap();
    let contains = |text: &str| LogQuery { contains: Some(text.into()), ..LogQuery::default() };
    let page = read(contains("STEP")).await;
    assert_eq!((page.items.len(), page.next_line, page.complete), (6, 9, true));
    let page = read(LogQuery { limit: Some(2), ..contains("step") }).await;
    assert_eq!((texts(&page), page.next_line, page.complete), (vec!["INFO step 1", "INFO step 2"], 3, false));
    let page = read(LogQuery { from_line: Some(6), ..contains("step") }).await;
    assert_eq!((texts(&page), page.items[0].number > 6), (vec!["Step 9"], true));
    let page = read(LogQuery { level: Some(LogLevel::Warn), ..LogQuery::default() }).await;
    // Two pipes: which of them is read first is chance.
    let mut bad = texts(&page);
    bad.sort();
    assert_eq!(bad, ["ERROR it broke", "odd"]);
    let page = read(LogQuery { level: Some(LogLevel::Error), ..contains("it") }).await;
    assert_eq!(texts(&page), ["ERROR it broke"]);
    let page = read(contains("nowhere")).await;
    assert_eq!((texts(&page), page.next_line, page.complete), (vec![], 9, true));
    for bad in ["contains=", "contains=x&tail=3", "level=warn&follow=true", "level=bad"] {
        let path = format!("/api/v1/runs/{}/jobs/0/attempts/1/log?{bad}", run.id);
        assert_eq!(world.get(&path).await.0, 400, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_followed_to_its_end() {
    let world = World::new().await;
    let go = world.folder.path().join("go");
    let text = format!(
        "name: print\ntasks: {{a: {{run: 'echo before; until test -e {}; do sleep 0.02; done; echo after'}}}}",
        go.display()
    );
    let run = world.run(&text).await;
    world
        .until("an attempt is there", async || {
            let (status, _) = world.get(&format!("/api/v1/runs/{}/jobs/0/attempts/1/log", run.id)).await;
            status == 200
        })
        .await;
    let mut stream = world.client.follow_log(&run.id, 0, 1, LogQuery::default());
    let mut lines: Vec<String> = Vec::new();
    let mut complete = false;
    while let Some(page) = stream.next().await.unwrap() {
        lines.extend(texts(&page).into_iter().map(str::to_owned));
        complete = page.complete;
        if lines == ["before"] {
            std::fs::write(&go, "").unwrap();
        }
    }
    assert_eq!((lines, complete), (vec!["before".to_owned(), "after".into()], true));
    // One that is over is told as a whole.
    let mut stream =
        world.client.follow_log(&run.id, 0, 1, LogQuery { tail: Some(1), ..LogQuery::default() });
    let mut lines: Vec<String> = Vec::new();
    while let Some(page) = stream.next().await.unwrap() {
        lines.extend(texts(&page).into_iter().map(str::to_owned));
    }
    assert_eq!(lines, ["after"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_words_of_a_worker_that_is_away_are_in_the_store() {
    let mut world = World::new().await;
    let run = world.run("name: print\ntasks: {a: {run: 'echo one; echo two; echo three'}}").await;
    world.until_run(&run.id, RunState::Success).await;
    world.lose_worker().await;
    let read = async |query: LogQuery| world.client.log(&run.id, 0, 1, &query).await.unwrap();
    world.until("the worker is away", async || read(LogQuery::default()).await.notice.is_some()).await;
    let page = read(LogQuery::default()).await;
    assert_eq!((texts(&page), page.complete), (vec!["one", "two", "three"], true));
    let notice = page.notice.unwrap();
    assert!(notice.contains("worker `w1`") && notice.contains("away since 2"), "{notice}");
    let page = read(LogQuery { tail: Some(1), ..LogQuery::default() }).await;
    assert_eq!(texts(&page), ["three"]);
    let mut stream = world.client.follow_log(&run.id, 0, 1, LogQuery::default());
    let page = stream.next().await.unwrap().unwrap();
    assert_eq!((texts(&page), page.complete), (vec!["one", "two", "three"], true));
    assert!(page.notice.is_some());
    assert!(stream.next().await.unwrap().is_none());
}
