//! The state of a compilation.

use crate::arena::{Check, PatternId, SubId};
use crate::budget::{Budget, OverBudget};
use crate::documents::{Documents, Place, Registry};
use crate::ignored_patterns::UnusablePattern;
use crate::keyword::{Dialect, Keyword};
use crate::pattern::{TextPattern, TextPatternError};
use crate::schema_error::{SCHEMA_ERROR_LIMIT, SchemaError, SchemaErrorKind};
use agent_syntax::Node;
use agent_text::Span;
use std::collections::BTreeMap;

/// Cost of a subschema, in steps, which bounds the memory.
const SUBSCHEMA_COST: u64 = 16;

/// A compiled keyword; `None` if it checks nothing, or its value has an error.
pub(super) type Compiled<'a> = Result<Option<Check<'a>>, OverBudget>;

/// A value in a schema, with the keyword that leads to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Location<'a> {
    pub(super) node: &'a Node<'a>,
    pub(super) keyword: Keyword,
    pub(super) resource: u32,
    pub(super) document: u32,
}

impl<'a> Location<'a> {
    /// Returns the location of the value of a keyword.
    pub(super) fn of(self, keyword: Keyword, node: &'a Node<'a>) -> Self {
        Self {
            node,
            keyword,
            ..self
        }
    }

    /// Returns the location of a value within this one.
    pub(super) fn within(self, node: &'a Node<'a>) -> Self {
        Self { node, ..self }
    }
}

/// The target of a reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) location: Location<'a>,
    /// The name of the dynamic anchor in the reference.
    pub(super) dynamic: Option<&'a str>,
}

pub(super) struct Compiler<'a, 'b> {
    pub(super) registry: Registry<'a>,
    pub(super) documents: &'a Documents<'a>,
    /// Whether the registry contains the metaschemas.
    pub(super) complete: bool,
    pub(super) budget: &'b mut Budget,
    /// The subschemas in the order of their numbers.
    pub(super) locations: Vec<Location<'a>>,
    pub(super) by_place: BTreeMap<Place, SubId>,
    /// The targets of resolved references, by the resource that contains the reference.
    pub(super) references: BTreeMap<(u32, &'a str), Target<'a>>,
    pub(super) patterns: Vec<TextPattern>,
    /// Patterns by their text; `None` for unusable ones.
    pub(super) by_pattern: BTreeMap<&'a str, Option<PatternId>>,
    /// Each place of an unusable pattern.
    pub(super) unusable: &'b mut Vec<UnusablePattern>,
    /// The names in each `$dynamicRef` to a dynamic anchor.
    pub(super) anchors: Vec<&'a str>,
    pub(super) dynamic: BTreeMap<(u32, u32), SubId>,
    /// The dialects of the resources that contain a subschema; `None` for unknown ones.
    pub(super) dialects: BTreeMap<u32, Option<Dialect>>,
    pub(super) errors: Vec<SchemaError>,
}

impl<'a> Compiler<'a, '_> {
    pub(super) fn error(&mut self, document: u32, node: &Node<'_>, kind: SchemaErrorKind) {
        if self.errors.len() < SCHEMA_ERROR_LIMIT {
            let (document, pointer) = self.registry.documents.locate(document, node.span);
            self.errors.push(SchemaError {
                document,
                pointer,
                span: node.span,
                kind,
            });
        }
    }

    /// Reports a value that its keyword does not accept.
    pub(super) fn refuse(&mut self, at: Location<'a>, expected: &'static str) {
        let kind = SchemaErrorKind::NotASchema {
            keyword: Some(at.keyword.name()),
            expected,
        };
        self.error(at.document, at.node, kind);
    }

    /// Returns a value, or reports that the keyword does not accept it.
    pub(super) fn expect<T>(
        &mut self,
        at: Location<'a>,
        value: Option<T>,
        expected: &'static str,
    ) -> Option<T> {
        if value.is_none() {
            self.refuse(at, expected);
        }
        value
    }

    /// Returns the number of a subschema, and adds it to the list if it is new.
    pub(super) fn intern(&mut self, at: Location<'a>) -> Result<SubId, OverBudget> {
        let place = (at.document, at.node.span.start);
        if let Some(known) = self.by_place.get(&place) {
            return Ok(*known);
        }
        self.budget.charge(SUBSCHEMA_COST)?;
        let id = self.locations.len() as SubId;
        self.by_place.insert(place, id);
        self.locations.push(Location {
            // A schema with its own identifier is a resource.
            resource: self.registry.rooted(place).unwrap_or(at.resource),
            ..at
        });
        Ok(id)
    }

    /// Compiles a pattern once, however often it occurs. Returns `None` for an unusable one. `name` is the place of
    /// a pattern of `patternProperties`.
    pub(super) fn pattern(
        &mut self,
        at: Location<'a>,
        name: Option<Span>,
        pattern: &'a str,
    ) -> Result<Option<PatternId>, OverBudget> {
        let id = self.compiled(at, pattern)?;
        if id.is_none() {
            self.unusable.push(UnusablePattern {
                span: name.unwrap_or(at.node.span),
                is_name: name.is_some(),
            });
        }
        Ok(id)
    }

    fn compiled(
        &mut self,
        at: Location<'a>,
        pattern: &'a str,
    ) -> Result<Option<PatternId>, OverBudget> {
        if let Some(known) = self.by_pattern.get(pattern) {
            return Ok(*known);
        }
        let id = match TextPattern::search(pattern, self.budget) {
            Ok(compiled) => {
                self.patterns.push(compiled);
                Some(self.patterns.len() as PatternId - 1)
            }
            Err(TextPatternError::Invalid { at: offset, error }) => {
                let kind = SchemaErrorKind::Pattern { error, at: offset };
                self.error(at.document, at.node, kind);
                None
            }
            Err(TextPatternError::OverBudget(over)) => return Err(over),
        };
        self.by_pattern.insert(pattern, id);
        Ok(id)
    }
}
