//! The playground and the npm package as folders: for release, or quickly for tests.

use agent_pack::{Build, Workspace};
use anyhow::Result;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::site::{self, Extent};
use super::{budget, package};
use crate::{component, folder, status};

/// Returns the folder of the built playground. The npm package is in the folder `js` next to it.
pub(crate) fn folder(workspace: &Workspace, build: Build) -> PathBuf {
    let parent = match build {
        Build::Quick => "target/quick",
        Build::Released => "target/dist",
    };
    workspace.root().join(parent).join("playground")
}

/// Builds both folders for release, and fails if the playground exceeds its budget.
pub(crate) fn released(workspace: &Workspace) -> Result<()> {
    let turn = Turn::take(workspace)?;
    write(&turn, workspace, Build::Released)?;
    budget::check(workspace, &folder(workspace, Build::Released))
}

/// Builds both folders.
pub(crate) fn build(workspace: &Workspace, build: Build) -> Result<()> {
    write(&Turn::take(workspace)?, workspace, build)
}

/// Quickly builds the playground with the modules that most visits load, and returns its folder.
pub(crate) fn build_usual(workspace: &Workspace) -> Result<PathBuf> {
    let turn = Turn::take(workspace)?;
    let folder = workspace.root().join("target/quick/usual");
    write_site(&turn, workspace, Build::Quick, Extent::Usual, &folder)?;
    Ok(folder)
}

/// The turn of one build in a clone, which every build needs: a second one waits.
struct Turn(#[expect(dead_code, reason = "a lock until it is dropped")] File);

impl Turn {
    fn take(workspace: &Workspace) -> Result<Self> {
        folder::lock(&workspace.root().join("target/locks/playground")).map(Self)
    }
}

fn write(turn: &Turn, workspace: &Workspace, build: Build) -> Result<()> {
    let dist = folder(workspace, build);
    write_site(turn, workspace, build, Extent::Whole, &dist)?;
    let package = dist.with_file_name("js");
    folder::write_all(&package, &package::files(workspace, build)?)?;
    wrote(workspace, &package);
    Ok(())
}

fn write_site(
    _turn: &Turn,
    workspace: &Workspace,
    build: Build,
    extent: Extent,
    dist: &Path,
) -> Result<()> {
    // After a failure no old files must remain.
    folder::remove(dist)?;
    let mut files = site::build(workspace, build, extent)?;
    site::add_service_worker(workspace, &mut files)?;
    folder::write_all(dist, &files)?;
    wrote(workspace, dist);
    Ok(())
}

fn wrote(workspace: &Workspace, folder: &Path) {
    status::doing("Wrote", component::relative(workspace, folder).display());
}
