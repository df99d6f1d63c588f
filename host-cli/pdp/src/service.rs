//! Paths, methods and limits of requests.

use super::answer::{CodeNames, Refusal, approval, decided, status};
use super::authzen::{
    self, Asked, Question, decision, found_actions, found_tools, write_evaluation,
};
use super::basis::Basis;
use super::bundle::{BUNDLE_MAX, Source};
use super::callers::{Caller, Callers};
use super::decider::{self, Decided, Decider, Said};
use super::envoy::{self, Asked as AskedByEnvoy, Attributes, Decide, Verdict};
use super::given::{Given, parsed};
use super::grpc;
use super::network::PeerCertificate;
use super::question;
use super::store::{Nats, Step, Store, Unavailable};
use agent_host::Failure;
use agent_host::contract::decision_point::{AskedCall, Enforced, KeptAt, Unanswerable};
use agent_host::contract::diagnostic::Code;
use agent_host::contract::session::Generation;
use agent_host::output;
use agent_mcp_protocol::Json;
use agent_mcp_server::{Body, read_body, respond_with, single};
use agent_syntax::json::Writer;
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::Instant;
use tonic::Status;

/// Maximum size of a request, in bytes.
pub(crate) const BODY_BYTES: usize = 4 << 20;

/// Maximum time until the body of a request has arrived.
const BODY_TIME: Duration = Duration::from_secs(10);

/// Maximum time until a bundle has arrived.
const BUNDLE_TIME: Duration = Duration::from_secs(60);

/// Maximum number of requests of a worker whose bodies are in memory.
pub(crate) const REQUESTS: usize = 32;

/// Maximum number of questions of a worker that wait for the store. Others have the rest of the places.
const WAITING: usize = REQUESTS / 2;

/// Maximum number of open exchanges of a worker that Envoy asks about.
pub(crate) const EXCHANGES: usize = 256;

/// Time after which no further evaluation of a request begins.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// The number of digits of the place of a client in the store, with which the id of an approval begins.
const KEY_DIGITS: usize = 32;

const JSON: &str = "application/json";

const PLAIN: &str = "text/plain; charset=utf-8";

/// The id of a request, which its answer repeats.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The answer to a request: in JSON, or to Envoy.
pub(crate) type Answer = Response<Either<Body, envoy::Body>>;

/// What is asked at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Approval,
    Bundle,
    Check,
    Decide,
    DecideByGrpc,
    Evaluation,
    Evaluations,
    Process,
    SearchActions,
    SearchResources,
    Metadata,
    Status,
}

impl Endpoint {
    fn named(path: &str) -> Option<Self> {
        match path {
            "/v1/approval" => Some(Self::Approval),
            "/v1/bundle" => Some(Self::Bundle),
            "/v1/decide" => Some(Self::Decide),
            "/v1/status" => Some(Self::Status),
            grpc::DECIDE => Some(Self::DecideByGrpc),
            envoy::CHECK => Some(Self::Check),
            envoy::PROCESS => Some(Self::Process),
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
            Self::Bundle => Method::PUT,
            Self::Approval
            | Self::Check
            | Self::Decide
            | Self::DecideByGrpc
            | Self::Evaluation
            | Self::Evaluations
            | Self::Process
            | Self::SearchActions
            | Self::SearchResources => Method::POST,
        }
    }

    /// Returns whether it is asked by gRPC.
    fn is_grpc(self) -> bool {
        matches!(self, Self::Check | Self::DecideByGrpc | Self::Process)
    }

    /// Returns whether it has the form of this project, not that of AuthZEN.
    fn is_own(self) -> bool {
        matches!(
            self,
            Self::Approval | Self::Bundle | Self::Decide | Self::Status
        )
    }
}

/// The requests of a worker.
pub(crate) struct Service {
    decider: Decider,
    names: CodeNames,
    requests: Semaphore,
    exchanges: Arc<Semaphore>,
    /// Who may ask over a network.
    callers: Arc<Callers>,
    /// Where bundles are put, if a bundle decides.
    bundles: Option<Arc<Source>>,
    /// What decides beside the documents, if there is a store.
    store: Option<Arc<Store<Nats>>>,
    waiting: Semaphore,
}

