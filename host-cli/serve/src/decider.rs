//! The session in its instance of the engine.

use super::audit::{AuditLog, Syncs};
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::contract::run::Secret;
use agent_host::contract::session::{
    ApprovalMode, Approved, AuditRecord, CallAction, CallFailure, Called, Client, Delivered,
    Destination, Documents, ListKind, LockedServer, Method, Observation, Observed, ObservedEntries,
    Options, Transition,
};
use agent_host::{Engine, Failure, Instance, ResourceAny, Zone, call, clock};
use agent_mcp_protocol::Json;
use std::cell::RefCell;
use std::mem::size_of_val;
use std::rc::Rc;

/// Maximum size of a list that another instance gets, in bytes. Of a larger one, no entry is passed on until its
/// server lists again.
const KEPT_LIST_BYTES: usize = 4 << 20;

/// Maximum number of secrets that are no longer in use, and that nothing may contain nevertheless.
const FORMER_SECRETS: usize = 64;

/// Bytes by which an instance may grow. The memory of one never shrinks.
const GROWTH_MAX_BYTES: usize = 64 << 20;

/// Maximum number of messages that a journal has.
const JOURNAL_MESSAGES: usize = 256;

/// Maximum size of the messages that a journal has, in bytes.
const JOURNAL_BYTES: usize = 1 << 20;

/// Decides for a gateway, and records what it decides.
///
/// An instance that fails is replaced by another one that goes on from its state, so that only the present message is
/// lost; one that grew too much is replaced after a message. Exporting the state costs as much as a small decision, so
/// the state is exported from time to time, and another instance gets the messages since then once more: the session
/// decides the same again.
pub(crate) struct Decider {
    engine: Engine,
    documents: RefCell<Documents>,
    options: RefCell<Options>,
    /// The tools whose unusable patterns the operator agrees to ignore.
    ignoring: Vec<(String, String)>,
    zone: Zone,
    syncs: Rc<Syncs>,
    /// The last lists of resources and prompts, which another instance gets.
    lists: RefCell<Vec<(String, ListKind, Vec<u8>)>>,
    current: RefCell<Current>,
}

/// The present instance.
struct Current {
    instance: Instance,
    /// Bytes of its memory when it was opened.
    opened_with: usize,
    session: ResourceAny,
    log: AuditLog,
    journal: Journal,
}

/// What a session became since its state was last exported.
#[derive(Default)]
struct Journal {
    /// The exported state.
    state: Vec<u8>,
    /// What it was asked since then, without what leaves it as it is.
    messages: Vec<Message>,
    /// The size of the messages.
    bytes: usize,
}

/// A message that another instance may get once more.
type Message = Box<dyn Fn(&mut Instance, ResourceAny) -> Result<(), Failure>>;

/// A decision, or the reasons why the documents can't be obeyed.
type Opened = Result<Decider, Vec<Diagnostic>>;

impl Decider {
    /// Opens a session.
    ///
    /// # Errors
    ///
    /// When the engine fails, or the log can't be written.
    pub(crate) fn open(
        engine: Engine,
        documents: Documents,
        options: Options,
        ignoring: Vec<(String, String)>,
        zone: Zone,
        mut log: AuditLog,
    ) -> Result<Opened, Failure> {
        let options = Options {
            last_record: log.last_record()?,
            ..options
        };
        let opened = open(&engine, &documents, (&options, &ignoring), &zone)?;
        let (mut instance, session, records) = match opened {
            Ok(opened) => opened,
            Err(problems) => return Ok(Err(problems)),
        };
        log.append(&records)?;
        remember(&mut instance, session, &log, &zone)?;
        let syncs = log.syncs();
        let state = call!(instance, session.agent_session.export(session))?;
        let current = RefCell::new(Current {
            opened_with: instance.memory(),
            instance,
            session,
            log,
            journal: Journal::of(state),
        });
        Ok(Ok(Self {
            engine,
            documents: RefCell::new(documents),
            options: RefCell::new(options),
            ignoring,
            zone,
            syncs,
            lists: RefCell::default(),
            current,
        }))
    }

    /// Returns the servers of the lock.
    pub(crate) fn servers(&self) -> Result<Vec<LockedServer>, Failure> {
        self.look(|instance, session| call!(instance, session.agent_session.servers(session)))
    }

