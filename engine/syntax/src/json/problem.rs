//! The problems of JSON texts.

use agent_diagnostic::{Code, Problems};
use agent_text::Span;

/// The problem that ends the reading of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Syntax {
    /// [`Code::JsonSyntax`] or [`Code::NestingTooDeep`].
    pub code: Code,
    /// The place of the problem.
    pub span: Span,
    /// The label.
    pub label: String,
    /// The help.
    pub help: Option<&'static str>,
}

/// A problem that does not end the reading of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Flaw {
    DuplicateKey { first: Span, again: Span },
    LoneSurrogate(Span),
    NumberOutOfRange(Span),
}

impl Flaw {
    pub(super) fn report(&self, problems: &mut Problems<'_>) {
        let text = problems.text().as_str();
        match *self {
            Self::DuplicateKey { first, again } => {
                problems
                    .report(
                        Code::DuplicateKey,
                        again,
                        "repeated here",
                        format!("the key {} appears twice in one object", again.of(text)),
                    )
                    .also(first, "first here")
                    .help("remove or rename one of the two");
            }
            Self::LoneSurrogate(span) => {
                problems
                    .report(
                        Code::LoneSurrogate,
                        span,
                        "half of a surrogate pair",
                        format!(
                            "`{}` is half of a surrogate pair, not a character",
                            span.of(text)
                        ),
                    )
                    .help("write the character itself, or both halves of its escape");
            }
            Self::NumberOutOfRange(span) => {
                problems
                    .report(
                        Code::NumberOutOfRange,
                        span,
                        "too large for a double",
                        "a number exceeds the range of a double, ±1.8e308",
                    )
                    .help("write a number below 1.8e308");
            }
        }
    }
}

/// Reports the problem that ended the reading of a text.
pub fn report(syntax: Syntax, problems: &mut Problems<'_>) {
    let message = match syntax.code {
        Code::NestingTooDeep => "arrays and objects are nested too deeply",
        _ => "this is not JSON",
    };
    let report = problems.report(syntax.code, syntax.span, syntax.label, message);
    if let Some(help) = syntax.help {
        report.help(help);
    }
}
