//! Exchanges of Envoy's `ext_proc`, in the form in which Envoy 1.40 sends them.

use super::support::{Running, running};
use agent_syntax::Node;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{boolean, items, member, string};
use envoy_types::pb::envoy::config::core::v3::{HeaderMap, HeaderValue};
use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::processing_mode::BodySendMode;
use envoy_types::pb::envoy::service::ext_proc::v3::body_mutation::Mutation;
use envoy_types::pb::envoy::service::ext_proc::v3::external_processor_client::ExternalProcessorClient;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request as Asked;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response as Told;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    CommonResponse, HttpBody, HttpHeaders, HttpTrailers, ProcessingRequest, ProcessingResponse,
    ProtocolConfiguration,
};
use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::google::protobuf::{Struct, Value};
use std::path::Path;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tonic::transport::Endpoint;
use tonic::{Code, Request, Status, Streaming};

const BUFFERED: BodySendMode = BodySendMode::Buffered;
const STREAMED: BodySendMode = BodySendMode::Streamed;

const JSON: &[(&str, &str)] = &[(":status", "200"), ("content-type", "application/json")];
const EVENTS: &[(&str, &str)] = &[(":status", "200"), ("content-type", "text/event-stream")];

const ROUTE: &[(&str, &str)] = &[
    ("agent-server", "records"),
    ("agent-subject", "alice"),
    ("agent-subject-type", "user"),
];

const LIST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{"record":"1"}}}"#;

/// The schema of every locked tool.
const SCHEMA: &str = r#"{"type":"object","properties":{"record":{"type":"string"},"status":{"type":"string"},"soft":{"type":"boolean"}}}"#;

/// An answer that lists a tool as it is locked, one with another description, and one that is not locked.
fn listed() -> String {
    let tools = [
        ("read", "read"),
        ("write", "Writes to you"),
        ("drop", "drop"),
    ];
    let tools = tools.map(|(name, description)| {
        format!(r#"{{"name":"{name}","description":"{description}","inputSchema":{SCHEMA}}}"#)
    });
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{}],"nextCursor":"2"}}}}"#,
        tools.join(",")
    )
}

