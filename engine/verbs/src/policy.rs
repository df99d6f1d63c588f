//! The policy of the daemon \[2, 5\]: a YAML file, and what it allows.

use super::document::{located, text};
use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::language::Language;
use super::limits::{CLOSURE_MAX, POLICY_MAX_BYTES};
use super::verb::DaemonVerb;
use agent_diagnostic::Problems as Diagnostics;
use agent_syntax::{Entry, Node, Value, json_string, yaml};
use agent_text::{DocumentKind, Span, Text, misspelt};
use std::collections::{BTreeMap, BTreeSet};

/// What an application may do with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FilesystemPolicy {
    /// Write to the folder of its task.
    #[default]
    Task,
    /// Write to no file but its private `/tmp`.
    Readonly,
}

/// How clients reach applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// At a Unix socket, through the gateway, and at a leased port.
    #[default]
    Uds,
    /// At a leased port alone.
    Tcp,
}

/// A policy. The default one denies all that it can: no packages, no network, no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// The packages that may be installed, by their normal names. A language without an entry is denied.
    allowlists: BTreeMap<Language, BTreeSet<String>>,
    /// Whether dependencies may be installed at all.
    installs: bool,
    /// The verbs that are denied.
    denied: BTreeSet<DaemonVerb>,
    /// What applications may do with files.
    pub filesystem: FilesystemPolicy,
    /// The hosts, each with a port, that applications may connect to.
    pub egress: Vec<String>,
    /// The names of the secrets that applications may get in their environment.
    pub secrets: Vec<String>,
    /// How clients reach applications.
    pub transport: Transport,
    /// The path of the file if it may have come with a copied folder of tasks.
    pub(crate) copied: Option<String>,
}

