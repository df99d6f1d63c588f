//! Whole folders.

use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;

/// Removes a folder with all that is in it, if there is one.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("{} can't be removed", folder.display()))?;
    }
    Ok(())
}