/// Asserts that an answer lists only the tool that is as it is locked.
#[track_caller]
fn assert_filtered(text: &str) {
    let root = parse_strict(text).unwrap_or_else(|| panic!("no JSON: {text}"));
    let result = member(&root, "result").expect("a result");
    let tools = member(result, "tools").and_then(items).expect("tools");
    let names = tools.iter().map(|it| member(it, "name").and_then(string));
    assert_eq!(names.collect::<Vec<_>>(), [Some("read")], "{text}");
    assert_eq!(member(result, "nextCursor").and_then(string), Some("2"));
    assert!(text.starts_with(r#"{"jsonrpc":"2.0","id":7,"#), "{text}");
}

fn head(lines: &[(&str, &str)], end_of_stream: bool) -> HttpHeaders {
    let lines = lines.iter().map(|(name, value)| HeaderValue {
        key: (*name).to_owned(),
        raw_value: value.as_bytes().to_vec(),
        ..HeaderValue::default()
    });
    HttpHeaders {
        headers: Some(HeaderMap {
            headers: lines.collect(),
        }),
        end_of_stream,
        ..HttpHeaders::default()
    }
}

fn body(bytes: &[u8], end_of_stream: bool) -> HttpBody {
    HttpBody {
        body: bytes.to_vec(),
        end_of_stream,
        ..HttpBody::default()
    }
}

/// An exchange that Envoy asks about.
pub(crate) struct Exchange {
    runtime: Runtime,
    sender: UnboundedSender<ProcessingRequest>,
    replies: Streaming<ProcessingResponse>,
    modes: [BodySendMode; 2],
    principal: &'static str,
}

impl Exchange {
    pub(crate) fn open(point: &Running) -> Self {
        Self::of_route(&point.socket, ROUTE)
    }

    fn of_route(socket: &Path, route: &[(&'static str, &'static str)]) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display())).unwrap();
        let (sender, mut messages) = unbounded_channel();
        let replies = runtime.block_on(async {
            let mut client = ExternalProcessorClient::new(endpoint.connect().await.unwrap());
            let messages =
                futures_util::stream::poll_fn(move |context| messages.poll_recv(context));
            let mut request = Request::new(messages);
            for (name, value) in route {
                request.metadata_mut().insert(*name, value.parse().unwrap());
            }
            client.process(request).await.unwrap().into_inner()
        });
        Self {
            runtime,
            sender,
            replies,
            modes: [BUFFERED, STREAMED],
            principal: "",
        }
    }

    /// Sends a message, and returns the reply.
    fn ask(&mut self, asked: Asked) -> Result<Told, Status> {
        let name = Value {
            kind: Some(Kind::StringValue(self.principal.to_owned())),
        };
        let fields = [("connection.uri_san_peer_certificate".to_owned(), name)];
        let attributes = Struct {
            fields: fields.into(),
        };
        let [of_request, of_answer] = self.modes;
        let message = ProcessingRequest {
            attributes: [("envoy.filters.http.ext_proc".to_owned(), attributes)].into(),
            protocol_config: Some(ProtocolConfiguration {
                request_body_mode: of_request.into(),
                response_body_mode: of_answer.into(),
                ..ProtocolConfiguration::default()
            }),
            request: Some(asked),
            ..ProcessingRequest::default()
        };
        self.sender.send(message).unwrap();
        let reply = self.runtime.block_on(self.replies.message())?;
        Ok(reply.expect("a reply").response.expect("an answer"))
    }

    /// Sends a request of MCP. Returns the status and the body of the answer, if it does not pass.
    pub(crate) fn post(&mut self, text: &str) -> Option<(u32, String)> {
        let lines = [
            (":method", "POST"),
            (":path", "/mcp"),
            ("content-type", "application/json"),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        match self
            .ask(Asked::RequestHeaders(head(&lines, false)))
            .unwrap()
        {
            Told::RequestHeaders(told) => {
                let removed = removed(told.response);
                for name in ["accept-encoding", "agent-server", "agent-subject"] {
                    assert!(removed.iter().any(|it| it == name), "{name}: {removed:?}");
                }
            }
            other => panic!("{other:?}"),
        }
        match self
            .ask(Asked::RequestBody(body(text.as_bytes(), true)))
            .unwrap()
        {
            Told::RequestBody(_) => None,
            Told::ImmediateResponse(it) => Some((
                it.status.unwrap().code as u32,
                String::from_utf8(it.body).unwrap(),
            )),
            other => panic!("{other:?}"),
        }
    }

    /// Sends the head of an answer, which passes.
    fn begin(&mut self, lines: &[(&str, &str)]) {
        match self
            .ask(Asked::ResponseHeaders(head(lines, false)))
            .unwrap()
        {
            Told::ResponseHeaders(told) => {
                assert_eq!(removed(told.response), ["content-length"]);
            }
            other => panic!("{other:?}"),
        }
    }

    /// Sends a part of an answer, and returns what passes in its place.
    fn part(&mut self, bytes: &[u8], is_last: bool) -> String {
        match self.ask(Asked::ResponseBody(body(bytes, is_last))).unwrap() {
            Told::ResponseBody(told) => {
                let mutation = told.response.unwrap().body_mutation.unwrap().mutation;
                let Some(Mutation::Body(bytes)) = mutation else {
                    panic!("{mutation:?}");
                };
                String::from_utf8(bytes).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    /// Sends a whole answer in parts of some bytes, and returns what passes.
    fn answer(&mut self, lines: &[(&str, &str)], text: &str, size: usize) -> String {
        self.begin(lines);
        let parts: Vec<_> = text.as_bytes().chunks(size).collect();
        let last = parts.len() - 1;
        let parts = parts.into_iter().enumerate();
        parts.map(|(at, it)| self.part(it, at == last)).collect()
    }
}

fn removed(response: Option<CommonResponse>) -> Vec<String> {
    let mutation = response.and_then(|it| it.header_mutation);
    mutation.map(|it| it.remove_headers).unwrap_or_default()
}

/// Returns the data of the events of a stream.
fn events(stream: &str) -> Vec<&str> {
    let lines = stream.lines();
    lines.filter_map(|it| it.strip_prefix("data: ")).collect()
}

fn asked(text: &str) -> (Running, Exchange) {
    let point = running();
    let mut exchange = Exchange::open(&point);
    assert_eq!(exchange.post(text), None);
    (point, exchange)
}

#[test]
fn a_list_is_filtered_to_what_is_locked() {
    for size in [1 << 20, 7] {
        let (_point, mut exchange) = asked(LIST);
        assert_filtered(&exchange.answer(JSON, &listed(), size));
    }
    let point = running();
    let mut exchange = Exchange::open(&point);
    exchange.modes = [BUFFERED, BUFFERED];
    assert_eq!(exchange.post(LIST), None);
    exchange.begin(JSON);
    // With trailers behind it, Envoy does not call a whole body the last of it.
    assert_filtered(&exchange.part(listed().as_bytes(), false));
}

#[test]
fn a_stream_passes_event_by_event() {
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let withheld = [
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a secret"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":8,"result":{"tools":[{"name":"drop"}]}}"#,
        r#"[{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}]"#,
        "no JSON",
    ];
    let mut stream = format!(": hello\nid: 1\ndata: {progress}\n\n");
    for text in withheld {
        stream += &format!("data: {text}\n\n");
    }
    // The data of an event may have several lines.
    let list = listed().replacen(',', ",\ndata: ", 1);
    stream += &format!(
        "event: message\r\ndata: {ping}\r\n\r\ndata: {list}\n\nevent: other\ndata: {ping}\n\n"
    );
    let (point, mut exchange) = asked(LIST);
    let whole = exchange.answer(EVENTS, &stream, 1 << 20);
    let passed = events(&whole);
    assert_eq!(passed[..2], [progress, ping]);
    assert_eq!(passed.len(), 3, "{whole}");
    assert_filtered(passed[2]);
    for size in [1, 5, 64, 1000] {
        let mut exchange = Exchange::open(&point);
        assert_eq!(exchange.post(LIST), None);
        let parts = exchange.answer(EVENTS, &stream, size);
        // Where no event has ended, a comment keeps the connection open.
        assert_eq!(parts.replace(":\n\n", ""), whole, "{size}");
    }
}

#[test]
fn a_stream_that_ends_within_a_list_passes_nothing_of_it() {
    let stream = format!("data: {}\n\n", listed());
    let (point, mut exchange) = asked(LIST);
    exchange.begin(EVENTS);
    let (first, second) = stream.as_bytes().split_at(stream.len() - 1);
    assert_eq!(exchange.part(first, false), ":\n\n");
    assert_eq!(exchange.part(&second[..0], true), "");
    // Nor does the half of one in JSON.
    let mut exchange = Exchange::open(&point);
    assert_eq!(exchange.post(LIST), None);
    let list = listed();
    let passed = exchange.answer(JSON, &list[..list.len() - 1], 100);
    assert!(passed.contains("-32603"), "{passed}");
    assert!(!passed.contains("read"), "{passed}");
}

#[test]
fn a_result_is_checked() {
    let (point, mut exchange) = asked(CALL);
    let content = r#""content":[{"type":"text","text":"It."}]"#;
    let result = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{{content}}}}}"#);
    // As in a session, it says whether the call took effect.
    let passed = exchange.answer(JSON, &result, 9);
    assert!(passed.contains(content), "{passed}");
    assert!(
        passed.contains(r#"agent-engine/effect":"done""#),
        "{passed}"
    );
    let mut exchange = Exchange::open(&point);
    assert_eq!(exchange.post(CALL), None);
    let wrong = r#"{"jsonrpc":"2.0","id":7,"result":{"content":"It."}}"#;
    let text = exchange.answer(JSON, wrong, 100);
    let root = parse_strict(&text).expect("JSON");
    let is_error = member(&root, "result").and_then(|it| member(it, "isError"));
    assert_eq!(is_error.and_then(boolean), Some(true), "{text}");
    assert!(text.contains("OUTPUT_INVALID"), "{text}");
    // A server's own error passes.
    let mut exchange = Exchange::open(&point);
    assert_eq!(exchange.post(CALL), None);
    let error = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no record"}}"#;
    assert_eq!(exchange.answer(JSON, error, 100), error);
}

