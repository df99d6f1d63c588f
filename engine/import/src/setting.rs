//! The values in a client's configuration: what is plain, what is a secret, and what a client fills in.

use super::endpoint::{has_credential, has_user_info};
use agent_text::scheme_len;

/// A value of an environment, a header, a query or an argument: the texts of its parts, one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting(pub Vec<SettingPart>);

/// A part of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingPart {
    /// A text that may be shown.
    Plain(String),
    /// A text that nothing shows.
    Secret(String),
    /// What a client fills in.
    Variable(Variable),
}

/// A variable of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variable {
    /// A variable of the environment: `${NAME}`, `${NAME:-DEFAULT}`, `${env:NAME}`, `{env:NAME}`, `%NAME%`.
    Environment {
        /// The name.
        name: String,
        /// The value if it is not set.
        default: Option<String>,
    },
    /// What the client asks its user for: `${input:ID}`, `${user_config.ID}`.
    Input(String),
    /// The folder that the client works in: `${workspaceFolder}`.
    WorkingFolder,
    /// The user's folder: `${userHome}`, and `~` at the beginning.
    Home,
    /// A variable that this program can't fill in, such as `${extensionPath}`.
    Other(String),
}

impl Variable {
    /// Returns the name in a client's configuration.
    pub fn name(&self) -> String {
        match self {
            Self::Environment { name, .. } | Self::Other(name) => name.clone(),
            Self::Input(id) => format!("input:{id}"),
            Self::WorkingFolder => "workspaceFolder".to_owned(),
            Self::Home => "userHome".to_owned(),
        }
    }
}

