//! What the tests share: Python programs in every kind of sandbox, and a look at what is left of them.

#![allow(dead_code, reason = "each test file uses a part")]

use agent_sandbox::{Command, Finished, Limits, RunError, Sandbox, Tier};
use std::fs;
use std::future;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The interpreter of the system, which a sandbox can read.
pub(crate) const PYTHON: &str = "/usr/bin/python3";

/// Both tiers. A missing one fails the test: set-up installs what they need.
pub(crate) async fn tiers() -> [Sandbox; 2] {
    let [first, second] = Tier::ALL.map(Sandbox::of);
    [first.await.unwrap(), second.await.unwrap()]
}

/// Both tiers, with control groups where they can be had, and without.
pub(crate) async fn places() -> Vec<Sandbox> {
    let tiers = tiers().await;
    let without = tiers.map(Sandbox::without_control_groups);
    [tiers, without].concat()
}

/// Limits that no test reaches by chance on a busy machine.
pub(crate) fn ample() -> Limits {
    Limits {
        wall_time: Some(Duration::from_secs(120)),
        cpu_time: Some(Duration::from_secs(60)),
        ..Limits::default()
    }
}

/// A Python program. It has no bytecode to write and no folders of the user to look into.
pub(crate) fn python(program: &str) -> Command {
    let mut command = Command::new(PYTHON);
    command.arguments = ["-I", "-S", "-B", "-c", program].map(Into::into).to_vec();
    command
}

/// Runs a command without input within ample limits.
pub(crate) async fn run(sandbox: Sandbox, command: Command) -> Result<Finished, RunError> {
    run_within(sandbox, command, ample()).await
}

pub(crate) async fn run_within(
    sandbox: Sandbox,
    command: Command,
    limits: Limits,
) -> Result<Finished, RunError> {
    let never = future::pending();
    sandbox.run(command, Vec::new(), limits, never).await
}

/// Runs a Python program and returns its output. It has to end properly.
pub(crate) async fn output(sandbox: Sandbox, program: &str) -> String {
    output_of(sandbox, python(program)).await
}

pub(crate) async fn output_of(sandbox: Sandbox, command: Command) -> String {
    let finished = run(sandbox, command).await.unwrap();
    let log = String::from_utf8_lossy(&finished.stderr.bytes);
    assert!(
        finished.exit.success(),
        "{sandbox:?}: {}: {log}",
        finished.exit
    );
    String::from_utf8(finished.stdout).unwrap()
}

/// A word that is in no other command line.
pub(crate) fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("marker-{}-{number}-", process::id())
}

/// Counts the processes with a marker in their command line.
pub(crate) fn count_marked(marker: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .filter(|line| {
            line.windows(marker.len())
                .any(|part| part == marker.as_bytes())
        })
        .count()
}

/// Copies a program. This process must not have it open for writing: each child that another test
/// starts meanwhile would have it open too, and nobody could run it.
pub(crate) fn copy_program(from: &Path, to: &Path) {
    let status = process::Command::new("cp").args([from, to]).status();
    assert!(status.unwrap().success());
}

/// The user and group `nobody`, whom the kernel treats as any user.
const NOBODY: u32 = 65534;

/// Runs the tests of this file that match `filter` as an unprivileged user, unless this is one.
/// `skip` is in the name of the test that calls this.
pub(crate) fn run_unprivileged(filter: &str, skip: &str) {
    if !rustix::process::getuid().is_root() {
        return;
    }
    // The user may not reach the folder of the build.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("tests");
    copy_program(&std::env::current_exe().unwrap(), &program);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let output = process::Command::new(program)
        .args([filter, "--skip", skip])
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && !text.contains(" 0 passed"),
        "{text}"
    );
}
