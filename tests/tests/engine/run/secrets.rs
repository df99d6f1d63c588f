//! Secrets reach no file and no message, in whatever form a peer returns them.

use super::{files, keep, plan_of, report};
use agent_run::{
    Action, Documents, Exited, FailureKind, Handled, HandlerEvent, Options, Outcome, Secret,
};
use agent_tests::run::{behave, failed, options, run};
use serde_json::json;

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
