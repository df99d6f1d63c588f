//! What looks like a secret.
//!
//! A warning before somebody shares it, no more: what has no known form is not found.

/// Beginnings of tokens, and how many characters of a token have to follow for it to be one.
const PREFIXES: [(&str, usize, &str); 14] = [
    ("sk-", 20, "an API key"),
    ("sk_live_", 16, "a payment key"),
    ("rk_live_", 16, "a payment key"),
    ("ghp_", 30, "a GitHub token"),
    ("gho_", 30, "a GitHub token"),
    ("ghs_", 30, "a GitHub token"),
    ("github_pat_", 30, "a GitHub token"),
    ("glpat-", 16, "a GitLab token"),
    ("xoxb-", 20, "a Slack token"),
    ("xoxp-", 20, "a Slack token"),
    ("AKIA", 16, "an AWS key"),
    ("ASIA", 16, "an AWS key"),
    ("AIza", 30, "a Google API key"),
    ("eyJ", 40, "a JSON web token"),
];

/// Keys whose value is a secret.
const KEYS: [&str; 7] = [
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "access_token",
    "private_key",
];

/// Something that looks like a secret.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Secret {
    /// Line, from 1.
    pub(crate) line: usize,
    /// What it looks like.
    pub(crate) kind: &'static str,
}

/// The lines of a text that look as if they held a secret.
pub(crate) fn find(text: &str) -> Vec<Secret> {
    text.lines()
        .zip(1..)
        .filter_map(|(line, number)| {
            Some(Secret {
                line: number,
                kind: kind(line)?,
            })
        })
        .collect()
}

fn kind(line: &str) -> Option<&'static str> {
    if line.contains("-----BEGIN ") && line.contains("PRIVATE KEY") {
        return Some("a private key");
    }
    let token = line
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .find_map(|word| {
            PREFIXES
                .iter()
                .find(|(prefix, length, _)| {
                    word.strip_prefix(prefix)
                        .is_some_and(|rest| rest.len() >= *length)
                })
                .map(|(.., kind)| *kind)
        });
    token.or_else(|| user_info(line)).or_else(|| value(line))
}

/// `https://user:password@host`
fn user_info(line: &str) -> Option<&'static str> {
    let (_, rest) = line.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '"', '\'', ' ']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    user.contains(':').then_some("a password in an address")
}

/// A value behind one of [`KEYS`].
fn value(line: &str) -> Option<&'static str> {
    let (key, value) = line.split_once([':', '='])?;
    let key = key.to_ascii_lowercase().replace('-', "_");
    let named = KEYS
        .iter()
        .any(|name| key.trim_matches(['"', ' ', '\t', '{']).ends_with(name));
    let value = value.trim_matches(['"', '\'', ',', ' ', '\t', '}']);
    // A reference to a variable is the way to avoid a secret.
    (named && value.len() >= 6 && !value.starts_with('$')).then_some("a secret")
}

#[cfg(test)]
mod tests {
    use super::{Secret, find};

    #[test]
    fn tokens_keys_and_passwords_are_found_with_their_line() {
        for (line, kind) in [
            ("key: sk-abcdefghijklmnopqrstuvwx", "an API key"),
            ("see AKIAIOSFODNN7EXAMPLE here", "an AWS key"),
            (
                "\"endpoint\": \"https://me:hunter2@mcp.example/x\"",
                "a password in an address",
            ),
            ("  \"api-key\": \"abcdef123\",", "a secret"),
            ("PASSWORD=correcthorse", "a secret"),
            ("-----BEGIN RSA PRIVATE KEY-----", "a private key"),
        ] {
            assert_eq!(
                find(&format!("a\n{line}\n")),
                [Secret { line: 2, kind }],
                "{line}"
            );
        }
    }

    #[test]
    fn what_the_inputs_usually_hold_is_none() {
        let hello = include_str!("../../examples/hello-agent/mcp.index.json");
        for text in [
            hello,
            "integrity: sha256-tbNzfi/fkkMJRcuo9kgfEWekWDGXjkLrIHvBZr3EyKs=",
            "password: $PASSWORD",
            "a task-list with sk-short",
            "mail me@example.org",
            "secret: ",
        ] {
            assert_eq!(find(text), [], "{text}");
        }
    }
}
