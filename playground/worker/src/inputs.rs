//! The inputs, each read when it changes.

use agent_engine::decide::Resolution;
use agent_engine::diagnostic::Diagnostic;
use agent_engine::lower::{self, Lowered};
use agent_engine::model::{Index, Lock, Manifest};
use std::sync::Arc;

/// What came of reading a text.
pub(crate) struct Read<T> {
    /// None: it has errors, or it has not been given.
    pub(crate) value: Option<Arc<T>>,
    pub(crate) problems: Vec<Diagnostic>,
}

impl<T> Default for Read<T> {
    fn default() -> Self {
        Self {
            value: None,
            problems: Vec::new(),
        }
    }
}

impl<T> From<Lowered<T>> for Read<T> {
    fn from(lowered: Lowered<T>) -> Self {
        match lowered {
            Ok(checked) => Self {
                value: Some(Arc::new(checked.value)),
                problems: checked.warnings,
            },
            Err(problems) => Self {
                value: None,
                problems,
            },
        }
    }
}

/// A manifest, an index and a lock.
#[derive(Default)]
pub struct Inputs {
    pub(crate) manifest: Read<Manifest>,
    pub(crate) index: Read<Index>,
    pub(crate) lock: Read<Lock>,
}

impl Inputs {
    /// Reads those texts that are given; the others stay as they were.
    pub(crate) fn read(
        &mut self,
        manifest: Option<String>,
        index: Option<String>,
        lock: Option<String>,
    ) {
        if let Some(text) = manifest {
            self.manifest = lower::manifest(text.into_bytes()).into();
        }
        if let Some(text) = index {
            // The index of before makes room: two large ones may be too many.
            self.index = Read::default();
            self.index = lower::index(text.into_bytes()).into();
        }
        if let Some(text) = lock {
            self.lock = if text.trim().is_empty() {
                Read::default()
            } else {
                lower::lock(text.into_bytes()).into()
            };
        }
    }

    /// The problems of all of them.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &Diagnostic> {
        let (manifest, index) = (&self.manifest.problems, &self.index.problems);
        manifest.iter().chain(index).chain(&self.lock.problems)
    }

    /// The decision, where manifest and index can be read.
    pub(crate) fn resolve(&self) -> Option<Resolution> {
        let manifest = Arc::clone(self.manifest.value.as_ref()?);
        let index = Arc::clone(self.index.value.as_ref()?);
        Some(Resolution::new(manifest, index))
    }
}
