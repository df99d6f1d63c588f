//! Translation of ECMA-262 patterns to those of the `regex` crate.
//!
//! The flag `u` applies, with two common extensions: any punctuation may be escaped, and an unpaired
//! bracket matches itself. Look-around and back-references need more than linear time, and are
//! refused.

use std::iter::Peekable;
use std::str::CharIndices;

/// The reason why a pattern can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternError {
    /// Look-ahead or look-behind.
    LookAround,
    /// A reference to the match of a group.
    BackReference,
    /// An unsupported construct, such as an unknown property of characters, or half of a surrogate
    /// pair.
    Unsupported,
    /// A syntax error.
    Syntax,
    /// A pattern that is too long, or exceeds [`PATTERN_LIMIT`](super::PATTERN_LIMIT) with its
    /// repetitions expanded.
    TooLarge,
}

impl PatternError {
    /// Returns the reason in a few words, without a final stop.
    pub fn reason(self) -> &'static str {
        match self {
            Self::LookAround => "look-around is not supported: it takes more than linear time",
            Self::BackReference => {
                "references to groups are not supported: they take more than linear time"
            }
            Self::Unsupported => "it contains an unsupported construct",
            Self::Syntax => "it has a syntax error",
            Self::TooLarge => "it is too large with its repetitions expanded",
        }
    }
}

/// A place in a pattern, in bytes, and the error there.
pub(super) type ErrorAt = (usize, PatternError);

/// The characters that `\s` matches.
const SPACE: &str = r"\t\n\x0B\x0C\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";
const WORD: &str = "A-Za-z0-9_";
const DIGIT: &str = "0-9";
/// The characters that `.` does not match.
const LINE_END: &str = r"\n\r\x{2028}\x{2029}";

/// The general categories, by both names, and three more classes. Surrogates are missing because
/// no text contains one.
const CATEGORIES: &str = "\
    L Letter LC Cased_Letter Lu Uppercase_Letter Ll Lowercase_Letter Lt Titlecase_Letter Lm \
    Modifier_Letter Lo Other_Letter M Mark Combining_Mark Mn Nonspacing_Mark Mc \
    Spacing_Mark Me Enclosing_Mark N Number Nd Decimal_Number digit Nl Letter_Number No \
    Other_Number P Punctuation punct Pc Connector_Punctuation Pd Dash_Punctuation Ps \
    Open_Punctuation Pe Close_Punctuation Pi Initial_Punctuation Pf Final_Punctuation Po \
    Other_Punctuation S Symbol Sm Math_Symbol Sc Currency_Symbol Sk Modifier_Symbol So \
    Other_Symbol Z Separator Zs Space_Separator Zl Line_Separator Zp Paragraph_Separator C \
    Other Cc Control cntrl Cf Format Co Private_Use Cn Unassigned Any ASCII Assigned";

/// Translates a pattern.
pub(super) fn translate(pattern: &str) -> Result<String, ErrorAt> {
    let mut translator = Translator {
        pattern,
        chars: pattern.char_indices().peekable(),
        out: String::with_capacity(pattern.len() + 16),
        repeatable: false,
    };
    while let Some((at, c)) = translator.chars.next() {
        translator.term(at, c)?;
    }
    Ok(translator.out)
}

struct Translator<'p> {
    pattern: &'p str,
    chars: Peekable<CharIndices<'p>>,
    out: String,
    /// Whether a quantifier may follow.
    repeatable: bool,
}

/// The meaning of an escape.
enum Escaped {
    One(char),
    /// The content of a bracketed class, and whether it is negated.
    Class(String, bool),
}

