//! `httpcheck.assert`: its probes, and whether responses satisfy them \[2, 2.4\].

use super::document::{items_of, text_of, whole, with_document};
use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::limits::{
    EXPECT_BODY_MAX_BYTES, HEADER_VALUE_MAX_BYTES, PROBE_PATH_MAX_BYTES, RESPONSE_MAX_BYTES,
};
use super::schemas::SchemaOf;
use super::verb::DaemonVerb;
use agent_syntax::Value;
use agent_syntax::json::Writer;
use agent_syntax::members::{member, string};
use url::{Host, Url};

/// Headers that frame a message or belong to one connection. The client of probes sets them itself.
const RESERVED_HEADERS: [&str; 12] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A request with what its response must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The expected status.
    pub expect_status: u16,
    /// A text that the body must contain; `None` for any body.
    pub expect_body: Option<String>,
    /// The headers, in order.
    pub headers: Vec<(String, String)>,
}

/// A gateway of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayAddress {
    /// `127.0.0.1`, another address of loopback (IPv6 in brackets), or `localhost`.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl GatewayAddress {
    /// Returns a port of `127.0.0.1`.
    pub(crate) fn loopback(port: u16) -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port,
        }
    }
}

/// The input of `httpcheck.assert`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpcheckAssert {
    /// The probes, in order.
    pub probes: Vec<Probe>,
    /// The gateway to send them to; `None` for a direct connection.
    pub gateway: Option<GatewayAddress>,
    /// The task of `via`.
    pub task_id: Option<String>,
}

impl HttpcheckAssert {
    /// Reads the input.
    ///
    /// # Errors
    /// `E_PLAN`, with every problem: the input violates its schema, a path or a header can't be sent, or the
    /// gateway is not on loopback.
    pub fn read(input: &[u8]) -> Result<Self, Failure> {
        with_document(
            SchemaOf::Input(DaemonVerb::HttpcheckAssert),
            input,
            |root| {
                let mut problems = Problems::new();
                let mut probes = Vec::new();
                for (number, probe) in items_of(root, "probes").iter().enumerate() {
                    let at = format!("/probes/{number}");
                    let path = text_of(probe, "path").unwrap_or_default();
                    if let Some(fault) = target_fault(path) {
                        problems.add(
                        format!("`{at}/path` {fault}: {}", quoted(path)),
                        "write a path that begins with `/`, and percent-encode other characters",
                    );
                    }
                    let expect_body = text_of(probe, "expect_body");
                    if expect_body.is_some_and(|it| it.len() > EXPECT_BODY_MAX_BYTES) {
                        problems.add(
                            format!(
                                "`{at}/expect_body` has more than {EXPECT_BODY_MAX_BYTES} bytes"
                            ),
                            "expect a shorter part of the body",
                        );
                    }
                    let mut headers: Vec<(String, String)> = Vec::new();
                    if let Some(Value::Mapping(entries)) =
                        member(probe, "headers").map(|it| &it.value)
                    {
                        for entry in entries {
                            let value = string(&entry.value).unwrap_or_default();
                            let is_twice = headers
                                .iter()
                                .any(|it| it.0.eq_ignore_ascii_case(&entry.key));
                            let fault =
                                is_twice.then_some("differs from another one in case alone");
                            if let Some(fault) = header_fault(&entry.key, value).or(fault) {
                                problems.add(
                                    format!("the header {} of `{at}` {fault}", quoted(&entry.key)),
                                    "remove or correct the header",
                                );
                            }
                            headers.push((entry.key.clone().into_owned(), value.to_owned()));
                        }
                    }
                    let status = whole(probe, "expect_status", &at, &mut problems);
                    probes.push(Probe {
                        method: text_of(probe, "method").unwrap_or_default().to_owned(),
                        path: path.to_owned(),
                        expect_status: status
                            .and_then(|it| u16::try_from(it).ok())
                            .unwrap_or_default(),
                        expect_body: expect_body.map(str::to_owned),
                        headers,
                    });
                }
                let via = member(root, "via");
                let gateway = via.and_then(|it| text_of(it, "gateway")).map(gateway);
                let gateway = match gateway {
                    Some(Err(fault)) => {
                        problems.add(
                            format!("`/via/gateway` {fault}"),
                            "write an address of this machine, such as `http://127.0.0.1:23456/`",
                        );
                        None
                    }
                    Some(Ok(gateway)) => Some(gateway),
                    None => None,
                };
                problems.finish(ErrorCode::Plan)?;
                Ok(Self {
                    probes,
                    gateway,
                    task_id: via.and_then(|it| text_of(it, "task_id")).map(str::to_owned),
                })
            },
        )
    }

