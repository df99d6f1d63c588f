//! Machines that don't give every tier: this program runs itself where something is missing.

use agent_sandbox::{Obstacle, Tier, check};
use std::io::Write;
use std::process::Command;

/// Set in the environment of the program that reports.
const REPORT: &str = "SANDBOX_TEST_REPORT";

/// Prints what this machine gives, one line for each tier, if asked for.
#[tokio::test]
async fn report() {
    if std::env::var_os(REPORT).is_none() {
        return;
    }
    let mut text = String::new();
    for tier in check().await.tiers {
        let state = match tier.trial {
            Ok(()) => "available".to_owned(),
            Err(reason) => {
                assert!(reason.to_string().contains(&reason.obstacle.to_string()));
                format!("{:?}: {}", reason.obstacle, reason.detail)
            }
        };
        text.push_str(&format!("\n{} {state}\n", tier.tier));
    }
    std::io::stdout().write_all(text.as_bytes()).unwrap();
}

/// Returns the line of the bubblewrap tier after a change of the machine, a shell command in
/// namespaces of its own. The Landlock tier has to be available all the same.
fn bubblewrap_after(change: &str) -> String {
    let script = format!("{change} && exec \"$@\"");
    let output = Command::new("unshare")
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            &script,
            "sh",
        ])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "unavailable::report", "--nocapture"])
        .env(REPORT, "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |tier: Tier| {
        let line = text.lines().find_map(|line| line.strip_prefix(tier.name()));
        line.unwrap_or_else(|| panic!("{text}{:?}", output.stderr))
            .trim()
    };
    assert_eq!(line(Tier::Landlock), "available");
    line(Tier::Bubblewrap).to_owned()
}

/// Returns the change that replaces bubblewrap by another file.
fn replace(file: &str) -> String {
    format!("mount --bind {file} $(command -v bwrap)")
}

#[test]
fn nothing_is_missing_without_a_change() {
    assert_eq!(bubblewrap_after("true"), "available");
}

#[test]
fn missing_user_namespaces_are_named() {
    let line = bubblewrap_after("echo 0 > /proc/sys/user/max_user_namespaces");
    assert!(line.starts_with("UserNamespaces: "), "{line}");
    assert!(Obstacle::UserNamespaces.remedy().is_some());
}

#[test]
fn a_missing_program_is_named() {
    let line = bubblewrap_after(&replace("/dev/null"));
    assert_eq!(line, "BubblewrapMissing:");
    let remedy = Obstacle::BubblewrapMissing.remedy().unwrap();
    assert!(remedy.contains("apt install bubblewrap"));
}

/// Returns the line after a change to another program instead of bubblewrap.
fn fake(script: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bwrap");
    // Written by a process of its own: a child of another test could have the file open for
    // writing, and then nobody can run it.
    let status = Command::new("sh")
        .args(["-c", "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh"])
        .arg(format!("#!/bin/bash\n{script}"))
        .arg(&file)
        .status();
    assert!(status.unwrap().success());
    bubblewrap_after(&replace(file.to_str().unwrap()))
}

#[test]
fn a_sandbox_that_does_not_start_is_refused() {
    let line = fake("echo 'bwrap: something new is wrong' >&2; exit 1");
    assert_eq!(line, "Trial: something new is wrong");
    let line = fake("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1");
    assert!(line.starts_with("UserNamespaces: setting up"), "{line}");
}

#[test]
fn a_sandbox_that_starts_without_fences_is_refused() {
    let line = fake(
        r#"
status=$2 block=$4
[ "$1" = --json-status-fd ] || exit 0
echo "{ \"child-pid\": $$ }" >&$status
read -r -n 1 -u $block
while [ "$1" != -- ]; do shift; done
shift
LEAK=1 "$@"
code=$?
echo "{ \"exit-code\": $code }" >&$status
exit $code"#,
    );
    assert!(line.starts_with("OpenFence: "), "{line}");
    for fence in ["LEAK", "read", "changed", "connection"] {
        assert!(line.contains(fence), "{line}");
    }
}
