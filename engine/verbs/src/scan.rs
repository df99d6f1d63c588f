//! A scan of files before they run: secrets in them, and calls that are known to be dangerous \[2, 5\].
//!
//! Each rule has a text that must be in a line, and an expression that the line must match. Most lines have no
//! such text, and expressions are matched in linear time.

use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::limits::{FILE_MAX_BYTES, FINDINGS_MAX, SCAN_MAX_BYTES};
use super::scan_rules::{Matcher, RULES, Rule};
use regex::Regex;
use std::collections::BTreeMap;

/// What a finding means for `run.start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingSeverity {
    /// A secret: the application does not start.
    Blocks,
    /// A dangerous call: it is reported.
    Warns,
}

/// A finding. It never has the found text, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanFinding {
    /// The id of the rule, such as `secret/github-token`.
    pub rule: &'static str,
    /// The severity.
    pub severity: FindingSeverity,
    /// What was found, without a final stop.
    pub message: &'static str,
    /// The path of the file.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in Unicode code points.
    pub column: u32,
}

/// The findings in some files, ordered by file, line, column and rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scan {
    /// The first findings of each severity, at most [`FINDINGS_MAX`] together.
    pub findings: Vec<ScanFinding>,
    /// The number of the others.
    pub unlisted: u32,
    /// The number of files that were not scanned to their end: of each the first [`FILE_MAX_BYTES`] are, of all
    /// together the first [`SCAN_MAX_BYTES`].
    pub unscanned: u32,
    /// Whether any finding blocks.
    blocks: bool,
}

/// Scans files, each a path and its bytes.
pub fn scan<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Scan {
    let mut scanner = Scanner {
        compiled: BTreeMap::new(),
        scan: Scan::default(),
    };
    let mut left = SCAN_MAX_BYTES;
    for (path, bytes) in files {
        let scanned = &bytes[..bytes.len().min(FILE_MAX_BYTES).min(left)];
        left -= scanned.len();
        let is_cut = scanned.len() < bytes.len();
        scanner.scan.unscanned = scanner.scan.unscanned.saturating_add(is_cut.into());
        scanner.file(path, scanned);
    }
    let findings = &mut scanner.scan.findings;
    findings.sort_by(|a, b| {
        let key = |it: &ScanFinding| (it.line, it.column, it.rule);
        (&a.path, key(a)).cmp(&(&b.path, key(b)))
    });
    scanner.scan
}

impl Scan {
    /// Decides whether the application may start.
    ///
    /// # Errors
    /// `E_POLICY`: a finding blocks. The message names each place and rule, and no secret.
    pub fn admit(&self) -> Result<(), Failure> {
        let mut problems = Problems::new();
        let blocking = self
            .findings
            .iter()
            .filter(|it| it.severity == FindingSeverity::Blocks);
        for finding in blocking {
            problems.add(
                format!(
                    "{}, line {}, column {}: {} ({})",
                    quoted(&finding.path),
                    finding.line,
                    finding.column,
                    finding.message,
                    finding.rule
                ),
                "read the secret from the environment, replace it, and remove it from the file",
            );
        }
        match self.blocks {
            true => Err(problems.failure(ErrorCode::Policy)),
            false => Ok(()),
        }
    }
}

impl Scan {
    /// Returns the findings as lines of `run.log`.
    pub(crate) fn log(&self) -> String {
        let lines = self.findings.iter().map(|it| {
            let kind = match it.severity {
                FindingSeverity::Blocks => "refused",
                FindingSeverity::Warns => "warning",
            };
            format!(
                "mcpd: {kind}: {}:{}:{}: {} ({})\n",
                it.path, it.line, it.column, it.message, it.rule
            )
        });
        lines.collect()
    }
}

struct Scanner {
    /// The expressions that were needed, by the numbers of their rules; `None` for one that is not valid.
    compiled: BTreeMap<usize, Option<Regex>>,
    scan: Scan,
}

