//! What client and server say to each other over a pair of streams.

use crate::fake::{
    AMPLE, DISCOVERED, Fake, SHORT, ample, connect, connect_with, initialized, options,
};
use agent_mcp_protocol::{Error, Generation, Generations, Limits, Options, Version, Wait};
use agent_way_out::Cancel;
use serde_json::json;

#[tokio::test]
async fn without_sessions_each_request_says_everything() {
    // Not as a serializer would write it.
    const TOOL: &str = "{ \"name\" : \"a\u{200b}\", \"x-new\": 1.00, \"inputSchema\":{} }";
    const RESULT: &str = "{\"content\":[ ], \"x\":\"\\u0061\", \"resultType\":\"complete\"}";
    let (mut client, server) = connect(async |mut fake: Fake| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let discover = fake.expect("server/discover").await;
        let expected = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta } });
        assert_eq!(discover, expected);
        fake.answer(&discover, DISCOVERED).await;

        let list = fake.expect("tools/list").await;
        assert_eq!(list["params"], json!({ "_meta": meta }));
        fake.answer(&list, &format!("{{\"tools\":[{TOOL}],\"nextCursor\":\"2\"}}")).await;
        let list = fake.expect("tools/list").await;
        assert_eq!(list["params"], json!({ "_meta": meta, "cursor": "2" }));
        fake.answer(&list, "{\"tools\":[7]}").await;

        let call = fake.expect("tools/call").await;
        let params = json!({ "name": "a\u{200b}", "arguments": { "b": [1.5] }, "_meta": meta });
        assert_eq!(call["params"], params);
        fake.answer(&call, RESULT).await;
        assert_eq!(fake.read().await, None, "the end of the input");
    })
    .await;
    assert_eq!(client.version(), Version::V2026_07_28);
    assert_eq!(client.server().as_str(), DISCOVERED);
    let list = client.list_tools(&ample()).await.unwrap();
    assert_eq!(list.json.as_str(), format!("{{\"tools\":[{TOOL},7]}}"));
    let arguments = b"{\r\n  \"b\": [\n1.5]\n}";
    let result = client
        .call_tool("a\u{200b}", arguments, &ample())
        .await
        .unwrap();
    assert_eq!(result.as_str(), RESULT);
    client.close(&ample()).await.unwrap();
    server.await.unwrap();
}

#[tokio::test]
async fn servers_with_sessions_are_initialized() {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let (mut client, server) = connect(async move |mut fake: Fake| {
            let probe = fake.expect("server/discover").await;
            fake.refuse(&probe, -32602).await;
            let request = fake.expect("initialize").await;
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            });
            assert_eq!(request["params"], params);
            fake.answer(&request, &initialized(version)).await;
            let notification = fake.expect("notifications/initialized").await;
            assert_eq!(notification.get("id"), None);
            let list = fake.expect("tools/list").await;
            assert_eq!(list["params"], json!({}));
            fake.answer(&list, "{\"tools\":[]}").await;
            let call = fake.expect("tools/call").await;
            assert_eq!(call["params"], json!({ "name": "t", "arguments": {} }));
            fake.answer(&call, "{\"content\":[],\"resultType\":\"ignored\"}")
                .await;
        })
        .await;
        assert_eq!(client.version().name(), version);
        assert_eq!(client.version().generation(), Generation::Sessions);
        assert_eq!(client.server().as_str(), initialized(version));
        assert_eq!(client.list_tools(&ample()).await.unwrap().tools, 0);
        client.call_tool("t", b"{}", &ample()).await.unwrap();
        server.await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_ignores_the_first_question_is_initialized() {
    let limits = Limits {
        probe: SHORT,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..options()
    };
    let (client, server) = connect_with(options, async |mut fake: Fake| {
        let probe = fake.expect("server/discover").await;
        let request = fake.expect("initialize").await;
        // Too late, and dropped.
        fake.refuse(&probe, -32601).await;
        fake.answer(&request, &initialized("2025-11-25")).await;
        fake.expect("notifications/initialized").await;
    })
    .await;
    let client = client.unwrap();
    assert_eq!(client.version(), Version::V2025_11_25);
    assert_eq!(client.traffic().late_answers, 1);
    server.await.unwrap();
}

