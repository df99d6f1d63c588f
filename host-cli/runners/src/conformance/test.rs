//! The checks, and the sessions in which they happen.

use super::built_in::BuiltInRunner;
use super::foreign::Foreign;
use super::protocol::{Protocol, RunnerAnswer, quoted};
use super::subject::{Subject, Subjects};
use super::{App, AppFile, Check, CheckOutcome, Judge, Refusal, Report, client};
use crate::built_in::{BuiltIn, Language};
use crate::limits::{CONFORMANCE_BIG_BYTES, CONFORMANCE_WAIT};
use crate::{APP, Applied, Error, Health, Runner, RunnerRequest, Started};
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// The task of every request.
const TASK: &str = "c0ffee";
/// Two ports, each for a session. A manifest has neither: it names the leased one.
const PORTS: [u16; 2] = [8080, 8181];
/// The leased port in manifests.
const LEASED: u16 = 61_000;
/// The mode of a file without one.
const MODE: u32 = 0o644;
/// The check that an app has other streams than its runner.
const APP_OUTPUT: &str = "app-output";
/// Why a check of `health` is skipped.
const NO_HEALTH: &str = "the runner has no `health`";
/// How often to look whether an app is gone.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// Tests a foreign runner with an app.
///
/// # Errors
///
/// If this machine has no sandbox for it, or the runner is not executable. Whatever the runner does is in the report.
pub async fn test(runner: &Runner, app: &App, judge: &impl Judge) -> Result<Report, Error> {
    let foreign = Foreign {
        runner,
        judge,
        protocol: RefCell::default(),
    };
    let judged = |manifest: &[u8]| judge.manifest(manifest, TASK);
    let mut test = Test::new(&foreign, app, &judged);
    test.requests().await?;
    test.plans().await?;
    test.runs().await?;
    test.crash().await?;
    test.protocol();
    Ok(test.report())
}

/// Tests the built-in runner of a language with an app. What only invocations of executables can break is not
/// checked.
///
/// # Errors
///
/// As [`test()`].
pub async fn test_built_in(
    runners: &BuiltIn,
    language: Language,
    app: &App,
) -> Result<Report, Error> {
    let runner = BuiltInRunner { runners, language };
    // The host makes the manifests of built-in runners.
    let mut test = Test::new(&runner, app, &|_| Ok(()));
    test.plans().await?;
    test.runs().await?;
    test.crash().await?;
    Ok(test.report())
}

/// Why a check did not pass.
enum Why {
    Failed(String),
    Skipped(String),
}

type Checked<T = ()> = Result<T, Why>;

fn failed<T>(sentence: impl Into<String>) -> Checked<T> {
    Err(Why::Failed(sentence.into()))
}

fn skipped<T>(sentence: impl Into<String>) -> Checked<T> {
    Err(Why::Skipped(sentence.into()))
}

impl RunnerAnswer {
    /// Returns the data of a success.
    fn data(self, what: &str) -> Checked<String> {
        match self {
            Self::Data(data) => Ok(data),
            Self::Refused(it) => failed(format!("{what} failed with {}: {}", it.code, it.message)),
            Self::Unusable(reason) => skipped(reason),
        }
    }

    /// Checks for a failure with one of some codes.
    fn refused(self, what: &str, codes: &[&str]) -> Checked {
        let wanted = codes.join(" or ");
        match self {
            Self::Data(_) => failed(format!("{what} succeeded; it must fail with {wanted}")),
            Self::Refused(it) if codes.contains(&it.code.as_str()) => Ok(()),
            Self::Refused(it) => failed(format!(
                "{what} failed with {} ({}); it must fail with {wanted}",
                it.code, it.message
            )),
            Self::Unusable(reason) => skipped(reason),
        }
    }
}

struct Test<'a, S> {
    subjects: S,
    app: &'a App,
    /// Accepts the manifest that a runner made.
    judged: &'a dyn Fn(&[u8]) -> Result<(), Refusal>,
    checks: Vec<Check>,
}

