//! Explanations of candidates: the verdict on a server or a tool, with every check.

use super::decision::{Candidate, Decision, LostOn, RejectedCandidate};
use agent_decide::{CheckOutcome, Comparison, Matching, Rejection, Resolution};
use agent_diagnostic::Code;
use agent_model::{Name as _, Residency, ServerView, ToolView};
use agent_text::{Place, visible};

/// A check in words, with the values that it compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateCheck {
    /// The code of a failure.
    pub code: Code,
    /// The required value, if one is required.
    pub required: Option<String>,
    /// The value of the candidate.
    pub offered: String,
    /// Whether the candidate passed.
    pub passed: bool,
    /// The place of the required value, or of the status in a health snapshot.
    pub required_at: Option<Place>,
}

/// The verdict on a candidate.
#[derive(Debug, Clone)]
pub enum Verdict<'r> {
    /// It was selected.
    Selected,
    /// It is eligible, and lost by this rule.
    Eligible(LostOn),
    /// It is not eligible.
    Rejected(RejectedCandidate<'r>),
}

impl<'r> Verdict<'r> {
    /// Returns the word for it in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::Eligible(_) => "eligible",
            Self::Rejected(_) => "rejected",
        }
    }

    /// Returns the rule that ranked an eligible candidate lower.
    pub fn lost_on(&self) -> Option<LostOn> {
        match self {
            Self::Eligible(rule) => Some(*rule),
            Self::Selected | Self::Rejected(_) => None,
        }
    }

    /// Returns the reasons and fixes of a rejected candidate.
    pub fn rejected(&self) -> Option<&RejectedCandidate<'r>> {
        match self {
            Self::Rejected(rejected) => Some(rejected),
            Self::Selected | Self::Eligible(_) => None,
        }
    }
}

/// The explanation of one candidate for one requirement.
#[derive(Debug, Clone)]
pub struct CandidateExplanation<'r> {
    /// The requirement.
    pub decision: Decision<'r>,
    /// The candidate.
    pub candidate: Candidate<'r>,
    /// The verdict on it.
    pub verdict: Verdict<'r>,
    /// Every check that was made, in order. A policy and a health snapshot count only where they
    /// are given, and only for a tool that passed all other checks.
    pub checks: Vec<CandidateCheck>,
}

/// Explains the verdict on a server for a required category.
pub fn explain_server<'r>(
    resolution: &'r Resolution,
    number: usize,
    server: ServerView<'r>,
) -> CandidateExplanation<'r> {
    explanation(
        Decision::Category(resolution, number),
        Candidate::Server(server),
        resolution.near(number, server).map(Into::into),
        resolution.checks(number, server),
    )
}

/// Explains the verdict on a tool for a required capability.
pub fn explain_tool<'r>(
    matching: &'r Matching,
    number: usize,
    tool: ToolView<'r>,
) -> CandidateExplanation<'r> {
    explanation(
        Decision::Capability(matching, number),
        Candidate::Tool(tool),
        matching.near(number, tool).map(Into::into),
        matching.checks(number, tool),
    )
}

fn explanation<'r>(
    decision: Decision<'r>,
    candidate: Candidate<'r>,
    rejected: Option<RejectedCandidate<'r>>,
    record: Vec<agent_decide::Check<'_>>,
) -> CandidateExplanation<'r> {
    let eligible = || decision.lost_on(candidate).map(Verdict::Eligible);
    let made = record.iter().filter_map(|check| {
        let passed = match check.outcome {
            CheckOutcome::Passed => true,
            CheckOutcome::Failed => false,
            CheckOutcome::Deferred | CheckOutcome::Skipped(_) => return None,
        };
        let (required, offered) = values(&check.compared);
        Some(CandidateCheck {
            code: check.code,
            required,
            offered,
            passed,
            required_at: required_at(decision, candidate, check),
        })
    });
    CandidateExplanation {
        decision,
        candidate,
        verdict: match rejected {
            Some(rejected) => Verdict::Rejected(rejected),
            None => eligible().unwrap_or(Verdict::Selected),
        },
        checks: made.collect(),
    }
}

