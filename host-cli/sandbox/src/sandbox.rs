//! A tier that passed its trial, and running a command in it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdout;
use tokio::sync::OnceCell;

use crate::child::Child;
use crate::linux::{self, Cause, Stopper};
use crate::{Command, Finished, Limit, Limits, RunError, Tier, Unavailable};

/// Size of the buffer for standard output, in bytes.
const BUFFER: usize = 64 << 10;

/// A sandbox that passed its trial run in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sandbox(Place);

/// A tier, with or without control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) tier: Tier,
    pub(crate) use_groups: bool,
}

impl Sandbox {
    /// Returns the strongest tier that this machine gives.
    ///
    /// # Errors
    ///
    /// If it gives none: the reason of each tier, the strongest first.
    pub async fn best() -> Result<Self, NoSandbox> {
        let mut reasons = Vec::new();
        for tier in Tier::ALL {
            match Self::of(tier).await {
                Ok(sandbox) => return Ok(sandbox),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(NoSandbox(reasons))
    }

    /// Returns a tier. Its trial run happens once in the life of this process.
    ///
    /// # Errors
    ///
    /// If this machine does not give it: the reason.
    pub async fn of(tier: Tier) -> Result<Self, Unavailable> {
        static TRIALS: [OnceCell<Result<(), Unavailable>>; 2] =
            [OnceCell::const_new(), OnceCell::const_new()];
        let place = Place {
            tier,
            use_groups: true,
        };
        let trial = &TRIALS[tier as usize];
        let result = trial.get_or_init(|| linux::trial(place)).await;
        result.clone().map(|()| Self(place))
    }

    /// Returns the tier.
    #[must_use]
    pub const fn tier(self) -> Tier {
        self.0.tier
    }

    /// Returns the same sandbox without control groups, for hosts that manage their own. Limits of
    /// a whole tree are then watched instead of enforced.
    #[must_use]
    pub const fn without_control_groups(self) -> Self {
        Self(Place {
            use_groups: false,
            ..self.0
        })
    }

    /// Runs a command to its end. It reads `stdin` and then the end of the input; `cancel` ends it
    /// early. Needs a tokio runtime with I/O.
    ///
    /// # Errors
    ///
    /// If the command was not started, reached a limit or was cancelled. An exit code other than 0
    /// is no error.
    pub async fn run(
        &self,
        command: Command,
        stdin: Vec<u8>,
        limits: Limits,
        cancel: impl Future<Output = ()>,
    ) -> Result<Finished, RunError> {
        run_in(self.0, command, stdin, limits, cancel).await
    }

    /// Starts a command with open standard streams. Needs a tokio runtime with I/O.
    ///
    /// # Errors
    ///
    /// If it was not started. Some failures to start are seen later, by [`Child::wait`].
    pub async fn spawn(&self, command: Command, limits: Limits) -> Result<Child, RunError> {
        spawn_in(Some(self.0), command, limits).await
    }
}

/// Starts a command with open standard streams and without any sandbox: it can do whatever this user
/// can. It gets no environment but its own, and ends as a whole like one in a sandbox, unless one of
/// its processes leaves the process group. Needs a tokio runtime with I/O, and Linux.
///
/// # Errors
///
/// If it was not started.
pub async fn spawn_unsandboxed(command: Command, max_log: u64) -> Result<Child, RunError> {
    let limits = Limits {
        wall_time: None,
        cpu_time: None,
        cpu_percent: None,
        memory_bytes: u64::MAX,
        processes: u32::MAX,
        file_bytes: u64::MAX,
        open_files: u32::MAX,
        stdout_bytes: u64::MAX,
        stderr_bytes: max_log,
    };
    spawn_in(None, command, limits).await
}

/// Starts a command in a place, or in none.
async fn spawn_in(
    place: Option<Place>,
    command: Command,
    limits: Limits,
) -> Result<Child, RunError> {
    let max_log = limits.stderr_bytes;
    command.check().map_err(RunError::NotStarted)?;
    let started = linux::start(place, command, limits).await;
    started
        .and_then(|started| Child::new(started, max_log))
        .map_err(RunError::NotStarted)
}

/// Runs a command in a place that may not have passed its trial.
pub(crate) async fn run_in(
    place: Place,
    command: Command,
    stdin: Vec<u8>,
    limits: Limits,
    cancel: impl Future<Output = ()>,
) -> Result<Finished, RunError> {
    let max_output = limits.stdout_bytes;
    let mut cancel = pin!(cancel);
    let mut cancelled = false;
    let mut start = pin!(spawn_in(Some(place), command, limits));
    // Dropping the start ends what it has started.
    let started = poll_fn(|context| match start.as_mut().poll(context) {
        Poll::Ready(started) => Poll::Ready(Some(started)),
        Poll::Pending => cancel.as_mut().poll(context).map(|()| None),
    });
    let Some(started) = started.await else {
        return Err(RunError::Cancelled(crate::Log::default()));
    };
    let mut child = started?;

    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (Some(mut input), Some(output)) = (input, output) else {
        unreachable!("a new child has its streams");
    };
    // A command need not read its input: a failed write is its own affair.
    let writer = tokio::spawn(async move {
        let _ = input.write_all(&stdin).await;
    });
    let stopper = child.stopper();
    let work = {
        let stopper = stopper.clone();
        async move {
            let output = read_output(output, max_output, &stopper).await;
            (output, child.wait().await)
        }
    };
    let mut work = pin!(work);
    let (output, ended) = poll_fn(|context| {
        if !cancelled && cancel.as_mut().poll(context).is_ready() {
            cancelled = true;
            stopper.stop(Cause::Cancelled);
        }
        work.as_mut().poll(context)
    })
    .await;
    writer.abort();
    let (exit, stderr) = ended?;
    match output {
        Ok(stdout) => Ok(Finished {
            exit,
            stdout,
            stderr,
        }),
        // It ended by itself before it could be stopped.
        Err(TooMuch) => Err(RunError::LimitExceeded(Limit::Output, stderr)),
    }
}

/// More output than allowed.
struct TooMuch;

/// Reads the output to its end; stops the command if there is too much of it.
async fn read_output(
    mut output: ChildStdout,
    limit: u64,
    stopper: &Stopper,
) -> Result<Vec<u8>, TooMuch> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    let mut buffer = vec![0; BUFFER];
    let mut too_much = false;
    // A pipe that can't be read is at its end.
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        if too_much || count > limit - bytes.len() {
            too_much = true;
            stopper.stop(Cause::Limit(Limit::Output));
        } else {
            bytes.extend_from_slice(&buffer[..count]);
        }
    }
    match too_much {
        true => Err(TooMuch),
        false => Ok(bytes),
    }
}

/// A machine without a sandbox: the reason of each tier, the strongest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSandbox(pub Vec<Unavailable>);

impl std::fmt::Display for NoSandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, reason) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{reason}")?;
        }
        Ok(())
    }
}

impl std::error::Error for NoSandbox {}
