//! Texts that look like secrets.

use super::Span;

/// A text that looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Secret {
    /// The secret alone, without the name or the URL around it.
    pub span: Span,
    /// The kind of secret, with its article.
    pub kind: &'static str,
}

/// The text that replaces a secret. It looks like none.
pub const REDACTED: &str = "REDACTED";

/// Prefixes of credentials of well-known services, and the kind of each.
const PREFIXES: [(&str, &str); 15] = [
    ("sk-", "an API key"),
    ("sk_", "an API key"),
    ("pk_", "an API key"),
    ("rk_", "an API key"),
    ("AIza", "an API key"),
    ("ghp_", "a GitHub token"),
    ("gho_", "a GitHub token"),
    ("ghs_", "a GitHub token"),
    ("github_pat_", "a GitHub token"),
    ("glpat-", "a GitLab token"),
    ("xoxb-", "a Slack token"),
    ("xoxp-", "a Slack token"),
    ("AKIA", "an AWS key"),
    ("ASIA", "an AWS key"),
    ("eyJ", "a JSON web token"),
];

/// Minimum number of characters behind a prefix, with a digit and without one: `sk-assistant` is a name.
const REST: [usize; 2] = [8, 20];

/// The ends of keys whose values are secrets, in small letters and with `_` between words.
const KEYS: [&str; 8] = [
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "access_token",
    "private_key",
    "authorization",
];

/// Minimum number of characters of a value behind one of [`KEYS`].
const VALUE: usize = 6;

/// The beginning of a private key in PEM, and its ends.
const PEM: &str = "-----BEGIN";
const PEM_ENDS: [&str; 2] = ["-----END", "PRIVATE KEY-----"];

/// Schemes in front of a credential.
const SCHEMES: [&str; 3] = ["bearer ", "basic ", "token "];

/// Returns the kind of a word of letters, digits, `-` and `_` that is the credential of a well-known service.
pub fn credential(word: &str) -> Option<&'static str> {
    let mut known = PREFIXES.iter();
    let (prefix, kind) = known.find(|(prefix, _)| word.starts_with(prefix))?;
    let rest = &word.as_bytes()[prefix.len()..];
    let [with_digit, without] = REST;
    let is_long = rest.len() >= without;
    (is_long || rest.len() >= with_digit && rest.iter().any(u8::is_ascii_digit)).then_some(kind)
}

/// Returns the length of the scheme in front of a credential, such as `Bearer `.
pub fn scheme_len(text: &str) -> usize {
    let is_first = |scheme: &&&str| {
        let start = text.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    SCHEMES.iter().find(is_first).map_or(0, |it| it.len())
}

/// Returns the texts that look like secrets, in order and without overlaps: credentials of well-known services, private
/// keys, passwords in URLs, and values whose key names a secret.
///
/// A hash is none. So is a value that refers to a variable.
pub fn secrets(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let len = length(&text[at..], is_word);
        if len == 0 {
            at += length(&text[at..], |byte| !is_word(byte));
            continue;
        }
        match secret_at(text, at, at + len) {
            Some((start, end, kind)) => {
                let span = Span::new(start, end);
                found.push(Secret { span, kind });
                at = end;
            }
            None => at += len,
        }
    }
    found
}

/// Returns the secret that a word is or names: its bytes and its kind.
fn secret_at(text: &str, start: usize, end: usize) -> Option<(usize, usize, &'static str)> {
    let (word, behind) = (&text[start..end], &text[end..]);
    if word == PEM {
        let line = length(behind, |byte| byte != b'\n' && byte != b'\\');
        let [begin, last] = PEM_ENDS;
        if !behind[..line].contains("PRIVATE KEY") {
            return None;
        }
        // Without its end, all that follows may belong to it.
        let closing = behind.find(begin).and_then(|at| {
            let closed = behind[at..].find(last)?;
            Some(at + closed + last.len())
        });
        let len = closing.unwrap_or(behind.len());
        return Some((start, end + len, "a private key"));
    }
    if let Some(kind) = credential(word) {
        // The parts of a web token are separated by points.
        let len = length(behind, |byte| is_word(byte) || byte == b'.');
        let rest = behind[..len].trim_end_matches('.').len();
        return Some((start, end + rest, kind));
    }
    if let Some(rest) = behind.strip_prefix("://") {
        let len = length(rest, |byte| !is_end(byte) && !b"/?#".contains(&byte));
        let (user, _) = rest[..len].rsplit_once('@')?;
        let (name, password) = user.split_once(':')?;
        let password_start = end + "://".len() + name.len() + 1;
        return some(password_start, password, "a password in an address");
    }
    let quote = length(behind, |byte| b"\"'".contains(&byte));
    let separator = length(&behind[quote..], |byte| b" \t:=".contains(&byte));
    let mut at = quote + separator;
    if !behind[quote..at].contains([':', '=']) {
        return None;
    }
    let key = word.to_ascii_lowercase().replace('-', "_");
    if !KEYS.iter().any(|name| key.ends_with(name)) {
        return None;
    }
    let quotes = length(&behind[at..], |byte| b"\"'".contains(&byte));
    at += quotes;
    at += scheme_len(&behind[at..]);
    let value = &behind[at..];
    let len = match quotes {
        0 => length(value, |byte| !is_end(byte)),
        _ => length(value, |byte| !b"\"'\n".contains(&byte)),
    };
    // A reference to a variable, or a value of several parts.
    let is_plain = !value.starts_with(['$', '{', '[', '<', '%']);
    match is_plain && len >= VALUE {
        true => some(end + at, &value[..len], "a secret"),
        false => None,
    }
}

