//! What this host can reach for its operator: servers, programs and the network, with the operator's secrets.

use super::connected::{ConnectError, Connected, Connection, Process};
use super::network::proxy;
use super::posts::Posts;
use super::programs::Programs;
use super::requests::{Requests, target};
use super::secrets::Secrets;
use super::server_command::launch;
use agent_host::contract::run::{Connection as Address, FailureKind, Opened, Secret, Server};
use agent_host::{Engine, Failure, Instance, Signals, call};
use agent_login::{Environment, FindTarget, Store, bearer};
use agent_mcp_protocol::{
    Client, Endpoint, Error, Generations, Http, Limits, Options, Stdio, Wait,
};
use agent_operator::{CallTime, Network, Oauth, Operator, Server as Entry, Value};
use agent_way_out::{Proxy, Resolver, WayOut, form, headers};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The name by which servers know this client.
pub(crate) const CLIENT: &str = "agent";

/// The addresses of loopback, as URLs.
const LOOPBACK: [&str; 2] = ["http://127.0.0.1", "http://[::1]"];

/// Bytes that are kept of what a server writes to standard error.
const LOG_BYTES: u64 = 256 << 10;

/// Bytes of memory of a server with all that it starts. Node.js alone reserves more than short programs get.
const MEMORY_BYTES: u64 = 2 << 30;

/// What this host can reach for its operator.
///
/// A server over HTTP is reached over the way out, at the address that the engine checked. A server with a
/// package URL is started by its entry in `servers.local.yaml` and speaks over its standard streams. It runs in
/// the sandbox, unless the entry says `sandbox: none`. Its network is none, or our proxy.
pub struct Access {
    pub(crate) requests: Requests,
    pub(crate) programs: Programs,
    pub(crate) secrets: Secrets,
    entries: BTreeMap<String, Entry>,
    engine: Engine,
    resolver: Resolver,
    local_names: bool,
}

impl Access {
    /// Finds the sandbox of this machine, and gets every secret of the operator. Every name is resolved by
    /// `resolver`, and `engine` decides on the connections of programs that this host starts.
    ///
    /// # Errors
    ///
    /// When the user interrupts the program.
    pub async fn new(
        operator: &Operator,
        engine: Engine,
        resolver: Resolver,
        signals: &mut Signals,
    ) -> Result<Self, Failure> {
        Ok(Self {
            secrets: Secrets::get_all(operator, signals).await?,
            requests: Requests::new(resolver.clone()),
            programs: Programs::find().await,
            entries: operator.servers.clone(),
            engine,
            resolver,
            local_names: false,
        })
    }

    /// Lets names lead to loopback, such as `localhost`, in captures and logins. Without it, only a URL with the
    /// address itself does. Servers of tests have such names.
    #[must_use]
    pub fn with_local_names(mut self) -> Self {
        self.local_names = true;
        self
    }

