//! `run.start` \[2, 2.3\].

use super::daemon::Daemon;
use super::files::{FILES, scanned};
use super::grants::Grants;
use super::process::AppProcess;
use super::refusal::{Answered, refused};
use super::runners::{failed, runner_of};
use super::task::Task;
use super::traced::stage;
use agent_host::call;
use agent_host::contract::daemon::{
    ErrorCode, Failure, FindingSeverity, Language, Manifest, RunLimit, Running, StartContent,
    TaskState,
};
use agent_packages::AppPackages;
use agent_runners::built_in;
use agent_sandbox::control_groups;
use agent_tasks::{Artifact, Run};
use std::path::PathBuf;
use std::rc::Rc;
use tokio::select;

/// What an app starts with.
struct Prepared {
    packages: Option<AppPackages>,
    /// The file of the component that the app is.
    component: Option<PathBuf>,
}

impl Daemon {
    /// Starts the app of a task, and waits until it is ready.
    pub(crate) async fn run_start(&self, task: &Rc<Task>, input: &str) -> Answered<String> {
        // The share of a component needs no control group.
        let has_share = self.is_component(task) || control_groups().cpu_percent;
        let unenforceable: &[RunLimit] = match has_share {
            true => &[],
            false => &[RunLimit::CpuPct],
        };
        let content = self.decider.decide(|engine| {
            let request = match call!(engine, daemon.start_request.call_read(input.as_bytes()))? {
                Ok(request) => request,
                Err(refusal) => return Ok(Err(refusal)),
            };
            if let Err(refusal) = call!(
                engine,
                daemon
                    .start_request
                    .call_check_limits(request, unenforceable)
            )? {
                return Ok(Err(refusal));
            }
            call!(engine, daemon.start_request.call_content(request)).map(Ok)
        })?;
        let grants = self.grants(content.denies_egress).await?;
        stage("scan", self.scan(task, &grants)).await?;
        if task.state.get() == TaskState::Ready {
            self.stop(task).await?;
        }
        task.started.replace(Some(content.cmd.clone()));
        let prepared = match self.prepare(task, &content, &grants).await {
            Ok(prepared) => prepared,
            // It may have ended between two steps, which then fail for want of what was removed.
            Err(_) if task.has_ended() => {
                self.remove_builds(task).await;
                return Err(was_ended());
            }
            Err(refusal) => {
                self.give_up(task, &refusal.message).await;
                return Err(refusal);
            }
        };
        self.go(task, TaskState::Starting).await?;
        let started = self.started(task, &content, prepared, grants);
        match stage("start", started).await {
            Ok(run) => {
                self.show(task, Some(&run.socket));
                self.announced(task, &content.cmd, &run).await
            }
            Err(refusal) => {
                self.give_up(task, &refusal.message).await;
                Err(refusal)
            }
        }
    }

    /// Serves an app that is ready, or ends it.
    pub(crate) async fn announced(
        &self,
        task: &Rc<Task>,
        cmd: &str,
        run: &Run,
    ) -> Answered<String> {
        let answered = self.announce(task, cmd, run).await;
        if let Err(refusal) = &answered {
            self.give_up(task, &refusal.message).await;
        }
        answered
    }

    /// Ends an app that can't be served. The task may have been ended in the meantime.
    pub(crate) async fn give_up(&self, task: &Rc<Task>, reason: &str) {
        let _ = self.stop(task).await;
        if !task.has_ended() {
            task.reason.replace(Some(reason.to_owned()));
        }
        let _ = self.go(task, TaskState::Failed).await;
    }

    /// Looks for secrets and dangerous calls in the files of an app.
    async fn scan(&self, task: &Rc<Task>, grants: &Grants) -> Answered<()> {
        let files = self.with_folder(task, ErrorCode::Fs, scanned).await?;
        grants.refuse_in_files(&files)?;
        let scanned = self
            .decider
            .ask(|engine| call!(engine, daemon.call_scan(&files)))?;
        let mut log = String::new();
        for finding in &scanned.findings {
            let kind = match finding.severity {
                FindingSeverity::Blocks => "refused",
                FindingSeverity::Warns => "warning",
            };
            let (path, line, column) = (&finding.path, finding.line, finding.column);
            let (rule, message) = (&finding.rule, &finding.message);
            log.push_str(&format!(
                "mcpd: {kind}: {path}:{line}:{column}: {message} ({rule})\n"
            ));
        }
        if !log.is_empty() {
            self.with_folder(task, ErrorCode::Fs, move |folder| {
                Ok(folder.append(Artifact::RunLog, log.as_bytes())?)
            })
            .await?;
        }
        scanned.refusal.map_or(Ok(()), Err)
    }

