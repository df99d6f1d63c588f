//! Suggestions for misspelt words.

use crate::hidden::{self, is_hidden, visible_text};
use crate::sort::sort_by;
use std::borrow::Cow;

/// Returns the candidates spelled similarly to `word`, nearest first, at most `limit`.
pub fn nearest<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    limit: usize,
) -> Vec<&'c str> {
    Likeness { left: u64::MAX }.nearest(word, candidates, limit)
}

/// Returns the known key that a key was meant to be, the nearest of several: one with the same letters
/// apart from case, `-`, `_` and blanks, another number of the same noun, or a few edits apart.
pub fn misspelt<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    if key.starts_with("x-") || key.len() > WORD_LIMIT {
        return None;
    }
    let near = known
        .iter()
        .filter_map(|known| Some((slip(key, known, NAME)?, *known)));
    near.min().map(|(_, known)| known)
}

/// Returns whether a key is a part of a longer one, such as `capabilities` of `required_capabilities`
/// or `sensitivity` of `maxSensitivity`, with or without a final `s`. Where the longer one is missing, it
/// may be meant.
pub fn is_part(key: &str, longer: &str) -> bool {
    let (key, longer) = (letters(key), letters(longer));
    let stem = key.strip_suffix('s').unwrap_or(&key);
    stem.len() >= 4 && key != longer && (longer.ends_with(&key) || longer.starts_with(stem))
}

/// The least length of a keyword that a wrong letter leaves recognisable. Formats have few of them.
pub const KEYWORD: usize = 3;

/// The least length of such a name or key: `ads` is another name than `aws`.
const NAME: usize = 4;

/// Returns the number of edits between two names if one is a slip of the other.
fn slip(name: &str, known: &str, shortest: usize) -> Option<usize> {
    let edits = strsim::osa_distance(name, known);
    let length = known.chars().count();
    let is_long = length >= shortest && name.len() >= KEYWORD;
    let tolerated = usize::from(is_long) + usize::from(length >= 8);
    // Another number is another name: `eu-2` is not `eu-1`.
    let digits = |name: &'_ str| name.bytes().filter(u8::is_ascii_digit).collect::<Vec<_>>();
    let (own, other) = (digits(name), digits(known));
    if own.len() == other.len() && own != other {
        return None;
    }
    let is_near = edits <= tolerated || letters(name) == letters(known) || is_plural(name, known);
    is_near.then_some(edits)
}

/// Returns the letters and digits of a name in small letters, with the separators that have a meaning:
/// without `-`, `_`, blanks, and characters that can't be seen or that an editor writes for a quote or
/// a dash.
fn letters(name: &str) -> String {
    let dropped = |c: &char| match c {
        '-' | '_' | ' ' | '\t' => true,
        c => !c.is_ascii() && !c.is_alphanumeric(),
    };
    let kept = name.chars().filter(|c| !dropped(c));
    kept.map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns the difference between two names by their code points, if they differ only in characters outside of
/// ASCII, which a reader may not see. Case can be seen.
pub fn hidden_difference(name: &str, meant: &str) -> Option<String> {
    let same_length = name.chars().count() == meant.chars().count();
    let pairs = name.chars().zip(meant.chars()).filter(|(a, b)| a != b);
    let mut found = Vec::new();
    if same_length && pairs.clone().all(|(a, _)| !a.is_ascii()) {
        found
            .extend(pairs.map(|(a, b)| format!("{} in place of {}", code_point(a), code_point(b))));
    } else {
        let odd = name
            .chars()
            .filter(|c| !c.is_ascii() && !meant.contains(*c));
        found.extend(odd.map(code_point));
    }
    found.truncate(DIFFERENCES);
    (!found.is_empty()).then(|| format!("{:?} has {}", visible(name), found.join(", ")))
}

/// Maximum number of different characters that are named.
const DIFFERENCES: usize = 4;

fn code_point(c: char) -> String {
    match c.is_alphanumeric() {
        true => format!("U+{:04X} (`{c}`)", u32::from(c)),
        false => format!("U+{:04X}", u32::from(c)),
    }
}

/// Returns a name with the code points of characters that can't be seen or look like a blank.
pub fn visible(name: &str) -> Cow<'_, str> {
    match visible_text(name) {
        Cow::Borrowed(name) if !name.contains(is_odd_blank) => Cow::Borrowed(name),
        name => Cow::Owned(with_code_points(&name, is_odd_blank)),
    }
}

