//! Questions of Envoy's `ext_authz`, as Envoy 1.40 asks them.

use super::network::{CALLERS, token, with_callers};
use super::support::{Folder, running};
use agent_syntax::json::parse_strict;
use agent_syntax::members::{boolean, member, string};
use envoy_types::pb::envoy::config::core::v3::HeaderValueOption;
use envoy_types::pb::envoy::service::auth::v3::attribute_context::{HttpRequest, Peer, Request};
use envoy_types::pb::envoy::service::auth::v3::authorization_client::AuthorizationClient;
use envoy_types::pb::envoy::service::auth::v3::check_response::HttpResponse;
use envoy_types::pb::envoy::service::auth::v3::{AttributeContext, CheckRequest, CheckResponse};
use std::collections::HashMap;
use std::path::Path;
use tokio::runtime::{Builder, Runtime};
use tonic::transport::{Channel, Endpoint};

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{"record":"1"}}}"#;

/// A question about a request, and what its route says.
#[derive(Clone)]
pub(crate) struct Question {
    method: &'static str,
    body: String,
    headers: Vec<(&'static str, String)>,
    route: Vec<(&'static str, &'static str)>,
    principal: &'static str,
}

impl Question {
    fn of(body: &str) -> Self {
        Self {
            method: "POST",
            body: body.to_owned(),
            headers: vec![
                (":authority", "records.example".to_owned()),
                ("content-type", "application/json".to_owned()),
                ("mcp-protocol-version", "2025-11-25".to_owned()),
                ("x-envoy-auth-partial-body", "false".to_owned()),
            ],
            route: vec![
                ("agent-server", "records"),
                ("agent-subject", "alice"),
                ("agent-subject-type", "user"),
            ],
            principal: "",
        }
    }

    pub(crate) fn called(tool: &str, arguments: &str) -> Self {
        Self::of(&format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ))
    }

    /// The same with another header.
    fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(it, _)| *it != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The same with another word of the route; an empty one says nothing.
    fn route(mut self, name: &'static str, value: &'static str) -> Self {
        self.route.retain(|(it, _)| *it != name);
        self.route.push((name, value));
        self
    }

    fn request(self) -> CheckRequest {
        let headers = self.headers.into_iter();
        let http = HttpRequest {
            method: self.method.to_owned(),
            headers: headers
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            path: "/mcp".to_owned(),
            raw_body: self.body.into_bytes(),
            ..HttpRequest::default()
        };
        let route = self.route.into_iter();
        let route: HashMap<_, _> = route
            .map(|(name, it)| (name.to_owned(), it.to_owned()))
            .collect();
        let attributes = AttributeContext {
            source: Some(Peer {
                principal: self.principal.to_owned(),
                ..Peer::default()
            }),
            request: Some(Request {
                http: Some(http),
                ..Request::default()
            }),
            context_extensions: route,
            ..AttributeContext::default()
        };
        CheckRequest {
            attributes: Some(attributes),
        }
    }
}

/// What Envoy does with a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Became {
    /// It passes, without these headers.
    Passed(Vec<String>),
    /// The client gets this status and this body.
    Answered(u32, String),
}

fn became(response: CheckResponse) -> Became {
    let code = response.status.expect("a status").code;
    match response.http_response.expect("an answer") {
        HttpResponse::OkResponse(passed) => {
            assert_eq!(code, 0);
            Became::Passed(passed.headers_to_remove)
        }
        HttpResponse::DeniedResponse(denied) => {
            assert_ne!(code, 0);
            let named = |it: &HeaderValueOption| {
                let header = it.header.as_ref().expect("a header");
                (header.key.clone(), header.value.clone())
            };
            let headers: Vec<_> = denied.headers.iter().map(named).collect();
            let json = ("content-type".to_owned(), "application/json".to_owned());
            assert!(headers.contains(&json), "{headers:?}");
            Became::Answered(denied.status.expect("a status").code as u32, denied.body)
        }
        other => panic!("{other:?}"),
    }
}

/// A client of a decision point.
pub(crate) struct Client {
    runtime: Runtime,
    client: AuthorizationClient<Channel>,
}

