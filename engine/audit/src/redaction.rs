//! No value behind a key that names a secret is stored as it was.

use super::folder::{File, quoted};
use super::problems::{At, Found};
use super::recorded::{POOL, Recorded};
use agent_api::diagnostic::Code;
use agent_api::text::Span;
use agent_run::unredacted;

/// Reports values that must be redacted. Returns their places.
pub(crate) fn check<'f>(recorded: &Recorded<'f>, found: &mut Found) -> Vec<(&'f File, Span)> {
    let mut secrets = Vec::new();
    for record in recorded.records() {
        // A pool names secrets of the operator.
        let refers = record.file.path == POOL;
        for span in unredacted(&record.root, refers) {
            let path = quoted(&record.file.path);
            let message = format!("{path} contains a value behind a key that names a secret");
            let at = Some(At::new(record.file, span));
            found.report(Code::EvidenceSecret, at, "not redacted", message);
            secrets.push((record.file, span));
        }
    }
    secrets
}