impl Translator<'_> {
    fn rest(&mut self) -> &str {
        let end = self.pattern.len();
        let at = self.chars.peek().map_or(end, |(at, _)| *at);
        &self.pattern[at..]
    }

    fn take(&mut self, prefix: &str) -> bool {
        let taken = self.rest().starts_with(prefix);
        if taken {
            self.chars
                .by_ref()
                .take(prefix.chars().count())
                .for_each(drop);
        }
        taken
    }

    /// Translates a character outside of classes, with what belongs to it.
    fn term(&mut self, at: usize, c: char) -> Result<(), ErrorAt> {
        self.repeatable = match c {
            '\\' => match self.rest().chars().next() {
                Some(boundary @ ('b' | 'B')) => {
                    self.chars.next();
                    self.out.push_str(&format!(r"(?-u:\{boundary})"));
                    false
                }
                Some('1'..='9' | 'k') => return Err((at, PatternError::BackReference)),
                _ => {
                    match self.escape(at)? {
                        Escaped::One(c) => literal(c, &mut self.out),
                        Escaped::Class(class, negated) => self.class(&class, negated),
                    }
                    true
                }
            },
            '.' => {
                self.class(LINE_END, true);
                true
            }
            '[' => {
                self.bracket(at)?;
                true
            }
            '$' => {
                self.out.push_str(r"\z");
                false
            }
            '(' => {
                self.group(at)?;
                false
            }
            ')' | '^' | '|' => {
                self.out.push(c);
                c == ')'
            }
            '*' | '+' | '?' => {
                self.quantifier(at, &c.to_string())?;
                false
            }
            _ => match bounds(self.rest()).filter(|_| c == '{') {
                Some(bounds) => {
                    let bounds = format!("{{{bounds}}}");
                    self.take(&bounds[1..]);
                    self.quantifier(at, &bounds)?;
                    false
                }
                None => {
                    literal(c, &mut self.out);
                    true
                }
            },
        };
        Ok(())
    }

    fn quantifier(&mut self, at: usize, quantifier: &str) -> Result<(), ErrorAt> {
        if !self.repeatable {
            return Err((at, PatternError::Syntax));
        }
        self.out.push_str(quantifier);
        // Lazy quantifiers match the same texts.
        self.take("?");
        Ok(())
    }

    /// Translates the opening of a group. No group captures.
    fn group(&mut self, at: usize) -> Result<(), ErrorAt> {
        self.out.push_str("(?:");
        if !self.take("?") || self.take(":") {
            return Ok(());
        }
        if ["=", "!", "<=", "<!"]
            .iter()
            .any(|prefix| self.rest().starts_with(prefix))
        {
            return Err((at, PatternError::LookAround));
        }
        if !self.take("<") {
            return Err((at, PatternError::Unsupported));
        }
        for (_, c) in self.chars.by_ref() {
            match c {
                '>' => return Ok(()),
                _ if c.is_alphanumeric() || matches!(c, '_' | '$') => {}
                _ => break,
            }
        }
        Err((at, PatternError::Syntax))
    }

    fn class(&mut self, class: &str, negated: bool) {
        bracketed(class, negated, &mut self.out);
    }

    /// Translates a class up to its closing bracket.
    fn bracket(&mut self, at: usize) -> Result<(), ErrorAt> {
        let negated = self.take("^");
        let mut class = String::new();
        // The single character that a range could begin with.
        let mut before: Option<char> = None;
        loop {
            let Some((here, c)) = self.chars.next() else {
                return Err((at, PatternError::Syntax));
            };
            let member = match c {
                ']' => break,
                '-' if before.is_some() && !self.rest().starts_with(']') => {
                    let Some((here, c)) = self.chars.next() else {
                        return Err((at, PatternError::Syntax));
                    };
                    let end = match c {
                        '\\' => self.class_escape(here)?,
                        _ => Escaped::One(c),
                    };
                    match end {
                        Escaped::One(end) if before.is_some_and(|start| start <= end) => {
                            class.push('-');
                            literal(end, &mut class);
                            before = None;
                            continue;
                        }
                        Escaped::One(_) => return Err((here, PatternError::Syntax)),
                        // `[a-\d]` is a, a dash, and digits.
                        end @ Escaped::Class(..) => {
                            literal('-', &mut class);
                            end
                        }
                    }
                }
                '\\' => self.class_escape(here)?,
                _ => Escaped::One(c),
            };
            match member {
                Escaped::One(c) => {
                    literal(c, &mut class);
                    before = Some(c);
                }
                Escaped::Class(inner, negated) => {
                    bracketed(&inner, negated, &mut class);
                    before = None;
                }
            }
        }
        if class.is_empty() {
            // `[]` matches nothing, `[^]` anything.
            self.class(r"\x{0}-\x{10FFFF}", !negated);
        } else {
            self.class(&class, negated);
        }
        Ok(())
    }

    fn class_escape(&mut self, at: usize) -> Result<Escaped, ErrorAt> {
        if self.take("b") {
            return Ok(Escaped::One('\u{8}'));
        }
        match self.rest().chars().next() {
            Some('1'..='9' | 'k' | 'B') => Err((at, PatternError::Syntax)),
            _ => self.escape(at),
        }
    }

    /// Reads an escape after its backslash.
    fn escape(&mut self, at: usize) -> Result<Escaped, ErrorAt> {
        let Some((_, c)) = self.chars.next() else {
            return Err((at, PatternError::Syntax));
        };
        let class = |class: &str, negated| Ok(Escaped::Class(class.to_owned(), negated));
        let one = match c {
            'd' => return class(DIGIT, false),
            'D' => return class(DIGIT, true),
            'w' => return class(WORD, false),
            'W' => return class(WORD, true),
            's' => return class(SPACE, false),
            'S' => return class(SPACE, true),
            'p' | 'P' => return self.property(at, c == 'P'),
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            '0' if !self.rest().starts_with(|c: char| c.is_ascii_digit()) => '\0',
            'c' => match self.chars.next() {
                Some((_, c)) if c.is_ascii_alphabetic() => char::from(c as u8 % 32),
                _ => return Err((at, PatternError::Syntax)),
            },
            'x' => self
                .hex(2)
                .and_then(char::from_u32)
                .ok_or((at, PatternError::Syntax))?,
            'u' => self.unicode(at)?,
            _ if c.is_ascii_alphanumeric() => return Err((at, PatternError::Syntax)),
            _ => c,
        };
        Ok(Escaped::One(one))
    }

    /// Reads a number of hexadecimal digits.
    fn hex(&mut self, digits: usize) -> Option<u32> {
        (0..digits).try_fold(0, |number, _| {
            Some(number << 4 | self.chars.next()?.1.to_digit(16)?)
        })
    }

    /// Reads the rest of an escape `\u`.
    fn unicode(&mut self, at: usize) -> Result<char, ErrorAt> {
        let syntax = (at, PatternError::Syntax);
        let code = if self.take("{") {
            let digits = self.rest().split('}').next().unwrap_or_default().to_owned();
            if !self.take(&format!("{digits}}}")) || digits.starts_with('+') {
                return Err(syntax);
            }
            u32::from_str_radix(&digits, 16).map_err(|_| syntax)?
        } else {
            let first = self.hex(4).ok_or(syntax)?;
            if (0xd800..0xdc00).contains(&first) && self.take(r"\u") {
                let second = self.hex(4).ok_or(syntax)?;
                if !(0xdc00..0xe000).contains(&second) {
                    return Err((at, PatternError::Unsupported));
                }
                0x1_0000 + ((first - 0xd800) << 10 | (second - 0xdc00))
            } else {
                first
            }
        };
        match code {
            0xd800..0xe000 => Err((at, PatternError::Unsupported)),
            _ => char::from_u32(code).ok_or(syntax),
        }
    }

    /// Reads the rest of an escape `\p` or `\P`.
    fn property(&mut self, at: usize, negated: bool) -> Result<Escaped, ErrorAt> {
        let rest = self.rest();
        let name = rest
            .strip_prefix('{')
            .and_then(|rest| Some(rest.split_once('}')?.0));
        let valid = |name: &&str| {
            let mut bytes = name.bytes();
            !name.is_empty() && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'='))
        };
        let Some(name) = name.filter(valid).map(str::to_owned) else {
            return Err((at, PatternError::Syntax));
        };
        self.take(&format!("{{{name}}}"));
        let category = name
            .strip_prefix("General_Category=")
            .or_else(|| name.strip_prefix("gc="))
            .unwrap_or(&name);
        // The other properties depend on the build of the `regex` crate.
        if !CATEGORIES.split(' ').any(|known| known == category) {
            return Err((at, PatternError::Unsupported));
        }
        let class = format!(r"\p{{{category}}}");
        Ok(Escaped::Class(class, negated))
    }
}

