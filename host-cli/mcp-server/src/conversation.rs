//! The protocol of a client, of both generations \[MCP 2025-11-25 and 2026-07-28\].

use super::changes::{Changes, ClientList};
use super::questions::Questions;
use super::service::{Answer, Client, INTERNAL_ERROR, Service, Trace as _};
use agent_mcp_protocol::message::{
    METHOD_NOT_FOUND, RpcError, on_one_line, write_notification, write_result,
};
use agent_mcp_protocol::{Generation, Id, Json, MirroredHeaders, Version};
use agent_syntax::json_string;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::sync::oneshot;

/// JSON-RPC: the request is not valid at this time.
pub(crate) const INVALID_REQUEST: i64 = -32600;

/// JSON-RPC: the parameters are invalid.
pub(crate) const INVALID_PARAMS: i64 = -32602;

/// MCP 2026-07-28: the version of a request is not supported.
pub(crate) const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

/// Maximum number of requests of one client at the same time.
const OPEN_REQUESTS: usize = 256;

/// Maximum size of what a client declares with `initialize` that is kept, in bytes.
const CAPABILITIES_BYTES: usize = 16 << 10;

/// The request with which a client asks its human.
const ELICIT: &str = "elicitation/create";

/// The key of `_meta` that names the version of a request.
pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The key of `_meta` with what the client of a request can do.
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The notification that ends a request early.
const CANCELLED: &str = "notifications/cancelled";

/// The key of `_meta` that names the subscription of a notification.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The request that stays open to tell of changes.
pub(crate) const LISTEN: &str = "subscriptions/listen";

/// The response to a request.
pub struct Response {
    /// The message, on one line.
    pub message: String,
    /// The code, if it is an error.
    pub error: Option<i64>,
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
pub(crate) struct Conversation<S> {
    service: Rc<S>,
    /// The version that was agreed on by `initialize`.
    version: Cell<Option<Version>>,
    /// Names the client and its session.
    client: Client,
    open: RefCell<BTreeMap<Id, oneshot::Sender<()>>>,
    /// The requests `subscriptions/listen` with the lists that each is about.
    listening: RefCell<Vec<(Id, Vec<ClientList>)>>,
    /// What the client declared with `initialize`, as JSON.
    declared: RefCell<Option<Vec<u8>>>,
    questions: Questions,
}

impl<S: Service> Conversation<S> {
    /// Begins a conversation with the client that started this program.
    pub(crate) fn local(service: Rc<S>) -> Self {
        Self::new(service, "stdio", "local", Some("stdio".to_owned()))
    }

    /// Begins a conversation with a client over HTTP. Without a session, it is that of one request.
    pub(crate) fn remote(service: Rc<S>, client: &str, session: Option<String>) -> Self {
        Self::new(service, client, "http", session)
    }

