//! The token reader.

use super::problem::{RecoverableError, SyntaxError, report};
use crate::double::double;
use agent_diagnostic::{Code, Problems};
use agent_text::Span;
use agent_text::sort::sort_by;
use std::borrow::Cow;

/// Maximum depth of nested arrays and objects.
pub const DEPTH_LIMIT: u32 = 128;

/// The type of a value, which its first byte determines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// `[`
    Array,
    /// `{`
    Object,
}

/// A string or a number, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// A string without its quotes and escapes; a number as written.
    pub value: Cow<'a, str>,
    /// Its bytes, including quotes.
    pub span: Span,
}

/// A key of an open object.
#[derive(Debug, Clone, Copy)]
struct Key {
    span: Span,
    escaped: bool,
}

/// Maximum number of keys to compare pairwise; more are sorted.
pub(super) const FEW_KEYS: usize = 16;

type Read<T> = Result<T, Box<SyntaxError>>;

/// A reader of one JSON text from front to back.
///
/// It collects problems that do not end the reading: duplicate keys, lone surrogates, numbers out of
/// range. [`Reader::finish`] reports them.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    /// The noted keys of all open objects, innermost last.
    keys: Vec<Key>,
    errors: Vec<RecoverableError>,
}

impl<'a> Reader<'a> {
    /// Returns a reader of a text. Skips a byte order mark before the value.
    pub fn new(text: &'a str) -> Self {
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self {
            text,
            at,
            depth: 0,
            keys: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Returns the number of bytes read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns the source text of a span.
    pub fn source(&self, span: Span) -> &'a str {
        span.of(self.text)
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
            // Skips indentation, up to eight bytes at a time.
            if let Some(chunk) = bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
                let other = u64::from_le_bytes(*chunk) ^ u64::from_le_bytes([b' '; 8]);
                self.at += (other.trailing_zeros() / 8) as usize;
            }
        }
    }

    /// Returns an error at the present character.
    #[cold]
    fn error(&self, label: impl Into<String>, help: &'static str) -> Box<SyntaxError> {
        let rest = &self.text[self.at..];
        let width = rest.chars().next().map_or(0, char::len_utf8);
        Box::new(SyntaxError {
            code: Code::JsonSyntax,
            span: Span::new(self.at, self.at + width),
            label: label.into(),
            help,
        })
    }

    /// Returns the error that `expected` is not at the present offset.
    #[cold]
    fn unexpected(&self, expected: &str) -> Box<SyntaxError> {
        let rest = &self.text[self.at..];
        let found = match rest.chars().next() {
            None => "the end of the text".to_owned(),
            Some(c @ ('\'' | '"' | '\\')) => format!("`{c}`"),
            // An invisible character is named by its code point.
            Some(c) if c.escape_debug().len() > 1 => format!("U+{:04X}", u32::from(c)),
            Some(c) => format!("`{c}`"),
        };
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| rest.starts_with(prefix));
        let help = if rest.is_empty() {
            "write the missing end of the text, or close the open bracket or quote"
        } else if starts(&["//", "/*", "#"]) {
            "remove the comment: JSON has none"
        } else if starts(&["'", "“"]) {
            "write strings in double quotes: \"…\""
        } else if starts(&[","]) {
            "remove the comma"
        } else if starts(&["]", "}"]) {
            "remove the comma before it, or write the missing value"
        } else if starts(&["NaN", "Infinity", "-I"]) {
            "write a finite number: JSON has no other"
        } else if starts(&["True", "False", "None"]) {
            "write true, false or null in lower case"
        } else {
            "write one JSON value, without comments and trailing commas"
        };
        self.error(format!("expected {expected}, found {found}"), help)
    }

    /// Returns the type of the next value.
    #[inline(always)]
    pub fn kind(&mut self) -> Read<Kind> {
        self.skip_space();
        match self.byte() {
            Some(b'"') => Ok(Kind::String),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'0'..=b'9' | b'-') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn enter(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Box::new(SyntaxError {
                code: Code::NestingTooDeep,
                span: Span::new(self.at, self.at + 1),
                label: format!("level {}", self.depth),
                help: "nest at most 128 arrays and objects",
            }));
        }
        self.at += 1;
        Ok(())
    }

    /// Enters the array that [`Reader::kind`] announced.
    pub fn enter_array(&mut self) -> Read<()> {
        debug_assert_eq!(self.byte(), Some(b'['));
        self.enter()
    }

    /// Advances to the next element of the array. `first` is true before the first call, which makes
    /// it false. Returns false at the end of the array, which is then closed.
    #[inline(always)]
    pub fn element(&mut self, first: &mut bool) -> Read<bool> {
        self.skip_space();
        match self.byte() {
            Some(b']') if *first => {}
            Some(_) if *first => {
                *first = false;
                return Ok(true);
            }
            Some(b',') => {
                self.at += 1;
                self.skip_space();
                if self.byte() == Some(b']') {
                    return Err(self.unexpected("a value"));
                }
                return Ok(true);
            }
            Some(b']') => {}
            _ => return Err(self.unexpected("`,` or `]`")),
        }
        self.at += 1;
        self.depth -= 1;
        Ok(false)
    }

    /// Enters the object that [`Reader::kind`] announced.
    pub fn enter_object(&mut self) -> Read<()> {
        debug_assert_eq!(self.byte(), Some(b'{'));
        self.enter()
    }

    /// Advances to the value of the object's next member and returns its key. Returns `None` at the
    /// end of the object, which is then closed. The caller checks that keys are unique, by
    /// [`Reader::duplicate_key`].
    #[inline(always)]
    pub fn key(&mut self, first: &mut bool) -> Read<Option<Token<'a>>> {
        self.skip_space();
        match self.byte() {
            Some(b'"') if *first => *first = false,
            Some(b',') if !*first => {
                self.at += 1;
                self.skip_space();
                if self.byte() != Some(b'"') {
                    return Err(self.unexpected("a key in double quotes"));
                }
            }
            Some(b'}') => {
                self.at += 1;
                self.depth -= 1;
                return Ok(None);
            }
            _ if *first => return Err(self.unexpected("a key in double quotes, or `}`")),
            _ => return Err(self.unexpected("`,` or `}`")),
        }
        let key = self.string()?;
        self.skip_space();
        if self.byte() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Notes a key that appears twice in one object.
    #[cold]
    pub fn duplicate_key(&mut self, first: Span, again: Span) {
        self.errors
            .push(RecoverableError::DuplicateKey { first, again });
    }

    /// Reads the string that [`Reader::kind`] announced.
    #[inline(always)]
    pub fn string(&mut self) -> Read<Token<'a>> {
        debug_assert_eq!(self.byte(), Some(b'"'));
        let start = self.at;
        let end = plain_run(self.text.as_bytes(), start + 1);
        self.at = end;
        if self.byte() == Some(b'"') {
            self.at += 1;
            return Ok(Token {
                value: Cow::Borrowed(&self.text[start + 1..end]),
                span: Span::new(start, self.at),
            });
        }
        self.escaped_string(start)
    }

    /// Reads the rest of a string from its first backslash on.
    #[cold]
    fn escaped_string(&mut self, start: usize) -> Read<Token<'a>> {
        // Without its escapes a string gets shorter.
        let mut value = String::with_capacity(self.closing_quote() - start);
        value.push_str(&self.text[start + 1..self.at]);
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Token {
                        value: Cow::Owned(value),
                        span: Span::new(start, self.at),
                    });
                }
                Some(b'\\') => value.push(self.escape()?),
                Some(_) => {
                    return Err(self.error(
                        "a control character in a string",
                        "write it as an escape: \\n, \\t, \\u0000",
                    ));
                }
                None => return Err(self.unexpected("`\"`")),
            }
            let run = self.at;
            self.at = plain_run(self.text.as_bytes(), run);
            value.push_str(&self.text[run..self.at]);
        }
    }

    /// Returns the end of the current string, or of the text if that comes first.
    fn closing_quote(&self) -> usize {
        let bytes = self.text.as_bytes();
        let mut end = self.at;
        while let Some(b'\\') = bytes.get(end) {
            end = plain_run(bytes, bytes.len().min(end + 2));
        }
        end
    }

    /// Reads an escape. Notes half of a surrogate pair and returns U+FFFD for it.
    fn escape(&mut self) -> Read<char> {
        let start = self.at;
        self.at += 1;
        let simple = match self.byte() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.hex4()?;
                let next = self.text.as_bytes()[self.at..].starts_with(b"\\u");
                if (0xd800..0xdc00).contains(&first) && next {
                    let before = self.at;
                    self.at += 1;
                    let second = self.hex4()?;
                    if (0xdc00..0xe000).contains(&second) {
                        let c = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                        return Ok(char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    self.at = before;
                }
                return Ok(char::from_u32(first).unwrap_or_else(|| {
                    let span = Span::new(start, self.at);
                    self.errors.push(RecoverableError::LoneSurrogate(span));
                    char::REPLACEMENT_CHARACTER
                }));
            }
            _ => {
                let escapes = "one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u";
                return Err(self.unexpected(escapes));
            }
        };
        self.at += 1;
        Ok(simple)
    }

    /// Reads `uXXXX` at the `u`.
    fn hex4(&mut self) -> Read<u32> {
        self.at += 1;
        let mut value = 0;
        for _ in 0..4 {
            let Some(digit) = self.byte().and_then(|b| char::from(b).to_digit(16)) else {
                return Err(self.unexpected("four hexadecimal digits"));
            };
            value = value * 16 + digit;
            self.at += 1;
        }
        Ok(value)
    }

    /// Reads the boolean that [`Reader::kind`] announced.
    pub fn bool(&mut self) -> Read<bool> {
        if self.byte() == Some(b't') {
            self.literal("true").map(|()| true)
        } else {
            self.literal("false").map(|()| false)
        }
    }

    /// Reads the `null` that [`Reader::kind`] announced.
    pub fn null(&mut self) -> Read<()> {
        self.literal("null")
    }

    fn literal(&mut self, literal: &str) -> Read<()> {
        if !self.text[self.at..].starts_with(literal) {
            return Err(self.unexpected("a value"));
        }
        self.at += literal.len();
        Ok(())
    }

    /// Reads the number that [`Reader::kind`] announced.
    pub fn number(&mut self) -> Read<Token<'a>> {
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        match self.byte() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(self.unexpected("a digit")),
        }
        if let Some(b'0'..=b'9') = self.byte() {
            let help = "write the number without leading zeros";
            return Err(self.error("a digit after a leading zero", help));
        }
        let mut exponent = false;
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            exponent = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        let span = Span::new(start, self.at);
        // Below 10^300, which fewer than 300 digits without an exponent can't reach.
        if (exponent || text.len() > 300) && double(text).is_infinite() {
            self.errors.push(RecoverableError::NumberOutOfRange(span));
        }
        Ok(Token {
            value: Cow::Borrowed(text),
            span,
        })
    }

    fn digits(&mut self) -> Read<()> {
        if !matches!(self.byte(), Some(b'0'..=b'9')) {
            return Err(self.unexpected("a digit"));
        }
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        Ok(())
    }

    /// Reads and discards a value of any type.
    pub fn skip(&mut self) -> Read<()> {
        match self.kind()? {
            Kind::Null => self.null(),
            Kind::Bool => self.bool().map(drop),
            Kind::Number => self.number().map(drop),
            Kind::String => self.string().map(drop),
            Kind::Array => {
                self.enter_array()?;
                let mut first = true;
                while self.element(&mut first)? {
                    self.skip()?;
                }
                Ok(())
            }
            Kind::Object => {
                self.enter_object()?;
                let checked = self.begin_keys();
                let mut first = true;
                while let Some(key) = self.key(&mut first)? {
                    self.note_key(&key);
                    self.skip()?;
                }
                self.end_keys(checked);
                Ok(())
            }
        }
    }

    /// Starts to note the keys of an object. [`Reader::end_keys`] takes the result.
    pub fn begin_keys(&self) -> usize {
        self.keys.len()
    }

    /// Notes a key of the innermost object.
    pub fn note_key(&mut self, key: &Token<'a>) {
        self.keys.push(Key {
            span: key.span,
            escaped: matches!(key.value, Cow::Owned(_)),
        });
    }

    /// Returns whether a key may appear twice. The answer is exact for most objects, whose keys are
    /// few and without escapes.
    fn may_repeat(&self, keys: &[Key]) -> bool {
        let len = |key: &Key| key.span.end - key.span.start;
        let repeated = |(at, key): (usize, &Key)| {
            let same = |other: &Key| {
                len(other) == len(key) && self.source(other.span) == self.source(key.span)
            };
            key.escaped || keys[..at].iter().any(same)
        };
        keys.len() > FEW_KEYS || keys.iter().enumerate().any(repeated)
    }

    /// Checks the keys noted since `begun` for duplicates, and discards them.
    pub fn end_keys(&mut self, begun: usize) {
        let keys = &self.keys[begun..];
        if self.may_repeat(keys) {
            let named = keys.iter().map(|key| (key.name(self.text), key.span));
            self.note_repeated(named.collect());
        }
        self.keys.truncate(begun);
    }

    /// Notes the keys that appear twice.
    #[cold]
    pub(super) fn note_repeated(&mut self, mut keys: Vec<(Cow<'_, str>, Span)>) {
        // Of equal keys the first in the text comes first.
        sort_by(&mut keys, Ord::cmp);
        for pair in keys.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            self.errors.push(RecoverableError::DuplicateKey {
                first: pair[0].1,
                again: pair[1].1,
            });
        }
    }

    /// Returns whether only white space is left and no problem was collected. Checks a text without a
    /// tree, after [`Reader::skip`].
    pub fn ends_strictly(mut self) -> bool {
        self.skip_space();
        self.at == self.text.len() && self.errors.is_empty()
    }

    /// Reports the collected problems, and the error of an attempt to read the text. After a
    /// successful one, checks that only white space is left.
    pub fn finish<T>(mut self, read: Read<T>, problems: &mut Problems<'_>) -> Option<T> {
        for error in &self.errors {
            error.report(problems);
        }
        let read = read.and_then(|value| {
            self.skip_space();
            if self.at == self.text.len() {
                return Ok(value);
            }
            let help = "remove the text: a JSON text is exactly one value";
            Err(self.error("text after the value", help))
        });
        read.map_err(|error| report(*error, problems)).ok()
    }
}

