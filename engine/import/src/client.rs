//! The configurations of MCP clients.
//!
//! Only URLs and the packages of commands are read: environments, headers and other arguments may contain secrets.

use super::described::{DescribedServer, FieldValue, Unusable, member};
use super::endpoint::{Refusal, check_url};
use super::launch::LaunchedPackage;
use super::setting::{SettingKind, SettingPart, setting};
use agent_diagnostic::{Code, Problems};
use agent_lower::fields::{Object, opening, text};
use agent_syntax::members::{entries, entry, items};
use agent_syntax::{Entry, Node, Value};
use agent_text::Span;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A place in the configuration of clients that holds servers.
#[derive(Debug, Clone, Copy)]
pub struct ClientForm {
    /// The keys from the root to the servers; `*` is any key.
    pub path: &'static [&'static str],
    /// The clients that read it.
    pub clients: &'static str,
    /// The documentation that shows it.
    pub source: &'static str,
    /// The month in which it was looked at.
    pub seen: &'static str,
    /// Whether the last key has other uses, so that only what looks like a server is one.
    is_shared: bool,
    /// How a server that is started is written.
    pub(super) shape: EntryShape,
}

/// How a client writes a server that it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryShape {
    /// `command` and `args`.
    Command,
    /// The same with `type: stdio`.
    Typed,
    /// The same with `source: custom`.
    Custom,
    /// `type: local`, and `command` as a list of words.
    Words,
    /// `transport` with `type`, `command` and `args`.
    Nested,
    /// `type: stdio`, with `cmd` and `args`.
    Extension,
}

impl ClientForm {
    const fn new(
        path: &'static [&'static str],
        clients: &'static str,
        source: &'static str,
    ) -> Self {
        Self {
            path,
            clients,
            source,
            seen: "2026-11",
            is_shared: false,
            shape: EntryShape::Command,
        }
    }

    const fn written(mut self, shape: EntryShape) -> Self {
        self.shape = shape;
        self
    }

    const fn shared(mut self) -> Self {
        self.is_shared = true;
        self
    }
}

/// The places in the configurations of clients that hold servers.
pub const CLIENT_FORMS: [ClientForm; 11] = [
    ClientForm::new(
        &["mcpServers"],
        "Claude Desktop, Claude Code, Cursor, Cline, Windsurf, Gemini CLI, Continue",
        "the pages on MCP of these clients",
    ),
    ClientForm::new(
        &["projects", "*", "mcpServers"],
        "Claude Code, the user's file",
        "Claude Code: MCP installation scopes",
    ),
    ClientForm::new(
        &["servers"],
        "VS Code, `.vscode/mcp.json`",
        "VS Code: MCP configuration reference",
    )
    .written(EntryShape::Typed),
    ClientForm::new(
        &["mcp", "servers"],
        "VS Code, settings",
        "VS Code: MCP servers in user settings",
    )
    .written(EntryShape::Typed),
    ClientForm::new(
        &["mcp.servers"],
        "VS Code, settings",
        "VS Code: MCP servers in user settings",
    )
    .written(EntryShape::Typed),
    ClientForm::new(&["context_servers"], "Zed", "Zed: Model Context Protocol")
        .written(EntryShape::Custom),
    ClientForm::new(
        &["mcp_servers"],
        "Codex, `config.toml`",
        "Codex: configuration of MCP servers",
    ),
    ClientForm::new(&["mcp"], "OpenCode", "OpenCode: MCP servers")
        .shared()
        .written(EntryShape::Words),
    ClientForm::new(
        &["experimental", "modelContextProtocolServers"],
        "Continue, `config.json`",
        "Continue: Model Context Protocol",
    )
    .written(EntryShape::Nested),
    ClientForm::new(&["amp.mcpServers"], "Amp", "Amp: manual, MCP"),
    ClientForm::new(&["extensions"], "Goose", "Goose: configuration files")
        .shared()
        .written(EntryShape::Extension),
];

/// The keys of a server's URL.
pub(super) const URLS: [&str; 4] = ["url", "serverUrl", "httpUrl", "uri"];

/// The keys of a server's command.
pub(super) const COMMANDS: [&str; 2] = ["command", "cmd"];

