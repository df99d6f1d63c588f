//! Languages, and the names of their packages.

use super::failure::{ErrorCode, Failure, quoted};
use super::limits::{PACKAGE_NAME_MAX_BYTES, PACKAGE_VERSION_MAX_BYTES};

/// A language that has a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// Python.
    Python,
    /// Node.js.
    Node,
    /// Go.
    Go,
    /// Rust, as a component of WASI.
    Rust,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 4] = [Self::Python, Self::Node, Self::Go, Self::Rust];

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Go => "go",
            Self::Rust => "rust",
        }
    }

    /// Returns the member of `deps` with its dependencies.
    pub fn dependency_list(self) -> &'static str {
        match self {
            Self::Python => "requirements",
            Self::Node => "packages",
            Self::Go => "modules",
            Self::Rust => "crates",
        }
    }

    /// Returns the language of a name, `None` for one without a runner.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns the language of a plan.
    ///
    /// # Errors
    /// `E_PLAN`: no runner has the language.
    pub fn of_plan(name: &str) -> Result<Self, Failure> {
        Self::named(name).ok_or_else(|| {
            let message = format!("there is no runner for the language {}", quoted(name));
            let hint = "use python, node, go or rust";
            Failure::new(ErrorCode::Plan, message).hint(hint)
        })
    }

    /// Returns an example of a dependency, for hints.
    fn example(self) -> &'static str {
        match self {
            Self::Python => "`flask==3.0.3` or `flask`",
            Self::Node => "`express@4.19.2` or `express`",
            Self::Go => "`golang.org/x/text@v0.3.0` or `golang.org/x/text`",
            Self::Rust => "`axum@0.7.5` or `axum`",
        }
    }

    /// Returns the name of a package in the form in which its registry compares names, `None` if it is not a
    /// name.
    ///
    /// PyPI ignores case, and takes a run of `-`, `_` and `.` for one `-` (PEP 503). crates.io ignores case,
    /// and takes `_` for `-`. Of npm, scopes are in lower case; its old names differ in case alone, as do Go's
    /// modules.
    pub fn normal_name(self, name: &str) -> Option<String> {
        if name.len() > PACKAGE_NAME_MAX_BYTES {
            return None;
        }
        match self {
            Self::Python => python_name(name),
            Self::Node => node_name(name),
            Self::Go => is_module(name).then(|| name.to_owned()),
            Self::Rust => {
                let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
                    && name.bytes().all(|it| is_word(it) || it == b'-');
                is_name.then(|| name.to_ascii_lowercase().replace('_', "-"))
            }
        }
    }

    fn is_version(self, version: &str) -> bool {
        if version.len() > PACKAGE_VERSION_MAX_BYTES {
            return false;
        }
        match self {
            Self::Python => is_python_version(version),
            Self::Node | Self::Rust => is_semantic_version(version),
            Self::Go => version.strip_prefix('v').is_some_and(is_semantic_version),
        }
    }
}

/// A dependency of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The language.
    pub language: Language,
    /// The name as it was written.
    pub name: String,
    /// The name as its registry compares it.
    pub normal_name: String,
    /// The extras of a Python package, or the features of a crate, as they were written.
    pub extras: Vec<String>,
    /// Whether a crate has its default features.
    pub default_features: bool,
    /// The exact version. Without one and without a range the newest is resolved once, and then locked.
    pub version: Option<String>,
    /// A range of versions, in the form of the language. Only files that declare dependencies have it.
    pub range: Option<String>,
}

impl Requirement {
    /// Reads a dependency: a name, with `@` (or in Python `==`) and an exact version.
    ///
    /// # Errors
    /// `E_PLAN`: it is a range, a tag, an option, a path, a URL, or something else.
    pub fn read(language: Language, text: &str) -> Result<Self, Failure> {
        let refuse = |predicate: &str| {
            let message = format!(
                "the {} dependency {} {predicate}",
                language.name(),
                quoted(text)
            );
            let hint = format!(
                "write a name with an exact version or alone: {}",
                language.example()
            );
            Err(Failure::new(ErrorCode::Plan, message).hint(hint))
        };
        if text.starts_with('-') {
            return refuse("is an option");
        }
        if text.contains("://") || text.starts_with("git@") {
            return refuse("is a URL");
        }
        if text.starts_with(['.', '/', '~']) || text.contains('\\') {
            return refuse("is a path");
        }
        let (name, version) = split(language, text);
        let (base, extras) = match extras(language, name) {
            Some(parts) => parts,
            None => return refuse("has malformed extras"),
        };
        let Some(normal_name) = language.normal_name(base) else {
            return refuse("does not begin with the name of a package");
        };
        match version {
            Some(version) if !language.is_version(version) => refuse("has no exact version"),
            version => Ok(Self {
                language,
                name: base.to_owned(),
                normal_name,
                extras,
                default_features: true,
                version: version.map(str::to_owned),
                range: None,
            }),
        }
    }

