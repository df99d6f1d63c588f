//! MCP servers: the one that the present step talks to.
//!
//! A server over HTTP is reached over the way out, at the address that the engine checked. A server with a
//! package URL is started by its entry in `servers.local.yaml`, speaks over its standard streams, and ends
//! with the step. It runs in the sandbox, unless the entry says `sandbox: none`.

use super::effects::{aborted, failed};
use super::requests::{headers, target};
use super::secrets::Secrets;
use agent_host::contract::run::{FailureKind, Opened, Outcome, Server, ToolCall};
use agent_mcp::{
    Client, Endpoint, Error, Generations, Http, Limits, Options, Stdio, Transport, Wait,
};
use agent_operator::{Network, Operator, Server as Entry};
use agent_packages::{Package, Store};
use agent_sandbox::{Child, Command, Log, Network as Reach, Sandbox};
use agent_way_out::WayOut;
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{ChildStdin, ChildStdout};

/// The name by which servers know this client.
const CLIENT: &str = "agent";

/// Bytes that are kept of what a server writes to standard error.
const LOG_BYTES: u64 = 256 << 10;

/// Bytes of memory of a server with all that it starts. Node.js alone reserves more than short programs get.
const MEMORY_BYTES: u64 = 2 << 30;

/// Characters of the last line that a server wrote to standard error, in a message.
const LAST_LINE_CHARS: usize = 200;

/// The servers of the operator, and the one that is open.
pub(crate) struct Servers {
    entries: BTreeMap<String, Entry>,
    open: Option<Open>,
}

/// The connection of the present step.
enum Open {
    Http(Client<Http<Endpoint>>),
    /// The child ends with the connection.
    Stdio(Client<Stdio<ChildStdout, ChildStdin>>, Child),
}

impl Servers {
    pub(crate) fn new(operator: &Operator) -> Self {
        Self {
            entries: operator.servers.clone(),
            open: None,
        }
    }

    /// Connects to a server, or starts it.
    pub(crate) async fn open(
        &mut self,
        server: Server,
        secrets: &Secrets,
        way_out: Arc<WayOut>,
        sandbox: Result<Sandbox, String>,
    ) -> Outcome {
        self.open = None;
        let bytes = usize::try_from(server.max_message_bytes).unwrap_or(usize::MAX);
        let options = Options {
            name: CLIENT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            generations: Generations::Both,
            limits: Limits {
                // A list of tools is larger than the result of one.
                frame_bytes: Limits::default().frame_bytes.max(bytes),
                ..Limits::default()
            },
        };
        let wait = wait(server.timeout_ms);
        let entry = self.entries.get(&server.id).cloned().unwrap_or_default();
        if server.connection.is_some() {
            return self
                .reach(server, &entry, secrets, way_out, &options, &wait)
                .await;
        }
        let started = self.start(&server, &entry, secrets, sandbox, options, &wait);
        started.await
    }

    /// Connects to a server over HTTP.
    async fn reach(
        &mut self,
        server: Server,
        entry: &Entry,
        secrets: &Secrets,
        way_out: Arc<WayOut>,
        options: &Options,
        wait: &Wait,
    ) -> Outcome {
        let prepared = || {
            let connection = server.connection.as_ref().ok_or("no connection")?;
            let own = entry.headers.iter().map(|(name, value)| {
                let (value, is_secret) = secrets.value(value)?;
                Ok((&**name, value, is_secret))
            });
            let own = own.collect::<Result<Vec<_>, String>>()?;
            let path = with_query(&server.target, entry, secrets)?;
            Ok::<_, String>((target(connection)?, headers(own)?, path))
        };
        let (target, headers, path) = match prepared() {
            Ok(prepared) => prepared,
            Err(message) => return failed(FailureKind::Failed, message),
        };
        let limits = agent_way_out::Limits::default();
        let endpoint = Endpoint::new(way_out, target, path, headers, limits);
        match Client::connect(Http::new(endpoint), options, wait).await {
            Ok(client) => {
                let protocol = client.version().name().to_owned();
                self.open = Some(Open::Http(client));
                Outcome::Opened(Opened {
                    protocol,
                    is_unsandboxed: false,
                })
            }
            Err(error) => lost(&error, None),
        }
    }

