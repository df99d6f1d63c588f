//! The daemon as this program reaches it.

use agent_daemon::Place;
use agent_host::Failure;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{boolean, member, string};
use agent_syntax::{Node, Value, json_string};
use agent_way_out::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use agent_way_out::{Cancel, Limits, Method, Request, Roots, Scheme, Target, WayOut};
use bytes::Bytes;
use std::time::Duration;

/// Maximum time of a verb: that of an app which has to become ready, and more.
const TIME: Duration = Duration::from_secs(900);

/// A running daemon.
pub(crate) struct Client {
    place: Place,
    way_out: WayOut,
}

/// The response of a verb.
pub(crate) struct Response(String);

impl Client {
    pub(crate) fn new(place: Place) -> Self {
        Self {
            place,
            // Nothing here is encrypted.
            way_out: WayOut::new(Roots::default()),
        }
    }

    /// Calls a verb with an input, which is JSON.
    pub(crate) async fn verb(
        &self,
        name: &str,
        task: Option<&str>,
        input: &str,
    ) -> Result<Response, Failure> {
        let task = task.map_or_else(String::new, |task| {
            format!(r#""task_id":{},"#, json_string(task))
        });
        let body = format!(r#"{{{task}"input":{input}}}"#);
        self.post(&format!("/verbs/{name}"), body).await
    }

    pub(crate) async fn post(&self, path: &str, body: String) -> Result<Response, Failure> {
        self.ask(Method::POST, path, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Response, Failure> {
        self.ask(Method::GET, path, String::new()).await
    }

    async fn ask(&self, method: Method, path: &str, body: String) -> Result<Response, Failure> {
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
        Ok(Response(text))
    }
}

impl Response {
    /// Returns the response as text.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Reads something of the response; `None` if it is not there.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Node<'_>) -> Option<T>) -> Option<T> {
        parse_strict(&self.0).as_ref().and_then(read)
    }

    /// Returns a text of `data`.
    pub(crate) fn data(&self, name: &str) -> Option<String> {
        self.read(|root| Some(string(member(member(root, "data")?, name)?)?.to_owned()))
    }

    /// Returns a part of `data` as JSON.
    pub(crate) fn json(&self, name: &str) -> Option<String> {
        self.read(|root| {
            let found = member(member(root, "data")?, name)?;
            Some(found.span.of(&self.0).to_owned())
        })
    }

    /// Returns why the verb failed; `None` if it did not.
    pub(crate) fn failure(&self) -> Option<Failure> {
        self.read(|root| {
            if boolean(member(root, "ok")?)? {
                return None;
            }
            let error = member(root, "error")?;
            let text = |name| member(error, name).and_then(string).unwrap_or_default();
            let message = format!("{} ({})", text("message"), text("code"));
            let hints = match member(error, "hints").map(|it| &it.value) {
                Some(Value::Sequence(hints)) => hints.iter().filter_map(string).collect(),
                _ => Vec::new(),
            };
            let failure = Failure::new(message);
            Some(match hints.is_empty() {
                true => failure,
                false => failure.help(hints.join("; ")),
            })
        })
    }
}
