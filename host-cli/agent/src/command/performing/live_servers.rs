//! What the commands share that capture live servers.

use crate::args::CaptureOptions;
use crate::command::session::CommandSession;
use agent_effects::{Access, Capture, Resolver, Wanted};
use agent_host::contract::diagnostic::Code;
use agent_host::contract::importer::{EntryDifference, LiveServer};
use agent_host::{Failure, Signals, block_on, output};
use agent_operator::Operator;
use std::path::Path;
use std::time::Duration;

/// A server to capture.
pub(super) struct Target {
    pub(super) id: String,
    pub(super) version: Option<String>,
    /// A URL or a package URL; `None` for a server that is started and is no package.
    pub(super) endpoint: Option<String>,
}

/// A captured server, or the reason why it was not captured.
pub(super) type Captured = Result<LiveServer, String>;

/// Reads the operator's configuration, and notes secrets that every process of the machine can read.
pub(super) fn operator(file: Option<&Path>) -> Result<Operator, Failure> {
    let operator = match file {
        Some(path) => Operator::read(path),
        None => Operator::usual(),
    };
    let operator = operator.map_err(Failure::new)?;
    for (id, server) in &operator.servers {
        for value in server.command.iter().chain(&server.arguments) {
            for secret in value.secrets() {
                output::note(format_args!(
                    "warning: the secret `{secret}` is an argument of `{id}`, which the process table shows: give it by `env`"
                ));
            }
        }
    }
    Ok(operator)
}

/// Captures servers, one after the other.
pub(super) fn capture(
    targets: Vec<Target>,
    operator: &Operator,
    options: &CaptureOptions,
    session: &CommandSession,
) -> Result<Vec<Captured>, Failure> {
    let (engine, quiet) = (session.component(), session.quiet);
    let time = Duration::from_secs(options.timeout);
    block_on(async {
        let mut signals = Signals::new()?;
        let access = Access::new(operator, engine, Resolver::system(), &mut signals).await?;
        let mut all = Vec::new();
        for target in targets {
            let program = format!("pkg:generic/{}", target.id);
            let wanted = Wanted {
                id: &target.id,
                version: target.version.as_deref().unwrap_or_default(),
                endpoint: target.endpoint.as_deref().unwrap_or(&program),
                time,
            };
            all.push(match access.capture(wanted, &mut signals).await? {
                Ok(capture) => Ok(live(target, capture, quiet)),
                Err(error) => Err(error.message),
            });
        }
        Ok(all)
    })
}

fn live(target: Target, capture: Capture, quiet: bool) -> LiveServer {
    for omitted in capture.omitted.iter().filter(|_| !quiet) {
        let id = &target.id;
        output::note(format_args!("{id}: the tool is omitted: {omitted}"));
    }
    LiveServer {
        id: target.id,
        version: target.version,
        endpoint: target.endpoint,
        handshake: capture.handshake,
        tools: capture.tools,
    }
}

/// Returns that a server could not be captured.
pub(super) fn unreachable(server: String, text: String) -> EntryDifference {
    EntryDifference {
        server,
        tool: None,
        code: Code::ServerFailed,
        widens: false,
        text,
        changes: Vec::new(),
        places: Vec::new(),
    }
}
