//! Messages about the policy on tools that a lock has.

use super::message::Message;
use super::wording::reason;
use agent_decide::{LockedDenial, PolicyMismatch};
use agent_diagnostic::Code;
use agent_text::Span;

/// The rule that a call breaks if its policy denies it.
pub(super) const POLICY: &str = "the policy of the lock allows the call";

/// Returns the code and the sentence for a policy that is not the locked one.
pub fn policy_mismatch(mismatch: &PolicyMismatch) -> (Code, String) {
    let locked = &mismatch.locked;
    match &mismatch.given {
        None => {
            let text = format!("the lock was made under the policy {locked}, and none is given");
            (Code::PolicyMissing, text)
        }
        Some(given) => {
            let text = format!("the lock was made under the policy {locked}, and {given} is given");
            (Code::PolicyChanged, text)
        }
    }
}

/// Returns the message about a policy that is not the locked one.
pub(super) fn other_policy(found: &PolicyMismatch, span: Span) -> Message {
    let (code, text) = policy_mismatch(found);
    Message::new(code, span, "locked under another policy", text).rule(POLICY)
}

/// Returns the message about a policy that denies a call of a tool, named as `tool of server`.
pub(super) fn policy_denial(denial: &LockedDenial, named: &str, span: Span) -> Message {
    let rejection = denial.rejection();
    let code = rejection
        .as_ref()
        .map_or(Code::PolicyDenied, |it| it.code());
    let why = rejection.as_ref().map(reason).unwrap_or_default();
    let text = match &denial.decision.answer {
        Err(error) => format!("{named} {why}: {}", error.detail),
        Ok(_) => format!("{named} {why}"),
    };
    Message::new(code, span, "denied by the policy", text).rule(rule(denial))
}

/// Returns the sentence about a denial during a run.
pub(super) fn run_policy(denial: &LockedDenial) -> String {
    policy_denial(denial, &format!("`{}`", denial.id), Span::default()).text
}

/// Returns the rule with the lines of the policy that took part.
fn rule(denial: &LockedDenial) -> String {
    let lines: Vec<_> = denial.decision.lines.iter().map(u32::to_string).collect();
    match &*lines {
        [] => POLICY.to_owned(),
        [line] => format!("{POLICY}: line {line} took part"),
        lines => format!("{POLICY}: lines {} took part", lines.join(", ")),
    }
}
