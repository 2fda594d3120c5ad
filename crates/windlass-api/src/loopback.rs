//! Without login only programs of this machine may call, and no web page of another origin may have a browser do it.
//!
//! A page of the internet can send requests to `127.0.0.1`, and a name of its own can lead there (DNS rebinding). The
//! first names its origin, the second its own host: both are seen here.

use std::net::IpAddr;

use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use windlass_rest::ProblemCode;

use crate::refusal::Refusal;

/// Refuses what does not come from this machine's own programs and pages. `opens_page` says that it asks for a page that
/// shows nothing by itself, which a link of another page may lead to.
pub fn check(parts: &Parts, opens_page: bool) -> Result<(), Refusal> {
    let foreign = |detail: String| Refusal::new(ProblemCode::ForeignOrigin, detail);
    // HTTP/2 has the authority in its address, HTTP/1.1 in a header.
    let mut hosts = parts.headers.get_all(HOST).iter().map(HeaderValue::to_str);
    let host = match (parts.uri.authority(), hosts.next(), hosts.next()) {
        (_, _, Some(_)) => return Err(foreign("the request names several hosts".into())),
        (Some(authority), _, _) => authority.as_str(),
        (None, Some(Ok(host)), None) => host,
        (None, Some(Err(_)) | None, None) => return Err(foreign("the request names no host".into())),
    };
    if !is_loopback(host) {
        let detail = format!("without login this server answers to loopback names only, not to `{host}`");
        return Err(foreign(detail).hint("use http://127.0.0.1 or http://localhost, or switch on login"));
    }
    if let Some(origin) = parts.headers.get(ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let of_host = origin.split_once("://").is_some_and(|(_, of)| of.eq_ignore_ascii_case(host));
        if !of_host {
            return Err(foreign(format!("a page of `{origin}` may not call this server")));
        }
    }
    let says = |name: &str, word: &str| parts.headers.get(name).is_some_and(|value| value == word);
    let is_visit = opens_page && says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document");
    match parts.headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default()) {
        None | Some("same-origin" | "none") => Ok(()),
        // Somebody followed a link to a page: nothing is done by that, and who linked sees nothing of it.
        Some(_) if is_visit => Ok(()),
        Some(site) => Err(foreign(format!("a {site} page may not call this server"))),
    }
}

/// Whether a host, with or without its port, is this machine.
fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, "")) => (address, None),
            Some((address, port)) => (address, port.strip_prefix(':')),
            None => return false,
        },
        None => match host.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (host, None),
        },
    };
    if host.starts_with('[') && port.is_none() && !host.ends_with(']') {
        return false;
    }
    let right_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    let address = name.parse::<IpAddr>();
    right_port
        && (name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&str, &str)]) -> Result<(), String> {
        asked_for(headers, false)
    }

    fn asked_for(headers: &[(&str, &str)], opens_page: bool) -> Result<(), String> {
        let mut request = hyper::Request::get("/api/v1/runs");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        check(&parts, opens_page).map_err(|refusal| refusal.code().to_owned())
    }

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:8000"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com",
            "127.0.0.1.example.com",
            "10.0.0.1:8000",
            "0.0.0.0",
            "[::1",
            "[::1]x",
            "[::2]:80",
            "localhost:80:80",
            "localhost:x",
            "127.0.0.1@example.com",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn a_link_of_another_page_may_lead_to_the_ui() {
        let visit = [
            ("host", "localhost:8000"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(asked_for(&visit, true), Ok(()));
        assert_eq!(asked_for(&visit, false), Err("foreign_origin".into()), "only to pages");
        for (place, other) in
            [(0, "rebound.example.com"), (2, "cors"), (2, "no-cors"), (3, "iframe"), (3, "script")]
        {
            let mut changed = visit;
            changed[place].1 = other;
            assert_eq!(asked_for(&changed, true), Err("foreign_origin".into()), "{changed:?}");
        }
    }

    #[test]
    fn a_page_of_another_origin_is_refused() {
        let host = ("host", "localhost:8000");
        assert_eq!(asked(&[host]), Ok(()));
        assert_eq!(asked(&[host, ("origin", "http://localhost:8000")]), Ok(()));
        assert_eq!(asked(&[host, ("sec-fetch-site", "same-origin")]), Ok(()));
        for foreign in [
            ("origin", "http://example.com"),
            ("origin", "http://localhost:3000"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("host", "localhost:8000"),
        ] {
            assert_eq!(asked(&[host, foreign]), Err("foreign_origin".into()), "{foreign:?}");
        }
        assert_eq!(asked(&[]), Err("foreign_origin".into()));
        assert_eq!(asked(&[("host", "rebound.example.com")]), Err("foreign_origin".into()));
    }
}
