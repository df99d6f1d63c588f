//! The memory of clients that do nothing.

use super::{MEMORY, Programs, Served, USUAL_TOOLS};
use agent_load::http::Connection;
use agent_load::message::{Endpoint, Generation, initialize, message};
use agent_load::process::memory;
use std::error::Error;
use std::time::Duration;

/// The number of clients.
const CLIENTS: u32 = 500;

/// The number of clients before them, for which the gateway gets memory that it keeps.
const EARLIER: u32 = 50;

const PATIENCE: Duration = Duration::from_secs(10);

/// Opens idle sessions, and reports how much memory each of them takes.
pub(super) fn measure(programs: &Programs) -> Result<String, Box<dyn Error>> {
    let log = tempfile::tempdir_in(MEMORY)?;
    let served = Served::start(programs, Generation::Stateless, USUAL_TOOLS, log.path())?;
    let endpoint = &served.gateway.endpoint;
    let used = || memory(served.gateway.child.id()).ok_or("the gateway has ended");
    let earlier = open(endpoint, EARLIER)?;
    let before = used()?;
    let clients = open(endpoint, CLIENTS)?;
    let with_connections = used()?.saturating_sub(before) / u64::from(CLIENTS);
    drop((earlier, clients));
    Ok(format!(
        "An idle client with a session and an open connection takes {with_connections} bytes of the gateway, which \
         has {} MiB without.",
        before >> 20
    ))
}

/// Opens sessions, each over a separate connection.
fn open(endpoint: &Endpoint, number: u32) -> Result<Vec<Connection>, Box<dyn Error>> {
    let generation = Generation::Sessions;
    let body = message(generation, Some(1), "initialize", initialize());
    let request = endpoint.post(generation, None, ("initialize", None), &body);
    let clients = (0..number).map(|_| {
        let mut connection = Connection::open(endpoint.address, PATIENCE)?;
        let answer = connection.ask(&request)?;
        match answer.header("mcp-session-id") {
            Some(_) => Ok(connection),
            None => Err(format!("no session: {}", String::from_utf8_lossy(&answer.body)).into()),
        }
    });
    clients.collect()
}
