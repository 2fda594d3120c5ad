//! The registry that a master is in: which one, and how what it says reaches the machine.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass_master::Handle;
use windlass_registry::{Address, BadAddress, Member, Registry, attend};
use windlass_store::Store;

use crate::codes::Code;
use crate::exit::Failure;

/// How long a goodbye may take.
const LEAVE_WAIT: Duration = Duration::from_secs(1);

/// Reads a URL; `None` is the store, which every master has anyway. Members are gone after `time` of silence.
pub fn read(url: &str, time: Duration) -> Result<Option<Arc<dyn Registry>>, Failure> {
    let refuse = |why: &dyn std::fmt::Display| {
        Failure::new(Code::BadSetting, anyhow::anyhow!("`{url}` cannot be the registry: {why}")).hint(
            "write store, etcd://HOST:PORT[,HOST:PORT][/PATH] or zookeeper://HOST:PORT[,HOST:PORT][/PATH]",
        )
    };
    if url == "store" {
        return Ok(None);
    }
    let (scheme, rest) = url.split_once("://").unwrap_or((url, ""));
    let address = |port| Address::read(rest, port).map_err(|error: BadAddress| refuse(&error));
    match scheme {
        #[cfg(feature = "etcd")]
        "etcd" => {
            let address = address(windlass_registry_etcd::PORT)?;
            Ok(Some(Arc::new(windlass_registry_etcd::EtcdRegistry::new(address, time))))
        }
        #[cfg(feature = "zookeeper")]
        "zookeeper" => {
            let address = address(windlass_registry_zookeeper::PORT)?;
            Ok(Some(Arc::new(windlass_registry_zookeeper::ZookeeperRegistry::new(&address, time))))
        }
        #[cfg(not(all(feature = "etcd", feature = "zookeeper")))]
        "etcd" | "zookeeper" => Err(refuse(&"this program was built without it")
            .hint("build it with --features etcd,zookeeper, or leave it at `store`")),
        "consul" => {
            Err(refuse(&"Consul is not there yet").hint("use etcd or ZooKeeper, or leave it at `store`"))
        }
        _ => Err(refuse(&"its kind is not known")),
    }
}

/// A master's place in a registry.
pub struct Attendance {
    leave: CancellationToken,
    staying: JoinHandle<()>,
}

impl Attendance {
    /// Joins, and has the machine told of everybody who is there.
    pub fn begin<S: Store + 'static>(
        registry: Arc<dyn Registry>,
        handle: Handle<S>,
        address: Arc<str>,
    ) -> Attendance {
        let leave = CancellationToken::new();
        let me = Member { owner: handle.owner(), name: handle.name().clone(), address };
        let (sender, mut seen) = watch::channel(None);
        tokio::spawn(async move {
            while seen.changed().await.is_ok() {
                let members = seen.borrow_and_update().clone();
                let owners =
                    members.map(|members: Vec<Member>| members.iter().map(|member| member.owner).collect());
                handle.registry_says(owners).await;
            }
        });
        let staying = tokio::spawn(attend(registry, me, sender, leave.clone()));
        Attendance { leave, staying }
    }

    /// Says goodbye.
    pub async fn end(self) {
        self.leave.cancel();
        let _ = tokio::time::timeout(LEAVE_WAIT, self.staying).await;
    }
}