    /// Starts a server: in the sandbox, unless the operator's entry makes an exception.
    async fn start(
        &mut self,
        server: &Server,
        entry: &Entry,
        secrets: &Secrets,
        sandbox: Result<Sandbox, String>,
        options: Options,
        wait: &Wait,
    ) -> Outcome {
        // A server that exits on an unknown request is started again for the older generation.
        for generations in [Generations::Both, Generations::Sessions] {
            let command = match launch(server, entry, secrets) {
                Ok(command) => command,
                Err(message) => return failed(FailureKind::Unavailable, message),
            };
            let started = match (&sandbox, entry.unfenced) {
                (_, true) => agent_sandbox::spawn_unsandboxed(command, LOG_BYTES).await,
                (Ok(sandbox), false) => sandbox.spawn(command, limits()).await,
                (Err(reason), false) => return failed(FailureKind::Unavailable, reason.clone()),
            };
            let mut child = match started {
                Ok(child) => child,
                Err(error) => return failed(FailureKind::Failed, error.to_string()),
            };
            let (Some(reader), Some(writer)) = (child.stdout.take(), child.stdin.take()) else {
                return failed(FailureKind::Failed, "the server has no streams".to_owned());
            };
            let transport = Stdio::new(reader, writer, options.limits.frame_bytes);
            let options = Options {
                generations,
                name: options.name.clone(),
                version: options.version.clone(),
                limits: options.limits,
            };
            match Client::connect(transport, &options, wait).await {
                Ok(client) => {
                    let protocol = client.version().name().to_owned();
                    self.open = Some(Open::Stdio(client, child));
                    return Outcome::Opened(Opened {
                        protocol,
                        is_unsandboxed: entry.unfenced,
                    });
                }
                Err(Error::Closed(_)) if generations == Generations::Both => {}
                Err(error) => return lost(&error, Some(end(child).await)),
            }
        }
        failed(FailureKind::Failed, "the server ended at once".to_owned())
    }

    /// Lists the tools of the server.
    pub(crate) async fn list_tools(&mut self, timeout_ms: u64) -> Outcome {
        let wait = wait(timeout_ms);
        let listed = match &mut self.open {
            Some(Open::Http(client)) => client.list_tools(&wait).await,
            Some(Open::Stdio(client, _)) => client.list_tools(&wait).await,
            None => return failed(FailureKind::Failed, "no server is open".to_owned()),
        };
        match listed {
            Ok(list) => Outcome::Bytes(list.json.bytes().to_vec()),
            Err(error) => match self.open.take() {
                Some(Open::Stdio(_, child)) => lost(&error, Some(end(child).await)),
                _ => lost(&error, None),
            },
        }
    }

    /// Calls a tool of the server, and ends the connection: a step makes one call. Returns besides what a
    /// server that was started wrote to standard error, unless the outcome contains it.
    pub(crate) async fn call_tool(&mut self, call: ToolCall) -> (Outcome, Log) {
        let (called, log) = match self.open.take() {
            Some(Open::Http(client)) => (called(client, &call).await, None),
            Some(Open::Stdio(client, child)) => {
                let called = called(client, &call).await;
                (called, Some(end(child).await))
            }
            None => {
                let none = failed(FailureKind::Failed, "no server is open".to_owned());
                return (none, Log::default());
            }
        };
        match called {
            Ok(result) => (Outcome::Bytes(result), log.unwrap_or_default()),
            Err(error) => (lost(&error, log), Log::default()),
        }
    }
}

/// Calls a tool and closes the connection.
async fn called<T: Transport>(mut client: Client<T>, call: &ToolCall) -> Result<Vec<u8>, Error> {
    let wait = wait(call.timeout_ms);
    let called = client.call_tool(&call.tool, call.arguments.as_bytes(), &wait);
    let called = called.await.map(|result| result.bytes().to_vec());
    // What a server answers to the farewell changes nothing.
    let _ = client.close(&wait).await;
    called
}

