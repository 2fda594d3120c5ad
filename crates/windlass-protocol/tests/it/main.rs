//! What is sent arrives as it was, and what makes no sense is refused.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

use std::sync::Arc;

use proptest::prelude::*;
use prost::Message as _;
use windlass_core::attempt::StopReason;
use windlass_core::durable::Revision;
use windlass_core::order::OrderKey;
use windlass_core::requirement::{Capability, Requirement};
use windlass_core::shard::input::{Assignment, Process, Report, ToWorker, WorkerLife};
use windlass_core::shard::payload::{HttpCall, Payload, PythonText, RunEnv};
use windlass_core::time::{Mono, Wall};
use windlass_core::wire::{
    Body, Demand, Frame, FromWorker, GrantId, Inventory, Order, Overload, Refusal, Round, Status,
};
use windlass_model::quantity::Quantity;
use windlass_model::{
    AttemptId, AttemptNumber, Duration, Epoch, Fence, Incarnation, JobId, JobNumber, Name, OwnerId, Priority,
    RunId, ShardId, TaskId, WorkerId,
};
use windlass_protocol::{from_worker, to_worker, v1};
use windlass_workflow::expr::Value;

const LIFE: WorkerLife = WorkerLife { worker: WorkerId(7), incarnation: Incarnation(3 << 32) };

fn attempt(number: u32) -> AttemptId {
    let run = RunId::from_u64(77 << 22).expect("it is small");
    AttemptId { job: JobId { run, number: JobNumber(number) }, fence: Fence(number + 1) }
}

fn class() -> Arc<Requirement> {
    Arc::new(Requirement {
        group: Some(Name::new("etl").unwrap()),
        labels: [(Name::new("zone").unwrap(), "a".into())].into(),
        resources: [(Name::new("memory").unwrap(), Quantity::whole(512 << 20))].into(),
    })
}

fn key() -> OrderKey {
    OrderKey {
        run_priority: Priority::High,
        run: attempt(0).job.run,
        task_priority: Priority::Lowest,
        submission: 12,
    }
}

fn env() -> Vec<(Arc<str>, String)> {
    vec![("A".into(), "b ☃".into()), ("EMPTY".into(), String::new())]
}

fn payloads() -> Vec<Payload> {
    let call = || {
        Box::new(HttpCall {
            method: "POST",
            url: "http://reports.example/api".into(),
            headers: env(),
            query: vec![],
            body: Some(("{}".into(), true)),
            expect_status: vec![(200, 204), (404, 404)],
        })
    };
    let text: Arc<str> = "echo $A".into();
    let python = |code| Payload::Python { code, args: vec!["x".into()], interpreter: None, env: env() };
    vec![
        Payload::Noop,
        Payload::Sleep(Duration::from_millis(1500)),
        Payload::Script { shell: "sh".into(), text: Arc::clone(&text), env: env() },
        Payload::Command { argv: vec!["ls".into(), String::new()], env: vec![] },
        python(PythonText::Inline(text)),
        python(PythonText::File("a.py".into())),
        Payload::Http(call()),
        Payload::FileExists("/tmp/x".into()),
        Payload::HttpProbe(Box::new(HttpCall { body: None, ..*call() })),
    ]
}

fn assignments() -> Vec<Order> {
    let (class, run_env): (_, Arc<RunEnv>) = (class(), Arc::new(env()));
    let assign = |(number, payload): (u32, Payload)| {
        Order::Shard(ToWorker::Assign(Box::new(Assignment {
            attempt: attempt(number),
            number: AttemptNumber(2),
            order: key(),
            requirement: if number == 0 { Arc::default() } else { Arc::clone(&class) },
            grant: GrantId(u64::MAX),
            task: TaskId::new("extract").unwrap(),
            index: (number % 2 == 0).then_some(number),
            env: Arc::clone(&run_env),
            payload,
            hold: number == 3,
            timeout: (number == 4).then_some(Duration::from_secs(5)),
            orphan_timeout: (number == 5).then_some(Duration::ZERO),
        })))
    };
    (0..).zip(payloads()).map(assign).collect()
}

