//! Strict JSON (RFC 8259), read in place.
//!
//! One value and nothing around it, no comments, no trailing commas, no duplicate keys. A
//! [`Reader`] hands out one token after the other, so that the index can be read without a tree;
//! [`parse`] builds the tree where one is wanted. Both end within [`DEPTH_LIMIT`] whatever they
//! are given.

mod problem;
mod reader;
mod tree;
mod writer;

pub use super::canonical::write_string;
pub use problem::{Syntax, report};
pub use reader::raw_offset;
pub use reader::{Kind, Reader, Token};
pub use tree::{parse, value as parse_value};
pub use writer::Writer;

/// How many arrays and objects may stand inside each other.
pub const DEPTH_LIMIT: u32 = 128;
