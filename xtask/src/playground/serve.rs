//! Serves the playground on loopback, and builds it again after each change of a source.

use agent_pack::{Build, Workspace};
use anyhow::{Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use super::site::{self, Extent};
use crate::browser::npm;
use crate::{folder, status};

/// The interval between looks at the sources.
const POLL: Duration = Duration::from_millis(500);

/// The folders with sources of the playground.
const SOURCES: [&str; 4] = ["docs/reference/codes", "engine", "examples", "playground"];

/// The folders that builds and npm write.
const WRITTEN: [&str; 2] = ["node_modules", "target"];

/// Serves until the server ends. `arguments` are `--port N` or none.
pub(super) fn run(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let port = match arguments {
        [] => "8080",
        ["--port", port] => port,
        _ => bail!("`--port N` and `--dist` are the only arguments"),
    };
    let folder = workspace.root().join("target/quick/served");
    let mut built = build(workspace, &folder)?;
    let mut server = npm::node(workspace);
    let mut server = server
        .arg("hooks/serve.mjs")
        .arg(&folder)
        .arg(port)
        .spawn()?;
    loop {
        if let Some(ended) = server.try_wait()? {
            bail!("the server of the playground ended: {ended}");
        }
        thread::sleep(POLL);
        if newest(workspace) > built {
            // A change that does not compile waits for the next one.
            match build(workspace, &folder) {
                Ok(time) => built = time,
                Err(error) => {
                    status::error(&error);
                    built = newest(workspace);
                }
            }
        }
    }
}

/// Builds the page without its service worker, which would answer with earlier files. Returns the time of the
/// newest source.
fn build(workspace: &Workspace, served: &Path) -> Result<SystemTime> {
    let newest = newest(workspace);
    folder::write_all(
        served,
        &site::build(workspace, Build::Quick, Extent::Whole)?,
    )?;
    status::doing("Built", "the playground");
    Ok(newest)
}

/// Returns the time of the newest source. Sources that an editor replaces at the moment don't count.
fn newest(workspace: &Workspace) -> SystemTime {
    let mut newest = SystemTime::UNIX_EPOCH;
    let mut waiting: Vec<PathBuf> = SOURCES.map(|it| workspace.root().join(it)).into();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_written = WRITTEN.iter().any(|name| entry.file_name() == *name);
            match entry.metadata() {
                Ok(found) if found.is_dir() && !is_written => waiting.push(entry.path()),
                Ok(found) if found.is_file() => {
                    newest = newest.max(found.modified().unwrap_or(newest));
                }
                _ => {}
            }
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::newest;
    use agent_pack::{Workspace, write_if_changed};
    use std::time::SystemTime;

    #[test]
    fn only_sources_count() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path());
        assert_eq!(newest(&workspace), SystemTime::UNIX_EPOCH);
        let write = |name: &str| write_if_changed(&folder.path().join(name), b"").unwrap();
        write("playground/node_modules/built.js");
        assert_eq!(newest(&workspace), SystemTime::UNIX_EPOCH);
        write("engine/api/src/lib.rs");
        assert!(newest(&workspace) > SystemTime::UNIX_EPOCH);
    }
}
