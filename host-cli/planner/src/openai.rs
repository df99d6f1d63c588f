//! Plans of a model behind an OpenAI-compatible server.

use crate::api_key::ApiKey;
use crate::attempt::within;
use crate::completion::{Body, PATH, content, status_error};
use crate::error::{PlannerError, PlannerErrorKind};
use crate::limits::Limits;
use crate::redaction::Redaction;
use crate::request::PlannerRequest;
use agent_way_out::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use agent_way_out::{
    Cancel, Connection, ErrorKind, Method, Request, Resolver, Response, Scheme, StatusCode, Target,
    WayOut,
};
use bytes::Bytes;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::time::Instant;
use url::Url;

/// Media type of the request and of its answer.
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Maximum number of bytes of an answer for each byte of a plan: that of a control character in JSON.
const ESCAPED_BYTES: u64 = 6;
/// Number of bytes of an answer around the plan, such as a model's reasoning.
const ENVELOPE_BYTES: u64 = 1 << 20;

/// A model behind an OpenAI-compatible server. The request is `POST {base}/chat/completions` with the
/// schema of the answer as the response format.
///
/// The base URL is the operator's own, so that any address may be its server.
#[derive(Clone)]
pub struct OpenAi {
    scheme: Scheme,
    host: String,
    port: u16,
    /// The path of the endpoint.
    path: String,
    /// The name of the model.
    model: String,
    key: Option<ApiKey>,
    redaction: Arc<Redaction>,
    way_out: Arc<WayOut>,
    resolver: Resolver,
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("OpenAi")
            .field("scheme", &self.scheme)
            .field("host", &self.host)
            .field("port", &self.port)
            .field("model", &self.model)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl OpenAi {
    /// Returns a model behind a server, which need not enforce the schema.
    ///
    /// # Errors
    ///
    /// [`PlannerErrorKind::InvalidConfiguration`] when `base` is not an `http` or `https` URL of a host,
    /// or has user info, a query or a fragment.
    pub fn new(
        base: &str,
        model: impl Into<String>,
        key: Option<ApiKey>,
        way_out: Arc<WayOut>,
        resolver: Resolver,
    ) -> Result<Self, PlannerError> {
        let invalid = |message: &str| {
            let kind = PlannerErrorKind::InvalidConfiguration;
            PlannerError::new(kind, format!("the base URL {message}"))
        };
        let url = Url::parse(base).map_err(|error| invalid(&format!("is not a URL: {error}")))?;
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return Err(invalid("is neither `http` nor `https`")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("has user info; give the key by itself"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(invalid("has a query or a fragment"));
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(invalid("has no host"));
        };
        let secrets = key.as_ref().map(ApiKey::as_bytes);
        Ok(Self {
            scheme,
            host: host.strip_suffix('.').unwrap_or(host).to_owned(),
            port,
            path: format!("{}{PATH}", url.path().trim_end_matches('/')),
            model: model.into(),
            redaction: Arc::new(Redaction::new(secrets)),
            key,
            way_out,
            resolver,
        })
    }

    /// Returns the content of the model's answer.
    pub(crate) async fn plan(
        &self,
        request: &PlannerRequest,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<Vec<u8>, PlannerError> {
        let request = self.request(request)?;
        let answer = within(limits.time, cancel, self.send(request, limits, cancel)).await?;
        if answer.status != StatusCode::OK {
            return Err(status_error(answer.status, &answer.body, &self.redaction));
        }
        content(&answer.body, &self.redaction)
    }

    fn request(&self, request: &PlannerRequest) -> Result<Request, PlannerError> {
        let text = String::from_utf8(request.to_json()?).unwrap_or_default();
        let body = Body::new(&self.model, &text, request);
        let body = serde_json::to_vec(&body).map_err(|e| PlannerRequest::invalid(&e))?;
        let mut request = Request::new(Method::POST, self.path.clone());
        request.headers.insert(ACCEPT, JSON);
        request.headers.insert(CONTENT_TYPE, JSON);
        if let Some(key) = self.key.as_ref().and_then(ApiKey::authorization) {
            request.headers.insert(AUTHORIZATION, key);
        }
        request.body = Bytes::from(body);
        Ok(request)
    }

    /// Sends the one request.
    async fn send(
        &self,
        request: Request,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<Response, PlannerError> {
        let end = Instant::now() + limits.time;
        let failed = |error| PlannerError::exchange(&error, &self.redaction);
        let plan_bytes = u64::try_from(limits.plan_bytes).unwrap_or(u64::MAX);
        let defaults = agent_way_out::Limits::default();
        let limits = agent_way_out::Limits {
            // A model may think before it answers.
            head: limits.time,
            total: limits.time,
            body_bytes: plan_bytes
                .saturating_mul(ESCAPED_BYTES)
                .saturating_add(ENVELOPE_BYTES),
            ..defaults
        };
        let connection = self.connect(&limits, cancel).await.map_err(failed)?;
        let left = end.saturating_duration_since(Instant::now());
        let limits = agent_way_out::Limits {
            head: left,
            total: left,
            ..limits
        };
        let exchange = connection.request(request, &limits, cancel).await;
        let mut exchange = exchange.map_err(failed)?;
        let body = exchange.body().await.map_err(failed)?;
        Ok(Response {
            status: exchange.status(),
            headers: exchange.headers().clone(),
            body,
        })
    }

    /// Connects to the first address of the host that accepts a connection. Nothing is sent to others.
    async fn connect(
        &self,
        limits: &agent_way_out::Limits,
        cancel: &Cancel,
    ) -> Result<Connection, agent_way_out::Error> {
        let addresses = self.resolver.resolve(&self.host).await?;
        let mut refused = None;
        for address in addresses {
            let address = SocketAddr::new(address, self.port);
            let target = Target::new(self.scheme, &self.host, address)?;
            match self.way_out.open(&target, limits, cancel).await {
                Err(error) if error.kind == ErrorKind::Connect => refused = Some(error),
                other => return other,
            }
        }
        Err(refused.unwrap_or_else(|| agent_way_out::Error {
            kind: ErrorKind::Resolve,
            message: "the name has no address".to_owned(),
        }))
    }
}
