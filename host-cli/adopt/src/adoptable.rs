//! How a server of a client's configuration is started by the gateway, or why the client has to go on starting it.

use agent_host::contract::clients::{
    InstalledServer, NamedSetting, RemoteServer, RunPackage, ServerCommand, ServerStart,
    SettingPart,
};
use agent_operator::{Network, Part, SECRET_MIN_BYTES, Server, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a server needs that stands in no configuration.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The user's folder.
    pub home: PathBuf,
    /// The folder of the project that the configuration belongs to.
    pub project: Option<PathBuf>,
    /// The environment of the client, as far as it is this program's.
    pub variables: BTreeMap<String, String>,
    /// The interpreter of Python, and its folder if it is not that of the system: the program may be a script that
    /// chooses one.
    pub python: Option<(PathBuf, Option<PathBuf>)>,
    /// What the client would ask its user for, by id.
    pub inputs: BTreeMap<String, String>,
    /// The folders of this program, which no server may write.
    pub own_folders: Vec<PathBuf>,
}

/// A server that the gateway can start or reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adoptable {
    /// The path of keys to it in the configuration.
    pub path: String,
    /// How it is started or reached.
    pub reached: Reached,
    entry: Template,
}

/// How a server is started or reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reached {
    /// By the program of a package of npm or PyPI, in this version if the command fixes one.
    Package(Package),
    /// By another program.
    Program,
    /// At a URL.
    Url(String),
}

/// A package of npm or PyPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The package URL without a version.
    pub origin: String,
    /// What follows the version in the package URL.
    pub after: String,
    /// The version.
    pub version: Option<String>,
}

impl Package {
    /// Returns the name in its registry.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.origin.split_once('/').map_or("", |(_, name)| name);
        name.replacen("%40", "@", 1)
    }

    /// Returns whether a version names one release, not a tag or a range.
    #[must_use]
    pub fn is_exact(&self, version: &str) -> bool {
        version.starts_with(|c: char| c.is_ascii_digit())
            && !version.contains(['*', 'x', '^', '~', '|', ' '])
    }

    /// Returns the package URL of a version.
    #[must_use]
    pub fn url(&self, version: &str) -> String {
        format!("{}@{version}{}", self.origin, self.after)
    }
}

/// Why the client has to go on starting a server, and what may be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ungoverned {
    /// The reason.
    pub reason: String,
    /// What to do.
    pub help: String,
}

impl Ungoverned {
    /// Returns a reason with what to do.
    pub fn new(reason: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            help: help.into(),
        }
    }
}

/// A secret of a new entry.
#[derive(Clone, PartialEq, Eq)]
pub enum NewSecret {
    /// The value, which is moved out of the configuration.
    Value(String),
    /// A variable of the gateway's environment, which is that of the client.
    Variable(String),
}

/// The operator's entry of a server, with its secrets by name.
#[derive(Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// The entry.
    pub server: Server,
    /// The secrets that it names.
    pub secrets: BTreeMap<String, NewSecret>,
}

/// An entry before its id is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Template {
    command: Vec<Text>,
    arguments: Vec<Text>,
    environment: Vec<(String, Text)>,
    headers: Vec<(String, Text)>,
    query: Vec<(String, Text)>,
    origin: Option<String>,
    workdir: Option<PathBuf>,
    read: BTreeSet<PathBuf>,
    write: BTreeSet<PathBuf>,
}

/// A text of literals and secrets.
type Text = Vec<TextPart>;

#[derive(Clone, PartialEq, Eq)]
enum TextPart {
    Literal(String),
    Secret { key: String, value: NewSecret },
}

impl std::fmt::Debug for TextPart {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Literal(text) => write!(out, "{text:?}"),
            Self::Secret { key, .. } => write!(out, "secret {key:?}"),
        }
    }
}

/// The programs that read their commands from an argument.
const SHELLS: [&str; 8] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "fish",
    "cmd",
    "cmd.exe",
    "powershell",
];

