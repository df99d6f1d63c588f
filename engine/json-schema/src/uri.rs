//! Identifiers of schemas: URI references and their resolution (RFC 3986, section 5).
//!
//! Nothing is fetched, so the resolution decodes and checks no more than it needs. Scheme and host
//! are compared in lower case.

/// The components of a reference without its fragment.
#[derive(Debug, Clone, Copy)]
struct Components<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Components<'a> {
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

    fn to_uri(self) -> String {
        let mut out = String::new();
        if let Some(scheme) = self.scheme {
            out.push_str(&scheme.to_ascii_lowercase());
            out.push(':');
        }
        if let Some(authority) = self.authority {
            out.push_str("//");
            out.push_str(&authority.to_ascii_lowercase());
        }
        out.push_str(self.path);
        if let Some(query) = self.query {
            out.push('?');
            out.push_str(query);
        }
        out
    }
}

/// Returns the scheme that a reference begins with.
fn scheme(reference: &str) -> Option<&str> {
    let (scheme, _) = reference.split_once(':')?;
    let mut bytes = scheme.bytes();
    let valid = bytes.next()?.is_ascii_alphabetic()
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    valid.then_some(scheme)
}

/// Splits a reference from its fragment, which may contain escapes.
pub(super) fn split(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((uri, fragment)) => (uri, Some(fragment)),
        None => (reference, None),
    }
}

/// Returns the authority of a URI.
pub(super) fn authority(uri: &str) -> Option<&str> {
    Components::of(uri).authority
}

/// Resolves a reference without its fragment. The result of an empty or relative base is relative.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let (own, base) = (Components::of(reference), Components::of(base));
    let own_authority = own.scheme.is_some() || own.authority.is_some();
    let path = if own.scheme.is_some() && !own.path.starts_with('/') {
        // The path of a URN is not hierarchical.
        own.path.to_owned()
    } else if own_authority || own.path.starts_with('/') {
        without_dots(own.path)
    } else if own.path.is_empty() {
        base.path.to_owned()
    } else {
        let folder = match base.path.rfind('/') {
            Some(end) => &base.path[..=end],
            None if base.authority.is_some() => "/",
            None => "",
        };
        without_dots(&format!("{folder}{}", own.path))
    };
    let joined = Components {
        scheme: own.scheme.or(base.scheme),
        authority: if own_authority {
            own.authority
        } else {
            base.authority
        },
        path: &path,
        query: own.query,
    };
    joined.to_uri()
}

/// Removes the segments `.` and `..` from a path.
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
                // A path that ends with such a segment names a folder.
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

/// Decodes `%XX` in a fragment. Returns `None` for invalid UTF-8 or an incomplete escape.
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
