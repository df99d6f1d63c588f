//! The gateway as its program sees it.

use super::audit::AuditLog;
use super::decider::Decider;
use super::servers;
use super::stdio;
use super::upstream::Upstream;
use agent_effects::{Access, Signals, Zone};
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::contract::session::{Documents, LockedServer, Observation, Options};
use agent_host::{Engine, Failure, output};
use agent_mcp::{Error, Json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;
use tokio::select;
use tokio::sync::watch;
use tokio::task::LocalSet;
use tokio::time::{Instant, timeout, timeout_at};

/// Time that a call waits for a server that is being connected.
const CONNECTING: Duration = Duration::from_secs(30);

/// Time that the first calls wait until every server was tried.
const STARTING: Duration = Duration::from_secs(20);

/// A gateway before it serves.
pub struct Gateway {
    shared: Rc<Shared>,
}

/// What the parts of a gateway share.
pub(crate) struct Shared {
    pub(crate) decider: Decider,
    pub(crate) access: Access,
    servers: Vec<LockedServer>,
    upstreams: RefCell<BTreeMap<String, watch::Sender<Option<Upstream>>>>,
    /// The servers that were not tried yet.
    untried: watch::Sender<BTreeSet<String>>,
    /// Counts the changes of the list of tools.
    lists: watch::Sender<u64>,
}

impl Gateway {
    /// Opens the session of a gateway. The inner error lists why the documents can't be obeyed.
    ///
    /// # Errors
    ///
    /// When the engine fails, or the audit log can't be written.
    pub fn open(
        engine: Engine,
        access: Access,
        documents: Documents,
        options: Options,
        zone: Zone,
        log: AuditLog,
    ) -> Result<Result<Self, Vec<Diagnostic>>, Failure> {
        let decider = match Decider::open(engine, documents, options, zone, log)? {
            Ok(decider) => decider,
            Err(problems) => return Ok(Err(problems)),
        };
        let servers = decider.servers()?;
        let upstreams = servers.iter().map(|server| {
            let (sender, _) = watch::channel(None);
            (server.name.clone(), sender)
        });
        let upstreams = RefCell::new(upstreams.collect());
        let (untried, _) = watch::channel(servers.iter().map(|it| it.name.clone()).collect());
        let (lists, _) = watch::channel(0);
        Ok(Ok(Self {
            shared: Rc::new(Shared {
                decider,
                access,
                servers,
                upstreams,
                untried,
                lists,
            }),
        }))
    }

    /// Serves one client over standard input and output until its input ends, or the user or the system ends the
    /// program. Every server ends with it.
    ///
    /// # Errors
    ///
    /// When standard output can't be written.
    pub async fn serve_stdio(self, mut signals: Signals) -> Result<(), Failure> {
        let tasks = LocalSet::new();
        for server in &self.shared.servers {
            tasks.spawn_local(servers::keep(Rc::clone(&self.shared), server.clone()));
        }
        let serve = tasks.run_until(stdio::serve(Rc::clone(&self.shared)));
        let served = select! {
            served = serve => served,
            () = signals.cancelled() => Ok(()),
        };
        // Servers are processes of tasks, which end here.
        drop(tasks);
        served
    }
}

impl Shared {
    /// Says that a server is connected, or no longer.
    pub(crate) fn set_upstream(&self, server: &str, upstream: Option<Upstream>) {
        if let Some(sender) = self.upstreams.borrow().get(server) {
            sender.send_replace(upstream);
        }
    }

    /// Says that a server has listed its tools, or that it could not.
    pub(crate) fn tried(&self, server: &str) {
        self.untried
            .send_if_modified(|untried| untried.remove(server));
    }

    /// Waits until every server was tried once: a call that comes before would be refused because its server
    /// starts.
    pub(crate) async fn ready(&self) {
        let mut untried = self.untried.subscribe();
        // A server that takes longer is refused by its health.
        let _ = timeout(STARTING, untried.wait_for(BTreeSet::is_empty)).await;
    }

    /// Returns the connection to a server. Waits for one that is being connected until the deadline.
    pub(crate) async fn upstream(&self, server: &str, deadline: Instant) -> Option<Upstream> {
        let mut changes = self.upstreams.borrow().get(server)?.subscribe();
        let deadline = deadline.min(Instant::now() + CONNECTING);
        let connected = timeout_at(deadline, changes.wait_for(Option::is_some)).await;
        connected.ok()?.ok()?.clone()
    }

    /// Observes how a server did on a call.
    pub(crate) fn observe_call(&self, server: &str, called: &Result<Json, Error>, time: Duration) {
        let observation = match called {
            // An answer with an error is one, too, unless the server does not know what it was asked.
            Ok(_) | Err(Error::Rpc(_)) => {
                Observation::Answered(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
            }
            Err(_) => Observation::Failed,
        };
        match self.decider.observe(server, observation) {
            Ok(true) => self.announce_list(),
            Ok(false) => {}
            Err(failure) => output::note(format_args!("{server}: {}", failure.message)),
        }
    }

    /// Tells clients that the list of tools is another one.
    pub(crate) fn announce_list(&self) {
        self.lists.send_modify(|number| *number += 1);
    }

    /// Returns the number of changes of the list so far, which changes with each.
    pub(crate) fn list_changes(&self) -> watch::Receiver<u64> {
        self.lists.subscribe()
    }
}