/// The programs that start containers, which no sandbox of this program holds.
const CONTAINERS: [&str; 3] = ["docker", "podman", "nerdctl"];

/// The variables by which other code than that of the program is loaded, or their beginnings before a `*`.
const LOADERS: [&str; 14] = [
    "LD_*",
    "DYLD_*",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "BASH_ENV",
    "ENV",
    "PERL5OPT",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
    "NPM_CONFIG_*",
];

/// The variables whose values are no secrets, and the same for every program of a user.
const OF_USER: [&str; 8] = [
    "HOME", "USER", "LOGNAME", "PATH", "PWD", "LANG", "SHELL", "TMPDIR",
];

/// The package that passes on what a server at a URL says.
const REMOTE_BRIDGE: &str = "pkg:npm/mcp-remote";

/// Returns how the gateway starts or reaches a server.
///
/// # Errors
///
/// When it can't: the client goes on starting the server.
pub fn adoptable(
    server: &InstalledServer,
    surroundings: &Surroundings,
) -> Result<Adoptable, Ungoverned> {
    let (reached, entry) = match &server.start {
        ServerStart::Command(command) => surroundings.command(command)?,
        ServerStart::Remote(remote) => surroundings.remote(remote)?,
        ServerStart::Unknown => {
            return Err(Ungoverned::new(
                "it has neither a command nor a URL, or both",
                "correct its entry in the client's configuration",
            ));
        }
    };
    Ok(Adoptable {
        path: server.path.clone(),
        reached,
        entry,
    })
}

impl Surroundings {
    fn command(&self, command: &ServerCommand) -> Result<(Reached, Template), Ungoverned> {
        let mut entry = Template::default();
        let program = self.plain(&command.program, "its program")?;
        let name = Path::new(&program).file_name().unwrap_or_default();
        let name = name.to_string_lossy().to_ascii_lowercase();
        if SHELLS.contains(&&*name) {
            return Err(Ungoverned::new(
                format!("`{name}` runs a text of the configuration"),
                "name the server's own program as the command",
            ));
        }
        if CONTAINERS.contains(&&*name) {
            return Err(Ungoverned::new(
                "it runs in a container, which the sandbox does not hold",
                "use the server's package of npm or PyPI, or its URL",
            ));
        }
        if command.environment_file.is_some() {
            return Err(Ungoverned::new(
                "its environment comes from a file",
                "write the variables of this file into `env`",
            ));
        }
        let package = command.package.as_ref();
        let installed = package.filter(|it| {
            let kinds = ["pkg:npm/", "pkg:pypi/"];
            kinds.iter().any(|kind| it.url_before.starts_with(kind))
        });
        let own = installed.map_or(0, |it| it.arguments_from as usize);
        let arguments = command.arguments.get(own..).unwrap_or_default();
        if let Some(package) = installed.filter(|it| origin_of(it) == REMOTE_BRIDGE) {
            return self.bridged(package, arguments);
        }
        for argument in arguments {
            let text = self.text(argument, "argument")?;
            if let [TextPart::Literal(text)] = &text[..] {
                self.allow(text, installed.is_some(), &mut entry)?;
            }
            entry.arguments.push(text);
        }
        entry.environment = self.named(&command.environment)?;
        if let Some(loader) = command.environment.iter().find(|it| loads_code(&it.name)) {
            return Err(Ungoverned::new(
                format!("`{}` loads other code than its program", loader.name),
                "remove the variable from its entry",
            ));
        }
        if let Some(folder) = &command.folder {
            let folder = self.absolute(&self.plain(folder, "its folder")?);
            entry.read.insert(folder.clone());
            entry.workdir = Some(folder);
        }
        let Some(package) = installed else {
            let (program, folder) = self.program(&program)?;
            entry.read.extend(folder);
            let program = program.to_string_lossy().into_owned();
            entry.command = vec![vec![TextPart::Literal(program)]];
            return Ok((Reached::Program, entry));
        };
        entry.origin = Some(origin_of(package).to_owned());
        Ok((Reached::Package(package_of(package)), entry))
    }