/// Writes a character that matches itself.
fn literal(c: char, out: &mut String) {
    if c.is_ascii_alphanumeric() {
        out.push(c);
    } else {
        out.push_str(&format!(r"\x{{{:X}}}", u32::from(c)));
    }
}

fn bracketed(class: &str, negated: bool, out: &mut String) {
    out.push('[');
    if negated {
        out.push('^');
    }
    out.push_str(class);
    out.push(']');
}

/// Returns the bounds at the start of a text after an opening brace: `2`, `2,` or `2,3`.
fn bounds(rest: &str) -> Option<&str> {
    let (bounds, _) = rest.split_once('}')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let valid = match bounds.split_once(',') {
        Some((least, "")) => number(least),
        Some((least, most)) => number(least) && number(most),
        None => number(bounds),
    };
    valid.then_some(bounds)
}

#[cfg(test)]
mod tests {
    use super::{PatternError, translate};

    fn is_match(pattern: &str, text: &str) -> bool {
        let translated = translate(pattern).unwrap_or_else(|e| panic!("{pattern}: {e:?}"));
        let regex = regex::Regex::new(&translated);
        regex
            .unwrap_or_else(|e| panic!("{pattern}: {e}"))
            .is_match(text)
    }

    #[test]
    fn patterns_mean_what_they_mean_in_ecmascript() {
        for (pattern, matching, other) in [
            ("^abc$", "abc", "abc\n"),
            ("^.$", "é", "\u{2028}"),
            (r"^\d+$", "09", "\u{7c0}"),
            (r"^\w$", "_", "é"),
            (r"^\W$", "é", "a"),
            (r"^\s$", "\u{feff}", "\u{200b}"),
            (r"^\S$", "\u{85}", "\u{a0}"),
            (r"^\cC\cc$", "\u{3}\u{3}", "C"),
            (r"^\x41\u0042\u{43}$", "ABC", "abc"),
            (r"^\uD83D\uDC32*$", "🐲🐲", "🐉"),
            (r"^[\uD83D\uDC32\b]$", "\u{8}", "b"),
            (r"^[a-c\-_.]+$", "a-._", "d"),
            (r"^[\w-]+$", "a-b", "a b"),
            (r"^[a-\d]+$", "a-1", "b"),
            ("^[&&--~~[]+$", "&-~[", "c"),
            ("^[^]$", "\n", ""),
            ("^(?:[]|a)$", "a", "b"),
            (r"^\p{Letter}+\p{gc=Lu}$", "éÉ", "é1"),
            (r"^\P{L}$", "1", "a"),
            (r"^[\P{L}b]$", "b", "a"),
            (r"^a{2}b{1,}c{0,2}?$", "aabcc", "ab"),
            ("^{a}]$", "{a}]", "a"),
            (r"^a\/b\@$", "a/b@", "ab"),
            (r"^(?<year>\d{4})-(x|y)?$", "2024-", "2024"),
            (r"\ba\b", "- a -", "éa1"),
            (r"a\Bb", "ab", "a b"),
            (r"^\0$", "\0", "0"),
            ("a|^$", "", "b"),
            ("^é#  $", "é#  ", "é"),
        ] {
            assert!(is_match(pattern, matching), "{pattern} {matching:?}");
            assert!(!is_match(pattern, other), "{pattern} {other:?}");
        }
    }