    /// Reads a dependency of a file that declares it: a name, and versions in the form of the language, which may be
    /// a range. The error is the predicate of a sentence about the dependency.
    pub(crate) fn declared(
        language: Language,
        name: &str,
        extras: Vec<String>,
        versions: &str,
    ) -> Result<Self, &'static str> {
        let normal_name = language.normal_name(name);
        let normal_name = normal_name.ok_or("does not begin with the name of a package")?;
        let (version, range) = versions_of(language, versions)?;
        Ok(Self {
            language,
            name: name.to_owned(),
            normal_name,
            extras,
            default_features: true,
            version,
            range,
        })
    }

    /// Returns what a dependency says of its version, in words.
    pub(crate) fn bound(&self) -> Option<&str> {
        self.version.as_deref().or(self.range.as_deref())
    }

    /// Returns the dependency in the form of its language, such as `flask==3.0.3`.
    pub fn text(&self) -> String {
        let mut text = self.name.clone();
        if !self.extras.is_empty() {
            text.push_str(&format!("[{}]", self.extras.join(",")));
        }
        if let Some(bound) = self.bound() {
            text.push_str(match (self.language, &self.version) {
                (Language::Python, Some(_)) => "==",
                (Language::Python, None) => "",
                _ => "@",
            });
            text.push_str(bound);
        }
        text
    }
}

/// Splits a dependency into its name and its version.
fn split(language: Language, text: &str) -> (&str, Option<&str>) {
    let parts = match language {
        Language::Python => text.split_once("==").or_else(|| text.split_once('@')),
        // The scope of a name begins with the same character.
        Language::Node => {
            let mut later = text.char_indices().skip(1);
            let at = later.find(|(_, c)| *c == '@');
            at.map(|(at, _)| (&text[..at], &text[at + 1..]))
        }
        Language::Go | Language::Rust => text.split_once('@'),
    };
    match parts {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    }
}

/// Splits a Python name from its extras.
pub(crate) fn extras(language: Language, name: &str) -> Option<(&str, Vec<String>)> {
    match name.split_once('[') {
        Some((name, extras)) if language == Language::Python => {
            let extras = extras.strip_suffix(']')?.split(',').map(str::trim);
            let extras: Vec<_> = extras.map(str::to_owned).collect();
            let are_names = extras.iter().all(|it| python_name(it).is_some());
            are_names.then_some((name, extras))
        }
        _ => Some((name, Vec::new())),
    }
}

/// Operators of PEP 440 with the longest first, and of Cargo.
const PYTHON_OPERATORS: [&str; 8] = ["===", "==", "~=", "!=", "<=", ">=", "<", ">"];
const RUST_OPERATORS: [&str; 8] = [">=", "<=", ">", "<", "=", "^", "~", ""];

/// Reads versions in the form of a language: returns an exact one, or a range of several.
fn versions_of(
    language: Language,
    text: &str,
) -> Result<(Option<String>, Option<String>), &'static str> {
    let text = text.trim();
    if text.len() > PACKAGE_VERSION_MAX_BYTES {
        return Err("has too long a version");
    }
    if text.is_empty() || text == "*" {
        return Ok((None, None));
    }
    let exact = match language {
        Language::Python => text.strip_prefix("==").map(str::trim),
        Language::Node => Some(text.trim_start_matches(['=', 'v', ' '])),
        Language::Rust => text.strip_prefix('=').map(str::trim),
        // A version of `go.mod` is the least one.
        Language::Go => None,
    };
    if let Some(exact) = exact.filter(|it| language.is_version(it)) {
        return Ok((Some(exact.to_owned()), None));
    }
    let is_range = match language {
        Language::Python => text.split(',').all(is_python_bound),
        Language::Node => text.split("||").all(is_node_range),
        Language::Rust => text.split(',').all(is_rust_bound),
        Language::Go => language.is_version(text),
    };
    match is_range {
        true => Ok((None, Some(text.to_owned()))),
        false => Err("has no version or range of versions"),
    }
}

