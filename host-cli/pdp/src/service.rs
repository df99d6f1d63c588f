//! Paths, methods and limits of requests.

use super::answer::{CodeNames, Refusal, decided, status};
use super::authzen::{
    self, Asked, Question, decision, found_actions, found_tools, write_evaluation,
};
use super::decider::{Decided, Decider};
use super::given::{Given, parsed};
use super::question;
use agent_host::Failure;
use agent_host::contract::decision_point::AskedCall;
use agent_host::contract::diagnostic::Code;
use agent_host::output;
use agent_mcp_server::{Body, read_body, respond_with, single};
use agent_syntax::json::Writer;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tokio::time::Instant;

/// Maximum size of a request, in bytes.
pub(crate) const BODY_BYTES: usize = 4 << 20;

/// Maximum time until the body of a request has arrived.
const BODY_TIME: Duration = Duration::from_secs(10);

/// Maximum number of requests of a worker whose bodies are in memory.
pub(crate) const REQUESTS: usize = 32;

/// Time after which no further evaluation of a request begins.
const ANSWER_TIME: Duration = Duration::from_secs(10);

const JSON: &str = "application/json";

const PLAIN: &str = "text/plain; charset=utf-8";

/// The id of a request, which its answer repeats.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is asked at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Path {
    Decide,
    Evaluation,
    Evaluations,
    SearchActions,
    SearchResources,
    Metadata,
    Status,
}

impl Path {
    fn named(path: &str) -> Option<Self> {
        match path {
            "/v1/decide" => Some(Self::Decide),
            "/v1/status" => Some(Self::Status),
            "/access/v1/evaluation" => Some(Self::Evaluation),
            "/access/v1/evaluations" => Some(Self::Evaluations),
            "/access/v1/search/action" => Some(Self::SearchActions),
            "/access/v1/search/resource" => Some(Self::SearchResources),
            "/.well-known/authzen-configuration" => Some(Self::Metadata),
            _ => None,
        }
    }

    fn method(self) -> Method {
        match self {
            Self::Metadata | Self::Status => Method::GET,
            _ => Method::POST,
        }
    }
}

/// The requests of a worker.
pub(crate) struct Service {
    decider: Decider,
    names: CodeNames,
    requests: Semaphore,
}

impl Service {
    pub(crate) fn new(decider: Decider, names: CodeNames) -> Self {
        Self {
            decider,
            names,
            requests: Semaphore::new(REQUESTS),
        }
    }

