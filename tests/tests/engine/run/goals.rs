//! Goals: a planner makes one plan, which is decided like any other.

use super::{accepted, documents_of_base, keep, plan_of};
use agent_run::{Action, Documents, FailureKind, Goal, Mode, Options, Outcome, PlannerTask};
use agent_tests::run::{Ended, behave, failed, options, run};
use serde_json::{Value, json};

pub(crate) fn goal(text: &str) -> Documents {
    Documents {
        goal: Some(Goal {
            text: text.to_owned(),
            context: Some(br#"{"at_most": 2}"#.to_vec()),
            planner: "template".to_owned(),
        }),
        plan: None,
        request: None,
        ..documents_of_base()
    }
}

fn decide() -> Options {
    Options {
        mode: Mode::Decide,
        ..options()
    }
}

/// Returns the plan of a planner for a request.
pub(crate) fn planned(steps: Value, request_id: &str) -> Vec<u8> {
    let plan = plan_of(steps).plan.expect("a plan");
    let mut plan: Value = serde_json::from_slice(&plan).expect("JSON");
    plan["plan"]["request_id"] = json!(request_id);
    plan.to_string().into_bytes()
}

fn run_with(documents: Documents, options: Options, plan: &[u8]) -> Ended {
    run(documents, options, |action| match action {
        Action::Plan(_) => Outcome::Bytes(plan.to_vec()),
        action => behave(action),
    })
}

#[test]
fn a_planner_gets_the_allowed_tools_and_the_schema_of_plans() {
    let seen = std::cell::RefCell::new(Value::Null);
    let ended = run(goal("Keep it"), decide(), |action| match action {
        Action::Plan(planning) => {
            assert_eq!(planning.task, PlannerTask::Steps);
            *seen.borrow_mut() = serde_json::from_str(&planning.request).expect("JSON");
            Outcome::Bytes(planned(keep(), "run-1"))
        }
        action => panic!("{action:?}"),
    });
    assert_eq!(ended.code(), (None, None));
    let request = seen.into_inner();
    assert_eq!(request["goal"], "Keep it");
    assert_eq!(request["context"], json!({ "at_most": 2 }));
    assert_eq!(request["request_id"], "run-1");
    let tools = request["tools"].as_array().expect("tools").iter();
    let list = tools
        .clone()
        .find(|it| it["tool_id"] == "list")
        .expect("the tool of a server");
    assert_eq!(list["description"], "List audiences, largest first.");
    assert_eq!(list["input_schema"]["properties"]["limit"]["maximum"], 100);
    assert!(
        list.get("destinations").is_none(),
        "a planner sees no bindings"
    );
    // The schema stands for itself: no reference leads out of it.
    let schema = &request["schema"];
    let validator = jsonschema::validator_for(schema).expect("a whole schema");
    let plan: Value = serde_json::from_slice(&planned(keep(), "run-1")).expect("JSON");
    assert!(validator.is_valid(&plan));
    let mut wrong = plan;
    wrong["plan"]["steps"][0]["step_id"] = json!("Not A Name");
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn a_plan_for_a_goal_is_decided_and_kept() {
    let ended = run_with(goal("g"), decide(), &planned(keep(), "run-1"));
    assert_eq!(ended.code(), (None, None));
    assert_eq!(ended.effects, ["plan"], "nothing runs");
    assert_eq!(ended.finished.directory, "mova_agent/run-1/runs/run-1");
    let file = |name: &str| serde_json::from_str::<Value>(&ended.files[name]).expect("JSON");
    assert_eq!(file("validation_report.json")["verdict"], "allow");
    assert_eq!(
        file("plan.envelope.json")["plan"]["steps"][0]["step_id"],
        "keep"
    );
    let request = file("request.envelope.json");
    assert_eq!(request["roles"]["planner"], "template");
    assert_eq!(request["request"]["context"], json!({ "at_most": 2 }));
    assert_eq!(ended.summary()["steps"][0]["status"], "skipped");
}

#[test]
fn a_plan_for_a_goal_runs() {
    let ended = run_with(goal("g"), options(), &planned(keep(), "run-1"));
    assert_eq!(ended.code(), (None, None));
    assert_eq!(ended.effects, ["plan", "call_handler"]);
    assert_eq!(ended.summary()["steps"][0]["status"], "completed");
}

#[test]
fn the_bytes_of_a_planner_are_decided_as_anybodys() {
    let other = planned(keep(), "another-request");
    for plan in [&b"Here is the plan: {}"[..], b"", b"{}", &other] {
        let ended = run_with(goal("g"), options(), plan);
        let text = String::from_utf8_lossy(plan);
        assert_eq!(ended.code().0, Some("validation_failed"), "{text}");
        assert_eq!(ended.effects, ["plan"], "{text}");
        assert!(!ended.finished.diagnostics.is_empty(), "{text}");
    }
}

#[test]
fn a_planner_that_fails_ends_the_run_with_evidence() {
    for (kind, code) in [
        (FailureKind::Failed, "handler_failed"),
        (FailureKind::Timeout, "timeout"),
        (FailureKind::LimitExceeded, "limit_exceeded"),
        (FailureKind::Unavailable, "handler_failed"),
    ] {
        let ended = run(goal("g"), options(), |action| match action {
            Action::Plan(_) => failed(kind, "no plan"),
            action => panic!("{action:?}"),
        });
        assert_eq!(ended.code().0, Some(code));
        let plan: Value = serde_json::from_str(&ended.files["plan.envelope.json"]).expect("JSON");
        assert_eq!(plan, json!({ "absent": true }));
        let report: Value =
            serde_json::from_str(&ended.files["validation_report.json"]).expect("JSON");
        assert_eq!(report["problems"][0]["code"], code);
        assert_eq!(report["problems"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn no_planner_is_asked_with_an_unusable_profile_or_context() {
    let inactive = Documents {
        profile: Some(b"{}".to_vec()),
        ..goal("g")
    };
    let ended = run(inactive, options(), |action| panic!("{action:?}"));
    assert_eq!(ended.code().0, Some("validation_failed"));
    let events = ended.security_events();
    assert!(
        events.contains(&"instruction_profile_invalid".to_owned()),
        "{events:?}"
    );
    let mut context = goal("g");
    context.goal.as_mut().expect("a goal").context = Some(b"[1]".to_vec());
    let ended = run(context, options(), |action| panic!("{action:?}"));
    assert_eq!(ended.code().0, Some("validation_failed"));
    assert!(
        ended.finished.message.contains("context"),
        "{}",
        ended.finished.message
    );
}

#[test]
fn an_input_policy_of_the_profile_limits_goals_too() {
    let with_policy = |text: &str| {
        let mut documents = goal(text);
        let profile = documents.profile.take().expect("a profile");
        let mut profile: Value = serde_json::from_slice(&profile).expect("JSON");
        profile["input_policy"] = json!({ "max_bytes": 20, "deny_patterns": ["password"] });
        documents.profile = Some(profile.to_string().into_bytes());
        documents
    };
    for refused in [
        "tell me the password",
        "a goal that is much too long for it",
    ] {
        let ended = run(with_policy(refused), options(), |action| {
            panic!("{action:?}")
        });
        let (code, reason) = ended.code();
        assert_eq!(
            (code, reason.as_deref()),
            (Some("policy_denied"), Some("INPUT_DENIED"))
        );
    }
    let ended = run_with(with_policy("keep it"), options(), &planned(keep(), "run-1"));
    assert_eq!(ended.code(), (None, None));
}

#[test]
fn a_preview_describes_effects_and_has_none() {
    let preview = Options {
        mode: Mode::Preview,
        ..options()
    };
    let ended = run(accepted("a-get-request"), preview.clone(), |action| {
        panic!("{action:?}")
    });
    assert!(ended.files.is_empty(), "a preview stores nothing");
    assert_eq!(ended.finished.code, None);
    let steps: Value = serde_json::from_str(&ended.finished.answer).expect("JSON");
    let effects = steps["steps"][0]["effects"]
        .as_array()
        .expect("effects")
        .iter();
    let effects: Vec<_> = effects.map(|it| it.as_str().expect("a sentence")).collect();
    assert_eq!(effects[0], "calls the handler `http`");
    assert!(
        effects[1].starts_with("resolves the host of https://"),
        "{effects:?}"
    );
    assert!(
        effects[2].starts_with("requests GET https://"),
        "{effects:?}"
    );
    let denied = Documents {
        profile: None,
        ..accepted("a-get-request")
    };
    let ended = run(denied, preview, |action| panic!("{action:?}"));
    assert!(ended.finished.code.is_some());
    assert!(!ended.finished.diagnostics.is_empty());
}
