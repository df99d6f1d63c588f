//! Mapping of the loader's problems back to the origins of the values.

use super::output::{Mark, Origin};
use agent_diagnostic::{Applicability, Diagnostic};
use agent_syntax::written_as;
use agent_text::{DocumentKind, Place, Span};

/// Moves the problems of the result to the origins of the faulty values.
pub(super) fn at_origins<'t>(
    mut problems: Vec<Diagnostic>,
    index: &str,
    marks: &[Mark],
    mut place: impl FnMut(Origin) -> (Place, &'t str),
) -> Vec<Diagnostic> {
    for problem in &mut problems {
        for label in &mut problem.labels {
            if let Some(origin) = origin(label.place.span, index, marks) {
                label.place = place(origin).0;
            }
        }
        for fix in &mut problem.fixes {
            let moved = fix.edits.iter_mut().all(|edit| {
                let origin = whole_origin(edit.place.span, marks);
                // Only the overlay is written by hand. A word needs no quotes there.
                let origin = origin.filter(|it| it.source == DocumentKind::Overlay);
                let Some(origin) = origin else { return false };
                let (place, text) = place(origin);
                let is_word = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
                let (open, inner) = match edit.replacement.strip_prefix('[') {
                    Some(item) => (true, item.trim_end_matches(']')),
                    None => (false, &*edit.replacement),
                };
                let value = inner.trim_matches('"');
                if value.chars().all(is_word) {
                    let value = written_as(origin.span.of(text), value);
                    edit.replacement = if open { format!("[{value}]") } else { value };
                }
                edit.place = place;
                true
            });
            if !moved {
                fix.edits.clear();
                fix.applicability = Applicability::Display;
            }
        }
    }
    problems
}

/// Returns the origin of the value that a span is, quotes included.
fn whole_origin(span: Span, marks: &[Mark]) -> Option<Origin> {
    let after = marks.partition_point(|mark| mark.written.start <= span.start);
    let mark = marks.get(after.checked_sub(1)?)?;
    (mark.written == span).then_some(mark.origin)
}

/// Returns the origin of the innermost part that contains a span.
fn origin(span: Span, index: &str, marks: &[Mark]) -> Option<Origin> {
    // The last mark that starts before the span is the wanted part or inside it.
    let after = marks.partition_point(|mark| mark.written.start <= span.start);
    let mut number = after.checked_sub(1)?;
    while marks[number].written.end < span.end {
        let parent = marks[number].parent as usize;
        if parent == number {
            return None;
        }
        number = parent;
    }
    let Mark {
        written, origin, ..
    } = marks[number];
    // A problem at an opening bracket moves to the beginning of its origin.
    let text = written.of(index);
    let space = text.len() - text.trim_start_matches([',', ' ', '\n']).len();
    let starts = written.start as usize + space == span.start as usize;
    let first = span.end == span.start + 1 && span.end < written.end;
    Some(if starts && first {
        let start = origin.span.start as usize;
        let end = (start + 1).min(origin.span.end as usize);
        Origin {
            span: Span::new(start, end),
            ..origin
        }
    } else {
        origin
    })
}
