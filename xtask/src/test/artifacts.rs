//! Packs a release, and lets each artifact be installed and used in an empty place.

use agent_pack::{Workspace, scrub};
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::thread;

use crate::{bubblewrap, cargo, dist, process, python};

/// The folder of the tests, with the packages that verify.
const FOLDER: &str = "tests/artifacts";

/// The name of the environment with these packages.
const ENVIRONMENT: &str = "python-artifacts";

/// The variable that names the release to the tests.
const DIST: &str = "DIST";

pub(super) fn check(workspace: &Workspace) -> Result<()> {
    bubblewrap::ensure()?;
    dist::command(workspace, &[])?;
    let folder = workspace.root().join(dist::DIST);
    python::test(workspace, ENVIRONMENT, FOLDER, &[(DIST, folder)])
}

/// Packs the release of this commit twice at once, here and from a clone in another folder with tools of its own.
pub(super) fn is_reproducible(workspace: &Workspace) -> Result<()> {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(workspace.root()).args(arguments);
        git
    };
    let changed = process::output(&mut git(&["status", "--porcelain"]))?;
    ensure!(
        changed.is_empty(),
        "a release is made of a commit, and these files differ:\n{changed}"
    );
    // Kept for the next run, which then builds only changed sources.
    let elsewhere = Workspace::at(workspace.elsewhere().join("release"));
    if !elsewhere.root().exists() {
        process::run(git(&["clone", "--quiet", "."]).arg(elsewhere.root()))?;
    }
    for step in [
        &["fetch", "--quiet", "origin", "HEAD"][..],
        &["reset", "--quiet", "--hard", "FETCH_HEAD"],
    ] {
        process::run(git(step).current_dir(elsewhere.root()))?;
    }
    let mut pack = cargo::cargo(&elsewhere);
    scrub(&mut pack).args(["xtask", "dist"]);
    // The last steps of each build use one core.
    let (packed_here, packed_there) = thread::scope(|scope| {
        let there = scope.spawn(|| process::run(&mut pack));
        (dist::command(workspace, &[]), there.join())
    });
    packed_here?;
    packed_there.expect("a run does not panic")?;

    let sums = |workspace: &Workspace| {
        let path = workspace.root().join(dist::DIST).join(dist::SUMS);
        let text = fs::read_to_string(path)?;
        anyhow::Ok(text.lines().map(str::to_owned).collect::<BTreeSet<_>>())
    };
    let (here, there) = (sums(workspace)?, sums(&elsewhere)?);
    let differing: Vec<_> = here.symmetric_difference(&there).cloned().collect();
    ensure!(
        differing.is_empty(),
        "two releases of one commit differ:\n{}",
        differing.join("\n")
    );
    Ok(())
}
