//! `init`: a first manifest.

use crate::project::{INDEX, MANIFEST, Project};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

const CLIENT: &str = r#"{"mcpServers": {"github": {"url": "https://github.example/mcp"}}}"#;

fn project() -> Project {
    let project = Project::empty();
    project.write("mcp.index.json", INDEX);
    project
}

#[test]
fn a_first_manifest_is_valid_and_resolves() {
    let project = project();
    project
        .agent("init")
        .exits(0)
        .answers("assumed: the agent needs the category of the index, without a scope")
        .answers("assumed: only signed servers may be selected\n")
        .notes("wrote agents.md from mcp.index.json")
        .notes("agent resolve");
    assert_eq!(project.files(), ["agents.md", "mcp.index.json"]);
    let text = project.read("agents.md");
    assert!(text.contains("permissions: []  # offered: read:audiences, write:audiences\n"));
    project.agent("validate").exits(0).notes("no problems");
    project.agent("resolve").exits(0).answers("acme 2.1.0");
}

#[test]
fn an_existing_text_gets_frontmatter_in_place() {
    let project = project();
    let body = "# Rules\r\n\r\n\u{e9}, no end";
    project.write("AGENTS.md", body);
    let path = project.path("AGENTS.md");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    project.agent("init").exits(0).notes("wrote AGENTS.md");
    let text = project.read("AGENTS.md");
    assert!(text.starts_with("---\r\n"), "{text:?}");
    assert!(text.ends_with(&format!("\r\n---\r\n{body}")), "{text:?}");
    let mode = fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(project.files(), ["AGENTS.md", "mcp.index.json"]);
    project.agent("resolve").exits(0);
}

#[test]
fn a_manifest_with_frontmatter_is_not_overwritten() {
    let project = project();
    for text in [MANIFEST, "---\nbroken"] {
        project.write("agents.md", text);
        project
            .agent("init")
            .exits(1)
            .answers_nothing()
            .notes("`agents.md` has frontmatter, and stays as it is");
        assert_eq!(project.read("agents.md"), text);
    }
    // Another file is another manifest.
    project.agent("init other.md").exits(0);
    assert!(project.has("other.md"));
}

#[test]
fn a_client_is_read_if_there_is_no_index() {
    let project = Project::empty();
    project.write(".mcp.json", CLIENT);
    project
        .agent("init")
        .exits(0)
        .answers("assumed: each server has a category of its own name")
        .notes("agent index import .mcp.json");
    assert!(project.read("agents.md").contains("- category: github\n"));
    project.agent("validate").exits(0);

    project.write("mcp.index.json", INDEX);
    let preview = project.agent("init --dry-run x.md").exits(0);
    assert!(
        preview.stdout.contains("category: audiences"),
        "{preview:#?}"
    );
    let preview = project
        .agent("init --dry-run x.md --client .mcp.json")
        .exits(0);
    assert!(preview.stdout.contains("category: github"), "{preview:#?}");
    project
        .agent("init x.md --client .mcp.json --index mcp.index.json")
        .exits(2);
    assert!(!project.has("x.md"));
}

#[test]
fn a_dry_run_prints_what_would_be_written() {
    let project = project();
    let preview = project
        .agent("init --dry-run")
        .exits(0)
        .notes("assumed: ")
        .notes("would write agents.md");
    assert!(!project.has("agents.md"));
    project.agent("init").exits(0);
    assert_eq!(project.read("agents.md"), preview.stdout);
}

#[test]
fn nothing_is_made_from_nothing() {
    let project = Project::empty();
    project
        .agent("init")
        .exits(2)
        .notes("there is no `mcp.index.json`");
    project.write("mcp.index.json", "[]");
    project.agent("init").exits(1).notes("agent index import");
    project.write("mcp.index.json", INDEX.replace("\"id\"", "\"xyz\""));
    project.agent("init").exits(1).notes("MISSING_FIELD");
    // The faulty line may contain a secret.
    project.write(
        "x.json",
        "{\"mcpServers\": {\"a\": {\"env\": {\"KEY\": \"sk-1\" \"\"}}}}",
    );
    let run = project
        .agent("init --client x.json")
        .exits(1)
        .notes("JSON_SYNTAX");
    assert!(!run.stderr.contains("sk-1"), "{run:#?}");
    project.agent("init --index nothing.json").exits(2);
    assert_eq!(project.files(), ["mcp.index.json", "x.json"]);
}