    /// Returns the path of a program, and the folder that it needs if it is not one of the system.
    fn program(&self, program: &str) -> Result<(PathBuf, Option<PathBuf>), Ungoverned> {
        if let ("python" | "python3", Some(python)) = (program, &self.python) {
            return Ok(python.clone());
        }
        let path = match program.contains('/') {
            true => Some(self.absolute(program)),
            false => self.variables.get("PATH").and_then(|folders| {
                let folders = std::env::split_paths(folders).filter(|it| it.is_absolute());
                folders.map(|it| it.join(program)).find(|it| it.is_file())
            }),
        };
        let path = path.ok_or_else(|| {
            Ungoverned::new(
                format!("there is no program `{program}`"),
                "install it, or name its path as the command",
            )
        })?;
        if ["/usr", "/bin"].iter().any(|it| path.starts_with(it)) {
            return Ok((path, None));
        }
        // A link in a folder of programs leads to the folder of the runtime.
        let path = path.canonicalize().unwrap_or(path);
        let folder = path.parent().map(Path::to_owned);
        let runtime = folder.as_ref().filter(|it| it.ends_with("bin"));
        let runtime = runtime.and_then(|it| it.parent()).map(Path::to_owned);
        Ok((path, runtime.or(folder)))
    }

    /// Allows the files that an argument names: a folder may be written, and a program's file is read with its folder.
    fn allow(
        &self,
        argument: &str,
        is_of_package: bool,
        entry: &mut Template,
    ) -> Result<(), Ungoverned> {
        let value = argument
            .split_once('=')
            .map_or(argument, |(_, value)| value);
        let value = if argument.starts_with('-') {
            value
        } else {
            argument
        };
        let path = match Path::new(value).is_absolute() {
            true => PathBuf::from(value),
            // A script beside the configuration.
            false if !is_of_package && self.project.is_some() => self.absolute(value),
            false => return Ok(()),
        };
        if path.is_dir() {
            if let Some(own) = self.own_folders.iter().find(|own| own.starts_with(&path)) {
                return Err(Ungoverned::new(
                    format!(
                        "it may write `{}`, which has `{}` with its own rules",
                        path.display(),
                        own.display()
                    ),
                    "name folders inside of it",
                ));
            }
            entry.write.insert(path);
        } else if path.is_file() {
            let folder = path.parent().map(Path::to_owned);
            match is_of_package {
                true => entry.read.insert(path),
                false => entry.read.insert(folder.unwrap_or(path)),
            };
        }
        Ok(())
    }

    /// Reads a server at a URL that the client reaches through a package.
    fn bridged(
        &self,
        package: &RunPackage,
        arguments: &[Vec<SettingPart>],
    ) -> Result<(Reached, Template), Ungoverned> {
        let no_url = || {
            let name = origin_of(package);
            Ungoverned::new(
                format!("`{name}` has no URL as its first argument"),
                "write the URL of the server as `url`",
            )
        };
        let (url, options) = arguments.split_first().ok_or_else(no_url)?;
        let mut remote = RemoteServer {
            url: url.clone(),
            user_info: None,
            query: Vec::new(),
            headers: Vec::new(),
        };
        let pairs = options.iter().zip(options.iter().skip(1));
        for (option, value) in pairs {
            let is_header = matches!(&option[..], [SettingPart::Plain(text)] if text == "--header");
            if let (true, Some((SettingPart::Plain(first), rest))) =
                (is_header, value.split_first())
                && let Some((name, start)) = first.split_once(':')
            {
                let start = start.trim_start();
                let start = (!start.is_empty()).then(|| SettingPart::Plain(start.to_owned()));
                let value = start.into_iter().chain(rest.iter().cloned());
                remote.headers.push(NamedSetting {
                    name: name.to_owned(),
                    value: value.collect(),
                });
            }
        }
        self.remote(&remote)
    }