/// A server in the configuration of a client.
#[derive(Debug)]
pub(super) struct Installation<'a> {
    /// The path of keys to it.
    pub(super) path: String,
    /// Its name; `None` in a snippet without one.
    pub(super) name: Option<(&'a str, Span)>,
    /// Its configuration.
    pub(super) node: &'a Node<'a>,
    /// Where it stands; `None` in a snippet.
    pub(super) place: Option<ServersPlace<'a>>,
}

/// The object or list in the configuration of a client that a server stands in.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServersPlace<'a> {
    pub(super) form: &'static ClientForm,
    pub(super) servers: &'a Node<'a>,
}

/// Returns the servers in the configuration of a client, and the place that identifies it; `None` if the document is
/// not one.
pub(super) fn installations<'a>(root: &'a Node<'a>) -> Option<(Vec<Installation<'a>>, Span)> {
    let mut found = Vec::new();
    let mut identified = None;
    for form in &CLIENT_FORMS {
        collect(form.path, String::new(), root, &mut |path, servers| {
            let mut inner = named(path, &servers.value);
            for it in &mut inner {
                let servers = &servers.value;
                it.place = Some(ServersPlace { form, servers });
            }
            // A list may be one of a registry or of an index.
            let is_doubtful = form.is_shared || matches!(servers.value.value, Value::Sequence(_));
            if is_doubtful {
                inner.retain(|it| looks_like_server(it.node));
            }
            if !is_doubtful || !inner.is_empty() {
                identified.get_or_insert(servers.key_span);
            }
            found.extend(inner);
        });
    }
    Some((found, identified?))
}

/// Returns the servers of a snippet without the key of a client: a server, or servers by their names.
pub(super) fn snippet<'a>(root: &'a Node<'a>) -> Option<Vec<Installation<'a>>> {
    if looks_like_server(root) {
        let name = entry(root, "name").and_then(spanned);
        let path = "the server".to_owned();
        return Some(vec![Installation {
            path,
            name,
            node: root,
            place: None,
        }]);
    }
    let flat = named("", root);
    let is_snippet = !flat.is_empty() && flat.iter().all(|it| looks_like_server(it.node));
    is_snippet.then_some(flat)
}

/// Calls `take` with every mapping or list at a path.
fn collect<'a>(
    path: &[&str],
    before: String,
    node: &'a Node<'a>,
    take: &mut impl FnMut(&str, &'a Entry<'a>),
) {
    let Some((key, rest)) = path.split_first() else {
        return;
    };
    for entry in entries(node)
        .iter()
        .filter(|it| *key == "*" || it.key == *key)
    {
        let path = match before.is_empty() {
            true => entry.key.to_string(),
            false => format!("{before}.{}", entry.key),
        };
        let is_many = matches!(entry.value.value, Value::Mapping(_) | Value::Sequence(_));
        match rest.is_empty() {
            true if is_many => take(&path, entry),
            true => {}
            false => collect(rest, path, &entry.value, take),
        }
    }
}

/// Returns the members of a mapping, or the items of a list with their names.
fn named<'a>(path: &str, servers: &'a Node<'a>) -> Vec<Installation<'a>> {
    let inner = |key: &str| match path {
        "" => key.to_owned(),
        _ => format!("{path}.{key}"),
    };
    let members = entries(servers).iter().map(|entry| Installation {
        path: inner(&entry.key),
        name: Some((&*entry.key, entry.key_span)),
        node: &entry.value,
        place: None,
    });
    let items = items(servers).unwrap_or_default().iter().enumerate();
    let items = items.map(|(number, node)| Installation {
        path: format!("{path}[{number}]"),
        name: entry(node, "name").and_then(spanned),
        node,
        place: None,
    });
    members.chain(items).collect()
}

fn spanned<'a>(entry: &'a Entry<'a>) -> Option<(&'a str, Span)> {
    match &entry.value.value {
        Value::String(text) | Value::Plain(text) => Some((text, entry.value.span)),
        _ => None,
    }
}

/// Returns the members of the object in which some clients keep what reaches a server.
pub(super) fn nested<'n, 't>(node: &'n Node<'t>) -> &'n [Entry<'t>] {
    let inner = ["transport", "config"]
        .into_iter()
        .filter_map(|key| entry(node, key));
    let mut inner = inner.map(|it| entries(&it.value));
    inner.find(|it| !it.is_empty()).unwrap_or_default()
}

