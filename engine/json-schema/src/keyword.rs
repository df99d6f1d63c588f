//! The keywords of the drafts: their vocabularies, and the forms in which they hold subschemas.

use agent_syntax::{Entry, Node, Value};

/// A draft of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draft {
    /// Draft-04, `http://json-schema.org/draft-04/schema#`: draft-07 with exclusive bounds that are booleans.
    Draft04,
    /// Draft-07, `http://json-schema.org/draft-07/schema#`.
    Draft07,
    /// Draft 2020-12, `https://json-schema.org/draft/2020-12/schema`.
    Draft202012,
}

impl Draft {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft04 => "draft-04",
            Self::Draft07 => "draft-07",
            Self::Draft202012 => "draft 2020-12",
        }
    }

    /// Returns the draft that a `$schema` names.
    pub(super) fn of(schema: &str) -> Option<Self> {
        let schema = schema.strip_suffix('#').unwrap_or(schema);
        let (_, rest) = schema.split_once("://json-schema.org/")?;
        match rest {
            "draft-04/schema" => Some(Self::Draft04),
            "draft-07/schema" => Some(Self::Draft07),
            "draft/2020-12/schema" => Some(Self::Draft202012),
            _ => None,
        }
    }
}

/// A vocabulary of draft 2020-12. The older drafts have all their keywords in one.
#[derive(Clone, Copy)]
enum Vocabulary {
    Core,
    Applicator,
    Unevaluated,
    Validation,
}

/// The form in which a keyword of a draft holds subschemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The draft does not have the keyword.
    Unknown,
    /// No subschemas.
    Plain,
    /// A schema.
    One,
    /// A list of schemas.
    Many,
    /// An object whose values are schemas.
    Named,
    /// A schema, or a list of them: `items` of draft-07.
    OneOrMany,
    /// An object whose values are schemas or lists of names: `dependencies`.
    NamedOrNames,
}

macro_rules! keywords {
    ($($case:ident $name:literal $vocabulary:ident $draft07:ident $draft202012:ident)*) => {
        /// A keyword. The order is that of evaluation: keywords that depend on the results of
        /// others come last.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Keyword {
            $(#[doc = $name] $case,)*
        }

        impl Keyword {
            const ALL: &[Self] = &[$(Self::$case,)*];

            /// Returns the name in a schema.
            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$case => $name,)* }
            }

            fn of(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$case),)*
                    _ => None,
                }
            }

            fn vocabulary(self) -> Vocabulary {
                match self { $(Self::$case => Vocabulary::$vocabulary,)* }
            }

            /// Returns the form in which it holds subschemas in a draft.
            pub(super) fn form(self, draft: Draft) -> Form {
                let [older, newest] = match self { $(Self::$case => [Form::$draft07, Form::$draft202012],)* };
                if draft == Draft::Draft202012 { newest } else { older }
            }
        }
    };
}

// Name, vocabulary, form in the older drafts, form in draft 2020-12.
keywords! {
    Schema "$schema" Core Plain Plain
    Id "$id" Core Plain Plain
    Anchor "$anchor" Core Unknown Plain
    DynamicAnchor "$dynamicAnchor" Core Unknown Plain
    Vocabulary "$vocabulary" Core Unknown Plain
    Defs "$defs" Core Unknown Named
    Definitions "definitions" Core Named Named
    Ref "$ref" Core Plain Plain
    DynamicRef "$dynamicRef" Core Unknown Plain
    Type "type" Validation Plain Plain
    Const "const" Validation Plain Plain
    Enum "enum" Validation Plain Plain
    MultipleOf "multipleOf" Validation Plain Plain
    Maximum "maximum" Validation Plain Plain
    ExclusiveMaximum "exclusiveMaximum" Validation Plain Plain
    Minimum "minimum" Validation Plain Plain
    ExclusiveMinimum "exclusiveMinimum" Validation Plain Plain
    MaxLength "maxLength" Validation Plain Plain
    MinLength "minLength" Validation Plain Plain
    Pattern "pattern" Validation Plain Plain
    MaxItems "maxItems" Validation Plain Plain
    MinItems "minItems" Validation Plain Plain
    UniqueItems "uniqueItems" Validation Plain Plain
    MaxProperties "maxProperties" Validation Plain Plain
    MinProperties "minProperties" Validation Plain Plain
    Required "required" Validation Plain Plain
    DependentRequired "dependentRequired" Validation Unknown Plain
    PropertyNames "propertyNames" Applicator One One
    Properties "properties" Applicator Named Named
    PatternProperties "patternProperties" Applicator Named Named
    AdditionalProperties "additionalProperties" Applicator One One
    PrefixItems "prefixItems" Applicator Unknown Many
    Items "items" Applicator OneOrMany One
    AdditionalItems "additionalItems" Applicator One Unknown
    Contains "contains" Applicator One One
    MaxContains "maxContains" Validation Unknown Plain
    MinContains "minContains" Validation Unknown Plain
    // Draft 2020-12 splits it in two, and allows implementations to keep it.
    Dependencies "dependencies" Applicator NamedOrNames NamedOrNames
    DependentSchemas "dependentSchemas" Applicator Unknown Named
    AllOf "allOf" Applicator Many Many
    AnyOf "anyOf" Applicator Many Many
    OneOf "oneOf" Applicator Many Many
    Not "not" Applicator One One
    If "if" Applicator One One
    Then "then" Applicator One One
    Else "else" Applicator One One
    UnevaluatedItems "unevaluatedItems" Unevaluated Unknown One
    UnevaluatedProperties "unevaluatedProperties" Unevaluated Unknown One
}

