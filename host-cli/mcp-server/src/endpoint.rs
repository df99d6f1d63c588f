//! The endpoint of MCP over HTTP, of both generations \[MCP 2025-11-25 and 2026-07-28, Streamable HTTP\].

use super::conversation::{
    Conversation, INVALID_PARAMS, INVALID_REQUEST, LISTEN, Response as Reply,
    UNSUPPORTED_PROTOCOL_VERSION, error,
};
use super::counted::{Count, Counted};
use super::events::{Body, Events, Guard, QUEUE, event};
use super::guard::{self, Hosts, single};
use super::http::{read_body, respond, respond_with};
use super::mirrored::{self, HEADER_MISMATCH, generation, is_stateless};
use super::served::Served;
use super::service::Service;
use super::sessions::ClientSession;
use super::stdio::{MESSAGE_BYTES, PARSE_ERROR};
use agent_mcp_protocol::message::{METHOD_NOT_FOUND, Message, write_unanswered_error};
use agent_mcp_protocol::{Generation, Id, Json, Version};
use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ALLOW, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, spawn_local};

/// Maximum number of requests of all clients that are answered at the same time.
const REQUESTS: usize = 1024;

/// Maximum number of streams of notifications of all clients.
const STREAMS: usize = 512;

/// Maximum time until the body of a request has arrived.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Seconds after which a client may try again that was refused because of a limit.
const RETRY_SECONDS: &str = "1";

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Stops proxies from keeping events back.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

const JSON: &str = "application/json";

/// The end of a service's path to its counts.
const METRICS: &str = "/metrics";

/// The text format of Prometheus.
const EXPOSITION: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The methods of MCP over HTTP.
const METHODS: &str = "POST, GET, DELETE";

const EVENTS: &str = "text/event-stream";

/// The services that are served over HTTP.
pub struct Endpoint<S> {
    services: Vec<Rc<Served<S>>>,
    hosts: Hosts,
    requests: Count,
    streams: Count,
}

/// A part of the answer to a request.
enum AnswerPart {
    /// A message that comes before the response.
    Message(String),
    /// The response; none for a cancelled request.
    Response(Option<Reply>),
}

type HttpResponse = Response<Body>;

impl<S: Service> Endpoint<S> {
    /// Returns the endpoint of services at a listener of these names.
    #[must_use]
    pub fn new(services: Vec<Rc<Served<S>>>, hosts: Hosts) -> Self {
        Self {
            services,
            hosts,
            requests: Count::up_to(REQUESTS),
            streams: Count::up_to(STREAMS),
        }
    }

