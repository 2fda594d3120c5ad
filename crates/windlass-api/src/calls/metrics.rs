//! What Prometheus reads. Labels are bounded: no ids of runs, no names of workers or workflows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hyper::StatusCode;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use windlass_master::measures::BOUNDS_US;
use windlass_model::ShardId;
use windlass_rest::cluster::WorkCounts;
use windlass_rest::workers::{Worker, WorkerState};
use windlass_rest::{ProblemCode, Time};
use windlass_store::Store;

use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::Asked;
use crate::refusal::Refusal;

/// The state of this master in the text format of Prometheus.
pub async fn metrics<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    asked.no_query()?;
    let seen = api.handle.inspect(|master, _| Seen {
        shards: master.live().count() as u64,
        leads: master.live().any(|(shard, _)| shard == ShardId::LEADER),
        dispatching: master.globals().dispatching,
        work: super::cluster::work(master),
        queues: queues(master),
    });
    let gone = || Refusal::new(ProblemCode::Unavailable, "the master has ended");
    let seen = seen.await.ok_or_else(gone)?;
    let workers = super::workers::all(api).await;
    let mut text = String::new();
    let registry = registry(&api.config.version, api.now(), &seen, &workers, counted(api));
    prometheus_client::encoding::text::encode(&mut text, &registry)
        .map_err(|_| Refusal::new(ProblemCode::Internal, "the metrics cannot be written"))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(answers::typed(StatusCode::OK, kind, text))
}

/// What the machine says of itself.
struct Seen {
    shards: u64,
    leads: bool,
    dispatching: bool,
    work: WorkCounts,
    /// Ready jobs by the group of workers they need.
    queues: BTreeMap<String, u64>,
}

