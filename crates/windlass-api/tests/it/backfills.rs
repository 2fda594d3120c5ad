//! Campaigns over past firings, and the calendars that schedules obey.

use serde_json::{Value, json};
use windlass_client::{BackfillVerb, new_key};
use windlass_rest::RunState;
use windlass_rest::backfills::{Backfill, BackfillState, CreateBackfill, ListBackfills};
use windlass_rest::calendars::{SetCalendar, Weekday};
use windlass_rest::runs::ListRuns;
use windlass_rest::schedules::NextQuery;

use crate::world::{World, answered, json};

const DAILY: &str = "name: daily\nschedule: '0 3 * * *'\nparams: {day: {type: date, default: '${{ run.logical_time | date }}'}}\ntasks: {a: {type: noop}}";

fn wanted(workflow: &str, from: &str, to: &str) -> CreateBackfill {
    CreateBackfill {
        workflow: workflow.into(),
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
        parallel: None,
        missing_only: false,
        with_dependants: false,
        params: Default::default(),
        priority: None,
        dry_run: false,
    }
}

async fn until_over(world: &World, id: &str) -> Backfill {
    world
        .until("the campaign is over", async || world.client.backfill(id).await.unwrap().state.is_end())
        .await;
    world.client.backfill(id).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_does_what_its_plan_says_and_leaves_nothing_missing() {
    let world = World::new().await;
    world.client.apply("daily", DAILY).await.unwrap();
    let range = wanted("daily", "2026-01-01T00:00:00Z", "2026-01-05T23:59:59Z");
    let plan = world.client.plan_backfill(&range).await.unwrap();
    assert_eq!((plan.total, plan.existing, plan.stages.len()), (5, 0, 1));
    let times: Vec<_> = plan.stages[0].runs.iter().map(|run| run.logical_time.to_string()).collect();
    assert_eq!(times[0], "2026-01-01T03:00:00.000Z");
    assert!(times.is_sorted() && plan.stages[0].runs.iter().all(|run| run.wanted && run.exists.is_none()));
    assert!(world.client.backfills(&ListBackfills::default()).await.unwrap().items.is_empty());

    let key = new_key();
    let made = world.client.create_backfill(&key, &range).await.unwrap();
    assert_eq!((made.total, made.parallel), (5, 1));
    let again = world.client.create_backfill(&key, &range).await.unwrap();
    assert_eq!(again.id, made.id, "the same key, the same campaign");
    let over = until_over(&world, &made.id).await;
    assert_eq!((over.state, over.succeeded, over.failed), (BackfillState::Done, 5, 0));
    assert!(over.finished_at.is_some() && over.stages[0].id.as_ref() == Some(&made.id));
    let again = world.client.create_backfill(&key, &range).await.unwrap();
    assert_eq!(again.id, made.id, "also when it is over");

    let runs = world.client.runs(&ListRuns::default()).await.unwrap().items;
    let mut days: Vec<_> = runs.iter().map(|run| run.params["day"].as_str().unwrap().to_owned()).collect();
    days.sort();
    assert_eq!(days, ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05"]);
    assert!(runs.iter().all(|run| json!(run.trigger)["backfill"] == json!(made.id)));

    let missing = CreateBackfill {
        missing_only: true,
        ..wanted("daily", "2025-12-31T00:00:00Z", "2026-01-05T23:59:59Z")
    };
    let plan = world.client.plan_backfill(&missing).await.unwrap();
    assert_eq!((plan.total, plan.existing), (1, 5));
    assert!(plan.stages[0].runs[0].wanted && !plan.stages[0].runs[1].wanted);
    let missing = CreateBackfill { from: range.from, ..missing };
    assert_eq!(world.client.plan_backfill(&missing).await.unwrap().total, 0);
    let (status, problem) = world.post("/api/v1/backfills", &json!(missing)).await;
    assert_eq!((status, &problem["code"]), (422, &json!("nothing_to_run")), "{problem}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_is_paused_resumed_and_stopped() {
    let world = World::new().await;
    let text = "name: gate\nschedule: '0 3 * * *'\ntasks: {a: {type: approve}}";
    world.client.apply("gate", text).await.unwrap();
    let range = CreateBackfill {
        parallel: Some(2),
        ..wanted("gate", "2026-01-01T00:00:00Z", "2026-01-09T23:59:59Z")
    };
    let made = world.client.create_backfill(&new_key(), &range).await.unwrap();
    let created = async |count: u64| {
        world
            .until("so many runs are there", async || {
                world.client.backfill(&made.id).await.unwrap().created == count
            })
            .await;
    };
    created(2).await;
    let paused = world.client.backfill_verb(&made.id, BackfillVerb::Pause).await.unwrap();
    assert_eq!(paused.state, BackfillState::Paused);
    let open = world.client.runs(&ListRuns::default()).await.unwrap().items;
    assert_eq!(open.len(), 2, "as many as may be open at once");
    for run in &open {
        let verdict = windlass_rest::jobs::Verdict::default();
        world.client.job_verb(&run.id, 0, windlass_client::JobVerb::Approve, &verdict).await.unwrap();
        world.until_run(&run.id, RunState::Success).await;
    }
    assert_eq!(world.client.backfill(&made.id).await.unwrap().created, 2, "it is paused");
    let resumed = world.client.backfill_verb(&made.id, BackfillVerb::Resume).await.unwrap();
    assert_eq!(resumed.state, BackfillState::Running);
    created(4).await;
    world.client.backfill_verb(&made.id, BackfillVerb::Stop).await.unwrap();
    let over = until_over(&world, &made.id).await;
    assert_eq!((over.state, over.succeeded, over.failed), (BackfillState::Stopped, 2, 2));
    let again = world.client.backfill_verb(&made.id, BackfillVerb::Stop).await.unwrap();
    assert_eq!(again.state, BackfillState::Stopped, "what is stopped is stopped");
    let (status, problem) = world.post(&format!("/api/v1/backfills/{}:resume", made.id), &json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("state_conflict")), "{problem}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_campaign_can_do_is_said() {
    let world = World::new().await;
    world.client.apply("daily", DAILY).await.unwrap();
    world
        .client
        .apply("often", "name: often\nschedule: '* * * * * *'\ntasks: {a: {type: noop, group: none}}")
        .await
        .unwrap();
    world.client.pause_schedule("often@* * * * * * UTC", true).await.unwrap();
    world.client.apply("never", "name: never\ntasks: {a: {type: noop}}").await.unwrap();
    let body = |workflow: &str, from: &str, to: &str, more: Value| {
        let mut body = json!({"workflow": workflow, "from": from, "to": to});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let (first, last) = ("2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z");
    for (body, status, code, word) in [
        (body("nobody", first, last, json!({})), 404, "workflow_not_found", "nobody"),
        (body("no/name", first, last, json!({})), 404, "workflow_not_found", "no/name"),
        (body("daily", last, first, json!({})), 422, "nothing_to_run", "ends before it begins"),
        (body("daily", first, last, json!({"parallel": 0})), 400, "bad_request", "`parallel` is 1 to 1000"),
        (
            body("daily", first, last, json!({"parallel": 1001})),
            400,
            "bad_request",
            "`parallel` is 1 to 1000",
        ),
        (body("daily", first, last, json!({"parralel": 1})), 400, "bad_request", "unknown field"),
        (body("daily", "then", last, json!({})), 400, "bad_request", "RFC 3339"),
        (body("often", first, last, json!({})), 422, "too_many_firings", "100000"),
        (body("never", first, last, json!({})), 422, "nothing_to_run", "nothing to run"),
        (
            body("daily", "2999-01-01T00:00:00Z", "2999-02-01T00:00:00Z", json!({})),
            422,
            "nothing_to_run",
            "nothing",
        ),
    ] {
        let (found, problem) = world.post("/api/v1/backfills", &body).await;
        assert_eq!((found, problem["code"].as_str().unwrap()), (status, code), "{body}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(word), "{body}: {problem}");
    }
    let empty = CreateBackfill { dry_run: true, ..wanted("never", first, last) };
    assert_eq!(world.client.plan_backfill(&empty).await.unwrap().total, 0, "a plan of nothing is a plan");
    let post = world.http.post(world.url("/api/v1/backfills")).header("idempotency-key", "k");
    assert_eq!(answered(json(post, &body("daily", first, last, json!({})))).await.0, 201);
    let post = world.http.post(world.url("/api/v1/backfills")).header("idempotency-key", "k");
    let (status, problem) = answered(json(post, &body("daily", first, first, json!({})))).await;
    assert_eq!((status, &problem["code"]), (422, &json!("key_reused")));
    world.client.enable_workflow("daily", false).await.unwrap();
    let (status, problem) = world.post("/api/v1/backfills", &body("daily", first, last, json!({}))).await;
    assert_eq!((status, &problem["code"]), (409, &json!("workflow_disabled")));
    assert_eq!(world.get("/api/v1/backfills/7ZZZZZZZZZZZZ").await.0, 404);
    assert_eq!(world.get("/api/v1/backfills?cursor=x").await.0, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_of_a_campaign_start_nothing_else() {
    let world = World::new().await;
    world.client.apply("daily", DAILY).await.unwrap();
    let after = "name: after\ntriggers: [{after: daily}]\ntasks: {a: {type: noop}}";
    world.client.apply("after", after).await.unwrap();
    let of_after = async || {
        let query = ListRuns { workflow: Some("after".into()), ..ListRuns::default() };
        world.client.runs(&query).await.unwrap().items.len()
    };
    // That it listens is known once a run has led to another.
    world
        .until("it listens", async || {
            let run = world.run_of("daily").await;
            world.until_run(&run.id, RunState::Success).await;
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            of_after().await > 0
        })
        .await;
    let before = of_after().await;
    let range = wanted("daily", "2026-01-01T00:00:00Z", "2026-01-05T23:59:59Z");
    let made = world.client.create_backfill(&new_key(), &range).await.unwrap();
    until_over(&world, &made.id).await;
    let last = world.run_of("daily").await;
    world.until_run(&last.id, RunState::Success).await;
    world.until("the run that came after has its run", async || of_after().await > before).await;
    assert_eq!(
        of_after().await,
        before + 1,
        "completions are told in order, and those of the campaign were not"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calendars_are_set_obeyed_and_kept_while_they_are_used() {
    let world = World::without_workers().await;
    let text = "name: office\nschedule: {cron: '0 9 * * *', id: morning, calendar: {exclude: [weekend, holidays]}}\ntasks: {a: {type: noop}}";
    world.client.apply("office", text).await.unwrap();
    let next = async || {
        let query = NextQuery { count: Some(5) };
        world.client.schedule_next("office@morning", &query).await.unwrap().items
    };
    assert!(next().await.is_empty(), "one that is not known allows nothing");
    let weekend = SetCalendar {
        weekdays: vec![Weekday::Sunday, Weekday::Saturday, Weekday::Sunday],
        ..SetCalendar::default()
    };
    let set = world.client.set_calendar("weekend", &weekend).await.unwrap();
    assert_eq!(set.weekdays, [Weekday::Saturday, Weekday::Sunday]);
    assert_eq!(set.used_by, Some(vec!["office".to_owned()]));
    world.client.set_calendar("holidays", &SetCalendar::default()).await.unwrap();
    let days: Vec<_> =
        next().await.iter().map(|due| due.time.timestamp().to_zoned(jiff::tz::TimeZone::UTC)).collect();
    assert_eq!(days.len(), 5);
    assert!(
        days.iter().all(|day| !matches!(
            day.weekday(),
            jiff::civil::Weekday::Saturday | jiff::civil::Weekday::Sunday
        ))
    );
    let off = windlass_rest::calendars::Day(days[0].date());
    let holidays =
        SetCalendar { dates: vec![off], description: Some("off".into()), ..SetCalendar::default() };
    world.client.set_calendar("holidays", &holidays).await.unwrap();
    assert_ne!(next().await[0].time, days[0].timestamp().into());

    let listed = world.client.calendars(&Default::default()).await.unwrap().items;
    let names: Vec<_> = listed.iter().map(|calendar| calendar.name.as_str()).collect();
    assert_eq!(names, ["holidays", "weekend"]);
    assert_eq!((listed[0].description.as_deref(), listed[0].used_by.as_ref()), (Some("off"), None));
    let page =
        world.client.calendars(&windlass_rest::PageQuery { limit: Some(1), cursor: None }).await.unwrap();
    assert_eq!(page.next_cursor.as_deref(), Some("holidays"));

    let (status, problem) = answered(world.http.delete(world.url("/api/v1/calendars/holidays"))).await;
    assert_eq!((status, &problem["code"]), (409, &json!("in_use")), "{problem}");
    world.client.delete_workflow("office").await.unwrap();
    world.client.delete_calendar("holidays").await.unwrap();
    for method in ["GET", "DELETE"] {
        let request = world.http.request(method.parse().unwrap(), world.url("/api/v1/calendars/holidays"));
        let (status, problem) = answered(request).await;
        assert_eq!((status, &problem["code"]), (404, &json!("calendar_not_found")));
    }
    for (name, body) in [
        ("x", json!({"dates": ["2026-02-30"]})),
        ("x", json!({"dates": ["tomorrow"]})),
        ("x", json!({"weekdays": ["someday"]})),
        ("x", json!({"days": []})),
        ("x", json!({"description": "a\nb"})),
        ("x", json!({"description": "x".repeat(501)})),
        ("x", json!({"dates": vec!["2026-12-25"; 2001]})),
        ("no%20name", json!({})),
    ] {
        let put = world.http.put(world.url(&format!("/api/v1/calendars/{name}")));
        let (status, problem) = answered(json(put, &body)).await;
        assert_eq!((status, &problem["code"]), (400, &json!("bad_request")), "{body:.100}");
    }
    assert_eq!(world.client.calendars(&Default::default()).await.unwrap().items.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dependants_are_done_after_what_they_need() {
    let world = World::new().await;
    world.client.apply("daily", DAILY).await.unwrap();
    let next = "name: next\nschedule: '0 4 * * *'\ntasks: {d: {type: dependent, with: {workflow: daily, logical_time: '${{ run.logical_time - hours(25) }}'}}}";
    world.client.apply("next", next).await.unwrap();
    world
        .client
        .apply("after", "name: after\ntriggers: [{after: next}]\ntasks: {a: {type: noop}}")
        .await
        .unwrap();
    world
        .client
        .apply("other", "name: other\nschedule: '0 3 * * *'\ntasks: {a: {type: noop}}")
        .await
        .unwrap();
    let range = CreateBackfill {
        with_dependants: true,
        parallel: Some(3),
        ..wanted("daily", "2026-01-01T00:00:00Z", "2026-01-03T23:59:59Z")
    };
    let plan = world.client.plan_backfill(&range).await.unwrap();
    let stages: Vec<_> = plan.stages.iter().map(|stage| (stage.workflow.as_str(), stage.total)).collect();
    assert_eq!(stages, [("daily", 3), ("next", 3), ("after", 3)]);
    assert_eq!((plan.total, &plan.stages[2].needs), (9, &vec!["next".to_owned()]));
    assert_eq!(plan.stages[1].runs[0].logical_time.to_string(), "2026-01-02T04:00:00.000Z");

    let made = world.client.create_backfill(&new_key(), &range).await.unwrap();
    assert_eq!((made.total, made.stages.len()), (9, 3));
    let over = until_over(&world, &made.id).await;
    assert_eq!((over.state, over.succeeded, over.failed), (BackfillState::Done, 9, 0));
    assert!(over.stages.iter().all(|stage| stage.state == BackfillState::Done && stage.id.is_some()));
    let runs = world.client.runs(&ListRuns::default()).await.unwrap().items;
    assert_eq!(runs.len(), 9, "nothing was started twice");
    for pair in [["daily", "next"], ["next", "after"]] {
        let [before, after] = pair.map(|workflow| runs.iter().filter(move |run| run.workflow == workflow));
        let ended = before.map(|run| run.finished_at.unwrap()).max();
        assert!(after.map(|run| run.created_at).min() >= ended, "{pair:?}");
    }
    let stage = world.client.backfill(over.stages[2].id.as_ref().unwrap()).await.unwrap();
    assert_eq!((stage.part_of.as_ref(), stage.workflow.as_str()), (Some(&made.id), "after"));
    let missing = CreateBackfill { missing_only: true, ..range.clone() };
    assert_eq!(world.client.plan_backfill(&missing).await.unwrap().total, 0);

    let circle = "name: daily\nschedule: '0 3 * * *'\ntasks: {d: {type: dependent, with: {workflow: after}}}";
    world.client.apply("daily", circle).await.unwrap();
    let (status, problem) = world.post("/api/v1/backfills", &json!(range)).await;
    assert_eq!((status, &problem["code"]), (422, &json!("workflow_circle")), "{problem}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_stage_is_controlled_through_its_campaign() {
    let world = World::new().await;
    world.client.apply("daily", DAILY).await.unwrap();
    let gate = "name: gate\ntriggers: [{after: daily}]\ntasks: {a: {type: approve}}";
    world.client.apply("gate", gate).await.unwrap();
    let range = CreateBackfill {
        with_dependants: true,
        ..wanted("daily", "2026-01-01T00:00:00Z", "2026-01-03T23:59:59Z")
    };
    let made = world.client.create_backfill(&new_key(), &range).await.unwrap();
    world
        .until("the second stage has begun", async || {
            world.client.backfill(&made.id).await.unwrap().stages[1].created == 1
        })
        .await;
    let paused = world.client.backfill_verb(&made.id, BackfillVerb::Pause).await.unwrap();
    assert_eq!((paused.state, paused.stages[1].state), (BackfillState::Paused, BackfillState::Paused));
    world.client.backfill_verb(&made.id, BackfillVerb::Resume).await.unwrap();
    world.client.backfill_verb(&made.id, BackfillVerb::Stop).await.unwrap();
    let over = until_over(&world, &made.id).await;
    assert_eq!((over.state, over.succeeded, over.failed), (BackfillState::Stopped, 3, 1));
    assert!(over.finished_at.is_some());
}
