//! Runs in words, and as statements for others.

use super::{completed, denied, folder, problems};
use agent_api::schema::Library;
use agent_audit::{envelope, explain, state};
use agent_explain::nonconformities;
use agent_tests::digest::sha256;
use serde_json::Value;

#[test]
fn an_explanation_is_a_bundle_of_texts() {
    for files in [completed(), denied()] {
        let explained = explain(&folder(&files), None);
        assert_eq!(explained.problems, []);
        let schema = "ds.ui_text_bundle_core_v1";
        let bundle = explained.bundle.clone().into_bytes();
        let violations = nonconformities(schema, bundle, Library::own()).expect("a schema");
        assert_eq!(violations, []);
        let bundle: Value = serde_json::from_str(&explained.bundle).expect("JSON");
        let text = bundle["human_text"]["text"].as_str().expect("a text");
        assert_eq!(
            explained.markdown,
            format!("<!-- channel: human_ui -->\n\n{text}")
        );
        for section in [
            "## What was planned",
            "## What was decided",
            "## What each step did",
            "## How it ended",
            "## Where to look",
        ] {
            assert!(text.contains(section), "{section}\n{text}");
        }
    }
}

#[test]
fn an_explanation_has_what_happened() {
    let text = explain(&folder(&completed()), None).markdown;
    for line in [
        "# Run `run-1`: `completed`",
        "- Evidence: verified, 29 episodes",
        "1. `report`: tool `get-report` of `connector_core:http_generic`",
        "with `/body` of step `report` as input",
        "- Step `rename` needs approval by a person.",
        "### `report`: `completed`",
        "  - Addresses: `93.184.215.14`",
        "`GET /2026?a=b` to `reports.example` at the address `93.184.215.14`",
        "  - Response with the status 200 and 12 bytes",
        "- Approved by `terminal`",
        "Every step of the plan is completed.",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let text = explain(&folder(&denied()), None).markdown;
    for line in [
        "# Run `run-1`: `failed`",
        "Ended early: `policy_denied` `APPROVAL_REQUIRED`",
        "### `keep`: skipped",
        "Security event `mova_agent:policy_denied` of severity `medium`",
        "the step that ended early",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn an_explanation_of_changed_evidence_says_so() {
    let mut files = completed();
    files
        .get_mut("plan.envelope.json")
        .expect("a plan")
        .push(b' ');
    let explained = explain(&folder(&files), None);
    assert!(!explained.problems.is_empty());
    assert!(
        explained
            .markdown
            .contains("**This evidence does not verify**")
    );
    assert!(!explained.markdown.contains("Evidence: verified"));
    files.clear();
    let explained = explain(&folder(&files), None);
    assert!(explained.markdown.contains("The run was interrupted"));
}

#[test]
fn values_of_peers_are_quoted() {
    let mut files = completed();
    let summary = String::from_utf8(files["run_summary.json"].clone()).expect("UTF-8");
    let evil = "x` **bold** <b>\\n# Heading\\u202e";
    let summary = summary.replace("\"plan_id\": \"p\"", &format!("\"plan_id\": \"{evil}\""));
    files.insert("run_summary.json".to_owned(), summary.into_bytes());
    let text = explain(&folder(&files), None).markdown;
    assert!(!text.contains("\n# Heading"), "{text}");
    assert!(text.contains("- Plan: `x' **bold** <b>"), "{text}");
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn a_statement_names_every_file() {
    let files = completed();
    let statement = state(&folder(&files), None).expect("a statement");
    let json: Value = serde_json::from_str(&statement.json).expect("JSON");
    assert_eq!(json["_type"], "https://in-toto.io/Statement/v1");
    let subjects = json["subject"].as_array().expect("subjects");
    assert_eq!(subjects.len(), files.len());
    for subject in subjects {
        let name = subject["name"].as_str().expect("a name");
        let content = std::str::from_utf8(&files[name]).expect("UTF-8");
        assert_eq!(subject["digest"]["sha256"], sha256(content), "{name}");
    }
    assert_eq!(json["predicate"]["status"], "completed");
    assert_eq!(json["predicate"]["run_id"], "run-1");
    let head = format!(
        "DSSEv1 28 application/vnd.in-toto+json {} {}",
        statement.json.len(),
        statement.json
    );
    assert_eq!(statement.to_sign, head.into_bytes());
    let sealed: Value = serde_json::from_str(&envelope("{}", "k", &[0, 255])).expect("JSON");
    assert_eq!(sealed["payload"], "e30=");
    assert_eq!(sealed["payloadType"], "application/vnd.in-toto+json");
    assert_eq!(sealed["signatures"][0]["keyid"], "k");
    assert_eq!(sealed["signatures"][0]["sig"], "AP8=");
}

#[test]
fn changed_evidence_has_no_statement() {
    let mut files = completed();
    files.get_mut("logs/keep.log").expect("a log").push(b'x');
    let refused = state(&folder(&files), None).expect_err("problems");
    assert_eq!(refused, problems(&files));
}
