//! What every part of the playground is made of.
//!
//! The playground has parts that are loaded when they are first seen, each a module of its own. This
//! is what stands in all of them: it knows how inputs are edited, how a worker is asked, and how
//! problems and changes are shown, and nothing of what is asked or decided.

pub mod areas;
pub mod browser;
pub mod dialog;
pub mod editor;
pub mod failure;
pub mod files;
pub mod fixes;
pub mod footer;
pub mod keeping;
pub mod line;
pub mod notice;

pub mod problems;
pub mod theme;
pub mod words;