/// A package of a resolved closure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPackage {
    /// The name, as the registry or the lock file writes it.
    pub name: String,
    /// The exact version.
    pub version: String,
    /// The names of the packages that need it; none for a dependency of the plan, or if it is not known.
    pub required_by: Vec<String>,
}

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    /// `E_POLICY`, with every problem and its line and column: the file is not YAML of the project's subset, has
    /// an unknown key, or a value that its key does not allow.
    pub fn read(bytes: &[u8]) -> Result<Self, Failure> {
        let text = text(bytes, POLICY_MAX_BYTES, "the policy").map_err(|it| Failure {
            code: ErrorCode::Policy,
            ..it
        })?;
        let text = Text::new(DocumentKind::Policy, text);
        let whole = Span::new(0, text.as_str().len());
        let mut diagnostics = Diagnostics::new(&text);
        let root = yaml::parse(whole, &mut diagnostics);
        let mut reader = Reader {
            text: &text,
            problems: Problems::new(),
            policy: Self::default(),
        };
        if diagnostics.has_errors() {
            for diagnostic in diagnostics.finish() {
                located(&diagnostic, &mut reader.problems);
            }
            return Err(reader.problems.failure(ErrorCode::Policy));
        }
        if let Some(root) = &root {
            reader.root(root);
        }
        reader.problems.finish(ErrorCode::Policy)?;
        Ok(reader.policy)
    }

    /// Reads how clients reach applications. Without a policy, it is the default way.
    ///
    /// # Errors
    /// As of [`Policy::read`].
    pub fn read_transport(bytes: Option<&[u8]>) -> Result<Transport, Failure> {
        let policy = bytes.map(Self::read).transpose()?;
        Ok(policy.unwrap_or_default().transport)
    }

    /// Decides whether a verb may be called.
    ///
    /// # Errors
    /// `E_POLICY`: the policy denies it.
    pub fn admit_verb(&self, verb: DaemonVerb) -> Result<(), Failure> {
        if !self.denied.contains(&verb) {
            return Ok(());
        }
        let message = format!("the policy denies `{}`", verb.name());
        let hint = format!("write `{}: allow` below `policies.verbs`", verb.name());
        Err(Failure::new(ErrorCode::Policy, message).hint(hint))
    }

    /// Decides whether packages may be requested, before anything is resolved, by their names. `allowlist` is the
    /// one of the call, which narrows that of the policy.
    ///
    /// # Errors
    /// `E_POLICY`, with every forbidden package: dependencies may not be installed, the policy has no entry for
    /// the language, or does not list a package.
    pub fn admit_names(
        &self,
        language: Language,
        names: &[String],
        allowlist: Option<&[String]>,
    ) -> Result<(), Failure> {
        let packages = names.iter().map(|name| Forbidden {
            name,
            required_by: &[],
        });
        self.admit(language, packages, allowlist)
    }

    /// Decides whether a whole resolved closure may be installed.
    ///
    /// # Errors
    /// As of [`Policy::admit_names`]; each forbidden package is named with those that need it.
    pub fn admit_closure(
        &self,
        language: Language,
        closure: &[ResolvedPackage],
        allowlist: Option<&[String]>,
    ) -> Result<(), Failure> {
        if closure.len() > CLOSURE_MAX {
            let message = format!(
                "the dependencies resolve to {} packages; at most {CLOSURE_MAX} are allowed",
                closure.len()
            );
            return Err(Failure::new(ErrorCode::Policy, message).hint("require fewer packages"));
        }
        let packages = closure.iter().map(|it| Forbidden {
            name: &it.name,
            required_by: &it.required_by,
        });
        self.admit(language, packages, allowlist)
    }

    fn admit<'p>(
        &self,
        language: Language,
        packages: impl Iterator<Item = Forbidden<'p>>,
        allowlist: Option<&[String]>,
    ) -> Result<(), Failure> {
        let mut packages = packages.peekable();
        if packages.peek().is_none() {
            return Ok(());
        }
        if !self.installs {
            let message = "the policy does not allow the installation of dependencies";
            let hint = "write `deps.install@v1: allow` below `policies.verbs`";
            return Err(Failure::new(ErrorCode::Policy, message).hint(hint));
        }
        let own = self.allowlists.get(&language);
        let narrowed: Option<BTreeSet<_>> = allowlist.map(|it| {
            let names = it.iter().filter_map(|it| language.normal_name(it));
            names.collect()
        });
        let mut missing = Unlisted::default();
        let mut narrow = Unlisted::default();
        for package in packages {
            let normal = language.normal_name(package.name);
            let is_listed = |list: Option<&BTreeSet<String>>| {
                list.zip(normal.as_ref())
                    .is_some_and(|(list, it)| list.contains(it))
            };
            if !is_listed(own) {
                missing.add(&package, normal);
            } else if narrowed.is_some() && !is_listed(narrowed.as_ref()) {
                narrow.add(&package, normal);
            }
        }
        let name = language.name();
        let mut problems = Problems::new();
        if !missing.shown.is_empty() {
            let all = own
                .into_iter()
                .flatten()
                .chain(&missing.names)
                .cloned()
                .collect();
            let list = match own {
                Some(_) => format!("the policy does not list the {name} packages"),
                None => format!("the policy has no allowlist for {name}, and so does not list"),
            };
            problems.add(
                format!("{list} {}", missing.shown.join(", ")),
                format!(
                    "write `{name}: [{}]` below `policies.deps_allowlist`",
                    listed(&all)
                ),
            );
        }
        if !narrow.shown.is_empty() {
            problems.add(
                format!(
                    "`deps_allowlist` of the request does not list the {name} packages {}",
                    narrow.shown.join(", ")
                ),
                format!(
                    "add {} to `constraints.deps_allowlist` of `plan.create`",
                    listed(&narrow.names)
                ),
            );
        }
        problems.finish(ErrorCode::Policy)
    }
}

/// Returns names as the items of a list in YAML and JSON.
fn listed(names: &BTreeSet<String>) -> String {
    let names: Vec<_> = names.iter().map(|it| json_string(it)).collect();
    names.join(", ")
}

/// The packages that a list does not have. Every one is named, since each has to be decided about.
#[derive(Debug, Default)]
struct Unlisted {
    shown: Vec<String>,
    /// The names that can be listed.
    names: BTreeSet<String>,
}