    /// Returns the URLs whose addresses are reached by every name.
    pub(crate) fn trusted_by_name(&self) -> &'static [&'static str] {
        if self.local_names { &LOOPBACK } else { &[] }
    }

    /// Returns the secrets that whatever is recorded must not contain: the operator's, and the tokens of this
    /// user's logins.
    #[must_use]
    pub fn secrets(&self) -> Vec<Secret> {
        let mut secrets = self.secrets.to_redact();
        let tokens = Store::usual().map(|store| store.tokens());
        secrets.extend(tokens.unwrap_or_default());
        secrets
    }

    /// Returns a text of a peer without secrets. What can't be redacted is not shown.
    #[must_use]
    pub fn redacted(&self, text: &str) -> String {
        let secrets = self.secrets();
        if secrets.is_empty() {
            return text.to_owned();
        }
        let redacted = self.decider().and_then(|mut engine| {
            call!(engine, run.redacted(text, &secrets)).map_err(|failure| failure.message)
        });
        redacted.unwrap_or_else(|_| "a text that can't be redacted".to_owned())
    }

    /// Returns the word of evidence for the sandbox of programs.
    #[must_use]
    pub fn sandbox_tier(&self) -> &'static str {
        self.programs.tier()
    }

    /// Returns what posts documents to URLs of the operator.
    #[must_use]
    pub fn posts(&self) -> Posts {
        Posts::new(self.engine.clone(), self.resolver.clone())
    }

    /// Returns an engine for decisions on connections.
    pub(crate) fn decider(&self) -> Result<Instance, String> {
        self.engine.instantiate().map_err(|failure| failure.message)
    }

    /// Resolves a host.
    ///
    /// # Errors
    ///
    /// The reason why it has no address.
    pub async fn resolve(&self, host: &str, time: Duration) -> Result<Vec<String>, String> {
        let found = self.resolver.within(time).resolve(host).await;
        let found = found.map_err(|error| error.message)?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    /// Returns the time that the operator gives a server for a call of a tool, or for another request.
    #[must_use]
    pub fn call_time(&self, id: &str, tool: Option<&str>, default: Duration) -> CallTime {
        let none = Entry::default();
        let entry = self.entries.get(id).unwrap_or(&none);
        entry.call_time(tool, default)
    }

    /// Returns the tools of a server that the operator sets a limit for.
    pub fn limited_tools(&self, id: &str) -> impl Iterator<Item = &str> {
        let tools = self.entries.get(id).map(|entry| entry.tools.keys());
        tools.into_iter().flatten().map(String::as_str)
    }

    /// Connects to a server at its checked address, or starts it.
    ///
    /// # Errors
    ///
    /// When the server can't be reached or started, or does not speak the protocol.
    pub async fn connect(&self, server: &Server) -> Result<Connected, ConnectError> {
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
        let wait = Wait::time(Duration::from_millis(server.timeout_ms));
        let none = Entry::default();
        let entry = self.entries.get(&server.id).unwrap_or(&none);
        match server.connection {
            Some(_) => self.reach(server, entry, &options, &wait).await,
            None => self.start(server, entry, options, &wait).await,
        }
    }

    /// Connects to a server over HTTP, with the token of this user's login if there is one. A token that the
    /// server refuses is renewed once.
    async fn reach(
        &self,
        server: &Server,
        entry: &Entry,
        options: &Options,
        wait: &Wait,
    ) -> Result<Connected, ConnectError> {
        let own = entry.headers.keys();
        let has_own = own
            .into_iter()
            .any(|name| name.eq_ignore_ascii_case("authorization"));
        let mut refused: Option<String> = None;
        loop {
            let token = match has_own {
                true => None,
                false => {
                    let token = bearer(self, &server.endpoint, refused.as_deref()).await;
                    token.map_err(|why| {
                        let message = format!("{why}; run `agent login {}`", server.endpoint);
                        ConnectError::new(FailureKind::Failed, message)
                    })?
                }
            };
            match (
                self.reach_with(server, entry, token.as_deref(), options, wait)
                    .await,
                token,
            ) {
                (Err(Error::Status(401)), Some(token)) if refused.is_none() => {
                    refused = Some(token);
                }
                (Err(Error::Status(401)), _) if !has_own => {
                    let message = format!(
                        "the server requires a login: run `agent login {}`",
                        server.endpoint
                    );
                    return Err(ConnectError::new(FailureKind::Failed, message));
                }
                (Err(error), _) => return Err(ConnectError::lost(self, &error, None)),
                (Ok(connected), _) => return connected,
            }
        }
    }

    /// Connects to a server over HTTP with a token.
    async fn reach_with(
        &self,
        server: &Server,
        entry: &Entry,
        token: Option<&str>,
        options: &Options,
        wait: &Wait,
    ) -> Result<Result<Connected, ConnectError>, Error> {
        let secrets = &self.secrets;
        let token = token.map(|token| format!("Bearer {token}"));
        let prepared = || {
            let connection = server.connection.as_ref().ok_or("no connection")?;
            check_origin(entry, connection)?;
            let own = entry.headers.iter().map(|(name, value)| {
                let (value, is_secret) = secrets.value(value)?;
                Ok((&**name, value, is_secret))
            });
            let own = own.collect::<Result<Vec<_>, String>>()?;
            let own = own
                .iter()
                .map(|(name, value, is_secret)| (*name, &**value, *is_secret));
            let mut own: Vec<_> = own.collect();
            own.extend(token.as_deref().map(|token| ("authorization", token, true)));
            let path = with_query(&server.target, entry, secrets)?;
            Ok::<_, String>((target(connection)?, headers(own)?, path))
        };
        let prepared = prepared();
        let (target, headers, path) = match prepared {
            Ok(prepared) => prepared,
            Err(message) => return Ok(Err(ConnectError::new(FailureKind::Failed, message))),
        };
        let limits = agent_way_out::Limits::default();
        let endpoint = Endpoint::new(self.requests.way_out(), target, path, headers, limits);
        let client = Client::connect(Http::new(endpoint), options, wait).await?;
        Ok(Ok(Connected {
            opened: Opened {
                protocol: client.version().name().to_owned(),
                is_unsandboxed: false,
                has_host_network: false,
                package: None,
            },
            connection: Connection::Http(client),
        }))
    }

    /// Starts a server: in the sandbox, unless the operator's entry makes an exception.
    async fn start(
        &self,
        server: &Server,
        entry: &Entry,
        options: Options,
        wait: &Wait,
    ) -> Result<Connected, ConnectError> {
        let unavailable = |message| ConnectError::new(FailureKind::Unavailable, message);
        let failed = |message| ConnectError::new(FailureKind::Failed, message);
        let launch = launch(server, entry, &self.secrets).await;
        let launch = launch.map_err(unavailable)?;
        let sandbox = self.programs.sandbox();
        // A server that exits on an unknown request is started again for the older generation.
        for generations in [Generations::Both, Generations::Sessions] {
            let proxy = self.proxy(launch.hosts.as_ref()).map_err(unavailable)?;
            let command = launch.command.clone();
            let started = match (&sandbox, entry.unfenced) {
                (_, true) => agent_sandbox::spawn_unsandboxed(command, LOG_BYTES).await,
                (Ok(sandbox), false) => sandbox.spawn(command, limits(entry)).await,
                (Err(reason), false) => return Err(unavailable(reason.clone())),
            };
            let mut child = started.map_err(|error| failed(error.to_string()))?;
            let (Some(reader), Some(writer)) = (child.stdout.take(), child.stdin.take()) else {
                return Err(failed("the server has no streams".to_owned()));
            };
            let network = proxy.zip(child.proxy.take());
            let network = network.map(|(proxy, listener)| proxy.start(listener));
            let network = network.transpose();
            let network = network.map_err(|error| failed(error.to_string()))?;
            let process = Process { child, network };
            let transport = Stdio::new(reader, writer, options.limits.frame_bytes);
            let options = Options {
                generations,
                ..options.clone()
            };
            match Client::connect(transport, &options, wait).await {
                Ok(client) => {
                    return Ok(Connected {
                        opened: Opened {
                            protocol: client.version().name().to_owned(),
                            is_unsandboxed: entry.unfenced,
                            has_host_network: entry.unfenced || entry.network == Network::Host,
                            package: launch.package,
                        },
                        connection: Connection::Stdio(client, process),
                    });
                }
                Err(Error::Closed(_)) if generations == Generations::Both => {}
                Err(error) => {
                    return Err(ConnectError::lost(
                        self,
                        &error,
                        Some(process.end_after(&error).await),
                    ));
                }
            }
        }
        Err(failed("the server ended at once".to_owned()))
    }

    /// Returns the proxy of a server whose network is limited to hosts.
    fn proxy(&self, hosts: Option<&Vec<String>>) -> Result<Option<Proxy>, String> {
        let made = hosts.map(|hosts| proxy(&self.engine, hosts.clone(), self.resolver.clone()));
        made.transpose().map_err(|failure| failure.message)
    }
}

