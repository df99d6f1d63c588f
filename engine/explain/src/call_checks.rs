//! The checks of a planned call in words.

use super::checks::{CheckFact, CheckRecord, skipped};
use super::input::INPUT_SCHEMA;
use super::locked_policy::POLICY;
use super::wording::quoted;
use agent_decide::{AuthorizedCall, CallCheck, CallVerdict, CheckOutcome};
use agent_lower::integrity;
use agent_model::{CallPlan, Name, Planned, ToolView};

fn name(check: CallCheck) -> &'static str {
    match check {
        CallCheck::Listed => "catalogue",
        CallCheck::Locked => "lock",
        CallCheck::Permitted => "labels",
        CallCheck::ReadOnly => "read-only",
        CallCheck::Unchanged => "definition",
        CallCheck::Arguments => "arguments",
        CallCheck::Policy => "policy",
    }
}

/// Returns the rule that a failed check broke.
pub(super) fn rule(check: CallCheck) -> &'static str {
    match check {
        CallCheck::Listed => "the catalogue lists the tool under this name",
        CallCheck::Locked => "the lock has the tool, and the index its locked entry",
        CallCheck::Permitted => "no label of the lock forbids the tool",
        CallCheck::ReadOnly => "a one-call plan only reads",
        CallCheck::Unchanged => "the definition of the tool is the locked one",
        CallCheck::Arguments => INPUT_SCHEMA,
        CallCheck::Policy => POLICY,
    }
}

/// Returns the sentence for a passed check.
fn passed(check: CallCheck) -> &'static str {
    match check {
        CallCheck::Listed => "The server lists the tool.",
        CallCheck::Locked => "The lock has the tool, and the index has the locked entry.",
        CallCheck::Permitted => "No label of the lock forbids the tool.",
        CallCheck::ReadOnly => "The tool only reads, by its capabilities and its annotations.",
        CallCheck::Unchanged => "The tool's definition is the locked one.",
        CallCheck::Arguments => {
            "The input schema accepts the arguments, and the output schema can be used."
        }
        CallCheck::Policy => "The policy allows the call.",
    }
}

/// Returns the checks of a call in words, in the order of [`CallCheck::ALL`]. The list is empty if
/// no call is planned.
pub fn call_checks(plan: &CallPlan, verdict: &CallVerdict<'_>) -> Vec<CheckRecord> {
    let authorized = match verdict {
        CallVerdict::Allowed(call) => Some(call),
        _ => None,
    };
    let checks = verdict.checks().iter();
    let checks = checks.map(|record| {
        let (check, outcome) = (record.check, record.outcome);
        let facts = match outcome {
            CheckOutcome::Failed | CheckOutcome::Deferred => Vec::new(),
            CheckOutcome::Skipped(cause) => vec![skipped(cause, name)],
            CheckOutcome::Passed => {
                let mut facts = vec![CheckFact::new(passed(check), None)];
                facts.extend(authorized.iter().flat_map(|it| shown(plan, check, it)));
                facts
            }
        };
        CheckRecord::new(name(check), outcome, facts)
    });
    checks.collect()
}

/// Returns the facts for which a check passed.
fn shown(plan: &CallPlan, check: CallCheck, call: &AuthorizedCall<'_>) -> Vec<CheckFact> {
    let server = call.server();
    let (id, version) = (server.id(), server.version());
    let tool = server.tool(call.tool());
    let of_tool = |text: String| CheckFact::new(text, tool.map(|tool| tool.place()));
    let labels = call.lock().forbid.as_slice();
    match check {
        CallCheck::Listed => vec![of_tool(format!("`{}` of `{id}`", call.tool()))],
        CallCheck::Locked => {
            let text = format!("`{id} {version}`: {}", integrity(server));
            vec![CheckFact::new(text, server.place())]
        }
        CallCheck::Permitted if labels.is_empty() => vec![CheckFact::new("It has none.", None)],
        CallCheck::Permitted => {
            let labels = quoted(labels.iter().map(|label| label.as_str()));
            vec![CheckFact::new(format!("It forbids {labels}."), None)]
        }
        CallCheck::ReadOnly => tool.into_iter().flat_map(advertised).map(of_tool).collect(),
        CallCheck::Unchanged => vec![CheckFact::new(call.definition(), None)],
        CallCheck::Policy => Vec::new(),
        CallCheck::Arguments => match &plan.planned {
            Planned::Call(planned) => {
                let place = plan.text.place(planned.args);
                vec![CheckFact::new(format!("`{}`", call.arguments()), place)]
            }
            Planned::NeedsMoreInfo { .. } => Vec::new(),
        },
    }
}

/// Returns the capabilities that a tool advertises.
fn advertised(tool: ToolView<'_>) -> impl Iterator<Item = String> {
    tool.advertised().map(|block| {
        let tags: Vec<_> = block.tags().collect();
        format!("`{}` + {}", block.pair(), tags.join(", "))
    })
}
