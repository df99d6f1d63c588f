//! The servers of the lock: connected, listed, and connected again when they end.

use super::gateway::Shared;
use super::requests::list_of;
use super::upstream::{Life, Upstream};
use agent_host::contract::run::{Connection as Address, Server};
use agent_host::contract::session::{
    Code, DriftedTool, ListKind, LockedServer, Observation, WithheldTool,
};
use agent_host::{Failure, output};
use agent_mcp_protocol::message::METHOD_NOT_FOUND;
use agent_mcp_protocol::{Error, Json, Wait};
use agent_mcp_server::ClientList;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;
use tokio::select;
use tokio::sync::{Notify, watch};
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

/// How a server is connected.
pub(crate) struct Link {
    /// The version of the protocol that it speaks.
    pub(crate) protocol: String,
    /// Its host and its port, if it is reached over HTTP.
    pub(crate) address: Option<(String, u16)>,
}

/// A server of the lock, with its present connection.
pub(crate) struct Slot {
    pub(crate) server: LockedServer,
    pub(crate) upstream: watch::Sender<Option<Upstream>>,
    /// Lets the server list its tools again.
    pub(crate) relist: Notify,
    /// Whether the lock no longer has the server. What it does concerns open calls alone.
    pub(crate) is_retired: Cell<bool>,
    /// The exceptions from the sandbox that it runs with.
    pub(crate) exceptions: RefCell<Vec<&'static str>>,
    /// How it is connected, or was the last time.
    pub(crate) link: RefCell<Option<Link>>,
    /// Why it was not reached the last time.
    failure: RefCell<Option<String>>,
    /// The messages of its earlier connections that could not be read.
    untidy: Cell<u64>,
    /// The tools that were said to be withheld.
    withheld: RefCell<BTreeSet<String>>,
    /// The tools that were quarantined by the last list.
    quarantined: RefCell<BTreeSet<String>>,
    /// The tools that were said to be limited and not listed.
    unlisted: RefCell<BTreeSet<String>>,
}

impl Slot {
    pub(crate) fn new(server: LockedServer) -> Self {
        Self {
            server,
            upstream: watch::channel(None).0,
            relist: Notify::new(),
            is_retired: Cell::new(false),
            exceptions: RefCell::default(),
            link: RefCell::default(),
            failure: RefCell::default(),
            untidy: Cell::default(),
            withheld: RefCell::default(),
            quarantined: RefCell::default(),
            unlisted: RefCell::default(),
        }
    }

    /// Returns how many of its messages could not be read, of all connections.
    pub(crate) fn untidy(&self) -> u64 {
        let present = self.upstream.borrow().as_ref().map_or(0, Upstream::untidy);
        self.untidy.get() + present
    }

    /// Ends its connection.
    fn disconnect(&self) {
        let untidy = self.untidy();
        self.upstream.send_replace(None);
        self.untidy.set(untidy);
    }

    /// Returns whether another lock names the same server.
    pub(crate) fn is_for(&self, other: &LockedServer) -> bool {
        let of = |it: &LockedServer| {
            let names = (it.name.clone(), it.id.clone(), it.version.clone());
            (names, it.endpoint.clone(), it.resources, it.prompts)
        };
        of(&self.server) == of(other)
    }
}

