//! Failures: questions that could not be answered.

use std::error::Error;
use std::fmt::{self, Display};

/// A question that could not be answered, which is not the same as the answer no: an unreadable
/// file, a limit that was reached, a defect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// One sentence, without a full stop.
    pub message: String,
    /// The suggested remedy.
    pub help: Option<String>,
}

impl Failure {
    /// Creates a failure without help.
    pub fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            help: None,
        }
    }

    /// Sets the suggested remedy.
    #[must_use]
    pub fn help(mut self, help: impl Display) -> Self {
        self.help = Some(help.to_string());
        self
    }

    /// Creates the failure of a defect, which no input may cause.
    pub fn internal(what: impl Display) -> Self {
        Self::new(format_args!("internal error: {what}")).help(REPORT)
    }
}

impl Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl Error for Failure {}

/// The help of a defect.
const REPORT: &str = concat!(
    "this is a defect of `agent`: please report it at ",
    env!("CARGO_PKG_REPOSITORY"),
    "/issues,\ntogether with the command, the output of `agent --version` and, if you may share them, the input files"
);
