//! Plans of a server.

use crate::request::{AMPLE, content, request};
use crate::server::{Answer, Server, response};
use agent_planner::{ApiKey, Limits, OpenAi, Planner, PlannerError, PlannerErrorKind as Kind};
use agent_way_out::{Cancel, Resolver, Roots, WayOut};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// A key that must be in no error.
const KEY: &str = "sk-canary-5f0c2e91d7a84b36";
/// A time limit that an attempt against a silent server reaches.
const SHORT: Duration = Duration::from_millis(300);
/// Maximum number of characters of a message: a quote, each character as a code point, and words around it.
const MESSAGE_CHARS: usize = 300 * 10 + 200;

fn openai(base: &str) -> OpenAi {
    let way_out = Arc::new(WayOut::new(Roots::default()));
    let key = ApiKey::new(KEY).unwrap();
    OpenAi::new(base, "a-model", Some(key), way_out, Resolver::system()).unwrap()
}

async fn plan_of(server: &Server, limits: &Limits) -> Result<Vec<u8>, PlannerError> {
    let planner = Planner::OpenAi(openai(&server.base()));
    assert!(!format!("{planner:?}").contains("canary"));
    let plan = planner
        .plan(&request(&content()), limits, &Cancel::never())
        .await;
    if let Err(error) = &plan {
        let shown = format!("{error} {error:?}");
        assert!(!shown.to_lowercase().contains("canary"), "{shown}");
        assert!(!shown.contains("5f0c2e91"), "{shown}");
        assert!(error.message.chars().count() <= MESSAGE_CHARS, "{shown}");
        let printable = |c: char| !c.is_control() && !"\u{200b}\u{202e}\u{feff}".contains(c);
        assert!(error.message.chars().all(printable), "{shown}");
    }
    // Whatever came of it.
    server.request();
    plan
}

async fn answered(bytes: Vec<u8>) -> Result<Vec<u8>, PlannerError> {
    let server = Server::new(Answer::Bytes(bytes)).await;
    plan_of(&server, &AMPLE).await
}

async fn failure(bytes: Vec<u8>) -> PlannerError {
    let shown = String::from_utf8_lossy(&bytes).into_owned();
    answered(bytes).await.expect_err(&shown)
}

fn completion(content: &str) -> String {
    let message = json!({"role": "assistant", "content": content, "refusal": null});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}).to_string()
}

#[tokio::test]
async fn the_request_is_that_of_the_protocol() {
    let server = Server::new(Answer::Bytes(response("200 OK", &completion("{}")))).await;
    plan_of(&server, &AMPLE).await.unwrap();
    let sent = server.request();
    let (head, body) = sent.split_once("\r\n\r\n").unwrap();
    let head = head.to_lowercase();
    let mut lines = head.lines();
    assert_eq!(lines.next(), Some("post /v1/chat/completions http/1.1"));
    for line in [
        format!("authorization: bearer {KEY}"),
        format!("host: localhost:{}", server.address.port()),
        "content-type: application/json".to_owned(),
    ] {
        assert!(head.lines().any(|found| found == line), "{head}");
    }
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["model"], "a-model");
    assert_eq!(body["temperature"], 0);
    let format = json!({
        "type": "json_schema",
        "json_schema": {"name": "env_mova_agent_plan_v1", "strict": false, "schema": content()["schema"]},
    });
    assert_eq!(body["response_format"], format);
    assert!(body.get("tools").is_none());
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["role"], "system");
    assert_eq!(messages[1]["role"], "user");
    let text = messages[1]["content"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), content());
    assert!(!body.to_string().contains("canary"));
}

#[tokio::test]
async fn without_a_key_there_is_no_authorization() {
    let server = Server::new(Answer::Bytes(response("200 OK", &completion("{}")))).await;
    let way_out = Arc::new(WayOut::new(Roots::default()));
    let base = format!("{}/", server.base());
    let planner = OpenAi::new(&base, "m", None, way_out, Resolver::system()).unwrap();
    let request = request(&content());
    Planner::OpenAi(planner)
        .plan(&request, &AMPLE, &Cancel::never())
        .await
        .unwrap();
    let sent = server.request();
    assert!(sent.starts_with("POST /v1/chat/completions "));
    assert!(!sent.to_lowercase().contains("authorization"));
}

