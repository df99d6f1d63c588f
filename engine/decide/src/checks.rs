//! The record of a candidate: every check of a server or a tool for a requirement, in order, with
//! its outcome and the compared values \[0, 2.1; 4, 5\].

use super::failures::Failures;
use super::matching::Matching;
use super::rejection::Rejection;
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
    /// Its outcome. A policy and a health snapshot are consulted only if they are given, and
    /// only about candidates that pass every earlier check.
    pub outcome: CheckOutcome<Code>,
    /// The compared values.
    pub compared: Comparison<'r>,
}

/// The values that a check compared: the required ones, and those of the candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison<'r> {
    /// The category and those of the server.
    Category(&'r str, Vec<&'r str>),
    /// The tools that the requirement names, and those of the server.
    Tools(Vec<&'r str>, Vec<&'r str>),
    /// The permissions and the scopes of the server.
    Scopes(Vec<&'r str>, Vec<&'r str>),
    /// The required residency, if any, and that of the server.
    Residency(Option<Residency>, ResidencySet),
    /// The required sensitivity, if any, and the highest sensitivity that the server may hold.
    Sensitivity(Option<Sensitivity>, Sensitivity),
    /// Whether a signature is required, and whether the server is signed.
    Signature(bool, bool),
    /// The required pair of verb and resource, and those that the tool advertises.
    Capability(String, Vec<&'r str>),
    /// The required constraints, and those of each advertised block of the pair.
    Constraints(Vec<&'r str>, Vec<Vec<&'r str>>),
    /// Whether any label is forbidden, the tool, and the label that forbids it.
    Action(bool, &'r str, Option<&'r str>),
    /// The place and the character of the tool's hidden text, if it has any.
    HiddenText(Option<(String, char)>),
    /// The denial of the policy; none if it allows the tool.
    Policy(Option<Rejection<'r>>),
    /// The status of the server in the snapshot.
    Health(Option<HealthStatus>),
}

impl<'r> Check<'r> {
    fn new(failed: Failures, code: Code, compared: Comparison<'r>) -> Self {
        let outcome = match failed.contains(code) {
            true => CheckOutcome::Failed,
            false => CheckOutcome::Passed,
        };
        Self {
            code,
            outcome,
            compared,
        }
    }

    /// Skips the check if an earlier one failed.
    fn unless(mut self, earlier: Option<Code>) -> Self {
        if let Some(earlier) = earlier {
            self.outcome = CheckOutcome::Skipped(SkipCause::Failed(earlier));
        }
        self
    }
}

/// Returns the checks of data and trust, which servers and tools share.
fn constraint_checks<'r>(
    constraints: &Constraints,
    failed: Failures,
    key: ConstraintKey,
) -> [Check<'r>; 3] {
    let residency = Comparison::Residency(constraints.residency(), key.residency());
    let sensitivity = Comparison::Sensitivity(constraints.sensitivity(), key.max_sensitivity());
    let signature = Comparison::Signature(constraints.require_signed(), key.signed());
    [
        Check::new(failed, Code::ResidencyMismatch, residency),
        Check::new(failed, Code::SensitivityExceeded, sensitivity),
        Check::new(failed, Code::UnsignedNotAllowed, signature),
    ]
}

impl Resolution {
    /// Returns the record of a server for a requirement. Its tools are checked only if the requirement
    /// names some.
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
        let mut checks = vec![Check::new(failed, Code::MissingCategory, category)];
        if !requirement.only.is_empty() {
            let only = requirement.only.iter().map(|it| it.value.as_str());
            let tools = server.tools().map(ToolView::name).collect();
            let tools = Comparison::Tools(only.collect(), tools);
            checks.push(Check::new(failed, Code::ToolMissing, tools));
        }
        checks.push(Check::new(failed, Code::MissingScope, scopes));
        let key = server.constraint_key();
        checks.extend(constraint_checks(self.constraints(), failed, key));
        checks
    }
}

impl Matching {
    /// Returns the record of a tool for a requirement of a capability.
    pub fn checks<'r>(&'r self, number: usize, tool: ToolView<'r>) -> Vec<Check<'r>> {
        let (capability, constraints) = (&self.requirement(number).capability, self.constraints());
        let failed = self.failures(number, tool);
        let reasons = self.reasons(number, tool);
        let pair = capability.pair();
        let blocks = tool.advertised().filter(|block| block.pair() == pair);
        let blocks = blocks.map(|block| block.tags().collect()).collect();
        let required = capability.constraints.iter().map(Name::as_str).collect();
        let advertises = Check::new(
            failed,
            Code::MissingCapability,
            Comparison::Capability(pair, tool.pairs()),
        );
        let promises = Comparison::Constraints(required, blocks);
        let promises = Check::new(failed, Code::ConstraintUnmet, promises);
        let unadvertised = failed.first().filter(|it| *it == Code::MissingCapability);
        let mut checks = vec![advertises, promises.unless(unadvertised)];
        let key = tool.server().constraint_key();
        checks.extend(constraint_checks(constraints, failed, key));
        let label = reasons.iter().find_map(|reason| match reason {
            Rejection::ForbiddenAction { label } => Some(*label),
            _ => None,
        });
        let of_policy = [Code::PolicyDenied, Code::PolicyError];
        let action = Comparison::Action(!constraints.forbid.is_empty(), tool.name(), label);
        checks.push(Check::new(failed, Code::ForbiddenAction, action));
        if self.hides_text(number) {
            let hidden = reasons.iter().find_map(|reason| match reason {
                Rejection::HiddenText { pointer, character } => Some((pointer.clone(), *character)),
                _ => None,
            });
            let earlier = failed.first().filter(|it| {
                !of_policy.contains(it)
                    && ![Code::InvisibleCharacter, Code::HealthVeto].contains(it)
            });
            let hidden = Comparison::HiddenText(hidden);
            checks.push(Check::new(failed, Code::InvisibleCharacter, hidden).unless(earlier));
        }
        let before_health = failed.first().filter(|it| *it != Code::HealthVeto);
        let before_policy = before_health.filter(|it| !of_policy.contains(it));
        if self.policy_decision(number).is_some() {
            let mut reasons = reasons.into_iter();
            let denial = reasons.find(|it| of_policy.contains(&it.code()));
            let code = denial.as_ref().map_or(Code::PolicyDenied, Rejection::code);
            let check = Check::new(failed, code, Comparison::Policy(denial));
            checks.push(check.unless(before_policy));
        }
        if let Some(health) = &self.evaluation_context().health {
            let status = Comparison::Health(health.status(tool.server().id()));
            let check = Check::new(failed, Code::HealthVeto, status);
            checks.push(check.unless(before_health));
        }
        checks
    }

    /// Returns the place of a forbidden label in the manifest.
    pub fn place_of_label(&self, label: &str) -> Option<Span> {
        let mut forbid = self.constraints().forbid.iter();
        let found = forbid.find(|known| known.value.as_str() == label)?;
        Some(found.span)
    }
}
