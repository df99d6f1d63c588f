//! The folder of a run: where it lies, and reading it.

use agent_host::Failure;
use agent_host::contract::evidence::EvidenceFile;
use agent_host::input::reason;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Maximum number of files, as the engine's.
const FILES_MAX: usize = 20_000;

/// Maximum size of all files, in bytes, as the engine's.
const BYTES_MAX: u64 = 256 << 20;

/// Maximum depth of folders. The folder of a run has one level of them.
const DEPTH_MAX: usize = 4;

/// Maximum number of characters of a name of a request or a run.
const NAME_MAX: usize = 64;

/// The folder of all runs, below the root of the evidence.
const ROOT: &str = "mova_agent";

/// Reads every file below a folder, ordered by path. No symbolic link is followed.
///
/// # Errors
///
/// When the folder can't be read, contains something else than files and folders, or exceeds a limit.
pub fn read(folder: &Path) -> Result<Vec<EvidenceFile>, Failure> {
    if !fs::metadata(folder).is_ok_and(|it| it.is_dir()) {
        let path = folder.display();
        return Err(Failure::new(format_args!("`{path}` is not a folder"))
            .help("name the folder of a run, as `agent run-plan` prints it"));
    }
    let mut reading = Reading {
        files: Vec::new(),
        left: BYTES_MAX,
    };
    reading.folder(folder, "", 0)?;
    reading.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(reading.files)
}

struct Reading {
    files: Vec<EvidenceFile>,
    /// The bytes that may still be read.
    left: u64,
}

impl Reading {
    fn folder(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), Failure> {
        if depth > DEPTH_MAX {
            return Err(limit(folder, format_args!("{DEPTH_MAX} levels of folders")));
        }
        for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
            let entry = entry.map_err(|error| unreadable(folder, &error))?;
            let path = entry.path();
            let metadata =
                fs::symlink_metadata(&path).map_err(|error| unreadable(&path, &error))?;
            // The engine reports a name that no run writes.
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if metadata.is_dir() {
                self.folder(&path, &format!("{name}/"), depth + 1)?;
            } else if metadata.is_file() {
                let content = self.file(&path, &metadata)?;
                self.files.push(EvidenceFile {
                    path: name,
                    content,
                });
            } else {
                let path = path.display();
                return Err(Failure::new(format_args!("`{path}` is not a regular file"))
                    .help("remove it: a run writes files and folders only"));
            }
            if self.files.len() > FILES_MAX {
                return Err(limit(folder, format_args!("{FILES_MAX} files")));
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, seen: &Metadata) -> Result<Vec<u8>, Failure> {
        let failed = |error| unreadable(path, &error);
        let file = File::open(path).map_err(failed)?;
        if !is_same(seen, &file.metadata().map_err(failed)?) {
            return Err(failed(io::Error::other(
                "it was replaced while it was read",
            )));
        }
        let mut content = Vec::new();
        let read = file.take(self.left + 1).read_to_end(&mut content);
        read.map_err(failed)?;
        let rest = self.left.checked_sub(content.len() as u64);
        self.left = rest.ok_or_else(|| limit(path, format_args!("{} MiB", BYTES_MAX >> 20)))?;
        Ok(content)
    }
}

/// Returns whether an open file is the one that was looked at, and no link in its place.
fn is_same(seen: &Metadata, open: &Metadata) -> bool {
    (seen.dev(), seen.ino()) == (open.dev(), open.ino())
}

/// Returns the folder of a run below the root of the evidence: the newest run of the request without a
/// run id.
///
/// # Errors
///
/// When a name is invalid, or there is no such run.
pub fn find(root: &Path, request_id: &str, run_id: Option<&str>) -> Result<PathBuf, Failure> {
    for (what, name) in [("request", Some(request_id)), ("run", run_id)] {
        if let Some(name) = name.filter(|it| !is_name(it)) {
            return Err(Failure::new(format_args!("{name:?} is not the id of a {what}")).help(
                "an id has 1 to 64 of `a-z`, `0-9`, `_` and `-`, and begins with a letter or digit",
            ));
        }
    }
    let runs = root.join(ROOT).join(request_id).join("runs");
    match run_id {
        Some(run_id) => existing(runs.join(run_id)),
        None => newest(&runs),
    }
}

/// Returns the folder of a run by its path, or the newest run of a request by that of the request.
///
/// # Errors
///
/// When the folder is neither.
pub fn resolve(folder: &Path) -> Result<PathBuf, Failure> {
    let runs = folder.join("runs");
    if runs.is_dir() {
        return newest(&runs);
    }
    existing(folder.to_owned())
}

/// Returns the newest run in a folder of runs: their names begin with the time.
fn newest(runs: &Path) -> Result<PathBuf, Failure> {
    let entries = fs::read_dir(runs).map_err(|error| unreadable(runs, &error))?;
    let folders = entries.flatten().filter(|it| it.path().is_dir());
    let names = folders.filter_map(|it| it.file_name().into_string().ok());
    match names.filter(|name| is_name(name)).max() {
        Some(name) => existing(runs.join(name)),
        None => Err(Failure::new(format_args!(
            "`{}` contains no run",
            runs.display()
        ))),
    }
}

fn existing(folder: PathBuf) -> Result<PathBuf, Failure> {
    if folder.join("episodes").is_dir() {
        return Ok(folder);
    }
    let path = folder.display();
    Err(
        Failure::new(format_args!("`{path}` is not the folder of a run"))
            .help("name a folder with `episodes`, below `mova_agent/REQUEST/runs`"),
    )
}

/// Returns whether a request or a run may have a name.
fn is_name(text: &str) -> bool {
    let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut bytes = text.bytes();
    bytes.next().is_some_and(fits)
        && text.len() <= NAME_MAX
        && bytes.all(|c| fits(c) || matches!(c, b'_' | b'-'))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let (path, reason) = (path.display(), reason(error));
    Failure::new(format_args!("can't read `{path}`: {reason}"))
}

fn limit(path: &Path, limit: std::fmt::Arguments<'_>) -> Failure {
    let path = path.display();
    Failure::new(format_args!("`{path}` exceeds the limit of {limit}"))
        .help("name the folder of one run")
}

#[cfg(test)]
mod tests {
    use super::{find, read, resolve};
    use std::fs;