    /// Answers a request. Requests without a valid token get 401 and nothing else.
    pub async fn answer(&self, request: Request<Incoming>) -> HttpResponse {
        let (parts, body) = request.into_parts();
        if let Err(why) = self.hosts.admit(&parts) {
            return refused(StatusCode::FORBIDDEN, why);
        }
        let path = parts.uri.path();
        let measured = path.strip_suffix(METRICS);
        let path = measured.map_or_else(|| path.to_owned(), |of| format!("{of}/mcp"));
        let served = self.services.iter().find(|it| it.path == path);
        let Some(served) = served else {
            return refused(StatusCode::NOT_FOUND, "nothing is served at this path");
        };
        let Some(client) = guard::client(&parts.headers, &served.clients) else {
            let mut answer = refused(
                StatusCode::UNAUTHORIZED,
                "the bearer token is missing or unknown",
            );
            let bearer = HeaderValue::from_static(r#"Bearer realm="agent""#);
            answer.headers_mut().insert(WWW_AUTHENTICATE, bearer);
            return answer;
        };
        match parts.method {
            Method::GET if measured.is_some() => measurements(served),
            _ if measured.is_some() => not_allowed("GET"),
            Method::POST => self.post(served, client, &parts, body).await,
            Method::GET => self.get(served, client, &parts.headers),
            Method::DELETE => delete(served, client, &parts.headers),
            _ => not_allowed(METHODS),
        }
    }

    async fn post(
        &self,
        served: &Rc<Served<S>>,
        client: &str,
        parts: &Parts,
        body: Incoming,
    ) -> HttpResponse {
        let headers = &parts.headers;
        let kind = single(headers, &CONTENT_TYPE)
            .ok()
            .flatten()
            .unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case(JSON) {
            let why = "`Content-Type` is not `application/json`";
            return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
        }
        if !accepts(headers, JSON) {
            return refused(
                StatusCode::NOT_ACCEPTABLE,
                "`Accept` has no `application/json`",
            );
        }
        let Some(counted) = self.requests.one() else {
            return overloaded("too many requests are open");
        };
        let body = match read_body(body, MESSAGE_BYTES, BODY_TIME).await {
            Ok(body) => body,
            Err((status, why)) => return refused(status, &why),
        };
        match Message::read(body) {
            Err(malformed) => {
                let message = write_unanswered_error(PARSE_ERROR, &malformed.what);
                json(StatusCode::BAD_REQUEST, message)
            }
            Ok(Message::Response { .. }) if is_stateless(headers) => refused(
                StatusCode::BAD_REQUEST,
                "clients without sessions get no requests",
            ),
            Ok(Message::Response { id, outcome }) => match session_of(served, client, headers) {
                Ok(session) => {
                    if let Some(id) = id {
                        session.conversation.answered(&id, outcome.ok());
                    }
                    empty(StatusCode::ACCEPTED)
                }
                Err(answer) => *answer,
            },
            Ok(Message::Notification { method, params }) => {
                if is_stateless(headers) {
                    // Closing the connection cancels a request. There is nothing else to notify of.
                    return empty(StatusCode::ACCEPTED);
                }
                match session_of(served, client, headers) {
                    Ok(session) => {
                        session.conversation.notify(&method, params.as_ref());
                        empty(StatusCode::ACCEPTED)
                    }
                    Err(answer) => *answer,
                }
            }
            Ok(Message::Request { id, method, params }) => {
                let request = (id, method, params);
                if generation(headers, request.2.as_ref()) == Generation::Stateless {
                    self.stateless(served, client, headers, request, counted)
                        .await
                } else {
                    self.in_session(served, client, headers, request, counted)
                        .await
                }
            }
        }
    }

    /// Answers a request that stands alone. When the client closes the connection, it is cancelled.
    async fn stateless(
        &self,
        served: &Rc<Served<S>>,
        client: &str,
        headers: &HeaderMap,
        (id, method, params): (Id, String, Option<Json>),
        counted: Counted,
    ) -> HttpResponse {
        let conversation = Rc::new(Conversation::remote(
            Rc::clone(&served.service),
            client,
            None,
        ));
        let tools = || conversation.mirrored_headers();
        if mirrored::version_of(params.as_ref()).is_none() {
            let message = "`_meta` has no version of the protocol";
            return rpc(
                error(&id, INVALID_PARAMS, message, None),
                StatusCode::BAD_REQUEST,
            );
        }
        if let Err(why) = mirrored::check(headers, &method, params.as_ref(), tools) {
            return rpc(
                error(&id, HEADER_MISMATCH, &why, None),
                StatusCode::BAD_REQUEST,
            );
        }
        let mut held = vec![Guard::Count(counted)];
        if method == LISTEN {
            if !accepts(headers, EVENTS) {
                return refused(
                    StatusCode::NOT_ACCEPTABLE,
                    "`Accept` has no `text/event-stream`",
                );
            }
            let Some(stream) = self.streams.one() else {
                return overloaded("too many streams are open");
            };
            held = vec![Guard::Count(stream)];
        }
        let (parts, task) = start(conversation, (id, method, params), true, Vec::new());
        held.push(Guard::Task(task));
        await_answer(parts, accepts(headers, EVENTS), held, |reply| {
            match reply.error {
                Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
                Some(UNSUPPORTED_PROTOCOL_VERSION | INVALID_REQUEST) => StatusCode::BAD_REQUEST,
                Some(INVALID_PARAMS) if reply.is_about_meta => StatusCode::BAD_REQUEST,
                _ => StatusCode::OK,
            }
        })
        .await
    }

    /// Answers a request of a session, or opens one. It goes on when the client closes the connection.
    async fn in_session(
        &self,
        served: &Rc<Served<S>>,
        client: &str,
        headers: &HeaderMap,
        request: (Id, String, Option<Json>),
        counted: Counted,
    ) -> HttpResponse {
        if request.1 == "initialize" && !headers.contains_key(SESSION_ID) {
            let (id, method, params) = request;
            let session = match served.sessions.begin(&served.service, client) {
                Ok(Some(session)) => session,
                Ok(None) => return overloaded("too many sessions are open"),
                Err(failure) => {
                    return refused(StatusCode::INTERNAL_SERVER_ERROR, &failure.message);
                }
            };
            let reply = session.conversation.answer(id, &method, params, drop).await;
            let Some(reply) = reply else {
                return stream(Events::new(None, mpsc::channel(1).1, Vec::new()));
            };
            let error = reply.error;
            let mut answer = rpc(reply, StatusCode::OK);
            if let (None, Ok(id)) = (error, HeaderValue::from_str(&session.id)) {
                answer.headers_mut().insert(SESSION_ID, id);
                served.sessions.keep(session);
            }
            return answer;
        }
        let session = match session_of(served, client, headers) {
            Ok(session) => session,
            Err(answer) => return *answer,
        };
        let conversation = Rc::clone(&session.conversation);
        // The task holds the count: it outlives the connection.
        let held = vec![Guard::Count(counted)];
        let (parts, _) = start(conversation, request, false, held);
        let answer = await_answer(parts, accepts(headers, EVENTS), Vec::new(), |_| {
            StatusCode::OK
        });
        let answer = answer.await;
        session.touch();
        answer
    }

    /// Opens the stream of a session's notifications.
    fn get(&self, served: &Rc<Served<S>>, client: &str, headers: &HeaderMap) -> HttpResponse {
        if is_stateless(headers) {
            return not_allowed(METHODS);
        }
        if !accepts(headers, EVENTS) {
            return refused(
                StatusCode::NOT_ACCEPTABLE,
                "`Accept` has no `text/event-stream`",
            );
        }
        let session = match session_of(served, client, headers) {
            Ok(session) => session,
            Err(answer) => return *answer,
        };
        let Some(counted) = self.streams.one() else {
            return overloaded("too many streams are open");
        };
        let (sender, queue) = mpsc::channel(QUEUE);
        let conversation = Rc::clone(&session.conversation);
        let mut changes = served.service.lists().follow();
        let task = spawn_local(async move {
            while let Some(lists) = changes.next().await {
                for message in conversation.list_changed(&lists) {
                    if sender.send(event(&message)).await.is_err() {
                        return;
                    }
                }
            }
        });
        session.set_stream(Guard::Task(task.abort_handle()));
        let work = vec![Guard::Task(task.abort_handle()), Guard::Count(counted)];
        // The head goes out with the first event.
        stream(Events::new(Some(Bytes::from_static(b":\n\n")), queue, work))
    }
}

/// Returns the counts of a service.
fn measurements<S: Service>(served: &Served<S>) -> HttpResponse {
    match served.service.metrics(served.sessions.number()) {
        Ok(text) => respond_with(StatusCode::OK, EXPOSITION, text),
        Err(failure) => refused(StatusCode::INTERNAL_SERVER_ERROR, &failure.message),
    }
}

/// Ends a session.
fn delete<S: Service>(served: &Served<S>, client: &str, headers: &HeaderMap) -> HttpResponse {
    if is_stateless(headers) {
        return not_allowed(METHODS);
    }
    match session_of(served, client, headers) {
        Ok(session) => {
            served.sessions.end(&session);
            empty(StatusCode::OK)
        }
        Err(answer) => *answer,
    }
}

/// Returns the session that a request names, in the version that it was opened with.
fn session_of<S: Service>(
    served: &Served<S>,
    client: &str,
    headers: &HeaderMap,
) -> Result<Rc<ClientSession<S>>, Box<HttpResponse>> {
    let wrong = |status, why| Err(Box::new(refused(status, why)));
    let Ok(Some(id)) = single(headers, &SESSION_ID) else {
        return wrong(StatusCode::BAD_REQUEST, "`Mcp-Session-Id` is missing");
    };
    let Some(session) = served.sessions.find(id, client) else {
        return wrong(StatusCode::NOT_FOUND, "the session is unknown");
    };
    let own = session.conversation.version().map(Version::name);
    match single(headers, &mirrored::VERSION) {
        // Clients up to 2025-03-26 send none.
        Ok(None) => Ok(session),
        Ok(given) if given == own => Ok(session),
        _ => wrong(
            StatusCode::BAD_REQUEST,
            "`MCP-Protocol-Version` is not the version of the session",
        ),
    }
}

/// Starts to answer a request. The handle ends it early.
fn start<S: Service>(
    conversation: Rc<Conversation<S>>,
    (id, method, params): (Id, String, Option<Json>),
    is_alone: bool,
    held: Vec<Guard>,
) -> (mpsc::Receiver<AnswerPart>, AbortHandle) {
    let (sender, parts) = mpsc::channel(QUEUE);
    let task = spawn_local(async move {
        let _held = held;
        let mut changes = conversation.list_changes();
        let send = |message| {
            // What a slow client does not read is lost, but not the response.
            let _ = sender.try_send(AnswerPart::Message(message));
        };
        let reply = {
            let answer = conversation.answer(id, &method, params, send);
            tokio::pin!(answer);
            loop {
                tokio::select! {
                    biased;
                    reply = &mut answer => break reply,
                    Some(lists) = changes.next(), if is_alone => {
                        conversation.list_changed(&lists).into_iter().for_each(send);
                    }
                }
            }
        };
        let _ = sender.send(AnswerPart::Response(reply)).await;
    });
    (parts, task.abort_handle())
}

/// Returns the answer to a request: JSON, or a stream if messages come before the response.
async fn await_answer(
    mut parts: mpsc::Receiver<AnswerPart>,
    accepts_events: bool,
    mut held: Vec<Guard>,
    status: impl Fn(&Reply) -> StatusCode,
) -> HttpResponse {
    loop {
        match parts.recv().await {
            Some(AnswerPart::Response(Some(reply))) => {
                let status = status(&reply);
                return rpc(reply, status);
            }
            Some(AnswerPart::Message(_)) if !accepts_events => {}
            Some(AnswerPart::Message(message)) => {
                let (sender, queue) = mpsc::channel(QUEUE);
                let task = spawn_local(async move {
                    while let Some(part) = parts.recv().await {
                        let (message, is_last) = match part {
                            AnswerPart::Message(message) => (message, false),
                            AnswerPart::Response(Some(reply)) => (reply.message, true),
                            AnswerPart::Response(None) => return,
                        };
                        if sender.send(event(&message)).await.is_err() || is_last {
                            return;
                        }
                    }
                });
                held.push(Guard::Task(task.abort_handle()));
                return stream(Events::new(Some(event(&message)), queue, held));
            }
            // A cancelled request has no response.
            Some(AnswerPart::Response(None)) | None => {
                return stream(Events::new(None, mpsc::channel(1).1, Vec::new()));
            }
        }
    }
}

/// Returns whether a client takes a type. One that names none takes all.
fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let mut named = headers.get_all(ACCEPT).iter().peekable();
    if named.peek().is_none() {
        return true;
    }
    let family = kind.split('/').next().unwrap_or_default();
    named
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|range| range.split(';').next().unwrap_or_default().trim())
        .any(|range| {
            let of_family = range.strip_suffix("/*");
            range.eq_ignore_ascii_case(kind)
                || range == "*/*"
                || of_family.is_some_and(|it| it.eq_ignore_ascii_case(family))
        })
}

