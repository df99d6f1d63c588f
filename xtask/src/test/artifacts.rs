//! Packs a release, and lets each artifact be installed and used in an empty place.

use agent_pack::Workspace;
use anyhow::Result;

use crate::{bubblewrap, dist, python};

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
