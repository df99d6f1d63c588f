//! Plans of programs.

use crate::request::{AMPLE, content, request};
use agent_planner::{Command, Limits, Planner, PlannerError, PlannerErrorKind as Kind};
use agent_way_out::Cancel;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A value that must be in no error.
const CANARY: &str = "canary-5f0c2e91d7a84b36";
/// Maximum time until a killed process is gone.
const GONE: Duration = Duration::from_secs(60);
/// Interval between two looks for something.
const LOOK: Duration = Duration::from_millis(5);

async fn run(command: Command, limits: &Limits) -> Result<Vec<u8>, PlannerError> {
    let planner = Planner::Command(command);
    assert!(!format!("{planner:?}").contains("canary"));
    planner
        .plan(&request(&content()), limits, &Cancel::never())
        .await
}

fn shell(script: &str) -> Command {
    Command::new(["/bin/sh", "-c", script])
}

async fn failure(script: &str) -> PlannerError {
    let mut command = shell(script);
    command.env.insert("SECRET".into(), CANARY.into());
    let error = run(command, &AMPLE).await.expect_err(script);
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("canary"), "{shown}");
    assert!(!shown.contains("5f0c2e91"), "{shown}");
    error
}

#[tokio::test]
async fn a_program_reads_the_request_and_writes_the_plan() {
    let script = "import json, sys\nr = json.load(sys.stdin)\nsys.stdout.write(json.dumps(r))";
    let command = Command::new(["/usr/bin/python3", "-c", script]);
    let plan = run(command, &AMPLE).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&plan).unwrap(), content());
}

#[tokio::test]
async fn output_comes_back_as_received() {
    for (script, expected) in [
        ("", &b""[..]),
        ("printf 'Sure! {}\\n'", b"Sure! {}\n"),
        ("printf '\\0\\377\\033[2J{}{}'", b"\0\xff\x1b[2J{}{}"),
        ("printf plan; printf noise >&2", b"plan"),
    ] {
        assert_eq!(
            run(shell(script), &AMPLE).await.unwrap(),
            expected,
            "{script}"
        );
    }
}

#[tokio::test]
async fn no_shell_reads_the_arguments() {
    let command = Command::new(["printf", "%s|", "$HOME", "a b", "*", ";exit 1", ""]);
    let plan = run(command, &AMPLE).await.unwrap();
    assert_eq!(plan, b"$HOME|a b|*|;exit 1||");
}

