//! Host names and HTTP requests, over the way out.

use super::effects::failed;
use super::secrets::Secrets;
use agent_host::contract::run::{
    Connection, FailureKind, HeaderValue as Value, HttpRequest, HttpResponse, Outcome, Resolve,
};
use agent_way_out::header::CONTENT_TYPE;
use agent_way_out::{
    Cancel, Error, ErrorKind, Limits, Method, Request, Resolver, Roots, Scheme, Target, WayOut,
    headers,
};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// The way out of a run.
pub(crate) struct Requests {
    way_out: Arc<WayOut>,
    resolver: Resolver,
}

impl Requests {
    pub(crate) fn new(resolver: Resolver) -> Self {
        Self {
            way_out: Arc::new(WayOut::new(Roots::system())),
            resolver,
        }
    }

    pub(crate) fn way_out(&self) -> Arc<WayOut> {
        Arc::clone(&self.way_out)
    }

    pub(crate) fn resolver(&self) -> Resolver {
        self.resolver.clone()
    }

    /// Resolves a host.
    pub(crate) async fn resolve(&self, resolve: Resolve) -> Outcome {
        let resolver = self
            .resolver
            .within(Duration::from_millis(resolve.timeout_ms));
        match resolver.resolve(&resolve.host).await {
            Ok(addresses) => Outcome::Addresses(addresses.iter().map(IpAddr::to_string).collect()),
            Err(error) => unsent(&error),
        }
    }

    /// Makes a request.
    pub(crate) async fn request(&self, request: HttpRequest, secrets: &Secrets) -> Outcome {
        let limits = limits(request.timeout_ms, request.max_body_bytes);
        let prepared = target(&request.connection)
            .and_then(|target| prepare(request, secrets).map(|request| (target, request)));
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
}

fn prepare(request: HttpRequest, secrets: &Secrets) -> Result<Request, String> {
    let method = Method::from_bytes(request.method.as_bytes());
    let method = method.map_err(|_| format!("{:?} is not a method", request.method))?;
    let mut prepared = Request::new(method, request.target);
    let values = request.headers.iter().map(|header| {
        let (value, is_secret) = match &header.value {
            Value::Literal(value) => (&**value, false),
            Value::Secret(name) => (secrets.get(name)?, true),
        };
        Ok((&*header.name, value, is_secret))
    });
    prepared.headers = headers(values.collect::<Result<Vec<_>, String>>()?)?;
    prepared.body = request.body.unwrap_or_default().into();
    Ok(prepared)
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
