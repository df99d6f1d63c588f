//! The limits of a session at their edges.

use super::{World, at, call, is_passed_on, new_client, old_client, refused, server};
use agent_model::Load;
use agent_session::limits::{
    APPROVALS_MAX, CONTINUATIONS_MAX, EXPANDED_SESSIONS_MAX, EXPANDED_TOOLS_MAX, HISTORY_BYTES_MAX,
    OPEN_CALLS_MAX, QUARANTINED_MAX, QUOTAS_MAX, SERVERS_MAX, STATE_MAX_BYTES,
    UNLOCKED_NAME_MAX_BYTES, UNLOCKED_NAMES_MAX,
};
use agent_session::{CallAction, Client, Code, Failure, Generation, Options, Session, limits};
use serde_json::{Value, json};

#[test]
fn so_many_calls_are_open() {
    let mut session = World::usual().session(Options::default());
    let first = call(&mut session, &new_client(), "ec2_run", json!({}));
    for _ in 1..OPEN_CALLS_MAX {
        assert!(is_passed_on(&call(
            &mut session,
            &new_client(),
            "ec2_run",
            json!({})
        )));
    }
    let called = call(&mut session, &new_client(), "ec2_run", json!({}));
    assert_eq!(refused(&called), ["SESSION_LIMIT"]);
    session.failed(first.id, &Failure::Cancelled, at(0));
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "ec2_run",
        json!({})
    )));
    assert_eq!(Code::SessionLimit.name(), "SESSION_LIMIT");
}

#[test]
fn so_many_approvals_are_asked_for() {
    let mut session = World::usual().session(Options::default());
    let mut ask = |number: usize| {
        call(
            &mut session,
            &new_client(),
            "remove",
            json!({ "path": number }),
        )
    };
    for number in 0..APPROVALS_MAX {
        assert!(matches!(ask(number).action, CallAction::AskApproval { .. }));
    }
    assert!(matches!(ask(0).action, CallAction::AskApproval { .. }));
    assert_eq!(refused(&ask(APPROVALS_MAX)), ["SESSION_LIMIT"]);
}

#[test]
fn so_many_sessions_expand_tools() {
    let mut session = World::usual().session(Options {
        budget: Some(u64::MAX),
        ..Options::default()
    });
    let mut expand = |number: usize| {
        let client = Client {
            session: Some(number.to_string()),
            ..old_client()
        };
        let arguments = json!({ "operation": "expand", "tools": ["s3_list"] });
        call(&mut session, &client, "aws_helper", arguments)
    };
    for number in 0..EXPANDED_SESSIONS_MAX {
        assert_ne!(
            super::answered(&expand(number))["isError"],
            true,
            "{number}"
        );
    }
    assert_ne!(super::answered(&expand(0))["isError"], true);
    assert_eq!(refused(&expand(EXPANDED_SESSIONS_MAX)), ["SESSION_LIMIT"]);
}

#[test]
fn so_many_names_are_known_that_the_lock_does_not_have() {
    let mut session = World::usual().session(Options::default());
    let name = |number: usize| {
        let name = format!("u{number:04}");
        match number {
            0 => "x".repeat(UNLOCKED_NAME_MAX_BYTES - 2),
            1 => "y".repeat(UNLOCKED_NAME_MAX_BYTES - 1),
            _ => name,
        }
    };
    let count = UNLOCKED_NAMES_MAX + 2;
    let tools: Vec<_> = (0..count).map(|it| json!({ "name": name(it) })).collect();
    let list = json!({ "tools": tools }).to_string();
    let found = session.tools("numbers", list.as_bytes(), at(0));
    assert_eq!(found.withheld.len(), count);
    let mut is_known = |number: usize| {
        let called = call(&mut session, &new_client(), &name(number), json!({}));
        matches!(called.action, CallAction::Answer(_))
    };
    // By name: `u0002` to `u0513` fill the limit, and `x…` comes after them.
    assert!(is_known(2) && is_known(UNLOCKED_NAMES_MAX + 1));
    assert!(!is_known(0) && !is_known(1));
    let list = json!({ "tools": [{ "name": name(0) }, { "name": name(1) }] }).to_string();
    session.tools("numbers", list.as_bytes(), at(0));
    let mut is_known = |number: usize| {
        let called = call(&mut session, &new_client(), &name(number), json!({}));
        matches!(called.action, CallAction::Answer(_))
    };
    assert!(is_known(0) && !is_known(1));
}

/// The world with the largest state.
fn full_world(servers: usize, tools_of_first: usize) -> World {
    let limited = super::capability(&["rate_limited", "human_in_the_loop"]);
    let mut all = Vec::new();
    let mut locked = Vec::new();
    for number in 0..servers {
        let id = format!("server-{number:04}");
        let count = if number == 0 { tools_of_first } else { 1 };
        let names: Vec<_> = (0..count)
            .map(|it| format!("t{number:04}_{it:04}"))
            .collect();
        let tools = names.iter().map(|name| (name.clone(), json!({})));
        let mut tools: serde_json::Map<String, Value> = tools.collect();
        if number > 0 {
            let tool = json!({ "x-summit-capabilities": limited,
                "inputSchema": { "type": "object", "properties": { "n": {} } } });
            tools[&names[0]] = tool;
        }
        let mut server = server(&id, Value::Object(tools));
        server["policy"] = json!({ "rateLimitPerMin": 9 });
        all.push(server);
        let load = if number == 0 {
            Load::OnDemand
        } else {
            Load::Essential
        };
        locked.extend(names.into_iter().map(|name| (id.clone(), name, load)));
    }
    World {
        locked,
        ..World::new(all, &[])
    }
}

