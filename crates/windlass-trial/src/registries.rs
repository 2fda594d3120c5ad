//! Servers of registries for tests: started on free ports with folders of their own, killed, frozen and started again.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::Signal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::cluster::free_port;
use crate::network::Place;
use crate::node::Node;

/// A server that does not answer by then will not.
const START_WAIT: Duration = Duration::from_secs(60);
/// How long one question may take.
const ANSWER_WAIT: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(50);
/// Where Debian keeps ZooKeeper.
const ZOOKEEPER: &str = "/usr/share/java/zookeeper.jar";

/// Which registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// etcd.
    Etcd,
    /// ZooKeeper.
    Zookeeper,
}

/// A server of a registry.
#[derive(Debug)]
pub struct RegistryServer {
    kind: Kind,
    address: SocketAddr,
    place: Option<Place>,
    folder: PathBuf,
    node: Node,
}

impl RegistryServer {
    /// Starts one that keeps its data in this folder.
    pub async fn start(kind: Kind, folder: &Path) -> anyhow::Result<RegistryServer> {
        RegistryServer::start_at(None, kind, folder).await
    }

    /// The same in a place of its own.
    pub async fn start_at(
        place: Option<&Place>,
        kind: Kind,
        folder: &Path,
    ) -> anyhow::Result<RegistryServer> {
        std::fs::create_dir_all(folder)?;
        let (port, folder) = (free_port()?, folder.to_owned());
        let address = place.map_or_else(|| (Ipv4Addr::LOCALHOST, port).into(), |place| place.at(port));
        let node = match kind {
            Kind::Etcd => etcd(address, free_port()?, &folder),
            Kind::Zookeeper => zookeeper(address, &folder)?,
        };
        let (node, place) = (node.at(place), place.cloned());
        let mut server = RegistryServer { kind, address, place, folder, node };
        server.run().await?;
        Ok(server)
    }

    /// Where it is, as a master is told.
    pub fn url(&self) -> String {
        format!("{}/{}", self.root(), "trial")
    }

    /// The same without a path.
    pub fn root(&self) -> String {
        let scheme = match self.kind {
            Kind::Etcd => "etcd",
            Kind::Zookeeper => "zookeeper",
        };
        format!("{scheme}://{}", self.address())
    }

    /// Its address, as `host:port`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Starts it again, and waits until it answers.
    pub async fn run(&mut self) -> anyhow::Result<()> {
        self.node.start()?;
        let began = Instant::now();
        while !self.answers().await {
            if let Some(status) = self.node.ended() {
                bail!("{} has ended with {status}:\n{}", self.node.name, self.node.printed());
            }
            if began.elapsed() > START_WAIT {
                bail!("{} does not answer:\n{}", self.node.name, self.node.printed());
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Whether it takes calls.
    async fn answers(&self) -> bool {
        let stream = match &self.place {
            Some(place) => place.connect(self.address.port()).await,
            None => TcpStream::connect(self.address).await.map_err(anyhow::Error::from),
        };
        let Ok(mut stream) = stream else { return false };
        match self.kind {
            Kind::Etcd => true,
            // It listens some time before it serves.
            Kind::Zookeeper => {
                let mut said = String::new();
                let asked = async {
                    stream.write_all(b"srvr").await?;
                    stream.read_to_string(&mut said).await
                };
                // What came too early is never answered.
                let answered =
                    tokio::time::timeout(ANSWER_WAIT, asked).await.is_ok_and(|answer| answer.is_ok());
                answered && said.contains("Mode: ")
            }
        }
    }

    /// Kills it.
    pub async fn kill(&mut self) {
        self.node.kill().await;
    }

    /// Freezes or thaws it.
    pub fn freeze(&self, frozen: bool) {
        self.node.signal(if frozen { Signal::STOP } else { Signal::CONT });
    }

    /// Kills it and starts it without anything that it knew.
    pub async fn forget(&mut self) -> anyhow::Result<()> {
        self.kill().await;
        let data = self.folder.join("data");
        std::fs::remove_dir_all(&data).with_context(|| format!("cannot remove {}", data.display()))?;
        self.run().await
    }

    /// Ends it.
    pub async fn end(mut self) {
        self.freeze(false);
        self.node.end().await;
    }
}

fn etcd(address: SocketAddr, peer_port: u16, folder: &Path) -> Node {
    let (client, peer) = (format!("http://{address}"), format!("http://127.0.0.1:{peer_port}"));
    let data = folder.join("data").display().to_string();
    let arguments = [
        ("--name", "trial"),
        ("--data-dir", &data),
        ("--listen-client-urls", &client),
        ("--advertise-client-urls", &client),
        ("--listen-peer-urls", &peer),
        ("--initial-advertise-peer-urls", &peer),
        ("--initial-cluster", &format!("trial={peer}")),
        ("--log-level", "error"),
    ];
    let arguments =
        arguments.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value.to_owned()]).collect();
    Node::new("etcd", Path::new("etcd"), arguments, folder.join("etcd.log"))
}

fn zookeeper(address: SocketAddr, folder: &Path) -> anyhow::Result<Node> {
    let settings = folder.join("zoo.cfg");
    let data = folder.join("data");
    // Sessions may be as short as two ticks.
    let text = format!(
        "tickTime=500\ndataDir={}\nclientPort={}\nclientPortAddress={}\nadmin.enableServer=false\n4lw.commands.whitelist=srvr\n",
        data.display(),
        address.port(),
        address.ip()
    );
    std::fs::write(&settings, text)?;
    let class = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    // A small machine that is quick to start.
    let small = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", ZOOKEEPER, class];
    let settings = settings.display().to_string();
    let arguments = small.into_iter().map(str::to_owned).chain([settings]).collect();
    Ok(Node::new("ZooKeeper", Path::new("java"), arguments, folder.join("zookeeper.log")))
}
