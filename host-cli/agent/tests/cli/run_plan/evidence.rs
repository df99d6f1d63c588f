//! The evidence of real runs: verified, explained, exported and decided again by the program.

use super::{HTTP, NOOP, evidence, http, project, read, run, step};
use crate::project::{Project, Run};
use crate::run_plan::server::Server;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A project after a run of one step that keeps its input.
fn ran() -> (Project, String) {
    let bindings = json!([{ "connector_id": NOOP, "tool_id": "keep", "driver_kind": "noop" }]);
    let project = project(
        bindings,
        json!([step(NOOP, "keep", json!({ "a": [1, 2.50] }))]),
    );
    run(&project).exits(0);
    let folder = below(&project);
    (project, folder)
}

/// The folder of the only run, below the project.
fn below(project: &Project) -> String {
    let folder = evidence(project);
    let folder = folder.strip_prefix(project.path("")).unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn the_evidence_of_a_run_verifies() {
    let (project, folder) = ran();
    project
        .agent(&format!("evidence verify {folder}"))
        .exits(0)
        .notes("verifies");
    let report = project
        .agent(&format!("evidence verify {folder} --format json"))
        .exits(0);
    assert_eq!(report.json()["valid"], true);
}

/// Runs the verifier that stands in the page about evidence.
fn verify_by_page(project: &Project, folder: &str) -> Run {
    const PAGE: &str = include_str!("../../../../../docs/reference/evidence.md");
    let (_, program) = PAGE.split_once("```python\n").expect("a program");
    let (program, _) = program.split_once("```\n").expect("its end");
    assert!(program.lines().count() <= 80);
    project.write("verify.py", program);
    let python = project.command_of("/usr/bin/python3", ["verify.py", folder]);
    Run::of(python)
}

#[test]
fn the_verifier_of_the_page_finds_what_the_program_finds() {
    let (project, folder) = ran();
    verify_by_page(&project, &folder)
        .exits(0)
        .answers("the evidence verifies");
    let paths = files_below(&project.path(&folder));
    assert!(paths.len() >= 9, "{paths:?}");
    for path in paths {
        let sound = fs::read(&path).unwrap();
        let mut changed = sound.clone();
        // A blank before the end of the file: JSON stays JSON.
        changed.insert(sound.len().saturating_sub(1), b' ');
        for content in [Some(changed), None] {
            match content {
                Some(content) => fs::write(&path, content).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            verify_by_page(&project, &folder).exits(1).notes_nothing();
            project.agent(&format!("evidence verify {folder}")).exits(1);
        }
        fs::write(&path, sound).unwrap();
    }
    project.write(&format!("{folder}/more.json"), "{}");
    verify_by_page(&project, &folder)
        .exits(1)
        .answers("more.json is not part of the run");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// Evidence of one run would otherwise pass as that of another.
#[test]
fn the_names_of_the_folders_are_the_ids_of_the_run() {
    let (project, folder) = ran();
    let (above, run) = folder.rsplit_once('/').unwrap();
    let request = above.strip_suffix("/runs").unwrap();
    let (root, _) = request.rsplit_once('/').unwrap();
    for (from, to, id) in [
        (folder.clone(), format!("{above}/other"), "run_id"),
        (request.to_owned(), format!("{root}/another"), "request_id"),
    ] {
        fs::rename(project.path(&from), project.path(&to)).unwrap();
        let below = if id == "run_id" {
            to.clone()
        } else {
            format!("{to}/runs/{run}")
        };
        project
            .agent(&format!("evidence verify {below}"))
            .exits(1)
            .notes("run_summary.json")
            .notes(&format!("that is not the `{id}` of the run"));
        fs::rename(project.path(&to), project.path(&from)).unwrap();
    }
    project.agent(&format!("evidence verify {folder}")).exits(0);
}

#[test]
fn the_evidence_of_an_http_run_verifies_and_is_decided_again() {
    let server = Server::start(|_| ("200 OK", "application/json", r#"{"visits": 3}"#.to_owned()));
    let input = json!({ "method": "GET", "url": format!("{}/a", server.origin()) });
    let project = project(http(&server), json!([step(HTTP, "get", input)]));
    run(&project).exits(0);
    let folder = below(&project);
    project.agent(&format!("evidence verify {folder}")).exits(0);
    let replayed = project
        .agent(&format!("replay {folder} --format json"))
        .exits(0)
        .json();
    let checks = replayed["checks"].as_array().unwrap().iter();
    let checks: Vec<_> = checks.map(|it| (&it["check"], &it["outcome"])).collect();
    let expected = [
        "plan",
        "resolve",
        "input",
        "effect",
        "addresses",
        "size",
        "output",
    ];
    let expected: Vec<_> = expected.map(|it| (json!(it), json!("same"))).into();
    let expected: Vec<_> = expected.iter().map(|(a, b)| (a, b)).collect();
    assert_eq!(checks, expected);
}

#[test]
fn a_replay_that_cannot_be_decided_is_no_yes() {
    let bindings = json!([{ "connector_id": NOOP, "tool_id": "keep", "driver_kind": "noop" }]);
    let steps = json!([step(NOOP, "keep", json!({ "password": "swordfish" }))]);
    let project = project(bindings, steps);
    run(&project).exits(0);
    let folder = below(&project);
    let replayed = project
        .agent(&format!("replay {folder} --format json"))
        .exits(2)
        .json();
    assert_eq!(replayed["same"], Value::Null);
    assert!(replayed["undecidable"].as_u64() > Some(0), "{replayed}");
    project
        .agent(&format!("replay {folder}"))
        .exits(2)
        .answers("not decidable as a whole");
}

#[test]
fn changed_evidence_is_reported_with_its_file_and_line() {
    let (project, folder) = ran();
    let log = format!("{folder}/logs/keep.log");
    project.write(&log, "something else");
    let report = project
        .agent(&format!("evidence verify {folder} --format json"))
        .exits(1)
        .json();
    let problems = report["diagnostics"].as_array().unwrap().iter();
    let codes: Vec<_> = problems.map(|it| &it["code"]).collect();
    assert_eq!(codes, ["EVIDENCE_INCONSISTENT", "EVIDENCE_CHANGED"]);
    project
        .agent(&format!("evidence verify {folder}"))
        .exits(1)
        .notes(&format!("{log}:1:1"));
    project
        .agent(&format!("evidence verify {folder} --format sarif"))
        .exits(1)
        .answers("logs/keep.log");
    project
        .agent(&format!("evidence verify {folder} --format github"))
        .exits(1)
        .answers("logs/keep.log");
    project
        .agent(&format!("replay {folder}"))
        .exits(2)
        .notes("EVIDENCE_CHANGED");
    project
        .agent(&format!("evidence explain {folder}"))
        .exits(1)
        .answers("does not verify");
    project
        .agent(&format!("evidence export --in-toto {folder}"))
        .exits(1)
        .answers_nothing();
}

#[test]
fn lines_of_evidence_are_not_shown() {
    let (project, folder) = ran();
    let path = format!("{folder}/run_summary.json");
    let summary = project
        .read(&path)
        .replace("\"message\"", "\"password\": \"swordfish\", \"message\"");
    project.write(&path, summary);
    let verified = project.agent(&format!("evidence verify {folder}")).exits(1);
    assert!(
        verified.stderr.contains("EVIDENCE_SECRET"),
        "{}",
        verified.stderr
    );
    assert!(
        !verified.stderr.contains("swordfish"),
        "{}",
        verified.stderr
    );
}

#[test]
fn only_regular_files_are_evidence() {
    let (project, folder) = ran();
    symlink("/etc/hostname", project.path(format!("{folder}/link"))).unwrap();
    project
        .agent(&format!("evidence verify {folder}"))
        .exits(2)
        .notes("not a regular file");
    project
        .agent("evidence verify nothing-here")
        .exits(2)
        .notes("is not a folder");
    project
        .agent(&format!("evidence verify {folder}/logs"))
        .exits(1)
        .notes("EVIDENCE_MISSING");
}

#[test]
fn a_run_is_explained() {
    let (project, folder) = ran();
    project
        .agent(&format!("evidence explain {folder}"))
        .exits(0)
        .answers("<!-- channel: human_ui -->")
        .answers("### `keep`: `completed`");
    let bundle = project
        .agent(&format!("evidence explain {folder} --format json"))
        .exits(0);
    assert_eq!(bundle.json()["human_text"]["channel"], "human_ui");
    project.write("bundle.json", &bundle.stdout);
    project
        .agent("schema check ds.ui_text_bundle_core_v1 bundle.json")
        .exits(0);
}

#[test]
fn a_folder_is_found_by_its_names() {
    let (project, folder) = ran();
    let found = |line: &str| {
        let found = project
            .agent(&format!("evidence open {line}"))
            .exits(0)
            .stdout;
        assert_eq!(found, format!("{folder}\n"), "{line}");
    };
    found("--request-id req");
    let run_id = PathBuf::from(&folder);
    let run_id = run_id.file_name().unwrap().to_str().unwrap();
    found(&format!("--request-id req --run-id {run_id}"));
    found("--evidence artifacts/mova_agent/req");
    found(&format!("--evidence {folder}"));
    for line in [
        "",
        "--request-id ../req",
        "--request-id other",
        "--request-id req --run-id 1",
        "--run-id 1",
        "--evidence artifacts",
    ] {
        project.agent(&format!("evidence open {line}")).exits(2);
    }
}

#[test]
fn other_rules_are_compared_with_those_of_the_run() {
    let (project, folder) = ran();
    let same = project.agent(&format!("replay {folder}")).exits(0);
    assert!(
        same.stdout.contains("decided as recorded"),
        "{}",
        same.stdout
    );
    let profile = project.read("profile.json");
    let stricter = profile.replace("\"effect\":\"allow\"", "\"effect\":\"deny\"");
    assert_ne!(profile, stricter);
    project.write("stricter.json", stricter);
    project
        .agent(&format!("replay {folder} --profile stricter.json"))
        .exits(1)
        .answers("decided otherwise")
        .notes("REPLAY_DIFFERS");
}

/// Runs OpenSSL, which we did not write.
fn openssl(project: &Project, line: &str) -> bool {
    let mut openssl = Command::new("openssl");
    openssl.args(line.split(' ')).current_dir(project.path(""));
    let output = openssl.output().expect("openssl");
    output.status.success()
}

#[test]
fn a_signed_statement_is_verified_by_openssl() {
    let (project, folder) = ran();
    assert!(openssl(&project, "genpkey -algorithm ed25519 -out key.pem"));
    assert!(openssl(
        &project,
        "pkey -in key.pem -pubout -out public.pem"
    ));
    assert!(openssl(
        &project,
        "pkey -in key.pem -outform DER -out key.der"
    ));
    for key in ["key.pem", "key.der"] {
        fs::set_permissions(project.path(key), Permissions::from_mode(0o600)).unwrap();
        let export = format!("evidence export --in-toto {folder} --key {key} --out run.json");
        project.agent(&export).exits(0).answers_nothing();
        let envelope: Value = serde_json::from_str(&project.read("run.json")).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        project.write("payload.b64", text(&envelope["payload"]));
        project.write("signature.b64", text(&envelope["signatures"][0]["sig"]));
        assert!(openssl(
            &project,
            "base64 -d -A -in payload.b64 -out payload"
        ));
        assert!(openssl(
            &project,
            "base64 -d -A -in signature.b64 -out signature"
        ));
        let payload = project.read("payload");
        // What DSSE signs, by its specification.
        let kind = "application/vnd.in-toto+json";
        let signed = format!("DSSEv1 {} {kind} {} {payload}", kind.len(), payload.len());
        project.write("signed", &signed);
        let verify =
            "pkeyutl -verify -pubin -inkey public.pem -rawin -in signed -sigfile signature";
        assert!(openssl(&project, verify), "{key}");
        project.write("signed", signed + " ");
        assert!(!openssl(&project, verify), "{key}");
        let statement: Value = serde_json::from_str(&payload).unwrap();
        let subjects = statement["subject"].as_array().unwrap();
        let named = |it: &&Value| it["name"] == "run_summary.json";
        let digest = text(&subjects.iter().find(named).unwrap()["digest"]["sha256"]);
        let computed = Command::new("sha256sum")
            .arg(evidence(&project).join("run_summary.json"))
            .output()
            .unwrap();
        assert!(
            String::from_utf8(computed.stdout)
                .unwrap()
                .starts_with(&digest)
        );
    }
    let unsigned = project
        .agent(&format!("evidence export --in-toto {folder}"))
        .exits(0);
    assert_eq!(unsigned.json()["predicate"]["request_id"], "req");
    assert!(read(&project, "run_summary.json").contains("completed"));
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let (project, folder) = ran();
    assert!(openssl(&project, "genpkey -algorithm ed25519 -out key.pem"));
    let export = format!("evidence export --in-toto {folder} --key");
    fs::set_permissions(project.path("key.pem"), Permissions::from_mode(0o644)).unwrap();
    project
        .agent(&format!("{export} key.pem"))
        .exits(2)
        .notes("other users can read the key");
    project.write("no.key", "not a key");
    fs::set_permissions(project.path("no.key"), Permissions::from_mode(0o600)).unwrap();
    project
        .agent(&format!("{export} no.key"))
        .exits(2)
        .notes("not an Ed25519 private key");
    project.agent(&format!("{export} absent.key")).exits(2);
}