    /// Returns where a server is reached; `None` if it is started.
    pub(crate) fn destination(&self, server: &str) -> Result<Option<Destination>, Failure> {
        let found = self.look(|instance, session| {
            call!(instance, session.agent_session.destination(session, server))
        })?;
        found.map_err(Failure::new)
    }

    /// Returns the addresses of a server's host that may be connected to.
    pub(crate) fn authorize(
        &self,
        server: &str,
        addresses: &[String],
    ) -> Result<Vec<String>, Failure> {
        let found = self.look(|instance, session| {
            call!(
                instance,
                session.agent_session.authorize(session, server, addresses)
            )
        })?;
        found.map_err(Failure::new)
    }

    /// Compares a live list with the lock.
    pub(crate) fn tools(&self, server: &str, list: &[u8]) -> Result<Observed, Failure> {
        let now = clock(&self.zone);
        let observed = self.ask_and_export(|instance, session| {
            call!(
                instance,
                session.agent_session.tools(session, server, list, now)
            )
        })?;
        self.record(&observed.records)?;
        Ok(observed)
    }

    /// Takes a list of resources, of their templates or of prompts.
    pub(crate) fn entries(
        &self,
        server: &str,
        kind: ListKind,
        list: Vec<u8>,
    ) -> Result<ObservedEntries, Failure> {
        let now = clock(&self.zone);
        let observed = self.ask_and_export(|instance, session| {
            call!(
                instance,
                session
                    .agent_session
                    .entries(session, server, kind, &list, now)
            )
        })?;
        let mut lists = self.lists.borrow_mut();
        lists.retain(|(of, known, _)| (of.as_str(), *known) != (server, kind));
        if list.len() <= KEPT_LIST_BYTES {
            lists.push((server.to_owned(), kind, list));
        }
        drop(lists);
        self.record(&observed.records)?;
        Ok(observed)
    }

    /// Decides on a request for resources or prompts.
    pub(crate) fn request(
        &self,
        client: &Client,
        method: Method,
        params: &[u8],
    ) -> Result<Called, Failure> {
        let now = clock(&self.zone);
        let (client, params) = (client.clone(), params.to_vec());
        let called = self.ask(params.len(), move |instance, session| {
            call!(
                instance,
                session
                    .agent_session
                    .request(session, &client, method, &params, now)
            )
        })?;
        self.recorded(called)
    }

    /// Returns the list of tools of a client.
    pub(crate) fn list(&self, client: &Client) -> Result<Vec<u8>, Failure> {
        let now = clock(&self.zone);
        let listed = self.look(|instance, session| {
            call!(instance, session.agent_session.list(session, client, now))
        })?;
        self.record(&listed.records)?;
        Ok(listed.result)
    }

    /// Decides on a call.
    pub(crate) fn call(&self, client: &Client, params: &[u8]) -> Result<Called, Failure> {
        let now = clock(&self.zone);
        let (client, params) = (client.clone(), params.to_vec());
        let called = self.ask(params.len(), move |instance, session| {
            call!(
                instance,
                session.agent_session.call(session, &client, &params, now)
            )
        })?;
        self.recorded(called)
    }

    /// Decides on a call once more, whose server wants it repeated.
    pub(crate) fn repeat(
        &self,
        client: &Client,
        params: &[u8],
        state: &str,
    ) -> Result<Called, Failure> {
        let now = clock(&self.zone);
        let (client, params, state) = (client.clone(), params.to_vec(), state.to_owned());
        let called = self.ask(params.len() + state.len(), move |instance, session| {
            call!(
                instance,
                session
                    .agent_session
                    .repeat(session, &client, &params, &state, now)
            )
        })?;
        self.recorded(called)
    }

    /// Records a decision.
    fn recorded(&self, called: Called) -> Result<Called, Failure> {
        match self.record(&called.records) {
            Ok(()) => Ok(called),
            // What is not recorded does not happen.
            Err(failure) => {
                let is_open = matches!(
                    called.action,
                    CallAction::Forward(_) | CallAction::ForwardRequest(_)
                );
                if is_open {
                    let _ = self.failed(called.id, &CallFailure::Cancelled);
                }
                Err(failure)
            }
        }
    }

    /// Decides what the client gets of a result.
    pub(crate) fn result(&self, id: u64, result: &Json) -> Result<Delivered, Failure> {
        let now = clock(&self.zone);
        let result = result.clone();
        self.delivered(result.bytes().len(), move |instance, session| {
            let result = result.bytes();
            call!(
                instance,
                session.agent_session.result(session, id, result, now)
            )
        })
    }

