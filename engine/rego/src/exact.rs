//! Numbers that the evaluator can't compare: it reads one with a fraction or an exponent as a double, and a
//! limit must not be passed by a number that was rounded to it. Whole numbers are exact.

use agent_lower::rounded;

/// Returns whether the evaluator would read another value.
pub(crate) fn is_rounded(number: &str) -> bool {
    let is_whole = !number.contains(['.', 'e', 'E']);
    let is_infinite = || number.parse().is_ok_and(f64::is_infinite);
    !is_whole && (rounded(number).is_some() || is_infinite())
}

/// Returns the first such number of a JSON text.
pub(crate) fn first_rounded(json: &str) -> Option<&str> {
    let mut rest = json;
    while let Some(at) = rest.find(|it: char| it == '"' || it == '-' || it.is_ascii_digit()) {
        rest = &rest[at..];
        let length = match rest.strip_prefix('"') {
            Some(inside) => 1 + string_length(inside),
            None => {
                let is_of_number = |it: char| it.is_ascii_digit() || "+-.eE".contains(it);
                let length = rest.find(|it| !is_of_number(it)).unwrap_or(rest.len());
                if is_rounded(&rest[..length]) {
                    return Some(&rest[..length]);
                }
                length
            }
        };
        rest = &rest[length..];
    }
    None
}

/// Returns the length of a string with its end.
fn string_length(inside: &str) -> usize {
    let mut is_escaped = false;
    let end = inside.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(inside.len(), |end| end + 1)
}

/// Returns the message about such a number.
pub(crate) fn not_exact(number: &str) -> String {
    format!("the number {number} can't be compared exactly: a double does not hold it")
}

#[cfg(test)]
mod tests {
    use super::{first_rounded, is_rounded};

    #[test]
    fn numbers_that_a_double_rounds_are_found() {
        for number in [
            "9007199254740992.5",
            "9.007199254740993e15",
            "0.12345678901234567890",
            "1e-400",
            "1e400",
            "-1E400",
        ] {
            assert!(is_rounded(number), "{number}");
        }
        for number in [
            "9007199254740993",
            "123456789012345678901234567890",
            "0.1",
            "1e2",
            "1.50",
            "-0.0",
            "9.007199254740992e15",
            "1e300",
        ] {
            assert!(!is_rounded(number), "{number}");
        }
    }

    #[test]
    fn numbers_of_a_text_are_not_those_of_its_strings() {
        let none = r#"{"1e400": "\\\"1e400", "a": [-1, 0.5, true, null, "\\"]}"#;
        assert_eq!(first_rounded(none), None);
        let one = r#"{"a": "\\", "b": [1, -1e-400, 2e400]}"#;
        assert_eq!(first_rounded(one), Some("-1e-400"));
    }
}
