//! The verdict: every requirement, with its server or the reasons against the nearest ones.

use crate::elements::{endpoint, server_name, tags};
use crate::funnel::funnel;
use crate::policy::policy_places;
use crate::reservations::reservations;
use crate::state::{Actor, LIST_STEP, Page, explain};
use crate::tokens::token_bar;
use agent_answer::{
    Code, Listed, NearMiss, Outcome, PolicyDecision, Requirement, Selected, SelectedTool,
    ServerName, Span, Verdict,
};
use agent_ui::answer::{Sign, reasoned_headline};
use agent_ui::dialog::close;
use agent_ui::names::{Lookalikes, name};
use agent_ui::problems::{
    ApplyAll, Place, Problems, code, fixes, places, prose, reasons, suppositions,
};
use agent_ui::words::{count, thousands};
use agent_worker_protocol::{Answer, ExplanationRequest, ListRequest, RejectedRequest, Request};
use std::collections::BTreeSet;
use std::iter::repeat;
use std::rc::Rc;
use yew::prelude::*;

/// Maximum number of servers that the headline names.
const NAMED: usize = 6;

/// Maximum length of a lock below the verdict, in bytes. A longer one has no room there.
const SHORT: usize = 16 << 10;

/// Shows the verdict, and the problems of the inputs; and the lock where that leaves room.
pub(crate) fn verdict_view(page: &Page) -> Html {
    let content = page.content();
    let Some(verdict) = &content.verdict else {
        return Html::default();
    };
    let (rejected, eligible) = (content.wanted.rejected, content.wanted.eligible);
    let former = |number: u32| {
        let (_, history) = content.selections.get(number as usize)?;
        history.before.clone()
    };
    let card = |(number, requirement): (u32, &Requirement)| {
        let rejected = rejected.filter(|it| it.requirement == number);
        let eligible = eligible.filter(|it| it.requirement == number);
        let open = rejected.is_some() || eligible.is_some();
        let mut requirement = requirement.clone();
        // The page goes by lines and columns. The bytes before a requirement change with every edit
        // above it, and would render its card again.
        requirement.place.span = Span::default();
        html! {
            <Card
                key={number}
                actor={page.actor.clone()}
                lookalikes={content.lookalikes.clone()}
                {number}
                {requirement}
                was={former(number)}
                {rejected}
                {eligible}
                lists={open.then(|| Rc::clone(&content.views))}
            />
        }
    };
    let cards = |verdict: &Verdict| -> Html {
        html! { <ol class="requirements">{ for (0..).zip(&verdict.requirements).map(card) }</ol> }
    };
    let before = content.decided_before.as_deref();
    let collisions: Rc<[_]> = verdict.collisions.as_slice().into();
    let documents = Rc::clone(&content.problems);
    let problems: Rc<[_]> = documents.iter().map(|it| it.fixes.clone()).collect();
    html! {
        <>
            <div>
                { summary(verdict, &content.lookalikes) }
                { for verdict.tokens.map(token_bar) }
                <ApplyAll {problems} />
                <Problems diagnostics={documents} />
                <Problems label="Collisions" diagnostics={collisions} />
                { cards(verdict) }
                // Always there: Yew loses its place where this comes and goes.
                <section class="before" aria-label="The last decision" hidden={before.is_none()} inert={true}>
                    <p>{ "The last decision, before the errors:" }</p>
                    { for before.map(cards) }
                </section>
            </div>
            { for content.lock.now.as_ref().filter(|lock| is_plain(lock)).map(lock_below) }
        </>
    }
}

/// Returns whether a lock may stand below the verdict. Names that may be taken for others are for the editor of its tab.
fn is_plain(lock: &str) -> bool {
    lock.len() <= SHORT && lock.is_ascii()
}

