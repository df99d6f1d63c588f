//! Servers that lie, over a pair of streams.

use crate::fake::{DISCOVERED, Fake, SHORT, ample, connect, connect_with, options};
use agent_mcp_protocol::{Error, Excess, Json, Limits, Options, Violation, Wait};
use serde_json::Value;

/// Calls a tool of a server that answers with lines, in which `ID` is the id of the request.
async fn answered_with(limits: Limits, lines: &'static [&'static [u8]]) -> Result<Json, Error> {
    let options = Options {
        limits,
        ..options()
    };
    let (client, _server) = connect_with(options, async move |mut fake: Fake| {
        fake.discover().await;
        let call = fake.expect("tools/call").await;
        let id = call["id"].to_string();
        for line in lines {
            match std::str::from_utf8(line) {
                Ok(line) => fake.send(line.replace("ID", &id)).await,
                Err(_) => fake.send(line).await,
            }
        }
        // Open until the client goes.
        while fake.read().await.is_some() {}
    })
    .await;
    client.unwrap().call_tool("t", b"{}", &ample()).await
}

fn violation(called: Result<Json, Error>) -> Violation {
    match called {
        Err(Error::Protocol(violation)) => violation,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn answers_with_another_id_are_ignored() {
    let lies: [&'static [u8]; 13] = [
        br#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":0,"result":{}}"#,
        // One that was answered before.
        br#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":-ID,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":"ID","result":{}}"#,
        br#"{"jsonrpc":"2.0","id":ID.0,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":ID00000000000000000000000,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":true,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":[ID],"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":ID,"id":99,"result":{}}"#,
        br#"{"jsonrpc":"2.0","result":{"id":ID},"a":NaN}"#,
        br#"{"jsonrpc":"2.0","result":{}}"#,
    ];
    for lie in lies {
        let lines: &'static [&'static [u8]] = Box::leak(Box::new([lie, GOOD]));
        let called = answered_with(Limits::default(), lines).await.unwrap();
        assert_eq!(called.as_str(), r#"{"good":true}"#);
    }
}

#[tokio::test]
async fn a_second_answer_is_ignored() {
    let (mut client, _server) = connect(async |mut fake: Fake| {
        fake.discover().await;
        let call = fake.expect("tools/call").await;
        fake.answer(&call, "{\"first\":true}").await;
        fake.answer(&call, "{\"second\":true}").await;
        let call = fake.expect("tools/call").await;
        fake.answer(&call, "{\"next\":true}").await;
    })
    .await;
    for expected in ["{\"first\":true}", "{\"next\":true}"] {
        let called = client.call_tool("t", b"{}", &ample()).await.unwrap();
        assert_eq!(called.as_str(), expected);
    }
    assert_eq!(client.traffic().untidy, 1);
}

#[tokio::test]
async fn an_answer_before_the_question_is_ignored() {
    let (client, _server) = connect_with(options(), async |mut fake: Fake| {
        let request = fake.expect("server/discover").await;
        // A guess of the next id.
        fake.send(r#"{"jsonrpc":"2.0","id":2,"result":{"guessed":true}}"#)
            .await;
        fake.answer(&request, DISCOVERED).await;
        let call = fake.expect("tools/call").await;
        fake.answer(&call, "{\"asked\":true}").await;
    })
    .await;
    let called = client.unwrap().call_tool("t", b"{}", &ample()).await;
    assert_eq!(called.unwrap().as_str(), "{\"asked\":true}");
}

#[tokio::test]
async fn an_answer_that_can_not_be_read_fails_its_call_with_the_place() {
    let lies: [(&'static [u8], &str, usize); 6] = [
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\":\"\xff\"}}",
            "not UTF-8",
            39,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\":\"\0\"}}",
            "control character",
            39,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\0",
            "text after",
            36,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}} {}",
            "text after",
            37,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\":1,\"a\":2}}",
            "twice",
            40,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null}",
            "not an object",
            33,
        ),
    ];
    for (line, what, offset) in lies {
        let lines: &'static [&'static [u8]] = Box::leak(Box::new([line]));
        let violation = violation(answered_with(Limits::default(), lines).await);
        assert!(violation.what.contains(what), "{violation:?}");
        assert_eq!(
            (violation.frame, violation.offset),
            (2, offset),
            "{violation:?}"
        );
    }
}

#[tokio::test]
async fn lines_that_are_no_message_are_skipped() {
    let noise: [&'static [u8]; 5] = [
        b"Server listening on stdio",
        b"",
        b"\xef\xbb\xbf{}",
        b"[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}]",
        b"\xff\xfe",
    ];
    for line in noise {
        let lines: &'static [&'static [u8]] = Box::leak(Box::new([line, GOOD]));
        assert!(answered_with(Limits::default(), lines).await.is_ok());
    }
}

