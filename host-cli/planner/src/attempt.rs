//! The bounds of an attempt.

use crate::error::PlannerError;
use agent_way_out::Cancel;
use std::time::Duration;
use tokio::time::timeout;

/// Runs work until it is done, late or cancelled.
pub(crate) async fn within<T>(
    limit: Duration,
    cancel: &Cancel,
    work: impl Future<Output = Result<T, PlannerError>>,
) -> Result<T, PlannerError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(PlannerError::cancelled()),
        done = timeout(limit, work) => done.unwrap_or_else(|_| Err(PlannerError::timeout(limit))),
    }
}
