//! An app that is a component: this process runs it.

use super::connections::Connections;
use super::outgoing::Egress;
use super::output::RunLog;
use super::redactor::Redactor;
use super::{IDLE_INTERVAL, Socket, Supervision};
use crate::Error;
use crate::folder::Artifact;
use crate::run::{Cause, Phase, Spec};
use agent_host::{Terminations, unix_ms};
use agent_wasi_app::{App, Log, Settings};
use agent_way_out::Proxy;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task;
use tokio::time::{interval, sleep, timeout};

struct SharedLog(Mutex<RunLog>);

impl SharedLog {
    fn lock(&self) -> MutexGuard<'_, RunLog> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log for SharedLog {
    fn write(&self, bytes: &[u8]) {
        self.lock().record(bytes);
    }

    fn note(&self, line: &str) {
        self.lock().note(line);
    }
}

impl Supervision {
    /// Serves a component until its end. The error is why it was not started.
    pub(super) async fn serve(
        &mut self,
        component: &Path,
        spec: &Spec,
        proxy: Option<Proxy>,
        mut stop: Terminations,
    ) -> Result<Cause, String> {
        let words = |error: Error| error.to_string();
        // The share is one of the app alone, which needs no control group, and it starts no process.
        let (limits, unenforced) = spec.limits.settle(true)?;
        self.run.limits = Some(limits);
        self.run.unenforced = unenforced;
        let log = self.task.open_log(Artifact::RunLog).map_err(words)?;
        let log = RunLog::new(log, Redactor::new(spec.secrets.values()));
        let log = log.map_err(|error| error.to_string())?;
        let log = Arc::new(SharedLog(Mutex::new(log)));
        let (_socket, listener) = Socket::listen(&spec.socket)?;
        let bytes = usize::try_from(limits.mem_mb << 20).unwrap_or(usize::MAX);
        let mut settings = Settings::new(bytes);
        settings.cpu_percent = limits.cpu_pct.unwrap_or(100);
        let mut env = spec.env.clone();
        let secrets = spec.secrets.iter();
        env.extend(secrets.map(|(name, secret)| (name.clone(), secret.value.clone())));
        settings.env = env.into_iter().collect();
        settings.outgoing = proxy.map(|proxy| {
            let egress = Egress::new(proxy, Arc::clone(&log) as _);
            Arc::new(egress) as _
        });
        let path = component.to_owned();
        let own = Arc::clone(&log);
        let load = move || App::load(&path, settings, own);
        self.run.launched_ms = Some(unix_ms());
        let mut wall = pin!(sleep(Duration::from_secs(limits.wall_sec)));
        let app = tokio::select! {
            loaded = timeout(spec.ready_timeout, task::spawn_blocking(load)) => match loaded {
                Ok(loaded) => Arc::new(loaded.map_err(|error| error.to_string())??),
                Err(_) => return Err("the component was not compiled in time".to_owned()),
            },
            () = stop.next() => return Ok(Cause::Stopped),
        };
        let connections = Arc::new(Connections::new());
        let serve = {
            let app = Arc::clone(&app);
            move |client| Arc::clone(&app).serve(client)
        };
        let accepting = {
            let connections = Arc::clone(&connections);
            task::spawn(async move { connections.accept(listener, serve).await })
        };
        self.run.phase = Phase::Ready;
        self.run.pid = Some(self.run.supervisor.pid);
        self.run.ready_ms = Some(unix_ms());
        // As for other apps, who waits for this report gives up in time.
        let _ = self.report();
        let mut idle = interval(IDLE_INTERVAL);
        let cause = loop {
            tokio::select! {
                () = stop.next() => break Cause::Stopped,
                () = &mut wall => {
                    let limit = "wall_sec".to_owned();
                    break Cause::Limit { limit };
                }
                _ = idle.tick() => {
                    if spec.idle.is_some_and(|limit| connections.idle() >= limit) {
                        break Cause::Idle;
                    }
                }
            }
        };
        accepting.abort();
        if cause == Cause::Stopped {
            let _ = timeout(spec.grace, app.quiet()).await;
        }
        log.lock().finish();
        Ok(cause)
    }
}
