//! The protocol of a client, of both generations \[MCP 2025-11-25 and 2026-07-28\].

use super::calls::{Answer, INTERNAL_ERROR, call};
use super::gateway::Shared;
use agent_host::contract::session::{Client, Generation as Spoken, RpcError};
use agent_mcp::message::{METHOD_NOT_FOUND, on_one_line, write_notification, write_result};
use agent_mcp::{Generation, Id, Json, MirroredHeaders, Version};
use agent_syntax::json_string;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::sync::{oneshot, watch};

/// The name by which clients know this server.
const SERVER: &str = "agent";

/// JSON-RPC: the request is not valid at this time.
pub(crate) const INVALID_REQUEST: i64 = -32600;

/// JSON-RPC: the parameters are invalid.
pub(crate) const INVALID_PARAMS: i64 = -32602;

/// MCP 2026-07-28: the version of a request is not supported.
pub(crate) const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

/// Maximum number of requests of one client at the same time.
const OPEN_REQUESTS: usize = 256;

/// The key of `_meta` that names the version of a request.
pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The key of `_meta` with what the client of a request can do.
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The notification that ends a request early.
const CANCELLED: &str = "notifications/cancelled";

/// The notification that the list of tools is another one.
const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// The key of `_meta` that names the subscription of a notification.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The request that stays open to tell of changes.
pub(crate) const LISTEN: &str = "subscriptions/listen";

/// The response to a request.
pub(crate) struct Response {
    /// The message, on one line.
    pub(crate) message: String,
    /// The code, if it is an error.
    pub(crate) error: Option<i64>,
    /// Whether the error is about `_meta`.
    pub(crate) is_about_meta: bool,
}

impl Response {
    /// Returns a response with a result, which is JSON on one line.
    fn of_result(id: &Id, result: &str) -> Self {
        Self {
            message: write_result(id, result),
            error: None,
            is_about_meta: false,
        }
    }
}

/// A client and its open requests.
pub(crate) struct Conversation {
    shared: Rc<Shared>,
    /// The version that was agreed on by `initialize`.
    version: Cell<Option<Version>>,
    /// Names the client and its session.
    client: Client,
    open: RefCell<BTreeMap<Id, oneshot::Sender<()>>>,
    /// The requests `subscriptions/listen` about the list of tools.
    listening: RefCell<Vec<Id>>,
}

impl Conversation {
    /// Begins a conversation with the client that started this program.
    pub(crate) fn local(shared: Rc<Shared>) -> Self {
        Self::new(shared, "stdio", "local", Some("stdio".to_owned()))
    }

    /// Begins a conversation with a client over HTTP. Without a session, it is that of one request.
    pub(crate) fn remote(shared: Rc<Shared>, client: &str, session: Option<String>) -> Self {
        Self::new(shared, client, "http", session)
    }

    fn new(shared: Rc<Shared>, client: &str, kind: &str, session: Option<String>) -> Self {
        Self {
            shared,
            version: Cell::new(None),
            client: Client {
                id: client.to_owned(),
                kind: kind.to_owned(),
                properties: None,
                generation: Spoken::Sessions,
                session,
            },
            open: RefCell::default(),
            listening: RefCell::default(),
        }
    }

    /// Returns the version that was agreed on by `initialize`.
    pub(crate) fn version(&self) -> Option<Version> {
        self.version.get()
    }

    /// Returns the number of open requests.
    pub(crate) fn open_requests(&self) -> usize {
        self.open.borrow().len()
    }

    /// Cancels every open request.
    pub(crate) fn close(&self) {
        self.open.borrow_mut().clear();
        self.listening.borrow_mut().clear();
    }

    /// Returns the number of changes of the list of tools, which changes with each.
    pub(crate) fn list_changes(&self) -> watch::Receiver<u64> {
        self.shared.list_changes()
    }

    /// Returns the headers that calls of a client without a session have to repeat.
    pub(crate) fn mirrored_headers(&self) -> MirroredHeaders {
        let client = self.client_of(Generation::Stateless);
        self.shared.mirrored_headers(&client)
    }

    fn client_of(&self, generation: Generation) -> Client {
        let is_stateless = generation == Generation::Stateless;
        Client {
            generation: match is_stateless {
                true => Spoken::Stateless,
                false => Spoken::Sessions,
            },
            session: self.client.session.clone().filter(|_| !is_stateless),
            ..self.client.clone()
        }
    }

    /// Takes a notification.
    pub(crate) fn notify(&self, method: &str, params: Option<&Json>) {
        if method != CANCELLED {
            return;
        }
        let id = params.and_then(|params| params.members(["requestId"]));
        let id = id.and_then(|[id]| Id::read(&id?).ok());
        if let Some(id) = id {
            self.listening.borrow_mut().retain(|it| *it != id);
            // Dropping the sender ends the request.
            self.open.borrow_mut().remove(&id);
        }
    }

