//! The record of a candidate: every check of a server or a tool for a requirement, in order, with
//! its outcome and the values compared \[0, 2.1; 4, 5\].

use super::Rejection;
use super::failures::Failures;
use super::matching::Matching;
use super::resolve::Resolution;
use super::trace::{CheckOutcome, SkipCause};
use agent_diagnostic::Code;
use agent_model::{
    ConstraintKey, Constraints, HealthStatus, Name, Residency, ResidencySet, Sensitivity,
    ServerView, ToolView,
};
use agent_text::Span;

/// A check of a candidate, as it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check<'r> {
    /// The code of a failure.
    pub code: Code,
    /// Its outcome. A policy and a snapshot of health are consulted only where they are given, and
    /// only about candidates that passed everything before.
    pub outcome: CheckOutcome<Code>,
    /// The values that were compared.
    pub compared: Comparison<'r>,
}

/// The values that a check compared: the required ones, and those of the candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison<'r> {
    /// The category and those of the server.
    Category(&'r str, Vec<&'r str>),
    /// The permissions and the scopes of the server.
    Scopes(Vec<&'r str>, Vec<&'r str>),
    /// The required residency, if any, and that of the server.
    Residency(Option<Residency>, ResidencySet),
    /// The required sensitivity, if any, and the most sensitive data that the server may hold.
    Sensitivity(Option<Sensitivity>, Sensitivity),
    /// Whether a signature is required, and whether there is one.
    Signature(bool, bool),
    /// The required pair of verb and resource, and those that the tool advertises.
    Capability(String, Vec<&'r str>),
    /// The required constraints, and those of each advertised block of the pair.
    Constraints(Vec<&'r str>, Vec<Vec<&'r str>>),
    /// Whether any label is forbidden, the tool, and the label that forbids it.
    Action(bool, &'r str, Option<&'r str>),
    /// The denial of the policy; none if it allows the tool.
    Policy(Option<Rejection<'r>>),
    /// The status of the server in the snapshot.
    Health(Option<HealthStatus>),
}

fn outcome(failed: Failures, code: Code) -> CheckOutcome<Code> {
    match failed.contains(code) {
        true => CheckOutcome::Failed,
        false => CheckOutcome::Passed,
    }
}

/// The checks of data and trust, which servers and tools have in common.
fn constraint_checks<'r>(
    constraints: &Constraints,
    failed: Failures,
    constraint_key: ConstraintKey,
) -> [Check<'r>; 3] {
    let check = |code, compared| Check {
        code,
        outcome: outcome(failed, code),
        compared,
    };
    [
        check(
            Code::ResidencyMismatch,
            Comparison::Residency(constraints.residency(), constraint_key.residency()),
        ),
        check(
            Code::SensitivityExceeded,
            Comparison::Sensitivity(constraints.sensitivity(), constraint_key.max_sensitivity()),
        ),
        check(
            Code::UnsignedNotAllowed,
            Comparison::Signature(constraints.require_signed(), constraint_key.signed()),
        ),
    ]
}

impl Resolution {
    /// Returns the record of a server for a requirement.
    pub fn checks<'r>(&'r self, number: usize, server: ServerView<'r>) -> Vec<Check<'r>> {
        let requirement = &self.manifest().requirements[number];
        let failed = self.failures(number, server);
        let permissions = requirement.permissions.iter();
        let category = Comparison::Category(
            requirement.category.value.as_str(),
            server.categories().collect(),
        );
        let scopes = Comparison::Scopes(
            permissions.map(|it| it.value.as_str()).collect(),
            server.scopes().collect(),
        );
        let own = [
            (Code::MissingCategory, category),
            (Code::MissingScope, scopes),
        ];
        let own = own.map(|(code, compared)| Check {
            code,
            outcome: outcome(failed, code),
            compared,
        });
        let shared = constraint_checks(self.constraints(), failed, server.constraint_key());
        own.into_iter().chain(shared).collect()
    }
}

impl Matching {
    /// Returns the record of a tool for a requirement of a capability.
    pub fn checks<'r>(&'r self, number: usize, tool: ToolView<'r>) -> Vec<Check<'r>> {
        let capability = &self.requirement(number).capability;
        let failed = self.failures(number, tool);
        let reasons = self.reasons(number, tool);
        let pair = capability.pair();
        let blocks = tool.advertised().filter(|block| block.pair() == pair);
        let blocks = blocks.map(|block| block.tags().collect()).collect();
        let required = capability.constraints.iter().map(Name::as_str).collect();
        let check = |code, compared| Check {
            code,
            outcome: outcome(failed, code),
            compared,
        };
        let mut checks = vec![
            check(
                Code::MissingCapability,
                Comparison::Capability(pair, tool.pairs()),
            ),
            check(
                Code::ConstraintUnmet,
                Comparison::Constraints(required, blocks),
            ),
        ];
        if failed.contains(Code::MissingCapability) {
            checks[1].outcome = CheckOutcome::Skipped(SkipCause::Failed(Code::MissingCapability));
        }
        checks.extend(constraint_checks(
            self.constraints(),
            failed,
            tool.server().constraint_key(),
        ));
        let label = reasons.iter().find_map(|reason| match reason {
            Rejection::ForbiddenAction { label } => Some(*label),
            _ => None,
        });
        let forbids = !self.constraints().forbid.is_empty();
        checks.push(check(
            Code::ForbiddenAction,
            Comparison::Action(forbids, tool.name(), label),
        ));
        let asked = [Code::PolicyDenied, Code::PolicyError, Code::HealthVeto];
        let mut earlier = failed.codes().find(|code| !asked.contains(code));
        let mut ask = |code, compared| {
            checks.push(match earlier {
                Some(code_before) => Check {
                    outcome: CheckOutcome::Skipped(SkipCause::Failed(code_before)),
                    ..check(code, compared)
                },
                None => check(code, compared),
            });
            earlier = earlier.or(failed.contains(code).then_some(code));
        };
        if self.policy_decision(number).is_some() {
            let of_policy = |code: &Code| [Code::PolicyDenied, Code::PolicyError].contains(code);
            let denial = reasons.iter().find(|it| of_policy(&it.code())).cloned();
            let code = denial.as_ref().map_or(Code::PolicyDenied, Rejection::code);
            ask(code, Comparison::Policy(denial));
        }
        if let Some(health) = &self.evaluation_context().health {
            let status = health.status(tool.server().id());
            ask(Code::HealthVeto, Comparison::Health(status));
        }
        checks
    }

    /// Returns the place of the label that forbids something, in the manifest.
    pub fn place_of_label(&self, label: &str) -> Option<Span> {
        let forbid = &self.constraints().forbid;
        let found = forbid.iter().find(|known| known.value.as_str() == label)?;
        Some(found.span)
    }
}