    /// Returns the named task: that of `via`, or the one beside the input.
    ///
    /// # Errors
    /// `E_PLAN`: both are named, and differ.
    pub fn named_task<'t>(&'t self, beside: Option<&'t str>) -> Result<Option<&'t str>, Failure> {
        match (self.task_id.as_deref(), beside) {
            (Some(via), Some(beside)) if via != beside => {
                let message = format!(
                    "`/via/task_id` is {}, and the request names {}",
                    quoted(via),
                    quoted(beside)
                );
                Err(Failure::new(ErrorCode::Plan, message).hint("name one task"))
            }
            (via, beside) => Ok(via.or(beside)),
        }
    }

    /// Returns `data` of the response as JSON that ends with a newline. A probe without an outcome failed.
    pub fn data(&self, outcomes: &[ProbeOutcome]) -> String {
        let missing = ProbeOutcome {
            status: None,
            latency_ms: 0,
            reason: Some("the probe was not sent".to_owned()),
        };
        let outcomes: Vec<_> = (0..self.probes.len())
            .map(|it| outcomes.get(it).unwrap_or(&missing))
            .collect();
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("details").array(|w| {
                for (probe, outcome) in self.probes.iter().zip(&outcomes) {
                    w.object(|w| {
                        w.key("latency_ms").number(outcome.latency_ms);
                        w.key("path").string(&probe.path);
                        if let Some(reason) = &outcome.reason {
                            w.key("reason").string(reason);
                        }
                        match outcome.status {
                            Some(status) => w.key("status").number(status.into()),
                            None => w.key("status").null(),
                        }
                    });
                }
            });
            w.key("pass")
                .bool(outcomes.iter().all(|it| it.reason.is_none()));
        });
        w.finish()
    }
}

/// The outcome of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeOutcome {
    /// The status, if there was a response.
    pub status: Option<u16>,
    /// The time from the request to the end of the response, in milliseconds.
    pub latency_ms: u32,
    /// Why the probe failed; `None` if it passed.
    pub reason: Option<String>,
}

impl Probe {
    /// Decides whether a response satisfies the probe. Of its body the first [`RESPONSE_MAX_BYTES`] decide.
    pub fn judge(&self, status: u16, body: &[u8], latency_ms: u32) -> ProbeOutcome {
        let body = &body[..body.len().min(RESPONSE_MAX_BYTES)];
        let reason = if status != self.expect_status {
            Some(format!(
                "the status is {status}, and must be {}",
                self.expect_status
            ))
        } else if self
            .expect_body
            .as_ref()
            .is_some_and(|it| !contains(body, it.as_bytes()))
        {
            Some("the body does not contain the expected text".to_owned())
        } else {
            None
        };
        ProbeOutcome {
            status: Some(status),
            latency_ms,
            reason,
        }
    }

    /// Returns the outcome of a probe that has no response.
    pub fn unanswered(&self, reason: &str, latency_ms: u32) -> ProbeOutcome {
        ProbeOutcome {
            status: None,
            latency_ms,
            reason: Some(reason.to_owned()),
        }
    }
}

/// Returns how probes ended, such as `3 of 3 passed`.
pub(crate) fn summary(outcomes: &[ProbeOutcome]) -> String {
    let passed = outcomes.iter().filter(|it| it.reason.is_none()).count();
    format!("{passed} of {} passed", outcomes.len())
}

/// Returns the lines of `probes.log`.
pub(crate) fn log_lines(probes: &[Probe], outcomes: &[ProbeOutcome]) -> String {
    let lines = probes.iter().zip(outcomes).map(|(probe, outcome)| {
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("latency_ms").number(outcome.latency_ms);
            w.key("method").string(&probe.method);
            w.key("pass").bool(outcome.reason.is_none());
            w.key("path").string(&probe.path);
            w.key("reason").optional(outcome.reason.as_deref());
            match outcome.status {
                Some(status) => w.key("status").number(status.into()),
                None => w.key("status").null(),
            }
            w.key("verb").string(DaemonVerb::HttpcheckAssert.name());
        });
        w.finish()
    });
    lines.collect()
}

