//! Why a question could not be answered.

use std::fmt::Display;

/// A question that could not be answered, which is not the same as the answer no: a file that
/// can't be read, a limit that was reached, a defect.
#[derive(Debug)]
pub(crate) struct Failure {
    /// One sentence, without a full stop.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Display) -> Self {
        self.help = Some(help.to_string());
        self
    }

    /// Something that must not happen, whatever the input is.
    pub(crate) fn internal(what: impl Display) -> Self {
        Self::new(format_args!("internal error: {what}")).help(REPORT)
    }
}

/// What to do about a defect.
pub(crate) const REPORT: &str = concat!(
    "this is a defect of `agent`: please report it at ",
    env!("CARGO_PKG_REPOSITORY"),
    "/issues,\ntogether with the command, the output of `agent --version` and, if you may share them, the input files"
);
