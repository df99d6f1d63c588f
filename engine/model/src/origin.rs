//! Origins of destinations: scheme, host and port \[3\].
//!
//! URLs are parsed by the WHATWG standard, which has many notations for one host. Comparisons use
//! the parsed form, which a connection would use.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::fmt;
use url::{Host, Url};

/// The scheme, host and port of an HTTP URL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    scheme: &'static str,
    /// In lower case, IPv6 in brackets, without a trailing dot.
    host: String,
    address: Option<IpAddr>,
    port: u16,
}

/// The reason why a text is not the URL of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlError {
    /// It is not an absolute URL, or its host or port is invalid.
    Syntax,
    /// Its scheme is neither `http` nor `https`.
    Scheme,
    /// It contains a user name or a password.
    UserInfo,
    /// It contains a path, a query or a fragment, but only an origin is allowed.
    Path,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "it is not an absolute URL with a host",
            Self::Scheme => "its scheme is neither `http` nor `https`",
            Self::UserInfo => "it contains a user name or a password",
            Self::Path => "it contains more than a scheme, a host and a port",
        })
    }
}

impl Origin {
    /// Returns the origin of a URL.
    ///
    /// # Errors
    /// The text is not a URL, or has user info or another scheme.
    pub fn of(url: &str) -> Result<Self, UrlError> {
        Self::parse(url).map(|(origin, _)| origin)
    }

    /// Parses an origin: a URL without a path, or with the path `/`.
    ///
    /// # Errors
    /// The text is not such a URL.
    pub fn new(url: &str) -> Result<Self, UrlError> {
        let (origin, parsed) = Self::parse(url)?;
        let bare = parsed.path() == "/" && parsed.query().is_none() && parsed.fragment().is_none();
        if bare {
            Ok(origin)
        } else {
            Err(UrlError::Path)
        }
    }

    fn parse(text: &str) -> Result<(Self, Url), UrlError> {
        let url = Url::parse(text).map_err(|_| UrlError::Syntax)?;
        let scheme = match url.scheme() {
            "http" => "http",
            "https" => "https",
            _ => return Err(UrlError::Scheme),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::UserInfo);
        }
        let (host, address) = match url.host().ok_or(UrlError::Syntax)? {
            Host::Domain(name) => (name.strip_suffix('.').unwrap_or(name).to_owned(), None),
            Host::Ipv4(address) => (address.to_string(), Some(IpAddr::V4(address))),
            Host::Ipv6(address) => (format!("[{address}]"), Some(IpAddr::V6(address))),
        };
        let port = url.port_or_known_default().ok_or(UrlError::Syntax)?;
        if host.is_empty() {
            return Err(UrlError::Syntax);
        }
        let origin = Self {
            scheme,
            host,
            address,
            port,
        };
        Ok((origin, url))
    }

    /// Returns the origin of a URL, and the path with the query that a request for it names.
    ///
    /// # Errors
    /// As [`Origin::of`].
    pub fn with_target(url: &str) -> Result<(Self, String), UrlError> {
        let (origin, url) = Self::parse(url)?;
        let query = url.query().map(|query| format!("?{query}"));
        let target = format!("{}{}", url.path(), query.unwrap_or_default());
        Ok((origin, target))
    }

    /// Returns whether connections use TLS.
    pub fn is_secure(&self) -> bool {
        self.scheme == "https"
    }

    /// Returns the host: a name in lower case, or an address, IPv6 in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address, if the host is an address.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        match (self.scheme, self.port) {
            ("http", 80) | ("https", 443) => Ok(()),
            (_, port) => write!(f, ":{port}"),
        }
    }
}

/// Returns whether an address belongs to the public internet. Loopback, private, link-local (such as
/// those of cloud metadata), shared, multicast, documentation and reserved addresses do not. An IPv6
/// address with an embedded IPv4 address counts as the latter.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The ranges of the IANA IPv4 special-purpose registry that are not globally reachable, and
/// multicast: each with its first address and prefix length.
const SPECIAL_V4: [([u8; 4], u32); 15] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Addresses in public ranges at which clouds give their machines credentials: Azure's WireServer (Microsoft Learn, "What is
/// IP address 168.63.129.16?"). Those of other clouds are in the ranges above: 169.254.0.0/16, 100.100.100.200 of Alibaba,
/// 192.0.0.192 of Oracle, and the unique local fd00:ec2::254, fd20:ce::254 and fd00:42::42.
const OF_CLOUDS: [Ipv4Addr; 1] = [Ipv4Addr::new(168, 63, 129, 16)];

