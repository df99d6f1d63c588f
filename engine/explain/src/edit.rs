//! Changes to the inputs as edits of their texts.

mod call;
mod cut;
mod document;
mod entry;
mod frontmatter;

pub use call::call_fixes;

pub(super) use document::patches as document_patches;

use agent_decide::{Assessment, Change, Counterfactual, Offer, Resolution, assess};
use agent_diagnostic::Edit;
use agent_model::ServerView;
use agent_text::Span;

/// The edits of the manifest or of the index that carry out a counterfactual, as its author would
/// make them: ordered by place, without overlaps, in the formatting of what stands around them,
/// and with comments on other lines left where they are. What becomes empty by a removal is
/// removed as well, because a mapping without a field is an error.
///
/// They have been verified: they were made, what they are in was read again, and it was decided
/// again. None if the server would not be eligible after them, or if something else would change.
/// That happens only with a counterfactual of another server or requirement, with constraints
/// that were supposed and don't stand in the manifest, and where an input would pass its limit.
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
    let in_manifest = in_manifest.into_iter().map(|patch| Edit {
        place: manifest.text.place(patch.span),
        replacement: patch.text,
    });
    let in_entry = in_entry.into_iter().map(|patch| Edit {
        place: server.place_of(patch.span),
        replacement: patch.text,
    });
    Some(in_manifest.chain(in_entry).collect())
}

/// A text after edits of it, which are ordered and don't overlap. One that does not fit, behind
/// the end of the text or inside a character or another edit, is passed over.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let edits = edits.iter();
    replace(
        text,
        edits.map(|edit| (edit.place.span, &*edit.replacement)),
    )
}

/// An edit of a text that has no places: the bytes, and what is to stand in their place.
pub(super) struct Patch {
    pub(super) span: Span,
    pub(super) text: String,
}

/// A text after patches of it, which are ordered and don't overlap.
fn patched(text: &str, patches: &[Patch]) -> String {
    let patches = patches.iter();
    replace(text, patches.map(|patch| (patch.span, &*patch.text)))
}

fn replace<'e>(text: &str, edits: impl Iterator<Item = (Span, &'e str)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = 0;
    for (span, replacement) in edits {
        let (start, end) = (span.start as usize, span.end as usize);
        if let (Some(kept), Some(_)) = (text.get(rest..start), text.get(start..end)) {
            out.push_str(kept);
            out.push_str(replacement);
            rest = end;
        }
    }
    out.push_str(&text[rest..]);
    out
}
