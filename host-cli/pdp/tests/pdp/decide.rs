//! Requests of `/v1/decide`.

use super::support::running;
use agent_syntax::members::{boolean, member, string};

fn asked(tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"tool":"{tool}","arguments":{arguments},"subject":{{"id":"alice","type":"user"}}}}"#
    )
}

#[test]
fn a_call_is_allowed_or_refused_with_reasons_and_digests() {
    let running = running();
    let allowed = running.decide(&asked("records/read", r#"{"record":"1"}"#));
    assert_eq!(allowed.status, 200);
    assert!(allowed.has("content-type: application/json"));
    let json = allowed.json();
    assert_eq!(member(&json, "allowed").and_then(boolean), Some(true));
    assert_eq!(allowed.codes(), [""; 0]);
    let documents = member(&json, "documents").unwrap();
    let lock = member(documents, "lock").and_then(string).unwrap();
    let policy = member(documents, "policy").and_then(string).unwrap();
    // The start says the same.
    assert!(
        running
            .first
            .contains(&format!("by lock {lock}, policy {policy}"))
    );
    let refused = running.decide(&asked("read", r#"{"record":1}"#));
    let json = refused.json();
    assert_eq!(member(&json, "allowed").and_then(boolean), Some(false));
    assert_eq!(refused.codes(), ["ARGUMENT_INVALID"]);
    let documents = member(&json, "documents").unwrap();
    assert_eq!(member(documents, "lock").and_then(string), Some(lock));
}

#[test]
fn the_policy_sees_the_subject_and_the_arguments() {
    let running = running();
    let codes = |body: &str| running.decide(body).codes();
    assert_eq!(codes(&asked("write", r#"{"status":"active"}"#)), [""; 0]);
    let archived = running.decide(&asked("write", r#"{"status":"archived"}"#));
    assert_eq!(archived.codes(), ["POLICY_DENIED"]);
    assert!(archived.body.contains("the role does not allow it"));
    let admin = r#"{"tool":"write","arguments":{"status":"archived"},
        "subject":{"id":"bob","type":"user","properties":{"role":"admin"}},"agent":"clerk"}"#;
    assert_eq!(codes(admin), [""; 0]);
    assert_eq!(codes(&admin.replace("clerk", "other")), ["AGENT_CHANGED"]);
    assert_eq!(codes(&asked("records/count", "{}")), ["STATE_REQUIRED"]);
    assert_eq!(codes(&asked("records/wipe", "{}")), ["TOOL_NOT_LOCKED"]);
}

#[test]
fn what_is_no_question_gets_a_code_and_no_decision() {
    let running = running();
    let subject = r#""subject":{"id":"a","type":"user"}"#;
    let long = "x".repeat(257);
    for (body, code, text) in [
        ("", "JSON_SYNTAX", "the body is not strict JSON"),
        ("{}{}", "JSON_SYNTAX", "the body is not strict JSON"),
        (
            r#"{"tool":"a","tool":"b"}"#,
            "JSON_SYNTAX",
            "the body is not strict JSON",
        ),
        ("[]", "WRONG_TYPE", "the body is not an object"),
        ("{}", "MISSING_FIELD", "`subject` is missing"),
        (
            r#"{"subject":[]}"#,
            "WRONG_TYPE",
            "`subject` is not an object",
        ),
        (
            r#"{"tool":"a","subject":{"id":"a"}}"#,
            "MISSING_FIELD",
            "`subject.type` is missing",
        ),
        (
            r#"{"tool":"a","subject":{"id":1,"type":"user"}}"#,
            "WRONG_TYPE",
            "`subject.id` is not a string",
        ),
        (
            &format!("{{{subject}}}"),
            "MISSING_FIELD",
            "`tool` is missing",
        ),
        (
            &format!(r#"{{"tool":"a",{subject},"argument":{{}}}}"#),
            "UNKNOWN_KEY",
            "`argument` is not a known member",
        ),
        (
            &format!(r#"{{"tool":"a",{subject},"arguments":[]}}"#),
            "WRONG_TYPE",
            "`arguments` is not an object",
        ),
        (
            &format!(r#"{{"tool":"a","subject":{{"id":"{long}","type":"user"}}}}"#),
            "INPUT_TOO_LARGE",
            "the client's id has more than 256 bytes",
        ),
    ] {
        let reply = running.decide(body);
        assert_eq!(reply.status, 400, "{body}");
        let json = reply.json();
        let error = member(&json, "error").unwrap();
        let found = ["code", "text"].map(|it| member(error, it).and_then(string));
        assert_eq!(found, [Some(code), Some(text)], "{body}");
        assert!(member(&json, "allowed").is_none());
    }
}

#[test]
fn paths_methods_and_bodies_are_bounded() {
    let running = running();
    assert_eq!(running.get("/v1/other").status, 404);
    let wrong = running.get("/v1/decide");
    assert_eq!(wrong.status, 405);
    assert!(wrong.has("allow: post"));
    let plain = running.post_with("/v1/decide", "content-type: text/plain\r\n", "{}");
    assert_eq!(plain.status, 400);
    assert!(
        plain
            .body
            .contains("`Content-Type` is not `application/json`")
    );
    // The body is refused before it is sent.
    let announced = (4 << 20) + 1;
    let large = running.send(
        format!(
            "POST /v1/decide HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {announced}\r\n\
             connection: close\r\n\r\n"
        )
        .as_bytes(),
    );
    assert_eq!(large.status, 413);
    assert!(large.body.contains("INPUT_TOO_LARGE") && large.body.contains("larger than 4 MiB"));
    // A request of the limit itself is read.
    let fill = " ".repeat((4 << 20) - asked("read", "{}").len());
    assert_eq!(
        running.decide(&(asked("read", "{}") + &fill)).codes(),
        [""; 0]
    );
    let late = std::time::Instant::now();
    let cut = running.send(
        b"POST /v1/decide HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\nconnection: close\r\n\r\n{",
    );
    assert_eq!(cut.status, 408, "{}", cut.body);
    assert!(late.elapsed().as_secs() < 30);
}

#[test]
fn many_clients_are_answered_at_a_time() {
    let running = running();
    std::thread::scope(|scope| {
        for client in 0..16 {
            let running = &running;
            scope.spawn(move || {
                for number in 0..8 {
                    let tool = if (client + number) % 2 == 0 {
                        "read"
                    } else {
                        "count"
                    };
                    let codes = running.decide(&asked(tool, "{}")).codes();
                    assert_eq!(codes.is_empty(), tool == "read");
                }
            });
        }
    });
}
