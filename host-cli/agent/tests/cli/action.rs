//! What guards a lock elsewhere, by its own script: the action of GitHub, the template of GitLab, the hook before commits.

use crate::project::{MANIFEST, Project, Run};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The address of a playground, and how a link to a review there begins.
const PLAYGROUND: &str = "https://play.example/";
const LINK: &str = "\n[Review this change in the playground](https://play.example/#diff.1.";

/// Runs the script of the action in a project, with the commit that is compared.
fn action(project: &Project, base: &str) -> Run {
    Run::of(script(project, base))
}

/// Reads a file of the repository.
fn file(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).unwrap()
}

fn script(project: &Project, base: &str) -> Command {
    let action = file("actions/lock/action.yml");
    let (_, script) = action.split_once("      run: |\n").unwrap();
    let script: String = script
        .lines()
        .map(|line| format!("{}\n", line.trim()))
        .collect();
    let mut command = project.command_of("bash", ["-c", &script]);
    command
        .env("PROGRAM", env!("CARGO_BIN_EXE_agent"))
        .envs([
            ("URL", ""),
            ("SHA256", ""),
            ("DIRECTORY", "."),
            ("AUDIT", ""),
            ("PLAYGROUND", ""),
        ])
        .env("BASE", base)
        .env("RUNNER_TEMP", project.path("temp"))
        .env("GITHUB_OUTPUT", project.path("temp/output"))
        .env("GITHUB_STEP_SUMMARY", project.path("temp/summary.md"));
    command
}

fn git(project: &Project, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
    let mut command = Command::new("git");
    command.args(identity).args(arguments);
    let output = command.current_dir(project.path("")).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Resolves the documents of a project, commits them, and returns the commit.
fn committed(project: &Project) -> String {
    project.agent("resolve").exits(0);
    git(project, &["init", "--quiet", "."]);
    git(
        project,
        &["add", "agents.md", "mcp.index.json", "agents.lock"],
    );
    git(project, &["commit", "--quiet", "--message", "base"]);
    git(project, &["rev-parse", "HEAD"])
}

#[test]
fn a_change_of_a_lock_is_shown_and_one_without_a_lock_fails() {
    let project = Project::new();
    fs::create_dir(project.path("temp")).unwrap();
    let base = committed(&project);
    action(&project, &base).exits(0).answers_nothing();
    assert_eq!(project.read("temp/summary.md"), "### No differences\n");

    // The manifest asks for more, and its lock does not have it.
    let wider = MANIFEST.replace("[read:audiences]", "[read:audiences, write:audiences]");
    project.write("agents.md", wider);
    let run = action(&project, &base).exits(1);
    let first = run.stdout.lines().next().unwrap_or_default();
    assert!(first.starts_with("::error file=agents.lock"), "{run:?}");
    assert!(
        run.stdout.lines().all(|line| line.starts_with("::")),
        "{run:?}"
    );
    let sarif: serde_json::Value = serde_json::from_str(&project.read("temp/agent.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "SCOPE_WIDENED");
    let output = project.read("temp/output");
    assert!(output.starts_with("sarif="), "{output}");

    project.agent("resolve").exits(0);
    fs::remove_file(project.path("temp/summary.md")).unwrap();
    action(&project, &base).exits(0);
    let summary = project.read("temp/summary.md");
    assert!(
        summary.starts_with("### 1 difference, 1 gives the agent more access\n"),
        "{summary}"
    );
    assert!(!summary.contains("#diff"), "{summary}");

    let mut linked = script(&project, &base);
    linked.env("PLAYGROUND", PLAYGROUND);
    Run::of(linked).exits(0);
    let summary = project.read("temp/summary.md");
    assert!(summary.contains(LINK), "{summary}");
}

#[test]
fn an_archive_comes_over_https_alone() {
    let project = Project::new();
    fs::create_dir(project.path("temp")).unwrap();
    project.write("archive", "");
    let url = format!("file://{}", project.path("archive").display());
    let mut command = script(&project, "");
    let run = Run::of({
        command.env("URL", url);
        command
    });
    assert_ne!(run.code, Some(0));
    drop(run.answers_nothing());
    assert!(!project.has("temp/agent.tar.gz") && !project.has("temp/agent"));
}

/// Runs lines in a project, in which `agent` is in the search path.
fn shell(project: &Project, lines: &str, variables: &[(&str, &str)]) -> Run {
    let program = Path::new(env!("CARGO_BIN_EXE_agent")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = project.command_of("sh", ["-e", "-c", lines]);
    command.env("PATH", path).envs(variables.iter().copied());
    Run::of(command)
}

/// Returns the lines of the template's script.
fn template() -> String {
    let template = file("actions/gitlab/lock.yml");
    let (_, script) = template.split_once("  script:\n").unwrap();
    let program = template.split_once("    AGENT: ").unwrap().1;
    let program = program.lines().next().unwrap();
    script.replace("    - ", "").replace("$AGENT", program)
}

#[test]
fn a_template_and_a_hook_guard_the_lock() {
    let hooks = file(".pre-commit-hooks.yaml");
    let entry = hooks
        .lines()
        .find_map(|line| line.trim().strip_prefix("entry: "));
    let project = Project::new();
    project.agent("resolve").exits(0);
    for lines in [&template(), entry.unwrap()] {
        shell(&project, lines, &[]).exits(0);
    }
    let wider = MANIFEST.replace("[read:audiences]", "[read:audiences, write:audiences]");
    project.write("agents.md", wider);
    for lines in [&template(), entry.unwrap()] {
        let guarded = shell(&project, lines, &[]).exits(1);
        guarded.answers("SCOPE_WIDENED");
    }
}

#[test]
fn a_template_shows_what_a_merge_request_changes() {
    let project = Project::new();
    let base = committed(&project);
    let merge = ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &*base);
    let review = |variables: &[(&str, &str)]| {
        shell(&project, &template(), variables).exits(0);
        project.read("lock-review.md")
    };
    assert_eq!(review(&[merge]), "### No differences\n");
    let none = [("CI_MERGE_REQUEST_DIFF_BASE_SHA", "none")];
    assert_eq!(review(&none), "This is the first lock.\n");

    let wider = MANIFEST.replace("[read:audiences]", "[read:audiences, write:audiences]");
    project.write("agents.md", wider);
    project.agent("resolve").exits(0);
    let alone = review(&[merge, ("PLAYGROUND", "")]);
    let widened = "### 1 difference, 1 gives the agent more access\n";
    assert!(alone.starts_with(widened), "{alone}");
    assert!(!alone.contains("#diff"), "{alone}");
    let linked = review(&[merge, ("PLAYGROUND", PLAYGROUND)]);
    assert!(linked.starts_with(&alone), "{linked}");
    assert!(linked.contains(LINK), "{linked}");
}
