//! Cancellation from outside.

use std::future::pending;
use std::sync::Arc;
use tokio::sync::watch;

/// The end of a cancellation that listens. Clones listen to the same [`Canceller`].
#[derive(Debug, Clone)]
pub struct Cancel(Option<watch::Receiver<bool>>);

/// The end of a cancellation that cancels. Dropping it cancels nothing.
#[derive(Debug, Clone)]
pub struct Canceller(Arc<watch::Sender<bool>>);

impl Cancel {
    /// Returns both ends of a cancellation.
    #[must_use]
    pub fn new() -> (Canceller, Self) {
        let (sender, receiver) = watch::channel(false);
        (Canceller(Arc::new(sender)), Self(Some(receiver)))
    }

    /// Returns a cancellation that never happens.
    #[must_use]
    pub fn never() -> Self {
        Self(None)
    }

    /// Returns whether the work was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_some_and(|receiver| *receiver.borrow())
    }

    /// Waits until the work is cancelled, which may be for ever.
    pub async fn cancelled(&self) {
        if let Some(receiver) = &self.0 {
            let mut receiver = receiver.clone();
            if receiver.wait_for(|cancelled| *cancelled).await.is_ok() {
                return;
            }
        }
        pending().await
    }
}

impl Canceller {
    /// Cancels the work. A second call changes nothing.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }
}