/// Returns a text with the code points of some of its characters.
fn with_code_points(text: &str, is_spelled: fn(char) -> bool) -> String {
    text.chars().fold(String::new(), |mut spelled, c| {
        match is_spelled(c) {
            true => spelled.push_str(&hidden::code_point(c)),
            false => spelled.push(c),
        }
        spelled
    })
}

/// Returns whether a character outside of ASCII looks like a blank.
fn is_odd_blank(c: char) -> bool {
    !c.is_ascii() && c.is_whitespace()
}

/// Spells a name with the code point of every character outside of ASCII.
pub fn spelled(name: &str) -> String {
    with_code_points(name, |c| !c.is_ascii())
}

/// Returns a name for display among others: with the code points of characters that can't be seen, and
/// of letters that can be taken for the Latin ones beside them.
pub fn unmistakable(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    let mixed = name.contains(|c: char| c.is_ascii_alphabetic()) && name.contains(is_other_letter);
    // Two names can differ in a character that is needed where it stands.
    let is_unseen = |c| is_hidden(c) || is_odd_blank(c);
    if mixed {
        Cow::Owned(spelled(name))
    } else if name.contains(is_unseen) {
        Cow::Owned(with_code_points(name, is_unseen))
    } else {
        Cow::Borrowed(name)
    }
}

/// Returns whether a character may be a letter of another alphabet than the Latin one, such as Greek or
/// Cyrillic, or a styled letter. Ideographs and syllables look like no Latin letter.
fn is_other_letter(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{10ff}' | '\u{13a0}'..='\u{13ff}' | '\u{1f00}'..='\u{1fff}'
        | '\u{2100}'..='\u{218f}' | '\u{2c00}'..='\u{2cff}' | '\u{a640}'..='\u{a69f}'
        | '\u{ab30}'..='\u{abbf}' | '\u{ff21}'..='\u{ff5a}' | '\u{10000}'..='\u{1d7ff}')
}

/// Returns whether one word is the other with a final `s`, or with `ies` instead of `y`.
fn is_plural(a: &str, b: &str) -> bool {
    let plural = |one: &str, many: &str| {
        let stem = one.strip_suffix('y');
        many.strip_suffix('s') == Some(one)
            || stem.is_some_and(|stem| many.strip_suffix("ies") == Some(stem))
    };
    plural(a, b) || plural(b, a)
}

/// Returns whether two names differ only in their separators, as `pii low` and `pii.low`, or have the
/// same parts in another order, as `orders:read` and `read:orders`.
fn is_joined_otherwise(a: &str, b: &str) -> bool {
    let joined = |name| letters(name).replace(['.', ':', '/'], "");
    let (parts, others) = (a.split_once(':'), b.split_once(':'));
    let is_swapped = |((a1, a2), (b1, b2))| a1 == b2 && a2 == b1;
    joined(a) == joined(b) || parts.zip(others).is_some_and(is_swapped)
}

/// Budget for comparing spellings in one text or one decision, in pairs of bytes. One pair takes
/// some 4 ns natively.
pub const LIKENESS_LIMIT: u64 = 4_000_000;

/// Cost of skipping a candidate, in pairs.
const CANDIDATE_COST: u64 = 4;

/// A search for similar names with a budget. Once the budget is spent it finds nothing more, because
/// a text's author can repeat a mistake any number of times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Likeness {
    left: u64,
}

impl Default for Likeness {
    fn default() -> Self {
        Self::new()
    }
}

impl Likeness {
    /// Returns a search with a budget of [`LIKENESS_LIMIT`] pairs.
    pub fn new() -> Self {
        Self {
            left: LIKENESS_LIMIT,
        }
    }

    /// Returns a search with a separate budget, in pairs.
    pub fn within(pairs: u64) -> Self {
        Self { left: pairs }
    }

