//! Readiness of an application: an expression that a line of its output matches \[2, 2.3\].

use super::failure::{ErrorCode, Failure};
use super::limits::{READY_OUTPUT_MAX_BYTES, READY_STEP_LIMIT};
use agent_json_schema::{Budget, TextPattern, TextPatternError};

/// The expression of `ready.regex`, in the syntax of ECMA-262, which is matched in linear time.
#[derive(Debug)]
pub struct Readiness(TextPattern);

impl Readiness {
    /// Reads an expression.
    ///
    /// # Errors
    /// `E_PLAN`: it looks around, refers to groups, is invalid, or is too large. The message names the byte.
    pub fn read(pattern: &str) -> Result<Self, Failure> {
        let refuse = |reason: String, hint: &str| {
            let message = format!("`/ready/regex` can't be used: {reason}");
            Failure::new(ErrorCode::Plan, message).hint(hint)
        };
        let mut budget = Budget::new();
        let read = TextPattern::search(pattern, &mut budget).map_err(|error| {
            let hint = match error {
                TextPatternError::Invalid { .. } => {
                    "write an expression without look-around and references to groups"
                }
                TextPatternError::OverBudget(_) => "write a smaller expression",
            };
            refuse(error.to_string(), hint)
        })?;
        // The cost of a text grows with its length, so the empty text costs what a byte does.
        let mut budget = Budget::new();
        let known = read.is_match("", &mut budget);
        if known.is_err() || budget.spent() * READY_OUTPUT_MAX_BYTES as u64 > READY_STEP_LIMIT {
            let reason = "it is too large to match while an application starts".to_owned();
            return Err(refuse(reason, "write a smaller expression"));
        }
        Ok(Self(read))
    }

    /// Returns whether a line of an output matches. Of a longer one the last [`READY_OUTPUT_MAX_BYTES`] decide.
    pub fn is_ready(&self, output: &[u8]) -> bool {
        let start = output.len().saturating_sub(READY_OUTPUT_MAX_BYTES);
        let text = String::from_utf8_lossy(&output[start..]);
        // Replaced bytes and line ends are longer in the text.
        let mut budget = Budget::of(8 * READY_STEP_LIMIT);
        text.lines()
            .any(|line| self.0.is_match(line, &mut budget) == Ok(true))
    }
}

#[cfg(test)]
mod tests {
    use super::Readiness;
    use crate::failure::ErrorCode;
    use crate::limits::READY_OUTPUT_MAX_BYTES;

    #[test]
    fn a_line_of_the_output_decides() {
        for (pattern, output, expected) in [
            (
                "Running on",
                "x\n * Running on http://127.0.0.1:5000\n",
                true,
            ),
            ("Running on", "Running o\nn", false),
            ("^listening$", "a\nlistening\nb", true),
            ("^listening$", "a\r\nlistening\r\n", true),
            ("^listening$", "listening on 3", false),
            (r"port \d+", "port 3000", true),
            ("a|", "", false),
            ("\u{fffd}", "", false),
        ] {
            let readiness = Readiness::read(pattern).expect(pattern);
            assert_eq!(
                readiness.is_ready(output.as_bytes()),
                expected,
                "{pattern} {output}"
            );
        }
        let readiness = Readiness::read("ready").expect("an expression");
        assert!(readiness.is_ready(b"\xff\xfe ready"));
        let mut long = b"ready\n".to_vec();
        long.resize(READY_OUTPUT_MAX_BYTES, b'x');
        assert!(readiness.is_ready(&long));
        long.push(b'x');
        assert!(!readiness.is_ready(&long), "the first bytes are too old");
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
            let failure = Readiness::read(pattern).expect_err(pattern);
            assert_eq!(failure.code, ErrorCode::Plan);
            assert!(
                failure.message.contains(reason),
                "{pattern:.30}: {}",
                failure.message
            );
            assert_eq!(failure.hints.len(), 1);
        }
        let failure = Readiness::read("ab(?=c)").expect_err("look-around");
        assert!(
            failure.message.ends_with(", at byte 2"),
            "{}",
            failure.message
        );
        // Exponential elsewhere, and matched against the longest output here.
        let readiness = Readiness::read("^(x+x+)+y$").expect("an expression");
        assert!(!readiness.is_ready(&vec![b'x'; READY_OUTPUT_MAX_BYTES]));
        let mut slowest = vec![b'\n'; READY_OUTPUT_MAX_BYTES];
        slowest.extend(b"xxy");
        assert!(readiness.is_ready(&slowest));
    }
}
