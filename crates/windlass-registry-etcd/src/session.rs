//! One session: a lease, the key that hangs on it, and a watch over all keys.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;
use tonic::{Status, Streaming};
use windlass_registry::{Fault, Member, Seen};

use super::EtcdRegistry;
use super::api::event::EventType;
use super::api::kv_client::KvClient;
use super::api::lease_client::LeaseClient;
use super::api::watch_client::WatchClient;
use super::api::watch_request::RequestUnion;
use super::api::{
    LeaseGrantRequest, LeaseKeepAliveRequest, LeaseKeepAliveResponse, LeaseRevokeRequest, PutRequest,
    RangeRequest, WatchCreateRequest, WatchRequest, WatchResponse,
};

/// Words of a stream on their way.
const ON_THE_WAY: usize = 4;
/// A lease is kept alive so many times in its time.
const KEEP: u32 = 3;

/// Joins, watches and stays until it is told to leave, or something goes wrong.
pub async fn have(
    registry: &EtcdRegistry,
    channel: Channel,
    me: &Member,
    seen: &watch::Sender<Seen>,
    leave: &CancellationToken,
) -> Result<(), Fault> {
    let mut leases = LeaseClient::new(channel.clone());
    let seconds = i64::try_from(registry.time.as_secs_f64().ceil() as u64).unwrap_or(i64::MAX);
    let granted = leases.lease_grant(LeaseGrantRequest { ttl: seconds }).await;
    let lease = granted.map_err(of("get a lease"))?.into_inner().id;
    let ended = tokio::select! {
        ended = stay(registry, &channel, lease, me, seen) => ended,
        () = leave.cancelled() => Ok(()),
    };
    // The key goes with it, at once. If that fails, it goes when the lease runs out.
    let _ = tokio::time::timeout(registry.time, leases.lease_revoke(LeaseRevokeRequest { id: lease })).await;
    ended
}

async fn stay(
    registry: &EtcdRegistry,
    channel: &Channel,
    lease: i64,
    me: &Member,
    seen: &watch::Sender<Seen>,
) -> Result<(), Fault> {
    let mut keys = KvClient::new(channel.clone());
    let own = format!("{}{}", registry.prefix, me.key()).into_bytes();
    let put = PutRequest { key: own.clone(), value: me.value(), lease };
    keys.put(put).await.map_err(of("register"))?;
    let (key, range_end) = registry.range();
    let found = keys.range(RangeRequest { key: key.clone(), range_end: range_end.clone() }).await;
    let found = found.map_err(of("list the members"))?.into_inner();
    let revision = found.header.map_or(0, |header| header.revision);
    let mut members: BTreeMap<Vec<u8>, Vec<u8>> =
        found.kvs.into_iter().map(|entry| (entry.key, entry.value)).collect();
    let watching = WatchCreateRequest { key, range_end, start_revision: revision + 1 };
    let (_watch, mut changes) = watched(channel, watching).await?;
    let (alive, mut kept) = kept_alive(channel, lease).await?;
    let mut ticks = tokio::time::interval(registry.time / KEEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut until = Instant::now() + registry.time;
    loop {
        if !members.contains_key(&own) {
            return Err(Fault::new("stay in etcd", "somebody has removed this master's key"));
        }
        let there = members.iter().filter_map(|(key, value)| registry.member(key, value)).collect();
        seen.send_if_modified(|seen| {
            let new = Some(there);
            let changed = *seen != new;
            *seen = new;
            changed
        });
        tokio::select! {
            change = changes.message() => apply(&mut members, change)?,
            answer = kept.message() => until = prolonged(answer, registry.time)?,
            _ = ticks.tick() => {
                let _ = alive.try_send(LeaseKeepAliveRequest { id: lease });
            }
            () = tokio::time::sleep_until(until) => {
                return Err(Fault::new("hear from etcd", "there is no answer"));
            }
        }
    }
}

/// A watch, and what must be kept for it to go on.
async fn watched(
    channel: &Channel,
    create: WatchCreateRequest,
) -> Result<(mpsc::Sender<WatchRequest>, Streaming<WatchResponse>), Fault> {
    let (sender, requests) = mpsc::channel(ON_THE_WAY);
    let _ = sender.try_send(WatchRequest { request_union: Some(RequestUnion::CreateRequest(create)) });
    let request = ReceiverStream::new(requests);
    let answers = WatchClient::new(channel.clone()).watch(request).await;
    Ok((sender, answers.map_err(of("watch the members"))?.into_inner()))
}

async fn kept_alive(
    channel: &Channel,
    lease: i64,
) -> Result<(mpsc::Sender<LeaseKeepAliveRequest>, Streaming<LeaseKeepAliveResponse>), Fault> {
    let (sender, requests) = mpsc::channel(ON_THE_WAY);
    let _ = sender.try_send(LeaseKeepAliveRequest { id: lease });
    let request = ReceiverStream::new(requests);
    let answers = LeaseClient::new(channel.clone()).lease_keep_alive(request).await;
    Ok((sender, answers.map_err(of("keep the lease"))?.into_inner()))
}

fn apply(
    members: &mut BTreeMap<Vec<u8>, Vec<u8>>,
    change: Result<Option<WatchResponse>, Status>,
) -> Result<(), Fault> {
    let tried = "watch the members";
    let change = change.map_err(of(tried))?.ok_or_else(|| Fault::new(tried, "the watch has ended"))?;
    if change.canceled {
        return Err(Fault::new(tried, format_args!("etcd has ended the watch: {}", change.cancel_reason)));
    }
    for event in change.events {
        let removed = event.r#type() == EventType::Delete;
        let Some(entry) = event.kv else { continue };
        if removed {
            members.remove(&entry.key);
        } else {
            members.insert(entry.key, entry.value);
        }
    }
    Ok(())
}

/// Until when the session holds, by the last answer.
fn prolonged(
    answer: Result<Option<LeaseKeepAliveResponse>, Status>,
    time: Duration,
) -> Result<Instant, Fault> {
    let tried = "keep the lease";
    let answer = answer.map_err(of(tried))?.ok_or_else(|| Fault::new(tried, "the stream has ended"))?;
    if answer.ttl <= 0 {
        return Err(Fault::new(tried, "it has run out"));
    }
    Ok(Instant::now() + time)
}

fn of(tried: &'static str) -> impl Fn(Status) -> Fault {
    move |status| Fault::new(tried, status.message())
}
