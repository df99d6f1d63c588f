//! Changes of the inputs as edits of their texts.

mod call;
mod cut;
mod document;
mod entry;
mod frontmatter;
mod mend;
mod patch;

pub use call::call_fixes;
pub(super) use document::patches as document_patches;
pub use mend::{Mended, mend};

use agent_decide::{Assessment, Change, Counterfactual, Offer, Resolution, assess};
use agent_diagnostic::Edit;
use agent_model::ServerView;

/// Returns the edits of the manifest or of the index that carry out a counterfactual: ordered by
/// place, without overlaps, formatted as the text around them. Comments on other lines stay. A
/// mapping that becomes empty is removed as well, because a mapping without a field is an error.
///
/// The edits are verified: they are applied, the result is read, and the decision is made again.
/// `None` if the server would not be eligible or if anything else would change. That happens only
/// for a counterfactual of another server or requirement, for supposed constraints that are not in
/// the manifest, and where an input would exceed its limit.
pub fn edits(
    resolution: &Resolution,
    requirement: usize,
    server: ServerView<'_>,
    counterfactual: &Counterfactual<'_>,
) -> Option<Vec<Edit>> {
    let (widening, others): (Vec<Change<'_>>, Vec<_>) = counterfactual
        .changes
        .iter()
        .partition(|change| change.widening());
    let manifest = resolution.manifest();
    let (in_manifest, relaxed) = frontmatter::relax(manifest, &widening)?;
    let index_len = resolution.index().text().as_str().len();
    let (in_entry, extended) = entry::extend(server, index_len, &others)?;

    let asked = relaxed.as_ref().unwrap_or(manifest);
    let offered = extended.as_ref().map_or(server, |index| index.server(0));
    let assessment = assess(
        asked.requirements.get(requirement)?,
        &asked.constraints,
        &Offer::of(offered),
    );
    if assessment != Assessment::Eligible {
        return None;
    }
    let in_manifest = in_manifest.into_iter();
    let in_manifest = in_manifest.map(|patch| patch.edit(&manifest.text));
    let in_entry = in_entry.into_iter().map(|patch| Edit {
        place: server.place_of(patch.span),
        replacement: patch.text,
    });
    Some(in_manifest.chain(in_entry).collect())
}

/// Returns a text after edits of it, which are ordered and don't overlap. An edit that does not fit,
/// behind the end of the text or inside a character or another edit, is skipped.
pub fn apply<'e>(text: &str, edits: impl IntoIterator<Item = &'e Edit>) -> String {
    let edits = edits.into_iter();
    patch::replace(
        text,
        edits.map(|edit| (edit.place.span, &*edit.replacement)),
    )
}
