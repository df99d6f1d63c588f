//! What a resolution came to.

use super::report::write_place;
use super::resolution::{write_agent, write_constraints};
use super::story::{tell_funnel, tell_reasons, write_fixes, write_reasons};
use super::styled::{Style, Styled, StyledSpan, count};
use super::tools;
use agent_decide::{Matching, NearMiss, Resolution, TieBreak};
use agent_lower::integrity;
use agent_model::Name;
use agent_syntax::json::Writer;

/// How many of the nearest servers are shown for an unsatisfied requirement.
pub(super) const NEAREST: usize = 5;

/// How many of the servers are named that would have done as well.
pub(super) const ELIGIBLE: usize = 5;

/// What was selected and why; what could not be, the reasons, and the nearest fixes.
pub fn summary(resolution: &Resolution) -> Vec<StyledSpan> {
    let manifest = resolution.manifest();
    let mut out = Styled::default();
    out.put(Style::Heading, manifest.agent.name.as_str())
        .plain(format!(" {}", manifest.agent.version))
        .plain(format!(
            ": {}, {} in the index",
            count(
                manifest.requirements.len() + resolution.matching().len(),
                "requirement"
            ),
            count(resolution.index().len(), "server"),
        ))
        .end();
    for number in 0..manifest.requirements.len() {
        out.end();
        requirement(&mut out, resolution, number);
    }
    requirements_of_tools(&mut out, resolution.matching());
    out.finish()
}

/// As [`summary`], of a task without an agent.
pub fn match_summary(matching: &Matching) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    let task = matching.evaluation_context().task.as_ref();
    let id = task.map_or("no task", |task| task.id.as_str());
    out.put(Style::Heading, id)
        .plain(format!(
            ": {}, {} of {} in the index",
            count(matching.len(), "requirement"),
            count(matching.index().tool_count(), "tool"),
            count(matching.index().len(), "server"),
        ))
        .end();
    requirements_of_tools(&mut out, matching);
    out.finish()
}

fn requirements_of_tools(out: &mut Styled, matching: &Matching) {
    for number in 0..matching.len() {
        out.end();
        tools::requirement(out, matching, number);
    }
}

fn write_requirements_of_tools(w: &mut Writer, matching: &Matching) {
    for number in 0..matching.len() {
        w.object(|w| tools::write_requirement(w, matching, number));
    }
}

/// The mark of a yes or a no.
pub(super) fn mark(out: &mut Styled, yes: bool) -> &mut Styled {
    if yes {
        out.put(Style::Accepted, "✓ ")
    } else {
        out.put(Style::Rejected, "✗ ")
    }
}

/// One requirement and its answer.
pub(super) fn requirement(out: &mut Styled, resolution: &Resolution, number: usize) {
    let requirement = &resolution.manifest().requirements[number];
    let selected = resolution.selected(number);
    mark(out, selected.is_some()).put(Style::Heading, requirement.category.value.as_str());
    let scopes: Vec<_> = requirement
        .permissions
        .iter()
        .map(|permission| permission.value.as_str())
        .collect();
    if !scopes.is_empty() {
        out.dim(format!("  {}", scopes.join(", ")));
    }
    out.end();
    match selected {
        Some(server) => {
            out.plain("  ")
                .name(server.id())
                .plain(format!(" {}", server.version()))
                .dim(format!("  {}", server.endpoint()))
                .end();
            let mut others = resolution.eligible(number).skip(1);
            for other in others.by_ref().take(ELIGIBLE) {
                let lost_on = match TieBreak::between(server, other) {
                    TieBreak::Signed => "it is not signed",
                    TieBreak::Id => "its id is later in order",
                    TieBreak::Version => "its version is later in order",
                };
                out.dim(format!(
                    "  over {} {}: {lost_on}",
                    other.id(),
                    other.version()
                ))
                .end();
            }
            let more = others.count();
            if more > 0 {
                out.dim(format!("  and over {more} more")).end();
            }
            funnel(out, resolution, number);
        }
        None => {
            out.plain("  no server is eligible").end();
            funnel(out, resolution, number);
            for near in resolution.nearest(number, NEAREST) {
                nearest(out, &near);
            }
        }
    }
}

