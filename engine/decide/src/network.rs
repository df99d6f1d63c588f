//! The network of a program whose only way out is a proxy of the host \[3\].

use agent_diagnostic::Problems;
use agent_model::{Origin, UrlError, is_public};
use core::net::IpAddr;
use std::collections::BTreeSet;

/// A host with a port: what a proxy is asked to connect to, and what an operator allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority(Origin);

/// The reason why a text is not an authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorityError {
    /// It does not end in a port from 1 to 65535.
    Port,
    /// Its host is invalid, or more than a host is before the port.
    Host(UrlError),
}

/// A reason to deny a connection of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkDenial {
    /// The wanted authority is invalid.
    Invalid(AuthorityError),
    /// An entry of the operator is invalid.
    InvalidEntry {
        /// The entry.
        entry: String,
        /// The reason.
        error: AuthorityError,
    },
    /// The operator does not allow the authority.
    NotAllowed {
        /// The wanted authority.
        wanted: Authority,
        /// The allowed ones.
        allowed: Vec<Authority>,
    },
    /// The host has no address.
    NoAddress(Authority),
    /// The host leads to an address that is not public and has no entry with this port.
    NonPublic {
        /// The wanted authority.
        wanted: Authority,
        /// The address.
        address: IpAddr,
    },
}

impl Authority {
    /// Parses `host:port`. Hosts are compared as URLs compare them: in lower case, without a trailing
    /// dot, addresses in one form.
    ///
    /// # Errors
    /// The text is not of this form.
    pub fn parse(text: &str) -> Result<Self, AuthorityError> {
        let port = text.rsplit_once(':').map_or("", |(_, port)| port);
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || !port.parse::<u16>().is_ok_and(|port| port != 0) {
            return Err(AuthorityError::Port);
        }
        // The scheme is the same for all, so that origins are equal when hosts and ports are.
        let origin = Origin::new(&format!("https://{text}"));
        origin.map(Self).map_err(AuthorityError::Host)
    }

    /// Returns the host: a name in lower case, or an address, IPv6 in brackets.
    pub fn host(&self) -> &str {
        self.0.host()
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.0.port()
    }

    fn is_at(&self, address: IpAddr, port: u16) -> bool {
        let own = self.0.address().map(|own| own.to_canonical());
        own == Some(address.to_canonical()) && self.port() == port
    }
}

impl core::fmt::Display for Authority {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}:{}", self.host(), self.port())
    }
}

/// Decides whether a program may connect to an authority, before its host is resolved.
///
/// # Errors
/// The first reason against it.
pub fn admit_authority(allowed: &[String], wanted: &str) -> Result<Authority, NetworkDenial> {
    let allowed = entries(allowed)?;
    admitted(allowed, wanted).map(|(wanted, _)| wanted)
}

/// Decides which of the addresses of an authority's host a program may connect to: all, or none. A public
/// address is allowed; another one needs an entry with itself and the port.
///
/// # Errors
/// Every reason against the connection. One denied address suffices, as for a run's own requests.
pub fn authorize_authority(
    allowed: &[String],
    wanted: &str,
    addresses: &[IpAddr],
) -> Result<Vec<IpAddr>, Vec<NetworkDenial>> {
    let admitted = entries(allowed).and_then(|allowed| admitted(allowed, wanted));
    let (wanted, allowed) = admitted.map_err(|denial| vec![denial])?;
    if addresses.is_empty() {
        return Err(vec![NetworkDenial::NoAddress(wanted)]);
    }
    let may_connect = |address: IpAddr| {
        let mut entries = allowed.iter();
        is_public(address) || entries.any(|entry| entry.is_at(address, wanted.port()))
    };
    let mut seen = BTreeSet::new();
    let denied = addresses.iter().copied();
    let denied = denied.filter(|address| !may_connect(*address) && seen.insert(*address));
    let denials: Vec<_> = denied
        .take(Problems::LIMIT)
        .map(|address| NetworkDenial::NonPublic {
            wanted: wanted.clone(),
            address,
        })
        .collect();
    if denials.is_empty() {
        Ok(addresses.to_vec())
    } else {
        Err(denials)
    }
}

fn entries(allowed: &[String]) -> Result<Vec<Authority>, NetworkDenial> {
    let parse = |entry: &String| {
        Authority::parse(entry).map_err(|error| NetworkDenial::InvalidEntry {
            entry: entry.clone(),
            error,
        })
    };
    allowed.iter().map(parse).collect()
}

