//! Problems of documents, places and fixes.

use crate::browser::focus_in;
use crate::code_page::address;
use crate::difference::Difference;
use crate::names::{document_name, name};
use crate::words::{capitalised, count, thousands};
use agent_answer::{
    Applicability, Code, Diagnostic, DocumentKind, Drift, Edit, Fix, Label, Reason, Round,
};
use gloo_timers::callback::Timeout;
use std::rc::Rc;
use web_sys::Element;
use yew::prelude::*;

/// Maximum number of problems to list. An index may have a thousand.
const SHOWN: usize = 50;

/// The actions on documents, for every component inside a page.
#[derive(Clone, PartialEq)]
pub struct Guide {
    /// The revision of the last answer that fits its texts.
    pub(crate) revision: u32,
    /// Returns the text of the line before a place, and the text there; `None` while the texts change.
    pub(crate) excerpt: Callback<agent_answer::Place, Option<[String; 2]>>,
    /// Shows a place in its editor.
    pub(crate) go_to: Callback<agent_answer::Place>,
    /// Applies the edits of a fix.
    pub(crate) apply: Callback<Fix>,
    /// Shows the page about a code.
    pub(crate) explain: Callback<Code>,
    /// Diverts a text that arrives in a document, and returns whether it did.
    pub(crate) divert: Callback<(DocumentKind, String), bool>,
    /// The documents of the page.
    pub(crate) documents: Rc<[DocumentKind]>,
    /// Exchanges the texts of two of them.
    pub(crate) exchange: Callback<[DocumentKind; 2]>,
}

/// Returns the actions.
#[hook]
pub(crate) fn use_guide() -> Guide {
    use_context().expect("`App` is around every component")
}

/// Shows a code, with a link to its page.
pub fn code(code: Code) -> Html {
    html! { <CodeLink {code} /> }
}

#[derive(Properties, PartialEq)]
struct CodeLinkProps {
    code: Code,
}

/// A code, which opens its page over this one, or by the browser's own means elsewhere.
#[component]
fn CodeLink(props: &CodeLinkProps) -> Html {
    let Guide { explain, .. } = use_guide();
    let code = props.code;
    let open = move |event: MouseEvent| {
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            event.prevent_default();
            explain.emit(code);
        }
    };
    html! {
        <a class="code" href={address(code)} target="_blank" rel="noreferrer" onclick={open}>
            { code.name() }
        </a>
    }
}

/// Shows a sentence of the engine, with the text in backquotes as code.
pub fn prose(text: &str) -> Html {
    let pieces = text.split('`').enumerate().map(|(at, piece)| {
        if at % 2 == 0 {
            html! { { piece } }
        } else {
            html! { <code>{ name(piece, "") }</code> }
        }
    });
    html! { <>{ for pieces }</> }
}

/// Shows a code and a sentence.
pub fn reason(found: Code, text: &str) -> Html {
    html! { <>{ code(found) }{ " " }{ prose(text) }</> }
}

/// Shows a difference of locks, as an item of a list.
pub fn drift(drift: &Drift) -> Html {
    let subject = drift.category.as_ref().or(drift.capability.as_ref());
    html! {
        <li class={classes!(drift.widening.then_some("widening"))}>
            { code(drift.code) }{ " " }
            { for subject.map(|it| html! { <strong>{ format!("{it}: ") }</strong> }) }
            { prose(&drift.text) }
            if drift.widening { { " " }<span class="badge warning">{ "more access" }</span> }
            { places(&drift.places) }
            if !drift.details.is_empty() {
                <ul class="definition">
                    { for drift.details.iter().map(|it| html! { <li>{ prose(it) }</li> }) }
                </ul>
            }
        </li>
    }
}

/// Shows the reasons of a rejection, if there are any: the words, and then the code.
pub fn reasons(reasons: &[Reason]) -> Html {
    let items = reasons
        .iter()
        .map(|it| html! { <li>{ prose(&it.text) }{ " " }{ code(it.code) }</li> });
    html! { if !reasons.is_empty() { <ul class="reasons">{ for items }</ul> } }
}

