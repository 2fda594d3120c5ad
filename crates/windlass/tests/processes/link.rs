//! The way between a worker and its master: it can be cut in silence, broken, and healed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const WHOLE: u8 = 0;
/// Bytes are swallowed and connections stay: nobody is told.
const CUT: u8 = 1;

/// A link on a port of its own.
#[derive(Debug)]
pub struct Link {
    pub url: String,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    mode: AtomicU8,
    /// Connections of earlier generations end.
    generation: AtomicU64,
}

impl Link {
    /// A link to an address `http://host:port`.
    pub async fn to(url: &str) -> Link {
        let target = url.strip_prefix("http://").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(carry(stream, target.clone(), Arc::clone(&shared)));
            }
        });
        Link { url, state }
    }

    /// From now on everything is swallowed, in both directions, and nobody is told.
    pub fn cut(&self) {
        self.state.mode.store(CUT, Ordering::SeqCst);
    }

    /// Breaks every connection; new ones can be made.
    pub fn flap(&self) {
        self.state.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// Works again. What was swallowed is gone for good, and so are the connections it belonged to.
    pub fn heal(&self) {
        self.flap();
        self.state.mode.store(WHOLE, Ordering::SeqCst);
    }
}

async fn carry(mut stream: TcpStream, target: String, state: Arc<State>) {
    let generation = state.generation.load(Ordering::SeqCst);
    let Ok(mut further) = TcpStream::connect(target).await else { return };
    let (mut one, mut two) = ([0; 16 << 10], [0; 16 << 10]);
    let mut look = tokio::time::interval(std::time::Duration::from_millis(10));
    while state.generation.load(Ordering::SeqCst) == generation {
        let (count, bytes, to) = tokio::select! {
            read = stream.read(&mut one) => (read, &one, &mut further),
            read = further.read(&mut two) => (read, &two, &mut stream),
            _ = look.tick() => continue,
        };
        let Ok(count @ 1..) = count else { return };
        if state.mode.load(Ordering::SeqCst) == WHOLE && to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
