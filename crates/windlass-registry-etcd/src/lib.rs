//! Masters in etcd: each has a key of its own, which is there as long as its lease.
//!
//! ```text
//! <path>/masters/<owner> = {"name": …, "address": …}
//! ```
//!
//! Tested against etcd 3.4 from Debian's packages.

#[allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    reason = "generated"
)]
mod api {
    tonic::include_proto!("etcdserverpb");
}
mod session;

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};
use windlass_registry::{Address, Fault, Member, Registry, Seen};

use api::kv_client::KvClient;
use api::{DeleteRangeRequest, RangeRequest};

/// The port that etcd has unless told.
pub const PORT: u16 = 2379;
/// The shortest lease that etcd gives.
const SHORTEST: Duration = Duration::from_secs(2);

/// A registry in etcd.
#[derive(Clone, Debug)]
pub struct EtcdRegistry {
    servers: Vec<String>,
    /// Of the keys of all members, with a slash at its end.
    prefix: String,
    /// Without a word for so long, a member is gone.
    time: Duration,
}

impl EtcdRegistry {
    /// One at this address, whose members are gone after this time of silence.
    pub fn new(address: Address, time: Duration) -> EtcdRegistry {
        EtcdRegistry {
            servers: address.servers,
            prefix: format!("{}/masters/", address.path),
            time: time.max(SHORTEST),
        }
    }

    /// Removes everybody.
    pub async fn clear(&self) -> Result<(), Fault> {
        let mut client = KvClient::new(self.connect().await?);
        let (key, range_end) = self.range();
        let removed = client.delete_range(DeleteRangeRequest { key, range_end }).await;
        removed.map(drop).map_err(|status| Fault::new("remove the members", status.message()))
    }

    /// A connection to the first server that answers.
    async fn connect(&self) -> Result<Channel, Fault> {
        let mut why = String::new();
        for server in &self.servers {
            let endpoint = match Endpoint::from_shared(format!("http://{server}")) {
                Ok(endpoint) => endpoint,
                Err(error) => return Err(Fault::new("read the address of etcd", error)),
            };
            let endpoint = endpoint
                .connect_timeout(self.time)
                .timeout(self.time)
                .tcp_nodelay(true)
                .http2_keep_alive_interval(self.time / 2)
                .keep_alive_timeout(self.time)
                .keep_alive_while_idle(true);
            match endpoint.connect().await {
                Ok(channel) => return Ok(channel),
                Err(error) => why = format!("{server}: {}", chain(&error)),
            }
        }
        Err(Fault::new("connect to etcd", why))
    }

    /// Every key of a member.
    fn range(&self) -> (Vec<u8>, Vec<u8>) {
        let key = self.prefix.clone().into_bytes();
        // `0` comes right after the slash at its end.
        let mut end = key.clone();
        end.pop();
        end.push(b'0');
        (key, end)
    }

    fn member(&self, key: &[u8], value: &[u8]) -> Option<Member> {
        Member::read(std::str::from_utf8(key).ok()?.strip_prefix(&self.prefix)?, value)
    }
}

#[async_trait]
impl Registry for EtcdRegistry {
    async fn session(
        &self,
        me: &Member,
        seen: &watch::Sender<Seen>,
        leave: &CancellationToken,
    ) -> Result<(), Fault> {
        // Nothing has begun that would have to be ended.
        let connected = tokio::select! {
            connected = self.connect() => connected?,
            () = leave.cancelled() => return Ok(()),
        };
        session::have(self, connected, me, seen, leave).await
    }

    async fn members(&self) -> Result<Vec<Member>, Fault> {
        let mut client = KvClient::new(self.connect().await?);
        let (key, range_end) = self.range();
        let found = client.range(RangeRequest { key, range_end }).await;
        let found = found.map_err(|status| Fault::new("list the members", status.message()))?.into_inner();
        Ok(found.kvs.iter().filter_map(|found| self.member(&found.key, &found.value)).collect())
    }
}

/// An error with everything behind it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