    fn remote(&self, remote: &RemoteServer) -> Result<(Reached, Template), Ungoverned> {
        let url = self.plain(&remote.url, "its URL")?;
        let scheme = ["https://", "http://"]
            .into_iter()
            .find(|it| url.starts_with(it));
        let Some(scheme) = scheme else {
            return Err(Ungoverned::new(
                "its URL is not one of HTTP",
                "correct its entry in the client's configuration",
            ));
        };
        if remote.user_info.is_some() {
            return Err(Ungoverned::new(
                "its URL has user info",
                "send it as the header `Authorization`",
            ));
        }
        let host = url[scheme.len()..].split('/').next().unwrap_or_default();
        let entry = Template {
            headers: self.named(&remote.headers)?,
            query: self.named(&remote.query)?,
            origin: Some(format!("{scheme}{host}").to_ascii_lowercase()),
            ..Template::default()
        };
        Ok((Reached::Url(url), entry))
    }

    fn absolute(&self, path: &str) -> PathBuf {
        let folder = self.project.as_ref().unwrap_or(&self.home);
        folder.join(path)
    }

    fn named(&self, settings: &[NamedSetting]) -> Result<Vec<(String, Text)>, Ungoverned> {
        let named = settings.iter().map(|it| {
            let text = self.text(&it.value, &it.name)?;
            Ok((it.name.clone(), text))
        });
        named.collect()
    }

    /// Returns a text without secrets.
    fn plain(&self, setting: &[SettingPart], what: &str) -> Result<String, Ungoverned> {
        let parts = self
            .text(setting, what)?
            .into_iter()
            .map(|part| match part {
                TextPart::Literal(text) => Ok(text),
                TextPart::Secret { .. } => Err(Ungoverned::new(
                    format!("{what} has a secret"),
                    "give the secret by the environment or a header",
                )),
            });
        parts.collect()
    }

    /// Returns a text whose variables have their values, or are secrets.
    fn text(&self, setting: &[SettingPart], key: &str) -> Result<Text, Ungoverned> {
        let mut text = Text::new();
        let literal = |text: &mut Text, new: &str| match text.last_mut() {
            Some(TextPart::Literal(last)) => last.push_str(new),
            _ => text.push(TextPart::Literal(new.to_owned())),
        };
        for part in setting {
            match part {
                SettingPart::Plain(plain) => literal(&mut text, plain),
                SettingPart::Home => literal(&mut text, &self.home.to_string_lossy()),
                SettingPart::WorkingFolder => match &self.project {
                    Some(folder) => literal(&mut text, &folder.to_string_lossy()),
                    None => {
                        return Err(Ungoverned::new(
                            "it works in the folder that the client has open",
                            "name the folder, or add the server to each project's configuration",
                        ));
                    }
                },
                SettingPart::Secret(value) if value.len() < SECRET_MIN_BYTES => {
                    // The whole file is readable by this user alone.
                    literal(&mut text, value);
                }
                SettingPart::Secret(value) => text.push(TextPart::Secret {
                    key: key.to_owned(),
                    value: NewSecret::Value(value.clone()),
                }),
                SettingPart::Environment(variable) => {
                    let set = self.variables.get(&variable.name);
                    let value = set.or(variable.default.as_ref()).ok_or_else(|| {
                        let name = &variable.name;
                        Ungoverned::new(
                            format!("the variable `{name}` is not set"),
                            format!("set `{name}`, and run this again"),
                        )
                    })?;
                    let is_short = value.len() < SECRET_MIN_BYTES;
                    match set.is_none() || is_short || OF_USER.contains(&&*variable.name) {
                        true => literal(&mut text, value),
                        false => text.push(TextPart::Secret {
                            key: variable.name.clone(),
                            value: NewSecret::Variable(variable.name.clone()),
                        }),
                    }
                }
                SettingPart::Input(id) => {
                    let value = self.inputs.get(id).ok_or_else(|| {
                        Ungoverned::new(
                            format!("the client asks for `{id}`"),
                            format!("pass `--input {id}=FILE`, a file with the answer"),
                        )
                    })?;
                    match value.len() < SECRET_MIN_BYTES {
                        true => literal(&mut text, value),
                        false => text.push(TextPart::Secret {
                            key: id.clone(),
                            value: NewSecret::Value(value.clone()),
                        }),
                    }
                }
                SettingPart::Other(name) => {
                    return Err(Ungoverned::new(
                        format!("only the client fills in `{name}`"),
                        "write its value into the entry",
                    ));
                }
            }
        }
        let is_variable =
            |part: &TextPart| matches!(part, TextPart::Literal(it) if it.contains("${"));
        match text.iter().any(is_variable) {
            true => Err(Ungoverned::new(
                format!("`{key}` has a `${{` that is no variable of the client"),
                "write its value into the entry",
            )),
            false => Ok(text),
        }
    }
}

