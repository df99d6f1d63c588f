//! Verdicts on one candidate, check by check.

use super::convert;
use super::health::switch;
use super::requirement::{Asked, best_tool, requirement};
use agent_answer::{CandidateVerdict, Check, Explanation, ServerName};
use agent_decide::{Rejection, Resolution};
use agent_diagnostic::Code;
use agent_explain::{CandidateCheck, Verdict, explain_server, explain_tool};
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
    let asked = requirement(resolution, number)?;
    let mut versions = resolution.index().versions(&server.id);
    let server = versions.find(|it| it.version() == server.version)?;
    let number = match asked {
        Asked::Category(number) => return Some(of_server(resolution, number, server)),
        Asked::Capability(number) => number,
    };
    let tool = match tool {
        Some(name) => Some(server.tool(name)?),
        None => best_tool(resolution.matching(), number, server),
    };
    Some(match tool {
        Some(tool) => of_tool(resolution, number, tool),
        None => without_tools(resolution, number, server),
    })
}

/// Explains a server (`id` or `id@version`) for each category requirement and its tools for each
/// capability requirement, or one tool (`id/tool`, `id@version/tool`). Empty if the index has no such
/// server or tool, or nothing is required.
pub fn explanations(resolution: &Resolution, subject: &str) -> Vec<Explanation> {
    let Some(subject) = agent_explain::subject(resolution, subject) else {
        return Vec::new();
    };
    let of_servers = subject.servers.iter().flat_map(|server| {
        let requirements = 0..resolution.outcomes().len();
        requirements.map(|number| of_server(resolution, number, *server))
    });
    let tools = subject.servers.iter().flat_map(|server| server.tools());
    let of_tools = tools.chain(subject.tools.iter().copied()).flat_map(|tool| {
        let requirements = 0..resolution.matching().len();
        requirements.map(move |number| of_tool(resolution, number, tool))
    });
    of_servers.chain(of_tools).collect()
}

/// Explains a server for a category requirement.
fn of_server(resolution: &Resolution, number: usize, server: ServerView<'_>) -> Explanation {
    let found = explain_server(resolution, number, server);
    let (verdict, near) = match &found.verdict {
        Verdict::Selected => (CandidateVerdict::Selected, None),
        Verdict::Eligible(lost_on) => {
            let lost_on = agent_explain::lost(*lost_on).to_owned();
            (CandidateVerdict::Eligible(lost_on), None)
        }
        Verdict::Rejected(near) => (CandidateVerdict::Rejected, Some(near)),
    };
    let check = |check: CandidateCheck| Check {
        offered_at: agent_explain::offered_at(server, check.code),
        ..self::check(check)
    };
    Explanation {
        requirement: number as u32,
        server: convert::server(server),
        tool: None,
        others: Vec::new(),
        verdict,
        checks: found.checks.into_iter().map(check).collect(),
        reasons: near.map_or_else(Vec::new, |near| convert::reasons(near.reasons.as_slice())),
        fixes: near.map_or_else(Vec::new, |near| {
            convert::fixes(resolution, number, server, &near.fixes, true)
        }),
        health: None,
    }
}

/// Explains a tool for a capability requirement.
fn of_tool(resolution: &Resolution, number: usize, tool: ToolView<'_>) -> Explanation {
    let matching = resolution.matching();
    let server = tool.server();
    let found = explain_tool(matching, number, tool);
    let (verdict, near) = match &found.verdict {
        Verdict::Selected => (CandidateVerdict::Selected, None),
        Verdict::Eligible(lost_on) => {
            let lost_on = agent_explain::lost(*lost_on).to_owned();
            (CandidateVerdict::Eligible(lost_on), None)
        }
        Verdict::Rejected(near) => (CandidateVerdict::Rejected, Some(near)),
    };
    let others = server
        .tools()
        .filter(|other| other.number() != tool.number());
    let check = |check: CandidateCheck| {
        let (asked_at, offered_at) = match check.code {
            // A snapshot offers a status. It requires nothing.
            Code::HealthVeto => (None, check.required_at),
            Code::MissingCapability | Code::ConstraintUnmet | Code::ForbiddenAction => {
                (check.required_at, Some(tool.place()))
            }
            code => (check.required_at, agent_explain::offered_at(server, code)),
        };
        Check {
            asked_at,
            offered_at,
            ..self::check(check)
        }
    };
    Explanation {
        requirement: (resolution.outcomes().len() + number) as u32,
        server: convert::server(server),
        tool: Some(convert::tool_entry(tool)),
        others: others.map(|other| other.name().to_owned()).collect(),
        verdict,
        checks: found.checks.into_iter().map(check).collect(),
        reasons: near.map_or_else(Vec::new, |near| convert::reasons(near.reasons.as_slice())),
        fixes: near.map_or_else(Vec::new, |near| {
            convert::tool_fixes(matching, server, &near.fixes)
        }),
        health: Some(switch(matching, server)),
    }
}

/// Explains a server without tools for a capability requirement.
fn without_tools(resolution: &Resolution, number: usize, server: ServerView<'_>) -> Explanation {
    let matching = resolution.matching();
    let requirement = matching.requirement(number);
    let reason = Rejection::MissingCapability {
        offered: Vec::new(),
    };
    Explanation {
        requirement: (resolution.outcomes().len() + number) as u32,
        server: convert::server(server),
        tool: None,
        others: Vec::new(),
        verdict: CandidateVerdict::Rejected,
        checks: vec![Check {
            code: reason.code(),
            name: agent_explain::check_name(reason.code()).to_owned(),
            required: Some(requirement.capability.pair()),
            offered: String::new(),
            passed: false,
            asked_at: Some(matching.place(number, requirement.verb_span)),
            offered_at: None,
        }],
        reasons: convert::reasons(&[reason]),
        fixes: Vec::new(),
        health: None,
    }
}

fn check(check: CandidateCheck) -> Check {
    Check {
        code: check.code,
        name: agent_explain::check_name(check.code).to_owned(),
        required: check.required,
        offered: check.offered,
        passed: check.passed,
        asked_at: check.required_at,
        offered_at: None,
    }
}
