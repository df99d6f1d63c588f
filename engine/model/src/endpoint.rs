//! Endpoints of servers \[0\]: URLs that are connected to, and package URLs of servers that are started
//! locally.

use std::borrow::Cow;
use std::fmt;

/// The reason why a text is not an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointError {
    /// Its scheme is none of `http`, `https` and `pkg`.
    Scheme,
    /// It contains this character.
    Character(char),
    /// It contains a user name or a password.
    UserInfo,
    /// It has no valid host.
    Host,
    /// Its port is not a number of 16 bits.
    Port,
    /// It is a package URL without type or name.
    Package,
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "it is not an `http`, `https` or package URL",
            Self::Character(c) if c.is_whitespace() => "it contains white space",
            Self::Character(c) => return write!(f, "it contains `{c}`"),
            Self::UserInfo => "it contains a user name or a password",
            Self::Host => "it has no valid host",
            Self::Port => "its port is not a number up to 65535",
            Self::Package => "it is a package URL without type or name",
        })
    }
}

/// Checks the parts of an endpoint that name what is connected to or started. Where a connection is
/// decided, [`Origin`](super::Origin) parses all of it.
///
/// # Errors
/// The first fault.
pub fn check_endpoint(text: &str) -> Result<(), EndpointError> {
    if is_usual(text) {
        return Ok(());
    }
    let odd = |c: char| c.is_whitespace() || c == '\\';
    let (scheme, rest) = text.split_once(':').ok_or(EndpointError::Scheme)?;
    if scheme.eq_ignore_ascii_case("pkg") {
        let named = rest.trim_start_matches('/').split_once('/');
        let is_named = named.is_some_and(|(kind, name)| !kind.is_empty() && !name.is_empty());
        return match text.chars().find(|c| odd(*c)) {
            Some(c) => Err(EndpointError::Character(c)),
            None if is_named => Ok(()),
            None => Err(EndpointError::Package),
        };
    }
    if !["http", "https"]
        .iter()
        .any(|it| scheme.eq_ignore_ascii_case(it))
    {
        return Err(EndpointError::Scheme);
    }
    // User info is reported first: the endpoint contains a secret.
    if user_info(text).is_some() {
        return Err(EndpointError::UserInfo);
    }
    if let Some(c) = text.chars().find(|c| odd(*c)) {
        return Err(EndpointError::Character(c));
    }
    let authority = rest.strip_prefix("//").ok_or(EndpointError::Host)?;
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']').ok_or(EndpointError::Host)?;
            let is_address = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.');
            if !address.contains(':') || !address.chars().all(is_address) {
                return Err(EndpointError::Host);
            }
            (address, port)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            let (host, port) = authority.split_at(end);
            if host.contains(is_no_host) {
                return Err(EndpointError::Host);
            }
            (host, port)
        }
    };
    if host.is_empty() {
        return Err(EndpointError::Host);
    }
    match port.strip_prefix(':') {
        Some(port) if !is_port(port) => Err(EndpointError::Port),
        None if !port.is_empty() => Err(EndpointError::Host),
        _ => Ok(()),
    }
}

/// Returns whether a text is an endpoint as most are: `http` or `https`, a name, and ASCII without blank,
/// `\\` and `@`. An index has one for each server, so this is quick.
fn is_usual(text: &str) -> bool {
    let rest = text.strip_prefix("https://");
    let Some(rest) = rest.or_else(|| text.strip_prefix("http://")) else {
        return false;
    };
    // There is no early exit, so that the loop handles many bytes at a time.
    let odd = rest.bytes().fold(false, |odd, b| {
        odd | !(0x21..0x7f).contains(&b) | (b == b'\\') | (b == b'@')
    });
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-');
    let name = rest.bytes().take_while(is_name).count();
    !odd && name > 0 && matches!(rest.as_bytes().get(name), None | Some(b'/' | b'?' | b'#'))
}

