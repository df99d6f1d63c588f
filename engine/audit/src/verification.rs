//! Whether the evidence of a run can be relied on.

use super::folder::Folder;
use super::problems::Found;
use super::recorded::Recorded;
use super::{chain, conformity, consistency, naming, redaction};
use agent_api::diagnostic::Diagnostic;
use agent_api::schema::Library;
use std::sync::Arc;

/// Returns every problem of the evidence of a run, ordered by file and place. `core` replaces the
/// project's equivalents of MOVA's core.
#[must_use]
pub fn verify(folder: &Folder, core: Option<&Arc<Library>>) -> Vec<Diagnostic> {
    verified(folder, core).1
}

/// Returns the records of a run with their problems.
pub(crate) fn verified<'f>(
    folder: &'f Folder,
    core: Option<&Arc<Library>>,
) -> (Recorded<'f>, Vec<Diagnostic>) {
    let library = core.map_or(Library::own(), |it| it);
    let mut found = Found::new(folder);
    let recorded = Recorded::read(folder, &mut found);
    chain::check(&recorded, &mut found);
    let secrets = redaction::check(&recorded, core, &mut found);
    conformity::check(&recorded, library, &secrets, &mut found);
    naming::check(&recorded, library, &mut found);
    consistency::check(&recorded, &mut found);
    (recorded, found.finish())
}
