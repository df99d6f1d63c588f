//! Tools that nobody can call, in a build without repairs: it finds none, because the code that compiles the patterns of
//! schemas would be nearly half of it. No lock depends on them.

use agent_diagnostic::Diagnostic;
use agent_model::{Index, ToolView};
use core::convert::Infallible;
use core::marker::PhantomData;

/// A tool that nobody can call.
#[derive(Debug, Clone)]
pub enum Uncallable<'i> {
    /// There is none.
    Never(Infallible, PhantomData<&'i ()>),
}

/// Returns no tool.
pub fn uncallable_tools(_: &Index) -> Vec<Uncallable<'_>> {
    Vec::new()
}

/// Returns no reason.
pub fn uncallable(_: ToolView<'_>) -> Option<Uncallable<'_>> {
    None
}

/// Returns no warning.
pub fn uncallable_warnings<'i>(_: impl IntoIterator<Item = Uncallable<'i>>) -> Vec<Diagnostic> {
    Vec::new()
}
