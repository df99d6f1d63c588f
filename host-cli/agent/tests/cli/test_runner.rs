//! `agent test-runner`: runners of third parties, judged by the engine, and built-in ones.

use crate::project::Project;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// The page with the runner that keeps the protocol.
const PAGE: &str = include_str!("../../../../docs/reference/runner.md");

#[test]
fn a_runner_keeps_the_protocol_or_fails_a_check() {
    let project = Project::empty();
    let runner = PAGE.split_once("```python\n").unwrap().1;
    let runner = runner.split_once("```").unwrap().0;
    for (name, text, passes) in [
        ("good", runner.to_owned(), true),
        ("silent", "#!/bin/sh\n".to_owned(), false),
        (
            "noisy",
            runner.replacen("import", "print('hello')\nimport", 1),
            false,
        ),
    ] {
        let path = project.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let tested = project.agent(&format!("test-runner {name} --format json"));
        let report = tested.exits(i32::from(!passes)).json();
        assert_eq!(report["passed"], passes, "{name}: {report}");
        assert!(report["checks"].as_array().unwrap().len() > 10, "{report}");
    }
}

#[test]
fn built_in_runners_pass() {
    let project = Project::empty();
    for language in ["python", "node"] {
        let tested = project.agent(&format!(
            "test-runner --built-in --lang {language} --format json"
        ));
        let report = tested.exits(0).json();
        assert_eq!(report["passed"], true, "{language}: {report}");
        assert!(report["checks"].as_array().unwrap().len() > 8, "{report}");
    }
}
