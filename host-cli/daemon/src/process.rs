//! The process of an app, as its runner asks for it.

use super::daemon::{Daemon, GRACE};
use super::ending::ended;
use super::refusal::{Answered, refused};
use super::runners::told;
use super::task::Task;
use super::traced::reported_stage;
use agent_host::call;
use agent_host::contract::daemon::{ErrorCode, Failure, Granted, RunLimit, Start, Transport};
use agent_packages::AppPackages;
use agent_runners::built_in::{self, Command, Condition, Process};
use agent_sandbox::toolchain;
use agent_tasks::{
    App, Artifact, AskedLimits, ForeignRunner, Found, Phase, Reply, Run, Secret, Spec, Started,
    TaskId,
};
use std::cell::RefCell;
use std::path::PathBuf;
use std::process;
use std::rc::Rc;
use std::time::Duration;

/// The port at which an app is asked to listen, in a network of its own.
const PORT: u16 = 8080;

/// The process of a task's app.
pub(crate) struct AppProcess<'a> {
    daemon: &'a Daemon,
    task: &'a Rc<Task>,
    /// What the app starts with; `None` if it may not be started.
    start: Option<(Start, Option<AppPackages>)>,
    /// The file of the component that the app is, instead of a program.
    component: Option<PathBuf>,
    /// The folders of the toolchains that the runner has asked for.
    toolchains: RefCell<Vec<PathBuf>>,
    run: RefCell<Option<Run>>,
}

impl<'a> AppProcess<'a> {
    /// Returns the process of an app that is not to be started.
    pub(crate) fn of(daemon: &'a Daemon, task: &'a Rc<Task>) -> Self {
        Self {
            daemon,
            task,
            start: None,
            component: None,
            toolchains: RefCell::default(),
            run: RefCell::default(),
        }
    }

    /// Returns the process of an app that a runner is to start.
    pub(crate) fn to_start(
        daemon: &'a Daemon,
        task: &'a Rc<Task>,
        start: Start,
        packages: Option<AppPackages>,
        component: Option<PathBuf>,
    ) -> Self {
        Self {
            start: Some((start, packages)),
            component,
            ..Self::of(daemon, task)
        }
    }

    /// Returns the run that was started.
    pub(crate) fn run(self) -> Option<Run> {
        self.run.into_inner()
    }

    /// Has a foreign runner start the app under a supervisor. The error has what the runner answered, too.
    pub(crate) async fn started_by(
        &self,
        runner: ForeignRunner,
    ) -> Result<Run, (Failure, Option<Reply>)> {
        let spec = self.spec(Command {
            words: Vec::new(),
            env: Vec::new(),
        });
        let spec = spec.map_err(|refusal| (refusal, None))?;
        let spec = Spec {
            app: App::Runner(runner),
            ..spec
        };
        self.supervised(spec, None).await
    }

    /// Starts the app under a supervisor. Returns the run of an app that is ready.
    async fn supervised(
        &self,
        spec: Spec,
        program: Option<&str>,
    ) -> Result<Run, (Failure, Option<Reply>)> {
        let supervisor = self.daemon.supervisor.clone();
        let before = self.log().await.len();
        let timeout = spec.ready_timeout;
        let started = self
            .daemon
            .with_folder(self.task, ErrorCode::Runtime, move |folder| {
                let [program, arguments @ ..] = &supervisor[..] else {
                    return Err("no program supervises apps".into());
                };
                let mut command = process::Command::new(program);
                command.args(arguments);
                Ok(folder.start(command, spec)?)
            });
        let started = started.await.map_err(|refusal| (refusal, None))?;
        report_stages(&started);
        match started {
            Started::Ready(run) => Ok(run),
            Started::Ended(run) => {
                let cause = run.end.map(|end| end.cause);
                let log = self.log().await;
                let log = log.get(before..).unwrap_or_default();
                Err((ended(cause.as_ref(), program, log), run.reply))
            }
            Started::TimedOut(run) => {
                let message = format!("the app was not ready within {} s", timeout.as_secs());
                let hint =
                    "print a line that `ready.regex` matches, or listen at the port in `PORT`";
                Err((refused(ErrorCode::Timeout, message, hint), run.reply))
            }
        }
    }

