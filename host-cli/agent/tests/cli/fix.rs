//! `--fix`, `--unsafe-fixes` and `--diff`.

use crate::project::{INDEX, MANIFEST, Project, Run};
use crate::writing::sabotage::Sabotage;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

/// A manifest with two misspelt keys, and what must survive: comments, quotes, the body, line ends.
const MISSPELT: &str = "\
---\r
# Owned by growth.\r
name: 'hello'\r
versoin: 1.0.0   # see CHANGES\r
requires:\r
  mcp:\r
    - category: audiences\r
      permisions: [read:audiences]\r
---\r
Body, with a key: versoin\r
";

fn mended() -> String {
    MISSPELT
        .replace("versoin: 1", "version: 1")
        .replace("permisions", "permissions")
}

fn misspelt() -> Project {
    let project = Project::new();
    project.write("agents.md", MISSPELT);
    project
}

/// The configuration of a tenant with a misspelt key.
const TENANT: &str = "tenants:\n  - {id: acme, teir: gold}\n";

#[test]
fn safe_fixes_keep_everything_else() {
    let project = misspelt();
    let path = project.path("agents.md");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    project
        .agent("validate --fix")
        .exits(0)
        .answers_nothing()
        .notes("applied 2 fixes to agents.md\n")
        .notes("no problems");
    assert_eq!(project.read("agents.md"), mended());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(project.files(), ["agents.md", "mcp.index.json"]);
}

#[test]
fn a_file_in_utf_16_becomes_utf_8() {
    let in_utf_16 = |text: &str, order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let marked = format!("\u{feff}{text}");
        marked.encode_utf16().flat_map(order).collect()
    };
    let sound = mended().replace("growth", "größe 🚀");
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let project = Project::new();
        project.write("agents.md", in_utf_16(&sound, order));
        project
            .agent("validate")
            .exits(1)
            .notes("the file is UTF-16, not UTF-8")
            .notes("`--fix` applies 1 fix");
        project
            .agent("validate --fix")
            .exits(0)
            .notes("applied 1 fix to agents.md\n")
            .notes("no problems");
        assert_eq!(project.read("agents.md"), sound);
    }
    // A unit is cut off.
    let project = Project::new();
    let mut cut = in_utf_16(&sound, u16::to_le_bytes);
    cut.pop();
    project.write("agents.md", cut);
    project.agent("validate --fix").exits(1).notes("iconv");
}

#[test]
fn a_second_run_has_nothing_to_fix() {
    let project = misspelt();
    project.agent("validate --fix").exits(0);
    let run = project.agent("validate --fix").exits(0);
    assert!(!run.stderr.contains("applied"), "{run:#?}");
    project.agent("validate --diff").exits(0).answers_nothing();
    assert_eq!(project.read("agents.md"), mended());
}

#[test]
fn a_command_without_the_options_changes_nothing() {
    let project = misspelt();
    project
        .agent("validate")
        .exits(1)
        .notes("`--fix` applies 2 fixes, and with `--diff` shows them\n");
    assert_eq!(project.read("agents.md"), MISSPELT);
    for line in ["validate -q", "validate --format json"] {
        let run = project.agent(line).exits(1);
        assert!(!run.stderr.contains("--fix"), "{run:#?}");
    }
    // Fixes can't be applied to standard input.
    let run = project.agent_reading("validate -", MISSPELT).exits(1);
    assert!(!run.stderr.contains("--fix"), "{run:#?}");
}

#[test]
fn what_no_fix_solves_stays_a_no() {
    let project = misspelt();
    let text = MISSPELT.replace("name: 'hello'\r\n", "");
    project.write("agents.md", &text);
    project
        .agent("validate --fix")
        .exits(1)
        .notes("applied 2 fixes to agents.md")
        .notes("MISSING_FIELD");
    project.write("agents.md", MANIFEST.replace("version: 1.0.0\n", ""));
    let before = project.read("agents.md");
    project.agent("validate --unsafe-fixes").exits(1);
    assert_eq!(project.read("agents.md"), before);
}

