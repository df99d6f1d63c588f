//! The playground for release: a folder for any static server, under any path.

use agent_pack::{Workspace, read};
use anyhow::{Context as _, Result};
use std::path::PathBuf;

use super::{budget, offline, package, policy, source, target_dir, trunk};
use crate::{component, folder, status};

const PAGE: &str = "index.html";

/// Returns the folder of the built playground.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("target/dist/playground")
}

/// Builds both folders, and fails if the playground exceeds its budget.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let dist = folder(workspace);
    // After a failure no old files must remain.
    folder::remove(&dist)?;
    // Trunk leaves files of an earlier version of a dependency there.
    folder::remove(&target_dir(workspace).join("wasm-bindgen"))?;
    let site = target_dir(workspace).join("site");
    trunk::run(workspace, "build", &site, &[])?;

    let mut files = folder::read_all(&site)?;
    let page = files.get_mut(PAGE).context("Trunk built no index.html")?;
    *page = policy::add(page)?;
    let template = read(&source(workspace).join("static").join(offline::NAME))?;
    let service_worker = offline::service_worker(&template, &files)?;
    files.insert(offline::NAME.to_owned(), service_worker);

    folder::write_all(&dist, &files)?;
    let package = workspace.root().join("target/dist/js");
    folder::write_all(&package, &package::files(workspace)?)?;
    for folder in [&dist, &package] {
        status::doing("Wrote", component::relative(workspace, folder).display());
    }
    budget::check(workspace, &dist)
}
