//! A command that is running.

use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::linux::{self, Cause, Ended, Started, Stopper};
use crate::{Exit, Inside, Log, RunError};

/// Size of the buffer for standard error, in bytes.
const BUFFER: usize = 16 << 10;

/// A running command. Dropping it ends everything that the command started.
#[derive(Debug)]
pub struct Child {
    /// The command's standard input; dropping it ends the input.
    pub stdin: Option<ChildStdin>,
    /// The command's standard output. Its reader counts the bytes.
    pub stdout: Option<ChildStdout>,
    /// The socket at which the connections of [`Network::Proxy`](crate::Network::Proxy) arrive. It does
    /// not block. Without a listener they are refused.
    pub proxy: Option<TcpListener>,
    inside: Option<Inside>,
    log: ErrorLog,
    log_task: JoinHandle<()>,
    end: EndOnDrop,
    ended: oneshot::Receiver<Ended>,
}

/// The standard error of a command, also after its end.
#[derive(Clone, Debug, Default)]
pub struct ErrorLog(Arc<Mutex<Log>>);

impl ErrorLog {
    /// Returns what was written until now, without so many first bytes.
    #[must_use]
    pub fn since(&self, count: usize) -> Log {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Log {
            bytes: log.bytes.get(count..).unwrap_or_default().to_vec(),
            truncated: log.truncated,
        }
    }
}

impl Child {
    pub(crate) fn new(started: Started, max_log: u64) -> Result<Self, String> {
        let unusable = |error| format!("the standard streams can't be used: {error}");
        let stdin = ChildStdin::from_std(started.stdin).map_err(unusable)?;
        let stdout = ChildStdout::from_std(started.stdout).map_err(unusable)?;
        let stderr = ChildStderr::from_std(started.stderr).map_err(unusable)?;
        let log = ErrorLog::default();
        let log_task = tokio::spawn(read_log(stderr, max_log, Arc::clone(&log.0)));
        Ok(Self {
            stdin: Some(stdin),
            stdout: Some(stdout),
            inside: started
                .inside
                .map(|network| Inside::new(network, started.proxy.is_some())),
            proxy: started.proxy,
            log,
            log_task,
            end: started.end,
            ended: started.ended,
        })
    }

    pub(crate) fn stopper(&self) -> Stopper {
        self.end.0.clone()
    }

    /// Returns the standard error until now.
    #[must_use]
    pub fn log(&self) -> Log {
        self.log.since(0)
    }

    /// Returns the standard error, for use after the end of the child.
    #[must_use]
    pub fn error_log(&self) -> ErrorLog {
        self.log.clone()
    }

    /// Returns the network of a command with [`Network::Inbound`](crate::Network::Inbound).
    #[must_use]
    pub fn inside(&self) -> Option<Inside> {
        self.inside.clone()
    }

    /// Returns a handle of the command, for use while [`wait`](Self::wait) has the child.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle(self.stopper())
    }

    /// Ends everything that the command started. [`wait`](Self::wait) then returns
    /// [`RunError::Cancelled`], unless it had ended before.
    pub fn kill(&self) {
        self.end.0.stop(Cause::Cancelled);
    }

    /// Waits until the command has ended and all its processes are gone, and returns its standard
    /// error.
    ///
    /// It closes standard input and output unless the caller took them.
    ///
    /// # Errors
    ///
    /// If the command reached a limit, was cancelled, or could not be started.
    pub async fn wait(mut self) -> Result<(Exit, Log), RunError> {
        self.stdin = None;
        // A thread that is gone has ended its command.
        let ended = (&mut self.ended)
            .await
            .unwrap_or(Ended::Stopped(Cause::Cancelled));
        let _ = (&mut self.log_task).await;
        let log = self.log();
        match ended {
            Ended::Exited(exit) => Ok((exit, log)),
            Ended::NotStarted => Err(RunError::NotStarted(linux::message_of(&log.bytes))),
            Ended::Stopped(Cause::WallTime) => Err(RunError::Timeout(log)),
            Ended::Stopped(Cause::Limit(limit)) => Err(RunError::LimitExceeded(limit, log)),
            Ended::Stopped(Cause::Cancelled) => Err(RunError::Cancelled(log)),
        }
    }
}

/// A handle of a command. It does nothing once the command has ended.
#[derive(Clone, Debug)]
pub struct Handle(Stopper);

impl Handle {
    /// Returns the process id of the command outside of its sandbox; `None` before it runs.
    #[must_use]
    pub fn id(&self) -> Option<i32> {
        self.0.first()
    }

    /// Asks all processes of the command to end, by `SIGTERM`. They may take their time, or not obey.
    pub fn terminate(&self) {
        self.0.terminate();
    }

    /// Ends everything that the command started, as [`Child::kill`] does.
    pub fn kill(&self) {
        self.0.stop(Cause::Cancelled);
    }
}

/// Ends a command when it is dropped.
#[derive(Debug)]
pub(crate) struct EndOnDrop(pub(crate) Stopper);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.stop(Cause::Cancelled);
    }
}

/// Reads standard error to its end and keeps the first bytes.
async fn read_log(mut stderr: ChildStderr, limit: u64, log: Arc<Mutex<Log>>) {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut buffer = vec![0; BUFFER];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = count.min(limit - log.bytes.len());
        log.bytes.extend_from_slice(&buffer[..kept]);
        log.truncated |= kept < count;
    }
}