fn json(status: StatusCode, message: String) -> HttpResponse {
    respond_with(status, JSON, message)
}

fn rpc(reply: Reply, status: StatusCode) -> HttpResponse {
    json(status, reply.message)
}

/// Refuses a request by HTTP, with the reason as an error without an id.
fn refused(status: StatusCode, why: &str) -> HttpResponse {
    json(status, write_unanswered_error(INVALID_REQUEST, why))
}

fn overloaded(why: &str) -> HttpResponse {
    let mut answer = refused(StatusCode::SERVICE_UNAVAILABLE, why);
    let seconds = HeaderValue::from_static(RETRY_SECONDS);
    answer.headers_mut().insert(RETRY_AFTER, seconds);
    answer
}

fn not_allowed(methods: &'static str) -> HttpResponse {
    let mut answer = refused(
        StatusCode::METHOD_NOT_ALLOWED,
        "the method is not allowed here",
    );
    let allowed = HeaderValue::from_static(methods);
    answer.headers_mut().insert(ALLOW, allowed);
    answer
}

fn empty(status: StatusCode) -> HttpResponse {
    respond(status, Either::Left(Full::default()))
}

fn stream(events: Events) -> HttpResponse {
    let mut answer = respond(StatusCode::OK, Either::Right(events));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    answer
}

#[cfg(test)]
mod tests {
    use super::accepts;
    use hyper::Request;

    #[test]
    fn what_a_client_accepts() {
        let accepted = |value: Option<&str>, kind| {
            let mut request = Request::builder();
            if let Some(value) = value {
                request = request.header("accept", value);
            }
            accepts(request.body(()).unwrap().headers(), kind)
        };
        let both = Some("application/json, text/event-stream");
        assert!(accepted(both, "application/json"));
        assert!(accepted(both, "text/event-stream"));
        assert!(accepted(None, "text/event-stream"));
        assert!(accepted(Some("text/*;q=0.5, */*"), "application/json"));
        assert!(accepted(Some("TEXT/*"), "text/event-stream"));
        assert!(!accepted(Some("application/json"), "text/event-stream"));
        assert!(!accepted(
            Some("text/html, application/*"),
            "text/event-stream"
        ));
    }
}
