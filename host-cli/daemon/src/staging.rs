//! Files as the runner of a language writes them: into a folder of their own, before the app gets them \[2, 3\].

use super::daemon::Daemon;
use super::files::files_below;
use super::process::AppProcess;
use super::refusal::{Answered, Trouble, broken, stored};
use super::runners::{failed, runner_of};
use super::task::Task;
use agent_host::Failure;
use agent_host::contract::daemon::{ErrorCode, FileContent, Staged, StagedFile};
use agent_runners::built_in::File;
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

impl Daemon {
    /// Has the runner write files into a folder of their own. Returns what it wrote, in the order of paths.
    pub(crate) async fn stage(&self, task: &Rc<Task>, files: Vec<StagedFile>) -> Answered<Staged> {
        let state = self.root.join(".state");
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(state);
        let folder = folder.map_err(|error| broken(Failure::internal(error)))?;
        let reply = match self.foreign(task) {
            Some(runner) => Some(self.apply_by(runner, task, &files, folder.path()).await?),
            None => {
                let files = files.iter().map(|file| File {
                    path: file.path.clone(),
                    content: file.content.bytes.clone(),
                });
                let files: Vec<_> = files.collect();
                let process = AppProcess::of(self, task);
                let runner = runner_of(task.language);
                let applied = self.runners.apply(runner, folder.path(), &files, &process);
                applied.await.map_err(failed)?;
                None
            }
        };
        // The world of built-in runners has no modes: those of the request hold.
        let modes = reply.is_none().then_some(files);
        let written = spawn_blocking(move || taken(folder, modes.as_deref()));
        let written = written
            .await
            .map_err(|error| broken(Failure::internal(error)))?;
        Ok(Staged {
            result: written.map_err(|trouble| stored(ErrorCode::Fs, &*trouble)),
            reply,
        })
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
fn taken(folder: TempDir, modes: Option<&[StagedFile]>) -> Result<Vec<StagedFile>, Trouble> {
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
                let wanted = wanted.find(|it| it.path == path);
                wanted.map_or(MODE, |it| it.content.mode)
            }
            None => metadata.permissions().mode() & PERMISSIONS,
        };
        let bytes = fs::read(&file)?;
        let content = FileContent { bytes, mode };
        written.push(StagedFile { path, content });
    }
    agent_sandbox::remove_folder(folder.path())?;
    Ok(written)
}