impl Environment for Access {
    fn way_out(&self) -> Arc<WayOut> {
        self.requests.way_out()
    }

    fn find_target<'t>(
        &'t self,
        url: &'t str,
        trusted: &'t [&'t str],
        time: Duration,
    ) -> FindTarget<'t> {
        Box::pin(async move {
            let (connection, path) = self.address(url, trusted, time).await?;
            Ok((target(&connection)?, path))
        })
    }

    fn oauth(&self, id: &str) -> Option<&Oauth> {
        Some(&self.entries.get(id)?.oauth)
    }

    fn value<'v>(&'v self, value: &'v Value) -> Result<Cow<'v, str>, String> {
        Ok(self.secrets.value(value)?.0)
    }
}

/// Returns the limits of a server in the sandbox. It ends with its connection.
fn limits(entry: &Entry) -> agent_sandbox::Limits {
    let usual = agent_sandbox::Limits::default();
    agent_sandbox::Limits {
        wall_time: None,
        cpu_time: None,
        memory_bytes: MEMORY_BYTES,
        stderr_bytes: LOG_BYTES,
        processes: entry.processes.unwrap_or(usual.processes),
        ..usual
    }
}

/// Checks that a server is the one that the operator's headers and query are for. A foreign lock may give
/// its id to another server.
fn check_origin(entry: &Entry, to: &Address) -> Result<(), String> {
    let Some(origin) = &entry.origin else {
        return Ok(());
    };
    let (scheme, usual) = match to.tls {
        true => ("https", 443),
        false => ("http", 80),
    };
    let host = to.host.to_ascii_lowercase();
    let mut names = vec![format!("{scheme}://{host}:{}", to.port)];
    if to.port == usual {
        names.push(format!("{scheme}://{host}"));
    }
    match names.contains(origin) {
        true => Ok(()),
        false => Err(format!(
            "its `origin` in `servers.local.yaml` is {origin}, and the lock names {}",
            names[0]
        )),
    }
}

