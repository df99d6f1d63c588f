//! A schema once it is compiled: every subschema in one list, referring to others by number.

use super::documents::{Document, List};
use super::keyword::Keyword;
use super::number::{Decimal, Divisor};
use super::pattern::Pattern;
use super::pointer::locate;
use super::types::Types;
use super::value::Members;
use agent_syntax::Node;
use agent_text::Span;
use std::collections::BTreeMap;

/// The number of a subschema.
pub(super) type SubId = u32;

/// The number of a pattern.
pub(super) type PatternId = u32;

/// A schema that instances can be checked against. It borrows the trees that it was compiled from.
///
/// Compiled once, it may check any number of instances.
#[derive(Debug)]
pub struct Schema<'a> {
    pub(super) root: SubId,
    pub(super) subs: Vec<Sub<'a>>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) documents: List<'a, Document<'a>>,
    /// What a name for `$dynamicRef` means in a resource, by the numbers of both.
    pub(super) dynamic: BTreeMap<(u32, u32), SubId>,
}

/// A subschema.
#[derive(Debug)]
pub(super) struct Sub<'a> {
    pub(super) body: Body<'a>,
    pub(super) resource: u32,
    pub(super) document: u32,
    pub(super) span: Span,
    /// The keyword that led to it first.
    pub(super) via: Keyword,
    /// Whether a rule of it depends on what others have evaluated.
    pub(super) tracks: bool,
}

#[derive(Debug)]
pub(super) enum Body<'a> {
    /// `true`
    Always,
    /// `false`
    Never,
    /// All of these, in the order of their keywords.
    Rules(Vec<Rule<'a>>),
}

/// What a keyword asks for.
#[derive(Debug)]
pub(super) struct Rule<'a> {
    pub(super) keyword: Keyword,
    /// Where its value stands.
    pub(super) span: Span,
    pub(super) check: Check<'a>,
}

#[derive(Debug)]
pub(super) enum Check<'a> {
    Ref(SubId),
    /// What the reference means by itself, and the name that is looked for in the schemas that led
    /// here, if it is one for that.
    DynamicRef(SubId, Option<u32>),
    Type(Types),
    /// `enum` and `const`, and the value of the keyword.
    Members(Members<'a>, &'a Node<'a>),
    MultipleOf(Divisor, &'a str),
    /// The four keywords of bounds, by the text of their number.
    Bound(Decimal<'a>, &'a str),
    /// The six keywords that count, and what they allow.
    Count(u64),
    Pattern(PatternId, &'a str),
    Unique,
    /// Names, sorted.
    Required(Vec<&'a str>),
    /// Names that ask for others, sorted.
    DependentRequired(Vec<(&'a str, Vec<&'a str>)>),
    DependentSchemas(Vec<(&'a str, SubId)>),
    PropertyNames(SubId),
    Properties(Properties<'a>),
    Items(Items),
    Contains(Contains),
    AllOf(Vec<SubId>),
    AnyOf(Vec<SubId>),
    OneOf(Vec<SubId>),
    Not(SubId),
    If(Condition),
    UnevaluatedItems(SubId),
    UnevaluatedProperties(SubId),
}

/// `properties`, `patternProperties` and `additionalProperties`.
#[derive(Debug)]
pub(super) struct Properties<'a> {
    /// By name, sorted.
    pub(super) named: Vec<(&'a str, SubId)>,
    pub(super) patterns: Vec<(PatternId, SubId)>,
    pub(super) additional: Option<Rest>,
}

/// A schema for what no other keyword is about, and where its keyword stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest {
    pub(super) sub: SubId,
    pub(super) keyword: Keyword,
    pub(super) span: Span,
}

/// `prefixItems` and `items`, or `items` and `additionalItems`.
#[derive(Debug)]
pub(super) struct Items {
    pub(super) first: Vec<SubId>,
    pub(super) rest: Option<Rest>,
}

/// `contains` with its bounds.
#[derive(Debug)]
pub(super) struct Contains {
    pub(super) sub: SubId,
    pub(super) least: u64,
    pub(super) most: Option<u64>,
    /// Whether what matches is evaluated by it, which is so since draft 2020-12.
    pub(super) evaluates: bool,
}

/// `if`, `then` and `else`.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) condition: SubId,
    pub(super) then: Option<Rest>,
    pub(super) otherwise: Option<Rest>,
}

impl Sub<'_> {
    /// Whether it is `false`.
    pub(super) fn is_never(&self) -> bool {
        matches!(self.body, Body::Never)
    }
}

impl<'a> Schema<'a> {
    pub(super) fn sub(&self, id: SubId) -> &Sub<'a> {
        &self.subs[id as usize]
    }

    /// The rules of a subschema; none for `true` and `false`.
    pub(super) fn rules(&self, id: SubId) -> &[Rule<'a>] {
        match &self.sub(id).body {
            Body::Rules(rules) => rules,
            Body::Always | Body::Never => &[],
        }
    }

    /// The URI of a document, if it is not the schema itself, and the pointer to an offset in it.
    pub(super) fn place(&self, document: u32, span: Span) -> (Option<String>, String) {
        place(&self.documents, document, span)
    }
}

/// The URI of a document, if it has one, and the pointer to an offset in it.
pub(super) fn place(
    documents: &List<'_, Document<'_>>,
    document: u32,
    span: Span,
) -> (Option<String>, String) {
    let document = documents.get(document);
    let uri = (!document.uri.is_empty()).then(|| document.uri.clone());
    (uri, locate(document.root, span.start))
}