impl Scanner {
    fn file(&mut self, path: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let lower = text.to_ascii_lowercase();
        let extension = path.rsplit('/').next().and_then(|it| it.rsplit_once('.'));
        let extension = extension.map_or("", |(_, extension)| extension);
        let applying = RULES
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.is_for(extension));
        // Most files have none of the texts.
        let applying: Vec<_> = applying
            .filter(|(_, rule)| rule.may_match(&lower))
            .collect();
        if applying.is_empty() {
            return;
        }
        let lines = text.split('\n').zip(lower.split('\n'));
        for ((line, lower), number) in lines.zip(1..) {
            for (at, rule) in applying.iter().filter(|(_, rule)| rule.may_match(lower)) {
                if let Some(offset) = self.find(*at, rule, line) {
                    let before = line.get(..offset).unwrap_or_default();
                    let column = u32::try_from(before.chars().count()).unwrap_or(u32::MAX);
                    self.add(ScanFinding {
                        rule: rule.id,
                        severity: rule.severity(),
                        message: rule.message,
                        path: path.to_owned(),
                        line: number,
                        column: column.saturating_add(1),
                    });
                }
            }
        }
    }

    /// Returns the offset of the first match in a line.
    fn find(&mut self, at: usize, rule: &Rule, line: &str) -> Option<usize> {
        let compiled = self
            .compiled
            .entry(at)
            .or_insert_with(|| Regex::new(rule.pattern).ok());
        let regex = compiled.as_ref()?;
        match rule.matcher {
            Matcher::Found => regex.find(line).map(|it| it.start()),
            Matcher::RandomValue => {
                let mut captures = regex.captures_iter(line);
                let value = captures.find_map(|it| it.get(1).filter(|it| is_random(it.as_str())));
                value.map(|it| it.start())
            }
        }
    }

    fn add(&mut self, finding: ScanFinding) {
        self.scan.blocks |= finding.severity == FindingSeverity::Blocks;
        if self.scan.findings.len() < FINDINGS_MAX {
            self.scan.findings.push(finding);
            return;
        }
        self.scan.unlisted = self.scan.unlisted.saturating_add(1);
        // What blocks is listed instead of a warning.
        if finding.severity == FindingSeverity::Blocks
            && let Some(warning) = self
                .scan
                .findings
                .iter_mut()
                .rfind(|it| it.severity == FindingSeverity::Warns)
        {
            *warning = finding;
        }
    }
}

