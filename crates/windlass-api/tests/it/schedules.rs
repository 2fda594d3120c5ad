//! Schedules and cron rules.

use serde_json::json;
use windlass_rest::PageQuery;
use windlass_rest::cron::CronQuery;
use windlass_rest::schedules::{FiringOutcome, ListSchedules, NextQuery};

use crate::world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schedule_is_shown_paused_and_resumed() {
    let world = World::without_workers().await;
    let text = "name: nightly\nschedule: [{cron: '0 3 * * *', timezone: Europe/Oslo, overlap: queue}, {id: soon, cron: '@every 10m'}]\ntasks: {a: {type: noop}}";
    let applied = world.client.apply("nightly", text).await.unwrap();
    assert_eq!(applied.workflow.schedules, ["nightly@0 3 * * * Europe/Oslo", "nightly@soon"]);
    let all = world.client.schedules(&ListSchedules::default()).await.unwrap().items;
    assert_eq!(all.len(), 2);
    let first = &all[0];
    assert_eq!(
        (first.cron.as_str(), first.timezone.as_str(), first.overlap.as_str()),
        ("0 3 * * *", "Europe/Oslo", "queue")
    );
    assert!(first.next_at.is_some() && !first.paused && first.enabled);
    let paused = world.client.pause_schedule(&first.id, true).await.unwrap();
    assert!(paused.paused && paused.next_at.is_none());
    assert!(!world.client.pause_schedule(&first.id, false).await.unwrap().paused);
    let next = world.client.schedule_next(&first.id, &NextQuery { count: Some(3) }).await.unwrap();
    assert_eq!(next.items.len(), 3);
    assert!(next.items[0].local.as_ref().unwrap().contains("T03:00:00+0"));
    let page =
        world.client.schedules(&ListSchedules { limit: Some(1), ..ListSchedules::default() }).await.unwrap();
    let rest = ListSchedules { cursor: page.next_cursor, ..ListSchedules::default() };
    assert_eq!(world.client.schedules(&rest).await.unwrap().items[0].id, "nightly@soon");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_firing_is_in_the_ledger() {
    let world = World::new().await;
    let text = "name: often\nschedule: '@every 1s'\ntasks: {a: {type: noop}}";
    let id = world.client.apply("often", text).await.unwrap().workflow.schedules[0].clone();
    world
        .until("it has fired", async || {
            !world.client.firings(&id, &PageQuery::default()).await.unwrap().items.is_empty()
        })
        .await;
    world.client.pause_schedule(&id, true).await.unwrap();
    let firings = world.client.firings(&id, &PageQuery::default()).await.unwrap().items;
    let ran = firings.iter().find(|firing| firing.outcome == FiringOutcome::Ran).unwrap();
    let run = world.client.run(ran.run.as_ref().unwrap()).await.unwrap();
    assert_eq!(json!(run.trigger)["schedule"], json!(id));
    assert_eq!(run.logical_time, ran.due);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cron_rules_are_explained() {
    let world = World::without_workers().await;
    let query = CronQuery {
        expr: "30 2 * * *".into(),
        tz: Some("Europe/Oslo".into()),
        from: Some("2026-03-28T12:00:00Z".parse().unwrap()),
        count: Some(2),
    };
    let next = world.client.cron_next(&query).await.unwrap();
    let times: Vec<_> = next.items.iter().map(|item| item.time.to_string()).collect();
    assert_eq!(times, ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"]);
    assert!(next.description.is_some());
    for query in
        ["expr=nonsense", "expr=*+*+*+*+*&tz=Nowhere", "expr=*+*+*+*+*&count=0", "", "expr=*+*+*+*+*&x=1"]
    {
        let (status, problem) = world.get(&format!("/api/v1/cron/next?{query}")).await;
        assert_eq!((status, &problem["code"]), (400, &json!("bad_request")), "{query}");
    }
}
