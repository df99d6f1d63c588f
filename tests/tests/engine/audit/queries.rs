//! Recorded queries, decided again.

use super::super::run::ask::{CALL, ask_but, ask_options, query};
use super::super::run::goals::{goal, planned};
use super::super::run::{keep, locked};
use super::replays::{again, checks, rules};
use super::{Files, files_of};
use agent_diagnostic::Code;
use agent_run::{Action, Documents, FailureKind, Options, Outcome, Secret};
use agent_tests::run::{behave, failed, listed, options, run};
use serde_json::{Value, json};

const QUESTION: &str = r#"{"type":"final_answer","answer":"Which?","needs_more_info":true}"#;

fn ask(documents: &Documents, plan: &str) -> Files {
    files_of(ask_but(documents.clone(), ask_options(), plan, |_| None))
}

/// Returns the lock and the index of documents with a tool that may write.
fn writing(documents: &Documents) -> (Vec<u8>, Vec<u8>) {
    let index = documents.index.as_deref().expect("an index");
    let mut index: Value = serde_json::from_slice(index).expect("JSON");
    let tools = &mut index["servers"][0]["capabilities"]["tools"];
    let blocks = tools["list_audiences"]["x-summit-capabilities"]
        .as_array_mut()
        .expect("blocks");
    blocks.push(json!({ "verb": "write", "resource": "x-audiences", "constraints": [] }));
    let index = index.to_string();
    (locked(&index).into_bytes(), index.into_bytes())
}

