//! What every backend must do, with a real server. Each case panics with what is wrong.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass_model::{Name, OwnerId};

use crate::{Member, Registry, Seen, attend};

/// How long anything may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of the backend, as the suite breaks it.
#[async_trait::async_trait]
pub trait Bench: Send {
    /// A registry of this cluster, with sessions of about two seconds.
    fn registry(&self) -> Arc<dyn Registry>;
    /// The same server, another cluster.
    fn other_cluster(&self) -> Arc<dyn Registry>;
    /// Kills the server, without a word.
    async fn kill(&mut self);
    /// Freezes or thaws it.
    fn freeze(&mut self, frozen: bool);
    /// Starts it again, with what it had.
    async fn start(&mut self);
    /// Removes everything that is registered, behind everybody's back.
    async fn wipe(&mut self);
}

/// Somebody who is in a registry.
struct Present {
    member: Member,
    seen: watch::Receiver<Seen>,
    leave: CancellationToken,
    task: JoinHandle<()>,
}

impl Present {
    fn join(registry: &Arc<dyn Registry>, number: u64) -> Present {
        let member = member(number);
        let (sender, seen) = watch::channel(None);
        let leave = CancellationToken::new();
        let task = tokio::spawn(attend(Arc::clone(registry), member.clone(), sender, leave.clone()));
        Present { member, seen, leave, task }
    }

    /// Waits until exactly these are seen.
    async fn sees(&mut self, numbers: &[u64]) {
        let mut wanted: Vec<_> = numbers.iter().map(|number| member(*number)).collect();
        wanted.sort_by_key(|member| member.owner);
        let fits = |seen: &Seen| {
            let mut members = seen.clone().unwrap_or_default();
            members.sort_by_key(|member| member.owner);
            seen.is_some() && members == wanted
        };
        let waited = tokio::time::timeout(PATIENCE, self.seen.wait_for(fits)).await.is_ok();
        assert!(waited, "{} sees {:?}, not {numbers:?}", self.member.name, *self.seen.borrow());
    }

    /// Waits until nothing is known.
    async fn sees_nothing(&mut self) {
        let waited = tokio::time::timeout(PATIENCE, self.seen.wait_for(Option::is_none)).await.is_ok();
        assert!(waited, "{} still believes {:?}", self.member.name, *self.seen.borrow());
    }

    async fn leave(self) {
        self.leave.cancel();
        tokio::time::timeout(PATIENCE, self.task).await.expect("it leaves").expect("it ends in good order");
    }
}

fn member(number: u64) -> Member {
    Member {
        owner: OwnerId(0xfeed_0000_0000_0000 | number),
        name: Name::new(&format!("m{number}")).expect("a name"),
        address: format!("http://127.0.0.1:{number}").into(),
    }
}

/// Runs the whole suite.
pub async fn run(bench: &mut dyn Bench) {
    whoever_joins_is_seen_by_all_and_whoever_leaves_is_not(bench).await;
    clusters_do_not_see_each_other(bench).await;
    whoever_ends_without_a_word_is_gone_after_its_session(bench).await;
    a_server_that_is_killed_and_back_is_joined_again(bench).await;
    a_server_that_stands_still_is_not_believed(bench).await;
    whoever_was_removed_by_others_joins_again(bench).await;
}

async fn whoever_joins_is_seen_by_all_and_whoever_leaves_is_not(bench: &mut dyn Bench) {
    let registry = bench.registry();
    assert_eq!(registry.members().await.expect("it can be asked"), [], "nobody is there yet");
    let mut first = Present::join(&registry, 1);
    first.sees(&[1]).await;
    let mut second = Present::join(&bench.registry(), 2);
    second.sees(&[1, 2]).await;
    first.sees(&[1, 2]).await;
    let mut found = registry.members().await.expect("it can be asked");
    found.sort_by_key(|member| member.owner);
    assert_eq!(found, [member(1), member(2)], "with their names and addresses");
    first.leave().await;
    // Not after the time of a session: it has said goodbye.
    second.sees(&[2]).await;
    second.leave().await;
    assert_eq!(registry.members().await.expect("it can be asked"), []);
}

async fn clusters_do_not_see_each_other(bench: &mut dyn Bench) {
    let mut here = Present::join(&bench.registry(), 1);
    let mut there = Present::join(&bench.other_cluster(), 2);
    here.sees(&[1]).await;
    there.sees(&[2]).await;
    here.leave().await;
    there.leave().await;
}

async fn whoever_ends_without_a_word_is_gone_after_its_session(bench: &mut dyn Bench) {
    let mut stays = Present::join(&bench.registry(), 1);
    let dies = Present::join(&bench.registry(), 2);
    stays.sees(&[1, 2]).await;
    // Its connections close, its session does not.
    dies.task.abort();
    stays.sees(&[1]).await;
    stays.leave().await;
}

async fn a_server_that_is_killed_and_back_is_joined_again(bench: &mut dyn Bench) {
    let mut first = Present::join(&bench.registry(), 1);
    let mut second = Present::join(&bench.registry(), 2);
    first.sees(&[1, 2]).await;
    bench.kill().await;
    first.sees_nothing().await;
    second.sees_nothing().await;
    bench.start().await;
    first.sees(&[1, 2]).await;
    second.sees(&[1, 2]).await;
    first.leave().await;
    second.leave().await;
}

async fn a_server_that_stands_still_is_not_believed(bench: &mut dyn Bench) {
    let mut first = Present::join(&bench.registry(), 1);
    first.sees(&[1]).await;
    bench.freeze(true);
    first.sees_nothing().await;
    bench.freeze(false);
    first.sees(&[1]).await;
    first.leave().await;
}

async fn whoever_was_removed_by_others_joins_again(bench: &mut dyn Bench) {
    let mut first = Present::join(&bench.registry(), 1);
    let mut second = Present::join(&bench.registry(), 2);
    first.sees(&[1, 2]).await;
    second.sees(&[1, 2]).await;
    bench.wipe().await;
    let registry = bench.registry();
    let both = async {
        while registry.members().await.expect("it can be asked").len() < 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, both).await.expect("both are there again");
    first.sees(&[1, 2]).await;
    second.sees(&[1, 2]).await;
    first.leave().await;
    second.leave().await;
}
