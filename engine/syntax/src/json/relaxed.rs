//! JSON with comments and trailing commas, as editors and clients of MCP read it.

use super::reader::Reader;
use super::tree::value;
use crate::node::Node;
use agent_diagnostic::Problems;

/// Returns a text with its comments and trailing commas as blanks, so that every place stays as it is; `None` if it
/// has neither.
pub fn blank_comments(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut blanked = String::with_capacity(text.len());
    // The last comma behind a value, with nothing but space and comments behind it.
    let (mut comma, mut previous) = (None, b'[');
    let (mut at, mut kept, mut has_found) = (0, 0, false);
    while let Some(byte) = bytes.get(at) {
        let end = match (byte, bytes.get(at + 1)) {
            (b'"', _) => {
                (comma, previous) = (None, b'"');
                at = end_of_string(bytes, at + 1);
                continue;
            }
            (b'/', Some(b'/')) => end_of(text, at + 2, "\n", 0),
            (b'/', Some(b'*')) => end_of(text, at + 2, "*/", 2),
            (b',', _) => {
                let is_behind_value = !matches!(previous, b'[' | b'{' | b':' | b',');
                (comma, previous) = (is_behind_value.then_some(at), b',');
                at += 1;
                continue;
            }
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    has_found = true;
                    // The comma is kept up to here, or blanked text follows it.
                    blanked.push_str(&text[kept..at]);
                    blanked.replace_range(comma..=comma, " ");
                    kept = at;
                }
                previous = *byte;
                at += 1;
                continue;
            }
            _ => {
                if !byte.is_ascii_whitespace() {
                    (comma, previous) = (None, *byte);
                }
                at += 1;
                continue;
            }
        };
        has_found = true;
        blanked.push_str(&text[kept..at]);
        blanked.extend(text[at..end].bytes().map(blank));
        (at, kept) = (end, end);
    }
    blanked.push_str(&text[kept..]);
    has_found.then_some(blanked)
}

/// Returns the blank that replaces a byte of a comment.
fn blank(byte: u8) -> char {
    match byte {
        b'\n' => '\n',
        b'\r' => '\r',
        _ => ' ',
    }
}

/// Returns the end of a comment, whose end mark counts by `len` bytes. It may be the end of the text.
fn end_of(text: &str, start: usize, mark: &str, len: usize) -> usize {
    let found = text[start..].find(mark);
    found.map_or(text.len(), |at| start + at + len)
}

/// Returns the offset behind a string's closing quote, or the end of the text.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Parses `blanked`, which differs from the text of the problems by blanks alone. Reports everything that strict
/// JSON forbids in it, and returns `None` if it can't be read.
pub fn parse_blanked<'a>(blanked: &'a str, problems: &mut Problems<'_>) -> Option<Node<'a>> {
    let mut reader = Reader::new(blanked);
    let read = value(&mut reader);
    reader.finish(read, problems)
}

#[cfg(test)]
mod tests {
    use super::blank_comments;

    #[test]
    fn comments_and_trailing_commas_are_blanks() {
        for (text, expected) in [
            ("{}", None),
            (r#"{ "a//b": "/* c */, ]" }"#, None),
            (r#"["\",]"]"#, None),
            ("[1, 2]", None),
            ("[1,]", Some("[1 ]")),
            ("[1, /* ä */ ]", Some("[1           ]")),
            ("{ // ü\r\n}", Some("{      \r\n}")),
            ("[1, // a\n 2, // b\n]", Some("[1,     \n 2      \n]")),
            ("[[1,],{\"a\":2,},]", Some("[[1 ],{\"a\":2 } ]")),
            ("[1 /* open", Some("[1        ")),
            ("[1,,]", None),
            ("[,]", None),
            ("/", None),
            ("\"open", None),
            ("\"\\", None),
        ] {
            let blanked = blank_comments(text);
            assert_eq!(blanked.as_deref(), expected, "{text}");
            assert_eq!(blanked.map_or(text.len(), |it| it.len()), text.len());
        }
    }
}
