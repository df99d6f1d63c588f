//! Text to spanned trees. Nothing here knows what the texts mean.

mod canonical;
mod double;
mod frontmatter;
pub mod json;
mod node;
mod number;
pub mod yaml;

pub use canonical::canonical;
pub(crate) use canonical::{canonical_node, write_string};
pub use frontmatter::{Frontmatter, frontmatter};
pub use node::{Entry, Node, Value};
#[cfg(feature = "plan")]
pub(crate) use number::Number;
