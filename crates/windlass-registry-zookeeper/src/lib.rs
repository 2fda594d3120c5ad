//! Masters in ZooKeeper: each has an ephemeral node of its own, which is there as long as its session.
//!
//! ```text
//! <path>/masters/<owner> = {"name": …, "address": …}
//! ```
//!
//! Tested against ZooKeeper 3.8 from Debian's packages.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use windlass_registry::{Address, Fault, Member, Registry, Seen};
use zookeeper_client::{Acls, Client, CreateMode, Error, OneshotWatcher, SessionState};

/// The port that ZooKeeper has unless told.
pub const PORT: u16 = 2181;

/// A registry in ZooKeeper.
#[derive(Clone, Debug)]
pub struct ZookeeperRegistry {
    /// As the client takes it: `host:port,host:port`.
    servers: String,
    /// Of the nodes of all members.
    folder: String,
    /// Without a word for so long, a member is gone. The servers may have a longer idea of it.
    time: Duration,
}

impl ZookeeperRegistry {
    /// One at this address, whose members are gone after this time of silence.
    pub fn new(address: &Address, time: Duration) -> ZookeeperRegistry {
        let (servers, folder) = (address.servers.join(","), format!("{}/masters", address.path));
        ZookeeperRegistry { servers, folder, time }
    }

    /// Removes everybody.
    pub async fn clear(&self) -> Result<(), Fault> {
        let client = self.connect().await?;
        let tried = "remove the members";
        for name in client.list_children(&self.folder).await.map_err(of(tried))? {
            match client.delete(&format!("{}/{name}", self.folder), None).await {
                Ok(()) | Err(Error::NoNode) => {}
                Err(error) => return Err(Fault::new(tried, error)),
            }
        }
        Ok(())
    }

    async fn connect(&self) -> Result<Client, Fault> {
        let connector = Client::connector().with_session_timeout(self.time).with_fail_eagerly();
        let tried = "connect to ZooKeeper";
        let connected = tokio::time::timeout(self.time * 2, connector.connect(&self.servers)).await;
        connected.map_err(|_| Fault::new(tried, "there is no answer"))?.map_err(of(tried))
    }

    fn node(&self, me: &Member) -> String {
        format!("{}/{}", self.folder, me.key())
    }

    /// Makes the own node.
    async fn register(&self, client: &Client, me: &Member) -> Result<(), Fault> {
        let tried = "register";
        client
            .mkdir(&self.folder, &CreateMode::Persistent.with_acls(Acls::anyone_all()))
            .await
            .map_err(of(tried))?;
        let ephemeral = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
        match client.create(&self.node(me), &me.value(), &ephemeral).await {
            Ok(_) => return Ok(()),
            // Of this master's last session, with which it would go later.
            Err(Error::NodeExists) => {}
            Err(error) => return Err(Fault::new(tried, error)),
        }
        match client.delete(&self.node(me), None).await {
            Ok(()) | Err(Error::NoNode) => {}
            Err(error) => return Err(Fault::new(tried, error)),
        }
        client.create(&self.node(me), &me.value(), &ephemeral).await.map(drop).map_err(of(tried))
    }

    /// Who is there, and who tells when that changes.
    async fn look(&self, client: &Client) -> Result<(Vec<Member>, OneshotWatcher), Fault> {
        let tried = "list the members";
        let (names, watcher) = client.list_and_watch_children(&self.folder).await.map_err(of(tried))?;
        Ok((self.read(client, names).await?, watcher))
    }

    async fn read(&self, client: &Client, names: Vec<String>) -> Result<Vec<Member>, Fault> {
        let mut members = Vec::new();
        for name in names {
            match client.get_data(&format!("{}/{name}", self.folder)).await {
                Ok((value, _)) => members.extend(Member::read(&name, &value)),
                // Gone meanwhile.
                Err(Error::NoNode) => {}
                Err(error) => return Err(Fault::new("read a member", error)),
            }
        }
        Ok(members)
    }

    async fn stay(&self, client: &Client, me: &Member, seen: &watch::Sender<Seen>) -> Result<(), Fault> {
        let mut states = client.state_watcher();
        self.register(client, me).await?;
        loop {
            let (members, watcher) = self.look(client).await?;
            if !members.contains(me) {
                return Err(Fault::new("stay in ZooKeeper", "somebody has removed this master's node"));
            }
            seen.send_if_modified(|seen| {
                let new = Some(members);
                let changed = *seen != new;
                *seen = new;
                changed
            });
            tokio::select! {
                _event = watcher.changed() => {}
                state = gone(&mut states) => {
                    return Err(Fault::new("stay connected to ZooKeeper", format_args!("{state:?}")));
                }
            }
        }
    }
}

/// Waits until nothing can be heard any more. A session may outlive its connection; what happens meanwhile would not be
/// heard, so that there is a new one instead.
async fn gone(states: &mut zookeeper_client::StateWatcher) -> SessionState {
    loop {
        match states.changed().await {
            SessionState::SyncConnected | SessionState::ConnectedReadOnly => {}
            state => return state,
        }
    }
}

#[async_trait]
impl Registry for ZookeeperRegistry {
    async fn session(
        &self,
        me: &Member,
        seen: &watch::Sender<Seen>,
        leave: &CancellationToken,
    ) -> Result<(), Fault> {
        let client = tokio::select! {
            connected = self.connect() => connected?,
            () = leave.cancelled() => return Ok(()),
        };
        tokio::select! {
            ended = self.stay(&client, me, seen) => ended,
            () = leave.cancelled() => {
                // The session ends with its client, some time later.
                let _ = tokio::time::timeout(self.time, client.delete(&self.node(me), None)).await;
                Ok(())
            }
        }
    }

    async fn members(&self) -> Result<Vec<Member>, Fault> {
        let client = self.connect().await?;
        match client.list_children(&self.folder).await {
            Ok(names) => self.read(&client, names).await,
            Err(Error::NoNode) => Ok(Vec::new()),
            Err(error) => Err(Fault::new("list the members", error)),
        }
    }
}

fn of(tried: &'static str) -> impl Fn(Error) -> Fault {
    move |error| Fault::new(tried, error)
}