/// Keeps a server connected, for ever.
pub(crate) async fn keep(shared: Rc<Shared>, slot: Rc<Slot>) {
    let server = &slot.server;
    let mut pause = PAUSE;
    loop {
        match connect(&shared, &slot).await {
            Ok((upstream, life)) => {
                if live(&shared, &slot, upstream, life).await {
                    pause = PAUSE;
                }
                slot.disconnect();
                observe(&shared, &slot, Observation::Exited);
            }
            Err(failure) => {
                // It does not exist: it is not only slow.
                fail(&shared, &slot, &failure.message, Observation::Exited);
            }
        }
        shared.tried(&server.name);
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn connect(shared: &Shared, slot: &Slot) -> Result<(Upstream, Life), Failure> {
    let server = &slot.server;
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
    if wanted.connection.is_some() {
        // Its token may have been renewed.
        shared.redact()?;
    }
    let opened = &connected.opened;
    let address = wanted.connection.as_ref();
    slot.link.replace(Some(Link {
        protocol: opened.protocol.clone(),
        address: address.map(|it| (it.host.clone(), it.port)),
    }));
    let exceptions = [
        (opened.is_unsandboxed, "runs without a sandbox"),
        (opened.has_host_network, "has the network of the machine"),
    ];
    let made = exceptions.into_iter().filter(|(is_made, _)| *is_made);
    slot.exceptions
        .replace(made.map(|(_, name)| name).collect());
    Ok(Upstream::new(connected.connection))
}

/// Lists the tools of a server until its connection ends. Returns whether it ever listed them.
async fn live(shared: &Shared, slot: &Slot, upstream: Upstream, life: Life) -> bool {
    let server = &slot.server;
    observe(shared, slot, Observation::Started);
    match life {
        Life::OnDemand => {
            let mut was_listed = false;
            while list(shared, slot, &upstream).await {
                if !was_listed {
                    slot.upstream.send_replace(Some(upstream.clone()));
                    shared.tried(&server.name);
                    was_listed = true;
                }
                select! {
                    () = slot.relist.notified() => {}
                    () = sleep(RELIST) => {}
                }
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
                while list(shared, slot, &upstream).await {
                    if !was_listed {
                        slot.upstream.send_replace(Some(upstream.clone()));
                        shared.tried(&server.name);
                        was_listed = true;
                    }
                    loop {
                        select! {
                            notified = notifications.recv() => match notified {
                                Some(it) if is_of_list(server, &it.method) => break,
                                Some(_) => {}
                                None => return,
                            },
                            () = slot.relist.notified() => break,
                            () = sleep(RELIST) => break,
                        }
                    }
                }
            };
            let error = select! {
                error = &mut driver => Some(error),
                () = serve => None,
            };
            slot.disconnect();
            drop(driver);
            let ended = match &error {
                Some(error) => process.end_after(error).await,
                None => process.end().await,
            };
            if let Some(error) = error {
                let loss = shared.access.loss(&error, ended.last_words.as_ref());
                explain(shared, slot, &loss);
            }
            was_listed
        }
    }
}

/// Returns whether a notification says that a list is another one, and the list concerns clients.
fn is_of_list(server: &LockedServer, method: &str) -> bool {
    let list = |list: ClientList| method == list.notification();
    list(ClientList::Tools)
        || server.resources && list(ClientList::Resources)
        || server.prompts && list(ClientList::Prompts)
}

/// Lists the resources and prompts of a server that the lock passes on. One list changes nothing for another.
async fn list_entries(shared: &Shared, slot: &Slot, upstream: &Upstream) {
    let server = &slot.server;
    let kinds = [
        (ListKind::Resources, server.resources, "resources"),
        (ListKind::Templates, server.resources, "resources"),
        (ListKind::Prompts, server.prompts, "prompts"),
    ];
    for (kind, is_passed, capability) in kinds {
        if !is_passed {
            continue;
        }
        let (method, member) = list_of(kind);
        let empty = || format!(r#"{{"{member}":[]}}"#).into_bytes();
        let listed = match upstream.has(capability) {
            true => upstream.list((method, member), &Wait::time(READY)).await,
            false => Ok(empty()),
        };
        let listed = listed.unwrap_or_else(|error| {
            // Many servers have resources without templates.
            if !is_unknown(&error) {
                let error = shared.access.loss(&error, None);
                note(server, &format!("{method}: {error}"));
            }
            empty()
        });
        if slot.is_retired.get() {
            return;
        }
        match shared.decider.entries(&server.name, kind, listed) {
            Ok(observed) => {
                if observed.list_changed {
                    shared.announce(match kind {
                        ListKind::Resources | ListKind::Templates => ClientList::Resources,
                        ListKind::Prompts => ClientList::Prompts,
                    });
                }
            }
            Err(failure) => note(server, &failure.message),
        }
    }
}

/// Returns whether a server does not know the method of a request.
fn is_unknown(error: &Error) -> bool {
    matches!(error, Error::Rpc(error) if error.code == METHOD_NOT_FOUND)
}

/// Lists the tools of a server and compares them with the lock. Returns whether the connection still works.
async fn list(shared: &Shared, slot: &Slot, upstream: &Upstream) -> bool {
    let server = &slot.server;
    let began = Instant::now();
    let listed = upstream.list_tools(&Wait::time(READY)).await;
    let listed = match listed {
        Ok(listed) => listed,
        // A server may have resources or prompts alone.
        Err(error) if is_unknown(&error) && !upstream.has("tools") => br#"{"tools":[]}"#.to_vec(),
        Err(error) => {
            let loss = shared.access.loss(&error, None);
            fail(shared, slot, &loss, Observation::Failed);
            return false;
        }
    };
    if slot.is_retired.get() {
        return true;
    }
    match shared.decider.tools(&server.name, &listed) {
        Ok(observed) => {
            note_quarantine(slot, &observed.drifted);
            note_withheld(slot, &observed.withheld);
            note_unlisted(shared, slot, listed);
            if observed.list_changed {
                shared.announce(ClientList::Tools);
            }
            let latency = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            list_entries(shared, slot, upstream).await;
            slot.failure.take();
            observe(shared, slot, Observation::Answered(latency));
            true
        }
        Err(failure) => {
            note(server, &failure.message);
            false
        }
    }
}

/// Says which tools are quarantined, and which no longer are, if that changed.
fn note_quarantine(slot: &Slot, drifted: &[DriftedTool]) {
    let now: BTreeSet<_> = drifted.iter().map(|it| it.tool.clone()).collect();
    let before = slot.quarantined.replace(now.clone());
    for DriftedTool {
        tool,
        deviation,
        widens,
        ..
    } in drifted.iter().filter(|it| !before.contains(&it.tool))
    {
        let widens = match widens {
            true => ", which may give more access",
            false => "",
        };
        let message = format!("the tool `{tool}` is quarantined: {deviation}{widens}");
        note(&slot.server, &message);
    }
    for tool in before.difference(&now) {
        let message = format!("the tool `{tool}` is no longer quarantined");
        note(&slot.server, &message);
    }
}

/// Says why a server fails, and observes it.
fn fail(shared: &Shared, slot: &Slot, why: &str, observation: Observation) {
    explain(shared, slot, why);
    observe(shared, slot, observation);
}

/// Says why a server can't be reached: here once, in the status, and to its clients.
fn explain(shared: &Shared, slot: &Slot, why: &str) {
    let server = &slot.server;
    let before = slot.failure.replace(Some(why.to_owned()));
    if before.as_deref() != Some(why) {
        note(server, why);
    }
    if let Err(failure) = shared.decider.unreachable(&server.name, why) {
        note(server, &failure.message);
    }
}

/// Says once which locked tools no client gets.
fn note_withheld(slot: &Slot, withheld: &[WithheldTool]) {
    let is_unlocked = |code| matches!(code, Code::ToolNotLocked | Code::ForbiddenAction);
    let locked = withheld.iter().filter(|it| !is_unlocked(it.code));
    for WithheldTool { tool, text, .. } in locked {
        if slot.withheld.borrow_mut().insert(tool.clone()) {
            note(
                &slot.server,
                &format!("no client gets the tool `{tool}`: {text}"),
            );
        }
    }
}

/// Says once which tools the operator limits and the server does not list: a misspelt name limits nothing.
fn note_unlisted(shared: &Shared, slot: &Slot, listed: Vec<u8>) {
    let mut limited = shared.access.limited_tools(&slot.server.id).peekable();
    if limited.peek().is_none() {
        return;
    }
    let tools = Json::new(listed).ok().and_then(|list| list.member("tools"));
    let names: BTreeSet<_> = tools
        .iter()
        .flat_map(|tools| tools.elements().into_iter().flatten())
        .filter_map(|tool| tool.member("name")?.string())
        .collect();
    for tool in limited.filter(|tool| !names.contains(*tool)) {
        if slot.unlisted.borrow_mut().insert(tool.to_owned()) {
            let message = format!(
                "`servers.local.yaml` limits the tool `{tool}`, which the server does not list"
            );
            note(&slot.server, &message);
        }
    }
}

fn observe(shared: &Shared, slot: &Slot, observation: Observation) {
    let server = &slot.server;
    if slot.is_retired.get() {
        return;
    }
    match shared.decider.observe(&server.name, observation) {
        Ok(true) => shared.announce(ClientList::Tools),
        Ok(false) => {}
        Err(failure) => note(server, &failure.message),
    }
}

fn note(server: &LockedServer, message: &str) {
    output::note(format_args!("{}: {message}", server.name));
}
