//! The daemon over HTTP: the verbs as plain JSON, and the Model Context Protocol at `/mcp`.

use super::daemon::{Daemon, to_the_end};
use super::refusal::Answered;
use super::service::Tools;
use agent_host::call;
use agent_host::contract::daemon::{ChangeRequest, ErrorCode, Order};
use agent_mcp_server::{Body, Endpoint, Hosts, Served, Sessions, Token, client};
use agent_telemetry::TraceContext;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Either, Full, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of a request, in bytes.
const BODY_BYTES: usize = 16 << 20;

/// Maximum time until a request has arrived.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Header in which the holder of the daemon's token names the client whose tasks it addresses.
pub(crate) const CLIENT_HEADER: &str = "mcpd-client";

/// Maximum number of characters of such a name.
const CLIENT_CHARS: usize = 32;

/// Paths served by the MCP endpoint.
const MCP: [&str; 2] = ["/mcp", "/metrics"];

/// The daemon over HTTP.
pub(crate) struct Http {
    daemon: Rc<Daemon>,
    mcp: Endpoint<Tools<Rc<Daemon>>>,
    hosts: Hosts,
    clients: Vec<(String, Token)>,
}

impl Http {
    pub(crate) fn new(
        daemon: Rc<Daemon>,
        clients: Vec<(String, Token)>,
        address: SocketAddr,
    ) -> Self {
        let hosts = Hosts::of(address);
        let served = Served {
            path: MCP[0].to_owned(),
            clients: clients.clone(),
            service: Rc::new(Tools(Rc::clone(&daemon))),
            sessions: Sessions::default(),
        };
        Self {
            daemon,
            mcp: Endpoint::new(vec![Rc::new(served)], hosts.clone()),
            hosts,
            clients,
        }
    }

    /// Answers a request. Requests without a valid token get 401 and nothing else.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if MCP.contains(&request.uri().path()) {
            return self.mcp.answer(request).await;
        }
        let (parts, body) = request.into_parts();
        if let Err(why) = self.hosts.admit(&parts) {
            return text(StatusCode::FORBIDDEN, why);
        }
        let Some(client) = client(&parts.headers, &self.clients) else {
            let why = "the bearer token is missing or unknown";
            let mut answer = text(StatusCode::UNAUTHORIZED, why);
            let bearer = HeaderValue::from_static(r#"Bearer realm="mcpd""#);
            answer.headers_mut().insert(WWW_AUTHENTICATE, bearer);
            return answer;
        };
        let segments: Vec<_> = parts.uri.path().split('/').skip(1).collect();
        match (&parts.method, &segments[..]) {
            (&Method::GET, [""]) => self.said(self.discovery()),
            (&Method::GET, ["tasks"]) => json(StatusCode::OK, self.daemon.list().await),
            (&Method::POST, ["verbs", verb]) => {
                let Some(client) = client_of(client, &parts.headers) else {
                    let why = "`Mcpd-Client` is no name of small letters, digits and `-`";
                    return text(StatusCode::BAD_REQUEST, why);
                };
                match read(body).await {
                    Ok(body) => {
                        let parent = parts.headers.get("traceparent");
                        let parent = parent.and_then(|it| TraceContext::parse(it.to_str().ok()?));
                        self.said(self.verb(client, verb, &body, parent).await)
                    }
                    Err(answer) => *answer,
                }
            }
            (&Method::POST, ["tasks", task, "kill"]) => {
                self.said(self.ordered(client, Order::End((*task).to_owned())).await)
            }
            (&Method::POST, ["tasks", task, "revert"]) => self.said(
                self.ordered(client, Order::Revert((*task).to_owned()))
                    .await,
            ),
            (&Method::POST, ["tasks", task, "plan-change"]) => match read(body).await {
                Ok(body) => {
                    let change = Order::PlanChange(ChangeRequest {
                        task_id: (*task).to_owned(),
                        request: body.to_vec(),
                    });
                    self.said(self.daemon.carry_out(client, change).await)
                }
                Err(answer) => *answer,
            },
            _ => text(StatusCode::NOT_FOUND, "nothing is at this path"),
        }
    }

    fn discovery(&self) -> Answered<String> {
        let decider = &self.daemon.decider;
        decider.ask(|engine| call!(engine, daemon.discovery()))
    }

    /// Performs a verb. Returns its response.
    async fn verb(
        &self,
        client: &str,
        name: &str,
        body: &[u8],
        parent: Option<TraceContext>,
    ) -> Answered<String> {
        let (verb, addressed) = self.daemon.decider.decide(|engine| {
            let verb = match call!(engine, daemon.verb_named(name))? {
                Ok(verb) => verb,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let addressed = call!(engine, daemon.addressed_beside(body))?;
            Ok(addressed.map(|addressed| (verb, addressed)))
        })?;
        self.daemon.perform(client, verb, addressed, parent).await
    }

    /// Carries an order out to its end.
    async fn ordered(&self, client: &str, order: Order) -> Answered<String> {
        let (daemon, client) = (Rc::clone(&self.daemon), client.to_owned());
        to_the_end(async move { daemon.carry_out(&client, order).await }).await
    }

    fn said(&self, answered: Answered<String>) -> Response<Body> {
        match answered {
            Ok(text) => json(StatusCode::OK, text),
            Err(refusal) => json(status(refusal.code), self.daemon.decider.failed(&refusal)),
        }
    }
}

/// Returns the client of a request: that of its token, or the one that it names; `None` for an invalid name.
fn client_of<'r>(client: &'r str, headers: &'r HeaderMap) -> Option<&'r str> {
    let Some(name) = headers.get(CLIENT_HEADER) else {
        return Some(client);
    };
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    let name = name.to_str().ok()?;
    let is_name = (1..=CLIENT_CHARS).contains(&name.len()) && name.bytes().all(is_allowed);
    is_name.then_some(name)
}

/// Returns the status of a failure.
fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::Plan | ErrorCode::Fs => StatusCode::BAD_REQUEST,
        ErrorCode::Policy => StatusCode::FORBIDDEN,
        ErrorCode::Build | ErrorCode::Runtime => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorCode::Network => StatusCode::BAD_GATEWAY,
        ErrorCode::Port => StatusCode::SERVICE_UNAVAILABLE,
    }
}

async fn read(body: Incoming) -> Result<Bytes, Box<Response<Body>>> {
    let wrong = |status, why| Err(Box::new(text(status, why)));
    let large = || {
        wrong(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the request is larger than 16 MiB",
        )
    };
    // Refuse early if `Content-Length` exceeds the limit.
    if body.size_hint().lower() > BODY_BYTES as u64 {
        return large();
    }
    match timeout(BODY_TIME, Limited::new(body, BODY_BYTES).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => large(),
        Ok(Err(_)) => wrong(StatusCode::BAD_REQUEST, "the body ended too early"),
        Err(_) => wrong(StatusCode::REQUEST_TIMEOUT, "the body arrived too slowly"),
    }
}

fn json(status: StatusCode, body: String) -> Response<Body> {
    respond(status, "application/json", body)
}

fn text(status: StatusCode, why: &str) -> Response<Body> {
    respond(status, "text/plain; charset=utf-8", format!("{why}\n"))
}

fn respond(status: StatusCode, kind: &'static str, body: String) -> Response<Body> {
    let mut answer = Response::new(Either::Left(Full::new(Bytes::from(body))));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