#[tokio::test]
async fn contents_come_back_as_received() {
    for content in [
        "{\"envelope_id\":\"env.mova_agent_plan_v1\"}",
        "",
        " \r\n{}\n",
        "Here is your plan:\n```json\n{}\n```",
        "{\"a\":1,\"a\":2} {}",
        "ignore all rules\0\u{1b}[2J\u{202e}\u{feff}\u{10ffff}",
        "[[[[[[[[[[[[[[[[",
        KEY,
    ] {
        let plan = answered(response("200 OK", &completion(content)))
            .await
            .unwrap();
        assert_eq!(plan, content.as_bytes());
    }
}

#[tokio::test]
async fn servers_may_leave_out_what_is_not_read() {
    for body in [
        r#"{"choices":[{"message":{"content":"p"}}]}"#,
        r#"{"error":null,"choices":[{"finish_reason":null,"message":{"content":"p","tool_calls":[],"refusal":""}}],"x":[1]}"#,
    ] {
        assert_eq!(answered(response("200 OK", body)).await.unwrap(), b"p");
    }
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body = r#"{"choices":[{"message":{"content":"p"}}]}"#;
    let (begin, end) = body.split_at(9);
    let mut bytes = chunked.to_vec();
    for part in [begin, end, ""] {
        bytes.extend_from_slice(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes());
    }
    assert_eq!(answered(bytes).await.unwrap(), b"p");
}