#[test]
fn every_decision_on_a_query_is_made_again() {
    let documents = query("Which audiences are the largest?");
    let call = |tool: &str, args: &str| {
        format!(r#"{{"type":"call_tool","server":"acme-audiences","tool":"{tool}","args":{args}}}"#)
    };
    for plan in [
        CALL,
        QUESTION,
        "Here is the plan: {}",
        "[]",
        &call("nothing", "{}"),
        &call("rename_audience", r#"{"id":"a","name":"b"}"#),
        &call("list_audiences", r#"{"limit":0}"#),
        &call("list_audiences", r#"{"limit":1,"retry":3}"#),
    ] {
        let replayed = again(&ask(&documents, plan), rules(&documents));
        let json = &replayed.json;
        assert!(replayed.difference.is_none(), "{plan}: {json}");
        assert_eq!(replayed.undecidable, 0, "{plan}: {json}");
    }
    let refused = query(&"x".repeat(16_385));
    let replayed = again(&ask(&refused, CALL), rules(&refused));
    assert!(replayed.difference.is_none(), "{}", replayed.json);
    assert_eq!(replayed.undecidable, 0, "{}", replayed.json);
}

#[test]
fn a_lock_of_a_tool_that_writes_refuses_the_recorded_query() {
    let documents = query("q");
    let files = ask(&documents, CALL);
    // As a step of a plan the tool could be called, as a query not.
    let (lock, index) = writing(&documents);
    let rules = Documents {
        lock: Some(lock),
        index: Some(index),
        ..Documents::default()
    };
    let replayed = again(&files, rules);
    let difference = replayed.difference.as_ref().map(|it| it.code);
    assert_eq!(difference, Some(Code::ReplayDiffers), "{}", replayed.json);
    let json: Value = serde_json::from_str(&replayed.json).expect("JSON");
    let now = json["checks"][0]["now"].as_str().expect("a decision");
    assert!(now.starts_with("refused with policy_denied"), "{now}");
}

#[test]
fn a_profile_of_today_decides_on_the_recorded_query() {
    let documents = query("What is the password?");
    let files = ask(&documents, CALL);
    let profile: Value = serde_json::from_slice(&files["instruction_profile.json"]).expect("JSON");
    for (changed, check) in [
        (
            json!({ "input_policy": { "max_bytes": 100, "deny_patterns": ["password"] } }),
            "plan",
        ),
        (
            json!({ "rules": [{ "rule_id": "none", "effect": "deny", "target": { "kind": "tool", "selector": "*" } }] }),
            "plan",
        ),
        (
            json!({ "caps": { "max_steps": 1, "max_timeout_ms": 1000, "max_input_bytes": 100, "max_output_bytes": 40, "max_log_bytes": 10 } }),
            "size",
        ),
    ] {
        let mut profile = profile.clone();
        for (name, value) in changed.as_object().expect("members") {
            profile[name] = value.clone();
        }
        let rules = Documents {
            profile: Some(profile.to_string().into_bytes()),
            ..rules(&documents)
        };
        let replayed = again(&files, rules);
        assert!(
            replayed.difference.is_some(),
            "{changed}: {}",
            replayed.json
        );
        assert_eq!(
            checks(&replayed).pop().expect("a check").1,
            check,
            "{changed}"
        );
    }
}

#[test]
fn a_redacted_query_is_not_decidable() {
    let documents = query("What is swordfish-1?");
    let secret = Secret {
        name: "CANARY".to_owned(),
        value: "swordfish-1".to_owned(),
    };
    let options = Options {
        secrets: vec![secret],
        ..ask_options()
    };
    let files = files_of(ask_but(documents.clone(), options, CALL, |_| None));
    let profile = &files["instruction_profile.json"];
    let mut profile: Value = serde_json::from_slice(profile).expect("JSON");
    profile["input_policy"] = json!({ "max_bytes": 100, "deny_patterns": ["swordfish"] });
    let rules = Documents {
        profile: Some(profile.to_string().into_bytes()),
        ..rules(&documents)
    };
    let replayed = again(&files, rules);
    assert!(replayed.difference.is_none(), "{}", replayed.json);
    assert_eq!(replayed.undecidable, 1, "{}", replayed.json);
}

#[test]
fn a_planners_answer_with_a_short_secret_is_kept_by_its_digest() {
    let mark =
        |tool: &mut Value| tool["inputSchema"]["properties"]["limit"]["writeOnly"] = json!(true);
    let mut documents = query("q");
    let index = documents.index.as_deref().expect("an index");
    let mut index: Value = serde_json::from_slice(index).expect("JSON");
    mark(&mut index["servers"][0]["capabilities"]["tools"]["list_audiences"]);
    let index = index.to_string();
    documents.lock = Some(locked(&index).into_bytes());
    documents.index = Some(index.into_bytes());
    let mut live = listed();
    for tool in live["tools"].as_array_mut().expect("tools") {
        if tool["name"] == "list_audiences" {
            mark(tool);
        }
    }
    let ended = ask_but(
        documents.clone(),
        ask_options(),
        CALL,
        |action| match action {
            Action::ListTools { .. } => Some(Outcome::Bytes(live.to_string().into_bytes())),
            _ => None,
        },
    );
    assert_eq!(ended.code(), (None, None), "{}", ended.finished.message);
    for (name, text) in &ended.files {
        let plain = text.replace(['\\', ' '], "");
        assert!(!plain.contains("\"limit\":2"), "{name}: {text}");
    }
    let replayed = again(&files_of(ended), rules(&documents));
    assert!(replayed.difference.is_none(), "{}", replayed.json);
    assert_eq!(replayed.undecidable, 1, "{}", replayed.json);
}

#[test]
fn a_profile_of_today_decides_on_the_recorded_goal() {
    let documents = goal("Keep the password");
    let files = files_of(run(documents.clone(), options(), |action| match action {
        Action::Plan(_) => Outcome::Bytes(planned(keep(), "run-1")),
        action => behave(action),
    }));
    let of = |rules| checks(&again(&files, rules)).swap_remove(0);
    let goal = |outcome: &str| (String::new(), "goal".to_owned(), outcome.to_owned());
    assert_eq!(of(rules(&documents)), goal("same"));
    let profile = documents.profile.as_deref().expect("a profile");
    let mut profile: Value = serde_json::from_slice(profile).expect("JSON");
    profile["input_policy"] = json!({ "max_bytes": 100, "deny_patterns": ["password"] });
    let rules = Documents {
        profile: Some(profile.to_string().into_bytes()),
        ..rules(&documents)
    };
    assert_eq!(of(rules), goal("differs"));
}

#[test]
fn an_approved_query_is_approved_again() {
    let mut index: Value =
        serde_json::from_slice(&query("q").index.expect("an index")).expect("JSON");
    let tools = &mut index["servers"][0]["capabilities"]["tools"];
    tools["list_audiences"]["x-summit-capabilities"][0]["constraints"] =
        json!(["readonly", "human_in_the_loop"]);
    let index = index.to_string();
    let documents = Documents {
        lock: Some(locked(&index).into_bytes()),
        index: Some(index.into_bytes()),
        ..query("q")
    };
    let list = listed();
    let live = move |action: &Action| match action {
        Action::ListTools { .. } => Some(Outcome::Bytes(list.to_string().into_bytes())),
        _ => None,
    };
    let ended = ask_but(documents.clone(), ask_options(), CALL, live);
    assert_eq!(ended.code(), (None, None), "{}", ended.finished.answer);
    let replayed = again(&files_of(ended), rules(&documents));
    assert!(replayed.difference.is_none(), "{}", replayed.json);
    assert_eq!(replayed.undecidable, 0);
    let approval = ("call".into(), "approval".into(), "same".into());
    assert!(checks(&replayed).contains(&approval), "{}", replayed.json);
}

#[test]
fn a_query_that_no_decision_ended_is_not_decidable() {
    let documents = query("q");
    let fails = |wanted: &'static str| {
        let answer = move |action: &Action| {
            (action.name() == wanted).then(|| failed(FailureKind::Failed, "it failed"))
        };
        files_of(ask_but(documents.clone(), ask_options(), CALL, answer))
    };
    for wanted in ["open_server", "plan"] {
        let replayed = again(&fails(wanted), rules(&documents));
        assert_eq!(replayed.undecidable, 1, "{wanted}: {}", replayed.json);
        assert!(replayed.difference.is_none(), "{wanted}");
    }
    // A catalogue above the limit of evidence is there by its digest only.
    let mut list = listed();
    let tools = list["tools"].as_array_mut().expect("tools");
    tools.push(json!({ "name": "wide", "description": "x".repeat(1 << 20) }));
    let answer = move |action: &Action| match action {
        Action::ListTools { .. } => Some(Outcome::Bytes(list.to_string().into_bytes())),
        _ => None,
    };
    let options = Options {
        run_id: "run-3".to_owned(),
        ..ask_options()
    };
    let ended = ask_but(documents.clone(), options, CALL, answer);
    let replayed = again(&files_of(ended), rules(&documents));
    assert_eq!(replayed.undecidable, 1, "{}", replayed.json);
}

#[test]
fn a_query_whose_plan_was_carried_out_again_is_decided_again() {
    let documents = query("q");
    let files = ask(&documents, CALL);
    let stored = |name: &str| Some(files[name].clone());
    let again_of = |lock: Option<Vec<u8>>, index: Option<Vec<u8>>| Documents {
        plan: stored("plan.envelope.json"),
        request: stored("request.envelope.json"),
        tool_pool: stored("tool_pool.json"),
        profile: stored("instruction_profile.json"),
        lock,
        index,
        ..Documents::default()
    };
    let (lock, index) = writing(&documents);
    for (documents, code) in [
        (
            again_of(documents.lock.clone(), documents.index.clone()),
            None,
        ),
        (again_of(Some(lock), Some(index)), Some("policy_denied")),
    ] {
        let ended = run(documents.clone(), options(), behave);
        assert_eq!(ended.code().0, code);
        let replayed = again(&files_of(ended), rules(&documents));
        assert!(replayed.difference.is_none(), "{}", replayed.json);
        assert_eq!(replayed.undecidable, 0, "{}", replayed.json);
    }
}