#[tokio::test]
async fn the_environment_is_path_and_what_is_listed() {
    let mut command = Command::new(["/usr/bin/env"]);
    let lines = async |command| {
        let plan = run(command, &AMPLE).await.unwrap();
        let text = String::from_utf8(plan).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    assert!(std::env::vars().count() > 1, "there is more to leave out");
    assert_eq!(lines(command.clone()).await, std::slice::from_ref(&path));
    command.env.insert("LISTED".into(), CANARY.into());
    let mut found = lines(command.clone()).await;
    found.sort();
    assert_eq!(found, [format!("LISTED={CANARY}"), path]);
    command.env = [("PATH".into(), "/nowhere".into())].into();
    assert_eq!(lines(command).await, ["PATH=/nowhere"]);
}

#[tokio::test]
async fn failures_quote_standard_error_without_values_of_the_environment() {
    let error = failure("printf 'plan'; printf '\\033[31mno key %s\\n' $SECRET >&2; exit 3").await;
    assert_eq!(error.kind, Kind::Failed);
    assert_eq!(
        error.message,
        "the command failed with exit code 3: <U+001B>[31mno key [redacted]"
    );
    let error = failure("exit 1").await;
    assert_eq!(error.message, "the command failed with exit code 1");
    let error = failure("kill -9 $$").await;
    assert_eq!(error.message, "the command was ended by signal 9");
    // The end says more than the beginning.
    let error =
        failure("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo last words >&2; exit 1").await;
    assert!(
        error.message.ends_with("xxx last words") || error.message.ends_with("xlast words"),
        "{error}"
    );
    assert!(error.message.chars().count() < 400, "{error}");
    // A secret at the edge of what is kept.
    for before in 0..40 {
        let script = format!(
            "printf %s $SECRET >&2; head -c $((4096 - {before})) /dev/zero | tr '\\0' x >&2; exit 1"
        );
        failure(&script).await;
        let script = format!(
            "printf %s $SECRET >&2; head -c $((300 - {before})) /dev/zero | tr '\\0' x >&2; exit 1"
        );
        let error = failure(&script).await;
        assert!(!error.message.contains("b36"), "{error}");
    }
}

#[tokio::test]
async fn programs_that_can_not_start_are_reported() {
    let error = run(Command::default(), &AMPLE).await.unwrap_err();
    assert_eq!(error.kind, Kind::InvalidConfiguration);
    for program in ["/no/such/program", "no-such-program", "/", "a\0b"] {
        let error = run(Command::new([program]), &AMPLE).await.unwrap_err();
        assert_eq!(error.kind, Kind::NotStarted, "{error}");
    }
}

#[tokio::test]
async fn neither_side_waits_for_the_other() {
    let mut content = content();
    content["goal"] = "x".repeat(1 << 20).into();
    let request = request(&content);
    let plan = async |script| {
        let planner = Planner::Command(shell(script));
        planner.plan(&request, &AMPLE, &Cancel::never()).await
    };
    // More than the pipes hold, on all of them.
    let script = "head -c 65000 /dev/zero; head -c 1000000 /dev/zero >&2; wc -c";
    let output = plan(script).await.unwrap();
    let read = request.to_json().unwrap().len();
    assert_eq!(output[65_000..], *format!("{read}\n").as_bytes());
    // Input that the program does not read.
    assert_eq!(plan("printf plan").await.unwrap(), b"plan");
    assert_eq!(plan("exec <&-; printf plan").await.unwrap(), b"plan");
}

#[tokio::test]
async fn output_has_a_limit() {
    let limits = Limits {
        plan_bytes: 5,
        ..AMPLE
    };
    assert_eq!(run(shell("printf 12345"), &limits).await.unwrap(), b"12345");
    let error = run(shell("printf 123456"), &limits).await.unwrap_err();
    assert_eq!(error.kind, Kind::TooLarge);
    let error = run(shell("while :; do echo yes; done"), &AMPLE)
        .await
        .unwrap_err();
    assert_eq!(error.kind, Kind::TooLarge);
}

/// A script that starts a process and writes both ids to a file, once both run.
fn parent_and_child(file: &Path, end: &str) -> String {
    let file = file.display();
    format!("sleep 1000 & echo $$ $! > {file}.new; mv {file}.new {file}; {end}")
}

async fn pids(file: &Path) -> Vec<u32> {
    let text = eventually("the ids", || fs::read_to_string(file).ok()).await;
    text.split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + GONE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until processes have ended. The machine may keep their entries for a parent that never looks.
async fn gone(pids: &[u32]) {
    assert_eq!(pids.len(), 2);
    for pid in pids {
        eventually("the process has ended", || {
            let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
                return Some(());
            };
            let state = stat.rsplit(')').next()?.split_whitespace().next()?;
            matches!(state, "Z" | "X").then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn the_whole_group_ends_with_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let limits = Limits {
        time: Duration::from_secs(2),
        ..AMPLE
    };
    let error = run(shell(&parent_and_child(&file, "wait")), &limits)
        .await
        .unwrap_err();
    assert_eq!(error.kind, Kind::Timeout);
    gone(&pids(&file).await).await;
    // Also one whose streams are closed.
    fs::remove_file(&file).unwrap();
    let script = parent_and_child(&file, "exec <&- >&- 2>&-; wait");
    let error = run(shell(&script), &limits).await.unwrap_err();
    assert_eq!(error.kind, Kind::Timeout);
    gone(&pids(&file).await).await;
}

#[tokio::test]
async fn the_whole_group_ends_with_a_cancellation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let planner = Planner::Command(shell(&parent_and_child(&file, "wait")));
    let (canceller, cancel) = Cancel::new();
    let request = request(&content());
    let (plan, pids) = tokio::join!(planner.plan(&request, &AMPLE, &cancel), async {
        let pids = pids(&file).await;
        canceller.cancel();
        pids
    });
    assert_eq!(plan.unwrap_err().kind, Kind::Cancelled);
    gone(&pids).await;
}

#[tokio::test]
async fn the_whole_group_ends_when_nobody_waits() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let planner = Planner::Command(shell(&parent_and_child(&file, "wait")));
    let request = request(&content());
    let never = Cancel::never();
    let pids = tokio::select! {
        plan = planner.plan(&request, &AMPLE, &never) => panic!("{plan:?}"),
        pids = pids(&file) => pids,
    };
    gone(&pids).await;
}

#[tokio::test]
async fn the_group_ends_with_its_leader() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    // The other process holds the outputs open.
    let script = parent_and_child(&file, "printf plan");
    assert_eq!(run(shell(&script), &AMPLE).await.unwrap(), b"plan");
    gone(&pids(&file).await).await;
}

#[tokio::test]
async fn a_program_starts_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("starts");
    let script = format!("echo start >> {}; exit 1", file.display());
    run(shell(&script), &AMPLE).await.unwrap_err();
    assert_eq!(fs::read_to_string(file).unwrap(), "start\n");
}