/// A draft without the vocabularies that a metaschema omits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) draft: Draft,
    /// Whether each [`Vocabulary`] is in use.
    vocabularies: [bool; 4],
}

impl Dialect {
    /// Returns the dialect with all vocabularies of a draft.
    pub(super) fn all(draft: Draft) -> Self {
        Self {
            draft,
            vocabularies: [true; 4],
        }
    }

    /// Returns the dialect that a `$vocabulary` declares. Returns `None` if it requires an unknown
    /// vocabulary, or is not an object.
    pub(super) fn declared(vocabularies: &Node<'_>) -> Option<Self> {
        let mut dialect = Self {
            draft: Draft::Draft202012,
            vocabularies: [true, false, false, false],
        };
        for entry in entries(vocabularies)? {
            let prefix = "https://json-schema.org/draft/2020-12/vocab/";
            let vocabulary = match entry.key.strip_prefix(prefix) {
                Some("applicator") => Vocabulary::Applicator,
                Some("unevaluated") => Vocabulary::Unevaluated,
                Some("validation") => Vocabulary::Validation,
                Some("core" | "meta-data" | "format-annotation" | "content") => Vocabulary::Core,
                _ if entry.value.value == Value::Bool(false) => continue,
                // Such as `format-assertion`: an assertion that is not evaluated must not pass.
                _ => return None,
            };
            dialect.vocabularies[vocabulary as usize] = true;
        }
        Some(dialect)
    }

    /// Returns whether a keyword has a meaning in the dialect.
    pub(super) fn knows(self, keyword: Keyword) -> bool {
        self.vocabularies[keyword.vocabulary() as usize]
            && keyword.form(self.draft) != Form::Unknown
    }
}

/// The values of the keywords of a schema object.
#[derive(Debug)]
pub(super) struct Fields<'a>([Option<&'a Node<'a>>; Keyword::ALL.len()]);

impl<'a> Fields<'a> {
    pub(super) fn new(entries: &'a [Entry<'a>]) -> Self {
        let mut fields = [None; Keyword::ALL.len()];
        for entry in entries {
            if let Some(keyword) = Keyword::of(&entry.key) {
                fields[keyword as usize].get_or_insert(&entry.value);
            }
        }
        Self(fields)
    }

    /// Removes keywords that a test does not accept.
    pub(super) fn retain(&mut self, accepts: impl Fn(Keyword) -> bool) {
        for (keyword, node) in Keyword::ALL.iter().zip(&mut self.0) {
            node.take_if(|_| !accepts(*keyword));
        }
    }

    /// Returns the value of a keyword.
    pub(super) fn get(&self, keyword: Keyword) -> Option<&'a Node<'a>> {
        self.0[keyword as usize]
    }

    /// Returns the keywords that are present, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Keyword, &'a Node<'a>)> {
        let entries = Keyword::ALL.iter().zip(self.0);
        entries.filter_map(|(keyword, node)| Some((*keyword, node?)))
    }

    /// Returns the value of a keyword if it is a string.
    pub(super) fn text(&self, keyword: Keyword) -> Option<&'a str> {
        text(self.get(keyword)?)
    }

    /// Returns the values directly in this schema that must be schemas.
    pub(super) fn subschemas(&self, draft: Draft) -> impl Iterator<Item = &'a Node<'a>> {
        self.iter()
            .flat_map(move |(keyword, node)| subschemas(keyword, draft, node))
    }
}

/// Returns the values in the value of a keyword that must be schemas.
pub(super) fn subschemas<'a>(
    keyword: Keyword,
    draft: Draft,
    node: &'a Node<'a>,
) -> Vec<&'a Node<'a>> {
    match (keyword.form(draft), &node.value) {
        (Form::OneOrMany | Form::Many, Value::Sequence(items)) => items.iter().collect(),
        (Form::One | Form::OneOrMany, _) => vec![node],
        (form @ (Form::Named | Form::NamedOrNames), Value::Mapping(entries)) => {
            let values = entries.iter().map(|entry| &entry.value);
            let schemas = values.filter(|value| form == Form::Named || items(value).is_none());
            schemas.collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the text of a string.
pub(super) fn text<'a>(node: &'a Node<'_>) -> Option<&'a str> {
    match &node.value {
        Value::String(text) | Value::Plain(text) => Some(text),
        _ => None,
    }
}

/// Returns the items of an array.
pub(super) fn items<'n, 'a>(node: &'n Node<'a>) -> Option<&'n [Node<'a>]> {
    match &node.value {
        Value::Sequence(items) => Some(items),
        _ => None,
    }
}

/// Returns the entries of an object.
pub(super) fn entries<'n, 'a>(node: &'n Node<'a>) -> Option<&'n [Entry<'a>]> {
    match &node.value {
        Value::Mapping(entries) => Some(entries),
        _ => None,
    }
}