/// Returns the required value and that of the candidate.
fn values(compared: &Comparison<'_>) -> (Option<String>, String) {
    let list = |names: &[&str]| names.join(", ");
    let required = |names: &[&str]| (!names.is_empty()).then(|| list(names));
    match compared {
        Comparison::Category(category, offered) => (Some((*category).to_owned()), list(offered)),
        Comparison::Tools(names, offered) | Comparison::Scopes(names, offered) => {
            (required(names), list(offered))
        }
        Comparison::Residency(required, offered) => {
            let offered: Vec<_> = offered.iter().map(Residency::as_str).collect();
            (required.map(|it| it.as_str().to_owned()), list(&offered))
        }
        Comparison::Sensitivity(required, offered) => (
            required.map(|it| it.as_str().to_owned()),
            offered.as_str().to_owned(),
        ),
        Comparison::Signature(required, signed) => (
            required.then(|| "signed".to_owned()),
            if *signed { "signed" } else { "unsigned" }.to_owned(),
        ),
        Comparison::Capability(pair, offered) => (Some(pair.clone()), list(offered)),
        Comparison::Constraints(tags, blocks) => {
            let blocks: Vec<_> = blocks.iter().map(|tags| list(tags)).collect();
            (required(tags), blocks.join("; or "))
        }
        Comparison::Action(forbids, tool, _) => (
            forbids.then(|| "not forbidden".to_owned()),
            (*tool).to_owned(),
        ),
        Comparison::HiddenText(hidden) => {
            let hidden = hidden.as_ref().map(|(pointer, character)| {
                format!("U+{:04X} at {}", u32::from(*character), visible(pointer))
            });
            let none = || "no hidden text".to_owned();
            (Some(none()), hidden.unwrap_or_else(none))
        }
        Comparison::Policy(denial) => {
            let answer = match denial {
                Some(Rejection::PolicyError { reason }) => reason.name().to_owned(),
                Some(Rejection::PolicyDenied {
                    reason: Some(reason),
                }) => format!("denied: {reason}"),
                Some(_) => "denied".to_owned(),
                None => "allowed".to_owned(),
            };
            (Some("allowed".to_owned()), answer)
        }
        Comparison::Health(status) => (
            Some("HEALTHY or PROBATION".to_owned()),
            status.map_or("unknown", |it| it.as_str()).to_owned(),
        ),
    }
}

/// Returns the place of the value that a check requires.
fn required_at(
    decision: Decision<'_>,
    candidate: Candidate<'_>,
    check: &agent_decide::Check<'_>,
) -> Option<Place> {
    match (decision, check.code) {
        (_, Code::MissingCategory | Code::MissingCapability) => Some(decision.required().place),
        // The first tool or scope that the server lacks: the others are fine.
        (Decision::Category(resolution, number), Code::ToolMissing) => {
            let only = &resolution.manifest().requirements[number].only;
            let lacks = |tool: &str| match &check.compared {
                Comparison::Tools(_, offered) => offered.binary_search(&tool).is_err(),
                _ => false,
            };
            let missing = only.iter().find(|it| lacks(it.value.as_str()));
            decision.in_manifest(missing.or(only.first())?.span)
        }
        (Decision::Category(resolution, number), Code::MissingScope) => {
            let permissions = &resolution.manifest().requirements[number].permissions;
            let lacks = |scope: &str| match &check.compared {
                Comparison::Scopes(_, offered) => !offered.contains(&scope),
                _ => false,
            };
            let missing = permissions.iter().find(|it| lacks(it.value.as_str()));
            decision.in_manifest(missing.or(permissions.first())?.span)
        }
        (Decision::Capability(matching, number), Code::ConstraintUnmet) => {
            let constraints = &matching.requirement(number).constraints;
            let lacks = |tag: &str| match &check.compared {
                Comparison::Constraints(_, blocks) => !blocks.iter().any(|it| it.contains(&tag)),
                _ => false,
            };
            let missing = constraints.iter().find(|it| lacks(it.value.as_str()));
            Some(matching.place(number, missing.or(constraints.first())?.span))
        }
        (Decision::Capability(matching, _), Code::ForbiddenAction) => match check.compared {
            Comparison::Action(_, _, Some(label)) => {
                decision.in_manifest(matching.place_of_label(label)?)
            }
            _ => None,
        },
        (Decision::Capability(matching, _), Code::HealthVeto) => {
            let health = matching.evaluation_context().health.as_ref()?;
            let (_, span) = health.servers.get(candidate.server().id())?;
            Some(health.text.place(*span))
        }
        (_, code) => decision.constraint_place(code),
    }
}
