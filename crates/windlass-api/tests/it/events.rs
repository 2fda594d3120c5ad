//! Live updates.

use std::time::Duration;

use windlass_rest::events::Event;
use windlass_rest::{JobState, RunState};

use crate::world::{PATIENCE, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_told_from_how_it_is_to_its_end() {
    let world = World::new().await;
    let go = world.folder.path().join("go");
    let text = format!(
        "name: told\ntasks: {{a: {{run: 'until test -e {}; do sleep 0.02; done'}}, b: {{depends_on: [a], type: noop}}}}",
        go.display()
    );
    let run = world.run(&text).await;
    let mut stream = world.client.run_events(&run.id);
    let mut told = Vec::new();
    while let Some(event) = tokio::time::timeout(PATIENCE, stream.next()).await.unwrap().unwrap() {
        if told.is_empty() {
            assert!(matches!(&event, Event::Run(first) if first.id == run.id), "{event:?}");
        }
        if let Event::Job(job) = &event
            && job.job.task == "a"
            && job.job.state == JobState::Running
        {
            std::fs::write(&go, "").unwrap();
        }
        told.push(event);
    }
    let Some(Event::Run(last)) = told.last() else { panic!("{told:?}") };
    assert_eq!(last.state, RunState::Success);
    let last_of = |task: &str| {
        told.iter().rev().find_map(|event| match event {
            Event::Job(job) if job.job.task == task => Some(job.job.state),
            _ => None,
        })
    };
    assert_eq!((last_of("a"), last_of("b")), (Some(JobState::Success), Some(JobState::Success)));
    assert!(!told.iter().any(|event| matches!(event, Event::Resync(_))));
    // One that is over is told as it is.
    let mut stream = world.client.run_events(&run.id);
    let mut again = Vec::new();
    while let Some(event) = stream.next().await.unwrap() {
        again.push(event.name());
    }
    assert_eq!(again, ["run", "job", "job"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_is_told() {
    let world = World::new().await;
    let mut stream = world.client.events();
    // A worker is told at first: from then on nothing is missed.
    let first = stream.next().await.unwrap().unwrap();
    let Event::Worker(worker) = first else { panic!("{first:?}") };
    assert_eq!(worker.name, "w1");
    let run = world.run("name: told\ntasks: {a: {run: 'true'}}").await;
    let (mut job_done, mut run_done) = (false, false);
    while !(job_done && run_done) {
        match tokio::time::timeout(PATIENCE, stream.next()).await.unwrap().unwrap().unwrap() {
            Event::Run(told) => run_done |= told.id == run.id && told.state == RunState::Success,
            Event::Job(told) => {
                assert_eq!((told.run.as_str(), told.workflow.as_str()), (run.id.as_str(), "told"));
                job_done |= told.job.state == JobState::Success;
            }
            Event::Worker(_) => {}
            Event::Resync(resync) => panic!("{resync:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_back_is_told_to_read_again() {
    let world = World::without_workers().await;
    let run = world.run("name: told\ntasks: {a: {type: noop, group: nobody}}").await;
    for path in ["/api/v1/events".to_owned(), format!("/api/v1/runs/{}/events", run.id)] {
        let request = world.http.get(world.url(&path)).header("last-event-id", "0000-7");
        let mut response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let piece = tokio::time::timeout(PATIENCE, response.chunk()).await.unwrap().unwrap().unwrap();
        let text = String::from_utf8(piece.to_vec()).unwrap();
        assert!(text.starts_with("event: resync\nid: "), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_do_not_keep_the_server_from_ending() {
    let mut world = World::new().await;
    let run = world.run("name: long\ntasks: {a: {run: sleep 1000}}").await;
    let mut events = world.http.get(world.url("/api/v1/events")).send().await.unwrap();
    let mut of_run =
        world.http.get(world.url(&format!("/api/v1/runs/{}/events", run.id))).send().await.unwrap();
    of_run.chunk().await.unwrap().unwrap();
    events.chunk().await.unwrap().unwrap();
    // Workers hold streams too; their master ends them.
    world.handle.stop().await;
    world.stop.cancel();
    let server = world.server.take().unwrap();
    tokio::time::timeout(Duration::from_secs(30), server).await.unwrap().unwrap().unwrap();
    // A stream that did not come to its end is broken, so that its reader comes back.
    loop {
        match of_run.chunk().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it looks as if the run were over"),
            Err(_) => break,
        }
    }
}
