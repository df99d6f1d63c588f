//! Patterns that are matched within the budget.

use super::budget::{Budget, OverBudget};
use super::ecma::{PatternError, Refused, translate};
use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::fmt;

/// How much a pattern may weigh, which is about how many states it has once its repetitions are
/// written out. The size of what is compiled from it would differ between machines.
pub const PATTERN_LIMIT: u64 = 50_000;

/// How long a pattern may be, in bytes.
pub const PATTERN_LENGTH_LIMIT: usize = 4_096;

/// How deep groups may stand inside each other.
const NESTING_LIMIT: u32 = 64;

/// What compiling a state costs, in steps.
const STATE_COST: u64 = 12;

/// How many visits of a state a step is, when each byte of a text visits each state.
const VISITS_PER_STEP: u64 = 4;

/// What compiling a pattern costs beside its states, in steps.
const PATTERN_COST: u64 = 80;

/// A pattern, and how much work it is.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    /// How many states a byte may have to visit, about.
    visits: u64,
}

/// How much work a pattern is.
#[derive(Debug, Clone, Copy)]
struct Weight {
    /// About how many states it has.
    states: u64,
    /// About how many of them a byte may have to visit. Those of a class are visited one after the
    /// other, and not at once.
    visits: u64,
}

impl Pattern {
    /// Compile a pattern of ECMA-262. The inner error says where in it, in bytes, and why.
    pub(super) fn new(
        pattern: &str,
        budget: &mut Budget,
    ) -> Result<Result<Self, Refused>, OverBudget> {
        budget.charge(PATTERN_COST + pattern.len() as u64)?;
        if pattern.len() > PATTERN_LENGTH_LIMIT {
            return Ok(Err((0, PatternError::TooLarge)));
        }
        let (translated, weight) = match weigh(pattern) {
            Ok(weighed) => weighed,
            Err(refused) => return Ok(Err(refused)),
        };
        budget.charge(weight.states * STATE_COST)?;
        let regex = RegexBuilder::new(&translated)
            .size_limit(usize::MAX)
            .nest_limit(NESTING_LIMIT)
            .build();
        Ok(match regex {
            Ok(regex) => Ok(Self {
                regex,
                visits: weight.visits,
            }),
            Err(_) => Err((0, PatternError::Unsupported)),
        })
    }

    /// Whether a text holds a match.
    pub(super) fn is_match(&self, text: &str, budget: &mut Budget) -> Result<bool, OverBudget> {
        let visits = (text.len() as u64 + 1).saturating_mul(self.visits);
        budget.charge(2 + visits / VISITS_PER_STEP)?;
        Ok(self.regex.is_match(text))
    }
}

/// A pattern by itself, outside of a schema: linear-time as those of schemas are.
#[derive(Debug)]
pub struct TextPattern(Pattern);

/// Why there is no such pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPattern {
    /// It can't be used.
    Refused {
        /// Where, in bytes of its text.
        at: usize,
        /// Why.
        error: PatternError,
    },
    /// Compiling it takes more than the budget.
    OverBudget(OverBudget),
}

impl TextPattern {
    /// A pattern of which a text has to hold a match.
    ///
    /// # Errors
    /// It looks around, refers to groups, is too large, or is no pattern of ECMA-262.
    pub fn search(pattern: &str, budget: &mut Budget) -> Result<Self, NoPattern> {
        match Pattern::new(pattern, budget) {
            Ok(Ok(pattern)) => Ok(Self(pattern)),
            Ok(Err((at, error))) => Err(NoPattern::Refused { at, error }),
            Err(over) => Err(NoPattern::OverBudget(over)),
        }
    }

    /// A pattern that the whole of a text has to match.
    ///
    /// # Errors
    /// As of [`TextPattern::search`].
    pub fn whole(pattern: &str, budget: &mut Budget) -> Result<Self, NoPattern> {
        // By itself first: a parenthesis must not close what is put around it.
        Self::search(pattern, budget)?;
        Self::search(&format!("^(?:{pattern})$"), budget)
    }

    /// Whether a text matches.
    ///
    /// # Errors
    /// It takes more than the budget.
    pub fn is_match(&self, text: &str, budget: &mut Budget) -> Result<bool, OverBudget> {
        self.0.is_match(text, budget)
    }
}

impl fmt::Display for NoPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { at, error } => write!(f, "{}, at byte {at} of it", error.reason()),
            Self::OverBudget(over) => f.write_str(over.reason()),
        }
    }
}

/// A pattern as it is compiled, and its weight.
fn weigh(pattern: &str) -> Result<(String, Weight), Refused> {
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

/// How much work a part of a pattern is. The nesting is limited by the parser.
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
                // What is not ASCII is a few bytes, and a range of it several sequences of them.
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
    use super::{Pattern, PatternError, TextPattern};
    use crate::{Budget, OverBudget};

    fn refusal(pattern: &str) -> Option<PatternError> {
        let compiled = Pattern::new(pattern, &mut Budget::new());
        compiled.expect("cheap").err().map(|(_, error)| error)
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
    fn matching_is_paid_for() {
        let mut budget = Budget::new();
        let pattern = Pattern::new("(x+x+)+y", &mut budget)
            .expect("cheap")
            .expect("a pattern");
        assert_eq!(
            pattern.is_match(&"x".repeat(10_000), &mut budget),
            Ok(false)
        );
        let text = "x".repeat(10_000_000);
        assert_eq!(pattern.is_match(&text, &mut budget), Err(OverBudget::Steps));
    }
}
