//! From trees to a schema: references are resolved, values of keywords are checked, patterns are
//! compiled. All flaws are found at once.
//!
//! Subschemas are compiled in the order in which they are found, off a list, so that nothing
//! recurses. Of the schema itself all are compiled; of other documents those that are referred to.

mod groups;
mod keywords;
mod reference;

use reference::Target;

use super::arena::{Body, PatternId, Schema, Sub, SubId, place};
use super::budget::{Budget, OverBudget};
use super::dialect::{Dialect, Draft};
use super::documents::{Documents, Names};
use super::flaw::{FLAW_LIMIT, Flaw, FlawKind, Refused};
use super::keyword::{Fields, Keyword, text};
use super::pattern::Pattern;
use agent_syntax::{Node, Value};
use std::collections::BTreeMap;

/// What a subschema costs, in steps: memory is bounded by it.
const SUBSCHEMA_COST: u64 = 16;

/// How many bytes of a schema are looked through for names in a step.
const BYTES_PER_STEP: u64 = 4;

impl<'a> Schema<'a> {
    /// Compile a schema, which may refer to itself, to the documents, and to the metaschemas of
    /// both drafts. `draft` is what it is read by where it has no `$schema`.
    ///
    /// The tree has to be one that was read from a text: its spans tell its values apart. `format`,
    /// `contentEncoding` and `contentMediaType` are annotations, and so is every keyword that is
    /// not known.
    ///
    /// # Errors
    /// It is no schema of its draft, refers to what is not known, or has patterns that can't be
    /// used: all of it is said. Or it takes more steps than are left.
    pub fn compile(
        root: &'a Node<'a>,
        documents: &'a Documents<'a>,
        draft: Draft,
        budget: &mut Budget,
    ) -> Result<Self, Refused> {
        let bytes = u64::from(root.span.end - root.span.start);
        budget.charge(1 + bytes / BYTES_PER_STEP)?;
        let mut names = Names::beside(documents.names());
        let resource = names.add("", root, draft);
        let document = names.resources.get(resource).document;
        let mut compiler = Compiler {
            names,
            documents,
            complete: false,
            budget,
            origins: Vec::new(),
            by_place: BTreeMap::new(),
            references: BTreeMap::new(),
            patterns: Vec::new(),
            by_pattern: BTreeMap::new(),
            anchors: Vec::new(),
            dynamic: BTreeMap::new(),
            dialects: BTreeMap::new(),
            flaws: Vec::new(),
        };
        for taken in compiler.names.taken.clone() {
            let id = text(taken).unwrap_or_default().to_owned();
            compiler.flaw(document, taken, FlawKind::TakenIdentifier(id));
        }
        for excessive in compiler.names.excessive.clone() {
            let kind = FlawKind::NotASchema {
                keyword: Some(Keyword::Id.name()),
                expected: "a URI of at most 2,048 bytes, of which a document has at most 1,000",
            };
            compiler.flaw(document, excessive, kind);
        }
        let origin = Origin {
            node: root,
            resource,
            document,
            via: Keyword::Ref,
        };
        let root = compiler.intern(origin)?;
        let subs = compiler.compile_all()?;
        if compiler.flaws.is_empty() {
            Ok(Self {
                root,
                subs,
                patterns: compiler.patterns,
                documents: compiler.names.documents,
                dynamic: compiler.dynamic,
            })
        } else {
            Err(Refused::Flaws(compiler.flaws))
        }
    }
}

/// Where a subschema comes from.
#[derive(Debug, Clone, Copy)]
struct Origin<'a> {
    node: &'a Node<'a>,
    resource: u32,
    document: u32,
    via: Keyword,
}

struct Compiler<'a, 'b> {
    names: Names<'a>,
    documents: &'a Documents<'a>,
    /// Whether the metaschemas are among the names.
    complete: bool,
    budget: &'b mut Budget,
    /// The subschemas in the order of their numbers.
    origins: Vec<Origin<'a>>,
    by_place: BTreeMap<(u32, u32), SubId>,
    /// What references mean that were resolved, by the resource that they stand in.
    references: BTreeMap<(u32, &'a str), Target<'a>>,
    patterns: Vec<Pattern>,
    /// Patterns by their text; none for those that can't be used.
    by_pattern: BTreeMap<&'a str, Option<PatternId>>,
    /// The names that a `$dynamicRef` looks for.
    anchors: Vec<&'a str>,
    dynamic: BTreeMap<(u32, u32), SubId>,
    /// What the resources are read by that have a subschema among the origins.
    dialects: BTreeMap<u32, Option<Dialect>>,
    flaws: Vec<Flaw>,
}

impl<'a> Compiler<'a, '_> {
    fn flaw(&mut self, document: u32, node: &Node<'_>, kind: FlawKind) {
        if self.flaws.len() < FLAW_LIMIT {
            let (document, pointer) = place(&self.names.documents, document, node.span);
            self.flaws.push(Flaw {
                document,
                pointer,
                span: node.span,
                kind,
            });
        }
    }

