//! MCP servers: the one that the present step talks to.
//!
//! A server over HTTP is reached over the way out, at the address that the engine checked. A server with a
//! package URL is started by its entry in `servers.local.yaml`, speaks over its standard streams, and ends
//! with the step. It runs in the sandbox, unless the entry says `sandbox: none`. Its network is none, or our
//! proxy.

use super::effects::{aborted, failed};
use super::network::{self, proxy};
use super::requests::{headers, target};
use super::secrets::Secrets;
use super::server_command::launch;
use agent_host::Engine;
use agent_host::contract::run::{FailureKind, Opened, Outcome, Server, ToolCall};
use agent_mcp::{
    Client, Endpoint, Error, Generations, Http, Limits, Options, Stdio, Transport, Wait,
};
use agent_operator::{Network, Operator, Server as Entry};
use agent_sandbox::{Child, Log, Sandbox};
use agent_way_out::{Proxy, Resolver, Serving, WayOut};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{ChildStdin, ChildStdout};

/// The name by which servers know this client.
const CLIENT: &str = "agent";

/// Bytes that are kept of what a server writes to standard error.
const LOG_BYTES: u64 = 256 << 10;

/// Bytes of memory of a server with all that it starts. Node.js alone reserves more than short programs get.
const MEMORY_BYTES: u64 = 2 << 30;

/// Bytes that surround the result of a tool in its message, and bytes of the server's other messages meanwhile.
const ENVELOPE_BYTES: usize = 64 << 10;

/// Characters of the last line that a server wrote to standard error, in a message.
const LAST_LINE_CHARS: usize = 200;

/// The servers of the operator, and the one that is open.
pub(crate) struct Servers {
    entries: BTreeMap<String, Entry>,
    engine: Engine,
    resolver: Resolver,
    open: Option<Open>,
    /// Maximum size of the result of a tool of the open server, in bytes.
    result_bytes: usize,
}

/// The connection of the present step.
enum Open {
    Http(Client<Http<Endpoint>>),
    /// The process ends with the connection.
    Stdio(Client<Stdio<ChildStdout, ChildStdin>>, Process),
}

/// A server that was started, with its network.
struct Process {
    child: Child,
    network: Option<Serving>,
}

impl Servers {
    pub(crate) fn new(operator: &Operator, engine: Engine, resolver: Resolver) -> Self {
        Self {
            entries: operator.servers.clone(),
            engine,
            resolver,
            open: None,
            result_bytes: 0,
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
        self.result_bytes = bytes;
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
                    has_host_network: false,
                    package: None,
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
        let launch = match launch(server, entry, secrets).await {
            Ok(launch) => launch,
            Err(message) => return failed(FailureKind::Unavailable, message),
        };
        // A server that exits on an unknown request is started again for the older generation.
        for generations in [Generations::Both, Generations::Sessions] {
            let proxy = match self.proxy(launch.hosts.as_ref()) {
                Ok(proxy) => proxy,
                Err(message) => return failed(FailureKind::Unavailable, message),
            };
            let command = launch.command.clone();
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
            let network = proxy.zip(child.proxy.take());
            let network = network.map(|(proxy, listener)| proxy.start(listener));
            let network = match network.transpose() {
                Ok(network) => network,
                Err(error) => return failed(FailureKind::Failed, error.to_string()),
            };
            let process = Process { child, network };
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
                    self.open = Some(Open::Stdio(client, process));
                    return Outcome::Opened(Opened {
                        protocol,
                        is_unsandboxed: entry.unfenced,
                        has_host_network: entry.unfenced || entry.network == Network::Host,
                        package: launch.package,
                    });
                }
                Err(Error::Closed(_)) if generations == Generations::Both => {}
                Err(error) => return lost(&error, Some(process.end().await)),
            }
        }
        failed(FailureKind::Failed, "the server ended at once".to_owned())
    }

    /// Returns the proxy of a server whose network is limited to hosts.
    fn proxy(&self, hosts: Option<&Vec<String>>) -> Result<Option<Proxy>, String> {
        let made = hosts.map(|hosts| proxy(&self.engine, hosts.clone(), self.resolver.clone()));
        made.transpose().map_err(|failure| failure.message)
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
                Some(Open::Stdio(_, process)) => lost(&error, Some(process.end().await)),
                _ => lost(&error, None),
            },
        }
    }

    /// Calls a tool of the server, and ends the connection: a step makes one call. Returns besides what a
    /// server that was started wrote to standard error, unless the outcome contains it.
    pub(crate) async fn call_tool(&mut self, call: ToolCall) -> (Outcome, Log) {
        let bytes = self.result_bytes.saturating_add(ENVELOPE_BYTES);
        let (called, ended) = match self.open.take() {
            Some(Open::Http(client)) => (called(client, &call, bytes).await, None),
            Some(Open::Stdio(client, process)) => {
                let called = called(client, &call, bytes).await;
                (called, Some(process.end().await))
            }
            None => {
                let none = failed(FailureKind::Failed, "no server is open".to_owned());
                return (none, Log::default());
            }
        };
        match called {
            Ok(result) => (
                Outcome::Bytes(result),
                ended.map(|it| it.log).unwrap_or_default(),
            ),
            Err(error) => (lost(&error, ended), Log::default()),
        }
    }
}

/// Calls a tool, whose result arrives in a message of at most `bytes`, and closes the connection.
async fn called<T: Transport>(
    mut client: Client<T>,
    call: &ToolCall,
    bytes: usize,
) -> Result<Vec<u8>, Error> {
    let wait = wait(call.timeout_ms);
    client.limit_messages(bytes);
    let called = client.call_tool(&call.tool, call.arguments.as_bytes(), &wait);
    let called = called.await.map(|result| result.bytes().to_vec());
    // What a server answers to the farewell changes nothing.
    let _ = client.close(&wait).await;
    called
}

impl Process {
    /// Ends the server.
    async fn end(self) -> Ended {
        self.child.kill();
        let mut log = match self.child.wait().await {
            Ok((_, log)) => log,
            Err(error) => error.log().cloned().unwrap_or_default(),
        };
        let text = String::from_utf8_lossy(&log.bytes);
        let last = text.lines().rfind(|line| !line.trim().is_empty());
        let last_line = last.map(|line| agent_way_out::quote(line, LAST_LINE_CHARS));
        let refused = self.network.as_ref().map(network::log).unwrap_or_default();
        if !refused.is_empty() {
            // The mark tells redaction that a secret may be cut off here.
            let end = if log.truncated { "…\n" } else { "\n" };
            log.bytes.extend(end.as_bytes());
            log.bytes.extend(refused.into_bytes());
        }
        Ended { log, last_line }
    }
}

/// A server that has ended.
struct Ended {
    /// What it wrote to standard error, and why connections were refused.
    log: Log,
    /// The last line that it wrote itself.
    last_line: Option<String>,
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
fn lost(error: &Error, ended: Option<Ended>) -> Outcome {
    let kind = match error {
        Error::Timeout => FailureKind::Timeout,
        Error::TooLarge { .. } | Error::TooMany { .. } => FailureKind::LimitExceeded,
        _ => FailureKind::Failed,
    };
    let Some(ended) = ended else {
        return failed(kind, error.to_string());
    };
    let message = match ended.last_line {
        Some(line) => format!("{error}; the server wrote: {line}"),
        None => error.to_string(),
    };
    aborted(kind, message, ended.log)
}
