//! Receivers of alerts that are away, err, are slow and come back, while masters die: everything arrives, and nothing
//! under two ids.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use windlass_client::new_key;
use windlass_rest::runs::CreateRun;
use windlass_trial::cluster::free_port;
use windlass_trial::postgres::PostgresServer;

use crate::world::{World, scale};

/// How a receiver is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    /// It says no.
    Errs,
    /// It takes everything and answers late, or hangs up before it does.
    Slow,
    /// It takes everything.
    Well,
}

/// A receiver and what it has taken: what was told, by its id, and how often.
#[derive(Clone, Debug)]
struct Receiver {
    mood: Arc<Mutex<Mood>>,
    taken: Arc<Mutex<Vec<(String, String)>>>,
    /// How often somebody came.
    calls: Arc<Mutex<usize>>,
}

impl Receiver {
    fn new() -> Receiver {
        Receiver { mood: Arc::new(Mutex::new(Mood::Errs)), taken: Arc::default(), calls: Arc::default() }
    }

    fn is(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    fn calls(&self) -> usize {
        *self.calls.lock().unwrap()
    }

    /// The ids under which each run was told of.
    fn told(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (run, id) in self.taken.lock().unwrap().iter() {
            told.entry(run.clone()).or_default().insert(id.clone());
        }
        told
    }

    /// Opens the door.
    async fn open(&self, port: u16, mail: bool) {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let receiver = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let receiver = receiver.clone();
                *receiver.calls.lock().unwrap() += 1;
                tokio::spawn(async move {
                    let _ = if mail {
                        receiver.take_mail(stream).await
                    } else {
                        receiver.take_call(stream).await
                    };
                });
            }
        });
    }

    async fn take_call(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while stream.read_line(&mut line).await? > 2 {
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let event: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(event["specversion"], "1.0");
        assert_eq!(event["type"], "windlass.failed");
        let mood = *self.mood.lock().unwrap();
        if mood == Mood::Errs {
            return stream.write_all(b"HTTP/1.1 500 no\r\ncontent-length: 0\r\n\r\n").await;
        }
        let (run, id) = (event["data"]["run"].as_str().unwrap(), event["id"].as_str().unwrap());
        self.taken.lock().unwrap().push((run.to_owned(), id.to_owned()));
        if mood == Mood::Slow {
            // It was taken, and who told it does not hear of that.
            tokio::time::sleep(Duration::from_secs(1)).await;
            return Ok(());
        }
        stream.write_all(b"HTTP/1.1 204 ok\r\n\r\n").await
    }

    async fn take_mail(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        let mood = *self.mood.lock().unwrap();
        if mood == Mood::Errs {
            return stream.write_all(b"421 not now\r\n").await;
        }
        stream.write_all(b"220 here\r\n").await?;
        let (mut line, mut text) = (String::new(), None::<String>);
        while stream.read_line(&mut line).await? > 0 {
            let said = line.trim_end().to_owned();
            line.clear();
            if let Some(mail) = &mut text {
                if said != "." {
                    *mail += &format!("{said}\n");
                    continue;
                }
                let field = |name: &str| {
                    let line = mail.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
                    line.trim().to_owned()
                };
                let (run, id) = (field("run:"), field("Message-ID:"));
                assert!(!run.is_empty() && !id.is_empty(), "{mail}");
                self.taken.lock().unwrap().push((run, id));
                text = None;
                if mood == Mood::Slow {
                    return Ok(());
                }
                stream.write_all(b"250 taken\r\n").await?;
                continue;
            }
            let answer: &[u8] = match said.to_ascii_uppercase().as_str() {
                "DATA" => {
                    text = Some(String::new());
                    b"354 go on\r\n"
                }
                "QUIT" => return stream.write_all(b"221 bye\r\n").await,
                _ => b"250 ok\r\n",
            };
            stream.write_all(answer).await?;
        }
        Ok(())
    }
}

/// Waits until both were asked so many times more.
async fn asked(world: &World, web: &Receiver, mail: &Receiver, more: usize) {
    let (calls, mails) = (web.calls() + more, mail.calls() + more);
    world.until("both are asked again", async || web.calls() >= calls && mail.calls() >= mails).await;
}

#[tokio::test]
async fn every_alert_arrives_under_one_id_whatever_happens_to_receivers_and_masters() {
    let server = PostgresServer::start(&[]).unwrap();
    server.create_database("windlass").unwrap();
    let (web_port, mail_port) = (free_port().unwrap(), free_port().unwrap());
    let mut world = World::with(2, 8, |plan| {
        plan.masters = 3;
        plan.store = Some(server.url("windlass"));
        let mail = format!("smtp://127.0.0.1:{mail_port}");
        let flags = ["--smtp", &mail, "--alert-from", "windlass@example.org"];
        plan.master_flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
    })
    .await;
    let (web, mail) = (Receiver::new(), Receiver::new());
    // Workflows with homes on all masters, and nobody listens.
    let mut runs = BTreeSet::new();
    for number in 0..8 * scale() {
        let name = format!("flow{number}");
        let definition = json!({
            "name": name,
            "alerts": [
                {"on": ["failed"], "type": "webhook", "with": {"url": format!("http://127.0.0.1:{web_port}/x")}},
                {"on": ["failed"], "type": "email", "with": {"to": "ada@example.org"}},
            ],
            "tasks": {"a": {"run": "exit 3"}},
        });
        world.client().apply(&name, &definition.to_string()).await.unwrap();
        let wanted = CreateRun { workflow: Some(name), ..CreateRun::default() };
        runs.insert(world.client().create_run(&new_key(), &wanted).await.unwrap().id);
    }
    for run in &runs {
        world.over(run).await;
    }
    // A master dies with what it has not told, and is back.
    world.cluster.master_at(1).kill().await;
    world.cluster.master_at(1).start().unwrap();
    // Somebody listens, and says no.
    web.open(web_port, false).await;
    mail.open(mail_port, true).await;
    asked(&world, &web, &mail, 3).await;
    assert!(web.told().is_empty() && mail.told().is_empty());
    // They take it, and who told it never knows: a master dies meanwhile.
    web.is(Mood::Slow);
    mail.is(Mood::Slow);
    asked(&world, &web, &mail, 2).await;
    world.cluster.master_at(2).kill().await;
    world.cluster.master_at(2).start().unwrap();
    web.is(Mood::Well);
    mail.is(Mood::Well);
    let all = |receiver: &Receiver| receiver.told().keys().cloned().collect::<BTreeSet<_>>() == runs;
    world.until("every alert has arrived", async || all(&web) && all(&mail)).await;
    for (what, receiver) in [("calls", &web), ("mails", &mail)] {
        for (run, ids) in receiver.told() {
            assert_eq!(ids.len(), 1, "{what} about {run}: {ids:?}");
        }
    }
    // What was heard is said no more.
    let outbox = async || server.sql("windlass", "SELECT count(*) FROM outbox").unwrap().trim() == "0";
    world.until("nothing is left to be told", outbox).await;
    let silent = (web.calls(), mail.calls());
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!((web.calls(), mail.calls()), silent);
}