    /// Decides what the client gets without a result.
    pub(crate) fn failed(&self, id: u64, failure: &CallFailure) -> Result<Delivered, Failure> {
        let now = clock(&self.zone);
        let failure = failure.clone();
        self.delivered(size_of_val(&failure), move |instance, session| {
            call!(
                instance,
                session.agent_session.failed(session, id, &failure, now)
            )
        })
    }

    /// Decides what the client gets of a server that did not answer within a limit. `since_progress` says whether the
    /// limit counts from the server's last report of progress.
    pub(crate) fn timed_out(
        &self,
        id: u64,
        limit_ms: u64,
        since_progress: bool,
    ) -> Result<Delivered, Failure> {
        let now = clock(&self.zone);
        self.delivered(size_of_val(&limit_ms), move |instance, session| {
            call!(
                instance,
                session
                    .agent_session
                    .timed_out(session, id, limit_ms, since_progress, now)
            )
        })
    }

    /// Waits until the records so far are on disk. `is_alone` says that no other call is open.
    pub(crate) async fn synced(&self, is_alone: bool) -> Result<(), Failure> {
        self.syncs.synced(is_alone).await
    }

    /// Takes the answer of a human, and closes the calls that wait for it. Returns whether somebody asks for it.
    pub(crate) fn approve(&self, approval: &str, answer: bool, by: &str) -> Result<bool, Failure> {
        let now = clock(&self.zone);
        let (approval, by) = (approval.to_owned(), by.to_owned());
        self.answered(approval.len() + by.len(), move |instance, session| {
            call!(
                instance,
                session
                    .agent_session
                    .approve(session, &approval, answer, &by, now)
            )
        })
    }

    /// Takes a client's result of `elicitation/create`. Returns whether it decides something; the
    /// calls that waited for it are closed then.
    pub(crate) fn elicited(&self, approval: &str, result: &[u8]) -> Result<bool, Failure> {
        let now = clock(&self.zone);
        let (approval, result) = (approval.to_owned(), result.to_vec());
        self.answered(approval.len() + result.len(), move |instance, session| {
            call!(
                instance,
                session
                    .agent_session
                    .elicited(session, &approval, &result, now)
            )
        })
    }

    fn answered(
        &self,
        bytes: usize,
        ask: impl Fn(&mut Instance, ResourceAny) -> Result<Approved, Failure> + 'static,
    ) -> Result<bool, Failure> {
        let approved = self.ask(bytes, ask)?;
        self.record(&approved.records)?;
        Ok(approved.is_known)
    }

    /// Takes other documents. The inner error lists why they can't be obeyed; the present ones stay then.
    /// Otherwise says whether the list of clients is another one now.
    pub(crate) fn reload(
        &self,
        documents: Documents,
    ) -> Result<Result<bool, Vec<Diagnostic>>, Failure> {
        let now = clock(&self.zone);
        let reloaded = self.look(|instance, session| {
            call!(
                instance,
                session.agent_session.reload(session, &documents, now)
            )
        })?;
        let transition = match reloaded {
            Ok(transition) => transition,
            Err(problems) => return Ok(Err(problems)),
        };
        self.documents.replace(documents);
        let mut current = self.current.borrow_mut();
        current.log.append(&transition.records)?;
        let session = current.session;
        let Current { instance, log, .. } = &mut *current;
        remember(instance, session, log, &self.zone)?;
        self.export(&mut current)?;
        drop(current);
        // Each server lists again.
        self.lists.borrow_mut().clear();
        Ok(Ok(transition.list_changed))
    }

    /// Returns the state of the session as JSON.
    pub(crate) fn status(&self) -> Result<String, Failure> {
        let now = clock(&self.zone);
        self.look(|instance, session| call!(instance, session.agent_session.status(session, now)))
    }

    /// Takes why a server can't be started or reached.
    pub(crate) fn unreachable(&self, server: &str, why: &str) -> Result<(), Failure> {
        let (server, why) = (server.to_owned(), why.to_owned());
        self.ask(server.len() + why.len(), move |instance, session| {
            call!(
                instance,
                session.agent_session.unreachable(session, &server, &why)
            )
        })
    }

