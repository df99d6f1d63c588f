//! A module: a text and its tree.

use super::parse::{self, Parse};
use super::tree::Module;
use super::{check, permits};
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_lower::{decode, explain_refusal};
use agent_text::{DocumentKind, Span, Text};
use std::borrow::Cow;

/// Maximum size of a policy, in bytes.
pub const POLICY_LIMIT: usize = 16 << 20;

/// A module that was parsed and checked.
#[derive(Debug)]
pub(super) struct SourceModule {
    pub(super) text: Text,
    pub(super) tree: Module,
}

impl SourceModule {
    /// Reads a module that is evaluated together with others.
    pub(super) fn read(
        source: DocumentKind,
        bytes: Vec<u8>,
        others: &[&Module],
    ) -> Result<Self, Vec<Diagnostic>> {
        let text = decode(source, bytes, POLICY_LIMIT)?;
        let mut problems = Problems::new(&text);
        if let Some(at) = lone_return(text.as_str()) {
            let message = "a carriage return alone hides the line behind it";
            let span = Span::new(at, at + 1);
            problems
                .report(Code::PolicySyntax, span, "U+000D without U+000A", message)
                .help("end each line with LF or CRLF");
            return Err(problems.finish());
        }
        let tree = match parse::parse(&mut problems) {
            Some(Parse {
                module,
                broken: None,
            }) => {
                check::check(&module, others, &mut problems);
                Some(module)
            }
            // A text that is not sound has its other problems in the same run.
            Some(Parse {
                module,
                broken: Some(broken),
            }) => {
                check::calls(&module, others, &broken, &mut problems);
                if source == DocumentKind::Policy {
                    permits::unread(&module, &broken, &mut problems);
                }
                None
            }
            None => None,
        };
        let found = problems.finish();
        match tree {
            Some(tree) if found.is_empty() => Ok(Self { text, tree }),
            _ => Err(explain_refusal(&text, found, &mut |_| Vec::new())),
        }
    }

    /// Returns the text that counts: with each CRLF as LF.
    pub(super) fn lines(&self) -> Cow<'_, str> {
        with_line_feeds(self.text.as_str())
    }
}

/// Returns a text with each CRLF as LF.
pub(super) fn with_line_feeds(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => Cow::Owned(text.replace("\r\n", "\n")),
        false => Cow::Borrowed(text),
    }
}

/// Returns the place of a CR that is not part of a CRLF.
fn lone_return(text: &str) -> Option<usize> {
    let mut returns = text.match_indices('\r').map(|(at, _)| at);
    returns.find(|at| !text[at + 1..].starts_with('\n'))
}
