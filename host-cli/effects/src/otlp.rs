//! The collector of a program's spans, which is reached over the way out.

use super::posts::Posts;
use agent_host::{Failure, output};
use agent_syntax::json_string;
use agent_telemetry::{Collector, Reply, Report, Resource, Spans, TraceId, Value};
use std::time::Duration;

/// The path of a collector whose URL has none.
const PATH: &str = "v1/traces";

/// Time at the end in which the last spans are sent.
const FLUSH: Duration = Duration::from_secs(3);

/// The spans of a program, and where they are sent.
#[derive(Clone)]
pub struct Otlp {
    spans: Spans,
    url: String,
    posts: Posts,
}

impl Otlp {
    /// Returns the spans of a program, for a collector at a URL of the operator. One without a path gets `/v1/traces`.
    ///
    /// # Errors
    ///
    /// When no connection can be made for the URL, or the system has no random bytes.
    pub fn new(program: &str, url: &str, posts: Posts) -> Result<Self, Failure> {
        let wrong = |message| {
            Failure::new(format_args!("the collector `{url}`: {message}"))
                .help("name it as in `http://127.0.0.1:4318/v1/traces`")
        };
        posts.check_url(url).map_err(wrong)?;
        let instance = TraceId::random();
        let instance = instance.ok_or_else(|| Failure::new("the system has no random bytes"))?;
        let resource = Resource {
            name: program.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            attributes: vec![
                ("service.instance.id", Value::Text(instance.hex())),
                ("process.pid", Value::Number(std::process::id().into())),
            ],
        };
        Ok(Self {
            spans: Spans::new(resource),
            url: with_path(url),
            posts,
        })
    }

    /// Returns where spans are recorded.
    #[must_use]
    pub fn spans(&self) -> &Spans {
        &self.spans
    }

    /// Sends spans for ever.
    pub async fn export(self) {
        self.spans.export(&self, note).await;
    }

    /// Sends the last spans, for a bounded time.
    pub async fn flush(&self) {
        self.spans.flush(self, FLUSH, note).await;
    }

    /// Returns the counts of spans, as JSON on one line.
    #[must_use]
    pub fn json(&self) -> String {
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

impl Collector for Otlp {
    async fn send(&self, body: String) -> Result<Reply, String> {
        let (status, body) = self.posts.post_json(&self.url, body).await?;
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
