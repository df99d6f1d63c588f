//! The clock of an engine's epochs. It runs only while guest code does.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use wasmtime::Engine;

/// Advances the epoch of an engine once per tick while the engine is in use.
#[derive(Clone, Debug)]
pub struct Ticker(Arc<Uses>);

#[derive(Debug, Default)]
struct Uses {
    state: Mutex<State>,
    begun: Condvar,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    /// Whether the thread waits for a use. Only then does a use wake it, which costs a call of the system.
    is_waiting: bool,
}

/// A use of the engine.
#[derive(Debug)]
pub struct Running(Arc<Uses>);

impl Uses {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a use, or a while: the engine may be dropped meanwhile.
    fn wait(&self, at_most: Duration) {
        let mut state = self.state();
        state.is_waiting = true;
        let waited = self
            .begun
            .wait_timeout_while(state, at_most, |state| state.running == 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_waiting = false;
    }
}

impl Ticker {
    /// Starts a thread that ends with the engine or its last use.
    ///
    /// # Errors
    ///
    /// When the system refuses a thread.
    pub fn new(engine: &Engine, tick: Duration) -> std::io::Result<Self> {
        let uses = Arc::new(Uses::default());
        let seen = Arc::downgrade(&uses);
        let engine = engine.weak();
        thread::Builder::new()
            .name("ticker".to_owned())
            .spawn(move || {
                while let (Some(uses), Some(engine)) = (seen.upgrade(), engine.upgrade()) {
                    engine.increment_epoch();
                    drop(engine);
                    uses.wait(100 * tick);
                    drop(uses);
                    thread::sleep(tick);
                }
            })?;
        Ok(Self(uses))
    }

    /// Begins a use, which ends when the answer is dropped.
    #[must_use]
    pub fn run(&self) -> Running {
        let mut state = self.0.state();
        state.running += 1;
        if state.is_waiting {
            self.0.begun.notify_one();
        }
        drop(state);
        Running(Arc::clone(&self.0))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.state().running -= 1;
    }
}
