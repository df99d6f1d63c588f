//! The gateway as its program sees it.

use super::approvals::Approvals;
use super::audit::AuditLog;
use super::decider::Decider;
use super::overview::withheld;
use super::page::Page;
use super::reload::{self, Source};
use super::servers::{self, Slot};
use super::traced::{ForwardSpan, RequestSpan};
use super::upstream::Upstream;
use agent_effects::{Access, Otlp};
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::contract::session::{ApprovalRequest, Client, Documents, Observation, Options};
use agent_host::{Engine, Failure, Hangups, Signals, Zone, output};
use agent_mcp_protocol::message::on_one_line;
use agent_mcp_protocol::{Error, Json, MirroredHeaders};
use agent_mcp_server::{
    Announcements, ClientList, Endpoint, Hosts, Listener, Served, Sessions, Token, serve_stdio,
};
use agent_operator::CallTime;
use agent_syntax::json_string;
use agent_telemetry::{Metrics, Spans};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::select;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, LocalSet, spawn_blocking, spawn_local};
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Time that a call waits for a server that is being connected.
const CONNECTING: Duration = Duration::from_secs(30);

/// Time after the start in which a list waits until every server was tried.
const FIRST_LIST: Duration = Duration::from_secs(2);

/// Time that the first calls wait until every server was tried.
const STARTING: Duration = Duration::from_secs(20);

/// Time that open calls have to a server that the lock no longer has.
const RETIREMENT: Duration = Duration::from_secs(10 * 60);

/// Time between two looks whether a retired server has open calls.
const RETIREMENT_POLL: Duration = Duration::from_millis(200);

/// A gateway before it serves.
#[derive(Default)]
pub struct Gateway {
    agents: Vec<Rc<Agent>>,
    otlp: Option<Otlp>,
}

/// An agent before it is served.
pub struct Setup {
    /// Its name among several agents, which is part of its path; `None` for the only one.
    pub name: Option<String>,
    /// What this host can reach for it.
    pub access: Access,
    /// The documents of its session.
    pub documents: Documents,
    /// The options of its session.
    pub options: Options,
    /// The tools whose unusable patterns the operator agrees to ignore, with the ids of their servers.
    pub ignoring: Vec<(String, String)>,
    /// The time zone of its policy.
    pub zone: Zone,
    /// Its audit log.
    pub log: AuditLog,
    /// Its clients over HTTP, with their tokens.
    pub clients: Vec<(String, Token)>,
}

/// An agent with its clients.
pub(crate) type Agent = Served<Shared>;

/// The servers of the lock by name, with the tasks that keep them.
type Slots = BTreeMap<String, (Rc<Slot>, Option<AbortHandle>)>;

/// What the parts of an agent's gateway share.
pub(crate) struct Shared {
    pub(crate) decider: Decider,
    pub(crate) access: Access,
    pub(crate) approvals: Approvals,
    pub(crate) metrics: Metrics,
    /// The number of calls that are open in the session.
    pub(crate) open_calls: Cell<usize>,
    /// Where spans are recorded.
    pub(crate) spans: Option<Spans>,
    /// The name of the agent among several.
    pub(crate) name: String,
    slots: RefCell<Slots>,
    began: Instant,
    /// The servers that were not tried yet.
    untried: watch::Sender<BTreeSet<String>>,
    /// The changes of the lists that clients get.
    pub(crate) lists: Announcements,
    /// The headers of calls, with the number of the list that they are from.
    mirrored: RefCell<Option<(u64, Rc<MirroredHeaders>)>>,
}

impl Gateway {
    /// Records spans of the agents that are added from now on.
    pub fn trace(&mut self, otlp: Otlp) {
        self.otlp = Some(otlp);
    }

