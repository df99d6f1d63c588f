//! What the playground needs besides the toolchain for wasm.
//!
//! | what | where it comes from | who needs it |
//! |---|---|---|
//! | [`tools`] | the crate registry, into `.tools/bin` | the build of the playground |
//! | [`npm`] | the npm registry, into `playground/node_modules` | the build and its tests, the smaller component |
//! | [`chromium`] | the system | the tests |
//!
//! Not part of the set-up that every build makes sure of: the programs and the component need none
//! of it.

pub(crate) mod chromium;
pub(crate) mod npm;
pub(crate) mod tools;

use agent_pack::Workspace;
use anyhow::Result;

use crate::setup;

/// Makes sure that the playground can be built.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    let _lock = setup::lock(workspace)?;
    tools::ensure(workspace)?;
    npm::ensure(workspace)
}
