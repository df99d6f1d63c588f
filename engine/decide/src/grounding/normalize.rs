//! Texts without differences that a reader may not see.

use agent_lower::Prototypes;
use std::ops::Range;

/// A difference between two texts that read the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// JSON escapes for characters of the other text.
    Escaping,
    /// Characters that look alike, or another Unicode form of the same character.
    Lookalikes,
    /// Upper and lower case.
    Case,
    /// White space.
    WhiteSpace,
}

impl Difference {
    /// Every difference; an earlier one is ruled out first.
    const ALL: [Self; 4] = [
        Self::Escaping,
        Self::Lookalikes,
        Self::Case,
        Self::WhiteSpace,
    ];

    /// Returns the stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Escaping => "escaping",
            Self::Lookalikes => "lookalikes",
            Self::Case => "case",
            Self::WhiteSpace => "white-space",
        }
    }
}

/// Normalizes texts.
#[derive(Default)]
pub(super) struct Normalizer {
    prototypes: Prototypes,
}

impl Normalizer {
    /// Emits each character of a text without any [`Difference`], with the bytes that it stands for.
    pub(super) fn normalize(&mut self, text: &str, put: impl FnMut(char, Range<usize>)) {
        self.without(&Difference::ALL, text, put);
    }

    fn without(
        &mut self,
        differences: &[Difference],
        text: &str,
        mut put: impl FnMut(char, Range<usize>),
    ) {
        let [escaping, lookalikes, case, space] =
            Difference::ALL.map(|one| differences.contains(&one));
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let (c, width) = match c {
                '\\' if escaping => escape(&text[at..]).unwrap_or((c, 1)),
                c => (c, c.len_utf8()),
            };
            let part = at..at + width;
            at = part.end;
            if space && c.is_whitespace() {
                continue;
            }
            // The prototype of a character may have another case than the character.
            let mut put = |c: char| put(c, part.clone());
            let mut lower = |c: char| match case {
                true if c.is_ascii() => put(c.to_ascii_lowercase()),
                true => c.to_lowercase().for_each(&mut put),
                false => put(c),
            };
            let mut look = |c: char| match (lookalikes, letters(c)) {
                (false, _) => lower(c),
                (true, None) => self.prototypes.each(c, &mut lower),
                (true, Some(letters)) => {
                    let letters = letters.into_iter().flatten();
                    letters.for_each(|c| self.prototypes.each(c, &mut lower));
                }
            };
            match case {
                true if c.is_ascii() => look(c.to_ascii_lowercase()),
                true => c.to_lowercase().for_each(look),
                false => look(c),
            }
        }
    }

    fn same(&mut self, differences: &[Difference], one: &str, other: &str) -> bool {
        let [one, other] = [one, other].map(|text| {
            let mut normalized = String::new();
            self.without(differences, text, |c, _| normalized.push(c));
            normalized
        });
        one == other
    }
}

/// Returns the fewest differences without which two texts are equal. The list is empty if the texts
/// are equal, or differ in anything else.
pub(super) fn differences(one: &str, other: &str) -> Vec<Difference> {
    let mut normalizer = Normalizer::default();
    let mut left = Difference::ALL.to_vec();
    if !normalizer.same(&left, one, other) {
        return Vec::new();
    }
    for difference in Difference::ALL {
        let mut fewer = left.clone();
        fewer.retain(|one| *one != difference);
        if normalizer.same(&fewer, one, other) {
            left = fewer;
        }
    }
    left
}

/// Decodes a JSON escape at the beginning of a text: the character, and the width of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    let hex = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        plain.then(|| u16::from_str_radix(digits, 16).ok())?
    };
    let simple = match text.as_bytes().get(1)? {
        own @ (b'"' | b'\\' | b'/') => char::from(*own),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let units = [hex(0)?].into_iter().chain(hex(6));
            let c = char::decode_utf16(units).next()?.ok()?;
            return Some((c, 6 * c.len_utf16()));
        }
        _ => return None,
    };
    Some((simple, 2))
}

/// Returns the letters of a Hangul syllable, for which the table of prototypes has no row: see
/// Unicode, section 3.12.
fn letters(c: char) -> Option<[Option<char>; 3]> {
    let number = u32::from(c).checked_sub(0xac00).filter(|it| *it < 11_172)?;
    let [lead, vowel, tail] = [number / 588, number % 588 / 28, number % 28];
    let tail = (tail > 0).then(|| char::from_u32(0x11a7 + tail)).flatten();
    Some([
        char::from_u32(0x1100 + lead),
        char::from_u32(0x1161 + vowel),
        tail,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(one: &str, other: &str) -> Vec<&'static str> {
        let there = differences(one, other);
        assert_eq!(there, differences(other, one), "{one} {other}");
        there.into_iter().map(Difference::name).collect()
    }

    #[test]
    fn the_fewest_differences_are_named() {
        assert_eq!(between("an invoice", "an invoice"), [""; 0]);
        assert_eq!(between("an invoice", "an inverse"), [""; 0]);
        assert_eq!(between("An Invoice", "an invoice"), ["case"]);
        assert_eq!(between("an\u{a0}invoice", " an  invoice"), ["white-space"]);
        assert_eq!(
            between(r#"an \"invoice\""#, r#"an "invoice""#),
            ["escaping"]
        );
        assert_eq!(between(r"\ud834\udd1e", "\u{1d11e}"), ["escaping"]);
        assert_eq!(between("“an” invoice", "\"an\" invoice"), ["lookalikes"]);
        assert_eq!(between("cafe\u{301}", "caf\u{e9}"), ["lookalikes"]);
        assert_eq!(
            between("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"),
            ["lookalikes"]
        );
        assert_eq!(
            between(r"AN\ninvoice", "an invoice"),
            ["escaping", "case", "white-space"]
        );
    }

    #[test]
    fn what_is_no_escape_stands_for_itself() {
        assert_eq!(between(r"c:\x", r"c:\x"), [""; 0]);
        assert_eq!(escape(r"\x"), None);
        assert_eq!(escape(r"\u12"), None);
        assert_eq!(escape(r"\ud834\u0041"), None);
        assert_eq!(escape(r"\u+123"), None);
        assert_eq!(escape("\\"), None);
    }

    #[test]
    fn bytes_are_those_of_the_text() {
        let mut parts = Vec::new();
        Normalizer::default().normalize(r"É m\u0041", |c, part| parts.push((c, part)));
        let expected = [
            ('e', 0..2),
            ('\u{301}', 0..2),
            ('r', 3..4),
            ('n', 3..4),
            ('a', 4..10),
        ];
        assert_eq!(parts, expected);
    }
}
