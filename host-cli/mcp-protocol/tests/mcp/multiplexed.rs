//! Several requests at the same time over a pair of streams.

use crate::fake::{Fake, SHORT, ample, connect};
use agent_mcp_protocol::{Call, Error, Json, Multiplexed, Notification, Wait, progress};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A shared connection, and the other ends of it.
struct Shared<T> {
    server: Multiplexed,
    notifications: mpsc::Receiver<Notification>,
    /// The reason why the connection ended.
    ended: JoinHandle<Error>,
    script: JoinHandle<T>,
}

/// Shares a connection to a server with sessions.
async fn share<T: Send + 'static, F>(script: impl FnOnce(Fake) -> F + Send + 'static) -> Shared<T>
where
    F: Future<Output = T> + Send + 'static,
{
    let (client, script) = connect(move |mut fake: Fake| async move {
        fake.initialize("2025-11-25").await;
        script(fake).await
    })
    .await;
    let (sender, notifications) = mpsc::channel(1);
    let (server, driver) = client.multiplexed(sender);
    Shared {
        server,
        notifications,
        ended: tokio::spawn(driver.run()),
        script,
    }
}

/// Returns a call without arguments.
fn of<'c>(tool: &'c str, state: Option<&'c str>) -> Call<'c> {
    Call {
        tool,
        arguments: Json::empty_object(),
        state,
    }
}

/// Calls a tool on a task of its own.
fn call(server: &Multiplexed, name: &'static str, wait: Wait) -> JoinHandle<Result<Value, Error>> {
    let server = server.clone();
    tokio::spawn(async move {
        let result = server.call(&of(name, None), None, None, &wait).await?;
        Ok(serde_json::from_str(result.as_str()).unwrap())
    })
}

