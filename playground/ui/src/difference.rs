//! The edits of a fix as a difference.

use crate::problems::{Guide, Place, use_guide};
use crate::words::count;
use agent_answer::{Edit, visible};
use yew::prelude::*;

/// Maximum number of edits to show. A fix that moves a text everywhere may have a hundred.
const SHOWN: usize = 3;

/// Maximum number of characters of each text of an edit.
const LENGTH: usize = 60;

/// Maximum number of characters to read of each.
pub(crate) const EXCERPT: u32 = LENGTH as u32 + 1;

#[derive(Properties, PartialEq)]
pub(crate) struct DifferenceProps {
    pub(crate) edits: Vec<Edit>,
    /// The place that is shown above the fix.
    pub(crate) shown: Option<agent_answer::Place>,
}

/// What edits remove and insert, with their places. While the texts change, their places are wrong, so
/// that nothing is shown until the next answer.
#[component]
pub(crate) fn Difference(props: &DifferenceProps) -> Html {
    let Guide { excerpt, .. } = use_guide();
    let is_shown = |place: &agent_answer::Place| {
        let shown = props.shown.as_ref();
        shown.is_some_and(|it| (it.source, it.start) == (place.source, place.start))
    };
    let items = props.edits.iter().take(SHOWN).filter_map(|edit| {
        let pieces = excerpt.emit(edit.place)?;
        let [before, removed] = pieces.each_ref().map(String::as_str);
        let inserted = &*edit.replacement;
        let arrow = !removed.is_empty() && !inserted.is_empty();
        Some(html! {
            <li>
                <code>
                    <bdi class="quiet">{ end(before) }</bdi>
                    if !removed.is_empty() { <del><bdi>{ start(removed) }</bdi></del> }
                    if arrow { { " → " } }
                    if !inserted.is_empty() { <ins><bdi>{ start(inserted) }</bdi></ins> }
                </code>
                if !is_shown(&edit.place) { { " " }<Place place={edit.place} /> }
            </li>
        })
    });
    let rest = props.edits.len().saturating_sub(SHOWN) as u32;
    html! {
        if !props.edits.is_empty() {
            <ul class="difference">
                { for items }
                if rest > 0 {
                    <li class="quiet">{ format!("and {}", count(rest, "more edit")) }</li>
                }
            </ul>
        }
    }
}

/// Returns the start of a text on one line, with the code points of characters that can't be seen.
fn start(text: &str) -> String {
    let mut shown: String = text.chars().take(LENGTH).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    visible(&shown.replace('\n', "⏎")).into_owned()
}

/// Returns the end of the text of a line in front of an edit, without its indentation.
fn end(text: &str) -> String {
    let text = text.trim_start();
    let length = text.chars().count();
    let shown: String = text
        .chars()
        .skip(length.saturating_sub(LENGTH / 2))
        .collect();
    match shown.len() < text.len() {
        true => format!("…{}", visible(&shown)),
        false => visible(&shown).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{end, start};

    #[test]
    fn long_texts_are_cut_and_line_ends_are_shown() {
        assert_eq!(start("a\nb"), "a⏎b");
        assert_eq!(start(&"x".repeat(61)), format!("{}…", "x".repeat(60)));
        assert_eq!(start("a\u{200b}"), "a<U+200B>");
        assert_eq!(end("    \"tool_id\": "), "\"tool_id\": ");
        assert_eq!(end(&"x".repeat(31)), format!("…{}", "x".repeat(30)));
    }
}
