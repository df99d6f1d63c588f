//! The cases in `tests/corpus`, with their expected answers beside the inputs.
//!
//! | area | inputs | expected |
//! |---|---|---|
//! | `resolve` | `agents.md`, `mcp.index.json`, evaluation context | lock, resolution, summary, and the diagnostics where there are any |
//! | `match` | a task, `mcp.index.json`, evaluation context, and perhaps `agents.md` | what `agent match` says |
//! | `validate` | one of `agents.md`, `mcp.index.json`, `agents.lock`, a task, a tenant, a snapshot of health | its diagnostics |
//! | `call` | `plan.json`, `mcp.index.json`, and perhaps `agents.lock` and `catalogue.json` | the verdict, or the diagnostics |
//! | `plan` | a plan of steps and its documents | the report, the verdicts, and the diagnostics where there are any |
//! | `drift` | `newer.lock` and perhaps `older.lock`; or `agents.lock` and `mcp.index.json` | the named differences |
//! | `ground` | `summary.json`, `payload.json` | what `agent ground` says |
//! | `views` | `agents.md`, `mcp.index.json` | every view whole |
//!
//! A file that a case lacks is the file of its base, as `agent_tests::corpus` describes.
//!
//! Evaluation context, each of which may be absent: `task`, `tenant`, `health` and `context`, as `.yaml`
//! or as `.json`; `tenant-id.txt`; and `policy.rego`.
//!
//! A SARIF document lists every rule, so that whole ones are in `views` only; elsewhere its
//! results are kept, which is the part that depends on the case.

