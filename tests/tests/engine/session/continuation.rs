//! `requestState`: calls that a client of 2026-07-28 repeats.

use super::{World, at, call, client, codes, forwarded, new_client, old_client, refused};
use agent_session::health::Observation;
use agent_session::limits::{
    CONTINUATION_LIFETIME_MS, CONTINUATIONS_OF_CLIENT_MAX, REPETITIONS_MAX, REQUEST_STATE_MAX_BYTES,
};
use agent_session::{
    ApprovalMode, CallAction, Called, Client, Delivered, Expansion, Generation, Options,
    REFUSAL_KEY, Secret, Session,
};
use serde_json::{Value, json};

const READ: &str = r#"{"path":"a"}"#;

fn repeat(session: &mut Session, client: &Client, name: &str, state: &str, ms: u64) -> Called {
    let arguments: Value = serde_json::from_str(READ).expect("JSON");
    let params = json!({ "name": name, "arguments": arguments, "requestState": state,
        "inputResponses": { "a": {} } });
    session.call(client, params.to_string().as_bytes(), at(ms))
}

/// Calls a tool, and gives the result of its server.
fn result(session: &mut Session, client: &Client, name: &str, result: &Value) -> Delivered {
    let called = call(session, client, name, json!({ "path": "a" }));
    forwarded(&called);
    session.result(called.id, result.to_string().as_bytes(), at(0))
}

fn asks(state: &str) -> Value {
    json!({ "resultType": "input_required", "requestState": state, "_meta": { "x": 1 } })
}

/// Returns the state that a client gets for one of a server.
fn wrapped(session: &mut Session, state: &str) -> String {
    let Delivered::Changed(answer, records) = result(session, &new_client(), "read", &asks(state))
    else {
        panic!("not passed on");
    };
    assert!(records[0].line.contains("\"outcome\":\"input_required\""));
    assert!(!records[0].line.contains("secret of the server"));
    state_of(&answer)
}

fn state_of(answer: &[u8]) -> String {
    let answer: Value = serde_json::from_slice(answer).expect("JSON");
    assert_eq!(answer["resultType"], "input_required");
    assert_eq!(answer["_meta"].get("x"), None);
    answer["requestState"].as_str().expect("a state").to_owned()
}

#[track_caller]
fn assert_invalid(called: &Called) {
    let is_invalid = matches!(&called.action, CallAction::Error { code: -32602, message, .. }
        if message.starts_with("`requestState` is not that of this call"));
    assert!(is_invalid, "{:?}", called.action);
    assert!(called.records[0].line.contains("\"action\":\"error\""));
}

#[test]
fn the_state_of_a_server_comes_back_once() {
    let mut session = World::usual().session(Options::default());
    let state = wrapped(&mut session, "secret of the server");
    assert_ne!(state, "secret of the server");
    let called = repeat(&mut session, &new_client(), "read", &state, 1);
    let (server, params) = forwarded(&called);
    assert_eq!(server, "files");
    assert_eq!(
        params,
        json!({ "name": "read", "arguments": { "path": "a" },
            "requestState": "secret of the server" })
    );
    let called = repeat(&mut session, &new_client(), "read", &state, 1);
    assert_invalid(&called);
}

#[test]
fn a_state_belongs_to_one_client_and_one_call() {
    let mut session = World::usual().session(Options::default());
    let state = wrapped(&mut session, "s");
    let other = client("d", Generation::Stateless);
    assert_invalid(&repeat(&mut session, &other, "read", &state, 0));
    assert_invalid(&repeat(&mut session, &new_client(), "remove", &state, 0));
    for arguments in [json!({ "path": "b" }), json!({})] {
        let params = json!({ "name": "read", "arguments": arguments, "requestState": state });
        let called = session.call(&new_client(), params.to_string().as_bytes(), at(0));
        assert_invalid(&called);
    }
    for name in ["wipe", "aws_helper", "nobody"] {
        let params = json!({ "name": name, "requestState": state,
            "arguments": { "operation": "list_services" } });
        let called = session.call(&new_client(), params.to_string().as_bytes(), at(0));
        assert_invalid(&called);
    }
    assert_invalid(&repeat(&mut session, &new_client(), "read", "s", 0));
    let params = br#"{"name":"read","arguments":{},"requestState":1}"#;
    let called = session.call(&new_client(), params, at(0));
    assert!(matches!(
        called.action,
        CallAction::Error { code: -32602, .. }
    ));
    // It is still there for its own call, until it expires.
    let late = CONTINUATION_LIFETIME_MS;
    assert_invalid(&repeat(&mut session, &new_client(), "read", &state, late));
    let state = wrapped(&mut session, "s");
    forwarded(&repeat(
        &mut session,
        &new_client(),
        "read",
        &state,
        late - 1,
    ));
}

