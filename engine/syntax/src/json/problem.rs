//! The problems of JSON texts.

use agent_diagnostic::{Code, Problems};
use agent_text::Span;

/// The problem that ends the reading of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// [`Code::JsonSyntax`] or [`Code::NestingTooDeep`].
    pub code: Code,
    /// The place of the problem.
    pub span: Span,
    /// The label.
    pub label: String,
    /// The help.
    pub help: &'static str,
}

/// A problem that does not end the reading of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecoverableError {
    DuplicateKey { first: Span, again: Span },
    LoneSurrogate(Span),
    NumberOutOfRange(Span),
}

impl RecoverableError {
    pub(super) fn report(&self, problems: &mut Problems<'_>) {
        let text = problems.text().as_str();
        let (code, span, label, message, help) = match *self {
            Self::DuplicateKey { again, .. } => (
                Code::DuplicateKey,
                again,
                "repeated here",
                format!("the key {} appears twice in one object", again.of(text)),
                "remove or rename one of the two",
            ),
            Self::LoneSurrogate(span) => (
                Code::LoneSurrogate,
                span,
                "half of a surrogate pair",
                format!(
                    "`{}` is half of a surrogate pair, not a character",
                    span.of(text)
                ),
                "write the character itself, or both halves of its escape",
            ),
            Self::NumberOutOfRange(span) => (
                Code::NumberOutOfRange,
                span,
                "too large for a double",
                "a number exceeds the range of a double, ±1.8e308".to_owned(),
                "write a number below 1.8e308",
            ),
        };
        let report = problems.report(code, span, label, message).help(help);
        if let Self::DuplicateKey { first, .. } = *self {
            report.also(first, "first here");
        }
    }
}

/// Reports the problem that ended the reading of a text.
pub fn report(error: SyntaxError, problems: &mut Problems<'_>) {
    let message = match error.code {
        Code::NestingTooDeep => "arrays and objects are nested too deeply",
        _ => "this is not JSON",
    };
    let report = problems.report(error.code, error.span, error.label, message);
    report.help(error.help);
}
