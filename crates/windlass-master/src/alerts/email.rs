//! A mail, by way of an SMTP server.

use std::time::Duration;

use lettre::message::{Mailbox, header};
use lettre::transport::smtp::authentication::Credentials;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use windlass_core::rows::AlertNote;

use super::webhook::{causes, moment};
use super::{Channel, Telling};

/// How long a step of the conversation with the server may take.
const STEP: Duration = Duration::from_secs(20);

/// Sends mails.
pub struct Mail {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

/// Why no mail can be sent.
#[derive(Debug, thiserror::Error)]
pub enum EmailError {
    /// The address of the server makes no sense.
    #[error("`{0}` is no address of an SMTP server")]
    Server(String, #[source] lettre::transport::smtp::Error),
    /// The sender makes no sense.
    #[error("`{0}` is no address of mail")]
    From(String, #[source] lettre::address::AddressError),
}

impl Mail {
    /// By this server, `smtp://host:port` or `smtps://user@host`, in the name of `from`.
    pub fn new(server: &str, password: Option<&str>, from: &str) -> Result<Mail, EmailError> {
        let wrong = |error| EmailError::Server(server.to_owned(), error);
        let mut transport =
            AsyncSmtpTransport::<Tokio1Executor>::from_url(server).map_err(wrong)?.timeout(Some(STEP));
        let user = server.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@')).map(|(user, _)| user);
        if let (Some(user), Some(password)) = (user.filter(|user| !user.contains(':')), password) {
            transport = transport.credentials(Credentials::new(user.to_owned(), password.to_owned()));
        }
        let from = from.parse().map_err(|error| EmailError::From(from.to_owned(), error))?;
        Ok(Mail { transport: transport.build(), from })
    }

    async fn send(&self, id: &str, note: &AlertNote) -> Result<(), String> {
        let given = note.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("subject"));
        let subject = match given {
            Some((_, subject)) => subject.replace(['\r', '\n'], " "),
            None => format!("{}: {}", note.workflow, note.on.as_str().replace('_', " ")),
        };
        // The id of a mail is that of what it tells: whoever gets it twice can see that.
        let mut mail = Message::builder()
            .from(self.from.clone())
            .subject(subject)
            .message_id(Some(format!("<{id}.{}@windlass>", note.workflow)))
            .header(header::ContentType::TEXT_PLAIN);
        for to in note.url.trim_start_matches("mailto:").split(',') {
            mail = mail.to(to.trim().parse().map_err(|_| format!("`{to}` is no address of mail"))?);
        }
        let mail = mail.body(text(id, note)).map_err(|error| error.to_string())?;
        self.transport.send(mail).await.map_err(|error| causes(&error)).map(drop)
    }
}

fn text(id: &str, note: &AlertNote) -> String {
    let run = note.run.map(|run| format!("run: {run}\n")).unwrap_or_default();
    let look =
        note.run.map(|run| format!("\nLook at it with: windlass runs show {run}\n")).unwrap_or_default();
    format!(
        "{}\n\nworkflow: {}\n{run}what: {}\nlogical time: {}\nat: {}\nid: {id}\n{look}",
        note.reason,
        note.workflow,
        note.on.as_str(),
        moment(note.logical_time),
        moment(note.at),
    )
}

impl Channel for Mail {
    fn leads_to(&self, target: &str) -> bool {
        target.starts_with("mailto:")
    }

    fn tell<'a>(&'a self, id: &'a str, note: &'a AlertNote) -> Telling<'a> {
        Box::pin(self.send(id, note))
    }
}

impl std::fmt::Debug for Mail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mail").finish_non_exhaustive()
    }
}
