//! The collector of the gateway's spans, which is reached over the way out.

use super::gateway::Agent;
use agent_effects::{Access, random};
use agent_host::{Failure, output};
use agent_serving::hex;
use agent_syntax::json_string;
use agent_telemetry::{Collector, Reply, Report, Resource, Spans, Value};
use std::rc::Rc;
use std::time::Duration;

/// The path of a collector whose URL has none.
const PATH: &str = "v1/traces";

/// Time at the end in which the last spans are sent.
const FLUSH: Duration = Duration::from_secs(3);

/// Number of random bytes that tell this gateway from others.
const INSTANCE_BYTES: usize = 16;

/// The spans of a gateway, and where they are sent.
#[derive(Debug, Clone)]
pub struct Otlp {
    pub(crate) spans: Spans,
    url: String,
}

impl Otlp {
    /// Returns the spans of this gateway, for a collector at a URL of the operator. One without a path gets
    /// `/v1/traces`.
    ///
    /// # Errors
    ///
    /// When no connection can be made for the URL, or the system has no random bytes.
    pub fn new(url: &str, access: &Access) -> Result<Self, Failure> {
        let wrong = |message| {
            Failure::new(format_args!("the collector `{url}`: {message}"))
                .help("name it as in `http://127.0.0.1:4318/v1/traces`")
        };
        access.check_url(url).map_err(wrong)?;
        let instance = hex(&random()?[..INSTANCE_BYTES]);
        let resource = Resource {
            name: "agent-gateway".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            attributes: vec![
                ("service.instance.id", Value::Text(instance)),
                ("process.pid", Value::Number(std::process::id().into())),
            ],
        };
        Ok(Self {
            spans: Spans::new(resource),
            url: with_path(url),
        })
    }

    /// Sends spans for ever, by what an agent can reach.
    pub(crate) async fn export(self, agent: Rc<Agent>) {
        self.spans.export(&self.posts(&agent), note).await;
    }

    /// Sends the last spans, for a bounded time.
    pub(crate) async fn flush(&self, agent: &Agent) {
        self.spans.flush(&self.posts(agent), FLUSH, note).await;
    }

    fn posts<'a>(&'a self, agent: &'a Agent) -> Posts<'a> {
        Posts {
            access: &agent.service.access,
            url: &self.url,
        }
    }

    /// Returns the counts of spans, as JSON on one line.
    pub(crate) fn json(&self) -> String {
        let Report {
            queued,
            sent,
            dropped,
            failure,
        } = self.spans.report();
        // A query may hold a key.
        let url = self.url.split('?').next().unwrap_or_default();
        let failure = failure.map_or_else(|| "null".to_owned(), |it| json_string(&it));
        format!(
            r#"{{"dropped":{dropped},"failure":{failure},"queued":{queued},"sent":{sent},"url":{}}}"#,
            json_string(url)
        )
    }
}

/// Posts requests to a URL.
struct Posts<'a> {
    access: &'a Access,
    url: &'a str,
}

impl Collector for Posts<'_> {
    async fn send(&self, body: String) -> Result<Reply, String> {
        let (status, body) = self.access.post_json(self.url, body).await?;
        Ok(Reply { status, body })
    }
}

fn note(why: &str) {
    output::note(format_args!("spans were dropped: {why}"));
}

fn with_path(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    match rest.split_once('/') {
        None => format!("{scheme}://{rest}/{PATH}"),
        Some((authority, "")) => format!("{scheme}://{authority}/{PATH}"),
        Some(_) => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::with_path;

    #[test]
    fn a_collector_without_a_path_has_the_usual_one() {
        for (url, whole) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://[::1]:4318/", "http://[::1]:4318/v1/traces"),
            (
                "https://acme.example/v1/traces",
                "https://acme.example/v1/traces",
            ),
            (
                "https://acme.example/otlp?key=x",
                "https://acme.example/otlp?key=x",
            ),
        ] {
            assert_eq!(with_path(url), whole);
        }
    }
}
