//! From a URL to where the server is, who logs in, and how the way there is protected.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// No server that is there needs longer to greet.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A server whose machine is gone is noticed after this, also when nothing is asked.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// How the way to the server is protected, by the names that PostgreSQL's own programs have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    /// Not at all.
    Disable,
    /// Encrypted if the server can; nobody's identity is checked.
    Prefer,
    /// Encrypted; nobody's identity is checked.
    Require,
    /// Encrypted, and the server proves its name: by the certificates of a file, or by those the system trusts.
    VerifyFull(Option<PathBuf>),
}

/// Where a store is and who uses it. Never shows the password.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) protection: Protection,
    shown: Arc<str>,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.shown)
    }
}

/// Why a text is not the address of a PostgreSQL store. It never repeats the text, which may have a password in it.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It is no URL.
    #[error(
        "the address of the store cannot be read; hint: write postgres://USER:PASSWORD@HOST:5432/DATABASE"
    )]
    Unreadable(#[source] Option<tokio_postgres::Error>),
    /// It asks for something that is not there.
    #[error("the address of the store has `{key}={value}`, which windlass cannot do; hint: {hint}")]
    Unsupported {
        /// Which part.
        key: String,
        /// What it says.
        value: String,
        /// What to write instead.
        hint: &'static str,
    },
    /// Something is left out.
    #[error(
        "the address of the store names no {what}; hint: write postgres://USER:PASSWORD@HOST:5432/DATABASE"
    )]
    Missing {
        /// What.
        what: &'static str,
    },
}

impl Address {
    /// Reads a URL. The password may also come from beside it.
    pub fn read(text: &str, password: Option<&str>) -> Result<Address, AddressError> {
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let mut kept = Vec::new();
        let (mut mode, mut roots) = (None, None);
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = percent_decode_str(value).decode_utf8_lossy();
            match key {
                "sslmode" => mode = Some(value.into_owned()),
                "sslrootcert" => roots = Some(PathBuf::from(&*value)),
                "sslcert" | "sslkey" | "sslpassword" | "sslcrl" => {
                    let hint = "log in with a password; client certificates are not supported";
                    return Err(unsupported(key, "…", hint));
                }
                _ => kept.push(part),
            }
        }
        let protection = protection(mode.as_deref(), roots)?;
        let mut plain = place.to_owned();
        if !kept.is_empty() {
            plain = format!("{plain}?{}", kept.join("&"));
        }
        let mut config: Config = plain.parse().map_err(|error| AddressError::Unreadable(Some(error)))?;
        if !plain.starts_with("postgres://") && !plain.starts_with("postgresql://") {
            return Err(AddressError::Unreadable(None));
        }
        if let (None, Some(password)) = (config.get_password(), password) {
            config.password(password);
        }
        if config.get_user().is_none_or(str::is_empty) {
            return Err(AddressError::Missing { what: "user" });
        }
        if config.get_hosts().is_empty() {
            return Err(AddressError::Missing { what: "host" });
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(AddressError::Missing { what: "database" });
        }
        set_up(&mut config, &protection);
        let shown = shown(&config).into();
        Ok(Address { config, protection, shown })
    }

    /// The address without the password.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.shown)
    }
}

fn protection(mode: Option<&str>, roots: Option<PathBuf>) -> Result<Protection, AddressError> {
    let protection = match mode {
        None if roots.is_some() => return Ok(Protection::VerifyFull(roots)),
        None | Some("prefer") => Protection::Prefer,
        Some("disable") => Protection::Disable,
        Some("require") => Protection::Require,
        Some("verify-full") => return Ok(Protection::VerifyFull(roots)),
        Some(other) => {
            return Err(unsupported("sslmode", other, "use disable, prefer, require or verify-full"));
        }
    };
    match roots {
        Some(_) => {
            let hint = "a file of certificates is only looked at with sslmode=verify-full";
            Err(unsupported("sslmode", mode.unwrap_or("prefer"), hint))
        }
        None => Ok(protection),
    }
}

