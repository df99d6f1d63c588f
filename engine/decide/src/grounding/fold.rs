//! Texts without what a reader may not see.

use agent_lower::Prototypes;
use std::ops::Range;

/// Something in which two texts differ that reads the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// The one has escapes of JSON for characters of the other.
    Escaping,
    /// Other characters that look alike, or another form of the same in Unicode.
    Lookalikes,
    /// Upper and lower case.
    Case,
    /// White space.
    WhiteSpace,
}

impl Difference {
    /// All, in the order in which one is preferred not to be the difference.
    const ALL: [Self; 4] = [
        Self::Escaping,
        Self::Lookalikes,
        Self::Case,
        Self::WhiteSpace,
    ];

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Escaping => "escaping",
            Self::Lookalikes => "lookalikes",
            Self::Case => "case",
            Self::WhiteSpace => "white-space",
        }
    }
}

/// Takes what does not count out of texts.
#[derive(Default)]
pub(super) struct Folder {
    prototypes: Prototypes,
}

impl Folder {
    /// Hand out each character that is left of a text without any of the differences, with the
    /// bytes of the text that it stands for.
    pub(super) fn fold(&mut self, text: &str, put: impl FnMut(char, Range<usize>)) {
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
            // What a character looks like may be in another case than the character was.
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
            let mut folded = String::new();
            self.without(differences, text, |c, _| folded.push(c));
            folded
        });
        one == other
    }
}

/// The fewest differences without which two texts would be the same. There are none if they are
/// the same, or differ in more than that.
pub(super) fn differences(one: &str, other: &str) -> Vec<Difference> {
    let mut folder = Folder::default();
    let mut left = Difference::ALL.to_vec();
    if !folder.same(&left, one, other) {
        return Vec::new();
    }
    for difference in Difference::ALL {
        let mut fewer = left.clone();
        fewer.retain(|one| *one != difference);
        if folder.same(&fewer, one, other) {
            left = fewer;
        }
    }
    left
}

/// The character that an escape of JSON at the beginning of a text stands for, and its width.
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

/// The letters of a Hangul syllable, of which the table of prototypes has none: see Unicode,
/// section 3.12.
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
        Folder::default().fold(r"É m\u0041", |c, part| parts.push((c, part)));
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
