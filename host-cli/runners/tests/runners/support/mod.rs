//! What the tests share: the runner of the reference page.

pub(crate) mod engine;

use agent_runners::Runner;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../../../docs/reference/runner.md");

/// Returns the program on the reference page.
pub(crate) fn example() -> &'static str {
    let (_, rest) = PAGE.split_once("```python\n").expect("a program");
    rest.split_once("```\n").expect("its end").0
}

/// Writes a runner. It is there as long as the folder.
pub(crate) fn runner(text: &str) -> (Runner, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runner");
    write(&path, text);
    (Runner::new(&path).unwrap(), folder)
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
