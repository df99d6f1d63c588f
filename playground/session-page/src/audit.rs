//! The answer of the area of audit logs: which calls are decided otherwise.

use crate::events::tool;
use crate::history::earlier;
use crate::refusal::reasons;
use crate::session::unsatisfied;
use crate::state::{Page, Sessions};
use agent_answer::DocumentKind;
use agent_ui::answer::{Sign, headline, status};
use agent_ui::content::Documents as _;
use agent_ui::markdown::{InWords, code};
use agent_ui::names::name;
use agent_ui::page::use_page;
use agent_ui::problems::{Place, Problems, prose};
use agent_ui::words::count;
use agent_worker_protocol::session::{LogView, LoggedCall, Verdict};
use std::cmp::Ordering;
use std::rc::Rc;
use yew::prelude::*;

/// The calls of a log, decided again.
#[component]
pub(crate) fn AuditArea() -> Html {
    let page = use_page::<Sessions>();
    let answered = page.content().answer();
    let status = status(&page, answered.is_some());
    let Some(answered) = answered else {
        return status;
    };
    let log = page.content().log();
    let is_listed = log.is_some_and(|log| log.is_valid);
    // The calls have cards.
    let diagnostics = if is_listed {
        answered.answer.problems.clone().into()
    } else {
        Rc::clone(&answered.problems)
    };
    html! {
        <>
            { status }
            { summary(&page, log, !answered.problems.is_empty()) }
            <Problems diagnostics={Rc::clone(&diagnostics)} />
            { unsatisfied(&diagnostics) }
            { for log.filter(|log| log.is_valid).map(calls) }
        </>
    }
}

fn summary(page: &Page, log: Option<&LogView>, has_problems: bool) -> Html {
    let Some(log) = log else {
        if has_problems {
            let sign = Sign::no("Nothing is decided: these documents can't be obeyed");
            return headline(sign, sign.words, &[]);
        }
        let records = page.content().session().map(|it| it.records.clone());
        let take = page.callback(move |page, _: MouseEvent| {
            let log = Sessions::first_text(DocumentKind::Evidence);
            let text = records.as_deref().unwrap_or(log);
            page.editors.replace(DocumentKind::Evidence, text);
        });
        let label = match page.content().session() {
            Some(_) => "Take the log of the area “Session”",
            None => "Take the log of the example",
        };
        return html! {
            <>
                <p class="quiet">
                    { "There is no log. Paste one that " }<code>{ "agent serve" }</code>{ " wrote." }
                </p>
                <p class="actions"><button onclick={take}>{ label }</button></p>
            </>
        };
    };
    let (sign, words) = answer(log);
    let facts = if log.is_valid { facts(log) } else { vec![] };
    headline(sign, &words, &facts)
}

/// Returns the answer in a sentence.
fn answer(log: &LogView) -> (Sign, String) {
    if !log.is_valid {
        let sign = Sign::no("This log is not the one that a session wrote");
        return (sign, sign.words.to_owned());
    }
    let [differs, other_reasons, same, undecidable] = log.counts.map(|it| it as u32);
    let all = differs + other_reasons + same + undecidable;
    match log.is_same {
        Some(true) => (
            Sign::yes("same"),
            format!("{} decided as recorded", count(all, "call")),
        ),
        Some(false) => (
            match of(log, Change::Widened) {
                0 => Sign::neutral("otherwise"),
                _ => Sign::caution("otherwise"),
            },
            format!("{differs} of {} decided otherwise", count(all, "call")),
        ),
        None => (
            Sign::caution("unknown"),
            format!(
                "{undecidable} of {} can't be decided again",
                count(all, "call")
            ),
        ),
    }
}

/// Returns the answer and each call that is decided otherwise.
pub(crate) fn in_words(log: &LogView) -> InWords {
    let (sign, sentence) = answer(log);
    let calls = log.calls.iter().filter(|_| log.is_valid);
    let lines = calls.map(|it| {
        let change = Change::of(it).sign().words;
        let (tool, number) = (code(&it.tool), it.sequence);
        format!("record {number}, {tool}: {}; {change}", compared(it))
    });
    InWords {
        sign,
        sentence,
        lines: lines.collect(),
    }
}

fn facts(log: &LogView) -> Vec<String> {
    let [differs, other_reasons, same, undecidable] = log.counts.map(|it| it as u32);
    let all = differs + other_reasons + same + undecidable;
    let mut facts = Vec::new();
    for (change, words) in [
        (Change::Widened, "with more access"),
        (Change::Narrowed, "with less access"),
    ] {
        let number = of(log, change);
        if number > 0 {
            facts.push(format!("{number} {words}"));
        }
    }
    for (number, words) in [
        (same, "as recorded"),
        (other_reasons, "for other reasons"),
        (undecidable, "not decidable"),
    ] {
        if number > 0 && number < all {
            facts.push(format!("{number} {words}"));
        }
    }
    if !log.documents.is_empty() {
        facts.push(format!("changed: {}", log.documents.join(", ")));
    }
    facts
}

