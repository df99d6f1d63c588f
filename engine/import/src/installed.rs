//! What the configuration of a client says of its servers: how they are started or reached, with what.

use super::client::{Installation, Words, enabled, find, nested};
use super::described::member;
use super::document::installations;
use super::launch::LaunchedPackage;
use super::notation::Document;
use super::overlay::string as text;
use super::setting::{Setting, SettingKind, SettingPart, Variable, setting};
use super::{DOCUMENT_LIMIT, decode};
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_lower::fields::opening;
use agent_syntax::members::{entries, entry, items};
use agent_syntax::{Node, Value};
use agent_text::DocumentKind;

/// A server in the configuration of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledServer {
    /// The path of keys to it.
    pub path: String,
    /// Its name; empty in a snippet without one.
    pub name: String,
    /// Whether the client starts it.
    pub is_enabled: bool,
    /// How it is started or reached.
    pub start: ServerStart,
}

/// How a server is started or reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerStart {
    /// By a command.
    Command(ServerCommand),
    /// At a URL.
    Remote(RemoteServer),
    /// By neither, or by both.
    Unknown,
}

/// The command of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCommand {
    /// The program.
    pub program: Setting,
    /// Its arguments.
    pub arguments: Vec<Setting>,
    /// Its environment, in the order of the document.
    pub environment: Vec<(String, Setting)>,
    /// The file with more of its environment.
    pub environment_file: Option<Setting>,
    /// The folder that it works in.
    pub folder: Option<Setting>,
    /// The package that it runs.
    pub package: Option<RunPackage>,
}

/// A package that a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPackage {
    /// The package URL up to the version, and what follows the version.
    pub url: (String, String),
    /// The version, if the command fixes it.
    pub version: Option<String>,
    /// The number of the first argument that is the package's own.
    pub arguments_from: usize,
}

/// A server at a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteServer {
    /// The URL, without user info, query and fragment.
    pub url: Setting,
    /// The user info of the URL, a secret.
    pub user_info: Option<String>,
    /// The parameters of its query, decoded.
    pub query: Vec<(String, Setting)>,
    /// The headers of its requests.
    pub headers: Vec<(String, Setting)>,
}

/// Reads the servers in the configuration of a client.
///
/// # Errors
/// Every problem of the document. It is not the configuration of a client, or it can't be read.
pub fn installed_servers(document: Vec<u8>) -> Result<Vec<InstalledServer>, Vec<Diagnostic>> {
    let document = Document::new(decode(DocumentKind::Import, document, DOCUMENT_LIMIT)?);
    let mut problems = Problems::new(&document.text);
    let Some(root) = document
        .parse(&mut problems)
        .filter(|_| !problems.has_errors())
    else {
        return Err(problems.finish());
    };
    let Some(installations) = installations(&root) else {
        let message = "the document is not the configuration of an MCP client";
        problems
            .report(Code::ImportFormat, opening(&root), "no servers", message)
            .help("name a file with `mcpServers`, or with the servers of another client");
        return Err(problems.finish());
    };
    Ok(installations.iter().map(installed).collect())
}

impl ServerStart {
    /// Returns the start by a command without an environment.
    pub(super) fn of_words(program: &str, arguments: &[&str]) -> Self {
        Self::Command(ServerCommand {
            program: setting(program, SettingKind::Path),
            arguments: argument_settings(arguments),
            environment: Vec::new(),
            environment_file: None,
            folder: None,
            package: run_package(program, arguments),
        })
    }
}

fn argument_settings(words: &[&str]) -> Vec<Setting> {
    let before = [None].into_iter().chain(words.iter().copied().map(Some));
    let arguments = words.iter().zip(before);
    let arguments = arguments.map(|(word, before)| setting(word, SettingKind::Argument(before)));
    arguments.collect()
}

/// Returns the package that a command runs.
pub fn run_package(program: &str, arguments: &[&str]) -> Option<RunPackage> {
    let package = LaunchedPackage::of(program, arguments)?;
    Some(RunPackage {
        url: package.purl()?,
        version: package.version.map(str::to_owned),
        arguments_from: arguments.len() - package.own,
    })
}

