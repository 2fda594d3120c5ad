//! A small TCP proxy before a PostgreSQL server: slow, deaf, or the one that lets the reply of a COMMIT disappear.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How a COMMIT is sent by itself.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// What becomes of a COMMIT, and of the word about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It reaches the server; the connection is cut before its reply.
    Swallowed,
    /// The connection is cut before it reaches the server.
    Lost,
    /// The connection is cut, and it reaches the server this much later.
    Late(Duration),
    /// It reaches the server, and no answer ever comes on a connection that stays open.
    Silence,
}

#[derive(Debug, Default)]
struct Rules {
    /// Every so many COMMITs; 0 for none.
    every: AtomicU64,
    fate: Mutex<Option<Fate>>,
    commits: AtomicU64,
    fated: AtomicU64,
    delay_ms: AtomicU64,
    refuse: AtomicBool,
}

/// The proxy. It ends when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    rules: Arc<Rules>,
    /// Counts up when every connection is to be cut.
    cut: watch::Sender<u64>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a free port of this machine.
    pub async fn start(server: SocketAddr) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let rules = Arc::new(Rules::default());
        let (cut, cutting) = watch::channel(0);
        let accepting = tokio::spawn(accept(listener, server, Arc::clone(&rules), cutting));
        Ok(Proxy { address, rules, cut, accepting })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets every so many COMMITs have a fate, from now on.
    pub fn every(&self, commits: u64, fate: Fate) {
        *self.rules.fate.lock().unwrap_or_else(PoisonError::into_inner) = Some(fate);
        self.rules.commits.store(0, Ordering::SeqCst);
        self.rules.every.store(commits, Ordering::SeqCst);
    }

    /// Lets every COMMIT and its reply pass again.
    pub fn spare(&self) {
        self.rules.every.store(0, Ordering::SeqCst);
    }

    /// How many COMMITs had a fate.
    pub fn fated(&self) -> u64 {
        self.rules.fated.load(Ordering::SeqCst)
    }

    /// Lets every reply take so long, from now on.
    pub fn delay(&self, by: Duration) {
        self.rules.delay_ms.store(u64::try_from(by.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }

    /// Cuts every connection, and takes no new one until [`Proxy::open`].
    pub fn close(&self) {
        self.rules.refuse.store(true, Ordering::SeqCst);
        self.cut();
    }

    /// Takes connections again.
    pub fn open(&self) {
        self.rules.refuse.store(false, Ordering::SeqCst);
    }

    /// Cuts every connection.
    pub fn cut(&self) {
        self.cut.send_modify(|count| *count += 1);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, rules: Arc<Rules>, cutting: watch::Receiver<u64>) {
    while let Ok((client, _)) = listener.accept().await {
        if rules.refuse.load(Ordering::SeqCst) {
            continue;
        }
        let (rules, mut cutting) = (Arc::clone(&rules), cutting.clone());
        cutting.mark_unchanged();
        tokio::spawn(async move {
            tokio::select! {
                () = carry(client, server, rules) => {}
                // Also when the proxy is gone.
                _ = cutting.changed() => {}
            }
        });
    }
}

/// What the way to the server tells the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Go,
    /// Nothing that the server says from now on reaches the client.
    Hold,
}

async fn carry(client: TcpStream, server: SocketAddr, rules: Arc<Rules>) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let (word, heard) = watch::channel(Word::Go);
    let back = carry_back(from_server, to_client, heard, Arc::clone(&rules));
    tokio::select! {
        () = carry_there(from_client, to_server, word, rules) => {}
        () = back => {}
    }
}

async fn carry_there(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    word: watch::Sender<Word>,
    rules: Arc<Rules>,
) {
    let mut bytes = vec![0; 64 << 10];
    // The end of what was sent before: a COMMIT may come in two pieces.
    let mut before: Vec<u8> = Vec::new();
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let piece = &bytes[..count];
        let seen = [&before, piece].concat();
        let commits = seen.windows(COMMIT.len()).filter(|window| *window == COMMIT).count();
        before = seen[seen.len() - seen.len().min(COMMIT.len() - 1)..].to_vec();
        let fate = (0..commits).find_map(|_| rules.fate());
        match fate {
            None => {
                if to.write_all(piece).await.is_err() {
                    return;
                }
            }
            Some(Fate::Lost) => return,
            Some(Fate::Swallowed) => {
                word.send_replace(Word::Hold);
                let _ = to.write_all(piece).await;
                // The server has long answered by then.
                tokio::time::sleep(Duration::from_millis(100)).await;
                return;
            }
            Some(Fate::Silence) => {
                word.send_replace(Word::Hold);
                let _ = to.write_all(piece).await;
            }
            Some(Fate::Late(by)) => {
                let late = piece.to_vec();
                tokio::spawn(async move {
                    tokio::time::sleep(by).await;
                    let _ = to.write_all(&late).await;
                    tokio::time::sleep(Duration::from_millis(500)).await;
                });
                return;
            }
        }
    }
}

async fn carry_back(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    heard: watch::Receiver<Word>,
    rules: Arc<Rules>,
) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let delay = rules.delay_ms.load(Ordering::SeqCst);
        if delay > 0 {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        if *heard.borrow() == Word::Hold {
            continue;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

impl Rules {
    /// The fate of the next COMMIT.
    fn fate(&self) -> Option<Fate> {
        let every = self.every.load(Ordering::SeqCst);
        let number = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
        if every == 0 || !number.is_multiple_of(every) {
            return None;
        }
        self.fated.fetch_add(1, Ordering::SeqCst);
        *self.fate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