impl Unlisted {
    fn add(&mut self, package: &Forbidden<'_>, normal_name: Option<String>) {
        self.shown.push(package.shown());
        self.names.extend(normal_name);
    }
}

/// Number of packages to name of those that need another one.
const DEPENDANTS_SHOWN: usize = 3;

/// A package that may be forbidden.
struct Forbidden<'p> {
    name: &'p str,
    required_by: &'p [String],
}

impl Forbidden<'_> {
    fn shown(&self) -> String {
        let name = quoted(self.name);
        match self.required_by {
            [] => name,
            by => {
                let by: Vec<_> = by
                    .iter()
                    .take(DEPENDANTS_SHOWN)
                    .map(|it| quoted(it))
                    .collect();
                format!("{name} (needed by {})", by.join(" and "))
            }
        }
    }
}

struct Reader<'t> {
    text: &'t Text,
    problems: Problems,
    policy: Policy,
}

impl<'t> Reader<'t> {
    fn add(&mut self, span: Span, message: &str, hint: impl Into<String>) {
        let start = self.text.place(span).start;
        let message = format!("line {}, column {}: {message}", start.line, start.column);
        self.problems.add(message, hint);
    }

    fn root(&mut self, root: &Node<'t>) {
        if root.value == Value::Null {
            let hint = "write `policies:` and what it allows";
            return self.add(root.span, "the policy is empty", hint);
        }
        for entry in self.entries(root, &["policies"]) {
            let parts = self.entries(
                &entry.value,
                &["deps_allowlist", "verbs", "egress", "tools", "transport"],
            );
            let part = |name| parts.iter().find(|it| it.key == name).map(|it| &it.value);
            if let Some(lists) = part("deps_allowlist") {
                self.allowlists(lists);
            }
            if let Some(verbs) = part("verbs") {
                self.verbs(verbs);
            }
            if let Some(egress) = part("egress") {
                self.egress(egress);
            }
            if let Some(tools) = part("tools") {
                self.tools(tools);
            }
            if let Some(transport) = part("transport") {
                self.policy.transport = match self.choice(transport, &["uds", "tcp"]) {
                    Some(1) => Transport::Tcp,
                    _ => Transport::Uds,
                };
            }
        }
    }

