//! URIs of resources: which are listed and read, and which match a template \[RFC 3986 and RFC 6570\].
//!
//! A URI is compared as it is written, so nothing in it may mean another place than it says.

use super::limits::{URI_MAX_BYTES, URI_TEMPLATE_PARTS_MAX};
use agent_api::text::is_hidden;

/// Characters that no URI has, beside blanks, controls and invisible ones.
const FORBIDDEN: &[char] = &['"', '<', '>', '\\', '^', '`', '{', '|', '}'];

/// Where parts of a URI end, for a search of dot segments.
const BOUNDS: &[u8] = b"/\\?#&=;,:";

/// Returns what is wrong with a URI, as the predicate of a sentence.
pub(crate) fn fault(uri: &str) -> Option<&'static str> {
    if uri.len() > URI_MAX_BYTES {
        return Some("is too long");
    }
    let is_wrong = |c: char| c.is_whitespace() || is_hidden(c) || FORBIDDEN.contains(&c);
    if uri.contains(is_wrong) {
        return Some("has a character that no URI has");
    }
    let Some((_, rest)) = uri.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        return Some("has no scheme");
    };
    let Some(decoded) = decoded(rest) else {
        return Some("has a malformed percent-encoding");
    };
    if decoded.iter().any(u8::is_ascii_control) {
        return Some("has an encoded control character");
    }
    let is_encoded_again = |at: usize| {
        let digits = &decoded[at + 1..];
        digits.len() >= 2 && digits[..2].iter().all(u8::is_ascii_hexdigit)
    };
    let mut percents = decoded.iter().enumerate().filter(|(_, it)| **it == b'%');
    if percents.any(|(at, _)| is_encoded_again(at)) {
        return Some("is percent-encoded twice");
    }
    if let Some(behind) = rest.strip_prefix("//") {
        let end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
        let authority = behind[..end].to_ascii_lowercase();
        if authority.contains('@') || authority.contains("%40") {
            return Some("has user info");
        }
    }
    let mut segments = decoded.split(|byte| BOUNDS.contains(byte));
    if segments.any(|it| matches!(it, b"." | b"..")) {
        return Some("has a dot segment");
    }
    None
}

fn is_scheme(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.bytes().all(is_inner)
}

/// Returns the bytes of a text without its percent-encodings; `None` if one is malformed.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = behind;
            continue;
        }
        let digits = behind.get(..2)?;
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let value = digit(digits[0])? * 16 + digit(digits[1])?;
        bytes.push(u8::try_from(value).ok()?);
        rest = &behind[2..];
    }
    Some(bytes)
}

/// A template of URIs: level 1 of RFC 6570, with `{+name}` and `{?name,...}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UriTemplate {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// This text.
    Literal(String),
    /// `{name}`: at least one unreserved character, or `{+name}`: also reserved ones.
    Value { reserved: bool },
    /// `{?a,b}`: these parameters in this order, each of which may be absent.
    Query(Vec<String>),
}

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// What is wrong with it, as the predicate of a sentence.
    pub(crate) fn read(text: &str) -> Result<Self, &'static str> {
        let unsupported = "has an expression that this gateway does not match";
        let mut parts = Vec::new();
        // The template with each expression replaced by a value.
        let mut example = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            if parts.len() >= URI_TEMPLATE_PARTS_MAX {
                return Err("has too many expressions");
            }
            let literal = &rest[..rest.find('{').unwrap_or(rest.len())];
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
                example.push_str(literal);
                rest = &rest[literal.len()..];
                continue;
            }
            let end = rest.find('}').ok_or("has an expression without its end")?;
            let expression = &rest[1..end];
            rest = &rest[end + 1..];
            let (part, names) = match expression.split_at_checked(1) {
                Some(("?", names)) => (None, names),
                Some(("+", name)) => (Some(Part::Value { reserved: true }), name),
                _ => (Some(Part::Value { reserved: false }), expression),
            };
            let is_name = |name: &str| {
                let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
                !name.is_empty() && name.bytes().all(is_part)
            };
            match part {
                Some(part) if is_name(names) => {
                    parts.push(part);
                    example.push('x');
                }
                None if names.split(',').all(is_name) => {
                    parts.push(Part::Query(names.split(',').map(str::to_owned).collect()));
                }
                _ => return Err(unsupported),
            }
        }
        let literal = match parts.first() {
            Some(Part::Literal(literal)) => literal.split_once(':'),
            _ => None,
        };
        if literal.is_none() {
            return Err("does not begin with a scheme");
        }
        match fault(&example) {
            Some(fault) => Err(fault),
            None => Ok(Self { parts }),
        }
    }

    /// Returns whether a URI without [`fault`] is one of the template. The time is linear in the URI for each
    /// part of the template.
    pub(crate) fn matches(&self, uri: &str) -> bool {
        let bytes = uri.as_bytes();
        let lower = uri.to_ascii_lowercase();
        // A value is one segment: some servers decode it before they split it.
        if lower.contains("%2f") || lower.contains("%5c") {
            return false;
        }
        // The places in the URI that the parts so far can end at.
        let mut ends = vec![false; bytes.len() + 1];
        ends[0] = true;
        for part in &self.parts {
            let mut next = vec![false; bytes.len() + 1];
            match part {
                Part::Literal(literal) => {
                    for at in (0..ends.len()).filter(|at| ends[*at]) {
                        if bytes[at..].starts_with(literal.as_bytes()) {
                            next[at + literal.len()] = true;
                        }
                    }
                }
                Part::Value { reserved } => {
                    let mut is_inside = false;
                    for (at, byte) in bytes.iter().enumerate() {
                        is_inside = (is_inside || ends[at]) && is_of_value(*byte, *reserved);
                        next[at + 1] = is_inside;
                    }
                }
                Part::Query(names) => {
                    for at in (0..ends.len()).filter(|at| ends[*at]) {
                        next[at] = true;
                        query(names, bytes, at, &mut next);
                    }
                }
            }
            ends = next;
        }
        ends[bytes.len()]
    }
}

