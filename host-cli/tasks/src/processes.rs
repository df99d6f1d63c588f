//! The supervisors of tasks, as the program that starts them sees them.

use crate::folder::Task;
use crate::limits::{MAX_SPEC_BYTES, SUPERVISOR_END, SUPERVISOR_START};
use crate::run::{App, Cause, End, Phase, Run, Spec};
use crate::sockets;
use crate::supervisor::Order;
use crate::{Error, ErrorKind};
use agent_host::unix_ms;
use rustix::process::Signal;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often to look for a report.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// How long the processes of a killed supervisor may take to end.
const GROUPS_END: Duration = Duration::from_secs(2);

/// The beginning of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// The app is ready.
    Ready(Run),
    /// The app has ended before it was ready.
    Ended(Run),
    /// The app was not ready in time. It runs on.
    TimedOut(Run),
}

/// What a task is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It never ran.
    Never,
    /// It runs.
    Running(Run),
    /// It has ended.
    Ended(Run),
}

impl Task {
    /// Starts the app under a supervisor, and waits until it is ready, has ended or took too long. `program`
    /// is a command that calls [`supervise`](crate::supervise) with its standard input, in its own process.
    ///
    /// # Errors
    ///
    /// When the task already runs, or its supervisor can't be started.
    pub fn start(&self, mut program: Command, spec: Spec) -> Result<Started, Error> {
        let before = match self.find()? {
            Found::Running(_) => return Err(self.already_runs()),
            Found::Ended(run) => Some(run),
            Found::Never => None,
        };
        check(&spec)?;
        if !matches!(spec.app, App::Component(_)) {
            self.work()?;
        }
        let deadline = Instant::now() + SUPERVISOR_START + spec.ready_timeout;
        let order = Order {
            root: self.root_path().to_owned(),
            id: self.id().clone(),
            spec,
        };
        let text = serde_json::to_vec(&order)
            .map_err(|error| Error::new(ErrorKind::System, error.to_string()))?;
        if text.len() as u64 > MAX_SPEC_BYTES {
            let message =
                format!("the description of the run has more than {MAX_SPEC_BYTES} bytes");
            return Err(Error::new(ErrorKind::Refused, message));
        }
        program
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let path = Path::new(program.get_program()).to_owned();
        let mut supervisor = program.spawn().map_err(Error::system(&path))?;
        // Not in its arguments or its environment, which others could read.
        if let Some(mut input) = supervisor.stdin.take() {
            // A supervisor that does not read it reports nothing, which is seen below.
            let _ = input.write_all(&text);
        }
        loop {
            let has_ended = matches!(supervisor.try_wait(), Ok(Some(_)));
            let reported = self
                .reported_run()?
                .filter(|run| before.as_ref() != Some(run));
            let is_own = |run: &Run| u32::try_from(run.supervisor.pid) == Ok(supervisor.id());
            match reported {
                Some(run) if is_own(&run) => match run.phase {
                    Phase::Starting if has_ended => return Ok(Started::Ended(self.lost(run)?)),
                    Phase::Starting => {}
                    Phase::Ready => return Ok(Started::Ready(reaped(supervisor, run))),
                    Phase::NotReady => return Ok(Started::TimedOut(reaped(supervisor, run))),
                    Phase::Ended => return Ok(Started::Ended(reaped(supervisor, run))),
                },
                // Another program was faster.
                Some(_) if has_ended => return Err(self.already_runs()),
                // It has not reported yet.
                None if has_ended && self.has_supervisor()? => return Err(self.already_runs()),
                None if has_ended => {
                    let id = self.id();
                    let message = format!("the supervisor of {id} has ended without a report");
                    return Err(Error::new(ErrorKind::System, message));
                }
                _ => {}
            }
            if Instant::now() >= deadline {
                let _ = supervisor.kill();
                let _ = supervisor.wait();
                let message = format!("the supervisor of {} does not report", self.id());
                return Err(Error::new(ErrorKind::System, message));
            }
            thread::sleep(LOOK_INTERVAL);
        }
    }

    fn already_runs(&self) -> Error {
        let message = format!("the task {} already runs", self.id());
        Error::new(ErrorKind::Running, message)
    }

    /// Returns what the task is doing. A run whose supervisor is gone is recorded as ended.
    ///
    /// # Errors
    ///
    /// When the report of its supervisor can't be read.
    pub fn find(&self) -> Result<Found, Error> {
        match self.reported_run()? {
            None => Ok(Found::Never),
            Some(run) if run.phase == Phase::Ended => Ok(Found::Ended(run)),
            Some(run) if run.supervisor.lives() => Ok(Found::Running(run)),
            Some(_) => {
                // It may have reported its end since.
                match self.reported_run()? {
                    Some(run) if run.phase == Phase::Ended => Ok(Found::Ended(run)),
                    Some(run) => Ok(Found::Ended(self.lost(run)?)),
                    None => Ok(Found::Never),
                }
            }
        }
    }

