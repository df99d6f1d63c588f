//! Strict JSON (RFC 8259), read in place.
//!
//! A text is exactly one value, without comments, trailing commas and duplicate keys. A [`Reader`]
//! returns one token after the other, which lets the index be read without a tree; [`parse`] builds
//! a tree. Both refuse nesting beyond [`DEPTH_LIMIT`].

#[cfg(debug_assertions)]
mod bytes_read;
mod problem;
mod reader;
mod relaxed;
mod tree;
mod writer;

#[cfg(debug_assertions)]
pub use bytes_read::{bytes_read, count_bytes_read};
pub use problem::{SyntaxError, report};
pub use reader::{DEPTH_LIMIT, Kind, Reader, Token, raw_offset};
pub use relaxed::{blank_comments, parse_blanked};
pub use tree::{parse, strict as parse_strict, value as parse_value};
pub use writer::{Writer, json_string, write_string};
