//! `explain`, `completions`, `man`, and wrong usage.

use crate::project::Project;
use agent_host::COMPONENT_SHA256;

#[test]
fn a_code_is_explained_whatever_its_case() {
    let project = Project::empty();
    let page = project
        .agent("explain MISSING_SCOPE")
        .exits(0)
        .notes_nothing();
    assert!(page.stdout.starts_with("# MISSING_SCOPE\n"), "{page:#?}");
    assert_eq!(project.agent("explain missing_scope").stdout, page.stdout);
}

#[test]
fn a_misspelled_code_is_corrected() {
    Project::empty()
        .agent("explain MISSING_SCOPES")
        .exits(2)
        .answers_nothing()
        .notes("error: there is no code `MISSING_SCOPES`\nhelp: did you mean `MISSING_SCOPE`");
}

#[test]
fn without_a_code_all_are_listed() {
    let list = Project::empty().agent("explain").exits(0).notes_nothing();
    assert!(
        list.stdout
            .lines()
            .any(|line| line.starts_with("SCOPE_WIDENED  ")),
        "{list:#?}"
    );
}

#[test]
fn there_are_completions_and_manual_pages() {
    let project = Project::empty();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        project
            .agent(&format!("completions {shell}"))
            .exits(0)
            .answers("agent");
    }
    project.agent("man").exits(0).answers(".TH agent 1");
    project
        .agent("man resolve")
        .exits(0)
        .answers("agent-resolve")
        .answers("locked");
    project
        .agent("man policy check")
        .exits(0)
        .answers("agent-policy-check");
    project.agent("man nothing").exits(2).answers_nothing();
}

#[test]
fn wrong_usage_is_no_answer() {
    let project = Project::new();
    project.agent("").exits(2).answers_nothing();
    project.agent("resolv").exits(2).notes("resolve");
    project
        .agent("resolve --explain=tiny")
        .exits(2)
        .notes("compact");
    project.agent("resolve -q -v").exits(2);
    project
        .agent("resolve --lock -")
        .exits(2)
        .notes("the output must be a file");
    project.agent("diff a b --index c").exits(2);
    assert!(!project.has("agents.lock"));
}

#[test]
fn the_version_names_engine_and_runtime() {
    let project = Project::empty();
    project
        .agent("-V")
        .exits(0)
        .answers(concat!("agent ", env!("CARGO_PKG_VERSION"), "\n"));
    project
        .agent("--version")
        .exits(0)
        .answers(&format!("engine sha256:{}", &COMPONENT_SHA256[..12]))
        .answers("wasmtime 48.");
}