#[tokio::test]
async fn a_server_without_sessions_may_start_slowly() {
    let limits = Limits {
        probe: SHORT,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..options()
    };
    let (client, server) = connect_with(options, async |mut fake: Fake| {
        let probe = fake.expect("server/discover").await;
        let request = fake.expect("initialize").await;
        fake.answer(&probe, DISCOVERED).await;
        fake.refuse(&request, -32022).await;
        let again = fake.expect("server/discover").await;
        fake.answer(&again, DISCOVERED).await;
    })
    .await;
    let client = client.unwrap();
    assert_eq!(client.version(), Version::V2026_07_28);
    assert_eq!(client.server().as_str(), DISCOVERED);
    client.close(&ample()).await.unwrap();
    server.await.unwrap();
}

#[tokio::test]
async fn a_server_that_refuses_sessions_and_has_no_other_version_is_refused() {
    let limits = Limits {
        probe: SHORT,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..options()
    };
    let (client, server) = connect_with(options, async |mut fake: Fake| {
        fake.expect("server/discover").await;
        let request = fake.expect("initialize").await;
        fake.refuse(&request, -32022).await;
        let again = fake.expect("server/discover").await;
        fake.refuse(&again, -32601).await;
    })
    .await;
    assert!(matches!(client.unwrap_err(), Error::Rpc(error) if error.code == -32022));
    server.await.unwrap();
}

#[tokio::test]
async fn only_the_wanted_generations_are_spoken() {
    let only = |generations| Options {
        generations,
        ..options()
    };
    let (client, server) = connect_with(only(Generations::Sessions), async |mut fake: Fake| {
        let request = fake.expect("initialize").await;
        fake.answer(&request, &initialized("2025-11-25")).await;
        fake.expect("notifications/initialized").await;
    })
    .await;
    assert_eq!(client.unwrap().version(), Version::V2025_11_25);
    server.await.unwrap();

    let (client, server) = connect_with(only(Generations::Stateless), async |mut fake: Fake| {
        let probe = fake.expect("server/discover").await;
        fake.refuse(&probe, -32601).await;
        assert_eq!(fake.read().await, None, "no further request");
    })
    .await;
    assert!(matches!(client, Err(Error::NoCommonVersion(_))));
    drop(client);
    server.await.unwrap();
}

#[tokio::test]
async fn servers_of_other_versions_are_refused() {
    let (client, _) = connect_with(options(), async |mut fake: Fake| {
        let probe = fake.expect("server/discover").await;
        fake.answer(
            &probe,
            r#"{"supportedVersions":["2099-01-01","\u001b[2J"]}"#,
        )
        .await;
    })
    .await;
    let error = client.unwrap_err();
    let expected = ["2099-01-01", "<U+001B>[2J"].map(str::to_owned).to_vec();
    assert_eq!(error, Error::NoCommonVersion(expected));

    let (client, _) = connect_with(options(), async |mut fake: Fake| {
        let probe = fake.expect("server/discover").await;
        fake.refuse(&probe, -32601).await;
        let request = fake.expect("initialize").await;
        fake.answer(&request, &initialized("1900-01-01")).await;
    })
    .await;
    assert!(matches!(client, Err(Error::NoCommonVersion(_))));
}