/// The properties of a [`Place`].
#[derive(Properties, PartialEq)]
pub struct PlaceProps {
    /// The place.
    pub place: agent_answer::Place,
    /// The class of the button.
    #[prop_or("place")]
    pub class: &'static str,
    /// Whether the name of the document is left to screen readers and the pointer.
    #[prop_or_default]
    pub short: bool,
    /// The content of the button; without any, the place in figures.
    #[prop_or_default]
    pub children: Option<Html>,
}

/// A button that shows a place in its editor.
#[component]
pub fn Place(props: &PlaceProps) -> Html {
    let Guide { go_to, .. } = use_guide();
    let place = props.place;
    let start = place.start;
    let short = format!("{}:{}", start.line, start.utf16_column);
    let whole = format!("{}:{short}", document_name(place.source));
    let label = props.short.then(|| whole.clone());
    let figures = || html! { { if props.short { short } else { whole } } };
    html! {
        <button
            class={props.class}
            onclick={go_to.reform(move |_| place)}
            title={(props.children.is_none()).then_some("Go there")}
            aria-label={label}
        >
            { props.children.clone().unwrap_or_else(figures) }
        </button>
    }
}

/// Shows places, each behind a space.
pub fn places<'p>(places: impl IntoIterator<Item = &'p agent_answer::Place>) -> Html {
    let places = places.into_iter();
    places
        .map(|place| html! { <>{ " " }<Place place={*place} /></> })
        .collect()
}

/// The properties of [`Problems`].
#[derive(Properties, PartialEq)]
pub struct ProblemsProps {
    /// The name of the list, for screen readers.
    #[prop_or("Problems")]
    pub label: &'static str,
    /// The problems, in any order.
    pub diagnostics: Rc<[Diagnostic]>,
}

/// A list of problems, errors first.
#[component]
pub fn Problems(props: &ProblemsProps) -> Html {
    // The requirement itself says this, and more about it, but not what was meant by a name.
    let is_safe = |fix: &Fix| fix.applicability == Applicability::Safe;
    let listed = props
        .diagnostics
        .iter()
        .filter(|it| it.code != Code::Unsatisfied || it.fixes.iter().any(is_safe));
    let mut all: Vec<_> = listed.collect();
    all.sort_by_key(|it| it.severity as u8);
    let rest = all.len().saturating_sub(SHOWN) as u32;
    html! {
        if !all.is_empty() {
            <h3 class="visually-hidden">{ props.label }</h3>
            <ul class="problems" aria-label={props.label}>
                { for all.into_iter().take(SHOWN).map(problem) }
                if rest > 0 {
                    <li class="quiet">{ format!("and {}", count(rest, "more problem")) }</li>
                }
            </ul>
        }
    }
}

fn problem(found: &Diagnostic) -> Html {
    let severity = found.severity.name();
    let message = prose(&found.message);
    let (message, place) = match found.labels.first() {
        Some(Label { place, .. }) => (
            html! { <Place place={*place} class="message">{ message }</Place> },
            html! { <Place place={*place} /> },
        ),
        None => (message, html! {}),
    };
    html! {
        <li class={classes!("problem", severity)}>
            <p>
                <strong>{ severity }</strong>{ " " }{ code(found.code) }{ " " }
                { message }{ found.labels.first().map(cause).unwrap_or_default() }{ " " }{ place }
            </p>
            { details(found) }
        </li>
    }
}

/// Shows the text of a problem's own place, such as the reason of a parser.
pub fn cause(label: &Label) -> Html {
    html! {
        if !label.text.is_empty() {
            <span class="quiet cause">{ ": " }{ prose(&label.text) }</span>
        }
    }
}