    #[test]
    fn files_are_read_by_path_and_links_are_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("logs")).unwrap();
        fs::write(root.path().join("logs/b.log"), "b").unwrap();
        fs::write(root.path().join("a.json"), "{}").unwrap();
        let files = read(root.path()).unwrap();
        let paths: Vec<_> = files.iter().map(|it| &*it.path).collect();
        assert_eq!(paths, ["a.json", "logs/b.log"]);
        assert_eq!(files[1].content, b"b");
        std::os::unix::fs::symlink("/etc/hostname", root.path().join("link")).unwrap();
        let failure = read(root.path()).unwrap_err();
        assert!(failure.message.contains("not a regular file"));
        assert!(read(&root.path().join("absent")).is_err());
    }

    #[test]
    fn too_many_levels_are_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b/c/d/e/f")).unwrap();
        let failure = read(root.path()).unwrap_err();
        assert!(failure.message.contains("levels"), "{}", failure.message);
    }

    #[test]
    fn the_newest_run_is_found() {
        let root = tempfile::tempdir().unwrap();
        for run in ["1-a", "2-b", ".hidden"] {
            let run = format!("mova_agent/r/runs/{run}/episodes");
            fs::create_dir_all(root.path().join(run)).unwrap();
        }
        let runs = root.path().join("mova_agent/r/runs");
        assert_eq!(find(root.path(), "r", None).unwrap(), runs.join("2-b"));
        assert_eq!(
            find(root.path(), "r", Some("1-a")).unwrap(),
            runs.join("1-a")
        );
        let request = root.path().join("mova_agent/r");
        assert_eq!(resolve(&request).unwrap(), runs.join("2-b"));
        assert_eq!(resolve(&runs.join("1-a")).unwrap(), runs.join("1-a"));
        for (request, run) in [
            ("..", None),
            ("r", Some("../1-a")),
            ("r", Some("3")),
            ("q", None),
        ] {
            assert!(
                find(root.path(), request, run).is_err(),
                "{request} {run:?}"
            );
        }
        assert!(resolve(root.path()).is_err());
    }
}
