//! Secrets reach no file and no message, in whatever form a peer returns them.

use super::{files, keep, plan_of, report, with_pool};
use agent_run::{
    Action, Documents, Exited, FailureKind, Handled, HandlerEvent, Mode, Options, Outcome, Secret,
};
use agent_tests::run::{Ended, behave, failed, options, run};
use serde_json::{Value, json};

const CANARY: &str = "cn-7/Qx\"9é+k";

fn canary() -> Options {
    Options {
        secrets: vec![Secret {
            name: "CANARY".to_owned(),
            value: CANARY.to_owned(),
        }],
        ..options()
    }
}

/// Runs documents and asserts that no part of the secret is in anything that the run emits.
#[track_caller]
fn assert_hidden(documents: Documents, answer: impl Fn(&Action) -> Option<Outcome>) {
    let ended = run(documents, canary(), |action| {
        if let Action::Approve(approval) = action {
            assert!(!approval.subject.contains("Qx"), "{}", approval.subject);
        }
        answer(action).unwrap_or_else(|| behave(action))
    });
    for (name, text) in &ended.files {
        assert!(
            !text.contains("7/Qx") && !text.contains("7%2FQx"),
            "{name}: {text}"
        );
        assert!(!text.contains("Y24tNy9"), "base64 in {name}: {text}");
    }
    let finished = format!("{:?}", ended.finished);
    assert!(!finished.contains("7/Qx"), "{finished}");
}

#[test]
fn a_handler_that_returns_a_secret_leaks_nothing() {
    for output in [
        json!(CANARY),
        json!({ "deep": [{ "text": format!("before {CANARY} after") }] }),
        json!({ CANARY: 1 }),
        json!({ "url": "https://x.example/?k=cn-7%2FQx%229%C3%A9%2Bk" }),
        json!("Y24tNy9ReCI5w6kraw=="),
    ] {
        assert_hidden(plan_of(keep()), |action| match action {
            Action::CallHandler(_) => Some(Outcome::Handler(Handled {
                event: HandlerEvent::Returned(output.to_string().into_bytes()),
                log: format!("got {CANARY}\n").into_bytes(),
                log_truncated: false,
            })),
            _ => None,
        });
    }
}

#[test]
fn an_error_that_quotes_a_secret_leaks_nothing() {
    for part in [CANARY, &CANARY[..7]] {
        assert_hidden(plan_of(report()), |action| match action {
            Action::Request(_) => Some(failed(FailureKind::Failed, &format!("refused {part}"))),
            _ => None,
        });
    }
}

#[test]
fn a_program_that_prints_a_secret_leaks_nothing() {
    assert_hidden(plan_of(files()), |action| match action {
        Action::RunProgram(_) => Some(Outcome::Exited(Exited {
            code: 1,
            stdout: CANARY.as_bytes().to_vec(),
            stderr: format!("log\n{}", &CANARY[..6]).into_bytes(),
            stderr_truncated: true,
        })),
        _ => None,
    });
}