    /// Takes an observation of a server. Returns whether the list of clients is another one now.
    pub(crate) fn observe(&self, server: &str, observation: Observation) -> Result<bool, Failure> {
        let now = clock(&self.zone);
        let server = server.to_owned();
        let transition: Transition = self.ask(server.len(), move |instance, session| {
            call!(
                instance,
                session
                    .agent_session
                    .observe(session, &server, observation, now)
            )
        })?;
        self.record(&transition.records)?;
        Ok(transition.list_changed)
    }

    fn delivered(
        &self,
        bytes: usize,
        ask: impl Fn(&mut Instance, ResourceAny) -> Result<Delivered, Failure> + 'static,
    ) -> Result<Delivered, Failure> {
        let delivered = self.ask(bytes, ask)?;
        self.record(&delivered.records)?;
        Ok(delivered)
    }

    fn record(&self, records: &[AuditRecord]) -> Result<(), Failure> {
        self.current.borrow_mut().log.append(records)
    }

    /// Asks the session something that leaves it as it is, but for the end of the log. Replaces an instance that fails.
    fn look<T>(
        &self,
        ask: impl FnOnce(&mut Instance, ResourceAny) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut current = self.current.borrow_mut();
        let session = current.session;
        let asked = ask(&mut current.instance, session);
        if asked.is_err() {
            self.recover(&mut current)?;
        }
        asked
    }

    /// Gives the session a message of a size in bytes.
    fn ask<T>(
        &self,
        bytes: usize,
        message: impl Fn(&mut Instance, ResourceAny) -> Result<T, Failure> + 'static,
    ) -> Result<T, Failure> {
        let answer = self.look(&message)?;
        let mut current = self.current.borrow_mut();
        let journal = &mut current.journal;
        journal.bytes += bytes;
        let message = move |instance: &mut Instance, session| message(instance, session).map(drop);
        journal.messages.push(Box::new(message));
        let is_full = journal.messages.len() >= JOURNAL_MESSAGES || journal.bytes > JOURNAL_BYTES;
        let is_large = current.instance.memory() > current.opened_with + GROWTH_MAX_BYTES;
        if is_full || is_large {
            self.export(&mut current)?;
        }
        Ok(answer)
    }

    /// Gives the session a message that is too large for a journal.
    fn ask_and_export<T>(
        &self,
        message: impl FnOnce(&mut Instance, ResourceAny) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let answer = self.look(message)?;
        self.export(&mut self.current.borrow_mut())?;
        Ok(answer)
    }

    /// Begins another journal with the state of the session, and replaces an instance that grew too much.
    fn export(&self, current: &mut Current) -> Result<(), Failure> {
        let state = match current.export() {
            Ok(state) => state,
            Err(_) => return self.recover(current),
        };
        if current.instance.memory() > current.opened_with + GROWTH_MAX_BYTES {
            // Documents that were obeyed before are obeyed again.
            let _ = self.replace(current, state)?;
        } else {
            current.journal = Journal::of(state);
        }
        Ok(())
    }

    /// Replaces an instance that failed by another one that goes on from its state.
    fn recover(&self, current: &mut Current) -> Result<(), Failure> {
        let journal = std::mem::take(&mut current.journal);
        // Without its messages, a session has its calls of before.
        let state = self.replayed(&journal).unwrap_or(journal.state);
        current.journal = Journal::of(state.clone());
        drop(self.replace(current, state)?);
        Ok(())
    }

    /// Returns the state of a session that got the messages of a journal.
    fn replayed(&self, journal: &Journal) -> Result<Vec<u8>, Failure> {
        let options = self.options(journal.state.clone(), None);
        let settings = (&options, &*self.ignoring);
        let opened = open(&self.engine, &self.documents.borrow(), settings, &self.zone)?;
        let (mut instance, session, _) =
            opened.map_err(|_| Failure::internal("the session does not take its own state"))?;
        self.list_again(&mut instance, session)?;
        // Their records are in the log.
        for message in &journal.messages {
            message(&mut instance, session)?;
        }
        call!(instance, session.agent_session.export(session))
    }

