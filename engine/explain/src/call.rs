//! Messages about a call that is denied.

use super::edit::call_fixes;
use super::input::{argument, unusable, unusable_code};
use super::message::Message;
use super::wording::did_you_mean;
use agent_decide::{CallDenial, CallVerdict, MayWrite};
use agent_diagnostic::{Code, Diagnostic};
use agent_json_schema::ArgumentProblem;
use agent_model::{CallPlan, Name, Planned};
use agent_text::Span;

/// Returns an error for each reason against a planned call, at its place in the plan.
pub fn call_denials(plan: &CallPlan, verdict: &CallVerdict<'_>) -> Vec<Diagnostic> {
    let (CallVerdict::Denied(denials), Planned::Call(call)) = (verdict, &plan.planned) else {
        return Vec::new();
    };
    let server = (call.server.value.as_str(), call.server.span);
    let tool = (call.tool.value.as_str(), call.tool.span);
    let denials = denials.as_slice().iter().map(|denial| {
        let message = call_denial(denial, server, tool, "args");
        let place = plan.text.place(message.span);
        let diagnostic = Diagnostic::new(message.code, message.text).label(place, message.label);
        match call_fixes(plan, denial) {
            fixes if fixes.is_empty() => diagnostic.help(message.help),
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
    let named = format!("`{tool}` of `{server}`");
    let on_tool = |code, label, text| Message::new(code, tool_span, label, text);
    match denial {
        CallDenial::UnknownServer { nearest } => Message::new(
            Code::ToolUnknown,
            server_span,
            "no such server",
            format!("no server `{server}` lists tools"),
        )
        .help(did_you_mean(nearest, Code::ToolUnknown.help())),
        CallDenial::UnknownTool { nearest } => on_tool(
            Code::ToolUnknown,
            "no such tool",
            format!("the server `{server}` has no tool `{tool}`"),
        )
        .help(did_you_mean(nearest, Code::ToolUnknown.help())),
        CallDenial::LockMissing => on_tool(
            Code::LockMissing,
            "locked nowhere",
            format!("no lock is given that allows {named}"),
        ),
        CallDenial::NotLocked => on_tool(
            Code::ToolNotLocked,
            "not in the lock",
            format!("the lock has neither {named} for a capability nor the server for a category"),
        ),
        CallDenial::EntryChanged { version, integrity } => Message::new(
            Code::IntegrityChanged,
            server_span,
            "differs from the lock",
            format!(
                "the index has no entry `{server} {version}` with the locked integrity {integrity}"
            ),
        ),
        CallDenial::Forbidden { label } => on_tool(
            Code::ForbiddenAction,
            "forbidden",
            format!("{named} is forbidden by the label `{label}` of the lock"),
        )
        .help("Have the label removed from `constraints.actions.forbid`, or call another tool."),
        CallDenial::NotReadonly(why) => on_tool(
            Code::NotReadonly,
            "may write",
            format!("{named} {}", may_write(why)),
        ),
        CallDenial::DefinitionChanged { locked, present } => on_tool(
            Code::DefinitionChanged,
            "differs from the lock",
            format!("{named} was locked with the definition {locked}, and has {present}"),
        ),
        CallDenial::Output(why) => on_tool(
            unusable_code(why),
            "its output schema can't be used",
            format!("the output schema of {named} {}", unusable(why)),
        ),
        CallDenial::Arguments(problem) => {
            let message = argument(problem, &named, arguments);
            match problem {
                ArgumentProblem::Unusable(_) => Message {
                    span: tool_span,
                    ..message
                },
                _ => message,
            }
        }
    }
}

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
