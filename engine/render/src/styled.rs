//! Text in spans that a host may colour.

/// The meaning of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Nothing in particular.
    Plain,
    /// The subject of the following text.
    Heading,
    /// The name of a server, a category or a file.
    Name,
    /// Something accepted.
    Accepted,
    /// Something rejected.
    Rejected,
    /// More access for the agent, or something else to look at.
    Warning,
    /// The code of a reason.
    Code,
    /// Secondary text.
    Dim,
}

/// A span of text with one meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StyledSpan {
    /// The meaning.
    pub style: Style,
    /// The text; lines are ended by `\n`.
    pub text: String,
}

/// A text that is being written.
#[derive(Debug, Default)]
pub(super) struct Styled {
    spans: Vec<StyledSpan>,
}

impl Styled {
    /// Adds a span.
    pub(super) fn put(&mut self, style: Style, text: impl AsRef<str>) -> &mut Self {
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text.as_ref()),
            _ => self.spans.push(StyledSpan {
                style,
                text: text.as_ref().to_owned(),
            }),
        }
        self
    }

    /// Adds plain text.
    pub(super) fn plain(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.put(Style::Plain, text)
    }

    /// Adds a name.
    pub(super) fn name(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.put(Style::Name, text)
    }

    /// Adds secondary text.
    pub(super) fn dim(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.put(Style::Dim, text)
    }

    /// Ends the line.
    pub(super) fn end(&mut self) -> &mut Self {
        self.plain("\n")
    }

    /// Adds the mark of something accepted or rejected.
    pub(super) fn mark(&mut self, accepted: bool) -> &mut Self {
        match accepted {
            true => self.put(Style::Accepted, "✓ "),
            false => self.put(Style::Rejected, "✗ "),
        }
    }

    /// Adds an empty line between two blocks.
    pub(super) fn gap(&mut self) {
        if !self.spans.is_empty() {
            self.end();
        }
    }

    /// Returns the spans.
    pub(super) fn finish(self) -> Vec<StyledSpan> {
        self.spans
    }
}

/// Returns a number with its noun: `1 server`, `2 servers`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