use agent_decide::PolicyEngine;
use agent_diagnostic::{Code, Diagnostic};
use agent_explain as explain;
use agent_lower as lower;
use agent_lower::Notation;
use agent_rego as policy;
use agent_render as render;
use agent_render::Format;
use agent_tests::corpus::{Case, Failures, answer, cases, corpus};
use agent_tests::inputs::{Given, Inputs};
use agent_tests::native::{self, Answers};
use agent_tests::plan::{self, PlanInputs};
use agent_tests::{compact, hostile, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

const MANIFEST: &str = "agents.md";
const INDEX: &str = "mcp.index.json";
const LOCK: &str = "agents.lock";
const PLAN: &str = "plan.json";
const CATALOGUE: &str = "catalogue.json";
const COMPACT: &str = "agents.resolution.compact.json";
const POLICY: &str = "policy.rego";
const TENANT_ID: &str = "tenant-id.txt";
const MATCH: &str = "match.json";
const RESOLUTION: &str = "agents.resolution.json";
const SUMMARY: &str = "summary.json";
const PAYLOAD: &str = "payload.json";
const GROUNDING: &str = "grounding.json";
const DIAGNOSTICS: &str = "diagnostics.json";

/// The areas whose cases may name a base.
const AREAS: [&str; 7] = [
    "resolve", "match", "call", "plan", "validate", "drift", "ground",
];

/// The diagnostics of a valid input without warnings.
const NOTHING: &str = "{\n  \"diagnostics\": [],\n  \"valid\": true\n}\n";

/// Every file that is an input of a decision.
const INPUTS: [&str; 12] = [
    MANIFEST,
    INDEX,
    "task.yaml",
    "task.json",
    "tenant.yaml",
    "tenant.json",
    TENANT_ID,
    "health.yaml",
    "health.json",
    "context.yaml",
    "context.json",
    POLICY,
];

/// The codes that other tests cover better than a case here, with a name in those tests.
const ELSEWHERE: &[(Code, &str, &str)] = &[
    // Of verbs.
    (
        Code::EPlan,
        "engine/verbs/src/file_plan.rs",
        "plans_are_refused_with_every_problem",
    ),
    (
        Code::EFs,
        "engine/verbs/src/fs_apply.rs",
        "a_request_changes_everything_or_nothing",
    ),
    (
        Code::EPolicy,
        "engine/verbs/src/policy.rs",
        "everything_is_denied_by_default",
    ),
    (
        Code::EBuild,
        "engine/verbs/src/manifest.rs",
        "a_runner_keeps_its_protocol",
    ),
    (
        Code::ERuntime,
        "engine/verbs/src/manifest.rs",
        "a_runner_keeps_its_protocol",
    ),
    (
        Code::ETimeout,
        "engine/verbs/src/manifest.rs",
        "a_runner_keeps_its_protocol",
    ),
    (
        Code::ENetwork,
        "engine/verbs/src/manifest.rs",
        "a_runner_keeps_its_protocol",
    ),
    (
        Code::EPort,
        "engine/verbs/src/manifest.rs",
        "a_runner_keeps_its_protocol",
    ),
    // Reasons of a run.
    (
        Code::Cancelled,
        "tests/tests/engine/run/misbehaviour.rs",
        "Cancelled",
    ),
    (
        Code::HandlerNotAdmitted,
        "tests/tests/engine/run/lifecycle.rs",
        "HandlerNotAdmitted",
    ),
    (
        Code::PlannerFailed,
        "tests/tests/engine/run/ask.rs",
        "PLANNER_FAILED",
    ),
    (
        Code::Unavailable,
        "tests/tests/engine/run/lifecycle.rs",
        "Unavailable",
    ),
    // Of a pattern that is not evaluated.
    (
        Code::PatternsNarrowed,
        "tests/tests/engine/patterns.rs",
        "PatternsNarrowed",
    ),
    (
        Code::PatternsWidened,
        "tests/tests/engine/patterns.rs",
        "PatternsWidened",
    ),
    // Of a policy alone.
    (
        Code::PolicyEachCandidate,
        "tests/tests/engine/policy_classes.rs",
        "PolicyEachCandidate",
    ),
    // Of two policies.
    (
        Code::PolicyNarrowed,
        "tests/tests/engine/policy_difference.rs",
        "POLICY_NARROWED",
    ),
    (
        Code::PolicyReasonChanged,
        "tests/tests/engine/policy_difference.rs",
        "PolicyReasonChanged",
    ),
    (
        Code::PolicyWidened,
        "tests/tests/engine/policy_difference.rs",
        "POLICY_WIDENED",
    ),
    // Of a link.
    (
        Code::SecretInLink,
        "tests/tests/engine/redaction.rs",
        "SecretInLink",
    ),
    // Of a session.
    (
        Code::ApprovalDenied,
        "tests/tests/engine/session/approval.rs",
        "ApprovalDenied",
    ),
    (
        Code::ApprovalRequired,
        "tests/tests/engine/session/approval.rs",
        "ApprovalRequired",
    ),
    (
        Code::HistoryUnavailable,
        "tests/tests/engine/session/history.rs",
        "HISTORY_UNAVAILABLE",
    ),
    (
        Code::InvisibleCharacter,
        "tests/tests/engine/session/open.rs",
        "InvisibleCharacter",
    ),
    (
        Code::QuotaExceeded,
        "tests/tests/engine/session/quota.rs",
        "QuotaExceeded",
    ),
    (
        Code::QuotaMissing,
        "tests/tests/engine/session/quota.rs",
        "QuotaMissing",
    ),
    (
        Code::SchemaDraft,
        "tests/tests/engine/forms.rs",
        "SchemaDraft",
    ),
    (
        Code::ServerDeleted,
        "tests/tests/engine/forms.rs",
        "ServerDeleted",
    ),
    (
        Code::ServerDeprecated,
        "tests/tests/engine/forms.rs",
        "ServerDeprecated",
    ),
    (
        Code::ServerFailed,
        "tests/tests/engine/session/results.rs",
        "ServerFailed",
    ),
    (
        Code::SessionLimit,
        "tests/tests/engine/session/limits.rs",
        "SessionLimit",
    ),
    (
        Code::StateRequired,
        "tests/tests/engine/session/decision_point.rs",
        "STATE_REQUIRED",
    ),
    (
        Code::BundleExpired,
        "tests/tests/engine/session/bundles.rs",
        "BUNDLE_EXPIRED",
    ),
    (
        Code::BundleInvalid,
        "tests/tests/engine/session/bundles.rs",
        "BUNDLE_INVALID",
    ),
    (
        Code::BundleOlder,
        "tests/tests/engine/session/bundles.rs",
        "BUNDLE_OLDER",
    ),
    (
        Code::BundleUntrusted,
        "tests/tests/engine/session/bundles.rs",
        "BUNDLE_UNTRUSTED",
    ),
    (
        Code::StateUnavailable,
        "host-cli/pdp/tests/pdp/store_of_others.rs",
        "STATE_UNAVAILABLE",
    ),
    (
        Code::AuditChanged,
        "tests/tests/engine/session/audit_log.rs",
        "AUDIT_CHANGED",
    ),
    (
        Code::AuditInterrupted,
        "tests/tests/engine/session/audit_log.rs",
        "AUDIT_INTERRUPTED",
    ),
    (
        Code::AuditInvalid,
        "tests/tests/engine/session/audit_log.rs",
        "AUDIT_INVALID",
    ),
    (
        Code::AuditMissing,
        "tests/tests/engine/session/audit_log.rs",
        "AUDIT_MISSING",
    ),
    (
        Code::AuditOutOfOrder,
        "tests/tests/engine/session/audit_log.rs",
        "AUDIT_OUT_OF_ORDER",
    ),
    (
        Code::AuditRestarted,
        "tests/tests/engine/session/audit_log.rs",
        "AUDIT_RESTARTED",
    ),
    // An explanation of more than 256 MiB.
    (
        Code::ExplanationTooLarge,
        "tests/tests/engine/specification.rs",
        "ExplanationTooLarge",
    ),
    (
        Code::InputDenied,
        "tests/tests/engine/plan/run.rs",
        "a_query_is_decided_by_the_profile",
    ),
    (
        Code::OutputInvalid,
        "tests/tests/engine/plan/run.rs",
        "OutputInvalid",
    ),
    (
        Code::EvidenceChanged,
        "tests/tests/engine/audit/tampering.rs",
        "EvidenceChanged",
    ),
    (
        Code::EvidenceInconsistent,
        "tests/tests/engine/audit/tampering.rs",
        "EvidenceInconsistent",
    ),
    (
        Code::EvidenceInvalid,
        "tests/tests/engine/audit/tampering.rs",
        "EvidenceInvalid",
    ),
    (
        Code::EvidenceMissing,
        "tests/tests/engine/audit.rs",
        "EvidenceMissing",
    ),
    (
        Code::EvidenceSecret,
        "tests/tests/engine/audit/tampering.rs",
        "EvidenceSecret",
    ),
    (
        Code::EvidenceUnexpected,
        "tests/tests/engine/audit.rs",
        "EvidenceUnexpected",
    ),
    (
        Code::ReplayDiffers,
        "tests/tests/engine/audit/replays.rs",
        "ReplayDiffers",
    ),
    (
        Code::DefinitionsChanged,
        "tests/tests/engine/definitions.rs",
        "DefinitionsChanged",
    ),
    (
        Code::BinaryDocument,
        "tests/tests/engine/situations.rs",
        "BinaryDocument",
    ),
    (
        Code::ConflictMarkers,
        "tests/tests/engine/situations.rs",
        "ConflictMarkers",
    ),
    (
        Code::EmptyDocument,
        "tests/tests/engine/situations.rs",
        "EmptyDocument",
    ),
    (
        Code::PolicyV0,
        "tests/tests/engine/situations.rs",
        "PolicyV0",
    ),
    (
        Code::TextAroundDocument,
        "tests/tests/engine/situations.rs",
        "TextAroundDocument",
    ),
    (
        Code::WrongDocument,
        "tests/tests/engine/situations.rs",
        "WrongDocument",
    ),
    (
        Code::WrongEncoding,
        "tests/tests/engine/situations.rs",
        "WrongEncoding",
    ),
    (
        Code::PolicyChanged,
        "tests/tests/engine/locked_policy.rs",
        "PolicyChanged",
    ),
    (
        Code::PolicyMissing,
        "tests/tests/engine/locked_policy.rs",
        "PolicyMissing",
    ),
    (
        Code::MovaHandlerFailed,
        "tests/tests/engine/run/lifecycle.rs",
        "step_e_fails_as_its_handler_fails",
    ),
    (
        Code::MovaInternal,
        "tests/tests/engine/run/misbehaviour.rs",
        "an_answer_out_of_turn_ends_the_run",
    ),
    (
        Code::MovaTimeout,
        "tests/tests/engine/run/lifecycle.rs",
        "the_clock_decides_that_a_step_took_too_long",
    ),
    (
        Code::MovaOutputInvalid,
        "tests/tests/engine/plan/run.rs",
        "MovaOutputInvalid",
    ),
    (
        Code::MovaDestinationDenied,
        "tests/corpus/plan/reject/expected.txt",
        "",
    ),
    (
        Code::MovaLimitExceeded,
        "tests/corpus/plan/reject/expected.txt",
        "",
    ),
    (
        Code::MovaPolicyDenied,
        "tests/corpus/plan/reject/expected.txt",
        "",
    ),
    (
        Code::MovaValidationFailed,
        "tests/corpus/plan/reject/expected.txt",
        "",
    ),
    (
        Code::PolicySyntax,
        "tests/tests/engine/policy.rs",
        "PolicySyntax",
    ),
    (
        Code::PolicyDeadRule,
        "tests/tests/engine/policy.rs",
        "dead_rules",
    ),
    (
        Code::PolicyNeverAllows,
        "tests/tests/engine/policy.rs",
        "never_allows",
    ),
    (
        Code::PolicyRuleUnused,
        "tests/tests/engine/policy.rs",
        "unused_rules",
    ),
    (
        Code::PolicyTestFailed,
        "tests/tests/engine/policy.rs",
        "PolicyTestFailed",
    ),
    (
        Code::StubCollision,
        "tests/tests/engine/expansion.rs",
        "StubCollision",
    ),
    (
        Code::ExpansionDenied,
        "tests/tests/engine/expansion.rs",
        "ExpansionDenied",
    ),
    (
        Code::TokenBudgetExceeded,
        "tests/tests/engine/expansion.rs",
        "TokenBudgetExceeded",
    ),
    (
        Code::ImportClaims,
        "tests/tests/engine/import.rs",
        "ImportClaims",
    ),
    (
        Code::ClientLimit,
        "tests/tests/engine/client_limits.rs",
        "ClientLimit",
    ),
    (
        Code::ImportConflict,
        "tests/tests/engine/forms.rs",
        "ImportConflict",
    ),
    (
        Code::ImportFormat,
        "tests/tests/engine/import.rs",
        "ImportFormat",
    ),
    (
        Code::ImportIncomplete,
        "tests/tests/engine/forms.rs",
        "ImportIncomplete",
    ),
    (
        Code::ImportNoCapability,
        "tests/tests/engine/import.rs",
        "ImportNoCapability",
    ),
    (
        Code::ImportToolRemoved,
        "tests/tests/engine/import.rs",
        "ImportToolRemoved",
    ),
    (
        Code::ImportUnrated,
        "tests/tests/engine/import.rs",
        "ImportUnrated",
    ),
    (
        Code::ImportUnused,
        "tests/tests/engine/import.rs",
        "ImportUnused",
    ),
    (
        Code::ImportValue,
        "tests/tests/engine/import.rs",
        "ImportValue",
    ),
];

#[test]
fn corpus_of_resolutions() {
    let mut failures = Failures::default();
    for case in cases("resolve") {
        let answers = resolved(&case);
        let locked = answers.contains_key(LOCK);
        if locked != case.accepted() {
            failures.add(&case.name(), format!("a lock: {locked}"));
        }
        let mut expected = Vec::new();
        for file in [LOCK, RESOLUTION, "summary.txt"] {
            expected.extend(answers.get(file).map(|text| (file, &**text)));
        }
        let results = sarif_results(&answers);
        if results != "[]\n" {
            expected.push((DIAGNOSTICS, answer(&answers, DIAGNOSTICS)));
            expected.push(("sarif-results.json", &results));
        }
        let expanded = answers.get(COMPACT).map(|text| compact::expand(text));
        if expanded.as_ref() != answers.get(RESOLUTION) {
            failures.add(&case.name(), "the compact form holds something else");
        }
        case.check(&INPUTS, &expected, &mut failures);
    }
    failures.finish();
}

#[test]
fn corpus_of_matches() {
    let mut failures = Failures::default();
    for case in cases("match") {
        let answers = matched(&case);
        let satisfied = answers
            .get(MATCH)
            .is_some_and(|text| text.contains("\n  \"satisfied\": true,\n"));
        if satisfied != case.accepted() {
            failures.add(&case.name(), format!("satisfied: {satisfied}"));
        }
        let expected = answers.iter().map(|(file, text)| (&**file, &**text));
        let expected: Vec<_> = expected.collect();
        case.check(&INPUTS, &expected, &mut failures);
    }
    failures.finish();
}

#[test]
fn corpus_of_calls() {
    let mut failures = Failures::default();
    for case in cases("call") {
        let answers = called(&case);
        let denied = answer(&answers, DIAGNOSTICS).ends_with("\"valid\": false\n}\n");
        if denied == case.accepted() {
            failures.add(&case.name(), format!("denied: {denied}"));
        }
        let inputs = [PLAN, INDEX, LOCK, CATALOGUE];
        let expected = [DIAGNOSTICS, "verdict.json", "verdict.txt"];
        let expected: Vec<_> = expected
            .iter()
            .filter_map(|file| Some((*file, answers.get(*file)?.as_str())))
            // Diagnostics report refused inputs.
            .filter(|(file, _)| (*file == DIAGNOSTICS) == denied)
            .collect();
        case.check(&inputs, &expected, &mut failures);
    }
    failures.finish();
}

/// A one-call plan, decided against the documents beside it.
fn called(case: &Case) -> Answers {
    let input = |name| case.input(name);
    native::called(
        &input(PLAN).expect("a plan"),
        &input(INDEX).expect("an index"),
        input(LOCK).as_deref(),
        input(CATALOGUE).as_deref(),
    )
}

#[test]
fn corpus_of_sequential_plans() {
    let mut failures = Failures::default();
    for verdict in ["plan/accept", "plan/reject"] {
        let mut verdicts = BTreeMap::new();
        for case in cases(verdict) {
            let answers = native::planned(&PlanInputs::of(&case));
            if answers.contains_key("authorized.json") != case.accepted() {
                failures.add(&case.name(), "the other verdict");
            }
            let mut expected = vec![("report.json", answer(&answers, "report.json"))];
            if !case.accepted() {
                expected.push((DIAGNOSTICS, answer(&answers, DIAGNOSTICS)));
            }
            case.check(&plan::FILES, &expected, &mut failures);
            verdicts.insert(case.name(), answer(&answers, "verdict.txt").to_owned());
        }
        let file = format!("{verdict}/verdicts.txt");
        let text = verdict_table(verdict, &verdicts);
        failures.compare(&file, &corpus().join(&file), &text);
    }
    failures.finish();
}

/// The verdicts in text, each below the name of its case and indented.
fn verdict_table(verdict: &str, verdicts: &BTreeMap<String, String>) -> String {
    let mut table = String::new();
    for (case, text) in verdicts {
        let subject = case.strip_prefix(verdict).unwrap_or(case);
        table += subject.trim_start_matches('/');
        for line in text.split_terminator('\n') {
            table += if line.is_empty() { "\n" } else { "\n  " };
            table += line;
        }
        assert!(text.ends_with('\n'), "{case}: no line break at the end");
        table.push('\n');
    }
    table
}

#[test]
fn corpus_of_validations() {
    let mut failures = Failures::default();
    for case in cases("validate") {
        let (input, answers) = validated(&case);
        let diagnostics = answer(&answers, DIAGNOSTICS);
        let valid = diagnostics.ends_with("\"valid\": true\n}\n");
        if valid != case.accepted() {
            failures.add(&case.name(), format!("valid: {valid}\n{diagnostics}"));
        }
        let inputs = [input, TENANT_ID];
        let expected = [(DIAGNOSTICS, diagnostics)];
        // A case without diagnostics has no file of them.
        let expected = if diagnostics == NOTHING {
            &[][..]
        } else {
            &expected
        };
        case.check(&inputs, expected, &mut failures);
    }
    failures.finish();
}

#[test]
fn cases_hold_nothing_that_their_base_holds() {
    let mut failures = Failures::default();
    for area in AREAS {
        for case in cases(area) {
            case.report_copies(&mut failures);
        }
    }
    failures.finish();
}

#[test]
fn corpus_of_drifts() {
    let mut failures = Failures::default();
    for case in cases("drift") {
        let (inputs, answers) = drifted(&case);
        let expected = ["drifts.json", "drifts.txt"].map(|file| (file, answer(&answers, file)));
        case.check(&inputs, &expected, &mut failures);
    }
    failures.finish();
}

#[test]
fn corpus_of_groundings() {
    let mut failures = Failures::default();
    for case in cases("ground") {
        let answers = grounded(&case);
        let yes = answers
            .get(GROUNDING)
            .is_some_and(|text| text.starts_with("{\n  \"grounded\": true,\n"));
        if yes != case.accepted() {
            failures.add(&case.name(), format!("grounded: {yes}"));
        }
        let mut expected = Vec::new();
        for file in [GROUNDING, "grounding.txt"] {
            expected.extend(answers.get(file).map(|text| (file, &**text)));
        }
        if sarif_results(&answers) != "[]\n" {
            expected.push((DIAGNOSTICS, answer(&answers, DIAGNOSTICS)));
        }
        case.check(&[SUMMARY, PAYLOAD], &expected, &mut failures);
    }
    failures.finish();
}

#[test]
fn corpus_of_views() {
    let mut failures = Failures::default();
    for case in cases("views") {
        let answers = resolved(&case);
        let expected: Vec<_> = answers
            .iter()
            // A user may ask about names that can't be names of files.
            .filter(|(file, _)| !file.starts_with("why ") || is_plain(file))
            // The spans of the texts differ in colours only.
            .filter(|(file, _)| !file.ends_with(".styled") || file.starts_with("summary"))
            .filter(|(file, _)| !file.starts_with("did you mean"))
            .map(|(file, text)| (&**file, &**text))
            .collect();
        case.check(&INPUTS, &expected, &mut failures);
    }
    failures.finish();
}

/// Every code is the answer to some case, in a file or made in code, and has a page.
#[test]
fn corpus_has_a_case_and_the_documentation_a_page_for_each_code() {
    let mut answered = BTreeSet::new();
    for area in ["resolve", "match", "call", "validate", "drift", "ground"] {
        for case in cases(area) {
            let answers = match area {
                "resolve" => resolved(&case),
                "match" => matched(&case),
                "call" => called(&case),
                "validate" => validated(&case).1,
                "ground" => grounded(&case),
                _ => drifted(&case).1,
            };
            for file in [DIAGNOSTICS, RESOLUTION, MATCH, "drifts.json"] {
                if let Some(text) = answers.get(file) {
                    collect_codes(&serde_json::from_str(text).expect("JSON"), &mut answered);
                }
            }
        }
    }
    // `hostile.rs` tests that these are given, and where.
    let hostile = hostile::cases();
    let hostile = hostile.iter().flat_map(|case| &case.expected);
    answered.extend(hostile.map(|(code, _, _)| code.name().to_owned()));
    let mut failures = Failures::default();
    for (code, file, name) in ELSEWHERE {
        let text = fs::read_to_string(root().join(file)).unwrap_or_default();
        let told = !name.is_empty() && text.contains(name);
        if !told && !text.contains(code.name()) {
            failures.add(code.name(), format!("nothing in {file}"));
        }
        answered.insert(code.name().to_owned());
    }
    for code in Code::ALL {
        if !answered.remove(code.name()) {
            failures.add(code.name(), "no case has this code");
        }
        let page = root().join(format!("docs/reference/codes/{}.md", code.page()));
        let text = fs::read_to_string(&page).unwrap_or_default();
        if text.lines().next() != Some(&*format!("# {}", code.name())) {
            failures.add(code.name(), format!("no page {}", page.display()));
        }
    }
    for code in answered {
        failures.add(&code, "a code that is not in the catalogue");
    }
    failures.finish();
}

#[test]
fn the_example_is_a_case_as_it_stands() {
    let case = cases("views")
        .into_iter()
        .find(|case| case.name() == "views/hello-agent");
    let case = case.expect("views/hello-agent");
    for file in [MANIFEST, INDEX] {
        let example = root().join("examples/hello-agent").join(file);
        let example = fs::read(&example).expect("an example");
        assert!(
            given(&case, file) == example,
            "{file} of the example and of the case differ"
        );
    }
}

fn given(case: &Case, file: &str) -> Vec<u8> {
    case.input(file)
        .unwrap_or_else(|| panic!("{} has no {file}", case.name()))
}

fn resolved(case: &Case) -> Answers {
    let evaluation_context = &INPUTS[2..];
    if case
        .files()
        .iter()
        .any(|file| evaluation_context.contains(&&**file))
    {
        let mut answers = native::under(&inputs(case));
        answers.retain(|file, _| !file.starts_with("match."));
        return answers;
    }
    native::resolve(&given(case, MANIFEST), &given(case, INDEX))
}

/// All that a case gives.
fn inputs(case: &Case) -> Inputs {
    let notated = |name: &str| {
        let [yaml, json] = ["yaml", "json"].map(|end| case.input(&format!("{name}.{end}")));
        assert!(
            yaml.is_none() || json.is_none(),
            "{}: two {name}s",
            case.name()
        );
        let json_given = json.is_some();
        yaml.or(json).map(|bytes| Given {
            bytes,
            json: json_given,
        })
    };
    Inputs {
        manifest: case.input(MANIFEST),
        index: case.input(INDEX).unwrap_or_default(),
        task: notated("task"),
        tenant: notated("tenant"),
        tenant_id: tenant_id(case),
        health: notated("health"),
        context: notated("context"),
    }
}

fn tenant_id(case: &Case) -> Option<String> {
    let id = String::from_utf8(case.input(TENANT_ID)?).expect("UTF-8");
    Some(id.trim_end().to_owned())
}

/// What `agent match` says: the answer, and the diagnostics where there are any.
fn matched(case: &Case) -> Answers {
    let policy = case.input(POLICY).map(|bytes| {
        let read = policy::read(bytes).expect("the policy is valid");
        Arc::new(read.value) as Arc<dyn PolicyEngine>
    });
    let mut answers = Answers::new();
    let diagnostics = match native::read(&inputs(case), policy) {
        Err(found) => found,
        Ok(read) => {
            let matching = read.matching();
            let text = render::matching(&matching).expect("small enough");
            answers.insert(MATCH.to_owned(), text);
            let parts = render::match_summary(&matching);
            let text = parts.iter().map(|part| &*part.text).collect();
            answers.insert("match.txt".to_owned(), text);
            let mut diagnostics = read.warnings;
            diagnostics.extend(explain::matching_diagnostics(&matching));
            diagnostics
        }
    };
    if !diagnostics.is_empty() {
        let report = render::report(Format::Json, &diagnostics, &[]);
        answers.insert(DIAGNOSTICS.to_owned(), report);
    }
    answers
}

/// Returns the only input of a case, and the answers about it.
fn validated(case: &Case) -> (&'static str, Answers) {
    let mut inputs = [
        MANIFEST,
        INDEX,
        LOCK,
        "task.yaml",
        "task.json",
        "tenant.yaml",
        "tenant.json",
        "health.yaml",
        "health.json",
    ]
    .into_iter()
    .filter_map(|file| Some((file, case.input(file)?)));
    let (Some((input, bytes)), None) = (inputs.next(), inputs.next()) else {
        panic!("{} has not one input", case.name());
    };
    let answers = match input {
        MANIFEST => native::validate_manifest(&bytes),
        INDEX => native::validate_index(&bytes),
        LOCK => native::validate_lock(&bytes),
        _ => {
            let notation = Notation::of_file(input);
            let found = match input.split_once('.').map(|(name, _)| name) {
                Some("task") => found(lower::task(bytes, notation)),
                Some("tenant") => {
                    let id = tenant_id(case);
                    found(lower::tenant(bytes, notation, id.as_deref()))
                }
                _ => found(lower::health(bytes, notation)),
            };
            let report = render::report(Format::Json, &found, &[]);
            Answers::from([(DIAGNOSTICS.to_owned(), report)])
        }
    };
    (input, answers)
}

fn grounded(case: &Case) -> Answers {
    native::grounded(&given(case, SUMMARY), &given(case, PAYLOAD))
}

fn found<T>(lowered: lower::Lowered<T>) -> Vec<Diagnostic> {
    match lowered {
        Ok(checked) => checked.warnings,
        Err(found) => found,
    }
}

/// The inputs of a case, and the differences that it is about.
fn drifted(case: &Case) -> ([&'static str; 2], Answers) {
    match case.input("newer.lock") {
        Some(newer) => {
            let answers = native::drift(case.input("older.lock").as_deref(), &newer);
            (["older.lock", "newer.lock"], answers)
        }
        None => {
            let answers = native::verified(&given(case, LOCK), &given(case, INDEX));
            ([LOCK, INDEX], answers)
        }
    }
}

/// The results of the SARIF document, without the rules.
fn sarif_results(answers: &Answers) -> String {
    let sarif: Value = serde_json::from_str(answer(answers, "diagnostics.sarif")).expect("JSON");
    format!("{:#}\n", sarif["runs"][0]["results"])
}

fn collect_codes(value: &Value, codes: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            codes.extend(
                members
                    .get("code")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
            members
                .values()
                .for_each(|value| collect_codes(value, codes));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_codes(item, codes)),
        _ => {}
    }
}

/// Whether a name is one that every file system takes.
fn is_plain(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_ascii_alphanumeric() || " .-_@".contains(c))
}