/// Returns whether a value looks random: it has letters and digits, and many different characters. An estimate
/// of its entropy in whole numbers is the same on every machine.
fn is_random(value: &str) -> bool {
    const DIFFERENT_MIN: usize = 10;
    let different: std::collections::BTreeSet<u8> = value.bytes().collect();
    different.len() >= DIFFERENT_MIN
        && value.bytes().any(|it| it.is_ascii_digit())
        && value.bytes().any(|it| it.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::{FindingSeverity, scan};
    use crate::failure::ErrorCode;
    use crate::limits::{FILE_MAX_BYTES, FINDINGS_MAX, SCAN_MAX_BYTES};
    use crate::scan_rules::RULES;
    use regex::Regex;
    use std::collections::BTreeSet;

    /// A text with `x` in place of characters of a secret, so that no other scanner finds one here.
    fn secret(text: &str) -> String {
        const RANDOM: &[u8] = b"q7Zd0Wm3Kp9Rt5Xv1Yb8Nc4Lf6Hg2Js";
        let mut made = String::new();
        for (at, c) in text.chars().enumerate() {
            made.push(if c == '\u{b7}' {
                RANDOM[at % RANDOM.len()].into()
            } else {
                c
            });
        }
        made
    }

    fn rules(path: &str, text: &str) -> Vec<&'static str> {
        let found = scan([(path, text.as_bytes())]);
        found.findings.iter().map(|it| it.rule).collect()
    }

    /// A line for each rule that it must find, and lines that it must not.
    fn examples() -> Vec<(&'static str, &'static str, String, Vec<&'static str>)> {
        let dots = |count: usize| "\u{b7}".repeat(count);
        let key = |start: &str, count: usize| secret(&format!("{start}{}", dots(count)));
        vec![
            (
                "secret/aws-access-key-id",
                "a",
                format!("AKIA{}", "A1B2C3D4E5F6G7H8"),
                vec!["AKIA", "xAKIAA1B2C3D4E5F6G7H8"],
            ),
            (
                "secret/aws-secret-access-key",
                "a",
                key("aws_secret_access_key = ", 40),
                vec!["aws_secret_access_key = os.environ['X']"],
            ),
            (
                "secret/github-token",
                "a",
                key("x ghp_", 36),
                vec!["ghp_short", "github_pat_"],
            ),
            (
                "secret/gitlab-token",
                "a",
                key("glpat-", 20),
                vec!["glpat-x"],
            ),
            (
                "secret/private-key",
                "a",
                format!("-----BEGIN RSA {} KEY-----", "PRIVATE"),
                vec!["-----BEGIN PUBLIC KEY-----", "a private key"],
            ),
            ("secret/slack-token", "a", key("xoxb-", 20), vec!["xoxb"]),
            (
                "secret/slack-webhook",
                "a",
                key("https://hooks.slack.com/services/", 24),
                vec!["https://hooks.slack.com/"],
            ),
            (
                "secret/google-api-key",
                "a",
                key("AIza", 35),
                vec!["AIza", "aiza"],
            ),
            (
                "secret/stripe-key",
                "a",
                key("sk_live_", 24),
                vec!["sk_test_1234567890123456", "x_live_x"],
            ),
            (
                "secret/model-api-key",
                "a",
                key("sk-", 48),
                vec!["sk-", "task-list"],
            ),
            (
                "secret/npm-token",
                "a",
                key("npm_", 36),
                vec!["npm_config_cache"],
            ),
            ("secret/pypi-token", "a", key("pypi-", 60), vec!["pypi-x"]),
            (
                "secret/json-web-token",
                "a",
                format!("{}.{}.{}", key("eyJ", 20), key("eyJ", 20), key("", 30)),
                vec!["eyJhbGciOiJIUzI1NiJ9"],
            ),
            (
                "secret/url-password",
                "a",
                "postgres://user:hunter22@db/x".to_owned(),
                vec![
                    "http://127.0.0.1:80/",
                    "postgres://${USER}:${PASS}@db",
                    "http://a/b:c@d",
                ],
            ),
            (
                "secret/random-assignment",
                "a",
                key("password = '", 20) + "'",
                vec![
                    "password = 'correct-horse-battery'",
                    "token = get_token()",
                    "api_key: \"your-api-key-here\"",
                    "secret = 'aaaaaaaaaaaaaaaa1'",
                ],
            ),
            (
                "sast/python-eval-of-request",
                "a.py",
                "x = eval(request.args['q'])".to_owned(),
                vec!["eval('1')", "retrieval(request)"],
            ),
            (
                "sast/python-shell",
                "a.py",
                "subprocess.run(x, shell = True)".to_owned(),
                vec!["subprocess.run(x, shell=False)"],
            ),
            (
                "sast/python-os-system",
                "a.py",
                "os.system(cmd)".to_owned(),
                vec!["os.systems", "import os"],
            ),
            (
                "sast/python-pickle",
                "a.py",
                "pickle.loads(body)".to_owned(),
                vec!["pickle.dumps(x)"],
            ),
            (
                "sast/python-yaml-load",
                "a.py",
                "yaml.load(body)".to_owned(),
                vec![
                    "yaml.load(body, Loader=yaml.SafeLoader)",
                    "yaml.safe_load(x)",
                ],
            ),
            (
                "sast/python-debug",
                "a.py",
                "app.run(debug=True)".to_owned(),
                vec!["app.run(debug=False)", "debug = Trueish"],
            ),
            (
                "sast/python-sql",
                "a.py",
                "c.execute(f'select {x}')".to_owned(),
                vec!["c.execute('select ?', (x,))"],
            ),
            (
                "sast/node-eval-of-request",
                "a.js",
                "eval(req.query.q)".to_owned(),
                vec!["eval('1')", "function (req) {}"],
            ),
            (
                "sast/node-exec",
                "a.ts",
                "exec('ls ' + dir)".to_owned(),
                vec!["exec('ls')", "re.exec(a + b)", "execFile('ls', [a + b])"],
            ),
            (
                "sast/node-tls",
                "a.mjs",
                "{ rejectUnauthorized: false }".to_owned(),
                vec!["{ rejectUnauthorized: true }"],
            ),
            (
                "sast/go-shell",
                "a.go",
                "exec.Command(\"sh\", \"-c\", x)".to_owned(),
                vec!["exec.Command(\"ls\", \"-c\")"],
            ),
            (
                "sast/go-tls",
                "a.go",
                "&tls.Config{InsecureSkipVerify: true}".to_owned(),
                vec!["InsecureSkipVerify: false"],
            ),
            (
                "sast/rust-shell",
                "a.rs",
                "Command::new(\"sh\")".to_owned(),
                vec!["Command::new(\"ssh\")"],
            ),
        ]
    }

    #[test]
    fn every_rule_finds_its_example_and_nothing_near() {
        let examples = examples();
        let covered: BTreeSet<_> = examples.iter().map(|it| it.0).collect();
        let all: BTreeSet<_> = RULES.iter().map(|it| it.id).collect();
        assert_eq!(covered, all);
        assert_eq!(all.len(), RULES.len(), "ids are unique");
        for rule in RULES {
            assert!(Regex::new(rule.pattern).is_ok(), "{}", rule.id);
        }
        for (rule, path, line, near) in examples {
            assert!(rules(path, &line).contains(&rule), "{rule}: {line}");
            for near in near {
                assert!(!rules(path, near).contains(&rule), "{rule}: {near}");
            }
            if rule.starts_with("sast/") {
                assert_eq!(rules("a.txt", &line), [""; 0], "{rule} is for its language");
            }
        }
    }

    #[test]
    fn the_book_lists_every_rule() {
        let page = include_str!("../../../docs/reference/verbs.md");
        let listed: Vec<_> = page
            .lines()
            .filter(|it| it.starts_with("| `s") && it.contains('/'))
            .collect();
        let rows = RULES
            .iter()
            .map(|it| format!("| `{}` | {} |", it.id, it.message));
        assert_eq!(listed, rows.collect::<Vec<_>>());
    }

    #[test]
    fn findings_have_places_and_no_secrets() {
        let token = secret(&format!("ghp_{}", "\u{b7}".repeat(36)));
        let text = format!("x\r\n\u{e9}\u{e9} = '{token}'\napp.run(debug=True)\n");
        let found = scan([
            ("b.py", text.as_bytes()),
            ("a.py", b"os.system(x)"),
            ("c", b"\xff"),
        ]);
        let places: Vec<_> = found
            .findings
            .iter()
            .map(|it| {
                format!(
                    "{}:{}:{} {} {:?}",
                    it.path, it.line, it.column, it.rule, it.severity
                )
            })
            .collect();
        assert_eq!(
            places,
            [
                "a.py:1:1 sast/python-os-system Warns",
                "b.py:2:7 secret/github-token Blocks",
                "b.py:3:9 sast/python-debug Warns",
            ]
        );
        let failure = found.admit().expect_err("a secret");
        assert_eq!(failure.code, ErrorCode::Policy);
        assert_eq!(
            failure.message,
            "`b.py`, line 2, column 7: a GitHub token (secret/github-token)"
        );
        assert!(!format!("{found:?}{failure:?}").contains(&token[4..]));
        // Warnings alone do not block.
        let found = scan([("a.py", &b"os.system(x)"[..])]);
        assert_eq!(found.findings[0].severity, FindingSeverity::Warns);
        assert_eq!(found.admit(), Ok(()));
    }

    #[test]
    fn a_scan_ends() {
        let file = vec![b'\n'; FILE_MAX_BYTES];
        let long = vec![b'\n'; FILE_MAX_BYTES + 1];
        assert_eq!(scan([("a", &file[..])]).unscanned, 0);
        assert_eq!(scan([("a", &long[..])]).unscanned, 1);
        let count = SCAN_MAX_BYTES / FILE_MAX_BYTES;
        let many = |count| std::iter::repeat_n(("a", &file[..]), count);
        assert_eq!(scan(many(count)).unscanned, 0);
        assert_eq!(scan(many(count + 2)).unscanned, 2);
    }

    #[test]
    fn what_blocks_is_listed_first() {
        let token = secret(&format!("glpat-{}", "\u{b7}".repeat(20)));
        let text = format!("{}{token}\n", "os.system(x)\n".repeat(FINDINGS_MAX + 5));
        let found = scan([("a.py", text.as_bytes())]);
        assert_eq!((found.findings.len(), found.unlisted), (FINDINGS_MAX, 6));
        assert!(
            found
                .admit()
                .is_err_and(|it| it.message.contains("secret/gitlab-token"))
        );
    }

    #[test]
    fn the_examples_of_the_specification_have_no_finding() {
        for (path, text) in [
            (
                "app.py",
                "from flask import Flask\napp=Flask(__name__)\n@app.get('/')\ndef hi(): return 'Hello, World!'\napp.run(host='0.0.0.0')\n",
            ),
            (
                "index.js",
                "const express=require('express');const app=express();app.get('/',(_,res)=>res.send('Hello, World!'));app.listen(0,'0.0.0.0');",
            ),
        ] {
            assert_eq!(rules(path, text), [""; 0]);
        }
    }
}