/// Returns the secret of a text, unless the text is empty or already replaces a secret.
fn some(start: usize, text: &str, kind: &'static str) -> Option<(usize, usize, &'static str)> {
    let is_there = !text.is_empty() && text != REDACTED;
    is_there.then(|| (start, start + text.len(), kind))
}

/// Returns the number of bytes at the beginning of a text that belong together. `belongs` treats all bytes alike that are
/// not ASCII.
fn length(text: &str, belongs: impl Fn(u8) -> bool) -> usize {
    let end = text.bytes().position(|byte| !belongs(byte));
    end.unwrap_or(text.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
}

/// Returns whether a byte ends an unquoted value.
fn is_end(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`,;()}>".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::{REDACTED, secrets};

    /// The secrets of a text in angles, and their kinds.
    fn shown(text: &str) -> (String, Vec<&'static str>) {
        let found = secrets(text);
        let mut shown = text.to_owned();
        for secret in found.iter().rev() {
            let inner = format!("<{}>", secret.span.of(text));
            shown.replace_range(secret.span.start as usize..secret.span.end as usize, &inner);
        }
        (shown, found.iter().map(|it| it.kind).collect())
    }

    #[test]
    fn a_secret_is_found_with_its_place_and_its_kind() {
        for (expected, kind) in [
            ("key: <sk-abcdefghijklmnopqrstuvwx>", "an API key"),
            ("see <AKIAIOSFODNN7EXAMPLE> here", "an AWS key"),
            ("(<ghp_0123456789abcdef>)", "a GitHub token"),
            ("a <eyJhbGciOiJ1.eyJzdWIi-0.c2ln_bg>.", "a JSON web token"),
            ("https://mcp.example/s/<sk-abcd1234>/x", "an API key"),
            (
                "\"endpoint\": \"https://me:<hunter2>@mcp.example/x\"",
                "a password in an address",
            ),
            ("  \"api-key\": \"<abc def 123>\",", "a secret"),
            (
                "{\"a\":{\"DB_PASSWORD\":\"<hunter22>\"},\"b\":1}",
                "a secret",
            ),
            ("PASSWORD=<correcthorse>", "a secret"),
            ("password: '<correct, horse>'", "a secret"),
            ("Authorization: Bearer <abcdefgh>", "a secret"),
            ("input.secret == \"<abcdefgh>\"", "a secret"),
            (
                "a: |\n  <-----BEGIN RSA PRIVATE KEY-----\n  MII\n  -----END RSA PRIVATE KEY----->\nb: 1",
                "a private key",
            ),
            (
                "\"<-----BEGIN PRIVATE KEY-----\\nMII\\n-----END PRIVATE KEY----->\"",
                "a private key",
            ),
            ("<-----BEGIN PRIVATE KEY-----\nMII\n>", "a private key"),
        ] {
            let text = expected.replace(['<', '>'], "");
            assert_eq!(shown(&text), (expected.to_owned(), vec![kind]));
        }
    }

    #[test]
    fn several_secrets_of_a_line_are_found_in_order() {
        let text = "{\"password\":\"hunter22\",\"b\":\"ghp_0123456789abcdef\"}";
        let expected = "{\"password\":\"<hunter22>\",\"b\":\"<ghp_0123456789abcdef>\"}";
        assert_eq!(shown(text).0, expected);
    }

    #[test]
    fn usual_inputs_hold_no_secrets() {
        let hello = include_str!("../../../examples/hello-agent/mcp.index.json");
        for text in [
            hello,
            "integrity: sha256-tbNzfi/fkkMJRcuo9kgfEWekWDGXjkLrIHvBZr3EyKs=",
            "password: $PASSWORD",
            "password: ${PASSWORD}",
            "a task-list with sk-short",
            "sk-assistant and pk_customer_id",
            "mail me@example.org",
            "git+ssh://git@host.example/a",
            "secret: ",
            "secret:\n  name: abcdefgh",
            "\"password\": { \"type\": \"string\" }",
            "\"required\": [\"password\"]",
            "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
            "Straße: ünïcode – „Anführung“ password",
        ] {
            assert_eq!(secrets(text), [], "{text}");
        }
    }

    #[test]
    fn a_text_without_its_secrets_holds_none() {
        for text in [
            "key: sk-abcdefgh1",
            "https://me:hunter2@mcp.example/x",
            "\"api-key\": \"abcdef123\"",
            "Authorization: Bearer abcdefgh",
            "-----BEGIN PRIVATE KEY-----\nMII\n",
        ] {
            let found = secrets(text);
            let [secret] = &found[..] else {
                panic!("{text}");
            };
            let redacted = text.replace(secret.span.of(text), REDACTED);
            assert_eq!(secrets(&redacted), [], "{redacted}");
        }
    }
}
