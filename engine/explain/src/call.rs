//! The words for a call that may not be made.

use super::call_fixes;
use super::wording::quoted;
use agent_decide::{CallDenial, CallVerdict, MayWrite};
use agent_diagnostic::{Code, Diagnostic};
use agent_json_schema::{ArgumentProblem, Unusable};
use agent_model::{CallPlan, Name, Planned};
use agent_text::{Span, Text};

/// One error for each reason, at its place in the plan. None: the call may be made, or none is
/// planned.
pub fn call_denials(plan: &CallPlan, verdict: &CallVerdict<'_>) -> Vec<Diagnostic> {
    let Planned::Call(call) = &plan.planned else {
        return Vec::new();
    };
    let place = CallPlace {
        text: &plan.text,
        server: (call.server.value.as_str(), call.server.span),
        tool: (call.tool.value.as_str(), call.tool.span),
        arguments: "args",
    };
    let denials = verdict.denials().map(|denial| {
        let mut diagnostic = call_denial(&place, denial);
        let fixes = call_fixes(plan, denial);
        if !fixes.is_empty() {
            diagnostic.fixes = fixes;
        }
        diagnostic
    });
    denials.collect()
}

/// Where the call of a tool stands in a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallPlace<'p> {
    /// The plan.
    pub(super) text: &'p Text,
    /// The id of the server, and where it is told of.
    pub(super) server: (&'p str, Span),
    /// The name of the tool, and where it is told of.
    pub(super) tool: (&'p str, Span),
    /// What the arguments are called.
    pub(super) arguments: &'p str,
}

/// The words for one reason against a call.
pub(super) fn call_denial(place: &CallPlace<'_>, denial: &CallDenial<'_>) -> Diagnostic {
    let CallPlace {
        text,
        server: (server, server_span),
        tool: (tool, tool_span),
        arguments,
    } = *place;
    let named = format!("`{tool}` of `{server}`");
    let at = |code: Code, span: Span, label: &str, message: String, help: String| {
        let place = text.place(span);
        Diagnostic::new(code, message)
            .label(place, label)
            .help(help)
    };
    let usual = |code: Code| code.help().to_owned();
    let meant = |nearest: &[&str], code: Code| match nearest {
        [] => usual(code),
        near => format!("did you mean {}?", quoted(near.iter().copied())),
    };
    match denial {
        CallDenial::UnknownServer { nearest } => at(
            Code::ToolUnknown,
            server_span,
            "no such server",
            format!("no server `{server}` lists tools"),
            meant(nearest, Code::ToolUnknown),
        ),
        CallDenial::UnknownTool { nearest } => at(
            Code::ToolUnknown,
            tool_span,
            "no such tool",
            format!("the server `{server}` has no tool `{tool}`"),
            meant(nearest, Code::ToolUnknown),
        ),
        CallDenial::LockMissing => at(
            Code::LockMissing,
            tool_span,
            "locked nowhere",
            format!("there is no lock that would allow {named}"),
            usual(Code::LockMissing),
        ),
        CallDenial::NotLocked => at(
            Code::ToolNotLocked,
            tool_span,
            "not in the lock",
            format!("the lock has neither {named} for a capability nor the server for a category"),
            usual(Code::ToolNotLocked),
        ),
        CallDenial::EntryChanged { version, integrity } => at(
            Code::IntegrityChanged,
            server_span,
            "not as it was locked",
            format!(
                "the index has no entry `{server} {version}` with the locked integrity {integrity}"
            ),
            usual(Code::IntegrityChanged),
        ),
        CallDenial::Forbidden { label } => at(
            Code::ForbiddenAction,
            tool_span,
            "forbidden",
            format!("{named} is forbidden by the label `{label}` of the lock"),
            "Have the label removed from `constraints.actions.forbid`, or call another tool."
                .to_owned(),
        ),
        CallDenial::NotReadonly(why) => at(
            Code::NotReadonly,
            tool_span,
            "may write",
            format!("{named} {}", may_write(why)),
            usual(Code::NotReadonly),
        ),
        CallDenial::DefinitionChanged { locked, present } => at(
            Code::DefinitionChanged,
            tool_span,
            "not as it was locked",
            format!("{named} was locked with the definition {locked}, and has {present}"),
            usual(Code::DefinitionChanged),
        ),
        CallDenial::Output(why) => at(
            unusable_code(why),
            tool_span,
            "its output schema can't be used",
            format!("the output schema of {named} {}", unusable(why)),
            usual(unusable_code(why)),
        ),
        CallDenial::Arguments(problem) => match problem {
            ArgumentProblem::Unusable(why) => at(
                unusable_code(why),
                tool_span,
                "its input schema can't be used",
                format!("the input schema of {named} {}", unusable(why)),
                usual(unusable_code(why)),
            ),
            ArgumentProblem::Unknown {
                name,
                span,
                nearest,
            } => at(
                Code::ArgumentUnknown,
                *span,
                "no such argument",
                format!("{named} takes no argument `{name}`"),
                match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => usual(Code::ArgumentUnknown),
                },
            ),
            ArgumentProblem::Invalid {
                pointer,
                span,
                message,
                rule,
            } => at(
                Code::ArgumentInvalid,
                *span,
                "not what the schema says",
                format!("`{arguments}{pointer}` {message}"),
                format!("the input schema says so at `{rule}`"),
            ),
        },
    }
}

/// The code of a schema that says nothing.
pub(super) fn unusable_code(why: &Unusable) -> Code {
    match why {
        Unusable::Schema { .. } => Code::SchemaInvalid,
        Unusable::Budget(_) => Code::SchemaBudget,
    }
}

/// Why a schema says nothing: a predicate about it.
pub(super) fn unusable(why: &Unusable) -> String {
    match why {
        Unusable::Schema { message } => message.clone(),
        Unusable::Budget(over) => format!("can't be evaluated: {}", over.reason()),
    }
}

fn may_write(why: &MayWrite<'_>) -> String {
    match why {
        MayWrite::NothingAdvertised => {
            "advertises no capability, so that it is not known to read only".to_owned()
        }
        MayWrite::Pair(pair) => format!("advertises `{pair}` without the constraint `readonly`"),
        MayWrite::Annotation("readOnlyHint") => {
            "says of itself that it does not only read (`readOnlyHint`)".to_owned()
        }
        MayWrite::Annotation(name) => format!("says of itself that it destroys (`{name}`)"),
    }
}