    /// Opens the session of one more agent. The inner error lists why its documents can't be obeyed.
    ///
    /// # Errors
    ///
    /// When the engine fails, or the audit log can't be written.
    pub fn add(
        &mut self,
        engine: Engine,
        setup: Setup,
    ) -> Result<Result<(), Vec<Diagnostic>>, Failure> {
        let Setup {
            name,
            access,
            documents,
            options,
            ignoring,
            zone,
            log,
            clients,
        } = setup;
        let decider = match Decider::open(engine, documents, options, ignoring, zone, log)? {
            Ok(decider) => decider,
            Err(problems) => return Ok(Err(problems)),
        };
        let servers = decider.servers()?;
        let (untried, _) = watch::channel(servers.iter().map(|it| it.name.clone()).collect());
        let slots = servers.into_iter().map(|server| {
            let slot = Rc::new(Slot::new(server));
            (slot.server.name.clone(), (slot, None))
        });
        let path = match &name {
            Some(name) => format!("/{name}/mcp"),
            None => "/mcp".to_owned(),
        };
        self.agents.push(Rc::new(Agent {
            path,
            clients,
            service: Rc::new(Shared {
                decider,
                access,
                approvals: Approvals::default(),
                metrics: Metrics::default(),
                open_calls: Cell::new(0),
                spans: self.otlp.as_ref().map(|it| it.spans().clone()),
                name: name.unwrap_or_default(),
                slots: RefCell::new(slots.collect()),
                began: Instant::now(),
                untried,
                lists: Announcements::default(),
                mirrored: RefCell::default(),
            }),
            sessions: Sessions::default(),
        }));
        Ok(Ok(()))
    }

    /// Returns the paths of all agents over HTTP, in the order in which they were added.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(|agent| &*agent.path)
    }

    /// Serves one client over standard input and output until its input ends, or the user or the system ends the
    /// program. Every server ends with it.
    ///
    /// # Errors
    ///
    /// When standard output can't be written.
    pub async fn serve_stdio(self, work: Work<'_>) -> Result<(), Failure> {
        let Some(agent) = self.agents.first().map(Rc::clone) else {
            return Ok(());
        };
        let serve = serve_stdio(Rc::clone(&agent.service));
        self.run(serve, None, work).await
    }

    /// Serves clients over HTTP until the user or the system ends the program. Every server ends with it.
    ///
    /// # Errors
    ///
    /// When the page can't be opened.
    pub async fn serve_http(self, listener: Listener, work: Work<'_>) -> Result<(), Failure> {
        let address = listener.address();
        let hosts = Hosts::of(address);
        let endpoint = Rc::new(Endpoint::new(self.agents.clone(), hosts));
        let serve = async move {
            let answer = move |request| {
                let endpoint = Rc::clone(&endpoint);
                async move { endpoint.answer(request).await }
            };
            listener.serve(answer).await;
            Ok(())
        };
        self.run(serve, Some(address), work).await
    }

    /// Keeps the servers connected as long as clients are served.
    async fn run(
        &self,
        serve: impl Future<Output = Result<(), Failure>>,
        address: Option<SocketAddr>,
        work: Work<'_>,
    ) -> Result<(), Failure> {
        let Work {
            page,
            source,
            hangups,
            mut signals,
        } = work;
        let status = Rc::new(Status {
            address,
            otlp: self.otlp.clone(),
        });
        let tasks = LocalSet::new();
        let working = tasks.run_until(async {
            for agent in &self.agents {
                agent.service.start();
                if address.is_some() && output::is_terminal() {
                    let questions = agent.service.approvals.ask_on_terminal();
                    spawn_local(ask(Rc::clone(&agent.service), questions));
                }
            }
            if let Some(otlp) = &self.otlp {
                spawn_local(otlp.clone().export());
            }
            match super::control::Control::open() {
                Ok(control) => {
                    let (agents, status) = (self.agents.clone(), Rc::clone(&status));
                    spawn_local(control.serve(move || status.json(&agents)));
                }
                Err(failure) => output::note(failure.message),
            }
            if let Some(listener) = page {
                let page = Rc::new(Page::open(&self.agents, &status, &listener)?);
                spawn_local(async move {
                    let answer = move |request| {
                        let page = Rc::clone(&page);
                        async move { page.answer(request).await }
                    };
                    listener.serve(answer).await;
                });
            }
            select! {
                served = serve => served,
                () = reload::watch(&self.agents, source, hangups) => Ok(()),
            }
        });
        let served = select! {
            served = working => served,
            () = signals.cancelled() => Ok(()),
        };
        // Servers are processes of tasks, which end here.
        drop(tasks);
        if let Some(otlp) = &self.otlp {
            otlp.flush().await;
        }
        served
    }
}

