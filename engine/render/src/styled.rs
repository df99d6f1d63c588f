//! Text in parts that a host may colour.

/// What a part means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Nothing in particular.
    Plain,
    /// What the following is about.
    Heading,
    /// A name of a server, a category, a file.
    Name,
    /// A yes.
    Accepted,
    /// A no.
    Rejected,
    /// A widening, or something else to look at.
    Warning,
    /// The code of a reason.
    Code,
    /// What can be passed over.
    Dim,
}

/// A piece of text of one meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StyledSpan {
    /// What it means.
    pub style: Style,
    /// The text; lines are ended by `\n`.
    pub text: String,
}

/// A text in the making.
#[derive(Debug, Default)]
pub(super) struct Styled {
    parts: Vec<StyledSpan>,
}

impl Styled {
    /// Add a piece.
    pub(super) fn put(&mut self, style: Style, text: impl AsRef<str>) -> &mut Self {
        match self.parts.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text.as_ref()),
            _ => self.parts.push(StyledSpan {
                style,
                text: text.as_ref().to_owned(),
            }),
        }
        self
    }

    /// Add plain text.
    pub(super) fn plain(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.put(Style::Plain, text)
    }

    /// Add a name.
    pub(super) fn name(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.put(Style::Name, text)
    }

    /// Add what can be passed over.
    pub(super) fn dim(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.put(Style::Dim, text)
    }

    /// End the line.
    pub(super) fn end(&mut self) -> &mut Self {
        self.plain("\n")
    }

    pub(super) fn finish(self) -> Vec<StyledSpan> {
        self.parts
    }
}

/// `1 server`, `2 servers`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
