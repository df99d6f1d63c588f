//! The rules of the scan.

use super::scan::FindingSeverity;

/// When a rule holds for a line that matches its expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matcher {
    /// Always.
    Found,
    /// If the first group looks random.
    RandomValue,
}

/// A rule of the scan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// `secret/` or `sast/`, and a name.
    pub(crate) id: &'static str,
    /// What was found, without a final stop.
    pub(crate) message: &'static str,
    /// The extensions of the files that it is for; none for all.
    extensions: &'static [&'static str],
    /// Texts of which a line must have one, in lower case.
    texts: &'static [&'static str],
    pub(crate) pattern: &'static str,
    pub(crate) matcher: Matcher,
}

impl Rule {
    /// Returns what its findings mean.
    pub(crate) fn severity(&self) -> FindingSeverity {
        match self.id.starts_with("secret/") {
            true => FindingSeverity::Blocks,
            false => FindingSeverity::Warns,
        }
    }

    /// Returns whether it is for files of an extension.
    pub(crate) fn is_for(&self, extension: &str) -> bool {
        self.extensions.is_empty() || self.extensions.contains(&extension)
    }

    /// Returns whether a text in lower case has one of the texts.
    pub(crate) fn may_match(&self, lower: &str) -> bool {
        self.texts.iter().any(|it| lower.contains(it))
    }
}

const PYTHON: &[&str] = &["py", "pyw"];
const NODE: &[&str] = &["js", "cjs", "mjs", "jsx", "ts", "cts", "mts", "tsx"];
const GO: &[&str] = &["go"];
const RUST: &[&str] = &["rs"];

const fn secret(
    id: &'static str,
    message: &'static str,
    texts: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule {
        id,
        message,
        extensions: &[],
        texts,
        pattern,
        matcher: Matcher::Found,
    }
}

const fn call(
    id: &'static str,
    message: &'static str,
    extensions: &'static [&'static str],
    texts: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule {
        id,
        message,
        extensions,
        texts,
        pattern,
        matcher: Matcher::Found,
    }
}

