//! `run.start` \[2, 2.3\].

use super::daemon::Daemon;
use super::files::{files_below, scanned};
use super::grants::Grants;
use super::process::AppProcess;
use super::refusal::{Answered, refused};
use super::runners::{failed, runner_of};
use super::task::Task;
use super::traced::stage;
use agent_host::call;
use agent_host::contract::daemon::{
    ErrorCode, Failure, FindingSeverity, Manifest, RunLimit, Running, StartContent, TaskState,
};
use agent_packages::AppPackages;
use agent_runners::built_in;
use agent_sandbox::control_groups;
use agent_tasks::{Artifact, Run};
use std::rc::Rc;

impl Daemon {
    /// Starts the app of a task, and waits until it is ready.
    pub(crate) async fn run_start(&self, task: &Rc<Task>, input: &str) -> Answered<String> {
        let unenforceable: &[RunLimit] = match control_groups().cpu_percent {
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
        let packages = match self.install(task, &content).await {
            Ok(packages) => packages,
            Err(refusal) => {
                self.give_up(task).await;
                return Err(refusal);
            }
        };
        self.go(task, TaskState::Starting).await?;
        let started = self.started(task, &content, packages, grants);
        match stage("start", started).await {
            Ok(run) => {
                self.show(task, Some(&run.socket));
                let answered = self.announce(task, &content, &run).await;
                if answered.is_err() {
                    self.give_up(task).await;
                }
                answered
            }
            Err(refusal) => {
                self.give_up(task).await;
                Err(refusal)
            }
        }
    }

    /// Ends an app that can't be served. The task may have been ended in the meantime.
    async fn give_up(&self, task: &Rc<Task>) {
        let _ = self.stop(task).await;
        let _ = self.go(task, TaskState::Failed).await;
    }

    /// Looks for secrets and dangerous calls in the files of an app.
    async fn scan(&self, task: &Rc<Task>, grants: &Grants) -> Answered<()> {
        let files = self
            .with_folder(task, ErrorCode::Fs, |folder| {
                Ok(scanned(&folder.source_path())?)
            })
            .await?;
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

    /// Installs the packages of an app, if it asks for any.
    async fn install(
        &self,
        task: &Rc<Task>,
        content: &StartContent,
    ) -> Answered<Option<AppPackages>> {
        let asks = !task.requirements.borrow().is_empty() || !content.steps.dependencies.is_empty();
        if !asks {
            return Ok(None);
        }
        self.go(task, TaskState::Installing).await?;
        stage("packages", self.packages(task, content)).await
    }

    /// Has the runner of the language start the app. Returns the run of an app that is ready.
    async fn started(
        &self,
        task: &Rc<Task>,
        content: &StartContent,
        packages: Option<AppPackages>,
        grants: Grants,
    ) -> Answered<Run> {
        if let Some(runner) = self.foreign(task) {
            let started = self.started_by(runner, task, content, packages, grants);
            return started.await;
        }
        let process = AppProcess::to_start(self, task, content, packages, grants);
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
    async fn announce(
        &self,
        task: &Rc<Task>,
        content: &StartContent,
        run: &Run,
    ) -> Answered<String> {
        let lease = self.gateway.lease(&task.id);
        let address = lease.map_err(no_port)?;
        task.port.set(Some(address.port()));
        let socket = self.gateway.address().is_ok();
        let socket = socket.then(|| run.socket.display().to_string());
        let files = self
            .with_folder(task, ErrorCode::Fs, |folder| {
                Ok(files_below(&folder.source_path())?)
            })
            .await?;
        let manifest = Manifest {
            task_id: task.id.clone(),
            cmd: content.cmd.clone(),
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