    #[test]
    fn every_category_is_known() {
        for category in super::CATEGORIES.split(' ') {
            is_match(&format!(r"\p{{{category}}}"), "");
        }
    }

    #[test]
    fn what_is_refused_is_refused_with_its_place() {
        for (pattern, at, error) in [
            ("a(?=b)", 1, PatternError::LookAround),
            ("(?!b)", 0, PatternError::LookAround),
            ("(?<=b)", 0, PatternError::LookAround),
            ("a(?<!b)", 1, PatternError::LookAround),
            (r"(a)\1", 3, PatternError::BackReference),
            (r"(?<n>a)\k<n>", 7, PatternError::BackReference),
            ("(?i:a)", 0, PatternError::Unsupported),
            (r"\uD83D", 0, PatternError::Unsupported),
            (r"\p{Script=Greek}", 0, PatternError::Unsupported),
            (r"\p{Nothing}", 0, PatternError::Unsupported),
            (r"\pL", 0, PatternError::Syntax),
            (r"a\a", 1, PatternError::Syntax),
            (r"\Z", 0, PatternError::Syntax),
            ("a**", 2, PatternError::Syntax),
            ("+a", 0, PatternError::Syntax),
            ("ab[c", 2, PatternError::Syntax),
            ("[b-a]", 3, PatternError::Syntax),
            (r"\", 0, PatternError::Syntax),
            (r"\u{110000}", 0, PatternError::Syntax),
            (r"\u{12", 0, PatternError::Syntax),
            ("(?<n a)", 0, PatternError::Syntax),
        ] {
            assert_eq!(translate(pattern), Err((at, error)), "{pattern}");
        }
    }
}