fn unsupported(key: &str, value: &str, hint: &'static str) -> AddressError {
    AddressError::Unsupported { key: key.to_owned(), value: value.to_owned(), hint }
}

/// What every connection has, unless the address says otherwise.
fn set_up(config: &mut Config, protection: &Protection) {
    config.ssl_mode(match protection {
        Protection::Disable => SslMode::Disable,
        Protection::Prefer => SslMode::Prefer,
        Protection::Require | Protection::VerifyFull(_) => SslMode::Require,
    });
    if config.get_application_name().is_none() {
        config.application_name("windlass");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    config.keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE).keepalives_retries(2);
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(KEEPALIVE * 3);
    }
    // Of several hosts the one that writes: a standby's answers are old, and it takes none of ours.
    config.target_session_attrs(TargetSessionAttrs::ReadWrite);
}

fn shown(config: &Config) -> String {
    let hosts = config.get_hosts().iter().enumerate().map(|(place, host)| {
        let host = match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        };
        let ports = config.get_ports();
        match ports.get(place).or(ports.first()) {
            Some(port) => format!("{host}:{port}"),
            None => host,
        }
    });
    let hosts: Vec<_> = hosts.collect();
    let (user, database) = (config.get_user().unwrap_or("?"), config.get_dbname().unwrap_or("?"));
    format!("postgres://{user}@{}/{database}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        let address = Address::read("postgres://me:s3cret@db.example:5433/windlass", None).unwrap();
        assert_eq!(address.shown(), "postgres://me@db.example:5433/windlass");
        assert!(!format!("{address:?}").contains("s3cret"));
        let address = Address::read("postgresql://me@%2Ftmp%2Fsocket/windlass", Some("s3cret")).unwrap();
        assert_eq!(address.shown(), "postgres://me@/tmp/socket:5432/windlass");
        assert_eq!(address.config.get_password(), Some(&b"s3cret"[..]));
        let address = Address::read("postgres://me:x@one,two:1/w", None).unwrap();
        assert!(address.shown().starts_with("postgres://me@one:"), "{address}");
    }

    #[test]
    fn no_wish_for_protection_is_ignored() {
        let read = |query: &str| Address::read(&format!("postgres://me:pw@db/w{query}"), None);
        assert_eq!(read("").unwrap().protection, Protection::Prefer);
        assert_eq!(read("?sslmode=disable").unwrap().protection, Protection::Disable);
        assert_eq!(read("?sslmode=require").unwrap().protection, Protection::Require);
        assert_eq!(read("?sslmode=verify-full").unwrap().protection, Protection::VerifyFull(None));
        let roots = Protection::VerifyFull(Some("/etc/ca.pem".into()));
        assert_eq!(read("?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem").unwrap().protection, roots);
        assert_eq!(read("?sslrootcert=/etc/ca.pem").unwrap().protection, roots);
        let config = read("?sslmode=require&application_name=x").unwrap().config;
        assert_eq!((config.get_ssl_mode(), config.get_application_name()), (SslMode::Require, Some("x")));
        for refused in
            ["?sslmode=verify-ca", "?sslmode=allow", "?sslcert=/x", "?sslmode=require&sslrootcert=/x"]
        {
            let error = read(refused).unwrap_err();
            assert!(matches!(error, AddressError::Unsupported { .. }), "{error:?}");
            assert!(error.to_string().contains("hint: "), "{error}");
        }
    }

    #[test]
    fn what_is_left_out_is_named_and_no_password_is_repeated() {
        for (text, part) in [
            ("postgres://:pw@host/db", "user"),
            ("postgres://me:pw@host", "database"),
            ("postgres://me:pw@host:x/db", "cannot be read"),
            ("postgres://me:pw@host/db?nonsense=1", "cannot be read"),
            ("host=db user=me password=pw dbname=x", "cannot be read"),
        ] {
            let error = Address::read(text, None).unwrap_err().to_string();
            assert!(
                error.contains(part) && error.contains("hint: ") && !error.contains("pw@"),
                "{text}: {error}"
            );
        }
    }
}