fn queues(master: &windlass_core::master::Master) -> BTreeMap<String, u64> {
    let mut queues = BTreeMap::new();
    for (class, count) in master.demand() {
        let group = class.group.as_ref().map(ToString::to_string).unwrap_or_default();
        *queues.entry(group).or_default() += count;
    }
    queues
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Group {
    group: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct GroupState {
    group: String,
    state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct State {
    state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

fn registry(version: &str, now: Time, seen: &Seen, workers: &[Worker], counted: Counted) -> Registry {
    let mut registry = Registry::with_prefix("windlass");
    let info = prometheus_client::metrics::info::Info::new(vec![("version", version.to_owned())]);
    registry.register("build", "The version of this master", info);
    let mut gauge = |name: &str, help: &str, value: u64| {
        let gauge: Gauge = Gauge::default();
        gauge.set(value.cast_signed());
        registry.register(name, help, gauge);
    };
    gauge("leader", "Whether this master owns shard 0", seen.leads.into());
    gauge("shards", "Shards that this master owns and has loaded", seen.shards);
    gauge("dispatching", "Whether the scheduler is switched on", seen.dispatching.into());
    gauge("runs_open", "Runs of this master that are not over", seen.work.open_runs);
    gauge("jobs_ready", "Jobs of this master that could start", seen.work.ready_jobs);
    gauge("jobs_running", "Jobs of this master that are under way", seen.work.running_jobs);
    let queues = Family::<Group, Gauge>::default();
    for (group, count) in &seen.queues {
        queues.get_or_create(&Group { group: group.clone() }).set(count.cast_signed());
    }
    registry.register("queue_depth", "Jobs that could start, by the group that they need", queues);
    let by_state = Family::<State, Gauge>::default();
    for state in WorkerState::ALL {
        let count = workers.iter().filter(|worker| worker.state == *state).count();
        by_state.get_or_create(&State { state: state.as_str() }).set(count as i64);
    }
    registry.register("workers", "Workers that this master knows", by_state);
    let slots = Family::<GroupState, Gauge>::default();
    for worker in workers.iter().filter(|worker| worker.state != WorkerState::Lost) {
        let group = worker.groups.first().cloned().unwrap_or_default();
        let free = worker.slots.saturating_sub(worker.slots_used);
        for (state, count) in [("used", worker.slots_used), ("free", free)] {
            slots.get_or_create(&GroupState { group: group.clone(), state }).inc_by(count.into());
        }
    }
    registry.register("worker_slots", "Slots of workers that are not lost", slots);
    let ages = Family::<Group, Gauge<f64, AtomicU64>>::default();
    for worker in workers.iter().filter(|worker| worker.state != WorkerState::Lost) {
        let group = Group { group: worker.groups.first().cloned().unwrap_or_default() };
        let heard = worker.last_seen_at.map_or(now.unix_ms(), Time::unix_ms);
        let age = now.unix_ms().saturating_sub(heard).max(0) as f64 / 1e3;
        let oldest = ages.get_or_create(&group);
        oldest.set(oldest.get().max(age));
    }
    let help = "How long ago the most silent worker of a group was heard of";
    registry.register("heartbeat_age_seconds", help, ages);
    registry.register_collector(Box::new(counted));
    registry
}

/// What only grows.
#[derive(Debug)]
struct Counted {
    commits: Vec<u64>,
    commit_secs: f64,
    failed_commits: u64,
    looks: u64,
    runs: Vec<(&'static str, u64)>,
    attempts: Vec<(&'static str, u64)>,
}

fn counted<S: Store + 'static>(api: &Arc<Api<S>>) -> Counted {
    let measures = api.handle.measures();
    Counted {
        commits: measures.commits(),
        commit_secs: measures.commit_time().as_secs_f64(),
        failed_commits: measures.failed_commits(),
        looks: measures.looks(),
        runs: measures.runs().map(|(state, count)| (state.as_str(), count)).collect(),
        attempts: measures.attempts().map(|(state, count)| (state.as_str(), count)).collect(),
    }
}

impl Collector for Counted {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        use prometheus_client::metrics::counter::ConstCounter;
        let bounds = BOUNDS_US.iter().map(|us| *us as f64 / 1e6).chain([f64::INFINITY]);
        let buckets: Vec<_> = bounds.zip(self.commits.iter().copied()).collect();
        let help = "How long commits take";
        let mut commits =
            encoder.encode_descriptor("db_commit_seconds", help, None, MetricType::Histogram)?;
        let count = self.commits.iter().sum();
        commits.encode_histogram::<NoLabelSet>(self.commit_secs, count, &buckets, None)?;
        let help = "Commits that did not land, or were not known to";
        let failed = encoder.encode_descriptor("db_commit_failures", help, None, MetricType::Counter)?;
        ConstCounter::new(self.failed_commits).encode(failed)?;
        let help = "Looks at every master's lease in the store";
        let looks = encoder.encode_descriptor("store_looks", help, None, MetricType::Counter)?;
        ConstCounter::new(self.looks).encode(looks)?;
        let help = "Runs that have ended";
        let mut runs = encoder.encode_descriptor("runs", help, None, MetricType::Counter)?;
        for (state, count) in &self.runs {
            ConstCounter::new(*count).encode(runs.encode_family(&State { state })?)?;
        }
        let help = "Attempts that have ended";
        let mut attempts = encoder.encode_descriptor("task_attempts", help, None, MetricType::Counter)?;
        for (outcome, count) in &self.attempts {
            ConstCounter::new(*count).encode(attempts.encode_family(&Outcome { outcome })?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write as _;

    use super::*;

    /// What a master with one worker and one queue says.
    fn text() -> String {
        let seen = Seen {
            shards: 64,
            leads: true,
            dispatching: true,
            work: WorkCounts { open_runs: 1, ready_jobs: 1, running_jobs: 1 },
            queues: BTreeMap::from([("etl".to_owned(), 1)]),
        };
        let worker = serde_json::json!({
            "id": "1", "name": "etl-1", "state": "online", "groups": ["etl"], "slots": 4, "slots_used": 1,
        });
        let worker: Worker = serde_json::from_value(worker).unwrap();
        let counted = Counted {
            commits: vec![1; BOUNDS_US.len() + 1],
            commit_secs: 0.1,
            failed_commits: 0,
            looks: 0,
            runs: vec![("success", 1), ("failed", 1), ("stopped", 1)],
            attempts: ["success", "failed", "killed", "lost", "timed_out"].map(|state| (state, 1)).into(),
        };
        let registry = registry("0.1.0", Time::from_unix_ms(0), &seen, &[worker], counted);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        text
    }

    /// The labels of a metric, with the words that they take where those are fixed.
    fn labels(text: &str, name: &str) -> String {
        // Families have no order of their own.
        let mut labels = BTreeMap::<&str, BTreeSet<&str>>::new();
        for line in text.lines().filter(|line| line.starts_with(name) && line.contains('{')) {
            let inside = line.split(['{', '}']).nth(1).unwrap();
            for (label, value) in inside.split(',').filter_map(|pair| pair.split_once('=')) {
                labels.entry(label).or_default().insert(value.trim_matches('"'));
            }
        }
        let shown = labels.iter().map(|(label, values)| match *label {
            "state" | "outcome" => {
                format!("`{label}`: {}", Vec::from_iter(values.iter().copied()).join(", "))
            }
            _ => format!("`{label}`"),
        });
        shown.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn the_page_about_metrics_is_the_generated_one() {
        let text = text();
        let mut page = String::from(PAGE);
        let kinds: BTreeMap<&str, &str> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
        for (name, help) in text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' ')) {
            let kind = kinds[name];
            let series = match kind {
                "counter" => format!("{name}_total"),
                "info" => format!("{name}_info"),
                _ => name.to_owned(),
            };
            let help = help.trim_end_matches('.');
            writeln!(page, "| `{series}` | {kind} | {} | {help} |", labels(&text, name)).unwrap();
        }
        windlass_tests::pages::whole("metrics.md", &page);
    }

    const PAGE: &str = "\
# Metrics

Every master answers `GET /metrics` in the text format that Prometheus reads. Where tokens are on, any role that may look is
enough: `Authorization: Bearer TOKEN`. Each master tells what it owns; add up over masters for the cluster. No label has the
name of a workflow, a run or a worker, so the number of series stays small. This page is made from the code;
[watching](../how-to/watching.md) says which of them to watch.

| name | type | labels | meaning |
|---|---|---|---|
";
}
