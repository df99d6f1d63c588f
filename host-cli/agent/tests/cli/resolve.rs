//! `resolve`: the files it writes, and when it writes none.

use crate::project::{INDEX, MANIFEST, Project};
use std::fs;

const EXPLANATION: &str = "agents.resolution.json";
const COMPACT: &str = "agents.resolution.compact.json";

#[test]
fn the_lock_is_written() {
    let project = Project::new();
    project
        .agent("resolve")
        .exits(0)
        .answers("acme")
        .notes("wrote agents.lock\n");
    assert_eq!(
        project.files(),
        ["agents.lock", "agents.md", "mcp.index.json"]
    );
    assert!(project.read("agents.lock").contains("\"id\": \"acme\""));
}

#[test]
fn a_lock_that_is_up_to_date_is_not_written() {
    let project = Project::new();
    project.agent("resolve").exits(0);
    let written = fs::metadata(project.path("agents.lock"))
        .unwrap()
        .modified()
        .unwrap();
    project
        .agent("resolve")
        .exits(0)
        .notes("agents.lock is up to date\n");
    assert_eq!(
        fs::metadata(project.path("agents.lock"))
            .unwrap()
            .modified()
            .unwrap(),
        written
    );
}

#[test]
fn a_changed_lock_is_reported_with_its_changes() {
    let project = Project::new();
    project.agent("resolve").exits(0);
    let wider = MANIFEST.replace("[read:audiences]", "[read:audiences, write:audiences]");
    project.write("agents.md", wider);
    project
        .agent("resolve")
        .exits(0)
        .notes("SCOPE_WIDENED")
        .notes("wrote agents.lock\n");
    project
        .agent("resolve --locked")
        .exits(0)
        .notes("agents.lock is up to date\n");
}

#[test]
fn the_explanation_is_written_beside_the_lock() {
    let project = Project::new();
    fs::create_dir(project.path("out")).unwrap();
    project
        .agent("resolve --explain --lock out/agents.lock")
        .exits(0);
    assert!(
        project
            .read("out/agents.resolution.json")
            .contains("RESIDENCY_MISMATCH")
    );
    project.agent("resolve --explain=compact").exits(0);
    assert!(project.has(COMPACT));
    assert!(!project.has(EXPLANATION));
}

#[test]
fn an_unsatisfied_requirement_leaves_the_lock_and_is_explained() {
    let project = Project::unsatisfiable();
    project.write("agents.lock", "as it was");
    project
        .agent("resolve")
        .exits(1)
        .notes("error[UNSATISFIED]")
        .notes("--> agents.md:7:");
    assert!(!project.has(EXPLANATION));
    project.agent("resolve --explain").exits(1);
    assert!(project.read(EXPLANATION).contains("\"satisfied\": false"));
    assert_eq!(project.read("agents.lock"), "as it was");
}

#[test]
fn invalid_input_writes_nothing() {
    for (file, text) in [
        ("agents.md", "---\nname: x\n---\n"),
        ("mcp.index.json", "[{}]"),
    ] {
        let project = Project::new();
        project.write(file, text);
        project
            .agent("resolve --explain")
            .exits(1)
            .answers_nothing()
            .notes("error[MISSING_FIELD]");
        assert_eq!(project.files(), ["agents.md", "mcp.index.json"]);
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let project = Project::new();
    project
        .agent("resolve --dry-run --explain")
        .exits(0)
        .notes("would write agents.lock\n");
    assert_eq!(project.files(), ["agents.md", "mcp.index.json"]);
    let project = Project::unsatisfiable();
    project.agent("resolve --dry-run --explain").exits(1);
    assert_eq!(project.files(), ["agents.md", "mcp.index.json"]);
}

#[test]
fn locked_writes_the_explanation_alone() {
    let project = Project::new();
    project
        .agent("resolve --locked --explain")
        .exits(1)
        .answers("LOCK_MISSING");
    assert_eq!(
        project.files(),
        ["agents.md", EXPLANATION, "mcp.index.json"]
    );
}

#[test]
fn a_damaged_lock_is_replaced_with_a_warning() {
    let project = Project::new();
    project.agent("resolve").exits(0);
    let lock = project.read("agents.lock");
    let conflict = format!("<<<<<<< ours\n{lock}=======\n{lock}>>>>>>> theirs\n");
    let half = &lock[..lock.len() * 3 / 4];
    for damaged in [
        "",
        &conflict,
        half,
        "{\"lockVersion\": 0}",
        "{\"lockVersion\": \"1\"}",
    ] {
        project.write("agents.lock", damaged);
        project
            .agent("resolve")
            .exits(0)
            .notes("warning[")
            .notes("agents.lock was damaged\nwrote agents.lock\n");
        assert_eq!(project.read("agents.lock"), lock);
    }
}

#[test]
fn a_foreign_file_is_not_replaced() {
    let project = Project::new();
    for file in ["agents.md", "mcp.index.json"] {
        let before = project.read(file);
        project
            .agent(&format!("resolve --explain --lock {file}"))
            .exits(1)
            .notes(&format!("--> {file}:"))
            .notes("this file is not a lock, and stays as it is");
        assert_eq!(project.read(file), before);
    }
    assert_eq!(project.files(), ["agents.md", "mcp.index.json"]);
}

#[test]
fn an_edited_lock_with_the_same_content_is_rewritten() {
    let project = Project::new();
    project.agent("resolve").exits(0);
    let lock = project.read("agents.lock");
    project.write("agents.lock", lock.replace('\n', "\r\n"));
    project.agent("resolve --locked").exits(0);
    project
        .agent("resolve")
        .exits(0)
        .notes("wrote agents.lock\n");
    assert_eq!(project.read("agents.lock"), lock);
}

#[test]
fn the_body_of_the_manifest_is_never_changed() {
    let project = Project::new();
    let manifest = format!("{MANIFEST}\r\nbody \t \u{feff}");
    project.write("agents.md", &manifest);
    project.agent("resolve").exits(0);
    assert_eq!(project.read("agents.md"), manifest);
}

#[test]
fn json_has_the_nearest_servers_of_unsatisfied_requirements() {
    let project = Project::unsatisfiable();
    let run = project
        .agent("resolve --format json")
        .exits(1)
        .notes_nothing();
    assert_eq!(run.json()["satisfied"], false);
}

#[test]
fn an_explanation_that_is_too_large_is_refused_whole() {
    const MIB: usize = 1 << 20;
    let project = Project::new();
    // The full form lists a rejected server's categories for each requirement.
    let (acme, euro) = INDEX.split_at(INDEX.find("\"euro\"").unwrap());
    let euro = euro.replace("\"audiences\"", &format!("\"{}\"", "x".repeat(MIB)));
    project.write("mcp.index.json", format!("{acme}{euro}"));
    let requirement = "    - { category: audiences, permissions: [] }\n".repeat(257);
    project.write(
        "agents.md",
        MANIFEST.replacen("    -", &format!("{requirement}    -"), 1),
    );

    let run = project
        .agent("resolve --explain")
        .exits(2)
        .answers_nothing();
    run.notes("error[EXPLANATION_TOO_LARGE]")
        .notes("--explain=compact");
    let run = project.agent("resolve --explain --format json").exits(2);
    assert_eq!(
        run.json()["diagnostics"][0]["code"],
        "EXPLANATION_TOO_LARGE"
    );
    assert_eq!(project.files(), ["agents.md", "mcp.index.json"]);
    project.agent("resolve --explain=compact").exits(0);
    assert_eq!(
        project.files(),
        ["agents.lock", "agents.md", COMPACT, "mcp.index.json"]
    );
}