/// A file plan.
#[derive(Serialize)]
struct Plan<'a> {
    files: &'a [AppFile],
    start: &'a str,
    lang: &'a str,
}

impl<'a, J: Judge> Test<'a, &'a Foreign<'a, J>> {
    /// Requests that no runner of this version knows.
    async fn requests(&mut self) -> Result<(), Error> {
        let folder = folder()?;
        let mut session = self.subjects.open(folder.path(), PORTS[0]).await?;
        let requests: [(&str, &str, &str, &[u8]); 3] = [
            (
                "unknown-method",
                "a method that it does not know",
                "it refuses a method that it does not know",
                br#"{"method":"conformance","version":"v1","task_id":"c0ffee"}"#,
            ),
            (
                "other-version",
                "a request of version `v0`",
                "it refuses a request of another version",
                br#"{"method":"stop","version":"v0","task_id":"c0ffee"}"#,
            ),
            (
                "not-json",
                "a request that is not JSON",
                "it refuses what is not JSON",
                br#"{"method":"stop","version":"v1","#,
            ),
        ];
        for (name, what, meaning, request) in requests {
            let answer = session.ask_raw(what, request).await;
            self.check(name, meaning, answer.refused(what, &["E_PLAN"]));
        }
        session.end().await;
        Ok(())
    }

    /// Adds the checks of every invocation.
    fn protocol(&mut self) {
        let Protocol {
            ends,
            one_object,
            quiet,
            envelope,
            exit_code,
        } = self.subjects.protocol.take();
        for (name, meaning, fault) in [
            ("ends", "each invocation ends in its time", ends),
            (
                "one-object",
                "each invocation writes one JSON object to standard output",
                one_object,
            ),
            ("quiet", "no invocation writes to standard error", quiet),
            (
                "envelope",
                "each answer has `ok`, `version`, and an `error` with `code` and `message` if it failed",
                envelope,
            ),
            (
                "exit-code",
                "each exit code is that of the answer's `error.code`, or 0",
                exit_code,
            ),
        ] {
            let checked = fault.map_or(Ok(()), failed);
            self.check(name, meaning, checked);
        }
    }
}

impl<'a, S: Subjects> Test<'a, S> {
    fn new(subjects: S, app: &'a App, judged: &'a dyn Fn(&[u8]) -> Result<(), Refusal>) -> Self {
        Self {
            subjects,
            app,
            judged,
            checks: Vec::new(),
        }
    }

    fn check(&mut self, name: &'static str, meaning: &str, checked: Checked) {
        let (outcome, sentence) = match checked {
            Ok(()) => (CheckOutcome::Passed, meaning.to_owned()),
            Err(Why::Failed(sentence)) => (CheckOutcome::Failed, sentence),
            Err(Why::Skipped(reason)) => (CheckOutcome::Skipped, format!("not checked: {reason}")),
        };
        self.checks.push(Check {
            name,
            outcome,
            sentence,
        });
    }

    async fn apply(
        &mut self,
        session: &mut S::Subject,
        what: &str,
        files: &[AppFile],
    ) -> Result<RunnerAnswer, Error> {
        let plan = raw(&Plan {
            files,
            start: &self.app.start,
            lang: &self.app.language,
        })?;
        let task_id = TASK;
        let request = RunnerRequest::Apply {
            task_id,
            plan: &plan,
        };
        Ok(session.ask(what, &request).await)
    }

