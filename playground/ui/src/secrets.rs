//! Texts that look like secrets, for a warning before the user shares them.

/// Prefixes of tokens, the minimum number of characters behind each, and the kind of secret.
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

/// Returns the numbers of the lines that look like secrets, from 1, and the kind of each.
pub(crate) fn find(text: &str) -> Vec<(usize, &'static str)> {
    let lines = (1..).zip(text.lines());
    lines
        .filter_map(|(number, line)| Some((number, kind(line)?)))
        .collect()
}

fn kind(line: &str) -> Option<&'static str> {
    if line.contains("-----BEGIN ") && line.contains("PRIVATE KEY") {
        return Some("a private key");
    }
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
    let is_token = |word: &str, prefix, length| {
        let rest = word.strip_prefix(prefix);
        rest.is_some_and(|rest: &str| rest.len() >= length)
    };
    let tokens = words.filter_map(|word| {
        let mut prefixes = PREFIXES.into_iter();
        prefixes.find(|(prefix, length, _)| is_token(word, *prefix, *length))
    });
    let token = tokens.map(|(.., kind)| kind).next();
    token.or_else(|| user_info(line)).or_else(|| value(line))
}

/// Recognises `https://user:password@host`.
fn user_info(line: &str) -> Option<&'static str> {
    let (_, rest) = line.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '"', '\'', ' ']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    user.contains(':').then_some("a password in an address")
}

/// Recognises a value behind one of [`KEYS`].
fn value(line: &str) -> Option<&'static str> {
    let (key, value) = line.split_once([':', '='])?;
    let key = key.to_ascii_lowercase().replace('-', "_");
    let named = KEYS
        .iter()
        .any(|name| key.trim_matches(['"', ' ', '\t', '{']).ends_with(name));
    let value = value.trim_matches(['"', '\'', ',', ' ', '\t', '}']);
    // A reference to a variable is not a secret.
    (named && value.len() >= 6 && !value.starts_with('$')).then_some("a secret")
}

#[cfg(test)]
mod tests {
    use super::find;

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
            assert_eq!(find(&format!("a\n{line}\n")), [(2, kind)], "{line}");
        }
    }

    #[test]
    fn usual_inputs_hold_no_secrets() {
        let hello = include_str!("../../../examples/hello-agent/mcp.index.json");
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
