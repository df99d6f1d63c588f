//! An app that a foreign runner starts: runner and app share a sandbox \[2, 3\].

use super::bridge::Bridge;
use super::output::{Awaited, RunLog, locked};
use super::redactor::Redactor;
use super::way_out::WayOut;
use super::{IDLE_INTERVAL, Socket, Supervision};
use crate::disk::{self, Quota};
use crate::folder::Artifact;
use crate::limits::{MAX_LOG_BYTES, RUN_FILE_BYTES, RUN_OPEN_FILES};
use crate::run::{Cause, ForeignRunner, Phase, Reply, RunLimits, Spec};
use crate::sockets;
use agent_host::{Terminations, unix_ms};
use agent_runners::{Error, Place, Runner, RunnerRequest, RunnerSession};
use agent_way_out::Proxy;
use serde_json::value::RawValue;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::select;
use tokio::task;
use tokio::time::{Instant, interval, timeout};

/// How often to look at the log and the ports of the app.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Number of looks after which the runner is asked about an app that does not listen any more.
const SILENT_LOOKS: u32 = 10;

/// The exit code of a success.
const SUCCESS: i32 = 0;

impl Supervision {
    /// Has the runner start the app, and waits for its end. The error is why it was not started.
    pub(super) async fn perform_by_runner(
        &mut self,
        spec: &Spec,
        foreign: &ForeignRunner,
        limits: RunLimits,
        proxy: Option<Proxy>,
        mut awaited: Option<Awaited>,
        mut stop: Terminations,
    ) -> Result<Cause, String> {
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let id = self.run.task_id.clone();
        let manifest = RawValue::from_string(foreign.manifest.clone());
        let manifest = manifest.map_err(|error| words(&error))?;
        let mut runner = Runner::new(&foreign.program).map_err(|error| words(&error))?;
        runner.read.extend(spec.read.iter().cloned());
        let log = self.task.open_log(Artifact::RunLog);
        let log = log.map_err(|error| words(&error))?;
        let redactor = Redactor::new(spec.secrets.values());
        let log = RunLog::new(log, redactor).map_err(|error| words(&error))?;
        let mut log = Followed {
            file: Arc::new(Mutex::new(log)),
            taken: 0,
        };
        let (_socket, clients) = Socket::listen(&spec.socket)?;
        let wait_socket = sockets::wait_socket(&spec.socket);
        let (_wait_socket, gateways) = Socket::listen(&wait_socket)?;

        let mut place = Place::new(self.task.work_path(), spec.port);
        place.env.clone_from(&spec.env);
        let secrets = spec.secrets.iter();
        let secrets = secrets.map(|(name, secret)| (name.clone(), secret.value.clone()));
        place.env.extend(secrets);
        place.readonly = spec.readonly;
        place.has_proxy = proxy.is_some();
        place.folders.clone_from(&spec.folders);
        place.limits.wall_time = Some(Duration::from_secs(limits.wall_sec));
        place.limits.cpu_percent = limits.cpu_pct;
        place.limits.memory_bytes = limits.mem_mb.saturating_mul(1 << 20);
        place.limits.processes = limits.pids;
        place.limits.file_bytes = RUN_FILE_BYTES;
        // What is more than the log may have makes it say so.
        place.limits.stderr_bytes = MAX_LOG_BYTES + 1;
        place.limits.open_files = RUN_OPEN_FILES;
        let mut session = RunnerSession::open(&runner, &place).await;
        let session = session.as_mut().map_err(|error| words(error))?;
        self.run.launched_ms = Some(unix_ms());
        let way_out = proxy.zip(session.take_proxy());
        let way_out = way_out.map(|(proxy, listener)| proxy.start(listener));
        let way_out = way_out.transpose().map_err(|error| words(&error))?;
        let mut way_out = way_out.map(|serving| WayOut::new(serving, Arc::clone(&log.file)));
        let deadline = Instant::now() + spec.ready_timeout;

        let start = RunnerRequest::Start {
            task_id: id.as_str(),
            manifest: &manifest,
        };
        let app = session.id();
        let full = disk::exceeded(self.task.work_path(), move || app, Quota::of(limits));
        let performed = async {
            let reply = select! {
                biased;
                () = stop.next() => return Ok(Cause::Stopped),
                reply = session.call(&start) => reply.map_err(|error| words(&error)),
            };
            log.follow(session, &mut awaited);
            let reply = reply?;
            let exit_code = reply.exit_code;
            let clean = |bytes: &[u8]| {
                let mut redactor = Redactor::new(spec.secrets.values());
                [redactor.push(bytes), redactor.finish()].concat()
            };
            self.run.reply = Some(Reply {
                stdout: String::from_utf8(clean(&reply.stdout)).unwrap_or_default(),
                stderr: String::from_utf8_lossy(&clean(&reply.stderr)).into_owned(),
                exit_code,
            });
            if exit_code != SUCCESS {
                return Err(format!("the runner ended with {exit_code}"));
            }
            let inside = session.inside().ok_or("the runner's sandbox has ended")?;
            let bridge = Arc::new(Bridge::new(inside, spec.port));
            let serving = task::spawn(Arc::clone(&bridge).serve(clients, gateways));
            let cause = self
                .watch_runner(
                    spec,
                    session,
                    &bridge,
                    &mut log,
                    way_out.as_mut(),
                    awaited,
                    deadline,
                    stop,
                )
                .await;
            serving.abort();
            Ok(cause)
        };
        let performed = select! {
            biased;
            // Nothing is left of a sandbox whose session is dropped.
            name = full => Ok(super::limit(name)),
            performed = performed => performed,
        };
        log.follow(session, &mut None);
        locked(&log.file).finish();
        if let Some(way_out) = &mut way_out {
            way_out.log_refusals();
        }
        performed
    }

