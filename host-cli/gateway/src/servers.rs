//! The servers of the lock: connected, listed, and connected again when they end.

use super::gateway::Shared;
use super::upstream::{Life, Upstream};
use agent_host::contract::run::{Connection as Address, Server};
use agent_host::contract::session::{LockedServer, Observation};
use agent_host::{Failure, output};
use agent_mcp::Wait;
use std::rc::Rc;
use std::time::Duration;
use tokio::select;
use tokio::time::{Instant, sleep};

/// Maximum time until a server is connected and has listed its tools.
const READY: Duration = Duration::from_secs(60);

/// Maximum size of a message of a server that lists its tools, in bytes.
const LIST_BYTES: u64 = 16 << 20;

/// Time until a server that ended is connected again the first time. It doubles up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_secs(1);

/// The longest time until a server is connected again.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Time after which a server that tells of no changes lists its tools again.
const RELIST: Duration = Duration::from_secs(60);

/// Keeps a server connected, for ever.
pub(crate) async fn keep(shared: Rc<Shared>, server: LockedServer) {
    let mut pause = PAUSE;
    loop {
        match connect(&shared, &server).await {
            Ok((upstream, life)) => {
                if live(&shared, &server, upstream, life).await {
                    pause = PAUSE;
                }
                shared.set_upstream(&server.name, None);
                observe(&shared, &server, Observation::Exited);
            }
            Err(failure) => {
                note(&server, &failure.message);
                observe(&shared, &server, Observation::Failed);
            }
        }
        shared.tried(&server.name);
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn connect(shared: &Shared, server: &LockedServer) -> Result<(Upstream, Life), Failure> {
    let (connection, target) = match shared.decider.destination(&server.name)? {
        None => (None, String::new()),
        Some(to) => {
            let addresses = match to.is_name {
                true => shared.access.resolve(&to.host, READY).await,
                false => Ok(vec![to.host.trim_matches(['[', ']']).to_owned()]),
            };
            let addresses = addresses.map_err(Failure::new)?;
            let allowed = shared.decider.authorize(&server.name, &addresses)?;
            let address = allowed.into_iter().next();
            let address = address.ok_or_else(|| Failure::new("its host has no address"))?;
            let connection = Address {
                tls: to.tls,
                host: to.host,
                port: to.port,
                address,
            };
            (Some(connection), to.target)
        }
    };
    let wanted = Server {
        id: server.id.clone(),
        version: server.version.clone(),
        endpoint: server.endpoint.clone(),
        connection,
        target,
        max_message_bytes: LIST_BYTES,
        timeout_ms: u64::try_from(READY.as_millis()).unwrap_or(u64::MAX),
    };
    let connected = shared.access.connect(&wanted).await;
    let connected = connected.map_err(|error| Failure::new(error.message))?;
    Ok(Upstream::new(connected.connection))
}

/// Lists the tools of a server until its connection ends. Returns whether it ever listed them.
async fn live(shared: &Shared, server: &LockedServer, upstream: Upstream, life: Life) -> bool {
    observe(shared, server, Observation::Started);
    match life {
        Life::OnDemand => {
            let mut was_listed = false;
            while list(shared, server, &upstream).await {
                if !was_listed {
                    shared.set_upstream(&server.name, Some(upstream.clone()));
                    shared.tried(&server.name);
                    was_listed = true;
                }
                sleep(RELIST).await;
            }
            was_listed
        }
        Life::Driven {
            mut driver,
            process,
            mut notifications,
        } => {
            let mut was_listed = false;
            let serve = async {
                while list(shared, server, &upstream).await {
                    if !was_listed {
                        shared.set_upstream(&server.name, Some(upstream.clone()));
                        shared.tried(&server.name);
                        was_listed = true;
                    }
                    loop {
                        select! {
                            notified = notifications.recv() => match notified {
                                Some(it) if it.method == "notifications/tools/list_changed" => break,
                                Some(_) => {}
                                None => return,
                            },
                            () = sleep(RELIST) => break,
                        }
                    }
                }
            };
            let error = select! {
                error = &mut driver => Some(error),
                () = serve => None,
            };
            shared.set_upstream(&server.name, None);
            drop(driver);
            let ended = process.end().await;
            match (error, ended.last_line) {
                (Some(error), Some(line)) => {
                    note(server, &format!("{error}; the server wrote: {line}"));
                }
                (Some(error), None) => note(server, &error.to_string()),
                (None, _) => {}
            }
            was_listed
        }
    }
}

/// Lists the tools of a server and compares them with the lock. Returns whether the connection still works.
async fn list(shared: &Shared, server: &LockedServer, upstream: &Upstream) -> bool {
    let began = Instant::now();
    let listed = upstream.list_tools(&Wait::time(READY)).await;
    let listed = match listed {
        Ok(listed) => listed,
        Err(error) => {
            note(server, &error.to_string());
            observe(shared, server, Observation::Failed);
            return false;
        }
    };
    match shared.decider.tools(&server.name, &listed) {
        Ok(observed) => {
            for drifted in &observed.drifted {
                let widens = if drifted.widens {
                    ", which may give more access"
                } else {
                    ""
                };
                let (tool, how) = (&drifted.tool, &drifted.deviation);
                note(
                    server,
                    &format!("the tool `{tool}` is quarantined: {how}{widens}"),
                );
            }
            if observed.list_changed {
                shared.announce_list();
            }
            let latency = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            observe(shared, server, Observation::Answered(latency));
            true
        }
        Err(failure) => {
            note(server, &failure.message);
            false
        }
    }
}

fn observe(shared: &Shared, server: &LockedServer, observation: Observation) {
    match shared.decider.observe(&server.name, observation) {
        Ok(true) => shared.announce_list(),
        Ok(false) => {}
        Err(failure) => note(server, &failure.message),
    }
}

fn note(server: &LockedServer, message: &str) {
    output::note(format_args!("{}: {message}", server.name));
}