#[test]
fn a_state_is_that_of_a_seed_and_is_exported() {
    let world = World::usual();
    let mut session = world.session(Options::default());
    let state = wrapped(&mut session, "s");
    let exported = session.export();
    let again = |seed: u8| {
        let options = Options {
            seed: vec![seed; 32],
            state: Some(exported.clone().into()),
            ..Options::default()
        };
        let opened = Session::open(world.documents(), options, at(0));
        opened.expect("a session").0
    };
    forwarded(&repeat(&mut again(0), &new_client(), "read", &state, 0));
    assert_invalid(&repeat(&mut again(1), &new_client(), "read", &state, 0));
    let mut fresh = world.session(Options::default());
    assert_invalid(&repeat(&mut fresh, &new_client(), "read", &state, 0));
    // Another lock forgets it.
    let mut other = world.clone();
    other.locked.pop();
    session.reload(other.documents(), at(0)).expect("documents");
    other.start(&mut session);
    assert_invalid(&repeat(&mut session, &new_client(), "read", &state, 0));
}

#[test]
fn a_server_gets_no_input_from_the_client() {
    let secrets = vec![Secret {
        name: "token".to_owned(),
        value: "hunter2hunter2".to_owned(),
    }];
    let mut session = World::usual().session(Options {
        secrets,
        ..Options::default()
    });
    let requests = json!({ "a": { "method": "elicitation/create", "params": {} } });
    let large = "x".repeat(REQUEST_STATE_MAX_BYTES + 1);
    for (answer, reason) in [
        (
            json!({ "resultType": "input_required", "requestState": "s", "inputRequests": requests }),
            "which servers do not get",
        ),
        (json!({ "resultType": "input_required" }), "not a string"),
        (asks("hunter2hunter2"), "value of a secret"),
        (asks(&large), "the limit is 65536"),
    ] {
        let delivered = result(&mut session, &new_client(), "read", &answer);
        let Delivered::Refused(refused, _) = delivered else {
            panic!("{delivered:?}");
        };
        let refused: Value = serde_json::from_slice(&refused).expect("JSON");
        assert_eq!(codes(&refused)[0], "OUTPUT_INVALID");
        assert!(refused.to_string().contains(reason), "{refused}");
    }
}

/// Repeats a call as a gateway does.
fn repeat_here(session: &mut Session, client: &Client, state: &str) -> Called {
    let params = json!({ "name": "read", "arguments": { "path": "a" } });
    session.repeat(client, params.to_string().as_bytes(), state, at(0))
}

#[test]
fn a_client_without_such_results_has_its_calls_repeated() {
    let mut session = World::usual().session(Options::default());
    let mut called = call(&mut session, &old_client(), "read", json!({ "path": "a" }));
    for round in 0..REPETITIONS_MAX {
        let asked = asks(&format!("secret {round}")).to_string();
        // The state outlives an instance.
        let options = Options {
            state: Some(session.export().into()),
            ..Options::default()
        };
        let opened = Session::open(World::usual().documents(), options, at(0));
        session = opened.expect("a session").0;
        let delivered = session.result(called.id, asked.as_bytes(), at(0));
        let Delivered::Repeat(state, records) = delivered else {
            panic!("{delivered:?}");
        };
        assert!(records[0].line.contains("\"outcome\":\"input_required\""));
        assert!(!records[0].line.contains("secret"));
        // It belongs to the client, which can't use it in its own requests.
        let other = client("d", Generation::Sessions);
        assert_invalid(&repeat_here(&mut session, &other, &state));
        called = repeat(&mut session, &old_client(), "read", &state, 0);
        assert_eq!(forwarded(&called).1.get("requestState"), None);
        called = repeat_here(&mut session, &old_client(), &state);
        assert!(called.records[0].line.contains("\"continues\":true"));
        let server_state = &forwarded(&called).1["requestState"];
        assert_eq!(*server_state, json!(format!("secret {round}")));
        assert_invalid(&repeat_here(&mut session, &old_client(), &state));
    }
    let delivered = session.result(called.id, asks("s").to_string().as_bytes(), at(0));
    let Delivered::Refused(refused, _) = delivered else {
        panic!("{delivered:?}");
    };
    let refused: Value = serde_json::from_slice(&refused).expect("JSON");
    assert_eq!(codes(&refused), ["SESSION_LIMIT"]);
    assert!(
        refused.to_string().contains("more than 5 times"),
        "{refused}"
    );
}

