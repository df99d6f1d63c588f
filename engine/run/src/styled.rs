//! Text for people, while it is written.

use agent_api::render::{Style, StyledSpan};

/// Lines of styled text.
#[derive(Debug, Default)]
pub(crate) struct Styled(pub(crate) Vec<StyledSpan>);

impl Styled {
    pub(crate) fn put(&mut self, style: Style, text: &str) {
        self.0.push(StyledSpan {
            text: text.to_owned(),
            style,
        });
    }

    /// Adds a text, each of its lines indented.
    pub(crate) fn block(&mut self, style: Style, text: &str) {
        for line in text.lines() {
            self.put(Style::Plain, "  ");
            self.put(style, line);
            self.end();
        }
    }

    pub(crate) fn end(&mut self) {
        self.put(Style::Plain, "\n");
    }
}
