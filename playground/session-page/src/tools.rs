//! What the agent sees: the list of tools, with the tokens of each definition.

use crate::events::{happens, tool};
use crate::refusal::{fill, raw, reasons};
use crate::state::{Page, State};
use agent_ui::browser::value_of;
use agent_ui::names::name;
use agent_ui::words::{count, thousands};
use agent_worker_protocol::session::{Caller, Event, Expansion, Server, SessionView, Shown, Tool};
use yew::events::Event as Changed;
use yew::prelude::{Html, MouseEvent, html};

/// Shows every tool of the lock, and how the agent gets it.
pub(crate) fn tools(page: &Page, session: &SessionView) -> Html {
    let number = |is: fn(&Shown) -> bool| {
        let tools = session.tools.iter().filter(|it| is(&it.shown));
        tools.count() as u32
    };
    let listed = number(|it| matches!(it, Shown::Listed | Shown::Helper));
    let behind = number(|it| matches!(it, Shown::Behind(_)));
    let unlocked: usize = session.servers.iter().map(|it| it.unlocked.len()).sum();
    let tokens = |number: u64| thousands(u32::try_from(number).unwrap_or(u32::MAX));
    let mut facts = vec![format!("about {} tokens", tokens(session.tokens))];
    if session.all_tokens != session.tokens {
        facts.push(format!(
            "{} with every definition",
            tokens(session.all_tokens)
        ));
    }
    if behind > 0 {
        facts.push(format!("{behind} on demand"));
    }
    if unlocked > 0 {
        facts.push(format!("{unlocked} not in the lock"));
    }
    let rows = session.tools.iter().map(|it| row(page, it));
    let others = session.servers.iter().flat_map(|server| {
        let of = server.unlocked.iter();
        of.map(|each| unlocked_row(page, server, each))
    });
    html! {
        <section class="tools" aria-labelledby="tools">
            <h3 id="tools">{ format!("The agent sees {}", count(listed, "tool")) }</h3>
            <p class="facts">{ facts.join(" · ") }</p>
            <ul class="tool-list">{ for rows }{ for others }</ul>
            { raw("The list as the client gets it", &session.list) }
        </section>
    }
}

fn row(page: &Page, each: &Tool) -> Html {
    let is_open = page.content().shown.as_ref() == Some(&each.name);
    let (class, badge) = match &each.shown {
        Shown::Listed => ("listed", html! {}),
        Shown::Helper => (
            "listed",
            html! { <span class="badge neutral">{ "helper" }</span> },
        ),
        Shown::Behind(stub) => (
            "behind",
            html! { <span class="badge neutral" title={format!("by {stub}")}>{ "on demand" }</span> },
        ),
        Shown::Withheld(_) => (
            "withheld",
            html! { <span class="badge">{ "withheld" }</span> },
        ),
    };
    let toggle = {
        let name = each.name.clone();
        page.callback(move |page, _: MouseEvent| {
            let name = name.clone();
            page.update(move |state: &mut State| {
                state.content.shown = (!is_open).then_some(name);
            });
        })
    };
    let tokens = each.tokens.map(|it| {
        let number = thousands(u32::try_from(it).unwrap_or(u32::MAX));
        html! { <span class="tokens" title="estimated tokens of the definition">{ number }</span> }
    });
    let expand = each.expand.clone().map(|params| {
        html! { <button onclick={fill(page, params)} aria-label={format!("Expand {}", each.name)}>{ "Expand" }</button> }
    });
    html! {
        <li key={each.name.clone()} class={class}>
            <div class="tool-line">
                <button class="tool-name" aria-expanded={is_open.to_string()} onclick={toggle}>
                    { name(&each.name, "") }
                </button>
                <span class="quiet">{ name(&each.server, "") }</span>
                { badge }
                <span class="tool-end">
                    { for tokens }
                    <button onclick={fill(page, each.call.clone())} aria-label={format!("Call {}", each.name)}>
                        { "Call" }
                    </button>
                    { for expand }
                </span>
            </div>
            if !each.about.is_empty() { <p class="about">{ description(&each.about) }</p> }
            if let Shown::Withheld(found) = &each.shown { { reasons(found) } }
            if is_open {
                <pre class="model">{ name(each.definition.as_deref().unwrap_or("no client gets the definition"), "") }</pre>
            }
        </li>
    }
}

/// Shows the words of a server, with the text in backquotes as code. Every piece may be hostile.
fn description(text: &str) -> Html {
    let pieces = text.split('`').enumerate().map(|(at, piece)| match at % 2 {
        0 => name(piece, ""),
        _ => html! { <code>{ name(piece, "") }</code> },
    });
    html! { <>{ for pieces }</> }
}

