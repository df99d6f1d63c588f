//! Reading the content, with all problems at once.

use super::{Handler, Network, Oauth, Operator, Part, SecretSource, Server, Tool, Value};
use agent_diagnostic::{Code, Problems};
use agent_syntax::{Entry, Node, Value as Yaml, yaml};
use agent_text::{DocumentKind, Span, Text};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// The seconds that a call may take.
const TIMEOUT: RangeInclusive<u64> = 1..=3_600;

/// The processes and threads that a server may have.
const PROCESSES: RangeInclusive<u64> = 1..=4_096;

/// The kinds of drivers, as bindings name them.
const KINDS: [&str; 4] = ["noop", "http", "mcp_proxy", "restricted_shell"];

/// Reads the content of the file. The error lists problems as `line:column: message`.
pub(crate) fn operator(text: String) -> Result<Operator, Vec<String>> {
    content(text, |reader, root| {
        let mut operator = Operator::default();
        reader.operator(root, &mut operator);
        operator
    })
}

/// Reads a file, which may be empty. The error lists problems as `line:column: message`.
pub(crate) fn content<T: Default>(
    text: String,
    read: impl FnOnce(&mut Reader<'_, '_>, &Node<'_>) -> T,
) -> Result<T, Vec<String>> {
    let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let text = Text::new(DocumentKind::Document, text);
    let mut problems = Problems::new(&text);
    let root = yaml::parse(Span { start: 0, end: len }, &mut problems);
    let root = root.filter(|root| root.value != Yaml::Null);
    let read = root.map(|root| read(&mut Reader(&mut problems), &root));
    let found = problems.finish();
    if found.is_empty() {
        return Ok(read.unwrap_or_default());
    }
    let line = |it: &agent_diagnostic::Diagnostic| {
        let (line, column) = it
            .place()
            .map_or((1, 1), |at| (at.start.line, at.start.column));
        format!("{line}:{column}: {}", it.message)
    };
    Err(found.iter().map(line).collect())
}

pub(crate) struct Reader<'p, 't>(&'p mut Problems<'t>);

impl Reader<'_, '_> {
    pub(crate) fn report(&mut self, span: Span, message: impl Into<String>) {
        self.0.report(Code::WrongType, span, "", message);
    }

    fn operator(&mut self, root: &Node<'_>, operator: &mut Operator) {
        for entry in self.mapping(root, "the file") {
            match &*entry.key {
                // The last entry below it was removed.
                "servers" | "secrets" | "handlers" if entry.value.value == Yaml::Null => {}
                "servers" => {
                    for entry in self.mapping(&entry.value, "`servers`") {
                        let server = self.server(&entry.value);
                        operator.servers.insert(entry.key.to_string(), server);
                    }
                }
                "secrets" => {
                    for entry in self.mapping(&entry.value, "`secrets`") {
                        let source = self.source(&entry.value);
                        let source = source.map(|source| (entry.key.to_string(), source));
                        operator.secrets.extend(source);
                    }
                }
                "handlers" => {
                    for item in self.sequence(&entry.value, "`handlers`") {
                        operator.handlers.extend(self.handler(item));
                    }
                }
                _ => self.unknown(entry, "`servers`, `secrets` and `handlers`"),
            }
        }
    }

    fn server(&mut self, node: &Node<'_>) -> Server {
        let mut server = Server::default();
        let (mut timeouts, mut processes) = (Vec::new(), None);
        for entry in self.mapping(node, "a server") {
            let value = &entry.value;
            match &*entry.key {
                "command" => server.command = self.values(value, "`command`"),
                "arguments" => server.arguments = self.values(value, "`arguments`"),
                "env" => server.env = self.named(value, "`env`"),
                "origin" => server.origin = self.origin(value),
                "headers" => server.headers = self.named(value, "`headers`"),
                "query" => server.query = self.named(value, "`query`"),
                "workdir" => server.workdir = self.path(value),
                "read" => server.read = self.paths(value, "`read`"),
                "write" => server.write = self.paths(value, "`write`"),
                "network" => server.network = self.network(value),
                "sandbox" => match self.text(value, "`sandbox`").as_deref() {
                    Some("none") => server.unfenced = true,
                    Some(_) => self.report(value.span, "`sandbox` can only be `none`"),
                    None => {}
                },
                "oauth" => server.oauth = self.oauth(value),
                "timeout" => {
                    server.timeout = self.seconds(value, "`timeout`");
                    timeouts.extend(server.timeout.map(|time| (value.span, time)));
                }
                "timeout_max" => server.timeout_max = self.seconds(value, "`timeout_max`"),
                "tools" => server.tools = self.tools(value, &mut timeouts),
                "processes" => {
                    let number = self.number(value, "`processes`", PROCESSES);
                    server.processes = number.and_then(|number| u32::try_from(number).ok());
                    processes = Some(value.span);
                }
                _ => self.unknown(
                    entry,
                    "`command`, `arguments`, `env`, `origin`, `headers`, `query`, `workdir`, `read`, `write`, \
                     `network`, `sandbox`, `oauth`, `timeout`, `timeout_max`, `tools` and `processes`",
                ),
            }
        }
        if let Some(max) = server.timeout_max {
            for (span, time) in timeouts.into_iter().filter(|(_, time)| *time > max) {
                let (time, max) = (time.as_secs(), max.as_secs());
                let message = format!(
                    "`timeout` is {time} s, and `timeout_max` {max} s; set `timeout_max` to {time} or more"
                );
                self.report(span, message);
            }
        }
        if let (true, Some(span)) = (server.unfenced, processes) {
            let message = "`processes` is a limit of the sandbox, which `sandbox: none` removes; leave one of them out";
            self.report(span, message);
        }
        server
    }

    /// Reads what is set for tools. Every `timeout` is added to `timeouts`.
    fn tools(
        &mut self,
        node: &Node<'_>,
        timeouts: &mut Vec<(Span, Duration)>,
    ) -> BTreeMap<String, Tool> {
        let mut tools = BTreeMap::new();
        for named in self.mapping(node, "`tools`") {
            let mut tool = Tool::default();
            for entry in self.mapping(&named.value, "a tool") {
                match &*entry.key {
                    "timeout" => {
                        tool.timeout = self.seconds(&entry.value, "`timeout`");
                        timeouts.extend(tool.timeout.map(|time| (entry.value.span, time)));
                    }
                    "patterns" => match self.text(&entry.value, "`patterns`").as_deref() {
                        Some("ignore") => tool.ignores_patterns = true,
                        Some(_) => {
                            let message = "`patterns` of a tool can only be `ignore`".to_owned();
                            self.report(entry.value.span, message);
                        }
                        None => {}
                    },
                    _ => {
                        let message = format!(
                            "`{}` is unknown; the keys of a tool are `timeout` and `patterns`",
                            entry.key
                        );
                        self.report(entry.key_span, message);
                    }
                }
            }
            tools.insert(named.key.to_string(), tool);
        }
        tools
    }

    fn origin(&mut self, node: &Node<'_>) -> Option<String> {
        let text = self.text(node, "`origin`")?;
        let package = text.strip_prefix("pkg:").and_then(|it| it.split_once('/'));
        if package.is_some_and(|(kind, name)| !kind.is_empty() && !name.is_empty()) {
            return Some(text);
        }
        let host = ["https://", "http://"]
            .iter()
            .find_map(|it| text.strip_prefix(it));
        if host.is_none_or(|host| host.is_empty() || host.contains(['/', '?', '#', '@', '\\'])) {
            let message = "`origin` is a scheme with a host, such as `https://mcp.acme.example`, or a package without its \
                           version, such as `pkg:npm/acme`";
            self.report(node.span, message);
        }
        Some(text.to_ascii_lowercase())
    }

    fn oauth(&mut self, node: &Node<'_>) -> Oauth {
        let mut oauth = Oauth::default();
        for entry in self.mapping(node, "`oauth`") {
            let value = &entry.value;
            match &*entry.key {
                "scopes" => oauth.scopes = Some(self.texts(value, "`scopes`")),
                "issuer" => oauth.issuer = self.text(value, "`issuer`"),
                "client_id" => oauth.client_id = self.text(value, "`client_id`"),
                "client_secret" => oauth.client_secret = self.value(value, "`client_secret`"),
                _ => self.unknown(entry, "`scopes`, `issuer`, `client_id` and `client_secret`"),
            }
        }
        let is_bound = oauth.issuer.is_some() && oauth.client_id.is_some();
        if oauth.client_secret.is_some() && !is_bound {
            // A server names the authorization server that would get it.
            let message = "`client_secret` requires `client_id` and `issuer`";
            self.report(node.span, message);
        }
        oauth
    }

    fn network(&mut self, node: &Node<'_>) -> Network {
        if let Yaml::Sequence(items) = &node.value {
            let hosts = items.iter().filter_map(|item| self.host(item));
            return Network::Hosts(hosts.collect());
        }
        match self.text(node, "`network`").as_deref() {
            Some("none") => Network::None,
            Some("host") => Network::Host,
            Some(other) => {
                let message =
                    format!("`network` is `none`, `host` or a list of `host:port`, not `{other}`");
                self.report(node.span, message);
                Network::None
            }
            None => Network::None,
        }
    }

    fn host(&mut self, node: &Node<'_>) -> Option<(String, u16)> {
        let text = self.text(node, "an entry of `network`")?;
        let split = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        let parsed = split.and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
        if parsed.is_none() {
            self.report(
                node.span,
                format!("`{text}` is not of the form `host:port`"),
            );
        }
        parsed
    }

    fn source(&mut self, node: &Node<'_>) -> Option<SecretSource> {
        let entries = self.mapping(node, "a secret");
        let [entry] = entries else {
            let message = "a secret has exactly one of `env`, `file`, `keyring` and `command`";
            self.report(node.span, message);
            return None;
        };
        let value = &entry.value;
        match &*entry.key {
            "env" => self.text(value, "`env`").map(SecretSource::Env),
            "file" => self.path(value).map(SecretSource::File),
            "keyring" => self.text(value, "`keyring`").map(SecretSource::Keyring),
            "command" => {
                let argv = self.texts(value, "`command`");
                if argv.is_empty() {
                    self.report(value.span, "`command` names no program");
                    return None;
                }
                Some(SecretSource::Command(argv))
            }
            _ => {
                self.unknown(entry, "`env`, `file`, `keyring` and `command`");
                None
            }
        }
    }

    fn handler(&mut self, node: &Node<'_>) -> Option<Handler> {
        let (mut digest, mut kind, mut path) = (None, None, None);
        for entry in self.mapping(node, "a handler") {
            match &*entry.key {
                "digest" => digest = self.text(&entry.value, "`digest`"),
                "kind" => kind = self.text(&entry.value, "`kind`"),
                "path" => path = self.path(&entry.value),
                _ => self.unknown(entry, "`digest`, `kind` and `path`"),
            }
        }
        let (Some(digest), Some(kind), Some(path)) = (digest, kind, path) else {
            self.report(node.span, "a handler needs `digest`, `kind` and `path`");
            return None;
        };
        if !KINDS.contains(&&*kind) {
            self.report(node.span, format!("`{kind}` is not a kind of drivers"));
            return None;
        }
        Some(Handler { digest, kind, path })
    }

    fn values(&mut self, node: &Node<'_>, name: &str) -> Vec<Value> {
        let items = self.sequence(node, name);
        items
            .iter()
            .filter_map(|item| self.value(item, name))
            .collect()
    }

    fn named(&mut self, node: &Node<'_>, name: &str) -> BTreeMap<String, Value> {
        let entries = self.mapping(node, name);
        let values = entries.iter().filter_map(|entry| {
            let value = self.value(&entry.value, name)?;
            Some((entry.key.to_string(), value))
        });
        values.collect()
    }

    /// Reads a value: a part, or a list of parts.
    fn value(&mut self, node: &Node<'_>, name: &str) -> Option<Value> {
        let parts = match &node.value {
            Yaml::Sequence(parts) if !parts.is_empty() => parts,
            _ => std::slice::from_ref(node),
        };
        let parts = parts.iter().map(|part| self.part(part, name));
        parts.collect::<Option<_>>().map(Value)
    }

    /// Reads a part of a value: a text, or `{secret: NAME}`.
    fn part(&mut self, node: &Node<'_>, name: &str) -> Option<Part> {
        let Yaml::Mapping(entries) = &node.value else {
            let text = self.text(node, name)?;
            // A variable of a client's configuration, which would be sent as it is written.
            if text.contains("${") {
                let message = format!(
                    "the text in {name} contains `${{`, and no variable is filled in; name a secret, as in \
                     `[\"Bearer \", {{ secret: NAME }}]`"
                );
                self.report(node.span, message);
            }
            return Some(Part::Literal(text));
        };
        match &entries[..] {
            [entry] if entry.key == "secret" => {
                self.text(&entry.value, "`secret`").map(Part::Secret)
            }
            _ => {
                let message =
                    format!("a value in {name} is a text, `{{secret: NAME}}`, or a list of these");
                self.report(node.span, message);
                None
            }
        }
    }

    fn paths(&mut self, node: &Node<'_>, name: &str) -> Vec<PathBuf> {
        let items = self.sequence(node, name);
        items.iter().filter_map(|item| self.path(item)).collect()
    }

    fn path(&mut self, node: &Node<'_>) -> Option<PathBuf> {
        let path = PathBuf::from(self.text(node, "a path")?);
        if path.is_absolute() {
            return Some(path);
        }
        let message = format!("the path `{}` is not absolute", path.display());
        self.report(node.span, message);
        None
    }

    pub(crate) fn texts(&mut self, node: &Node<'_>, name: &str) -> Vec<String> {
        let items = self.sequence(node, name);
        items
            .iter()
            .filter_map(|item| self.text(item, name))
            .collect()
    }

    pub(crate) fn text(&mut self, node: &Node<'_>, name: &str) -> Option<String> {
        match &node.value {
            Yaml::String(text) | Yaml::Plain(text) if !text.is_empty() => Some(text.to_string()),
            Yaml::Refused => None,
            _ => {
                self.report(node.span, format!("{name} must be a text"));
                None
            }
        }
    }

    fn seconds(&mut self, node: &Node<'_>, name: &str) -> Option<Duration> {
        let seconds = self.number(node, &format!("the seconds of {name}"), TIMEOUT)?;
        Some(Duration::from_secs(seconds))
    }

    fn number(&mut self, node: &Node<'_>, name: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let found = match &node.value {
            Yaml::Number(text) => text.to_string(),
            Yaml::Plain(text) => text.to_string(),
            Yaml::Refused => return None,
            _ => String::new(),
        };
        let number = found.parse().ok().filter(|it| range.contains(it));
        if number.is_none() {
            let (first, last) = range.into_inner();
            let mut message = format!("{name} must be a whole number from {first} to {last}");
            if !found.is_empty() {
                message.push_str(&format!("; `{found}` is not one"));
            }
            self.report(node.span, message);
        }
        number
    }

    fn sequence<'n, 'a>(&mut self, node: &'n Node<'a>, name: &str) -> &'n [Node<'a>] {
        match &node.value {
            Yaml::Sequence(items) => items,
            _ => {
                self.report(node.span, format!("{name} must be a list"));
                &[]
            }
        }
    }

    pub(crate) fn mapping<'n, 'a>(&mut self, node: &'n Node<'a>, name: &str) -> &'n [Entry<'a>] {
        match &node.value {
            Yaml::Mapping(entries) => entries,
            _ => {
                self.report(node.span, format!("{name} must be a mapping"));
                &[]
            }
        }
    }

    pub(crate) fn unknown(&mut self, entry: &Entry<'_>, known: &str) {
        let message = format!("`{}` is unknown; the keys are {known}", entry.key);
        self.report(entry.key_span, message);
    }
}

