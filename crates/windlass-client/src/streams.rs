//! Live updates that connect again by themselves.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::{Response, Url};
use serde::Serialize;
use windlass_rest::events::Event;
use windlass_rest::logs::{LogPage, LogQuery};

use crate::error::Error;
use crate::send::Client;
use crate::sse::{Message, Parser};

/// A server sends at least a comment every fifteen seconds: what is silent for three times as long is gone.
const SILENCE: Duration = Duration::from_secs(45);

/// Events as they happen; comes back to where it was when the connection breaks.
#[derive(Debug)]
pub struct EventStream {
    messages: Messages,
}

impl EventStream {
    pub(crate) fn new(client: Client, url: Url) -> EventStream {
        EventStream { messages: Messages::new(client, url) }
    }

    /// The next event; `None` when the server has said that there are no more. It may be dropped while it waits.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            let Some(message) = self.messages.next(&()).await? else { return Ok(None) };
            // What a newer server tells and nobody here understands is passed over.
            if let Ok(Some(event)) = Event::parse(&message.event, &message.data) {
                return Ok(Some(event));
            }
        }
    }
}

/// The lines of a log as they are printed.
#[derive(Debug)]
pub struct LogStream {
    messages: Messages,
    query: LogQuery,
    complete: bool,
}

impl LogStream {
    pub(crate) fn new(client: Client, url: Url, mut query: LogQuery) -> LogStream {
        query.follow = Some(true);
        LogStream { messages: Messages::new(client, url), query, complete: false }
    }

    /// The next lines; `None` when nothing will ever follow. It may be dropped while it waits.
    pub async fn next(&mut self) -> Result<Option<LogPage>, Error> {
        while !self.complete {
            let Some(message) = self.messages.next(&self.query).await? else { break };
            if let Ok(page) = serde_json::from_str::<LogPage>(&message.data) {
                // Where to go on if the connection breaks.
                self.query.from_line = Some(page.next_line);
                self.query.tail = None;
                self.complete = page.complete;
                return Ok(Some(page));
            }
        }
        Ok(None)
    }
}

/// The events of one address, over as many connections as it takes.
#[derive(Debug)]
struct Messages {
    client: Client,
    url: Url,
    last_id: Option<String>,
    connection: Option<(Response, Parser)>,
    ready: VecDeque<Message>,
    /// The stream ended in good order after it had told something.
    ended: bool,
}

impl Messages {
    fn new(client: Client, url: Url) -> Messages {
        Messages { client, url, last_id: None, connection: None, ready: VecDeque::new(), ended: false }
    }

    async fn next(&mut self, query: &impl Serialize) -> Result<Option<Message>, Error> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                self.last_id.clone_from(&message.id);
                return Ok(Some(message));
            }
            if self.ended {
                return Ok(None);
            }
            let (response, parser) = match &mut self.connection {
                Some(connection) => connection,
                None => {
                    let last_id = self.last_id.as_deref();
                    let response = self.client.stream(self.url.clone(), query, last_id).await?;
                    self.connection.insert((response, Parser::default()))
                }
            };
            match tokio::time::timeout(SILENCE, response.chunk()).await {
                Ok(Ok(Some(piece))) => match parser.feed(&piece) {
                    Ok(messages) => self.ready.extend(messages),
                    Err(_too_long) => self.connection = None,
                },
                Ok(Ok(None)) => {
                    self.connection = None;
                    self.ended = true;
                }
                // Broken or silent: `stream` tries again for as long as its patience.
                Ok(Err(_)) | Err(_) => {
                    self.connection = None;
                    tokio::time::sleep(self.client.patience().unreachable.min(Duration::from_millis(100)))
                        .await;
                }
            }
        }
    }
}
