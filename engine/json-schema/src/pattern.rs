//! Patterns within the budget.

use super::budget::{Budget, OverBudget};
use super::ecma::{ErrorAt, PatternError, translate};
use super::look_ahead::split;
use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::fmt;

/// Maximum weight of a pattern: about the number of its states with repetitions expanded. The size
/// of the compiled pattern would differ between machines.
pub const PATTERN_LIMIT: u64 = 50_000;

/// Maximum length of a pattern, in bytes.
pub const PATTERN_LENGTH_LIMIT: usize = 4_096;

/// Maximum depth of nested groups.
const NESTING_LIMIT: u32 = 64;

/// Cost of compiling a state, in steps.
const STATE_COST: u64 = 12;

/// Visits of a state in a step; each byte of a text may visit each state.
const VISITS_PER_STEP: u64 = 4;

/// Cost of compiling a pattern without its states, in steps.
const PATTERN_COST: u64 = 80;

/// A compiled pattern, matched in linear time.
#[derive(Debug)]
pub struct TextPattern {
    regex: Regex,
    /// What matches at the beginning of the text, and whether it must.
    ahead: Vec<(Regex, bool)>,
    /// [`Weight::visits`] of all.
    visits: u64,
}

/// The work that a pattern takes.
#[derive(Debug, Clone, Copy)]
struct Weight {
    /// The number of states, approximately.
    states: u64,
    /// The number of states that a byte may visit, approximately. Those of a class are visited one
    /// after the other, not at once.
    visits: u64,
}

/// The reason why a pattern was not compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPatternError {
    /// The pattern can't be used.
    Invalid {
        /// The place, in bytes of its text.
        at: usize,
        /// The reason.
        error: PatternError,
    },
    /// Compiling the pattern exceeds the budget.
    OverBudget(OverBudget),
}

impl From<ErrorAt> for TextPatternError {
    fn from((at, error): ErrorAt) -> Self {
        Self::Invalid { at, error }
    }
}

impl From<OverBudget> for TextPatternError {
    fn from(over: OverBudget) -> Self {
        Self::OverBudget(over)
    }
}

impl TextPattern {
    /// Compiles a pattern of ECMA-262 of which a text must contain a match.
    ///
    /// # Errors
    /// The pattern looks around elsewhere than at its beginning, contains back-references, is too large, or
    /// is invalid. Or compiling it exceeds the budget.
    pub fn search(pattern: &str, budget: &mut Budget) -> Result<Self, TextPatternError> {
        budget.charge(PATTERN_COST + pattern.len() as u64)?;
        if pattern.len() > PATTERN_LENGTH_LIMIT {
            return Err((0, PatternError::TooLarge).into());
        }
        let Some(split) = split(pattern) else {
            let (regex, visits) = compiled(pattern, budget)?;
            return Ok(Self {
                regex,
                ahead: Vec::new(),
                visits,
            });
        };
        // Each part is valid by itself, and an error is at its place in the whole.
        let check = |part: &str| {
            let start = part.as_ptr() as usize - pattern.as_ptr() as usize;
            weigh(part).map_err(|(at, error)| (start + at, error))
        };
        let mut ahead = Vec::new();
        let mut visits = 0;
        for (part, is_wanted) in split.ahead {
            check(part)?;
            let (regex, more) = compiled(&format!("^(?:{part})"), budget)?;
            ahead.push((regex, is_wanted));
            visits += more;
        }
        check(split.rest)?;
        let (regex, more) = compiled(&format!("^{}", split.rest), budget)?;
        Ok(Self {
            regex,
            ahead,
            visits: visits + more,
        })
    }

    /// Compiles a pattern that must match the whole of a text.
    ///
    /// # Errors
    /// As of [`TextPattern::search`].
    pub fn whole(pattern: &str, budget: &mut Budget) -> Result<Self, TextPatternError> {
        // The pattern must be valid by itself: a parenthesis in it must not close the added group.
        let part = Self::search(pattern, budget)?;
        let rest = split(pattern).map_or(pattern, |it| it.rest);
        let (regex, visits) = compiled(&format!("^(?:{rest})$"), budget)?;
        Ok(Self {
            regex,
            visits: part.visits + visits,
            ahead: part.ahead,
        })
    }

