//! The answers to requirements of capabilities, for people and for programs.

use super::discover::write_server;
use super::lock::write_capability;
use super::report::{Files, write_place};
use super::story::{
    tell_check, tell_funnel, tell_reasons, tell_verdict, write_checks, write_fixes, write_reasons,
};
use super::styled::{Style, Styled, count};
use super::summary::{ELIGIBLE, NEAREST, mark};
use agent_decide::{CapabilityFunnel, Matching, NearTool, PolicyDecision};
use agent_explain::{ToolStory, outranked, policy_error, tool_story};
use agent_lower::{definition_digest, integrity};
use agent_model::{Name, ServerView, ToolView};
use agent_syntax::json::Writer;

/// One requirement and its answer.
pub(super) fn requirement(out: &mut Styled, matching: &Matching, number: usize) {
    let requirement = matching.requirement(number);
    let selected = matching.selected(number);
    heading(out, matching, number);
    out.end();
    let Some(selected) = selected else {
        out.plain("  no tool is eligible").end();
        funnel(out, matching.funnel(number));
        policy_failure(out, matching, number);
        for near in matching.nearest(number, NEAREST) {
            nearest(out, &near);
        }
        return;
    };
    let server = selected.server();
    out.plain("  ")
        .name(server.id())
        .plain(format!(" {} ", server.version()))
        .name(selected.name())
        .dim(format!("  {}", server.endpoint()))
        .end();
    if requirement.load.as_str() != "essential" {
        out.dim(format!(
            "  shown {}",
            requirement.load.as_str().replace('_', " ")
        ))
        .end();
    }
    if matching.needs_approval(number, selected) {
        out.put(Style::Warning, "  every call needs the approval of a human")
            .end();
    }
    let mut others = matching.eligible(number).skip(1);
    for other in others.by_ref().take(ELIGIBLE) {
        out.dim(format!(
            "  over {} {} {}: {}",
            other.server().id(),
            other.server().version(),
            other.name(),
            match matching.preference(selected, other) {
                agent_decide::Preference::Priority => "its priority is lower",
                agent_decide::Preference::Id => "the id of its server is later in order",
                agent_decide::Preference::Version => "the version is later in order",
                agent_decide::Preference::Tool => "its name is later in order",
            }
        ))
        .end();
    }
    let more = others.count();
    if more > 0 {
        out.dim(format!("  and over {more} more")).end();
    }
    funnel(out, matching.funnel(number));
}

/// A requirement, marked as satisfied or not; the line is not ended.
fn heading(out: &mut Styled, matching: &Matching, number: usize) {
    let capability = &matching.requirement(number).capability;
    mark(out, matching.selected(number).is_some()).put(Style::Heading, capability.pair());
    let tags: Vec<_> = capability.constraints.iter().map(Name::as_str).collect();
    if !tags.is_empty() {
        out.dim(format!("  {}", tags.join(", ")));
    }
}

fn policy_failure(out: &mut Styled, matching: &Matching, number: usize) {
    let Some(error) = matching
        .policy_decision(number)
        .and_then(|policy_decision| policy_decision.answer.as_ref().err())
    else {
        return;
    };
    out.plain("  ")
        .put(Style::Code, "POLICY_ERROR")
        .plain(format!(
            " the policy gave no answer: {}: {}",
            policy_error(error.kind),
            error.detail
        ))
        .end();
}

