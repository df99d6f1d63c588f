//! Real MCP servers of npm and PyPI, which the tests install and call through the program. Without the
//! registries a part fails.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};

use super::run_named;
use crate::{apt, folder};

/// The tests of real servers, in the package of the program. Other parts leave them out.
pub(super) const TESTS: &str = "real_servers::";

/// The tests of the server that is the quickest to install.
const QUICKEST: &str = "real_servers::time::";

/// The folder of installed servers, below that of cargo for the files of tests.
const INSTALLED: &str = "target/tmp/real-servers";

/// Tests one server.
pub(super) fn one(workspace: &Workspace) -> Result<()> {
    check(workspace, QUICKEST)
}

/// The packages of Debian with a keyring that needs no desktop.
const KEYRING: [&str; 3] = ["dbus", "gnome-keyring", "libsecret-tools"];

/// Tests all servers.
pub(super) fn all(workspace: &Workspace) -> Result<()> {
    apt::install(&KEYRING).context("the tests need a keyring: install it")?;
    check(workspace, TESTS)
}

fn check(workspace: &Workspace, tests: &str) -> Result<()> {
    // Each run installs anew, so that it notices a registry that can't be reached.
    folder::remove(&workspace.root().join(INSTALLED))?;
    run_named(workspace, tests, &[])
}
