//! Progress messages for work that takes longer than a second.

use super::visible;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The time after which work is announced.
const PATIENCE: Duration = Duration::from_secs(1);

const RETURN_AND_CLEAR_LINE: &str = "\r\x1b[2K";

/// A progress line on the terminal during the lifetime of this value.
pub struct Progress {
    worker: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Announces `work`, such as "loading mcp.index.json", if it takes longer than a second and
    /// standard error is a terminal.
    #[must_use]
    pub fn of(work: String) -> Self {
        let worker = io::stderr().is_terminal().then(|| {
            let (done, is_done) = mpsc::channel();
            let worker = thread::spawn(move || {
                if is_done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    show(&format!("{}...", visible(&work)));
                    // Ends when the sender is dropped.
                    let _ = is_done.recv();
                    show(RETURN_AND_CLEAR_LINE);
                }
            });
            (done, worker)
        });
        Self { worker }
    }
}

fn show(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, worker)) = self.worker.take() {
            drop(done);
            let _ = worker.join();
        }
    }
}
