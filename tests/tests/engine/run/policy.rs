//! The policy of a lock decides on each call of a run, at the time of the call \[4\].

use super::super::audit::{again, files_of};
use super::{audiences, documents_of_base, plan_of};
use agent_run::{Action, Clock, Documents, Outcome};
use agent_tests::run::{Ended, behave, clock, options, run_at};
use serde_json::{Value, json};

/// Allows small lists, before noon.
const POLICY: &str = r#"package switchboard

allowed_tools contains tool.id if {
    some tool in input.candidate_tools
    input.arguments.limit < 3
    input.context.hour < 12
}

deny_reasons[tool.id] := "at most two audiences, and before noon" if some tool in input.candidate_tools
"#;

/// Milliseconds since 1970 of 2026-11-24, 11:59:59.900 UTC.
const JUST_BEFORE_NOON: u64 = 1_795_521_599_900;

/// Returns documents whose lock names the policy.
fn governed(documents: Documents) -> Documents {
    let lock = documents_of_base().lock.expect("a lock");
    let mut lock: Value = serde_json::from_slice(&lock).expect("JSON");
    lock["policy"] = json!(agent_tests::digest::digest(POLICY));
    Documents {
        lock: Some(lock.to_string().into_bytes()),
        policy: Some(POLICY.into()),
        ..documents
    }
}

/// A step that counts, and one that lists as many audiences.
fn counted(limit: u64) -> Documents {
    plan_of(json!([
        {
            "step_id": "count",
            "connector_id": "connector_core:noop",
            "tool_id": "keep",
            "input": { "limit": limit }
        },
        {
            "step_id": "list",
            "connector_id": "connector_acme:audiences",
            "tool_id": "list",
            "input_from": { "step": "count", "pointer": "" }
        }
    ]))
}

fn contexts(ended: &Ended) -> Vec<Value> {
    let episodes = ended.episodes().into_iter();
    let mut steps = episodes.filter(|it| it["result_details"]["record"] == "step");
    let last = steps.next_back().expect("a step");
    let contexts = last["result_details"]["policy_contexts"]
        .as_array()
        .cloned();
    contexts.unwrap_or_default()
}

/// A clock that stands at a time until a number of readings, and then goes on by an hour.
fn hour_later_after(readings: u64) -> impl Fn(u64) -> Clock {
    move |reading| Clock {
        unix_ms: JUST_BEFORE_NOON + if reading > readings { 3_600_000 } else { 0 },
        ..clock(reading)
    }
}

fn early(documents: Documents) -> Ended {
    run_at(hour_later_after(u64::MAX), documents, options(), behave)
}

#[test]
fn an_output_of_an_earlier_step_is_decided_when_it_is_there() {
    let allowed = early(governed(counted(2)));
    assert_eq!(allowed.code(), (None, None), "{:?}", allowed.finished);
    // Of the input of the step, and of what its handler asks for.
    let found = contexts(&allowed);
    assert_eq!(found.len(), 2);
    for context in found {
        assert_eq!(context["hour"], 11, "{context}");
        assert_eq!(context["weekday"], "tuesday");
        assert_eq!(context["time"], "2026-11-24T11:59:59.900Z");
    }
    let denied = early(governed(counted(3)));
    assert_eq!(denied.code().0, Some("policy_denied"));
    assert_eq!(denied.effects, ["call_handler"], "the server is not asked");
    let message = &denied.finished.message;
    assert!(
        message.contains("at most two audiences, and before noon"),
        "{message}"
    );
    assert_eq!(contexts(&denied).len(), 1);
}

#[test]
fn a_call_is_decided_at_its_own_time() {
    // The plan is decided before noon.
    let literal = governed(plan_of(audiences()));
    let all = early(literal.clone());
    assert_eq!(all.code(), (None, None));
    let readings = all.files.len() as u64 * 2;
    let mut denied = 0;
    for readings in 0..readings {
        let ended = run_at(
            hour_later_after(readings),
            literal.clone(),
            options(),
            behave,
        );
        let (code, _) = ended.code();
        let is_called = ended.effects.contains(&"call_tool");
        if code.is_none() {
            assert!(is_called);
            continue;
        }
        denied += 1;
        assert_eq!(code, Some("policy_denied"), "{readings}");
        assert!(!is_called, "{readings}");
    }
    assert!(denied > 5, "{denied}");
}

#[test]
fn a_replay_uses_the_recorded_time() {
    for limit in [2, 3] {
        let documents = governed(counted(limit));
        let ended = early(documents.clone());
        let rules = Documents {
            lock: documents.lock,
            index: documents.index,
            policy: documents.policy,
            ..Documents::default()
        };
        let files = files_of(ended);
        let replayed = again(&files, rules.clone());
        assert!(replayed.difference.is_none(), "{}", replayed.json);
        assert_eq!(replayed.undecidable, 0, "{}", replayed.json);
        // Under another policy the recorded call would be decided otherwise.
        let other = POLICY.replace("< 3", "< 1").replace("< 12", "< 24");
        let lock = String::from_utf8(rules.lock.expect("a lock")).expect("UTF-8");
        let digests = [POLICY, &*other].map(agent_tests::digest::digest);
        let rules = Documents {
            lock: Some(lock.replace(&digests[0], &digests[1]).into_bytes()),
            policy: Some(other.into_bytes()),
            index: rules.index,
            ..Documents::default()
        };
        let replayed = again(&files, rules);
        assert_eq!(
            replayed.difference.is_some(),
            limit == 2,
            "{}",
            replayed.json
        );
    }
}

#[test]
fn a_run_needs_the_policy_of_its_lock() {
    let documents = governed(plan_of(audiences()));
    for (policy, reason) in [
        (None, "POLICY_MISSING"),
        (Some(b"package switchboard".to_vec()), "POLICY_CHANGED"),
    ] {
        let ended = early(Documents {
            policy,
            ..documents.clone()
        });
        assert_eq!(ended.code().0, Some("policy_denied"), "{reason}");
        assert_eq!(ended.effects, [""; 0], "{reason}");
        let report = &ended.files["validation_report.json"];
        assert!(report.contains(reason), "{report}");
    }
}

#[test]
fn a_policy_that_changes_its_mind_stops_what_a_handler_asks_for() {
    // The step has small arguments, and its handler asks for large ones.
    let ended = run_at(
        hour_later_after(u64::MAX),
        governed(plan_of(audiences())),
        options(),
        |action| match action {
            Action::CallHandler(_) => agent_tests::run::handled(agent_run::HandlerEvent::Tool {
                arguments: br#"{"limit":9}"#.to_vec(),
            }),
            Action::OpenServer(_) => Outcome::Stored,
            action => behave(action),
        },
    );
    assert_eq!(ended.code().0, Some("policy_denied"));
    assert_eq!(ended.effects, ["call_handler"]);
}
