//! Regular expressions within the budget.

use super::budget::Meter;
use anyhow::{Error, bail};
use regex::{NoExpand, Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::borrow::Cow;

/// Maximum weight of a pattern: about the number of its states with repetitions expanded. The size
/// of the compiled pattern would differ between machines.
pub const PATTERN_LIMIT: u64 = 50_000;

/// Maximum length of a pattern, in bytes.
const LENGTH_LIMIT: usize = 4_096;

/// Regular expressions whose matches are redacted.
#[derive(Debug)]
pub struct Redactions(Vec<Regex>);

/// The text in place of a redacted value.
pub const REDACTED: &str = "[redacted]";

impl Redactions {
    /// Compiles patterns.
    ///
    /// # Errors
    /// A sentence: one is no pattern, or too large.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        let compiled = patterns.iter().map(|pattern| {
            weigh(pattern).map_err(|error| error.to_string())?;
            let built = RegexBuilder::new(pattern).size_limit(usize::MAX).build();
            built.map_err(|_| format!("`{pattern}` is not a pattern"))
        });
        compiled.collect::<Result<_, _>>().map(Self)
    }

    /// Returns a text with its matches redacted, or `None` if it has none.
    pub fn redacted(&self, text: &str) -> Option<String> {
        let mut found: Option<String> = None;
        for regex in &self.0 {
            let present = found.as_deref().unwrap_or(text);
            if let Cow::Owned(next) = regex.replace_all(present, NoExpand(REDACTED)) {
                found = Some(next);
            }
        }
        found
    }
}

/// Returns whether a text contains a match of a pattern.
pub(super) fn is_match(meter: &mut Meter, pattern: &str, text: &str) -> anyhow::Result<bool> {
    let (regex, weight) = match meter.patterns.get(pattern) {
        Some(known) => known.clone(),
        None => {
            let compiled = compile(meter, pattern)?;
            meter.patterns.insert(pattern.to_owned(), compiled.clone());
            compiled
        }
    };
    // Each byte may visit each state.
    let work = (text.len() as u64).saturating_mul(weight) / 16;
    meter.pay(1 + work)?;
    Ok(regex.is_match(text))
}

/// Returns whether a pattern is valid and small enough.
pub(super) fn is_valid(meter: &mut Meter, pattern: &str) -> anyhow::Result<bool> {
    meter.pay(pattern.len() as u64)?;
    Ok(weigh(pattern).is_ok())
}

fn compile(meter: &mut Meter, pattern: &str) -> anyhow::Result<(Regex, u64)> {
    let weight = weigh(pattern)?;
    // Compiling a state takes some 100 ns.
    meter.pay(100 + weight * 4)?;
    let regex = RegexBuilder::new(pattern)
        .size_limit(usize::MAX)
        .build()
        .map_err(|_| Error::msg("`regex.match` takes a pattern, and this is not one"))?;
    Ok((regex, weight))
}

fn weigh(pattern: &str) -> anyhow::Result<u64> {
    if pattern.len() > LENGTH_LIMIT {
        bail!("a pattern has at most {LENGTH_LIMIT} bytes");
    }
    let mut parser = regex_syntax::ParserBuilder::new().nest_limit(32).build();
    let Ok(hir) = parser.parse(pattern) else {
        bail!("`regex.match` takes a pattern, and this is not one");
    };
    let weight = weight(&hir);
    if weight > PATTERN_LIMIT {
        bail!("the pattern is too large with its repetitions expanded");
    }
    Ok(weight)
}

/// Returns about the number of states of a pattern. The parser limits the nesting.
fn weight(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => 1 + class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => 1 + class.ranges().len() as u64,
        HirKind::Repetition(repetition) => {
            let times = u64::from(repetition.max.unwrap_or(repetition.min + 1).max(1));
            weight(&repetition.sub).saturating_mul(times)
        }
        HirKind::Capture(capture) => 2 + weight(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            let weights = parts.iter().map(|part| weight(part) + 1);
            weights.fold(0, u64::saturating_add)
        }
    }
}
