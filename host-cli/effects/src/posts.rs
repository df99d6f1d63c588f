//! Documents that this host posts to URLs of its operator.

use super::requests::{Requests, target};
use agent_host::contract::run::Connection;
use agent_host::{Engine, Instance, call};
use agent_way_out::{Cancel, ErrorKind, Limits, Method, Request, Resolver, WayOut, headers};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Maximum time of a request with its response.
const TIME: Duration = Duration::from_secs(10);

/// Maximum number of addresses of a name that are tried.
const ADDRESSES: usize = 4;

/// Maximum size of a response, in bytes.
const BODY_BYTES: u64 = 64 << 10;

/// Posts documents to URLs of the operator.
#[derive(Clone)]
pub struct Posts {
    engine: Engine,
    way_out: Arc<WayOut>,
    resolver: Resolver,
}

impl Posts {
    /// Posts by the way out. `engine` reads URLs, and `resolver` resolves their hosts.
    #[must_use]
    pub fn new(engine: Engine, resolver: Resolver) -> Self {
        Self {
            way_out: Requests::new(resolver.clone()).way_out(),
            engine,
            resolver,
        }
    }

    fn decider(&self) -> Result<Instance, String> {
        self.engine.instantiate().map_err(|failure| failure.message)
    }

    /// Checks that a text is a URL that a connection can be made for.
    ///
    /// # Errors
    ///
    /// The reason why it is not.
    pub fn check_url(&self, url: &str) -> Result<(), String> {
        let mut engine = self.decider()?;
        let found = call!(engine, network.http_endpoint_of(url));
        let found = found.map_err(|failure| failure.message)?;
        found.map(|_| ()).map_err(|refusal| refusal.message)
    }

    /// Posts JSON to a URL that the operator named. Its name may lead to this machine or into its network: unlike a
    /// server of an index, no other party chose it. Returns the status and the body of the response.
    ///
    /// # Errors
    ///
    /// The reason why there is no response within 10 s.
    pub async fn post_json(&self, url: &str, body: String) -> Result<(u16, Vec<u8>), String> {
        let mut engine = self.decider()?;
        let found = call!(engine, network.http_endpoint_of(url));
        let found = found.map_err(|failure| failure.message)?;
        let found = found.map_err(|refusal| refusal.message)?;
        let addresses = match found.is_name {
            true => {
                let resolved = self.resolver.within(TIME).resolve(&found.host).await;
                let resolved = resolved.map_err(|error| error.message)?;
                resolved.iter().map(IpAddr::to_string).collect()
            }
            false => vec![found.host.trim_matches(['[', ']']).to_owned()],
        };
        let mut request = Request::new(Method::POST, found.target);
        request.headers = headers([("content-type", "application/json", false)])?;
        request.body = body.into();
        let limits = Limits {
            connect: TIME,
            head: TIME,
            total: TIME,
            body_bytes: BODY_BYTES,
            ..Limits::default()
        };
        let never = Cancel::never();
        let mut failure = format!("`{}` has no address", found.host);
        // `localhost` has an address of each family, and a collector often listens at one.
        for address in addresses.into_iter().take(ADDRESSES) {
            let target = target(&Connection {
                tls: found.tls,
                host: found.host.clone(),
                port: found.port,
                address,
            })?;
            let sent = self.way_out.send(&target, request.clone(), &limits, &never);
            match sent.await {
                Ok(response) => return Ok((response.status.as_u16(), response.body.to_vec())),
                Err(error) if error.kind == ErrorKind::Connect => failure = error.message,
                Err(error) => return Err(error.message),
            }
        }
        Err(failure)
    }
}