/// Returns whether bytes contain others, in linear time: a text is searched, if both are UTF-8.
pub(crate) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    let Ok(part) = str::from_utf8(part) else {
        return false;
    };
    bytes
        .utf8_chunks()
        .any(|chunk| chunk.valid().contains(part))
}

/// Returns what is wrong with the target of a request (RFC 9112, 3.2.1), as the predicate of a sentence.
fn target_fault(target: &str) -> Option<&'static str> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let is_allowed = |it: u8| it.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%/".contains(&it);
    if target.len() > PROBE_PATH_MAX_BYTES {
        return Some("has more than 4096 bytes");
    }
    if !path.starts_with('/') {
        return Some("does not begin with `/`");
    }
    if !path.bytes().all(is_allowed) || !query.bytes().all(|it| is_allowed(it) || it == b'?') {
        return Some("has a character that must be percent-encoded");
    }
    let mut encodings = target.split('%').skip(1);
    let is_encoded = |it: &str| {
        let digits = it.as_bytes().get(..2);
        digits.is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit))
    };
    if !encodings.all(is_encoded) {
        return Some("has a malformed percent-encoding");
    }
    let is_dots = |segment: &str| {
        let segment = segment.to_ascii_lowercase().replace("%2e", ".");
        matches!(&*segment, "." | "..")
    };
    if path.split('/').any(is_dots) {
        return Some("has a segment of dots");
    }
    if path.starts_with("//") {
        return Some("begins with two slashes, which name a host");
    }
    None
}

/// Returns what is wrong with a header (RFC 9110, 5), as the predicate of a sentence.
fn header_fault(name: &str, value: &str) -> Option<&'static str> {
    let is_token = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Some("has a character that no name of a header has");
    }
    if RESERVED_HEADERS.contains(&&*name.to_ascii_lowercase()) {
        return Some("is set by the client of probes alone");
    }
    if value.len() > HEADER_VALUE_MAX_BYTES {
        return Some("has a value of more than 4096 bytes");
    }
    if !value.bytes().all(|it| matches!(it, b' '..=b'~' | b'\t')) || value.trim() != value {
        return Some("has a value with other characters than printable ASCII between its ends");
    }
    None
}

/// Reads the URL of a gateway. Returns what is wrong with it otherwise, as the predicate of a sentence.
fn gateway(text: &str) -> Result<GatewayAddress, &'static str> {
    let url = Url::parse(text).map_err(|_| "is not a URL")?;
    if url.scheme() != "http" {
        return Err("is not an `http` URL");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("has user info");
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err("has a path, a query or a fragment");
    }
    let is_loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name.strip_suffix('.').unwrap_or(name) == "localhost",
        None => false,
    };
    if !is_loopback {
        return Err("is not on loopback");
    }
    let host = url.host_str().unwrap_or_default();
    Ok(GatewayAddress {
        host: host.strip_suffix('.').unwrap_or(host).to_owned(),
        port: url.port_or_known_default().ok_or("has no port")?,
    })
}

#[cfg(test)]
mod tests {
    use super::{HttpcheckAssert, gateway, header_fault, target_fault};
    use crate::document::with_document;
    use crate::envelope::success;
    use crate::failure::ErrorCode;
    use crate::limits::{
        EXPECT_BODY_MAX_BYTES, PROBE_PATH_MAX_BYTES, PROBES_MAX, RESPONSE_MAX_BYTES,
    };
    use crate::schemas::SchemaOf;
    use crate::verb::DaemonVerb;

    #[test]
    fn targets_are_paths_with_queries() {
        let long = format!("/{}", "a".repeat(PROBE_PATH_MAX_BYTES));
        for (target, fault) in [
            ("/", ""),
            ("/a/b?c=d&e=%20?", ""),
            ("/a..b/.x", ""),
            ("/~user/(x)", ""),
            ("", "does not begin"),
            ("a", "does not begin"),
            ("http://127.0.0.1/", "does not begin"),
            ("//evil.example/", "two slashes"),
            ("/a b", "percent-encoded"),
            ("/a\r\nHost: x", "percent-encoded"),
            ("/a#b", "percent-encoded"),
            ("/\u{e9}", "percent-encoded"),
            ("/a\\b", "percent-encoded"),
            ("/?a b", "percent-encoded"),
            ("/%", "malformed"),
            ("/%zz", "malformed"),
            ("/?%2", "malformed"),
            ("/..", "dots"),
            ("/a/../b", "dots"),
            ("/a/%2E%2e/b", "dots"),
            ("/.", "dots"),
            (&long, "4096"),
        ] {
            let found = target_fault(target);
            assert_eq!(found.is_none(), fault.is_empty(), "{target} {found:?}");
            assert!(
                found.unwrap_or_default().contains(fault),
                "{target} {found:?}"
            );
        }
    }

