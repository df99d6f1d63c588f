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
    use super::{CANDIDATE_COST, Likeness, nearest};

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
