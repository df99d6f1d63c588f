//! Suggestions for misspelt words.

use crate::sort::sort_by;

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
    let near = known.iter().filter_map(|known| {
        let edits = strsim::osa_distance(key, known);
        let tolerated = match known.chars().count() {
            0..4 => 0,
            4..8 => 1,
            _ => 2,
        };
        let is_near = edits <= tolerated || letters(key) == letters(known) || is_plural(key, known);
        is_near.then_some((edits, *known))
    });
    near.min().map(|(_, known)| known)
}

fn letters(key: &str) -> String {
    // Known keys are ASCII.
    let kept = key.chars().filter(|c| !matches!(c, '-' | '_' | ' ' | '\t'));
    kept.map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns whether one word is the other with a final `s`, or with `ies` in place of `y`.
fn is_plural(a: &str, b: &str) -> bool {
    let plural = |one: &str, many: &str| {
        let stem = one.strip_suffix('y');
        many.strip_suffix('s') == Some(one)
            || stem.is_some_and(|stem| many.strip_suffix("ies") == Some(stem))
    };
    plural(a, b) || plural(b, a)
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

    /// Returns the candidates spelled similarly to `word`, nearest first, at most `limit`. Returns
    /// none once the budget is spent.
    pub fn nearest<'c>(
        &mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'c str>,
        limit: usize,
    ) -> Vec<&'c str> {
        if word.len() > WORD_LIMIT {
            return Vec::new();
        }
        let length = word.chars().count();
        let tolerated = (length / 3).max(1);
        let folded = word.to_ascii_lowercase();
        let mut near = Vec::new();
        for candidate in candidates {
            // A larger difference of lengths rules the candidate out.
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
            let distance = strsim::osa_distance(&folded, &candidate.to_ascii_lowercase());
            if distance <= tolerated {
                near.push((distance, candidate));
            }
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

#[cfg(test)]
mod tests {
    use super::{CANDIDATE_COST, Likeness, misspelt, nearest};

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
        for key in ["mp", "ter1", "pollcey", "prioritas1", "x-tier", "model", ""] {
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
