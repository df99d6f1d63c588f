//! Drafts of JSON Schema, and which of their vocabularies are in use.

use super::keyword::Keyword;
use agent_syntax::{Node, Value};

/// A draft that is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draft {
    /// Draft-07, `http://json-schema.org/draft-07/schema#`.
    Draft07,
    /// Draft 2020-12, `https://json-schema.org/draft/2020-12/schema`.
    Draft202012,
}

impl Draft {
    /// The draft that a `$schema` names.
    pub(super) fn of(schema: &str) -> Option<Self> {
        let schema = schema.strip_suffix('#').unwrap_or(schema);
        let (_, rest) = schema.split_once("://json-schema.org/")?;
        match rest {
            "draft-07/schema" => Some(Self::Draft07),
            "draft/2020-12/schema" => Some(Self::Draft202012),
            _ => None,
        }
    }
}

/// A draft without the vocabularies that its metaschema leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) draft: Draft,
    applicator: bool,
    unevaluated: bool,
    validation: bool,
}

impl Dialect {
    /// All of a draft.
    pub(super) fn all(draft: Draft) -> Self {
        Self {
            draft,
            applicator: true,
            unevaluated: true,
            validation: true,
        }
    }

    /// What the metaschema of a schema declares. None if it requires a vocabulary that is not
    /// known, or declares none at all.
    pub(super) fn declared(vocabularies: &Node<'_>) -> Option<Self> {
        let Value::Mapping(entries) = &vocabularies.value else {
            return None;
        };
        let mut dialect = Self {
            draft: Draft::Draft202012,
            applicator: false,
            unevaluated: false,
            validation: false,
        };
        for entry in entries {
            match entry
                .key
                .strip_prefix("https://json-schema.org/draft/2020-12/vocab/")
            {
                Some("applicator") => dialect.applicator = true,
                Some("unevaluated") => dialect.unevaluated = true,
                Some("validation") => dialect.validation = true,
                Some("core" | "meta-data" | "format-annotation" | "content") => {}
                _ if entry.value.value == Value::Bool(false) => {}
                // Such as `format-assertion`: what can't be asserted must not pass.
                _ => return None,
            }
        }
        Some(dialect)
    }

    /// Whether a keyword means anything in it.
    pub(super) fn knows(self, keyword: Keyword) -> bool {
        let newer = self.draft == Draft::Draft202012;
        match keyword {
            Keyword::Schema | Keyword::Id | Keyword::Ref | Keyword::Definitions => true,
            Keyword::Anchor
            | Keyword::DynamicAnchor
            | Keyword::DynamicRef
            | Keyword::Vocabulary
            | Keyword::Defs => newer,
            Keyword::PrefixItems | Keyword::DependentSchemas => newer && self.applicator,
            Keyword::UnevaluatedItems | Keyword::UnevaluatedProperties => newer && self.unevaluated,
            Keyword::MaxContains | Keyword::MinContains | Keyword::DependentRequired => {
                newer && self.validation
            }
            Keyword::AdditionalItems => !newer,
            keyword if keyword.holds(self.draft).is_some() => self.applicator,
            _ => self.validation,
        }
    }
}
