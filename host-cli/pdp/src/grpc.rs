//! Unary requests of gRPC, and the decisions of `/v1/decide` in them.
//!
//! `docs/reference/pdp.proto` has the messages; a test compares them with the types here.

use super::answer::{CodeNames, Refusal, named_digests};
use super::decider::Decided;
use agent_host::contract::decision_point::{self, AskedCall, CallSubject, Verdict};
use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use prost::Message;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::time::Duration;
use tokio::time::timeout;
use tonic::server::{Grpc, UnaryService};
use tonic::{Code, Status, body};
use tonic_prost::ProstCodec;

/// The path of the method that decides.
pub(crate) const DECIDE: &str = "/agent.pdp.v1.DecisionPoint/Decide";

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Question {
    #[prost(string, tag = "1")]
    tool: String,
    #[prost(bytes = "vec", optional, tag = "2")]
    arguments: Option<Vec<u8>>,
    #[prost(message, optional, tag = "3")]
    subject: Option<Subject>,
    #[prost(string, optional, tag = "4")]
    agent: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Subject {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    r#type: String,
    #[prost(bytes = "vec", optional, tag = "3")]
    properties: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Decision {
    #[prost(bool, tag = "1")]
    allowed: bool,
    #[prost(message, repeated, tag = "2")]
    reasons: Vec<Reason>,
    #[prost(message, optional, tag = "3")]
    approval: Option<Approval>,
    #[prost(map = "string, string", tag = "4")]
    documents: HashMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
struct Reason {
    #[prost(string, tag = "1")]
    code: String,
    #[prost(string, tag = "2")]
    text: String,
    #[prost(string, tag = "3")]
    help: String,
    #[prost(string, optional, tag = "4")]
    pointer: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Approval {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    text: String,
    #[prost(uint64, tag = "3")]
    expires_unix_ms: u64,
}

impl Question {
    /// Returns the call.
    ///
    /// # Errors
    ///
    /// There is no subject.
    pub(crate) fn call(self) -> Result<AskedCall, Status> {
        let subject = self.subject;
        let subject = subject.ok_or_else(|| Status::invalid_argument("`subject` is missing"))?;
        Ok(AskedCall {
            tool: self.tool,
            arguments: self.arguments,
            subject: CallSubject {
                id: subject.id,
                kind: subject.r#type,
                properties: subject.properties,
            },
            agent: self.agent,
        })
    }
}

impl Decision {
    pub(crate) fn of(decided: &Decided, names: &CodeNames) -> Self {
        let reasons = match &decided.decision.verdict {
            Verdict::Allowed => &[][..],
            Verdict::Refused(reasons) => reasons,
        };
        let reason = |it: &decision_point::CallReason| Reason {
            code: names.name(it.code).to_owned(),
            text: it.text.clone(),
            help: it.help.clone(),
            pointer: it.pointer.clone(),
        };
        let documents = named_digests(&decided.decision.documents, &decided.basis);
        Self {
            allowed: decided.is_allowed(),
            reasons: reasons.iter().map(reason).collect(),
            approval: decided.approval.as_ref().map(|it| Approval {
                id: it.id.clone(),
                text: it.text.clone(),
                expires_unix_ms: it.expires_unix_ms,
            }),
            documents: documents
                .map(|(name, digest)| (name.to_owned(), digest.clone()))
                .collect(),
        }
    }
}

/// Returns the status of gRPC for a refusal.
pub(crate) fn status(refusal: &Refusal, names: &CodeNames) -> Status {
    let code = match refusal.status {
        StatusCode::BAD_REQUEST => Code::InvalidArgument,
        StatusCode::FORBIDDEN => Code::PermissionDenied,
        StatusCode::SERVICE_UNAVAILABLE => Code::Unavailable,
        _ => Code::Internal,
    };
    Status::new(code, refusal.sentence(names).trim_end())
}

/// Answers a unary request of at most some bytes, within a time.
pub(crate) async fn unary<Q, A>(
    request: Request<Incoming>,
    (max_bytes, time): (usize, Duration),
    answer: impl AsyncFn(Q) -> Result<A, Status>,
) -> Response<body::Body>
where
    Q: Message + Default + 'static,
    A: Message + 'static,
{
    let mut grpc = Grpc::new(ProstCodec::<A, Q>::default()).max_decoding_message_size(max_bytes);
    let method = Method {
        answer: &answer,
        messages: PhantomData,
    };
    let answered = timeout(time, grpc.unary(method, request)).await;
    answered.unwrap_or_else(|_| {
        Status::deadline_exceeded("the question arrived too slowly").into_http()
    })
}

struct Method<'f, F, Q, A> {
    answer: &'f F,
    messages: PhantomData<(Q, A)>,
}

impl<'f, F, Q, A> UnaryService<Q> for Method<'f, F, Q, A>
where
    F: AsyncFn(Q) -> Result<A, Status>,
    Q: 'f,
    A: 'f,
{
    type Response = A;
    type Future = LocalBoxFuture<'f, Result<tonic::Response<A>, Status>>;

    fn call(&mut self, request: tonic::Request<Q>) -> Self::Future {
        let answer = self.answer;
        async move { Ok(tonic::Response::new(answer(request.into_inner()).await?)) }.boxed_local()
    }
}
