//! The token reader.

use super::DEPTH_LIMIT;
use super::problem::{Flaw, Syntax};
use crate::double::double;
use agent_diagnostic::{Code, Problems};
use agent_text::Span;
use agent_text::sort::sort_by;
use std::borrow::Cow;

/// What a value is, told by its first byte.
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

/// A string or a number, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// A string without its quotes and escapes; a number by its source text.
    pub value: Cow<'a, str>,
    /// Its bytes, quotes included.
    pub span: Span,
}

/// A key of an object that is being read.
#[derive(Debug, Clone, Copy)]
struct Key {
    span: Span,
    escaped: bool,
}

/// So many keys are compared with each other; more are sorted.
pub(super) const FEW_KEYS: usize = 16;

type Read<T> = Result<T, Box<Syntax>>;

/// Reads one JSON text from front to back.
///
/// Flaws that don't stop the reading (duplicate keys, lone surrogates, numbers out of range) are
/// collected and reported by [`Reader::finish`].
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    /// The keys of all objects that are open and are checked for duplicates, innermost last.
    keys: Vec<Key>,
    flaws: Vec<Flaw>,
}

impl<'a> Reader<'a> {
    /// Begin a text. A byte order mark before the value is passed over.
    pub fn new(text: &'a str) -> Self {
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self {
            text,
            at,
            depth: 0,
            keys: Vec::new(),
            flaws: Vec::new(),
        }
    }

