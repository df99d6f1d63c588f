//! Messages about a call that is denied.

use super::call_checks::rule;
use super::edit::call_fixes;
use super::input::argument;
use super::locked_policy::{other_policy, policy_denial};
use super::message::{Message, slip_of};
use super::wording::{did_you_mean, quoted};
use agent_decide::{CallDenial, CallVerdict, MayWrite};
use agent_diagnostic::{Code, Diagnostic};
use agent_json_schema::ArgumentProblem;
use agent_lower::unusable_code;
use agent_model::{CallPlan, Name, Planned};
use agent_text::{Span, visible};

/// Returns an error for each reason against a planned call, at its place in the plan.
pub fn call_denials(plan: &CallPlan, verdict: &CallVerdict<'_>) -> Vec<Diagnostic> {
    let Planned::Call(call) = &plan.planned else {
        return Vec::new();
    };
    let server = (call.server.value.as_str(), call.server.span);
    let tool = (call.tool.value.as_str(), call.tool.span);
    let records = verdict.checks().iter();
    let denials = records.flat_map(|it| it.denials.iter().map(|denial| (it.check, denial)));
    let denials = denials.map(|(check, denial)| {
        let mut message = call_denial(denial, server, tool, "args");
        message.pointer = match denial {
            CallDenial::UnknownServer { .. } | CallDenial::EntryChanged { .. } => "/server".into(),
            CallDenial::Arguments(ArgumentProblem::Unusable(_)) => "/tool".into(),
            CallDenial::Arguments(_) => format!("/args{}", message.pointer),
            _ => "/tool".into(),
        };
        if message.rule.is_empty() {
            message.rule = rule(check).to_owned();
        }
        let diagnostic = message.diagnostic(&plan.text, None);
        match call_fixes(plan, denial) {
            fixes if fixes.is_empty() => diagnostic,
            fixes => Diagnostic {
                fixes,
                ..diagnostic
            },
        }
    });
    denials.collect()
}

/// Returns the message about one reason against a call of a tool, which names server and tool at
/// these spans and calls its input `arguments`.
pub(super) fn call_denial(
    denial: &CallDenial<'_>,
    (server, server_span): (&str, Span),
    (tool, tool_span): (&str, Span),
    arguments: &str,
) -> Message {
    const CHANGED: &str = "differs from the lock";
    let named = format!("`{tool}` of `{server}`");
    let on_tool = |code, label, text| Message::new(code, tool_span, label, text);
    let on_server = |code, label, text| Message::new(code, server_span, label, text);
    match denial {
        CallDenial::UnknownServer { nearest } => {
            let text = format!("no server `{}` lists tools", visible(server));
            on_server(Code::ToolUnknown, "no such server", text)
                .help(did_you_mean(nearest, Code::ToolUnknown.help()))
                .named(slip_of(server, nearest))
        }
        CallDenial::UnknownTool { nearest } => {
            let text = format!("the server `{server}` has no tool `{}`", visible(tool));
            on_tool(Code::ToolUnknown, "no such tool", text)
                .help(did_you_mean(nearest, Code::ToolUnknown.help()))
                .named(slip_of(tool, nearest))
        }
        CallDenial::LockMissing => {
            let text = format!("no lock is given that allows {named}");
            on_tool(Code::LockMissing, "locked nowhere", text)
        }
        CallDenial::NotLocked { versions, .. } if !versions.is_empty() => {
            let versions = quoted(versions);
            let text = format!("the lock has {named} only in the version {versions}");
            on_tool(Code::ToolNotLocked, "another version is locked", text).help(format!(
                "name the version {versions}, or run `agent resolve`"
            ))
        }
        CallDenial::NotLocked { only, .. } if !only.is_empty() => {
            let some = only.iter().take(NAMED).map(|it| format!("`{it}`"));
            let some: Vec<_> = some
                .chain((only.len() > NAMED).then(|| "others".to_owned()))
                .collect();
            let text = format!(
                "the lock has only {} of `{server}`, and not `{tool}`",
                some.join(", ")
            );
            on_tool(Code::ToolNotLocked, "not in the lock", text)
                .help("Have the tool added to `only` of its requirement, then run `agent resolve`.")
        }
        CallDenial::NotLocked { .. } => {
            let rest = "for a capability nor the server for a category";
            let text = format!("the lock has neither {named} {rest}");
            on_tool(Code::ToolNotLocked, "not in the lock", text)
        }
        CallDenial::EntryChanged { version, integrity } => {
            let text = format!(
                "the index has no entry `{server} {version}` with the locked integrity {integrity}"
            );
            on_server(Code::IntegrityChanged, CHANGED, text)
        }
        CallDenial::Forbidden { label } => {
            let text = format!("{named} is forbidden by the label `{label}` of the lock");
            on_tool(Code::ForbiddenAction, "forbidden", text).help(
                "Have the label removed from `constraints.actions.forbid`, or call another tool.",
            )
        }
        CallDenial::Concealed { character, pointer } => {
            let character = format!("U+{:04X}", u32::from(*character));
            let pointer = visible(pointer);
            let text = format!("the definition of {named} contains {character} at `{pointer}`");
            on_tool(Code::InvisibleCharacter, "hides a character", text)
                .help(Code::InvisibleCharacter.help())
        }
        CallDenial::NotReadonly(why) => {
            let text = format!("{named} {}", may_write(why));
            on_tool(Code::NotReadonly, "may write", text)
        }
        CallDenial::DefinitionChanged { locked, present } => {
            let text =
                format!("{named} was locked with the definition {locked}, and has {present}");
            on_tool(Code::DefinitionChanged, CHANGED, text)
        }
        CallDenial::LockEdited { locked } => {
            let text = format!(
                "`agents.lock` was edited: the definition {locked} of {named} is not that of the locked entry"
            );
            on_tool(Code::HashChanged, "locked otherwise", text).help(Code::HashChanged.help())
        }
        CallDenial::Output(why) => {
            let text = format!("the output schema of {named} {}", why.reason());
            on_tool(unusable_code(why), "its output schema can't be used", text)
        }
        CallDenial::OtherPolicy(mismatch) => other_policy(mismatch, tool_span),
        CallDenial::Policy(denial) => policy_denial(denial, &named, tool_span),
        CallDenial::PolicyNotAsked => {
            let text = format!("the policy can't be asked about {named}: no locked entry has it");
            on_tool(Code::PolicyDenied, "unknown to the policy", text)
        }
        CallDenial::HistoryUnknown => {
            let text = format!(
                "the tenant decides calls by the calls before them, and none are known before that of {named}"
            );
            on_tool(Code::HistoryUnavailable, "outside of a session", text).help(
                "Make the call through `agent serve`, or select a tenant without `history.rules`.",
            )
        }
        CallDenial::Arguments(problem) => {
            let message = argument(problem, &named, arguments);
            let span = match problem {
                ArgumentProblem::Unusable(_) => tool_span,
                _ => message.span,
            };
            Message { span, ..message }
        }
    }
}

/// Maximum number of locked tools that a message names.
const NAMED: usize = 8;

fn may_write(why: &MayWrite<'_>) -> String {
    match why {
        MayWrite::NothingAdvertised => {
            "advertises no capability, so it is not known to be read-only".to_owned()
        }
        MayWrite::Pair(pair) => format!("advertises `{pair}` without the constraint `readonly`"),
        MayWrite::Annotation("readOnlyHint") => {
            "declares that it may write (`readOnlyHint`)".to_owned()
        }
        MayWrite::Annotation(name) => format!("declares that it is destructive (`{name}`)"),
    }
}
