//! Requirements of capabilities, as the explanation has them \[4\].

use super::lock::write_capability;
use super::resolution::{FULL_LIMIT, too_large, write_constraints, write_reason};
use agent_decide::{Matching, hash};
use agent_diagnostic::Diagnostic;
use agent_lower::definition_digest;
use agent_model::Name;
use agent_syntax::json::Writer;
use agent_text::sort::sort_by_key;

/// What `agent match` prints: the explanation of a task without an agent.
///
/// # Errors
/// [`Code::ExplanationTooLarge`](agent_diagnostic::Code::ExplanationTooLarge) if it would pass
/// [`FULL_LIMIT`].
pub fn matching(matching: &Matching) -> Result<String, Diagnostic> {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("constraints")
            .object(|w| write_constraints(w, matching.constraints()));
        w.key("requirements")
            .array(|w| write_requirements(w, matching));
        w.key("satisfied").bool(matching.satisfied());
        w.key("task");
        match &matching.evaluation_context().task {
            None => w.null(),
            Some(task) => w.object(|w| w.key("id").string(task.id.as_str())),
        }
    });
    if w.len() >= FULL_LIMIT {
        return Err(too_large());
    }
    Ok(w.finish())
}

/// An element for each requirement. Stops behind [`FULL_LIMIT`].
pub(super) fn write_requirements(w: &mut Writer, matching: &Matching) {
    for number in 0..matching.len() {
        if w.len() > FULL_LIMIT {
            return;
        }
        w.object(|w| write_requirement(w, matching, number));
    }
}

fn write_requirement(w: &mut Writer, matching: &Matching, number: usize) {
    let requirement = matching.requirement(number);
    let selected = matching.selected(number);
    w.key("capability")
        .object(|w| write_capability(w, &requirement.capability));
    w.key("eligible").array(|w| {
        let Some(selected) = selected else { return };
        let mut eligible: Vec<_> = matching.eligible(number).skip(1).collect();
        sort_by_key(&mut eligible, |tool| tool.number());
        for tool in eligible {
            w.object(|w| {
                w.key("id").string(tool.server().id());
                w.key("lostOn")
                    .string(matching.preference(selected, tool).name());
                w.key("tool").string(tool.name());
                w.key("version").string(tool.server().version());
            });
        }
    });
    w.key("load").string(requirement.load.as_str());
    w.key("rejected")
        .array(|w| write_rejected(w, matching, number));
    w.key("selected");
    match selected {
        None => w.null(),
        Some(tool) => w.object(|w| {
            w.key("definition").string(&definition_digest(tool));
            w.key("hash").string(&hash(tool));
            w.key("id").string(tool.server().id());
            w.key("tool").string(tool.name());
            w.key("version").string(tool.server().version());
        }),
    }
}

/// Every tool that is rejected, and every server that has none: by id, version, tool.
fn write_rejected(w: &mut Writer, matching: &Matching, number: usize) {
    let index = matching.index();
    let servers = index.by_name().iter().map(|rank| index.server(*rank));
    for server in servers {
        if w.len() > FULL_LIMIT {
            return;
        }
        if server.tools().len() == 0 {
            w.object(|w| {
                w.key("id").string(server.id());
                w.key("reasons").array(|w| {
                    let offered = Vec::new();
                    write_reason(w, &agent_decide::Rejection::MissingCapability { offered });
                });
                w.key("tool").null();
                w.key("version").string(server.version());
            });
        }
        for tool in server.tools() {
            let reasons = matching.reasons(number, tool);
            if reasons.is_empty() {
                continue;
            }
            w.object(|w| {
                w.key("id").string(server.id());
                w.key("reasons")
                    .array(|w| reasons.iter().for_each(|reason| write_reason(w, reason)));
                w.key("tool").string(tool.name());
                w.key("version").string(server.version());
            });
        }
    }
}
