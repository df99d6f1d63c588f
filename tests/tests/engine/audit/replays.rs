//! Recorded runs, decided again.

use super::super::run::{audiences, documents, keep, locked, plan_of, rename, report, with_pool};
use super::{Files, completed, denied, files_of, folder, three_steps};
use agent_audit::{Replay, replay};
use agent_diagnostic::Code;
use agent_run::{
    Action, Documents, Exited, FailureKind, Handled, HandlerEvent, HandlerRequest, Outcome,
    Response,
};
use agent_tests::corpus::{Failures, corpus};
use agent_tests::plan::plan_cases;
use agent_tests::run::{behave, failed, handled, listed, options, run};
use serde_json::{Value, json};

/// The documents that evidence does not contain.
pub(super) fn rules(documents: &Documents) -> Documents {
    Documents {
        lock: documents.lock.clone(),
        index: documents.index.clone(),
        ..Documents::default()
    }
}

pub(crate) fn again(files: &Files, rules: Documents) -> Replay {
    replay(&folder(files), None, rules).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

pub(super) fn checks(replay: &Replay) -> Vec<(String, String, String)> {
    let json: Value = serde_json::from_str(&replay.json).expect("JSON");
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let checks = json["checks"].as_array().expect("checks").iter();
    checks
        .map(|it| {
            (
                text(&it["step_id"]),
                text(&it["check"]),
                text(&it["outcome"]),
            )
        })
        .collect()
}

#[test]
fn every_run_is_decided_as_it_was() {
    let mut failures = Failures::default();
    let mut runs = 0;
    let mut check = |name: &str, documents: Documents, kind: Option<(FailureKind, u32)>| {
        let rules = rules(&documents);
        let mut left = kind.map_or(u32::MAX, |(_, place)| place);
        let ended = run(documents, options(), |action| {
            let fails = left == 0;
            left = left.wrapping_sub(1);
            match kind {
                Some((kind, _)) if fails => failed(kind, "it failed"),
                _ => behave(action),
            }
        });
        let replayed = again(&files_of(ended), rules);
        if let Some(difference) = replayed.difference {
            failures.add(name, format!("{}\n{}", difference.message, replayed.json));
        }
        runs += 1;
    };
    for case in plan_cases() {
        check(&case.name(), documents(&case), None);
    }
    let plans = [
        keep(),
        report(),
        audiences(),
        rename(),
        super::super::run::files(),
    ];
    for documents in plans.map(plan_of).into_iter().chain([three_steps()]) {
        for kind in [
            FailureKind::Timeout,
            FailureKind::LimitExceeded,
            FailureKind::Unavailable,
            FailureKind::Failed,
        ] {
            for place in 0..8 {
                check("a failing effect", documents.clone(), Some((kind, place)));
            }
        }
    }
    assert!(runs > 200, "{runs}");
    failures.finish();
}

#[test]
fn every_decision_of_a_step_is_made_again() {
    let replayed = again(&completed(), rules(&three_steps()));
    let same = |step: &str, check: &str| (step.to_owned(), check.to_owned(), "same".to_owned());
    assert_eq!(
        checks(&replayed),
        [
            same("", "plan"),
            same("report", "resolve"),
            same("report", "input"),
            same("report", "effect"),
            same("report", "destination"),
            same("report", "addresses"),
            same("report", "size"),
            same("report", "output"),
            same("rename", "resolve"),
            same("rename", "input"),
            same("rename", "approval"),
            same("rename", "effect"),
            same("rename", "arguments"),
            same("rename", "destination"),
            same("rename", "addresses"),
            same("rename", "listing"),
            same("rename", "size"),
            same("rename", "payload"),
            same("rename", "output"),
            same("keep", "resolve"),
            same("keep", "input"),
            same("keep", "output"),
        ]
    );
    assert_eq!(replayed.undecidable, 0);
    let json: Value = serde_json::from_str(&replayed.json).expect("JSON");
    assert_eq!(
        (&json["same"], &json["undecidable"]),
        (&json!(true), &json!(0))
    );
}

/// Returns the last check of a run in which one action was answered otherwise.
fn last_check(
    documents: Documents,
    answer: impl Fn(&Action) -> Option<Outcome>,
) -> (Option<&'static str>, (String, String, String)) {
    let ended = run(documents.clone(), options(), |action| {
        answer(action).unwrap_or_else(|| behave(action))
    });
    let code = ended.code().0;
    let replayed = again(&files_of(ended), rules(&documents));
    assert!(replayed.difference.is_none(), "{}", replayed.json);
    assert_eq!(replayed.undecidable, 0, "{}", replayed.json);
    (code, checks(&replayed).pop().expect("a check"))
}

#[test]
fn what_peers_hand_over_is_decided_again() {
    let bytes = |text: &str| Some(Outcome::Bytes(text.as_bytes().to_vec()));
    let ends_with = |step: &str, check: &str| (step.into(), check.into(), "same".into());
    let drifted = listed()
        .to_string()
        .replace("largest first", "smallest first");
    for list in [&*drifted, "{}", "not json", r#"{"tools":[]}"#] {
        let (code, last) = last_check(plan_of(audiences()), |action| match action {
            Action::ListTools { .. } => bytes(list),
            _ => None,
        });
        assert_eq!(
            (code, last),
            (Some("policy_denied"), ends_with("list", "listing")),
            "{list}"
        );
    }
    let large = format!(
        r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#,
        "x".repeat(1_024)
    );
    for (payload, code, check) in [
        (r#"{"content":7}"#, "output_invalid", "payload"),
        (&large, "limit_exceeded", "size"),
    ] {
        let found = last_check(plan_of(audiences()), |action| match action {
            Action::CallTool(_) => bytes(payload),
            _ => None,
        });
        assert_eq!(found, (Some(code), ends_with("list", check)), "{payload}");
    }
    let found = last_check(plan_of(report()), |action| match action {
        Action::Request(_) => Some(Outcome::Response(Response {
            status: 200,
            content_type: String::new(),
            body: vec![b'x'; 1_025],
        })),
        _ => None,
    });
    assert_eq!(found, (Some("limit_exceeded"), ends_with("report", "size")));
    for (headers, body, code) in [
        (vec![], 1_025, "limit_exceeded"),
        (
            vec![("X-Forwarded-For".to_owned(), "1".to_owned())],
            1,
            "policy_denied",
        ),
    ] {
        let request = |url: &str| {
            Some(handled(HandlerEvent::Request(HandlerRequest {
                method: "GET".to_owned(),
                url: url.to_owned(),
                headers: headers.clone(),
                body: Some(vec![b'x'; body]),
            })))
        };
        for (documents, step, code) in [
            (report(), "report", code),
            // The kind of the driver is decided on first.
            (keep(), "keep", "policy_denied"),
        ] {
            let found = last_check(plan_of(documents), |action| match action {
                Action::CallHandler(_) => request("https://reports.example/"),
                _ => None,
            });
            assert_eq!(found, (Some(code), ends_with(step, "effect")));
        }
        let found = last_check(plan_of(report()), |action| match action {
            Action::ResumeHandler(_) => request("https://elsewhere.example/"),
            _ => None,
        });
        assert_eq!(
            found,
            (Some("limit_exceeded"), ends_with("report", "effect"))
        );
    }
    let found = last_check(plan_of(super::super::run::files()), |action| match action {
        Action::RunProgram(_) => Some(Outcome::Exited(Exited {
            code: 0,
            stdout: vec![b'x'; 1_025],
            stderr: Vec::new(),
            stderr_truncated: false,
        })),
        _ => None,
    });
    assert_eq!(found, (Some("limit_exceeded"), ends_with("files", "size")));
}

#[test]
fn another_lock_is_decided_against_the_recorded_list() {
    // The lock has another description than the live tool had.
    let index = three_steps().index.expect("an index");
    let index = String::from_utf8(index).expect("UTF-8");
    let index = index.replace("largest first", "smallest first");
    let documents = plan_of(audiences());
    let files = files_of(run(documents.clone(), options(), behave));
    let other = Documents {
        lock: Some(locked(&index).into_bytes()),
        index: Some(index.into_bytes()),
        ..Documents::default()
    };
    let replayed = again(&files, other);
    assert!(replayed.difference.is_some(), "{}", replayed.json);
    let last = checks(&replayed).pop().expect("a check");
    assert_eq!(last, ("list".into(), "listing".into(), "differs".into()));
}

/// Returns the rules of a run with another tool pool.
fn other_pool(change: impl FnOnce(&mut Value)) -> Documents {
    let documents = with_pool(three_steps(), change);
    Documents {
        tool_pool: documents.tool_pool.clone(),
        ..rules(&documents)
    }
}

fn binding<'p>(pool: &'p mut Value, tool: &str) -> &'p mut Value {
    let bindings = pool["bindings"]
        .as_array_mut()
        .expect("bindings")
        .iter_mut();
    let mut found = bindings.filter(|it| it["tool_id"] == tool);
    found.next().expect("a binding")
}