/// Returns whether a value has what starts or reaches a server.
fn looks_like_server(node: &Node<'_>) -> bool {
    let mut keys = entries(node).iter().chain(nested(node));
    keys.any(|it| {
        let is_text = matches!(it.value.value, Value::String(_) | Value::Plain(_));
        let is_command = COMMANDS.contains(&&*it.key);
        let is_words = matches!(it.value.value, Value::Sequence(_) | Value::Mapping(_));
        is_text && (is_command || URLS.contains(&&*it.key)) || is_command && is_words
    })
}

/// Reads the servers of a configuration. A server that the client does not start is left out with a warning.
pub(super) fn servers<'a>(
    installations: Vec<Installation<'a>>,
    problems: &mut Problems<'_>,
) -> Vec<DescribedServer<'a>> {
    let mut read: Vec<DescribedServer<'a>> = Vec::new();
    let mut known = BTreeMap::new();
    for installation in installations {
        let Some(server) = server(installation, problems) else {
            continue;
        };
        // A client may have one installation in several projects.
        let first = *known.entry(server.name()).or_insert(read.len());
        let is_again = read.get(first).is_some_and(|it| is_same(it, &server));
        if !is_again || server.names.is_empty() {
            read.push(server);
        }
    }
    read
}

/// Returns whether two installations of one name are of one server.
fn is_same(one: &DescribedServer<'_>, other: &DescribedServer<'_>) -> bool {
    one.version.says_the_same(&other.version) && one.endpoint.says_the_same(&other.endpoint)
}

fn server<'a>(
    installation: Installation<'a>,
    problems: &mut Problems<'_>,
) -> Option<DescribedServer<'a>> {
    let Installation {
        path, name, node, ..
    } = installation;
    let at = name.map_or_else(|| opening(node), |(_, span)| span);
    let server = Object::of(node, path, at, problems)?;
    let switched_off = enabled(node);
    if let Some(switch) = switched_off {
        let message = match name {
            Some((name, _)) => format!("the client does not start the server `{name}`"),
            None => "the client does not start the server".to_owned(),
        };
        problems
            .warn(Code::ImportUnused, switch.key_span, "left out", message)
            .help("enable the server to import it");
        return None;
    }
    let (mut version, endpoint) = match (find_entry(node, &URLS), find_entry(node, &COMMANDS)) {
        (Some(url), None) => (FieldValue::Absent, remote(url, &server, problems)),
        (None, Some(command)) => started(command, node, problems)?,
        (Some(url), Some(_)) => (
            FieldValue::Absent,
            FieldValue::Unusable(Unusable {
                span: url.key_span,
                label: "beside a command".to_owned(),
                message: "the server has both a URL and a command: choose one".to_owned(),
                choices: Vec::new(),
            }),
        ),
        (None, None) => (
            FieldValue::Absent,
            FieldValue::Unusable(Unusable {
                span: at,
                label: "neither a URL nor a command".to_owned(),
                message: "the server has neither a URL nor a command".to_owned(),
                choices: Vec::new(),
            }),
        ),
    };
    if let Some(written) = server.optional("version") {
        version = super::registry::version(Some(written), problems);
    }
    Some(DescribedServer {
        document: problems.text().number(),
        names: name.into_iter().collect(),
        at,
        version,
        endpoint,
        tools: None,
    })
}

/// Returns the entry of the first of some keys, also of what is nested.
fn find_entry<'n, 't>(node: &'n Node<'t>, keys: &[&str]) -> Option<&'n Entry<'t>> {
    let inner = nested(node);
    keys.iter()
        .find_map(|key| entry(node, key).or_else(|| member(inner, key)))
}

/// Returns the value of the first of some keys, also of what is nested.
pub(super) fn find<'n, 't>(node: &'n Node<'t>, keys: &[&str]) -> Option<&'n Node<'t>> {
    Some(&find_entry(node, keys)?.value)
}

