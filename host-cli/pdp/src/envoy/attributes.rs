//! What Envoy says of a request.
//!
//! Who asks and which server is meant comes from the configuration of the route, or from the certificate that Envoy
//! verified; never from a header of the client.

use super::super::answer::Refusal;
use agent_host::contract::decision_point::CallSubject;
use agent_host::output::visible;
use bytes::Bytes;
use envoy_types::pb::envoy::service::auth::v3::CheckRequest;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use std::collections::HashMap;

const AGENT: &str = "agent-name";
const SERVER: &str = "agent-server";
const SUBJECT: &str = "agent-subject";
const SUBJECT_TYPE: &str = "agent-subject-type";
const TENANT: &str = "agent-tenant";

/// The names of what a route says.
pub(super) const EXTENSIONS: [&str; 5] = [AGENT, SERVER, SUBJECT, SUBJECT_TYPE, TENANT];

/// The beginning of each of these names.
pub(super) const OWN: &str = "agent-";

/// The type of a subject whose certificate Envoy verified.
const PEER: &str = "peer";

/// The type of a subject that the route names without a type.
const ROUTE: &str = "route";

/// A request that Envoy asks about.
#[derive(Debug)]
pub(crate) struct Attributes {
    /// The locked server that the route leads to.
    pub(crate) server: String,
    pub(crate) agent: Option<String>,
    pub(crate) tenant: Option<String>,
    pub(crate) subject: CallSubject,
    pub(super) head: Head,
    pub(super) body: Bytes,
}

impl Attributes {
    /// Reads those of a question of `ext_authz`.
    ///
    /// # Errors
    ///
    /// As [`Self::new`], or the question is about no request of HTTP.
    pub(super) fn of_check(request: CheckRequest) -> Result<Self, Refusal> {
        let attributes = request.attributes.unwrap_or_default();
        let http = attributes.request.and_then(|it| it.http);
        let http = http.ok_or_else(|| not_http("the question is about no request of HTTP"))?;
        let headers = http.headers.iter();
        let head = Head::read(
            &http.method,
            headers.map(|(name, value)| (name.as_str(), value.as_bytes())),
        )?;
        let principal = attributes.source.map(|it| it.principal);
        let body = match http.raw_body.is_empty() {
            true => http.body.into(),
            false => http.raw_body.into(),
        };
        Self::new(
            attributes.context_extensions,
            principal.as_deref(),
            head,
            body,
        )
    }

    /// Returns those of a request with what its route says, and the name in the certificate that Envoy verified.
    ///
    /// # Errors
    ///
    /// The route names no server or something unknown, or nobody is known to ask.
    pub(super) fn new(
        mut route: HashMap<String, String>,
        principal: Option<&str>,
        head: Head,
        body: Bytes,
    ) -> Result<Self, Refusal> {
        let own = |it: &&String| it.starts_with(OWN) && !EXTENSIONS.contains(&it.as_str());
        if let Some(unknown) = route.keys().find(own) {
            let text = format!("`{}` of the route is not known", visible(unknown));
            return Err(misconfigured(text));
        }
        let mut named = |name: &str| route.remove(name).filter(|it| !it.is_empty());
        let server = named(SERVER)
            .ok_or_else(|| misconfigured(format!("the route names no server: `{SERVER}`")))?;
        let (agent, tenant) = (named(AGENT), named(TENANT));
        let (subject, kind) = (named(SUBJECT), named(SUBJECT_TYPE));
        let (id, usual) = match (subject, principal.filter(|it| !it.is_empty())) {
            (Some(subject), _) => (subject, ROUTE),
            (None, Some(peer)) => (peer.to_owned(), PEER),
            (None, None) => {
                let text = format!("nobody is known to ask: no certificate, and no `{SUBJECT}`");
                return Err(misconfigured(text));
            }
        };
        Ok(Self {
            server,
            agent,
            tenant,
            subject: CallSubject {
                id,
                kind: kind.unwrap_or_else(|| usual.to_owned()),
                properties: None,
            },
            head,
            body,
        })
    }
}

/// The head of a request.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
}

impl Head {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// The request is not one of HTTP.
    pub(super) fn read<'h>(
        method: &str,
        headers: impl Iterator<Item = (&'h str, &'h [u8])>,
    ) -> Result<Self, Refusal> {
        let method = method.parse();
        Ok(Self {
            method: method.map_err(|_| not_http("the method is none of HTTP"))?,
            headers: read_headers(headers).ok_or_else(|| not_http("a header is none of HTTP"))?,
        })
    }
}

/// Reads headers, each of which Envoy has joined to one line. It gives the first line of a message as headers too, which are
/// left out.
pub(super) fn read_headers<'h>(
    lines: impl Iterator<Item = (&'h str, &'h [u8])>,
) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in lines.filter(|(name, _)| !name.starts_with(':')) {
        let name = name.parse::<HeaderName>().ok()?;
        headers.append(name, HeaderValue::from_bytes(value).ok()?);
    }
    Some(headers)
}

fn misconfigured(text: String) -> Refusal {
    Refusal::of_http(StatusCode::FORBIDDEN, text)
}

fn not_http(text: &str) -> Refusal {
    Refusal::of_http(StatusCode::BAD_REQUEST, text)
}