#[test]
fn other_rules_show_what_they_would_have_changed() {
    let files = completed();
    let mut profile: Value = serde_json::from_slice(
        &std::fs::read(corpus().join("plan/base/profile.json")).expect("a profile"),
    )
    .expect("JSON");
    profile["caps"]["max_steps"] = json!(2);
    let profile = Documents {
        profile: Some(profile.to_string().into_bytes()),
        ..rules(&three_steps())
    };
    for (name, rules, check) in [
        ("fewer steps", profile, ("", "plan")),
        (
            "a smaller output",
            other_pool(|it| binding(it, "get-report")["limits"]["max_output_bytes"] = json!(5)),
            ("report", "size"),
        ),
        (
            "another output",
            other_pool(|it| {
                binding(it, "get-report")["output_schema"] = json!({ "required": ["never"] });
            }),
            ("report", "output"),
        ),
    ] {
        let replayed = again(&files, rules);
        let difference = replayed.difference.as_ref().map(|it| it.code);
        assert_eq!(
            difference,
            Some(Code::ReplayDiffers),
            "{name}: {}",
            replayed.json
        );
        let last = checks(&replayed).pop().expect("a check");
        assert_eq!(
            (&*last.0, &*last.1, &*last.2),
            (check.0, check.1, "differs"),
            "{name}"
        );
        let json: Value = serde_json::from_str(&replayed.json).expect("JSON");
        assert_eq!(json["same"], false);
        assert_ne!(json["documents"], json!([]), "{name}");
    }
}