/// Shows a problem's other places, its instructions and notes, and the fixes that have edits.
pub fn details(found: &Diagnostic) -> Html {
    let labels = found.labels.get(1..).unwrap_or_default();
    let also = labels.iter().map(|label| {
        html! { <li><Place place={label.place} />{ " " }{ &label.text }</li> }
    });
    let (suggested, others): (Vec<&Fix>, Vec<_>) =
        found.fixes.iter().partition(|fix| !fix.edits.is_empty());
    html! {
        <>
            if !labels.is_empty() { <ul class="also">{ for also }</ul> }
            { help(hints(others, found)) }
            { for found.place().zip(found.belongs_in).map(|(place, belongs_in)| {
                html! { <Exchange found={place.source} {belongs_in} /> }
            }) }
            { suggested_fixes(suggested, found.place()) }
        </>
    }
}

/// Returns what a person may do about a problem: the titles of its fixes, followed by notes. Where those
/// name options of the command line, the page has its own.
pub(crate) fn hints<'h>(
    fixes: impl IntoIterator<Item = &'h Fix>,
    found: &'h Diagnostic,
) -> impl Iterator<Item = &'h str> {
    let own = match (found.code, found.belongs_in) {
        (_, Some(_)) => Some(""),
        (Code::PolicyMissing, _) => Some("Paste the policy into `policy.rego`"),
        (Code::TenantUnknown, _) => Some("Name a tenant in the field above `tenant.yaml`"),
        _ => None,
    };
    let titles = fixes.into_iter().map(|fix| &*fix.title);
    let titles = titles.filter(move |_| own.is_none());
    let own = own.filter(|it| !it.is_empty());
    own.into_iter()
        .chain(titles)
        .chain(found.notes.iter().map(String::as_str))
}

#[derive(Properties, PartialEq)]
struct ExchangeProps {
    found: DocumentKind,
    belongs_in: DocumentKind,
}

/// Says where a misplaced document belongs, and puts it there.
#[component]
fn Exchange(props: &ExchangeProps) -> Html {
    let Guide {
        documents,
        exchange,
        ..
    } = use_guide();
    let (found, belongs_in) = (props.found, props.belongs_in);
    let name = document_name(belongs_in);
    html! {
        <p class="exchange">
            if documents.contains(&belongs_in) {
                { "It belongs in " }<code>{ name }</code>{ " " }
                <button class="apply" onclick={move |_| exchange.emit([found, belongs_in])}>
                    { format!("Exchange with {name}") }
                </button>
            } else {
                { "It belongs in " }<code>{ name }</code>{ ", in another area of this page." }
            }
        </p>
    }
}

/// Shows hints. Lines after the first of a hint are an excerpt.
pub fn help<'h>(help: impl IntoIterator<Item = &'h str>) -> Html {
    let mut items = help.into_iter().map(|help| match help.split_once('\n') {
        Some((lead, excerpt)) => html! { <li>{ prose(lead) }<pre>{ excerpt }</pre></li> },
        None => html! { <li>{ prose(help) }</li> },
    });
    let first = items.next();
    html! { if let Some(first) = first { <ul class="help">{ first }{ for items }</ul> } }
}

/// The properties of [`Apply`].
#[derive(Properties, PartialEq)]
pub struct ApplyProps {
    /// The fix.
    pub fix: Fix,
    /// The text of the button.
    #[prop_or("Apply".into())]
    pub label: AttrValue,
}

/// A button that applies the edits of a fix, if it has any.
#[component]
pub fn Apply(props: &ApplyProps) -> Html {
    let Guide { apply, .. } = use_guide();
    let fix = props.fix.clone();
    html! {
        if !props.fix.edits.is_empty() {
            <button
                class="apply"
                onclick={move |event: MouseEvent| {
                    apply.emit(fix.clone());
                    keep_keyboard(&event);
                }}
            >
                { &props.label }
            </button>
        }
    }
}

