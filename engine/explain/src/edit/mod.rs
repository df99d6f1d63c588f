//! Changes of the inputs as edits of their texts.

mod adopt;
mod call;
mod cut;
mod document;
mod entry;
mod frontmatter;
mod mend;
mod patch;

pub use adopt::adopt;
pub use call::call_fixes;
pub(super) use document::patches as document_patches;
pub use mend::{Mended, mend};

use super::decision::Decision;
use agent_decide::{Assessment, Change, Counterfactual, Offer, Resolution, assess};
use agent_diagnostic::Edit;
use agent_model::{Name, ServerView};
use agent_text::{Span, Text};

/// Returns the edits of the manifest or of the index that carry out a counterfactual: ordered by
/// place, without overlaps, formatted as the text around them. Comments on other lines stay. A
/// mapping that becomes empty is removed as well, because a mapping without a field is an error.
///
/// The edits are verified: they are applied, the result is read, and the decision is made again.
/// `None` if the server would not be eligible or if anything else would change. That happens only
/// for a counterfactual of another server or requirement, for a tool, whose definition is not known, for
/// supposed constraints that are not in the manifest, and where an input would exceed its limit.
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

/// Returns the edits of the manifest that make a verified change of it. `None` for a change that needs a
/// person, such as one of a task.
pub fn relaxing(decision: Decision<'_>, counterfactual: &Counterfactual<'_>) -> Option<Vec<Edit>> {
    let changes = &counterfactual.changes;
    if let (Decision::Capability(matching, number), [Change::DropConstraint(tag)]) =
        (decision, &changes[..])
    {
        let mut tags = matching.requirement(number).constraints.iter();
        let tag = tags.find(|it| it.value.as_str() == *tag)?;
        return Some(vec![without_item(matching.text(number), tag.span)?]);
    }
    let manifest = match decision {
        Decision::Category(resolution, _) => resolution.manifest(),
        Decision::Capability(matching, _) => matching.manifest()?,
    };
    if let [Change::AllowAction(label)] = changes[..] {
        let mut labels = manifest.constraints.forbid.iter();
        let label = labels.find(|it| it.value.as_str() == label)?;
        return Some(vec![without_item(&manifest.text, label.span)?]);
    }
    let (patches, _) = frontmatter::relax(manifest, changes)?;
    let edits = patches.into_iter();
    Some(edits.map(|patch| patch.edit(&manifest.text)).collect())
}

/// Returns the edit that removes an item of a list with the comma or the line that separates it. `None`
/// for the last item of a list in block style, without which the list is no list.
pub(super) fn without_item(text: &Text, item: Span) -> Option<Edit> {
    let source = text.as_str();
    let (before, behind) = (&source[..item.start as usize], &source[item.end as usize..]);
    let blanks = behind.len() - behind.trim_start_matches(' ').len();
    let (start, end) = if let Some(rest) = behind[blanks..].strip_prefix(',') {
        let space = rest.len() - rest.trim_start_matches(' ').len();
        (before.len(), source.len() - rest.len() + space)
    } else if let Some(rest) = before.trim_end().strip_suffix(',') {
        (rest.len(), item.end as usize)
    } else if before.trim_end().ends_with('[') && behind[blanks..].starts_with(']') {
        (before.len(), item.end as usize)
    } else {
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let end = item.end as usize + behind.find('\n')? + 1;
        let dash = &before[line..];
        let neighbour = |line: Option<&str>| {
            let indentation = dash.trim_end_matches([' ', '-']);
            line.is_some_and(|it| it.starts_with(&format!("{indentation}{}", dash.trim_end())))
        };
        let is_item = dash.trim() == "-" && behind[..behind.find('\n')?].trim().is_empty();
        let others =
            neighbour(source[..line].lines().last()) || neighbour(source[end..].lines().next());
        if !is_item || !others {
            return None;
        }
        (line, end)
    };
    Some(Edit {
        place: text.place(Span::new(start, end)),
        replacement: String::new(),
    })
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
