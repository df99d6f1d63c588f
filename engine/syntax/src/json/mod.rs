//! Strict JSON (RFC 8259), read in place.
//!
//! A text is exactly one value, without comments, trailing commas and duplicate keys. A [`Reader`]
//! returns one token after the other, which lets the index be read without a tree; [`parse`] builds
//! a tree. Both refuse nesting beyond [`DEPTH_LIMIT`].

mod problem;
mod reader;
mod tree;
mod writer;

pub use super::canonical::write_string;
pub use problem::{Syntax, report};
pub use reader::raw_offset;
pub use reader::{Kind, Reader, Token};
pub use tree::{parse, strict as parse_strict, value as parse_value};
pub use writer::Writer;

/// Maximum depth of nested arrays and objects.
pub const DEPTH_LIMIT: u32 = 128;
