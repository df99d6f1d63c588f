//! The signals by which a user or the system ends a run.

use agent_host::Failure;
use std::io;
#[cfg(unix)]
use std::io::IsTerminal as _;
#[cfg(unix)]
use tokio::select;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

/// The signals that cancel a run. From the moment at which this is made, neither Ctrl-C nor SIGTERM ends the
/// program, which would leave evidence without its end.
#[cfg(unix)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

#[cfg(unix)]
impl Signals {
    /// Starts to keep signals.
    ///
    /// # Errors
    ///
    /// When the system refuses to deliver them.
    pub fn new() -> Result<Self, Failure> {
        let kept = |kind| signal(kind).map_err(|error| refused(&error));
        Ok(Self {
            interrupt: kept(SignalKind::interrupt())?,
            terminate: kept(SignalKind::terminate())?,
        })
    }

    /// Resolves when the user interrupts the program, or the system asks it to terminate.
    pub async fn cancelled(&mut self) {
        select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// The signal by which a user lets a program read its configuration again.
#[cfg(unix)]
pub struct Hangups(Option<Signal>);

#[cfg(unix)]
impl Hangups {
    /// Starts to keep the signal. In a terminal it still ends the program, as the terminal closes then.
    ///
    /// # Errors
    ///
    /// When the system refuses to deliver it.
    pub fn new() -> Result<Self, Failure> {
        if io::stdin().is_terminal() {
            return Ok(Self(None));
        }
        let kept = signal(SignalKind::hangup()).map_err(|error| refused(&error))?;
        Ok(Self(Some(kept)))
    }

    /// Resolves with the next signal.
    pub async fn next(&mut self) {
        match &mut self.0 {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
}

/// The signal by which a user lets a program read its configuration again, which this system does not have.
#[cfg(windows)]
pub struct Hangups;

#[cfg(windows)]
impl Hangups {
    /// Keeps nothing.
    ///
    /// # Errors
    ///
    /// None.
    pub fn new() -> Result<Self, Failure> {
        Ok(Self)
    }

    /// Never resolves.
    pub async fn next(&mut self) {
        std::future::pending().await
    }
}

/// The signals that cancel a run.
#[cfg(windows)]
pub struct Signals(CtrlC);

#[cfg(windows)]
impl Signals {
    /// Starts to keep signals.
    ///
    /// # Errors
    ///
    /// When the system refuses to deliver them.
    pub fn new() -> Result<Self, Failure> {
        ctrl_c().map(Self).map_err(|error| refused(&error))
    }

    /// Resolves when the user interrupts the program.
    pub async fn cancelled(&mut self) {
        self.0.recv().await;
    }
}

fn refused(error: &io::Error) -> Failure {
    Failure::internal(format_args!("no signals: {error}"))
}
