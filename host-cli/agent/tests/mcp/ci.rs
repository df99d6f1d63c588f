//! `mcp ci`, and the action of GitHub that calls it.

use crate::bed::{PATIENCE, mcp, supervisors};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Runs the script of the action with inputs.
fn action(folder: &Path, prompt: &str, policy: &str) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../actions/app/action.yml");
    let action = fs::read_to_string(path).unwrap();
    let script = action.split_once("      run: |\n").unwrap().1;
    let script: String = script
        .lines()
        .map(|line| format!("{}\n", line.trim()))
        .collect();
    let program = folder.join("agent");
    if !program.exists() {
        symlink(env!("CARGO_BIN_EXE_agent"), program).unwrap();
    }
    let search = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    Command::new("bash")
        .args(["-e", "-c", &script])
        .current_dir(folder)
        .env("PATH", search)
        .env("PROMPT", prompt)
        .env("LANGUAGE", "python")
        .env("TIMEOUT", "30")
        .env("POLICY", policy)
        .output()
        .unwrap()
}

#[test]
fn a_job_that_is_cancelled_leaves_no_app() {
    let folder = tempfile::tempdir().unwrap();
    // It plans an app that is never ready.
    let planner = r#"print('{"files":[{"path":"app.py","content":"import time\\ntime.sleep(600)\\n"}],"start":"python app.py","lang":"python"}')"#;
    let mut job = mcp()
        .args(["ci", "--timeout", "300", "wait", "--planner"])
        .args(["/usr/bin/python3", "-c", planner])
        .current_dir(folder.path())
        .env("XDG_CONFIG_HOME", folder.path())
        .env("XDG_DATA_HOME", folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + PATIENCE;
    while supervisors(folder.path()).is_empty() {
        assert!(Instant::now() < end, "the app is started");
        assert_eq!(job.try_wait().unwrap(), None);
        sleep(Duration::from_millis(20));
    }
    let ended = Command::new("kill").arg(job.id().to_string()).status();
    assert!(ended.unwrap().success());
    job.wait().unwrap();
    assert!(supervisors(folder.path()).is_empty());
}

#[test]
fn an_action_annotates_what_passes_and_what_fails() {
    let folder = tempfile::tempdir().unwrap();
    let passed = action(folder.path(), "It says 'hello; $(touch x) \"'", "");
    let text = String::from_utf8(passed.stdout).unwrap();
    let errors = String::from_utf8_lossy(&passed.stderr).into_owned();
    assert_eq!(passed.status.code(), Some(0), "{text}{errors}");
    assert!(
        text.starts_with("::notice title=mcp::the app passes"),
        "{text}"
    );
    assert!(!folder.path().join("x").exists());
    assert!(supervisors(folder.path()).is_empty());
    assert!(!folder.path().join(".mcpd/.state/daemon.json").exists());

    let failed = action(folder.path(), "Predict the weather", "");
    let text = String::from_utf8(failed.stdout).unwrap();
    assert_eq!(failed.status.code(), Some(1), "{text}");
    assert!(
        text.starts_with("::error title=mcp::the planner made no plan"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");

    let policy = folder.path().join("policy.yaml");
    fs::write(&policy, "policies:\n  verbs:\n    run.start: deny\n").unwrap();
    let denied = action(folder.path(), "It says 'hello'", "policy.yaml");
    let text = String::from_utf8(denied.stdout).unwrap();
    assert_eq!(denied.status.code(), Some(1), "{text}");
    assert!(text.contains("E_POLICY"), "{text}");
    assert_eq!(
        action(folder.path(), "It says 'hello'", "none.yaml")
            .status
            .code(),
        Some(2)
    );
}