/// Shows the lock in the rest of the panel. The style sheet hides it where there is too little room.
fn lock_below(lock: &Rc<str>) -> Html {
    html! {
        <div class="spare">
            <section aria-label="agents.lock, as it would be written" tabindex="0">
                <h3>{ "agents.lock" }</h3>
                <pre>{ &**lock }</pre>
            </section>
        </div>
    }
}

/// Returns the decision, and the reason for it.
pub(crate) fn decision(verdict: &Verdict) -> (Sign, &'static str) {
    let requirements = verdict.requirements.iter();
    let has_tools = requirements.map(|it| &it.capability).any(Option::is_some);
    match (verdict.satisfied, has_tools) {
        (Some(true), true) => (Sign::yes("yes"), "Every requirement has a server or a tool"),
        (Some(false), true) => (
            Sign::no("no"),
            "Not every requirement has a server or a tool",
        ),
        (Some(true), false) => (Sign::yes("yes"), "Every requirement has a server"),
        (Some(false), false) => (Sign::no("no"), "Not every requirement has a server"),
        (None, _) => (
            Sign::caution("undecided"),
            "No decision: an input has errors",
        ),
    }
}

/// Answers the question of the page, with the reason below it.
fn summary(verdict: &Verdict, lookalikes: &Lookalikes) -> Html {
    let requirements = &verdict.requirements;
    let (sign, reason) = decision(verdict);
    let open = reservations(verdict);
    let (sign, reason) = match (verdict.satisfied, &*open) {
        (Some(true), [_, ..]) => (
            Sign::caution(sign.words),
            format!("{reason}; {}", open.join(", ")),
        ),
        _ => (sign, reason.to_owned()),
    };
    let agent = match &verdict.agent {
        Some(agent) => name(&agent.name, ""),
        None => "The agent".into(),
    };
    let mut used = BTreeSet::new();
    let mut unmet = Vec::new();
    for requirement in requirements {
        match &requirement.outcome {
            Outcome::Selected(it) => {
                used.insert((&*it.server.id, &*it.server.version));
            }
            Outcome::Unsatisfied { .. } => unmet.push(requirement),
        }
    }
    let what = match (verdict.satisfied, &*unmet) {
        (None, _) => html! { " may use nothing yet" },
        (Some(true), _) => {
            let all = verdict.servers.unwrap_or_default();
            let (used, servers) = (thousands(used.len() as u32), count(all, "server"));
            html! { { format!(" may use {used} of {servers}") } }
        }
        (Some(false), [one]) => {
            let noun = noun(one);
            html! { <>{ " may use nothing: no " }{ noun }{ " for " }{ name(&one.name(), "") }</> }
        }
        (Some(false), _) => {
            let (unmet, all) = (unmet.len() as u32, requirements.len() as u32);
            html! { { format!(" may use nothing: {unmet} of {} are unmet", count(all, "requirement")) } }
        }
    };
    let names = used.iter().zip([": "].into_iter().chain(repeat(", ")));
    let names = names.map(|((id, _), before)| html! { <>{ before }{ lookalikes.name(id, "") }</> });
    let is_named = verdict.satisfied == Some(true) && (1..=NAMED).contains(&used.len());
    let mut facts: Vec<_> = verdict
        .agent
        .iter()
        .map(|it| format!("{} {}", it.name, it.version))
        .collect();
    if !requirements.is_empty() {
        facts.push(count(requirements.len() as u32, "requirement"));
    }
    if let Some(servers) = verdict.servers {
        let tools = verdict.tools.filter(|tools| *tools > 0);
        let tools = tools.map_or_else(String::new, |it| format!(" with {}", count(it, "tool")));
        facts.push(format!("{}{tools} in the index", count(servers, "server")));
    }
    let sentence = html! {
        <>
            { agent }{ what }
            if is_named { { for names } }
        </>
    };
    reasoned_headline(sign, sentence, Some(&reason), &facts)
}