    /// Returns the messages that tell of another list of tools.
    pub(crate) fn list_changed(&self) -> Vec<String> {
        let mut messages = Vec::new();
        if self.version.get().is_some() {
            messages.push(write_notification(LIST_CHANGED, None));
        }
        for id in self.listening.borrow().iter() {
            let params = format!(r#"{{"_meta":{{"{SUBSCRIPTION_ID}":{}}}}}"#, id.to_json());
            messages.push(write_notification(LIST_CHANGED, Some(&params)));
        }
        messages
    }

    /// Answers a request. Returns `None` for one that was cancelled, or that stays open. Further messages for the
    /// client go to `send`.
    pub(crate) async fn answer(
        &self,
        id: Id,
        method: &str,
        params: Option<Json>,
        mut send: impl FnMut(String),
    ) -> Option<Response> {
        let (sender, cancelled) = oneshot::channel::<()>();
        {
            let mut open = self.open.borrow_mut();
            if open.len() >= OPEN_REQUESTS {
                let message = format!("{OPEN_REQUESTS} requests are open");
                return Some(error(&id, INTERNAL_ERROR, &message, None));
            }
            if open.contains_key(&id) {
                let message = "another open request has this id";
                return Some(error(&id, INVALID_REQUEST, message, None));
            }
            open.insert(id.clone(), sender);
        }
        let answered = tokio::select! {
            biased;
            // The sender sends nothing: it is dropped.
            _ = cancelled => None,
            answer = self.respond(&id, method, params, &mut send) => answer,
        };
        self.open.borrow_mut().remove(&id);
        answered
    }

    async fn respond(
        &self,
        id: &Id,
        method: &str,
        params: Option<Json>,
        send: &mut impl FnMut(String),
    ) -> Option<Response> {
        let meta = params.as_ref().and_then(|it| it.members(["_meta"]));
        let meta = meta.and_then(|[meta]| meta);
        let version = match self.version_of(method, meta.as_ref()) {
            Ok(version) => version,
            Err(refused) => {
                let data = refused.data.as_deref();
                return Some(Response {
                    is_about_meta: true,
                    ..error(id, refused.code, &refused.message, data)
                });
            }
        };
        let generation = version.map_or(Generation::Sessions, Version::generation);
        let client = self.client_of(generation);
        let stateless = generation == Generation::Stateless;
        Some(match method {
            "initialize" if !stateless => self.initialize(id, params.as_ref()),
            "server/discover" if stateless => Response::of_result(id, &discovered()),
            "ping" if !stateless => Response::of_result(id, "{}"),
            "tools/list" => match self.shared.decider.list(&client) {
                Ok(list) => result(id, list),
                Err(failure) => error(id, INTERNAL_ERROR, &failure.message, None),
            },
            "tools/call" => {
                let bytes = params.as_ref().map_or(&b"{}"[..], |it| it.bytes());
                let token = meta.and_then(|it| it.members(["progressToken"]));
                let token = token.and_then(|[token]| token);
                let report = |report: Json| {
                    let written = token.as_ref().and_then(|token| progress(&report, token));
                    written.into_iter().for_each(&mut *send);
                };
                match call(&self.shared, &client, bytes, report).await {
                    Answer::Result(json) => Response::of_result(id, &on_one_line(&json)),
                    Answer::Error(refused) => {
                        error(id, refused.code, &refused.message, refused.data.as_deref())
                    }
                    Answer::Nothing => return None,
                }
            }
            LISTEN if stateless => {
                self.listen(id, params.as_ref(), send);
                // It stays open until the client cancels it.
                std::future::pending::<()>().await;
                return None;
            }
            _ => error(id, METHOD_NOT_FOUND, "the method is not supported", None),
        })
    }

    /// Returns the version of a request; `None` before `initialize`.
    fn version_of(&self, method: &str, meta: Option<&Json>) -> Result<Option<Version>, RpcError> {
        let named = meta.and_then(|meta| meta.members([PROTOCOL_VERSION]));
        let named = named.and_then(|[named]| named?.string());
        match named {
            Some(name) => match Version::named(&name) {
                Some(version) if version.generation() == Generation::Stateless => {
                    let declared = meta.and_then(|meta| meta.members([CLIENT_CAPABILITIES]));
                    let declared = declared.and_then(|[declared]| declared);
                    match declared.is_some_and(|it| it.as_str().starts_with('{')) {
                        true => Ok(Some(version)),
                        false => Err(RpcError {
                            code: INVALID_PARAMS,
                            message: format!("`_meta` has no object `{CLIENT_CAPABILITIES}`"),
                            data: None,
                        }),
                    }
                }
                _ => Err(unsupported(&name)),
            },
            None if matches!(method, "initialize" | "ping") => Ok(None),
            None => match self.version.get() {
                Some(version) => Ok(Some(version)),
                None if method == "server/discover" => Err(RpcError {
                    code: INVALID_PARAMS,
                    message: format!("`_meta` has no `{PROTOCOL_VERSION}`"),
                    data: None,
                }),
                None => Err(RpcError {
                    code: INVALID_REQUEST,
                    message: "`initialize` is the first request of a session".to_owned(),
                    data: None,
                }),
            },
        }
    }

    /// Opens a session: in the client's version, or in the latest one.
    fn initialize(&self, id: &Id, params: Option<&Json>) -> Response {
        if self.version.get().is_some() {
            return error(id, INVALID_REQUEST, "the session is open already", None);
        }
        let wanted = params.and_then(|params| params.members(["protocolVersion"]));
        let wanted = wanted.and_then(|[wanted]| wanted?.string());
        let Some(wanted) = wanted else {
            return error(id, INVALID_PARAMS, "`protocolVersion` is missing", None);
        };
        let known = Version::named(&wanted);
        let known = known.filter(|it| it.generation() == Generation::Sessions);
        let version = known.unwrap_or(Version::LATEST_WITH_SESSIONS);
        self.version.set(Some(version));
        let (version, info) = (version.name(), info());
        let opened = format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{info}}}"#
        );
        Response::of_result(id, &opened)
    }

    /// Begins to tell of other lists of tools, if the client wants to know.
    fn listen(&self, id: &Id, params: Option<&Json>, send: &mut impl FnMut(String)) {
        let wanted = params.and_then(|params| params.members(["notifications"]));
        let wanted = wanted.and_then(|[wanted]| wanted?.members(["toolsListChanged"]));
        let wants_tools = wanted.is_some_and(|[it]| it.is_some_and(|it| it.as_str() == "true"));
        let accepted = match wants_tools {
            true => r#"{"toolsListChanged":true}"#,
            false => "{}",
        };
        let id_json = id.to_json();
        let params =
            format!(r#"{{"_meta":{{"{SUBSCRIPTION_ID}":{id_json}}},"notifications":{accepted}}}"#);
        send(write_notification(
            "notifications/subscriptions/acknowledged",
            Some(&params),
        ));
        if wants_tools {
            self.listening.borrow_mut().push(id.clone());
        }
    }
}