    #[test]
    fn headers_can_be_sent() {
        for (name, value, fault) in [
            ("Accept", "text/html, */*;q=0.1", ""),
            ("x-a", "", ""),
            ("X-A", "a\tb", ""),
            ("", "x", "no name"),
            ("a b", "x", "no name"),
            ("a:", "x", "no name"),
            ("a\r\nb", "x", "no name"),
            ("\u{e9}", "x", "no name"),
            ("Host", "x", "client of probes"),
            ("content-LENGTH", "1", "client of probes"),
            ("Transfer-Encoding", "chunked", "client of probes"),
            ("Connection", "close", "client of probes"),
            ("Upgrade", "websocket", "client of probes"),
            ("a", "b\r\nc: d", "printable"),
            ("a", "b\0", "printable"),
            ("a", "\u{e9}", "printable"),
            ("a", " b", "printable"),
        ] {
            let found = header_fault(name, value);
            assert_eq!(
                found.is_none(),
                fault.is_empty(),
                "{name} {value} {found:?}"
            );
            assert!(
                found.unwrap_or_default().contains(fault),
                "{name} {value} {found:?}"
            );
        }
        assert!(header_fault("a", &"x".repeat(5_000)).is_some());
    }

    #[test]
    fn a_gateway_is_on_loopback() {
        for (text, host, port) in [
            ("http://127.0.0.1:23456/", "127.0.0.1", 23_456),
            ("http://127.0.0.1:23456", "127.0.0.1", 23_456),
            ("http://localhost:1", "localhost", 1),
            ("http://LOCALHOST.:1", "localhost", 1),
            ("http://[::1]:8080/", "[::1]", 8_080),
            ("http://127.1:80/", "127.0.0.1", 80),
            ("http://2130706433/", "127.0.0.1", 80),
        ] {
            let found = gateway(text).map(|it| (it.host, it.port));
            assert_eq!(found, Ok((host.to_owned(), port)), "{text}");
        }
        for (text, fault) in [
            ("", "is not a URL"),
            ("127.0.0.1:23456", "is not a URL"),
            ("https://127.0.0.1/", "is not an `http` URL"),
            ("unix:/run/x.sock", "is not an `http` URL"),
            ("http://user@127.0.0.1/", "has user info"),
            ("http://:p@127.0.0.1/", "has user info"),
            ("http://127.0.0.1/apps", "has a path"),
            ("http://127.0.0.1/?q", "has a path"),
            ("http://127.0.0.1/#f", "has a path"),
            ("http://0.0.0.0/", "is not on loopback"),
            ("http://10.0.0.1/", "is not on loopback"),
            ("http://example.com/", "is not on loopback"),
            ("http://127.0.0.1.example.com/", "is not on loopback"),
            ("http://localhost.example/", "is not on loopback"),
            ("http://169.254.169.254/", "is not on loopback"),
            ("http://[::ffff:127.0.0.1]/", "is not on loopback"),
        ] {
            let found = gateway(text).expect_err(text);
            assert!(found.starts_with(fault), "{text}: {found}");
        }
    }