#[derive(Properties, PartialEq)]
struct CardProps {
    actor: Actor,
    /// The names of servers that look like others.
    lookalikes: Lookalikes,
    number: u32,
    requirement: Requirement,
    /// The selection before the last change.
    was: Option<Rc<str>>,
    /// The list of rejected candidates, if it is open.
    rejected: Option<RejectedRequest>,
    /// The list of eligible candidates, if it is open.
    eligible: Option<ListRequest>,
    /// The answer with the open lists.
    lists: Option<Rc<Answer>>,
}

/// One requirement. Everything it shows is in the properties, so that an answer renders only those
/// requirements again that it changes.
#[component]
fn Card(props: &CardProps) -> Html {
    let (actor, number, requirement) = (&props.actor, props.number, &props.requirement);
    let selected = matches!(requirement.outcome, Outcome::Selected(_));
    let sign = Sign::of(selected, "satisfied", "not satisfied");
    let open = props.rejected.map(|request| request.check);
    let on_stage = actor.callback(move |actor, check: u8| {
        let request = (open != Some(check)).then_some(RejectedRequest {
            requirement: number,
            check,
            limit: LIST_STEP,
        });
        actor.update(move |state| state.content.wanted.rejected = request);
    });
    let capability = requirement.capability.as_ref();
    let tags = tags(requirement).iter();
    let tags = tags.map(|tag| html! { <code class="scope">{ name(tag, "") }</code> });
    html! {
        <li class={classes!("card", sign.class)}>
            <div class="card-head">
                <h3>{ sign.before(name(&requirement.name(), "")) }</h3>
                <Place place={requirement.place} />
                <span class="scopes">{ for tags }</span>
                { for props.was.as_ref().map(|was| html! {
                    <span class="quiet was">{ "was " }{ name(was, "") }</span>
                }) }
                if capability.is_some_and(|it| it.load == "on_demand") {
                    <span class="badge neutral" title="The agent loads a stub until it needs the tool">
                        { "on demand" }
                    </span>
                }
            </div>
            { match &requirement.outcome {
                Outcome::Selected(selected) => selection(props, selected),
                Outcome::Unsatisfied { nearest } => {
                    near_misses(props, nearest)
                }
            } }
            { for requirement.policy_decision.as_ref().map(policy_decision) }
            { funnel(requirement, open, &on_stage, |it| {
                server(props, &it.server, it.tool.as_deref())
            }) }
            { for rejected(props) }
            { for eligible(props) }
        </li>
    }
}

/// Returns the noun for the candidates of a requirement.
fn noun(requirement: &Requirement) -> &'static str {
    let is_tool = requirement.capability.is_some();
    if is_tool { "tool" } else { "server" }
}

/// Shows the selected server.
fn selection(props: &CardProps, selected: &Selected) -> Html {
    let tool = selected.tool.as_ref();
    let over = selected.over.as_ref().map(|over| {
        let other = server(props, &over.server, over.tool.as_deref());
        html! { <p class="over">{ "over " }{ other }{ ": " }{ &over.text }</p> }
    });
    let fallback = selected.fallback.as_ref().map(|other| {
        let other = server(props, &other.server, other.tool.as_deref());
        html! { <p class="over">{ "falls back on " }{ other }</p> }
    });
    html! {
        <div class="selection">
            <p>
                { server(props, &selected.server, tool.map(|it| &*it.name)) }
                { endpoint(&selected.endpoint) }
            </p>
            { for tool.map(obligations) }
            { for not_known(&selected.unknown) }
            { for grant(&props.requirement) }
            { for fallback }
            { for over }
        </div>
    }
}

/// Shows what an import found in no source.
fn not_known(unknown: &[String]) -> Option<Html> {
    let words = unknown.iter().map(|it| match &**it {
        "tools" => "its tools",
        _ => "how its data is rated",
    });
    let words = words.collect::<Vec<_>>().join(", and ");
    (!words.is_empty()).then(|| html! { <p class="quiet">{ "Not known: " }{ words }</p> })
}

