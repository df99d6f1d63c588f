//! Documents that this host posts to URLs of its operator.

use super::access::Access;
use super::requests::{headers, target};
use agent_host::call;
use agent_way_out::{Cancel, Limits, Method, Request};
use std::time::Duration;

/// Maximum time of a request with its response.
const TIME: Duration = Duration::from_secs(10);

/// Maximum size of a response, in bytes.
const BODY_BYTES: u64 = 64 << 10;

impl Access {
    /// Checks that a text is a URL that a connection can be made for.
    ///
    /// # Errors
    ///
    /// The reason why it is not.
    pub fn check_url(&self, url: &str) -> Result<(), String> {
        let mut engine = self.decider()?;
        let found = call!(engine, network.call_http_endpoint_of(url));
        let found = found.map_err(|failure| failure.message)?;
        found.map(|_| ()).map_err(|refusal| refusal.message)
    }

    /// Posts JSON to a URL that the operator named, also on this machine or in its network. Returns the status and
    /// the body of the response.
    ///
    /// # Errors
    ///
    /// The reason why there is no response within 10 s.
    pub async fn post_json(&self, url: &str, body: String) -> Result<(u16, Vec<u8>), String> {
        let (connection, path) = self.address(url, &[url], TIME).await?;
        let mut request = Request::new(Method::POST, path);
        request.headers = headers([("content-type", "application/json", false)])?;
        request.body = body.into();
        let limits = Limits {
            connect: TIME,
            head: TIME,
            total: TIME,
            body_bytes: BODY_BYTES,
            ..Limits::default()
        };
        let (target, never) = (target(&connection)?, Cancel::never());
        let way_out = self.requests.way_out();
        let sent = way_out.send(&target, request, &limits, &never).await;
        let response = sent.map_err(|error| error.message)?;
        Ok((response.status.as_u16(), response.body.to_vec()))
    }
}