/// Marks the ends of the parameters of a query that begins at a place.
fn query(names: &[String], bytes: &[u8], start: usize, ends: &mut [bool]) {
    let (mut at, mut known) = (start, names);
    loop {
        let mark = if at == start { b'?' } else { b'&' };
        if bytes.get(at) != Some(&mark) {
            return;
        }
        let parameter = &bytes[at + 1..];
        let name = known.iter().position(|name| {
            let behind = parameter.strip_prefix(name.as_bytes());
            behind.is_some_and(|behind| behind.starts_with(b"="))
        });
        let Some(name) = name else {
            return;
        };
        let from = at + 1 + known[name].len() + 1;
        let value = bytes[from..].iter();
        at = from + value.take_while(|byte| is_of_value(**byte, false)).count();
        ends[at] = true;
        known = &known[name + 1..];
    }
}

fn is_of_value(byte: u8, reserved: bool) -> bool {
    byte.is_ascii_alphanumeric()
        || b"-._~%".contains(&byte)
        || reserved && b":/?#[]@!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::{UriTemplate, fault};

    #[test]
    fn a_uri_says_one_place() {
        for right in [
            "file:///a/b.txt",
            "test://static-text",
            "https://h.example:80/a?b=c#d",
            "note:hello",
            "file:///a/..b/c..",
            "gh://repo/a%2Fb",
            "note://\u{fc}ber",
            "x:100%25",
        ] {
            assert_eq!(fault(right), None, "{right}");
        }
        for wrong in [
            "",
            "a/b",
            "/etc/passwd",
            "1x:a",
            "file:///a/../b",
            "file:///a/./b",
            "file:///a/..",
            "file:///a/%2e%2E/b",
            "file:///a/.%2e/b",
            "file:///a%2f..%2fb",
            "file:///a%5c..%5cb",
            "file:///a\\..\\b",
            "file:///a/%252e%252e/b",
            "file:///a?path=../b",
            "notes:../a",
            "https://user@h.example/",
            "https://user%40h.example/",
            "file:///a\nb",
            "file:///a%0ab",
            "file:///a%00",
            "file:///a%zz",
            "file:///a%2",
            "file:///a b",
            "file:///a\u{200b}b",
            "file:///{a}",
        ] {
            assert!(fault(wrong).is_some(), "{wrong}");
        }
        assert!(fault(&format!("x:{}", "a".repeat(3_000))).is_some());
    }

    #[test]
    fn a_template_matches_its_own_uris() {
        let matches = |template: &str, uri: &str| {
            let template = UriTemplate::read(template).expect(template);
            template.matches(uri)
        };
        for (template, uri) in [
            ("test://template/{id}/data", "test://template/123/data"),
            ("file:///{name}", "file:///a.txt"),
            ("file:///{name}", "file:///a%20b"),
            ("file:///{+path}", "file:///a/b/c"),
            ("x://{a}-{b}", "x://1-2-3"),
            ("x://s{?q,n}", "x://s"),
            ("x://s{?q,n}", "x://s?q=1&n=2"),
            ("x://s{?q,n}", "x://s?n="),
        ] {
            assert!(matches(template, uri), "{template} {uri}");
        }
        for (template, uri) in [
            ("test://template/{id}/data", "test://template//data"),
            ("test://template/{id}/data", "test://template/1/2/data"),
            ("test://template/{id}/data", "test://template/1%2f2/data"),
            ("test://template/{id}/data", "test://template/1/data2"),
            ("test://template/{id}/data", "TEST://template/1/data"),
            ("file:///{name}", "file:///a/b"),
            ("file:///{name}", "file:///a?b"),
            ("file:///{name}", "file:///a#b"),
            ("file:///{+path}", "http:///a"),
            ("x://s{?q,n}", "x://s?n=1&q=2"),
            ("x://s{?q,n}", "x://s?q=1&q=2"),
            ("x://s{?q,n}", "x://s?z=1"),
            ("x://s{?q,n}", "x://s&q=1"),
        ] {
            assert!(!matches(template, uri), "{template} {uri}");
        }
        for wrong in [
            "{scheme}://a",
            "a/{b}",
            "file:///{a",
            "file:///{}",
            "file:///{a*}",
            "file:///{a:3}",
            "file:///{/a}",
            "file:///{#a}",
            "file:///{a,b}",
            "file:///../{a}",
            "https://u@{h}/",
            "file:///}{a}",
        ] {
            assert!(UriTemplate::read(wrong).is_err(), "{wrong}");
        }
        let long = format!("x:{}", "{a}".repeat(40));
        assert!(UriTemplate::read(&long).is_err());
    }
}