    fn spec(&self, Command { mut words, env }: Command) -> Answered<Spec> {
        let Some((start, packages)) = &self.start else {
            let message = "a runner may start an app in `start` alone";
            let hint = "report this as a defect of the runner";
            return Err(refused(ErrorCode::Runtime, message, hint));
        };
        let packages = packages.as_ref();
        let id = TaskId::parse(&self.task.id);
        let id = id.map_err(|error| refused(ErrorCode::Plan, error.to_string(), "name a task"))?;
        let asked = |limit: RunLimit| {
            let mut limits = start.limits.iter();
            limits.find(|(it, _)| *it == limit).map(|(_, value)| *value)
        };
        let mut read = self.toolchains.borrow().clone();
        if let Some(packages) = packages {
            // They were chosen for this interpreter.
            if let Some(first) = words.first_mut().filter(|it| is_interpreter(it)) {
                *first = packages.program.display().to_string();
            }
            read.extend(packages.runtime.iter().cloned());
        }
        let own = packages.map(|it| it.env.clone()).unwrap_or_default();
        let wanted = start.env.iter().cloned();
        Ok(Spec {
            app: match &self.component {
                Some(file) => App::Component(file.clone()),
                None => App::Commands(vec![words]),
            },
            // Where the packages are is known here alone, and what the request wants wins.
            env: env.into_iter().chain(own).chain(wanted).collect(),
            port: PORT,
            socket: self.daemon.socket(&id)?,
            ready_regex: start.ready_regex.clone(),
            ready_timeout: Duration::from_secs(start.ready_timeout_sec.into()),
            limits: AskedLimits {
                cpu_pct: asked(RunLimit::CpuPct),
                mem_mb: asked(RunLimit::MemMb).map(Into::into),
                wall_sec: asked(RunLimit::WallSec).map(Into::into),
                ..AskedLimits::default()
            },
            grace: GRACE,
            idle: self.daemon.idle,
            folders: packages.map(|it| it.folders.clone()).unwrap_or_default(),
            read,
            readonly: start.is_readonly,
            egress: start.egress.clone(),
            secrets: start.secrets.iter().map(secret).collect(),
        })
    }

    /// Returns the log of the task.
    async fn log(&self) -> Vec<u8> {
        let read = self.daemon.with_folder(self.task, ErrorCode::Fs, |folder| {
            Ok(folder.read(Artifact::RunLog)?)
        });
        read.await.unwrap_or_default()
    }
}

impl Process for AppProcess<'_> {
    async fn toolchain(&self, program: &str) -> Option<String> {
        let found = toolchain(program)?;
        self.toolchains.borrow_mut().extend(found.read);
        Some(found.program)
    }

    async fn start(&self, command: Command) -> Result<built_in::Started, built_in::Failure> {
        let program = command.words.first().cloned();
        let spec = self.spec(command).map_err(told)?;
        let run = self.supervised(spec, program.as_deref()).await;
        let run = run.map_err(|(refusal, _)| told(refusal))?;
        let started = built_in::Started {
            pid: run.pid.and_then(|pid| u32::try_from(pid).ok()),
            port: run.port,
        };
        self.run.replace(Some(run));
        Ok(started)
    }

    async fn stop(&self) -> Result<(), built_in::Failure> {
        let stopped = self
            .daemon
            .with_folder(self.task, ErrorCode::Runtime, |folder| {
                Ok(folder.stop(GRACE)?)
            });
        stopped.await.map(drop).map_err(told)
    }

    async fn check(&self) -> Condition {
        let found = self
            .daemon
            .with_folder(self.task, ErrorCode::Runtime, |folder| Ok(folder.find()?));
        match found.await {
            Ok(Found::Running(run)) => Condition {
                live: true,
                ready: run.phase == Phase::Ready,
            },
            Ok(Found::Never | Found::Ended(_)) | Err(_) => Condition {
                live: false,
                ready: false,
            },
        }
    }
}

impl Daemon {
    /// Returns the socket at which the app of a task is to be reached, as the policy and this machine have it.
    fn socket(&self, id: &TaskId) -> Answered<PathBuf> {
        let policy = self.policy_file()?.text;
        let transport = self
            .decider
            .decide(|engine| call!(engine, daemon.transport_of_policy(policy.as_deref())))?;
        Ok(match (transport, &self.sockets) {
            (Transport::Uds, Some(folder)) => folder.socket(id),
            (Transport::Tcp, _) | (_, None) => self.unregistered.socket(id),
        })
    }
}

/// Records the stages that the supervisor of an app reports: until the app was launched, and until it was ready.
fn report_stages(started: &Started) {
    let (Started::Ready(run) | Started::Ended(run) | Started::TimedOut(run)) = started;
    let Some(launched) = run.launched_ms else {
        return;
    };
    reported_stage("sandbox", run.started_ms..launched);
    if let Some(ready) = run.ready_ms {
        reported_stage("ready", launched..ready);
    }
}

fn secret(granted: &Granted) -> (String, Secret) {
    let (value, forms) = (granted.secret.value.clone(), granted.forms.clone());
    (granted.secret.name.clone(), Secret { value, forms })
}

fn is_interpreter(program: &str) -> bool {
    matches!(program, "python3" | "node")
}