#[test]
fn so_many_servers_are_served() {
    full_world(SERVERS_MAX, 1).opened(Options::default());
    let documents = full_world(SERVERS_MAX + 1, 1).documents();
    let refused = Session::open(documents, Options::default(), at(0));
    let found = refused.expect_err("refused");
    assert_eq!(found[0].code, Code::SessionLimit);
}

#[test]
fn a_state_that_is_full_fits_its_limit() {
    // Everything at its limit at once.
    let world = full_world(SERVERS_MAX, QUARANTINED_MAX + 100);
    let mut session = world.session(Options {
        budget: Some(u64::MAX),
        ..Options::default()
    });
    let client = |number: usize| Client {
        id: format!("{number}-{}", "x".repeat(limits::CLIENT_NAME_MAX_BYTES - 5)),
        session: Some(number.to_string()),
        ..super::client("", Generation::Sessions)
    };
    let tools = |from: usize, count: usize| -> Vec<_> {
        (from..from + count)
            .map(|it| format!("t0000_{it:04}"))
            .collect()
    };
    // Few sessions have all the tools: each expansion takes its time.
    let sessions = 32;
    for number in 0..sessions {
        let names = tools(900, EXPANDED_TOOLS_MAX / sessions);
        let arguments = json!({ "operation": "expand", "tools": names });
        let called = call(
            &mut session,
            &client(number),
            "server-0000_helper",
            arguments,
        );
        assert_ne!(super::answered(&called)["isError"], true);
    }
    for number in 0..QUOTAS_MAX {
        let name = format!("t{:04}_0000", 1 + number % (SERVERS_MAX - 1));
        let called = call(&mut session, &client(number), &name, json!({ "n": 1 }));
        let CallAction::AskApproval { approval, .. } = called.action else {
            panic!("{number}: {}", super::shown(&called.action));
        };
        session.approve(&approval, true, "t", at(0));
        let called = call(&mut session, &client(number), &name, json!({ "n": 1 }));
        assert!(is_passed_on(&called));
        session.failed(called.id, &Failure::Cancelled, at(0));
    }
    for number in 0..OPEN_CALLS_MAX {
        let arguments = json!({ "n": number % APPROVALS_MAX });
        let called = call(&mut session, &client(0), "t0001_0000", arguments);
        assert!(
            matches!(called.action, CallAction::AskApproval { .. }),
            "{number}"
        );
    }
    let mut list: Value = serde_json::from_str(&world.live("server-0000")).expect("JSON");
    let listed = list["tools"].as_array_mut().expect("tools");
    for tool in listed.iter_mut().take(QUARANTINED_MAX) {
        tool["description"] = json!("other");
    }
    let names = (0..UNLOCKED_NAMES_MAX).map(|it| {
        let name = format!("{it:04}{}", "z".repeat(UNLOCKED_NAME_MAX_BYTES - 6));
        json!({ "name": name })
    });
    listed.extend(names);
    let found = session.tools("server-0000", list.to_string().as_bytes(), at(0));
    assert_eq!(found.drifted.len(), QUARANTINED_MAX);
    let state = session.export();
    // The rest is for the history of calls, which has a test of its own.
    let most = STATE_MAX_BYTES - HISTORY_BYTES_MAX;
    assert!(state.len() > most / 2, "{}", state.len());
    assert!(state.len() <= most, "{}", state.len());
    // Beside it fit all numbers of `requestState`, all tools that an observing session offers, and what calls have
    // that were approved and are repeated.
    let client = "0".repeat(32);
    let repeated = format!(r#""approved":"{client}","repetition":5,"#);
    let continuation = format!(
        r#"{{"expires":18446744073709551615,"number":18446744073709551615,"of":"{client}"}},"#
    );
    let digest = agent_lower::digest("");
    let offered = format!(
        r#"{{"deviation":{{"kind":"changed","present":"{digest}","widens":false}},"first":"{digest}","name":}},"#
    );
    let rest = CONTINUATIONS_MAX * continuation.len()
        + OPEN_CALLS_MAX * repeated.len()
        + UNLOCKED_NAMES_MAX * (offered.len() + UNLOCKED_NAME_MAX_BYTES);
    let all = state.len() + rest;
    assert!(all <= most, "{all}");
    let options = Options {
        state: Some(state.clone().into()),
        ..Options::default()
    };
    let (again, _) = Session::open(world.documents(), options, at(0)).expect("a session");
    let text = |state: Vec<u8>| {
        let mut state: Value = serde_json::from_slice(&state).expect("JSON");
        state["chain"] = json!(null);
        state
    };
    assert_eq!(text(again.export()), text(state));
}
