//! Identifiers of schemas: URI references, and how they are resolved (RFC 3986, section 5).
//!
//! They are names and nothing is fetched, so no part of them is decoded or checked further than
//! the resolution needs. Scheme and host are compared in lower case.

/// The parts of a reference without its fragment.
#[derive(Debug, Clone, Copy)]
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(reference: &'a str) -> Self {
        let (scheme, rest) = match scheme(reference) {
            Some(scheme) => (Some(scheme), &reference[scheme.len() + 1..]),
            None => (None, reference),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                (Some(&rest[..end]), &rest[end..])
            }
            None => (None, rest),
        };
        Self {
            scheme,
            authority,
            path,
            query,
        }
    }

    fn write(&self, path: &str) -> String {
        let mut out = String::new();
        if let Some(scheme) = self.scheme {
            out.push_str(&scheme.to_ascii_lowercase());
            out.push(':');
        }
        if let Some(authority) = self.authority {
            out.push_str("//");
            out.push_str(&authority.to_ascii_lowercase());
        }
        out.push_str(path);
        if let Some(query) = self.query {
            out.push('?');
            out.push_str(query);
        }
        out
    }
}

/// The scheme that a reference begins with.
fn scheme(reference: &str) -> Option<&str> {
    let (scheme, _) = reference.split_once(':')?;
    let mut bytes = scheme.bytes();
    let valid = bytes.next()?.is_ascii_alphabetic()
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    valid.then_some(scheme)
}

/// A reference without its fragment, and the fragment as it is written.
pub(super) fn split(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((uri, fragment)) => (uri, Some(fragment)),
        None => (reference, None),
    }
}

/// The host of a URI, with what stands beside it.
pub(super) fn authority(uri: &str) -> Option<&str> {
    Parts::of(uri).authority
}

/// What a reference without its fragment means where `base` is the base. A base may be empty or
/// relative itself: then so is the outcome.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let own = Parts::of(reference);
    let base = Parts::of(base);
    if own.scheme.is_some() {
        // The path of a URN is no hierarchy.
        if own.path.starts_with('/') {
            return own.write(&without_dots(own.path));
        }
        return own.write(own.path);
    }
    let joined = Parts {
        scheme: base.scheme,
        ..own
    };
    if own.authority.is_some() {
        return joined.write(&without_dots(own.path));
    }
    let joined = Parts {
        authority: base.authority,
        ..joined
    };
    if own.path.is_empty() {
        return joined.write(base.path);
    }
    if own.path.starts_with('/') {
        return joined.write(&without_dots(own.path));
    }
    let folder = match base.path.rfind('/') {
        Some(end) => &base.path[..=end],
        None if base.authority.is_some() => "/",
        None => "",
    };
    joined.write(&without_dots(&format!("{folder}{}", own.path)))
}

/// A path without the segments `.` and `..`.
fn without_dots(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut segments: Vec<&str> = Vec::new();
    let mut rest = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = rest.next() {
        match segment {
            "." | ".." => {
                if segment == ".." {
                    segments.pop();
                }
                // What ends with such a segment names a folder.
                if rest.peek().is_none() {
                    segments.push("");
                }
            }
            _ => segments.push(segment),
        }
    }
    let joined = segments.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

/// What a fragment says once `%XX` is decoded. None if that is not UTF-8, or an escape is cut off.
pub(super) fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = fragment.bytes();
    let mut decoded = Vec::with_capacity(fragment.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let [high, low] =
                    [bytes.next()?, bytes.next()?].map(|b| char::from(b).to_digit(16));
                (high? << 4 | low?) as u8
            }
            _ => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::{decoded, resolve};

    #[test]
    fn examples_of_rfc_3986() {
        for (reference, expected) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/../h", "http://a/b/c/h"),
        ] {
            assert_eq!(
                resolve("http://a/b/c/d;p?q", reference),
                expected,
                "{reference}"
            );
        }
    }

    #[test]
    fn bases_of_other_kinds() {
        assert_eq!(resolve("", "a.json"), "a.json");
        assert_eq!(resolve("a/b.json", "c.json"), "a/c.json");
        assert_eq!(resolve("HTTP://Host.example", "a"), "http://host.example/a");
        assert_eq!(resolve("urn:uuid:1", "urn:uuid:2"), "urn:uuid:2");
        assert_eq!(
            resolve("file:///c:/f/a.json", "b.json"),
            "file:///c:/f/b.json"
        );
    }

    #[test]
    fn fragments() {
        assert_eq!(decoded("a%25b%C3%A9").as_deref(), Some("a%bé"));
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decoded(broken), None, "{broken}");
        }
    }
}
