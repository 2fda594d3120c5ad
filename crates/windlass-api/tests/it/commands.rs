//! What attempts have run, as people see it.

use windlass_client::JobVerb;
use windlass_rest::RunState;
use windlass_rest::attempts::Command;
use windlass_rest::jobs::{ListJobs, Verdict};
use windlass_rest::runs::Run;

use crate::world::World;

/// What the newest attempt of a job runs.
async fn command(world: &World, run: &Run, job: u32) -> Option<Command> {
    let job = world.client.job(&run.id, job).await.unwrap();
    job.attempts.last().and_then(|attempt| attempt.command.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_attempt_has_run_is_shown_with_its_values() {
    let world = World::new().await;
    let text = r#"
name: shown
params: {day: "it's; $(x)"}
env: {LEVEL: "${{ params.day }}"}
tasks:
  a: {run: 'echo "rows=12" >> "$WINDLASS_OUTPUT"'}
  b: {depends_on: [a], run: 'echo got ${{ tasks.a.outputs.rows }} ${{ params.day }}; [ "$WINDLASS_ATTEMPT" -gt 1 ]', retries: {max: 1, delay: 1ms}}
  each: {foreach: "${{ ['x', 'y'] }}", run: "echo ${{ item }}"}
  words: {type: shell, with: {command: [echo, "${{ params.day }}", plain]}}
  rest: {type: noop}
  ask: {type: approve, depends_on: [a, b, each, words, rest]}
"#;
    let run = world.run(text).await;
    let waits = async || world.client.run(&run.id).await.unwrap().job_counts.held == 1;
    world.until("everything else is done", waits).await;
    let check = async || {
        let job = world.client.job(&run.id, 1).await.unwrap();
        assert_eq!(job.attempts.len(), 2);
        assert_eq!(job.attempts[0].command, job.attempts[1].command, "nothing that it reads has changed");
        let shown = job.attempts[1].command.clone().unwrap();
        assert_eq!((shown.kind.as_str(), shown.cut), ("shell", false));
        assert!(shown.text.starts_with("echo got ") && !shown.text.contains("${{"), "{}", shown.text);
        assert!(!shown.text.contains("it's"), "no value is in the text: {}", shown.text);
        assert_eq!(shown.env["LEVEL"], "it's; $(x)");
        // Each value is under the name by which the text refers to it, and it is what was printed.
        let mut referred: Vec<_> = shown.env.iter().filter(|(name, _)| shown.text.contains(*name)).collect();
        referred.sort_by_key(|(name, _)| shown.text.find(name.as_str()));
        let values: Vec<_> = referred.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["12", "it's; $(x)"]);
        let log = world.client.log(&run.id, 1, 2, &Default::default()).await.unwrap();
        assert_eq!(log.items[0].text, "got 12 it's; $(x)");

        let words = command(&world, &run, 3).await.unwrap();
        assert_eq!(words.text, r"echo 'it'\''s; $(x)' plain");
        let rest = command(&world, &run, 4).await.unwrap();
        assert_eq!((rest.kind.as_str(), rest.text.as_str()), ("noop", ""));
        assert_eq!(command(&world, &run, 5).await, None, "a person does it");
        for (job, item) in [(6, "x"), (7, "y")] {
            let each = command(&world, &run, job).await.unwrap();
            assert!(each.env.values().any(|value| value == item), "{each:?}");
        }
        let listed = world.client.jobs(&run.id, &ListJobs::default()).await.unwrap().items;
        assert!(listed.iter().all(|job| job.attempts.iter().all(|attempt| attempt.command.is_none())));
    };
    check().await;
    world.client.job_verb(&run.id, 5, JobVerb::Approve, &Verdict::default()).await.unwrap();
    world.until_run(&run.id, RunState::Success).await;
    check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_have_been_something_else_is_not_shown() {
    let world = World::new().await;
    let there = world.folder.path().join("there").display().to_string();
    let text = format!(
        "name: anew\ntasks:\n  a: {{run: 'test -e {there}'}}\n  b: {{depends_on: [a], trigger: all_done, run: 'echo ${{{{ \
         tasks.a.state }}}}'}}\n  c: {{run: 'echo ${{{{ run.id }}}}'}}\n"
    );
    let run = world.run(&text).await;
    world.until_run(&run.id, RunState::Failed).await;
    let shown = command(&world, &run, 1).await.unwrap();
    assert!(shown.env.values().any(|value| value == "failed"), "{shown:?}");
    std::fs::write(&there, "").unwrap();
    world.client.job_verb(&run.id, 0, JobVerb::Retry, &Verdict::default()).await.unwrap();
    world.until_run(&run.id, RunState::Success).await;
    // It has read how the first attempt ended, and that is not known any more.
    let job = world.client.job(&run.id, 1).await.unwrap();
    if job.attempts.len() == 1 {
        assert_eq!(job.attempts[0].command, None);
    } else {
        assert_eq!(job.attempts[0].command, None);
        assert!(job.attempts[1].command.as_ref().unwrap().env.values().any(|value| value == "success"));
    }
    assert!(command(&world, &run, 2).await.is_some(), "what reads nothing is known for ever");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_shown_as_it_is_sent_and_long_texts_are_cut() {
    let world = World::new().await;
    let long = "x".repeat(20_000);
    let text = format!(
        "name: calls\nparams: {{day: 'a b', long: '{long}'}}\ntasks:\n  call: {{type: http, with: {{method: POST, url: \
         'http://127.0.0.1:1/x', query: {{q: '${{{{ params.day }}}}'}}, headers: {{X-Day: '${{{{ params.day }}}}'}}, json: {{day: '${{{{ \
         params.day }}}}'}}}}}}\n  long: {{run: 'true ${{{{ params.long }}}}'}}\n"
    );
    let run = world.run(&text).await;
    let over = async || world.client.run(&run.id).await.unwrap().state.is_end();
    world.until("it is over", over).await;
    let call = command(&world, &run, 0).await.unwrap();
    assert_eq!(call.kind, "http");
    assert_eq!(call.text, "POST http://127.0.0.1:1/x?q=a b\nX-Day: a b\n\n{\"day\":\"a b\"}");
    let long = command(&world, &run, 1).await.unwrap();
    assert!(long.cut && long.env.values().all(|value| value.len() <= 4096), "{}", long.text);
}
