//! The files of a task, and addresses of its app.

use super::refusal::Trouble;
use agent_host::contract::daemon::{FileContent, PresentFile, SourceFile};
use agent_tasks::SourcePath;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

/// Maximum number of files of a task that are looked at.
pub(crate) const FILES: usize = 20_000;

/// Maximum size of a file that is scanned, in bytes. Secrets are in small ones.
const SCANNED_BYTES: u64 = 1 << 20;

/// Maximum size of all scanned files, in bytes.
const SCANNED_ALL_BYTES: u64 = 32 << 20;

/// Returns the address of a port of this machine.
pub(crate) fn at(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Returns the paths of all regular files below a folder, in order, with `/` between their segments.
/// The folder must not change meanwhile. Links are not followed, and names that are not Unicode are left out.
pub(crate) fn files_below(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let (kind, path) = (entry.file_type()?, format!("{prefix}{name}"));
            if kind.is_dir() {
                open.push((entry.path(), format!("{path}/")));
            } else if kind.is_file() {
                found.push(path);
            }
            if found.len() + open.len() > FILES {
                let message = format!("there are more than {FILES} files");
                return Err(io::Error::other(message));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns all files of an app, with the contents of those that are named.
pub(crate) fn present(
    task: &agent_tasks::Task,
    reads: &[String],
) -> Result<Vec<PresentFile>, Trouble> {
    let source = task.source()?;
    let paths = source.files(FILES)?;
    let files = paths.into_iter().map(|path| {
        let content = match reads.contains(&path) {
            true => source.read(&SourcePath::parse(&path)?)?,
            false => None,
        };
        let content = content.map(|version| {
            Ok::<_, Trouble>(FileContent {
                bytes: version.content()?,
                mode: version.mode,
            })
        });
        Ok(PresentFile {
            content: content.transpose()?,
            path,
        })
    });
    files.collect()
}

/// Returns the files of an app that are scanned before it starts.
pub(crate) fn scanned(task: &agent_tasks::Task) -> Result<Vec<SourceFile>, Trouble> {
    let contents = task
        .source()?
        .contents(FILES, SCANNED_BYTES, SCANNED_ALL_BYTES)?;
    let files = contents
        .into_iter()
        .map(|(path, content)| SourceFile { path, content });
    Ok(files.collect())
}