    /// Returns whether an app is a component. A foreign runner starts programs.
    fn is_component(&self, task: &Task) -> bool {
        task.language == Language::Rust && self.foreign(task).is_none()
    }

    /// Installs the packages of an app, if it asks for any, and builds a component.
    async fn prepare(
        &self,
        task: &Rc<Task>,
        content: &StartContent,
        grants: &Grants,
    ) -> Answered<Prepared> {
        let is_component = self.is_component(task);
        if is_component && content.ready_regex.is_some() {
            let message = "an app in Rust prints nothing before its first request";
            let hint = "leave `ready.regex` out: the app is ready when it is compiled";
            return Err(refused(ErrorCode::Plan, message, hint));
        }
        let asks = !task.requirements.borrow().is_empty() || !content.steps.dependencies.is_empty();
        if asks || is_component {
            self.go(task, TaskState::Installing).await?;
        }
        let packages = match asks {
            true => select! {
                packages = stage("packages", self.packages(task, content)) => packages?,
                () = task.is_killed() => return Err(was_ended()),
            },
            false => None,
        };
        let start = &content.steps.start;
        let component = match is_component {
            true => {
                let built = self.built(task, start, packages.as_ref(), !grants.readonly);
                Some(stage("build", built).await?)
            }
            false => None,
        };
        Ok(Prepared {
            packages,
            component,
        })
    }

    /// Has the runner of the language start the app. Returns the run of an app that is ready.
    async fn started(
        &self,
        task: &Rc<Task>,
        content: &StartContent,
        Prepared {
            packages,
            component,
        }: Prepared,
        grants: Grants,
    ) -> Answered<Run> {
        if let Some(runner) = self.foreign(task) {
            let started = self.started_by(runner, task, content, packages, grants);
            return started.await;
        }
        let process = AppProcess::to_start(self, task, content, packages, grants);
        let process = process.with_component(component);
        let manifest = built_in::Manifest {
            words: content.steps.start.clone(),
            env: content.env.clone(),
        };
        let (runner, folder) = (runner_of(task.language), self.source(task));
        let started = self.runners.start(runner, &folder, &manifest, &process);
        started.await.map_err(failed)?;
        process.run().ok_or_else(|| {
            let message = "the runner reported an app that it did not start";
            refused(
                ErrorCode::Runtime,
                message,
                "report this as a defect of the runner",
            )
        })
    }

    /// Leases a port to an app that is ready, and writes the manifest.
    async fn announce(&self, task: &Rc<Task>, cmd: &str, run: &Run) -> Answered<String> {
        let lease = self.gateway.lease(&task.id);
        let address = lease.map_err(no_port)?;
        task.port.set(Some(address.port()));
        let socket = self.gateway.address().is_ok();
        let socket = socket.then(|| run.socket.display().to_string());
        let files = self
            .with_folder(task, ErrorCode::Fs, |folder| {
                Ok(folder.source()?.files(FILES)?)
            })
            .await?;
        let manifest = Manifest {
            task_id: task.id.clone(),
            cmd: cmd.to_owned(),
            socket: socket.clone(),
            tcp_port: Some(address.port()),
            files,
            language: task.language,
        };
        let running = Running {
            task_id: task.id.clone(),
            socket,
            host: address.ip().to_string(),
            port: address.port(),
            pid: run.pid.and_then(|pid| u32::try_from(pid).ok()),
            unenforced: run.unenforced.iter().filter_map(|it| limit(it)).collect(),
        };
        let (manifest, data) = self.decider.ask(|engine| {
            let manifest = call!(engine, daemon.call_manifest_json(&manifest))?;
            let data = call!(engine, daemon.call_running_data(&running))?;
            Ok((manifest, data))
        })?;
        self.with_folder(task, ErrorCode::Fs, move |folder| {
            Ok(folder.write(Artifact::Manifest, manifest.as_bytes())?)
        })
        .await?;
        self.go(task, TaskState::Ready).await?;
        Ok(data)
    }
}

/// Returns the failure of a task for which no port is free.
pub(crate) fn no_port(error: std::io::Error) -> Failure {
    let hint = "end other tasks, or free a port from 61000 to 64999";
    refused(ErrorCode::Port, error.to_string(), hint)
}

fn limit(name: &str) -> Option<RunLimit> {
    match name {
        "cpu_pct" => Some(RunLimit::CpuPct),
        "mem_mb" => Some(RunLimit::MemMb),
        "wall_sec" => Some(RunLimit::WallSec),
        _ => None,
    }
}

/// Returns that a start is over because somebody has ended the task.
pub(crate) fn was_ended() -> Failure {
    let hint = "open another task with `plan.create`";
    refused(ErrorCode::Runtime, "the task was ended", hint)
}
