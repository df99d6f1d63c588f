//! The effects of verbs: what the engine orders is done here, without an order and without a decision.

use super::daemon::Daemon;
use super::files::{FILES, present, scanned};
use super::memory::memory;
use super::probes::probed;
use super::refusal::{Answered, Refusal, Trouble, broken, refused, stored};
use super::task::Task;
use super::traced::about;
use agent_effects::named_secrets;
use agent_host::contract::daemon::{
    Access, Action, ArtifactFile, ArtifactText, ErrorCode, FileChange, GatewayAddress, NewTask,
    OpenedTask, Outcome, PolicyFile, TaskChange, Transition,
};
use agent_host::contract::run::Secret;
use agent_host::{Failure, Zone, clock};
use agent_ownership::refuse_foreign;
use agent_packages::{AppPackages, Resolved};
use agent_tasks::{Artifact, Change, SourcePath, Tasks};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use tokio::select;
use tokio::sync::OwnedMutexGuard;
use tokio::task::spawn_blocking;

/// The permissions of other users.
const OTHERS: u32 = 0o077;

/// The effects of one verb, and what later ones need of earlier ones.
pub(crate) struct Effects<'d> {
    pub(crate) daemon: &'d Daemon,
    client: &'d str,
    /// The opened task.
    task: Option<Rc<Task>>,
    /// Keeps other verbs from changing the task, or from ending it.
    alone: Option<OwnedMutexGuard<()>>,
    /// What is to be installed.
    pub(crate) resolved: Option<Resolved>,
    /// What is installed.
    pub(crate) packages: Option<AppPackages>,
    /// The file of the component that the app is.
    pub(crate) component: Option<PathBuf>,
}

impl<'d> Effects<'d> {
    pub(crate) fn new(daemon: &'d Daemon, client: &'d str) -> Self {
        Self {
            daemon,
            client,
            task: None,
            alone: None,
            resolved: None,
            packages: None,
            component: None,
        }
    }

    /// Performs an action; `None` if the task was ended before it was done.
    pub(crate) async fn perform_or_cancelled(
        &mut self,
        action: Action,
    ) -> Option<Answered<Outcome>> {
        let task = self.task.clone();
        match (action, task) {
            (action @ (Action::Resolve(_) | Action::Install), Some(task)) => select! {
                done = self.perform(action) => Some(done),
                () = task.is_killed() => None,
            },
            (action, _) => Some(self.perform(action).await),
        }
    }

