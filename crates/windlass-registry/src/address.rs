//! Where a registry is.

/// One or several servers, and under which path this cluster stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Each as `host:port`.
    pub servers: Vec<String>,
    /// Begins with a slash, and does not end with one.
    pub path: String,
}

/// A text that is no address of a registry.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadAddress(String);

/// Where a cluster stands unless its address says more.
const PATH: &str = "/windlass";

impl Address {
    /// Reads what comes after `scheme://`: `host:port,host:port/path`.
    pub fn read(rest: &str, default_port: u16) -> Result<Address, BadAddress> {
        let (servers, path) = rest.split_once('/').unwrap_or((rest, ""));
        if servers.contains('@') {
            return Err(BadAddress("names and passwords are not taken".into()));
        }
        let servers: Vec<_> =
            servers.split(',').map(|server| with_port(server, default_port)).collect::<Result<_, _>>()?;
        let path = path.trim_end_matches('/');
        let fits = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
                && part != "."
                && part != ".."
        };
        match path {
            "" => Ok(Address { servers, path: PATH.into() }),
            path if path.split('/').all(fits) => Ok(Address { servers, path: format!("/{path}") }),
            path => Err(BadAddress(format!("`/{path}` is no path of letters, digits, `.`, `_` and `-`"))),
        }
    }
}

fn with_port(server: &str, default: u16) -> Result<String, BadAddress> {
    let bad = || BadAddress(format!("`{server}` is no `host:port`"));
    // An address of IPv6 has colons of its own, and brackets around it.
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (server, None),
    };
    let whole = !host.is_empty() && (host.starts_with('[') && host.ends_with(']') || !host.contains(':'));
    let port = match port {
        Some(port) => port.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(bad)?,
        None => default,
    };
    if whole && host.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(format!("{host}:{port}"))
    } else {
        Err(bad())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_servers_and_perhaps_a_path() {
        for (text, servers, path) in [
            ("localhost", &["localhost:2379"][..], "/windlass"),
            ("a:1,b:2/prod/eu", &["a:1", "b:2"], "/prod/eu"),
            ("[::1]:2379/", &["[::1]:2379"], "/windlass"),
            ("[::1]", &["[::1]:2379"], "/windlass"),
        ] {
            let read = Address::read(text, 2379).expect("an address");
            assert_eq!(
                (read.servers.iter().map(String::as_str).collect::<Vec<_>>(), read.path.as_str()),
                (servers.to_vec(), path)
            );
        }
        for text in ["", ":1", "a:x", "a:0", "a,,b", "::1", "me:secret@a", "a/../b", "a/b c", "a//b"] {
            assert!(Address::read(text, 2379).is_err(), "{text}");
        }
    }
}