/// Returns the target of a URL with the operator's query.
fn with_query(target: &str, entry: &Entry, secrets: &Secrets) -> Result<String, String> {
    let mut target = target.to_owned();
    for (name, value) in &entry.query {
        target.push(if target.contains('?') { '&' } else { '?' });
        target.push_str(&form(&[(name, &secrets.value(value)?.0)]));
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::{Address, Entry, check_origin};

    #[test]
    fn headers_go_to_their_origin_alone() {
        let to = |tls, host: &str, port| Address {
            tls,
            host: host.to_owned(),
            port,
            address: "192.0.2.1".to_owned(),
        };
        let check = |origin: Option<&str>, to: &Address| {
            let entry = Entry {
                origin: origin.map(str::to_owned),
                ..Entry::default()
            };
            check_origin(&entry, to).is_ok()
        };
        let acme = Some("https://mcp.acme.example");
        assert!(check(acme, &to(true, "MCP.acme.example", 443)));
        assert!(check(
            Some("https://mcp.acme.example:443"),
            &to(true, "mcp.acme.example", 443)
        ));
        assert!(check(Some("http://[::1]:8080"), &to(false, "[::1]", 8080)));
        assert!(check(None, &to(false, "127.0.0.1", 9377)));
        for other in [
            to(false, "mcp.acme.example", 443),
            to(true, "mcp.acme.example", 8443),
            to(true, "acme.example", 443),
            to(true, "mcp.acme.example.evil.example", 443),
            to(false, "127.0.0.1", 9377),
        ] {
            assert!(!check(acme, &other), "{other:?}");
        }
    }
}