#[test]
fn unsafe_fixes_need_their_option() {
    const LINE: &str = "plan check --call plan.json";
    let plan =
        r#"{"type": "call_tool", "server": "acme", "tool": "search", "args": {"query": "mars"}}"#;
    let project = crate::plan::project();
    let broken = plan.replace("\"query\"", "\"x\": 1, \"qurey\"");
    project.write("plan.json", &broken);
    let lock = project.read("agents.lock");

    // The name is repaired; leaving out an argument is for the author to decide.
    project
        .agent(&format!("{LINE} --fix"))
        .exits(1)
        .notes("applied 1 fix to plan.json\n")
        .notes("ARGUMENT_UNKNOWN")
        .notes("`--unsafe-fixes` applies 1 fix");
    let repaired = broken.replace("qurey", "query");
    assert_eq!(project.read("plan.json"), repaired);

    project
        .agent(&format!("{LINE} --diff --unsafe-fixes"))
        .exits(0)
        .answers("+{\"type\": \"call_tool\"")
        .notes("would apply 1 fix to plan.json\n");
    assert_eq!(project.read("plan.json"), repaired);

    project
        .agent(&format!("{LINE} --unsafe-fixes"))
        .exits(0)
        .answers("may be called")
        .notes("applied 1 fix to plan.json\n");
    assert_eq!(project.read("plan.json"), plan);
    assert_eq!(project.read("agents.lock"), lock);
}

#[test]
fn a_diff_is_a_patch_and_writes_nothing() {
    let project = misspelt();
    let run = project
        .agent("resolve --diff")
        .exits(0)
        .answers("--- agents.md\n+++ agents.md\n")
        .answers("\n-versoin: 1.0.0   # see CHANGES\r\n+version: 1.0.0   # see CHANGES\r\n")
        .notes("would apply 2 fixes to agents.md")
        .notes("would write agents.lock");
    assert_eq!(project.read("agents.md"), MISSPELT);
    assert_eq!(project.files(), ["agents.md", "mcp.index.json"]);
    // The answer about the fixed texts is not part of the patch.
    assert!(!run.stdout.contains("acme"), "{run:#?}");

    // The exit code is that of the fixed texts.
    project.write("agents.md", MISSPELT.replace("read:", "delete:"));
    project
        .agent("resolve --diff")
        .exits(1)
        .answers("+version: 1.0.0")
        .notes("UNSATISFIED");
}

#[test]
fn git_applies_the_diff() {
    let project = misspelt();
    // A last line without its end, and a blank line in the context.
    let text = MISSPELT.replace("\r\nname", "\r\n\r\nname");
    let text = text.trim_end().replace("# Owned", "# Öwned");
    project.write("agents.md", &text);
    let patch = project.agent("validate --diff").exits(0).stdout;
    project.write("patch", patch);
    let applied = Command::new("git")
        .args(["apply", "-p0", "patch"])
        .current_dir(project.path(""))
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(applied.success());
    let expected = text
        .replace("versoin: 1", "version: 1")
        .replace("permisions", "permissions");
    assert_eq!(project.read("agents.md"), expected);
}

#[test]
fn several_files_are_fixed_in_one_run() {
    let project = misspelt();
    project.write("tenant.yaml", TENANT);
    project
        .agent("resolve --fix --tenant tenant.yaml")
        .exits(0)
        .notes("applied 2 fixes to agents.md\n")
        .notes("applied 1 fix to tenant.yaml\n")
        .notes("wrote agents.lock");
    assert_eq!(project.read("agents.md"), mended());
    assert_eq!(project.read("tenant.yaml"), TENANT.replace("teir", "tier"));
    assert!(project.has("agents.lock"));
}

