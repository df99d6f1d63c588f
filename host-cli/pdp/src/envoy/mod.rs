//! Envoy in front of a locked server \[MCP, envoy.service.auth.v3, envoy.service.ext_proc.v3\].
//!
//! `ext_authz` asks about requests. `ext_proc` asks about requests and about what servers answer.
//!
//! | module | content |
//! |---|---|
//! | `answer` | what a client gets of a server's answer |
//! | `attributes` | what Envoy says of a request |
//! | `exchange` | a request and its answer, as `ext_proc` sends them |
//! | `message` | the message of MCP in a request, and who answers |
//! | `verdict` | the answer to `ext_authz` |

mod answer;
mod attributes;
mod exchange;
mod message;
mod verdict;

use super::answer::{CodeNames, Refusal};
use super::grpc::unary;
use agent_host::contract::decision_point::Enforced;
use agent_mcp_protocol::Json;
use envoy_types::pb::envoy::service::auth::v3::{CheckRequest, CheckResponse};
use envoy_types::pb::envoy::service::ext_proc::v3::{ProcessingRequest, ProcessingResponse};
use exchange::Exchange;
use futures_util::StreamExt as _;
use futures_util::stream::{LocalBoxStream, unfold};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::{Request, Response};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tonic::codec::{Codec as _, EncodeBody, SingleMessageCompressionOverride, Streaming};
use tonic::metadata::GRPC_CONTENT_TYPE;
use tonic::{Status, body};
use tonic_prost::{ProstCodec, ProstEncoder};

pub(crate) use attributes::Attributes;
pub(crate) use message::{Asked, Passed, asked};

/// The path of the method by which `ext_authz` asks.
pub(crate) const CHECK: &str = "/envoy.service.auth.v3.Authorization/Check";

/// The path of the method by which `ext_proc` asks.
pub(crate) const PROCESS: &str = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";

/// Maximum size of a question beside the body that it is about, in bytes.
const ATTRIBUTES_BYTES: usize = 256 << 10;

/// JSON-RPC: the server's answer can't be passed on.
const INTERNAL_ERROR: i64 = -32603;

/// What Envoy does with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It passes on to the server.
    Passes(Passed),
    /// The client gets an answer of MCP, in JSON.
    Answered { status: u16, body: String },
}

/// Decides on what passes Envoy.
pub(crate) trait Decide {
    /// Decides on a request.
    ///
    /// # Errors
    ///
    /// It is none of MCP, or is not decided.
    async fn request(&self, attributes: Attributes) -> Result<Verdict, Refusal>;

    /// Decides what a client gets of the result for a request that has passed on.
    ///
    /// # Errors
    ///
    /// It is not decided.
    fn result(&self, request: &Passed, result: &Json) -> Result<Enforced, Refusal>;

    /// Returns what a client reads of a refusal, in JSON.
    fn text(&self, refusal: &Refusal) -> String;
}

/// The body of an answer to Envoy.
pub(crate) type Body = Either<body::Body, Replies>;

/// The answers to the messages of an exchange.
pub(crate) type Replies = EncodeBody<
    ProstEncoder<ProcessingResponse>,
    LocalBoxStream<'static, Result<ProcessingResponse, Status>>,
>;

/// Answers the messages of an exchange, each when it has come. `held` is kept until the exchange ends.
pub(crate) fn exchange(
    request: Request<Incoming>,
    max_bytes: usize,
    decide: impl Decide + 'static,
    held: OwnedSemaphorePermit,
) -> Response<Replies> {
    let (head, body) = request.into_parts();
    let mut codec = ProstCodec::<ProcessingResponse, ProcessingRequest>::default();
    let limit = Some(max_bytes + ATTRIBUTES_BYTES);
    let messages = Streaming::new_request(codec.decoder(), body, None, limit);
    let exchange = Exchange::open(&head.headers, decide);
    let replies = unfold(Some((messages, exchange, held)), async |open| {
        let (mut messages, mut exchange, held) = open?;
        let answered = match messages.message().await {
            Ok(Some(message)) => exchange.answer(message).await,
            // Envoy asks no more.
            Ok(None) => return None,
            Err(status) => Err(status),
        };
        // An end without an error would let everything pass.
        let open = answered.is_ok().then_some((messages, exchange, held));
        Some((answered, open))
    });
    let replies = replies.boxed_local();
    let usual = SingleMessageCompressionOverride::default();
    let body = EncodeBody::new_server(codec.encoder(), replies, None, usual, None);
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
    response
}

/// Answers a question of `ext_authz`. `decide` says what Envoy does with the request that it is about.
pub(crate) async fn check(
    request: Request<Incoming>,
    names: &CodeNames,
    (max_bytes, time): (usize, Duration),
    decide: impl AsyncFn(Attributes) -> Result<Verdict, Refusal>,
) -> Response<body::Body> {
    let limits = (max_bytes + ATTRIBUTES_BYTES, time);
    unary(request, limits, async |question: CheckRequest| {
        let decided = match Attributes::of_check(question) {
            Ok(attributes) => decide(attributes).await,
            Err(refusal) => Err(refusal),
        };
        Ok::<CheckResponse, _>(match decided {
            Ok(verdict) => verdict::of_verdict(verdict),
            Err(refusal) => verdict::of_refusal(&refusal, names),
        })
    })
    .await
}