    /// Plans that are applied, and plans that are not.
    async fn plans(&mut self) -> Result<(), Error> {
        let folder = folder()?;
        let mut session = self.subjects.open(folder.path(), PORTS[0]).await?;
        let files = vec![
            AppFile::new("data/ünï \u{1f600}.txt", "line\r\n\u{0}\"\\\n"),
            AppFile {
                mode: Some(0o755),
                ..AppFile::new("tools/run.sh", "#!/bin/sh\n")
            },
        ];
        let what = "`apply`";
        let answer = self.apply(&mut session, what, &files).await?;
        let checked = self.applied(answer, what, &files, folder.path());
        let meaning = "`apply` writes files with their modes, and returns `writes` and `target`";
        self.check("apply-writes", meaning, checked.map(|_| ()));

        let mut checked = Ok(());
        for path in [
            "../outside.txt",
            "/tmp/outside.txt",
            "data/../../outside.txt",
        ] {
            let files = [AppFile::new("kept.txt", ""), AppFile::new(path, "")];
            let what = format!("`apply` of a plan with `{path}`");
            let answer = self.apply(&mut session, &what, &files).await?;
            checked = checked.and(answer.refused(&what, &["E_PLAN", "E_FS"]));
            if checked.is_ok() && folder.path().join("kept.txt").exists() {
                checked = failed(format!("{what} failed, and wrote the files before it"));
            }
        }
        let meaning = "`apply` refuses a plan with a path that leads outside, and writes nothing";
        self.check("apply-outside", meaning, checked);

        let files = [AppFile::new(
            "big.txt",
            "0123456789abcde\n".repeat(CONFORMANCE_BIG_BYTES / 16),
        )];
        let what = format!("`apply` of a file of {CONFORMANCE_BIG_BYTES} bytes");
        let answer = self.apply(&mut session, &what, &files).await?;
        let checked = self.applied(answer, &what, &files, folder.path());
        self.check("big-input", "it reads a large request", checked.map(|_| ()));
        session.end().await;
        Ok(())
    }

    /// Checks that a plan was applied.
    fn applied(
        &self,
        answer: RunnerAnswer,
        what: &str,
        files: &[AppFile],
        folder: &Path,
    ) -> Checked<Applied> {
        let data = answer.data(what)?;
        let applied = match Applied::read(&data) {
            Ok(applied) => applied,
            Err(reason) => return failed(format!("{what} returned wrong data: {reason}")),
        };
        for file in files {
            written(file, folder).or_else(|reason| failed(format!("{what}: {reason}")))?;
        }
        let (writes, target, count) = (applied.writes, &applied.target, files.len());
        if writes != count as u64 {
            return failed(format!(
                "{what} of {count} files returned `writes` {writes}"
            ));
        }
        if target != APP {
            return failed(format!(
                "{what} returned the target `{target}`, not `{APP}`"
            ));
        }
        if let Some(manifest) = &applied.manifest
            && let Err(refusal) = (self.judged)(manifest.get().as_bytes())
        {
            let message = refusal.message;
            return failed(format!("{what} returned a wrong manifest: {message}"));
        }
        Ok(applied)
    }

    /// A manifest of the app, as the host makes it.
    fn manifest(&self, start: &str) -> Result<Box<RawValue>, Error> {
        let files: Vec<_> = self.app.files.iter().map(|file| &file.path).collect();
        raw(&json!({
            "task_id": TASK,
            "entry": {"cmd": start},
            "transport": {"type": "tcp", "tcp_fallback": {"host": "127.0.0.1", "port": LEASED}},
            "files": files,
            "lang": self.app.language,
        }))
    }

    /// The app's life, in a session for each port.
    async fn runs(&mut self) -> Result<(), Error> {
        let folder = folder()?;
        let mut session = self.subjects.open(folder.path(), PORTS[0]).await?;
        let files = &self.app.files;
        let what = "`apply` of the app";
        let answer = self.apply(&mut session, what, files).await?;
        let manifest = match self.applied(answer, what, files, folder.path()) {
            Ok(applied) => match applied.manifest {
                Some(manifest) => Ok(manifest),
                None => Ok(self.manifest(&self.app.start)?),
            },
            Err(Why::Failed(reason) | Why::Skipped(reason)) => Err(reason),
        };
        self.life(&mut session, &manifest).await;
        session.end().await;

        let [_, port] = PORTS;
        let mut session = self.subjects.open(folder.path(), port).await?;
        let checked = match &manifest {
            Ok(manifest) => {
                let answer = self.start(&mut session, manifest).await;
                read_started(answer).and_then(|_| listens(&session, port))
            }
            Err(reason) => skipped(reason),
        };
        self.check("port", "the app listens at `PORT`", checked);
        session.end().await;
        Ok(())
    }

