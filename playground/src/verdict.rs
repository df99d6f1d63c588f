//! The verdict: every requirement, and its server or why there is none.

use crate::funnel::Funnel;
use crate::page::{Actor, use_actor, use_page};
use crate::state::{Action, Engine, LIST_STEP};
use crate::story::policy_places;
use crate::tokens::TokenBar;
use agent_protocol::{
    Eligible, ExplanationRequest, ListRequest, Listed, NearMiss, Outcome, PolicyDecision, Rejected,
    RejectedRequest, Requirement, Selected, SelectedTool, ServerName, Verdict,
};
use agent_ui::failure::failure;
use agent_ui::fixes::fixes;
use agent_ui::problems::{Code, Place, Problems, prose};
use agent_ui::words::{count, thousands};
use std::rc::Rc;
use yew::prelude::*;

/// The verdict, and everything that is to be said about the inputs.
#[component]
pub(crate) fn VerdictView() -> Html {
    let page = use_page();
    let Some(verdict) = page.state.verdict.clone() else {
        return match &page.state.engine {
            Engine::Failed(reason) => failure(reason),
            Engine::LoadingPolicies => html! { <p class="waiting">{ LOADING_POLICIES }</p> },
            _ => html! { <p class="waiting">{ "Loading the engine…" }</p> },
        };
    };
    let failure = match &page.state.engine {
        Engine::Failed(reason) => failure(reason),
        Engine::LoadingPolicies => html! {
            <p class="loading" role="status">
                { LOADING_POLICIES }{ " Until it is there, this is the verdict without the policy." }
            </p>
        },
        _ => html! {},
    };
    let requirements = (0..)
        .zip(&verdict.requirements)
        .map(|(number, requirement)| {
            let (wanted, views) = (&page.state.wanted, &page.state.views);
            let fallen = wanted.rejected.filter(|ask| ask.requirement == number);
            let eligible = wanted.eligible.filter(|ask| ask.requirement == number);
            let requirement = requirement.clone();
            html! {
                <Card
                    key={number}
                    {number}
                    {requirement}
                    fallen_ask={fallen}
                    fallen={fallen.and(views.rejected.clone())}
                    eligible_ask={eligible}
                    eligible={eligible.and(views.eligible.clone())}
                />
            }
        });
    html! {
        <>
            { failure }
            { headline(&verdict) }
            { verdict.tokens.map(|tokens| html! { <TokenBar {tokens} /> }) }
            <Problems diagnostics={verdict.diagnostics.clone()} />
            <Problems label="Collisions" diagnostics={verdict.collisions.clone()} />
            <ol class="requirements">{ for requirements }</ol>
        </>
    }
}

/// Said while the second module is on its way.
const LOADING_POLICIES: &str = "Loading the evaluator of policies…";

fn headline(verdict: &Verdict) -> Html {
    let mut requirements = verdict.requirements.iter();
    let tools = requirements.any(|requirement| requirement.capability.is_some());
    let (class, mark, answer) = match verdict.satisfied {
        Some(true) if tools => ("yes", "✓", "Every requirement has a server or a tool"),
        Some(false) if tools => ("no", "✗", "Not every requirement has a server or a tool"),
        Some(true) => ("yes", "✓", "Every requirement has a server"),
        Some(false) => ("no", "✗", "Not every requirement has a server"),
        None => ("no", "✗", "Nothing is decided: an input has errors"),
    };
    let agent = verdict
        .agent
        .as_ref()
        .map(|agent| format!("{} {}", agent.name, agent.version));
    let mut facts: Vec<_> = agent.into_iter().collect();
    if !verdict.requirements.is_empty() {
        facts.push(count(verdict.requirements.len() as u32, "requirement"));
    }
    if let Some(servers) = verdict.servers {
        let tools = verdict.tools.filter(|tools| *tools > 0);
        let tools = tools.map_or_else(String::new, |it| format!(" with {}", count(it, "tool")));
        facts.push(format!("{}{tools} in the index", count(servers, "server")));
    }
    html! {
        <header class="headline" role="status">
            <p class={classes!("answer-line", class)}>
                <span class="mark" aria-hidden="true">{ mark }</span>
                { answer }
            </p>
            <p class="facts">{ facts.join(" · ") }</p>
        </header>
    }
}

#[derive(Properties, PartialEq)]
struct CardProps {
    number: u32,
    requirement: Requirement,
    /// Which of those that fell are listed, if any, and the answer.
    fallen_ask: Option<RejectedRequest>,
    fallen: Option<Rc<Listed<Rejected>>>,
    /// Whether the eligible ones are listed, and the answer.
    eligible_ask: Option<ListRequest>,
    eligible: Option<Rc<Listed<Eligible>>>,
}

