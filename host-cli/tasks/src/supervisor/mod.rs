//! The process that runs one task: it outlives the program that started it, and the app ends with it.

mod bridge;
mod component;
mod connections;
mod foreign;
mod outgoing;
mod output;
mod redactor;
mod waiting;
mod way_out;

use crate::disk::{self, Quota};
use crate::folder::{Artifact, Task, Tasks};
use crate::limits::{MAX_REGEX_BYTES, MAX_SPEC_BYTES, RUN_FILE_BYTES, RUN_OPEN_FILES};
use crate::run::{App, Cause, End, Phase, Run, RunLimits, Spec};
use crate::{Error, ErrorKind, Identity, TaskId, sockets};
use agent_host::{Terminations, unix_ms};
use agent_sandbox::{
    Child, Command, Exit, Handle, Limit, Limits, Log, Mount, Network, RunError, Sandbox, Tier,
};
use agent_way_out::Proxy;
use bridge::Bridge;
use output::{Awaited, RunLog};
use redactor::Redactor;
use regex::bytes::RegexBuilder;
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::UnixListener;
use tokio::runtime;
use tokio::sync::oneshot;
use tokio::task;
use tokio::time::{interval, sleep, sleep_until, timeout};
use way_out::WayOut;

/// Where the app finds its files.
const SOURCE: &str = "/app";
/// Runs the commands, with one stream for both kinds of output.
const SHELL: &str = "/bin/sh";
/// Where the system has its programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How often to look whether the app listens.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// How long an app that listens elsewhere may take to listen at its port, too.
const OTHER_PORT: Duration = Duration::from_millis(300);
/// How long an app that says it is ready may take to listen.
const PORT_AFTER_LINE: Duration = Duration::from_secs(2);
/// How often to look whether the app is used.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);

/// The order of a supervisor.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// The folder of all tasks.
    pub(crate) root: PathBuf,
    pub(crate) id: TaskId,
    pub(crate) spec: Spec,
}

/// Runs a task to its end, as `input` describes it. Call it in a process that has no other use: its standard
/// streams are not used, and it leaves its session.
///
/// The process writes how far it is into the folder of tasks. `SIGTERM` makes it end the app in its grace
/// time. If the process is killed, everything that the app has started ends with it.
///
/// `proxy` makes the proxy of an app that may connect to some `host:port`. It is called for no
/// other app; its error is the reason why the app has no way out.
///
/// # Errors
///
/// When there is nothing to report to: the description is unusable, the task is missing, or it runs already.
pub fn supervise(
    input: impl Read,
    proxy: impl FnOnce(Vec<String>) -> Result<Proxy, String>,
) -> Result<(), Error> {
    let mut text = Vec::new();
    input
        .take(MAX_SPEC_BYTES)
        .read_to_end(&mut text)
        .map_err(|error| Error::new(ErrorKind::System, error.to_string()))?;
    let order: Order = serde_json::from_slice(&text).map_err(|error| {
        let message = format!("the description of the run can't be read: {error}");
        Error::new(ErrorKind::Damaged, message)
    })?;
    // The leader of a session already leads its own.
    let _ = setsid();
    let task = Tasks::open(&order.root)?.task(&order.id)?;
    let lock = task.open_run_lock()?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
        let message = format!("the task {} already runs", order.id);
        Error::new(ErrorKind::Running, message)
    })?;
    let system = |error: std::io::Error| Error::new(ErrorKind::System, error.to_string());
    raise_open_files();
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(system)?;
    let supervised = runtime.block_on(async {
        // Before the process can be found.
        let stop = Terminations::new()
            .map_err(|failure| Error::new(ErrorKind::System, failure.message))?;
        let mut supervision = Supervision {
            run: Run {
                task_id: order.id,
                supervisor: Identity::own().map_err(system)?,
                phase: Phase::Starting,
                pid: None,
                port: None,
                socket: order.spec.socket.clone(),
                limits: None,
                unenforced: Vec::new(),
                started_ms: unix_ms(),
                launched_ms: None,
                ready_ms: None,
                reply: None,
                end: None,
            },
            task,
        };
        supervision.report()?;
        let cause = supervision
            .perform(order.spec, proxy, stop)
            .await
            .unwrap_or_else(|reason| Cause::NotStarted { reason });
        let at_ms = unix_ms();
        supervision.run.phase = Phase::Ended;
        supervision.run.end = Some(End { cause, at_ms });
        // A reader of the report may start the next run at once.
        drop(lock);
        supervision.report()
    });
    // A component that is still compiled is no longer needed.
    runtime.shutdown_background();
    supervised
}