    /// Returns the pattern in the syntax of the crate `regex`.
    ///
    /// # Errors
    /// The pattern looks ahead, behind its `^`.
    pub fn lowered(&self) -> Result<&str, TextPatternError> {
        match self.ahead.is_empty() {
            true => Ok(self.regex.as_str()),
            false => Err((1, PatternError::LookAround).into()),
        }
    }

    /// Returns whether a text matches.
    ///
    /// # Errors
    /// Matching exceeds the budget.
    pub fn is_match(&self, text: &str, budget: &mut Budget) -> Result<bool, OverBudget> {
        let visits = (text.len() as u64 + 1).saturating_mul(self.visits);
        budget.charge(2 + visits / VISITS_PER_STEP)?;
        let mut ahead = self.ahead.iter();
        Ok(ahead.all(|(it, is_wanted)| it.is_match(text) == *is_wanted)
            && self.regex.is_match(text))
    }
}

/// Returns a compiled pattern with its visits.
fn compiled(pattern: &str, budget: &mut Budget) -> Result<(Regex, u64), TextPatternError> {
    let (translated, weight) = weigh(pattern)?;
    budget.charge(weight.states * STATE_COST)?;
    let regex = RegexBuilder::new(&translated)
        .size_limit(usize::MAX)
        .nest_limit(NESTING_LIMIT)
        .build();
    let regex = regex.map_err(|_| (0, PatternError::Unsupported))?;
    Ok((regex, weight.visits))
}

impl fmt::Display for TextPatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { at, error } => write!(f, "{}, at byte {at}", error.reason()),
            Self::OverBudget(over) => f.write_str(over.reason()),
        }
    }
}

/// Returns the translated pattern and its weight.
fn weigh(pattern: &str) -> Result<(String, Weight), ErrorAt> {
    let translated = translate(pattern)?;
    let mut parser = regex_syntax::ParserBuilder::new()
        .nest_limit(NESTING_LIMIT)
        .build();
    let hir = parser.parse(&translated).map_err(|error| {
        let reason = match &error {
            regex_syntax::Error::Parse(error) => match error.kind() {
                regex_syntax::ast::ErrorKind::NestLimitExceeded(_) => PatternError::TooLarge,
                _ => PatternError::Syntax,
            },
            _ => PatternError::Unsupported,
        };
        (0, reason)
    })?;
    let weight = weight(&hir);
    if weight.states > PATTERN_LIMIT {
        return Err((0, PatternError::TooLarge));
    }
    Ok((translated, weight))
}

impl Weight {
    const fn both(both: u64) -> Self {
        Self {
            states: both,
            visits: both,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            states: self.states.saturating_add(other.states),
            visits: self.visits.saturating_add(other.visits),
        }
    }

    fn times(self, times: u64) -> Self {
        Self {
            states: self.states.saturating_mul(times),
            visits: self.visits.saturating_mul(times),
        }
    }
}

