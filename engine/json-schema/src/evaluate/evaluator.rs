//! The state of an evaluation, and the report of violations.

use super::evaluated::Evaluated;
use crate::arena::{KeywordSchema, Schema, SubId};
use crate::budget::{Budget, OverBudget};
use crate::correction::{Correction, KNOWN};
use crate::keyword::Keyword;
use crate::pointer::{push_index, push_name};
use crate::violation::Violation;
use agent_syntax::{Node, Value};
use agent_text::Span;

/// Cost of a violation without its texts, in steps, which bounds the memory.
const VIOLATION_COST: u64 = 32;

/// Cost of a byte of a pointer or a message, in eighths of a step.
const TEXT_COST: u64 = 2;

/// Whether a value is valid.
pub(super) type Validity = Result<bool, OverBudget>;

/// The evaluated parts of the present value, where a keyword depends on them.
pub(super) type Tracker<'e> = Option<&'e mut Evaluated>;

/// A keyword and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeywordLocation {
    pub(super) keyword: Keyword,
    pub(super) document: u32,
    pub(super) span: Span,
}

impl KeywordLocation {
    /// Returns the location of another keyword of the same schema.
    pub(super) fn of(self, schema: &KeywordSchema) -> Self {
        Self {
            keyword: schema.keyword,
            span: schema.span,
            ..self
        }
    }
}

pub(super) struct Evaluator<'s, 'a, 'i, 'b> {
    pub(super) schema: &'s Schema<'a>,
    pub(super) budget: &'b mut Budget,
    /// The whole value.
    pub(super) instance: &'i Node<'i>,
    /// The path to the present part: numbers of entries and items.
    pub(super) path: Vec<u32>,
    /// The resources of the dynamic scope, outermost first.
    pub(super) scope: Vec<u32>,
    pub(super) depth: u32,
    /// If above zero, only the verdict counts, and no violation is collected.
    pub(super) quiet: u32,
    pub(super) found: Vec<Violation>,
    /// The subschema that is being evaluated.
    pub(super) present: SubId,
}

impl Evaluator<'_, '_, '_, '_> {
    /// Checks all parts; only up to the first invalid one if only the verdict counts.
    #[inline(always)]
    pub(super) fn all<T>(
        &mut self,
        parts: impl IntoIterator<Item = T>,
        mut check: impl FnMut(&mut Self, T) -> Validity,
    ) -> Validity {
        let mut valid = true;
        for part in parts {
            valid &= check(self, part)?;
            if !valid && self.quiet > 0 {
                break;
            }
        }
        Ok(valid)
    }

    /// Checks the part of the present value at a position.
    pub(super) fn within(
        &mut self,
        place: usize,
        check: impl FnOnce(&mut Self) -> Validity,
    ) -> Validity {
        self.path.push(place as u32);
        let verdict = check(self);
        self.path.pop();
        verdict
    }

    /// Checks without collecting violations.
    pub(super) fn quietly(&mut self, check: impl FnOnce(&mut Self) -> Validity) -> Validity {
        self.quiet += 1;
        let verdict = check(self);
        self.quiet -= 1;
        verdict
    }

    /// Checks, and returns the violations instead of collecting them.
    pub(super) fn causes(
        &mut self,
        check: impl FnOnce(&mut Self) -> Validity,
    ) -> Result<(bool, Vec<Violation>), OverBudget> {
        let before = self.found.len();
        let valid = check(self)?;
        Ok((valid, self.found.split_off(before)))
    }

    /// Reports a violation unless a requirement holds.
    pub(super) fn require(
        &mut self,
        holds: bool,
        at: KeywordLocation,
        span: Span,
        message: impl FnOnce() -> String,
    ) -> Validity {
        if holds {
            return Ok(true);
        }
        self.report(at, span, Vec::new(), message)
    }

    /// Adds the texts that would do to the violation that a verdict reported.
    pub(super) fn expect<'t>(&mut self, verdict: &Validity, texts: impl Iterator<Item = &'t str>) {
        if self.quiet == 0
            && *verdict == Ok(false)
            && let Some(last) = self.found.last_mut()
        {
            last.expected = texts.take(KNOWN).map(str::to_owned).collect();
        }
    }

    /// Adds corrections to the violation that a verdict reported.
    pub(super) fn correct<C: IntoIterator<Item = Correction>>(
        &mut self,
        verdict: Validity,
        corrections: impl FnOnce(&mut Self) -> Result<C, OverBudget>,
    ) -> Validity {
        if self.quiet == 0 && verdict == Ok(false) {
            let found = corrections(self)?;
            if let Some(last) = self.found.last_mut() {
                last.corrections.extend(found);
            }
        }
        verdict
    }

    /// Reports a violation. Returns `false`.
    #[cold]
    pub(super) fn report(
        &mut self,
        at: KeywordLocation,
        span: Span,
        causes: Vec<Violation>,
        message: impl FnOnce() -> String,
    ) -> Validity {
        if self.quiet == 0 {
            self.budget.charge(VIOLATION_COST)?;
            self.add(at, span, causes, message())?;
        }
        Ok(false)
    }

    // Separate, so that it is not compiled for each message.
    fn add(
        &mut self,
        at: KeywordLocation,
        span: Span,
        causes: Vec<Violation>,
        message: String,
    ) -> Result<(), OverBudget> {
        let documents = &self.schema.documents;
        let (document, schema) = documents.locate(at.document, at.span);
        let violation = Violation {
            instance: self.pointer(),
            span,
            document,
            schema,
            schema_span: at.span,
            keyword: at.keyword.name(),
            message,
            causes,
            expected: Vec::new(),
            corrections: Vec::new(),
        };
        let texts = [&violation.instance, &violation.schema, &violation.message];
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        self.budget.charge(bytes as u64 * TEXT_COST / 8)?;
        self.found.push(violation);
        Ok(())
    }

    /// Returns the pointer to the present part.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        let mut node = self.instance;
        for place in &self.path {
            node = match &node.value {
                Value::Sequence(items) => {
                    push_index(&mut pointer, *place as usize);
                    &items[*place as usize]
                }
                Value::Mapping(entries) => {
                    let entry = &entries[*place as usize];
                    push_name(&mut pointer, &entry.key);
                    &entry.value
                }
                // The path contains only positions in collections.
                _ => break,
            };
        }
        pointer
    }
}