impl Client {
    pub(crate) fn of(socket: &Path) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display())).unwrap();
        let channel = runtime.block_on(endpoint.connect()).unwrap();
        Self {
            runtime,
            client: AuthorizationClient::new(channel),
        }
    }

    pub(crate) fn ask(&self, question: Question) -> Became {
        let mut client = self.client.clone();
        let answer = self.runtime.block_on(client.check(question.request()));
        became(answer.unwrap().into_inner())
    }

    #[track_caller]
    fn status(&self, question: Question) -> u32 {
        match self.ask(question) {
            Became::Answered(status, _) => status,
            passed @ Became::Passed(_) => panic!("{passed:?}"),
        }
    }
}

/// Returns the code of the first reason of a refusal.
fn code(body: &str) -> String {
    let root = parse_strict(body).expect("JSON");
    let result = member(&root, "result").expect("a result");
    assert_eq!(member(result, "isError").and_then(boolean), Some(true));
    let refusal =
        member(result, "_meta").and_then(|it| member(it, "io.github.agent-engine/refusal"));
    let code = refusal.and_then(|it| member(it, "code")).and_then(string);
    code.expect("a code").to_owned()
}

#[test]
fn a_locked_tool_passes_and_another_is_answered_with_the_reasons() {
    let point = running();
    let client = Client::of(&point.socket);
    let Became::Passed(removed) = client.ask(Question::of(CALL)) else {
        panic!("it was refused");
    };
    // Headers of the client with these names reach nobody.
    for name in [
        "agent-name",
        "agent-server",
        "agent-subject",
        "agent-subject-type",
        "agent-tenant",
    ] {
        assert!(removed.iter().any(|it| it == name), "{name}");
    }
    for (question, expected) in [
        (Question::called("drop", "{}"), "TOOL_NOT_LOCKED"),
        (Question::called("count", "{}"), "STATE_REQUIRED"),
        (
            Question::called("read", r#"{"record":1}"#),
            "ARGUMENT_INVALID",
        ),
        (
            Question::called("write", r#"{"status":"archived"}"#),
            "POLICY_DENIED",
        ),
        (
            Question::called("read", "{}").route("agent-name", "writer"),
            "AGENT_CHANGED",
        ),
    ] {
        let Became::Answered(200, body) = client.ask(question) else {
            panic!("{expected}: it passed");
        };
        assert_eq!(code(&body), expected);
        assert!(body.starts_with(r#"{"jsonrpc":"2.0","id":7,"#), "{body}");
    }
}

#[test]
fn the_subject_is_that_of_the_route_or_of_the_certificate() {
    let point = running();
    let client = Client::of(&point.socket);
    let write = || Question::called("write", "{}");
    let passes = |question| matches!(client.ask(question), Became::Passed(_));
    assert!(passes(write()));
    assert!(!passes(write().route("agent-subject", "bob")));
    // No header says who asks.
    assert!(!passes(
        write()
            .route("agent-subject", "bob")
            .header("agent-subject", "alice")
    ));
    let of_peer = |principal| Question {
        principal,
        ..write().route("agent-subject", "")
    };
    assert!(passes(of_peer("alice")));
    assert!(!passes(of_peer("bob")));
    assert_eq!(client.status(of_peer("")), 403);
    // The route knows better than a certificate, which may be that of another proxy.
    let both = Question {
        principal: "bob",
        ..write()
    };
    assert!(passes(both));
}

#[test]
fn a_route_that_is_not_understood_passes_nothing() {
    let point = running();
    let client = Client::of(&point.socket);
    let question = || Question::of(CALL);
    assert_eq!(client.status(question().route("agent-server", "")), 403);
    assert_eq!(
        client.status(question().route("agent-subjects", "alice")),
        403
    );
    assert_eq!(client.status(question().route("agent-tenant", "acme")), 403);
    assert_eq!(client.status(question().route("agent-server", "none")), 400);
    // Nor does it pass what has no answer.
    let notified = Question::of(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    for (name, value, status) in [("agent-server", "none", 400), ("agent-name", "writer", 403)] {
        assert_eq!(client.status(notified.clone().route(name, value)), status);
    }
}

#[test]
fn what_is_not_mcp_does_not_pass() {
    let point = running();
    let client = Client::of(&point.socket);
    for body in [
        "",
        "{",
        "[]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        r#"{"id":1,"method":"ping"}"#,
    ] {
        assert_eq!(client.status(Question::of(body)), 400, "{body}");
    }
    let question = || Question::of(CALL);
    for (name, value, status) in [
        ("content-type", "text/plain", 415),
        ("content-encoding", "gzip", 415),
        ("x-envoy-auth-partial-body", "true", 413),
        ("mcp-method", "tools/list", 400),
        ("mcp-name", "write", 400),
    ] {
        assert_eq!(
            client.status(question().header(name, value)),
            status,
            "{name}"
        );
    }
    let put = Question {
        method: "PUT",
        ..question()
    };
    assert_eq!(client.status(put), 405);
    let get = Question {
        method: "GET",
        ..question()
    };
    assert_eq!(client.status(get.clone()), 405);
    let stream = Question {
        body: String::new(),
        ..get
    };
    assert!(matches!(client.ask(stream), Became::Passed(_)));
}

#[test]
fn other_messages_pass_if_nothing_is_asked_of_the_server() {
    let point = running();
    let client = Client::of(&point.socket);
    let request = |method: &str| {
        Question::of(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#
        ))
    };
    for method in ["initialize", "ping", "tools/list"] {
        assert!(
            matches!(client.ask(request(method)), Became::Passed(_)),
            "{method}"
        );
    }
    for method in ["resources/read", "completion/complete"] {
        let Became::Answered(200, body) = client.ask(request(method)) else {
            panic!("{method}");
        };
        assert!(body.contains("-32601"), "{body}");
    }
    for (body, passes) in [
        (
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            true,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/secret"}"#,
            false,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":{ }}"#, true),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"content":1}}"#, false),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#,
            true,
        ),
    ] {
        let became = client.ask(Question::of(body));
        assert_eq!(matches!(became, Became::Passed(_)), passes, "{body}");
    }
}

#[test]
fn headers_of_the_new_generation_say_what_the_body_says() {
    let point = running();
    let client = Client::of(&point.socket);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let question = || {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"read","arguments":{{}},{meta}}}}}"#
        );
        let question = Question::of(&body).header("mcp-protocol-version", "2026-07-28");
        question
            .header("mcp-method", "tools/call")
            .header("mcp-name", "read")
    };
    assert!(matches!(client.ask(question()), Became::Passed(_)));
    for (name, value) in [
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-method", "ping"),
        ("mcp-name", "write"),
    ] {
        let Became::Answered(400, body) = client.ask(question().header(name, value)) else {
            panic!("{name}");
        };
        assert!(body.contains("-32020"), "{body}");
    }
    let mut without = question();
    without.headers.retain(|(name, _)| *name != "mcp-name");
    assert_eq!(client.status(without), 400);
}

