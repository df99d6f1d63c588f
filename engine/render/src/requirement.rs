//! Requirements and their answers, as text and as JSON.

use super::candidate::{render_candidate, render_rejected, write_rejected};
use super::json::{ObjectMembers, write_capability, write_names, write_place, write_policy};
use super::styled::{Style, Styled, count};
use agent_explain::{Candidate, Decision, lost, policy_failure};
use agent_lower::{definition_digest, integrity};
use agent_model::{Load, Tools};
use agent_syntax::json::Writer;
use agent_text::sort::sort_by_key;

/// Maximum number of rejected candidates for an unsatisfied requirement.
const NEAREST: usize = 5;

/// Maximum number of eligible candidates in addition to the selected one.
const ELIGIBLE: usize = 5;

/// Adds a requirement and its answer.
pub(super) fn render_requirement(out: &mut Styled, decision: Decision<'_>) {
    let (required, selected) = (decision.required(), decision.selected());
    out.mark(selected.is_some())
        .put(Style::Heading, required.name);
    if !required.details.is_empty() {
        out.dim(format!("  {}", required.details.join(", ")));
    }
    out.end();
    let Some(selected) = selected else {
        out.plain(format!("  no {} is eligible", decision.noun()))
            .end();
        render_funnel(out, decision);
        if let Some(error) = decision.policy_error() {
            out.plain("  ")
                .put(Style::Code, "POLICY_ERROR")
                .plain(format!(" {}", policy_failure(error)))
                .end();
        }
        for question in decision.did_you_mean() {
            out.put(Style::Accepted, format!("  {question}")).end();
        }
        for (number, near) in decision.nearest(NEAREST).into_iter().enumerate() {
            render_rejected(out, &near);
            // The policy is read again for the nearest alone.
            let facts = match number {
                0 => decision.policy_facts(&near),
                _ => Vec::new(),
            };
            for fact in facts {
                let (name, start) = (fact.place.source.usual_name(), fact.place.start);
                let place = format!("    {name}:{}:{}: ", start.line, start.column);
                out.dim(place).plain(fact.text).end();
            }
        }
        return;
    };
    for chosen in decision.chosen() {
        render_candidate(out, chosen);
        out.dim(format!("  {}", selected.server().endpoint())).end();
        if let (Decision::Capability(matching, number), Some(tool)) = (decision, chosen.tool())
            && matching.needs_approval(number, tool)
        {
            out.put(Style::Warning, "  every call needs the approval of a human")
                .end();
        }
    }
    if decision.load() == Load::OnDemand {
        out.dim("  shown on demand").end();
    }
    if !decision.only().is_empty() {
        out.dim(format!("  only {}", decision.only().join(", ")))
            .end();
    }
    if !decision.serve().is_empty() {
        let served: Vec<_> = decision.serve().iter().map(|it| it.as_str()).collect();
        out.dim(format!("  serves {}", served.join(", "))).end();
    }
    if let Some(fallback) = decision.fallback() {
        let (server, tool) = (fallback.server(), fallback.tool());
        let tool = tool.map_or("", |tool| tool.name());
        let name = format!("{} {} {tool}", server.id(), server.version());
        out.dim(format!("  falls back on {name}")).end();
    }
    let mut others = decision.eligible();
    for other in others.by_ref().take(ELIGIBLE) {
        let (id, version) = (other.server().id(), other.server().version());
        let tool = other.tool().map_or("", |tool| tool.name());
        let space = if tool.is_empty() { "" } else { " " };
        let why = decision.lost_on(other).map_or("", lost);
        out.dim(format!("  over {id} {version}{space}{tool}: {why}"))
            .end();
    }
    let more = others.count();
    if more > 0 {
        out.dim(format!("  and over {more} more")).end();
    }
    render_funnel(out, decision);
}

/// Adds the number of candidates, and how many each stage left.
fn render_funnel(out: &mut Styled, decision: Decision<'_>) {
    let (all, stages) = decision.funnel();
    out.dim(format!("  {} → ", count(all as usize, decision.noun())));
    let mut left = all;
    // A stage that rejects nothing is left out.
    for (name, number) in stages {
        if number < left {
            out.dim(format!("{number} after {name} → "));
            left = number;
        }
    }
    out.dim(format!("{left} eligible")).end();
}

