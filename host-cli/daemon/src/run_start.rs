//! `run.start` \[2, 2.3\].

use super::daemon::{Daemon, GRACE};
use super::files::{files_below, scanned};
use super::refusal::{Answered, refused};
use super::task::Task;
use super::toolchain::{Toolchain, toolchain};
use agent_host::call;
use agent_host::contract::daemon::{
    ErrorCode, FilesystemPolicy, FindingSeverity, Manifest, RunLimit, Running, StartContent,
    TaskState,
};
use agent_packages::AppPackages;
use agent_sandbox::control_groups;
use agent_tasks::{Artifact, AskedLimits, Cause, Run, Spec, Started, TaskId};
use std::collections::BTreeMap;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

/// The port at which an app is asked to listen, in a network of its own.
const PORT: u16 = 8080;

/// The exit code of the shell for a program that it does not find.
const NOT_FOUND: i32 = 127;

/// Number of bytes of `run.log` in a message.
const QUOTED: usize = 400;

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
        self.tools()?;
        self.scan(task).await?;
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
        match self.started(task, &content, packages).await {
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

    /// Refuses what the policy wants of apps and this daemon can't enforce.
    fn tools(&self) -> Answered<()> {
        let tools = self.by_policy(|engine, policy| {
            call!(engine, daemon.task_policy.call_tools(policy)).map(Ok)
        })?;
        match tools.filesystem {
            FilesystemPolicy::Task => Ok(()),
            FilesystemPolicy::Readonly => {
                let message =
                    "the policy wants apps that write no files, which this daemon can't enforce";
                let hint = "set `filesystem: task` in the policy";
                Err(refused(ErrorCode::Policy, message, hint))
            }
        }
    }

    /// Looks for secrets and dangerous calls in the files of an app.
    async fn scan(&self, task: &Rc<Task>) -> Answered<()> {
        let files = self
            .with_folder(task, ErrorCode::Fs, |folder| {
                Ok(scanned(&folder.source_path())?)
            })
            .await?;
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
        self.packages(task, content).await
    }

    /// Starts the app under a supervisor. Returns the run of an app that is ready.
    async fn started(
        &self,
        task: &Rc<Task>,
        content: &StartContent,
        packages: Option<AppPackages>,
    ) -> Answered<Run> {
        let asked = |limit: RunLimit| {
            let mut limits = content.limits.iter();
            limits.find(|(it, _)| *it == limit).map(|(_, value)| *value)
        };
        let id = TaskId::parse(&task.id);
        let id = id.map_err(|error| refused(ErrorCode::Plan, error.to_string(), "name a task"))?;
        let Toolchain {
            mut command,
            mut env,
            mut read,
        } = toolchain(task.language, &content.steps.start);
        let mut folders = BTreeMap::new();
        let program = command.first().cloned();
        if let Some(packages) = packages {
            // They were chosen for this interpreter.
            if let Some(first) = command.first_mut().filter(|it| is_interpreter(it)) {
                *first = packages.program.display().to_string();
            }
            env.extend(packages.env);
            folders = packages.folders;
            read.extend(packages.runtime);
        }
        env.extend(content.env.iter().cloned());
        let spec = Spec {
            commands: vec![command],
            env,
            port: PORT,
            socket: self.sockets.socket(&id),
            ready_regex: content.ready_regex.clone(),
            ready_timeout: Duration::from_secs(content.ready_timeout_sec.into()),
            limits: AskedLimits {
                cpu_pct: asked(RunLimit::CpuPct),
                mem_mb: asked(RunLimit::MemMb).map(Into::into),
                wall_sec: asked(RunLimit::WallSec).map(Into::into),
                pids: None,
            },
            grace: GRACE,
            idle: self.idle,
            folders,
            read,
        };
        let supervisor = self.supervisor.clone();
        let before = self.log(task).await.len();
        let started = self
            .with_folder(task, ErrorCode::Runtime, move |folder| {
                let [program, arguments @ ..] = &supervisor[..] else {
                    return Err("no program supervises apps".into());
                };
                let mut command = Command::new(program);
                command.args(arguments);
                Ok(folder.start(command, spec)?)
            })
            .await?;
        match started {
            Started::Ready(run) => Ok(run),
            Started::Ended(run) => {
                let cause = run.end.map(|end| end.cause);
                let log = self.log(task).await;
                let log = log.get(before..).unwrap_or_default();
                Err(ended(cause.as_ref(), program.as_deref(), &tail(log)))
            }
            Started::TimedOut(_) => {
                let seconds = content.ready_timeout_sec;
                let message = format!("the app was not ready within {seconds} s");
                let hint =
                    "print a line that `ready.regex` matches, or listen at the port in `PORT`";
                Err(refused(ErrorCode::Timeout, message, hint))
            }
        }
    }

    /// Leases a port to an app that is ready, and writes the manifest.
    async fn announce(
        &self,
        task: &Rc<Task>,
        content: &StartContent,
        run: &Run,
    ) -> Answered<String> {
        let lease = self.gateway.lease(&task.id);
        let address = lease.map_err(|error| {
            let hint = "end other tasks, or free a port from 61000 to 64999";
            refused(ErrorCode::Port, error.to_string(), hint)
        })?;
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

    /// Returns the log of a task.
    async fn log(&self, task: &Rc<Task>) -> Vec<u8> {
        let read = self.with_folder(task, ErrorCode::Fs, |folder| {
            Ok(folder.read(Artifact::RunLog)?)
        });
        read.await.unwrap_or_default()
    }
}

/// Returns the last whole lines of a log, as many as are quoted.
fn tail(log: &[u8]) -> String {
    let text = String::from_utf8_lossy(log);
    let mut tail = text.trim();
    while tail.len() > QUOTED {
        match tail.split_once('\n') {
            Some((_, rest)) => tail = rest,
            None => break,
        }
    }
    tail.chars().take(QUOTED).collect()
}

fn is_interpreter(program: &str) -> bool {
    matches!(program, "python3" | "node")
}

fn limit(name: &str) -> Option<RunLimit> {
    match name {
        "cpu_pct" => Some(RunLimit::CpuPct),
        "mem_mb" => Some(RunLimit::MemMb),
        "wall_sec" => Some(RunLimit::WallSec),
        _ => None,
    }
}

/// Returns whether an app failed, and did not end because somebody or its time wanted it.
pub(crate) fn is_failure(cause: &Cause) -> bool {
    match cause {
        Cause::Exited { code } => *code != 0,
        // Its time was known before.
        Cause::Limit { limit } => limit != "wall_sec",
        Cause::Signal { .. } | Cause::NotStarted { .. } => true,
        Cause::Stopped | Cause::Idle | Cause::Lost => false,
    }
}

/// Returns the failure of an app that ended before it was ready.
fn ended(
    cause: Option<&Cause>,
    program: Option<&str>,
    log: &str,
) -> agent_host::contract::daemon::Failure {
    let message = match (cause, program) {
        (Some(Cause::Exited { code: NOT_FOUND }), Some(program)) => {
            format!("the program `{program}` is not in the sandbox")
        }
        (cause, _) => how(cause),
    };
    let mut refusal = refused(
        ErrorCode::Runtime,
        message,
        "read `run.log`, correct the files and call `run.start`",
    );
    if !log.is_empty() {
        refusal.hints.push(format!("the log ends with: {log}"));
    }
    refusal
}

/// Returns how an app ended.
fn how(cause: Option<&Cause>) -> String {
    match cause {
        Some(Cause::Exited { code }) => format!("the app exited with code {code}"),
        Some(Cause::Signal { signal }) => format!("the app was ended by signal {signal}"),
        Some(Cause::Limit { limit }) => format!("the app reached its limit `{limit}`"),
        Some(Cause::NotStarted { reason }) => format!("the app was not started: {reason}"),
        Some(Cause::Stopped | Cause::Idle | Cause::Lost) | None => {
            "the app was ended before it was ready".to_owned()
        }
    }
}
