//! Which addresses HTTP tasks may reach.
//!
//! A task's address may come from its parameters, and so from people who may start workflows but not log in to a
//! worker. So calls go only where everybody could go, unless the worker's settings say otherwise: not to the worker
//! itself, to its network, or to the service from which a cloud machine gets its credentials.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Where calls may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Only to public addresses.
    #[default]
    Public,
    /// Everywhere.
    Everywhere,
}

/// An address that may not be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{host} is not a public address; the worker's settings allow only those")]
pub struct NotPublic {
    host: String,
}

impl Reach {
    /// Checks an address that is written as a number; a name is checked when it is resolved.
    pub fn check_url(self, url: &Url) -> Result<(), NotPublic> {
        // The parser has already turned decimal, octal and hexadecimal spellings into addresses.
        let host = url.host_str().unwrap_or_default();
        match host.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(address) if !self.allows(address) => Err(NotPublic { host: host.to_owned() }),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn allows(self, address: IpAddr) -> bool {
        match self {
            Reach::Public => is_public(address),
            Reach::Everywhere => true,
        }
    }
}

/// Names are resolved once for each connection, and the connection goes to what was checked.
impl Resolve for Reach {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = *self;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            // One that is not public is enough: a name that has both is an attempt to be lucky.
            if found.iter().any(|address| !reach.allows(address.ip())) {
                return Err(NotPublic { host }.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        // This network, shared between a provider and its customers, protocol assignments, measurements, future use.
        (0, ..) | (100, 64..=127, _) | (192, 0, 0) | (198, 18..=19, _) | (240.., ..)
    );
    !(special
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match segments {
        // IPv4 in other clothes: mapped, compatible (which has unspecified and loopback), translated, 6to4.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(embedded(high, low))
        }
        [0x2002, high, low, ..] => is_public_v4(embedded(high, low)),
        // Only what is assigned to the public; of that not documentation, nor tunnels that hide an address.
        [0x2001, 0xdb8 | 0, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        for address in ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1"] {
            assert!(is_public(address.parse().expect("an address")), "{address}");
        }
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "::1",
            "::",
            "::7f00:1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "100::1",
        ] {
            assert!(!is_public(address.parse().expect("an address")), "{address}");
        }
    }

    #[test]
    fn every_spelling_of_an_address_is_checked() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
            "http://169.254.169.254/latest",
            "https://user@10.0.0.1:8443/x",
        ] {
            let url = Url::parse(url).expect("a URL");
            assert!(Reach::Public.check_url(&url).is_err(), "{url}");
            assert!(Reach::Everywhere.check_url(&url).is_ok(), "{url}");
        }
        assert!(Reach::Public.check_url(&Url::parse("http://example.com/").expect("a URL")).is_ok());
    }
}