    /// Waits for the end of the app, and reports when it is ready.
    #[expect(clippy::too_many_arguments, reason = "the parts of one run")]
    async fn watch_runner(
        &mut self,
        spec: &Spec,
        session: &mut RunnerSession,
        bridge: &Bridge,
        log: &mut Followed,
        mut way_out: Option<&mut WayOut>,
        mut awaited: Option<Awaited>,
        deadline: Instant,
        mut stop: Terminations,
    ) -> Cause {
        let (mut looks, mut idle) = (interval(LOOK_INTERVAL), interval(IDLE_INTERVAL));
        let mut silent = 0;
        loop {
            select! {
                biased;
                () = stop.next() => {
                    self.stop_by_runner(spec, session).await;
                    return Cause::Stopped;
                }
                _ = idle.tick() => {
                    if let Some(way_out) = &mut way_out {
                        way_out.log_refusals();
                    }
                    if spec.idle.is_some_and(|limit| bridge.idle() >= limit) {
                        self.stop_by_runner(spec, session).await;
                        return Cause::Idle;
                    }
                }
                _ = looks.tick() => {}
            }
            log.follow(session, &mut awaited);
            let found = bridge.find();
            if self.run.phase == Phase::Starting {
                let is_ready = awaited.is_none() && found.is_some();
                if is_ready || Instant::now() >= deadline {
                    self.report_app(found.filter(|_| is_ready).map(|it| it.port()), session);
                }
            }
            silent = if found.is_some() { 0 } else { silent + 1 };
            if silent < SILENT_LOOKS {
                continue;
            }
            silent = 0;
            let task_id = self.run.task_id.clone();
            let health = RunnerRequest::Health {
                task_id: task_id.as_str(),
            };
            match session.call(&health).await {
                Ok(reply) if is_live(&reply.stdout) => {}
                // Without a word of its runner, an app that does not listen is gone.
                Ok(_) => return Cause::Gone,
                Err(error) => return ended(error),
            }
        }
    }

    /// Has the runner end the app; then nothing is left of it.
    async fn stop_by_runner(&self, spec: &Spec, session: &mut RunnerSession) {
        let stop = RunnerRequest::Stop {
            task_id: self.run.task_id.as_str(),
        };
        let _ = timeout(spec.grace, session.call(&stop)).await;
    }

    /// Reports that the app is ready at a port, or is not ready in time.
    fn report_app(&mut self, port: Option<u16>, session: &RunnerSession) {
        self.run.pid = session.id();
        self.run.port = port;
        self.run.phase = match port {
            Some(_) => Phase::Ready,
            None => Phase::NotReady,
        };
        self.run.ready_ms = port.map(|_| unix_ms());
        // The end will be reported, and who waits for this report gives up in time.
        let _ = self.report();
    }
}

/// The log of a session, of which a part is in `run.log`.
struct Followed {
    file: Arc<Mutex<RunLog>>,
    taken: usize,
}

impl Followed {
    /// Writes what is new, and looks for the line that is awaited.
    fn follow(&mut self, session: &RunnerSession, awaited: &mut Option<Awaited>) {
        let new = session.log_since(self.taken).bytes;
        if !new.is_empty() {
            locked(&self.file).take(&new, awaited);
            self.taken += new.len();
        }
    }
}

/// Returns whether an answer of `health` says that the app runs.
fn is_live(answer: &[u8]) -> bool {
    let answer = serde_json::from_slice::<serde_json::Value>(answer);
    answer.is_ok_and(|it| it["data"]["live"] == true)
}

fn ended(error: Error) -> Cause {
    match error {
        Error::Sandbox(error) => super::cause(Err(error)),
        other => Cause::NotStarted {
            reason: other.to_string(),
        },
    }
}