pub(super) fn installed(installation: &Installation<'_>) -> InstalledServer {
    let node = installation.node;
    let command = find(node, &super::client::COMMANDS);
    let start = match (find(node, &super::client::URLS), command) {
        (None, Some(command)) => match Words::of(command, node) {
            Some(words) => ServerStart::Command(server_command(node, command, &words)),
            None => ServerStart::Unknown,
        },
        (Some(url), None) => match text(url) {
            Some(url) => ServerStart::Remote(remote(node, url)),
            None => ServerStart::Unknown,
        },
        _ => ServerStart::Unknown,
    };
    InstalledServer {
        path: installation.path.clone(),
        name: installation.name.map_or("", |(name, _)| name).to_owned(),
        is_enabled: enabled(node).is_none(),
        start,
    }
}

fn server_command(node: &Node<'_>, command: &Node<'_>, words: &Words<'_>) -> ServerCommand {
    let mut environment = keyed(node, &["env", "environment", "envs"]);
    // Zed had the environment inside of the command.
    environment.extend(keyed(command, &["env"]));
    // The names of variables that the client passes on.
    for key in ["env_vars", "env_keys"] {
        let names = find(node, &[key]).and_then(items).unwrap_or_default();
        environment.extend(names.iter().filter_map(text).map(from_environment));
    }
    let path = |keys: &[&str]| {
        let found = find(node, keys).and_then(text);
        found.map(|it| setting(it, SettingKind::Path))
    };
    ServerCommand {
        program: setting(words.program, SettingKind::Path),
        arguments: argument_settings(&words.arguments),
        environment,
        environment_file: path(&["envFile"]),
        folder: path(&["cwd", "workdir", "workingDirectory"]),
        package: run_package(words.program, &words.arguments),
    }
}

/// Returns a variable that has its value from the client's environment.
fn from_environment(name: &str) -> (String, Setting) {
    (name.to_owned(), Setting(vec![environment(name)]))
}

fn environment(name: &str) -> SettingPart {
    SettingPart::Variable(Variable::Environment {
        name: name.to_owned(),
        default: None,
    })
}

fn remote(node: &Node<'_>, url: &str) -> RemoteServer {
    let (whole, _) = url.split_once('#').unwrap_or((url, ""));
    let (address, query) = whole.split_once('?').unwrap_or((whole, ""));
    let query = form_urlencoded::parse(query.as_bytes());
    let query = query.map(|(key, value)| {
        let value = setting(&value, SettingKind::Keyed(&key));
        (key.into_owned(), value)
    });
    // The user info ends at the last `@` before the path.
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..]
        .find('/')
        .map_or(address.len(), |at| host + at);
    let (user_info, url) = match address[host..end].rfind('@') {
        Some(at) => {
            let url = format!("{}{}", &address[..host], &address[host + at + 1..]);
            (Some(address[host..host + at].to_owned()), url)
        }
        None => (None, address.to_owned()),
    };
    let mut headers = keyed(node, &["headers", "http_headers"]);
    if let Some(options) = find(node, &["requestOptions"]) {
        headers.extend(keyed(options, &["headers"]));
    }
    for header in find(node, &["env_http_headers"]).map_or(&[][..], entries) {
        let name = text(&header.value).map(environment);
        headers.extend(name.map(|name| (header.key.to_string(), Setting(vec![name]))));
    }
    if let Some(name) = find(node, &["bearer_token_env_var"]).and_then(text) {
        let scheme = SettingPart::Plain("Bearer ".to_owned());
        headers.push((
            "Authorization".to_owned(),
            Setting(vec![scheme, environment(name)]),
        ));
    }
    RemoteServer {
        url: setting(&url, SettingKind::Path),
        user_info,
        query: query.collect(),
        headers,
    }
}

/// Returns the values of an object of names and values.
fn keyed(node: &Node<'_>, keys: &[&str]) -> Vec<(String, Setting)> {
    let object = keys.iter().find_map(|key| {
        Some(
            &entry(node, key)
                .or_else(|| member(nested(node), key))?
                .value,
        )
    });
    let members = object.map_or(&[][..], entries).iter();
    let values = members.filter_map(|it| {
        let text = match &it.value.value {
            Value::String(text) | Value::Plain(text) => &**text,
            Value::Number(text) => text,
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            _ => return None,
        };
        Some((
            it.key.to_string(),
            setting(text, SettingKind::Keyed(&it.key)),
        ))
    });
    values.collect()
}
