//! Envoy's `ext_authz` in front of a locked server \[MCP, envoy.service.auth.v3\].
//!
//! | module | content |
//! |---|---|
//! | `attributes` | what Envoy says of a request |
//! | `message` | the message of MCP in it, and who answers |
//! | `verdict` | the answer to Envoy |

mod attributes;
mod message;
mod verdict;

use super::answer::{CodeNames, Refusal};
use envoy_types::pb::envoy::service::auth::v3::{CheckRequest, CheckResponse};
use hyper::body::Incoming;
use hyper::{Request, Response};
use std::future::{Ready, ready};
use std::time::Duration;
use tokio::time::timeout;
use tonic::server::{Grpc, UnaryService};
use tonic::{Status, body};
use tonic_prost::ProstCodec;

pub(crate) use attributes::Attributes;
pub(crate) use message::{Asked, asked};

/// The path of the method by which Envoy asks.
pub(crate) const CHECK: &str = "/envoy.service.auth.v3.Authorization/Check";

/// Maximum size of a question beside the body that it is about, in bytes.
const ATTRIBUTES_BYTES: usize = 256 << 10;

/// What Envoy does with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It passes on to the server.
    Passes,
    /// The client gets an answer of MCP, in JSON.
    Answered { status: u16, body: String },
}

/// Answers a request of Envoy. `decide` says what Envoy does with the request that it is about.
pub(crate) async fn answer(
    request: Request<Incoming>,
    names: &CodeNames,
    (max_bytes, time): (usize, Duration),
    decide: impl FnMut(Attributes) -> Result<Verdict, Refusal>,
) -> Response<body::Body> {
    let codec = ProstCodec::<CheckResponse, CheckRequest>::default();
    let mut grpc = Grpc::new(codec).max_decoding_message_size(max_bytes + ATTRIBUTES_BYTES);
    let answered = timeout(time, grpc.unary(Check { decide, names }, request)).await;
    answered.unwrap_or_else(|_| {
        Status::deadline_exceeded("the question arrived too slowly").into_http()
    })
}

/// The method by which Envoy asks.
struct Check<'n, D> {
    decide: D,
    names: &'n CodeNames,
}

impl<D: FnMut(Attributes) -> Result<Verdict, Refusal>> UnaryService<CheckRequest> for Check<'_, D> {
    type Response = CheckResponse;
    type Future = Ready<Result<tonic::Response<CheckResponse>, Status>>;

    fn call(&mut self, request: tonic::Request<CheckRequest>) -> Self::Future {
        let decided = Attributes::read(request.into_inner()).and_then(&mut self.decide);
        let response = match decided {
            Ok(verdict) => verdict::of_verdict(verdict),
            Err(refusal) => verdict::of_refusal(&refusal, self.names),
        };
        ready(Ok(tonic::Response::new(response)))
    }
}
