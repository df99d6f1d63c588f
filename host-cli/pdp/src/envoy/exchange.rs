//! An exchange of HTTP as Envoy's `ext_proc` sees it: each message is answered before the next one passes.

use super::super::answer::Refusal;
use super::answer::Answer;
use super::attributes::{Attributes, EXTENSIONS, Head, OWN, read_headers};
use super::message::Passed;
use super::{Decide, Verdict};
use bytes::Bytes;
use envoy_types::pb::envoy::config::core::v3::{
    HeaderMap as Lines, HeaderValue, HeaderValueOption,
};
use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::processing_mode::BodySendMode;
use envoy_types::pb::envoy::service::ext_proc::v3::body_mutation::Mutation;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request as Asked;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response as Told;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    BodyMutation, BodyResponse, CommonResponse, HeaderMutation, HeadersResponse, HttpBody,
    HttpHeaders, ImmediateResponse, ProcessingRequest, ProcessingResponse, TrailersResponse,
};
use envoy_types::pb::envoy::r#type::v3::HttpStatus;
use envoy_types::pb::google::protobuf::Struct;
use envoy_types::pb::google::protobuf::value::Kind;
use hyper::StatusCode;
use hyper::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HeaderMap};
use std::collections::HashMap;
use std::mem::replace;
use tonic::Status;

/// The attributes with the names of a certificate that Envoy verified, the preferred first, as in `ext_authz`.
const PRINCIPALS: [&str; 3] = [
    "connection.uri_san_peer_certificate",
    "connection.dns_san_peer_certificate",
    "connection.subject_peer_certificate",
];

/// One request and its answer.
pub(super) struct Exchange<D> {
    decide: D,
    /// What the route says.
    route: HashMap<String, String>,
    /// Whether bodies of answers come as a whole.
    is_buffered: bool,
    state: State,
}

enum State {
    Opened,
    /// The head of a request came, and its body comes next.
    Asked(Head, Option<String>),
    /// The request has passed on.
    Passed(Passed),
    /// The head of the answer has passed on.
    Answered(Answer),
    /// Nothing else passes.
    Closed,
}

impl<D: Decide> Exchange<D> {
    /// Begins an exchange. `metadata` is what the route adds to the question.
    pub(super) fn open(metadata: &HeaderMap, decide: D) -> Self {
        let own = metadata
            .iter()
            .filter(|(name, _)| name.as_str().starts_with(OWN));
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        Self {
            decide,
            route: own
                .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
                .collect(),
            is_buffered: false,
            state: State::Opened,
        }
    }

    /// Answers the next message.
    ///
    /// # Errors
    ///
    /// Envoy is configured to send less than is to be decided.
    pub(super) async fn answer(
        &mut self,
        message: ProcessingRequest,
    ) -> Result<ProcessingResponse, Status> {
        let asked = message
            .request
            .ok_or_else(|| unexpected("an unknown one"))?;
        if matches!(self.state, State::Opened) {
            let config = message.protocol_config.unwrap_or_default();
            self.is_buffered = buffered(config.request_body_mode, config.response_body_mode)?;
            if message.observability_mode {
                return Err(Status::failed_precondition("`observability_mode` is on"));
            }
        }
        let told = match (replace(&mut self.state, State::Closed), asked) {
            (State::Opened, Asked::RequestHeaders(given)) => {
                let principal = principal(&message.attributes);
                self.asked(&given, principal).await
            }
            (State::Asked(head, principal), Asked::RequestBody(given)) => {
                let told = Told::RequestBody(BodyResponse::default());
                self.decided(head, principal, given.body.into(), told).await
            }
            (State::Passed(request), Asked::ResponseHeaders(given)) => {
                self.answered(request, &given)
            }
            (State::Answered(mut answer), Asked::ResponseBody(given)) => {
                let HttpBody {
                    body,
                    end_of_stream,
                    ..
                } = given;
                let is_last = end_of_stream || self.is_buffered;
                let body = answer.pass(&body, is_last, &self.decide);
                if !is_last {
                    self.state = State::Answered(answer);
                }
                Ok(body_of_answer(body))
            }
            // Envoy itself answers a request that has not passed on, such as one that is too large.
            (State::Opened | State::Asked(..), Asked::ResponseHeaders(_)) => Ok(head_of_answer()),
            // What is still held of a body has no end, and does not pass.
            (state, Asked::RequestTrailers(_)) => {
                self.state = state;
                Ok(Told::RequestTrailers(TrailersResponse::default()))
            }
            (_, Asked::ResponseTrailers(_)) => {
                Ok(Told::ResponseTrailers(TrailersResponse::default()))
            }
            (State::Closed, Asked::ResponseBody(_)) => Ok(body_of_answer(Vec::new())),
            (_, Asked::RequestHeaders(_)) => return Err(unexpected("the head of a request")),
            (_, Asked::RequestBody(_)) => return Err(unexpected("the body of a request")),
            (_, Asked::ResponseHeaders(_)) => return Err(unexpected("the head of an answer")),
            (_, Asked::ResponseBody(_)) => return Err(unexpected("the body of an answer")),
        };
        let told = told.unwrap_or_else(|refusal| {
            immediate(refusal.status.as_u16(), self.decide.text(&refusal))
        });
        Ok(ProcessingResponse {
            response: Some(told),
            ..ProcessingResponse::default()
        })
    }