/// The kind of a value, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingKind<'k> {
    /// The value of an environment variable, a header or a parameter of a query, by its key.
    Keyed(&'k str),
    /// An argument, behind another one.
    Argument(Option<&'k str>),
    /// The path of a program or a folder.
    Path,
}

/// The keys whose values are no secrets, in lower case.
const PLAIN_KEYS: [&str; 31] = [
    "accept",
    "accept-language",
    "ci",
    "content-type",
    "debug",
    "force_color",
    "home",
    "host",
    "lang",
    "lc_all",
    "log_level",
    "loglevel",
    "fastmcp_log_level",
    "mcp-protocol-version",
    "mcp_log_level",
    "mcp_transport",
    "no_color",
    "node_env",
    "node_no_warnings",
    "npm_config_yes",
    "path",
    "port",
    "pythonpath",
    "pythonunbuffered",
    "read_only",
    "rust_log",
    "tmpdir",
    "transport",
    "tz",
    "user-agent",
    "uv_python",
];

/// The words in an option whose value is a secret.
const SECRET_WORDS: [&str; 12] = [
    "token",
    "key",
    "apikey",
    "secret",
    "password",
    "passwd",
    "pwd",
    "pass",
    "auth",
    "authorization",
    "credential",
    "pat",
];

/// The options whose value is a header.
const HEADER_OPTIONS: [&str; 2] = ["--header", "-H"];

/// Reads a value.
pub(super) fn setting(text: &str, kind: SettingKind<'_>) -> Setting {
    let mut parts = Vec::new();
    let mut rest = text;
    if let Some(path) = rest
        .strip_prefix('~')
        .filter(|it| it.is_empty() || it.starts_with(['/', '\\']))
    {
        parts.push(SettingPart::Variable(Variable::Home));
        rest = path;
    }
    let mut literal = String::new();
    while let Some(c) = rest.chars().next() {
        if let Some((variable, len)) = variable(rest) {
            parts.extend(literals(std::mem::take(&mut literal), kind));
            parts.push(SettingPart::Variable(variable));
            rest = &rest[len..];
        } else {
            literal.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    parts.extend(literals(literal, kind));
    if parts.is_empty() {
        parts.push(SettingPart::Plain(String::new()));
    }
    Setting(parts)
}

/// Returns the parts of a text without variables.
fn literals(text: String, kind: SettingKind<'_>) -> Vec<SettingPart> {
    if text.is_empty() {
        return Vec::new();
    }
    match secret_start(&text, kind) {
        None => vec![SettingPart::Plain(text)],
        Some(0) => vec![SettingPart::Secret(text)],
        Some(start) => vec![
            SettingPart::Plain(text[..start].to_owned()),
            SettingPart::Secret(text[start..].to_owned()),
        ],
    }
}

/// Returns where the secret part of a text begins; `None` if the text is no secret.
fn secret_start(text: &str, kind: SettingKind<'_>) -> Option<usize> {
    let start = match kind {
        SettingKind::Path => return None,
        SettingKind::Keyed(key) => {
            if PLAIN_KEYS.contains(&&*key.to_ascii_lowercase()) && !looks_secret(text) {
                return None;
            }
            scheme_len(text)
        }
        SettingKind::Argument(before) if before.is_some_and(|it| HEADER_OPTIONS.contains(&it)) => {
            let value = text.find(':').map_or(0, |at| at + 1);
            let space = text[value..].len() - text[value..].trim_start().len();
            let value = value + space;
            value + scheme_len(&text[value..])
        }
        SettingKind::Argument(before) => {
            match variable_of(before, text).or_else(|| text.split_once('=')) {
                // A variable of a container has the rule of an environment.
                Some((name, value)) if variable_of(before, text).is_some() => {
                    let start = text.len() - value.len();
                    let found = secret_start(value, SettingKind::Keyed(name))?;
                    start + found
                }
                Some((name, value))
                    if has_secret_word(name) || name.starts_with('-') && looks_secret(value) =>
                {
                    name.len() + 1
                }
                _ if text.starts_with('-') && !looks_secret(text) => return None,
                _ if before.is_some_and(is_secret_option) || looks_secret(text) => 0,
                _ => return None,
            }
        }
    };
    // A word that says yes, no or how many is plain.
    let value = &text[start..];
    let is_switch =
        ["true", "false", "yes", "no", "on", "off"].contains(&&*value.to_ascii_lowercase());
    let is_number = value.len() <= 5 && value.bytes().all(|byte| byte.is_ascii_digit());
    (!is_switch && !is_number).then_some(start)
}

/// Returns whether a text is a secret wherever it stands.
fn looks_secret(text: &str) -> bool {
    has_credential(text) || has_user_info(text)
}

/// Returns the variable that an argument sets for a container, `-e NAME=VALUE`: its name and its value.
fn variable_of<'t>(before: Option<&str>, text: &'t str) -> Option<(&'t str, &'t str)> {
    let pair = match before {
        Some("-e" | "--env") => text,
        _ => text.strip_prefix("--env=")?,
    };
    pair.split_once('=')
}

/// Returns whether an option names a secret, such as `--api-key`.
fn is_secret_option(option: &str) -> bool {
    option.starts_with('-') && has_secret_word(option)
}

/// Returns whether a word of a name is that of a secret.
fn has_secret_word(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(['-', '_', '.']);
    words.any(|word| SECRET_WORDS.contains(&word))
}

/// Returns the variable at the beginning of a text, and its length.
fn variable(text: &str) -> Option<(Variable, usize)> {
    let braced = |start: &str| {
        let inner = text.strip_prefix(start)?;
        let end = inner.find('}')?;
        Some((&inner[..end], start.len() + end + 1))
    };
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let environment = |name: &str, default: Option<&str>| Variable::Environment {
        name: name.to_owned(),
        default: default.map(str::to_owned),
    };
    if let Some((inner, len)) = braced("${") {
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let input = ["input:", "user_config."]
            .iter()
            .find_map(|it| inner.strip_prefix(it));
        let variable = match (inner, input, inner.strip_prefix("env:")) {
            (_, Some(id), _) => Variable::Input(id.to_owned()),
            (_, _, Some(name)) => environment(name, None),
            ("workspaceFolder" | "workspaceRoot", ..) => Variable::WorkingFolder,
            ("userHome" | "HOME", ..) => Variable::Home,
            // Variables of the environment are in capital letters; others are a client's own.
            _ if is_name(name) && !name.contains(|c: char| c.is_ascii_lowercase()) => {
                environment(name, default)
            }
            _ => Variable::Other(inner.to_owned()),
        };
        return Some((variable, len));
    }
    if let Some((name, len)) = braced("{env:").filter(|(name, _)| is_name(name)) {
        return Some((environment(name, None), len));
    }
    let rest = text.strip_prefix('%')?;
    let name = &rest[..rest.find('%')?];
    is_name(name).then(|| (environment(name, None), name.len() + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts in a line: plain texts as they are, secrets in angles, variables in braces.
    fn shown(text: &str, kind: SettingKind<'_>) -> String {
        let parts = setting(text, kind).0.into_iter().map(|part| match part {
            SettingPart::Plain(text) => text,
            SettingPart::Secret(text) => format!("<{text}>"),
            SettingPart::Variable(variable) => match variable {
                Variable::Environment {
                    name,
                    default: None,
                } => format!("{{{name}}}"),
                Variable::Environment {
                    name,
                    default: Some(it),
                } => format!("{{{name}|{it}}}"),
                Variable::Input(id) => format!("{{?{id}}}"),
                Variable::WorkingFolder => "{.}".to_owned(),
                Variable::Home => "{~}".to_owned(),
                Variable::Other(name) => format!("{{!{name}}}"),
            },
        });
        parts.collect()
    }

    #[test]
    fn what_a_key_names_is_a_secret_unless_the_key_is_plain() {
        for (key, text, expected) in [
            ("API_KEY", "abc", "<abc>"),
            ("ACME_ACCOUNT", "anything at all", "<anything at all>"),
            ("Authorization", "Bearer abc", "Bearer <abc>"),
            ("authorization", "bearer abc", "bearer <abc>"),
            ("NODE_ENV", "production", "production"),
            ("LOG_LEVEL", "debug", "debug"),
            ("Accept", "text/html", "text/html"),
            ("LOG_LEVEL", "sk-0123456789abcdef", "<sk-0123456789abcdef>"),
            (
                "PATH",
                "https://a:b@acme.example",
                "<https://a:b@acme.example>",
            ),
            ("FEATURE", "true", "true"),
            ("SIZE", "100", "100"),
            ("API_KEY", "${API_KEY}", "{API_KEY}"),
            ("Authorization", "Bearer ${input:token}", "Bearer {?token}"),
            ("A", "${A:-b}", "{A|b}"),
            ("A", "{env:A}", "{A}"),
            ("A", "", ""),
        ] {
            assert_eq!(
                shown(text, SettingKind::Keyed(key)),
                expected,
                "{key}: {text}"
            );
        }
    }

    #[test]
    fn an_argument_is_a_secret_behind_an_option_that_names_one() {
        for (before, text, expected) in [
            (None, "--token=abcdefgh", "--token=<abcdefgh>"),
            (None, "--api-key=abcdefgh", "--api-key=<abcdefgh>"),
            (Some("--api-key"), "abcdefgh", "<abcdefgh>"),
            (Some("--token"), "--verbose", "--verbose"),
            (Some("--keyboard"), "dvorak", "dvorak"),
            (Some("-y"), "@acme/files", "@acme/files"),
            (None, "/home/me/files", "/home/me/files"),
            (None, "ghp_0123456789abcdef", "<ghp_0123456789abcdef>"),
            (
                None,
                "--x=ghp_0123456789abcdef",
                "--x=<ghp_0123456789abcdef>",
            ),
            (
                None,
                "postgres://me:pw@db.example/a",
                "<postgres://me:pw@db.example/a>",
            ),
            (
                Some("--header"),
                "Authorization: Bearer abc",
                "Authorization: Bearer <abc>",
            ),
            (Some("--header"), "X-Key:abc", "X-Key:<abc>"),
            (Some("-e"), "ACME_ID=abcdefgh", "ACME_ID=<abcdefgh>"),
            (Some("-e"), "LOG_LEVEL=debug", "LOG_LEVEL=debug"),
            (Some("-e"), "ACME_ID", "ACME_ID"),
            (None, "--env=ACME_ID=abcdefgh", "--env=ACME_ID=<abcdefgh>"),
            (None, "password=abcdefgh", "password=<abcdefgh>"),
            (None, "size=abcdefgh", "size=abcdefgh"),
            (None, "~/files", "{~}/files"),
            (None, "~files", "~files"),
            (None, "${workspaceFolder}/a", "{.}/a"),
            (None, "${CLAUDE_PLUGIN_ROOT}/a", "{CLAUDE_PLUGIN_ROOT}/a"),
            (None, "${extensionPath}/a", "{!extensionPath}/a"),
            (None, "%APPDATA%\\a", "{APPDATA}\\a"),
            (None, "100%", "100%"),
            (None, "{}", "{}"),
            (None, "${open", "${open"),
        ] {
            assert_eq!(
                shown(text, SettingKind::Argument(before)),
                expected,
                "{text}"
            );
        }
        assert_eq!(
            shown("ghp_0123456789abcdef", SettingKind::Path),
            "ghp_0123456789abcdef"
        );
    }
}
