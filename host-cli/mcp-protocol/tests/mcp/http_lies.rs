//! Servers that lie, over HTTP.

use crate::fake::{DISCOVERED, ample, initialized, options};
use crate::http_stub::{Stub, StubPeer, error, result};
use agent_mcp_protocol::{Error, Excess, Json, Limits, Options};

/// Calls a tool that has this answer, and then one that has a good answer.
async fn answered_with(limits: Limits, answer: Stub) -> Result<Json, Error> {
    let good = Stub::json(result(3, "{}"));
    let peer = StubPeer::new([Stub::json(result(1, DISCOVERED)), answer, good]);
    let options = Options {
        limits,
        ..options()
    };
    let mut client = peer.connect_with(&options).await.unwrap();
    let called = client.call_tool("t", b"{}", &ample()).await;
    // Each request has a stream of its own: a lie in one says nothing about the next.
    client.call_tool("t", b"{}", &ample()).await.unwrap();
    called
}

#[tokio::test]
async fn what_is_not_the_answer_is_refused() {
    let good = result(2, "{}");
    let note = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;
    for lie in [
        Stub::status(202),
        Stub::status(204),
        Stub::status(200).chunk(&*good),
        Stub::status(200)
            .header("content-type", "text/html")
            .chunk(&*good),
        Stub::status(200)
            .header("content-type", "application/jsonp")
            .chunk(&*good),
        Stub::json(""),
        Stub::json("<html>"),
        Stub::json(format!("{good}{good}")),
        Stub::json(format!("[{good}]")),
        Stub::json(note),
        Stub::json(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#),
        Stub::json(result(1, "{}")),
        Stub::json(result(9, "{}")),
        Stub::json(r#"{"jsonrpc":"2.0","id":"2","result":{}}"#),
        Stub::json(r#"{"jsonrpc":"2.0","id":2.0,"result":{}}"#),
        Stub::json(&*good).with_status(400),
        Stub::events("data: nonsense\n\n"),
        Stub::events(format!("data: {}\n\n", result(9, "{}"))),
        Stub::events(format!("data: [{good}]\n\n")),
        Stub::events("")
            .chunk(b"data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\":\"\xff\"}}\n\n"),
    ] {
        let case = format!("{lie:?}");
        let called = answered_with(Limits::default(), lie).await;
        assert!(
            matches!(called, Err(Error::Protocol(_) | Error::Closed(_))),
            "{case}: {called:?}"
        );
    }
}

#[tokio::test]
async fn streams_that_end_early_are_closed() {
    for stream in [
        Stub::events(""),
        Stub::events("data: {\"jsonrpc\""),
        // Without an empty line, an event is not complete.
        Stub::events(format!("data: {}\n", result(2, "{}"))),
        Stub::events("id: 1\ndata:\n\n"),
    ] {
        let called = answered_with(Limits::default(), stream).await;
        assert!(matches!(called, Err(Error::Closed(_))), "{called:?}");
    }
    let broken = Stub::events("id: 1\ndata:\n\n").broken();
    let called = answered_with(Limits::default(), broken).await;
    assert!(matches!(called, Err(Error::Transport(_))), "{called:?}");
}

#[tokio::test]
async fn messages_over_http_have_limits_too() {
    let limits = Limits {
        frame_bytes: 1000,
        notifications: 3,
        requests: 3,
        ..Limits::default()
    };
    let long = |length: usize| {
        let empty = result(2, "{\"a\":\"\"}").len();
        result(2, &format!("{{\"a\":\"{}\"}}", "x".repeat(length - empty)))
    };
    assert!(answered_with(limits, Stub::json(long(1000))).await.is_ok());
    let called = answered_with(limits, Stub::json(long(1001))).await;
    assert!(
        matches!(called, Err(Error::TooLarge { limit: 1000, .. })),
        "{called:?}"
    );
    for stream in [
        format!("data: {}\n\n", long(1001)),
        format!(": {}", "x".repeat(1001)),
        "data: x\n".repeat(600),
    ] {
        let called = answered_with(limits, Stub::events(stream)).await;
        assert!(
            matches!(called, Err(Error::TooLarge { limit: 1000, .. })),
            "{called:?}"
        );
    }
    // What is too much costs nothing but itself.
    for message in [
        r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
    ] {
        let flood = format!("data: {message}\n\n").repeat(4);
        let stream = format!("{flood}data: {}\n\n", result(2, "{}"));
        let called = answered_with(limits, Stub::events(stream)).await;
        assert!(called.is_ok(), "{called:?}");
    }
}

#[tokio::test]
async fn streams_are_resumed_a_few_times_only() {
    let opened = Stub::json(result(2, &initialized("2025-11-25")));
    let start = [Stub::status(400), opened, Stub::status(202)];
    let ended = Stub::events("id: 7\nretry: 0\ndata:\n\n");
    let peer = StubPeer::new(start.into_iter().chain(std::iter::repeat_n(ended, 9)));
    let mut client = peer.connect().await.unwrap();
    let called = client.call_tool("t", b"{}", &ample()).await;
    let what = Excess::Resumptions;
    assert_eq!(called, Err(Error::TooMany { what, limit: 8 }));

    // A server that does not resume.
    let opened = Stub::json(result(2, &initialized("2025-11-25")));
    let ended = Stub::events("id: 7\nretry: 0\ndata:\n\n");
    let peer = StubPeer::new([
        Stub::status(400),
        opened,
        Stub::status(202),
        ended,
        Stub::status(405),
    ]);
    let mut client = peer.connect().await.unwrap();
    let called = client.call_tool("t", b"{}", &ample()).await;
    assert!(matches!(called, Err(Error::Closed(_))));
}

#[tokio::test]
async fn sessions_end_and_their_ids_are_checked() {
    let open = |id: &str| {
        let opened = Stub::json(result(2, &initialized("2025-11-25"))).header("mcp-session-id", id);
        [Stub::status(400), opened]
    };
    for id in ["", "a b", "a\u{7f}", &"x".repeat(1025)] {
        let refused = StubPeer::new(open(id)).connect().await;
        assert!(matches!(refused.err(), Some(Error::Protocol(_))), "{id}");
    }
    let answers = open("s")
        .into_iter()
        .chain([Stub::status(202), Stub::status(404)]);
    let mut client = StubPeer::new(answers).connect().await.unwrap();
    let called = client.call_tool("t", b"{}", &ample()).await;
    assert!(matches!(called, Err(Error::Closed(_))), "{called:?}");

    // A session that is not acknowledged.
    let answers = open("s").into_iter().chain([Stub::status(400)]);
    let refused = StubPeer::new(answers).connect().await;
    assert_eq!(refused.err(), Some(Error::Status(400)));
}

#[tokio::test]
async fn errors_with_their_status_are_those_of_the_server() {
    for status in [400, 404, 500] {
        let answer = Stub::json(error("2", -32602, "null")).with_status(status);
        let called = answered_with(Limits::default(), answer).await;
        assert!(matches!(called, Err(Error::Rpc(_))), "{called:?}");
    }
    let called = answered_with(Limits::default(), Stub::status(500).chunk("oops")).await;
    assert_eq!(called, Err(Error::Status(500)));
}