    async fn start(&self, session: &mut S::Subject, manifest: &RawValue) -> RunnerAnswer {
        let task_id = TASK;
        let request = RunnerRequest::Start { task_id, manifest };
        session.ask("`start`", &request).await
    }

    async fn life(&mut self, session: &mut S::Subject, manifest: &Result<Box<RawValue>, String>) {
        let before = self.health(session, "`health` before `start`").await;
        let has_health = before.as_ref().map_or(true, Option::is_some);
        let checked = before.and_then(|it| health_is(it, false, "before `start`"));
        let meaning = "`health` reports that nothing runs before `start`";
        self.check("health-before", meaning, checked);

        let begun = match manifest {
            Ok(manifest) => {
                let answer = self.start(session, manifest).await;
                self.reached(session, answer).await
            }
            Err(reason) => skipped(reason),
        };
        let runs = match &begun {
            Ok(()) => Ok(()),
            Err(Why::Failed(reason) | Why::Skipped(reason)) => Err(reason.clone()),
        };
        let meaning = "`start` returns an address at which the app answers";
        self.check("start-address", meaning, begun);

        let checked = match (&runs, has_health) {
            (Err(reason), _) => skipped(reason),
            (Ok(()), false) => skipped(NO_HEALTH),
            (Ok(()), true) => {
                let after = self.health(session, "`health` after `start`").await;
                after.and_then(|it| health_is(it, true, "after `start`"))
            }
        };
        let meaning = "`health` reports an app that runs and is ready after `start`";
        self.check("health-after", meaning, checked);

        if runs.is_err() {
            self.check(APP_OUTPUT, "", skipped("the app did not start"));
        } else if let Some(spoils) = session.spoils_streams().await {
            let checked = match spoils {
                Ok(false) => Ok(()),
                Ok(true) => {
                    failed("the app writes to the standard output or error that `start` gave it")
                }
                Err(error) => skipped(error.to_string()),
            };
            let meaning = "the app does not write to the streams of the runner";
            self.check(APP_OUTPUT, meaning, checked);
        }

        let stop = RunnerRequest::Stop { task_id: TASK };
        let checked = match &runs {
            Ok(()) => {
                let answer = session.ask("`stop`", &stop).await;
                match answer.data("`stop`") {
                    Ok(_) => gone(session).await,
                    Err(why) => Err(why),
                }
            }
            Err(reason) => skipped(reason),
        };
        let is_stopped = checked.is_ok();
        self.check("stop-ends", "`stop` ends the app", checked);

        let checked = match (is_stopped, has_health) {
            (false, _) => skipped("`stop` did not end the app"),
            (true, false) => skipped(NO_HEALTH),
            (true, true) => {
                let stopped = self.health(session, "`health` after `stop`").await;
                stopped.and_then(|it| health_is(it, false, "after `stop`"))
            }
        };
        let meaning = "`health` reports that nothing runs after `stop`";
        self.check("health-stopped", meaning, checked);

        let what = "`stop` of an app that does not run";
        let answer = session.ask(what, &stop).await;
        let checked = answer.data(what).map(|_| ());
        self.check(
            "stop-twice",
            "`stop` of an app that does not run succeeds",
            checked,
        );
    }

    /// Returns what `health` answers; `None` if the runner does without.
    async fn health(&mut self, session: &mut S::Subject, what: &str) -> Checked<Option<Health>> {
        let request = RunnerRequest::Health { task_id: TASK };
        match session.ask(what, &request).await {
            RunnerAnswer::Refused(it) if it.code == "E_PLAN" => Ok(None),
            answer => {
                let data = answer.data(what)?;
                Health::read(&data)
                    .map(Some)
                    .or_else(|reason| failed(format!("{what} returned wrong data: {reason}")))
            }
        }
    }

