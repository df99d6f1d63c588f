//! What a policy decides about results.

use super::audit_log::{replayed, text_of, verified};
use super::{World, at, call, codes, is_passed_on, new_client, server};
use agent_model::Load;
use agent_session::health::Observation;
use agent_session::{
    CallAction, Called, Delivered, EFFECT_KEY, Options, REFUSAL_KEY, Record, Session,
};
use serde_json::{Value, json};

/// A world whose policy has a rule of results.
fn world(rule: &str) -> World {
    let schema = json!({
        "type": "object",
        "properties": { "id": { "type": "integer" }, "mail": { "type": "string" } },
        "required": ["id", "mail"],
    });
    let customer = json!({ "outputSchema": schema, "annotations": { "readOnlyHint": true } });
    let tools = json!({ "customer": customer, "change": {}, "other": {} });
    let mut world = World::new(
        vec![server("crm", tools)],
        &["customer", "change", "other"].map(|tool| ("crm", tool, Load::Essential)),
    );
    world.policy = Some(format!(
        "package switchboard

allowed_tools contains tool.id if some tool in input.candidate_tools

{rule}
"
    ));
    world
}

/// Starts a session, and returns its log.
fn logged(world: &World, options: Options) -> (Session, Vec<Record>) {
    let (mut session, mut log) =
        Session::open(world.documents(), options, at(0)).expect("a session");
    for server in session.servers() {
        let live = world.live(&server.id);
        log.extend(session.tools(&server.name, live.as_bytes(), at(0)).records);
        let answered = Observation::Answered { latency_ms: 1 };
        log.extend(session.observe(&server.name, answered, at(0)).records);
    }
    (session, log)
}

/// Calls a tool, and returns the fate of a result.
fn result_of(session: &mut Session, tool: &str, result: &Value) -> (Value, Vec<Record>) {
    let called = call(session, &new_client(), tool, json!({}));
    assert!(is_passed_on(&called), "{:?}", called.action);
    ended(session, &called, result)
}

fn ended(session: &mut Session, called: &Called, result: &Value) -> (Value, Vec<Record>) {
    let result = result.to_string();
    match session.result(called.id, result.as_bytes(), at(1)) {
        Delivered::Changed(bytes, records) | Delivered::Refused(bytes, records) => {
            (serde_json::from_slice(&bytes).expect("JSON"), records)
        }
        other => panic!("{other:?}"),
    }
}