fn is_public_v4(address: Ipv4Addr) -> bool {
    if OF_CLOUDS.contains(&address) {
        return false;
    }
    let bits = u32::from(address);
    !SPECIAL_V4
        .iter()
        .any(|(first, len)| (bits ^ u32::from(Ipv4Addr::from(*first))) >> (32 - len) == 0)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    if let Some(embedded) = embedded_v4(segments) {
        return is_public_v4(embedded);
    }
    // 2000::/3 contains all assigned global unicast addresses. In it, 2001::/23 are protocols such as
    // Teredo, and 2001:db8::/32 and 3fff::/20 are documentation.
    segments[0] & 0xe000 == 0x2000
        && !(segments[0] == 0x2001 && (segments[1] < 0x0200 || segments[1] == 0x0db8))
        && !(segments[0] == 0x3fff && segments[1] < 0x1000)
}

/// Returns the IPv4 address embedded in an IPv6 one: mapped (`::ffff:0:0/96`), translated
/// (`64:ff9b::/96`), or of 6to4 (`2002::/16`).
fn embedded_v4(segments: [u16; 8]) -> Option<Ipv4Addr> {
    let [high, low] = match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => [high, low],
        [0x2002, high, low, ..] => [high, low],
        _ => return None,
    };
    Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)))
}

#[cfg(test)]
mod tests {
    use super::{Origin, UrlError, is_public};

    #[test]
    fn one_origin_in_every_disguise() {
        for text in [
            "https://api.example.com",
            "https://api.example.com/",
            "HTTPS://API.Example.COM:443",
            "https://api.example.com.",
            "https://api%2Eexample.com",
            "https://\u{ff41}pi.example.com",
            "https:\\\\api.example.com",
        ] {
            let origin = Origin::new(text).map(|origin| origin.to_string());
            assert_eq!(origin.as_deref(), Ok("https://api.example.com"), "{text}");
        }
        for text in [
            "http://127.1",
            "http://0x7f.0.0.1",
            "http://2130706433",
            "http://0177.0.0.1:80",
        ] {
            let origin = Origin::new(text).map(|origin| origin.to_string());
            assert_eq!(origin.as_deref(), Ok("http://127.0.0.1"), "{text}");
        }
        assert_ne!(
            Origin::of("https://api.example.com:8443"),
            Origin::of("https://api.example.com")
        );
    }

    #[test]
    fn what_is_no_origin() {
        for (text, error) in [
            ("api.example.com", UrlError::Syntax),
            ("https://", UrlError::Syntax),
            ("https://a.example:99999", UrlError::Syntax),
            ("https://a b.example", UrlError::Syntax),
            ("https://./", UrlError::Syntax),
            ("ftp://a.example", UrlError::Scheme),
            ("file:///etc/passwd", UrlError::Scheme),
            ("https://me@a.example", UrlError::UserInfo),
            ("https://:secret@a.example", UrlError::UserInfo),
            ("https://a.example/path", UrlError::Path),
            ("https://a.example?q", UrlError::Path),
            ("https://a.example#f", UrlError::Path),
        ] {
            assert_eq!(Origin::new(text), Err(error), "{text}");
        }
        assert!(Origin::of("https://a.example/path?q#f").is_ok());
    }

    #[test]
    fn addresses_of_the_public_internet() {
        for (address, public) in [
            ("93.184.215.14", true),
            ("9.255.255.255", true),
            ("11.0.0.0", true),
            ("172.15.255.255", true),
            ("172.32.0.0", true),
            ("100.63.255.255", true),
            ("100.128.0.0", true),
            ("223.255.255.255", true),
            ("2606:4700::1", true),
            ("::ffff:93.184.215.14", true),
            ("64:ff9b::5db8:d70e", true),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("100.64.0.1", false),
            ("127.0.0.1", false),
            ("169.254.169.254", false),
            ("169.254.170.2", false),
            ("169.254.42.42", false),
            ("168.63.129.16", false),
            ("168.63.129.17", true),
            ("::ffff:168.63.129.16", false),
            ("100.100.100.200", false),
            ("192.0.0.192", false),
            ("fd00:ec2::254", false),
            ("fd20:ce::254", false),
            ("fd00:42::42", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.168.0.1", false),
            ("198.19.255.255", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("2002:7f00:1::", false),
            ("fe80::1", false),
            ("fd00:ec2::254", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
            ("2001::1", false),
            ("3fff::1", false),
        ] {
            let parsed = address.parse().expect("an address");
            assert_eq!(is_public(parsed), public, "{address}");
        }
    }
}
