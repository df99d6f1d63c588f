//! Requests to servers and authorization servers, over the way out.

use super::environment::Environment;
use agent_way_out::{Cancel, Limits, Method, Request, Response, Scheme, Target, headers};
use std::time::Duration;

/// Maximum time of one request.
pub(super) const TIME: Duration = Duration::from_secs(30);

/// Maximum size of an answer, in bytes.
const BODY_BYTES: u64 = 256 << 10;

/// The requests of one login. An address that is not public must be the host of the server itself, which a
/// human has put into the index.
pub(super) struct Fetch<'f> {
    pub(super) environment: &'f dyn Environment,
    pub(super) trusted: &'f str,
}

impl Fetch<'_> {
    /// Returns where an `https` URL is reached, or one of this machine, and the path with the query.
    pub(super) async fn target(
        &self,
        url: &str,
        time: Duration,
    ) -> Result<(Target, String), String> {
        let trusted = [self.trusted];
        let found = self.environment.find_target(url, &trusted, time).await?;
        let is_loopback = found.0.address().ip().is_loopback();
        match found.0.scheme() == Scheme::Https || is_loopback {
            true => Ok(found),
            false => Err(format!("`{url}` is not an https URL")),
        }
    }

    /// Sends a request to a URL, and returns the response whatever its status is. `more` are headers, and whether
    /// the value of each is a secret.
    pub(super) async fn send(
        &self,
        method: Method,
        url: &str,
        more: &[(&str, &str, bool)],
        body: String,
    ) -> Result<Response, String> {
        let (target, path) = self.target(url, TIME).await?;
        let mut request = Request::new(method, path);
        request.headers = headers(more.iter().copied())?;
        request.body = body.into();
        let limits = Limits {
            total: TIME,
            body_bytes: BODY_BYTES,
            ..Limits::default()
        };
        let way_out = self.environment.way_out();
        let never = Cancel::never();
        let sent = way_out.send(&target, request, &limits, &never);
        sent.await
            .map_err(|error| format!("`{url}`: {}", error.message))
    }

    /// Gets a document; `None` if there is none at the URL.
    pub(super) async fn get(&self, url: &str) -> Result<Option<Vec<u8>>, String> {
        let accept = [("accept", "application/json", false)];
        let response = self.send(Method::GET, url, &accept, String::new()).await?;
        match response.status.as_u16() {
            200 => Ok(Some(response.body.to_vec())),
            400..500 => Ok(None),
            status => Err(format!("`{url}` answered with the status {status}")),
        }
    }

    /// Posts a form or a document, with a header `Authorization` if one is given, and returns the response.
    pub(super) async fn post(
        &self,
        url: &str,
        media_type: &str,
        authorization: Option<&str>,
        body: String,
    ) -> Result<Response, String> {
        let mut given = vec![
            ("accept", "application/json", false),
            ("content-type", media_type, false),
        ];
        given.extend(authorization.map(|value| ("authorization", value, true)));
        self.send(Method::POST, url, &given, body).await
    }
}