/// Writes the members of a requirement and its answer.
pub(super) fn write_requirement(w: &mut Writer, decision: Decision<'_>) {
    let (required, selected) = (decision.required(), decision.selected());
    write_required(w, decision);
    let others = decision.eligible().take(ELIGIBLE);
    w.objects("eligibleFirst", others, |w, other| {
        write_eligible(w, decision, other);
    });
    write_fallback(w, decision);
    w.key("funnel").object(|w| write_funnel(w, decision));
    write_load(w, decision);
    let nearest = match selected {
        None => decision.nearest(NEAREST),
        Some(_) => Vec::new(),
    };
    w.objects("nearest", &nearest, write_rejected);
    write_only(w, decision);
    if let Decision::Category(..) = decision {
        w.key("permissions").strings(required.details);
    }
    w.key("place").object(|w| write_place(w, &required.whole));
    if let Decision::Capability(matching, number) = decision {
        write_policy(w, matching.policy_decision(number));
    }
    write_chosen(w, decision, |w, it| write_selected(w, decision, it));
    write_serve(w, decision);
}

/// Writes the member `fallback`, which only a capability with a fallback has.
pub(super) fn write_fallback(w: &mut Writer, decision: Decision<'_>) {
    if let Decision::Capability(matching, number) = decision
        && matching.requirement(number).fallback.is_some()
    {
        w.key("fallback").bool(true);
    }
}

/// Writes the member `only`, unless every tool is locked.
pub(super) fn write_only(w: &mut Writer, decision: Decision<'_>) {
    write_names(w, "only", decision.only().into_iter());
}

/// Writes the member `serve`, unless nothing is passed on.
pub(super) fn write_serve(w: &mut Writer, decision: Decision<'_>) {
    write_names(w, "serve", decision.serve().iter().map(|it| it.as_str()));
}

/// Writes the member `load`, which a category has only if its tools are shown on demand.
pub(super) fn write_load(w: &mut Writer, decision: Decision<'_>) {
    let load = decision.load();
    if load == Load::OnDemand || matches!(decision, Decision::Capability(..)) {
        w.key("load").string(load.as_str());
    }
}

/// Writes the member `selected`: with `tools: all` a list, followed by `tools`.
pub(super) fn write_chosen<'r>(
    w: &mut Writer,
    decision: Decision<'r>,
    members: impl FnMut(&mut Writer, Candidate<'r>),
) {
    if decision.tools() == Tools::One {
        return w.optional_object("selected", decision.selected(), members);
    }
    w.objects("selected", decision.chosen(), members);
    w.key("tools").string(Tools::All.as_str());
}

/// Writes the required category or capability.
pub(super) fn write_required(w: &mut Writer, decision: Decision<'_>) {
    match decision {
        Decision::Category(..) => w.key("category").string(&decision.required().name),
        Decision::Capability(matching, number) => {
            let capability = &matching.requirement(number).capability;
            w.key("capability")
                .object(|w| write_capability(w, capability));
        }
    }
}

/// Writes the members of an eligible candidate that was not selected.
pub(super) fn write_eligible(w: &mut Writer, decision: Decision<'_>, other: Candidate<'_>) {
    let lost_on = decision.lost_on(other);
    w.key("id").string(other.server().id());
    w.key("lostOn").optional(lost_on.map(|rule| rule.name()));
    if let Some(tool) = other.tool() {
        w.key("tool").string(tool.name());
    }
    w.key("version").string(other.server().version());
}

fn write_funnel(w: &mut Writer, decision: Decision<'_>) {
    let (all, mut numbers) = decision.funnel();
    match decision {
        Decision::Category(..) => numbers.push(("all", all)),
        Decision::Capability(matching, _) => {
            numbers.push(("servers", matching.index().len() as u32));
            numbers.push(("tools", all));
        }
    }
    sort_by_key(&mut numbers, |(name, _)| *name);
    for (name, number) in numbers {
        w.key(name).number(number);
    }
}

fn write_selected(w: &mut Writer, decision: Decision<'_>, selected: Candidate<'_>) {
    let (server, tool) = (selected.server(), selected.tool());
    if let Some(tool) = tool {
        w.key("definition").string(&definition_digest(tool));
    }
    w.key("endpoint").string(server.endpoint());
    w.key("hash").optional(decision.hash().as_deref());
    w.key("id").string(server.id());
    w.key("integrity").string(integrity(server));
    if let (Decision::Capability(matching, number), Some(tool)) = (decision, tool) {
        w.key("obligations")
            .strings(matching.needs_approval(number, tool).then_some("approval"));
    }
    w.key("place").object(|w| write_place(w, &selected.place()));
    if let Some(tool) = tool {
        w.key("tool").string(tool.name());
    }
    w.key("version").string(server.version());
}