fn is_python_bound(text: &str) -> bool {
    let text = text.trim();
    let mut operators = PYTHON_OPERATORS.into_iter();
    let found = operators.find_map(|it| Some((it, text.strip_prefix(it)?.trim())));
    found.is_some_and(|(operator, version)| match version.strip_suffix(".*") {
        Some(version) => matches!(operator, "==" | "!=") && is_python_version(version),
        None => is_python_version(version),
    })
}

fn is_node_range(text: &str) -> bool {
    text.split_whitespace().all(|word| {
        let version = word.trim_start_matches(['<', '>', '=', '^', '~']);
        let version = version.strip_prefix('v').unwrap_or(version);
        let is_operator = version.is_empty() && !word.is_empty();
        is_operator || word == "-" || version == "x" || version == "X" || is_partial(version)
    }) && !text.trim().is_empty()
}

fn is_rust_bound(text: &str) -> bool {
    let text = text.trim();
    let mut operators = RUST_OPERATORS.into_iter();
    let version = operators.find_map(|it| text.strip_prefix(it));
    version.is_some_and(|it| is_partial(it.trim()))
}

/// Returns whether a text is a version of Semantic Versioning, of which parts may be missing or `*`.
fn is_partial(version: &str) -> bool {
    version.starts_with(|c: char| c.is_ascii_digit() || c == '*')
        && version
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'-' | b'+' | b'*'))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn python_name(name: &str) -> Option<String> {
    let is_end = |it: Option<char>| it.is_some_and(|c| c.is_ascii_alphanumeric());
    let is_inner = |byte: u8| is_word(byte) || matches!(byte, b'-' | b'.');
    if !is_end(name.chars().next()) || !is_end(name.chars().last()) || !name.bytes().all(is_inner) {
        return None;
    }
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            c => normal.push(c.to_ascii_lowercase()),
        }
    }
    Some(normal)
}

fn node_name(name: &str) -> Option<String> {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '_'])
            && part
                .bytes()
                .all(|it| is_word(it) || matches!(it, b'-' | b'.' | b'~'))
    };
    match name.strip_prefix('@') {
        Some(scoped) => {
            let (scope, name) = scoped.split_once('/')?;
            (is_part(scope) && is_part(name))
                .then(|| format!("@{}/{name}", scope.to_ascii_lowercase()))
        }
        None => is_part(name).then(|| name.to_owned()),
    }
}

/// Returns whether a text is the path of a Go module or of a package in one.
fn is_module(path: &str) -> bool {
    let mut elements = path.split('/');
    let is_host = elements.next().is_some_and(|host| {
        host.contains('.')
            && !host.starts_with(['-', '.'])
            && !host.ends_with('.')
            && !host.contains("..")
            && host.bytes().all(|it| {
                it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, b'-' | b'.')
            })
    });
    let mut count = 0;
    let are_elements = elements.all(|it| {
        count += 1;
        !it.is_empty()
            && !it.starts_with('.')
            && !it.ends_with('.')
            && it
                .bytes()
                .all(|byte| is_word(byte) || matches!(byte, b'-' | b'.' | b'~'))
    });
    is_host && are_elements && count > 0
}