    /// Checks that the app answers where `start` says.
    async fn reached(&self, session: &S::Subject, answer: RunnerAnswer) -> Checked {
        let it = read_started(answer)?;
        let (host, port) = (it.host, it.port);
        let (true, Some(inside)) = (it.is_among(&session.listening()), session.inside()) else {
            return failed(format!(
                "`start` returned {host}:{port}, where nothing listens"
            ));
        };
        let response = match client::get(&inside, host, port).await {
            Ok(response) => response,
            Err(error) => {
                return failed(format!("the app at {host}:{port} does not answer: {error}"));
            }
        };
        let has_status =
            response.starts_with("HTTP/1.0 200") || response.starts_with("HTTP/1.1 200");
        match has_status && response.contains(&self.app.answer) {
            true => Ok(()),
            false => failed(format!(
                "the app at {host}:{port} answers with {}",
                quoted(response.as_bytes())
            )),
        }
    }

    /// An app that ends at once.
    async fn crash(&mut self) -> Result<(), Error> {
        let folder = folder()?;
        let mut session = self.subjects.open(folder.path(), PORTS[0]).await?;
        let manifest = self.manifest("false")?;
        let what = "`start` of an app that ends at once";
        let task_id = TASK;
        let request = RunnerRequest::Start {
            task_id,
            manifest: &manifest,
        };
        let answer = session.ask(what, &request).await;
        let checked = answer.refused(what, &["E_RUNTIME"]);
        self.check(
            "start-crash",
            "`start` fails if the app ends at once",
            checked,
        );
        session.end().await;
        Ok(())
    }

    fn report(self) -> Report {
        Report {
            checks: self.checks,
        }
    }
}

fn read_started(answer: RunnerAnswer) -> Checked<Started> {
    let data = answer.data("`start`")?;
    Started::read(&data).or_else(|reason| failed(format!("`start` returned wrong data: {reason}")))
}

fn listens(session: &impl Subject, port: u16) -> Checked {
    let listening = session.listening();
    if listening.iter().any(|it| it.port() == port) {
        return Ok(());
    }
    let found: Vec<_> = listening.iter().map(ToString::to_string).collect();
    let found = quoted(found.join(", ").as_bytes());
    failed(format!("`PORT` was {port}, and the app listens at {found}"))
}

fn health_is(health: Option<Health>, expected: bool, when: &str) -> Checked {
    match health {
        None => skipped(NO_HEALTH),
        Some(it) if (it.live, it.ready) == (expected, expected) => Ok(()),
        Some(Health { live, ready }) => failed(format!(
            "`health` {when} returned `live` {live} and `ready` {ready}, not {expected}"
        )),
    }
}

/// Checks that nothing listens any more.
async fn gone(session: &impl Subject) -> Checked {
    let deadline = Instant::now() + CONFORMANCE_WAIT;
    while !session.listening().is_empty() {
        if Instant::now() >= deadline {
            let seconds = CONFORMANCE_WAIT.as_secs();
            return failed(format!("the app listens {seconds} s after `stop`"));
        }
        sleep(LOOK_INTERVAL).await;
    }
    Ok(())
}

/// Checks that a file was written. The error is what is wrong.
fn written(file: &AppFile, folder: &Path) -> Result<(), String> {
    let path = folder.join(&file.path);
    let shown = &file.path;
    let read = fs::symlink_metadata(&path).and_then(|data| Ok((data, fs::read(&path)?)));
    let (data, content) = read.map_err(|error| format!("`{shown}` can't be read: {error}"))?;
    if content != file.content.as_bytes() {
        let (found, expected) = (content.len(), file.content.len());
        return Err(format!(
            "`{shown}` has other content: {found} bytes, of {expected} expected"
        ));
    }
    let (mode, expected) = (data.permissions().mode() & 0o777, file.mode.unwrap_or(MODE));
    match mode == expected {
        true => Ok(()),
        false => Err(format!(
            "`{shown}` has the mode {mode:#o}, not {expected:#o}"
        )),
    }
}

fn folder() -> Result<TempDir, Error> {
    tempfile::tempdir().map_err(|error| Error::NotStarted(error.to_string()))
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, Error> {
    to_raw_value(value).map_err(|error| Error::NotStarted(error.to_string()))
}