/// Returns the entry by which the client does not start a server.
pub(super) fn enabled<'n, 't>(node: &'n Node<'t>) -> Option<&'n Entry<'t>> {
    [("disabled", true), ("enabled", false)]
        .into_iter()
        .find_map(|(key, off)| {
            let switch = entry(node, key)?;
            let flag = match &switch.value.value {
                Value::Bool(value) => Some(*value),
                Value::Plain(text) => text.parse().ok(),
                _ => None,
            };
            (flag == Some(off)).then_some(switch)
        })
}

/// The words of a command.
pub(super) struct Words<'a> {
    pub(super) program: &'a str,
    pub(super) arguments: Vec<&'a str>,
    /// The arguments that are values of their own.
    nodes: &'a [Node<'a>],
}

impl<'a> Words<'a> {
    /// Returns the words of a command and of the arguments beside it; `None` if one is not a string.
    pub(super) fn of(command: &'a Node<'a>, server: &'a Node<'a>) -> Option<Self> {
        let beside = find(server, &["args"]).and_then(items).unwrap_or_default();
        // Zed had a mapping; OpenCode has a list.
        let (program, nodes) = match &command.value {
            Value::Mapping(inner) => {
                let args = member(inner, "args").and_then(|it| items(&it.value));
                (&member(inner, "path")?.value, args.unwrap_or_default())
            }
            Value::Sequence(words) => words.split_first()?,
            _ => (command, beside),
        };
        let word = |node: &'a Node<'a>| match &node.value {
            Value::String(text) | Value::Plain(text) => Some(&**text),
            Value::Number(text) => Some(*text),
            _ => None,
        };
        let program = word(program)?;
        let mut arguments: Vec<_> = nodes.iter().map(word).collect::<Option<_>>()?;
        // Some clients take a whole line.
        let mut line = program.split_whitespace();
        let program = match arguments.is_empty() {
            true => line.next().unwrap_or_default(),
            false => program,
        };
        if arguments.is_empty() {
            arguments.extend(line);
        }
        Some(Self {
            program,
            arguments,
            nodes,
        })
    }
}

fn remote<'a>(
    url: &'a Entry<'a>,
    server: &Object<'a, 'a>,
    problems: &mut Problems<'_>,
) -> FieldValue<'a> {
    let span = url.value.span;
    let Some(value) = text(&url.value, &server.path(&url.key), problems) else {
        return FieldValue::Invalid;
    };
    match (check_url(value), variable(value)) {
        (Err(Refusal::Placeholder), Some(name)) => FieldValue::Unusable(Unusable {
            span,
            label: "a variable of the client".to_owned(),
            message: format!("the URL of the server contains the variable `{name}`"),
            choices: Vec::new(),
        }),
        (checked, _) => FieldValue::of(
            checked.map(|()| Cow::Borrowed(value)),
            "the URL of the server",
            span,
        ),
    }
}

/// Returns the name of the first variable in a text. Its default may be a secret.
fn variable(text: &str) -> Option<String> {
    let mut parts = setting(text, SettingKind::Path).0.into_iter();
    parts.find_map(|part| match part {
        SettingPart::Variable(variable) => Some(variable.name()),
        _ => None,
    })
}

/// Returns the version and the endpoint of a server that a command starts. Reports a command of a wrong type.
fn started<'a>(
    command: &'a Entry<'a>,
    server: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Option<(FieldValue<'a>, FieldValue<'a>)> {
    let span = command.value.span;
    let Some(words) = Words::of(&command.value, server) else {
        if !matches!(command.value.value, Value::Mapping(_) | Value::Sequence(_)) {
            text(&command.value, &command.key, problems)?;
        }
        return Some((FieldValue::Absent, FieldValue::NoPackage(span)));
    };
    let found = LaunchedPackage::of(words.program, &words.arguments);
    let purl = found.and_then(|it| Some((it, it.purl()?)));
    let Some((package, (before, after))) = purl else {
        return Some((FieldValue::Absent, FieldValue::NoPackage(span)));
    };
    let has_name = |it: &&Node<'_>| match &it.value {
        Value::String(text) | Value::Plain(text) => text.contains(package.name),
        _ => false,
    };
    let span = words.nodes.iter().find(has_name).map_or(span, |it| it.span);
    let version = match package.version {
        Some(version) => FieldValue::Value(Cow::Borrowed(version), span),
        None => FieldValue::Absent,
    };
    Some((
        version,
        FieldValue::OfVersion {
            before,
            after,
            span,
        },
    ))
}
