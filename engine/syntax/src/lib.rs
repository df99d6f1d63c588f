//! Parsers from texts to spanned trees. They know nothing of the meaning of texts.

#![forbid(unsafe_code)]

mod canonical;
mod double;
mod frontmatter;
pub mod json;
pub mod members;
mod node;
mod number;
#[cfg(feature = "repair")]
mod repair;
pub mod toml;
pub mod yaml;

pub use canonical::{canonical, canonical_node};
pub use frontmatter::{Frontmatter, SNIPPET, frontmatter};
pub use json::{json_string, write_string};
pub use node::{Entry, Node, Value};
pub use number::Number;
#[cfg(feature = "repair")]
pub use repair::{
    Repair, Repaired, Repairs, repair_characters, repair_json, repair_marks, repair_yaml,
};

/// Returns a word in the quotes of the text that it replaces.
pub fn written_as(replaced: &str, word: &str) -> String {
    match replaced.chars().next() {
        Some('"') => json_string(word),
        Some('\'') => format!("'{}'", word.replace('\'', "''")),
        _ => word.to_owned(),
    }
}
