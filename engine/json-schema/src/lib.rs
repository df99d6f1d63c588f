//! JSON Schema, drafts 2020-12, 07 and 04: checks values, and explains each violation.
//!
//! The evaluator is our own, because schemas come from others and may be hostile. References that
//! multiply, patterns that explode and lists of a million values end at the same step on every
//! machine. Nothing is fetched, and no time is measured.
//!
//! | module | content |
//! |---|---|
//! | `budget` | counts the work |
//! | `number`, `types`, `value` | exact numbers, types, and equality of values |
//! | `uri`, `pointer` | names of schemas and of places in them |
//! | `keyword`, `documents` | keywords, drafts, and the documents that references lead to |
//! | `ecma`, `look_ahead`, `pattern` | patterns, in linear time |
//! | `schema_error`, `violation`, `wording` | errors in schemas and values, in words |
//! | `correction` | obvious corrections of violating values |
//! | `compile` | checks a schema, resolves its references, and fills `arena` |
//! | `evaluate` | checks values against a schema |
//! | `introspection` | derives what a schema requires without a value |
//! | `secrecy` | the parts of a value that a schema marks as secret |
//! | `json` | values and schemas, for layers without access to syntax trees |
//! | `ignored_patterns` | schemas without the patterns that can't be used |
//! | `kept` | schemas that are compiled once for many checks; without the feature `kept-schemas`, `kept_texts` |
//! | `tool_schema` | a schema of a tool, kept or not |
//! | `set` | schemas together with their texts |
//! | `library` | the schemas of the project, with the core that they refer to |
//! | `arguments` | checks the arguments of a call |
//!
//! `format`, `contentEncoding`, `contentMediaType` and `contentSchema` are annotations and check
//! nothing. Numbers are compared as decimals, exactly. Patterns are those of ECMA-262 with the
//! flag `u`, without back-references, and without look-around but for look-ahead behind a first `^`.

#![forbid(unsafe_code)]

mod arena;
mod arguments;
mod budget;
mod compile;
mod correction;
mod documents;
mod ecma;
mod evaluate;
mod ignored_patterns;
mod introspection;
mod json;
#[cfg(any(test, feature = "kept-schemas"))]
mod kept;
#[cfg(not(any(test, feature = "kept-schemas")))]
#[path = "kept_texts.rs"]
mod kept;
mod keyword;
mod library;
mod look_ahead;
mod number;
mod pattern;
mod pointer;
mod schema_error;
mod secrecy;
mod set;
mod tool_schema;
mod types;
mod uri;
mod value;
mod violation;
mod wording;

pub use arena::Schema;
pub use arguments::{ArgumentProblem, Unusable, arguments, draft, unusable};
pub use budget::{Budget, EVALUATION_DEPTH_LIMIT, OverBudget, STEP_LIMIT};
pub use correction::Correction;
pub use documents::{Documents, IDENTIFIER_LIMIT, URI_LIMIT};
pub use ecma::PatternError;
pub use ignored_patterns::without_unusable_patterns;
pub use introspection::{InstanceLocation, PropertyStatus};
pub use json::{Json, JsonText, with_schema};
pub use kept::{KeptSchema, SchemaRoom};
pub use keyword::Draft;
pub use library::{CATALOGUES, Library, LibraryError, LibrarySchema, MOVA};
pub use number::same_number;
pub use pattern::{PATTERN_LENGTH_LIMIT, PATTERN_LIMIT, TextPattern, TextPatternError};
pub use pointer::{at_pointer, child, token, unescaped};
pub use schema_error::{Refused, SCHEMA_ERROR_LIMIT, SchemaError, SchemaErrorKind};
pub use set::{NamedText, SchemaSet};
pub use tool_schema::ToolSchema;
pub use types::Types;
pub use violation::{Violation, without_follow_ups};
