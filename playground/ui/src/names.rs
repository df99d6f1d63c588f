//! Names that a reader can't take for others.

use agent_answer::{Code, Diagnostic, DocumentKind, spelled, unmistakable};
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;
use yew::prelude::*;

/// The names of an answer that look like others of it, as the engine spells them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lookalikes(Rc<[String]>);

impl Lookalikes {
    /// Returns the names that the engine warns of.
    pub fn of(problems: &[Diagnostic]) -> Self {
        let warnings = problems.iter().filter(|it| it.code == Code::LookalikeId);
        let labels = warnings.flat_map(|it| &it.labels);
        Self(labels.map(|label| label.text.clone()).collect())
    }

    /// Shows a name, with code points where a reader may take it for another.
    pub fn name(&self, name: &str, class: &'static str) -> Html {
        let shown = self.display(name);
        let spelled = matches!(shown, Cow::Owned(_)).then_some("spelled");
        html! { <bdi class={classes!(class, spelled)}>{ shown.into_owned() }</bdi> }
    }

    /// Returns a name for display: with code points if it looks like another, or has characters that
    /// can't be seen.
    fn display<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if name.is_ascii() {
            return Cow::Borrowed(name);
        }
        let spelled = spelled(name);
        match self.0.contains(&spelled) {
            true => Cow::Owned(spelled),
            false => unmistakable(name),
        }
    }
}

/// A document that a page calls by another name than its usual one: its kind, its name on the page, and that of its
/// field in inputs that are kept and shared.
pub type Named = (DocumentKind, &'static str, &'static str);

thread_local! {
    /// Those of this module's page.
    static NAMED: Cell<&'static [Named]> = const { Cell::new(&[]) };
}

/// Calls documents by other names than their usual ones. A page is a module, and does that once, before it renders.
pub fn call_documents(named: &'static [Named]) {
    NAMED.set(named);
}

fn named(kind: DocumentKind) -> Option<&'static Named> {
    NAMED.get().iter().find(|(each, ..)| *each == kind)
}

/// Returns the name of a document on the page.
pub fn document_name(kind: DocumentKind) -> &'static str {
    named(kind).map_or(kind.usual_name(), |(_, name, _)| name)
}

/// Returns the name of a document's text in inputs that are kept and shared: the usual one, unless the page has another.
pub(crate) fn field_name(kind: DocumentKind) -> String {
    named(kind).map_or_else(|| kind.field(), |(.., field)| (*field).to_owned())
}

/// Shows a name, with code points where a reader may take it for another.
pub fn name(name: &str, class: &'static str) -> Html {
    Lookalikes::default().name(name, class)
}

#[cfg(test)]
mod tests {
    use super::{Code, Diagnostic, Lookalikes};
    use agent_answer::{DocumentKind, Place, Position, Span};

    #[test]
    fn a_name_has_code_points_where_it_can_be_taken_for_another() {
        let start = Position::line_start(1);
        let place = Place {
            source: DocumentKind::Index,
            number: 0,
            span: Span::default(),
            start,
            end: start,
        };
        let warning = Diagnostic::new(Code::LookalikeId, "").label(place, "<U+0441><U+043E>");
        let lookalikes = Lookalikes::of(&[warning]);
        for (name, shown) in [
            ("acme", "acme"),
            ("acme\u{200b}", "acme<U+200B>"),
            ("\u{430}cme", "<U+0430>cme"),
            ("\u{441}\u{43e}", "<U+0441><U+043E>"),
            ("\u{434}\u{430}", "\u{434}\u{430}"),
        ] {
            assert_eq!(lookalikes.display(name), shown);
        }
        let none = Lookalikes::default();
        assert_eq!(none.display("\u{441}\u{43e}"), "\u{441}\u{43e}");
    }
}