    async fn perform(&mut self, action: Action) -> Answered<Outcome> {
        let daemon = self.daemon;
        Ok(match action {
            Action::ReadPolicy => Outcome::Policy(daemon.policy_file()?),
            Action::OpenTask(it) => Outcome::Opened(self.open(&it.id, it.access).await?),
            Action::CreateTask(task) => Outcome::Created(self.create(task).await?),
            Action::Remember(change) => {
                let task = self.task()?;
                daemon.remember(&task, change).await?
            }
            Action::ReadFiles(reads) => {
                let read = self.in_folder(move |folder| present(folder, &reads));
                Outcome::Files(read.await?)
            }
            Action::ReadSources => {
                let read = self.in_folder(scanned);
                Outcome::Sources(read.await?)
            }
            Action::ListFiles(of_task) => {
                let list = self.in_folder(move |folder| {
                    Ok(match of_task {
                        true => folder.files(FILES)?,
                        false => folder.source()?.files(FILES)?,
                    })
                });
                Outcome::Paths(list.await?)
            }
            Action::Stage(files) => {
                let task = self.task()?;
                Outcome::Staged(daemon.stage(&task, files).await?)
            }
            Action::Commit(changes) => {
                let commit = self.in_folder(move |folder| {
                    let changes = changes.into_iter().map(changed);
                    let changes = changes.collect::<Result<Vec<_>, _>>()?;
                    folder.source()?.apply(changes)?;
                    Ok(())
                });
                commit.await?;
                Outcome::Done
            }
            Action::Revert => {
                let revert = self.in_folder(|folder| {
                    let source = folder.source()?;
                    let Some(last) = source.batches()?.into_iter().max() else {
                        return Ok(Some("it has no changes".to_owned()));
                    };
                    if let Some(reverted) = source.record(last)?.reverts {
                        return Ok(Some(format!("batch {last} took batch {reverted} back")));
                    }
                    source.revert(last)?;
                    Ok(None)
                });
                Outcome::Reverted(revert.await?)
            }
            Action::Write(ArtifactText { file, text }) => {
                let write = self.in_folder(move |folder| {
                    let text = text.as_bytes();
                    match file {
                        ArtifactFile::Plan => folder.write(Artifact::Plan, text)?,
                        ArtifactFile::Manifest => folder.write(Artifact::Manifest, text)?,
                        ArtifactFile::RunLog => folder.append(Artifact::RunLog, text)?,
                        ArtifactFile::ProbesLog => folder.append(Artifact::ProbesLog, text)?,
                    }
                    Ok(())
                });
                write.await?;
                Outcome::Done
            }
            Action::Plan(planning) => Outcome::Bytes(daemon.plan(planning).await?),
            Action::Reveal(names) => Outcome::Secrets(revealed(names).await?),
            Action::Resolve(resolution) => Outcome::Closure(self.resolve(resolution).await?),
            Action::Install => {
                self.install().await?;
                Outcome::Done
            }
            Action::Build(build) => {
                let task = self.task()?;
                let built = daemon.built(&task, build, self.packages.as_ref());
                self.component = Some(built.await?);
                Outcome::Done
            }
            Action::Start(start) => {
                let (packages, component) = (self.packages.take(), self.component.take());
                let task = self.task()?;
                let started = daemon.start(&task, start, packages, component);
                Outcome::Started(started.await?)
            }
            Action::Stop => {
                let task = self.task()?;
                daemon.stop(&task).await?;
                Outcome::Done
            }
            Action::Lease => {
                let task = self.task()?;
                let address = daemon.gateway.lease(&task.id).map_err(no_port)?;
                task.port.set(Some(address.port()));
                Outcome::Leased(GatewayAddress {
                    host: address.ip().to_string(),
                    port: address.port(),
                })
            }
            Action::Probe(probing) => Outcome::Probed(probed(probing).await?),
            Action::Finished(_) => Outcome::Done,
        })
    }

    /// Returns the opened task.
    pub(crate) fn task(&self) -> Answered<Rc<Task>> {
        let none = || broken(Failure::internal("no task was opened"));
        self.task.clone().ok_or_else(none)
    }

    /// Does something with the folder of the opened task.
    async fn in_folder<T: Send + 'static>(
        &self,
        work: impl FnOnce(&agent_tasks::Task) -> Result<T, Trouble> + Send + 'static,
    ) -> Answered<T> {
        let task = self.task()?;
        self.daemon.with_folder(&task, ErrorCode::Fs, work).await
    }

    async fn open(&mut self, id: &str, access: Access) -> Answered<OpenedTask> {
        let task = self.daemon.task(id)?;
        about(&task.id);
        match access {
            Access::Read => {}
            Access::Write => self.alone = Some(Arc::clone(&task.work).lock_owned().await),
            Access::End => {
                task.killed.notify_waiters();
                self.alone = Some(Arc::clone(&task.ending).lock_owned().await);
            }
        }
        let opened = self.daemon.opened(&task);
        self.task = Some(task);
        Ok(opened)
    }

    async fn create(&mut self, new: NewTask) -> Answered<String> {
        let task = Task::new(self.client.to_owned(), new, clock(&Zone::default()).unix_ms);
        let (root, remembered) = (self.daemon.root.clone(), memory(&task));
        let opened = spawn_blocking(move || {
            let folder = Tasks::open(&root)?.create(&remembered)?;
            Ok::<_, agent_tasks::Error>(folder.id().to_string())
        });
        let opened = opened
            .await
            .map_err(|error| broken(Failure::internal(error)))?;
        let id = opened.map_err(|error| stored(ErrorCode::Fs, &error))?;
        about(&id);
        let task = Rc::new(Task {
            id: id.clone(),
            ..task
        });
        let mut tasks = self.daemon.tasks.borrow_mut();
        tasks.insert(id.clone(), Rc::clone(&task));
        drop(tasks);
        self.daemon.show(&task, None);
        self.task = Some(task);
        Ok(id)
    }
}