impl Service {
    pub(crate) fn new(
        decider: Decider,
        names: CodeNames,
        callers: Arc<Callers>,
        bundles: Option<Arc<Source>>,
        store: Option<Arc<Store<Nats>>>,
    ) -> Self {
        Self {
            decider,
            names,
            requests: Semaphore::new(REQUESTS),
            exchanges: Arc::new(Semaphore::new(EXCHANGES)),
            callers,
            bundles,
            store,
            waiting: Semaphore::new(WAITING),
        }
    }

    /// Answers a request of this user.
    pub(crate) async fn answer(self: Rc<Self>, request: Request<Incoming>) -> Answer {
        let id = request.headers().get(REQUEST_ID).cloned();
        with_id(id, self.respond(request, None).await)
    }

    /// Answers a request over a network. Who is not known learns nothing else.
    pub(crate) async fn answer_caller(
        self: Rc<Self>,
        certificate: PeerCertificate,
        request: Request<Incoming>,
    ) -> Answer {
        let headers = request.headers();
        let id = headers.get(REQUEST_ID).cloned();
        let Some(caller) = self.callers.of(headers, certificate.as_ref()) else {
            let text = "the caller is not known";
            if endpoint(&request).is_some_and(Endpoint::is_grpc) {
                return of_status(Status::unauthenticated(text)).map(Either::Right);
            }
            let refusal = Refusal::of_http(StatusCode::UNAUTHORIZED, text);
            let mut answer = respond_with(refusal.status, JSON, refusal.json(&self.names));
            let scheme = HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return with_id(id, answer.map(Either::Left));
        };
        with_id(id, self.respond(request, Some(caller)).await)
    }

    async fn respond(
        self: Rc<Self>,
        request: Request<Incoming>,
        caller: Option<Arc<Caller>>,
    ) -> Answer {
        match endpoint(&request) {
            Some(Endpoint::Check) => {
                let answered = self.check(request, caller.as_deref()).await;
                answered.map(Either::Right)
            }
            Some(Endpoint::DecideByGrpc) => {
                let answered = self.decide_by_grpc(request, caller.as_deref()).await;
                answered.map(Either::Left).map(Either::Right)
            }
            Some(Endpoint::Process) => self.process(request, caller).map(Either::Right),
            _ => {
                let answered = self.respond_in_json(request, caller.as_deref()).await;
                answered.map(Either::Left)
            }
        }
    }

    /// Answers a question of `ext_authz`.
    async fn check(
        &self,
        request: Request<Incoming>,
        caller: Option<&Caller>,
    ) -> Response<envoy::Body> {
        if let Some(Err(refusal)) = caller.map(|it| it.admit(Endpoint::Check)) {
            return of_status(Status::permission_denied(refusal.text));
        }
        let Ok(_held) = self.requests.try_acquire() else {
            let text = format!("{REQUESTS} requests are open");
            return of_status(Status::resource_exhausted(text));
        };
        let limits = (BODY_BYTES, BODY_TIME);
        let decide = async |attributes| self.verdict(attributes, caller).await;
        let answered = envoy::check(request, &self.names, limits, decide).await;
        answered.map(Either::Left)
    }

    /// Answers a question of `/v1/decide` that comes by gRPC.
    async fn decide_by_grpc(
        &self,
        request: Request<Incoming>,
        caller: Option<&Caller>,
    ) -> Response<tonic::body::Body> {
        if let Some(Err(refusal)) = caller.map(|it| it.admit(Endpoint::DecideByGrpc)) {
            return Status::permission_denied(refusal.text).into_http();
        }
        let Ok(_held) = self.requests.try_acquire() else {
            let text = format!("{REQUESTS} requests are open");
            return Status::resource_exhausted(text).into_http();
        };
        let limits = (BODY_BYTES, BODY_TIME);
        grpc::unary(request, limits, async |question: grpc::Question| {
            let decided = self.decide(question.call()?, caller, true).await;
            let decided = decided.map_err(|refusal| grpc::status(&refusal, &self.names))?;
            Ok(grpc::Decision::of(&decided, &self.names))
        })
        .await
    }

