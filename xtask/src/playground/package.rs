//! The engine as a package for npm: the module, its types, and what is written by hand.

use agent_pack::{Workspace, read};
use anyhow::{Context as _, Result};

use super::parts;
use crate::folder::Files;

const MANIFEST: &str = "package.json";

/// What the manifest has in the sources. All packages of the workspace have one version, which is
/// this program's too.
const NO_VERSION: &str = "\"version\": \"0.0.0\"";
const VERSION: &str = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");

/// The files of the package.
pub(super) fn files(workspace: &Workspace) -> Result<Files> {
    let mut files = parts::modules(workspace, parts::Kind::Api)?;
    files.extend(parts::written(workspace)?);
    files.remove(parts::WORKER);
    let manifest = files.remove(MANIFEST).unwrap_or_default();
    files.insert(MANIFEST.to_owned(), with_version(&manifest)?);
    files.insert(
        "LICENSE".to_owned(),
        read(&workspace.root().join("LICENSE"))?,
    );
    Ok(files)
}

fn with_version(manifest: &[u8]) -> Result<Vec<u8>> {
    let manifest = String::from_utf8_lossy(manifest);
    let (before, after) = manifest
        .split_once(NO_VERSION)
        .with_context(|| format!("the JavaScript API's {MANIFEST} must have `{NO_VERSION}`"))?;
    Ok(format!("{before}{VERSION}{after}").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::with_version;

    #[test]
    fn the_version_is_that_of_the_workspace() {
        let manifest = with_version(b"{ \"version\": \"0.0.0\" }\n").unwrap();
        assert_eq!(
            String::from_utf8(manifest).unwrap(),
            concat!("{ \"version\": \"", env!("CARGO_PKG_VERSION"), "\" }\n")
        );
        assert!(with_version(b"{}").is_err());
    }
}
