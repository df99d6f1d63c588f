//! Pages that show files, commands and answers, as they are written.

use crate::project::{Project, Run};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of the repository that pages start from.
fn root(below: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(below)
}

fn page(name: &str) -> String {
    fs::read_to_string(root("docs").join(name)).unwrap()
}

/// Returns a project with files of a folder.
fn project(folder: &str, files: &[&str]) -> Project {
    let project = Project::empty();
    for file in files {
        project.write(file, fs::read(root(folder).join(file)).unwrap());
    }
    project
}

/// Returns the texts of a kind of block.
fn blocks<'p>(page: &'p str, kind: &str) -> Vec<&'p str> {
    let begin = format!("```{kind}\n");
    let opened = page.split(&*begin).skip(1);
    opened
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

/// Runs the commands of a page one after the other. Each must print what follows it, up to `...`, with this exit code.
fn shows(project: &Project, page: &str, codes: &[i32]) {
    let consoles = blocks(page, "console").concat();
    shows_all(project, &consoles, codes);
}

fn shows_all(project: &Project, console: &str, codes: &[i32]) {
    let commands: Vec<_> = format!("\n{console}")
        .split("\n$ ")
        .skip(1)
        .map(str::to_owned)
        .collect();
    assert_eq!(commands.len(), codes.len(), "{console}");
    for (command, code) in commands.iter().zip(codes) {
        let (line, expected) = command.split_once('\n').unwrap_or((command, ""));
        let run = match line.strip_prefix("agent ") {
            Some(line) => project.agent(line),
            None => Run::of(project.command_of("sh", ["-c", line])),
        };
        let run = run.exits(*code);
        let shown = joined(&format!("{}{}", run.stdout, run.stderr));
        match expected.trim_end().strip_suffix("\n...") {
            Some(begin) => assert!(shown.starts_with(&joined(begin)), "{line}: {shown}"),
            None => assert_eq!(shown, joined(expected), "{line}"),
        }
    }
}

/// Returns a text without empty lines: a terminal separates by them what a pipe does not.
fn joined(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Applies a diff without file names to the only file that has its old lines, or takes it back.
fn edit(project: &Project, diff: &str, is_undone: bool) {
    let lines = |left_out: char| {
        let kept = diff.lines().filter(|line| !line.starts_with(left_out));
        let kept = kept.map(|line| line.get(1..).unwrap_or_default());
        kept.collect::<Vec<_>>().join("\n")
    };
    let (mut old, mut new) = (lines('+'), lines('-'));
    if is_undone {
        std::mem::swap(&mut old, &mut new);
    }
    let mut edited = 0;
    for file in ["agents.md", "mcp.index.json"] {
        let text = project.read(file);
        if text.contains(&old) {
            project.write(file, text.replacen(&old, &new, 1));
            edited += 1;
        }
    }
    assert_eq!(edited, 1, "{diff}");
}

#[test]
fn the_tutorial() {
    let (page, project) = (
        page("tutorial.md"),
        project("examples/hello-agent", &["agents.md", "mcp.index.json"]),
    );
    let consoles = blocks(&page, "console");
    let diffs = blocks(&page, "diff");
    assert_eq!((consoles.len(), diffs.len()), (12, 5));
    for console in &consoles[..5] {
        shows_all(&project, console, &vec![0; console.matches("$ ").count()]);
    }
    edit(&project, diffs[0], false);
    shows_all(&project, consoles[5], &[1]);
    edit(&project, diffs[1], false);
    shows_all(&project, consoles[6], &[0]);
    shows_all(&project, consoles[7], &[0]);
    edit(&project, diffs[2], false);
    shows_all(&project, consoles[8], &[1]);
    edit(&project, diffs[2], true);
    edit(&project, diffs[3], false);
    shows_all(&project, consoles[9], &[1]);
    edit(&project, diffs[3], true);
    shows_all(&project, consoles[10], &[0]);
    edit(&project, diffs[4], false);
    shows_all(&project, consoles[11], &[1]);
}

#[test]
fn fixes() {
    let page = page("how-to/fixes.md");
    let project = project("examples/hello-agent", &["mcp.index.json"]);
    let text = blocks(&page, "yaml")[0];
    project.write("agents.md", text);
    shows(&project, &page, &[0, 0]);
}

/// The example of the documentation, whose task requires capabilities.
const TASK: &str = "tests/corpus/match/accept/the-example-of-the-documentation";
const FILES: [&str; 3] = ["mcp.index.json", "task.yaml", "health.yaml"];

#[test]
fn tenants() {
    let (page, project) = (page("how-to/tenants.md"), project(TASK, &FILES));
    project.write("tenant.yaml", blocks(&page, "yaml")[0]);
    let rego = blocks(&page, "rego");
    project.write("policy.rego", rego[0]);
    project.write("policy_test.rego", rego[1]);
    shows(&project, &page, &[0, 0, 0]);
}

#[test]
fn a_policy() {
    let (page, project) = (page("how-to/policy.md"), project(TASK, &FILES));
    let rego = blocks(&page, "rego");
    project.write("policy.rego", rego[0]);
    project.write("policy_test.rego", rego[1]);
    shows(&project, &page, &[1, 0, 0, 1]);
}

#[test]
fn a_newer_lock() {
    let project = project("examples/hello-agent", &["agents.md", "mcp.index.json"]);
    project.agent("resolve").exits(0);
    let index = project.read("mcp.index.json");
    project.write("mcp.index.json", index.replace("2.1.0", "2.2.0"));
    shows(&project, &page("how-to/upgrade.md"), &[1, 0, 0]);
}

#[test]
fn a_requirement_of_an_approval_is_in_the_lock() {
    let page = page("how-to/approvals.md");
    let project = Project::empty();
    let manifest = blocks(&page, "yaml")[0];
    project.write(
        "agents.md",
        format!("---\nname: a\nversion: 1.0.0\n{manifest}---\n"),
    );
    let index = r#"[{ "id": "shop", "version": "1.0.0", "endpoint": "https://shop.example/mcp", "categories": [],
        "scopes": [], "data": { "residency": "any", "maxSensitivity": "public" },
        "trust": { "signed": true, "publisher": "Shop" }, "capabilities": { "tools": { "refund": {
        "x-summit-capabilities": [{ "verb": "write", "resource": "x-refunds", "constraints": ["human_in_the_loop"] }]
        } } } }]"#;
    project.write("mcp.index.json", index);
    project.agent("resolve").exits(0);
    let lock = project.read("agents.lock");
    assert!(lock.contains("human_in_the_loop"), "{lock}");
    let index = project.read("mcp.index.json");
    project.write("mcp.index.json", index.replace("\"human_in_the_loop\"", ""));
    let refused = project.agent("resolve").exits(1);
    assert!(refused.stdout.contains("CONSTRAINT_UNMET"), "{refused:?}");
}