fn customer() -> Value {
    json!({
        "content": [{ "type": "text", "text": r#"{"id":7,"mail":"a@b.example"}"# }],
        "structuredContent": { "id": 7, "mail": "a@b.example" },
    })
}

fn effect(records: &[Record]) -> Value {
    let record: Value = serde_json::from_str(&records[0].line).expect("JSON");
    record["content"].clone()
}

#[test]
fn a_policy_without_the_rule_decides_about_no_result() {
    let mut session = world("").session(Options::default());
    let (result, _) = result_of(&mut session, "customer", &customer());
    assert_eq!(result["structuredContent"]["mail"], "a@b.example");
}

#[test]
fn a_value_is_redacted_wherever_it_stands() {
    let rule = r#"results := {"action": "redact", "pointers": ["/mail"]} if input.result.structuredContent.mail
results := {"action": "allow"} if not input.result.structuredContent.mail"#;
    let mut session = world(rule).session(Options::default());
    let (result, records) = result_of(&mut session, "customer", &customer());
    assert!(!result.to_string().contains("a@b"), "{result}");
    assert_eq!(
        result["structuredContent"],
        json!({ "id": 7, "mail": "[redacted]" })
    );
    let told = result["content"][1]["text"].as_str().expect("a text");
    assert_eq!(told, "The policy redacted `/mail` of this result.");
    let effect = effect(&records);
    assert_eq!(effect["redacted"], json!(["/mail"]));
    assert_eq!(effect["outcome"], "delivered");
    let (result, records) = result_of(&mut session, "other", &json!({ "content": [] }));
    assert_eq!(result["content"], json!([]));
    assert_eq!(self::effect(&records).get("redacted"), None);
}

#[test]
fn what_the_schema_then_forbids_is_withheld() {
    let rule = r#"results := {"action": "redact", "pointers": ["/id"]}"#;
    let mut session = world(rule).session(Options::default());
    let (result, records) = result_of(&mut session, "customer", &customer());
    assert_eq!(codes(&result), ["POLICY_ERROR"]);
    assert!(!result.to_string().contains("a@b"), "{result}");
    assert_eq!(effect(&records)["outcome"], "withheld");
}

#[test]
fn a_result_may_be_withheld_with_a_reason() {
    let rule = r#"results := {"action": "withhold", "reason": "customers stay here"}"#;
    let mut session = world(rule).session(Options::default());
    let (result, _) = result_of(&mut session, "customer", &customer());
    assert_eq!(codes(&result), ["POLICY_DENIED"]);
    assert_eq!(
        result["_meta"][REFUSAL_KEY]["reasons"][0]["text"],
        "customers stay here"
    );
    // The call was made.
    assert_eq!(result["_meta"][EFFECT_KEY], "done", "{result}");
}

#[test]
fn what_is_no_answer_withholds() {
    for rule in [
        r#"results := {"action": "allow"} if input.result.nothing"#,
        r#"results := "allow""#,
        r#"results := {"action": "permit"}"#,
        r#"results := {"action": "redact"}"#,
        r#"results := {"action": "allow", "pointers": ["/a"]}"#,
        r#"results := {"action": "redact", "pointers": [1]}"#,
        r#"results := {"action": "redact", "patterns": ["("]}"#,
        r#"results := {"action": "allow", "because": "x"}"#,
        "results contains 1",
        r#"results := {"action": "allow"} if startswith(input.task, "a")"#,
    ] {
        let mut session = world(rule).session(Options::default());
        let (result, _) = result_of(&mut session, "customer", &customer());
        assert_eq!(codes(&result), ["POLICY_ERROR"], "{rule}");
    }
}

#[test]
fn patterns_redact_texts() {
    let rule = r#"results := {"action": "redact", "patterns": ["[a-z]+@[a-z.]+"]}"#;
    let mut session = world(rule).session(Options::default());
    let (result, records) = result_of(&mut session, "customer", &customer());
    assert!(!result.to_string().contains("a@b"), "{result}");
    assert_eq!(effect(&records)["redacted"], json!(["patterns"]));
}

#[test]
fn a_human_may_be_asked_about_a_result() {
    let rule = r#"results := {"action": "ask"}"#;
    let world = world(rule);
    let mut session = world.session(Options::default());
    let (result, _) = result_of(&mut session, "customer", &customer());
    assert_eq!(codes(&result), ["APPROVAL_REQUIRED"]);
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(
        text.contains("Call again: a human is then asked."),
        "{text}"
    );
    // An exported state keeps the question.
    let options = Options {
        state: Some(session.export().into()),
        ..Options::default()
    };
    let (mut session, _) = Session::open(world.documents(), options, at(1)).expect("a session");
    let called = call(&mut session, &new_client(), "customer", json!({}));
    let CallAction::AskApproval { approval, text, .. } = &called.action else {
        panic!("{:?}", called.action);
    };
    assert!(text.contains("the policy asks about its result"), "{text}");
    session.approve(approval, true, "t", at(2));
    let (result, _) = result_of(&mut session, "customer", &customer());
    assert_eq!(result["structuredContent"]["mail"], "a@b.example");
    // The approval was for one result.
    let (result, _) = result_of(&mut session, "customer", &customer());
    assert_eq!(codes(&result), ["APPROVAL_REQUIRED"]);
    let (result, _) = result_of(&mut session, "change", &json!({ "content": [] }));
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("The call had its effect."), "{text}");
}

#[test]
fn a_log_with_asked_results_decides_the_same_again() {
    let world = world(r#"results := {"action": "ask"}"#);
    for audit_arguments in [true, false] {
        let options = Options {
            audit_arguments,
            ..Options::default()
        };
        let (mut session, mut log) = logged(&world, options);
        // Asked about, approved, and asked about again: the approval is used up.
        for is_asked in [false, true, false] {
            let mut called = call(&mut session, &new_client(), "customer", json!({}));
            log.extend(called.records.iter().cloned());
            let CallAction::AskApproval { approval, .. } = &called.action else {
                assert!(!is_asked, "{:?}", called.action);
                log.extend(ended(&mut session, &called, &customer()).1);
                continue;
            };
            assert!(is_asked);
            log.extend(session.approve(approval, true, "t", at(1)).records);
            called = call(&mut session, &new_client(), "customer", json!({}));
            log.extend(called.records.iter().cloned());
            log.extend(ended(&mut session, &called, &customer()).1);
        }
        let answer = replayed(text_of(&log).as_bytes(), world.documents());
        assert_eq!(answer["counts"]["undecidable"], 0, "{answer}");
        assert_eq!(answer["same"], true, "{answer}");
        assert_eq!(answer["counts"]["differs"], 0, "{answer}");
    }
}

#[test]
fn an_observing_session_records_what_it_would_do() {
    let rule = r#"results := {"action": "withhold"}"#;
    let world = world(rule);
    let options = Options {
        observe: true,
        ..Options::default()
    };
    let mut session = world.session(options);
    let (result, records) = result_of(&mut session, "customer", &customer());
    assert_eq!(result["structuredContent"]["mail"], "a@b.example");
    assert_eq!(effect(&records)["codes"], json!(["POLICY_DENIED"]));
}

#[test]
fn results_are_decided_by_the_history_too() {
    let rule = r#"results := {"action": "allow"} if input.history.labels.untrusted.count < 2
results := {"action": "withhold"} if input.history.labels.untrusted.count >= 2"#;
    let world = world(rule);
    let mut session = world.session(Options::default());
    let (result, _) = result_of(&mut session, "other", &json!({ "content": [] }));
    assert_eq!(result["content"], json!([]));
    let (result, _) = result_of(&mut session, "other", &json!({ "content": [] }));
    assert_eq!(codes(&result), ["POLICY_DENIED"]);
}

#[test]
fn records_of_redacted_results_are_verified() {
    let rule = r#"results := {"action": "redact", "pointers": ["/mail"]}"#;
    let world = world(rule);
    let (mut session, mut log) = logged(&world, Options::default());
    let called = call(&mut session, &new_client(), "customer", json!({}));
    log.extend(called.records.iter().cloned());
    let (_, records) = ended(&mut session, &called, &customer());
    log.extend(records);
    let found = verified(text_of(&log).as_bytes());
    assert!(found.is_valid(), "{:#?}", found.problems);
}