#[tokio::test]
async fn errors_of_the_server_are_errors_and_those_of_tools_are_results() {
    let (mut client, _) = connect(async |mut fake: Fake| {
        fake.discover().await;
        let call = fake.expect("tools/call").await;
        fake.refuse(&call, -32602).await;
        let call = fake.expect("tools/call").await;
        fake.answer(&call, r#"{"content":[],"isError":true}"#).await;
    })
    .await;
    let Err(Error::Rpc(error)) = client.call_tool("t", b"{}", &ample()).await else {
        panic!("an error");
    };
    assert_eq!((error.code, error.message.as_str()), (-32602, "no"));
    let result = client.call_tool("t", b"{}", &ample()).await.unwrap();
    assert_eq!(result.as_str(), r#"{"content":[],"isError":true}"#);
}

#[tokio::test]
async fn arguments_that_are_no_object_are_not_sent() {
    let (mut client, server) = connect(async |mut fake: Fake| {
        fake.discover().await;
        fake.read().await
    })
    .await;
    for arguments in [
        "",
        "[]",
        "null",
        "{} {}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":\"\u{0}\"}",
    ] {
        let called = client.call_tool("t", arguments.as_bytes(), &ample()).await;
        assert!(matches!(called, Err(Error::Arguments(_))), "{arguments}");
    }
    let called = client.call_tool("t", b"{\"a\":\"\xff\"}", &ample()).await;
    assert!(matches!(called, Err(Error::Arguments(_))));
    drop(client);
    assert_eq!(server.await.unwrap(), None);
}

#[tokio::test]
async fn requests_that_were_given_up_are_cancelled() {
    let (canceller, cancel) = Cancel::new();
    let (mut client, server) = connect(async move |mut fake: Fake| {
        fake.discover().await;
        let call = fake.expect("tools/call").await;
        let cancelled = fake.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], call["id"]);

        let other = fake.expect("tools/call").await;
        canceller.cancel();
        let cancelled = fake.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], other["id"]);

        // Both late, in another order, and then the one that is wanted.
        let wanted = fake.expect("tools/call").await;
        fake.answer(&other, "{\"content\":[]}").await;
        fake.refuse(&call, -1).await;
        fake.answer(&wanted, "{\"content\":[3]}").await;
    })
    .await;
    let called = client.call_tool("t", b"{}", &Wait::time(SHORT)).await;
    assert_eq!(called.unwrap_err(), Error::Timeout);
    let called = client
        .call_tool("t", b"{}", &Wait::new(AMPLE, cancel))
        .await;
    assert_eq!(called.unwrap_err(), Error::Cancelled);
    let called = client.call_tool("t", b"{}", &ample()).await.unwrap();
    assert_eq!(called.as_str(), "{\"content\":[3]}");
    assert_eq!(client.traffic().late_answers, 2);
    server.await.unwrap();
}

#[tokio::test]
async fn a_dropped_operation_leaves_no_half_line() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(100_000));
    let (mut client, server) = connect(async |mut fake: Fake| {
        fake.discover().await;
        let first = fake.expect("tools/call").await;
        assert_eq!(
            first["params"]["arguments"]["a"].as_str().unwrap().len(),
            100_000
        );
        let second = fake.expect("tools/call").await;
        fake.answer(&second, "{\"content\":[]}").await;
    })
    .await;
    let wait = ample();
    // Dropped while most of it is not written yet.
    tokio::select! {
        biased;
        _ = client.call_tool("t", long.as_bytes(), &wait) => panic!("an answer"),
        () = tokio::task::yield_now() => {}
    }
    client.call_tool("t", b"{}", &ample()).await.unwrap();
    server.await.unwrap();
}

#[tokio::test]
async fn both_sides_can_write_at_the_same_time() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(500_000));
    let (mut client, server) = connect(async |mut fake: Fake| {
        fake.discover().await;
        // More than the streams hold, before the request is read.
        for _ in 0..100 {
            let data = "y".repeat(5000);
            let log = format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"{data}"}}}}"#);
            fake.send(log).await;
        }
        let call = fake.expect("tools/call").await;
        fake.answer(&call, "{\"content\":[]}").await;
    })
    .await;
    client
        .call_tool("t", long.as_bytes(), &ample())
        .await
        .unwrap();
    assert_eq!(client.traffic().notifications, 100);
    assert_eq!(client.take_notifications().len(), 64);
    server.await.unwrap();
}