    /// Answers the questions of `ext_proc` about an exchange.
    fn process(
        self: Rc<Self>,
        request: Request<Incoming>,
        caller: Option<Arc<Caller>>,
    ) -> Response<envoy::Body> {
        if let Some(Err(refusal)) = caller.as_ref().map(|it| it.admit(Endpoint::Process)) {
            return of_status(Status::permission_denied(refusal.text));
        }
        let Ok(held) = Arc::clone(&self.exchanges).try_acquire_owned() else {
            let text = format!("{EXCHANGES} exchanges are open");
            return of_status(Status::resource_exhausted(text));
        };
        let proxy = Proxy {
            service: self,
            caller,
        };
        envoy::exchange(request, BODY_BYTES, proxy, held).map(Either::Right)
    }

    /// Decides what Envoy does with a request.
    async fn verdict(
        &self,
        mut attributes: Attributes,
        caller: Option<&Caller>,
    ) -> Result<Verdict, Refusal> {
        if let Some(caller) = caller {
            attributes.agent = caller.agent(attributes.agent)?;
        }
        let tenant_by = self.admit_tenant(caller, attributes.tenant.as_deref())?;
        let list = |server: &str| answered(self.decider.list(server, Generation::Stateless));
        let (asked, request) = match envoy::asked(attributes, list)? {
            AskedByEnvoy::Nothing(answer) => return Ok(answer),
            AskedByEnvoy::Message(asked, request) => (asked, request),
        };
        let (enforced, basis) = self.settled(&*asked, true).await?;
        stands(&basis, tenant_by.as_ref())?;
        Ok(request.verdict(enforced))
    }

    /// Refuses a question by a tenant that does not decide here, or is none of the caller's. Returns what was looked at,
    /// if anything was.
    fn admit_tenant(
        &self,
        caller: Option<&Caller>,
        tenant: Option<&str>,
    ) -> Result<Option<Arc<Basis>>, Refusal> {
        if tenant.is_none() && !caller.is_some_and(Caller::has_tenants) {
            return Ok(None);
        }
        let (documents, basis) = self.decider.documents().map_err(failed)?;
        if let Some(caller) = caller {
            caller.admit_tenant(&documents)?;
        }
        if tenant.is_some() && tenant != documents.tenant_id.as_deref() {
            let text = "the route is not of the tenant that decides here";
            return Err(Refusal::of_http(StatusCode::FORBIDDEN, text));
        }
        Ok(Some(basis))
    }