/// Shows which tools of a server are locked alone, and what a gateway passes on from it.
fn grant(requirement: &Requirement) -> Option<Html> {
    let mut words = Vec::new();
    if !requirement.only.is_empty() {
        words.push(format!("only {}", requirement.only.join(", ")));
    }
    if !requirement.serve.is_empty() {
        words.push(format!("serves {}", requirement.serve.join(" and ")));
    }
    (!words.is_empty()).then(|| html! { <p class="quiet">{ name(&words.join("; "), "") }</p> })
}

/// Shows the obligations of a tool's calls, and the cost of its definition.
fn obligations(tool: &SelectedTool) -> Html {
    html! {
        <p class="obligations">
            if tool.obligations.iter().any(|it| it == "approval") {
                <span class="badge warning" title="human_in_the_loop">
                    { "every call needs human approval" }
                </span>{ " " }
            }
            <span class="quiet">{ format!("about {}", count(tool.tokens, "token")) }</span>
        </p>
    }
}

/// Shows the lines of the policy that decided, or the error of the policy.
fn policy_decision(decision: &PolicyDecision) -> Html {
    let body = if let Some(error) = &decision.error {
        html! {
            <>
                { code(Code::PolicyError) }{ " The policy gave no answer: " }{ prose(error) }
                { places(&decision.error_at) }
            </>
        }
    } else if decision.lines.is_empty() {
        html! { <span class="quiet">{ "No rule of the policy applied." }</span> }
    } else {
        let lines = policy_places(&decision.lines);
        html! { <><span class="quiet">{ "Decided by the rules at" }</span>{ places(&lines) }</> }
    };
    html! { <p class="policy-decision">{ body }</p> }
}

/// Shows the servers or tools that need the fewest changes, first those with a fix. A fix comes before
/// the reasons.
fn near_misses(props: &CardProps, nearest: &[NearMiss]) -> Html {
    let noun = noun(&props.requirement);
    let (helped, others): (Vec<_>, Vec<_>) = nearest.iter().partition(|it| !it.fixes.is_empty());
    let items = helped.into_iter().chain(others).map(|near| {
        html! {
            <li>
                { fixes(&near.fixes, None) }
                <p>{ server(props, &near.server, near.tool.as_deref()) }{ " " }</p>
                { reasons(&near.reasons) }
            </li>
        }
    });
    let supposed = nearest.iter().flat_map(|near| {
        let name = || {
            html! { <>{ server_name(&props.lookalikes, &near.server, near.tool.as_deref()) }{ " " }</> }
        };
        let texts = near.suppositions.iter();
        texts.map(move |text| (name(), text.clone()))
    });
    html! {
        if nearest.is_empty() {
            <p class="quiet">{ format!("The index has no {noun}s.") }</p>
        } else {
            <ol class="nearest">{ for items }</ol>
            <p class="quiet unmet">
                { format!("No {noun} is eligible; these are the nearest. ") }
                { code(Code::Unsatisfied) }
            </p>
            { suppositions(supposed) }
        }
    }
}

/// Shows the name of a server or tool as a button that opens the explanation.
fn server(props: &CardProps, server: &ServerName, tool: Option<&str>) -> Html {
    let request = ExplanationRequest {
        requirement: props.number,
        server: server.clone(),
        tool: tool.map(str::to_owned),
    };
    html! {
        <button
            class="server"
            title="Explain this"
            onclick={props.actor.on(|state| explain(state, request))}
        >
            { server_name(&props.lookalikes, server, tool) }
        </button>
    }
}

/// Shows a candidate of a list.
fn item(props: &CardProps, name: &ServerName, tool: Option<&str>, note: Html) -> Html {
    html! { <li>{ server(props, name, tool) }{ " " }{ note }</li> }
}

/// Returns the number of shown candidates of a list, and that of all.
fn numbers<T>(listed: &Listed<T>) -> [u32; 2] {
    [listed.items.len() as u32, listed.total]
}

