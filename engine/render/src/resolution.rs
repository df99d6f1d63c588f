//! `agents.resolution.json` \[0, 3.2; 4\].

use super::json::{ObjectMembers, write_agent, write_constraints, write_reason};
use super::requirement::{
    write_chosen, write_eligible, write_fallback, write_load, write_only, write_required,
    write_serve,
};
use agent_decide::{Assessment, Matching, Rejection, Resolution};
use agent_diagnostic::{Code, Diagnostic};
use agent_explain::{Candidate, Decision};
use agent_lower::definition_digest;
use agent_model::{Name, ServerView, ToolView};
use agent_syntax::json::Writer;
use agent_text::sort::sort_by_key;

/// The largest full explanation that is written, in bytes.
pub const FULL_LIMIT: usize = 256 << 20;

/// Returns the text of `agents.resolution.json`.
///
/// # Errors
/// [`Code::ExplanationTooLarge`] if it would exceed [`FULL_LIMIT`].
pub fn resolution(resolution: &Resolution) -> Result<String, Box<Diagnostic>> {
    full(|w| write_members(w, resolution, FULL_LIMIT))
}

/// Returns the whole lines of `agents.resolution.json` within its first `limit` bytes, and whether these are all.
pub fn resolution_beginning(resolution: &Resolution, limit: usize) -> (String, bool) {
    let mut w = Writer::pretty();
    w.object(|w| write_members(w, resolution, limit));
    let mut text = w.finish();
    if text.len() <= limit {
        return (text, true);
    }
    let end = text.as_bytes()[..limit].iter().rposition(|it| *it == b'\n');
    text.truncate(end.map_or(0, |end| end + 1));
    (text, false)
}

fn write_members(w: &mut Writer, resolution: &Resolution, limit: usize) {
    let manifest = resolution.manifest();
    w.key("agent").object(|w| write_agent(w, &manifest.agent));
    w.key("constraints")
        .object(|w| write_constraints(w, &manifest.constraints));
    w.key("requirements")
        .array(|w| write_requirements(w, Decision::all(resolution), limit));
    w.key("satisfied").bool(resolution.satisfied());
}

/// Returns the explanation of a task without an agent, as `agent match` prints it.
///
/// # Errors
/// [`Code::ExplanationTooLarge`] if it would exceed [`FULL_LIMIT`].
pub fn matching(matching: &Matching) -> Result<String, Box<Diagnostic>> {
    full(|w| {
        w.key("constraints")
            .object(|w| write_constraints(w, matching.constraints()));
        w.key("requirements")
            .array(|w| write_requirements(w, Decision::of_capabilities(matching), FULL_LIMIT));
        w.key("satisfied").bool(matching.satisfied());
        let task = matching.evaluation_context().task.as_ref();
        w.optional_object("task", task, |w, task| {
            w.key("id").string(task.id.as_str());
        });
    })
}

fn full(members: impl FnOnce(&mut Writer)) -> Result<String, Box<Diagnostic>> {
    let mut w = Writer::pretty();
    w.object(members);
    if w.len() < FULL_LIMIT {
        return Ok(w.finish());
    }
    let message = format!("the full explanation would exceed {} MiB", FULL_LIMIT >> 20);
    let help =
        "use `agent resolve --explain=compact`, which writes the same in a fraction of the size";
    let diagnostic = Diagnostic::new(Code::ExplanationTooLarge, message).help(help);
    Err(Box::new(diagnostic))
}

/// Writes requirements, and stops behind `limit` bytes.
fn write_requirements<'r>(
    w: &mut Writer,
    decisions: impl Iterator<Item = Decision<'r>>,
    limit: usize,
) {
    for decision in decisions {
        if w.len() > limit {
            return;
        }
        w.object(|w| write_requirement(w, decision, limit));
    }
}

fn write_requirement(w: &mut Writer, decision: Decision<'_>, limit: usize) {
    write_required(w, decision);
    let mut eligible: Vec<_> = decision.eligible().collect();
    sort_by_key(&mut eligible, |candidate| match candidate {
        Candidate::Server(server) => (server.id(), server.version(), ""),
        Candidate::Tool(tool) => (tool.server().id(), tool.server().version(), tool.name()),
    });
    w.objects("eligible", eligible, |w, other| {
        write_eligible(w, decision, other);
    });
    write_fallback(w, decision);
    write_load(w, decision);
    write_only(w, decision);
    match decision {
        Decision::Category(resolution, number) => {
            w.key("permissions").strings(decision.required().details);
            w.key("rejected")
                .array(|w| write_rejected_servers(w, resolution, number, limit));
        }
        Decision::Capability(matching, number) => {
            w.key("rejected")
                .array(|w| write_rejected_tools(w, matching, number, limit));
        }
    }
    write_chosen(w, decision, |w, selected| {
        let tool = selected.tool();
        if let Some(tool) = tool {
            w.key("definition").string(&definition_digest(tool));
        }
        w.key("hash").optional(decision.hash().as_deref());
        w.key("id").string(selected.server().id());
        if let Some(tool) = tool {
            w.key("tool").string(tool.name());
        }
        w.key("version").string(selected.server().version());
    });
    write_serve(w, decision);
}

/// Writes the rejected servers by id and version. Stops behind `limit` bytes.
fn write_rejected_servers(w: &mut Writer, resolution: &Resolution, number: usize, limit: usize) {
    for server in resolution.rejected(number) {
        if w.len() > limit {
            return;
        }
        let reasons = match resolution.assess(number, server) {
            Assessment::Rejected(reasons) => reasons,
            Assessment::Eligible => continue,
        };
        w.object(|w| {
            w.key("id").string(server.id());
            w.objects("reasons", reasons.as_slice(), write_reason);
            w.key("version").string(server.version());
        });
    }
}

/// Writes the rejected tools and the servers without tools, by id, version and tool. Stops behind
/// `limit` bytes.
fn write_rejected_tools(w: &mut Writer, matching: &Matching, number: usize, limit: usize) {
    fn write(
        w: &mut Writer,
        server: ServerView<'_>,
        tool: Option<ToolView<'_>>,
        reasons: &[Rejection<'_>],
    ) {
        w.object(|w| {
            w.key("id").string(server.id());
            w.objects("reasons", reasons, write_reason);
            w.key("tool").optional(tool.map(|tool| tool.name()));
            w.key("version").string(server.version());
        });
    }
    let index = matching.index();
    for server in index.by_name().iter().map(|rank| index.server(*rank)) {
        if w.len() > limit {
            return;
        }
        if server.tools().len() == 0 {
            let offered = Vec::new();
            let reasons = [Rejection::MissingCapability { offered }];
            write(w, server, None, &reasons);
        }
        for tool in server.tools() {
            let reasons = matching.reasons(number, tool);
            if !reasons.is_empty() {
                write(w, server, Some(tool), &reasons);
            }
        }
    }
}
