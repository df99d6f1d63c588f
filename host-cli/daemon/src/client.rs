//! A running daemon as other programs of this user reach it.

use super::http::CLIENT_HEADER;
use super::running::Place;
use agent_host::Failure;
use agent_way_out::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use agent_way_out::{Cancel, Limits, Method, Request, Roots, Scheme, Target, WayOut};
use bytes::Bytes;
use std::time::Duration;

/// Maximum time of a verb: that of an app which has to become ready, and more.
const TIME: Duration = Duration::from_secs(900);

/// A running daemon.
pub struct Client {
    place: Place,
    way_out: WayOut,
    /// The name as which it asks; `None` for the command line.
    name: Option<&'static str>,
}

impl Client {
    /// Returns the daemon at a place, for the command line.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self {
            place,
            // Nothing here is encrypted.
            way_out: WayOut::new(Roots::default()),
            name: None,
        }
    }

    /// Returns the same for a client of another name, which has tasks of its own.
    #[must_use]
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }

    /// Posts a request. Returns the JSON of the answer.
    ///
    /// # Errors
    ///
    /// When the daemon does not answer, or refuses the request before it reads it.
    pub async fn post(&self, path: &str, body: String) -> Result<String, Failure> {
        self.ask(Method::POST, path, body).await
    }

    /// Returns the JSON at a path.
    ///
    /// # Errors
    ///
    /// As of [`Self::post`].
    pub async fn get(&self, path: &str) -> Result<String, Failure> {
        self.ask(Method::GET, path, String::new()).await
    }

    async fn ask(&self, method: Method, path: &str, body: String) -> Result<String, Failure> {
        let address = self.place.address;
        let failed = |error: agent_way_out::Error| {
            let message = format_args!("the daemon at {address} does not answer: {error}");
            Failure::new(message).help("look at the messages of `mcp mcpd`")
        };
        let target = Target::new(Scheme::Http, &address.ip().to_string(), address);
        let mut request = Request::new(method, path);
        let token = format!("Bearer {}", self.place.token.reveal());
        let token = HeaderValue::try_from(token).map_err(Failure::internal)?;
        request.headers.insert(AUTHORIZATION, token);
        let kind = HeaderValue::from_static("application/json");
        request.headers.insert(CONTENT_TYPE, kind);
        if let Some(name) = self.name {
            let header = HeaderName::from_static(CLIENT_HEADER);
            request
                .headers
                .insert(header, HeaderValue::from_static(name));
        }
        request.body = Bytes::from(body);
        let limits = Limits {
            head: TIME,
            total: TIME,
            ..Limits::default()
        };
        let target = target.map_err(failed)?;
        let never = Cancel::never();
        let sent = self.way_out.send(&target, request, &limits, &never);
        let response = sent.await.map_err(failed)?;
        let text = String::from_utf8(response.body.to_vec()).map_err(Failure::internal)?;
        if !text.starts_with('{') {
            let text = text.trim();
            return Err(Failure::new(format_args!(
                "the daemon refused the request: {text}"
            )));
        }
        Ok(text)
    }
}