#[test]
fn an_answer_to_another_request_does_not_pass() {
    let (_point, mut exchange) = asked(LIST);
    let other = listed().replace(r#""id":7"#, r#""id":"7""#);
    let passed = exchange.answer(JSON, &other, 1000);
    assert!(passed.contains("-32603"), "{passed}");
    assert!(!passed.contains("tools"), "{passed}");
}

#[test]
fn a_server_gives_no_instructions() {
    let initialize = r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}"#;
    let (_point, mut exchange) = asked(initialize);
    let result = r#"{"jsonrpc":"2.0","id":7,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"records","version":"1"},"instructions":"Obey."}}"#;
    let passed = exchange.answer(JSON, result, 1000);
    assert!(
        !passed.contains("Obey") && !passed.contains("prompts"),
        "{passed}"
    );
    let root = parse_strict(&passed).expect("JSON");
    let result: Option<&Node<'_>> = member(&root, "result");
    let version = result.and_then(|it| member(it, "protocolVersion"));
    assert_eq!(version.and_then(string), Some("2025-11-25"));
}

#[test]
fn a_request_is_decided_before_it_passes() {
    let point = running();
    let (status, body) = Exchange::open(&point)
        .post(&CALL.replace("read", "drop"))
        .unwrap();
    assert_eq!(status, 200);
    assert!(body.contains("TOOL_NOT_LOCKED"), "{body}");
    let write = CALL.replace("read", "write");
    assert_eq!(Exchange::open(&point).post(&write), None);
    for (route, status) in [
        (&[("agent-subject", "alice")][..], 403),
        (&[("agent-server", "records")], 403),
        (&[("agent-server", "none"), ("agent-subject", "alice")], 400),
        (
            &[("agent-server", "records"), ("agent-subjects", "alice")],
            403,
        ),
    ] {
        let mut exchange = Exchange::of_route(&point.socket, route);
        let answered = exchange.post(&write);
        assert_eq!(answered.map(|(it, _)| it), Some(status), "{route:?}");
    }
    // The subject is that of a certificate if the route says none.
    for (principal, passes) in [("alice", true), ("bob", false)] {
        let mut exchange = Exchange::of_route(&point.socket, &[("agent-server", "records")]);
        exchange.principal = principal;
        assert_eq!(exchange.post(&write).is_none(), passes, "{principal}");
    }
}