#[test]
fn without_its_lock_a_run_cannot_be_decided() {
    let replayed = again(&completed(), Documents::default());
    assert!(replayed.difference.is_none());
    let json: Value = serde_json::from_str(&replayed.json).expect("JSON");
    assert_eq!(json["checks"][0]["outcome"], "undecidable");
    let reason = json["checks"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("--lock"), "{reason}");
    assert_eq!(json["checks"].as_array().expect("checks").len(), 1);
    assert_eq!(
        (&json["same"], &json["undecidable"]),
        (&Value::Null, &json!(1))
    );
    assert_eq!(replayed.undecidable, 1);
}

#[test]
fn a_missing_approval_stays_one() {
    let replayed = again(&denied(), rules(&three_steps()));
    assert!(replayed.difference.is_none(), "{}", replayed.json);
    let last = checks(&replayed).pop().expect("a check");
    assert_eq!(last, ("rename".into(), "approval".into(), "same".into()));
}

#[test]
fn addresses_are_decided_again() {
    let documents = plan_of(report());
    let ended = run(documents.clone(), options(), |action| match action {
        Action::Resolve(_) => Outcome::Addresses(vec!["127.0.0.1".to_owned()]),
        other => behave(other),
    });
    assert_eq!(ended.finished.code, Some(Code::MovaDestinationDenied));
    let files = files_of(ended);
    let replayed = again(&files, rules(&documents));
    assert!(replayed.difference.is_none(), "{}", replayed.json);
    let last = checks(&replayed).pop().expect("a check");
    assert_eq!(last, ("report".into(), "addresses".into(), "same".into()));
}

#[test]
fn what_is_redacted_is_not_guessed() {
    let documents = plan_of(json!([{
        "step_id": "keep",
        "connector_id": "connector_core:noop",
        "tool_id": "keep",
        "input": { "password": "swordfish" }
    }]));
    let rules = rules(&documents);
    let ended = run(documents, options(), |action| match action {
        Action::CallHandler(_) => Outcome::Handler(Handled {
            event: HandlerEvent::Returned(br#"{"cookie":"a=b"}"#.to_vec()),
            log: Vec::new(),
            log_truncated: false,
        }),
        other => behave(other),
    });
    let replayed = again(&files_of(ended), rules);
    assert!(replayed.difference.is_none(), "{}", replayed.json);
    let undecidable = checks(&replayed)
        .into_iter()
        .filter(|it| it.2 == "undecidable");
    let undecidable: Vec<_> = undecidable.map(|it| it.1).collect();
    assert_eq!(undecidable, ["plan", "resolve", "input", "output"]);
    assert_eq!(replayed.undecidable, 4);
    assert!(!replayed.json.contains("swordfish"));
}

#[test]
fn a_redirect_to_another_method_is_refused_again() {
    let documents = plan_of(report());
    let ended = run(documents.clone(), options(), |action| match action {
        Action::CallHandler(_) => handled(HandlerEvent::Request(HandlerRequest {
            method: "DELETE".to_owned(),
            url: "https://reports.example/".to_owned(),
            headers: Vec::new(),
            body: None,
        })),
        Action::Request(_) => Outcome::Response(Response {
            status: 200,
            content_type: String::new(),
            body: Vec::new(),
        }),
        other => behave(other),
    });
    let replayed = again(&files_of(ended), rules(&documents));
    assert!(replayed.difference.is_none(), "{}", replayed.json);
    let last = checks(&replayed).pop().expect("a check");
    assert_eq!(last, ("report".into(), "effect".into(), "same".into()));
}

#[test]
fn changed_evidence_is_not_decided_again() {
    let mut files = completed();
    files.remove("run_summary.json");
    let refused = replay(&folder(&files), None, rules(&three_steps()));
    assert!(refused.is_err());
}
