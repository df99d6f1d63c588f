//! Tasks: their files, and their runs.

mod copies;
mod files;
mod runs;
#[path = "../support/mod.rs"]
mod support;
