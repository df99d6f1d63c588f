//! `diff`, `verify` and `resolve --locked`: outdated locks.

use crate::project::{INDEX, MANIFEST, Project};
use std::fs;

/// A project with a fresh lock.
fn locked() -> Project {
    let project = Project::new();
    project.agent("resolve").exits(0);
    project
}

/// Returns the codes of a list of drifts.
fn codes(json: &serde_json::Value) -> Vec<&str> {
    let drifts = json["drifts"].as_array().expect("a list of drifts");
    drifts
        .iter()
        .map(|drift| drift["code"].as_str().unwrap())
        .collect()
}

#[test]
fn a_fresh_lock_is_fresh() {
    let project = locked();
    project.agent("resolve --locked").exits(0);
    project.agent("verify").exits(0);
    project.agent("diff").exits(0);
    project.agent("diff agents.lock agents.lock").exits(0);
}

#[test]
fn a_wider_permission_is_a_drift() {
    let project = locked();
    let lock = project.read("agents.lock");
    let wider = MANIFEST.replace("[read:audiences]", "[read:audiences, write:audiences]");
    project.write("agents.md", wider);
    project
        .agent("resolve --locked")
        .exits(1)
        .answers("SCOPE_WIDENED");
    let run = project.agent("diff --format json").exits(1).notes_nothing();
    assert_eq!(codes(&run.json()), ["SCOPE_WIDENED"]);
    assert_eq!(project.read("agents.lock"), lock);
    // The index has not changed.
    project.agent("verify").exits(0);
}

#[test]
fn a_review_shows_more_access_first() {
    let project = locked();
    let markdown = "diff agents.lock agents.lock --format markdown";
    project
        .agent(markdown)
        .exits(0)
        .answers("### No differences\n");
    let wider = MANIFEST.replace("[read:audiences]", "[read:audiences, write:audiences]");
    project.write("agents.md", wider);
    project.write("mcp.index.json", INDEX.replace("Acme", "A | B"));
    let run = project.agent("diff --format markdown").exits(1);
    let begin = "### 2 differences, 1 gives the agent more access\n\n**More access**\n\n- `SCOPE_WIDENED`<code>";
    assert!(run.stdout.starts_with(begin), "{}", run.stdout);
    assert!(
        run.stdout.contains("</code>\n\n**Others**\n\n- `"),
        "{}",
        run.stdout
    );
    project.write("agents.md", "---\n");
    project
        .agent("diff --format markdown")
        .exits(1)
        .answers_nothing()
        .notes("agents.md:");
}

#[test]
fn a_changed_entry_is_a_drift() {
    let project = locked();
    project.write("mcp.index.json", INDEX.replace("\"Acme\"", "\"Mallory\""));
    for command in ["verify", "diff", "resolve --locked"] {
        project.agent(command).exits(1).answers("INTEGRITY_CHANGED");
    }
}

#[test]
fn drifts_are_reported_in_every_format() {
    let project = locked();
    project.write("mcp.index.json", INDEX.replace("\"Acme\"", "\"Mallory\""));
    let run = project.agent("verify --format sarif").exits(1);
    assert_eq!(
        run.json()["runs"][0]["results"][0]["ruleId"],
        "INTEGRITY_CHANGED"
    );
    project
        .agent("verify --format github")
        .exits(1)
        .answers("::error file=agents.lock,line=1")
        .answers("title=INTEGRITY_CHANGED::audiences: ");
}

#[test]
fn no_lock_is_a_drift() {
    let project = Project::new();
    for command in ["verify", "diff", "resolve --locked"] {
        let run = project.agent(&format!("{command} --format json")).exits(1);
        assert_eq!(codes(&run.json()), ["LOCK_MISSING"]);
    }
    assert!(!project.has("agents.lock"));
}

#[test]
fn a_named_lock_must_exist() {
    let project = locked();
    project
        .agent("diff agents.lock other.lock")
        .exits(2)
        .notes("can't read `other.lock`");
    project
        .agent("diff other.lock")
        .exits(2)
        .notes("can't read `other.lock`");
}

#[test]
fn an_edited_lock_is_refused_as_input() {
    let project = locked();
    let edited = project
        .read("agents.lock")
        .replace("\"forbid\": []", "\"forbid\": 1");
    project.write("agents.lock", &edited);
    for command in ["verify", "diff", "resolve --locked"] {
        project
            .agent(command)
            .exits(1)
            .answers_nothing()
            .notes("agents.lock:");
        assert_eq!(project.read("agents.lock"), edited);
    }
}

#[test]
fn an_unsatisfied_resolution_cannot_be_compared() {
    let project = locked();
    let unsatisfiable = Project::unsatisfiable().read("agents.md");
    project.write("agents.md", unsatisfiable);
    project
        .agent("diff")
        .exits(1)
        .answers_nothing()
        .notes("error[UNSATISFIED]");
    project
        .agent("resolve --locked")
        .exits(1)
        .notes("error[UNSATISFIED]");
}

#[test]
fn a_lock_of_a_later_format_is_refused_and_kept() {
    let project = locked();
    let later = project
        .read("agents.lock")
        .replace("\"lockVersion\": 1", "\"lockVersion\": 2");
    project.write("agents.lock", &later);
    for command in [
        "resolve",
        "resolve --locked",
        "resolve --dry-run",
        "verify",
        "diff",
    ] {
        project.agent(command).exits(1).notes("error[LOCK_VERSION]");
        assert_eq!(project.read("agents.lock"), later);
    }
    project.agent("resolve --explain").exits(1);
    assert!(!project.has("agents.resolution.json"));
}

#[test]
fn a_file_too_large_to_be_read_may_be_of_a_later_format_too() {
    let project = Project::new();
    let file = fs::File::create(project.path("agents.lock")).unwrap();
    file.set_len((16 << 20) + 1).unwrap();
    project
        .agent("resolve")
        .exits(1)
        .notes("error[INPUT_TOO_LARGE]");
    assert_eq!(file.metadata().unwrap().len(), (16 << 20) + 1);
}
