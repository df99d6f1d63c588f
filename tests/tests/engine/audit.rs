//! The evidence of runs: what verifies, and what any change of it is reported as.

mod explained;
mod queries;
mod replays;
mod tampering;

use super::run::{audiences, files, keep, plan_of, rename, report, with_pool};
use agent_api::diagnostic::Diagnostic;
use agent_audit::{EvidenceFile, Folder, verify};
use agent_diagnostic::Code;
use agent_run::{Action, Documents, FailureKind, Outcome};
use agent_tests::corpus::Failures;
use agent_tests::plan::plan_cases;
use agent_tests::run::{Ended, behave, failed, options, run};
use proptest::prelude::*;
pub(crate) use replays::again;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The files of a run by path.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) fn files_of(ended: Ended) -> Files {
    let files = ended.files.into_iter();
    files
        .map(|(path, text)| (path, text.into_bytes()))
        .collect()
}

fn folder(files: &Files) -> Folder {
    let files = files.iter().map(|(path, content)| EvidenceFile {
        path: path.clone(),
        content: content.clone(),
    });
    Folder::new(files.collect())
}

fn problems(files: &Files) -> Vec<Diagnostic> {
    verify(&folder(files), None)
}

/// Returns the code, the path and the text at the place of each problem.
fn found(files: &Files) -> Vec<(Code, String, String)> {
    let paths: Vec<_> = files.keys().collect();
    let found = problems(files).into_iter();
    let found = found.map(|problem| {
        let Some(place) = problem.place() else {
            return (problem.code, String::new(), String::new());
        };
        let path = paths[place.number as usize];
        let content = &files[path];
        let text = &content[place.span.start as usize..place.span.end as usize];
        let text = String::from_utf8_lossy(text).into_owned();
        (problem.code, path.clone(), text)
    });
    found.collect()
}

/// A plan of three steps: a request, an approved change, and an input from the first.
fn three_steps() -> Documents {
    let [mut steps, others] = [report(), rename()].map(|it| it.as_array().expect("steps").clone());
    steps.extend(others);
    steps.push(json!({
        "step_id": "keep",
        "connector_id": "connector_core:noop",
        "tool_id": "keep",
        "input_from": { "step": "report", "pointer": "/body" }
    }));
    plan_of(Value::Array(steps))
}

/// The evidence of a completed run.
fn completed() -> Files {
    let ended = run(three_steps(), options(), behave);
    assert_eq!(
        ended.summary()["status"],
        "completed",
        "{}",
        ended.summary()
    );
    files_of(ended)
}

/// The evidence of a run whose second step is not approved.
fn denied() -> Files {
    let answer = |action: &Action| match action {
        Action::Approve(_) => Outcome::Decision {
            approved: false,
            by: "terminal".to_owned(),
        },
        other => behave(other),
    };
    let ended = run(three_steps(), options(), answer);
    assert_eq!(ended.summary()["reason"], "APPROVAL_REQUIRED");
    files_of(ended)
}

#[test]
fn the_evidence_of_every_run_verifies() {
    let mut failures = Failures::default();
    let mut runs = 0;
    let mut check = |name: &str, ended: Ended| {
        for problem in problems(&files_of(ended)) {
            failures.add(name, format!("{} {}", problem.code.name(), problem.message));
        }
        runs += 1;
    };
    for case in plan_cases() {
        check(
            &case.name(),
            run(super::run::documents(&case), options(), behave),
        );
    }
    let plans = [keep(), report(), audiences(), rename(), files()];
    for documents in plans.map(plan_of).into_iter().chain([three_steps()]) {
        for kind in [
            FailureKind::Timeout,
            FailureKind::LimitExceeded,
            FailureKind::Unavailable,
            FailureKind::Failed,
        ] {
            for place in 0..6 {
                let mut left = place;
                let answer = |action: &Action| {
                    left -= 1;
                    match left {
                        -1 => failed(kind, "it failed"),
                        _ => behave(action),
                    }
                };
                let ended = run(documents.clone(), options(), answer);
                check("a failing effect", ended);
            }
        }
    }
    let secret = |pool: &mut Value| pool["bindings"][0]["headers"] = json!({"x-api-key": "v"});
    check(
        "a pool with a secret",
        run(with_pool(plan_of(report()), secret), options(), behave),
    );
    check("nothing", run(Documents::default(), options(), behave));
    assert!(runs > 200, "{runs}");
    failures.finish();
}

#[test]
fn any_changed_byte_is_reported() {
    let files = completed();
    let sizes: Vec<_> = files
        .iter()
        .map(|(path, it)| (path.clone(), it.len()))
        .collect();
    let total: usize = sizes.iter().map(|(_, size)| size).sum();
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(at in 0..total, change in 1..=255u8)| {
        let mut at = at;
        let (path, _) = sizes
            .iter()
            .find(|(_, size)| match at.checked_sub(*size) {
                Some(rest) => { at = rest; false }
                None => true,
            })
            .expect("a file");
        let mut changed = files.clone();
        changed.get_mut(path).expect("a file")[at] ^= change;
        prop_assert!(!problems(&changed).is_empty(), "{path} byte {at}");
    });
}

#[test]
fn every_byte_of_the_summary_and_of_the_index_is_covered() {
    let files = completed();
    for path in ["run_summary.json", "episodes/index.jsonl"] {
        for at in (0..files[path].len()).step_by(7) {
            let mut changed = files.clone();
            changed.get_mut(path).expect("a file")[at] ^= 1;
            assert!(!problems(&changed).is_empty(), "{path} byte {at}");
        }
    }
}

#[test]
fn hostile_folders_end_within_limits() {
    let deep = "[".repeat(100_000);
    let many = format!("{}\n", "{}".repeat(3)).repeat(50_000);
    let wide = format!("{{\"steps\":[{}]}}", "{},".repeat(200_000) + "{}");
    for content in [
        Vec::new(),
        deep.into_bytes(),
        many.into_bytes(),
        wide.into_bytes(),
        vec![0; 1 << 20],
        vec![0xff; 1 << 16],
        b"\xef\xbb\xbf{}".to_vec(),
        "\"\u{202e}\"".into(),
    ] {
        let names = [
            "run_summary.json",
            "episodes/index.jsonl",
            "plan.envelope.json",
        ];
        let mut one: Files = Files::new();
        for name in names {
            one.insert(name.to_owned(), content.clone());
            assert!(!problems(&one).is_empty());
        }
        let mut real = completed();
        for name in names {
            real.insert(name.to_owned(), content.clone());
        }
        let found = problems(&real);
        assert!((1..=1000).contains(&found.len()), "{}", found.len());
        assert!(found.iter().all(|it| it.message.len() < 2_000));
    }
    let odd = [
        "../escape",
        "/etc/passwd",
        "",
        "a\u{0}b",
        "episodes/\u{202e}.json",
        "logs",
    ];
    let mut files = completed();
    for name in odd {
        files.insert(name.to_owned(), b"0".to_vec());
    }
    let found = problems(&files);
    assert_eq!(found.len(), odd.len(), "{found:#?}");
    assert!(found.iter().all(|it| it.code == Code::EvidenceUnexpected));
    assert_eq!(problems(&Files::new())[0].code, Code::EvidenceMissing);
}
