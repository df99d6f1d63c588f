//! The clock that makes apps yield. It runs only while a request does.

use crate::limits::TICK;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use wasmtime::Engine;

/// Advances the epoch of an engine while it is in use.
#[derive(Clone, Debug)]
pub(crate) struct Ticker(Arc<Users>);

#[derive(Debug, Default)]
struct Users {
    count: Mutex<usize>,
    more: Condvar,
}

/// A use of the engine.
#[derive(Debug)]
pub(crate) struct Running(Arc<Users>);

impl Ticker {
    /// Starts a thread that ends with the engine's last use.
    pub(crate) fn new(engine: &Engine) -> std::io::Result<Self> {
        let users = Arc::new(Users::default());
        let seen = Arc::downgrade(&users);
        let engine = engine.weak();
        thread::Builder::new()
            .name("ticker".to_owned())
            .spawn(move || {
                while let (Some(users), Some(engine)) = (seen.upgrade(), engine.upgrade()) {
                    engine.increment_epoch();
                    drop(engine);
                    let count = users.count.lock().unwrap_or_else(PoisonError::into_inner);
                    // The app may be dropped while no request uses it.
                    let _ = users
                        .more
                        .wait_timeout_while(count, 100 * TICK, |count| *count == 0);
                    drop(users);
                    thread::sleep(TICK);
                }
            })?;
        Ok(Self(users))
    }

    /// Begins a use.
    pub(crate) fn run(&self) -> Running {
        *self.0.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.more.notify_one();
        Running(Arc::clone(&self.0))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *self.0.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}
