//! What a client gets of a server's result.

use super::{World, at, call, codes, new_client, old_client};
use agent_session::{Called, Client, Delivered, Failure, Options, Secret, Session};
use serde_json::{Value, json};

const TEXT: &str = r#"{"content":[{"type":"text","text":"t"}],"structuredContent":{"text":"t"},"resultType":"complete"}"#;

fn opened(session: &mut Session, client: &Client) -> Called {
    call(session, client, "read", json!({ "path": "a" }))
}

fn give(session: &mut Session, client: &Client, result: &str) -> Delivered {
    let id = opened(session, client).id;
    session.result(id, result.as_bytes(), at(1))
}

#[track_caller]
fn withheld(delivered: Delivered) -> (Vec<String>, String) {
    match delivered {
        Delivered::Refused(result, records) => {
            assert_eq!(records.len(), 1);
            let result: Value = serde_json::from_slice(&result).expect("JSON");
            (codes(&result), result.to_string())
        }
        other => panic!("{other:?}"),
    }
}

/// Returns the result that a client gets.
#[track_caller]
fn delivered(delivered: Delivered) -> String {
    match delivered {
        Delivered::Changed(result, _) => String::from_utf8(result).expect("UTF-8"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_result_that_fits_is_passed_on_with_its_effect() {
    let mut session = World::usual().session(Options::default());
    let done = r#""io.github.agent-engine/effect":"done""#;
    let unknown = done.replace("done", "unknown");
    for (result, expected) in [
        (
            TEXT,
            TEXT.replacen('{', &format!(r#"{{"_meta":{{{done}}},"#), 1),
        ),
        (
            r#"{"content":[],"isError":true,"resultType":"complete"}"#,
            format!(
                r#"{{"_meta":{{{unknown}}},"content":[],"isError":true,"resultType":"complete"}}"#
            ),
        ),
        (
            r#" { "_meta":{"a":1}, "content":[], "structuredContent":{"text":""}, "resultType":"complete" } "#,
            format!(
                r#" {{ "_meta":{{{done},"a":1}}, "content":[], "structuredContent":{{"text":""}}, "resultType":"complete" }} "#
            ),
        ),
        // No server says in our name what a call did, at any depth.
        (
            r#"{"content":[],"structuredContent":{"text":"","\u0069o.github.agent-engine/effect":"none"},"_meta":{"io.github.agent-engine/effect":"none"},"resultType":"complete"}"#,
            format!(
                r#"{{"content":[],"structuredContent":{{"text":""}},"_meta":{{{done}}},"resultType":"complete"}}"#
            ),
        ),
    ] {
        assert_eq!(
            delivered(give(&mut session, &new_client(), result)),
            expected
        );
    }
    let old = r#"{"content":[],"structuredContent":{"text":""}}"#;
    let expected = old.replacen('{', &format!(r#"{{"_meta":{{{done}}},"#), 1);
    assert_eq!(delivered(give(&mut session, &old_client(), old)), expected);
}

#[test]
fn an_unsound_block_costs_the_client_no_other() {
    let mut session = World::usual().session(Options::default());
    let result = concat!(
        r#"{"content":[{"type":"text","text":"sound"},{"type":"hologram","x":1}, {"type":"image","data":"AA=="},7,"#,
        r#"{"type":"resource","resource":{"uri":"a:b"}},{"text":"last","type":"text"}],"structuredContent":{"text":""}}"#
    );
    let left_out = |why: &str| json!({ "text": format!("The gateway left out a content block that {why}."), "type": "text" });
    let passed: Value =
        serde_json::from_str(&delivered(give(&mut session, &old_client(), result))).unwrap();
    assert_eq!(
        passed["content"],
        json!([
            { "type": "text", "text": "sound" },
            left_out("is none of `text`, `image`, `audio`, `resource_link` and `resource`"),
            left_out("has no string `mimeType`"),
            left_out("is not an object"),
            left_out("has neither a string `text` nor `blob`"),
            { "text": "last", "type": "text" },
        ])
    );
    assert_eq!(passed["structuredContent"], json!({ "text": "" }));
    // What the schema refuses is withheld all the same.
    let bad = result.replace(r#"{"text":""}"#, r#"{"text":1}"#);
    let withheld = give(&mut session, &old_client(), &bad);
    assert!(matches!(withheld, Delivered::Refused(..)), "{withheld:?}");
    // There is a limit.
    for (count, is_passed) in [(256, true), (257, false)] {
        let blocks = vec!["0"; count].join(",");
        let many = format!(r#"{{"content":[{blocks}],"structuredContent":{{"text":""}}}}"#);
        let given = give(&mut session, &old_client(), &many);
        assert_eq!(
            matches!(given, Delivered::Changed(..)),
            is_passed,
            "{count}"
        );
    }
}

#[test]
fn a_result_that_does_not_fit_is_withheld() {
    let mut session = World::usual().session(Options::default());
    for result in [
        "",
        "[]",
        "{}",
        r#"{"content":{}}"#,
        r#"{"content":[{"type":"film"}]}"#,
        r#"{"content":[],"isError":"no"}"#,
        r#"{"content":[],"content":[]}"#,
        // The tool has an output schema.
        r#"{"content":[]}"#,
        r#"{"content":[],"structuredContent":{"text":1}}"#,
        r#"{"content":[],"structuredContent":{"text":"t"},"resultType":"input_required"}"#,
    ] {
        let (codes, _) = withheld(give(&mut session, &new_client(), result));
        assert!(
            codes.iter().all(|code| code == "OUTPUT_INVALID"),
            "{result}: {codes:?}"
        );
    }
}

#[test]
fn the_size_of_a_result_is_limited() {
    let options = Options {
        payload_max_bytes: TEXT.len() as u64,
        ..Options::default()
    };
    let mut session = World::usual().session(options);
    let fits = give(&mut session, &new_client(), TEXT);
    delivered(fits);
    let (codes, _) = withheld(give(&mut session, &new_client(), &format!("{TEXT} ")));
    assert_eq!(codes, ["OUTPUT_INVALID"]);
    let id = opened(&mut session, &new_client()).id;
    let (codes, _) = withheld(session.failed(id, &Failure::TooLarge, at(1)));
    assert_eq!(codes, ["OUTPUT_INVALID"]);
}

#[test]
fn a_result_gets_what_the_clients_generation_needs() {
    let mut session = World::usual().session(Options::default());
    let Delivered::Changed(result, _) = give(
        &mut session,
        &new_client(),
        r#" {"content":[],"structuredContent":{"text":""}}"#,
    ) else {
        panic!("not changed");
    };
    assert_eq!(
        String::from_utf8(result).expect("UTF-8"),
        r#" {"resultType":"complete","_meta":{"io.github.agent-engine/effect":"done"},"content":[],"structuredContent":{"text":""}}"#
    );
    // 2025-11-25 knows only objects.
    let called = call(&mut session, &old_client(), "count", json!({}));
    let result = r#"{"structuredContent":7,"content":[{"type":"text","text":"seven"}]}"#;
    let Delivered::Changed(result, _) = session.result(called.id, result.as_bytes(), at(1)) else {
        panic!("not changed");
    };
    assert_eq!(
        serde_json::from_slice::<Value>(&result).expect("JSON"),
        json!({
            "_meta": { "io.github.agent-engine/effect": "done" },
            "content": [{ "type": "text", "text": "seven" }, { "type": "text", "text": "7" }]
        })
    );
}

#[test]
fn a_call_without_a_result_says_why() {
    let mut session = World::usual().session(Options::default());
    let error = Failure::ServerError {
        code: -32000,
        message: "out of \u{202e}order".to_owned(),
        data: None,
    };
    let late = |limit_ms, since_progress| Failure::Late {
        limit_ms,
        since_progress,
    };
    // SERVER_FAILED is the code of all of them: the call may have had effects.
    for (how, text) in [
        (Failure::TimedOut, "within 120000 ms"),
        (
            late(1000, false),
            "the server did not answer within 1000 ms",
        ),
        (
            late(1000, true),
            "within 1000 ms after its last report of progress",
        ),
        (Failure::Closed, "closed the connection"),
        (error, "the error -32000: out of <U+202E>order"),
    ] {
        let id = opened(&mut session, &new_client()).id;
        let (codes, shown) = withheld(session.failed(id, &how, at(1)));
        assert_eq!(codes, ["SERVER_FAILED"]);
        assert!(shown.contains(text), "{shown}");
    }
    let id = opened(&mut session, &new_client()).id;
    let cancelled = session.failed(id, &Failure::Cancelled, at(1));
    assert!(matches!(cancelled, Delivered::Nothing(records) if records.len() == 1));
}

#[test]
fn a_result_that_nobody_waits_for_reaches_nobody() {
    let mut session = World::usual().session(Options::default());
    let id = opened(&mut session, &new_client()).id;
    let first = session.result(id, TEXT.as_bytes(), at(1));
    delivered(first);
    for unknown in [id, id + 1, 0, u64::MAX] {
        let again = session.result(unknown, TEXT.as_bytes(), at(1));
        assert!(matches!(again, Delivered::Nothing(_)), "{again:?}");
        let again = session.failed(unknown, &Failure::TimedOut, at(1));
        assert!(matches!(again, Delivered::Nothing(_)), "{again:?}");
    }
}

#[test]
fn a_secret_reaches_neither_clients_nor_records() {
    let secret = "correct horse";
    let options = Options {
        secrets: vec![Secret {
            name: "N".to_owned(),
            value: secret.to_owned(),
        }],
        audit_arguments: true,
        ..Options::default()
    };
    let mut session = World::usual().session(options);
    for text in ["a correct horse", r"\u0063orrect horse", "correct%20horse"] {
        let result = TEXT.replace(
            r#"[{"type":"text","text":"t"}]"#,
            &format!(r#"[{{"type":"text","text":"{text}"}}]"#),
        );
        let (codes, shown) = withheld(give(&mut session, &new_client(), &result));
        assert_eq!(codes, ["OUTPUT_INVALID"]);
        assert!(!shown.contains(secret));
    }
    // A word that names secrets is none.
    let result = TEXT.replace(
        r#""structuredContent":{"#,
        r#""structuredContent":{"password":"p","#,
    );
    let delivered = give(&mut session, &new_client(), &result);
    assert!(matches!(delivered, Delivered::Changed(..)), "{delivered:?}");
    let called = call(
        &mut session,
        &new_client(),
        "read",
        json!({ "path": secret, "x": secret }),
    );
    assert!(!called.records[0].line.contains(secret));
    assert!(!super::shown(&called.action).contains(secret));
    let how = Failure::ServerError {
        code: 1,
        message: format!("no {secret}"),
        data: None,
    };
    let id = opened(&mut session, &new_client()).id;
    let (_, shown) = withheld(session.failed(id, &how, at(1)));
    assert!(
        !shown.contains(secret) && shown.contains("{present, len: 13}"),
        "{shown}"
    );
}
