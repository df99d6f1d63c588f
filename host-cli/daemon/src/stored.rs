//! The tasks of a folder that no daemon serves.

use super::daemon::{GRACE, ending, row};
use super::memory::remembered;
use super::running::alone;
use super::task::Task;
use agent_host::contract::daemon::TaskState;
use agent_host::{Failure, Zone, clock, output};
use agent_syntax::json::Writer;
use agent_tasks::{Found, Memory, TaskId, Tasks};
use std::path::Path;

/// Returns the tasks of a folder as a daemon lists them, without one. Apps may run, and none has a URL.
///
/// # Errors
///
/// When the folder can't be read.
pub fn stored_tasks(root: &Path) -> Result<String, Failure> {
    let mut w = Writer::dense();
    let tasks = match root.exists() {
        true => tasks(root)?,
        // Nothing is made only to be listed.
        false => Vec::new(),
    };
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    w.object(|w| {
        w.key("tasks").array(|w| {
            for task in &tasks {
                row(w, task, &root, (None, None), None);
            }
        });
    });
    Ok(w.finish())
}

fn tasks(root: &Path) -> Result<Vec<Task>, Failure> {
    let tasks = Tasks::open(root).map_err(Failure::new)?;
    let mut found = Vec::new();
    for listed in tasks.list().map_err(Failure::new)? {
        let memory = listed.memory.filter(|_| listed.has_folder);
        let Some(task) = memory.and_then(|memory| remembered(listed.id.as_str(), &memory)) else {
            continue;
        };
        let may_run = matches!(
            task.state.get(),
            TaskState::Installing | TaskState::Starting | TaskState::Ready
        );
        if may_run {
            let folder = tasks.task(&listed.id).map_err(Failure::new)?;
            match folder.find() {
                Ok(Found::Running(_)) => {}
                // One that can't be read is no reason to list none.
                Err(error) => output::note(format_args!("{}: {error}", task.id)),
                Ok(ended) => {
                    let ending = ending(&ended);
                    task.state.set(match ending.is_failure {
                        true => TaskState::Failed,
                        false => TaskState::Ended,
                    });
                    task.reason.replace(Some(ending.reason));
                }
            }
        }
        found.push(task);
    }
    Ok(found)
}

/// Ends a task of a folder that no daemon serves, and none until it is done. Returns whether there is such a task.
///
/// # Errors
///
/// When its app can't be ended, or a daemon has just been started.
pub fn kill_stored(root: &Path, id: &str) -> Result<bool, Failure> {
    if !root.exists() {
        return Ok(false);
    }
    let tasks = Tasks::open(root).map_err(Failure::new)?;
    let _alone = alone(tasks.path())?;
    let id = TaskId::parse(id).map_err(Failure::new)?;
    let listed = tasks.list().map_err(Failure::new)?.into_iter();
    let mut listed = listed.filter(|it| it.id == id && it.has_folder);
    let Some(memory) = listed.next().and_then(|it| it.memory) else {
        return Ok(false);
    };
    let task = tasks.task(&id).map_err(Failure::new)?;
    task.await_supervisor().map_err(Failure::new)?;
    task.stop(GRACE).map_err(Failure::new)?;
    let ended = Memory {
        state: TaskState::Ended.name().to_owned(),
        changed_ms: clock(&Zone::default()).unix_ms,
        port: None,
        ..memory
    };
    task.remember(&ended).map_err(Failure::new)?;
    Ok(true)
}
