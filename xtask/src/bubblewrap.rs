//! bubblewrap, in which programs and servers run.

use anyhow::{Context as _, Result};

use crate::{apt, process, status};

/// The program, and the package of Debian that contains it.
const PROGRAM: &str = "bwrap";
const PACKAGE: &str = "bubblewrap";

/// Finds bubblewrap, or installs it with apt. Other systems than Linux have none, and need none: there
/// the tests of the sandbox are about its absence.
pub(crate) fn ensure() -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    if process::find(PROGRAM).is_none() {
        apt::install(&[PACKAGE]).context("the tests need bubblewrap: install it")?;
    }
    status::doing("Ready", "bubblewrap");
    Ok(())
}
