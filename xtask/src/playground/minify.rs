//! The scripts and style sheets of the page without comments, blanks and long names. The editor's bundles are already.

use agent_pack::Workspace;
use anyhow::Result;
use std::path::Path;

use crate::browser::npm;
use crate::folder::{self, Files};
use crate::process;

/// Replaces the scripts and style sheets among the files.
pub(super) fn minify(workspace: &Workspace, target_dir: &Path, files: &mut Files) -> Result<()> {
    let folder = target_dir.join("minified");
    let is_text = |name: &str| name.ends_with(".css") || name.ends_with(".js");
    let texts = files.iter().filter(|(name, _)| is_text(name));
    let texts = texts.map(|(name, text)| (name.clone(), text.clone()));
    folder::write_all(&folder, &texts.collect())?;
    process::run(npm::node(workspace).arg("hooks/minify.mjs").arg(&folder))?;
    files.extend(folder::read_all(&folder)?);
    folder::remove(&folder)
}