/// Shows a tool of a locked server that the lock does not have.
fn unlocked_row(page: &Page, server: &Server, each: &str) -> Html {
    // A name is JSON of the engine, and so fits between quotation marks.
    let quoted = each.replace('\\', "\\\\").replace('"', "\\\"");
    let params = format!("{{\n  \"name\": \"{quoted}\",\n  \"arguments\": {{}}\n}}\n");
    html! {
        <li key={format!("{}/{each}", server.name)} class="withheld">
            <div class="tool-line">
                <span class="tool-name">{ name(each, "") }</span>
                <span class="quiet">{ name(&server.name, "") }</span>
                <span class="badge">{ "not in the lock" }</span>
                <span class="tool-end">
                    <button onclick={fill(page, params)} aria-label={format!("Call {each}")}>{ "Call" }</button>
                </span>
            </div>
        </li>
    }
}

/// Shows the servers, which the user may end and start.
pub(crate) fn servers(page: &Page, session: &SessionView) -> Html {
    let rows = session.servers.iter().map(|server| {
        let named = server.name.clone();
        let (label, event): (_, fn(String) -> Event) = match server.runs {
            true => ("End", Event::Exit),
            false => ("Start", Event::Start),
        };
        let onclick = happens(page, move || event(named.clone()));
        let class = if server.health == "HEALTHY" {
            "yes"
        } else {
            "no"
        };
        html! {
            <li key={server.name.clone()}>
                { tool(&server.name) }
                <span {class}>{ &server.health }</span>
                <span class="quiet endpoint">{ name(&server.endpoint, "") }</span>
                <button {onclick} aria-label={format!("{label} {}", server.name)}>{ label }</button>
            </li>
        }
    });
    html! {
        <section class="servers" aria-labelledby="servers-of-session">
            <h3 id="servers-of-session">{ count(session.servers.len() as u32, "server") }</h3>
            <ul>{ for rows }</ul>
        </section>
    }
}

/// Shows who calls, and what it sees of tools on demand.
pub(crate) fn client(page: &Page) -> Html {
    let caller = &page.content().caller;
    let change = |change: fn(&mut Caller, String)| {
        page.callback(move |page, event: Changed| {
            let text = value_of(&event);
            page.update(move |state: &mut State| change(&mut state.content.caller, text));
        })
    };
    let expansions = [
        (Expansion::Stub, "a helper for each server"),
        (Expansion::List, "a helper, and its expansions on the list"),
        (Expansion::None, "every definition"),
    ];
    let expansion = expansions
        .iter()
        .enumerate()
        .map(|(number, (each, words))| {
            let selected = caller.expansion == *each;
            html! { <option value={number.to_string()} {selected}>{ *words }</option> }
        });
    let generations = ["2025-11-25", "2026-07-28"];
    let generation = generations.iter().enumerate().map(|(number, each)| {
        let selected = caller.is_stateless == (number == 1);
        html! { <option value={number.to_string()} {selected}>{ *each }</option> }
    });
    html! {
        <details class="client">
            <summary>
                { "The client" }
                <span class="quiet">{ " · " }{ name(&caller.id, "") }</span>
            </summary>
            <div class="client-fields">
                <label>
                    { "Tools on demand" }
                    <select onchange={change(|caller, number| {
                        caller.expansion = match &*number {
                            "1" => Expansion::List,
                            "2" => Expansion::None,
                            _ => Expansion::Stub,
                        };
                    })}>{ for expansion }</select>
                </label>
                <label>
                    { "Version of MCP" }
                    <select onchange={change(|caller, number| caller.is_stateless = number == "1")}>
                        { for generation }
                    </select>
                </label>
                <label>
                    { "Token budget of definitions" }
                    <input
                        type="number"
                        min="0"
                        value={caller.budget.map(|it| it.to_string()).unwrap_or_default()}
                        placeholder="that of the tenant"
                        onchange={change(|caller, text| caller.budget = text.trim().parse().ok())}
                    />
                </label>
                <label>
                    { "Id" }
                    <input type="text" value={caller.id.clone()} spellcheck="false"
                        onchange={change(|caller, text| caller.id = text)} />
                </label>
                <label>
                    { "Kind" }
                    <input type="text" value={caller.kind.clone()} spellcheck="false"
                        onchange={change(|caller, text| caller.kind = text)} />
                </label>
                <label>
                    { "Properties, as JSON" }
                    <input type="text" value={caller.properties.clone()} spellcheck="false"
                        placeholder="none" onchange={change(|caller, text| caller.properties = text)} />
                </label>
            </div>
        </details>
    }
}