#[tokio::test]
async fn answers_reach_their_callers_in_any_order() {
    let shared = share(|mut fake: Fake| async move {
        let mut calls = Vec::new();
        for _ in 0..40 {
            calls.push(fake.expect("tools/call").await);
        }
        for call in calls.iter().rev() {
            let name = &call["params"]["name"];
            fake.answer(call, &json!({ "is": name }).to_string()).await;
        }
    })
    .await;
    let names: Vec<&'static str> = (0..40).map(|it| &*format!("tool-{it}").leak()).collect();
    let calls: Vec<_> = names
        .iter()
        .map(|name| call(&shared.server, name, ample()))
        .collect();
    for (name, call) in names.iter().zip(calls) {
        assert_eq!(call.await.unwrap().unwrap(), json!({ "is": name }));
    }
    shared.script.await.unwrap();
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled_and_its_answer_dropped() {
    let shared = share(|mut fake: Fake| async move {
        let [late, dropped] = [
            fake.expect("tools/call").await,
            fake.expect("tools/call").await,
        ];
        // The next call may overtake a cancellation.
        let (mut cancelled, mut next) = (Vec::new(), None);
        while cancelled.len() < 2 || next.is_none() {
            let message = fake.read().await.expect("a message");
            match message["method"].as_str() {
                Some("notifications/cancelled") => {
                    cancelled.push(message["params"]["requestId"].as_u64());
                }
                _ => next = Some(message),
            }
        }
        cancelled.sort_unstable();
        let mut expected = [late["id"].as_u64(), dropped["id"].as_u64()];
        expected.sort_unstable();
        assert_eq!(cancelled, expected);
        fake.answer(&late, "{}").await;
        let next = next.expect("a call");
        fake.answer(&next, r#"{"next":true}"#).await;
    })
    .await;
    let late = call(&shared.server, "late", Wait::time(SHORT));
    let dropped = call(&shared.server, "dropped", ample());
    assert_eq!(late.await.unwrap(), Err(Error::Timeout));
    dropped.abort();
    let next = call(&shared.server, "next", ample());
    assert_eq!(next.await.unwrap().unwrap(), json!({ "next": true }));
    shared.script.await.unwrap();
}

#[tokio::test]
async fn progress_reaches_its_caller_alone() {
    let shared = share(|mut fake: Fake| async move {
        for _ in 0..2 {
            let call = fake.expect("tools/call").await;
            let token = &call["params"]["_meta"]["progressToken"];
            for wrong in [json!("1"), json!(99), json!(null)] {
                let params = json!({ "progressToken": wrong, "progress": 0 });
                fake.send(notification("notifications/progress", &params))
                    .await;
            }
            let params =
                json!({ "progressToken": token, "progress": 1, "name": call["params"]["name"] });
            fake.send(notification("notifications/progress", &params))
                .await;
            fake.answer(&call, "{}").await;
        }
        let list = json!({});
        fake.send(notification("notifications/tools/list_changed", &list))
            .await;
        fake
    })
    .await;
    let mut shared = shared;
    for name in ["a", "b"] {
        let (sender, mut reports) = progress();
        let wait = ample();
        let call = of(name, None);
        let called = shared.server.call(&call, Some(sender), None, &wait);
        called.await.unwrap();
        let report = reports.recv().await.unwrap();
        let report: Value = serde_json::from_str(report.as_str()).unwrap();
        assert_eq!(report["name"], name);
        assert_eq!(reports.recv().await, None);
    }
    let changed = shared.notifications.recv().await.unwrap();
    assert_eq!(changed.method, "notifications/tools/list_changed");
}

fn notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

#[tokio::test]
async fn a_server_may_have_a_call_repeated_with_its_state() {
    const ASKS: &str = r#"{"resultType":"input_required","requestState":"s\"1"}"#;
    let (client, script) = connect(|mut fake: Fake| async move {
        fake.discover().await;
        let call = fake.expect("tools/call").await;
        assert_eq!(call["params"].get("requestState"), None);
        fake.answer(&call, ASKS).await;
        let call = fake.expect("tools/call").await;
        assert_eq!(call["params"]["requestState"], "s\"1");
        assert_eq!(call["params"]["arguments"], json!({}));
        fake.answer(&call, "{}").await;
        let call = fake.expect("tools/call").await;
        fake.answer(&call, r#"{"resultType":"other"}"#).await;
        // A list can't be repeated.
        let list = fake.expect("tools/list").await;
        fake.answer(&list, ASKS).await;
    })
    .await;
    let (server, driver) = client.multiplexed(mpsc::channel(1).0);
    tokio::spawn(driver.run());
    let wait = ample();
    let call = of("t", None);
    let asked = server.call(&call, None, None, &wait);
    assert_eq!(asked.await.unwrap().as_str(), ASKS);
    let call = of("t", Some("s\"1"));
    let done = server.call(&call, None, None, &wait);
    assert_eq!(done.await.unwrap().as_str(), "{}");
    let call = of("t", None);
    let other = server.call(&call, None, None, &wait);
    assert!(matches!(other.await, Err(Error::Protocol(_))));
    assert!(matches!(
        server.list_tools(&wait).await,
        Err(Error::Protocol(_))
    ));
    script.await.unwrap();
}

#[tokio::test]
async fn what_a_server_says_besides_ends_no_call() {
    // An error without an id can be about either of two requests.
    for noise in [
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"unreadable"}}"#,
        "Listening",
        "",
    ] {
        let shared = share(move |mut fake: Fake| async move {
            let first = fake.expect("tools/call").await;
            let second = fake.expect("tools/call").await;
            fake.send(noise).await;
            fake.answer(&first, "{}").await;
            fake.answer(&second, "{}").await;
            fake
        })
        .await;
        let calls = ["a", "b"].map(|name| call(&shared.server, name, ample()));
        for call in calls {
            assert_eq!(call.await.unwrap(), Ok(json!({})), "{noise}");
        }
        let untidy = u64::from(!noise.is_empty());
        assert_eq!(shared.server.untidy(), untidy, "{noise}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_costs_its_call_alone() {
    let shared = share(move |mut fake: Fake| async move {
        let first = fake.expect("tools/call").await;
        let second = fake.expect("tools/call").await;
        let large = "x".repeat(5 << 20);
        fake.send(format!(
            r#"{{"result":{{"a":"{large}"}},"id":{},"jsonrpc":"2.0"}}"#,
            first["id"]
        ))
        .await;
        fake.answer(&second, "{}").await;
        fake
    })
    .await;
    let first = call(&shared.server, "a", ample());
    let (second, third) = (
        async { call(&shared.server, "b", ample()).await.unwrap() },
        async { first.await.unwrap() },
    );
    let (second, first) = tokio::join!(second, third);
    let results = [first, second];
    let failed = results
        .iter()
        .filter(|it| matches!(it, Err(Error::TooLarge { .. })));
    assert_eq!(failed.count(), 1, "{results:?}");
    assert!(results.contains(&Ok(json!({}))), "{results:?}");
}

#[tokio::test]
async fn a_change_behind_a_flood_is_not_lost() {
    let mut shared = share(move |mut fake: Fake| async move {
        let log = json!({ "level": "debug", "data": "row" });
        for _ in 0..3000 {
            fake.send(notification("notifications/message", &log)).await;
        }
        for _ in 0..3 {
            fake.send(notification("notifications/tools/list_changed", &json!({})))
                .await;
        }
        let call = fake.expect("tools/call").await;
        fake.answer(&call, "{}").await;
        fake
    })
    .await;
    let called = call(&shared.server, "a", ample()).await.unwrap();
    assert_eq!(called, Ok(json!({})));
    // The queue has room for one: the logs that came first are read before.
    loop {
        let next = shared.notifications.recv().await.unwrap();
        if next.method == "notifications/tools/list_changed" {
            break;
        }
    }
}

#[tokio::test]
async fn a_server_that_sends_no_message_while_nobody_waits_is_ended() {
    let shared = share(move |mut fake: Fake| async move {
        let piece = "x".repeat(1 << 20);
        for _ in 0..80 {
            fake.send_part(&piece).await;
        }
    })
    .await;
    let ended = shared.ended.await.unwrap();
    assert_eq!(
        ended,
        Error::Closed("the server sent 64 MiB without a message")
    );
    let after = call(&shared.server, "after", ample()).await.unwrap();
    assert!(matches!(after, Err(Error::Closed(_))), "{after:?}");
}

#[tokio::test]
async fn every_open_call_learns_how_the_connection_ended() {
    let shared = share(move |mut fake: Fake| async move {
        for _ in 0..2 {
            fake.expect("tools/call").await;
        }
    })
    .await;
    let calls = ["a", "b"].map(|name| call(&shared.server, name, ample()));
    let ended = shared.ended.await.unwrap();
    assert!(matches!(ended, Error::Closed(_)), "{ended:?}");
    for call in calls {
        assert_eq!(call.await.unwrap(), Err(ended.clone()));
    }
    let after = call(&shared.server, "after", ample()).await.unwrap();
    assert!(matches!(after, Err(Error::Closed(_))), "{after:?}");
}

#[tokio::test]
async fn the_connection_ends_with_its_last_user() {
    let shared = share(|mut fake: Fake| async move { fake.read().await }).await;
    drop(shared.server);
    assert!(matches!(shared.ended.await.unwrap(), Error::Closed(_)));
    assert_eq!(shared.script.await.unwrap(), None, "the end of the input");
}
