//! `agent clients`: the MCP clients of this user, with their servers.

use crate::args::Clients;
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use agent_adopt::{CLIENTS, Folders, find};
use agent_host::contract::clients::{InstalledServer, NamedSetting, ServerStart, SettingPart};
use agent_host::contract::view::{Style, StyledSpan};
use agent_host::input::Input;
use agent_host::{Failure, output};
use agent_syntax::json::Writer;
use agent_syntax::json_string;
use std::path::{Path, PathBuf};

/// A configuration with its servers.
struct Found {
    /// The client, unless only the file was named.
    client: Option<&'static str>,
    path: PathBuf,
    servers: Vec<InstalledServer>,
}

pub(super) fn run(args: &Clients, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let files = files(&args.clients)?;
    if files.is_empty() {
        let message = "no configuration of an MCP client was found";
        return Err(Failure::new(message).help("name a configuration with `--client FILE`"));
    }
    let (mut found, mut is_whole) = (Vec::new(), true);
    for (file, number) in files.into_iter().zip(0..) {
        let ClientFile { client, path, .. } = file;
        let input = Input::File(path.clone());
        // The settings of an editor need not have servers.
        match session.installed_servers(&input, number, client.is_some())? {
            Some(servers) if servers.is_empty() => {}
            Some(servers) => found.push(Found {
                client,
                path,
                servers,
            }),
            None => is_whole = false,
        }
    }
    session.show(|_| Ok(text(&found, is_whole)), |_| Ok(json(&found)))?;
    Ok(CommandAnswer::yes_if(is_whole))
}

/// A configuration that exists, or that was named.
#[derive(Clone)]
pub(super) struct ClientFile {
    /// The client, unless only the file was named.
    pub(super) client: Option<&'static str>,
    pub(super) path: PathBuf,
    /// Whether it is a configuration of this user, not of a folder.
    pub(super) is_own: bool,
    /// Whether the file itself was named.
    pub(super) is_named: bool,
}

/// Returns the configurations of the named clients and files; those of all clients if none is named.
pub(super) fn files(named: &[String]) -> Result<Vec<ClientFile>, Failure> {
    let all = find(&Folders::usual()).into_iter().map(|it| ClientFile {
        client: Some(it.client),
        path: it.path,
        is_own: it.is_of_user,
        is_named: false,
    });
    let all: Vec<_> = all.collect();
    if named.is_empty() {
        return Ok(all);
    }
    let mut files = Vec::new();
    for name in named {
        let Some(client) = CLIENTS.iter().find(|it| it.name == name) else {
            let path = PathBuf::from(name);
            let is_it = |it: &&ClientFile| agent_adopt::is_same(&it.path, &path);
            let known = all.iter().find(is_it).cloned();
            let unknown = || ClientFile {
                client: None,
                path: path.clone(),
                is_own: false,
                is_named: true,
            };
            files.push(ClientFile {
                is_named: true,
                ..known.unwrap_or_else(unknown)
            });
            continue;
        };
        let before = files.len();
        let own = all.iter().filter(|it| it.client == Some(client.name));
        files.extend(own.cloned());
        if files.len() == before {
            let message = format_args!("no configuration of `{name}` was found");
            return Err(Failure::new(message).help("name its file with `--client FILE`"));
        }
    }
    Ok(files)
}

fn text(found: &[Found], is_whole: bool) -> Vec<StyledSpan> {
    let mut text = String::new();
    for it in found {
        let path = it.path.display().to_string();
        let client = it
            .client
            .map_or(String::new(), |client| format!("{client}  "));
        text.push_str(&format!("{client}{}\n", output::visible(&path)));
        let widths = it
            .servers
            .iter()
            .map(|server| output::visible(&server.name).chars().count());
        let width = widths.max().unwrap_or_default();
        for server in &it.servers {
            let mark = match (is_governed(server), server.is_enabled) {
                (_, false) => "  [not started by the client]",
                (true, true) => "  [governed]",
                (false, true) => "",
            };
            let name = output::visible(&server.name);
            let start = start(server);
            text.push_str(&format!(
                "  {name:width$}  {}{mark}\n",
                output::visible(&start)
            ));
            for (label, value) in details(server) {
                let value = output::visible(&value);
                text.push_str(&format!("  {:width$}    {label} {value}\n", ""));
            }
        }
    }
    if text.is_empty() && is_whole {
        text.push_str("no client has a server\n");
    }
    vec![StyledSpan {
        style: Style::Plain,
        text,
    }]
}

/// Returns whether the gateway is the server.
pub(super) fn is_governed(server: &InstalledServer) -> bool {
    let ServerStart::Command(command) = &server.start else {
        return false;
    };
    let program = shown(&command.program);
    let name = Path::new(&program).file_name().and_then(|it| it.to_str());
    name == Some("agent")
        && command
            .arguments
            .first()
            .is_some_and(|it| shown(it) == "serve")
}