    /// Returns the candidates spelled similarly to `word`, nearest first, at most `limit`. Returns
    /// none once the budget is spent.
    pub fn nearest<'c>(
        &mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'c str>,
        limit: usize,
    ) -> Vec<&'c str> {
        let length = word.chars().count();
        let tolerated = (length / 3).max(1);
        let folded = word.to_ascii_lowercase();
        self.compared(word, candidates, limit, tolerated, |candidate| {
            let distance = strsim::osa_distance(&folded, &candidate.to_ascii_lowercase());
            (distance <= tolerated).then_some(distance)
        })
    }

    /// Returns the names that a name was meant to be, by the rule of [`misspelt`] or with other
    /// separators, nearest first, at most `limit`. Returns none if the name is among them, or once the
    /// budget is spent.
    pub fn slips<'c>(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = &'c str>,
        limit: usize,
    ) -> Vec<&'c str> {
        self.slips_from(NAME, name, names, limit)
    }

    /// Returns the same. A wrong letter is tolerated in names of at least `shortest` letters.
    pub fn slips_from<'c>(
        &mut self,
        shortest: usize,
        name: &str,
        names: impl IntoIterator<Item = &'c str>,
        limit: usize,
    ) -> Vec<&'c str> {
        let is_slip = |known: &str| {
            let edits = slip(name, known, shortest);
            edits.or_else(|| is_joined_otherwise(name, known).then_some(INVISIBLE))
        };
        let mut near = self.compared(name, names, limit, INVISIBLE, is_slip);
        if near.contains(&name) {
            near.clear();
        }
        near
    }

    /// Returns the candidates for which `distance` returns one, nearest first. A difference of
    /// lengths above `tolerated` rules a candidate out.
    fn compared<'c>(
        &mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'c str>,
        limit: usize,
        tolerated: usize,
        distance: impl Fn(&str) -> Option<usize>,
    ) -> Vec<&'c str> {
        if word.len() > WORD_LIMIT {
            return Vec::new();
        }
        let length = word.chars().count();
        let mut near = Vec::new();
        for candidate in candidates {
            let compared = candidate.len() <= WORD_LIMIT
                && candidate.chars().count().abs_diff(length) <= tolerated;
            let pairs = if compared {
                candidate.len() * word.len()
            } else {
                0
            };
            match self.left.checked_sub(CANDIDATE_COST + pairs as u64) {
                Some(left) => self.left = left,
                None => {
                    self.left = 0;
                    return Vec::new();
                }
            }
            if !compared {
                continue;
            }
            near.extend(distance(candidate).map(|distance| (distance, candidate)));
        }
        sort_by(&mut near, Ord::cmp);
        near.dedup();
        near.into_iter()
            .take(limit)
            .map(|(_, candidate)| candidate)
            .collect()
    }
}

/// Maximum length of a compared word, in bytes. Time and memory grow with the product of the
/// lengths.
const WORD_LIMIT: usize = 256;

/// Difference of lengths, in characters, up to which two names may differ in separators and in
/// characters that can't be seen.
const INVISIBLE: usize = 8;

#[cfg(test)]
mod tests {
    use super::{
        CANDIDATE_COST, KEYWORD, Likeness, hidden_difference, misspelt, nearest, spelled,
        unmistakable, visible,
    };
    use std::borrow::Cow;

    #[test]
    fn names_are_slips_of_known_ones() {
        let known = ["read:invoices", "write:invoices", "read:orders"];
        let mut likeness = Likeness::new();
        for (name, meant) in [
            ("invoices:read", "read:invoices"),
            ("read-invoices", "read:invoices"),
            ("read:invoces", "read:invoices"),
            ("Read:Invoices", "read:invoices"),
            ("read:invo\u{456}ces", "read:invoices"),
            ("\u{201c}read:orders\u{201d}", "read:orders"),
            ("read:\u{200b}\u{200b}\u{200b}orders", "read:orders"),
        ] {
            assert_eq!(likeness.slips(name, known, 2), [meant], "{name}");
        }
        // A different permission is not a typo, nor is another known name.
        for name in ["erase:invoices", "read:invoices", "read:bills"] {
            assert!(likeness.slips(name, known, 2).is_empty(), "{name}");
        }
        // Neither is another number, or a name so short that it could be another one.
        let known = ["eu-1", "tier-02", "aws", "any"];
        for name in ["eu-2", "tier-20", "ads", "anu"] {
            assert!(likeness.slips(name, known, 2).is_empty(), "{name}");
        }
        assert_eq!(likeness.slips("eu1", known, 2), ["eu-1"]);
        assert_eq!(likeness.slips("tier-o2", known, 2), ["tier-02"]);
        assert_eq!(likeness.slips_from(KEYWORD, "anu", known, 2), ["any"]);
    }

