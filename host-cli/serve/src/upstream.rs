//! The connection to one server, for many calls at the same time.

use agent_effects::{Connection, Process};
use agent_mcp_protocol::{
    Call, Client, Endpoint, Error, Http, Json, Multiplexed, Notification, Wait,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tokio::sync::mpsc;

/// Maximum number of clients of one session that wait for their next call over HTTP.
const IDLE_CLIENTS: usize = 16;

/// Maximum number of notifications that wait to be read.
const NOTIFICATIONS: usize = 16;

/// A server that is connected. Clones share the connection.
#[derive(Clone)]
pub(crate) enum Upstream {
    /// Over streams.
    Streams(Multiplexed),
    /// Over HTTP.
    Http(Rc<HttpClients>),
}

/// The clients of one session over HTTP, each of which makes one call at a time.
pub(crate) struct HttpClients {
    first: Client<Http<Endpoint>>,
    idle: RefCell<Vec<Client<Http<Endpoint>>>>,
    made: Cell<u32>,
}

/// The life of a connection.
pub(crate) enum Life {
    /// It has to be driven. The process ends with it.
    Driven {
        /// Resolves when the connection ends, with the reason.
        driver: std::pin::Pin<Box<dyn Future<Output = Error>>>,
        /// The server.
        process: Process,
        /// The server's notifications.
        notifications: mpsc::Receiver<Notification>,
    },
    /// It ends when a call finds it closed.
    OnDemand,
}

impl Upstream {
    /// Returns a connection for many calls, and its life.
    pub(crate) fn new(connection: Connection) -> (Self, Life) {
        match connection {
            Connection::Stdio(client, process) => {
                let (sender, notifications) = mpsc::channel(NOTIFICATIONS);
                let (multiplexed, driver) = client.multiplexed(sender);
                let life = Life::Driven {
                    driver: Box::pin(driver.run()),
                    process,
                    notifications,
                };
                (Self::Streams(multiplexed), life)
            }
            Connection::Http(client) => {
                let clients = HttpClients {
                    first: client,
                    idle: RefCell::default(),
                    made: Cell::new(0),
                };
                (Self::Http(Rc::new(clients)), Life::OnDemand)
            }
        }
    }

    /// Lists the server's tools.
    pub(crate) async fn list_tools(&self, wait: &Wait) -> Result<Vec<u8>, Error> {
        let list = match self {
            Self::Streams(server) => server.list_tools(wait).await?,
            Self::Http(clients) => {
                let mut client = clients.take();
                let list = client.list_tools(wait).await?;
                clients.put(client);
                list
            }
        };
        Ok(list.json.bytes().to_vec())
    }

    /// Returns how many of the server's messages could not be read. A request over HTTP fails with its answer.
    pub(crate) fn untidy(&self) -> u64 {
        match self {
            Self::Streams(server) => server.untidy(),
            Self::Http(_) => 0,
        }
    }

    /// Returns whether the server says that it has a capability.
    pub(crate) fn has(&self, capability: &str) -> bool {
        let server = match self {
            Self::Streams(server) => server.server(),
            Self::Http(clients) => clients.first.server(),
        };
        let found = server.member("capabilities");
        let found = found.and_then(|all| all.member(capability));
        found.is_some_and(|found| found.as_str().starts_with('{'))
    }

    /// Returns a list of the server beside that of its tools, all pages joined.
    pub(crate) async fn list(
        &self,
        (method, member): (&'static str, &'static str),
        wait: &Wait,
    ) -> Result<Vec<u8>, Error> {
        let list = match self {
            Self::Streams(server) => server.list(method, member, wait).await?,
            Self::Http(clients) => {
                let mut client = clients.take();
                let list = client.list(method, member, wait).await?;
                clients.put(client);
                list
            }
        };
        Ok(list.bytes().to_vec())
    }

    /// Sends a request that names a prompt or a resource. A result of more than `max_bytes` is not read. Dropping
    /// the future cancels the request.
    pub(crate) async fn ask(
        &self,
        (method, name): (&'static str, &str),
        params: &Json,
        max_bytes: usize,
        wait: &Wait,
    ) -> Result<Json, Error> {
        match self {
            Self::Streams(server) => server.ask(method, params, wait).await,
            Self::Http(clients) => {
                let mut client = clients.take();
                client.limit_messages(max_bytes);
                let result = client.ask(method, name, params, wait).await;
                // A client whose exchange failed may be out of step with the server.
                if result.is_ok() {
                    clients.put(client);
                }
                result
            }
        }
    }

    /// Calls a tool. A result of more than `max_bytes` is not read. Dropping the future cancels the call.
    pub(crate) async fn call(
        &self,
        call: &Call<'_>,
        (progress, traceparent): (Option<mpsc::Sender<Json>>, Option<String>),
        max_bytes: usize,
        wait: &Wait,
    ) -> Result<Json, Error> {
        match self {
            Self::Streams(server) => {
                let traceparent = traceparent.as_deref();
                server.call(call, progress, traceparent, wait).await
            }
            Self::Http(clients) => {
                let mut client = clients.take();
                client.limit_messages(max_bytes);
                client.trace(traceparent);
                let result = client.call(call, wait).await;
                // A client whose exchange failed may be out of step with the server.
                if result.is_ok() {
                    clients.put(client);
                }
                result
            }
        }
    }
}

impl HttpClients {
    fn take(&self) -> Client<Http<Endpoint>> {
        self.idle.borrow_mut().pop().unwrap_or_else(|| {
            self.made.set(self.made.get().wrapping_add(1));
            self.first.fork(self.made.get())
        })
    }

    fn put(&self, client: Client<Http<Endpoint>>) {
        let mut idle = self.idle.borrow_mut();
        if idle.len() < IDLE_CLIENTS {
            idle.push(client);
        }
    }
}