fn origin_of(package: &RunPackage) -> &str {
    package.url_before.trim_end_matches('@')
}

fn package_of(package: &RunPackage) -> Package {
    Package {
        origin: origin_of(package).to_owned(),
        after: package.url_after.clone(),
        version: package.version.clone(),
    }
}

/// Returns whether a variable loads other code than that of the program.
fn loads_code(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    LOADERS.iter().any(|loader| match loader.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *loader,
    })
}

impl Adoptable {
    /// Returns the entry of a server by its id, whose secrets have names that begin with it.
    #[must_use]
    pub fn entry(&self, id: &str, network: &Network) -> NewEntry {
        let mut secrets = BTreeMap::new();
        let template = &self.entry;
        let mut values = |texts: &[Text]| {
            let values = texts.iter().map(|it| value(id, it, &mut secrets));
            values.collect::<Vec<_>>()
        };
        let (command, arguments) = (values(&template.command), values(&template.arguments));
        let mut named = |texts: &[(String, Text)]| {
            let named = texts.iter();
            let named = named.map(|(name, it)| (name.clone(), value(id, it, &mut secrets)));
            named.collect::<BTreeMap<_, _>>()
        };
        let env = named(&template.environment);
        let headers = named(&template.headers);
        let query = named(&template.query);
        let server = Server {
            command,
            arguments,
            env,
            headers,
            query,
            origin: match self.reached {
                // Its package URL is made of its id.
                Reached::Program => Some(format!("pkg:generic/{id}")),
                _ => template.origin.clone(),
            },
            workdir: template.workdir.clone(),
            read: template.read.iter().cloned().collect(),
            write: template.write.iter().cloned().collect(),
            network: network.clone(),
            ..Server::default()
        };
        NewEntry { server, secrets }
    }

    /// Returns what the server may read and write besides its own program.
    #[must_use]
    pub fn files(&self) -> (&BTreeSet<PathBuf>, &BTreeSet<PathBuf>) {
        (&self.entry.read, &self.entry.write)
    }
}

/// Returns the value of a text; equal secrets have one name.
fn value(id: &str, text: &Text, secrets: &mut BTreeMap<String, NewSecret>) -> Value {
    let parts = text.iter().map(|part| match part {
        TextPart::Literal(text) => Part::Literal(text.clone()),
        TextPart::Secret { key, value } => {
            let names = (1..).map(|number| match number {
                1 => format!("{id}.{key}"),
                _ => format!("{id}.{key}.{number}"),
            });
            let is_free = |name: &String| secrets.get(name).is_none_or(|it| it == value);
            let name = names.into_iter().find(is_free).unwrap_or_default();
            secrets.insert(name.clone(), value.clone());
            Part::Secret(name)
        }
    });
    Value(parts.collect())
}
