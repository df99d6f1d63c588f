//! Compiled schemas: all subschemas in one list, which refer to others by number.

use super::documents::{Document, SharedList};
use super::keyword::{Draft, Keyword};
use super::number::{Decimal, Divisor};
use super::pattern::TextPattern;
use super::types::Types;
use super::value::Members;
use agent_syntax::Node;
use agent_text::Span;
use std::collections::BTreeMap;

/// The number of a subschema.
pub(super) type SubId = u32;

/// The number of a pattern.
pub(super) type PatternId = u32;

/// A compiled schema, for any number of instances. It borrows the trees that it was compiled from.
#[derive(Debug)]
pub struct Schema<'a> {
    /// The draft, unless the schema names another one.
    pub(super) draft: Draft,
    pub(super) root: SubId,
    pub(super) subs: Vec<Subschema<'a>>,
    pub(super) patterns: Vec<TextPattern>,
    pub(super) documents: SharedList<'a, Document<'a>>,
    /// The target of a `$dynamicRef`, by the numbers of its resource and its anchor.
    pub(super) dynamic: BTreeMap<(u32, u32), SubId>,
}

/// A subschema.
#[derive(Debug)]
pub(super) struct Subschema<'a> {
    pub(super) body: Body<'a>,
    pub(super) resource: u32,
    pub(super) document: u32,
    pub(super) span: Span,
    /// The keyword that led to it first.
    pub(super) keyword: Keyword,
    /// Whether one of its rules depends on the parts that others have evaluated.
    pub(super) tracks: bool,
    /// Whether it marks its values as secret.
    pub(super) is_secret: bool,
}

#[derive(Debug)]
pub(super) enum Body<'a> {
    /// `true`
    Always,
    /// `false`
    Never,
    /// Rules that must all hold, in the order of their keywords.
    Rules(Vec<Rule<'a>>),
}

/// The requirement of a keyword.
#[derive(Debug)]
pub(super) struct Rule<'a> {
    pub(super) keyword: Keyword,
    /// The place of its value.
    pub(super) span: Span,
    pub(super) check: Check<'a>,
}

/// The kinds of requirements.
#[derive(Debug)]
pub(super) enum Check<'a> {
    Ref(SubId),
    /// The static target, and the number of the anchor to search in the dynamic scope, if the
    /// reference names a dynamic anchor.
    DynamicRef(SubId, Option<u32>),
    Type(Types),
    /// `enum` and `const`, with the value of the keyword.
    Members(Members<'a>, &'a Node<'a>),
    MultipleOf(Divisor, &'a str),
    /// The four keywords of bounds, with the text of the number.
    Bound(Decimal<'a>, &'a str),
    /// The six keywords that limit a count.
    Count(u64),
    Pattern(PatternId, &'a str),
    Unique,
    /// Names, sorted.
    Required(Vec<&'a str>),
    /// Names with the names that they require, sorted.
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
    pub(super) additional: Option<KeywordSchema>,
}

/// A subschema with its keyword.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeywordSchema {
    pub(super) sub: SubId,
    pub(super) keyword: Keyword,
    pub(super) span: Span,
}

/// `prefixItems` and `items`, or `items` and `additionalItems`.
#[derive(Debug)]
pub(super) struct Items {
    pub(super) first: Vec<SubId>,
    pub(super) rest: Option<KeywordSchema>,
}

/// `contains` with its bounds.
#[derive(Debug)]
pub(super) struct Contains {
    pub(super) sub: SubId,
    pub(super) least: u64,
    pub(super) most: Option<u64>,
    /// Whether matching items count as evaluated, which they do since draft 2020-12.
    pub(super) evaluates: bool,
}

/// `if`, `then` and `else`.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) condition: SubId,
    pub(super) then: Option<KeywordSchema>,
    pub(super) otherwise: Option<KeywordSchema>,
}

impl Subschema<'_> {
    /// Returns whether it is `false`.
    pub(super) fn is_never(&self) -> bool {
        matches!(self.body, Body::Never)
    }
}

impl<'a> Schema<'a> {
    pub(super) fn sub(&self, id: SubId) -> &Subschema<'a> {
        &self.subs[id as usize]
    }

    /// Returns the rules of a subschema. `true` and `false` have no rules.
    pub(super) fn rules(&self, id: SubId) -> &[Rule<'a>] {
        match &self.sub(id).body {
            Body::Rules(rules) => rules,
            Body::Always | Body::Never => &[],
        }
    }
}
