//! The keywords of both drafts, and which of them hold schemas.

use super::dialect::Draft;
use agent_syntax::{Entry, Node, Value};

macro_rules! keywords {
    ($($case:ident $name:literal)*) => {
        /// A keyword that has a meaning here, in the order in which they are evaluated: what
        /// depends on what others have evaluated comes last.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Keyword {
            $(#[doc = $name] $case,)*
        }

        impl Keyword {
            const ALL: &[Self] = &[$(Self::$case,)*];

            /// Its name in a schema.
            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$case => $name,)* }
            }

            fn of(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$case),)*
                    _ => None,
                }
            }
        }
    };
}

keywords! {
    Schema "$schema"
    Id "$id"
    Anchor "$anchor"
    DynamicAnchor "$dynamicAnchor"
    Vocabulary "$vocabulary"
    Defs "$defs"
    Definitions "definitions"
    Ref "$ref"
    DynamicRef "$dynamicRef"
    Type "type"
    Const "const"
    Enum "enum"
    MultipleOf "multipleOf"
    Maximum "maximum"
    ExclusiveMaximum "exclusiveMaximum"
    Minimum "minimum"
    ExclusiveMinimum "exclusiveMinimum"
    MaxLength "maxLength"
    MinLength "minLength"
    Pattern "pattern"
    MaxItems "maxItems"
    MinItems "minItems"
    UniqueItems "uniqueItems"
    MaxProperties "maxProperties"
    MinProperties "minProperties"
    Required "required"
    DependentRequired "dependentRequired"
    PropertyNames "propertyNames"
    Properties "properties"
    PatternProperties "patternProperties"
    AdditionalProperties "additionalProperties"
    PrefixItems "prefixItems"
    Items "items"
    AdditionalItems "additionalItems"
    Contains "contains"
    MaxContains "maxContains"
    MinContains "minContains"
    Dependencies "dependencies"
    DependentSchemas "dependentSchemas"
    AllOf "allOf"
    AnyOf "anyOf"
    OneOf "oneOf"
    Not "not"
    If "if"
    Then "then"
    Else "else"
    UnevaluatedItems "unevaluatedItems"
    UnevaluatedProperties "unevaluatedProperties"
}

/// How a keyword holds schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Is one.
    One,
    /// A list of them.
    Many,
    /// An object whose values are some.
    Named,
    /// One, or a list of them: `items` of draft-07.
    OneOrMany,
    /// An object whose values are schemas or lists of names: `dependencies`.
    NamedOrNames,
}

impl Keyword {
    /// How it holds schemas in a draft. None if it holds none, or is no keyword of the draft.
    pub(super) fn holds(self, draft: Draft) -> Option<Holds> {
        let newer = draft == Draft::Draft202012;
        Some(match self {
            Self::PropertyNames
            | Self::AdditionalProperties
            | Self::Contains
            | Self::Not
            | Self::If
            | Self::Then
            | Self::Else => Holds::One,
            Self::Definitions | Self::Properties | Self::PatternProperties => Holds::Named,
            Self::AllOf | Self::AnyOf | Self::OneOf => Holds::Many,
            Self::Items if newer => Holds::One,
            Self::Items => Holds::OneOrMany,
            Self::UnevaluatedItems | Self::UnevaluatedProperties if newer => Holds::One,
            Self::PrefixItems if newer => Holds::Many,
            Self::Defs | Self::DependentSchemas if newer => Holds::Named,
            Self::AdditionalItems if !newer => Holds::One,
            // Draft 2020-12 has two others in its place, and lets it be kept.
            Self::Dependencies => Holds::NamedOrNames,
            _ => return None,
        })
    }
}

/// The keywords of a schema object, found by their names.
#[derive(Debug)]
pub(super) struct Fields<'a>([Option<&'a Entry<'a>>; Keyword::ALL.len()]);

impl<'a> Fields<'a> {
    pub(super) fn new(entries: &'a [Entry<'a>]) -> Self {
        let mut fields = [None; Keyword::ALL.len()];
        for entry in entries {
            if let Some(keyword) = Keyword::of(&entry.key) {
                fields[keyword as usize].get_or_insert(entry);
            }
        }
        Self(fields)
    }

    /// The entry of a keyword.
    pub(super) fn get(&self, keyword: Keyword) -> Option<&'a Node<'a>> {
        self.0[keyword as usize].map(|entry| &entry.value)
    }

    /// The keywords that are there, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Keyword, &'a Node<'a>)> {
        let entries = Keyword::ALL.iter().zip(self.0);
        entries.filter_map(|(keyword, entry)| Some((*keyword, &entry?.value)))
    }

    /// The value of a keyword, if it is a string.
    pub(super) fn text(&self, keyword: Keyword) -> Option<&'a str> {
        text(self.get(keyword)?)
    }

    /// The schemas that stand directly in this one. What should be a schema and has another type
    /// is among them.
    pub(super) fn subschemas(&self, draft: Draft) -> impl Iterator<Item = &'a Node<'a>> {
        self.iter()
            .flat_map(move |(keyword, node)| held(keyword, draft, node))
    }
}

/// The schemas that a keyword holds.
pub(super) fn held<'a>(keyword: Keyword, draft: Draft, node: &'a Node<'a>) -> Vec<&'a Node<'a>> {
    match (keyword.holds(draft), &node.value) {
        (Some(Holds::OneOrMany | Holds::Many), Value::Sequence(items)) => items.iter().collect(),
        (Some(Holds::One | Holds::OneOrMany), _) => vec![node],
        (Some(holds @ (Holds::Named | Holds::NamedOrNames)), Value::Mapping(entries)) => {
            let values = entries.iter().map(|entry| &entry.value);
            let schemas = values.filter(|value| {
                holds == Holds::Named || !matches!(value.value, Value::Sequence(_))
            });
            schemas.collect()
        }
        _ => Vec::new(),
    }
}

/// The text of a string.
pub(super) fn text<'a>(node: &'a Node<'a>) -> Option<&'a str> {
    match &node.value {
        Value::String(text) | Value::Plain(text) => Some(text),
        _ => None,
    }
}
