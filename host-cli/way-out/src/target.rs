//! The server of an exchange.

use crate::error::{Error, ErrorKind};
use std::net::{IpAddr, SocketAddr};

/// The scheme of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// With TLS.
    Https,
}

impl Scheme {
    /// Returns the port of a URL that names none.
    #[must_use]
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// The server of an exchange: its name, and the one address to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    scheme: Scheme,
    host: Host,
    address: SocketAddr,
}

/// The host of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Address(IpAddr),
}

/// Maximum number of bytes of a host name, by RFC 1035.
const NAME_BYTES: usize = 253;
/// Maximum number of bytes of a label of a host name, by RFC 1035.
const LABEL_BYTES: usize = 63;

impl Host {
    /// Reads a host as a URL parser of the WHATWG standard writes it: a name in lower case and ASCII,
    /// an IPv4 address of four decimal numbers, or an IPv6 address, with or without brackets.
    ///
    /// A name whose last label is a number is refused: it is an address in a notation that some
    /// resolvers understand and others don't.
    pub(crate) fn parse(host: &str) -> Result<Self, &'static str> {
        let bare = host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        match (bare, host.parse()) {
            (Some(bare), _) => {
                let address = bare.parse().map(IpAddr::V6);
                return address
                    .map(Self::Address)
                    .map_err(|_| "it is no IPv6 address");
            }
            (None, Ok(address)) => return Ok(Self::Address(address)),
            (None, Err(_)) => {}
        }
        if host.is_empty() {
            return Err("it is empty");
        }
        if host.len() > NAME_BYTES {
            return Err("it is longer than 253 bytes");
        }
        let allowed = |b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        for label in host.split('.') {
            if label.is_empty() {
                return Err("it has an empty label");
            }
            if label.len() > LABEL_BYTES {
                return Err("it has a label of more than 63 bytes");
            }
            if !label.bytes().all(allowed) {
                return Err("it holds a character other than a-z, 0-9, `-`, `_` and `.`");
            }
        }
        let last = host.rsplit('.').next().unwrap_or_default();
        let hexadecimal = last
            .strip_prefix("0x")
            .is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        if hexadecimal || last.bytes().all(|b| b.is_ascii_digit()) {
            return Err("it ends in a number and is no usual IPv4 address");
        }
        Ok(Self::Name(host.to_owned()))
    }
}

impl Target {
    /// Returns a target. The port of the URL is that of `address`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`] when `host` is neither a name nor an address as a URL parser
    /// writes them, or is another address than `address`.
    pub fn new(scheme: Scheme, host: &str, address: SocketAddr) -> Result<Self, Error> {
        let invalid = |why| Error::caused(ErrorKind::InvalidRequest, "not a host", &why);
        let host = Host::parse(host).map_err(invalid)?;
        if let Host::Address(named) = host
            && named != address.ip()
        {
            return Err(invalid("it is another address than the checked one"));
        }
        if address.port() == 0 {
            return Err(Error::new(ErrorKind::InvalidRequest, "the port is 0"));
        }
        Ok(Self {
            scheme,
            host,
            address,
        })
    }

    /// Returns the scheme.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the address to connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the value of the `Host` header.
    pub(crate) fn authority(&self) -> String {
        let host = match &self.host {
            Host::Name(name) => name.clone(),
            Host::Address(IpAddr::V4(address)) => address.to_string(),
            Host::Address(IpAddr::V6(address)) => format!("[{address}]"),
        };
        match self.address.port() {
            port if port == self.scheme.default_port() => host,
            port => format!("{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, Scheme, Target};
    use crate::ErrorKind;

    #[test]
    fn only_hosts_that_a_url_parser_writes_are_accepted() {
        for host in [
            "example.com",
            "localhost",
            "a-b.c_d.e1",
            "xn--bcher-kva.example",
            "1.example",
        ] {
            assert_eq!(Host::parse(host), Ok(Host::Name(host.to_owned())));
        }
        for address in ["127.0.0.1", "::1", "[::1]", "[::ffff:7f00:1]"] {
            assert!(
                matches!(Host::parse(address), Ok(Host::Address(_))),
                "{address}"
            );
        }
        let refused = [
            "",
            ".",
            "example.com.",
            "a..b",
            "EXAMPLE.com",
            "bücher.example",
            "１27.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.0x1",
            "0177.0.0.1",
            "127.0.0.1.",
            "0x",
            "[127.0.0.1]",
            "[::1",
            "fe80::1%eth0",
            "user@host",
            "host:80",
            "a b",
            "a/b",
            "a\0b",
        ];
        for host in refused {
            assert!(Host::parse(host).is_err(), "{host}");
        }
        assert!(Host::parse(&"a.".repeat(127)[..253]).is_ok());
        assert!(Host::parse(&"aa".repeat(127)).is_err());
        assert!(Host::parse(&"a".repeat(64)).is_err());
    }

    #[test]
    fn a_target_connects_to_the_named_address_only() {
        let address = "203.0.113.7:8443".parse().unwrap();
        let target = |host| Target::new(Scheme::Https, host, address);
        assert_eq!(
            target("example.com").unwrap().authority(),
            "example.com:8443"
        );
        assert_eq!(
            target("203.0.113.7").unwrap().authority(),
            "203.0.113.7:8443"
        );
        let error = target("127.0.0.1").unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidRequest);

        let v6 = Target::new(Scheme::Http, "[::1]", "[::1]:80".parse().unwrap());
        assert_eq!(v6.unwrap().authority(), "[::1]");
        let zero = Target::new(Scheme::Http, "localhost", "127.0.0.1:0".parse().unwrap());
        assert!(zero.is_err());
    }
}
