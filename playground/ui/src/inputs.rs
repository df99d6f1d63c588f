//! The documents and their editors.

use crate::content::{Content, Document};
use crate::editor::{EditorPane, WrappingSwitch};
use crate::examples::introduction;
use crate::names::document_name;
use crate::page::Page;
use crate::splitter::{Axis, Splitter};
use crate::state::Pane;
use crate::words::count;
use agent_answer::{DocumentKind, Severity};
use std::rc::Rc;
use yew::prelude::*;

/// Shows the editors of all documents, two of which are visible.
pub(crate) fn inputs<C: Content>(page: &Page<C>, on_change: &Callback<DocumentKind>) -> Html {
    let (upper, lower) = page.state.layout();
    let editor = |document: &Document| {
        html! {
            <EditorPane
                kind={document.kind}
                editors={Rc::clone(&page.editors)}
                placeholder={document.placeholder}
                on_change={on_change.clone()}
            />
        }
    };
    let unused = |document: &Document| {
        (document.is_passing && !page.editors.is_filled(document.kind)).then_some("unused")
    };
    let body = |document: &Document, visible: DocumentKind| {
        let kind = document.kind;
        let below = C::DOCUMENTS.iter().filter(|it| it.below == Some(kind));
        let below = below.map(|document| {
            html! {
                <>
                    <h3 class={classes!("input-head", "context", unused(document))}>
                        { name(page, document) }
                    </h3>
                    { editor(document) }
                </>
            }
        });
        html! {
            <div
                key={kind.usual_name()}
                class={classes!("input-body", (kind != visible).then_some("hidden"))}
            >
                { C::above(page, kind) }
                { editor(document) }
                { for below }
            </div>
        }
    };
    let (uppers, lowers): (Vec<_>, Vec<_>) = C::DOCUMENTS
        .iter()
        .filter(|document| document.below.is_none())
        .partition(|document| C::LAYOUTS.iter().any(|(_, it)| it[0] == document.kind));
    let heading = uppers.iter().find(|document| document.kind == upper);
    let document = |kind: &DocumentKind| lowers.iter().find(|it| it.kind == *kind);
    let tabs = lower.iter().filter_map(document);
    let tabs = tabs.map(|document| tab(page, document));
    html! {
        <section class="inputs" aria-label="Inputs">
            { introduction(page) }
            <div class="input manifest">
                <div class="input-head corner">
                    <h2>{ for heading.map(|document| name(page, document)) }</h2>
                    <WrappingSwitch kind={upper} />
                </div>
                { for uppers.iter().map(|document| body(document, upper)) }
            </div>
            <Splitter axis={Axis::Rows} label="Height of the upper input" />
            <div class="input lower">
                <h2 class="visually-hidden">{ "Further inputs" }</h2>
                <div class="input-head" role="group" aria-label="Visible input">{ for tabs }</div>
                { for lowers.iter().map(|document| body(document, page.state.lower)) }
            </div>
        </section>
    }
}

/// Shows the name of a document that is always visible.
fn name<C: Content>(page: &Page<C>, document: &Document) -> Html {
    html! {
        <span class="input-name" title={document.about}>
            { document_name(document.kind) }
            { problems(page, document.kind) }
        </span>
    }
}

/// Shows a button that brings a document to the front.
fn tab<C: Content>(page: &Page<C>, document: &Document) -> Html {
    let kind = document.kind;
    let blank = !page.editors.is_filled(kind);
    if is_hidden(page, document) {
        return html! {};
    }
    html! {
        <button
            key={kind.usual_name()}
            class={classes!("input-name", blank.then_some("blank"))}
            aria-pressed={(page.state.lower == kind).to_string()}
            title={document.about}
            onclick={page.on(move |state| state.show_input(kind))}
        >
            { document_name(kind) }
            if blank { <span class="visually-hidden">{ ", empty" }</span> }
            { problems(page, kind) }
        </button>
    }
}

/// Returns whether a document has no tab at present.
fn is_hidden<C: Content>(page: &Page<C>, document: &Document) -> bool {
    let kind = document.kind;
    document.is_passing && page.state.lower != kind && !page.editors.is_filled(kind)
}

/// Shows the number of errors and warnings of a document.
fn problems<C: Content>(page: &Page<C>, kind: DocumentKind) -> Html {
    let found = page.content().problems();
    let badge = |(severity, noun)| {
        let here = found.iter().filter(|it| {
            let label = it.labels.first();
            it.severity == severity && label.is_some_and(|label| label.place.source == kind)
        });
        let here = here.count() as u32;
        html! {
            if here > 0 { <span class={classes!("badge", noun)}>{ count(here, noun) }</span> }
        }
    };
    let badges = [(Severity::Error, "error"), (Severity::Warning, "warning")].map(badge);
    let own = page.content().badge(kind);
    html! {
        <>
            { for badges }
            { for own.map(|text| html! { <span class="badge warning">{ text }</span> }) }
        </>
    }
}

/// Shows buttons for the parts of the page, where there is room for one only.
pub(crate) fn panes<C: Content>(page: &Page<C>) -> Html {
    let brief = page.content().brief().filter(|_| !page.state.stale());
    let brief = brief.map(|(sign, text)| {
        html! { <span class={classes!("brief", sign.class)}>{ sign.before(text.into()) }</span> }
    });
    let item = |pane: Pane, name: &'static str| {
        html! {
            <button
                key={name}
                aria-pressed={(page.state.pane == pane).to_string()}
                onclick={page.on(move |state| match pane {
                    Pane::Input(kind) => state.show_input(kind),
                    Pane::Answer => state.pane = pane,
                })}
            >
                { name }
                { match pane {
                    Pane::Input(kind) => problems(page, kind),
                    Pane::Answer => brief.clone().unwrap_or_default(),
                } }
            </button>
        }
    };
    let (upper, lower) = page.state.layout();
    let is_hidden = |kind| {
        let mut documents = C::DOCUMENTS.iter();
        documents.any(|it| it.kind == kind && is_hidden(page, it))
    };
    let documents = [upper].into_iter().chain(lower.iter().copied());
    let documents = documents.filter(|kind| !is_hidden(*kind));
    html! {
        <nav class="panes" aria-label="Parts of the page">
            { for documents.map(|kind| item(Pane::Input(kind), document_name(kind))) }
            { item(Pane::Answer, "Answer") }
        </nav>
    }
}