fn frames() -> Vec<Frame> {
    let shard = ShardId::new(1023).unwrap();
    let mut orders = assignments();
    orders.extend([
        Order::Adopt,
        Order::Shard(ToWorker::Kill(attempt(1), StopReason::Gang)),
        Order::Shard(ToWorker::Kill(attempt(1), StopReason::Stop)),
        Order::Shard(ToWorker::Kill(attempt(1), StopReason::Timeout)),
        Order::Shard(ToWorker::Recall(attempt(2))),
        Order::Shard(ToWorker::Settled(attempt(3))),
        Order::Shard(ToWorker::Go(attempt(4))),
    ]);
    let bodies = [
        Body::Orders { shard, epoch: Epoch(1 << 40), round: Round(2), orders },
        Body::Heard { sent: Mono(99), shards: vec![(shard, Epoch(5)), (ShardId::LEADER, Epoch(0))] },
        Body::Demand {
            owner: OwnerId(u64::MAX),
            serial: 8,
            grants_before: GrantId(3),
            classes: vec![Demand { class: class(), best: key(), count: 1_000_000 }],
        },
        Body::Declined(vec![GrantId(1), GrantId(2)]),
        Body::Drain { revision: Revision(7), on: true },
    ];
    bodies.map(|body| Frame { incarnation: LIFE.incarnation, body }).into()
}

fn reports() -> Vec<Report> {
    let outputs = [("rows", Value::Int(12)), ("all", Value::List([Value::Null, Value::Float(0.5)].into()))];
    let outputs = outputs.into_iter().map(|(name, value)| (name.into(), value)).collect();
    let process = Process {
        started_at: Some(Wall(-5)),
        exit_code: Some(-1),
        signal: None,
        tail: Some("last words\n".into()),
    };
    vec![
        Report::Held,
        Report::Started,
        Report::GivenBack,
        Report::Lost,
        Report::Killed(StopReason::Timeout, Some(Arc::new(process.clone()))),
        Report::Killed(StopReason::Stop, None),
        Report::Exited { success: true, reason: "".into(), outputs: None, process: None },
        Report::Exited {
            success: false,
            reason: "exit code 3".into(),
            outputs: Some(Arc::new(outputs)),
            process: Some(Arc::new(process)),
        },
    ]
}

fn says() -> Vec<FromWorker> {
    let shard = ShardId::LEADER;
    let status = |overload| Status { slots: 8, used: 3, queued: 1, draining: true, overload };
    let Requirement { group, labels, resources } = (*class()).clone();
    let capability = Arc::new(Capability { group, labels, resources, slots: 8 });
    let beat = |overload| FromWorker::Heartbeat {
        life: LIFE,
        sent: Mono(5),
        capability: Arc::clone(&capability),
        status: status(overload),
    };
    let refused = |why| FromWorker::Refused { life: LIFE, named: Some((shard, Epoch(2))), why };
    let mut says = vec![
        beat(None),
        beat(Some(Overload::Cpu)),
        beat(Some(Overload::Memory)),
        beat(Some(Overload::Disk)),
        FromWorker::Granted { life: LIFE, owner: OwnerId(4), class: class(), grants: vec![GrantId(9)] },
        FromWorker::Inventory(Inventory {
            life: LIFE,
            shard,
            epoch: Epoch(4),
            round: Round(1),
            queued: vec![attempt(1)],
            held: vec![attempt(2)],
            running: vec![attempt(3), attempt(4)],
            finished: reports().into_iter().map(|report| (Incarnation(1), attempt(5), report)).collect(),
        }),
        refused(Refusal::StaleEpoch { current: Epoch(3) }),
        refused(Refusal::StaleRound),
        refused(Refusal::OtherIncarnation { current: Incarnation(9) }),
        refused(Refusal::OtherShard(attempt(6))),
        FromWorker::Refused { life: LIFE, named: None, why: Refusal::StaleRound },
    ];
    says.extend(reports().into_iter().map(|report| FromWorker::Report {
        life: LIFE,
        attempt: attempt(8),
        report,
    }));
    says
}