/// Returns whether a text is an exact version of PEP 440, in its usual spelling.
fn is_python_version(version: &str) -> bool {
    let version = version.strip_prefix('=').unwrap_or(version);
    let (version, local) = match version.split_once('+') {
        Some((version, local)) => (version, Some(local)),
        None => (version, None),
    };
    let is_local = |it: &str| {
        !it.is_empty()
            && it
                .bytes()
                .all(|it| is_word(it) || matches!(it, b'-' | b'.'))
    };
    let version = match version.split_once('!') {
        Some((epoch, rest)) if is_number(epoch) => rest,
        Some(_) => return false,
        None => version,
    };
    version.starts_with(|c: char| c.is_ascii_digit())
        && version.ends_with(|c: char| c.is_ascii_alphanumeric())
        && !version.contains("..")
        && version
            .bytes()
            .all(|it| is_word(it) || matches!(it, b'-' | b'.'))
        && local.is_none_or(is_local)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

/// Returns whether a text is a full version of Semantic Versioning 2.0.0.
fn is_semantic_version(version: &str) -> bool {
    let is_list = |it: &str| {
        it.split('.').all(|it| {
            !it.is_empty()
                && it
                    .bytes()
                    .all(|it| it.is_ascii_alphanumeric() || it == b'-')
        })
    };
    let (version, build) = match version.split_once('+') {
        Some((version, build)) => (version, Some(build)),
        None => (version, None),
    };
    let (core, pre) = match version.split_once('-') {
        Some((core, pre)) => (core, Some(pre)),
        None => (version, None),
    };
    let is_core = |it: &str| is_number(it) && (it == "0" || !it.starts_with('0'));
    core.split('.').count() == 3
        && core.split('.').all(is_core)
        && pre.is_none_or(is_list)
        && build.is_none_or(is_list)
}

#[cfg(test)]
mod tests {
    use super::{Language, Requirement};
    use crate::failure::ErrorCode;
    use crate::limits::{PACKAGE_NAME_MAX_BYTES, PACKAGE_VERSION_MAX_BYTES};

    #[test]
    fn dependencies_are_names_with_exact_versions() {
        use Language::{Go, Node, Python, Rust};
        for (language, text, normal, version) in [
            (Python, "flask", "flask", None),
            (Python, "flask==3.0.3", "flask", Some("3.0.3")),
            (Python, "flask@3.0.3", "flask", Some("3.0.3")),
            (
                Python,
                "Zope.Interface__x==1.0rc1",
                "zope-interface-x",
                Some("1.0rc1"),
            ),
            (
                Python,
                "uvicorn[standard,x]==1!2.0+local.1",
                "uvicorn",
                Some("1!2.0+local.1"),
            ),
            (Node, "express", "express", None),
            (Node, "express@4.19.2", "express", Some("4.19.2")),
            (
                Node,
                "@Types/node@20.1.0-rc.1+b",
                "@types/node",
                Some("20.1.0-rc.1+b"),
            ),
            (Node, "@types/node", "@types/node", None),
            (Node, "JSONStream@1.3.5", "JSONStream", Some("1.3.5")),
            (
                Go,
                "golang.org/x/text@v0.3.0",
                "golang.org/x/text",
                Some("v0.3.0"),
            ),
            (
                Go,
                "github.com/Masterminds/semver/v3",
                "github.com/Masterminds/semver/v3",
                None,
            ),
            (
                Go,
                "a.b/c@v0.0.0-20190101000000-abcdefabcdef",
                "a.b/c",
                Some("v0.0.0-20190101000000-abcdefabcdef"),
            ),
            (
                Go,
                "a.b/c@v2.0.0+incompatible",
                "a.b/c",
                Some("v2.0.0+incompatible"),
            ),
            (Rust, "serde_json@1.0.0", "serde-json", Some("1.0.0")),
            (Rust, "Axum", "axum", None),
        ] {
            let found = Requirement::read(language, text).expect(text);
            assert_eq!(
                (&*found.normal_name, found.version.as_deref()),
                (normal, version),
                "{text}"
            );
        }
        let text = |language, text| Requirement::read(language, text).expect(text).text();
        assert_eq!(
            text(Python, "uvicorn[standard]@0.30.0"),
            "uvicorn[standard]==0.30.0"
        );
        assert_eq!(text(Node, "@a/b@1.0.0"), "@a/b@1.0.0");
    }

    #[test]
    fn declared_versions_are_exact_ones_or_ranges() {
        use Language::{Go, Node, Python, Rust};
        let read = |language, versions: &str| {
            let read = Requirement::declared(language, "a.b/c", Vec::new(), versions);
            let read = read.or_else(|_| Requirement::declared(language, "a", Vec::new(), versions));
            read.map(|it| (it.version, it.range))
        };
        for (language, versions, version, range) in [
            (Python, "", None, None),
            (Python, "==3.0.3", Some("3.0.3"), None),
            (Python, "== 3.0.3", Some("3.0.3"), None),
            (Python, ">=2", None, Some(">=2")),
            (Python, "~=2.0, !=2.5.*", None, Some("~=2.0, !=2.5.*")),
            (Python, "==2.*", None, Some("==2.*")),
            (Node, "*", None, None),
            (Node, "4.19.2", Some("4.19.2"), None),
            (Node, "=4.19.2", Some("4.19.2"), None),
            (Node, "^4.19.2", None, Some("^4.19.2")),
            (Node, "1.x || >=2.5.0 <3", None, Some("1.x || >=2.5.0 <3")),
            (Node, "1.2 - 2", None, Some("1.2 - 2")),
            (Node, "> 1", None, Some("> 1")),
            (Rust, "=1.0.2", Some("1.0.2"), None),
            (Rust, "1.0.2", None, Some("1.0.2")),
            (Rust, ">=1, <3", None, Some(">=1, <3")),
            (Rust, "0.5.*", None, Some("0.5.*")),
            (Go, "v1.2.3", None, Some("v1.2.3")),
        ] {
            let expected = (version.map(str::to_owned), range.map(str::to_owned));
            assert_eq!(read(language, versions), Ok(expected), "{versions}");
        }
        for (language, versions) in [
            (Python, "2"),
            (Python, ">=2; python_version<'3'"),
            (Python, ">=2.*"),
            (Python, "@ https://x/y"),
            (Python, ">="),
            (Node, "latest"),
            (Node, "npm:b@1.0.0"),
            (Node, "file:../b"),
            (Node, "user/repo"),
            (Node, "^1 ||"),
            (Node, "workspace:*"),
            (Rust, "latest"),
            (Rust, "1\""),
            (Rust, "1 2"),
            (Go, "v1"),
            (Go, "1.2.3"),
        ] {
            assert!(read(language, versions).is_err(), "{versions}");
        }
        let long = format!("^1.{}", "1".repeat(PACKAGE_VERSION_MAX_BYTES));
        assert!(read(Node, &long).is_err());
    }

    #[test]
    fn other_forms_are_refused() {
        use Language::{Go, Node, Python, Rust};
        for (language, text, reason) in [
            (Python, "-r", "option"),
            (Python, "--index-url=http://x", "option"),
            (Python, "git+https://x/y", "URL"),
            (Python, "flask @ https://x/y.whl", "URL"),
            (Python, "./wheel.whl", "path"),
            (Python, "..", "path"),
            (Python, "flask>=2", "name of a package"),
            (Python, "flask~=2.0", "name of a package"),
            (Python, "flask==2.*", "exact version"),
            (Python, "flask==", "exact version"),
            (Python, "flask==3.0.3,<4", "exact version"),
            (Python, "flask==1..2", "exact version"),
            (Python, "flask[", "extras"),
            (Python, "flask[a", "extras"),
            (Python, "flask[a b]", "extras"),
            (Python, "flask; python_version<'3'", "name of a package"),
            (Python, "", "name of a package"),
            (Python, "fl\u{e4}sk", "name of a package"),
            (Node, "express@^4", "exact version"),
            (Node, "express@latest", "exact version"),
            (Node, "express@4", "exact version"),
            (Node, "express@", "exact version"),
            (Node, "x@npm:y@1.0.0", "exact version"),
            (Node, "user/repo", "name of a package"),
            (Node, "@scope", "name of a package"),
            (Node, "@/x", "name of a package"),
            (Node, "@", "name of a package"),
            (Node, "\u{e9}@1.0.0", "name of a package"),
            (Node, "file:../x", "name of a package"),
            (Go, "golang.org/x/text@latest", "exact version"),
            (Go, "golang.org/x/text@0.3.0", "exact version"),
            (Go, "./...", "path"),
            (Go, "text", "name of a package"),
            (Go, "golang.org/../x", "name of a package"),
            (Go, "golang.org", "name of a package"),
            (Rust, "serde@1", "exact version"),
            (Rust, "serde@01.0.0", "exact version"),
            (Rust, "1serde", "name of a package"),
        ] {
            let failure = Requirement::read(language, text).expect_err(text);
            assert_eq!(failure.code, ErrorCode::Plan);
            assert!(
                failure.message.contains(reason),
                "{text}: {}",
                failure.message
            );
            assert_eq!(failure.hints.len(), 1);
        }
        for (limit, text) in [
            (PACKAGE_NAME_MAX_BYTES, ""),
            (PACKAGE_VERSION_MAX_BYTES, "flask==1."),
        ] {
            let of = |len: usize| format!("{text}{}", "1".repeat(len));
            let prefix = text.len().saturating_sub("flask==".len());
            assert!(
                Requirement::read(Python, &of(limit - prefix)).is_ok(),
                "{text}"
            );
            assert!(
                Requirement::read(Python, &of(limit - prefix + 1)).is_err(),
                "{text}"
            );
        }
    }
}