/// How a call is decided now, compared with the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// More is allowed than was.
    Widened,
    Narrowed,
    OtherReasons,
    Undecidable,
}

impl Change {
    fn of(call: &LoggedCall) -> Self {
        let access = |verdict: &Verdict| match &*verdict.name {
            "allowed" => 2,
            "asked" => 1,
            _ => 0,
        };
        let Ok(now) = &call.now else {
            return Self::Undecidable;
        };
        match access(now).cmp(&access(&call.recorded)) {
            Ordering::Greater => Self::Widened,
            Ordering::Equal if now.name == call.recorded.name => Self::OtherReasons,
            Ordering::Less | Ordering::Equal => Self::Narrowed,
        }
    }

    fn sign(self) -> Sign {
        match self {
            Self::Widened => Sign::caution("more access"),
            Self::Narrowed => Sign::neutral("less access"),
            Self::OtherReasons => Sign {
                mark: "=",
                ..Sign::neutral("the same")
            },
            Self::Undecidable => Sign {
                mark: "?",
                ..Sign::neutral("not decidable")
            },
        }
    }
}

/// Returns the number of listed calls with a change.
fn of(log: &LogView, change: Change) -> usize {
    let calls = log.calls.iter().map(Change::of);
    calls.filter(|it| *it == change).count()
}

fn calls(log: &LogView) -> Html {
    // More access first, and of each kind in the order of the log.
    let kinds = [
        (Change::Widened, "More access than recorded"),
        (Change::Narrowed, "Less access than recorded"),
        (Change::OtherReasons, "The same for other reasons"),
        (Change::Undecidable, "Not decidable"),
    ];
    let groups = kinds.into_iter().map(|(change, heading)| {
        let of_kind = log.calls.iter().filter(|it| Change::of(it) == change);
        let cards: Vec<_> = of_kind.map(|it| card(log, change, it)).collect();
        html! {
            if !cards.is_empty() {
                <section aria-label={heading}>
                    <h3>{ heading }</h3>
                    { cards }
                </section>
            }
        }
    });
    let [differs, other_reasons, _, undecidable] = log.counts;
    let listed = log.calls.len() as u64;
    let more = (differs + other_reasons + undecidable).saturating_sub(listed);
    html! {
        <div class="logged">
            { for groups }
            if more > 0 {
                <p class="quiet">{ format!("and {}", count(more as u32, "more call")) }</p>
            }
        </div>
    }
}

/// Returns how a call was decided, and how it is now.
fn compared(call: &LoggedCall) -> String {
    let before = &call.recorded.name;
    match &call.now {
        Ok(now) if now.name == *before => format!("{before} as before, for other reasons"),
        Ok(now) => format!("was {before}, now {}", now.name),
        Err(_) => format!("was {before}, can't be decided again"),
    }
}

fn card(log: &LogView, change: Change, call: &LoggedCall) -> Html {
    let (now, sign, words) = (call.now.as_ref(), change.sign(), compared(call));
    let place = log.problems.iter().find_map(|it| {
        let place = it.place()?;
        (place.start.line == call.line).then_some(*place)
    });
    let verdict = |when: &'static str, verdict: &Verdict| {
        html! {
            if !verdict.reasons.is_empty() {
                <p class="when">{ when }</p>
                { reasons(&verdict.reasons) }
            }
        }
    };
    html! {
        <article class={classes!("card", sign.class)}>
            <div class="card-head">
                <h4>{ sign.before(html! { <>{ tool(&call.tool) }{ for call.server.as_ref().map(|server| html! { <>{ " of " }{ tool(server) }</> }) }</> }) }</h4>
                <span>{ words }</span>
                if change == Change::Widened { <span class="badge warning">{ "more access" }</span> }
            </div>
            <p class="quiet">
                { format!("record {} · ", call.sequence) }
                { name(&call.client, "") }
                { " · " }{ &call.time }
                { for place.map(|place| html! { <>{ " · " }<Place {place} /></> }) }
            </p>
            { verdict("Recorded:", &call.recorded) }
            { match now {
                Ok(now) => verdict("Now:", now),
                Err(reason) => html! { <p>{ prose(reason) }</p> },
            } }
            { earlier(&call.earlier) }
            if !call.depends_on.is_empty() {
                <p class="quiet">{ format!("depends on: {}", call.depends_on.join(", ")) }</p>
            }
        </article>
    }
}