/// One requirement. It has all that it shows as properties, so that a keystroke shows only those
/// anew that it changes.
#[component]
fn Card(props: &CardProps) -> Html {
    let actor = use_actor();
    let (number, requirement) = (props.number, &props.requirement);
    let (class, mark, said) = match requirement.outcome {
        Outcome::Selected(_) => ("yes", "✓", "satisfied"),
        Outcome::Unsatisfied { .. } => ("no", "✗", "not satisfied"),
    };
    let open = props.fallen_ask.map(|ask| ask.check);
    let on_stage = {
        let actor = actor.clone();
        Callback::from(move |check: u8| {
            let ask = (open != Some(check)).then_some(RejectedRequest {
                requirement: number,
                check,
                limit: LIST_STEP,
            });
            actor.dispatch(Action::ListFallen(ask));
        })
    };
    let capability = requirement.capability.as_ref();
    let tags = capability.map_or(&requirement.permissions, |it| &it.constraints);
    let tags = tags
        .iter()
        .map(|tag| html! { <code class="scope">{ tag }</code> });
    let on_demand = capability.is_some_and(|it| it.load == "on_demand");
    let noun = noun(requirement);
    html! {
        <li class={classes!("card", class)}>
            <div class="card-head">
                <h3>
                    <span class="mark" aria-hidden="true">{ mark }</span>
                    <span class="visually-hidden">{ said }{ ": " }</span>
                    { requirement.name() }
                </h3>
                <Place place={requirement.place} />
                <span class="scopes">{ for tags }</span>
                if on_demand {
                    <span class="badge neutral" title="Until it is asked for, a stub stands in its place">
                        { "on demand" }
                    </span>
                }
            </div>
            { match &requirement.outcome {
                Outcome::Selected(selected) => selection(&actor, number, selected),
                Outcome::Unsatisfied { nearest } => nearest_ones(&actor, number, nearest, noun),
            } }
            { requirement.ruling.as_ref().map(ruling) }
            <Funnel
                all={requirement.all}
                stages={requirement.funnel.clone()}
                noun={if capability.is_some() { "all tools" } else { "all" }}
                selected={matches!(requirement.outcome, Outcome::Selected(_))}
                {open}
                {on_stage}
            />
            { fallen(&actor, props) }
            { eligible(&actor, props) }
        </li>
    }
}

/// The server that was selected.
fn selection(actor: &Actor, number: u32, selected: &Selected) -> Html {
    let over = selected.over.as_ref().map(|over| {
        html! {
            <p class="over">
                { "over " }
                { server(actor, number, &over.server, over.tool.as_deref()) }
                { ": " }
                { &over.text }
            </p>
        }
    });
    html! {
        <div class="selection">
            <p>
                { server(actor, number, &selected.server, selected.tool.as_ref().map(|it| &*it.name)) }
                <span class="endpoint">{ &selected.endpoint }</span>
            </p>
            { selected.tool.as_ref().map(obligations) }
            { over }
        </div>
    }
}

/// What a requirement gets.
fn noun(requirement: &Requirement) -> &'static str {
    if requirement.capability.is_some() {
        "tool"
    } else {
        "server"
    }
}

/// What calls of a tool need, and what its definition costs.
fn obligations(tool: &SelectedTool) -> Html {
    html! {
        <p class="obligations">
            if tool.obligations.iter().any(|it| it == "approval") {
                <span class="badge warning" title="human_in_the_loop">
                    { "every call needs the approval of a human" }
                </span>{ " " }
            }
            <span class="quiet">{ format!("about {}", count(tool.tokens, "token")) }</span>
        </p>
    }
}

/// Which lines of the policy took part, and why it gave no answer, if it gave none.
fn ruling(ruling: &PolicyDecision) -> Html {
    let lines = policy_places(&ruling.lines);
    let lines = lines
        .iter()
        .map(|place| html! { <>{ " " }<Place place={*place} /></> });
    html! {
        <p class="ruling">
            if let Some(error) = &ruling.error {
                <Code code="POLICY_ERROR" />{ " The policy gave no answer: " }{ prose(error) }
                { ruling.error_at.map(|place| html! { <>{ " " }<Place {place} /></> }) }
            } else if ruling.lines.is_empty() {
                <span class="quiet">{ "No rule of the policy held." }</span>
            } else {
                <span class="quiet">{ "Response by the rules at" }</span>{ for lines }
            }
        </p>
    }
}

/// The servers or tools that need the fewest changes.
fn nearest_ones(actor: &Actor, number: u32, nearest: &[NearMiss], noun: &'static str) -> Html {
    let items = nearest.iter().map(|near| {
        let reasons = near.reasons.iter().map(|reason| {
            html! {
                <li><Code code={reason.code.clone()} />{ " " }{ prose(&reason.text) }</li>
            }
        });
        html! {
            <li>
                <p>{ server(actor, number, &near.server, near.tool.as_deref()) }</p>
                <ul class="reasons">{ for reasons }</ul>
                { fixes(&near.fixes, &actor.on_apply()) }
            </li>
        }
    });
    html! {
        if nearest.is_empty() {
            <p class="quiet">{ format!("The index has no {noun}s.") }</p>
        } else {
            <h4><Code code="UNSATISFIED" />{ format!(" No {noun} is eligible. Nearest:") }</h4>
            <ol class="nearest">{ for items }</ol>
        }
    }
}

