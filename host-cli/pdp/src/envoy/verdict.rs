//! The answer to a question of `ext_authz`.

use super::super::answer::{CodeNames, Refusal};
use super::Verdict;
use super::attributes::EXTENSIONS;
use envoy_types::pb::envoy::config::core::v3::{HeaderValue, HeaderValueOption};
use envoy_types::pb::envoy::service::auth::v3::check_response::HttpResponse;
use envoy_types::pb::envoy::service::auth::v3::{
    CheckResponse, DeniedHttpResponse, OkHttpResponse,
};
use envoy_types::pb::envoy::r#type::v3::HttpStatus;
use envoy_types::pb::google::rpc::Status;
use tonic::Code;

/// Returns the answer for what was decided. A header of the client that looks like what the route says is taken away.
pub(super) fn of_verdict(verdict: Verdict) -> CheckResponse {
    match verdict {
        Verdict::Passes(_) => CheckResponse {
            status: Some(Status::default()),
            http_response: Some(HttpResponse::OkResponse(OkHttpResponse {
                headers_to_remove: EXTENSIONS.map(str::to_owned).to_vec(),
                ..OkHttpResponse::default()
            })),
            ..CheckResponse::default()
        },
        Verdict::Answered { status, body } => denied(status, body),
    }
}

/// Returns the answer for a request that was not decided.
pub(super) fn of_refusal(refusal: &Refusal, names: &CodeNames) -> CheckResponse {
    denied(refusal.status.as_u16(), refusal.json(names))
}

fn denied(status: u16, body: String) -> CheckResponse {
    let header = |key: &str, value: &str| HeaderValueOption {
        header: Some(HeaderValue {
            key: key.to_owned(),
            value: value.to_owned(),
            ..HeaderValue::default()
        }),
        ..HeaderValueOption::default()
    };
    CheckResponse {
        status: Some(Status {
            code: Code::PermissionDenied.into(),
            ..Status::default()
        }),
        http_response: Some(HttpResponse::DeniedResponse(DeniedHttpResponse {
            status: Some(HttpStatus {
                code: status.into(),
            }),
            headers: vec![
                header("cache-control", "no-store"),
                header("content-type", "application/json"),
            ],
            body,
        })),
        ..CheckResponse::default()
    }
}
