//! Host names and HTTP requests, over the way out.

use super::effects::failed;
use agent_host::contract::run::{
    Connection, FailureKind, HeaderValue as Value, HttpRequest, HttpResponse, Outcome, Resolve,
};
use agent_way_out::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use agent_way_out::{
    Cancel, Error, ErrorKind, HeaderMap, Limits, Method, Request, Resolver, Roots, Scheme,
    SystemLookup, Target, WayOut,
};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// The way out of runs, and the secrets that it inserts.
pub(crate) struct Requests {
    way_out: Arc<WayOut>,
    /// The values of secrets by name.
    secrets: BTreeMap<String, String>,
}

impl Requests {
    pub(crate) fn new(secrets: BTreeMap<String, String>) -> Self {
        Self {
            way_out: Arc::new(WayOut::new(Roots::system())),
            secrets,
        }
    }

    pub(crate) fn way_out(&self) -> Arc<WayOut> {
        Arc::clone(&self.way_out)
    }

    /// Resolves a host.
    pub(crate) async fn resolve(&self, resolve: Resolve) -> Outcome {
        let resolver = Resolver::new(SystemLookup, Duration::from_millis(resolve.timeout_ms));
        match resolver.resolve(&resolve.host).await {
            Ok(addresses) => Outcome::Addresses(addresses.iter().map(IpAddr::to_string).collect()),
            Err(error) => unsent(&error),
        }
    }

    /// Makes a request.
    pub(crate) async fn request(&self, request: HttpRequest) -> Outcome {
        let limits = limits(request.timeout_ms, request.max_body_bytes);
        let prepared = target(&request.connection)
            .and_then(|target| self.prepare(request).map(|request| (target, request)));
        let (target, request) = match prepared {
            Ok(prepared) => prepared,
            Err(message) => return failed(FailureKind::Failed, message),
        };
        let never = Cancel::never();
        let sent = self.way_out.send(&target, request, &limits, &never);
        match sent.await {
            Ok(response) => {
                let content_type = response.headers.get(CONTENT_TYPE);
                let content_type = content_type.and_then(|it| it.to_str().ok());
                Outcome::Response(HttpResponse {
                    status: response.status.as_u16(),
                    content_type: content_type.unwrap_or_default().to_owned(),
                    body: response.body.to_vec(),
                })
            }
            Err(error) => unsent(&error),
        }
    }

    fn prepare(&self, request: HttpRequest) -> Result<Request, String> {
        let method = Method::from_bytes(request.method.as_bytes());
        let method = method.map_err(|_| format!("{:?} is not a method", request.method))?;
        let mut prepared = Request::new(method, request.target);
        prepared.headers = self.headers(&request.headers)?;
        prepared.body = request.body.unwrap_or_default().into();
        Ok(prepared)
    }

    /// Returns headers with the values of the secrets that they name.
    fn headers(&self, headers: &[agent_host::contract::run::Header]) -> Result<HeaderMap, String> {
        let mut map = HeaderMap::new();
        for header in headers {
            let name = HeaderName::from_bytes(header.name.as_bytes());
            let name =
                name.map_err(|_| format!("{:?} is not the name of a header", header.name))?;
            let (value, is_secret) = match &header.value {
                Value::Literal(value) => (value, false),
                Value::Secret(secret) => match self.secrets.get(secret) {
                    Some(value) => (value, true),
                    None => return Err(format!("the operator has no secret `{secret}`")),
                },
            };
            let value = HeaderValue::from_str(value);
            let mut value = value.map_err(|_| format!("the value of `{name}` can't be sent"))?;
            value.set_sensitive(is_secret);
            map.append(name, value);
        }
        Ok(map)
    }
}

/// Returns the server of a checked connection.
pub(crate) fn target(connection: &Connection) -> Result<Target, String> {
    let scheme = match connection.tls {
        true => Scheme::Https,
        false => Scheme::Http,
    };
    let address: IpAddr = connection
        .address
        .parse()
        .map_err(|_| "no address".to_owned())?;
    let address = SocketAddr::new(address, connection.port);
    Target::new(scheme, &connection.host, address).map_err(|error| error.message)
}

fn limits(timeout_ms: u64, body_bytes: u64) -> Limits {
    let total = Duration::from_millis(timeout_ms);
    let usual = Limits::default();
    Limits {
        connect: usual.connect.min(total),
        head: usual.head.min(total),
        total,
        body_bytes,
        ..usual
    }
}

/// Returns the outcome of an exchange without a response.
fn unsent(error: &Error) -> Outcome {
    let kind = match error.kind {
        ErrorKind::Timeout => FailureKind::Timeout,
        ErrorKind::BodyTooLarge | ErrorKind::HeadTooLarge => FailureKind::LimitExceeded,
        _ => FailureKind::Failed,
    };
    failed(kind, error.message.clone())
}
