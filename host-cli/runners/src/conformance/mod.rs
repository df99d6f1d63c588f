//! The test of a runner, for those who write one. \[2, 3\]
//!
//! Each check needs nothing but the protocol, and its failure says what the runner did. A [`Judge`] says what
//! an answer means: the engine, in the programs of this project.

mod app;
mod built_in;
mod client;
mod foreign;
mod protocol;
mod report;
mod subject;
mod test;

pub use app::{App, AppFile};
pub use report::{Check, Outcome, Report};
pub use test::{test, test_built_in};

/// Says what runners' documents mean, as the engine does.
pub trait Judge {
    /// Returns `data` of what an invocation left: its standard output, its standard error and its exit code.
    ///
    /// # Errors
    ///
    /// The failure that the runner reports, or that it broke the protocol.
    fn answer(&self, stdout: &[u8], stderr: &[u8], exit_code: i32) -> Result<String, Refusal>;

    /// Accepts the manifest that a runner made for a task.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn manifest(&self, text: &[u8], task_id: &str) -> Result<(), Refusal>;
}

/// The reason for which a [`Judge`] refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The name of the code, such as `E_PLAN`.
    pub code: String,
    /// The message, without a final stop.
    pub message: String,
}
