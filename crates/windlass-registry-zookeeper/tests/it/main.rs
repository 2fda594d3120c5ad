//! The suite of registries, with a real server.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;
use std::time::Duration;

use windlass_registry::conformance::{self, Bench};
use windlass_registry::{Address, Registry};
use windlass_registry_zookeeper::{PORT, ZookeeperRegistry};
use windlass_trial::registries::{Kind, RegistryServer};

const SESSION: Duration = Duration::from_secs(2);

struct Real(RegistryServer);

impl Real {
    fn at(&self, path: &str) -> ZookeeperRegistry {
        let address = Address::read(&format!("{}/{path}", self.0.address()), PORT).unwrap();
        ZookeeperRegistry::new(&address, SESSION)
    }
}

#[async_trait::async_trait]
impl Bench for Real {
    fn registry(&self) -> Arc<dyn Registry> {
        Arc::new(self.at("here"))
    }

    fn other_cluster(&self) -> Arc<dyn Registry> {
        Arc::new(self.at("here/deeper"))
    }

    async fn kill(&mut self) {
        self.0.kill().await;
    }

    fn freeze(&mut self, frozen: bool) {
        self.0.freeze(frozen);
    }

    async fn start(&mut self) {
        self.0.run().await.unwrap();
    }

    async fn wipe(&mut self) {
        self.at("here").clear().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite_passes() {
    let folder = tempfile::tempdir().unwrap();
    let server = RegistryServer::start(Kind::Zookeeper, folder.path()).await.unwrap();
    let mut real = Real(server);
    conformance::run(&mut real).await;
    real.0.end().await;
}

#[tokio::test]
async fn where_nobody_answers_that_is_said_with_the_address() {
    let address = Address::read("127.0.0.1:1", PORT).unwrap();
    let registry = ZookeeperRegistry::new(&address, SESSION);
    let said = registry.members().await.unwrap_err().to_string();
    assert!(said.starts_with("connect to "), "{said}");
}