    /// Replaces the instance by another one that goes on from a state. The inner error says why it can't.
    fn replace(
        &self,
        current: &mut Current,
        state: Vec<u8>,
    ) -> Result<Result<(), Vec<Diagnostic>>, Failure> {
        let options = self.options(state.clone(), current.log.last_record()?);
        let settings = (&options, &*self.ignoring);
        let opened = open(&self.engine, &self.documents.borrow(), settings, &self.zone)?;
        let (mut instance, session, mut records) = match opened {
            Ok(opened) => opened,
            Err(problems) => return Ok(Err(problems)),
        };
        records.extend(self.list_again(&mut instance, session)?);
        current.log.append(&records)?;
        current.opened_with = instance.memory();
        current.journal = Journal::of(state);
        (current.instance, current.session) = (instance, session);
        Ok(Ok(()))
    }

    /// Gives a session the last lists of resources and prompts, which no state has. Returns the records.
    fn list_again(
        &self,
        instance: &mut Instance,
        session: ResourceAny,
    ) -> Result<Vec<AuditRecord>, Failure> {
        let mut records = Vec::new();
        for (server, kind, list) in &*self.lists.borrow() {
            let now = clock(&self.zone);
            let observed = call!(
                instance,
                session
                    .agent_session
                    .entries(session, server, *kind, list, now)
            )?;
            records.extend(observed.records);
        }
        Ok(records)
    }

    /// Returns the options of a session that goes on from a state, and in a log.
    fn options(&self, state: Vec<u8>, last_record: Option<Vec<u8>>) -> Options {
        Options {
            state: Some(state),
            last_record,
            ..self.options.borrow().clone()
        }
    }

    /// Returns how a human is asked to approve a call.
    pub(crate) fn approval_mode(&self) -> ApprovalMode {
        self.options.borrow().approval_mode
    }

    /// Returns whether the session only observes.
    pub(crate) fn observes(&self) -> bool {
        self.options.borrow().observe
    }

    /// Takes the present secrets, which no record and no result may have from now on. Former ones stay secret.
    /// Returns whether servers must list their tools again: a state has no definitions but the lock's.
    pub(crate) fn redact(&self, present: Vec<Secret>) -> Result<bool, Failure> {
        let mut secrets = self.options.borrow().secrets.clone();
        let known = secrets.len();
        for secret in &present {
            if !secrets.iter().any(|it| it.value == secret.value) {
                secrets.push(secret.clone());
            }
        }
        if secrets.len() == known {
            return Ok(false);
        }
        let mut excess = secrets.len().saturating_sub(present.len() + FORMER_SECRETS);
        secrets.retain(|it| {
            let is_former = !present.iter().any(|own| own.value == it.value);
            let is_dropped = is_former && excess > 0;
            excess -= usize::from(is_dropped);
            !is_dropped
        });
        self.options.borrow_mut().secrets = secrets;
        let mut current = self.current.borrow_mut();
        let state = current.export()?;
        match self.replace(&mut current, state)? {
            Ok(()) => Ok(self.observes()),
            Err(_) => Err(Failure::internal("the session does not take its own state")),
        }
    }
}

impl Journal {
    fn of(state: Vec<u8>) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }
}

impl Current {
    fn export(&mut self) -> Result<Vec<u8>, Failure> {
        let Self {
            instance, session, ..
        } = self;
        call!(instance, session.agent_session.export(*session))
    }
}

/// Gives a session the records of its log that it needs for the history of calls: those of the last file, and of more
/// files until they are enough.
fn remember(
    instance: &mut Instance,
    session: ResourceAny,
    log: &AuditLog,
    zone: &Zone,
) -> Result<(), Failure> {
    let wanted = call!(instance, session.agent_session.history_wanted(session))?;
    if log.is_beside() {
        call!(instance, session.agent_session.split_history(session))?;
    } else if wanted.is_some() {
        let files = log.files()?;
        let mut number = 1;
        loop {
            let first = files.len().saturating_sub(number);
            let now = clock(zone);
            log.read(&files[first..], |part| {
                call!(
                    instance,
                    session.agent_session.remember(session, &part, false, now)
                )
                .map(drop)
            })?;
            let is_known = call!(
                instance,
                session.agent_session.remember(session, &[], true, now)
            )?;
            if is_known || first == 0 {
                return Ok(());
            }
            number *= 2;
        }
    }
    Ok(())
}

/// An instance with its session and the first records.
type Session = (Instance, ResourceAny, Vec<AuditRecord>);