#[cfg(test)]
mod tests {
    use super::operator;
    use crate::{Network, Part, SecretSource, Value};
    use std::path::PathBuf;
    use std::time::Duration;

    #[test]
    fn everything_is_read() {
        let text = r#"
servers:
  acme:
    command: [npx, -y, { secret: PACKAGE }]
    arguments: [--root, /srv]
    env: { HOME_PAGE: https://acme.example, TOKEN: { secret: TOKEN } }
    origin: https://MCP.acme.example
    headers: { Authorization: { secret: TOKEN } }
    query: { key: { secret: TOKEN } }
    workdir: /srv
    read: [/srv/a]
    write: [/srv/b]
    network: [api.acme.example:443, "[::1]:80"]
    sandbox: none
    oauth:
      scopes: [read]
      issuer: https://login.acme.example
      client_id: mine
      client_secret: { secret: TOKEN }
  other: { network: host, timeout: 1, timeout_max: 3600, tools: { slow: { timeout: 30, patterns: ignore } }, processes: 8 }
secrets:
  TOKEN: { env: ACME_TOKEN }
  PACKAGE: { file: /etc/package }
  ITEM: { keyring: acme }
  MADE: { command: [pass, show, acme] }
handlers:
  - { digest: sha256-x, kind: http, path: /opt/handler.wasm }
"#;
        let read = operator(text.to_owned()).unwrap();
        let acme = &read.servers["acme"];
        assert_eq!(acme.command[2], Value::secret("PACKAGE"));
        assert_eq!(acme.env["TOKEN"], Value::secret("TOKEN"));
        assert_eq!(acme.arguments[1], Value::literal("/srv"));
        let hosts = vec![
            ("api.acme.example".to_owned(), 443),
            ("[::1]".to_owned(), 80),
        ];
        assert_eq!(acme.network, Network::Hosts(hosts));
        assert_eq!(acme.origin.as_deref(), Some("https://mcp.acme.example"));
        assert!(acme.unfenced);
        assert_eq!(acme.oauth.scopes, Some(vec!["read".to_owned()]));
        assert_eq!(acme.oauth.client_id.as_deref(), Some("mine"));
        let secret = Some(Value::secret("TOKEN"));
        assert_eq!(acme.oauth.client_secret, secret);
        let other = &read.servers["other"];
        assert_eq!(other.network, Network::Host);
        assert_eq!(other.processes, Some(8));
        assert_eq!(read.ignoring(), [("other".to_owned(), "slow".to_owned())]);
        assert_eq!(
            read.secrets["TOKEN"],
            SecretSource::Env("ACME_TOKEN".to_owned())
        );
        assert_eq!(
            read.secrets["PACKAGE"],
            SecretSource::File(PathBuf::from("/etc/package"))
        );
        assert_eq!(read.handlers[0].kind, "http");
        assert_eq!(operator(String::new()).unwrap(), crate::Operator::default());
    }

    #[test]
    fn a_value_may_have_parts() {
        let headers = |value: &str| {
            let text = format!("servers:\n  a: {{ headers: {{ Authorization: {value} }} }}\n");
            operator(text).map(|read| read.servers["a"].headers["Authorization"].clone())
        };
        let text = |text: &str| Part::Literal(text.to_owned());
        let token = || Part::Secret("TOKEN".to_owned());
        for (written, parts) in [
            ("Bearer", vec![text("Bearer")]),
            ("{ secret: TOKEN }", vec![token()]),
            (
                "[\"Bearer \", { secret: TOKEN }]",
                vec![text("Bearer "), token()],
            ),
            (
                "[{ secret: TOKEN }, \":\", { secret: TOKEN }]",
                vec![token(), text(":"), token()],
            ),
        ] {
            assert_eq!(headers(written), Ok(Value(parts)), "{written}");
        }
        // A variable of a client's configuration would be sent as it is written.
        for written in ["\"Bearer ${TOKEN}\"", "[\"${TOKEN}\", { secret: TOKEN }]"] {
            let found = headers(written).unwrap_err();
            assert!(
                found[0].contains("[\"Bearer \", { secret: NAME }]"),
                "{found:?}"
            );
        }
        for written in ["[]", "[[a]]", "[{ secret: TOKEN, x: y }]"] {
            assert!(headers(written).is_err(), "{written}");
        }
    }

    #[test]
    fn every_problem_is_reported() {
        let text = "\
servers:
  acme: { comand: [x], workdir: srv, network: all, sandbox: some, env: [a] }
  b: { network: [acme.example], headers: { A: { token: X } }, origin: https://acme.example/mcp }
  c: { oauth: { client_id: x, client_secret: y } }
secrets:
  A: { env: X, file: /x }
  B: { vault: x }
  C: { command: [] }
handlers:
  - { digest: x, kind: http }
  - { digest: x, kind: shell, path: /x }
";
        let found = operator(text.to_owned()).unwrap_err();
        assert_eq!(found.len(), 14, "{found:#?}");
        assert!(
            found[0].starts_with("2:11: `comand` is unknown"),
            "{}",
            found[0]
        );
        let shown = found.iter().all(|it| it.split(": ").count() >= 2);
        assert!(shown, "{found:#?}");
    }

    #[test]
    fn a_tool_has_its_own_time() {
        let text = "\
servers:
  a: { timeout: 1, timeout_max: 3600, tools: { slow: { timeout: 30 }, other: {} } }
  b: { tools: { slow: { timeout: 900 } } }
";
        let read = operator(text.to_owned()).unwrap();
        let time = |server: &str, tool| {
            let default = Duration::from_secs(120);
            let time = read.servers[server].call_time(tool, default);
            (time.timeout.as_secs(), time.max.as_secs())
        };
        assert_eq!(time("a", Some("slow")), (30, 3600));
        assert_eq!(time("a", Some("other")), (1, 3600));
        assert_eq!(time("a", Some("unnamed")), (1, 3600));
        assert_eq!(time("a", None), (1, 3600));
        // Without `timeout_max`, a call has at least its `timeout`.
        assert_eq!(time("b", Some("slow")), (900, 900));
        assert_eq!(time("b", Some("other")), (120, 600));
    }

    #[test]
    fn a_limit_has_a_range() {
        for (server, problem) in [
            (
                "timeout: 0",
                "the seconds of `timeout` must be a whole number from 1 to 3600; `0` is not one",
            ),
            (
                "timeout: -5",
                "the seconds of `timeout` must be a whole number from 1 to 3600; `-5` is not one",
            ),
            (
                "timeout: 3601",
                "the seconds of `timeout` must be a whole number from 1 to 3600; `3601` is not one",
            ),
            (
                "timeout: 1.5",
                "the seconds of `timeout` must be a whole number from 1 to 3600; `1.5` is not one",
            ),
            (
                "timeout: 5m",
                "the seconds of `timeout` must be a whole number from 1 to 3600; `5m` is not one",
            ),
            (
                "timeout: [5]",
                "the seconds of `timeout` must be a whole number from 1 to 3600",
            ),
            (
                "timeout_max: 3601",
                "the seconds of `timeout_max` must be a whole number from 1 to 3600; `3601` is not one",
            ),
            (
                "processes: 0",
                "`processes` must be a whole number from 1 to 4096; `0` is not one",
            ),
            (
                "processes: 4097",
                "`processes` must be a whole number from 1 to 4096; `4097` is not one",
            ),
            ("tools: [slow]", "`tools` must be a mapping"),
        ] {
            let found = operator(format!("servers:\n  a: {{ {server} }}\n")).unwrap_err();
            let column = 8 + server.find(": ").unwrap() + 2;
            assert_eq!(found, [format!("2:{column}: {problem}")]);
        }
        let found = |text: &str| operator(text.to_owned()).unwrap_err();
        assert_eq!(
            found(
                "servers:\n  a: { timeout_max: 10, timeout: 20, tools: { slow: { timeout: 30 }, quick: { timeout: 10 } } }\n"
            ),
            [
                "2:34: `timeout` is 20 s, and `timeout_max` 10 s; set `timeout_max` to 20 or more",
                "2:64: `timeout` is 30 s, and `timeout_max` 10 s; set `timeout_max` to 30 or more",
            ]
        );
        assert_eq!(
            found("servers:\n  a: { processes: 4, sandbox: none }\n"),
            [
                "2:19: `processes` is a limit of the sandbox, which `sandbox: none` removes; leave one of them out"
            ]
        );
        assert_eq!(
            found("servers:\n  a: { tools: { slow: { time: 1 } } }\n"),
            ["2:25: `time` is unknown; the keys of a tool are `timeout` and `patterns`"]
        );
        // Tools belong to a server.
        assert!(
            found("tools: { slow: { timeout: 1 } }\n")[0].starts_with("1:1: `tools` is unknown")
        );
    }
}