/// Returns the weight of a part of a pattern. The parser limits the nesting.
fn weight(hir: &Hir) -> Weight {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Weight::both(1),
        HirKind::Literal(literal) => Weight::both(literal.0.len() as u64),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            let wide = ranges
                .iter()
                .filter(|range| !range.end().is_ascii())
                .count() as u64;
            let all = ranges.len() as u64;
            Weight {
                // Beyond ASCII a character is several bytes, and a range several sequences of them.
                states: 1 + all + 3 * wide,
                visits: 2 + (all + 3 * wide).min(256) / 8,
            }
        }
        HirKind::Class(Class::Bytes(class)) => Weight::both(1 + class.ranges().len() as u64),
        HirKind::Repetition(repetition) => {
            let least = repetition.min.saturating_add(1);
            let times = u64::from(repetition.max.unwrap_or(least).max(1));
            weight(&repetition.sub).and(Weight::both(1)).times(times)
        }
        HirKind::Capture(capture) => weight(&capture.sub).and(Weight::both(2)),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            let parts = parts.iter().map(|part| weight(part).and(Weight::both(1)));
            parts.fold(Weight::both(0), Weight::and)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PatternError, TextPattern, TextPatternError};
    use crate::{Budget, OverBudget};

    fn refusal(pattern: &str) -> Option<PatternError> {
        match TextPattern::search(pattern, &mut Budget::new()).err()? {
            TextPatternError::Invalid { error, .. } => Some(error),
            TextPatternError::OverBudget(over) => panic!("{over:?}"),
        }
    }

    #[test]
    fn large_patterns_are_refused_before_they_are_compiled() {
        for pattern in [
            "(a{1000}){1000}".to_owned(),
            "((((a{99}){99}){99}){99}){99}".to_owned(),
            r"\p{L}{1000}".to_owned(),
            "a".repeat(5000),
            format!("{}a{}", "(".repeat(100), ")".repeat(100)),
        ] {
            assert_eq!(
                refusal(&pattern),
                Some(PatternError::TooLarge),
                "{pattern:.20}"
            );
        }
        assert_eq!(refusal("^[a-z0-9_.-]{1,256}$"), None);
        assert_eq!(refusal("(a"), Some(PatternError::Syntax));
        assert_eq!(refusal("a{3,2}"), Some(PatternError::Syntax));
    }

    #[test]
    fn a_whole_text_is_more_than_a_part() {
        let mut budget = Budget::new();
        let whole = |pattern: &str| TextPattern::whole(pattern, &mut Budget::new());
        let pattern = whole("a|b+").expect("a pattern");
        for (text, expected) in [("a", true), ("bb", true), ("ab", false), ("a\n", false)] {
            assert_eq!(
                pattern.is_match(text, &mut budget),
                Ok(expected),
                "{text:?}"
            );
        }
        assert!(whole("a)(b").is_err());
        let search = TextPattern::search("b+", &mut budget).expect("a pattern");
        assert_eq!(search.is_match("abc", &mut budget), Ok(true));
    }

    #[test]
    fn look_ahead_at_the_beginning_is_evaluated() {
        let email = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";
        let password = r"^(?=.*[A-Z])(?=.*\d).{8,}$";
        for (pattern, text, expected) in [
            (email, "ada.lovelace@example.com", true),
            (email, ".ada@example.com", false),
            (email, "ada..l@example.com", false),
            (email, "ada@example..com", false),
            (email, "ada@example", false),
            (password, "Abcdefg1", true),
            (password, "abcdefg1", false),
            (password, "Abcdefgh", false),
            (password, "Abc1", false),
        ] {
            let mut budget = Budget::new();
            let pattern = TextPattern::search(pattern, &mut budget).expect("a pattern");
            assert!(pattern.lowered().is_err());
            assert_eq!(pattern.is_match(text, &mut budget), Ok(expected), "{text}");
        }
        for pattern in ["a(?=b)", "^(?!a(?!b))c", "^a(?!b)", "(?<=a)b", "^(?!a)b|c"] {
            assert_eq!(
                refusal(pattern),
                Some(PatternError::LookAround),
                "{pattern}"
            );
        }
        assert_eq!(refusal(r"^(?!(a)\1)b"), Some(PatternError::BackReference));
        for pattern in ["^(?!a)(b", "^(?!a))", "^(?!*)b"] {
            assert_eq!(refusal(pattern), Some(PatternError::Syntax), "{pattern}");
        }
        let whole = TextPattern::whole("^(?!b)[a-c]", &mut Budget::new()).expect("a pattern");
        for (text, expected) in [("a", true), ("b", false), ("ac", false)] {
            assert_eq!(
                whole.is_match(text, &mut Budget::new()),
                Ok(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn matching_is_paid_for() {
        let mut budget = Budget::new();
        let pattern = TextPattern::search("(x+x+)+y", &mut budget).expect("a pattern");
        assert_eq!(
            pattern.is_match(&"x".repeat(10_000), &mut budget),
            Ok(false)
        );
        let text = "x".repeat(10_000_000);
        assert_eq!(pattern.is_match(&text, &mut budget), Err(OverBudget::Steps));
    }
}
