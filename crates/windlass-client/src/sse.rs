//! Server-sent events, read from pieces as they arrive.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    /// What kind; `message` if it does not say.
    pub event: String,
    /// What it says, lines joined.
    pub data: String,
    /// What to say when coming back.
    pub id: Option<String>,
}

/// The most that an event may have before its end: more is no event of ours.
const LONGEST: usize = 64 << 20;

/// Cuts a stream of bytes into events.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    unread: Vec<u8>,
    event: String,
    data: Option<String>,
    id: Option<String>,
}

/// An event without end.
#[derive(Debug)]
pub(crate) struct TooLong;

impl Parser {
    /// Takes a piece; gives the events that are complete now.
    pub fn feed(&mut self, piece: &[u8]) -> Result<Vec<Message>, TooLong> {
        // What was there before has no end of line in it: nothing is searched twice.
        let mut search = self.unread.len();
        self.unread.extend_from_slice(piece);
        let mut messages = Vec::new();
        let mut start = 0;
        while let Some(length) = self.unread[search..].iter().position(|byte| *byte == b'\n') {
            let end = search + length;
            let line = String::from_utf8_lossy(&self.unread[start..end]).into_owned();
            start = end + 1;
            search = start;
            messages.extend(self.line(line.strip_suffix('\r').unwrap_or(&line)));
        }
        self.unread.drain(..start);
        if self.unread.len() + self.data.as_ref().map_or(0, String::len) > LONGEST {
            return Err(TooLong);
        }
        Ok(messages)
    }

    fn line(&mut self, line: &str) -> Option<Message> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            let data = self.data.take()?;
            let event = if event.is_empty() { "message".to_owned() } else { event };
            return Some(Message { event, data, id: self.id.clone() });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" => self.id = Some(value.to_owned()),
            // Comments keep the connection alive; how soon to come back we know ourselves.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str =
        ": hello\n\nevent: run\nid: 7\ndata: {\"a\":\ndata:  1}\n\ndata: x\r\n\r\nevent: job\n\n";

    #[test]
    fn events_are_the_same_however_the_bytes_arrive() {
        let whole = Parser::default().feed(STREAM.as_bytes()).unwrap();
        assert_eq!(
            whole,
            [
                Message { event: "run".into(), data: "{\"a\":\n 1}".into(), id: Some("7".into()) },
                Message { event: "message".into(), data: "x".into(), id: Some("7".into()) },
            ]
        );
        let mut parser = Parser::default();
        let by_byte: Vec<_> = STREAM.bytes().flat_map(|byte| parser.feed(&[byte]).unwrap()).collect();
        assert_eq!(by_byte, whole);
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; 1 << 20];
        assert!((0..100).any(|_| parser.feed(&piece).is_err()));
    }
}