    fn new(service: Rc<S>, client: &str, kind: &'static str, session: Option<String>) -> Self {
        Self {
            service,
            version: Cell::new(None),
            client: Client {
                id: client.to_owned(),
                kind,
                generation: Generation::Sessions,
                session,
                capabilities: None,
            },
            open: RefCell::default(),
            listening: RefCell::default(),
            declared: RefCell::default(),
            questions: Questions::default(),
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

    /// Returns the changes of lists from now on.
    pub(crate) fn list_changes(&self) -> Changes {
        self.service.lists().follow()
    }

    /// Returns the headers that calls of a client without a session have to repeat.
    pub(crate) fn mirrored_headers(&self) -> Rc<MirroredHeaders> {
        let client = self.client_of(Generation::Stateless);
        self.service.mirrored_headers(&client)
    }

    fn client_of(&self, generation: Generation) -> Client {
        let is_stateless = generation == Generation::Stateless;
        Client {
            generation,
            session: self.client.session.clone().filter(|_| !is_stateless),
            capabilities: self.declared.borrow().clone().filter(|_| !is_stateless),
            ..self.client.clone()
        }
    }

    /// Takes a response to a request of the gateway: its result, or `None` for an error.
    pub(crate) fn answered(&self, id: &Id, result: Option<Json>) {
        self.questions.answer(id, result);
    }

    /// Takes a notification.
    pub(crate) fn notify(&self, method: &str, params: Option<&Json>) {
        if method != CANCELLED {
            return;
        }
        let id = params.and_then(|params| params.member("requestId"));
        let id = id.and_then(|id| Id::read(&id).ok());
        if let Some(id) = id {
            self.listening.borrow_mut().retain(|(it, _)| *it != id);
            // Dropping the sender ends the request.
            self.open.borrow_mut().remove(&id);
        }
    }

    /// Returns the messages that tell of other lists.
    pub(crate) fn list_changed(&self, lists: &[ClientList]) -> Vec<String> {
        let mut messages = Vec::new();
        for list in lists {
            let notification = list.notification();
            if self.version.get().is_some() {
                messages.push(write_notification(notification, None));
            }
            let listening = self.listening.borrow();
            for (id, _) in listening.iter().filter(|(_, about)| about.contains(list)) {
                let params = format!(r#"{{"_meta":{{"{SUBSCRIPTION_ID}":{}}}}}"#, id.to_json());
                messages.push(write_notification(notification, Some(&params)));
            }
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
        let trace = self
            .service
            .begin(&id, method, params.as_ref(), &self.client);
        let cancelled = match self.begin(&id) {
            Ok(cancelled) => cancelled,
            Err(refused) => {
                trace.end(method, Some(&refused));
                return Some(refused);
            }
        };
        let answered = tokio::select! {
            biased;
            // The sender sends nothing: it is dropped.
            _ = cancelled => None,
            answer = self.respond(&id, method, params, &trace, &mut send) => answer,
        };
        self.open.borrow_mut().remove(&id);
        trace.end(method, answered.as_ref());
        answered
    }

    /// Takes a request as open. The returned receiver resolves when it is cancelled.
    fn begin(&self, id: &Id) -> Result<oneshot::Receiver<()>, Response> {
        let (sender, cancelled) = oneshot::channel::<()>();
        let mut open = self.open.borrow_mut();
        if open.len() >= OPEN_REQUESTS {
            let message = format!("{OPEN_REQUESTS} requests are open");
            return Err(error(id, INTERNAL_ERROR, &message, None));
        }
        if open.contains_key(id) {
            let message = "another open request has this id";
            return Err(error(id, INVALID_REQUEST, message, None));
        }
        open.insert(id.clone(), sender);
        Ok(cancelled)
    }

    async fn respond(
        &self,
        id: &Id,
        method: &str,
        params: Option<Json>,
        trace: &S::Trace,
        send: &mut impl FnMut(String),
    ) -> Option<Response> {
        let meta = params.as_ref().and_then(|it| it.member("_meta"));
        let version = match self.version_of(method, meta.as_ref()) {
            Ok(version) => version,
            Err(refused) => {
                let data = refused.data.as_ref();
                return Some(Response {
                    is_about_meta: true,
                    ..error(id, refused.code, &refused.message, data)
                });
            }
        };
        trace.version(version);
        let generation = version.map_or(Generation::Sessions, Version::generation);
        let client = self.client_of(generation);
        let stateless = generation == Generation::Stateless;
        Some(match method {
            "initialize" if !stateless => {
                let opened = self.initialize(id, params.as_ref());
                trace.version(self.version.get());
                opened
            }
            "server/discover" if stateless => Response::of_result(id, &self.discovered()),
            "ping" if !stateless => Response::of_result(id, "{}"),
            "tools/list" => {
                let cursor = params.as_ref().and_then(|it| it.member("cursor"));
                if cursor.is_some_and(|it| it.as_str() != "null") {
                    let message = "`cursor` names no page: the list has one";
                    return Some(error(id, INVALID_PARAMS, message, None));
                }
                return answered(id, self.service.tools(&client).await);
            }
            "tools/call" => {
                let params = params.unwrap_or_else(Json::empty_object);
                let token = meta.and_then(|it| it.member("progressToken"));
                let send = RefCell::new(send);
                let send = |message| (send.borrow_mut())(message);
                let report = |report: Json| {
                    let written = token.as_ref().and_then(|token| progress(&report, token));
                    written.into_iter().for_each(send);
                };
                let elicit = async |params: &[u8]| {
                    let params = Json::new(params.to_vec()).ok()?;
                    let params = on_one_line(&params);
                    self.questions.ask(ELICIT, &params, send).await
                };
                let called = self.service.call(&client, &params, trace, report, elicit);
                return answered(id, called.await);
            }
            LISTEN if stateless => {
                self.listen(id, params.as_ref(), send);
                // It stays open until the client cancels it.
                std::future::pending::<()>().await;
                return None;
            }
            _ => {
                let params = params.unwrap_or_else(Json::empty_object);
                match self.service.other(&client, method, &params).await {
                    Some(answer) => return answered(id, answer),
                    None => error(id, METHOD_NOT_FOUND, "the method is not supported", None),
                }
            }
        })
    }

    /// Returns the version of a request; `None` before `initialize`.
    fn version_of(&self, method: &str, meta: Option<&Json>) -> Result<Option<Version>, RpcError> {
        let named = meta.and_then(|meta| meta.member(PROTOCOL_VERSION)?.string());
        match named {
            Some(name) => match Version::named(&name) {
                Some(version) if version.generation() == Generation::Stateless => {
                    let declared = meta.and_then(|meta| meta.member(CLIENT_CAPABILITIES));
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
        let wanted = params.and_then(|params| params.member("protocolVersion")?.string());
        let Some(wanted) = wanted else {
            return error(id, INVALID_PARAMS, "`protocolVersion` is missing", None);
        };
        let known = Version::named(&wanted);
        let known = known.filter(|it| it.generation() == Generation::Sessions);
        let version = known.unwrap_or(Version::LATEST_WITH_SESSIONS);
        self.version.set(Some(version));
        let declared = params.and_then(|params| params.member("capabilities"));
        let declared = declared.filter(|it| it.bytes().len() <= CAPABILITIES_BYTES);
        self.declared
            .replace(declared.map(|it| it.bytes().to_vec()));
        let (version, info) = (version.name(), info::<S>());
        let capabilities = self.capabilities();
        let opened = format!(
            r#"{{"protocolVersion":"{version}","capabilities":{capabilities},"serverInfo":{info}}}"#
        );
        Response::of_result(id, &opened)
    }

    /// Returns the capabilities of this server: a list only if clients get it.
    fn capabilities(&self) -> String {
        let named = [
            (ClientList::Prompts, "prompts"),
            (ClientList::Resources, "resources"),
            (ClientList::Tools, "tools"),
        ];
        let passed = named.iter().filter(|(list, _)| self.service.passes(*list));
        let members = passed.map(|(_, name)| format!(r#""{name}":{{"listChanged":true}}"#));
        let members: Vec<_> = members.collect();
        format!("{{{}}}", members.join(","))
    }

    /// Returns the result of `server/discover`.
    fn discovered(&self) -> String {
        let (info, capabilities) = (info::<S>(), self.capabilities());
        format!(
            r#"{{"_meta":{{"io.modelcontextprotocol/serverInfo":{info}}},"cacheScope":"private","capabilities":{capabilities},"resultType":"complete","supportedVersions":["{}"],"ttlMs":0}}"#,
            Version::LATEST.name()
        )
    }

    /// Subscribes the client to the list changes it requested and may receive.
    fn listen(&self, id: &Id, params: Option<&Json>, send: &mut impl FnMut(String)) {
        let wanted = params.and_then(|params| params.member("notifications"));
        let lists = [
            ClientList::Prompts,
            ClientList::Resources,
            ClientList::Tools,
        ];
        let lists = lists.into_iter().filter(|list| {
            let is_wanted = wanted.as_ref();
            let is_wanted = is_wanted.and_then(|it| it.member(list.subscription()));
            is_wanted.is_some_and(|it| it.as_str() == "true") && self.service.passes(*list)
        });
        let lists: Vec<_> = lists.collect();
        let accepted = lists
            .iter()
            .map(|it| format!(r#""{}":true"#, it.subscription()));
        let accepted = format!("{{{}}}", accepted.collect::<Vec<_>>().join(","));
        let id_json = id.to_json();
        let params =
            format!(r#"{{"_meta":{{"{SUBSCRIPTION_ID}":{id_json}}},"notifications":{accepted}}}"#);
        send(write_notification(
            "notifications/subscriptions/acknowledged",
            Some(&params),
        ));
        if !lists.is_empty() {
            self.listening.borrow_mut().push((id.clone(), lists));
        }
    }
}

fn info<S: Service>() -> String {
    let (name, version) = (json_string(S::NAME), json_string(env!("CARGO_PKG_VERSION")));
    format!(r#"{{"name":{name},"version":{version}}}"#)
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
        data: Json::new(data).ok(),
    }
}

/// Returns the response with an answer; `None` if there is none.
fn answered(id: &Id, answer: Answer) -> Option<Response> {
    match answer {
        Answer::Result(json) => Some(Response::of_result(id, &on_one_line(&json))),
        Answer::Error(refused) => {
            let data = refused.data.as_ref();
            Some(error(id, refused.code, &refused.message, data))
        }
        Answer::Nothing => None,
    }
}

/// Returns an error as the response to a request.
pub(crate) fn error(id: &Id, code: i64, message: &str, data: Option<&Json>) -> Response {
    let data = data.map_or_else(String::new, |data| {
        format!(r#","data":{}"#, on_one_line(data))
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

/// Returns a report of progress with the client's token instead of ours, with nothing else of the server's but
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