/// The name of a server, or of a tool of it.
pub(crate) fn server_name(server: &ServerName, tool: Option<&str>) -> Html {
    html! {
        <>
            <bdi>{ &server.id }</bdi>{ " " }<bdi class="version">{ &server.version }</bdi>
            if let Some(tool) = tool {
                <span class="slash">{ " / " }</span><bdi class="tool">{ tool.to_owned() }</bdi>
            }
        </>
    }
}

/// The same; a click tells the whole story.
pub(crate) fn server(
    actor: &Actor,
    requirement: u32,
    server: &ServerName,
    tool: Option<&str>,
) -> Html {
    let ask = ExplanationRequest {
        requirement,
        server: server.clone(),
        tool: tool.map(str::to_owned),
    };
    html! {
        <button
            class="server"
            title="Tell the whole story"
            onclick={actor.on(move || Action::TellStory(ask.clone()))}
        >
            { server_name(server, tool) }
        </button>
    }
}

/// The servers that the open stage of the funnel holds back.
fn fallen(actor: &Actor, props: &CardProps) -> Html {
    let (Some(ask), Some(fallen)) = (props.fallen_ask, &props.fallen) else {
        return html! {};
    };
    let number = props.number;
    if fallen.requirement != number {
        // The answer to what was asked before.
        return html! {};
    }
    let items = fallen.items.iter().map(|fallen| {
        html! {
            <li>
                { server(actor, number, &fallen.server, fallen.tool.as_deref()) }{ " " }
                <span class="quiet">{ prose(&fallen.reason.text) }</span>
            </li>
        }
    });
    let check = props.requirement.funnel.get(ask.check as usize);
    let more = RejectedRequest {
        limit: ask.limit + LIST_STEP,
        ..ask
    };
    html! {
        <section class="list">
            <h4>
                { format!("{} held back: ", count(fallen.total, noun(&props.requirement))) }
                { check.map(|check| html! { <Code code={check.code.clone()} /> }) }
                <button class="close" onclick={actor.on(|| Action::ListFallen(None))} aria-label="Close the list">
                    { "×" }
                </button>
            </h4>
            <ul>{ for items }</ul>
            { rest(fallen, actor.on(move || Action::ListFallen(Some(more)))) }
        </section>
    }
}

/// A button for the rest of a list, if there is a rest.
fn rest<T>(listed: &Listed<T>, onclick: Callback<MouseEvent>) -> Html {
    let rest = listed.total - listed.items.len() as u32;
    html! {
        if rest > 0 {
            <button class="more" {onclick}>{ format!("{} more", thousands(rest)) }</button>
        }
    }
}

/// The eligible servers in order, and the rule on which each lost.
fn eligible(actor: &Actor, props: &CardProps) -> Html {
    let (number, requirement) = (props.number, &props.requirement);
    let Outcome::Selected(selected) = &requirement.outcome else {
        return html! {};
    };
    let others = requirement.funnel.last().map_or(0, |stage| stage.left) - 1;
    if others == 0 {
        return html! {};
    }
    let tool = selected.tool.as_ref().map(|it| &*it.name);
    let how = if tool.is_some() {
        "How they were ranked"
    } else {
        "How the tie was broken"
    };
    let Some(ask) = props.eligible_ask else {
        let ask = ListRequest {
            requirement: number,
            limit: LIST_STEP,
        };
        return html! {
            <button class="more" onclick={actor.on(move || Action::ListEligible(Some(ask)))}>
                { format!("{how}: {} eligible", thousands(others + 1)) }
            </button>
        };
    };
    let order = if tool.is_some() {
        "The higher priority first, then the smaller id, version and name"
    } else {
        "Signed first, then the smaller id, then the smaller version"
    };
    let listed = props.eligible.as_ref();
    let listed = listed.filter(|listed| listed.requirement == number);
    let items = listed.into_iter().flat_map(|listed| &listed.items);
    let item = |eligible: &Eligible| {
        html! {
            <li>
                { server(actor, number, &eligible.server, eligible.tool.as_deref()) }{ " " }
                <span class="quiet">{ format!("lost: {}", eligible.text) }</span>
            </li>
        }
    };
    let more = ListRequest {
        limit: ask.limit + LIST_STEP,
        ..ask
    };
    html! {
        <section class="list">
            <h4>
                { order }
                <button class="close" onclick={actor.on(|| Action::ListEligible(None))} aria-label="Close the list">
                    { "×" }
                </button>
            </h4>
            <ol>
                <li>
                    { server(actor, number, &selected.server, tool) }{ " " }
                    <span class="yes">{ "selected" }</span>
                </li>
                { for items.map(item) }
            </ol>
            { listed.map(|listed| rest(listed, actor.on(move || Action::ListEligible(Some(more))))) }
        </section>
    }
}