    /// Answers a request.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let id = request.headers().get(REQUEST_ID).cloned();
        let mut answer = self.respond(request).await;
        if let Some(id) = id {
            answer.headers_mut().insert(REQUEST_ID, id);
        }
        answer
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let Some(path) = Path::named(parts.uri.path()) else {
            let refusal = nothing_there();
            return respond_with(refusal.status, JSON, refusal.json(&self.names));
        };
        let answered = match parts.method == path.method() {
            false => Err(Refusal::of_http(
                StatusCode::METHOD_NOT_ALLOWED,
                "the method is not allowed here",
            )),
            true if path == Path::Metadata => host(&parts.headers).map(authzen::metadata),
            true if path == Path::Status => self.status(),
            true => self.post(path, &parts.headers, body).await,
        };
        let refusal = match answered {
            Ok(text) => return respond_with(StatusCode::OK, JSON, text),
            Err(refusal) => refusal,
        };
        let mut answer = match path {
            Path::Decide | Path::Status => {
                respond_with(refusal.status, JSON, refusal.json(&self.names))
            }
            _ => respond_with(refusal.status, PLAIN, refusal.sentence(&self.names)),
        };
        if refusal.status == StatusCode::METHOD_NOT_ALLOWED
            && let Ok(method) = HeaderValue::from_str(path.method().as_str())
        {
            answer.headers_mut().insert(ALLOW, method);
        }
        answer
    }

    /// Answers a request with a body.
    async fn post(
        &self,
        path: Path,
        headers: &HeaderMap,
        body: Incoming,
    ) -> Result<String, Refusal> {
        let kind = single(headers, &CONTENT_TYPE).ok().flatten();
        let kind = kind.and_then(|it| it.split(';').next()).unwrap_or_default();
        if !kind.trim().eq_ignore_ascii_case(JSON) {
            let text = "`Content-Type` is not `application/json`";
            return Err(Refusal::of_http(StatusCode::BAD_REQUEST, text));
        }
        let Ok(_held) = self.requests.try_acquire() else {
            let text = format!("{REQUESTS} requests are open");
            return Err(Refusal::of_http(StatusCode::SERVICE_UNAVAILABLE, text));
        };
        let body = read_body(body, BODY_BYTES, BODY_TIME).await;
        let body: Bytes = body.map_err(|(status, why)| Refusal {
            code: (status == StatusCode::PAYLOAD_TOO_LARGE).then_some(Code::InputTooLarge),
            ..Refusal::of_http(status, why)
        })?;
        let (text, root) = parsed(&body)?;
        let given = Given::whole(text, &root)?;
        let question = match path {
            Path::Decide => {
                let decision = self.decide(&question::asked_call(&given)?)?;
                return Ok(decided(&decision, &self.names));
            }
            Path::Evaluation => authzen::evaluation(&given)?,
            Path::Evaluations => authzen::evaluations(&given)?,
            Path::SearchActions => authzen::actions(&given)?,
            Path::SearchResources => authzen::tools(&given)?,
            Path::Metadata | Path::Status => return Err(nothing_there()),
        };
        self.evaluate(question).await
    }

    /// Answers a request of AuthZEN.
    async fn evaluate(&self, question: Question) -> Result<String, Refusal> {
        let mut w = Writer::dense();
        match question {
            Question::One(asked) => {
                let evaluated = self.evaluated(asked)?;
                write_evaluation(&mut w, &evaluated, &self.names);
            }
            Question::Several(semantic, asked) => {
                let mut all = Vec::new();
                self.evaluate_in_turn(asked.into_iter(), |evaluated| {
                    let is_last = semantic.ends_with(decision(&evaluated));
                    all.push(evaluated);
                    is_last
                })
                .await?;
                w.object(|w| {
                    w.key("evaluations").array(|w| {
                        for evaluated in &all {
                            write_evaluation(w, evaluated, &self.names);
                        }
                    });
                });
            }
            Question::Tools(asked) => return Ok(found_tools(&self.allowed_tools(asked).await?)),
            Question::Actions(asked) => {
                return Ok(found_actions(decision(&self.evaluated(asked)?)));
            }
        }
        Ok(w.finish())
    }

    /// Returns the tools that the subject of a call may call with its arguments.
    async fn allowed_tools(&self, asked: Asked) -> Result<Vec<String>, Refusal> {
        // Nothing is found of another kind.
        let Ok(asked) = asked else {
            return Ok(Vec::new());
        };
        let tools = self.decider.tools().map_err(failed)?;
        let each = tools.iter().map(|tool| {
            Ok(AskedCall {
                tool: tool.clone(),
                ..asked.clone()
            })
        });
        let mut allowed = Vec::new();
        self.evaluate_in_turn(each, |evaluated| {
            allowed.push(decision(&evaluated));
            false
        })
        .await?;
        let found = tools.iter().zip(allowed).filter(|(_, allowed)| *allowed);
        Ok(found.map(|(tool, _)| tool.clone()).collect())
    }

    /// Decides on evaluations until one is the last, or the time is over. `see` gets each, and says whether it is the last.
    async fn evaluate_in_turn(
        &self,
        asked: impl Iterator<Item = Asked>,
        mut see: impl FnMut(Result<Decided, Refusal>) -> bool,
    ) -> Result<(), Refusal> {
        let end = Instant::now() + ANSWER_TIME;
        for asked in asked {
            if Instant::now() > end {
                let text = format!("not decided within {} s", ANSWER_TIME.as_secs());
                return Err(Refusal::of_http(StatusCode::SERVICE_UNAVAILABLE, text));
            }
            if see(self.evaluated(asked)?) {
                break;
            }
            // Others wait for this thread.
            yield_now().await;
        }
        Ok(())
    }

    /// Decides on an evaluation. The inner error says why it is denied without a decision.
    fn evaluated(&self, asked: Asked) -> Result<Result<Decided, Refusal>, Refusal> {
        match asked.and_then(|asked| self.decide(&asked)) {
            Err(refusal) if refusal.status.is_server_error() => Err(refusal),
            evaluated => Ok(evaluated),
        }
    }

    /// Says what decides.
    fn status(&self) -> Result<String, Refusal> {
        let documents = self.decider.documents().map_err(failed)?;
        Ok(status(&documents, &self.decider.basis()))
    }

    /// Decides on a call.
    fn decide(&self, asked: &AskedCall) -> Result<Decided, Refusal> {
        match self.decider.decide(asked) {
            Ok(Ok(decided)) => decided.basis.stands().map(|()| decided),
            Ok(Err(it)) => Err(Refusal::new(it.code, it.text)),
            Err(failure) => Err(failed(failure)),
        }
    }
}

fn nothing_there() -> Refusal {
    Refusal::of_http(StatusCode::NOT_FOUND, "nothing is at this path")
}

/// Notes a failure of the engine, and returns what a client learns of it.
fn failed(Failure { message, .. }: Failure) -> Refusal {
    output::note(format_args!("a request was not answered: {message}"));
    let text = "the engine failed: the call is not allowed";
    Refusal::of_http(StatusCode::INTERNAL_SERVER_ERROR, text)
}

/// Returns the host by which a client reaches this one.
fn host(headers: &HeaderMap) -> Result<&str, Refusal> {
    let host = single(headers, &HOST).ok().flatten();
    let is_part = |it: u8| it.is_ascii_alphanumeric() || b".-:[]_".contains(&it);
    host.filter(|it| !it.is_empty() && it.bytes().all(is_part))
        .ok_or_else(|| Refusal::of_http(StatusCode::BAD_REQUEST, "`Host` is missing or no host"))
}
