//! Builds the component a second time in another folder. Without the same bytes, the digest that we
//! publish means nothing.

use agent_pack::{Build, Workspace, World, pack};
use anyhow::{Result, bail};

use crate::{folder, setup};

/// The folders without sources: cargo's output, the tools of the set-up, and the history.
const LEFT_OUT: [&str; 4] = [".git", ".tools", "node_modules", "target"];

pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let toolchain = setup::ensure(workspace)?;
    let here = pack(
        workspace,
        &toolchain,
        &workspace.component_target_dir(),
        World::Engine,
        Build::Released,
    )?;

    // Kept for the next run, which then builds only changed sources.
    let place = workspace.elsewhere();
    let elsewhere = Workspace::at(place.join("agent"));
    let sources = folder::read_all_but(workspace.root(), &LEFT_OUT)?;
    folder::write_all(elsewhere.root(), &sources)?;
    let there = pack(
        &elsewhere,
        &toolchain,
        &place.join("target"),
        World::Engine,
        Build::Released,
    )?;

    if here != there {
        let equal = here
            .bytes()
            .iter()
            .zip(there.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        bail!(
            "the component depends on the folder it is built in: {} here, {} in {}, \
             different from byte {equal} on",
            here.sha256(),
            there.sha256(),
            elsewhere.root().display()
        );
    }
    Ok(())
}
