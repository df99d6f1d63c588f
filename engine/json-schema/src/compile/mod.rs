//! Compilation of trees to schemas: resolves references, checks the values of keywords, and compiles
//! patterns. It reports all errors at once.
//!
//! Subschemas are compiled from a list, in the order in which they are found, so nothing recurses.
//! All subschemas of the schema itself are compiled; of other documents those that are referred to.

mod compiler;
mod groups;
mod keywords;
mod reference;

use super::arena::{Body, Schema, Subschema};
use super::budget::{Budget, OverBudget};
use super::documents::{Documents, Registry};
use super::ignored_patterns::UnusablePattern;
use super::keyword::{Dialect, Draft, Fields, Keyword, text};
use super::schema_error::{Refused, SchemaErrorKind};
use super::secrecy::is_secret;
use agent_syntax::{Node, Value};
use compiler::{Compiler, Location};
use std::collections::BTreeMap;

/// Bytes of a schema that are searched for names in a step.
const BYTES_PER_STEP: u64 = 4;

impl<'a> Schema<'a> {
    /// Compiles a schema, which may refer to itself, to the documents, and to the metaschemas of
    /// both drafts. `draft` applies if it has no `$schema`.
    ///
    /// The tree must come from a text, because spans identify values. `format`, `contentEncoding`
    /// and `contentMediaType` are annotations, and so is every unknown keyword.
    ///
    /// # Errors
    /// Returns all errors of the schema, or that compiling it exceeds the budget.
    pub fn compile(
        root: &'a Node<'a>,
        documents: &'a Documents<'a>,
        draft: Draft,
        budget: &mut Budget,
    ) -> Result<Self, Refused> {
        Self::compile_noting(root, documents, draft, budget, &mut Vec::new())
    }

    /// As [`Self::compile`], and adds the patterns of all documents that can't be used.
    pub(super) fn compile_noting(
        root: &'a Node<'a>,
        documents: &'a Documents<'a>,
        draft: Draft,
        budget: &mut Budget,
        unusable: &mut Vec<UnusablePattern>,
    ) -> Result<Self, Refused> {
        let bytes = u64::from(root.span.end - root.span.start);
        budget.charge(1 + bytes / BYTES_PER_STEP)?;
        let mut registry = Registry::after(documents.registry());
        let resource = registry.add("", root, draft);
        let at = Location {
            node: root,
            keyword: Keyword::Ref,
            resource,
            document: registry.resources.get(resource).document,
        };
        let mut compiler = Compiler {
            registry,
            documents,
            complete: false,
            budget,
            locations: Vec::new(),
            by_place: BTreeMap::new(),
            references: BTreeMap::new(),
            patterns: Vec::new(),
            by_pattern: BTreeMap::new(),
            unusable,
            anchors: Vec::new(),
            dynamic: BTreeMap::new(),
            dialects: BTreeMap::new(),
            errors: Vec::new(),
        };
        for taken in compiler.registry.taken.clone() {
            let id = text(taken).unwrap_or_default().to_owned();
            compiler.error(at.document, taken, SchemaErrorKind::TakenIdentifier(id));
        }
        for excessive in compiler.registry.excessive.clone() {
            let expected = "a URI of at most 2,048 bytes, of which a document has at most 1,000";
            compiler.refuse(at.of(Keyword::Id, excessive), expected);
        }
        let root = compiler.intern(at)?;
        let subs = compiler.compile_all()?;
        if !compiler.errors.is_empty() {
            return Err(Refused::Invalid(compiler.errors));
        }
        Ok(Self {
            draft,
            root,
            subs,
            patterns: compiler.patterns,
            documents: compiler.registry.documents,
            dynamic: compiler.dynamic,
        })
    }
}

impl<'a> Compiler<'a, '_> {
    fn compile_all(&mut self) -> Result<Vec<Subschema<'a>>, OverBudget> {
        let mut subs: Vec<Subschema<'a>> = Vec::new();
        loop {
            while let Some(at) = self.locations.get(subs.len()).copied() {
                let body = self.body(at)?;
                let tracks = matches!(&body, Body::Rules(rules) if rules.iter().any(|rule| {
                    rule.keyword >= Keyword::UnevaluatedItems
                }));
                subs.push(Subschema {
                    body,
                    resource: at.resource,
                    document: at.document,
                    span: at.node.span,
                    keyword: at.keyword,
                    tracks,
                    is_secret: is_secret(at.node),
                });
            }
            self.intern_dynamic()?;
            if subs.len() == self.locations.len() {
                return Ok(subs);
            }
        }
    }

    /// Interns every possible target of a `$dynamicRef` in the resources in use.
    fn intern_dynamic(&mut self) -> Result<(), OverBudget> {
        let resources: Vec<u32> = self.dialects.keys().copied().collect();
        for (number, name) in (0..).zip(self.anchors.clone()) {
            self.budget.charge(resources.len() as u64)?;
            for resource in resources.iter().copied() {
                let found = self.registry.resources.get(resource);
                if let Some((node, true)) = found.anchors.get(name) {
                    let id = self.intern(Location {
                        node,
                        keyword: Keyword::DynamicRef,
                        resource,
                        document: found.document,
                    })?;
                    self.dynamic.insert((resource, number), id);
                }
            }
        }
        Ok(())
    }

    /// Returns the dialect of a resource. Reports an unknown one once.
    fn dialect(&mut self, resource: u32) -> Option<Dialect> {
        if let Some(known) = self.dialects.get(&resource) {
            return *known;
        }
        let dialect = self.registry.dialect(resource);
        if let Err(schema) = dialect {
            let document = self.registry.resources.get(resource).document;
            let name = text(schema).unwrap_or_default().to_owned();
            self.error(document, schema, SchemaErrorKind::UnknownDraft(name));
        }
        self.dialects.insert(resource, dialect.ok());
        dialect.ok()
    }

    fn body(&mut self, at: Location<'a>) -> Result<Body<'a>, OverBudget> {
        let entries = match &at.node.value {
            Value::Bool(true) => return Ok(Body::Always),
            Value::Bool(false) => return Ok(Body::Never),
            Value::Mapping(entries) => entries,
            _ => {
                let kind = SchemaErrorKind::NotASchema {
                    keyword: None,
                    expected: "an object or a boolean",
                };
                self.error(at.document, at.node, kind);
                return Ok(Body::Always);
            }
        };
        self.budget.charge(entries.len() as u64)?;
        let Some(dialect) = self.dialect(at.resource) else {
            return Ok(Body::Always);
        };
        let rules = self.rules(at, dialect, Fields::new(entries))?;
        Ok(if rules.is_empty() {
            Body::Always
        } else {
            Body::Rules(rules)
        })
    }
}