#[test]
fn what_a_master_says_arrives_as_it_was() {
    for frame in frames() {
        let bytes = to_worker::encode(&frame).encode_to_vec();
        let arrived = to_worker::decode(v1::Frame::decode(&bytes[..]).unwrap());
        assert_eq!(arrived, Ok(frame));
    }
}

#[test]
fn what_a_worker_says_arrives_as_it_was() {
    for said in says() {
        let bytes = from_worker::encode(&said).encode_to_vec();
        let arrived = v1::WorkerSays::decode(&bytes[..]).unwrap().what.unwrap();
        assert_eq!(from_worker::decode(arrived), Ok(Some(said)));
    }
}

#[test]
fn what_assignments_have_in_common_is_sent_once() {
    let text: Arc<str> = "x".repeat(10_000).into();
    let (requirement, run_env) = (class(), Arc::new(env()));
    let orders = |many: u32| {
        let assign = |number| Assignment {
            attempt: attempt(number),
            number: AttemptNumber::FIRST,
            order: key(),
            requirement: Arc::clone(&requirement),
            grant: GrantId(number.into()),
            task: TaskId::new("a").unwrap(),
            index: Some(number),
            env: Arc::clone(&run_env),
            payload: Payload::Script { shell: Arc::clone(&text), text: Arc::clone(&text), env: vec![] },
            hold: false,
            timeout: None,
            orphan_timeout: None,
        };
        let orders = (0..many).map(|number| Order::Shard(ToWorker::Assign(Box::new(assign(number)))));
        let (shard, epoch, round) = (ShardId::LEADER, Epoch(1), Round(0));
        let body = Body::Orders { shard, epoch, round, orders: orders.collect() };
        to_worker::encode(&Frame { incarnation: LIFE.incarnation, body }).encoded_len()
    };
    assert!(orders(100) < orders(1) + 99 * 120, "{} bytes for 100, {} for one", orders(100), orders(1));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let order = |what| v1::Frame {
        incarnation: 1,
        body: Some(v1::frame::Body::Orders(v1::Orders {
            orders: vec![v1::Order { what }],
            ..v1::Orders::default()
        })),
    };
    let assign = |assignment| order(Some(v1::order::What::Assign(assignment)));
    for (frame, why) in [
        (v1::Frame::default(), "what a frame says is missing"),
        (order(None), "an order is missing"),
        (assign(v1::Assignment::default()), "an attempt is missing"),
        (order(Some(v1::order::What::Kill(v1::Kill::default()))), "the reason of a kill is missing"),
    ] {
        let refused = to_worker::decode(frame).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    let report = v1::worker_says::What::Report(v1::Report::default());
    assert!(from_worker::decode(report).unwrap_err().to_string().contains("the life of a worker is missing"));
}

proptest! {
    #[test]
    fn damaged_messages_never_panic(place in any::<prop::sample::Index>(), byte: u8, which in any::<prop::sample::Index>()) {
        let frames = frames();
        let mut bytes = to_worker::encode(&frames[which.index(frames.len())]).encode_to_vec();
        let at = place.index(bytes.len());
        bytes[at] = byte;
        if let Ok(frame) = v1::Frame::decode(&bytes[..]) {
            let _ = to_worker::decode(frame);
        }
        let says = says();
        let mut bytes = from_worker::encode(&says[which.index(says.len())]).encode_to_vec();
        let at = place.index(bytes.len());
        bytes[at] = byte;
        if let Ok(v1::WorkerSays { what: Some(what) }) = v1::WorkerSays::decode(&bytes[..]) {
            let _ = from_worker::decode(what);
        }
    }
}
