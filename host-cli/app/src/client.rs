//! The verbs of a daemon, and their responses.

use crate::refusal::Refusal;
use agent_host::Failure;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{boolean, items, member, string};
use agent_syntax::{Node, json_string};

/// A running daemon.
pub(crate) struct VerbClient(agent_daemon::Client);

/// The response of a verb.
pub(crate) struct Response(String);

impl VerbClient {
    pub(crate) fn new(place: agent_daemon::Place) -> Self {
        Self(agent_daemon::Client::new(place))
    }

    /// Calls a verb with an input, which is JSON.
    pub(crate) async fn verb(
        &self,
        name: &str,
        task: Option<&str>,
        input: &str,
    ) -> Result<Response, Refusal> {
        let task = task.map_or_else(String::new, |task| {
            format!(r#""task_id":{},"#, json_string(task))
        });
        let body = format!(r#"{{{task}"input":{input}}}"#);
        self.post(&format!("/verbs/{name}"), body).await
    }

    pub(crate) async fn post(&self, path: &str, body: String) -> Result<Response, Refusal> {
        let posted = self.0.post(path, body).await;
        posted.map(Response).map_err(Refusal::of_network)
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Response, Refusal> {
        let got = self.0.get(path).await;
        got.map(Response).map_err(Refusal::of_network)
    }
}

impl Response {
    /// Returns a response that was made here.
    pub(crate) fn of(text: String) -> Self {
        Self(text)
    }

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
    pub(crate) fn failure(&self) -> Option<Refusal> {
        self.read(|root| {
            if boolean(member(root, "ok")?)? {
                return None;
            }
            let error = member(root, "error")?;
            let text = |name| member(error, name).and_then(string).unwrap_or_default();
            let message = format!("{} ({})", text("message"), text("code"));
            let hints = member(error, "hints").and_then(items).unwrap_or_default();
            let hints: Vec<_> = hints.iter().filter_map(string).collect();
            let failure = Failure::new(message);
            Some(Refusal {
                failure: match hints.is_empty() {
                    true => failure,
                    false => failure.help(hints.join("; ")),
                },
                envelope: self.0.clone(),
            })
        })
    }
}
