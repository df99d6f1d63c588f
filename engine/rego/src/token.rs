//! Rego as words and signs.

use agent_text::Span;

/// What a token is. Its text is that of its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number.
    Number,
    /// A string in double quotes, which the span holds.
    String,
    /// A string in backquotes, which the span holds.
    Raw,
    /// An operator or a bracket.
    Sign,
    /// The end of the text.
    End,
}

/// One token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// Whether a line ends between it and the token before.
    pub(crate) new_line: bool,
}

/// Why a text has no tokens, and where.
pub(crate) struct BadToken {
    pub(crate) span: Span,
    pub(crate) reason: &'static str,
}

/// The most characters of a number: what is longer is an attack, and costs the square to read.
const NUMBER_LIMIT: usize = 64;

/// The most words and signs of a policy. Compiling takes more than proportionally longer with them;
/// comments and strings may be as long as the text.
pub const TOKEN_LIMIT: usize = 400_000;

/// Signs of two characters, which come before those of one.
const PAIRS: [&[u8]; 5] = [b":=", b"==", b"!=", b"<=", b">="];

/// The tokens of a text; the last is its end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, BadToken> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut new_line) = (0, false);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let kind = match byte {
            b' ' | b'\t' => {
                at += 1;
                continue;
            }
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => {
                at += 1;
                continue;
            }
            b'\n' => {
                new_line = true;
                at += 1;
                continue;
            }
            b'#' => {
                at += until(&bytes[at..], b'\n');
                continue;
            }
            b'"' => {
                at = string_end(bytes, at)?;
                Kind::String
            }
            b'`' => {
                at += 1 + until(&bytes[at + 1..], b'`') + 1;
                if at > bytes.len() {
                    return Err(bad(start, start + 1, "the string has no closing backquote"));
                }
                Kind::Raw
            }
            b'0'..=b'9' => {
                at += number_length(&bytes[at..]);
                Kind::Number
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at += bytes[at..]
                    .iter()
                    .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
                    .count();
                Kind::Word
            }
            _ if PAIRS.iter().any(|pair| bytes[at..].starts_with(pair)) => {
                at += 2;
                Kind::Sign
            }
            b'{' | b'}' | b'[' | b']' | b'(' | b')' | b'+' | b'-' | b'*' | b'/' | b'%' | b','
            | b';' | b'.' | b':' | b'|' | b'&' | b'<' | b'>' | b'=' => {
                at += 1;
                Kind::Sign
            }
            _ => {
                let width = text[at..].chars().next().map_or(1, char::len_utf8);
                return Err(bad(at, at + width, "no token of Rego starts like this"));
            }
        };
        let span = Span::new(start, at);
        match kind {
            Kind::Number if at - start > NUMBER_LIMIT => {
                return Err(bad(start, at, "a number has at most 64 characters"));
            }
            Kind::Number
                if matches!(bytes.get(at), Some(b'_' | b'.' | b'a'..=b'z' | b'A'..=b'Z')) =>
            {
                return Err(bad(start, at + 1, "a number ends before this"));
            }
            // The names of what the engine adds to a policy.
            Kind::Word if span.of(text).starts_with("__") => {
                return Err(bad(
                    start,
                    at,
                    "names that start with `__` are the engine's own",
                ));
            }
            _ => {}
        }
        if found.len() == TOKEN_LIMIT {
            return Err(bad(
                start,
                at,
                "the policy has more than 400,000 words and signs",
            ));
        }
        found.push(Token {
            kind,
            span,
            new_line,
        });
        new_line = false;
    }
    found.push(Token {
        kind: Kind::End,
        span: Span::new(text.len(), text.len()),
        new_line: true,
    });
    Ok(found)
}

fn bad(start: usize, end: usize, reason: &'static str) -> BadToken {
    BadToken {
        span: Span::new(start, end),
        reason,
    }
}

/// How many bytes come before a byte, or how many there are.
fn until(bytes: &[u8], end: u8) -> usize {
    bytes.iter().position(|b| *b == end).unwrap_or(bytes.len())
}

/// Where a string in double quotes ends.
fn string_end(bytes: &[u8], start: usize) -> Result<usize, BadToken> {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            Some(0..0x20) | None => {
                return Err(bad(
                    start,
                    start + 1,
                    "the string has no closing quote on its line",
                ));
            }
            Some(_) => at += 1,
        }
    }
}

fn number_length(bytes: &[u8]) -> usize {
    let digits = |from: usize| {
        bytes[from.min(bytes.len())..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        length += 1;
        if matches!(bytes.get(length), Some(b'+' | b'-')) {
            length += 1;
        }
        length += digits(length);
    }
    length
}