    /// The number of a subschema, which will be compiled if it is new.
    fn intern(&mut self, origin: Origin<'a>) -> Result<SubId, OverBudget> {
        let place = (origin.document, origin.node.span.start);
        if let Some(known) = self.by_place.get(&place) {
            return Ok(*known);
        }
        self.budget.charge(SUBSCHEMA_COST)?;
        let id = self.origins.len() as SubId;
        self.by_place.insert(place, id);
        self.origins.push(Origin {
            // A schema with an identifier of its own is a resource.
            resource: self.names.rooted(place).unwrap_or(origin.resource),
            ..origin
        });
        Ok(id)
    }

    fn compile_all(&mut self) -> Result<Vec<Sub<'a>>, OverBudget> {
        let mut subs: Vec<Sub<'a>> = Vec::new();
        loop {
            while let Some(origin) = self.origins.get(subs.len()).copied() {
                let body = self.body(origin)?;
                let tracks = matches!(&body, Body::Rules(rules) if rules.iter().any(|rule| {
                    rule.keyword >= Keyword::UnevaluatedItems
                }));
                subs.push(Sub {
                    body,
                    resource: origin.resource,
                    document: origin.document,
                    span: origin.node.span,
                    via: origin.via,
                    tracks,
                });
            }
            self.intern_dynamic()?;
            if subs.len() == self.origins.len() {
                return Ok(subs);
            }
        }
    }

    /// Every schema of a resource in use that a `$dynamicRef` could mean.
    fn intern_dynamic(&mut self) -> Result<(), OverBudget> {
        let resources: Vec<u32> = self.dialects.keys().copied().collect();
        for (number, name) in self.anchors.clone().into_iter().enumerate() {
            self.budget.charge(resources.len() as u64)?;
            for number_of_resource in &resources {
                let resource = self.names.resources.get(*number_of_resource);
                if let Some((node, true)) = resource.anchors.get(name) {
                    let origin = Origin {
                        node,
                        resource: *number_of_resource,
                        document: resource.document,
                        via: Keyword::DynamicRef,
                    };
                    let id = self.intern(origin)?;
                    self.dynamic
                        .insert((*number_of_resource, number as u32), id);
                }
            }
        }
        Ok(())
    }

    /// What a resource is read by; none if that is not known, which is said once.
    fn dialect(&mut self, resource: u32) -> Option<Dialect> {
        if let Some(known) = self.dialects.get(&resource) {
            return *known;
        }
        let dialect = self.names.dialect(resource);
        if let Err(schema) = dialect {
            let document = self.names.resources.get(resource).document;
            let name = text(schema).unwrap_or_default().to_owned();
            self.flaw(document, schema, FlawKind::UnknownDraft(name));
        }
        self.dialects.insert(resource, dialect.ok());
        dialect.ok()
    }

    fn body(&mut self, origin: Origin<'a>) -> Result<Body<'a>, OverBudget> {
        let entries = match &origin.node.value {
            Value::Bool(true) => return Ok(Body::Always),
            Value::Bool(false) => return Ok(Body::Never),
            Value::Mapping(entries) => entries,
            _ => {
                let kind = FlawKind::NotASchema {
                    keyword: None,
                    expected: "an object or a boolean",
                };
                self.flaw(origin.document, origin.node, kind);
                return Ok(Body::Always);
            }
        };
        self.budget.charge(entries.len() as u64)?;
        let Some(dialect) = self.dialect(origin.resource) else {
            return Ok(Body::Always);
        };
        let fields = Fields::new(entries);
        self.rules(origin, dialect, &fields).map(|rules| {
            if rules.is_empty() {
                Body::Always
            } else {
                Body::Rules(rules)
            }
        })
    }
}
