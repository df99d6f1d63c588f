//! Hosts that misbehave: whatever one answers, a run ends in a stable code, with its evidence.

use super::ask::{CALL, ask_options, query};
use super::goals::{goal, planned};
use super::{accepted, audiences, files, keep, plan_of, rename, report};
use agent_audit::{EvidenceFile, Folder, verify};
use agent_diagnostic::Code;
use agent_run::{
    Aborted, Action, Clock, Documents, Exited, Failure, FailureKind, Handled, HandlerEvent,
    HandlerRequest, Opened, Options, OutOfTurn, Outcome, PlannerTask, Response, Run, Status,
    StoreMode,
};
use agent_tests::run::{assert_no_canary, behave, clock, failed, options, with_canary, with_leak};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

/// More turns than any of these runs takes.
const TURNS_MAX: u64 = 2_000;

/// What a host does with an action.
pub(super) enum Turn {
    Answer(Outcome),
    Cancel,
}

/// A run that has ended, with the files that were stored.
pub(super) struct Ended {
    status: Status,
    code: Option<&'static str>,
    complete: bool,
    refused: usize,
    files: BTreeMap<String, Vec<u8>>,
}

impl Ended {
    /// Returns whether all evidence was stored.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }
}

/// A run before it starts.
pub(super) type Start = (Documents, Options);

/// Drives a run to its end. `turn` gets every action with its number.
fn drive(start: Start, turn: impl FnMut(u64, &Action) -> Turn) -> Ended {
    drive_at(clock, start, turn)
}

/// As [`drive`], with another clock.
pub(super) fn drive_at(
    clock: impl Fn(u64) -> Clock,
    (documents, options): Start,
    mut turn: impl FnMut(u64, &Action) -> Turn,
) -> Ended {
    let mut run = Run::start(documents, with_canary(options), clock(0)).expect("a run id");
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut refused = 0;
    for number in 1..TURNS_MAX {
        let action = run.next_action();
        assert_eq!(
            action,
            run.next_action(),
            "the action stays until it is completed"
        );
        if let Action::Finished(finished) = action {
            assert_no_canary("the end", &format!("{finished:?}"));
            for (name, content) in &files {
                assert_no_canary(name, &String::from_utf8_lossy(content));
            }
            if finished.evidence_complete {
                assert_verifies(&finished.directory, &files);
            }
            return Ended {
                status: finished.status,
                code: finished.code.map(|code| code.name()),
                complete: finished.evidence_complete,
                refused,
                files,
            };
        }
        match turn(number, &action) {
            Turn::Cancel => run.cancel(clock(number)),
            Turn::Answer(outcome) => {
                let outcome = with_leak(outcome);
                let is_stored = outcome == Outcome::Stored;
                if run.complete(outcome, clock(number)) == Err(OutOfTurn) {
                    refused += 1;
                } else if let (Action::Store(store), true) = (action, is_stored) {
                    match store.mode {
                        StoreMode::Replace => drop(files.insert(store.path, store.content)),
                        StoreMode::Append => {
                            files.entry(store.path).or_default().extend(store.content)
                        }
                    }
                }
            }
        }
    }
    panic!("the run does not end");
}

/// Asserts that complete evidence verifies, whatever the host answered.
fn assert_verifies(directory: &str, files: &BTreeMap<String, Vec<u8>>) {
    let files = files.iter().map(|(path, content)| EvidenceFile {
        path: path
            .strip_prefix(&format!("{directory}/"))
            .expect("in the run's folder")
            .to_owned(),
        content: content.clone(),
    });
    let problems = verify(&Folder::new(files.collect()), None);
    assert!(problems.is_empty(), "{problems:#?}");
}

pub(super) fn honest(action: &Action) -> Turn {
    Turn::Answer(match action {
        Action::Store(_) => Outcome::Stored,
        Action::Plan(planning) => Outcome::Bytes(match planning.task {
            PlannerTask::Steps => planned(keep(), "run-1"),
            PlannerTask::Call => CALL.into(),
            PlannerTask::Summary => br#"{"items":[{"claim":"c","evidence":"1"}]}"#.to_vec(),
        }),
        action => behave(action),
    })
}