    #[test]
    fn differences_that_a_reader_may_miss_are_code_points() {
        for (name, meant, expected) in [
            ("Acme", "acme", None),
            (
                "\u{430}cme",
                "acme",
                Some("\"\u{430}cme\" has U+0430 (`\u{430}`) in place of U+0061 (`a`)"),
            ),
            ("ac\u{200b}me", "acme", Some("\"ac<U+200B>me\" has U+200B")),
            (
                "eu\u{2013}only",
                "eu-only",
                Some("\"eu\u{2013}only\" has U+2013 in place of U+002D"),
            ),
            ("acne", "acme", None),
        ] {
            assert_eq!(hidden_difference(name, meant).as_deref(), expected);
        }
        assert_eq!(visible("a\u{a0}b"), "a<U+00A0>b");
        assert_eq!(visible("\u{430}"), "\u{430}");
    }

    #[test]
    fn names_that_a_reader_may_take_for_another_have_code_points() {
        for (name, expected) in [
            ("acme", "acme"),
            ("acme\u{200b}", "acme<U+200B>"),
            ("\u{202e}emca", "<U+202E>emca"),
            ("\u{430}cme", "<U+0430>cme"),
            ("\u{ff41}cme", "<U+FF41>cme"),
            // Words of one alphabet are read as such, and no ideograph is taken for a Latin letter.
            (
                "\u{43f}\u{43e}\u{438}\u{441}\u{43a}",
                "\u{43f}\u{43e}\u{438}\u{441}\u{43a}",
            ),
            ("caf\u{e9}", "caf\u{e9}"),
            ("\u{65e5}\u{672c}-tools", "\u{65e5}\u{672c}-tools"),
        ] {
            let shown = unmistakable(name);
            assert_eq!(shown, expected);
            // A page marks what is spelled.
            assert_eq!(
                matches!(shown, Cow::Borrowed(_)),
                name == expected,
                "{name}"
            );
        }
        assert_eq!(spelled("caf\u{e9}"), "caf<U+00E9>");
    }

    #[test]
    fn keys_are_misspelt_by_few_edits() {
        let known = ["mcp", "tier", "policy", "priorities", "require_signed"];
        for (key, meant) in [
            ("MCP", "mcp"),
            ("m-cp", "mcp"),
            ("mcps", "mcp"),
            ("teir", "tier"),
            ("polcy", "policy"),
            ("policies", "policy"),
            ("priority", "priorities"),
            ("proirites", "priorities"),
            ("requireSigned", "require_signed"),
            ("Require Signed", "require_signed"),
        ] {
            assert_eq!(misspelt(key, &known), Some(meant), "{key}");
        }
        for key in [
            "p.ol.icy",
            "mp",
            "ncp",
            "ter1",
            "pollcey",
            "prioritas1",
            "x-tier",
            "model",
            "",
        ] {
            assert_eq!(misspelt(key, &known), None, "{key}");
        }
    }

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let known = ["residency", "sensitivity", "requireSigned"];
        assert_eq!(nearest("residensy", known, 1), ["residency"]);
        assert_eq!(nearest("requiresigned", known, 1), ["requireSigned"]);
        assert!(nearest("colour", known, 1).is_empty());
    }

    #[test]
    fn nothing_is_near_once_enough_was_compared() {
        let pairs = (CANDIDATE_COST + 9 * 9) * 2 + CANDIDATE_COST + 9 * 11;
        let mut likeness = Likeness { left: pairs };
        let known = ["residency", "sensitivity"];
        assert_eq!(likeness.nearest("residensy", known, 1), ["residency"]);
        // The second candidate is one too many.
        assert!(likeness.nearest("residensy", known, 1).is_empty());
        assert!(likeness.nearest("residensy", ["residency"], 1).is_empty());
    }
}