struct Supervision {
    task: Task,
    run: Run,
}

/// A socket at a path, which is removed when this is dropped.
struct Socket<'a>(&'a Path);

impl<'a> Socket<'a> {
    /// Listens at a path.
    fn listen(path: &'a Path) -> Result<(Self, UnixListener), String> {
        let listener = sockets::listen(path).map_err(|error| error.to_string())?;
        let socket = Self(path);
        let listener = UnixListener::from_std(listener).map_err(|error| error.to_string())?;
        Ok((socket, listener))
    }
}

impl Drop for Socket<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.0);
    }
}

impl Supervision {
    fn report(&self) -> Result<(), Error> {
        self.task.report_run(&self.run)
    }

    /// Starts the app and waits for its end. The error is why it was not started.
    async fn perform(
        &mut self,
        spec: Spec,
        proxy: impl FnOnce(Vec<String>) -> Result<Proxy, String>,
        stop: Terminations,
    ) -> Result<Cause, String> {
        let proxy = match &spec.egress[..] {
            [] => None,
            hosts => Some(proxy(hosts.to_vec())?),
        };
        let commands = match &spec.app {
            App::Commands(commands) => &commands[..],
            App::Runner(_) => &[],
            App::Component(path) => return self.serve(path, &spec, proxy, stop).await,
        };
        let words = |error: Error| error.to_string();
        let sandbox = Sandbox::of(Tier::Bubblewrap).await;
        let sandbox = sandbox.map_err(|error| error.to_string())?;
        let groups = agent_sandbox::control_groups();
        let (limits, unenforced) = spec.limits.settle(groups.cpu_percent)?;
        self.run.limits = Some(limits);
        self.run.unenforced = unenforced;
        let regex = spec.ready_regex.as_deref().map(|text| {
            let built = RegexBuilder::new(text).size_limit(MAX_REGEX_BYTES).build();
            built.map_err(|error| format!("`ready.regex` can't be used: {error}"))
        });
        let (found, line) = oneshot::channel();
        let awaited = regex.transpose()?.map(|regex| Awaited { regex, found });
        if let App::Runner(foreign) = &spec.app {
            return self
                .perform_by_runner(&spec, foreign, limits, proxy, awaited, stop)
                .await;
        }
        let line = awaited.is_some().then_some(line);
        let log = self.task.open_log(Artifact::RunLog).map_err(words)?;
        let log = RunLog::new(log, Redactor::new(spec.secrets.values()));
        let log = Arc::new(Mutex::new(log.map_err(|error| error.to_string())?));
        let (_socket, clients) = Socket::listen(&spec.socket)?;
        let wait_socket = sockets::wait_socket(&spec.socket);
        let (_wait_socket, gateways) = Socket::listen(&wait_socket)?;

        let command = command(commands, &spec, &self.task.work_path());
        let mut child = sandbox
            .spawn(command, sandbox_limits(limits))
            .await
            .map_err(|error| error.to_string())?;
        self.run.launched_ms = Some(unix_ms());
        child.stdin = None;
        let (Some(stdout), Some(inside)) = (child.stdout.take(), child.inside()) else {
            return Err("the sandbox gave no output and no network".to_owned());
        };
        let serving = proxy.zip(child.proxy.take());
        let serving = serving.map(|(proxy, listener)| proxy.start(listener));
        let serving = serving.transpose().map_err(|error| error.to_string())?;
        let mut way_out = serving.map(|serving| WayOut::new(serving, Arc::clone(&log)));
        let recorded = task::spawn(output::record(stdout, log, awaited));
        let bridge = Arc::new(Bridge::new(inside, spec.port));
        let serving = task::spawn(Arc::clone(&bridge).serve(clients, gateways));
        let child = (child, Quota::of(limits));
        let watched = self.watch(&spec, child, &bridge, line, stop, way_out.as_mut());
        let cause = watched.await;
        serving.abort();
        let _ = recorded.await;
        if let Some(way_out) = &mut way_out {
            way_out.log_refusals();
        }
        Ok(cause)
    }

