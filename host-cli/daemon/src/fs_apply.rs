//! `fs.apply` \[2, 2.2\].

use super::daemon::Daemon;
use super::files::present;
use super::refusal::{Answered, refused};
use super::task::Task;
use agent_host::call;
use agent_host::contract::daemon::{ErrorCode, FileChange, TaskState, Verb};
use agent_tasks::{Change, SourcePath};
use std::rc::Rc;

impl Daemon {
    /// Changes files of a task, all of them or none.
    pub(crate) async fn fs_apply(&self, task: &Rc<Task>, input: &str) -> Answered<String> {
        let (mut changes, data) = self.changes(task, input).await?;
        if let Some(own) = self.staged(task, &changes).await? {
            changes.retain(|change| change.after.is_none());
            changes.extend(self.changes(task, &own).await?.0);
        }
        self.with_folder(task, ErrorCode::Fs, move |folder| {
            let changes = changes.into_iter().map(|change| {
                let path = SourcePath::parse(&change.path)?;
                Ok(match change.after {
                    Some(after) => Change::Write {
                        path,
                        content: after.bytes,
                        mode: after.mode,
                    },
                    None => Change::Remove { path },
                })
            });
            let changes = changes.collect::<Result<Vec<_>, agent_tasks::Error>>()?;
            if !changes.is_empty() {
                folder.source()?.apply(changes)?;
            }
            Ok(())
        })
        .await?;
        let changed = task.changing.take();
        let before = changed.map(|changed| task.requirements.replace(changed));
        task.before_change.replace(before);
        let next = match task.state.get() {
            TaskState::Planned | TaskState::Failed => TaskState::Applied,
            state => state,
        };
        self.go(task, next).await?;
        Ok(data)
    }

    /// Decides which files a request changes. Returns `data` of the response, too.
    async fn changes(&self, task: &Task, input: &str) -> Answered<(Vec<FileChange>, String)> {
        let reads = self.decider.decide(|engine| {
            let request = match call!(engine, daemon.apply_request.call_read(input.as_bytes()))? {
                Ok(request) => request,
                Err(refusal) => return Ok(Err(refusal)),
            };
            call!(engine, daemon.apply_request.call_reads(request)).map(Ok)
        })?;
        let files = self
            .with_folder(task, ErrorCode::Fs, move |folder| present(folder, &reads))
            .await?;
        self.decider.decide(|engine| {
            let request = match call!(engine, daemon.apply_request.call_read(input.as_bytes()))? {
                Ok(request) => request,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let changes = call!(engine, daemon.apply_request.call_changes(request, &files))?;
            let data = call!(engine, daemon.apply_request.call_data(request))?;
            Ok(changes.map(|changes| (changes, data)))
        })
    }

    /// Takes the last batch of changes back, once.
    pub(crate) async fn revert(&self, id: &str) -> Answered<String> {
        self.admit_verb(Verb::FsApply)?;
        let task = self.task(id)?;
        let _work = task.work.lock().await;
        let state = task.state.get();
        self.decider
            .decide(|engine| call!(engine, daemon.call_admit(state, Verb::FsApply)))?;
        let refusal = self
            .with_folder(&task, ErrorCode::Fs, |folder| {
                let source = folder.source()?;
                let Some(last) = source.batches()?.into_iter().max() else {
                    return Ok(Some("it has no changes".to_owned()));
                };
                if let Some(reverted) = source.record(last)?.reverts {
                    return Ok(Some(format!("batch {last} took batch {reverted} back")));
                }
                source.revert(last)?;
                Ok(None)
            })
            .await?;
        match refusal {
            None => {
                if let Some(before) = task.before_change.take() {
                    task.requirements.replace(before);
                }
                Ok(self.envelope(Ok("{}".to_owned())))
            }
            Some(why) => {
                let message = format!("the task `{id}` has nothing to take back: {why}");
                Err(refused(ErrorCode::Fs, message, "apply changes first"))
            }
        }
    }
}
