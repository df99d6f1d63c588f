//! A built-in runner as it is tested: typed calls, and an app in a separate sandbox.

use super::Refusal;
use super::protocol::Answer;
use super::subject::{Subject, Subjects};
use crate::built_in::{
    BuiltIn, Command, Condition, ErrorCode, Failure, File, Language, Manifest, Process, Started,
};
use crate::limits::{CONFORMANCE_TIME, START_TIME};
use crate::{APP, Error, Place, Request};
use agent_sandbox::{self as sandbox, Handle, Inside, Mount, Network, Sandbox, Tier};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// How often to look whether the app listens.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// Where the system has its programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The mode of a file without one.
const MODE: u32 = 0o644;

/// A built-in runner.
pub(super) struct BuiltInRunner<'a> {
    pub(super) runners: &'a BuiltIn,
    pub(super) language: Language,
}

impl<'a> Subjects for &'a BuiltInRunner<'a> {
    type Subject = BuiltInSubject<'a>;

    async fn open(&self, folder: &Path, port: u16) -> Result<Self::Subject, Error> {
        let app = App {
            folder: folder.to_owned(),
            port,
            toolchains: RefCell::default(),
            running: RefCell::default(),
        };
        Ok(BuiltInSubject { of: self, app })
    }
}

/// A runner with the folder, the port and the process of an app.
pub(super) struct BuiltInSubject<'a> {
    of: &'a BuiltInRunner<'a>,
    app: App,
}

/// A file of a plan.
#[derive(Deserialize)]
struct Planned {
    path: String,
    content: String,
    #[serde(default)]
    mode: Option<u32>,
}

#[derive(Deserialize)]
struct Plan {
    files: Vec<Planned>,
}

#[derive(Deserialize)]
struct Document {
    entry: Entry,
}

#[derive(Deserialize)]
struct Entry {
    cmd: String,
}

impl BuiltInSubject<'_> {
    /// Has the runner write into a separate folder, and takes its files over, as the daemon does.
    async fn apply(&self, plan: &RawValue) -> Result<String, Failure> {
        let plan: Plan = parsed(plan)?;
        let staging = tempfile::tempdir().map_err(|error| broken(&error))?;
        let files = plan.files.iter().map(|file| File {
            path: file.path.clone(),
            content: file.content.as_bytes().to_owned(),
        });
        let files: Vec<_> = files.collect();
        let BuiltInRunner { runners, language } = self.of;
        let applied = runners
            .apply(*language, staging.path(), &files, &self.app)
            .await?;
        for file in &plan.files {
            let taken = taken(&staging.path().join(&file.path), &self.app.folder, file);
            taken.map_err(|error| broken(&error))?;
        }
        let (writes, target) = (applied.writes, applied.target);
        Ok(json!({ "writes": writes, "target": target }).to_string())
    }

    async fn start(&self, manifest: &RawValue) -> Result<String, Failure> {
        let document: Document = parsed(manifest)?;
        let words = document.entry.cmd.split_whitespace().map(str::to_owned);
        let manifest = Manifest {
            words: words.collect(),
            env: Vec::new(),
        };
        let BuiltInRunner { runners, language } = self.of;
        let started = runners
            .start(*language, &self.app.folder, &manifest, &self.app)
            .await?;
        let (pid, port) = (started.pid, started.port);
        Ok(json!({ "pid": pid, "host": "127.0.0.1", "port": port }).to_string())
    }
}

fn taken(from: &Path, folder: &Path, file: &Planned) -> std::io::Result<()> {
    let to = folder.join(&file.path);
    if let Some(above) = to.parent() {
        fs::create_dir_all(above)?;
    }
    fs::copy(from, &to)?;
    fs::set_permissions(&to, Permissions::from_mode(file.mode.unwrap_or(MODE)))
}

fn parsed<T: DeserializeOwned>(text: &RawValue) -> Result<T, Failure> {
    serde_json::from_str(text.get()).map_err(|error| broken(&error))
}

fn broken(error: &dyn std::error::Error) -> Failure {
    Failure {
        code: ErrorCode::Runtime,
        message: error.to_string(),
        hints: Vec::new(),
    }
}

impl Subject for BuiltInSubject<'_> {
    async fn ask(&mut self, _what: &str, request: &Request<'_>) -> Answer {
        let BuiltInRunner { runners, language } = self.of;
        let (folder, app) = (&self.app.folder, &self.app);
        let answered = match request {
            Request::Apply { plan, .. } => self.apply(plan).await,
            Request::Start { manifest, .. } => self.start(manifest).await,
            Request::Stop { .. } => {
                let stopped = runners.stop(*language, folder, app).await;
                stopped.map(|()| "{}".to_owned())
            }
            Request::Health { .. } => {
                let health = runners.health(*language, folder, app).await;
                health.map(|it| json!({ "live": it.live, "ready": it.ready }).to_string())
            }
        };
        match answered {
            Ok(data) => Answer::Data(data),
            Err(failure) => Answer::Refused(Refusal {
                code: failure.code.name().to_owned(),
                message: failure.message,
            }),
        }
    }

    async fn spoils_streams(&mut self) -> Option<Result<bool, Error>> {
        // It has no streams.
        None
    }

    fn inside(&self) -> Option<Inside> {
        let running = self.app.running.borrow();
        running.as_ref().map(|it| it.inside.clone())
    }

    fn listening(&self) -> Vec<SocketAddr> {
        self.app.listening()
    }

    async fn end(self) {
        self.app.kill().await;
    }
}

