//! The edits that cut entries out, and put others in their place.

use super::parsed::{Parsed, member_ranges};
use crate::client::{Installation, ServersPlace};
use agent_syntax::Node;
use std::collections::BTreeSet;
use std::ops::Range;

/// A range of a text, and what replaces it.
pub(super) type Edit = (Range<usize>, String);

/// Replaces servers of one place by new entries; without a server to replace, adds them behind the last one.
pub(super) fn replace(
    parsed: &Parsed<'_>,
    at: &ServersPlace<'_>,
    within: &[&Installation<'_>],
    cut: &[&Installation<'_>],
    new: Vec<String>,
) -> Option<Vec<Edit>> {
    let cut: BTreeSet<_> = cut.iter().map(|it| &*it.path).collect();
    let is_cut = |it: &Installation<'_>| cut.contains(&*it.path);
    let extents = within.iter().map(|it| parsed.extent(it));
    let extents: Vec<_> = extents.collect::<Option<_>>()?;
    if !parsed.is_flow(at.servers) {
        return Some(replace_lines(parsed, at, within, &extents, is_cut, new));
    }
    let mut edits = Vec::new();
    let mut new = Some(new).filter(|it| !it.is_empty());
    // A place with other uses has other members, too.
    let members: Vec<_> = member_ranges(at.servers).collect();
    let cut_ranges: Vec<_> = (within.iter().zip(&extents))
        .filter(|(it, _)| is_cut(it))
        .filter_map(|(_, ranges)| ranges.first().cloned())
        .collect();
    let starts: BTreeSet<_> = cut_ranges.iter().map(|range| range.start).collect();
    let Some(first) = cut_ranges.first() else {
        let Some(new) = new else {
            return Some(edits);
        };
        let new = new.join(",\n");
        edits.push(added_member(parsed, at.servers, &members, &new));
        return Some(edits);
    };
    let separator = match parsed.indentation(first.start) {
        Some(indentation) => format!(",\n{indentation}"),
        None => ", ".to_owned(),
    };
    let mut last_kept = None;
    for member in &members {
        if !starts.contains(&member.start) {
            last_kept = Some(member.end);
        } else if let Some(new) = new.take() {
            last_kept = Some(member.end);
            edits.push((member.clone(), new.join(&separator)));
        } else {
            let end = parsed.comma(member.end).unwrap_or(member.end);
            edits.push((removed(parsed, member.start, end), String::new()));
        }
    }
    // The comma before a last member goes with it, unless the list had one behind it.
    let last = members.last()?;
    if let Some(kept) =
        last_kept.filter(|kept| *kept < last.end && parsed.comma(last.end).is_none())
        && let Some(end) = parsed.comma(kept)
    {
        edits.push((end - 1..end, String::new()));
    }
    Some(edits)
}

/// Returns the range to remove: its lines, if nothing else is on them.
fn removed(parsed: &Parsed<'_>, start: usize, end: usize) -> Range<usize> {
    let text = parsed.text;
    let rest = text[end..].find('\n').map(|at| &text[end..=end + at]);
    match (parsed.indentation(start), rest) {
        (Some(before), Some(rest)) if rest.trim().is_empty() => {
            start - before.len()..end + rest.len()
        }
        // A comment behind it stays.
        (Some(_), Some(rest)) => start..end + (rest.len() - rest.trim_start_matches(' ').len()),
        (None, _) => {
            // The space in front of it.
            let before = text[..start].trim_end_matches(' ').len();
            let is_first = text[..before].ends_with(['{', '[']);
            if is_first { start..end } else { before..end }
        }
        _ => start..end,
    }
}

/// Adds a member between brackets, behind the last one.
pub(super) fn added_member(
    parsed: &Parsed<'_>,
    within: &Node<'_>,
    members: &[Range<usize>],
    new: &str,
) -> Edit {
    if let Some(last) = members.last() {
        let text = match parsed.indentation(last.start) {
            Some(indentation) => format!(",\n{indentation}{new}"),
            None => format!(", {new}"),
        };
        return (last.end..last.end, text);
    }
    let start = within.span.start as usize + 1;
    let end = (within.span.end as usize).saturating_sub(1).max(start);
    let outer = parsed.line_indentation(start);
    let text = format!("\n{outer}  {new}");
    match parsed.text[start..end].contains('\n') {
        true => (start..start, text),
        false => (start..end, format!("{text}\n{outer}")),
    }
}

/// Replaces servers that stand in whole lines.
fn replace_lines(
    parsed: &Parsed<'_>,
    at: &ServersPlace<'_>,
    within: &[&Installation<'_>],
    extents: &[Vec<Range<usize>>],
    is_cut: impl Fn(&Installation<'_>) -> bool,
    new: Vec<String>,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut new = Some(new.concat());
    for ranges in within.iter().zip(extents).filter(|(it, _)| is_cut(it)) {
        for range in ranges.1 {
            edits.push((range.clone(), new.take().unwrap_or_default()));
        }
    }
    let Some(new) = new.filter(|new| !new.is_empty()) else {
        return edits;
    };
    // A header may stand anywhere; members of YAML stand below each other.
    let last = extents.iter().flatten().map(|range| range.end).max();
    let end = match last {
        Some(end) if !parsed.is_toml => end,
        _ if parsed.is_toml => parsed.text.len(),
        _ => {
            let span = at.servers.span;
            parsed.lines(span.start as usize, span.end as usize).end
        }
    };
    let is_whole = parsed.text[..end].ends_with('\n') || end == 0;
    let before = match (is_whole, parsed.is_toml) {
        (true, false) => "",
        (false, false) | (true, true) => "\n",
        (false, true) => "\n\n",
    };
    edits.push((end..end, format!("{before}{new}")));
    edits
}