/// Moves the keyboard to the button that undoes a fix, if the keyboard applied it: the button that was
/// pressed goes with its problem.
fn keep_keyboard(event: &MouseEvent) {
    let by_keyboard = event.detail() == 0;
    let button = event.target_dyn_into::<Element>().filter(|_| by_keyboard);
    let page = button.and_then(|it| it.closest(".page").ok().flatten());
    if let Some(page) = page {
        // The notice is rendered first.
        Timeout::new(0, move || focus_in(&page, ".notice button:not(.close)")).forget();
    }
}

/// The properties of [`ApplyAll`].
#[derive(Properties, PartialEq)]
pub struct ApplyAllProps {
    /// The fixes of each problem of the answer.
    pub problems: Rc<[Vec<Fix>]>,
}

/// A button that applies the safe fixes of all problems as one step of each document, if there are
/// several. Those that overlap follow after the next answer.
#[component]
pub fn ApplyAll(props: &ApplyAllProps) -> Html {
    let problems = props.problems.iter().map(Vec::as_slice);
    let may_be_made = |edit: &Edit| edit.place.source.may_be_edited();
    let round = Round::new(problems, Applicability::Safe, may_be_made);
    let number = round.fixes.len();
    let title = format!("{} safe fixes", thousands(number as u32));
    let label = format!("Apply all {title}");
    let all = Fix {
        title,
        applicability: Applicability::Safe,
        edits: round.edits.into_iter().cloned().collect(),
    };
    html! {
        if number > 1 {
            <p class="apply-all"><Apply fix={all} {label} /></p>
        }
    }
}

/// Shows fixes below a heading, if there are any. `shown` is the place that is shown above them.
pub fn suggested_fixes<'f>(
    suggested: impl IntoIterator<Item = &'f Fix>,
    shown: Option<&agent_answer::Place>,
) -> Html {
    let mut suggested = suggested.into_iter().peekable();
    html! {
        if suggested.peek().is_some() {
            <h4>{ "Suggested fixes" }</h4>
            { fixes(suggested, shown) }
        }
    }
}

/// Shows what would have to be true of candidates: facts that no fix changes. Each is a name, or
/// nothing where it is clear, and the predicate of a sentence about it.
pub fn suppositions(suppositions: impl IntoIterator<Item = (Html, String)>) -> Html {
    let mut items = suppositions
        .into_iter()
        .map(|(name, text)| html! { <li>{ name }{ prose(&text) }</li> });
    let first = items.next();
    html! {
        if let Some(first) = first {
            <section class="suppositions">
                <h4>{ "Claims about the server, which no fix makes true" }</h4>
                <ul>{ first }{ for items }</ul>
            </section>
        }
    }
}

/// Returns the title of a fix without its snippet, where the difference shows that.
pub(crate) fn short_title(fix: &Fix) -> &str {
    match fix.title.split_once('\n') {
        Some((lead, _)) if !fix.edits.is_empty() => lead.trim_end_matches(':'),
        _ => &fix.title,
    }
}

/// Shows fixes, each as a difference with a button that applies it if it has edits. `shown` is the place
/// that is shown above them.
pub fn fixes<'f>(
    fixes: impl IntoIterator<Item = &'f Fix>,
    shown: Option<&agent_answer::Place>,
) -> Html {
    let items = fixes.into_iter().map(|fix| {
        let widens = fix.applicability == Applicability::Unsafe;
        let title = short_title(fix);
        html! {
            <li class={classes!("fix", widens.then_some("widening"))}>
                <div>
                    <span>{ prose(&capitalised(title)) }</span>
                    if widens {
                        <strong class="badge warning">
                            { "changes what is asked for or allowed" }
                        </strong>
                    }
                    <Difference edits={fix.edits.clone()} shown={shown.copied()} />
                </div>
                <Apply fix={fix.clone()} />
            </li>
        }
    });
    html! { <ul class="fixes" aria-label="Suggested fixes">{ for items }</ul> }
}