/// Some plan for each kind of driver, a goal and a query.
fn plans() -> Vec<Start> {
    let mut plans: Vec<_> = [keep(), report(), audiences(), rename(), files()]
        .map(plan_of)
        .into();
    plans.push(accepted("an-input-from-the-step-before"));
    plans.push(goal("Keep it"));
    let plans = plans.into_iter().map(|documents| (documents, options()));
    let asks = Options {
        asks_for_summary: true,
        ..ask_options()
    };
    plans.chain([(query("Which?"), asks)]).collect()
}

#[test]
fn a_run_can_be_cancelled_in_every_state() {
    for documents in plans() {
        let mut turns = 0;
        drive(documents.clone(), |number, action| {
            turns = number;
            honest(action)
        });
        for at in 1..=turns {
            let mut is_cancelled = false;
            let ended = drive(documents.clone(), |number, action| {
                if number == at {
                    is_cancelled = true;
                    return Turn::Cancel;
                }
                assert!(
                    !is_cancelled || matches!(action, Action::Store(_)),
                    "{} is wanted after the end",
                    action.name()
                );
                honest(action)
            });
            assert!(ended.complete);
            // Cancelled at its last evidence, a run has done what was planned.
            if ended.status != Status::Completed {
                assert_eq!(
                    (ended.status, ended.code),
                    (Status::Cancelled, Some("handler_failed"))
                );
                let summary = ended
                    .files
                    .iter()
                    .find(|(path, _)| path.ends_with("run_summary.json"));
                let summary: Value =
                    serde_json::from_slice(summary.expect("a summary").1).expect("JSON");
                assert_eq!(summary["reason"], Code::Cancelled.name());
                assert_eq!(summary["status"], "cancelled");
            }
        }
    }
}

#[test]
fn an_answer_out_of_turn_ends_the_run() {
    for documents in plans() {
        let mut turns = 0;
        drive(documents.clone(), |number, action| {
            turns = number;
            honest(action)
        });
        for at in 1..=turns {
            let ended = drive(documents.clone(), |number, action| {
                match (number == at, action) {
                    (true, Action::Store(_)) => Turn::Answer(Outcome::Addresses(Vec::new())),
                    (true, _) => Turn::Answer(Outcome::Stored),
                    (false, action) => honest(action),
                }
            });
            assert_eq!(ended.refused, 1);
            assert_eq!(
                (ended.status, ended.code),
                (Status::Failed, Some("internal"))
            );
        }
    }
}

#[test]
fn an_answer_to_nothing_ends_the_run() {
    let mut run = Run::start(plan_of(keep()), options(), clock(0)).expect("a run id");
    assert_eq!(run.complete(Outcome::Stored, clock(1)), Err(OutOfTurn));
    let mut turns = 1;
    let finished = loop {
        turns += 1;
        match run.next_action() {
            Action::Finished(finished) => break finished,
            Action::Store(_) => run
                .complete(Outcome::Stored, clock(turns))
                .expect("in turn"),
            other => panic!("{} is wanted after the end", other.name()),
        }
    };
    assert_eq!(finished.code.map(|code| code.name()), Some("internal"));
    assert_eq!(run.complete(Outcome::Stored, clock(turns)), Err(OutOfTurn));
    assert_eq!(run.next_action(), Action::Finished(finished));
}

#[test]
fn evidence_that_cannot_be_stored_ends_the_run() {
    for documents in plans() {
        let mut stores = 0;
        drive(documents.clone(), |_, action| {
            stores += usize::from(matches!(action, Action::Store(_)));
            honest(action)
        });
        for at in 0..stores {
            let mut number = 0;
            let mut is_full = false;
            let ended = drive(documents.clone(), |_, action| {
                assert!(!is_full, "{} is wanted without its evidence", action.name());
                if matches!(action, Action::Store(_)) {
                    is_full = number == at;
                    number += 1;
                }
                if is_full {
                    return Turn::Answer(failed(FailureKind::Failed, "no space left on device"));
                }
                honest(action)
            });
            assert_eq!(
                (ended.status, ended.code),
                (Status::Failed, Some("internal"))
            );
            assert!(!ended.complete);
        }
    }
}

#[test]
fn no_effect_is_wanted_before_its_decision_is_stored() {
    for documents in plans() {
        let mut last = String::new();
        drive(documents, |_, action| {
            match action {
                Action::Store(store) if store.path.contains("/episodes/0") => {
                    last = String::from_utf8(store.content.clone()).expect("UTF-8");
                }
                Action::Store(_) => {}
                action => {
                    let episode: Value = serde_json::from_str(&last).expect("JSON");
                    assert_eq!(episode["result_details"]["record"], "decision");
                    assert_eq!(episode["result_details"]["action"], action.name());
                }
            }
            honest(action)
        });
    }
}

