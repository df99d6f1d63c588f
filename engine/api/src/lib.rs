//! The engine of `agent`: what may an AI agent use and do, and why.
//!
//! A pure library. It reads no clock, no file, no environment and no randomness, and the same
//! inputs give the same bytes wherever it runs. Data flows one way, and each layer imports only
//! the layers before it:
//!
//! | layer | holds |
//! |---|---|
//! | [`text`] | sources, spans, positions |
//! | [`diagnostic`] | problems, and the one catalogue of their codes |
//! | [`syntax`] | text to spanned trees: frontmatter, YAML, JSON |
//! | `schema` | JSON Schema: values checked within a budget; only with the feature `plan` |
//! | [`model`] | the domain, in which illegal states can't be written |
//! | [`lower`] | syntax to model: all validation, all problems at once |
//! | [`decide`] | assessment, resolution, counterfactuals, drift, expansion, grounding |
//! | `policy` | policies in Rego; only with the feature of that name |
//! | [`explain`] | what any view may know of a decision |
//! | [`render`] | the files and the views |
//! | [`import`] | documents of others to the index |
//!
//! The numbers in brackets in the documentation, such as \[0, 2.1\], name a specification and
//! its section.

#![forbid(unsafe_code)]

pub use agent_decide as decide;
pub use agent_diagnostic as diagnostic;
pub use agent_explain as explain;
pub use agent_import as import;
pub use agent_json_schema as schema;
pub use agent_lower as lower;
pub use agent_model as model;
#[cfg(feature = "policy")]
pub use agent_rego as policy;
pub use agent_render as render;
pub use agent_syntax as syntax;
pub use agent_text as text;

pub use agent_render::VERSION;