/// Shows a list of candidates. `request` changes the number of candidates to request, and closes
/// the list without one.
fn list(
    actor: &Actor,
    heading: Html,
    [shown, all]: [u32; 2],
    items: Html,
    request: fn(&mut Request, Option<u32>),
) -> Html {
    let rest = all - shown;
    let limit =
        |limit: Option<u32>| actor.on(move |state| request(&mut state.content.wanted, limit));
    html! {
        <section class="list">
            <h4>{ heading }{ close("Close the list", limit(None)) }</h4>
            { items }
            if rest > 0 {
                <button class="more" onclick={limit(Some(shown + LIST_STEP))}>
                    { format!("{} more", thousands(rest)) }
                </button>
            }
        </section>
    }
}

/// Shows the candidates that the open stage of the funnel holds back.
fn rejected(props: &CardProps) -> Option<Html> {
    let (actor, request) = (&props.actor, props.rejected?);
    // The answer to an earlier request may be of another requirement.
    let listed = props.lists.as_ref()?.rejected.as_ref();
    let listed = listed.filter(|it| it.requirement == props.number)?;
    let items = listed.items.iter().map(|it| {
        let note = html! { <span class="quiet">{ prose(&it.reason.text) }</span> };
        item(props, &it.server, it.tool.as_deref(), note)
    });
    let stage = props.requirement.funnel.get(request.check as usize);
    let heading = html! {
        <>
            { format!("{} held back: ", count(listed.total, noun(&props.requirement))) }
            { for stage.map(|stage| code(stage.code)) }
        </>
    };
    Some(list(
        actor,
        heading,
        numbers(listed),
        html! { <ul>{ for items }</ul> },
        |wanted, limit| {
            let request = wanted.rejected.zip(limit);
            wanted.rejected = request.map(|(it, limit)| RejectedRequest { limit, ..it });
        },
    ))
}

/// Shows the eligible candidates in order, and the rule on which each lost.
fn eligible(props: &CardProps) -> Option<Html> {
    let (actor, requirement) = (&props.actor, props.number);
    let Outcome::Selected(selected) = &props.requirement.outcome else {
        return None;
    };
    let stage = props.requirement.funnel.last();
    let all = stage.map(|stage| stage.left).filter(|left| *left > 1)?;
    let tool = selected.tool.as_ref().map(|it| &*it.name);
    let how = match tool {
        Some(_) => "How they were ranked",
        None => "How the tie was broken",
    };
    let order = match tool {
        Some(_) => "The higher priority first, then the smaller id, version and name",
        None => "Signed first, then the smaller id, then the smaller version",
    };
    if props.eligible.is_none() {
        let limit = LIST_STEP;
        let request = ListRequest { requirement, limit };
        let open = actor.on(move |state| state.content.wanted.eligible = Some(request));
        return Some(html! {
            <button class="more" onclick={open}>
                { format!("{how}: {} eligible", thousands(all)) }
            </button>
        });
    }
    let listed = props.lists.as_ref().and_then(|it| it.eligible.as_ref());
    let listed = listed.filter(|it| it.requirement == requirement);
    let items = listed.into_iter().flat_map(|listed| &listed.items);
    let items = items.map(|it| {
        let note = html! { <span class="quiet">{ format!("lost: {}", it.text) }</span> };
        item(props, &it.server, it.tool.as_deref(), note)
    });
    let note = html! { <span class="yes">{ "selected" }</span> };
    let first = item(props, &selected.server, tool, note);
    let items = html! { <ol>{ first }{ for items }</ol> };
    Some(list(
        actor,
        html! { { order } },
        listed.map(numbers).unwrap_or_default(),
        items,
        |wanted, limit| {
            let request = wanted.eligible.zip(limit);
            wanted.eligible = request.map(|(it, limit)| ListRequest { limit, ..it });
        },
    ))
}
