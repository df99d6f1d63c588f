//! An endpoint over the way out.

use crate::error::Error;
use crate::http_peer::{HttpAnswer, HttpMethod, HttpPeer, HttpRequest};
use crate::wait::Wait;
use agent_way_out::header::{HeaderName, HeaderValue};
use agent_way_out::{
    Connection, ErrorKind, Exchange, HeaderMap, Limits, Method, Request, Target, WayOut,
};
use bytes::Bytes;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Maximum time that a connection is kept for the next request. Servers close idle ones after some
/// seconds, and a request that meets the closing is lost.
const IDLE: Duration = Duration::from_secs(2);

/// Maximum number of connections that wait for the next request. Opening one costs more than a request.
const IDLE_CONNECTIONS: usize = 16;

/// The endpoint of a server at a checked address. A connection carries several requests, one after the other.
/// Clones share the connections that wait for the next one.
#[derive(Clone)]
pub struct Endpoint {
    way_out: Arc<WayOut>,
    target: Target,
    path: String,
    headers: HeaderMap,
    limits: Limits,
    idle: Idle,
}

/// The connections that wait for the next request, and since when, the last one at the end.
type Idle = Arc<Mutex<Vec<(Connection, Instant)>>>;

impl fmt::Debug for Endpoint {
    /// Shows neither path nor headers: they may hold secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Endpoint")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Returns the endpoint at a path of a target. Each request carries `headers`. Only `connect` and
    /// `head_bytes` of `limits` are used; operations determine the other limits.
    #[must_use]
    pub fn new(
        way_out: Arc<WayOut>,
        target: Target,
        path: impl Into<String>,
        headers: HeaderMap,
        limits: Limits,
    ) -> Self {
        Self {
            way_out,
            target,
            path: path.into(),
            headers,
            limits,
            idle: Idle::default(),
        }
    }

    fn request(&self, request: HttpRequest) -> Result<Request, Error> {
        let method = match request.method {
            HttpMethod::Post => Method::POST,
            HttpMethod::Get => Method::GET,
            HttpMethod::Delete => Method::DELETE,
        };
        let mut prepared = Request::new(method, self.path.clone());
        prepared.headers = self.headers.clone();
        for (name, value) in &request.headers {
            let header = HeaderName::try_from(name)
                .ok()
                .zip(HeaderValue::try_from(value).ok());
            let (name, value) = header.ok_or_else(|| {
                Error::Transport(agent_way_out::Error {
                    kind: ErrorKind::InvalidRequest,
                    message: "a header can't be sent".to_owned(),
                })
            })?;
            prepared.headers.insert(name, value);
        }
        prepared.body = request.body;
        Ok(prepared)
    }

    /// Returns a waiting connection if one is still open, and else a new one.
    async fn connection(&self, limits: &Limits, wait: &Wait) -> Result<Connection, Error> {
        loop {
            let waiting = {
                let mut idle = lock(&self.idle);
                idle.retain(|(_, since)| since.elapsed() < IDLE);
                idle.pop()
            };
            let Some((mut connection, _)) = waiting else {
                break;
            };
            if connection.is_open().await {
                return Ok(connection);
            }
        }
        Ok(self
            .way_out
            .open(&self.target, limits, &wait.cancel)
            .await?)
    }
}

fn lock(idle: &Idle) -> std::sync::MutexGuard<'_, Vec<(Connection, Instant)>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HttpPeer for Endpoint {
    type Answer = EndpointAnswer;

    async fn send(
        &self,
        request: HttpRequest,
        body_bytes: usize,
        wait: &Wait,
    ) -> Result<EndpointAnswer, Error> {
        let request = self.request(request)?;
        let limits = Limits {
            // A slow tool delays the head, so that the whole time is for both.
            head: wait.left(),
            total: wait.left(),
            body_bytes: body_bytes as u64,
            ..self.limits
        };
        let connection = self.connection(&limits, wait).await?;
        let limits = Limits {
            head: wait.left(),
            total: wait.left(),
            ..limits
        };
        let exchange = connection.request(request, &limits, &wait.cancel).await?;
        Ok(EndpointAnswer {
            exchange: Some(exchange),
            idle: Arc::clone(&self.idle),
            body_bytes,
        })
    }
}

/// An answer over the way out.
pub struct EndpointAnswer {
    /// The exchange, until its end.
    exchange: Option<Exchange>,
    idle: Idle,
    body_bytes: usize,
}

impl HttpAnswer for EndpointAnswer {
    fn status(&self) -> u16 {
        let exchange = self.exchange.as_ref();
        exchange.map_or(0, |exchange| exchange.status().as_u16())
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.exchange.as_ref()?.headers().get_all(name).iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let Some(exchange) = &mut self.exchange else {
            return Ok(None);
        };
        match exchange.chunk().await {
            Ok(Some(chunk)) => Ok(Some(chunk)),
            Ok(None) => {
                if let Some(exchange) = self.exchange.take()
                    && let Some(connection) = exchange.into_connection().await
                {
                    let mut idle = lock(&self.idle);
                    if idle.len() < IDLE_CONNECTIONS {
                        idle.push((connection, Instant::now()));
                    }
                }
                Ok(None)
            }
            Err(error) if error.kind == ErrorKind::BodyTooLarge => Err(Error::TooLarge {
                what: "the body",
                limit: self.body_bytes,
            }),
            Err(error) => Err(error.into()),
        }
    }
}
