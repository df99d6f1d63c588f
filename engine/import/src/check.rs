//! Mapping of the loader's problems back to the origins of the values.

use super::output::{Mark, Origin};
use agent_diagnostic::Diagnostic;
use agent_text::{Place, Span};

/// Moves the problems of the result to the origins of the faulty values.
pub(super) fn at_origins(
    mut problems: Vec<Diagnostic>,
    index: &str,
    marks: &[Mark],
    mut place: impl FnMut(Origin) -> Place,
) -> Vec<Diagnostic> {
    for label in problems.iter_mut().flat_map(|problem| &mut problem.labels) {
        if let Some(origin) = origin(label.place.span, index, marks) {
            label.place = place(origin);
        }
    }
    problems
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