impl Daemon {
    pub(crate) fn policy_file(&self) -> Answered<PolicyFile> {
        let policy = &self.policy;
        if policy.exists()
            && let Err(foreign) = refuse_foreign(policy)
        {
            let hint = "make the policy a file that only you can change";
            return Err(refused(ErrorCode::Policy, foreign.to_string(), hint));
        }
        let text = match fs::read(policy) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                let message = format!("the policy `{}` can't be read: {error}", policy.display());
                let hint = "make the file readable";
                return Err(refused(ErrorCode::Policy, message, hint));
            }
        };
        let mode = fs::metadata(policy).map(|it| it.permissions().mode());
        let is_private = mode.is_ok_and(|mode| mode & OTHERS == 0);
        Ok(PolicyFile {
            path: policy.display().to_string(),
            may_be_copied: text.is_some() && !is_private && is_below(policy, &self.root),
            text,
        })
    }

    fn opened(&self, task: &Task) -> OpenedTask {
        OpenedTask {
            id: task.id.clone(),
            state: task.state.get(),
            prompt: task.prompt.clone(),
            language: task.language,
            is_foreign: self.foreign(task).is_some(),
            deps_allowlist: task.deps_allowlist.clone(),
            start: task.started.borrow().clone(),
            plans: task.plans.borrow().clone(),
            locked: task.locked.borrow().clone(),
            port: task.port.get(),
            artifact_dir: self.artifact_dir(task),
            url: self.url(task),
        }
    }

    /// Changes what a task is, shows it, and remembers it on disk.
    async fn remember(&self, task: &Task, change: TaskChange) -> Answered<Outcome> {
        if let Some(Transition { from, to, reason }) = change.transition {
            let state = task.state.get();
            if state != from {
                return Ok(Outcome::Superseded(state));
            }
            task.state.set(to);
            task.reason.replace(reason);
        }
        if let Some(start) = change.start {
            task.started.replace(Some(start));
        }
        if let Some(probes) = change.probes {
            task.probes.replace(probes);
        }
        if let Some(plans) = change.plans {
            task.plans.replace(plans);
        }
        if let Some(locked) = change.locked {
            task.locked.replace(locked);
        }
        self.show(task, None);
        let _remembering = task.remembering.lock().await;
        let memory = memory(task);
        let remembered = self.with_folder(task, ErrorCode::Fs, move |folder| {
            Ok(folder.remember(&memory)?)
        });
        remembered.await?;
        if task.has_ended() {
            self.remove_builds(task).await;
        }
        Ok(Outcome::Done)
    }
}

async fn revealed(names: Vec<String>) -> Answered<Vec<Secret>> {
    let found = named_secrets(names).await;
    let found = found.map_err(|why| {
        let hint = "name the source of the secret in `servers.local.yaml`, or remove it from \
                    `tools.secrets` of the policy";
        refused(ErrorCode::Policy, why, hint)
    })?;
    Ok(found)
}

fn changed(change: FileChange) -> Result<Change, agent_tasks::Error> {
    let path = SourcePath::parse(&change.path)?;
    Ok(match change.after {
        Some(after) => Change::Write {
            path,
            content: after.bytes,
            mode: after.mode,
        },
        None => Change::Remove { path },
    })
}

/// Returns the failure of a task for which no port is free.
fn no_port(error: std::io::Error) -> Refusal {
    let hint = "end other tasks, or free a port from 61000 to 64999";
    refused(ErrorCode::Port, error.to_string(), hint)
}

/// Returns whether a file is below a folder, whatever their paths look like. One that can't be found out counts as such.
fn is_below(file: &Path, folder: &Path) -> bool {
    let (file, folder) = (file.canonicalize(), folder.canonicalize());
    match (file, folder) {
        (Ok(file), Ok(folder)) => file.starts_with(folder),
        _ => true,
    }
}
