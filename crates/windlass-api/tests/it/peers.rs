//! The door for other masters: whoever cannot read the store does not get in, and nonsense harms nobody.

use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;
use tonic::{Code, Status, Streaming};
use windlass_protocol::PROTOCOL;
use windlass_protocol::v1::masters_client::MastersClient;
use windlass_protocol::v1::{self, peer_says::What};
use windlass_store::Store as _;

use crate::world::World;

const STRANGER: u64 = 42;

/// Opens a stream and says this.
async fn talk(world: &World, says: Vec<What>) -> Result<Streaming<v1::FromMaster>, Status> {
    let channel = Endpoint::from_shared(world.address.clone()).unwrap().connect().await.unwrap();
    let mut client = MastersClient::new(channel);
    let (sender, receiver) = tokio::sync::mpsc::channel(16);
    for what in says {
        sender.send(v1::FromMaster { says: vec![v1::PeerSays { what: Some(what) }] }).await.unwrap();
    }
    // The stream stays open until the test is over.
    std::mem::forget(sender);
    client.talk(ReceiverStream::new(receiver)).await.map(tonic::Response::into_inner)
}

fn hello(to: u64, secret: &str, protocol: u32) -> What {
    let (secret, name) = (secret.to_owned(), "stranger".to_owned());
    What::Hello(v1::MasterHello { protocol, from: STRANGER, to, secret, name })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_who_reads_the_store_speaks_as_a_master() {
    let token = "an-admin-token-of-some-length";
    for world in [World::without_workers().await, World::with_tokens(token).await] {
        let lease = world.handle.store().leases().await.unwrap().remove(0);
        let (owner, secret) = (lease.owner.0, lease.contact.unwrap().secret.to_string());
        let refused = async |first: What| talk(&world, vec![first]).await.unwrap_err().code();
        assert_eq!(refused(hello(owner, "", PROTOCOL)).await, Code::PermissionDenied);
        assert_eq!(refused(hello(owner, token, PROTOCOL)).await, Code::PermissionDenied);
        assert_eq!(refused(hello(owner, &secret[1..], PROTOCOL)).await, Code::PermissionDenied);
        assert_eq!(refused(hello(owner + 1, &secret, PROTOCOL)).await, Code::PermissionDenied);
        assert_eq!(refused(hello(owner, &secret, 0)).await, Code::FailedPrecondition);
        assert_eq!(refused(What::Ask(1)).await, Code::InvalidArgument);
        let mut says = talk(&world, vec![hello(owner, &secret, PROTOCOL)]).await.unwrap();
        let first = says.message().await.unwrap().unwrap().says.remove(0).what;
        let Some(What::Hello(answer)) = first else { panic!("{first:?}") };
        assert_eq!((answer.from, answer.to, answer.secret.as_str()), (owner, STRANGER, ""));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nonsense_of_a_master_is_refused_and_harms_nobody() {
    let world = World::without_workers().await;
    let lease = world.handle.store().leases().await.unwrap().remove(0);
    let (owner, secret) = (lease.owner.0, lease.contact.unwrap().secret.to_string());
    let call = |pass, shard, format, text: &str| {
        let call = text.as_bytes().to_vec();
        What::Call(v1::PassedCall { pass, over_below: 1, shard, left: 1000, format, call })
    };
    let mut says = talk(
        &world,
        vec![
            hello(owner, &secret, PROTOCOL),
            What::ToWorker(v1::Relayed { worker: 1, frame: None }),
            What::FromWorker(v1::WorkerSays { what: None }),
            What::Heard(v1::HeardOf { life: None, capability: None, ago: u64::MAX }),
            What::Home(v1::ToShard { shard: 9999, format: 1, input: b"{}".to_vec() }),
            What::Reply(v1::PassedReply { pass: 7, format: 1, reply: b"\xff".to_vec() }),
            What::Released(v1::ShardFree { shard: u32::MAX, leaving: true }),
            call(1, 0, 99, "\"work\""),
            call(2, 0, 1, "{\"run\":"),
            call(3, 9999, 1, "\"work\""),
        ],
    )
    .await
    .unwrap();
    // Each call is answered: nothing was done.
    let mut answered = std::collections::BTreeMap::new();
    while answered.len() < 3 {
        for says in says.message().await.unwrap().unwrap().says {
            if let Some(What::Reply(reply)) = says.what {
                answered.insert(reply.pass, String::from_utf8(reply.reply).unwrap());
            }
        }
    }
    for pass in 1..=3 {
        assert_eq!(answered[&pass], "\"unavailable\"", "{answered:?}");
    }
    assert_eq!(world.get("/readyz").await.0, 200);
}