    /// Returns the known entries of a mapping, and reports the others.
    fn entries<'n>(&mut self, node: &'n Node<'t>, known: &[&str]) -> Vec<&'n Entry<'t>> {
        let hint = format!("use {}", known.join(", "));
        let Value::Mapping(entries) = &node.value else {
            self.add(node.span, "this is not a mapping", hint);
            return Vec::new();
        };
        for entry in entries.iter().filter(|it| !known.contains(&&*it.key)) {
            let message = format!("{} is not a key of the policy here", quoted(&entry.key));
            let hint = match misspelt(&entry.key, known) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => hint.clone(),
            };
            self.add(entry.key_span, &message, hint);
        }
        entries
            .iter()
            .filter(|it| known.contains(&&*it.key))
            .collect()
    }

    fn allowlists(&mut self, node: &Node<'t>) {
        for entry in self.entries(node, &Language::ALL.map(Language::name)) {
            let Some(language) = Language::named(&entry.key) else {
                continue;
            };
            let mut names = BTreeSet::new();
            for (span, name) in self.list(&entry.value) {
                match language.normal_name(&name) {
                    Some(normal) => {
                        names.insert(normal);
                    }
                    None => {
                        let message = format!(
                            "{} is not the name of a {} package",
                            quoted(&name),
                            language.name()
                        );
                        self.add(span, &message, "list names of packages, without versions");
                    }
                }
            }
            self.policy.allowlists.insert(language, names);
        }
    }

    fn verbs(&mut self, node: &Node<'t>) {
        const INSTALL: [&str; 2] = ["deps.install", "deps.install@v1"];
        let versioned = DaemonVerb::ALL.map(|it| format!("{}@v1", it.name()));
        let mut known = DaemonVerb::ALL.map(DaemonVerb::name).to_vec();
        known.extend(versioned.iter().map(String::as_str));
        known.extend(INSTALL);
        let mut seen = BTreeSet::new();
        for entry in self.entries(node, &known) {
            let base = entry.key.strip_suffix("@v1").unwrap_or(&entry.key);
            if !seen.insert(base.to_owned()) {
                let message = format!("`{base}` appears twice, with and without its version");
                self.add(entry.key_span, &message, "write the verb once");
            }
            let Some(is_allowed) = self
                .choice(&entry.value, &["deny", "allow"])
                .map(|it| it == 1)
            else {
                continue;
            };
            let verb = DaemonVerb::ALL.into_iter().find(|it| it.name() == base);
            match verb {
                Some(verb) if !is_allowed => {
                    self.policy.denied.insert(verb);
                }
                Some(_) => {}
                None => self.policy.installs = is_allowed,
            }
        }
    }

    fn tools(&mut self, node: &Node<'t>) {
        for entry in self.entries(node, &["network", "filesystem", "secrets"]) {
            match &*entry.key {
                "network" => {
                    let choice = self.choice(&entry.value, &["deny", "allow"]);
                    match (choice, self.policy.egress.is_empty()) {
                        (Some(0), false) => {
                            let message = "`network` is denied, and `egress` lists hosts";
                            self.add(
                                entry.key_span,
                                message,
                                "remove `egress`, or write `network: allow`",
                            );
                        }
                        (Some(1), true) => {
                            let message = "`network` is allowed, and `egress` lists no host";
                            self.add(
                                entry.key_span,
                                message,
                                "list each host with its port in `egress`",
                            );
                        }
                        _ => {}
                    }
                }
                "filesystem" => {
                    let choice = self.choice(&entry.value, &["task", "readonly"]);
                    self.policy.filesystem = match choice {
                        Some(1) => FilesystemPolicy::Readonly,
                        _ => FilesystemPolicy::Task,
                    };
                }
                _ if scalar(&entry.value) == Some("deny") => {}
                _ => {
                    for (span, name) in self.list(&entry.value) {
                        let is_name = name
                            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                            && name
                                .bytes()
                                .all(|it| it.is_ascii_alphanumeric() || it == b'_');
                        if is_name {
                            self.policy.secrets.push(name);
                        } else {
                            let message = format!("{} is not the name of a secret", quoted(&name));
                            self.add(span, &message, "use letters, digits and `_`");
                        }
                    }
                }
            }
        }
    }

    fn egress(&mut self, node: &Node<'t>) {
        if scalar(node) == Some("deny") {
            return;
        }
        for (span, host) in self.list(node) {
            if is_host_and_port(&host) {
                self.policy.egress.push(host);
            } else {
                let message = format!("{} is not a host with a port", quoted(&host));
                self.add(
                    span,
                    &message,
                    "write `HOST:PORT`, such as `api.example.com:443`",
                );
            }
        }
    }

    /// Returns the number of the chosen word.
    fn choice(&mut self, node: &Node<'t>, words: &[&str]) -> Option<usize> {
        let found = scalar(node).and_then(|it| words.iter().position(|word| *word == it));
        if found.is_none() {
            let hint = format!("write {}", words.join(" or "));
            self.add(node.span, "this value is not allowed here", hint);
        }
        found
    }

    /// Returns the texts of a list with their places.
    fn list(&mut self, node: &Node<'t>) -> Vec<(Span, String)> {
        let hint = "write a list, such as `[a, b]`; an empty one is `[]`";
        let Value::Sequence(items) = &node.value else {
            self.add(node.span, "this is not a list", hint);
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match scalar(item) {
                Some(text) => texts.push((item.span, text.to_owned())),
                None => self.add(item.span, "this is not a text", hint),
            }
        }
        texts
    }
}

fn scalar<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.value {
        Value::String(text) | Value::Plain(text) => Some(text),
        _ => None,
    }
}

/// Returns whether a text is a name or an address in lower case, and a port. Which addresses of it may be
/// connected to is decided where the connection is.
fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let is_port = port
        .parse::<u16>()
        .is_ok_and(|it| it > 0 && it.to_string() == port);
    let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let is_host = match inner {
        Some(address) => address.parse::<core::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host.split('.').all(|label| {
                    !label.is_empty()
                        && !label.starts_with('-')
                        && !label.ends_with('-')
                        && label
                            .bytes()
                            .all(|it| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'-'))
                })
        }
    };
    is_port && is_host
}

