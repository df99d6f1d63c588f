//! Decisions on single calls by documents alone.

use super::{World, answered, at, call, capability, new_client, server};
use agent_model::Load;
use agent_session::limits::{CLIENT_NAME_MAX_BYTES, CLIENT_PROPERTIES_MAX_BYTES, PARAMS_MAX_BYTES};
use agent_session::{
    AskedCall, CallDecision, CallSubject, Code, DecisionPoint, Documents, Options, REFUSAL_KEY,
};
use serde_json::{Value, json};

/// Opens a decision point with the documents of a world.
pub(crate) fn point(world: &World) -> DecisionPoint {
    let opened = DecisionPoint::open(world.documents());
    opened.unwrap_or_else(|found| panic!("{found:#?}"))
}

/// A call of the client `c`, as sessions of other tests see it.
pub(crate) fn asked(tool: &str, arguments: &Value) -> AskedCall {
    AskedCall {
        tool: tool.to_owned(),
        arguments: Some(arguments.to_string().into_bytes()),
        subject: CallSubject {
            id: "c".to_owned(),
            kind: "local".to_owned(),
            properties: None,
        },
        agent: None,
    }
}

/// Returns the reasons against a call as a refusal has them.
pub(crate) fn reasons(decision: &CallDecision) -> Vec<Value> {
    let reasons = decision.reasons.iter();
    let shown = reasons.map(|it| {
        let mut shown = json!({ "code": it.code.name(), "help": it.help, "text": it.text });
        if let Some(pointer) = &it.pointer {
            shown["pointer"] = json!(pointer);
        }
        shown
    });
    shown.collect()
}

fn decide(point: &DecisionPoint, tool: &str, arguments: Value) -> Vec<Value> {
    let decided = point.decide(&asked(tool, &arguments), at(0));
    reasons(&decided.expect("a decision"))
}

/// Returns the codes and the texts of reasons.
fn texts(reasons: &[Value]) -> Vec<String> {
    let text = |it: &Value| {
        let (code, text) = (it["code"].as_str(), it["text"].as_str());
        format!("{}: {}", code.expect("a code"), text.expect("a text"))
    };
    reasons.iter().map(text).collect()
}

/// Returns the texts of the reasons for which a call needs state.
fn needs(point: &DecisionPoint, tool: &str) -> Vec<String> {
    texts(&decide(point, tool, json!({})))
}

/// A world with one server, whose tools are locked as essential.
fn one_server(tools: Value) -> World {
    let names: Vec<_> = tools.as_object().expect("tools").keys().cloned().collect();
    let names = names.iter().map(|tool| ("web", &**tool, Load::Essential));
    let names: Vec<_> = names.collect();
    let mut web = server("web", tools);
    web["policy"] = json!({ "rateLimitPerMin": 3 });
    World::new(vec![web], &names)
}

#[test]
fn a_tool_is_named_by_its_server_or_as_clients_call_it() {
    let world = World::new(
        vec![
            server("one", json!({ "find": {}, "only": {} })),
            server("io.example/two", json!({ "find": {} })),
        ],
        &[
            ("one", "find", Load::Essential),
            ("one", "only", Load::Essential),
            ("io.example/two", "find", Load::OnDemand),
        ],
    );
    let point = point(&world);
    assert_eq!(
        point.tools(),
        ["io.example/two/find", "one/find", "one/only"]
    );
    for name in [
        "only",
        "one/only",
        "one@1/only",
        "one__find",
        "one/find",
        "io.example/two/find",
        "io.example/two@1/find",
        "io_example_two__find",
    ] {
        assert_eq!(decide(&point, name, json!({})), [json!(null); 0], "{name}");
    }
    let shared = decide(&point, "find", json!({}));
    assert_eq!(
        texts(&shared),
        ["TOOL_NOT_LOCKED: several tools have the name `find`"]
    );
    assert_eq!(
        shared[0]["help"],
        "Call one of `io_example_two__find`, `one__find`."
    );
    for (name, text) in [
        ("other", "no locked server has a tool `other`"),
        ("two/find", "no locked server has a tool `two/find`"),
        ("one@2/find", "no locked server has a tool `one@2/find`"),
        (
            "one/one__find",
            "the lock does not have `one__find` of `one`",
        ),
        ("one/", "the lock does not have `` of `one`"),
        ("", "no locked server has a tool ``"),
        ("/", "no locked server has a tool `/`"),
    ] {
        let reasons = decide(&point, name, json!({}));
        assert_eq!(texts(&reasons), [format!("TOOL_NOT_LOCKED: {text}")]);
    }
}

