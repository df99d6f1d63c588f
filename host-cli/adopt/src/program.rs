//! The program that clients start: where it stays.

use agent_host::Failure;
use agent_host::atomic_write::StagedFile;
use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The parts of paths in caches that are pruned: those of `npx` and of `uvx`.
const CACHES: [&str; 4] = ["/_npx/", "/_cacache/", "/archive-v0/", "/.cache/"];

/// Returns the path at which this program stays: its own, or one below the user's data folder for a program in a cache
/// that is pruned.
///
/// # Errors
///
/// When the program does not know its path.
pub fn lasting_path(data: &Path, version: &str) -> Result<PathBuf, Failure> {
    let own = own_path()?;
    match is_pruned(&own) {
        true => Ok(data.join("agent/bin").join(version).join("agent")),
        false => Ok(own),
    }
}

/// Copies this program to the path at which it stays, and returns that path.
///
/// # Errors
///
/// When the program does not know its path, or can't be copied.
pub fn lasting_program(data: &Path, version: &str) -> Result<PathBuf, Failure> {
    let (own, target) = (own_path()?, lasting_path(data, version)?);
    let failed = |error: std::io::Error| {
        Failure::new(format_args!("can't write `{}`: {error}", target.display()))
    };
    if own == target {
        return Ok(own);
    }
    let bytes = fs::read(&own).map_err(failed)?;
    if fs::read(&target).is_ok_and(|it| it == bytes) {
        return Ok(target);
    }
    fs::create_dir_all(target.parent().unwrap_or(data)).map_err(failed)?;
    StagedFile::new(&target, &bytes)?.commit()?;
    fs::set_permissions(&target, Permissions::from_mode(0o755)).map_err(failed)?;
    Ok(target)
}

fn own_path() -> Result<PathBuf, Failure> {
    let own = env::current_exe();
    own.map_err(|error| Failure::new(format_args!("this program has no path: {error}")))
}

fn is_pruned(program: &Path) -> bool {
    let path = program.to_string_lossy();
    CACHES.iter().any(|cache| path.contains(cache))
}

#[cfg(test)]
mod tests {
    use super::is_pruned;
    use std::path::Path;

    #[test]
    fn a_program_of_a_cache_is_known() {
        for (path, expected) in [
            ("/home/a/.npm/_npx/0f/node_modules/.bin/agent", true),
            ("/home/a/.cache/uv/archive-v0/x/bin/agent", true),
            ("/home/a/.local/bin/agent", false),
            ("/usr/bin/agent", false),
        ] {
            assert_eq!(is_pruned(Path::new(path)), expected, "{path}");
        }
    }
}