    /// Waits for the end of the app, and reports when it is ready.
    async fn watch(
        &mut self,
        spec: &Spec,
        (child, quota): (Child, Quota),
        bridge: &Bridge,
        line: Option<oneshot::Receiver<()>>,
        mut stop: Terminations,
        mut way_out: Option<&mut WayOut>,
    ) -> Cause {
        let handle = child.handle();
        let mut ended = pin!(child.wait());
        let mut ready = pin!(timeout(spec.ready_timeout, ready(bridge, spec.port, line)));
        let mut full = pin!(disk::exceeded(self.task.work_path(), || handle.id(), quota));
        let mut is_full = false;
        let mut idle = interval(IDLE_INTERVAL);
        let mut stopping: Option<(Cause, tokio::time::Instant)> = None;
        let ended = loop {
            let is_starting = self.run.phase == Phase::Starting && stopping.is_none();
            let kill = stopping.as_ref().map(|(_, kill)| *kill);
            tokio::select! {
                biased;
                ended = &mut ended => break ended,
                () = stop.next(), if stopping.is_none() => {
                    stopping = Some(self.ask_to_end(Cause::Stopped, spec, &handle));
                }
                () = sleep_until(kill.unwrap_or_else(tokio::time::Instant::now)), if kill.is_some() => {
                    handle.kill();
                    break ended.await;
                }
                name = &mut full, if !is_full => {
                    is_full = true;
                    // It would go on writing in its grace time.
                    let now = tokio::time::Instant::now();
                    stopping.get_or_insert_with(|| (limit(name), now)).1 = now;
                }
                found = &mut ready, if is_starting => self.report_ready(found.ok(), &handle),
                _ = idle.tick(), if stopping.is_none() => {
                    if let Some(way_out) = &mut way_out {
                        way_out.log_refusals();
                    }
                    if spec.idle.is_some_and(|limit| bridge.idle() >= limit) {
                        stopping = Some(self.ask_to_end(Cause::Idle, spec, &handle));
                    }
                }
            }
        };
        match stopping {
            Some((cause, _)) => cause,
            None => cause(ended),
        }
    }

    fn ask_to_end(
        &self,
        cause: Cause,
        spec: &Spec,
        handle: &Handle,
    ) -> (Cause, tokio::time::Instant) {
        handle.terminate();
        (cause, tokio::time::Instant::now() + spec.grace)
    }

    /// Reports that the app is ready at a port or without one, or is not ready in time.
    fn report_ready(&mut self, found: Option<Option<u16>>, handle: &Handle) {
        self.run.pid = handle.id();
        match found {
            Some(port) => {
                self.run.phase = Phase::Ready;
                self.run.port = port;
                self.run.ready_ms = Some(unix_ms());
            }
            None => self.run.phase = Phase::NotReady,
        }
        // The end will be reported, and who waits for this report gives up in time.
        let _ = self.report();
    }
}