#[tokio::test]
async fn a_banner_before_the_first_answer_is_skipped() {
    let (client, _server) = connect_with(options(), async |mut fake: Fake| {
        fake.send("npm notice: a banner").await;
        fake.discover().await;
        fake.read().await
    })
    .await;
    assert_eq!(client.unwrap().traffic().untidy, 1);
}

#[tokio::test]
async fn what_an_answer_holds_is_not_judged() {
    // Invisible characters, escapes of NUL, and what no tool should say.
    const RESULT: &str =
        "{\"content\":\"none\",\"\u{200b}\":\"\\u0000\u{202e}\",\"resultType\":\"complete\"}";
    let (mut client, _) = connect(async |mut fake: Fake| {
        fake.discover().await;
        let call = fake.expect("tools/call").await;
        fake.answer(&call, RESULT).await;
    })
    .await;
    let result = client.call_tool("t", b"{}", &ample()).await.unwrap();
    assert_eq!(result.as_str(), RESULT);
}

#[tokio::test]
async fn a_message_may_have_its_limit_and_no_byte_more() {
    for surplus in [0, 1] {
        let limits = Limits {
            frame_bytes: 1000,
            ..Limits::default()
        };
        let options = Options {
            limits,
            ..options()
        };
        let (client, _) = connect_with(options, async move |mut fake: Fake| {
            fake.discover().await;
            fake.expect("tools/call").await;
            let start = r#"{"jsonrpc":"2.0","id":2,"result":{"a":""#;
            let fill = "x".repeat(1000 - start.len() - 3 + surplus);
            fake.send(format!("{start}{fill}\"}}}}")).await;
        })
        .await;
        let called = client.unwrap().call_tool("t", b"{}", &ample()).await;
        let limit = limits.frame_bytes;
        match surplus {
            0 => assert!(called.is_ok(), "{called:?}"),
            _ => assert_eq!(
                called.unwrap_err(),
                Error::TooLarge {
                    what: "a message",
                    limit
                }
            ),
        }
    }
}