/// What a gateway does while it serves.
pub struct Work<'s> {
    /// The listener of the page, if there is one.
    pub page: Option<Listener>,
    /// Where the documents come from.
    pub source: &'s mut dyn Source,
    /// When they are to be read again.
    pub hangups: Hangups,
    /// When the gateway is to end.
    pub signals: Signals,
}

/// The status of a gateway.
pub(crate) struct Status {
    /// Where clients reach it over HTTP.
    address: Option<SocketAddr>,
    otlp: Option<Otlp>,
}

impl Status {
    /// Returns the status of all agents, as JSON on one line.
    pub(crate) fn json(&self, agents: &[Rc<Agent>]) -> String {
        let agents = agents.iter().filter_map(|agent| {
            let session = Json::new(agent.service.decider.status().ok()?).ok()?;
            let url = self.address.map_or_else(
                || "null".to_owned(),
                |address| json_string(&format!("http://{address}{}", agent.path)),
            );
            let exceptions = agent.service.exceptions();
            let untidy = agent.service.untidy();
            let passes = |list| agent.service.passes_on(list);
            let withheld = withheld(passes(ClientList::Resources), passes(ClientList::Prompts));
            let withheld: Vec<_> = withheld.map(json_string).collect();
            Some(format!(
                r#"{{"name":{},"sandboxExceptions":[{exceptions}],"session":{},"sessions":{},"untidy":[{untidy}],"url":{url},"withheld":[{}]}}"#,
                json_string(&agent.service.name),
                on_one_line(&session),
                agent.sessions.number(),
                withheld.join(","),
            ))
        });
        let agents: Vec<_> = agents.collect();
        let (pid, version) = (std::process::id(), json_string(env!("CARGO_PKG_VERSION")));
        let otlp = self.otlp.as_ref();
        let otlp = otlp.map_or_else(|| "null".to_owned(), Otlp::json);
        format!(
            r#"{{"agents":[{}],"otlp":{otlp},"pid":{pid},"version":{version}}}"#,
            agents.join(",")
        )
    }
}

/// Asks on the terminal, one question after the other.
async fn ask(shared: Rc<Shared>, mut questions: mpsc::Receiver<ApprovalRequest>) {
    while let Some(request) = questions.recv().await {
        if shared.approvals.question(&request.approval).is_none() {
            continue;
        }
        let question = format!("{}\napprove? [y/N] ", request.text);
        let Ok(answer) = spawn_blocking(move || output::ask(&question)).await else {
            return;
        };
        if let Err(failure) = shared.approve(&request.approval, answer, "terminal") {
            output::note(failure.message);
        }
    }
}

impl Shared {
    /// Starts to keep every server connected.
    fn start(self: &Rc<Self>) {
        for (slot, task) in self.slots.borrow_mut().values_mut() {
            let keep = spawn_local(servers::keep(Rc::clone(self), Rc::clone(slot)));
            *task = Some(keep.abort_handle());
        }
    }

