//! Captures of live servers, for an index.

use super::access::Access;
use super::connected::{ConnectError, Connected, Connection};
use agent_host::contract::network::Refusal;
use agent_host::contract::run::{Connection as Address, FailureKind, Secret, Server};
use agent_host::{Failure, Signals, call};
use agent_mcp_protocol::{ExcludedTool, ToolList, Wait};
use agent_syntax::json_string;
use std::time::Duration;
use tokio::select;
use tokio::time::{Instant, timeout_at};

/// Maximum size of a message of a server that is captured, in bytes.
const MESSAGE_BYTES: u64 = 16 << 20;

/// Maximum number of omitted tools that are named.
const NAMED: usize = 20;

/// The capture of a server.
#[derive(Debug)]
pub struct Capture {
    /// The result of `initialize` or of `server/discover`.
    pub handshake: Vec<u8>,
    /// The result of `tools/list`, all pages joined.
    pub tools: Vec<u8>,
    /// The tools that a client over HTTP must omit, each with the reason.
    pub omitted: Vec<String>,
}

/// A server to capture.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'w> {
    /// The id under which the operator configures it.
    pub id: &'w str,
    /// The version, for messages.
    pub version: &'w str,
    /// A URL, or the package URL of a server that is started.
    pub endpoint: &'w str,
    /// Maximum time until it has listed its tools.
    pub time: Duration,
}

impl Access {
    /// Connects to a server or starts it, lists its tools, and ends the connection. The inner error is the
    /// reason why the server can't be reached or started, does not speak the protocol, passes a limit, or takes
    /// longer than its time.
    ///
    /// # Errors
    ///
    /// When the user interrupts the program.
    pub async fn capture(
        &self,
        wanted: Wanted<'_>,
        signals: &mut Signals,
    ) -> Result<Result<Capture, ConnectError>, Failure> {
        select! {
            captured = self.exchange(wanted) => Ok(self.without_secrets(captured)),
            () = signals.cancelled() => Err(Failure::new("interrupted")),
        }
    }

    /// Refuses a capture that repeats a secret which the operator gave the server.
    fn without_secrets(
        &self,
        captured: Result<Capture, ConnectError>,
    ) -> Result<Capture, ConnectError> {
        let captured = captured?;
        let texts = [&captured.handshake, &captured.tools];
        let texts = texts.map(|it| String::from_utf8_lossy(it));
        for Secret { name, value } in self.secrets() {
            let escaped = json_string(&value);
            let escaped = escaped.trim_matches('"');
            if texts
                .iter()
                .any(|it| it.contains(&value) || it.contains(escaped))
            {
                let message = format!("the capture of the server contains the secret `{name}`");
                return Err(ConnectError::new(FailureKind::Failed, message));
            }
        }
        drop(texts);
        Ok(captured)
    }

    async fn exchange(&self, wanted: Wanted<'_>) -> Result<Capture, ConnectError> {
        let deadline = Instant::now() + wanted.time;
        let connected = self.connect_to(wanted).await?;
        let wait = Wait::time(deadline.saturating_duration_since(Instant::now()));
        match connected.connection {
            Connection::Http(mut client) => {
                let listed = client.list_tools(&wait).await;
                let listed = listed.map_err(|error| ConnectError::lost(self, &error, None))?;
                let capture = Capture::new(client.server().bytes().to_vec(), listed);
                // The session ends anyway.
                let _ = timeout_at(deadline, client.close(&wait)).await;
                Ok(capture)
            }
            Connection::Stdio(mut client, process) => {
                let listed = client.list_tools(&wait).await;
                let handshake = client.server().bytes().to_vec();
                let ended = process.end().await;
                let listed =
                    listed.map_err(|error| ConnectError::lost(self, &error, Some(ended)))?;
                Ok(Capture::new(handshake, listed))
            }
        }
    }

    /// Connects to a server that a human named, or starts it.
    ///
    /// # Errors
    ///
    /// When the server can't be reached or started, or does not speak the protocol.
    pub async fn connect_to(&self, wanted: Wanted<'_>) -> Result<Connected, ConnectError> {
        let deadline = Instant::now() + wanted.time;
        let refused = |message| ConnectError::new(FailureKind::Failed, message);
        let (connection, target) = match wanted.endpoint.starts_with("pkg:") {
            true => (None, String::new()),
            false => {
                let trusted = [wanted.endpoint];
                let found = self.address(wanted.endpoint, &trusted, wanted.time);
                let (address, target) = found.await.map_err(refused)?;
                (Some(address), target)
            }
        };
        let server = Server {
            id: wanted.id.to_owned(),
            version: wanted.version.to_owned(),
            endpoint: wanted.endpoint.to_owned(),
            connection,
            target,
            max_message_bytes: MESSAGE_BYTES,
            timeout_ms: left(deadline),
        };
        self.connect(&server).await
    }

    /// Returns where a URL is reached, at an address that the engine authorised, and the path with the query.
    /// Addresses that are not public must be the hosts of `trusted` URLs.
    pub(super) async fn address(
        &self,
        url: &str,
        trusted: &[&str],
        time: Duration,
    ) -> Result<(Address, String), String> {
        let mut engine = self.decider()?;
        let found = call!(engine, network.http_endpoint_of(url));
        let found = found.map_err(|failure| failure.message)?;
        let found = found.map_err(|refusal| refusal.message)?;
        let addresses = match found.is_name {
            true => self.resolve(&found.host, time).await?,
            false => vec![found.host.trim_matches(['[', ']']).to_owned()],
        };
        let trusted = trusted.iter().chain(self.trusted_by_name());
        let trusted: Vec<_> = trusted.map(|&it| it.to_owned()).collect();
        let decided = call!(
            engine,
            network.authorize_endpoint(url, &trusted, &addresses)
        );
        let authorized = decided.map_err(|failure| failure.message)?;
        let authorized = authorized.map_err(|refusals| {
            let messages = refusals.into_iter().map(|Refusal { message, .. }| message);
            messages.collect::<Vec<_>>().join("; ")
        })?;
        let address = authorized.into_iter().next();
        let address = address.ok_or_else(|| format!("`{}` has no address", found.host))?;
        let connection = Address {
            tls: found.tls,
            host: found.host,
            port: found.port,
            address,
        };
        Ok((connection, found.target))
    }
}

impl Capture {
    fn new(handshake: Vec<u8>, listed: ToolList) -> Self {
        let omitted = listed.excluded.iter().take(NAMED);
        let omitted = omitted.map(|ExcludedTool { name, why }| format!("`{name}`: {why}"));
        Self {
            handshake,
            omitted: omitted.collect(),
            tools: listed.json.bytes().to_vec(),
        }
    }
}

fn left(deadline: Instant) -> u64 {
    let left = deadline.saturating_duration_since(Instant::now());
    u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
}
