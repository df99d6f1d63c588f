//! Whether the evidence of a run can be relied on.

use super::folder::Folder;
use super::problems::Found;
use super::recorded::Recorded;
use super::{chain, conformity, consistency, naming, redaction};
use agent_api::diagnostic::Diagnostic;
use agent_api::schema::Library;

/// Returns every problem of the evidence of a run, ordered by file and place. `library` decides on
/// schemas.
#[must_use]
pub fn verify(folder: &Folder, library: &Library) -> Vec<Diagnostic> {
    verified(folder, library).1
}

/// Returns the records of a run with their problems.
pub(crate) fn verified<'f>(
    folder: &'f Folder,
    library: &Library,
) -> (Recorded<'f>, Vec<Diagnostic>) {
    let mut found = Found::new(folder);
    let recorded = Recorded::read(folder, &mut found);
    chain::check(&recorded, &mut found);
    let secrets = redaction::check(&recorded, &mut found);
    conformity::check(&recorded, library, &secrets, &mut found);
    naming::check(&recorded, &mut found);
    consistency::check(&recorded, &mut found);
    (recorded, found.finish())
}
