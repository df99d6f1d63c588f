//! What can be wrong with a text as JSON.

use agent_diagnostic::{Code, Problems};
use agent_text::Span;

/// The one problem after which a text can't be read on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Syntax {
    /// [`Code::JsonSyntax`] or [`Code::NestingTooDeep`].
    pub code: Code,
    /// Where.
    pub span: Span,
    /// What is wrong there, in a few words.
    pub label: String,
    /// What to do about it.
    pub help: Option<&'static str>,
}

/// A problem after which a text can be read on.
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
                        "again here",
                        format!("the key {} stands twice in one object", again.of(text)),
                    )
                    .also(first, "first here")
                    .help("keep one of the two");
            }
            Self::LoneSurrogate(span) => {
                problems
                    .report(
                        Code::LoneSurrogate,
                        span,
                        "half of a surrogate pair",
                        format!(
                            "`{}` is half of a surrogate pair and no character",
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
                        "a number is outside the range of a double, ±1.8e308",
                    )
                    .help("write a number below 1.8e308");
            }
        }
    }
}

/// Report the problem after which the text could not be read on.
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