    async fn respond_in_json(
        &self,
        request: Request<Incoming>,
        caller: Option<&Caller>,
    ) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let Some(path) = Endpoint::named(parts.uri.path()) else {
            let refusal = nothing_there();
            return respond_with(refusal.status, JSON, refusal.json(&self.names));
        };
        let answered = match caller.map_or(Ok(()), |it| it.admit(path)) {
            Err(refusal) => Err(refusal),
            Ok(()) if parts.method != path.method() => Err(Refusal::of_http(
                StatusCode::METHOD_NOT_ALLOWED,
                "the method is not allowed here",
            )),
            Ok(()) => match path {
                Endpoint::Metadata => host(&parts.headers).map(authzen::metadata),
                Endpoint::Status => self.status(),
                _ => self.of_body(path, caller, &parts.headers, body).await,
            },
        };
        let refusal = match answered {
            Ok(text) => return respond_with(StatusCode::OK, JSON, text),
            Err(refusal) => refusal,
        };
        let mut answer = match path.is_own() {
            true => respond_with(refusal.status, JSON, refusal.json(&self.names)),
            false => respond_with(refusal.status, PLAIN, refusal.sentence(&self.names)),
        };
        if refusal.status == StatusCode::METHOD_NOT_ALLOWED
            && let Ok(method) = HeaderValue::from_str(path.method().as_str())
        {
            answer.headers_mut().insert(ALLOW, method);
        }
        answer
    }

    /// Answers a request with a body.
    async fn of_body(
        &self,
        path: Endpoint,
        caller: Option<&Caller>,
        headers: &HeaderMap,
        body: Incoming,
    ) -> Result<String, Refusal> {
        let kind = single(headers, &CONTENT_TYPE).ok().flatten();
        let kind = kind.and_then(|it| it.split(';').next()).unwrap_or_default();
        if !kind.trim().eq_ignore_ascii_case(JSON) {
            let text = "`Content-Type` is not `application/json`";
            return Err(Refusal::of_http(StatusCode::BAD_REQUEST, text));
        }
        if path == Endpoint::Bundle {
            return self.publish(caller, body).await;
        }
        let Ok(_held) = self.requests.try_acquire() else {
            let text = format!("{REQUESTS} requests are open");
            return Err(Refusal::of_http(StatusCode::SERVICE_UNAVAILABLE, text));
        };
        let body = read_body(body, BODY_BYTES, BODY_TIME).await;
        let body = body.map_err(unread)?;
        let (text, root) = parsed(&body)?;
        let given = Given::whole(text, &root)?;
        let question = match path {
            Endpoint::Approval => return self.approval(&given, caller).await,
            Endpoint::Decide => {
                let asked = question::asked_call(&given)?;
                let decision = self.decide(asked, caller, true).await?;
                return Ok(decided(&decision, &self.names));
            }
            Endpoint::Evaluation => authzen::evaluation(&given)?,
            Endpoint::Evaluations => authzen::evaluations(&given)?,
            Endpoint::SearchActions => authzen::actions(&given)?,
            Endpoint::SearchResources => authzen::tools(&given)?,
            Endpoint::Bundle
            | Endpoint::Check
            | Endpoint::DecideByGrpc
            | Endpoint::Process
            | Endpoint::Metadata
            | Endpoint::Status => return Err(nothing_there()),
        };
        self.evaluate(question, caller).await
    }

    /// Puts a bundle in place, from where it decides when the file is looked at.
    async fn publish(&self, caller: Option<&Caller>, body: Incoming) -> Result<String, Refusal> {
        let Some(bundles) = &self.bundles else {
            return Err(nothing_there());
        };
        // Decisions have their own places.
        let Ok(_held) = bundles.publishing.try_acquire() else {
            let text = "another bundle is being published";
            return Err(Refusal::of_http(StatusCode::SERVICE_UNAVAILABLE, text));
        };
        let bundle = read_body(body, BUNDLE_MAX, BUNDLE_TIME).await;
        let bundle = bundle.map_err(unread)?;
        let source = Arc::clone(bundles);
        // It waits for files, and others wait for this thread.
        let runtime = Handle::current();
        let put = spawn_blocking(move || runtime.block_on(source.put(&bundle))).await;
        let put = put.map_err(Failure::internal).flatten();
        let put = put.map_err(|Failure { message, .. }| {
            output::note(format_args!("a bundle was not put in place: {message}"));
            let text = "the bundle was not put in place";
            Refusal::of_http(StatusCode::INTERNAL_SERVER_ERROR, text)
        })?;
        match put {
            Ok(standing) => {
                let by = caller.map_or("this user", |it| &it.name);
                output::note(format_args!("{by} published {standing}"));
                Ok(standing.json())
            }
            Err(refused) => Err(Refusal {
                code: refused.code(),
                ..Refusal::of_http(StatusCode::UNPROCESSABLE_ENTITY, refused.texts())
            }),
        }
    }

    /// Answers a request of AuthZEN.
    async fn evaluate(
        &self,
        question: Question,
        caller: Option<&Caller>,
    ) -> Result<String, Refusal> {
        let mut w = Writer::dense();
        match question {
            Question::One(asked) => {
                let evaluated = self.evaluated(asked, caller, true).await?;
                write_evaluation(&mut w, &evaluated, &self.names);
            }
            Question::Several(semantic, asked) => {
                let mut all = Vec::new();
                let asked = asked.into_iter();
                self.evaluate_in_turn((asked, true), caller, |evaluated| {
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
            Question::Tools(asked) => {
                return Ok(found_tools(&self.allowed_tools(asked, caller).await?));
            }
            Question::Actions(asked) => {
                let evaluated = self.evaluated(asked, caller, false).await?;
                return Ok(found_actions(decision(&evaluated)));
            }
        }
        Ok(w.finish())
    }

    /// Returns the tools that the subject of a call may call with its arguments.
    async fn allowed_tools(
        &self,
        asked: Asked,
        caller: Option<&Caller>,
    ) -> Result<Vec<String>, Refusal> {
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
        self.evaluate_in_turn((each, false), caller, |evaluated| {
            allowed.push(decision(&evaluated));
            false
        })
        .await?;
        let found = tools.iter().zip(allowed).filter(|(_, allowed)| *allowed);
        Ok(found.map(|(tool, _)| tool.clone()).collect())
    }

    /// Decides on evaluations until one is the last, or the time is over. `see` gets each, and says whether it is the last.
    /// `counts` says whether the calls are to be made.
    async fn evaluate_in_turn(
        &self,
        (asked, counts): (impl Iterator<Item = Asked>, bool),
        caller: Option<&Caller>,
        mut see: impl FnMut(Result<Decided, Refusal>) -> bool,
    ) -> Result<(), Refusal> {
        let end = Instant::now() + ANSWER_TIME;
        for asked in asked {
            if Instant::now() > end {
                let text = format!("not decided within {} s", ANSWER_TIME.as_secs());
                return Err(Refusal::of_http(StatusCode::SERVICE_UNAVAILABLE, text));
            }
            if see(self.evaluated(asked, caller, counts).await?) {
                break;
            }
            // Others wait for this thread.
            yield_now().await;
        }
        Ok(())
    }

    /// Decides on an evaluation. The inner error says why it is denied without a decision.
    async fn evaluated(
        &self,
        asked: Asked,
        caller: Option<&Caller>,
        counts: bool,
    ) -> Result<Result<Decided, Refusal>, Refusal> {
        let decided = match asked {
            Ok(asked) => self.decide(asked, caller, counts).await,
            Err(refusal) => Err(refusal),
        };
        match decided {
            Err(refusal) if is_about_request(&refusal) => Err(refusal),
            evaluated => Ok(evaluated),
        }
    }

    /// Says what decides.
    fn status(&self) -> Result<String, Refusal> {
        let (documents, basis) = self.decider.documents().map_err(failed)?;
        let store = self.store.as_ref().map(|it| it.values.is_connected());
        Ok(status(&documents, &basis, store))
    }

    /// Decides on a call. `counts` says whether it is to be made.
    async fn decide(
        &self,
        mut asked: AskedCall,
        caller: Option<&Caller>,
        counts: bool,
    ) -> Result<Decided, Refusal> {
        if let Some(caller) = caller {
            asked.agent = caller.agent(asked.agent)?;
            // Before anything is counted.
            if caller.has_tenants() {
                caller.admit_tenant(&self.decider.documents().map_err(failed)?.0)?;
            }
        }
        let ((decision, approval), basis) = self.settled(&asked, counts).await?;
        basis.stands()?;
        if let Some(caller) = caller {
            caller.admit_tenant(&decision.documents)?;
        }
        Ok(Decided {
            decision,
            approval,
            basis,
        })
    }

    /// Decides on a question, after what the store keeps of its client if that decides too. Nothing is written if the call does
    /// not count.
    async fn settled<Q: decider::Question>(
        &self,
        question: &Q,
        counts: bool,
    ) -> Result<(Q::Answer, Arc<Basis>), Refusal> {
        let Some(store) = &self.store else {
            return answered(self.decider.decide(question));
        };
        let (kept_at, basis) = answered(self.decider.kept_at(question))?;
        let Some(KeptAt { key, lifetime_ms }) = kept_at else {
            return answered(self.decider.decide(question));
        };
        basis.stands()?;
        store.values.keeps_for(lifetime_ms)?;
        let Ok(_waiting) = self.waiting.try_acquire() else {
            return Err(Unavailable(format!("{WAITING} questions wait for the store")).into());
        };
        let settled = store.change(&key, |kept| {
            let decided = self.decider.decide_after(question, kept);
            let ((answer, next), by) = answered(decided).map_err(of_store)?;
            Ok(match Arc::ptr_eq(&basis, &by) {
                true => Step::Answer((answer, by), next.filter(|_| counts)),
                false => Step::Outdated,
            })
        });
        settled.await?.ok_or_else(outdated)
    }

    /// Shows an approval, or takes the answer of a human to it.
    async fn approval(
        &self,
        given: &Given<'_>,
        caller: Option<&Caller>,
    ) -> Result<String, Refusal> {
        given.only(&["answer", "id"])?;
        let (id, answer) = (given.required_string("id")?, given.boolean("answer")?);
        let store = self.store.as_ref().ok_or_else(nothing_there)?;
        let unknown = || {
            let text = "no approval of this id is open";
            Refusal::of_http(StatusCode::NOT_FOUND, text)
        };
        let key = id.split_once('-').map(|(key, _)| key);
        let is_key =
            |it: &&str| it.len() == KEY_DIGITS && it.bytes().all(|it| it.is_ascii_hexdigit());
        let key = key.filter(is_key).ok_or_else(unknown)?;
        let found = store.change(key, |kept| {
            let Some(kept) = kept else {
                return Ok(Step::Answer(None, None));
            };
            let found = self.decider.approval((key, kept), &id, answer);
            let (found, _) = answered(found).map_err(of_store)?;
            Ok(Step::Answer(found.approval, found.kept))
        });
        let found = found.await?.flatten().ok_or_else(unknown)?;
        if let Some(answer) = answer {
            let by = caller.map_or("this user", |it| &it.name);
            let what = if answer { "approved" } else { "denied" };
            output::note(format_args!("{by} {what} {id}"));
        }
        Ok(approval(&found))
    }
}

/// Refuses a decision whose basis decides no longer, or is not the one whose tenant was looked at.
fn stands(basis: &Arc<Basis>, tenant_by: Option<&Arc<Basis>>) -> Result<(), Refusal> {
    basis.stands()?;
    match tenant_by.is_none_or(|it| Arc::ptr_eq(it, basis)) {
        true => Ok(()),
        false => Err(outdated()),
    }
}

fn outdated() -> Refusal {
    let text = "another bundle decides since the question came";
    Refusal::of_http(StatusCode::SERVICE_UNAVAILABLE, text)
}

/// Returns what an engine says, or why a question has no answer.
fn answered<T>(said: Said<T>) -> Result<T, Refusal> {
    said.map_err(failed)?.map_err(unanswerable)
}

/// A proxy that asks about the messages that pass it.
struct Proxy {
    service: Rc<Service>,
    /// None if it is of this user.
    caller: Option<Arc<Caller>>,
}

impl Decide for Proxy {
    async fn request(&self, attributes: Attributes) -> Result<Verdict, Refusal> {
        let caller = self.caller.as_deref();
        self.service.verdict(attributes, caller).await
    }

    fn result(&self, request: &envoy::Passed, result: &Json) -> Result<Enforced, Refusal> {
        let service = &self.service;
        let tenant_by = service.admit_tenant(self.caller.as_deref(), request.tenant())?;
        let decided = service.decider.enforce_result(&request.received(result));
        let (enforced, basis) = answered(decided)?;
        stands(&basis, tenant_by.as_ref())?;
        Ok(enforced)
    }

    fn text(&self, refusal: &Refusal) -> String {
        refusal.json(&self.service.names)
    }
}

/// Returns what a request asks for.
fn endpoint(request: &Request<Incoming>) -> Option<Endpoint> {
    Endpoint::named(request.uri().path())
}

/// Returns the answer that a request of gRPC gets with a status alone.
fn of_status(status: Status) -> Response<envoy::Body> {
    status.into_http().map(Either::Left)
}

/// Returns whether a refusal is about the whole request, not about one evaluation.
fn is_about_request(refusal: &Refusal) -> bool {
    refusal.status.is_server_error() || refusal.status == StatusCode::FORBIDDEN
}

/// Repeats the id of a request in its answer.
fn with_id(id: Option<HeaderValue>, mut answer: Answer) -> Answer {
    if let Some(id) = id {
        answer.headers_mut().insert(REQUEST_ID, id);
    }
    answer
}

/// Returns why a body was not read.
fn unread((status, why): (StatusCode, String)) -> Refusal {
    Refusal {
        code: (status == StatusCode::PAYLOAD_TOO_LARGE).then_some(Code::InputTooLarge),
        ..Refusal::of_http(status, why)
    }
}

/// Returns a refusal as one of the store, if what it keeps can't be read.
fn of_store(refusal: Refusal) -> Refusal {
    match refusal.code {
        Some(Code::WrongDocument) => Unavailable(refusal.text).into(),
        _ => refusal,
    }
}

fn unanswerable(Unanswerable { code, text }: Unanswerable) -> Refusal {
    Refusal::new(code, text)
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