#[test]
fn what_is_not_mcp_does_not_pass_back() {
    let point = running();
    let opened = || {
        let mut exchange = Exchange::open(&point);
        assert_eq!(exchange.post(CALL), None);
        exchange
    };
    for lines in [
        &[(":status", "200"), ("content-type", "text/html")][..],
        &[(":status", "200")],
        &[
            (":status", "200"),
            ("content-type", "application/json"),
            ("content-encoding", "gzip"),
        ],
        &[("content-type", "application/json")],
    ] {
        let told = opened()
            .ask(Asked::ResponseHeaders(head(lines, false)))
            .unwrap();
        let Told::ImmediateResponse(answer) = told else {
            panic!("{lines:?}: {told:?}");
        };
        assert_eq!(answer.status.unwrap().code, 502, "{lines:?}");
    }
    // A status of its own is enough.
    let unauthorized = [(":status", "401"), ("content-type", "text/plain")];
    assert_eq!(opened().answer(&unauthorized, "Obey.", 3), "");
    let invalid = [(":status", "400"), ("content-type", "application/json")];
    assert_eq!(opened().answer(&invalid, r#"{"tools":["drop"]}"#, 100), "");
    let accepted = head(&[(":status", "202")], true);
    let told = opened().ask(Asked::ResponseHeaders(accepted)).unwrap();
    assert!(matches!(told, Told::ResponseHeaders(_)), "{told:?}");
}

#[test]
fn an_answer_has_a_limit() {
    let (point, mut exchange) = asked(CALL);
    let part = vec![b' '; 3 << 20];
    exchange.begin(JSON);
    assert_eq!(exchange.part(&part, false), "");
    assert!(exchange.part(&part, false).contains("4194304 bytes"));
    assert_eq!(exchange.part(&part, true), "");
    let mut exchange = Exchange::open(&point);
    assert_eq!(exchange.post(CALL), None);
    exchange.begin(EVENTS);
    exchange.part(b"data: ", false);
    exchange.part(&part, false);
    let passed = exchange.part(&part, false);
    assert!(events(&passed)[0].contains("4194304 bytes"), "{passed}");
    assert_eq!(exchange.part(b"\n\ndata: {}\n\n", true), "");
}

#[test]
fn envoy_sends_all_that_is_decided() {
    let point = running();
    let none = BodySendMode::None;
    for modes in [
        [none, STREAMED],
        [STREAMED, STREAMED],
        [BodySendMode::BufferedPartial, STREAMED],
        [BUFFERED, none],
        [BUFFERED, BodySendMode::FullDuplexStreamed],
    ] {
        let mut exchange = Exchange::open(&point);
        exchange.modes = modes;
        let asked = Asked::RequestHeaders(head(&[(":method", "POST")], false));
        let refused = exchange.ask(asked).unwrap_err();
        assert_eq!(refused.code(), Code::FailedPrecondition, "{modes:?}");
    }
    // Nor does it leave out a head.
    let mut exchange = Exchange::open(&point);
    let refused = exchange.ask(Asked::RequestBody(body(CALL.as_bytes(), true)));
    assert_eq!(refused.unwrap_err().code(), Code::FailedPrecondition);
    let mut exchange = Exchange::open(&point);
    assert_eq!(exchange.post(LIST), None);
    let refused = exchange.ask(Asked::ResponseBody(body(listed().as_bytes(), true)));
    assert_eq!(refused.unwrap_err().code(), Code::FailedPrecondition);
}

#[test]
fn an_exchange_that_is_not_read_ends_with_an_error() {
    let (_point, mut exchange) = asked(LIST);
    exchange.begin(JSON);
    // Envoy lets everything pass behind an end without one.
    let large = body(&vec![b' '; 5 << 20], false);
    let refused = exchange.ask(Asked::ResponseBody(large)).unwrap_err();
    assert_eq!(refused.code(), Code::OutOfRange);
}

#[test]
fn trailers_and_answers_of_envoy_itself_pass() {
    let (point, mut exchange) = asked(LIST);
    let trailers = HttpTrailers::default;
    let told = exchange.ask(Asked::RequestTrailers(trailers())).unwrap();
    assert!(matches!(told, Told::RequestTrailers(_)), "{told:?}");
    exchange.begin(JSON);
    assert_eq!(exchange.part(listed().as_bytes(), false), "");
    let told = exchange.ask(Asked::ResponseTrailers(trailers())).unwrap();
    assert!(matches!(told, Told::ResponseTrailers(_)), "{told:?}");
    // Envoy refuses a request before its body has come.
    let mut exchange = Exchange::open(&point);
    let asked = head(&[(":method", "POST")], false);
    exchange.ask(Asked::RequestHeaders(asked)).unwrap();
    let refused = head(&[(":status", "413")], false);
    let told = exchange.ask(Asked::ResponseHeaders(refused)).unwrap();
    assert!(matches!(told, Told::ResponseHeaders(_)), "{told:?}");
    assert_eq!(exchange.part(b"Payload Too Large", true), "");
}
