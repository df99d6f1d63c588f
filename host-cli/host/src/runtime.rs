//! The thread on which a program does its work.

use super::failure::Failure;
use std::future::Future;
use tokio::runtime::Builder;

/// Runs work to its end, on this thread.
///
/// # Errors
///
/// When the system refuses a runtime, or the work fails.
pub fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::internal(format_args!("no runtime: {error}")))?;
    let done = runtime.block_on(work);
    // A thread that waits for standard input can't be interrupted.
    runtime.shutdown_background();
    done
}