    const INPUT: &str = r#"{"probes": [
        {"method": "GET", "path": "/", "expect_status": 200, "expect_body": "Hello", "headers": {"a": "b"}},
        {"method": "POST", "path": "/x", "expect_status": 404, "expect_body": null}],
        "via": {"gateway": "http://127.0.0.1:23456/", "task_id": "ab12cd"}}"#;

    #[test]
    fn responses_satisfy_probes() {
        let read = HttpcheckAssert::read(INPUT.as_bytes()).expect("an input");
        let [hello, missing] = &read.probes[..] else {
            panic!("two probes");
        };
        let mut late = vec![b'x'; RESPONSE_MAX_BYTES];
        late.extend(b"Hello");
        for (probe, status, body, reason) in [
            (hello, 200, &b"Hello, World!"[..], None),
            (hello, 200, b"\xffHello\xff", None),
            (
                hello,
                200,
                b"hello",
                Some("the body does not contain the expected text"),
            ),
            (
                hello,
                200,
                &late,
                Some("the body does not contain the expected text"),
            ),
            (
                hello,
                500,
                b"Hello",
                Some("the status is 500, and must be 200"),
            ),
            (missing, 404, b"anything", None),
            (
                missing,
                200,
                b"",
                Some("the status is 200, and must be 404"),
            ),
        ] {
            let outcome = probe.judge(status, body, 12);
            assert_eq!(outcome.reason.as_deref(), reason);
        }
        let outcomes = [hello.judge(200, b"Hello", 12), missing.judge(404, b"", 3)];
        let passed = read.data(&outcomes);
        assert_eq!(
            passed,
            "{\"details\":[{\"latency_ms\":12,\"path\":\"/\",\"status\":200},\
             {\"latency_ms\":3,\"path\":\"/x\",\"status\":404}],\"pass\":true}\n"
        );
        let failed = read.data(&[
            hello.judge(200, b"Hello", 12),
            missing.unanswered("refused", 1),
        ]);
        assert_eq!(
            failed,
            "{\"details\":[{\"latency_ms\":12,\"path\":\"/\",\"status\":200},\
             {\"latency_ms\":1,\"path\":\"/x\",\"reason\":\"refused\",\"status\":null}],\"pass\":false}\n"
        );
        let unsent = read.data(&outcomes[..1]);
        assert!(
            unsent.contains("\"reason\":\"the probe was not sent\"")
                && unsent.contains("\"pass\":false")
        );
        let output = SchemaOf::Output(DaemonVerb::HttpcheckAssert);
        for data in [passed, failed, unsent] {
            assert_eq!(
                with_document(output, success(&data).as_bytes(), |_| Ok(())),
                Ok(())
            );
        }
        assert_eq!(read.named_task(None), Ok(Some("ab12cd")));
        assert_eq!(read.named_task(Some("ab12cd")), Ok(Some("ab12cd")));
        assert!(read.named_task(Some("000000")).is_err());
    }

    #[test]
    fn wrong_inputs_are_refused() {
        let probe = |text: &str| format!("{{\"probes\": [{text}]}}");
        let long = format!(
            r#"{{"method": "GET", "path": "/", "expect_status": 200, "expect_body": "{}"}}"#,
            "é".repeat(EXPECT_BODY_MAX_BYTES / 2 + 1)
        );
        let many = vec![r#"{"method": "GET", "path": "/", "expect_status": 200}"#; PROBES_MAX + 1]
            .join(",");
        for (text, message) in [
            ("{}".to_owned(), "the document "),
            (probe(""), "`/probes` "),
            (
                probe(&long),
                "`/probes/0/expect_body` has more than 65536 bytes",
            ),
            (probe(&many), "`/probes` "),
            (probe(r#"{"method": "GET", "path": "/"}"#), "`/probes/0` "),
            (
                probe(r#"{"method": "HEAD", "path": "/", "expect_status": 200}"#),
                "`/probes/0/method` ",
            ),
            (
                probe(r#"{"method": "GET", "path": "/", "expect_status": 99}"#),
                "`/probes/0/expect_status` ",
            ),
            (
                probe(r#"{"method": "GET", "path": "/", "expect_status": 600}"#),
                "`/probes/0/expect_status` ",
            ),
            (
                probe(r#"{"method": "GET", "path": "/", "expect_status": 2e2}"#),
                "`/probes/0/expect_status` must be written in digits",
            ),
            (
                probe(r#"{"method": "GET", "path": "x", "expect_status": 200}"#),
                "`/probes/0/path` does not begin with `/`: `x`",
            ),
            (
                probe(
                    r#"{"method": "GET", "path": "/", "expect_status": 200, "headers": {"A": "", "a": ""}}"#,
                ),
                "the header `a` of `/probes/0` differs from another one in case alone",
            ),
            (
                INPUT.replace("127.0.0.1", "10.0.0.1"),
                "`/via/gateway` is not on loopback",
            ),
            (INPUT.replace("ab12cd", "AB12CD"), "`/via/task_id` "),
        ] {
            let failure = HttpcheckAssert::read(text.as_bytes()).expect_err(&text);
            assert_eq!(failure.code, ErrorCode::Plan);
            assert!(
                failure.message.starts_with(message),
                "{text}\n{}",
                failure.message
            );
            assert!(!failure.hints.is_empty(), "{text}");
        }
    }
}