#[test]
fn a_repetition_is_decided_anew() {
    let mut session = World::usual().session(Options::default());
    let delivered = result(&mut session, &old_client(), "read", &asks("s"));
    let Delivered::Repeat(state, _) = delivered else {
        panic!("{delivered:?}");
    };
    session.observe("files", Observation::Exited, at(0));
    let called = repeat_here(&mut session, &old_client(), &state);
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
}

#[test]
fn a_request_for_input_is_withheld_from_every_client() {
    let mut session = World::usual().session(Options::default());
    let requests = json!({ "a": { "method": "elicitation/create", "params": {} } });
    for client in [new_client(), old_client()] {
        for state in [json!("s"), Value::Null] {
            let mut asked = json!({ "resultType": "input_required", "inputRequests": requests });
            if state.is_string() {
                asked["requestState"] = state;
            }
            let delivered = result(&mut session, &client, "read", &asked);
            let Delivered::Refused(refused, _) = delivered else {
                panic!("{delivered:?}");
            };
            let refused: Value = serde_json::from_slice(&refused).expect("JSON");
            assert_eq!(codes(&refused), ["OUTPUT_INVALID"]);
            let text = "it asks for sampling, roots or elicitation";
            assert!(refused.to_string().contains(text), "{refused}");
        }
    }
}

#[test]
fn so_many_calls_are_to_be_repeated() {
    let mut session = World::usual().session(Options::default());
    for _ in 0..CONTINUATIONS_OF_CLIENT_MAX {
        wrapped(&mut session, "s");
    }
    let delivered = result(&mut session, &new_client(), "read", &asks("s"));
    let Delivered::Refused(refused, _) = delivered else {
        panic!("{delivered:?}");
    };
    let refused: Value = serde_json::from_slice(&refused).expect("JSON");
    assert_eq!(codes(&refused), ["SESSION_LIMIT"]);
}

fn retrying() -> Session {
    World::usual().session(Options {
        approval_mode: ApprovalMode::Retry,
        ..Options::default()
    })
}

/// Calls the tool that a human must approve. Returns the id of the approval, and the state.
fn ask(called: &Called) -> (String, String) {
    let CallAction::AskApproval {
        approval,
        answer: Some(answer),
        ..
    } = &called.action
    else {
        panic!("{:?}", called.action);
    };
    let shown: Value = serde_json::from_slice(answer).expect("JSON");
    assert_eq!(shown["_meta"][REFUSAL_KEY]["approval"], **approval);
    assert_eq!(shown["_meta"][REFUSAL_KEY]["code"], "APPROVAL_REQUIRED");
    (approval.clone(), state_of(answer))
}

#[test]
fn an_approval_is_awaited_by_retries() {
    let mut session = retrying();
    let called = call(
        &mut session,
        &new_client(),
        "remove",
        json!({ "path": "a" }),
    );
    let (approval, first) = ask(&called);
    let called = repeat(&mut session, &new_client(), "remove", &first, 1);
    let (same, second) = ask(&called);
    assert_eq!(same, approval);
    assert_invalid(&repeat(&mut session, &new_client(), "remove", &first, 2));
    let approved = session.approve(&approval, true, "human", at(3));
    assert!(approved.is_known && approved.waiting.is_empty());
    let called = repeat(&mut session, &new_client(), "remove", &second, 4);
    let (_, params) = forwarded(&called);
    assert_eq!(params.get("requestState"), None);
    // The approval is used up.
    let called = call(
        &mut session,
        &new_client(),
        "remove",
        json!({ "path": "a" }),
    );
    ask(&called);
}

