//! The servers of an agent that is observed without a lock.

use crate::args::{NamedServer, ServedAgent};
use agent_host::Failure;
use agent_host::contract::session::ObservedServer;
use agent_host::input::Input;
use agent_operator::{FILE_NAME, Operator};

/// Returns the servers to observe without a lock: those that are named, or else, if there is no lock either, all
/// that the operator's file starts. Returns none for an agent with a lock.
///
/// # Errors
///
/// When a server has neither an endpoint nor a command, or there is nothing to observe.
pub(super) fn observed(
    args: &ServedAgent,
    lock: &Input,
    operator: &Operator,
) -> Result<Vec<ObservedServer>, Failure> {
    if !args.server.is_empty() {
        let named = args.server.iter().map(|named| server(named, operator));
        return named.collect();
    }
    let policy = &args.context.policy;
    let documents = [
        &args.lock,
        &args.task,
        &policy.tenant,
        &policy.policy,
        &policy.policy_context,
    ];
    let needs_lock = documents.iter().any(|it| it.is_some()) || policy.tenant_id.is_some();
    if !args.observe || needs_lock || !lock.is_missing() {
        return Ok(Vec::new());
    }
    let started = names_of_started(operator).map(|name| of_command(name));
    let started: Vec<_> = started.collect();
    match started.is_empty() {
        true => Err(Failure::new(format_args!(
            "there is no `{lock}` here, and `{FILE_NAME}` has no server with a `command`"
        ))
        .help("name the servers to observe, as in `--server NAME=https://mcp.acme.example`")),
        false => Ok(started),
    }
}

fn server(named: &NamedServer, operator: &Operator) -> Result<ObservedServer, Failure> {
    let NamedServer { name, endpoint } = named;
    if let Some(endpoint) = endpoint {
        return Ok(ObservedServer {
            name: name.clone(),
            endpoint: endpoint.clone(),
        });
    }
    if names_of_started(operator).any(|it| it == name) {
        return Ok(of_command(name));
    }
    let message = format_args!("`{FILE_NAME}` has no `command` for the server `{name}`");
    Err(Failure::new(message).help(format_args!(
        "add one, or name its endpoint: `--server {name}=https://mcp.acme.example`"
    )))
}

/// Returns the names of the servers that the operator's file starts.
fn names_of_started(operator: &Operator) -> impl Iterator<Item = &String> {
    let servers = operator.servers.iter();
    let started = servers.filter(|(_, entry)| !entry.command.is_empty());
    started.map(|(name, _)| name)
}

/// Returns a server that its command starts, whatever its package is.
fn of_command(name: &str) -> ObservedServer {
    ObservedServer {
        name: name.to_owned(),
        endpoint: format!("pkg:generic/{name}"),
    }
}