#[test]
fn a_file_that_cannot_be_written_keeps_the_others() {
    const LINE: &str = "resolve --fix --tenant tenant.yaml";
    let project = misspelt();
    project.write("real.yaml", TENANT);
    symlink("real.yaml", project.path("tenant.yaml")).unwrap();
    let allow = |name: &str, mode| {
        fs::set_permissions(project.path(name), Permissions::from_mode(mode)).unwrap();
    };
    allow("", 0o777);
    allow("agents.md", 0o666);
    allow("real.yaml", 0o444);
    // Permissions do not restrict root.
    let mut command = project.command(LINE.split(' '));
    Sabotage::Unprivileged.apply_to(&mut command);
    Run::of(command)
        .exits(2)
        .answers_nothing()
        .notes("can't write `tenant.yaml`: permission denied");
    assert_eq!(project.read("agents.md"), MISSPELT);
    assert_eq!(project.read("real.yaml"), TENANT);
    assert!(!project.has("agents.lock"));
    // A link is followed.
    allow("real.yaml", 0o644);
    project.agent(LINE).exits(0);
    assert!(project.path("tenant.yaml").is_symlink());
    assert!(project.read("real.yaml").contains("tier: gold"));
}

#[test]
fn other_formats_keep_standard_output() {
    for format in ["json", "sarif", "github"] {
        let project = misspelt();
        let run = project
            .agent(&format!("validate --fix --format {format}"))
            .exits(0)
            .notes("applied 2 fixes to agents.md\n");
        match format {
            "github" => assert_eq!(run.stdout, ""),
            _ => assert!(run.json().is_object()),
        }
        assert_eq!(project.read("agents.md"), mended());
        project
            .agent(&format!("validate --diff --format {format}"))
            .exits(2)
            .answers_nothing();
    }
    let project = misspelt();
    project
        .agent("validate --fix --quiet")
        .exits(0)
        .notes_nothing();
}

#[test]
fn standard_input_is_wrong_usage() {
    let project = misspelt();
    for option in ["--fix", "--unsafe-fixes", "--diff"] {
        project
            .agent_reading(&format!("validate - {option}"), MISSPELT)
            .exits(2)
            .answers_nothing()
            .notes("standard input");
        project
            .agent_reading(&format!("resolve --index - {option}"), INDEX)
            .exits(2)
            .answers_nothing();
    }
    assert_eq!(project.read("agents.md"), MISSPELT);
    project.agent("resolve --fix --dry-run").exits(2);
}

#[test]
fn locks_and_policies_stay_as_they_are() {
    let project = Project::new();
    project.agent("resolve").exits(0);
    // Neither is a lock by its place on the command line.
    for name in ["agents.lock", "policy.rego"] {
        project.write(name, MISSPELT);
        project.agent(&format!("validate {name} --fix")).exits(1);
        let diff = project.agent(&format!("validate {name} --diff"));
        diff.exits(1).answers_nothing();
        assert_eq!(project.read(name), MISSPELT);
    }
    // A policy under another name.
    project.write("other", TENANT);
    project
        .agent("resolve --tenant other --policy other --fix")
        .exits(1);
    assert_eq!(project.read("other"), TENANT);
}

#[test]
fn a_lock_is_written_once_and_only_by_the_last_run() {
    let project = misspelt();
    project.write("agents.md", MISSPELT.replace("read:", "delete:"));
    project.agent("resolve --fix").exits(1);
    assert!(!project.has("agents.lock"));
    assert!(project.read("agents.md").contains("version: 1.0.0"));
}

#[test]
fn an_import_fixes_its_overlay_and_not_the_document() {
    let project = Project::empty();
    let document = r#"{"mcpServers":{"acme":{"url":"https://acme.example/mcp"}}}"#;
    let overlay = "\
servers:
  acme:
    version: 1.0.0
    categories: [audiences]
    scopes: [read:audiences]
    data: {residnecy: us-only, maxSensitivity: internal}
    trust: {signed: true, publisher: Acme}
";
    project.write(".mcp.json", document);
    project.write("overlay.yaml", overlay);
    let line = "index import .mcp.json --overlay overlay.yaml";
    project.agent(line).exits(1);
    project
        .agent(&format!("{line} --diff"))
        .answers("+    data: {residency: us-only")
        .notes("would write mcp.index.json")
        .exits(0);
    assert!(!project.has("mcp.index.json"));
    project
        .agent(&format!("{line} --fix"))
        .exits(0)
        .notes("applied 1 fix to overlay.yaml\n")
        .notes("wrote mcp.index.json");
    assert_eq!(
        project.read("overlay.yaml"),
        overlay.replace("residnecy", "residency")
    );
    assert_eq!(project.read(".mcp.json"), document);
}
