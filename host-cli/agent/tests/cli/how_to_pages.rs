//! Pages that show files, commands and answers, as they are written.

use crate::project::Project;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of the repository that pages start from.
fn root(below: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(below)
}

fn page(name: &str) -> String {
    fs::read_to_string(root("docs/how-to").join(name)).unwrap()
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
    let commands: Vec<_> = consoles.split("$ agent ").skip(1).collect();
    assert_eq!(commands.len(), codes.len());
    for (command, code) in commands.iter().zip(codes) {
        let (line, expected) = command.split_once('\n').unwrap();
        let run = project.agent(line).exits(*code);
        let shown = format!("{}{}", run.stdout, run.stderr);
        let shown = shown.trim_end();
        match expected.trim_end().strip_suffix("...") {
            Some(begin) => assert!(shown.starts_with(begin), "{line}: {shown}"),
            None => assert_eq!(shown, expected.trim_end(), "{line}"),
        }
    }
}

/// The example of the documentation, whose task requires capabilities.
const TASK: &str = "tests/corpus/match/accept/the-example-of-the-documentation";
const FILES: [&str; 3] = ["mcp.index.json", "task.yaml", "health.yaml"];

#[test]
fn tenants() {
    let (page, project) = (page("tenants.md"), project(TASK, &FILES));
    project.write("tenant.yaml", blocks(&page, "yaml")[0]);
    let rego = blocks(&page, "rego");
    project.write("policy.rego", rego[0]);
    project.write("policy_test.rego", rego[1]);
    shows(&project, &page, &[0, 0, 0]);
}

#[test]
fn a_policy() {
    let (page, project) = (page("policy.md"), project(TASK, &FILES));
    let rego = blocks(&page, "rego");
    project.write("policy.rego", rego[0]);
    project.write("policy_test.rego", rego[1]);
    shows(&project, &page, &[1, 0]);
}

#[test]
fn a_newer_lock() {
    let project = project("examples/hello-agent", &["agents.md", "mcp.index.json"]);
    project.agent("resolve").exits(0);
    let index = project.read("mcp.index.json");
    project.write("mcp.index.json", index.replace("2.1.0", "2.2.0"));
    shows(&project, &page("upgrade.md"), &[1, 0, 0]);
}

#[test]
fn a_requirement_of_an_approval_is_in_the_lock() {
    let page = page("approvals.md");
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
