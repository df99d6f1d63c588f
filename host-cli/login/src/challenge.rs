//! The challenge of a server that wants a token (RFC 6750, RFC 9728).

/// What a challenge asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// `resource_metadata`
    pub(super) metadata: Option<String>,
    /// `scope`
    pub(super) scopes: Option<Vec<String>>,
}

impl Challenge {
    /// Reads a header `WWW-Authenticate`. Parameters of any scheme count; a wrong one is no parameter.
    pub(super) fn read(header: &str) -> Self {
        let words = |text: String| text.split(' ').map(str::to_owned).collect();
        Self {
            metadata: parameter(header, "resource_metadata"),
            scopes: parameter(header, "scope").map(words),
        }
    }
}

/// Returns a parameter of a challenge.
fn parameter(header: &str, name: &str) -> Option<String> {
    let mut rest = header;
    loop {
        let at = rest.find('=')?;
        let key = rest[..at].rsplit([' ', ',']).next().unwrap_or_default();
        let value = &rest[at + 1..];
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"')?;
                (&quoted[..end], &quoted[end + 1..])
            }
            None => {
                let end = value.find([',', ' ']).unwrap_or(value.len());
                (&value[..end], &value[end..])
            }
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::Challenge;

    #[test]
    fn parameters_are_read_with_and_without_quotes() {
        let read = Challenge::read(
            "Bearer realm=\"a, scope=b\", resource_metadata=\"https://a.example/m\", scope=\"x y\"",
        );
        assert_eq!(read.metadata.as_deref(), Some("https://a.example/m"));
        assert_eq!(read.scopes.unwrap(), ["x", "y"]);
        assert_eq!(Challenge::read("Bearer scope=x").scopes.unwrap(), ["x"]);
        assert_eq!(Challenge::read("Bearer"), Challenge::default());
        assert_eq!(Challenge::read("Bearer scope=\"x"), Challenge::default());
    }
}
