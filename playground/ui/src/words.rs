//! Numbers and sentences on pages.

/// Returns a number with its noun, such as `1 server` or `2 servers`.
pub fn count(number: u32, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// Returns a number with separators, such as `10,000`.
pub fn thousands(number: u32) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a phrase with a capital, if it begins with a letter of ASCII: the tables of all others are 4 kB.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        [first.to_ascii_uppercase()]
            .into_iter()
            .chain(chars)
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::{capitalised, count, thousands};

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [
            (0, "0"),
            (7, "7"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345, "12,345"),
            (100_000, "100,000"),
            (1_000_000, "1,000,000"),
            (u32::MAX, "4,294,967,295"),
        ] {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(count(0, "server"), "0 servers");
        assert_eq!(count(1, "server"), "1 server");
        assert_eq!(count(10_000, "server"), "10,000 servers");
    }

    #[test]
    fn a_sentence_begins_with_a_capital() {
        assert_eq!(capitalised("ein µ"), "Ein µ");
        assert_eq!(capitalised("µ eins"), "µ eins");
        assert_eq!(capitalised(""), "");
    }
}