/// The app of a test, which runs in a sandbox as apps of tasks do.
struct App {
    folder: PathBuf,
    port: u16,
    toolchains: RefCell<Vec<PathBuf>>,
    running: RefCell<Option<Running>>,
}

struct Running {
    handle: Handle,
    inside: Inside,
    /// Ends with the app.
    ended: JoinHandle<()>,
}

impl App {
    fn listening(&self) -> Vec<SocketAddr> {
        let running = self.running.borrow();
        let live = running.as_ref().filter(|it| !it.ended.is_finished());
        let listening = live.map(|it| it.inside.listening());
        listening.and_then(Result::ok).unwrap_or_default()
    }

    async fn kill(&self) {
        let running = self.running.borrow_mut().take();
        if let Some(running) = running {
            running.handle.kill();
            let _ = running.ended.await;
        }
    }

    async fn spawn(&self, command: Command) -> Result<Running, String> {
        let sandbox = Sandbox::of(Tier::Bubblewrap).await;
        let sandbox = sandbox.map_err(|error| error.to_string())?;
        let mut it = sandbox::Command::new("/bin/sh");
        it.arguments = ["-c", "exec \"$@\"", "sh"].map(Into::into).to_vec();
        it.arguments
            .extend(command.words.into_iter().map(Into::into));
        it.env.insert("PATH".into(), PATH.into());
        let env = command.env.into_iter();
        it.env
            .extend(env.map(|(name, value)| (name.into(), value.into())));
        it.env.insert("PORT".into(), self.port.to_string().into());
        it.read = self.toolchains.borrow().clone();
        let (folder, writable) = (self.folder.clone(), true);
        it.mounts.insert(APP.into(), Mount { folder, writable });
        it.cwd = Some(APP.into());
        it.network = Network::Inbound;
        let mut limits = Place::new(&self.folder, self.port).limits;
        limits.wall_time = Some(CONFORMANCE_TIME);
        let mut child = sandbox
            .spawn(it, limits)
            .await
            .map_err(|error| error.to_string())?;
        child.stdin = None;
        let inside = child.inside().ok_or("the sandbox gave no network")?;
        let stdout = child.stdout.take();
        let handle = child.handle();
        let ended = tokio::spawn(async move {
            if let Some(mut stdout) = stdout {
                let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
            }
            let _ = child.wait().await;
        });
        Ok(Running {
            handle,
            inside,
            ended,
        })
    }
}

impl Process for App {
    async fn toolchain(&self, program: &str) -> Option<String> {
        let found = sandbox::toolchain(program)?;
        self.toolchains.borrow_mut().extend(found.read);
        Some(found.program)
    }

    async fn start(&self, command: Command) -> Result<Started, Failure> {
        let failed = |code, message: &str| {
            Err(Failure {
                code,
                message: message.to_owned(),
                hints: Vec::new(),
            })
        };
        let running = match self.spawn(command).await {
            Ok(running) => running,
            Err(reason) => return failed(ErrorCode::Runtime, &reason),
        };
        let handle = running.handle.clone();
        self.running.replace(Some(running));
        let deadline = Instant::now() + START_TIME;
        loop {
            let listening = self.listening();
            let asked = listening.iter().find(|it| it.port() == self.port);
            if let Some(address) = asked.or(listening.first()) {
                return Ok(Started {
                    pid: handle.id().and_then(|pid| u32::try_from(pid).ok()),
                    port: Some(address.port()),
                });
            }
            let running = self
                .running
                .borrow()
                .as_ref()
                .map(|it| it.ended.is_finished());
            if running != Some(false) {
                return failed(ErrorCode::Runtime, "the app ended before it was ready");
            }
            if Instant::now() >= deadline {
                return failed(ErrorCode::Timeout, "the app was not ready in time");
            }
            sleep(LOOK_INTERVAL).await;
        }
    }

    async fn stop(&self) -> Result<(), Failure> {
        self.kill().await;
        Ok(())
    }

    async fn check(&self) -> Condition {
        let ready = !self.listening().is_empty();
        let running = self.running.borrow();
        let live = running.as_ref().is_some_and(|it| !it.ended.is_finished());
        Condition { live, ready }
    }
}
