//! The calls before a call, as rules about earlier calls see them.

use crate::events::tool;
use agent_answer::{DocumentKind, Position, Span};
use agent_ui::problems::{Place, prose};
use agent_ui::words::count;
use agent_worker_protocol::session::{EarlierCall, SessionView};
use yew::prelude::*;

/// Shows what the client did before. The calls that decide about the present one are marked.
pub(crate) fn history(session: &SessionView) -> Html {
    let Some(history) = &session.history else {
        return html! {};
    };
    let rows = history.calls.iter().map(row);
    html! {
        <section class="history" aria-labelledby="history">
            <h3 id="history">
                { "History" }
                <span class="quiet">{ " · what rules about earlier calls see" }</span>
            </h3>
            if history.calls.is_empty() {
                <p class="quiet">{ "No call was passed on yet." }</p>
            } else {
                <p class="facts">{ "The agent got data that is " }{ labels(&history.labels) }</p>
                <table class="comparison">
                    <thead>
                        <tr>
                            <th scope="col">{ "Record" }</th>
                            <th scope="col">{ "Call" }</th>
                            <th scope="col">{ "Its data is" }</th>
                        </tr>
                    </thead>
                    <tbody>{ for rows }</tbody>
                </table>
            }
            if history.folded > 0 {
                <p class="quiet">{ format!("and {} before", count(history.folded as u32, "call")) }</p>
            }
        </section>
    }
}

fn row(call: &EarlierCall) -> Html {
    html! {
        <tr class={classes!(call.decides.then_some("no"))}>
            <th scope="row">{ call.record }</th>
            <td>
                { tool(&call.tool) }{ " of " }{ tool(&call.server) }
                if call.decides { <>{ " " }<span class="badge">{ "decides" }</span></> }
            </td>
            <td>{ labels(&call.labels) }</td>
        </tr>
    }
}

/// Shows the earlier calls that the reasons about a call of a log name.
pub(crate) fn earlier(calls: &[EarlierCall]) -> Html {
    let items = calls.iter().map(|call| {
        html! {
            <li>
                { format!("record {}: ", call.record) }
                { tool(&call.tool) }{ " of " }{ tool(&call.server) }
                { " returned data that is " }{ labels(&call.labels) }
                <span class="quiet">{ " · " }{ &call.time }{ " · " }<Place place={place(call)} /></span>
            </li>
        }
    });
    html! {
        if !calls.is_empty() {
            <p class="when">{ "Earlier calls that decide:" }</p>
            <ul class="earlier">{ for items }</ul>
        }
    }
}

/// Returns the place of the record of a call in a log.
pub(crate) fn place(call: &EarlierCall) -> agent_answer::Place {
    agent_answer::Place {
        source: DocumentKind::Evidence,
        number: 0,
        span: Span::default(),
        start: Position::line_start(call.line),
        end: Position::line_start(call.line + 1),
    }
}

fn labels(labels: &[String]) -> Html {
    match labels {
        [] => html! { "unlabelled" },
        labels => {
            let labels: Vec<_> = labels.iter().map(|it| format!("`{it}`")).collect();
            prose(&labels.join(", "))
        }
    }
}