/// Any outcome, whether it fits or not.
pub(super) fn outcome() -> impl Strategy<Value = Outcome> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let json = || {
        prop_oneof![
            Just(b"{}".to_vec()),
            Just(b"null".to_vec()),
            Just(br#"{"tools":[]}"#.to_vec()),
            Just(br#"{"content":[],"structuredContent":{}}"#.to_vec()),
            bytes(),
        ]
    };
    let kind = || {
        prop_oneof![
            Just(FailureKind::Timeout),
            Just(FailureKind::LimitExceeded),
            Just(FailureKind::Unavailable),
            Just(FailureKind::Failed),
        ]
    };
    let event = prop_oneof![
        json().prop_map(HandlerEvent::Returned),
        json().prop_map(|arguments| HandlerEvent::Tool { arguments }),
        (
            ".{0,8}",
            "(https?://(reports|elsewhere)\\.example/)?.{0,8}",
            ".{0,6}"
        )
            .prop_map(|(method, url, name)| HandlerEvent::Request(HandlerRequest {
                method,
                url,
                headers: vec![(name, String::new())],
                body: None,
            })),
        (
            "(/usr/bin/ls)?.{0,4}",
            prop::collection::vec(".{0,8}", 0..3)
        )
            .prop_map(|(path, arguments)| HandlerEvent::Program {
                path,
                arguments,
                stdin: Vec::new(),
            }),
    ];
    prop_oneof![
        Just(Outcome::Stored),
        (kind(), ".{0,20}").prop_map(|(kind, message)| failed(kind, &message)),
        (kind(), bytes(), any::<bool>()).prop_map(|(kind, stderr, stderr_truncated)| {
            let message = String::new();
            Outcome::Aborted(Aborted {
                failure: Failure { kind, message },
                stderr,
                stderr_truncated,
            })
        }),
        any::<bool>().prop_map(|approved| Outcome::Decision {
            approved,
            by: String::new()
        }),
        prop::collection::vec("([0-9]{1,3}\\.){3}[0-9]{1,3}|.{0,6}", 0..3)
            .prop_map(Outcome::Addresses),
        (event, bytes(), any::<bool>()).prop_map(|(event, log, log_truncated)| {
            Outcome::Handler(Handled {
                event,
                log,
                log_truncated,
            })
        }),
        (any::<u16>(), json()).prop_map(|(status, body)| Outcome::Response(Response {
            status,
            content_type: String::new(),
            body,
        })),
        (any::<i32>(), bytes()).prop_map(|(code, stdout)| Outcome::Exited(Exited {
            code,
            stdout,
            stderr: Vec::new(),
            stderr_truncated: false,
        })),
        (
            ".{0,8}",
            any::<bool>(),
            any::<bool>(),
            any::<Option<String>>()
        )
            .prop_map(|(protocol, is_unsandboxed, has_host_network, package)| {
                Outcome::Opened(Opened {
                    protocol,
                    is_unsandboxed,
                    has_host_network,
                    package,
                })
            }),
        json().prop_map(Outcome::Bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_host_answers_a_run_ends_with_its_evidence(
        plan in 0..8_usize,
        answers in prop::collection::vec((0..4_u8, outcome()), 1..40),
        cancelled_at in prop::option::of(0..60_u64),
    ) {
        let mut answers = answers.into_iter();
        let ended = drive(plans().swap_remove(plan), |number, action| {
            if cancelled_at == Some(number) {
                return Turn::Cancel;
            }
            match (action, answers.next()) {
                // Evidence is stored most of the time, or the run would end at once.
                (Action::Store(_), Some((0, outcome))) => Turn::Answer(outcome),
                (Action::Store(_), _) => Turn::Answer(Outcome::Stored),
                (_, Some((1.., outcome))) => Turn::Answer(outcome),
                (action, _) => honest(action),
            }
        });
        prop_assert_eq!(ended.code.is_none(), ended.status == Status::Completed);
        if ended.complete {
            let has = |name: &str| ended.files.keys().any(|path| path.ends_with(name));
            prop_assert!(has("run_summary.json") && has("validation_report.json") && has("index.jsonl"));
            for (path, content) in &ended.files {
                if path.ends_with(".json") {
                    prop_assert!(serde_json::from_slice::<Value>(content).is_ok(), "{}", path);
                }
            }
        }
    }
}