/// Every rule. Its id is a part of the contract.
pub(crate) const RULES: &[Rule] = &[
    secret(
        "secret/aws-access-key-id",
        "the id of an AWS access key",
        &["akia", "asia"],
        r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)",
    ),
    secret(
        "secret/aws-secret-access-key",
        "an AWS secret access key",
        &["secret"],
        r#"(?i)aws_?secret_?(?:access_?)?key["']?[ \t]*(?:=|:|=>)[ \t]*["']?[0-9a-z/+]{40}(?:[^0-9a-z/+=]|$)"#,
    ),
    secret(
        "secret/github-token",
        "a GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?-u:\b)(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{36})",
    ),
    secret(
        "secret/gitlab-token",
        "a GitLab token",
        &["glpat-"],
        r"(?-u:\b)glpat-[0-9A-Za-z_-]{20}",
    ),
    secret(
        "secret/private-key",
        "a private key",
        &["private key"],
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----",
    ),
    secret(
        "secret/slack-token",
        "a Slack token",
        &["xox", "xapp-"],
        r"(?-u:\b)(?:xox[abeprs]|xapp)-[0-9A-Za-z-]{10}",
    ),
    secret(
        "secret/slack-webhook",
        "the URL of a Slack webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows)/[0-9A-Za-z/]{20}",
    ),
    secret(
        "secret/google-api-key",
        "a Google API key",
        &["aiza"],
        r"(?-u:\b)AIza[0-9A-Za-z_-]{35}",
    ),
    secret(
        "secret/stripe-key",
        "a live key of Stripe",
        &["_live_"],
        r"(?-u:\b)[rs]k_live_[0-9A-Za-z]{16}",
    ),
    secret(
        "secret/model-api-key",
        "a key of a model's API",
        &["sk-"],
        r"(?-u:\b)sk-(?:ant-|proj-|svcacct-)?[0-9A-Za-z_-]{32}",
    ),
    secret(
        "secret/npm-token",
        "an npm token",
        &["npm_"],
        r"(?-u:\b)npm_[0-9A-Za-z]{36}",
    ),
    secret(
        "secret/pypi-token",
        "a PyPI token",
        &["pypi-"],
        r"(?-u:\b)pypi-[0-9A-Za-z_-]{50}",
    ),
    secret(
        "secret/json-web-token",
        "a signed JSON web token",
        &["eyj"],
        r"(?-u:\b)eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{20}",
    ),
    secret(
        "secret/url-password",
        "a password in a URL",
        &["://"],
        r#"(?i)(?-u:\b)(?:amqps?|https?|mongodb(?:\+srv)?|mysql|postgres(?:ql)?|rediss?)://[^\s/:@"'<>{}$]+:[^\s/:@"'<>{}$]{3,}@"#,
    ),
    Rule {
        id: "secret/random-assignment",
        message: "a random value with the name of a secret",
        extensions: &[],
        texts: &[
            "passw",
            "secret",
            "token",
            "api_key",
            "apikey",
            "api-key",
            "private_key",
            "access_key",
        ],
        pattern: r#"(?i)(?:passw(?:or)?d|secret|token|api[_-]?key|private_key|access_key)[0-9a-z_-]{0,32}["']?[ \t]*(?::?=|:|=>)[ \t]*["'`]([0-9A-Za-z+/_.~=-]{16,})["'`]"#,
        matcher: Matcher::RandomValue,
    },
    call(
        "sast/python-eval-of-request",
        "`eval` or `exec` of data of a request",
        PYTHON,
        &["eval", "exec"],
        r"(?-u:\b)(?:eval|exec)[ \t]*\([^#]*(?-u:\b)(?:request|input|argv)(?-u:\b)",
    ),
    call(
        "sast/python-shell",
        "a command that a shell interprets",
        PYTHON,
        &["shell"],
        r"(?-u:\b)shell[ \t]*=[ \t]*True(?-u:\b)",
    ),
    call(
        "sast/python-os-system",
        "a command that a shell interprets",
        PYTHON,
        &["os.system", "os.popen"],
        r"(?-u:\b)os\.(?:system|popen)[ \t]*\(",
    ),
    call(
        "sast/python-pickle",
        "`pickle` of data that may be foreign",
        PYTHON,
        &["pickle.load"],
        r"(?-u:\b)pickle\.loads?[ \t]*\(",
    ),
    call(
        "sast/python-yaml-load",
        "`yaml.load`, which makes any object",
        PYTHON,
        &["yaml.load", "yaml.unsafe_load"],
        r"(?-u:\b)yaml\.(?:unsafe_)?load[ \t]*\((?:[^S]|S[^a])*$",
    ),
    call(
        "sast/python-debug",
        "a debugger that runs commands of visitors",
        PYTHON,
        &["debug"],
        r"(?-u:\b)debug[ \t]*=[ \t]*True(?-u:\b)",
    ),
    call(
        "sast/python-sql",
        "a query that is put together from texts",
        PYTHON,
        &["execute"],
        r#"\.execute(?:many)?[ \t]*\([ \t]*(?:f["']|["'][^"']*["'][ \t]*(?:%|\+|\.format))"#,
    ),
    call(
        "sast/node-eval-of-request",
        "`eval` or `Function` of data of a request",
        NODE,
        &["eval", "function"],
        r"(?-u:\b)(?:eval|Function)[ \t]*\([^/]*(?-u:\b)(?:req|request|ctx)(?-u:\b)",
    ),
    call(
        "sast/node-exec",
        "a command that is put together from texts",
        NODE,
        &["exec"],
        r"(?:^|[^.\w]|child_process\.|cp\.)exec(?:Sync)?[ \t]*\([ \t]*(?:`[^`]*\$\{|[^,)]*\+)",
    ),
    call(
        "sast/node-tls",
        "a connection without verification of its peer",
        NODE,
        &["rejectunauthorized"],
        r"rejectUnauthorized[ \t]*:[ \t]*false",
    ),
    call(
        "sast/go-shell",
        "a command that a shell interprets",
        GO,
        &["exec.command"],
        r#"exec\.Command(?:Context)?[ \t]*\([^"`]*["`](?:/bin/)?(?:ba|da|z)?sh["`][ \t]*,[ \t]*["`]-c"#,
    ),
    call(
        "sast/go-tls",
        "a connection without verification of its peer",
        GO,
        &["insecureskipverify"],
        r"InsecureSkipVerify[ \t]*:[ \t]*true",
    ),
    call(
        "sast/rust-shell",
        "a command that a shell interprets",
        RUST,
        &["command::new"],
        r#"Command::new[ \t]*\([ \t]*"(?:/bin/)?(?:ba|da|z)?sh""#,
    ),
];
