//! A policy, and its answer to a question.

use super::builtins::kind;
use super::exact::{first_rounded, not_exact};
use super::facts::facts;
use super::module::SourceModule;
use super::reading::{history_use, may_read};
use super::run::Program;
use agent_decide::{
    Allowed, HistoryUse, PolicyDecision, PolicyEngine, PolicyError, PolicyErrorKind, PolicyFact,
};
use agent_lower::{Checked, Lowered, digest};
use agent_text::{DocumentKind, Place};
use regorus::Value;
use std::collections::BTreeSet;

/// Maximum size of the input of an evaluation, in bytes.
pub const INPUT_LIMIT: usize = 32 << 20;

/// The package of a policy.
pub(super) const PACKAGE: [&str; 1] = ["switchboard"];

/// The rule of the allowed tools.
pub(super) const TOOLS: &str = "allowed_tools";
pub(super) const REASONS: &str = "deny_reasons";

/// A compiled policy.
#[derive(Debug)]
pub struct Policy {
    program: Program,
    history: HistoryUse,
}

/// Reads a policy and compiles it.
///
/// # Errors
/// Returns every problem, ordered by place. A policy is refused if it is larger than
/// [`POLICY_LIMIT`](super::POLICY_LIMIT), not UTF-8, not Rego v1, nested too deeply, recursive, or
/// calls an unknown function.
pub fn read(bytes: Vec<u8>) -> Lowered<Policy> {
    let module = SourceModule::read(DocumentKind::Policy, bytes, &[])?;
    let (found, ignores) = history_use(&module.tree);
    let history = HistoryUse {
        ignores_folded: ignores.map(|span| module.text.place(span)),
        ..found
    };
    Ok(Checked {
        value: Policy {
            program: Program::new(vec![module])?,
            history,
        },
        warnings: Vec::new(),
    })
}

impl Policy {
    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    pub(super) fn module(&self) -> &SourceModule {
        self.program.module(0)
    }
}

impl PolicyEngine for Policy {
    fn digest(&self) -> String {
        digest(&self.module().lines())
    }

    fn digest_for(&self, locked: Option<&str>) -> String {
        let of_bytes = digest(self.module().text.as_str());
        match locked == Some(&*of_bytes) {
            true => of_bytes,
            false => self.digest(),
        }
    }

    fn may_read(&self, member: &str) -> bool {
        may_read(&self.module().tree, member)
    }

    fn history_use(&self) -> HistoryUse {
        self.history
    }

    fn facts(&self, input: &str, held: &[u32]) -> Vec<PolicyFact> {
        match Value::from_json_str(input) {
            Ok(input) => facts(self.module(), &input, held),
            Err(_) => Vec::new(),
        }
    }

    fn ask(&self, input: &str) -> PolicyDecision {
        let failed = |kind, detail| PolicyDecision {
            answer: Err(error(kind, detail)),
            lines: Vec::new(),
        };
        if input.len() > INPUT_LIMIT {
            let detail = format!("its input has more than {INPUT_LIMIT} bytes");
            return failed(PolicyErrorKind::Budget, detail);
        }
        #[cfg(debug_assertions)]
        agent_syntax::json::count_bytes_read(input.len());
        let Ok(value) = Value::from_json_str(input) else {
            return failed(PolicyErrorKind::Runtime, "its input is not JSON".to_owned());
        };
        if let Some(number) = first_rounded(input) {
            return failed(
                PolicyErrorKind::Runtime,
                format!("in its input, {}", not_exact(number)),
            );
        }
        let tree = &self.module().tree;
        let has = |name: &str| {
            tree.package == PACKAGE && tree.rules.iter().any(|rule| rule.name[0] == name)
        };
        if !has(TOOLS) {
            let mut detail = format!("it has no rule `data.switchboard.{TOOLS}`");
            if tree.package != PACKAGE {
                detail = format!("{detail}: its package is `{}`", tree.package.join("."));
            }
            let mut decision = failed(PolicyErrorKind::Undefined, detail);
            let place = self.module().text.place(tree.package_span);
            decision.answer = decision.answer.map_err(|error| at(error, place));
            return decision;
        }
        // In arrays, so that an undefined rule does not hide the other.
        let reasons = if has(REASONS) {
            format!("[x | x := data.switchboard.{REASONS}]")
        } else {
            "[]".to_owned()
        };
        let query = format!("[[x | x := data.switchboard.{TOOLS}], {reasons}]");
        let (result, held) = self.program.evaluate(&query, value, input.len());
        let text = &self.module().text;
        let lines = held.into_iter().flat_map(|(_, rule)| {
            let place = text.place(rule);
            place.start.line..=place.end.line
        });
        let lines: BTreeSet<u32> = lines.collect();
        // What the answer lacks is to be written where the rule is.
        let mut rules = tree.rules.iter();
        let rule = rules.find(|rule| rule.name[0] == TOOLS);
        let answer = result.and_then(|value| {
            let answer = answer(&value);
            answer.map_err(|error| match rule {
                Some(rule) => at(error, text.place(rule.name_span)),
                None => error,
            })
        });
        PolicyDecision {
            answer,
            lines: lines.into_iter().collect(),
        }
    }
}

fn error(kind: PolicyErrorKind, detail: String) -> PolicyError {
    PolicyError {
        kind,
        detail,
        place: None,
    }
}

/// Returns a failure with its place in the policy.
fn at(error: PolicyError, place: Place) -> PolicyError {
    PolicyError {
        place: Some(place),
        ..error
    }
}

fn answer(value: &Value) -> Result<Allowed, PolicyError> {
    let first = |at: usize| match &value[at] {
        Value::Array(found) => found.first().cloned(),
        _ => None,
    };
    let wrong = |detail| error(PolicyErrorKind::Type, detail);
    let tools = match first(0) {
        Some(Value::Set(tools)) => tools,
        Some(other) => {
            let other = kind(&other);
            let written = format!("`{TOOLS}` must be a set, and is {other}");
            return Err(wrong(format!("{written}: write `{TOOLS} contains …`")));
        }
        None => {
            let detail = format!("it leaves `{TOOLS}` undefined");
            return Err(error(PolicyErrorKind::Undefined, detail));
        }
    };
    let mut allowed = Allowed::default();
    for id in tools.iter() {
        let Value::String(id) = id else {
            let id = kind(id);
            let detail = format!("`{TOOLS}` must contain only strings, and contains {id}");
            return Err(wrong(detail));
        };
        allowed.tools.insert(id.to_string());
    }
    if let Some(Value::Object(reasons)) = first(1) {
        for (id, reason) in reasons.iter() {
            if let (Value::String(id), Value::String(reason)) = (id, reason) {
                allowed.reasons.insert(id.to_string(), reason.to_string());
            }
        }
    }
    Ok(allowed)
}
