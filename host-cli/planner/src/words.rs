//! The words of a text.

use std::collections::BTreeSet;

/// Minimum number of characters of a word that says what something is about.
const WORD_CHARS: usize = 3;
/// Longer words that say nothing about a subject.
const STOP_WORDS: [&str; 20] = [
    "all", "and", "any", "are", "can", "does", "for", "from", "has", "have", "how", "into", "its",
    "the", "that", "this", "what", "which", "will", "with",
];

/// Returns the words of a text in lower case, without those that say nothing about its subject. Words
/// end where letters and digits do, and before a capital after a small letter.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut after_small = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (after_small && c.is_uppercase()) {
            add(&mut words, &word);
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        after_small = c.is_lowercase();
    }
    add(&mut words, &word);
    words
}

fn add(words: &mut BTreeSet<String>, word: &str) {
    if word.chars().count() >= WORD_CHARS && !STOP_WORDS.contains(&word) {
        words.insert(word.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_found_in_prose_and_in_names() {
        let found = |text| words(text).into_iter().collect::<Vec<_>>();
        assert_eq!(
            found("Which audiences are the LARGEST, in 2026?"),
            ["2026", "audiences", "largest"]
        );
        assert_eq!(found("get-report_ofYear"), ["get", "report", "year"]);
        assert_eq!(found("printENV"), ["env", "print"]);
        assert_eq!(found("Größe"), ["größe"]);
        assert!(found("a to of, ...").is_empty());
    }
}
