//! The session in its instance of the engine.

use super::audit::{AuditLog, Syncs};
use agent_effects::{Zone, clock};
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::contract::session::{
    AuditRecord, CallAction, CallFailure, Called, Client, Delivered, Delivery, Destination,
    Documents, LockedServer, Observation, Observed, Options, Transition,
};
use agent_host::{Engine, Failure, Instance, ResourceAny, call};
use std::cell::RefCell;
use std::rc::Rc;

/// Decides for a gateway, and records what it decides.
///
/// Before a message the session's state is exported, unless nothing has changed since the last time. An instance that
/// fails is replaced by another one that goes on from that state, so that only the present message is lost.
pub(crate) struct Decider {
    engine: Engine,
    documents: RefCell<Documents>,
    options: Options,
    zone: Zone,
    syncs: Rc<Syncs>,
    current: RefCell<Current>,
}

/// The present instance.
struct Current {
    instance: Instance,
    session: ResourceAny,
    log: AuditLog,
    /// The exported state, as long as no message has changed it.
    state: Option<Vec<u8>>,
}

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
        zone: Zone,
        mut log: AuditLog,
    ) -> Result<Opened, Failure> {
        let options = Options {
            last_record: log.last_record()?,
            ..options
        };
        let opened = open(&engine, &documents, &options, &zone)?;
        let (instance, session, records) = match opened {
            Ok(opened) => opened,
            Err(problems) => return Ok(Err(problems)),
        };
        log.append(&records)?;
        let syncs = log.syncs();
        let current = RefCell::new(Current {
            instance,
            session,
            log,
            state: None,
        });
        Ok(Ok(Self {
            engine,
            documents: RefCell::new(documents),
            options,
            zone,
            syncs,
            current,
        }))
    }

    /// Returns the servers of the lock.
    pub(crate) fn servers(&self) -> Result<Vec<LockedServer>, Failure> {
        self.look(|instance, session| call!(instance, session.agent_session.call_servers(session)))
    }

    /// Returns where a server is reached; `None` if it is started.
    pub(crate) fn destination(&self, server: &str) -> Result<Option<Destination>, Failure> {
        let found = self.look(|instance, session| {
            call!(
                instance,
                session.agent_session.call_destination(session, server)
            )
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
                session
                    .agent_session
                    .call_authorize(session, server, addresses)
            )
        })?;
        found.map_err(Failure::new)
    }

    /// Compares a live list with the lock.
    pub(crate) fn tools(&self, server: &str, list: &[u8]) -> Result<Observed, Failure> {
        let now = clock(&self.zone);
        let observed = self.ask(|instance, session| {
            call!(
                instance,
                session.agent_session.call_tools(session, server, list, now)
            )
        })?;
        self.record(&observed.records)?;
        Ok(observed)
    }

    /// Returns the list of tools of a client.
    pub(crate) fn list(&self, client: &Client) -> Result<Vec<u8>, Failure> {
        let now = clock(&self.zone);
        let listed = self.ask(|instance, session| {
            call!(
                instance,
                session.agent_session.call_list(session, client, now)
            )
        })?;
        self.record(&listed.records)?;
        Ok(listed.result)
    }

    /// Decides on a call.
    pub(crate) fn call(&self, client: &Client, params: &[u8]) -> Result<Called, Failure> {
        let now = clock(&self.zone);
        let called = self.ask(|instance, session| {
            call!(
                instance,
                session
                    .agent_session
                    .call_call(session, client, params, now)
            )
        })?;
        match self.record(&called.records) {
            Ok(()) => Ok(called),
            // What is not recorded does not happen.
            Err(failure) => {
                if matches!(called.action, CallAction::Forward(_)) {
                    let _ = self.failed(called.id, &CallFailure::Cancelled);
                }
                Err(failure)
            }
        }
    }

    /// Decides what the client gets of a result.
    pub(crate) fn result(&self, id: u64, result: &[u8]) -> Result<Delivery, Failure> {
        let now = clock(&self.zone);
        self.delivered(|instance, session| {
            call!(
                instance,
                session.agent_session.call_result(session, id, result, now)
            )
        })
    }

    /// Decides what the client gets without a result.
    pub(crate) fn failed(&self, id: u64, failure: &CallFailure) -> Result<Delivery, Failure> {
        let now = clock(&self.zone);
        self.delivered(|instance, session| {
            call!(
                instance,
                session.agent_session.call_failed(session, id, failure, now)
            )
        })
    }

    /// Waits until the records so far are on disk.
    pub(crate) async fn synced(&self) -> Result<(), Failure> {
        self.syncs.synced().await
    }

    /// Takes the answer of a human. Returns the calls that waited for it, which are closed; `None` if nobody asks.
    pub(crate) fn approve(
        &self,
        approval: &str,
        answer: bool,
        by: &str,
    ) -> Result<Option<Vec<u64>>, Failure> {
        let now = clock(&self.zone);
        let approved = self.ask(|instance, session| {
            call!(
                instance,
                session
                    .agent_session
                    .call_approve(session, approval, answer, by, now)
            )
        })?;
        self.record(&approved.records)?;
        Ok(approved.is_known.then_some(approved.waiting))
    }

    /// Takes other documents. The inner error lists why they can't be obeyed; the present ones stay then.
    /// Otherwise says whether the list of clients is another one now.
    pub(crate) fn reload(
        &self,
        documents: Documents,
    ) -> Result<Result<bool, Vec<Diagnostic>>, Failure> {
        let now = clock(&self.zone);
        let reloaded = self.ask(|instance, session| {
            call!(
                instance,
                session.agent_session.call_reload(session, &documents, now)
            )
        })?;
        let transition = match reloaded {
            Ok(transition) => transition,
            Err(problems) => return Ok(Err(problems)),
        };
        self.documents.replace(documents);
        self.record(&transition.records)?;
        Ok(Ok(transition.list_changed))
    }

    /// Returns the state of the session as JSON.
    pub(crate) fn status(&self) -> Result<String, Failure> {
        let now = clock(&self.zone);
        self.look(|instance, session| {
            call!(instance, session.agent_session.call_status(session, now))
        })
    }

    /// Takes an observation of a server. Returns whether the list of clients is another one now.
    pub(crate) fn observe(&self, server: &str, observation: Observation) -> Result<bool, Failure> {
        let now = clock(&self.zone);
        let observe = |instance: &mut Instance, session| {
            call!(
                instance,
                session
                    .agent_session
                    .call_observe(session, server, observation, now)
            )
        };
        // Without a record, at most the count of answers has changed, which may be lost.
        let changes = |it: &Transition| it.status.is_some() || !it.records.is_empty();
        let transition = self.ask_and(observe, changes)?;
        self.record(&transition.records)?;
        Ok(transition.list_changed)
    }

    fn delivered(
        &self,
        ask: impl FnOnce(&mut Instance, ResourceAny) -> Result<Delivered, Failure>,
    ) -> Result<Delivery, Failure> {
        let delivered = self.ask(ask)?;
        self.record(&delivered.records)?;
        Ok(delivered.delivery)
    }

    fn record(&self, records: &[AuditRecord]) -> Result<(), Failure> {
        self.current.borrow_mut().log.append(records)
    }

    /// Calls the session for something that leaves it as it is.
    fn look<T>(
        &self,
        ask: impl FnOnce(&mut Instance, ResourceAny) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.ask_and(ask, |_| false)
    }

    /// Calls the session.
    fn ask<T>(
        &self,
        ask: impl FnOnce(&mut Instance, ResourceAny) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.ask_and(ask, |_| true)
    }

    /// Calls the session. `changes` says whether an answer tells of another state. Replaces an instance that fails.
    fn ask_and<T>(
        &self,
        ask: impl FnOnce(&mut Instance, ResourceAny) -> Result<T, Failure>,
        changes: impl FnOnce(&T) -> bool,
    ) -> Result<T, Failure> {
        let mut current = self.current.borrow_mut();
        let Current {
            instance,
            session,
            state,
            ..
        } = &mut *current;
        if state.is_none() {
            *state = Some(call!(
                instance,
                session.agent_session.call_export(*session)
            )?);
        }
        let asked = ask(instance, *session);
        match &asked {
            Ok(answer) => {
                if changes(answer) {
                    *state = None;
                }
            }
            Err(_) => {
                let options = Options {
                    state: state.take(),
                    ..self.options.clone()
                };
                let opened = open(&self.engine, &self.documents.borrow(), &options, &self.zone)?;
                if let Ok((instance, session, records)) = opened {
                    current.log.append(&records)?;
                    (current.instance, current.session) = (instance, session);
                }
            }
        }
        asked
    }
}

/// An instance with its session and the first records.
type Session = (Instance, ResourceAny, Vec<AuditRecord>);

fn open(
    engine: &Engine,
    documents: &Documents,
    options: &Options,
    zone: &Zone,
) -> Result<Result<Session, Vec<Diagnostic>>, Failure> {
    let mut instance = engine.instantiate()?;
    let now = clock(zone);
    let opened = call!(
        instance,
        session.agent_session.call_open(documents, options, now)
    )?;
    Ok(opened.map(|opened| (instance, opened.session, opened.records)))
}
