//! The page of tenants, as it is written.

use crate::project::Project;
use std::fs;
use std::path::Path;

/// Returns the texts of a kind of block.
fn blocks<'p>(page: &'p str, kind: &str) -> Vec<&'p str> {
    let begin = format!("```{kind}\n");
    let opened = page.split(&*begin).skip(1);
    opened
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

#[test]
fn the_page_shows_what_happens() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/how-to/tenants.md")).unwrap();
    let case = root.join("tests/corpus/match/accept/the-example-of-the-documentation");
    let project = Project::empty();
    for file in ["mcp.index.json", "task.yaml", "health.yaml"] {
        project.write(file, fs::read(case.join(file)).unwrap());
    }
    project.write("tenant.yaml", blocks(&page, "yaml")[0]);
    let rego = blocks(&page, "rego");
    project.write("policy.rego", rego[0]);
    project.write("policy_test.rego", rego[1]);
    let consoles = blocks(&page, "console").concat();
    let commands: Vec<_> = consoles.split("$ agent ").skip(1).collect();
    assert_eq!(commands.len(), 3);
    for command in commands {
        let (line, expected) = command.split_once('\n').unwrap();
        let run = project.agent(line).exits(0);
        let shown = format!("{}{}", run.stdout, run.stderr);
        let expected = expected.trim_end().trim_end_matches("...");
        assert!(shown.starts_with(expected), "{line}: {shown}");
    }
}
