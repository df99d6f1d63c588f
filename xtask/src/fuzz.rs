//! `cargo xtask fuzz`: runs each target of `fuzz/` for a while.
//!
//! The folder has the layout of cargo-fuzz and works with it. Here its flags go to the stable
//! compiler, which needs neither cargo-fuzz nor a nightly toolchain. There is no sanitizer: the
//! engine has no unsafe code, and the targets look for panics, overflows and loops.

use agent_pack::Workspace;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::cargo;
use crate::{folder, process, status, toolchain};

/// The default time for each target, in seconds.
const DURATION: u32 = 60;

/// The time limit for one input, in seconds. A slower input counts as a failure.
const INPUT_TIMEOUT: u32 = 10;

/// The flags that report coverage to libFuzzer and enable all assertions.
const FLAGS: [&str; 8] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cdebug-assertions",
    "-Coverflow-checks",
];

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let seconds = match arguments {
        [] => DURATION,
        [seconds] => seconds
            .parse()
            .with_context(|| format!("`{seconds}` is not a number of seconds"))?,
        _ => bail!("the number of seconds is the only argument"),
    };
    let folder = workspace.root().join("fuzz");
    let targets = targets(&folder.join("fuzz_targets"))?;
    let programs = build(workspace, &folder)?;
    for target in &targets {
        status::doing("Fuzzing", format_args!("{target} for {seconds} seconds"));
        run(&folder, &programs.join(target), target, seconds)?;
    }
    Ok(())
}

/// Returns the names of the targets.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let files = folder::read_all(folder)?;
    let names = files.keys().filter_map(|name| name.strip_suffix(".rs"));
    Ok(names.map(str::to_owned).collect())
}

/// Builds all targets and returns the folder they are in.
fn build(workspace: &Workspace, folder: &Path) -> Result<PathBuf> {
    let host = toolchain::host("rustc")?;
    let target_dir = folder.join("target");
    let mut command = cargo(workspace);
    command
        .current_dir(folder)
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"))
        // With an explicit target, the flags do not apply to build scripts.
        .args(["build", "--release", "--bins", "--target", &host])
        .arg("--target-dir")
        .arg(&target_dir);
    process::run(&mut command)?;
    Ok(target_dir.join(host).join("release"))
}

fn run(folder: &Path, program: &Path, target: &str, seconds: u32) -> Result<()> {
    // libFuzzer writes new inputs to the first folder and only reads the second: the corpus in the
    // repository grows by hand.
    let found = folder.join("target/corpus").join(target);
    let kept = folder.join("corpus").join(target);
    let failures = folder.join("artifacts").join(target);
    for folder in [&found, &kept, &failures] {
        fs::create_dir_all(folder)?;
    }
    let mut command = Command::new(program);
    command
        .arg(format!("-artifact_prefix={}/", failures.display()))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={INPUT_TIMEOUT}"))
        .arg("-print_final_stats=1")
        .args([&found, &kept]);
    process::run(&mut command)
}
