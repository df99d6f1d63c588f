//! Foreign runners: what they answer is judged by the engine \[2, 3\].

use super::daemon::Daemon;
use super::files::FILES;
use super::grants::Grants;
use super::planning::name as language_name;
use super::process::AppProcess;
use super::refusal::{Answered, refused};
use super::run_start::no_port;
use super::staging::BYTES;
use super::task::Task;
use agent_host::call;
use agent_host::contract::daemon::{ErrorCode, Manifest, StartContent};
use agent_packages::AppPackages;
use agent_runners::built_in::File;
use agent_runners::{Place, Runner, RunnerRequest, RunnerSession};
use agent_syntax::json::Writer;
use agent_tasks::disk::{Quota, exceeded};
use agent_tasks::limits::DEFAULT_FILES;
use agent_tasks::{ForeignRunner, Reply, Run};
use serde_json::value::RawValue;
use std::path::Path;
use std::rc::Rc;
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
        self.foreign.get(language_name(task.language))
    }

    /// Has a foreign runner write files into a folder, in a session of its own.
    pub(crate) async fn apply_by(
        &self,
        runner: &Runner,
        task: &Task,
        files: &[(File, u32)],
        folder: &Path,
    ) -> Answered<()> {
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
        self.judged(&reply.stdout, &reply.stderr, reply.exit_code)
    }

    /// Has a foreign runner start the app of a task, under the task's supervisor.
    pub(crate) async fn started_by(
        &self,
        runner: &Runner,
        task: &Rc<Task>,
        content: &StartContent,
        packages: Option<AppPackages>,
        grants: Grants,
    ) -> Answered<Run> {
        // A manifest names the port of the host.
        let lease = self.gateway.lease(&task.id).map_err(no_port)?;
        let files = self
            .with_folder(task, ErrorCode::Fs, |folder| {
                Ok(folder.source()?.files(FILES)?)
            })
            .await?;
        let manifest = Manifest {
            task_id: task.id.clone(),
            cmd: command_line(&content.steps.start),
            socket: None,
            tcp_port: Some(lease.port()),
            files,
            language: task.language,
        };
        let manifest = self
            .decider
            .ask(|engine| call!(engine, daemon.call_manifest_json(&manifest)))?;
        let program = runner.program().to_owned();
        let process = AppProcess::to_start(self, task, content, packages, grants);
        let started = process
            .started_by(ForeignRunner { program, manifest })
            .await;
        // What the runner says of a failure is better than what was seen of it.
        let reply = match &started {
            Ok(run) => run.reply.clone(),
            Err((_, reply)) => reply.clone(),
        };
        if let Some(Reply {
            stdout,
            stderr,
            exit_code,
        }) = reply
        {
            self.judged(stdout.as_bytes(), stderr.as_bytes(), exit_code)?;
        }
        started.map_err(|(refusal, _)| refusal)
    }

    /// Judges an answer.
    fn judged(&self, stdout: &[u8], stderr: &[u8], exit_code: i32) -> Answered<()> {
        self.decider.decide(|engine| {
            let answer = call!(engine, daemon.call_runner_answer(stdout, stderr, exit_code))?;
            Ok(answer.map(drop))
        })
    }
}

/// Returns a file plan for files of a task.
fn plan(task: &Task, files: &[(File, u32)]) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("files").array(|w| {
            for (File { path, content }, mode) in files {
                w.object(|w| {
                    // A request has texts alone.
                    w.key("content").string(&String::from_utf8_lossy(content));
                    w.key("mode").number(*mode);
                    w.key("path").string(path);
                });
            }
        });
        w.key("lang").string(language_name(task.language));
        let start = task.started.borrow();
        w.key("start").string(start.as_deref().unwrap_or_default());
    });
    w.finish()
}

fn broken(error: &dyn std::error::Error) -> agent_host::contract::daemon::Failure {
    let hint = "check the runner with `agent runner test`";
    refused(ErrorCode::Runtime, error.to_string(), hint)
}

/// Returns words as a command line that a shell splits into the same words.
fn command_line(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let words = words.iter().map(
        |word| match !word.is_empty() && word.chars().all(is_plain) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        },
    );
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::command_line;

    #[test]
    fn words_of_a_command_line_stay_apart() {
        let words = ["python3", "my app.py", "", "it's", "$HOME;", "--a=b"].map(str::to_owned);
        assert_eq!(
            command_line(&words),
            r"python3 'my app.py' '' 'it'\''s' '$HOME;' --a=b"
        );
    }
}