    /// Takes other documents: servers that are new in the lock are connected, and those that are no longer in it
    /// end after their open calls. The error lists why the documents can't be obeyed; the present ones stay then.
    pub(crate) fn reload(
        self: &Rc<Self>,
        documents: Documents,
    ) -> Result<Result<(), Vec<Diagnostic>>, Failure> {
        let list_changed = match self.decider.reload(documents)? {
            Ok(list_changed) => list_changed,
            Err(problems) => return Ok(Err(problems)),
        };
        let mut slots = self.slots.borrow_mut();
        let mut before = std::mem::take(&mut *slots);
        for server in self.decider.servers()? {
            let kept = before.remove(&server.name);
            let kept = match kept {
                Some((slot, task)) if slot.is_for(&server) => {
                    slot.relist.notify_one();
                    (slot, task)
                }
                other => {
                    if let Some((slot, task)) = other {
                        spawn_local(retire(slot, task));
                    }
                    self.untried.send_modify(|untried| {
                        untried.insert(server.name.clone());
                    });
                    let slot = Rc::new(Slot::new(server));
                    let keep = spawn_local(servers::keep(Rc::clone(self), Rc::clone(&slot)));
                    (slot, Some(keep.abort_handle()))
                }
            };
            slots.insert(kept.0.server.name.clone(), kept);
        }
        for (slot, task) in before.into_values() {
            self.tried(&slot.server.name);
            spawn_local(retire(slot, task));
        }
        drop(slots);
        if list_changed {
            self.announce(ClientList::Tools);
        }
        // Each server lists again, and the lock may pass on other lists.
        for list in [ClientList::Resources, ClientList::Prompts] {
            if self.passes_on(list) {
                self.announce(list);
            }
        }
        Ok(Ok(()))
    }

    /// Takes the answer of a human. Returns whether somebody asks for it.
    pub(crate) fn approve(&self, approval: &str, answer: bool, by: &str) -> Result<bool, Failure> {
        let is_known = self.decider.approve(approval, answer, by)?;
        self.approvals.close(approval, is_known);
        Ok(is_known)
    }

    /// Takes a client's result of `elicitation/create`, with which it asked its human about an approval.
    pub(crate) fn elicited(&self, approval: &str, result: &[u8]) -> Result<(), Failure> {
        if self.decider.elicited(approval, result)? {
            self.approvals.close(approval, true);
        }
        Ok(())
    }