#[tokio::test]
async fn a_line_beyond_the_limit_costs_its_call_alone() {
    let (mut client, _server) = connect(async |mut fake: Fake| {
        fake.discover().await;
        let piece = "x".repeat(64 << 10);
        // The TypeScript SDK writes the result before the id.
        let call = fake.expect("tools/call").await;
        fake.send_part(r#"{"result":{"a":""#).await;
        for _ in 0..80 {
            fake.send_part(&piece).await;
        }
        fake.send(format!(r#""}},"jsonrpc":"2.0","id":{}}}"#, call["id"]))
            .await;
        // A line without an end, during a call.
        fake.expect("tools/call").await;
        for _ in 0..80 {
            fake.send_part(&piece).await;
        }
        fake.expect("notifications/cancelled").await;
        fake.send("").await;
        let call = fake.expect("tools/call").await;
        fake.answer(&call, "{}").await;
    })
    .await;
    let called = client.call_tool("t", b"{}", &ample()).await;
    let limit = 4 << 20;
    let what = "a message";
    assert_eq!(called, Err(Error::TooLarge { what, limit }));
    let called = client.call_tool("t", b"{}", &Wait::time(10 * SHORT)).await;
    assert_eq!(called, Err(Error::Timeout));
    client.call_tool("t", b"{}", &ample()).await.unwrap();
}

#[tokio::test]
async fn half_a_line_and_silence_end_in_time() {
    let (mut client, server) = connect(async |mut fake: Fake| {
        fake.discover().await;
        fake.expect("tools/call").await;
        fake.send_part(r#"{"jsonrpc":"2.0","id":2,"res"#).await;
        fake.expect("notifications/cancelled").await;
        let call = fake.expect("tools/call").await;
        // The other half, too late, is not taken for the answer.
        fake.send(r#"ult":{"late":true}}"#).await;
        fake.answer(&call, "{\"late\":false}").await;
    })
    .await;
    let called = client.call_tool("t", b"{}", &Wait::time(SHORT)).await;
    assert_eq!(called.unwrap_err(), Error::Timeout);
    let called = client.call_tool("t", b"{}", &ample()).await.unwrap();
    assert_eq!(called.as_str(), "{\"late\":false}");
    server.await.unwrap();
}

#[tokio::test]
async fn a_server_that_ends_early_is_closed() {
    for (part, when) in [("", "before an answer"), ("{\"jsonrpc\"", "within one")] {
        let (mut client, server) = connect(async move |mut fake: Fake| {
            fake.discover().await;
            fake.expect("tools/call").await;
            fake.send_part(part).await;
        })
        .await;
        for _ in 0..2 {
            let called = client.call_tool("t", b"{}", &ample()).await;
            assert!(
                matches!(called, Err(Error::Closed(_))),
                "{when}: {called:?}"
            );
        }
        server.await.unwrap();
    }
    let (client, _) = connect_with(options(), async |fake: Fake| drop(fake)).await;
    assert!(matches!(client, Err(Error::Closed(_))));
}

const SAMPLING: &[u8] =
    br#"{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{}}"#;
const GOOD: &[u8] = br#"{"jsonrpc":"2.0","id":ID,"result":{"good":true}}"#;

#[tokio::test]
async fn requests_of_a_server_with_sessions_are_refused() {
    let (mut client, server) = connect(async |mut fake: Fake| {
        fake.initialize("2025-11-25").await;
        let call = fake.expect("tools/call").await;
        let methods = [
            "sampling/createMessage",
            "roots/list",
            "elicitation/create",
            "ping",
        ];
        let mut replies: Vec<Value> = Vec::new();
        for (id, method) in ["7", "\"x\"", "-1", "\"p\\u0022\""].iter().zip(methods) {
            let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
            fake.send(request).await;
            replies.push(fake.read().await.unwrap());
        }
        fake.answer(&call, "{}").await;
        replies
    })
    .await;
    client.call_tool("t", b"{}", &ample()).await.unwrap();
    let replies = server.await.unwrap();
    let ids: Vec<_> = replies
        .iter()
        .map(|reply| reply["id"].to_string())
        .collect();
    assert_eq!(ids, ["7", "\"x\"", "-1", "\"p\\\"\""]);
    for reply in &replies[..3] {
        assert_eq!(reply["error"]["code"], -32601);
    }
    assert_eq!(replies[3]["result"], serde_json::json!({}));
    let traffic = client.traffic();
    assert_eq!((traffic.refused_requests, traffic.pings), (3, 1));
}

#[tokio::test]
async fn requests_of_a_server_without_sessions_are_only_counted() {
    let (mut client, server) = connect(async |mut fake: Fake| {
        fake.discover().await;
        let call = fake.expect("tools/call").await;
        fake.send(SAMPLING).await;
        fake.answer(&call, "{}").await;
        fake.read().await
    })
    .await;
    client.call_tool("t", b"{}", &ample()).await.unwrap();
    assert_eq!(client.traffic().refused_requests, 1);
    drop(client);
    assert_eq!(server.await.unwrap(), None, "no reply");
}

#[tokio::test]
async fn floods_cost_nothing_but_themselves() {
    let limits = Limits {
        requests: 3,
        notifications: 3,
        ..Limits::default()
    };
    const NOTE: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    let requests: &[&[u8]] = &[SAMPLING, SAMPLING, SAMPLING, SAMPLING, GOOD];
    assert!(answered_with(limits, requests).await.is_ok());
    let notes: &[&[u8]] = &[NOTE, NOTE, NOTE, NOTE, GOOD];
    assert!(answered_with(limits, notes).await.is_ok());
}

#[tokio::test]
async fn lists_without_end_are_refused() {
    let limits = Limits {
        pages: 5,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..options()
    };
    let (client, _server) = connect_with(options, async |mut fake: Fake| {
        fake.discover().await;
        for page in 0.. {
            let list = fake.expect("tools/list").await;
            let next = format!("{{\"tools\":[],\"nextCursor\":\"{page}\"}}");
            fake.answer(&list, &next).await;
        }
    })
    .await;
    let mut client = client.unwrap();
    let listed = client.list_tools(&ample()).await;
    let excess = Error::TooMany {
        what: Excess::Pages,
        limit: 5,
    };
    assert_eq!(listed.unwrap_err(), excess);

    let (mut client, _server) = connect(async |mut fake: Fake| {
        fake.discover().await;
        while let Some(list) = fake.read().await {
            fake.answer(&list, r#"{"tools":[],"nextCursor":"same"}"#)
                .await;
        }
    })
    .await;
    let listed = client.list_tools(&ample()).await;
    assert!(matches!(listed, Err(Error::Protocol(_))), "{listed:?}");
}

#[tokio::test]
async fn results_that_are_not_complete_are_refused() {
    let input = answered_with(
        Limits::default(),
        &[br#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","requestState":"x"}}"#],
    );
    // The answer is well-formed, so that the server is still believed.
    assert!(matches!(input.await, Err(Error::Protocol(violation)) if violation.frame == 0));
}