fn info() -> String {
    let version = json_string(env!("CARGO_PKG_VERSION"));
    format!(r#"{{"name":"{SERVER}","version":{version}}}"#)
}

/// Returns the result of `server/discover`.
fn discovered() -> String {
    let info = info();
    format!(
        r#"{{"_meta":{{"io.modelcontextprotocol/serverInfo":{info}}},"cacheScope":"private","capabilities":{{"tools":{{"listChanged":true}}}},"resultType":"complete","supportedVersions":["{}"],"ttlMs":0}}"#,
        Version::LATEST.name()
    )
}

fn unsupported(name: &str) -> RpcError {
    let data = format!(
        r#"{{"requested":{},"supported":["{}"]}}"#,
        json_string(name),
        Version::LATEST.name()
    );
    RpcError {
        code: UNSUPPORTED_PROTOCOL_VERSION,
        message: "the version of the protocol is not supported".to_owned(),
        data: Some(data.into_bytes()),
    }
}

/// Returns a result on one line, if it is JSON.
fn result(id: &Id, bytes: Vec<u8>) -> Response {
    match Json::new(bytes) {
        Ok(json) => Response::of_result(id, &on_one_line(&json)),
        Err(_) => error(id, INTERNAL_ERROR, "the result is not JSON", None),
    }
}

/// Returns an error as the response to a request.
pub(crate) fn error(id: &Id, code: i64, message: &str, data: Option<&[u8]>) -> Response {
    let data = data.and_then(|data| Json::new(data.to_vec()).ok());
    let data = data.map_or_else(String::new, |data| {
        format!(r#","data":{}"#, on_one_line(&data))
    });
    let (id, message) = (id.to_json(), json_string(message));
    Response {
        message: format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{data}}}}}"#
        ),
        error: Some(code),
        is_about_meta: false,
    }
}

/// Returns a report of progress with the client's token in place of ours, with nothing else of the server's but
/// numbers.
fn progress(report: &Json, token: &Json) -> Option<String> {
    let [done, total] = report.members(["progress", "total"])?;
    let number = |it: &Json| {
        it.as_str()
            .parse::<f64>()
            .is_ok()
            .then(|| it.as_str().to_owned())
    };
    let done = number(&done?)?;
    let total = total.as_ref().and_then(number);
    let total = total.map_or_else(String::new, |total| format!(r#","total":{total}"#));
    let token = on_one_line(token);
    let params = format!(r#"{{"progressToken":{token},"progress":{done}{total}}}"#);
    Some(write_notification("notifications/progress", Some(&params)))
}