    /// How many bytes have been read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The source text of a span that was read.
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
            // Indentation, up to eight at a time.
            if let Some(chunk) = bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
                let other = u64::from_le_bytes(*chunk) ^ u64::from_le_bytes([b' '; 8]);
                self.at += (other.trailing_zeros() / 8) as usize;
            }
        }
    }

    #[cold]
    fn fail<T>(&self, label: impl Into<String>, help: Option<&'static str>) -> Read<T> {
        Err(self.flaw(label.into(), help))
    }

    fn flaw(&self, label: String, help: Option<&'static str>) -> Box<Syntax> {
        let rest = &self.text[self.at..];
        let width = rest.chars().next().map_or(0, char::len_utf8);
        Box::new(Syntax {
            code: Code::JsonSyntax,
            span: Span::new(self.at, self.at + width),
            label,
            help,
        })
    }

    /// Fail where `expected` should have stood.
    #[cold]
    fn unexpected<T>(&self, expected: &str) -> Read<T> {
        Err(self.other_than(expected))
    }

    fn other_than(&self, expected: &str) -> Box<Syntax> {
        let rest = &self.text[self.at..];
        let found = match rest.chars().next() {
            None => "the end of the text".to_owned(),
            Some(c @ ('\'' | '"' | '\\')) => format!("`{c}`"),
            Some(c) => format!("`{}`", c.escape_debug()),
        };
        let help = if rest.is_empty() {
            Some("the text is cut off, or a bracket or quote is not closed")
        } else if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
            Some("JSON has no comments")
        } else if rest.starts_with('\'') || rest.starts_with('“') {
            Some("strings stand in double quotes: \"…\"")
        } else if rest.starts_with(',') {
            Some("remove the comma")
        } else if rest.starts_with(']') || rest.starts_with('}') {
            Some("remove the comma before it, or write the missing value")
        } else if rest.starts_with("NaN") || rest.starts_with("Infinity") || rest.starts_with("-I")
        {
            Some("JSON has no such number")
        } else if rest.starts_with("True") || rest.starts_with("False") || rest.starts_with("None")
        {
            Some("JSON writes true, false and null")
        } else {
            Some("JSON is one value, without comments and trailing commas")
        };
        self.flaw(format!("expected {expected}, found {found}"), help)
    }

    /// What comes next.
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
            _ => self.unexpected("a value"),
        }
    }

    fn enter(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Box::new(Syntax {
                code: Code::NestingTooDeep,
                span: Span::new(self.at, self.at + 1),
                label: format!("level {}", self.depth),
                help: Some("at most 128 arrays and objects may stand inside each other"),
            }));
        }
        self.at += 1;
        Ok(())
    }

    /// Enter the array that [`Reader::kind`] told of.
    pub fn enter_array(&mut self) -> Read<()> {
        debug_assert_eq!(self.byte(), Some(b'['));
        self.enter()
    }

    /// Go to the next element of the array. `first` is true before the first and made false;
    /// the answer is false at the end of the array, which is then left.
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
                    return self.unexpected("a value");
                }
                return Ok(true);
            }
            Some(b']') => {}
            _ => return self.unexpected("`,` or `]`"),
        }
        self.at += 1;
        self.depth -= 1;
        Ok(false)
    }

    /// Enter the object that [`Reader::kind`] told of.
    pub fn enter_object(&mut self) -> Read<()> {
        debug_assert_eq!(self.byte(), Some(b'{'));
        self.enter()
    }

    /// Go to the value of the next member of the object and give its key; none at the end of the
    /// object, which is then left. Whether keys are unique is for the caller to check, by
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
                    return self.unexpected("a key in double quotes");
                }
            }
            Some(b'}') => {
                self.at += 1;
                self.depth -= 1;
                return Ok(None);
            }
            _ if *first => return self.unexpected("a key in double quotes, or `}`"),
            _ => return self.unexpected("`,` or `}`"),
        }
        let key = self.string()?;
        self.skip_space();
        if self.byte() != Some(b':') {
            return self.unexpected("`:`");
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Note that a key stands twice in one object.
    #[cold]
    pub fn duplicate_key(&mut self, first: Span, again: Span) {
        self.flaws.push(Flaw::DuplicateKey { first, again });
    }

    /// Read the string that [`Reader::kind`] told of.
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

    /// Go on with a string after its first backslash.
    #[cold]
    fn escaped_string(&mut self, start: usize) -> Read<Token<'a>> {
        // Without its escapes a string is shorter than with them.
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
                    return self.fail(
                        "a control character in a string",
                        Some("write it as an escape: \\n, \\t, \\u0000"),
                    );
                }
                None => return self.unexpected("`\"`"),
            }
            let run = self.at;
            self.at = plain_run(self.text.as_bytes(), run);
            value.push_str(&self.text[run..self.at]);
        }
    }

    /// Where the string ends that the reader stands in, or the text if that comes first.
    fn closing_quote(&self) -> usize {
        let bytes = self.text.as_bytes();
        let mut end = self.at;
        while let Some(b'\\') = bytes.get(end) {
            end = plain_run(bytes, bytes.len().min(end + 2));
        }
        end
    }

    /// Read an escape. Half of a surrogate pair is noted, and read as U+FFFD.
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
                    self.flaws
                        .push(Flaw::LoneSurrogate(Span::new(start, self.at)));
                    char::REPLACEMENT_CHARACTER
                }));
            }
            _ => {
                return self.unexpected("one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u");
            }
        };
        self.at += 1;
        Ok(simple)
    }

    /// Read `uXXXX`, standing on the `u`.
    fn hex4(&mut self) -> Read<u32> {
        self.at += 1;
        let mut value = 0;
        for _ in 0..4 {
            let Some(digit) = self.byte().and_then(|b| char::from(b).to_digit(16)) else {
                return self.unexpected("four hexadecimal digits");
            };
            value = value * 16 + digit;
            self.at += 1;
        }
        Ok(value)
    }

    /// Read the boolean that [`Reader::kind`] told of.
    pub fn bool(&mut self) -> Read<bool> {
        if self.byte() == Some(b't') {
            self.literal("true").map(|()| true)
        } else {
            self.literal("false").map(|()| false)
        }
    }

    /// Read the `null` that [`Reader::kind`] told of.
    pub fn null(&mut self) -> Read<()> {
        self.literal("null")
    }

    fn literal(&mut self, literal: &str) -> Read<()> {
        if !self.text[self.at..].starts_with(literal) {
            return self.unexpected("a value");
        }
        self.at += literal.len();
        Ok(())
    }

    /// Read the number that [`Reader::kind`] told of.
    pub fn number(&mut self) -> Read<Token<'a>> {
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        match self.byte() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return self.unexpected("a digit"),
        }
        if let Some(b'0'..=b'9') = self.byte() {
            return self.fail(
                "a digit after a leading zero",
                Some("write the number without leading zeros"),
            );
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
            self.flaws.push(Flaw::NumberOutOfRange(span));
        }
        Ok(Token {
            value: Cow::Borrowed(text),
            span,
        })
    }

    fn digits(&mut self) -> Read<()> {
        if !matches!(self.byte(), Some(b'0'..=b'9')) {
            return self.unexpected("a digit");
        }
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        Ok(())
    }

    /// Read a value of any kind and forget it.
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

    /// Begin to note the keys of an object; [`Reader::end_keys`] takes the answer.
    pub fn begin_keys(&self) -> usize {
        self.keys.len()
    }

    /// Note a key of the innermost object.
    pub fn note_key(&mut self, key: &Token<'a>) {
        self.keys.push(Key {
            span: key.span,
            escaped: matches!(key.value, Cow::Owned(_)),
        });
    }

    /// Whether one of the keys may stand among them twice: told for those of most objects, which are
    /// few and written without escapes.
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

    /// Check the keys noted since `begin_keys` for duplicates, and forget them.
    pub fn end_keys(&mut self, begun: usize) {
        let keys = &self.keys[begun..];
        if self.may_repeat(keys) {
            let named = keys.iter().map(|key| (key.name(self.text), key.span));
            self.note_repeated(named.collect());
        }
        self.keys.truncate(begun);
    }

    /// Note those of some keys that stand among them twice.
    #[cold]
    pub(super) fn note_repeated(&mut self, mut keys: Vec<(Cow<'_, str>, Span)>) {
        // Of equal keys the first in the text comes first.
        sort_by(&mut keys, Ord::cmp);
        for pair in keys.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            self.flaws.push(Flaw::DuplicateKey {
                first: pair[0].1,
                again: pair[1].1,
            });
        }
    }

    /// Require that nothing but white space is left, and report the flaws.
    pub fn finish(mut self, problems: &mut Problems<'_>) -> Read<()> {
        self.report_flaws(problems);
        self.skip_space();
        if self.at < self.text.len() {
            return self.fail(
                "text after the value",
                Some("a JSON text is one value and nothing else"),
            );
        }
        Ok(())
    }

    /// Report the flaws found so far; for a text that could not be read to its end.
    pub fn report_flaws(&mut self, problems: &mut Problems<'_>) {
        for flaw in self.flaws.drain(..) {
            flaw.report(problems);
        }
    }
}

impl Key {
    fn name(self, text: &str) -> Cow<'_, str> {
        if self.escaped {
            let mut reader = Reader::new(&text[..self.span.end as usize]);
            reader.at = self.span.start as usize;
            // It has been read before, so that it can be read again.
            if let Ok(token) = reader.string() {
                return token.value;
            }
        }
        Cow::Borrowed(&text[self.span.start as usize + 1..self.span.end as usize - 1])
    }
}

/// Where in the source of a string, its quotes left out, an offset of the string stands: there it
/// may be written with escapes. The source has been read before.
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

/// The offset of the first byte from `at` that ends a run of plain characters of a string: a
/// quote, a backslash, a control character, or the end of the text.
#[inline(always)]
fn plain_run(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Eight bytes at a time. The lowest marked byte is exact; a borrow can only mark others above
    // it, and those are not looked at.
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        // With this bit turned a quote is the first byte above the control characters.
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