/// Waits until the app is ready. Returns its port; `None` for an app that says it is ready and doesn't
/// listen.
async fn ready(bridge: &Bridge, port: u16, line: Option<oneshot::Receiver<()>>) -> Option<u16> {
    let mut patience = None;
    if let Some(line) = line {
        if line.await.is_err() {
            // The output has ended without the line.
            std::future::pending::<()>().await;
        }
        patience = Some(Instant::now() + PORT_AFTER_LINE);
    }
    let mut elsewhere: Option<Instant> = None;
    loop {
        if let Some(found) = bridge.find() {
            let since = *elsewhere.get_or_insert_with(Instant::now);
            if found.port() == port || since.elapsed() >= OTHER_PORT {
                return Some(found.port());
            }
        }
        if patience.is_some_and(|patience| Instant::now() >= patience) {
            return None;
        }
        sleep(LOOK_INTERVAL).await;
    }
}

fn limit(name: &str) -> Cause {
    Cause::Limit {
        limit: name.to_owned(),
    }
}

fn cause(ended: Result<(Exit, Log), RunError>) -> Cause {
    match ended {
        Ok((Exit::Code(code), _)) => Cause::Exited { code },
        Ok((Exit::Signal(signal), _)) => Cause::Signal { signal },
        Err(RunError::Timeout(_)) => limit("wall_sec"),
        Err(RunError::LimitExceeded(which, _)) => match which {
            Limit::Memory => limit("mem_mb"),
            Limit::Processes => limit("pids"),
            Limit::FileSize => limit("file_size"),
            other => limit(other.name()),
        },
        Err(RunError::Cancelled(_)) => Cause::Stopped,
        Err(error) => Cause::NotStarted {
            reason: error.to_string(),
        },
    }
}

/// Returns the command of the sandbox.
fn command(commands: &[Vec<String>], spec: &Spec, work: &Path) -> Command {
    let mut command = Command::new(SHELL);
    // The words are arguments of the shell: none of them is read as its language.
    let mut script = "exec 2>&1; ".to_owned();
    let mut number = 0;
    for (index, words) in commands.iter().enumerate() {
        let is_last = index + 1 == commands.len();
        script.push_str(if is_last { "exec" } else { "" });
        for _ in words {
            number += 1;
            // Writing to a text does not fail.
            let _ = write!(script, " \"${{{number}}}\"");
        }
        script.push_str(if is_last { "" } else { " && " });
    }
    command.arguments = ["-c".into(), script.into(), "sh".into()].into();
    let words = commands.iter().flatten();
    command.arguments.extend(words.map(Into::into));
    let port = spec.port.to_string();
    command.env.insert("PATH".into(), PATH.into());
    let env = spec.env.iter();
    command
        .env
        .extend(env.map(|(name, value)| (name.into(), value.into())));
    let secrets = spec.secrets.iter();
    command
        .env
        .extend(secrets.map(|(name, secret)| (name.into(), (&secret.value).into())));
    command.env.insert("PORT".into(), port.into());
    command.read = spec.read.clone();
    let folders = spec.folders.iter().map(|(inside, folder)| {
        let folder = folder.clone();
        let writable = false;
        (inside.clone(), Mount { folder, writable })
    });
    command.mounts.extend(folders);
    let (folder, writable) = (work.to_owned(), !spec.readonly);
    command
        .mounts
        .insert(SOURCE.into(), Mount { folder, writable });
    command.cwd = Some(SOURCE.into());
    command.network = match spec.egress.is_empty() {
        true => Network::Inbound,
        false => Network::InboundAndProxy,
    };
    command
}

fn sandbox_limits(limits: RunLimits) -> Limits {
    Limits {
        wall_time: Some(Duration::from_secs(limits.wall_sec)),
        cpu_time: None,
        cpu_percent: limits.cpu_pct,
        memory_bytes: limits.mem_mb.saturating_mul(1 << 20),
        processes: limits.pids,
        file_bytes: RUN_FILE_BYTES,
        open_files: RUN_OPEN_FILES,
        ..Limits::default()
    }
}

/// Lets this process open as many files as it may: each connection needs two.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // With fewer files fewer connections are accepted at a time.
    let _ = setrlimit(Resource::Nofile, raised);
}