/// Ends a server, and returns what it wrote to standard error.
async fn end(child: Child) -> Log {
    child.kill();
    match child.wait().await {
        Ok((_, log)) => log,
        Err(error) => error.log().cloned().unwrap_or_default(),
    }
}

/// Returns the limits of a server in the sandbox. It ends with its step.
fn limits() -> agent_sandbox::Limits {
    agent_sandbox::Limits {
        wall_time: None,
        cpu_time: None,
        memory_bytes: MEMORY_BYTES,
        stderr_bytes: LOG_BYTES,
        ..agent_sandbox::Limits::default()
    }
}

/// Returns the command that starts a server: that of the operator's entry, or else the program of the
/// installed package.
fn launch(server: &Server, entry: &Entry, secrets: &Secrets) -> Result<Command, String> {
    let text = |value| secrets.value(value).map(|(text, _)| text.to_owned());
    let arguments = entry.command.iter().skip(1).chain(&entry.arguments);
    let arguments = arguments.map(|it| text(it).map(Into::into));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    let mut command = match entry.command.first() {
        Some(program) => Command::new(find(&text(program)?)?),
        None => installed(server)?,
    };
    command.arguments.extend(arguments);
    for (name, value) in &entry.env {
        let (value, _) = secrets.value(value)?;
        command.env.insert(name.into(), value.into());
    }
    command.cwd.clone_from(&entry.workdir);
    command.read.extend(entry.read.iter().cloned());
    command.write.clone_from(&entry.write);
    command.network = match &entry.network {
        Network::None => Reach::None,
        Network::Host => Reach::Host,
        Network::Hosts(_) => {
            return Err(format!(
                "this host can't limit the network of `{}` to hosts",
                server.id
            ));
        }
    };
    Ok(command)
}

/// Returns the command of an installed package.
fn installed(server: &Server) -> Result<Command, String> {
    let id = &server.id;
    let package = Package::parse(&server.endpoint).map_err(|error| {
        format!("`servers.local.yaml` has no `command` for `{id}`, and {error}")
    })?;
    let store = Store::usual().ok_or("this user has no folder for packages")?;
    let installed = store
        .installed(&package)
        .map_err(|error| error.to_string())?;
    let installed = installed.ok_or_else(|| {
        format!("the package `{package}` is not installed: run `agent servers install {id}`")
    })?;
    let [program, start] = installed.command;
    let mut command = Command::new(program);
    command.arguments = vec![start.into()];
    command.env = installed.env;
    command.read = installed.read;
    Ok(command)
}

/// Returns the path of a program, which is searched in the folders of `PATH` if it is a bare name.
fn find(program: &str) -> Result<PathBuf, String> {
    if program.contains('/') {
        return Ok(PathBuf::from(program));
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program));
    let found = found.into_iter().find(|path| Path::is_file(path));
    found.ok_or_else(|| format!("there is no program `{program}`"))
}

/// Returns the target of a URL with the operator's query.
fn with_query(target: &str, entry: &Entry, secrets: &Secrets) -> Result<String, String> {
    let mut target = target.to_owned();
    for (name, value) in &entry.query {
        target.push(if target.contains('?') { '&' } else { '?' });
        target.push_str(&percent_encoded(name));
        target.push('=');
        target.push_str(&percent_encoded(secrets.value(value)?.0));
    }
    Ok(target)
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn wait(timeout_ms: u64) -> Wait {
    Wait::time(Duration::from_millis(timeout_ms))
}

/// Returns the outcome of a conversation that failed, with the log of a server that was started.
fn lost(error: &Error, log: Option<Log>) -> Outcome {
    let kind = match error {
        Error::Timeout => FailureKind::Timeout,
        Error::TooLarge { .. } | Error::TooMany { .. } => FailureKind::LimitExceeded,
        _ => FailureKind::Failed,
    };
    let Some(log) = log else {
        return failed(kind, error.to_string());
    };
    let text = String::from_utf8_lossy(&log.bytes).into_owned();
    let message = match text.lines().rfind(|line| !line.trim().is_empty()) {
        Some(line) => format!(
            "{error}; the server wrote: {}",
            agent_way_out::quote(line, LAST_LINE_CHARS)
        ),
        None => error.to_string(),
    };
    aborted(kind, message, log)
}
