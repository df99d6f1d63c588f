//! The engine as an npm package: the module, its types, and handwritten files.

use agent_pack::{Build, Workspace, read};
use anyhow::{Context as _, Result};

use super::modules::{API, Compiler, POLICY};
use super::{site, source};
use crate::folder::{self, Files};

const MANIFEST: &str = "package.json";

/// The version line of the manifest in the sources. All packages of the workspace have this
/// program's version.
const NO_VERSION: &str = "\"version\": \"0.0.0\"";
const VERSION: &str = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");

/// Returns the files of the package.
pub(super) fn files(workspace: &Workspace, build: Build) -> Result<Files> {
    let compiler = Compiler::new(workspace, build)?;
    let mut files = compiler.typed_engine(API)?;
    let with_policies = compiler.typed_engine(&format!("{API},{POLICY}"))?;
    files.extend(site::within("policy/", with_policies));
    files.extend(folder::read_all(&source(workspace).join("worker/js"))?);
    files.remove("worker.js");
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
        .with_context(|| format!("the JavaScript API's {MANIFEST} must contain `{NO_VERSION}`"))?;
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
