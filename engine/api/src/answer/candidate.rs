//! Verdicts on one candidate, check by check.

use super::convert;
use super::health::switch;
use super::requirement::{best_tool, number, requirement, requirements};
use agent_answer::{CandidateVerdict, Check, Explanation, ServerName};
use agent_decide::{Rejection, Resolution};
use agent_diagnostic::Code;
use agent_explain::{Candidate, CandidateCheck, Decision, Verdict, explain_server, explain_tool};
use agent_model::{ServerView, ToolView};

/// Explains a server for a requirement, or one of its tools. Without the name of a tool, a capability
/// requirement gets the server's best tool. Returns `None` if there is no such requirement, server or
/// tool.
pub fn explanation(
    resolution: &Resolution,
    number: u32,
    server: &ServerName,
    tool: Option<&str>,
) -> Option<Explanation> {
    let decision = requirement(resolution, number)?;
    let mut versions = resolution.index().versions(&server.id);
    let server = versions.find(|it| it.version() == server.version)?;
    let candidate = match (decision, tool) {
        (Decision::Category(..), _) => Candidate::Server(server),
        (Decision::Capability(..), Some(name)) => Candidate::Tool(server.tool(name)?),
        (Decision::Capability(matching, number), None) => {
            let tool = best_tool(matching, number, server);
            tool.map_or(Candidate::Server(server), Candidate::Tool)
        }
    };
    Some(explain(resolution, decision, candidate))
}

/// Explains a server (`id` or `id@version`) for each category requirement and its tools for each
/// capability requirement, or one tool (`id/tool`, `id@version/tool`). Empty if the index has no such
/// server or tool, or nothing is required.
pub fn explanations(resolution: &Resolution, subject: &str) -> Vec<Explanation> {
    let Some(subject) = agent_explain::subject(resolution, subject) else {
        return Vec::new();
    };
    let servers = subject.servers.into_iter();
    let tools = servers.clone().flat_map(ServerView::tools);
    let tools = tools.chain(subject.tools).map(Candidate::Tool);
    let candidates = servers.map(Candidate::Server).chain(tools);
    let explained = candidates.flat_map(|candidate| {
        let is_tool = candidate.tool().is_some();
        let decisions = requirements(resolution, is_tool)
            .filter(move |it| matches!(it, Decision::Capability(..)) == is_tool);
        decisions.map(move |decision| explain(resolution, decision, candidate))
    });
    explained.collect()
}

fn explain(
    resolution: &Resolution,
    decision: Decision<'_>,
    candidate: Candidate<'_>,
) -> Explanation {
    let (server, tool) = (candidate.server(), candidate.tool());
    let found = match (decision, tool) {
        (Decision::Category(_, number), _) => explain_server(resolution, number, server),
        (Decision::Capability(matching, number), Some(tool)) => {
            explain_tool(matching, number, tool)
        }
        (Decision::Capability(..), None) => return without_tools(resolution, decision, server),
    };
    let others = tool.iter().flat_map(|tool| {
        let others = server.tools().map(|other| (other.number(), other.name()));
        others.filter(|(number, _)| *number != tool.number())
    });
    let rejected = found.verdict.rejected();
    let reasons = rejected.map(|it| convert::reasons(it.reasons.as_slice()));
    let suppositions = rejected.map(convert::suppositions);
    let fixes = rejected.map(|it| convert::fixes(decision, it, true));
    let checks = found.checks.into_iter();
    Explanation {
        requirement: number(resolution, decision),
        server: convert::server(server),
        tool: tool.map(convert::tool_entry),
        others: others.map(|(_, name)| name.to_owned()).collect(),
        verdict: match found.verdict {
            Verdict::Selected => CandidateVerdict::Selected,
            Verdict::Eligible(rule) => {
                CandidateVerdict::Eligible(agent_explain::lost(rule).to_owned())
            }
            Verdict::Rejected(_) => CandidateVerdict::Rejected,
        },
        checks: checks.map(|it| check(it, server, tool)).collect(),
        reasons: reasons.unwrap_or_default(),
        fixes: fixes.unwrap_or_default(),
        suppositions: suppositions.unwrap_or_default(),
        health: match decision {
            Decision::Category(..) => None,
            Decision::Capability(matching, _) => Some(switch(matching, server)),
        },
    }
}

/// Explains a server without tools for a capability requirement.
fn without_tools(
    resolution: &Resolution,
    decision: Decision<'_>,
    server: ServerView<'_>,
) -> Explanation {
    let required = decision.required();
    let reason = Rejection::MissingCapability {
        offered: Vec::new(),
    };
    let failed = CandidateCheck {
        code: reason.code(),
        required: Some(required.name),
        offered: String::new(),
        passed: false,
        required_at: Some(required.place),
    };
    Explanation {
        requirement: number(resolution, decision),
        server: convert::server(server),
        tool: None,
        others: Vec::new(),
        verdict: CandidateVerdict::Rejected,
        checks: vec![check(failed, server, None)],
        reasons: convert::reasons(&[reason]),
        fixes: Vec::new(),
        suppositions: Vec::new(),
        health: None,
    }
}

fn check(check: CandidateCheck, server: ServerView<'_>, tool: Option<ToolView<'_>>) -> Check {
    let (asked_at, offered_at) = match check.code {
        // A snapshot offers a status. It requires nothing.
        Code::HealthVeto => (None, check.required_at),
        Code::MissingCapability
        | Code::ConstraintUnmet
        | Code::ForbiddenAction
        | Code::InvisibleCharacter => (check.required_at, tool.map(ToolView::place)),
        code => (check.required_at, agent_explain::offered_at(server, code)),
    };
    Check {
        code: check.code,
        name: agent_explain::check_name(check.code).to_owned(),
        required: check.required,
        offered: check.offered,
        passed: check.passed,
        asked_at,
        offered_at,
    }
}
