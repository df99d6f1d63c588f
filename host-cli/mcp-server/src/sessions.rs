//! Sessions of clients over HTTP, up to 2025-11-25.

use super::conversation::Conversation;
use super::events::Guard;
use super::service::Service;
use agent_host::{Failure, hex, random};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of sessions of one service.
const SESSIONS: usize = 1024;

/// Time after which an unused session ends.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Number of random bytes of a session's id.
const ID_BYTES: usize = 16;

/// The sessions of a service.
pub struct Sessions<S>(RefCell<BTreeMap<String, Rc<ClientSession<S>>>>);

/// A session of a client.
pub(crate) struct ClientSession<S> {
    pub(crate) id: String,
    /// The client whose token opened it. No other one may use it.
    client: String,
    pub(crate) conversation: Rc<Conversation<S>>,
    used: Cell<Instant>,
    /// The stream of notifications, of which there is one.
    stream: RefCell<Option<Guard>>,
}

impl<S> Default for Sessions<S> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<S: Service> Sessions<S> {
    /// Begins a session whose id no client knows yet. Returns `None` if there are as many as there may be.
    pub(crate) fn begin(
        &self,
        service: &Rc<S>,
        client: &str,
    ) -> Result<Option<Rc<ClientSession<S>>>, Failure> {
        let now = Instant::now();
        let mut sessions = self.0.borrow_mut();
        sessions.retain(|_, session| !session.is_over(now));
        if sessions.len() >= SESSIONS {
            return Ok(None);
        }
        let id = hex(&random::<ID_BYTES>()?);
        let conversation = Conversation::remote(Rc::clone(service), client, Some(id.clone()));
        Ok(Some(Rc::new(ClientSession {
            id,
            client: client.to_owned(),
            conversation: Rc::new(conversation),
            used: Cell::new(now),
            stream: RefCell::default(),
        })))
    }

    /// Keeps a session that its client knows now.
    pub(crate) fn keep(&self, session: Rc<ClientSession<S>>) {
        self.0.borrow_mut().insert(session.id.clone(), session);
    }

    /// Returns the session that a client names.
    pub(crate) fn find(&self, id: &str, client: &str) -> Option<Rc<ClientSession<S>>> {
        let now = Instant::now();
        let found = self.0.borrow().get(id).map(Rc::clone)?;
        if found.is_over(now) {
            self.end(&found);
            return None;
        }
        (found.client == client).then(|| {
            found.used.set(now);
            found
        })
    }

    /// Ends a session with its requests and its stream.
    pub(crate) fn end(&self, session: &ClientSession<S>) {
        self.0.borrow_mut().remove(&session.id);
        session.conversation.close();
        session.stream.take();
    }

    /// Returns the number of open sessions.
    #[must_use]
    pub fn number(&self) -> usize {
        self.0.borrow().len()
    }
}

impl<S: Service> ClientSession<S> {
    /// Makes a stream the one of this session. An earlier one ends.
    pub(crate) fn set_stream(&self, stream: Guard) {
        self.stream.replace(Some(stream));
    }

    /// Says that the session is used at this time.
    pub(crate) fn touch(&self) {
        self.used.set(Instant::now());
    }

    fn is_over(&self, now: Instant) -> bool {
        let streams = self.stream.borrow();
        let has_stream = matches!(&*streams, Some(Guard::Task(stream)) if !stream.is_finished());
        now.saturating_duration_since(self.used.get()) > IDLE
            && !has_stream
            && self.conversation.open_requests() == 0
    }
}