#[test]
fn a_proxy_over_a_network_is_known_and_has_a_role() {
    let (folder, _running, port) = with_callers(CALLERS);
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let ask = |bearer: Option<&str>, question: Question| {
        let mut client = AuthorizationClient::new(runtime.block_on(secured(&folder, port)));
        let mut request = tonic::Request::new(question.request());
        if let Some(token) = bearer {
            let value = format!("Bearer {token}").parse().unwrap();
            request.metadata_mut().insert("authorization", value);
        }
        runtime.block_on(client.check(request))
    };
    let question = || Question::of(CALL);
    let known = ask(Some(&token('1')), question()).unwrap();
    assert!(matches!(became(known.into_inner()), Became::Passed(_)));
    let unknown = ask(None, question()).unwrap_err();
    assert_eq!(unknown.code(), tonic::Code::Unauthenticated);
    let reader = ask(Some(&token('3')), question()).unwrap_err();
    assert_eq!(reader.code(), tonic::Code::PermissionDenied);
    // Its routes are those of its own agents.
    let other = ask(Some(&token('1')), question().route("agent-name", "writer")).unwrap();
    assert!(matches!(
        became(other.into_inner()),
        Became::Answered(403, _)
    ));
}

/// Opens a connection of HTTP/2 over TLS.
async fn secured(folder: &Folder, port: u16) -> Channel {
    let connector = super::network::connector(folder, &[b"h2"]);
    let connect = tower::service_fn(move |_| {
        let connector = connector.clone();
        async move {
            let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
            let name = "localhost".try_into().expect("a name");
            let stream = connector.connect(name, stream).await?;
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
            Ok::<_, std::io::Error>(hyper_util::rt::TokioIo::new(stream))
        }
    });
    let endpoint = Endpoint::from_static("https://localhost");
    endpoint.connect_with_connector(connect).await.unwrap()
}
