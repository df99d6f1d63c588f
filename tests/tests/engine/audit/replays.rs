//! Recorded runs, decided again.

use super::super::run::{audiences, documents, keep, plan_of, rename, report, with_pool};
use super::{Files, completed, denied, files_of, folder, three_steps};
use agent_api::schema::Library;
use agent_audit::{Replay, replay};
use agent_diagnostic::Code;
use agent_run::{Documents, FailureKind, Handled, HandlerEvent, Outcome, Response};
use agent_tests::corpus::{Failures, corpus};
use agent_tests::plan::plan_cases;
use agent_tests::run::{behave, failed, handled, options, run};
use serde_json::{Value, json};

/// The documents that evidence does not contain.
fn rules(documents: &Documents) -> Documents {
    Documents {
        lock: documents.lock.clone(),
        index: documents.index.clone(),
        ..Documents::default()
    }
}

fn again(files: &Files, rules: Documents) -> Replay {
    replay(&folder(files), Library::own(), rules).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn checks(replay: &Replay) -> Vec<(String, String, String)> {
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
    let undecidable =
        |step: &str, check: &str| (step.to_owned(), check.to_owned(), "undecidable".to_owned());
    assert_eq!(
        checks(&replayed),
        [
            same("", "plan"),
            same("report", "resolve"),
            same("report", "input"),
            same("report", "method"),
            same("report", "destination"),
            same("report", "addresses"),
            same("report", "output"),
            same("rename", "resolve"),
            same("rename", "input"),
            same("rename", "approval"),
            same("rename", "arguments"),
            same("rename", "destination"),
            same("rename", "addresses"),
            undecidable("rename", "listing"),
            undecidable("rename", "payload"),
            same("rename", "output"),
            same("keep", "resolve"),
            same("keep", "input"),
            same("keep", "output"),
        ]
    );
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
            ("report", "output"),
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
        agent_run::Action::Resolve(_) => Outcome::Addresses(vec!["127.0.0.1".to_owned()]),
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
        agent_run::Action::CallHandler(_) => Outcome::Handler(Handled {
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
    assert!(!replayed.json.contains("swordfish"));
}

#[test]
fn a_redirect_to_another_method_is_refused_again() {
    let documents = plan_of(report());
    let ended = run(documents.clone(), options(), |action| match action {
        agent_run::Action::CallHandler(_) => {
            handled(HandlerEvent::Request(agent_run::HandlerRequest {
                method: "DELETE".to_owned(),
                url: "https://reports.example/".to_owned(),
                headers: Vec::new(),
                body: None,
            }))
        }
        agent_run::Action::Request(_) => Outcome::Response(Response {
            status: 200,
            content_type: String::new(),
            body: Vec::new(),
        }),
        other => behave(other),
    });
    let replayed = again(&files_of(ended), rules(&documents));
    assert!(replayed.difference.is_none(), "{}", replayed.json);
    let last = checks(&replayed).pop().expect("a check");
    assert_eq!(last, ("report".into(), "method".into(), "same".into()));
}

#[test]
fn changed_evidence_is_not_decided_again() {
    let mut files = completed();
    files.remove("run_summary.json");
    let refused = replay(&folder(&files), Library::own(), rules(&three_steps()));
    assert!(refused.is_err());
}
