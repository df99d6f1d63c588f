//! The arguments of a call as a table: the value of each, and what the input schema says about it.

use agent_ui::names::name;
use agent_ui::words::{count, thousands};
use agent_worker_protocol::session::{Argument, ArgumentValue, Arguments, CallReason};
use yew::prelude::*;

/// Number of characters of a value that are always shown, and number of its lines. A longer value is folded.
const SHOWN: usize = 160;
const LINES: usize = 4;

/// Shows the arguments of a call. Those that a reason is about are marked.
pub(crate) fn arguments(arguments: &Arguments, reasons: &[CallReason]) -> Html {
    let Arguments { tool, rows } = arguments;
    // The input of a tool without a schema, and that of a tool that is not in the lock, has no column for it.
    let declares = rows
        .iter()
        .any(|it| !it.declared.is_empty() || !it.about.is_empty());
    let body = rows.iter().map(|it| row(it, declares, reasons));
    // Where there is little room, the rows are no rows of a table any more. Their roles stay.
    html! {
        if !rows.is_empty() {
            <table class="arguments" role="table" aria-label={format!("Arguments of {tool}")}>
                <thead role="rowgroup">
                    <tr role="row">
                        <th role="columnheader" scope="col">{ "Argument" }</th>
                        <th role="columnheader" scope="col">{ "Value" }</th>
                        if declares { <th role="columnheader" scope="col">{ "Input schema" }</th> }
                    </tr>
                </thead>
                <tbody role="rowgroup">{ for body }</tbody>
            </table>
        } else if !tool.is_empty() {
            <p class="quiet">{ "The call has no arguments." }</p>
        }
    }
}

/// Shows the arguments of an earlier call, closed at first.
pub(crate) fn folded(of: &Arguments, reasons: &[CallReason]) -> Html {
    let names: Vec<_> = of.rows.iter().map(|it| &*it.name).collect();
    html! {
        if !names.is_empty() {
            <details class="folded">
                <summary>
                    { count(names.len() as u32, "argument") }
                    <span class="quiet">{ ": " }{ name(&names.join(", "), "") }</span>
                </summary>
                { arguments(of, reasons) }
            </details>
        }
    }
}

fn row(argument: &Argument, declares: bool, reasons: &[CallReason]) -> Html {
    let refused = reasons.iter().filter_map(|it| it.pointer.as_deref());
    let refused = refused.into_iter().any(|it| is_about(it, &argument.name));
    let sign = refused.then(|| {
        html! {
            <>
                <span class="mark" aria-hidden="true">{ "✗" }</span>
                <span class="visually-hidden">{ "refused: " }</span>
            </>
        }
    });
    html! {
        <tr role="row" class={classes!(refused.then_some("no"))}>
            <th role="rowheader" scope="row">{ sign }<code>{ name(&argument.name, "") }</code></th>
            <td role="cell">{ value(&argument.value) }</td>
            if declares {
                <td role="cell" class="quiet">
                    { name(&argument.declared, "") }
                    if !argument.about.is_empty() { <p>{ name(&argument.about, "") }</p> }
                </td>
            }
        </tr>
    }
}

fn value(value: &ArgumentValue) -> Html {
    let (text, class) = match value {
        ArgumentValue::Missing => return html! { <span class="no">{ "missing" }</span> },
        ArgumentValue::Text(text) if text.is_empty() => {
            return html! { <span class="quiet">{ "empty text" }</span> };
        }
        ArgumentValue::Text(text) => (text, "text"),
        ArgumentValue::Json(text) => (text, "json"),
    };
    let whole = html! { <pre {class}>{ name(text, "") }</pre> };
    let length = text.chars().count();
    if length <= SHOWN && text.lines().count() <= LINES {
        return whole;
    }
    let beginning: String = text.chars().take(SHOWN / 2).collect();
    html! {
        <details>
            <summary>
                { name(&beginning, "") }{ "…" }
                <span class="quiet">{ format!(" {} characters", thousands(length as u32)) }</span>
            </summary>
            { whole }
        </details>
    }
}

/// Returns whether a JSON pointer into the arguments leads to an argument, or into it.
fn is_about(pointer: &str, argument: &str) -> bool {
    let mut parts = pointer.split('/').skip(1);
    parts
        .next()
        .is_some_and(|it| it.replace("~1", "/").replace("~0", "~") == argument)
}

#[cfg(test)]
mod tests {
    use super::is_about;

    #[test]
    fn a_pointer_is_about_the_argument_that_it_begins_with() {
        for (pointer, argument, expected) in [
            ("/limit", "limit", true),
            ("/limit/0/x", "limit", true),
            ("/a~1b~0c", "a/b~c", true),
            ("/limits", "limit", false),
            ("", "", false),
            ("limit", "limit", false),
        ] {
            assert_eq!(is_about(pointer, argument), expected, "{pointer}");
        }
    }
}