/// Returns what is started, or where the server is.
pub(super) fn start(server: &InstalledServer) -> String {
    match &server.start {
        ServerStart::Command(command) => {
            let words = [&command.program].into_iter().chain(&command.arguments);
            words
                .map(|it| word(shown(it)))
                .collect::<Vec<_>>()
                .join(" ")
        }
        ServerStart::Remote(remote) => shown(&remote.url),
        ServerStart::Unknown => "neither a command nor a URL, or both".to_owned(),
    }
}

/// Returns the words of a command as its configuration has them; none of another server.
pub(super) fn words(server: &InstalledServer) -> Vec<String> {
    let ServerStart::Command(command) = &server.start else {
        return Vec::new();
    };
    let whole = |setting: &Vec<SettingPart>| {
        let parts = setting.iter().map(|part| match part {
            SettingPart::Secret(text) => text.clone(),
            other => shown(std::slice::from_ref(other)),
        });
        parts.collect()
    };
    let words = [&command.program].into_iter().chain(&command.arguments);
    words.map(whole).collect()
}

/// Returns what a server gets, with the names of values alone.
pub(super) fn details(server: &InstalledServer) -> Vec<(&'static str, String)> {
    let names = |settings: &[NamedSetting]| {
        let names = settings.iter().map(|it| &*it.name);
        names.collect::<Vec<_>>().join(", ")
    };
    let details = match &server.start {
        ServerStart::Command(command) => [
            ("package", package_url(server).unwrap_or_default()),
            ("environment", names(&command.environment)),
            (
                "environment of",
                command
                    .environment_file
                    .as_ref()
                    .map(|it| shown(it))
                    .unwrap_or_default(),
            ),
            (
                "folder",
                command
                    .folder
                    .as_ref()
                    .map(|it| shown(it))
                    .unwrap_or_default(),
            ),
        ]
        .to_vec(),
        ServerStart::Remote(remote) => {
            let user = remote.user_info.as_ref().map(|_| "in the URL".to_owned());
            [
                ("headers", names(&remote.headers)),
                ("query", names(&remote.query)),
                ("user info", user.unwrap_or_default()),
            ]
            .to_vec()
        }
        ServerStart::Unknown => Vec::new(),
    };
    details
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// Returns the URL of the package that a server runs.
pub(super) fn package_url(server: &InstalledServer) -> Option<String> {
    let ServerStart::Command(command) = &server.start else {
        return None;
    };
    let package = command.package.as_ref()?;
    let url = match &package.version {
        Some(version) => format!("{}{version}", package.url_before),
        None => package.url_before.trim_end_matches('@').to_owned(),
    };
    Some(url + &package.url_after)
}

/// Returns a value with its secrets hidden, and its variables as the client has them.
fn shown(setting: &[SettingPart]) -> String {
    let parts = setting.iter().map(|part| match part {
        SettingPart::Plain(text) => text.clone(),
        SettingPart::Secret(_) => "<secret>".to_owned(),
        SettingPart::Environment(variable) => format!("${{{}}}", variable.name),
        SettingPart::Input(id) => format!("${{input:{id}}}"),
        SettingPart::WorkingFolder => "${workspaceFolder}".to_owned(),
        SettingPart::Home => "~".to_owned(),
        SettingPart::Other(name) => format!("${{{name}}}"),
    });
    parts.collect()
}

/// Returns a word of a command, in quotes if it needs them.
fn word(text: String) -> String {
    let is_plain = |c: char| !(c.is_whitespace() || c.is_control() || "\"'\\".contains(c));
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text,
        false => json_string(&text),
    }
}

fn json(found: &[Found]) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("clients").array(|w| {
            for it in found {
                w.object(|w| {
                    if let Some(client) = it.client {
                        w.key("client").string(client);
                    }
                    w.key("path").string(&it.path.display().to_string());
                    w.key("servers").array(|w| {
                        it.servers.iter().for_each(|server| write(server, w));
                    });
                });
            }
        });
    });
    w.finish()
}

fn write(server: &InstalledServer, w: &mut Writer) {
    let names = |w: &mut Writer, key: &str, settings: &[NamedSetting]| {
        w.key(key).strings(settings.iter().map(|it| &*it.name));
    };
    w.object(|w| {
        if let ServerStart::Command(command) = &server.start {
            let words = [&command.program].into_iter().chain(&command.arguments);
            let words: Vec<_> = words.map(|it| shown(it)).collect();
            w.key("command").strings(words.iter().map(String::as_str));
        }
        w.key("enabled").bool(server.is_enabled);
        if let ServerStart::Command(command) = &server.start {
            names(w, "environment", &command.environment);
        }
        w.key("governed").bool(is_governed(server));
        if let ServerStart::Remote(remote) = &server.start {
            names(w, "headers", &remote.headers);
        }
        w.key("name").string(&server.name);
        if let Some(url) = package_url(server) {
            w.key("package").string(&url);
        }
        w.key("path").string(&server.path);
        if let ServerStart::Remote(remote) = &server.start {
            names(w, "query", &remote.query);
            w.key("url").string(&shown(&remote.url));
        }
    });
}