fn funnel(out: &mut Styled, resolution: &Resolution, number: usize) {
    let funnel = resolution.funnel(number);
    let stages = [
        ("category", funnel.category),
        ("scopes", funnel.scopes),
        ("residency", funnel.residency),
        ("sensitivity", funnel.sensitivity),
        ("signature", funnel.signature),
    ];
    tell_funnel(out, (funnel.all, "server"), &stages);
}

/// A rejected server, why, and what would change that.
pub(super) fn nearest(out: &mut Styled, near: &NearMiss<'_>) {
    out.plain("  ")
        .name(near.server.id())
        .plain(format!(" {}", near.server.version()))
        .end();
    tell_reasons(out, &near.reasons, &near.fixes);
}

/// As [`summary`], as JSON that ends with a newline: with the places in both inputs and the five
/// nearest servers of each unsatisfied requirement.
pub fn summary_json(resolution: &Resolution) -> String {
    let manifest = resolution.manifest();
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("agent").object(|w| write_agent(w, &manifest.agent));
        w.key("constraints")
            .object(|w| write_constraints(w, &manifest.constraints));
        w.key("requirements").array(|w| {
            for number in 0..manifest.requirements.len() {
                w.object(|w| write_requirement(w, resolution, number));
            }
            write_requirements_of_tools(w, resolution.matching());
        });
        w.key("satisfied").bool(resolution.satisfied());
    });
    w.finish()
}

/// The members of a requirement and its answer.
pub(super) fn write_requirement(w: &mut Writer, resolution: &Resolution, number: usize) {
    let manifest = resolution.manifest();
    let requirement = &manifest.requirements[number];
    let selected = resolution.selected(number);
    w.key("category")
        .string(requirement.category.value.as_str());
    w.key("eligibleFirst").array(|w| {
        let Some(selected) = selected else { return };
        for server in resolution.eligible(number).skip(1).take(ELIGIBLE) {
            w.object(|w| {
                w.key("id").string(server.id());
                w.key("lostOn")
                    .string(TieBreak::between(selected, server).name());
                w.key("version").string(server.version());
            });
        }
    });
    w.key("funnel").object(|w| {
        let funnel = resolution.funnel(number);
        w.key("all").number(funnel.all);
        w.key("category").number(funnel.category);
        w.key("residency").number(funnel.residency);
        w.key("scopes").number(funnel.scopes);
        w.key("sensitivity").number(funnel.sensitivity);
        w.key("signature").number(funnel.signature);
    });
    w.key("nearest").array(|w| {
        if selected.is_none() {
            for near in resolution.nearest(number, NEAREST) {
                w.object(|w| write_near(w, &near));
            }
        }
    });
    w.key("permissions").strings(
        requirement
            .permissions
            .iter()
            .map(|permission| permission.value.as_str()),
    );
    w.key("place")
        .object(|w| write_place(w, &manifest.text.place(requirement.span)));
    w.key("selected");
    match (selected, resolution.hash(number)) {
        (Some(server), Some(hash)) => w.object(|w| {
            w.key("endpoint").string(server.endpoint());
            w.key("hash").string(&hash);
            w.key("id").string(server.id());
            w.key("integrity").string(&integrity(server));
            w.key("place").object(|w| write_place(w, &server.place()));
            w.key("version").string(server.version());
        }),
        _ => w.null(),
    }
}

/// The members of a rejected server.
pub(super) fn write_near(w: &mut Writer, near: &NearMiss<'_>) {
    w.key("fixes").array(|w| write_fixes(w, &near.fixes));
    w.key("id").string(near.server.id());
    w.key("place")
        .object(|w| write_place(w, &near.server.place()));
    w.key("reasons").array(|w| write_reasons(w, &near.reasons));
    w.key("version").string(near.server.version());
}