/// Returns whether a character can't stand in a host: those that the URL standard forbids, and those
/// of placeholders.
fn is_no_host(c: char) -> bool {
    matches!(
        c,
        '<' | '>' | '[' | ']' | '^' | '|' | '%' | '"' | '`' | '{' | '}' | '$'
    )
}

fn is_port(port: &str) -> bool {
    port.is_empty() || port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

/// Returns the bytes of the user info of a URL, without the `@`.
pub fn user_info(url: &str) -> Option<std::ops::Range<usize>> {
    let (scheme, rest) = url.split_once(':')?;
    // Browsers accept any number of slashes in either direction.
    let behind = rest.trim_start_matches(['/', '\\', '\t', '\n', '\r']);
    let authority = behind.split(['/', '\\', '?', '#']).next().unwrap_or(behind);
    let start = url.len() - behind.len();
    // A package URL has its version after an `@`, and other names may begin with one.
    let at = authority
        .rfind('@')
        .filter(|_| !scheme.eq_ignore_ascii_case("pkg"))?;
    (at > 0 || behind.len() < rest.len()).then(|| start..start + at)
}

/// Returns a URL for messages: its user info, which is a secret, is left out.
pub fn without_user_info(url: &str) -> Cow<'_, str> {
    match user_info(url) {
        Some(range) if !range.is_empty() => {
            Cow::Owned(format!("{}…{}", &url[..range.start], &url[range.end..]))
        }
        _ => Cow::Borrowed(url),
    }
}

#[cfg(test)]
mod tests {
    use super::{EndpointError, check_endpoint, without_user_info};

    #[test]
    fn endpoints_are_urls_and_packages() {
        for good in [
            "https://mcp.example/reports",
            "HTTP://localhost:8080",
            "https://mcp.example:443?a=b@c#d@e",
            "https://[::1]:8080/mcp",
            "https://bücher.example/",
            "pkg:npm/%40acme/reports@1.2.0",
            "pkg:generic/acme@1?checksum=sha256:00&download_url=https://a.example/a",
        ] {
            assert_eq!(check_endpoint(good), Ok(()), "{good}");
        }
        for (bad, error) in [
            ("", EndpointError::Scheme),
            ("e", EndpointError::Scheme),
            ("mcp.example/reports", EndpointError::Scheme),
            ("localhost:8080", EndpointError::Scheme),
            ("stdio:reports", EndpointError::Scheme),
            ("javascript:alert(1)", EndpointError::Scheme),
            ("file:///etc/passwd", EndpointError::Scheme),
            ("https:mcp.example", EndpointError::Host),
            ("https:///mcp.example", EndpointError::Host),
            ("https://", EndpointError::Host),
            ("https://${HOST}/mcp", EndpointError::Host),
            ("https://<host>/mcp", EndpointError::Host),
            ("https://[::1/mcp", EndpointError::Host),
            ("https://[zz]/mcp", EndpointError::Host),
            ("https://a.example:80 80/", EndpointError::Character(' ')),
            (
                "https://a.example\\@b.example/",
                EndpointError::Character('\\'),
            ),
            ("https://a.example:http/", EndpointError::Port),
            ("https://a.example:65536/", EndpointError::Port),
            ("https://ada:pw@a.example/", EndpointError::UserInfo),
            ("https://ada@a.example/", EndpointError::UserInfo),
            ("https://@a.example/", EndpointError::UserInfo),
            ("https://a b:c@a.example/", EndpointError::UserInfo),
            ("https:\\\\ada:pw@a.example", EndpointError::UserInfo),
            ("pkg:", EndpointError::Package),
            ("pkg:npm", EndpointError::Package),
            ("pkg:npm/", EndpointError::Package),
            ("pkg:npm/a b", EndpointError::Character(' ')),
        ] {
            assert_eq!(check_endpoint(bad), Err(error), "{bad}");
        }
    }

    #[test]
    fn messages_leave_user_info_out() {
        let shown = without_user_info("https://ada:p@w@a.example/x@y");
        assert_eq!(shown, "https://…@a.example/x@y");
        assert_eq!(
            without_user_info("https://a.example/x@y"),
            "https://a.example/x@y"
        );
    }
}