impl Key {
    fn name(self, text: &str) -> Cow<'_, str> {
        if self.escaped {
            let mut reader = Reader::new(&text[..self.span.end as usize]);
            reader.at = self.span.start as usize;
            // The string was read before, so reading it again succeeds.
            if let Ok(token) = reader.string() {
                return token.value;
            }
        }
        Cow::Borrowed(&text[self.span.start as usize + 1..self.span.end as usize - 1])
    }
}

/// Returns the offset in a string's source for an offset in the string. The source, without quotes,
/// may contain escapes. It must have been read before.
pub fn raw_offset(source: &str, offset: usize) -> usize {
    let mut reader = Reader::new(source);
    reader.at = 0;
    let mut left = offset;
    loop {
        let run = plain_run(source.as_bytes(), reader.at) - reader.at;
        if run >= left {
            return reader.at + left;
        }
        left -= run;
        reader.at += run;
        match reader.escape() {
            Ok(c) => left = left.saturating_sub(c.len_utf8()),
            Err(_) => return reader.at,
        }
    }
}

/// Returns the end of a run of plain characters of a string: the offset of the next quote, backslash
/// or control character, or the end of the text.
#[inline(always)]
fn plain_run(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Eight bytes at a time. The lowest marked byte is exact; a borrow can only mark others above
    // it, which are ignored.
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        // With this bit flipped, a quote is the first byte above the control characters.
        let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
        let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
        // Neither has its high bit set.
        let stop = (quote_or_control | backslash) & !word & HIGH;
        if stop != 0 {
            return at + (stop.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(b) = bytes.get(at) {
        if matches!(b, b'"' | b'\\' | 0..0x20) {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{plain_run, raw_offset};

    #[test]
    fn offsets_of_a_string_are_found_in_its_source() {
        // Read as: a, quote, é, clef (four bytes), new line, b.
        let source = r#"a\"\u00e9\ud834\udd1e\nb"#;
        let offsets = [(0, 0), (1, 1), (2, 3), (4, 9), (8, 21), (9, 23), (10, 24)];
        for (offset, raw) in offsets {
            assert_eq!(raw_offset(source, offset), raw, "{offset}");
        }
        assert_eq!(raw_offset("\u{feff}x", 3), 3);
    }

    #[test]
    fn runs_end_where_a_plain_loop_ends_them() {
        // Each stop at each distance, among bytes that could carry into their neighbours.
        for filler in [b'a', b'!', b' ', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
            for stop in [b'"', b'\\', 0, 0x1f, b'\n'] {
                for distance in 0..20 {
                    let mut bytes = vec![filler; 24];
                    bytes[distance] = stop;
                    bytes[23] = b'"';
                    assert_eq!(plain_run(&bytes, 0), distance, "{filler} {stop}");
                }
            }
            assert_eq!(plain_run(&[filler; 13], 0), 13);
        }
    }
}