    /// Returns the exceptions from the sandbox that servers run with, as objects of JSON.
    fn exceptions(&self) -> String {
        let slots = self.slots.borrow();
        let exceptions = slots.values().flat_map(|(slot, _)| {
            let server = json_string(&slot.server.name);
            let made = slot.exceptions.borrow().clone().into_iter();
            made.map(move |exception| {
                let exception = json_string(exception);
                format!(r#"{{"exception":{exception},"server":{server}}}"#)
            })
        });
        exceptions.collect::<Vec<_>>().join(",")
    }

    /// Returns how many messages of servers could not be read, as objects of JSON, if there was one.
    fn untidy(&self) -> String {
        let slots = self.slots.borrow();
        let untidy = slots.values().filter_map(|(slot, _)| {
            let server = json_string(&slot.server.name);
            let messages = slot.untidy();
            (messages > 0).then(|| format!(r#"{{"messages":{messages},"server":{server}}}"#))
        });
        untidy.collect::<Vec<_>>().join(",")
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

    /// Waits until a list of tools is whole. A lock has its definitions, and the first moments after the start show
    /// which of them a server changed; what no lock has, servers list first.
    pub(crate) async fn listable(&self) {
        if self.decider.observes() {
            self.ready().await;
        } else {
            let mut untried = self.untried.subscribe();
            let tried = untried.wait_for(BTreeSet::is_empty);
            let _ = timeout_at(self.began + FIRST_LIST, tried).await;
        }
    }

    /// Returns the connection to a server. Waits for one that is being connected until the deadline. The server
    /// is kept as long as its slot is held.
    pub(crate) async fn upstream(
        &self,
        server: &str,
        deadline: Instant,
    ) -> Option<(Upstream, Rc<Slot>)> {
        let slot = self
            .slots
            .borrow()
            .get(server)
            .map(|(it, _)| Rc::clone(it))?;
        let mut changes = slot.upstream.subscribe();
        let deadline = deadline.min(Instant::now() + CONNECTING);
        let connected = timeout_at(deadline, changes.wait_for(Option::is_some)).await;
        let upstream = connected.ok()?.ok()?.clone()?;
        Some((upstream, slot))
    }

    /// Returns the time for a call of a server's tool, or for another request to it. `default_ms` holds where the
    /// operator sets none.
    pub(crate) fn call_time(&self, server: &str, tool: Option<&str>, default_ms: u64) -> CallTime {
        let slots = self.slots.borrow();
        let id = slots.get(server).map(|(slot, _)| &*slot.server.id);
        let default = Duration::from_millis(default_ms);
        self.access.call_time(id.unwrap_or_default(), tool, default)
    }

    /// Keeps tokens that were renewed out of records and results.
    pub(crate) fn redact(&self) -> Result<(), Failure> {
        if self.decider.redact(self.access.secrets())? {
            for (slot, _) in self.slots.borrow().values() {
                slot.relist.notify_one();
            }
        }
        Ok(())
    }

    /// Begins the span of a call that is passed on to a server.
    pub(crate) fn forward_span(&self, span: &RequestSpan, server: &str) -> ForwardSpan {
        let slots = self.slots.borrow();
        match slots.get(server) {
            Some((slot, _)) => span.forward(slot.link.borrow().as_ref()),
            None => span.forward(None),
        }
    }

    /// Observes how a server did on a call.
    pub(crate) fn observe_call(&self, server: &str, called: &Result<Json, Error>, time: Duration) {
        let observation = match called {
            // An answer with an error is one, too, and so is one that is too large or can't be read: it costs the
            // call that it belongs to, and no other client its server.
            Ok(_)
            | Err(
                Error::Rpc(_) | Error::TooLarge { .. } | Error::TooMany { .. } | Error::Protocol(_),
            ) => Observation::Answered(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            Err(_) => Observation::Failed,
        };
        match self.decider.observe(server, observation) {
            Ok(true) => self.announce(ClientList::Tools),
            Ok(false) => {}
            Err(failure) => output::note(format_args!("{server}: {}", failure.message)),
        }
    }

    /// Tells clients that a list is another one.
    pub(crate) fn announce(&self, list: ClientList) {
        self.lists.add(list);
    }

    /// Returns whether clients get a list: that of tools always, another one if the lock passes it on from a
    /// server.
    pub(crate) fn passes_on(&self, list: ClientList) -> bool {
        let slots = self.slots.borrow();
        let mut servers = slots.values().map(|(slot, _)| &slot.server);
        match list {
            ClientList::Tools => true,
            ClientList::Resources => servers.any(|it| it.resources),
            ClientList::Prompts => servers.any(|it| it.prompts),
        }
    }

    /// Returns the headers that the tools of the present list require.
    pub(crate) fn headers_of_list(&self, client: &Client) -> Rc<MirroredHeaders> {
        let number = self.lists.count(ClientList::Tools);
        if let Some((of, headers)) = &*self.mirrored.borrow()
            && *of == number
        {
            return Rc::clone(headers);
        }
        let list = self.decider.list(client).ok();
        let list = list.and_then(|list| Json::new(list).ok());
        let headers = list.as_ref().map(MirroredHeaders::of_list);
        let headers = Rc::new(headers.unwrap_or_default());
        self.mirrored.replace(Some((number, Rc::clone(&headers))));
        headers
    }
}

/// Ends a server that the lock no longer has, after its open calls.
async fn retire(slot: Rc<Slot>, task: Option<AbortHandle>) {
    slot.is_retired.set(true);
    let unused = async {
        // The task that keeps it and this one hold the slot.
        while Rc::strong_count(&slot) > 2 {
            sleep(RETIREMENT_POLL).await;
        }
    };
    let _ = timeout(RETIREMENT, unused).await;
    if let Some(task) = task {
        task.abort();
    }
}

#[cfg(test)]
mod tests {
    #[cfg(debug_assertions)]
    mod passes;
}