#[test]
fn every_reason_is_that_of_a_session() {
    let mut world = World::usual();
    world.policy = Some(
        "package switchboard\nallowed_tools contains tool.id if {\n some tool in input.candidate_tools\n \
         input.subject.id == \"d\"\n}\ndeny_reasons[tool.id] := \"only d may\" if some tool in input.candidate_tools\n"
            .to_owned(),
    );
    let arguments = json!({ "path": 1, "more": 2 });
    let found = decide(&point(&world), "files/read", arguments.clone());
    let mut session = world.session(Options::default());
    let called = call(&mut session, &new_client(), "read", arguments);
    let refusal = &answered(&called)["_meta"][REFUSAL_KEY]["reasons"];
    assert_eq!(json!(found), *refusal);
    let codes: Vec<_> = found.iter().map(|it| &it["code"]).collect();
    assert_eq!(
        codes,
        ["ARGUMENT_INVALID", "ARGUMENT_INVALID", "POLICY_DENIED"]
    );
}

#[test]
fn the_subject_and_the_time_are_those_of_the_question() {
    let mut world = World::usual();
    world.policy = Some(
        "package switchboard\nallowed_tools contains tool.id if {\n some tool in input.candidate_tools\n \
         input.phase != \"call\"\n}\nallowed_tools contains tool.id if {\n some tool in input.candidate_tools\n \
         input.subject.properties.role == \"admin\"\n input.subject.type == \"user\"\n input.context.hour == 9\n}\n"
            .to_owned(),
    );
    let point = point(&world);
    let mut call = asked("read", &json!({ "path": "a" }));
    call.subject = CallSubject {
        id: "alice".to_owned(),
        kind: "user".to_owned(),
        properties: Some(br#"{"role":"admin"}"#.to_vec()),
    };
    let hour = 3_600_000;
    let allowed = |call: &AskedCall, ms: u64| {
        let decided = point.decide(call, at(ms)).expect("a decision");
        decided.reasons.is_empty()
    };
    assert!(allowed(&call, 0) && !allowed(&call, hour));
    call.subject.properties = Some(br#"{"role":"guest"}"#.to_vec());
    assert!(!allowed(&call, 0));
}

#[test]
fn a_tool_on_demand_is_called_by_its_name_under_the_policy_of_its_expansion() {
    let mut world = World::usual();
    world.policy = Some(
        "package switchboard\nallowed_tools contains tool.id if {\n some tool in input.candidate_tools\n \
         not hidden(tool)\n}\nhidden(tool) if {\n input.phase == \"expand\"\n tool.tool == \"s3_put\"\n}\n"
            .to_owned(),
    );
    let point = point(&world);
    let through = |tool: &str| {
        let arguments = json!({ "operation": "call", "tool": tool, "arguments": { "key": "k" } });
        texts(&decide(&point, "aws_helper", arguments))
    };
    assert_eq!(
        decide(&point, "s3_list", json!({ "key": "k" })),
        [json!(null); 0]
    );
    assert_eq!(through("s3_list"), [""; 0]);
    let denied = texts(&decide(&point, "aws/s3_put", json!({})));
    assert!(denied[0].starts_with("POLICY_DENIED: "), "{denied:?}");
    assert_eq!(through("s3_put"), denied);
    assert!(through("ec2_run")[0].starts_with("EXPANSION_DENIED: "));
    assert_eq!(
        through("read"),
        ["TOOL_NOT_LOCKED: the lock does not have `read` of `aws`"]
    );
    assert_eq!(
        texts(&decide(
            &point,
            "aws_helper",
            json!({ "operation": "drop" })
        )),
        ["ARGUMENT_INVALID: `arguments/operation` is not `list_services`, `expand` or `call`"]
    );
    for operation in ["list_services", "expand"] {
        let arguments = json!({ "operation": operation, "tools": ["s3_list"] });
        assert_eq!(
            texts(&decide(&point, "aws_helper", arguments)),
            ["STATE_REQUIRED: the gateway itself answers `aws_helper`, within a budget of tokens"]
        );
    }
}

#[test]
fn what_needs_state_is_refused_with_what_is_missing() {
    let tagged = |tags: &[&str]| json!({ "x-summit-capabilities": capability(tags) });
    let world = one_server(json!({
        "free": {}, "asked": tagged(&["human_in_the_loop"]), "counted": tagged(&["rate_limited"]),
        "both": tagged(&["human_in_the_loop", "rate_limited"]),
    }));
    let without_state =
        |what: &str| format!("STATE_REQUIRED: {what} is not known to a decision without state");
    let human = without_state("a human must approve the call, and the answer");
    let count = without_state("`web` takes 3 calls within a minute, and the number of calls");
    let point = point(&world);
    assert_eq!(needs(&point, "free"), [""; 0]);
    assert_eq!(needs(&point, "asked"), [&*human]);
    assert_eq!(needs(&point, "counted"), [&*count]);
    assert_eq!(needs(&point, "both"), [&*count, &*human]);
    // Other reasons stand beside it.
    let found = texts(&decide(&point, "asked", json!({ "x": 1 })));
    assert!(found[0].starts_with("ARGUMENT_UNKNOWN: ") && found[1] == human);
    assert_eq!(found.len(), 2);
}

#[test]
fn a_quota_without_a_limit_is_missing() {
    let limited = json!({ "x-summit-capabilities": capability(&["rate_limited"]) });
    let mut world = one_server(json!({ "counted": limited }));
    world.servers[0]["policy"] = json!({});
    let found = needs(&point(&world), "counted");
    assert!(found[0].starts_with("QUOTA_MISSING: "), "{found:?}");
    assert_eq!(found.len(), 1);
}

#[test]
fn a_history_needs_state_only_for_the_calls_that_it_decides() {
    let history = |rules: &str| {
        let mut world = one_server(json!({ "find": {}, "look": {} }));
        let tenant =
            format!("tenants:\n  - id: t\n    history:\n      rules:\n        - {rules}\n");
        world.documents.tenant = Some(tenant.into_bytes());
        point(&world)
    };
    let wanted = "STATE_REQUIRED: the tenant's rule `at-most` reads the history of calls, which is not known to a \
                  decision without state";
    let of_one = history("{ rule: at-most, calls: 2, tools: [web/find] }");
    assert_eq!(needs(&of_one, "find"), [wanted]);
    assert_eq!(needs(&of_one, "look"), [""; 0]);
    let log_only = history("{ rule: at-most, calls: 2, mode: log-only }");
    assert_eq!(needs(&log_only, "find"), [""; 0]);
}

#[test]
fn a_policy_that_reads_the_history_is_not_asked_without_one() {
    let mut world = one_server(json!({ "find": {} }));
    world.policy = Some(
        "package switchboard\nallowed_tools contains tool.id if {\n some tool in input.candidate_tools\n \
         input.phase != \"call\"\n}\nallowed_tools contains tool.id if {\n some tool in input.candidate_tools\n \
         count(input.history.calls) == 0\n}\n"
            .to_owned(),
    );
    assert_eq!(
        needs(&point(&world), "find"),
        [
            "STATE_REQUIRED: the policy reads the history of calls, which is not known to a decision without state"
        ]
    );
}

#[test]
fn a_policy_about_results_needs_the_results() {
    let mut world = one_server(json!({ "find": {} }));
    let allows = "package switchboard\nallowed_tools contains tool.id if some tool in input.candidate_tools\n";
    world.policy = Some(allows.to_owned());
    assert_eq!(needs(&point(&world), "find"), [""; 0]);
    world.policy = Some(format!("{allows}results := {{\"action\": \"allow\"}}\n"));
    assert_eq!(
        needs(&point(&world), "find"),
        [
            "STATE_REQUIRED: the policy decides about results, and the result is not known to a decision without state"
        ]
    );
}

#[test]
fn a_fallback_needs_the_health_of_servers() {
    let mut world = World::new(
        vec![
            server("one", json!({ "find": {} })),
            server("two", json!({ "seek": {} })),
        ],
        &[("one", "find", Load::Essential)],
    );
    let name = |server: &str, tool: &str| (server.to_owned(), tool.to_owned());
    world.fallbacks = vec![[name("one", "find"), name("two", "seek")]];
    assert_eq!(needs(&point(&world), "find"), [""; 0]);
    assert_eq!(
        needs(&point(&world), "seek"),
        [
            "STATE_REQUIRED: `seek` is a fallback, and the health of servers is not known to a decision without state"
        ]
    );
    world.documents.health = Some(b"one: UNHEALTHY\ntwo: HEALTHY\n".to_vec());
    assert_eq!(needs(&point(&world), "seek"), [""; 0]);
    assert_eq!(
        needs(&point(&world), "find"),
        ["HEALTH_VETO: the server `one` is UNHEALTHY"]
    );
    world.documents.health = Some(b"one: HEALTHY\ntwo: HEALTHY\n".to_vec());
    let found = needs(&point(&world), "seek");
    assert!(found[0].starts_with("HEALTH_VETO: `seek` is the fallback of `find`"));
}

#[test]
fn a_call_of_another_agent_is_refused() {
    let point = point(&World::usual());
    let mut call = asked("read", &json!({ "path": "a" }));
    call.agent = Some("a".to_owned());
    assert_eq!(point.decide(&call, at(0)).expect("a decision").reasons, []);
    call.agent = Some("b\u{200b}".to_owned());
    let found = reasons(&point.decide(&call, at(0)).expect("a decision"));
    assert_eq!(
        texts(&found),
        ["AGENT_CHANGED: the agent `b<U+200B>` calls, and the lock is that of `a`"]
    );
}

#[test]
fn an_answer_names_the_documents_that_decided() {
    let mut world = World::usual();
    world.documents.tenant_id = Some("t".to_owned());
    world.documents.tenant = Some(b"tenants:\n  - id: t\n".to_vec());
    let (point, documents) = (point(&world), world.documents());
    let digest = |it: &Option<Vec<u8>>| it.as_deref().map(agent_lower::bytes_digest);
    let decided = point
        .decide(&asked("x", &json!({})), at(0))
        .expect("a decision");
    let named = &decided.documents;
    assert_eq!(named, point.documents());
    assert_eq!(named.lock, digest(&documents.lock));
    assert_eq!(named.index, digest(&documents.index));
    assert_eq!(named.definitions, digest(&documents.definitions));
    assert_eq!(named.tenant, digest(&documents.tenant));
    assert_eq!(named.tenant_id.as_deref(), Some("t"));
    assert_eq!((&named.policy, &named.task), (&None, &None));
}

#[test]
fn what_is_no_call_gets_no_decision() {
    let point = point(&World::usual());
    let wrong = |change: &dyn Fn(&mut AskedCall)| {
        let mut call = asked("read", &json!({ "path": "a" }));
        change(&mut call);
        let refused = point.decide(&call, at(0)).expect_err("no call");
        (refused.0, refused.1)
    };
    let at_the_limit = |call: &mut AskedCall, more: usize| {
        call.subject.id = "x".repeat(CLIENT_NAME_MAX_BYTES + more);
    };
    let mut call = asked("read", &json!({ "path": "a" }));
    at_the_limit(&mut call, 0);
    call.arguments = None;
    let decided = point.decide(&call, at(0)).expect("a decision");
    assert_eq!(decided.reasons[0].code, Code::ArgumentInvalid);
    for (change, code, text) in [
        (
            &(|call: &mut AskedCall| at_the_limit(call, 1)) as &dyn Fn(&mut AskedCall),
            Code::InputTooLarge,
            "the client's id has more than 256 bytes",
        ),
        (
            &|call| call.subject.properties = Some(vec![b' '; CLIENT_PROPERTIES_MAX_BYTES + 1]),
            Code::InputTooLarge,
            "the client's properties have more than 65536 bytes",
        ),
        (
            &|call| call.subject.properties = Some(b"[]".to_vec()),
            Code::WrongType,
            "the client's properties are not a JSON object",
        ),
        (
            &|call| call.arguments = Some(b"[]".to_vec()),
            Code::WrongType,
            "the arguments are not one strict JSON object",
        ),
        (
            &|call| call.arguments = Some(b"{\"a\":\"\xff\"}".to_vec()),
            Code::WrongEncoding,
            "the arguments are not UTF-8",
        ),
        (
            &|call| call.arguments = Some(vec![b' '; PARAMS_MAX_BYTES + 1]),
            Code::InputTooLarge,
            "the arguments have 4194305 bytes; the limit is 4194304",
        ),
    ] {
        assert_eq!(wrong(change), (code, text.to_owned()));
    }
}

#[test]
fn documents_are_those_of_a_session_with_a_lock() {
    let world = World::usual();
    let open = |documents: Documents| {
        let problems = DecisionPoint::open(documents).expect_err("no decision point");
        problems.iter().map(|it| it.code).collect::<Vec<_>>()
    };
    let without_lock = Documents {
        lock: None,
        ..world.documents()
    };
    assert_eq!(open(without_lock), [Code::LockMissing]);
    let mut changed = World::usual();
    changed.servers[0]["capabilities"]["tools"]["read"]["description"] = json!("Reads all.");
    let drifted = Documents {
        index: changed.documents().index,
        ..world.documents()
    };
    assert!(open(drifted).contains(&Code::DefinitionChanged));
}
