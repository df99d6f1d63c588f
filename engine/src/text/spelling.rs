//! What somebody may have meant.

use crate::sort::sort_by;

/// The candidates that are spelled nearly as `word` is, nearest first, at most `limit`.
pub fn nearest<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    limit: usize,
) -> Vec<&'c str> {
    if word.len() > WORD_LIMIT {
        return Vec::new();
    }
    let tolerated = (word.chars().count() / 3).max(1);
    let folded = word.to_ascii_lowercase();
    let mut near: Vec<_> = candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= WORD_LIMIT)
        // Lengths that differ by more can't be near.
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= tolerated * 4)
        .map(|candidate| {
            let distance = strsim::osa_distance(&folded, &candidate.to_ascii_lowercase());
            (distance, candidate)
        })
        .filter(|(distance, _)| *distance <= tolerated)
        .collect();
    sort_by(&mut near, Ord::cmp);
    near.dedup();
    near.into_iter()
        .take(limit)
        .map(|(_, candidate)| candidate)
        .collect()
}

/// Words longer than this, in bytes, are not compared: time and memory grow with the product of
/// the lengths.
const WORD_LIMIT: usize = 256;

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let known = ["residency", "sensitivity", "requireSigned"];
        assert_eq!(nearest("residensy", known, 1), ["residency"]);
        assert_eq!(nearest("requiresigned", known, 1), ["requireSigned"]);
        assert!(nearest("colour", known, 1).is_empty());
    }
}
