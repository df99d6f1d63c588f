//! Foreign runners: what they answer is judged by the engine \[2, 3\].

use super::daemon::Daemon;
use super::process::AppProcess;
use super::refusal::{Answered, Refusal, refused};
use super::runners::{failed, runner_of};
use super::staging::BYTES;
use super::task::Task;
use agent_host::contract::daemon::{
    App, ErrorCode, RunLimit, RunnerReply, StagedFile, Start, Started,
};
use agent_packages::AppPackages;
use agent_runners::built_in;
use agent_runners::{Place, Runner, RunnerRequest, RunnerSession};
use agent_syntax::json::Writer;
use agent_tasks::disk::{Quota, exceeded};
use agent_tasks::limits::DEFAULT_FILES;
use agent_tasks::{ForeignRunner, Run, is_abstract};
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use tokio::select;

/// The port of a session in which nothing is started.
const NO_APP: u16 = 8080;

/// What a runner may leave in the folder into which it writes the files of an app.
const STAGED: Quota = Quota {
    bytes: 2 * BYTES,
    files: DEFAULT_FILES,
};

impl Daemon {
    /// Returns the foreign runner of a task's language, if the user gave one.
    pub(crate) fn foreign(&self, task: &Task) -> Option<&Runner> {
        self.foreign.get(task.language.name())
    }

    /// Has a foreign runner write files into a folder, in a session of its own.
    pub(crate) async fn apply_by(
        &self,
        runner: &Runner,
        task: &Task,
        files: &[StagedFile],
        folder: &Path,
    ) -> Answered<RunnerReply> {
        let plan = plan(task, files);
        let plan = RawValue::from_string(plan).map_err(|error| broken(&error))?;
        let place = Place::new(folder, NO_APP);
        let session = RunnerSession::open(runner, &place).await;
        let mut session = session.map_err(|error| broken(&error))?;
        let request = RunnerRequest::Apply {
            task_id: &task.id,
            plan: &plan,
        };
        let keeper = session.id();
        let reply = select! {
            reply = session.call(&request) => reply.map_err(|error| broken(&error)),
            limit = exceeded(folder.to_owned(), move || keeper, STAGED) => {
                let message = format!("the runner exceeded its limit `{limit}`");
                let hint = "use another runner, or a plan with less content";
                Err(refused(ErrorCode::Runtime, message, hint))
            }
        };
        session.end().await;
        let reply = reply?;
        Ok(RunnerReply {
            stdout: reply.stdout,
            stderr: reply.stderr,
            exit_code: reply.exit_code,
        })
    }

    /// Has the runner of its language start the app of a task, under the task's supervisor.
    pub(crate) async fn start(
        &self,
        task: &Rc<Task>,
        mut start: Start,
        packages: Option<AppPackages>,
        component: Option<PathBuf>,
    ) -> Answered<Started> {
        let (words, manifest) = (start.words.clone(), start.manifest.take());
        let env = start.env.clone();
        let process = AppProcess::to_start(self, task, start, packages, component);
        let (run, reply) = match self.foreign(task) {
            Some(runner) => {
                let program = runner.program().to_owned();
                let manifest = manifest.unwrap_or_default();
                let runner = ForeignRunner { program, manifest };
                match process.started_by(runner).await {
                    Ok(run) => (Ok(run.clone()), run.reply),
                    Err((refusal, reply)) => (Err(refusal), reply),
                }
            }
            None => {
                let manifest = built_in::Manifest { words, env };
                let runner = runner_of(task.language);
                let started = async {
                    // A start may name a file that the app has written.
                    let folder = self
                        .with_folder(task, ErrorCode::Fs, |folder| Ok(folder.work()?))
                        .await?;
                    let started = self.runners.start(runner, &folder, &manifest, &process);
                    started.await.map_err(failed)
                };
                let started = started.await;
                let run = started.and_then(|_| process.run().ok_or_else(unstarted));
                (run, None)
            }
        };
        Ok(Started {
            result: run.map(|run| {
                task.socket.replace(Some(Arc::from(&*run.socket)));
                self.app(&run)
            }),
            reply: reply.map(|reply| RunnerReply {
                stdout: reply.stdout.into_bytes(),
                stderr: reply.stderr.into_bytes(),
                exit_code: reply.exit_code,
            }),
        })
    }

    /// Returns a run as the engine sees it.
    pub(crate) fn app(&self, run: &Run) -> App {
        let is_served = self.gateway.address().is_ok() && !is_abstract(&run.socket);
        App {
            socket: is_served.then(|| run.socket.display().to_string()),
            pid: run.pid.and_then(|pid| u32::try_from(pid).ok()),
            unenforced: run.unenforced.iter().filter_map(|it| limit(it)).collect(),
        }
    }
}

fn limit(name: &str) -> Option<RunLimit> {
    match name {
        "cpu_pct" => Some(RunLimit::CpuPct),
        "mem_mb" => Some(RunLimit::MemMb),
        "wall_sec" => Some(RunLimit::WallSec),
        _ => None,
    }
}

fn unstarted() -> Refusal {
    let message = "the runner reported an app that it did not start";
    let hint = "report this as a defect of the runner";
    refused(ErrorCode::Runtime, message, hint)
}

/// Returns a file plan for files of a task.
fn plan(task: &Task, files: &[StagedFile]) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("files").array(|w| {
            for StagedFile { path, content } in files {
                w.object(|w| {
                    // A request has texts alone.
                    w.key("content")
                        .string(&String::from_utf8_lossy(&content.bytes));
                    w.key("mode").number(content.mode);
                    w.key("path").string(path);
                });
            }
        });
        w.key("lang").string(task.language.name());
        let start = task.started.borrow();
        w.key("start").string(start.as_deref().unwrap_or_default());
    });
    w.finish()
}

fn broken(error: &dyn std::error::Error) -> Refusal {
    let hint = "check the runner with `agent test-runner`";
    refused(ErrorCode::Runtime, error.to_string(), hint)
}
