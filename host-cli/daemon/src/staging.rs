//! Files as the runner of a language writes them: into a folder of their own, before the app gets them \[2, 3\].

use super::daemon::Daemon;
use super::files::files_below;
use super::process::AppProcess;
use super::refusal::{Answered, Trouble, broken, refused, stored};
use super::runners::{failed, runner_of};
use super::task::Task;
use agent_host::Failure;
use agent_host::contract::daemon::{ErrorCode, FileChange, FileContent};
use agent_runners::built_in::File;
use agent_syntax::json::Writer;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::rc::Rc;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

/// The beginning of the names of these folders, in `.state`.
const PREFIX: &str = "staging-";

/// Maximum size of all files that a runner writes at a time, in bytes. A request has less.
pub(crate) const BYTES: u64 = 32 << 20;

/// A file of an app, by its path.
type Written = (String, FileContent);

impl Daemon {
    /// Has the runner write the files that changes add or replace. Returns the input of `fs.apply` that its files make;
    /// `None` if they are those of the changes.
    pub(crate) async fn staged(
        &self,
        task: &Rc<Task>,
        changes: &[FileChange],
    ) -> Answered<Option<String>> {
        let wanted = changes.iter().filter_map(|change| {
            let after = change.after.clone()?;
            Some((change.path.clone(), after))
        });
        let mut wanted: Vec<Written> = wanted.collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        let state = self.root.join(".state");
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(state);
        let folder = folder.map_err(|error| broken(Failure::internal(error)))?;
        let files = wanted.iter().map(|(path, after)| {
            let (path, content) = (path.clone(), after.bytes.clone());
            (File { path, content }, after.mode)
        });
        let files: Vec<_> = files.collect();
        let foreign = self.foreign(task);
        match foreign {
            Some(runner) => self.apply_by(runner, task, &files, folder.path()).await?,
            None => {
                let files: Vec<_> = files.into_iter().map(|(file, _)| file).collect();
                let process = AppProcess::of(self, task);
                let runner = runner_of(task.language);
                let applied = self.runners.apply(runner, folder.path(), &files, &process);
                applied.await.map_err(failed)?;
            }
        }
        wanted.sort_by(|a, b| a.0.cmp(&b.0));
        // The world of built-in runners has no modes: those of the request hold.
        let modes = foreign.is_none().then(|| {
            let modes = wanted.iter();
            let modes = modes.map(|(path, after)| (path.clone(), after.mode));
            modes.collect::<Vec<_>>()
        });
        let written = spawn_blocking(move || taken(folder, modes.as_deref()));
        let written = written
            .await
            .map_err(|error| broken(Failure::internal(error)))?;
        let written = written.map_err(|trouble| stored(ErrorCode::Fs, &*trouble))?;
        let is_same = |(a, b): (&Written, &Written)| {
            a.0 == b.0 && a.1.mode == b.1.mode && a.1.bytes == b.1.bytes
        };
        match written.len() == wanted.len() && written.iter().zip(&wanted).all(is_same) {
            true => Ok(None),
            false => request(&written).map(Some),
        }
    }
}

/// Removes what a daemon that was killed has left.
pub(crate) fn clear(root: &Path) -> io::Result<()> {
    for entry in root.join(".state").read_dir()? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            // What a runner made in it may be locked. It takes room and does no harm.
            let _ = agent_sandbox::remove_folder(&entry.path());
        }
    }
    Ok(())
}

/// Reads what a runner has written, in the order of paths, and removes the folder.
fn taken(folder: TempDir, modes: Option<&[(String, u32)]>) -> Result<Vec<Written>, Trouble> {
    const MODE: u32 = 0o644;
    const PERMISSIONS: u32 = 0o777;
    let mut all = 0;
    let mut written = Vec::new();
    for path in files_below(folder.path())? {
        let file = folder.path().join(&path);
        let metadata = fs::symlink_metadata(&file)?;
        all += metadata.len();
        if all > BYTES {
            return Err(format!("the runner wrote more than {BYTES} bytes").into());
        }
        let mode = match modes {
            Some(modes) => {
                let mut wanted = modes.iter();
                wanted.find(|(it, _)| *it == path).map_or(MODE, |it| it.1)
            }
            None => metadata.permissions().mode() & PERMISSIONS,
        };
        let bytes = fs::read(&file)?;
        written.push((path, FileContent { bytes, mode }));
    }
    agent_sandbox::remove_folder(folder.path())?;
    Ok(written)
}

/// Returns an input of `fs.apply` that writes files: the engine decides on them as on those of a client.
fn request(written: &[Written]) -> Answered<String> {
    let mut files = Vec::new();
    for (path, FileContent { bytes, mode }) in written {
        let Ok(content) = std::str::from_utf8(bytes) else {
            let message = format!("the runner wrote `{path}`, which is not a text");
            return Err(refused(
                ErrorCode::Fs,
                message,
                "have the runner write texts alone",
            ));
        };
        files.push((path, content, mode));
    }
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("writes").array(|w| {
            for (path, content, mode) in files {
                w.object(|w| {
                    w.key("content").string(content);
                    w.key("mode").number(*mode);
                    w.key("path").string(path);
                });
            }
        });
    });
    Ok(w.finish())
}