#[test]
fn an_approval_covers_the_repetitions_that_a_server_asks_for() {
    let mut session = retrying();
    let called = call(
        &mut session,
        &new_client(),
        "remove",
        json!({ "path": "a" }),
    );
    let (approval, state) = ask(&called);
    session.approve(&approval, true, "human", at(1));
    let called = repeat(&mut session, &new_client(), "remove", &state, 2);
    let asked = asks("s").to_string();
    let Delivered::Changed(answer, _) = session.result(called.id, asked.as_bytes(), at(3)) else {
        panic!("not passed on");
    };
    let called = repeat(&mut session, &new_client(), "remove", &state_of(&answer), 4);
    assert_eq!(forwarded(&called).1["requestState"], "s");
    // The record names the approval.
    let line = &called.records[0].line;
    assert!(
        line.contains(&format!("\"approval\":\"{approval}\"")),
        "{line}"
    );
    assert!(line.contains("\"continues\":true"), "{line}");
    // It covers further repetitions, and no other call.
    let Delivered::Changed(answer, _) = session.result(called.id, asked.as_bytes(), at(5)) else {
        panic!("not passed on");
    };
    let called = repeat(&mut session, &new_client(), "remove", &state_of(&answer), 6);
    assert_eq!(forwarded(&called).1["requestState"], "s");
    // A state that only waits for an approval is none.
    let called = call(
        &mut session,
        &new_client(),
        "remove",
        json!({ "path": "a" }),
    );
    let (_, state) = ask(&called);
    ask(&repeat(&mut session, &new_client(), "remove", &state, 5));
}

#[test]
fn a_call_that_nobody_approved_asks_when_it_is_repeated() {
    let world = World::usual();
    let mut observing = world.session(Options {
        observe: true,
        ..Options::default()
    });
    // Nobody approves what an observing session passes on.
    let called = call(
        &mut observing,
        &new_client(),
        "remove",
        json!({ "path": "a" }),
    );
    let asked = asks("s").to_string();
    let Delivered::Changed(answer, _) = observing.result(called.id, asked.as_bytes(), at(1)) else {
        panic!("not passed on");
    };
    let options = Options {
        approval_mode: ApprovalMode::Retry,
        state: Some(observing.export().into()),
        ..Options::default()
    };
    let opened = Session::open(world.documents(), options, at(2));
    let mut session = opened.expect("a session").0;
    let called = repeat(&mut session, &new_client(), "remove", &state_of(&answer), 3);
    ask(&called);
}

#[test]
fn a_call_waits_unless_the_host_and_the_generation_have_retries() {
    let waits = |session: &mut Session, client: &Client| {
        let called = call(session, client, "remove", json!({ "path": "a" }));
        matches!(called.action, CallAction::AskApproval { answer: None, .. })
    };
    assert!(waits(&mut retrying(), &old_client()));
    let mut usual = World::usual().session(Options::default());
    assert!(waits(&mut usual, &new_client()));
}

#[test]
fn a_call_through_a_stub_is_repeated_too() {
    let mut session = World::usual().session(Options {
        expansion: Expansion::Stub,
        ..Options::default()
    });
    let call = |session: &mut Session, state: Option<&str>| {
        let mut params = json!({ "name": "aws_helper", "arguments":
            { "operation": "call", "tool": "s3_list", "arguments": { "key": "k" } } });
        if let Some(state) = state {
            params["requestState"] = json!(state);
        }
        session.call(&new_client(), params.to_string().as_bytes(), at(0))
    };
    let called = call(&mut session, None);
    let answer = asks("s").to_string();
    let Delivered::Changed(answer, _) = session.result(called.id, answer.as_bytes(), at(0)) else {
        panic!("not passed on");
    };
    let called = call(&mut session, Some(&state_of(&answer)));
    assert_eq!(forwarded(&called).1["requestState"], "s");
}