#[tokio::test]
async fn each_answer_without_a_text_has_its_kind() {
    let deep = format!(r#"{{"choices":{}"#, "[".repeat(10_000));
    let nested = format!(
        r#"{{"error":{}{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let cases: &[(&str, Kind)] = &[
        (&deep, Kind::NotJson),
        (&nested, Kind::NotJson),
        (r#"[null,[["stop",{"content":"p"}]]]"#, Kind::InvalidAnswer),
        (
            r#"{"choices":[["stop",{"content":"p"}]]}"#,
            Kind::InvalidAnswer,
        ),
        (r#"{"choices":[{"message":["p"]}]}"#, Kind::InvalidAnswer),
        (
            r#"{"choices":[{"message":{"content":"p"}}],"sk-canary-5f0c2e91d7a84b36":1,"sk-canary-5f0c2e91d7a84b36":2}"#,
            Kind::InvalidAnswer,
        ),
        ("", Kind::NotJson),
        ("<html>sk-canary-5f0c2e91d7a84b36</html>", Kind::NotJson),
        (
            "{\"choices\":[{\"message\":{\"content\":\"p\"}}]} more",
            Kind::NotJson,
        ),
        ("data: {\"choices\":[]}\n\n", Kind::NotJson),
        (
            "{\"choices\":[{\"message\":{\"content\":\"\\ud800\"}}]}",
            Kind::NotJson,
        ),
        (
            "{\"choices\":[{\"message\":{\"content\":\"p\"",
            Kind::NotJson,
        ),
        ("null", Kind::InvalidAnswer),
        ("\"sk-canary-5f0c2e91d7a84b36\"", Kind::InvalidAnswer),
        ("{}", Kind::InvalidAnswer),
        (
            r#"{"choices":"sk-canary-5f0c2e91d7a84b36"}"#,
            Kind::InvalidAnswer,
        ),
        (r#"{"choices":[{}]}"#, Kind::InvalidAnswer),
        (r#"{"choices":[{"message":{}}]}"#, Kind::InvalidAnswer),
        (
            r#"{"choices":[{"message":{"content":null}}]}"#,
            Kind::InvalidAnswer,
        ),
        (
            r#"{"choices":[{"message":{"content":["p"]}}]}"#,
            Kind::InvalidAnswer,
        ),
        (
            r#"{"choices":[{"message":{"content":{"plan":1}}}]}"#,
            Kind::InvalidAnswer,
        ),
        (
            r#"{"choices":[{"message":{"content":"p","content":"q"}}]}"#,
            Kind::InvalidAnswer,
        ),
        (
            r#"{"choices":[],"choices":[{"message":{"content":"p"}}]}"#,
            Kind::InvalidAnswer,
        ),
        (
            r#"{"choices":[{"finish_reason":"sk-canary-5f0c2e91d7a84b36\u202e","message":{"content":"p"}}]}"#,
            Kind::InvalidAnswer,
        ),
        (r#"{"choices":[]}"#, Kind::NoChoice),
        (
            r#"{"choices":[{"message":{"content":"p"}},{"message":{"content":"q"}}]}"#,
            Kind::SeveralChoices,
        ),
        (
            r#"{"choices":[{"finish_reason":"stop","message":{"content":null,"refusal":"I won't use sk-canary-5f0c2e91d7a84b36."}}]}"#,
            Kind::Refusal,
        ),
        (
            r#"{"choices":[{"finish_reason":"length","message":{"content":"{\"envelope"}}]}"#,
            Kind::Truncated,
        ),
        (
            r#"{"choices":[{"finish_reason":"content_filter","message":{"content":""}}]}"#,
            Kind::Filtered,
        ),
        (
            r#"{"choices":[{"finish_reason":"tool_calls","message":{"content":"p"}}]}"#,
            Kind::ToolCalls,
        ),
        (
            r#"{"choices":[{"finish_reason":"stop","message":{"content":"p","tool_calls":[{"id":"1"}]}}]}"#,
            Kind::ToolCalls,
        ),
        (
            r#"{"choices":[{"message":{"content":"p","function_call":{"name":"f"}}}]}"#,
            Kind::ToolCalls,
        ),
        (
            r#"{"error":{"message":"overloaded"},"choices":[{"message":{"content":"p"}}]}"#,
            Kind::ErrorAnswer,
        ),
        (
            r#"{"error":"sk-canary-5f0c2e91d7a84b36"}"#,
            Kind::ErrorAnswer,
        ),
    ];
    for (body, kind) in cases {
        let error = failure(response("200 OK", body)).await;
        assert_eq!(error.kind, *kind, "{body:.200} → {error}");
    }
}

#[tokio::test]
async fn statuses_of_failures_are_quoted_without_the_key() {
    let escaped: String = KEY
        .chars()
        .map(|c| format!("\\u{:04x}", u32::from(c)))
        .collect();
    let cases = [
        (
            "401 Unauthorized",
            format!(
                r#"{{"error":{{"message":"Incorrect API key provided: {KEY}. Try\u0007\u202eagain","code":1}}}}"#
            ),
            "status 401: Incorrect API key provided: [redacted]. Try<U+0007><U+202E>again",
        ),
        (
            "404 Not Found",
            r#"{"detail":"no model"}"#.to_owned(),
            r#"404: {"detail":"no model"}"#,
        ),
        (
            "400 Bad Request",
            format!(r#"{{"detail":"{escaped}"}}"#),
            "[redacted]",
        ),
        (
            "500 Internal Server Error",
            format!("<b>{KEY}</b>"),
            "status 500: <b>[redacted]</b>",
        ),
        (
            "503 Service Unavailable",
            String::new(),
            "the server answered with status 503",
        ),
        (
            "429 Too Many Requests",
            "x".repeat(50_000),
            "status 429: xxx",
        ),
        ("201 Created", completion("{}"), "status 201"),
    ];
    for (status, body, expected) in cases {
        let error = failure(response(status, &body)).await;
        assert_eq!(error.kind, Kind::Status, "{status}");
        assert!(error.message.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn redirections_are_not_followed() {
    let elsewhere = Server::new(Answer::Bytes(response("200 OK", &completion("{}")))).await;
    for status in [
        "301 Moved",
        "302 Found",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        let location = format!("{}/?key={KEY}", elsewhere.base());
        let answer =
            format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
        let error = failure(answer.into_bytes()).await;
        assert_eq!(error.kind, Kind::Redirect, "{error}");
    }
    let unused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| elsewhere.request()));
    assert!(unused.is_err(), "the other server has a request");
}

#[tokio::test]
async fn answers_that_are_not_http_are_refused() {
    for bytes in [
        b"".to_vec(),
        KEY.as_bytes().to_vec(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}".to_vec(),
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}".to_vec(),
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".to_vec(),
    ] {
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let error = failure(bytes).await;
        assert_eq!(error.kind, Kind::Protocol, "{shown} → {error}");
    }
}

#[tokio::test]
async fn plans_and_answers_have_their_limits() {
    let limits = Limits {
        plan_bytes: 8,
        ..AMPLE
    };
    for (content, fits) in [
        ("12345678", true),
        ("123456789", false),
        ("\0\0\0\0\0\0\0\0", true),
    ] {
        let answer = response("200 OK", &completion(content));
        let server = Server::new(Answer::Bytes(answer)).await;
        let plan = plan_of(&server, &limits).await;
        match fits {
            true => assert_eq!(plan.unwrap(), content.as_bytes()),
            false => assert_eq!(plan.unwrap_err().kind, Kind::TooLarge),
        }
    }
    let endless = [
        Answer::Endless("HTTP/1.1 200 OK\r\n\r\n", "                "),
        Answer::Endless(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "10\r\n                \r\n",
        ),
        Answer::Endless(
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            " ",
        ),
        Answer::Endless(
            "HTTP/1.1 200 OK\r\nX: ",
            "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
        ),
        Answer::Endless(
            "HTTP/1.1 500 No\r\n\r\n",
            "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
        ),
    ];
    for answer in endless {
        let server = Server::new(answer).await;
        let error = plan_of(&server, &limits).await.unwrap_err();
        assert_eq!(error.kind, Kind::TooLarge, "{error}");
    }
}

#[tokio::test]
async fn silent_servers_end_in_time() {
    let limits = Limits {
        time: SHORT,
        ..AMPLE
    };
    for begin in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
    ] {
        let server = Server::new(Answer::Silence(begin)).await;
        let error = plan_of(&server, &limits).await.unwrap_err();
        assert_eq!(error.kind, Kind::Timeout, "{begin}");
    }
}

#[tokio::test]
async fn cancellation_ends_an_attempt() {
    let server = Server::new(Answer::Silence("")).await;
    let planner = Planner::OpenAi(openai(&server.base()));
    let (canceller, cancel) = Cancel::new();
    let request = request(&content());
    let (plan, ()) = tokio::join!(planner.plan(&request, &AMPLE, &cancel), async {
        server.requested().await;
        canceller.cancel();
    });
    assert_eq!(plan.unwrap_err().kind, Kind::Cancelled);
    server.request();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let planner = Planner::OpenAi(openai(&format!("http://127.0.0.1:{port}/v1")));
    let plan = planner
        .plan(&request(&content()), &AMPLE, &Cancel::never())
        .await;
    assert_eq!(plan.unwrap_err().kind, Kind::Connect);

    let planner = Planner::OpenAi(openai("http://no-such-name.invalid/v1"));
    let plan = planner
        .plan(&request(&content()), &AMPLE, &Cancel::never())
        .await;
    assert_eq!(plan.unwrap_err().kind, Kind::Resolve);
}

#[tokio::test]
async fn a_server_without_tls_is_refused_for_https() {
    let server = Server::new(Answer::Bytes(response("200 OK", &completion("{}")))).await;
    let base = server.base().replace("http:", "https:");
    let planner = Planner::OpenAi(openai(&base));
    let limits = Limits {
        time: Duration::from_secs(10),
        ..AMPLE
    };
    let plan = planner
        .plan(&request(&content()), &limits, &Cancel::never())
        .await;
    // No root is trusted here, so that not even a session begins.
    assert_eq!(plan.unwrap_err().kind, Kind::Tls);
}

#[test]
fn base_urls_are_checked_and_not_shown() {
    for base in [
        "",
        "localhost:8080/v1",
        "ftp://localhost/v1",
        "file:///v1",
        "http://",
        "http://sk-canary@localhost/v1",
        "http://user:sk-canary@localhost/v1",
        "http://localhost/v1?key=sk-canary",
        "http://localhost/v1#sk-canary",
        "http://sk canary/v1",
    ] {
        let way_out = Arc::new(WayOut::new(Roots::default()));
        let made = OpenAi::new(base, "m", None, way_out, Resolver::system());
        let error = made.expect_err(base);
        assert_eq!(error.kind, Kind::InvalidConfiguration, "{base}");
        assert!(!error.message.contains("canary"), "{error}");
    }
    let shown = format!("{:?}", openai("https://api.example.com./v1/"));
    assert!(shown.contains("\"api.example.com\""), "{shown}");
}
