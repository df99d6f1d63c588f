//! The tokenizer of Rego.

use agent_text::Span;

/// The kind of a token. Its text is that of its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number.
    Number,
    /// A string with its double quotes.
    String,
    /// A raw string with its backquotes.
    Raw,
    /// An operator or a bracket.
    Sign,
    /// What no token begins with, and why: the rule that holds it is broken, and the others are read.
    Bad(&'static str),
    /// The end of the text.
    End,
}

/// One token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// Whether a line ends between this token and the one before.
    pub(crate) new_line: bool,
}

/// The error that ends the tokenizing.
pub(crate) struct TokenError {
    pub(crate) span: Span,
    pub(crate) reason: &'static str,
}

/// Maximum characters of a number: reading takes the square of them.
const NUMBER_LIMIT: usize = 64;

/// Maximum tokens of a policy: the time to compile grows faster than their number. Comments and
/// strings may be as long as the text.
pub const TOKEN_LIMIT: usize = 400_000;

/// Operators of two characters, which come before those of one.
const PAIRS: [&[u8]; 5] = [b":=", b"==", b"!=", b"<=", b">="];

/// Operators and brackets of one character.
const SIGNS: &[u8] = b"{}[]()+-*/%,;.:|&<>=";

/// Returns the tokens of a text; the last is its end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, TokenError> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut new_line) = (0, false);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let rest = &bytes[at..];
        let bad = |end: usize, reason| TokenError {
            span: Span::new(start, end),
            reason,
        };
        let (kind, length) = match byte {
            b' ' | b'\t' | b'\n' => {
                new_line |= byte == b'\n';
                at += 1;
                continue;
            }
            b'\r' if rest.get(1) == Some(&b'\n') => {
                at += 1;
                continue;
            }
            b'#' => {
                at += count(rest, |b| b != b'\n');
                continue;
            }
            b'"' => match string_length(rest) {
                Some(length) => (Kind::String, length),
                None => (
                    Kind::Bad("missing closing quote on this line"),
                    count(rest, |b| b != b'\n'),
                ),
            },
            b'`' => match 2 + count(&rest[1..], |b| b != b'`') {
                length if length <= rest.len() => (Kind::Raw, length),
                _ => return Err(bad(at + 1, "missing closing backquote")),
            },
            b'0'..=b'9' => (Kind::Number, number_length(rest)),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => (Kind::Word, count(rest, is_word)),
            _ if PAIRS.iter().any(|pair| rest.starts_with(pair)) => (Kind::Sign, 2),
            _ if SIGNS.contains(&byte) => (Kind::Sign, 1),
            _ => {
                let (reason, length) = misused(&text[at..]);
                (Kind::Bad(reason), length)
            }
        };
        at += length;
        let span = Span::new(start, at);
        let number = kind == Kind::Number;
        if number && length > NUMBER_LIMIT {
            return Err(bad(at, "a number has at most 64 characters"));
        }
        if number && bytes.get(at).is_some_and(|b| is_word(*b) || *b == b'.') {
            return Err(bad(at + 1, "a number ends before this character"));
        }
        // The engine adds calls of such names to a policy.
        if kind == Kind::Word && rest.starts_with(b"__") {
            let reason = "names that start with `__` are reserved for the engine";
            return Err(bad(at, reason));
        }
        if found.len() == TOKEN_LIMIT {
            return Err(bad(at, "the policy has more than 400,000 tokens"));
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

/// Returns the message about a character that starts no token, as other languages use it, and the length of
/// what it begins.
fn misused(rest: &str) -> (&'static str, usize) {
    let mut chars = rest.chars();
    let first = chars.next().unwrap_or_default();
    let (closing, reason) = match first {
        '\'' => (Some('\''), "Rego writes strings in double quotes"),
        '“' => (Some('”'), "U+201C is not a double quote of Rego"),
        '”' => (Some('”'), "U+201D is not a double quote of Rego"),
        '„' => (Some('“'), "U+201E is not a double quote of Rego"),
        '‘' => (Some('’'), "U+2018 is not a double quote of Rego"),
        '’' => (Some('’'), "U+2019 is not a double quote of Rego"),
        '!' => (None, "Rego negates with `not` in place of `!`"),
        _ => (None, "a token can't start with this character"),
    };
    // Brackets inside a quoted text do not count.
    let line = chars.as_str().lines().next().unwrap_or_default();
    let text = closing.and_then(|it| Some(line.find(it)? + it.len_utf8()));
    (reason, first.len_utf8() + text.unwrap_or_default())
}

/// Returns the number of bytes at the start that a test accepts.
fn count(bytes: &[u8], accepts: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| accepts(**byte)).count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the length of a string in double quotes. Returns `None` if its line ends first.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            0..0x20 => return None,
            _ => at += 1,
        }
    }
}

fn number_length(bytes: &[u8]) -> usize {
    let rest = |from: usize| bytes.get(from..).unwrap_or_default();
    let digits = |from: usize| count(rest(from), |b| b.is_ascii_digit());
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        length += 1 + usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        length += digits(length);
    }
    length
}
