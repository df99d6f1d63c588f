//! JSON Schema, drafts 2020-12 and 07: is a value what a schema asks for, and if not, why not.
//!
//! The evaluator is our own, over the tree that the values are read into, because schemas come
//! from others: one that means harm, with references that multiply, patterns that explode, or
//! lists of a million values, ends at the same step on every machine. Nothing is fetched, and
//! nothing is measured.
//!
//! | module | does |
//! |---|---|
//! | `uri`, `pointer` | names of schemas and of places in them |
//! | `documents`, `dialect`, `keyword` | what schemas may refer to, and what their keywords are |
//! | `compile` | checks a schema, resolves its references, and puts it into `arena` |
//! | `ecma`, `pattern` | patterns, in linear time |
//! | `evaluate` | checks values against a schema |
//! | `number`, `types`, `value` | what values are, and when two are equal |
//! | `json` | values and schemas, for layers that see no syntax |
//! | `set` | schemas together with their texts |
//! | `library` | the schemas that the project has, and the core that they refer to |
//! | `declared` | what a schema says without a value |
//! | `arguments` | the arguments of a call |
//! | `budget` | counts the work |
//! | `flaw`, `violation`, `wording` | what is wrong with a schema or a value, in words |
//!
//! `format`, `contentEncoding`, `contentMediaType` and `contentSchema` are annotations and check
//! nothing. Numbers are compared as decimals, exactly. Patterns are those of ECMA-262 with the
//! flag `u`, without look-around and references to groups.

#![forbid(unsafe_code)]

mod arena;
mod arguments;
mod budget;
mod compile;
mod declared;
mod dialect;
mod documents;
mod ecma;
mod evaluate;
mod flaw;
mod json;
mod keyword;
mod library;
mod number;
mod pattern;
mod pointer;
mod set;
mod types;
mod uri;
mod value;
mod violation;
mod wording;

pub use arena::Schema;
pub use arguments::{ArgumentProblem, Unusable, arguments, unusable};
pub use budget::{Budget, EVALUATION_DEPTH_LIMIT, OverBudget, STEP_LIMIT};
pub use declared::{Declared, Part};
pub use dialect::Draft;
pub use documents::{Documents, IDENTIFIER_LIMIT, URI_LIMIT};
pub use ecma::PatternError;
pub use flaw::{FLAW_LIMIT, Flaw, FlawKind, Refused};
pub use json::{Json, JsonText, with_schema};
pub use library::{Described, Library, LibraryError, MOVA, PROJECT};
pub use pattern::{NoPattern, PATTERN_LENGTH_LIMIT, PATTERN_LIMIT, TextPattern};
pub use pointer::{at_pointer, child, locate, token, unescaped};
pub use set::{NamedText, SchemaSet};
pub use types::Types;
pub use violation::Violation;