/// Returns the wanted authority, if it is among the allowed ones, and these.
fn admitted(
    allowed: Vec<Authority>,
    wanted: &str,
) -> Result<(Authority, Vec<Authority>), NetworkDenial> {
    let wanted = Authority::parse(wanted).map_err(NetworkDenial::Invalid)?;
    if allowed.contains(&wanted) {
        Ok((wanted, allowed))
    } else {
        Err(NetworkDenial::NotAllowed { wanted, allowed })
    }
}

#[cfg(test)]
mod tests {
    use super::{Authority, AuthorityError, NetworkDenial, admit_authority, authorize_authority};
    use core::net::IpAddr;

    fn list<const N: usize>(texts: [&str; N]) -> Vec<String> {
        texts.map(str::to_owned).to_vec()
    }

    fn addresses<const N: usize>(texts: [&str; N]) -> Vec<IpAddr> {
        texts.map(|text| text.parse().unwrap()).to_vec()
    }

    #[test]
    fn an_authority_is_a_host_with_a_port_and_nothing_else() {
        for (text, shown) in [
            ("api.example.com:443", "api.example.com:443"),
            ("API.example.com.:080", "api.example.com:80"),
            ("\u{ff41}pi.example.com:1", "api.example.com:1"),
            ("2130706433:80", "127.0.0.1:80"),
            ("0x7f.1:80", "127.0.0.1:80"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            let parsed = Authority::parse(text).map(|it| it.to_string());
            assert_eq!(parsed.as_deref(), Ok(shown), "{text}");
        }
        for text in [
            "",
            "api.example.com",
            "api.example.com:",
            "api.example.com:0",
            "api.example.com:65536",
            "api.example.com:+1",
            "api.example.com:443/",
            "::1",
        ] {
            let refused = Authority::parse(text);
            // The last group of a bare IPv6 address looks like a port, and the rest is not a host.
            assert!(refused.is_err(), "{text}");
        }
        for text in [
            ":443",
            "user@api.example.com:443",
            "a.example/@b.example:443",
            "a.example?:443",
            "a.example#:443",
            "a.example\\:443",
            "a b:443",
        ] {
            let refused = Authority::parse(text);
            assert!(matches!(refused, Err(AuthorityError::Host(_))), "{text}");
        }
    }

    #[test]
    fn only_listed_hosts_with_their_ports_are_admitted() {
        let allowed = list(["api.example.com:443", "127.0.0.1:80"]);
        for wanted in ["api.example.com:443", "API.EXAMPLE.COM.:443", "127.1:80"] {
            assert!(admit_authority(&allowed, wanted).is_ok(), "{wanted}");
        }
        for wanted in [
            "api.example.com:80",
            "example.com:443",
            "x.api.example.com:443",
            "127.0.0.1:443",
            "[::ffff:127.0.0.1]:80",
        ] {
            let denial = admit_authority(&allowed, wanted).unwrap_err();
            assert!(
                matches!(denial, NetworkDenial::NotAllowed { .. }),
                "{wanted}"
            );
        }
        let denial = admit_authority(&list(["x"]), "api.example.com:443").unwrap_err();
        assert!(matches!(denial, NetworkDenial::InvalidEntry { .. }));
    }

    #[test]
    fn an_address_that_is_not_public_needs_an_entry_of_its_own() {
        let allowed = list(["api.example.com:443", "10.0.0.1:443", "10.0.0.2:80"]);
        let decide = |texts: &[IpAddr]| authorize_authority(&allowed, "api.example.com:443", texts);
        let public = addresses(["8.8.8.8", "2606:4700::1"]);
        assert_eq!(decide(&public), Ok(public.clone()));
        let listed = addresses(["8.8.8.8", "10.0.0.1", "::ffff:10.0.0.1"]);
        assert_eq!(decide(&listed), Ok(listed.clone()));
        // One that is listed with another port, loopback, metadata of clouds, one of several.
        for address in ["10.0.0.2", "127.0.0.1", "169.254.169.254", "fe80::1", "::1"] {
            let denials = decide(&addresses(["8.8.8.8", address, address])).unwrap_err();
            assert_eq!(denials.len(), 1, "{address}");
            assert!(matches!(denials[0], NetworkDenial::NonPublic { .. }));
        }
        let none = decide(&[]).unwrap_err();
        assert!(matches!(none[..], [NetworkDenial::NoAddress(_)]));
        // Addresses are decided on for admitted hosts only.
        let other = authorize_authority(&allowed, "example.com:443", &public).unwrap_err();
        assert!(matches!(other[..], [NetworkDenial::NotAllowed { .. }]));
    }
}
