//! Readiness of an application: an expression that a line of its output matches \[2, 2.3\].

use super::failure::{ErrorCode, Failure};
use super::limits::{READY_LINE_MAX_BYTES, READY_STEP_LIMIT};
use agent_json_schema::{Budget, TextPattern, TextPatternError};

/// Lowers the expression of `ready.regex` from the syntax of ECMA-262 to that of the crate `regex`. Both mean the
/// same lines. The host matches it in linear time.
///
/// # Errors
/// `E_PLAN`: it looks around, refers to groups, is invalid, or is too large. The message names the byte.
pub(crate) fn lowered(pattern: &str) -> Result<String, Failure> {
    let refuse = |reason: String, hint: &str| {
        let message = format!("`/ready/regex` can't be used: {reason}");
        Failure::new(ErrorCode::Plan, message).hint(hint)
    };
    let unusable = |error: TextPatternError| {
        let hint = match error {
            TextPatternError::Invalid { .. } => {
                "write an expression without look-around and references to groups"
            }
            TextPatternError::OverBudget(_) => "write a smaller expression",
        };
        refuse(error.to_string(), hint)
    };
    let read = TextPattern::search(pattern, &mut Budget::new()).map_err(unusable)?;
    let lowered = read.lowered().map_err(unusable)?;
    // The cost of a text grows with its length, so the empty text costs what a byte does.
    let mut budget = Budget::new();
    let known = read.is_match("", &mut budget);
    if known.is_err() || budget.spent() * READY_LINE_MAX_BYTES as u64 > READY_STEP_LIMIT {
        let reason = "it is too large to match while an application starts".to_owned();
        return Err(refuse(reason, "write a smaller expression"));
    }
    Ok(lowered.to_owned())
}

#[cfg(test)]
mod tests {
    use super::lowered;
    use crate::failure::ErrorCode;
    use agent_json_schema::{Budget, TextPattern};
    use proptest::prelude::*;
    use regex::bytes::{Regex, RegexBuilder};

    /// The limit of the supervisor of apps: `MAX_REGEX_BYTES`.
    const COMPILED_MAX_BYTES: usize = 1 << 20;

    /// Compiles an expression as the supervisor of apps does.
    fn compiled(lowered: &str) -> Regex {
        let built = RegexBuilder::new(lowered)
            .size_limit(COMPILED_MAX_BYTES)
            .build();
        built.unwrap_or_else(|error| panic!("{lowered}: {error}"))
    }

    #[test]
    fn an_expression_keeps_its_meaning() {
        for (pattern, line, other) in [
            (
                "Running on",
                " * Running on http://127.0.0.1:5000",
                "Running o",
            ),
            ("^listening$", "listening", "listening on 3"),
            (r"port \d+$", "port 3000", "port \u{661}"),
            (r"^\w+$", "ready", "pr\u{ea}t"),
            (r"^\s$", "\u{feff}", "\u{85}"),
            ("^.$", "\u{1f432}", "\u{2028}"),
            (r"\bup\b", "is up!", "super"),
            (r"^http:\/\/[^\]]+\]$", "http://[::1]", "http:/[::1]"),
            ("^[a&&b~~-]+$", "a&b~-", "c"),
            ("^(?<port>[0-9]{2,})$", "80", "8"),
            (r#"^{"up":.*}$"#, r#"{"up":true}"#, r#"{"up"}"#),
            (r"^\p{Lu}\u{65}\u0061\x64y\cI$", "Ready\t", "ready\t"),
            ("^# ready  $", "# ready  ", "#ready"),
            ("^[^]{2}[^a]$", "\r\0b", "bba"),
        ] {
            let regex = compiled(&lowered(pattern).expect(pattern));
            assert!(regex.is_match(line.as_bytes()), "{pattern} {line:?}");
            assert!(!regex.is_match(other.as_bytes()), "{pattern} {other:?}");
        }
        // Bytes that are not UTF-8 are no characters.
        let regex = compiled(&lowered("^.ready|r.e").expect("an expression"));
        assert!(!regex.is_match(b"\xffready r\xffe"));
    }

    #[test]
    fn the_largest_expressions_are_compiled() {
        for piece in [r"\P{Cn}", r"[^\p{L}]", "[^a]", "a", "(?:a|b|\u{1f432})"] {
            let repeated = |count: u32| lowered(&format!("{piece}{{{count}}}"));
            // A larger one is never accepted where a smaller one is not.
            let (mut fits, mut above) = (1_u32, 50_000);
            while above - fits > 1 {
                let count = fits.midpoint(above);
                match repeated(count) {
                    Ok(_) => fits = count,
                    Err(_) => above = count,
                }
            }
            compiled(&repeated(fits).expect(piece));
        }
    }

    #[test]
    fn expressions_take_linear_time() {
        let large = "a".repeat(5_000);
        let nested = format!("{}a{}", "(".repeat(100), ")".repeat(100));
        for (pattern, reason) in [
            ("(?=a)", "look-around is not supported"),
            ("(?!a)", "look-around is not supported"),
            ("(?<=a)b", "look-around is not supported"),
            (r"(a)\1", "references to groups are not supported"),
            (r"(?<x>a)\k<x>", "references to groups are not supported"),
            ("(a", "it has a syntax error"),
            ("a{3,2}", "it has a syntax error"),
            ("(a{1000}){1000}", "it is too large with its repetitions"),
            (&large, "it is too large with its repetitions"),
            (&nested, "it is too large with its repetitions"),
            (
                "a{5000}",
                "it is too large to match while an application starts",
            ),
        ] {
            let failure = lowered(pattern).expect_err(pattern);
            assert_eq!(failure.code, ErrorCode::Plan);
            assert!(
                failure.message.contains(reason),
                "{pattern:.30}: {}",
                failure.message
            );
            assert_eq!(failure.hints.len(), 1);
        }
        let failure = lowered("ab(?=c)").expect_err("look-around");
        assert!(
            failure.message.ends_with(", at byte 2"),
            "{}",
            failure.message
        );
        // Exponential elsewhere.
        let regex = compiled(&lowered("^(x+x+)+y$").expect("an expression"));
        assert!(!regex.is_match(&vec![b'x'; 64 << 10]));
    }

    proptest! {
        /// Whatever the engine accepts, the supervisor takes, and matches alike.
        #[test]
        fn a_lowered_expression_matches_the_same_lines(
            pattern in r"([a-c.^$|]|\\[dDwWsSbB0/-]|\\p\{L[ul]?\}|\\u\{6[1-3]\}|\[\^?[a-c&~-]{0,3}\]|\((\?:|\?<n>)?[ab|]{0,3}\)|[*+?]|\{[0-3],?\}|\PC){0,8}",
            line in r"([a-c1_ -]|\\PC){0,8}",
        ) {
            if let Ok(lowered) = lowered(&pattern) {
                let mut budget = Budget::new();
                let read = TextPattern::search(&pattern, &mut budget).expect("it was lowered");
                let expected = read.is_match(&line, &mut budget);
                prop_assert_eq!(Ok(compiled(&lowered).is_match(line.as_bytes())), expected);
            }
        }
    }
}
