//! What client and server say to each other over HTTP.

use crate::fake::{AMPLE, DISCOVERED, SHORT, ample, initialized};
use crate::http_stub::{Stub, StubPeer, error, result};
use agent_mcp_protocol::{Error, HttpMethod, Version, Wait};
use agent_way_out::Cancel;
use serde_json::json;

const JSON: &str = "content-type: application/json";
const BOTH: &str = "accept: application/json, text/event-stream";

/// The answers of a server with a session.
fn session(version: &str) -> [Stub; 3] {
    let opened = Stub::json(result(2, &initialized(version))).header("mcp-session-id", "s-1");
    [Stub::status(400), opened, Stub::status(202)]
}

#[tokio::test]
async fn without_sessions_headers_repeat_the_body() {
    let tools = r#"{"tools":[{"name":"sü\u200b","inputSchema":{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}},
        {"name":"bad","inputSchema":{"x-mcp-header":"A"}}]}"#;
    let peer = StubPeer::new([
        Stub::json(result(1, DISCOVERED)),
        Stub::json(result(2, tools)),
        Stub::json(result(3, "{\"content\":[ ]}")).header("mcp-session-id", "ignored"),
    ]);
    let mut client = peer.connect().await.unwrap();
    let list = client.list_tools(&ample()).await.unwrap();
    assert_eq!((list.tools, list.excluded.len()), (1, 1));
    client.trace(Some("00-1-2-01".to_owned()));
    let called = client
        .call_tool("sü\u{200b}", br#"{"region":"eu west","n":7}"#, &ample())
        .await;
    assert_eq!(called.unwrap().as_str(), "{\"content\":[ ]}");
    client.close(&ample()).await.unwrap();

    let requests = peer.requests();
    let version = "mcp-protocol-version: 2026-07-28";
    let expected = [BOTH, JSON, "mcp-method: server/discover", version];
    assert_eq!(requests[0].headers, expected);
    let expected = [BOTH, JSON, "mcp-method: tools/list", version];
    assert_eq!(requests[1].headers, expected);
    let expected = [
        BOTH,
        JSON,
        "mcp-method: tools/call",
        "mcp-name: =?base64?c8O84oCL?=",
        "mcp-param-N: 7",
        "mcp-param-Region: eu west",
        version,
    ];
    assert_eq!(requests[2].headers, expected);
    let traces = requests
        .iter()
        .map(|it| &it.body["params"]["_meta"]["traceparent"]);
    let expected = [&json!(null), &json!(null), &json!("00-1-2-01")];
    assert!(traces.eq(expected));
    for (request, method) in requests
        .iter()
        .zip(["server/discover", "tools/list", "tools/call"])
    {
        assert_eq!(request.method, HttpMethod::Post);
        assert_eq!(request.body["method"], method);
        let meta = &request.body["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
    }
    assert_eq!(requests[2].body["params"]["name"], "sü\u{200b}");
    // There is no session to end.
    assert_eq!(requests.len(), 3);
}

#[tokio::test]
async fn a_refused_version_that_the_server_lists_is_requested_once_more() {
    let refused = |id: &str| {
        Stub::json(error(id, -32022, r#"{"supported":["2026-07-28"]}"#)).with_status(400)
    };
    let peer = StubPeer::new([refused("1"), Stub::json(result(2, DISCOVERED))]);
    let client = peer.connect().await.unwrap();
    assert_eq!(client.version(), Version::LATEST);
    assert_eq!(peer.requests().len(), 2);

    let peer = StubPeer::new([refused("1"), refused("2")]);
    let refused = peer.connect().await.map(drop);
    assert!(matches!(refused, Err(Error::Protocol(_))), "{refused:?}");
    assert_eq!(peer.requests().len(), 2);
}

#[tokio::test]
async fn sessions_are_opened_named_and_ended() {
    let answers = session("2025-06-18")
        .into_iter()
        .chain([Stub::json(result(3, "{\"tools\":[]}")), Stub::status(405)]);
    let peer = StubPeer::new(answers);
    let mut client = peer.connect().await.unwrap();
    assert_eq!(client.version(), Version::V2025_06_18);
    client.list_tools(&ample()).await.unwrap();
    client.close(&ample()).await.unwrap();

    let requests = peer.requests();
    assert_eq!(requests[1].body["method"], "initialize");
    assert_eq!(requests[1].headers, [BOTH, JSON]);
    let version = "mcp-protocol-version: 2025-06-18";
    let named = [BOTH, JSON, version, "mcp-session-id: s-1"];
    assert_eq!(requests[2].body["method"], "notifications/initialized");
    assert_eq!(requests[2].headers, named);
    assert_eq!(requests[3].body["params"], serde_json::json!({}));
    assert_eq!(requests[3].headers, named);
    assert_eq!(requests[4].method, HttpMethod::Delete);
    assert_eq!(
        requests[4].headers,
        ["accept: application/json", version, "mcp-session-id: s-1"]
    );
}

#[tokio::test]
async fn a_server_that_does_not_know_the_first_request_is_initialized() {
    let no = |status, id, code| Stub::json(error(id, code, "null")).with_status(status);
    let first = [
        Stub::status(400),
        Stub::status(404),
        Stub::status(405),
        Stub::status(406),
        Stub::status(422).chunk("Unexpected message"),
        Stub::json("not JSON").with_status(400),
        Stub::json("{}").with_status(400),
        no(400, "\"server-error\"", -32600),
        no(400, "null", -32000),
        no(404, "1", -32601),
        no(200, "1", -32601),
        Stub::json(result(1, "{}")),
        Stub::events(format!("data: {}\n\n", error("1", -32602, "null"))),
        Stub::json(error("1", -32022, r#"{"supported":["2025-11-25"]}"#)).with_status(400),
    ];
    for first in first {
        let case = format!("{first:?}");
        let mut answers = session("2025-11-25").to_vec();
        answers[0] = first;
        let client = StubPeer::new(answers).connect().await;
        assert_eq!(
            client.expect(&case).version(),
            Version::V2025_11_25,
            "{case}"
        );
    }
}

#[tokio::test]
async fn other_refusals_are_errors() {
    for status in [301, 302, 307, 401, 403, 407, 429, 500, 502, 503] {
        let refused = StubPeer::new([Stub::status(status)]).connect().await;
        assert_eq!(refused.err(), Some(Error::Status(status)));
    }
    // Not even if the body looks like an answer of MCP.
    let body = Stub::json(error("1", -32601, "null")).with_status(401);
    let refused = StubPeer::new([body]).connect().await;
    assert_eq!(refused.err(), Some(Error::Status(401)));
    for (code, data) in [(-32020, "null"), (-32021, r#"{"requiredCapabilities":{}}"#)] {
        let body = Stub::json(error("1", code, data)).with_status(400);
        let refused = StubPeer::new([body]).connect().await;
        assert!(matches!(refused.err(), Some(Error::Rpc(_))), "{code}");
    }
    let body = Stub::json(error("1", -32022, r#"{"supported":["2099-01-01"]}"#)).with_status(400);
    let refused = StubPeer::new([body]).connect().await;
    assert!(matches!(refused.err(), Some(Error::NoCommonVersion(_))));
}

#[tokio::test]
async fn answers_arrive_in_streams_of_events() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#;
    let answer = result(2, "{\"content\":[ ]}");
    let (first, second) = answer.split_at(20);
    for stream in [
        Stub::events(format!("data: {answer}\n\n")),
        Stub::events(format!(
            "event: message\r\nid: 1\r\nretry: 5\r\ndata: {answer}\r\n\r\n"
        )),
        Stub::events(format!(
            ":\n\n: keep alive\n\ndata:\nid: 0\n\ndata: {note}\n\ndata: {answer}\n\n"
        )),
        // A line break between tokens, in two lines of data.
        Stub::events(
            "data: {\"jsonrpc\":\"2.0\",\"id\":2,\ndata: \"result\":{\"content\":[ ]}}\n\n",
        ),
        Stub::events(format!(
            "event: other\ndata: nothing of ours\n\ndata: {answer}\n\n"
        )),
        Stub::events(format!("\u{feff}data: {first}"))
            .chunk(format!("{second}\r"))
            .chunk("\n\r\n"),
        // What follows the answer is not read.
        Stub::events(format!("data: {answer}\n\ndata: nonsense\n\n")).open(),
        Stub::json(&*answer),
        Stub::status(200)
            .header("content-type", "Application/JSON; charset=utf-8")
            .chunk(&*answer),
    ] {
        let case = format!("{stream:?}");
        let peer = StubPeer::new([Stub::json(result(1, DISCOVERED)), stream]);
        let mut client = peer.connect().await.unwrap();
        let called = client.call_tool("t", b"{}", &ample()).await;
        assert_eq!(called.expect(&case).as_str(), "{\"content\":[ ]}", "{case}");
    }
}

#[tokio::test]
async fn requests_in_a_stream_are_refused_in_a_request_of_their_own() {
    let ask = r#"{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{}}"#;
    let stream = Stub::events(format!("data: {ask}\n\ndata: {}\n\n", result(3, "{}")));
    let answers = session("2025-11-25").into_iter();
    let peer = StubPeer::new(answers.chain([stream.clone(), Stub::status(202)]));
    let mut client = peer.connect().await.unwrap();
    client.call_tool("t", b"{}", &ample()).await.unwrap();
    let requests = peer.requests();
    assert_eq!(requests[4].body["id"], "e");
    assert_eq!(requests[4].body["error"]["code"], -32601);
    assert!(
        requests[4]
            .headers
            .contains(&"mcp-session-id: s-1".to_owned())
    );

    // Without sessions there is no such request, and none in return.
    let stream = Stub::events(format!("data: {ask}\n\ndata: {}\n\n", result(2, "{}")));
    let peer = StubPeer::new([Stub::json(result(1, DISCOVERED)), stream]);
    let mut client = peer.connect().await.unwrap();
    client.call_tool("t", b"{}", &ample()).await.unwrap();
    assert_eq!(peer.requests().len(), 2);
    assert_eq!(client.traffic().refused_requests, 1);
}

#[tokio::test]
async fn streams_of_sessions_are_resumed() {
    let first = Stub::events("id: 7\nretry: 1\ndata:\n\n");
    let second = Stub::events("id: 8\ndata:\n\ndata: cut").broken();
    let third = Stub::events(format!("data: {}\n\n", result(3, "{}")));
    let answers = session("2025-11-25").into_iter();
    let peer = StubPeer::new(answers.chain([first, second, third]));
    let mut client = peer.connect().await.unwrap();
    client.call_tool("t", b"{}", &ample()).await.unwrap();
    let requests = peer.requests();
    for (request, id) in requests[4..].iter().zip(["7", "8"]) {
        assert_eq!(request.method, HttpMethod::Get);
        let expected = [
            "accept: text/event-stream".to_owned(),
            format!("last-event-id: {id}"),
            "mcp-protocol-version: 2025-11-25".to_owned(),
            "mcp-session-id: s-1".to_owned(),
        ];
        assert_eq!(request.headers, expected);
    }
    assert_eq!(requests.len(), 6);
}

#[tokio::test]
async fn requests_over_http_are_cancelled_as_their_generation_does() {
    let (canceller, cancel) = Cancel::new();
    canceller.cancel();
    for wait in [Wait::time(SHORT), Wait::new(AMPLE, cancel)] {
        let open = || Stub::events(":\n\n").open();
        let answers = session("2025-11-25").into_iter();
        // The second wait is over before anything is sent.
        let sent = wait.cancel.is_cancelled();
        let answers = answers.chain((!sent).then(open)).chain([Stub::status(202)]);
        let peer = StubPeer::new(answers);
        let mut client = peer.connect().await.unwrap();
        client.call_tool("t", b"{}", &wait).await.unwrap_err();
        let requests = peer.requests();
        let last = requests.last().unwrap();
        assert_eq!(last.body["method"], "notifications/cancelled");
        assert_eq!(last.body["params"]["requestId"], 3);
    }
    let peer = StubPeer::new([
        Stub::json(result(1, DISCOVERED)),
        Stub::events(":\n\n").open(),
    ]);
    let mut client = peer.connect().await.unwrap();
    let called = client.call_tool("t", b"{}", &Wait::time(SHORT)).await;
    assert_eq!(called.unwrap_err(), Error::Timeout);
    // The end of the connection is all that is said.
    assert_eq!(peer.requests().len(), 2);
}
