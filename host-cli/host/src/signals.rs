//! The signals by which a user or the system ends a program, or makes it read its configuration again.

use super::failure::Failure;
use std::io::{self, IsTerminal as _};
use tokio::select;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that cancel the work of a program. From the moment at which this is made, neither Ctrl-C nor
/// SIGTERM ends the program, which would leave evidence without its end.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Starts to keep signals.
    ///
    /// # Errors
    ///
    /// When the system refuses to deliver them.
    pub fn new() -> Result<Self, Failure> {
        Ok(Self {
            interrupt: keep(SignalKind::interrupt())?,
            terminate: keep(SignalKind::terminate())?,
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

/// The signal by which a supervisor is asked to end what it supervises.
pub struct Terminations(Signal);

impl Terminations {
    /// Starts to keep the signal, which no longer ends the program.
    ///
    /// # Errors
    ///
    /// When the system refuses to deliver it.
    pub fn new() -> Result<Self, Failure> {
        keep(SignalKind::terminate()).map(Self)
    }

    /// Resolves with the next signal.
    pub async fn next(&mut self) {
        self.0.recv().await;
    }
}

/// The signal by which a user lets a program read its configuration again.
pub struct Hangups(Option<Signal>);

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
        Ok(Self(Some(keep(SignalKind::hangup())?)))
    }

    /// Resolves with the next signal.
    pub async fn next(&mut self) {
        match &mut self.0 {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
}

fn keep(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|error| Failure::internal(format_args!("no signals: {error}")))
}
