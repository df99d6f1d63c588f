//! The connections of clients to the socket of a task.

use crate::limits::MAX_CONNECTIONS;
use rustix::process::getuid;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task;
use tokio::time::sleep;

/// Time until the next connection is accepted after a failure to accept one.
const PAUSE: Duration = Duration::from_millis(50);

/// The connections that are open, and when the last one ended.
pub(super) struct Connections {
    permits: Arc<Semaphore>,
    used: Arc<Mutex<Instant>>,
}

impl Connections {
    pub(super) fn new() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
            used: Arc::new(Mutex::new(Instant::now())),
        }
    }

    /// Returns for how long there has been no connection.
    pub(super) fn idle(&self) -> Duration {
        if self.permits.available_permits() < MAX_CONNECTIONS {
            return Duration::ZERO;
        }
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.elapsed()
    }

    /// Accepts connections, and does something with each, for ever.
    pub(super) async fn accept<F>(&self, listener: UnixListener, serve: impl Fn(UnixStream) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        loop {
            match listener.accept().await {
                // A folder keeps other users out, and an abstract name does not.
                Ok((client, _)) if !is_own(&client) => {}
                Ok((client, _)) => {
                    // The semaphore is never closed.
                    let Ok(permit) = Arc::clone(&self.permits).acquire_owned().await else {
                        return;
                    };
                    let served = serve(client);
                    let used = Arc::clone(&self.used);
                    task::spawn(async move {
                        served.await;
                        *used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                        drop(permit);
                    });
                }
                // No descriptor is left, or the peer is gone.
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

/// Returns whether the program of a client has the user of this one.
pub(super) fn is_own(client: &UnixStream) -> bool {
    let user = client.peer_cred().map(|peer| peer.uid());
    user.is_ok_and(|user| user == getuid().as_raw())
}
