//! The tools of the playground besides the toolchain for wasm.
//!
//! | module | origin | users |
//! |---|---|---|
//! | [`npm`] | the npm registry, into `playground/node_modules` | the build and its tests, the smaller component |
//! | [`chromium`] | the system | the tests |
//!
//! The set-up of every build leaves them out: the programs and the component need none of it.

pub(crate) mod chromium;
pub(crate) mod npm;

use agent_pack::Workspace;
use anyhow::Result;

use crate::setup;

/// Installs the packages that build the playground.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    let _lock = setup::lock(workspace)?;
    npm::ensure(workspace)
}
