//! `mcp.index.json`, as columns.
//!
//! An index may contain 100,000 servers, and loading it dominates the cost of a resolution. The
//! index therefore keeps servers as slices of its text, numbered once in the order that breaks ties
//! (see [`Rank`]), with a list of ranks for each category and scope. The properties that do not
//! depend on a requirement take one byte per server (see [`ConstraintKey`]).

mod builder;
mod columns;
mod constraint_key;
mod dictionary;
mod view;

pub use builder::{ByName, Duplicate, IndexBuilder, NewServer, NewTool};
pub use columns::{Slice, ToolNumber};
pub use constraint_key::ConstraintKey;
pub use dictionary::{Members, Rank};
pub use view::{Advertised, Index, ServerView, ToolView};