fn open(
    engine: &Engine,
    documents: &Documents,
    (options, ignoring): (&Options, &[(String, String)]),
    zone: &Zone,
) -> Result<Result<Session, Vec<Diagnostic>>, Failure> {
    let mut instance = engine.instantiate()?;
    let now = clock(zone);
    let opened = call!(
        instance,
        session
            .agent_session
            .open_ignoring(documents, options, ignoring, now)
    )?;
    Ok(opened.map(|opened| (instance, opened.session, opened.records)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_host::contract::session::{Expansion, Generation, ObservedServer};
    use std::fs;
    use std::path::Path;

    fn observing(log: &Path) -> Decider {
        let documents = Documents {
            lock: None,
            index: None,
            definitions: None,
            policy: None,
            policy_context: None,
            tenant: None,
            tenant_id: None,
            task: None,
            health: None,
        };
        let options = Options {
            seed: vec![0; 32],
            expansion: Expansion::Stub,
            budget: None,
            observe: true,
            servers: vec![ObservedServer {
                name: "files".to_owned(),
                endpoint: "pkg:npm/files@1.0.0".to_owned(),
            }],
            audit_arguments: false,
            approval_mode: ApprovalMode::Host,
            payload_max_bytes: None,
            secrets: Vec::new(),
            last_record: None,
            state: None,
        };
        let engine = Engine::embedded().unwrap();
        let log = AuditLog::open(log, 1 << 30).unwrap();
        let opened =
            Decider::open(engine, documents, options, Vec::new(), Zone::default(), log).unwrap();
        opened.unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    /// A call that a client makes of the server `files`.
    fn call(decider: &Decider) -> Called {
        let client = Client {
            id: "client".to_owned(),
            kind: "local".to_owned(),
            properties: None,
            generation: Generation::Stateless,
            session: None,
            capabilities: None,
        };
        decider.call(&client, br#"{"name":"read"}"#).unwrap()
    }

    fn fail(decider: &Decider) {
        let failed = decider.look(|_, _| Err::<(), _>(Failure::internal("a trap")));
        failed.unwrap_err();
    }

    fn chained(log: &Path) {
        let text = fs::read_to_string(log).unwrap();
        for (number, line) in text.lines().enumerate() {
            let expected = format!(r#""sequence":{},"#, number + 1);
            assert!(line.contains(&expected), "{line}");
        }
    }

    #[test]
    fn an_instance_that_fails_loses_no_open_call() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("audit.jsonl");
        let decider = observing(&log);
        decider.observe("files", Observation::Started).unwrap();
        let list = br#"{"tools":[{"name":"read","inputSchema":{"type":"object"}}]}"#;
        assert_eq!(decider.tools("files", list).unwrap().exposed, ["read"]);
        let result = Json::new(r#"{"content":[],"resultType":"complete"}"#).unwrap();
        let delivers = |id| {
            let delivered = decider.result(id, &result).unwrap();
            let text = &delivered.records[0].line;
            text.contains(r#""outcome":"delivered""#)
        };
        let (first, second) = (call(&decider).id, call(&decider).id);
        fail(&decider);
        assert!(delivers(first));
        // What was closed before a failure stays closed, also after a journal is full.
        for _ in 0..JOURNAL_MESSAGES {
            decider.observe("files", Observation::Answered(1)).unwrap();
        }
        let third = call(&decider).id;
        fail(&decider);
        assert!(!delivers(first));
        assert!(delivers(second));
        assert!(delivers(third));
        assert_eq!(third, second + 1);
        assert_eq!(opened(&log), 3);
        chained(&log);
    }

    /// Returns how many instances have begun to record.
    fn opened(log: &Path) -> usize {
        let text = fs::read_to_string(log).unwrap();
        text.matches(r#""kind":"opened""#).count()
    }

    #[test]
    fn an_instance_that_fails_or_grows_too_much_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("audit.jsonl");
        let decider = observing(&log);
        decider.servers().unwrap();
        assert_eq!(opened(&log), 1);
        fail(&decider);
        assert_eq!(opened(&log), 2);
        assert_eq!(decider.servers().unwrap().len(), 1);
        // A small message takes little memory, and one with many values takes much.
        decider.tools("files", br#"{"tools":[]}"#).unwrap();
        assert_eq!(opened(&log), 2);
        let values = "[],".repeat(1_300_000);
        let large = format!(r#"{{"tools":[{values}[]]}}"#);
        decider.tools("files", large.as_bytes()).unwrap();
        assert_eq!(opened(&log), 3);
        assert_eq!(decider.servers().unwrap().len(), 1);
    }
}