#[test]
fn a_plan_that_holds_a_secret_is_stored_without_it() {
    let mut steps = keep();
    steps[0]["input"]["note"] = json!(format!("Bearer {CANARY}"));
    assert_hidden(plan_of(steps), |_| None);
    let mut steps = keep();
    steps[0]["input"] = json!({ "password": "hunter2hunter2", "user": "ada" });
    let ended = run(plan_of(steps), canary(), behave);
    for (name, text) in &ended.files {
        assert!(!text.contains("hunter2"), "{name}: {text}");
    }
    assert!(ended.files["plan.envelope.json"].contains(r#""user":"ada""#));
}

#[test]
fn a_plan_that_is_named_like_a_secret_is_shown_without_it() {
    let mut documents = plan_of(keep());
    let plan = documents.plan.as_deref().expect("a plan");
    let mut plan: Value = serde_json::from_slice(plan).expect("JSON");
    plan["plan"]["plan_id"] = json!(CANARY);
    documents.plan = Some(plan.to_string().into_bytes());
    for mode in [Mode::CarryOut, Mode::Decide, Mode::Preview] {
        let options = Options { mode, ..canary() };
        let ended = run(documents.clone(), options, behave);
        let text = ended.finished.text.iter().map(|it| &*it.text);
        let text: String = text.collect();
        assert!(text.contains("{present, len: 13}"), "{text}");
        assert!(!text.contains("Qx"), "{text}");
    }
}

/// Returns the stored documents of a run of a plan instead of the given ones.
fn stored(documents: Documents) -> Documents {
    let ended = run(documents.clone(), canary(), behave);
    assert_eq!(ended.code(), (None, None), "{:?}", ended.finished);
    let stored = |name: &str| Some(ended.files[name].clone().into_bytes());
    Documents {
        plan: stored("plan.envelope.json"),
        tool_pool: stored("tool_pool.json"),
        profile: stored("instruction_profile.json"),
        ..documents
    }
}

/// Runs documents that are refused for their redaction, and returns how they end.
#[track_caller]
fn refused(documents: Documents, document: &str) -> Ended {
    let preview = Options {
        mode: Mode::Preview,
        ..canary()
    };
    let previewed = run(documents.clone(), preview, |action| panic!("{action:?}"));
    let ended = run(documents, canary(), |action| panic!("{action:?}"));
    for ended in [&previewed, &ended] {
        let code = ended.finished.code.map(|code| code.name());
        assert_eq!(code, Some("validation_failed"), "{:?}", ended.finished);
        let [problem] = &ended.finished.diagnostics[..] else {
            panic!("one problem: {:#?}", ended.finished.diagnostics);
        };
        let message = format!("the {document} is redacted: it has a mark in place of a secret");
        assert_eq!(problem.message, message);
        // A line with a value behind a key such as `password` is named, and not shown.
        let names_line = problem.notes.iter().any(|it| it.contains("in line 1"));
        assert!(problem.place().is_some() || names_line, "{problem:?}");
        assert!(problem.fixes[0].title.contains("as it was written"));
    }
    ended
}

#[test]
fn a_redacted_plan_is_not_carried_out() {
    for input in [
        json!({ "password": "hunter2hunter2", "user": "ada" }),
        json!({ "list": [CANARY] }),
        json!({ "text": format!("Bearer {CANARY}") }),
        json!({ CANARY: 1 }),
    ] {
        let mut steps = keep();
        steps[0]["input"] = input;
        let ended = refused(stored(plan_of(steps)), "plan");
        let report: Value = serde_json::from_str(&ended.files["validation_report.json"]).unwrap();
        assert_eq!(report["verdict"], "deny");
        assert_eq!(ended.summary()["steps"], json!([]));
        assert_eq!(ended.security_events(), ["mova_agent:validation_failed"]);
    }
    let again = stored(plan_of(keep()));
    let ended = run(again, canary(), behave);
    assert_eq!(ended.code(), (None, None), "without a secret");
}

#[test]
fn a_redacted_pool_is_not_used() {
    // In evidence the mark replaces the schema of `password`, and would accept every password.
    let documents = with_pool(plan_of(keep()), |pool| {
        let bindings = pool["bindings"].as_array_mut().expect("bindings");
        let keep = bindings.iter_mut().find(|it| it["tool_id"] == "keep");
        keep.expect("the tool")["input_schema"] =
            json!({ "properties": { "password": { "const": "a phrase" } } });
    });
    refused(stored(documents), "tool pool");
}

#[test]
fn a_redacted_profile_is_not_used() {
    let documents = plan_of(keep());
    let mut profile: Value =
        serde_json::from_slice(documents.profile.as_deref().expect("a profile")).expect("JSON");
    profile["rules"][0]["description"] = json!(format!("for {CANARY}"));
    let documents = Documents {
        profile: Some(profile.to_string().into_bytes()),
        ..documents
    };
    refused(stored(documents), "profile");
}

/// A plan whose tool marks two members of its input as secret.
fn marked(input: Value) -> Documents {
    let mut steps = keep();
    steps[0]["input"] = input;
    with_pool(plan_of(steps), |pool| {
        let bindings = pool["bindings"].as_array_mut().expect("bindings");
        let keep = bindings.iter_mut().find(|it| it["tool_id"] == "keep");
        keep.expect("the tool")["input_schema"] = json!({
            "properties": {
                "number": { "type": "integer", "writeOnly": true },
                "phrase": { "$ref": "#/$defs/phrase" },
                "count": { "type": "integer" }
            },
            "$defs": { "phrase": { "type": "string", "format": "password" } }
        });
    })
}

/// Returns a handler's answer: its input, and a log that quotes it.
fn echoes(action: &Action) -> Outcome {
    match action {
        Action::CallHandler(call) => Outcome::Handler(Handled {
            event: HandlerEvent::Returned(
                json!({ "echo": call.input, "of": [4711, "open sesame"] })
                    .to_string()
                    .into_bytes(),
            ),
            log: format!("got {}\n", call.input).into_bytes(),
            log_truncated: false,
        }),
        action => behave(action),
    }
}

#[test]
fn a_value_whose_schema_marks_it_is_hidden_wherever_text_is_free() {
    let input = json!({ "count": 1, "number": 4711, "phrase": "open sesame", "note": "hello" });
    let ended = run(marked(input), options(), echoes);
    assert_eq!(ended.code(), (None, None), "{:?}", ended.finished);
    for (name, text) in &ended.files {
        assert!(!text.contains("sesame"), "{name}: {text}");
        // Digits may be part of a digest.
        assert!(
            !text.contains(":4711") && !text.contains(" 4711"),
            "{name}: {text}"
        );
    }
    let plan: Value = serde_json::from_str(&ended.files["plan.envelope.json"]).expect("JSON");
    assert_eq!(
        plan["plan"]["steps"][0]["input"],
        json!({
            "count": 1,
            "note": "hello",
            "number": { "len": 4, "present": true },
            "phrase": { "len": 11, "present": true }
        })
    );
}

#[test]
fn a_plan_that_may_not_run_is_stored_without_marked_values_too() {
    let input = json!({ "count": "many", "number": "4711-4711", "phrase": 7_777_777 });
    let ended = run(marked(input), options(), |action| {
        panic!("{} is wanted", action.name())
    });
    assert_eq!(ended.code().0, Some("validation_failed"));
    let shown = format!("{:?} {:?}", ended.files, ended.finished);
    for secret in ["4711-4711", "7777777"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    assert!(shown.contains("count"), "{shown}");
}

#[test]
fn a_marked_value_removes_nothing_that_evidence_says() {
    for phrase in [
        "completed",
        "in_progress",
        "execution/step",
        "connector_core:noop",
        "keep",
    ] {
        let ended = run(marked(json!({ "phrase": phrase })), options(), behave);
        let plain = run(marked(json!({ "phrase": "x" })), options(), behave);
        let said = |ended: &Ended| {
            let said = ended.episodes().into_iter().map(|it| {
                let details = &it["result_details"];
                let names = [
                    &it["episode_type"],
                    &it["result_status"],
                    &details["action"],
                    &details["step_id"],
                    &details["connector_id"],
                ];
                names.map(Value::to_string)
            });
            said.collect::<Vec<_>>()
        };
        assert_eq!(said(&ended), said(&plain), "{phrase}");
        assert_eq!(ended.summary()["steps"][0]["step_id"], "keep", "{phrase}");
        let input = &ended.episodes()[3]["result_details"]["input"]["value"];
        assert_eq!(
            *input,
            json!({ "phrase": { "len": phrase.len(), "present": true } })
        );
    }
}

#[test]
fn an_output_whose_schema_marks_it_is_hidden() {
    let documents = with_pool(plan_of(report()), |pool| {
        let bindings = pool["bindings"].as_array_mut().expect("bindings");
        let report = bindings.iter_mut().find(|it| it["tool_id"] == "get-report");
        report.expect("the tool")["output_schema"] = json!({
            "properties": { "body": { "properties": { "visits": { "writeOnly": true } } } }
        });
    });
    let ended = run(documents, options(), behave);
    assert_eq!(ended.code(), (None, None), "{:?}", ended.finished);
    let episodes = ended.episodes();
    let step = &episodes[episodes.len() - 2]["result_details"];
    assert_eq!(
        step["output"]["value"],
        json!({ "status": 200, "body": { "visits": { "len": 1, "present": true } } })
    );
}

/// Returns the diagnostics of a plan of one step that may not run, whose text has a line for each of `lines`.
fn diagnosed(lines: &[&str]) -> Vec<agent_diagnostic::Diagnostic> {
    let whole = marked(json!("INPUT"));
    let plan = String::from_utf8(whole.plan.expect("a plan")).expect("UTF-8");
    let documents = Documents {
        plan: Some(plan.replace("\"INPUT\"", &lines.join("\n")).into_bytes()),
        ..marked(json!(null))
    };
    let ended = run(documents, canary(), |action| {
        panic!("{} is wanted", action.name())
    });
    ended.finished.diagnostics
}

#[test]
fn diagnostics_point_at_no_line_with_a_secret() {
    let far = [""; 8].join("\n");
    for secret in [
        r#""phrase": "open sesame""#.to_owned(),
        r#""password": "open sesame""#.to_owned(),
        format!(r#""note": {}"#, json!(CANARY)),
    ] {
        let near = diagnosed(&[r#"{ "count": "many","#, &secret, "}"]);
        assert!(!near.is_empty());
        for diagnostic in &near {
            assert_eq!(diagnostic.labels, [], "{diagnostic:?}");
            assert!(
                diagnostic.notes.iter().any(|it| it.contains("line 1,")),
                "{diagnostic:?}"
            );
        }
        let away = diagnosed(&[r#"{ "count": "many","#, &far, &secret, "}"]);
        assert!(away.iter().all(|it| !it.labels.is_empty()), "{away:?}");
    }
}
