//! What Envoy says of a request.
//!
//! Who asks and which server is meant comes from the configuration of the route, `context_extensions`, or from the
//! certificate that Envoy verified; never from a header.

use super::super::answer::Refusal;
use agent_host::contract::decision_point::CallSubject;
use agent_host::output::visible;
use bytes::Bytes;
use envoy_types::pb::envoy::service::auth::v3::CheckRequest;
use envoy_types::pb::envoy::service::auth::v3::attribute_context::HttpRequest;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};

const AGENT: &str = "agent-name";
const SERVER: &str = "agent-server";
const SUBJECT: &str = "agent-subject";
const SUBJECT_TYPE: &str = "agent-subject-type";
const TENANT: &str = "agent-tenant";

/// The names of what a route says.
pub(super) const EXTENSIONS: [&str; 5] = [AGENT, SERVER, SUBJECT, SUBJECT_TYPE, TENANT];

/// The beginning of each of these names.
const OWN: &str = "agent-";

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
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Attributes {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// The route names no server or something unknown, nobody is known to ask, or the request is not one of HTTP.
    pub(super) fn read(request: CheckRequest) -> Result<Self, Refusal> {
        let attributes = request.attributes.unwrap_or_default();
        let mut extensions = attributes.context_extensions;
        let own = |it: &&String| it.starts_with(OWN) && !EXTENSIONS.contains(&it.as_str());
        if let Some(unknown) = extensions.keys().find(own) {
            let text = format!("`{}` of the route is not known", visible(unknown));
            return Err(misconfigured(text));
        }
        let mut named = |name: &str| extensions.remove(name).filter(|it| !it.is_empty());
        let server = named(SERVER)
            .ok_or_else(|| misconfigured(format!("the route names no server: `{SERVER}`")))?;
        let (agent, tenant) = (named(AGENT), named(TENANT));
        let (subject, kind) = (named(SUBJECT), named(SUBJECT_TYPE));
        let peer = attributes.source.map(|it| it.principal);
        let (id, usual) = match (subject, peer.filter(|it| !it.is_empty())) {
            (Some(subject), _) => (subject, ROUTE),
            (None, Some(peer)) => (peer, PEER),
            (None, None) => {
                let text = format!("nobody is known to ask: no certificate, and no `{SUBJECT}`");
                return Err(misconfigured(text));
            }
        };
        let http = attributes.request.and_then(|it| it.http);
        let http = http.ok_or_else(|| not_http("the question is about no request of HTTP"))?;
        let method = http.method.parse();
        Ok(Self {
            server,
            agent,
            tenant,
            subject: CallSubject {
                id,
                kind: kind.unwrap_or_else(|| usual.to_owned()),
                properties: None,
            },
            method: method.map_err(|_| not_http("the method is none of HTTP"))?,
            headers: headers(&http)?,
            body: match http.raw_body.is_empty() {
                true => http.body.into(),
                false => http.raw_body.into(),
            },
        })
    }
}

/// Reads the headers, each of which Envoy has joined to one line.
fn headers(http: &HttpRequest) -> Result<HeaderMap, Refusal> {
    let mut headers = HeaderMap::new();
    for (name, value) in &http.headers {
        // Envoy gives the first line of the request as headers too.
        if name.starts_with(':') {
            continue;
        }
        let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value))
        else {
            return Err(not_http("a header is none of HTTP"));
        };
        headers.append(name, value);
    }
    Ok(headers)
}

fn misconfigured(text: String) -> Refusal {
    Refusal::of_http(StatusCode::FORBIDDEN, text)
}

fn not_http(text: &str) -> Refusal {
    Refusal::of_http(StatusCode::BAD_REQUEST, text)
}
