//! Characters of definitions that people do not see, and models read \[4\].

use super::tool::ToolEntry;
use agent_json_schema::token;
use agent_model::ToolView;
use agent_syntax::{Node, Value};
use agent_text::{Hidden, Span, TextForm, hidden, is_hidden};

/// Bytes that are looked at without a branch.
const PLAIN_BLOCK_BYTES: usize = 256;

/// The first concealing character of a definition.
#[derive(Debug, Clone)]
pub struct Concealed<'i> {
    /// The tool.
    pub tool: ToolView<'i>,
    /// The JSON pointer, in the definition, to the string that has the character, or to the member whose
    /// name has it.
    pub pointer: String,
    /// The character.
    pub character: char,
    /// The place in the tool's entry.
    pub span: Span,
    /// How many other characters there are.
    pub others: usize,
}

/// Returns the first character of a tool's definition that people do not see.
pub fn concealed(tool: ToolView<'_>) -> Option<Concealed<'_>> {
    let found = search(tool.name(), tool.entry())?;
    let (pointer, character, span) = found.first?;
    Some(Concealed {
        tool,
        pointer,
        character,
        span,
        others: found.count - 1,
    })
}

/// Returns the first character of a tool's entry that people do not see, with the JSON pointer to its string.
pub fn concealed_in(name: &str, entry: &str) -> Option<(char, String)> {
    let (pointer, character, _) = search(name, entry)?.first?;
    Some((character, pointer))
}

fn search(name: &str, entry: &str) -> Option<Search> {
    // Line breaks and tabs of an entry are between its strings.
    let mut written = entry.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r'));
    let is_shown = is_plain(entry) || !entry.contains('\\') && !written.any(is_hidden);
    if is_shown && !name.contains(is_hidden) {
        return None;
    }
    let mut found = Search {
        first: None,
        count: 0,
    };
    found.name(name, "/name", Span { start: 0, end: 0 });
    for (key, node) in ToolEntry::read(entry).shown() {
        found.node(node, &format!("/{key}"));
    }
    Some(found)
}

/// Returns whether a text has only visible ASCII, blanks and line breaks, and no backslash: a look at whole blocks, because
/// many definitions are searched, and most are so.
fn is_plain(entry: &str) -> bool {
    let other = |byte: &u8| {
        let is_visible = matches!(byte, b' '..=b'~') & (*byte != b'\\');
        !(is_visible | matches!(byte, b'\t' | b'\n' | b'\r'))
    };
    let has_other = |block: &[u8]| block.iter().fold(false, |found, byte| found | other(byte));
    !entry.as_bytes().chunks(PLAIN_BLOCK_BYTES).any(has_other)
}

struct Search {
    first: Option<(String, char, Span)>,
    count: usize,
}

impl Search {
    fn node(&mut self, node: &Node<'_>, pointer: &str) {
        match &node.value {
            Value::String(text) => self.text(text, pointer, node.span),
            Value::Sequence(items) => {
                for (number, item) in items.iter().enumerate() {
                    self.node(item, &format!("{pointer}/{number}"));
                }
            }
            Value::Mapping(entries) => {
                for entry in entries {
                    let pointer = format!("{pointer}/{}", token(&entry.key));
                    self.name(&entry.key, &pointer, entry.key_span);
                    self.node(&entry.value, &pointer);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, pointer: &str, span: Span) {
        self.add(hidden(text, TextForm::Prose), pointer, span);
    }

    fn name(&mut self, name: &str, pointer: &str, span: Span) {
        self.add(hidden(name, TextForm::Name), pointer, span);
    }

    fn add(&mut self, found: Hidden<'_>, pointer: &str, span: Span) {
        for (_, character) in found {
            self.count += 1;
            let first = || (pointer.to_owned(), character, span);
            self.first.get_or_insert_with(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PLAIN_BLOCK_BYTES, is_plain};
    use agent_text::is_hidden;

    #[test]
    fn visible_ascii_is_plain_and_nothing_else() {
        for c in char::MIN..=char::MAX {
            let is_of_line = matches!(c, '\t' | '\n' | '\r');
            let expected = c.is_ascii() && c != '\\' && (is_of_line || !is_hidden(c));
            assert_eq!(is_plain(c.encode_utf8(&mut [0; 4])), expected, "{c:?}");
        }
        let mut text = "a".repeat(2 * PLAIN_BLOCK_BYTES + 1);
        assert!(is_plain(&text));
        text.push('\\');
        assert!(!is_plain(&text));
    }
}