#[cfg(test)]
mod tests {
    use super::{FilesystemPolicy, Policy, ResolvedPackage, Transport};
    use crate::failure::{ErrorCode, Failure};
    use crate::language::{Language, Requirement};
    use crate::verb::DaemonVerb;

    /// The example of section 5, with the switch.
    const EXAMPLE: &str = "\
policies:
  deps_allowlist:
    python: [\"flask\",\"fastapi\",\"requests\"]
    node: [\"express\",\"node-fetch\"]
    go:   []
  verbs:
    deps.install@v1: allow
";

    fn policy(text: &str) -> Policy {
        Policy::read(text.as_bytes()).unwrap_or_else(|it| panic!("{text}\n{}", it.message))
    }

    fn requested(
        policy: &Policy,
        language: Language,
        names: &[&str],
        call: Option<&[&str]>,
    ) -> Result<(), Failure> {
        let names = names
            .iter()
            .map(|it| Requirement::read(language, it).expect("a dependency"));
        let names: Vec<_> = names.map(|it| it.name).collect();
        let call: Option<Vec<_>> = call.map(|it| it.iter().map(|it| (*it).to_owned()).collect());
        policy.admit_names(language, &names, call.as_deref())
    }

    #[test]
    fn packages_are_compared_as_registries_compare_them() {
        use Language::{Go, Node, Python, Rust};
        let policy = policy(
            "policies:\n  verbs: { deps.install: allow }\n  deps_allowlist:\n    python: [Zope.Interface, flask]\n    \
             node: ['@Types/node', JSONStream]\n    go: [golang.org/x/text]\n",
        );
        for (language, name, message) in [
            (Python, "Flask==1.0", ""),
            (Python, "zope-interface", ""),
            (Python, "zope_Interface", ""),
            (
                Python,
                "flask2",
                "the policy does not list the python packages `flask2`",
            ),
            (Node, "@types/node@1.0.0", ""),
            (Node, "JSONStream", ""),
            (
                Node,
                "jsonstream",
                "the policy does not list the node packages `jsonstream`",
            ),
            (Go, "golang.org/x/text", ""),
            (
                Go,
                "golang.org/x/Text",
                "the policy does not list the go packages `golang.org/x/Text`",
            ),
            (
                Rust,
                "serde",
                "the policy has no allowlist for rust, and so does not list `serde`",
            ),
        ] {
            let found = requested(&policy, language, &[name], None);
            let found = found.map_err(|it| (it.code, it.message));
            match message {
                "" => assert_eq!(found, Ok(()), "{name}"),
                _ => assert_eq!(
                    found,
                    Err((ErrorCode::Policy, message.to_owned())),
                    "{name}"
                ),
            }
        }
    }

    #[test]
    fn everything_is_denied_by_default() {
        let denied = Policy::default();
        assert_eq!(requested(&denied, Language::Python, &[], None), Ok(()));
        let failure = requested(&denied, Language::Python, &["flask"], None).expect_err("denied");
        assert_eq!(
            failure.hints,
            ["write `deps.install@v1: allow` below `policies.verbs`"]
        );
        assert!(denied.egress.is_empty() && denied.secrets.is_empty());
        let listed = policy("policies: { deps_allowlist: { python: [flask] } }");
        assert!(requested(&listed, Language::Python, &["flask"], None).is_err());
        let example = policy(EXAMPLE);
        assert_eq!(
            requested(&example, Language::Python, &["flask"], None),
            Ok(())
        );
        let failure =
            requested(&example, Language::Go, &["a.b/c"], None).expect_err("an empty list");
        assert_eq!(
            failure.hints,
            ["write `go: [\"a.b/c\"]` below `policies.deps_allowlist`"]
        );
        for verb in DaemonVerb::ALL {
            assert_eq!(denied.admit_verb(verb), Ok(()));
        }
        let some = policy("policies: { verbs: { run.start@v1: deny, fs.apply: allow } }");
        assert!(some.admit_verb(DaemonVerb::RunStart).is_err());
        assert_eq!(some.admit_verb(DaemonVerb::FsApply), Ok(()));
    }

    #[test]
    fn a_call_narrows_the_policy_and_never_widens_it() {
        let example = policy(EXAMPLE);
        let python = Language::Python;
        assert_eq!(
            requested(&example, python, &["flask"], Some(&["Flask"])),
            Ok(())
        );
        let failure =
            requested(&example, python, &["flask"], Some(&["requests"])).expect_err("narrowed");
        assert_eq!(
            failure.message,
            "`deps_allowlist` of the request does not list the python packages `flask`"
        );
        assert_eq!(
            failure.hints,
            ["add \"flask\" to `constraints.deps_allowlist` of `plan.create`"]
        );
        let failure = requested(&example, python, &["evil"], Some(&["evil"])).expect_err("widened");
        assert_eq!(
            failure.message,
            "the policy does not list the python packages `evil`"
        );
        assert!(requested(&example, python, &["flask"], Some(&[])).is_err());
    }

    #[test]
    fn a_whole_closure_is_listed() {
        let package = |name: &str, by: &[&str]| ResolvedPackage {
            name: name.to_owned(),
            version: "1.0".to_owned(),
            required_by: by.iter().map(|it| (*it).to_owned()).collect(),
        };
        let example = policy(EXAMPLE);
        let closure = [
            package("Flask", &[]),
            package("Jinja2", &["flask"]),
            package("MarkupSafe", &["jinja2", "werkzeug"]),
        ];
        let failure = example
            .admit_closure(Language::Python, &closure, None)
            .expect_err("two more");
        assert_eq!(failure.code, ErrorCode::Policy);
        assert_eq!(
            failure.message,
            "the policy does not list the python packages `Jinja2` (needed by `flask`), \
             `MarkupSafe` (needed by `jinja2` and `werkzeug`)"
        );
        let hint = "write `python: [\"fastapi\", \"flask\", \"jinja2\", \"markupsafe\", \"requests\"]` \
                    below `policies.deps_allowlist`";
        assert_eq!(failure.hints, [hint]);
        assert_eq!(
            example.admit_closure(Language::Python, &closure[..1], None),
            Ok(())
        );
        // The hint, followed, lets the closure in.
        let followed = EXAMPLE.replace(
            "[\"flask\",\"fastapi\",\"requests\"]",
            "[fastapi, flask, jinja2, markupsafe, requests]",
        );
        assert_eq!(
            policy(&followed).admit_closure(Language::Python, &closure, None),
            Ok(())
        );
        let many: Vec<_> = (0..100).map(|it| package(&format!("p{it}"), &[])).collect();
        let failure = example
            .admit_closure(Language::Python, &many, None)
            .expect_err("many");
        assert!((0..100).all(|it| failure.message.contains(&format!("`p{it}`"))));
        let unreadable = [package("../x", &[])];
        assert!(
            example
                .admit_closure(Language::Python, &unreadable, None)
                .is_err()
        );
        let many = vec![package("flask", &[]); super::CLOSURE_MAX + 1];
        assert!(
            example
                .admit_closure(Language::Python, &many[1..], None)
                .is_ok()
        );
        assert!(
            example
                .admit_closure(Language::Python, &many, None)
                .is_err()
        );
    }

    #[test]
    fn the_tool_policy_is_read() {
        let read = policy(
            "policies:\n  egress: ['api.example.com:443', '[::1]:80']\n  tools:\n    network: allow\n    \
             filesystem: readonly\n    secrets: [API_KEY]\n",
        );
        assert_eq!(read.egress, ["api.example.com:443", "[::1]:80"]);
        assert_eq!(read.filesystem, FilesystemPolicy::Readonly);
        assert_eq!(read.secrets, ["API_KEY"]);
        let read = policy(
            "policies: { egress: deny, tools: { network: deny, filesystem: task, secrets: deny } }",
        );
        assert_eq!(read, Policy::default());
    }

    #[test]
    fn the_transport_is_read() {
        let read = |text: &str| Policy::read_transport(Some(text.as_bytes()));
        assert_eq!(read("policies: { transport: tcp }"), Ok(Transport::Tcp));
        assert_eq!(read("policies: { transport: uds }"), Ok(Transport::Uds));
        assert_eq!(read("policies: { egress: deny }"), Ok(Transport::Uds));
        assert_eq!(Policy::read_transport(None), Ok(Transport::Uds));
        let failure = read("policies: { transport: udp }").expect_err("a word");
        assert_eq!(failure.code, ErrorCode::Policy);
        assert_eq!(failure.hints, ["write uds or tcp"]);
    }

    #[test]
    fn wrong_policies_are_refused_at_their_place() {
        for (text, message) in [
            ("", "line 1, column 1: the policy is empty"),
            (
                "x: 1\n",
                "line 1, column 1: `x` is not a key of the policy here",
            ),
            ("policies:\n", "line 1, column "),
            ("policies: []\n", "line 1, column 11: this is not a mapping"),
            (
                "policies:\n  dep_allowlist: {}\n",
                "line 2, column 3: `dep_allowlist` is not a key",
            ),
            (
                "policies:\n  deps_allowlist:\n    java: []\n",
                "line 3, column 5: `java` is not a key",
            ),
            (
                "policies:\n  deps_allowlist:\n    go: x\n",
                "line 3, column 9: this is not a list",
            ),
            (
                "policies:\n  deps_allowlist:\n    go: [[]]\n",
                "line 3, column 10: this is not a text",
            ),
            (
                "policies:\n  deps_allowlist:\n    python: [flask==1]\n",
                "line 3, column 14: `flask==1` is not the name of a python package",
            ),
            (
                "policies:\n  verbs: { run.stop: deny }\n",
                "line 2, column 12: `run.stop` is not a key",
            ),
            (
                "policies:\n  verbs: { run.start: maybe }\n",
                "line 2, column 23: this value is not allowed here",
            ),
            (
                "policies:\n  verbs: { run.start: deny, run.start@v1: allow }\n",
                "line 2, column 29: `run.start` appears twice",
            ),
            (
                "policies:\n  verbs: { run.start: deny, run.start: allow }\n",
                "line 2, column 29: the key `run.start` appears twice",
            ),
            (
                "policies:\n  egress: allow\n",
                "line 2, column 11: this is not a list",
            ),
            (
                "policies:\n  egress: ['*:443']\n",
                "line 2, column 12: `*:443` is not a host with a port",
            ),
            (
                "policies:\n  egress: ['a:0']\n",
                "line 2, column 12: `a:0` is not a host with a port",
            ),
            (
                "policies:\n  egress: ['http://a:80']\n",
                "line 2, column 12: ",
            ),
            (
                "policies:\n  egress: ['a:80']\n  tools: { network: deny }\n",
                "line 3, column 12: `network` is denied, and `egress` lists hosts",
            ),
            (
                "policies:\n  tools: { network: allow }\n",
                "line 2, column 12: `network` is allowed, and `egress` lists no host",
            ),
            (
                "policies:\n  tools: { secrets: [a-b] }\n",
                "line 2, column 22: `a-b` is not the name of a secret",
            ),
            (
                "policies:\n  tools: { filesystem: all }\n",
                "line 2, column 24: this value is not allowed here",
            ),
            ("policies: *x\n", "line 1, column "),
            ("a: b: c\n", "line 1, column "),
            ("policies:\n\tx: 1\n", "line 2, column 1: "),
        ] {
            let failure = Policy::read(text.as_bytes()).expect_err(text);
            assert_eq!(failure.code, ErrorCode::Policy, "{text}");
            assert!(
                failure.message.starts_with(message),
                "{text}\n{}",
                failure.message
            );
            assert!(!failure.hints.is_empty(), "{text}");
        }
        assert!(Policy::read(b"\xff").is_err());
        assert!(Policy::read(&vec![b'#'; super::POLICY_MAX_BYTES + 1]).is_err());
    }
}