/// The stages that a requirement of a capability goes through, and how many tools each leaves.
pub(super) fn stages(funnel: CapabilityFunnel) -> [(&'static str, u32); 8] {
    [
        ("capability", funnel.capability),
        ("constraints", funnel.constraints),
        ("residency", funnel.residency),
        ("sensitivity", funnel.sensitivity),
        ("signature", funnel.signature),
        ("action", funnel.action),
        ("policy", funnel.policy),
        ("health", funnel.health),
    ]
}

fn funnel(out: &mut Styled, funnel: CapabilityFunnel) {
    tell_funnel(out, (funnel.tools, "tool"), &stages(funnel));
}

/// A rejected tool, why, and what would change that.
pub(super) fn nearest(out: &mut Styled, near: &NearTool<'_>) {
    let server = near.tool.server();
    out.plain("  ")
        .name(server.id())
        .plain(format!(" {} ", server.version()))
        .name(near.tool.name())
        .end();
    tell_reasons(out, &near.reasons, &near.fixes);
}

/// The rejected tools of a requirement that has one, nearest first.
pub(super) fn rejected(out: &mut Styled, matching: &Matching, number: usize, limit: usize) {
    if matching.selected(number).is_none() {
        // The nearest ones were told already.
        return;
    }
    let rejected = matching.nearest(number, limit);
    if !rejected.is_empty() {
        out.end()
            .put(Style::Heading, "  rejected, nearest first")
            .end();
    }
    for near in &rejected {
        nearest(out, near);
    }
}

/// What became of the tools of a server for each requirement of a capability. Those that don't
/// advertise it are counted only.
pub(super) fn tell_server(
    out: &mut Styled,
    matching: &Matching,
    server: ServerView<'_>,
    files: Files<'_>,
) {
    for number in 0..matching.len() {
        let pair = matching.requirement(number).capability.pair();
        let (able, others): (Vec<_>, Vec<_>) = server
            .tools()
            .partition(|tool| tool.advertised().any(|block| block.pair() == pair));
        for tool in able {
            tell(out, matching, number, tool, files);
        }
        if !others.is_empty() {
            out.end()
                .plain("  ")
                .put(Style::Rejected, "✗ ")
                .put(Style::Heading, pair)
                .dim(format!("  {} without it", count(others.len(), "tool")))
                .end();
        }
    }
}

/// What became of a tool for each requirement of a capability.
pub(super) fn tell_tool(
    out: &mut Styled,
    matching: &Matching,
    tool: ToolView<'_>,
    files: Files<'_>,
) {
    let server = tool.server();
    out.put(Style::Heading, tool.name())
        .plain(format!(" of {} {}", server.id(), server.version()))
        .dim(format!("  {}", files.at(&tool.place())))
        .end();
    if let Some(description) = tool.description() {
        let first = description.lines().next().unwrap_or_default();
        out.plain(format!("  {first}")).end();
    }
    for number in 0..matching.len() {
        tell(out, matching, number, tool, files);
    }
}

fn tell(
    out: &mut Styled,
    matching: &Matching,
    number: usize,
    tool: ToolView<'_>,
    files: Files<'_>,
) {
    let story = tool_story(matching, number, tool);
    let requirement = matching.requirement(number);
    let place = matching.place(number, requirement.verb_span);
    tell_verdict(
        out,
        &story.verdict,
        (&requirement.capability.to_string(), Some(tool.name())),
        outranked,
        files.at(&place),
    );
    for check in &story.checks {
        tell_check(out, check, files);
    }
    if let Some(near) = story.verdict.rejected() {
        tell_reasons(out, &near.reasons, &near.fixes);
    }
}

/// The members of a requirement and its answer.
pub(super) fn write_requirement(w: &mut Writer, matching: &Matching, number: usize) {
    let requirement = matching.requirement(number);
    let selected = matching.selected(number);
    w.key("capability")
        .object(|w| write_capability(w, &requirement.capability));
    w.key("eligibleFirst").array(|w| {
        let Some(selected) = selected else { return };
        for tool in matching.eligible(number).skip(1).take(ELIGIBLE) {
            w.object(|w| {
                w.key("id").string(tool.server().id());
                w.key("lostOn")
                    .string(matching.preference(selected, tool).name());
                w.key("tool").string(tool.name());
                w.key("version").string(tool.server().version());
            });
        }
    });
    w.key("funnel").object(|w| {
        let funnel = matching.funnel(number);
        w.key("action").number(funnel.action);
        w.key("capability").number(funnel.capability);
        w.key("constraints").number(funnel.constraints);
        w.key("health").number(funnel.health);
        w.key("policy").number(funnel.policy);
        w.key("residency").number(funnel.residency);
        w.key("sensitivity").number(funnel.sensitivity);
        w.key("servers").number(funnel.servers);
        w.key("signature").number(funnel.signature);
        w.key("tools").number(funnel.tools);
    });
    w.key("load").string(requirement.load.as_str());
    w.key("nearest").array(|w| {
        if selected.is_none() {
            for near in matching.nearest(number, NEAREST) {
                w.object(|w| write_near(w, &near));
            }
        }
    });
    w.key("place")
        .object(|w| write_place(w, &matching.place(number, requirement.span)));
    w.key("policy");
    write_ruling(w, matching.policy_decision(number));
    w.key("selected");
    match selected {
        None => w.null(),
        Some(tool) => w.object(|w| {
            let server = tool.server();
            w.key("definition").string(&definition_digest(tool));
            w.key("endpoint").string(server.endpoint());
            w.key("hash").string(&agent_decide::hash(tool));
            w.key("id").string(server.id());
            w.key("integrity").string(&integrity(server));
            w.key("obligations")
                .strings(matching.needs_approval(number, tool).then_some("approval"));
            w.key("place").object(|w| write_place(w, &tool.place()));
            w.key("tool").string(tool.name());
            w.key("version").string(server.version());
        }),
    }
}

/// What a policy said beside the ids, or null where it was not asked.
pub(super) fn write_ruling(w: &mut Writer, policy_decision: Option<&PolicyDecision>) {
    let Some(policy_decision) = policy_decision else {
        return w.null();
    };
    w.object(|w| {
        w.key("error");
        match &policy_decision.answer {
            Ok(_) => w.null(),
            Err(error) => w.object(|w| {
                w.key("detail").string(&error.detail);
                w.key("place");
                match &error.place {
                    None => w.null(),
                    Some(place) => w.object(|w| write_place(w, place)),
                }
                w.key("reason").string(error.kind.name());
            }),
        }
        w.key("lines")
            .numbers(policy_decision.lines.iter().copied());
    });
}

/// The members of a rejected tool.
pub(super) fn write_near(w: &mut Writer, near: &NearTool<'_>) {
    let server = near.tool.server();
    w.key("fixes").array(|w| write_fixes(w, &near.fixes));
    w.key("id").string(server.id());
    w.key("place")
        .object(|w| write_place(w, &near.tool.place()));
    w.key("reasons").array(|w| write_reasons(w, &near.reasons));
    w.key("tool").string(near.tool.name());
    w.key("version").string(server.version());
}

/// The members of a tool and of its stories.
pub(super) fn write_tool(w: &mut Writer, matching: &Matching, tool: ToolView<'_>) {
    w.key("server").object(|w| write_server(w, tool.server()));
    w.key("stories").array(|w| {
        for number in 0..matching.len() {
            let story = tool_story(matching, number, tool);
            w.object(|w| write_story(w, matching, &story));
        }
    });
    w.key("tool").string(tool.name());
}

/// The members of the story of a tool.
pub(super) fn write_story(w: &mut Writer, matching: &Matching, story: &ToolStory<'_>) {
    let requirement = matching.requirement(story.requirement);
    w.key("capability")
        .object(|w| write_capability(w, &requirement.capability));
    w.key("checks").array(|w| write_checks(w, &story.checks));
    let lost_on = story.verdict.lost_on();
    w.key("lostOn").optional(lost_on.map(|rule| rule.name()));
    w.key("rejected");
    match story.verdict.rejected() {
        Some(near) => w.object(|w| write_near(w, near)),
        None => w.null(),
    }
    w.key("requirement").number(story.requirement as u32);
    w.key("tool").string(story.tool.name());
    w.key("verdict").string(story.verdict.name());
}