    /// Waits for the report of a supervisor that has just begun. The program that started it may have been killed, and
    /// another one would not find the app.
    ///
    /// # Errors
    ///
    /// When the report can't be read.
    pub fn await_supervisor(&self) -> Result<(), Error> {
        let deadline = Instant::now() + SUPERVISOR_START;
        while !matches!(self.find()?, Found::Running(_))
            && self.has_supervisor()?
            && Instant::now() < deadline
        {
            thread::sleep(LOOK_INTERVAL);
        }
        Ok(())
    }

    /// Ends the run: the app is asked to, and killed after the grace time of its run. A supervisor that has
    /// not ended some time after `grace` is killed. Returns the run with its end; `None` if the task never
    /// ran.
    ///
    /// # Errors
    ///
    /// When it can't be ended.
    pub fn stop(&self, grace: Duration) -> Result<Option<Run>, Error> {
        let run = match self.find()? {
            Found::Never => return Ok(None),
            Found::Ended(run) => return Ok(Some(run)),
            Found::Running(run) => run,
        };
        if let Some(supervisor) = run.supervisor.living() {
            let failed = |error: std::io::Error| {
                let message = format!("the supervisor of {} can't be ended: {error}", self.id());
                Error::new(ErrorKind::System, message)
            };
            supervisor.signal(Signal::TERM).map_err(failed)?;
            if !supervisor.wait(grace + SUPERVISOR_END) {
                supervisor.signal(Signal::KILL).map_err(failed)?;
                supervisor.wait(SUPERVISOR_END);
            }
        }
        self.ended()
    }

    /// Waits for the end of the run. Returns the run with its end; `None` if the time is over, or the task
    /// never ran.
    ///
    /// # Errors
    ///
    /// When the report of its supervisor can't be read.
    pub fn wait(&self, timeout: Duration) -> Result<Option<Run>, Error> {
        match self.find()? {
            Found::Never => Ok(None),
            Found::Ended(run) => Ok(Some(run)),
            Found::Running(run) => {
                if let Some(supervisor) = run.supervisor.living() {
                    supervisor.wait(timeout);
                }
                self.ended()
            }
        }
    }

    fn ended(&self) -> Result<Option<Run>, Error> {
        match self.find()? {
            Found::Ended(run) => Ok(Some(run)),
            Found::Running(_) | Found::Never => Ok(None),
        }
    }

    /// Records the end of a run whose supervisor is gone, and removes what it has left.
    fn lost(&self, mut run: Run) -> Result<Run, Error> {
        // Something else of that name stays.
        let _ = sockets::remove_stale(&run.socket);
        let _ = sockets::remove_stale(&sockets::wait_socket(&run.socket));
        // Its processes may be about to end.
        let until = Instant::now() + GROUPS_END;
        while !agent_sandbox::remove_abandoned_groups() && Instant::now() < until {
            thread::sleep(LOOK_INTERVAL);
        }
        run.phase = Phase::Ended;
        run.end = Some(End {
            cause: Cause::Lost,
            at_ms: unix_ms(),
        });
        self.report_run(&run)?;
        Ok(run)
    }
}

/// Waits for a supervisor in the background: it stays a child of this process until it is reaped.
fn reaped(mut supervisor: Child, run: Run) -> Run {
    let reaper = thread::Builder::new().name("reaper".to_owned());
    // Without a thread its entry stays in the table of processes until this one ends.
    let _ = reaper.spawn(move || supervisor.wait());
    run
}

/// Refuses a description that no supervisor could carry out.
fn check(spec: &Spec) -> Result<(), Error> {
    let refused = |why: &str| Err(Error::new(ErrorKind::Refused, why));
    let commands = match &spec.app {
        App::Commands(commands) if commands.is_empty() || commands.iter().any(Vec::is_empty) => {
            return refused("there is no command to run");
        }
        App::Commands(commands) => &commands[..],
        App::Runner(_) | App::Component(_) => &[],
    };
    let words = commands.iter().flatten();
    if words
        .chain(spec.env.values())
        .chain(spec.secrets.values().map(|secret| &secret.value))
        .any(|text| text.contains('\0'))
    {
        return refused("a word of the command or the environment contains U+0000");
    }
    Ok(())
}