    /// Answers the head of a request. One without a body is decided.
    async fn asked(
        &mut self,
        given: &HttpHeaders,
        principal: Option<String>,
    ) -> Result<Told, Refusal> {
        let lines = given.headers.as_ref();
        let method = line(lines, ":method").unwrap_or_default();
        let head = Head::read(&String::from_utf8_lossy(method), named(lines))?;
        let told = CommonResponse {
            header_mutation: Some(HeaderMutation {
                // An encoded answer can't be read.
                remove_headers: [ACCEPT_ENCODING.as_str()]
                    .into_iter()
                    .chain(EXTENSIONS)
                    .map(str::to_owned)
                    .collect(),
                ..HeaderMutation::default()
            }),
            ..CommonResponse::default()
        };
        let told = Told::RequestHeaders(HeadersResponse {
            response: Some(told),
        });
        match given.end_of_stream {
            true => self.decided(head, principal, Bytes::new(), told).await,
            false => {
                self.state = State::Asked(head, principal);
                Ok(told)
            }
        }
    }

    /// Decides on a request. `told` is the reply to Envoy if it passes on.
    async fn decided(
        &mut self,
        head: Head,
        principal: Option<String>,
        body: Bytes,
        told: Told,
    ) -> Result<Told, Refusal> {
        let route = std::mem::take(&mut self.route);
        let attributes = Attributes::new(route, principal.as_deref(), head, body)?;
        Ok(match self.decide.request(attributes).await? {
            Verdict::Passes(request) => {
                self.state = State::Passed(request);
                told
            }
            Verdict::Answered { status, body } => immediate(status, body),
        })
    }

    /// Answers the head of an answer.
    fn answered(&mut self, request: Passed, given: &HttpHeaders) -> Result<Told, Refusal> {
        let lines = given.headers.as_ref();
        let bad = |text| Refusal::of_http(StatusCode::BAD_GATEWAY, text);
        let status = line(lines, ":status").and_then(|it| StatusCode::from_bytes(it).ok());
        let status = status.ok_or_else(|| bad("the server's answer has no status"))?;
        if given.end_of_stream {
            return Ok(Told::ResponseHeaders(HeadersResponse::default()));
        }
        let headers = read_headers(named(lines));
        let headers =
            headers.ok_or_else(|| bad("a header of the server's answer is none of HTTP"))?;
        let answer = Answer::begin(request, status, &headers);
        let answer = answer.ok_or_else(|| bad("the server's answer is none of MCP"))?;
        self.state = State::Answered(answer);
        Ok(head_of_answer())
    }
}

/// Returns whether Envoy sends the body of an answer as a whole.
///
/// # Errors
///
/// It does not send all of a request at once, or nothing of an answer.
fn buffered(of_request: i32, of_answer: i32) -> Result<bool, Status> {
    if of_request != BodySendMode::Buffered as i32 {
        let text = "`request_body_mode` is not `BUFFERED`, or Envoy is too old to say it";
        return Err(Status::failed_precondition(text));
    }
    match BodySendMode::try_from(of_answer) {
        Ok(BodySendMode::Buffered) => Ok(true),
        Ok(BodySendMode::Streamed) => Ok(false),
        _ => {
            let text = "`response_body_mode` is neither `STREAMED` nor `BUFFERED`";
            Err(Status::failed_precondition(text))
        }
    }
}

fn unexpected(what: &str) -> Status {
    let text = format!("the message was not expected: {what}");
    Status::failed_precondition(text)
}

/// Returns the name in the certificate of the client.
fn principal(attributes: &HashMap<String, Struct>) -> Option<String> {
    PRINCIPALS.iter().find_map(|name| {
        attributes
            .values()
            .find_map(|it| match it.fields.get(*name)?.kind.as_ref()? {
                Kind::StringValue(text) if !text.is_empty() => Some(text.clone()),
                _ => None,
            })
    })
}

/// Returns the names and values of headers.
fn named(lines: Option<&Lines>) -> impl Iterator<Item = (&str, &[u8])> {
    let lines = lines.into_iter().flat_map(|it| &it.headers);
    lines.map(|it| match it.raw_value.is_empty() {
        true => (&*it.key, it.value.as_bytes()),
        false => (&*it.key, &*it.raw_value),
    })
}

fn line<'h>(lines: Option<&'h Lines>, name: &str) -> Option<&'h [u8]> {
    named(lines).find(|(it, _)| *it == name).map(|(_, it)| it)
}

/// Passes a head whose body passes otherwise, and so may have another length.
fn head_of_answer() -> Told {
    Told::ResponseHeaders(HeadersResponse {
        response: Some(CommonResponse {
            header_mutation: Some(HeaderMutation {
                remove_headers: vec![CONTENT_LENGTH.as_str().to_owned()],
                ..HeaderMutation::default()
            }),
            ..CommonResponse::default()
        }),
    })
}

fn body_of_answer(body: Vec<u8>) -> Told {
    Told::ResponseBody(BodyResponse {
        response: Some(CommonResponse {
            body_mutation: Some(BodyMutation {
                mutation: Some(Mutation::Body(body)),
            }),
            ..CommonResponse::default()
        }),
    })
}

fn immediate(status: u16, body: String) -> Told {
    let header = |key: &str, value: &str| HeaderValueOption {
        header: Some(HeaderValue {
            key: key.to_owned(),
            raw_value: value.as_bytes().to_vec(),
            ..HeaderValue::default()
        }),
        ..HeaderValueOption::default()
    };
    Told::ImmediateResponse(ImmediateResponse {
        status: Some(HttpStatus {
            code: status.into(),
        }),
        headers: Some(HeaderMutation {
            set_headers: vec![
                header("cache-control", "no-store"),
                header("content-type", "application/json"),
            ],
            ..HeaderMutation::default()
        }),
        body: body.into_bytes(),
        ..ImmediateResponse::default()
    })
}
