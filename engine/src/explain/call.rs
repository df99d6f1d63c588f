//! The words for a call that may not be made.

use super::wording::quoted;
use crate::decide::{CallDenial, CallVerdict, MayWrite};
use crate::diagnostic::{Code, Diagnostic, Label};
use crate::model::{CallPlan, Planned, PlannedCall};
use crate::schema::ArgumentProblem;
use crate::text::Span;

/// One error for each reason, at its place in the plan. None: the call may be made, or none is
/// planned.
pub fn call_denials(plan: &CallPlan, verdict: &CallVerdict<'_>) -> Vec<Diagnostic> {
    let (CallVerdict::Denied(denials), Planned::Call(call)) = (verdict, &plan.planned) else {
        return Vec::new();
    };
    let denials = denials.as_slice().iter();
    denials
        .map(|denial| diagnostic(plan, call, denial))
        .collect()
}

fn diagnostic(plan: &CallPlan, call: &PlannedCall, denial: &CallDenial<'_>) -> Diagnostic {
    let (server, tool) = (&call.server, &call.tool);
    let named = format!("`{}` of `{}`", tool.value, server.value);
    let at = |code: Code, span: Span, label: &str, message: String, help: String| Diagnostic {
        code,
        message,
        labels: vec![Label {
            place: plan.text.place(span),
            text: label.to_owned(),
        }],
        help: vec![help],
    };
    let usual = |code: Code| code.help().to_owned();
    let meant = |nearest: &[&str], code: Code| match nearest {
        [] => usual(code),
        near => format!("did you mean {}?", quoted(near.iter().copied())),
    };
    match denial {
        CallDenial::UnknownServer { nearest } => at(
            Code::ToolUnknown,
            server.span,
            "no such server",
            format!("no server `{}` lists tools", server.value),
            meant(nearest, Code::ToolUnknown),
        ),
        CallDenial::UnknownTool { nearest } => at(
            Code::ToolUnknown,
            tool.span,
            "no such tool",
            format!("the server `{}` has no tool `{}`", server.value, tool.value),
            meant(nearest, Code::ToolUnknown),
        ),
        CallDenial::LockMissing => at(
            Code::LockMissing,
            tool.span,
            "locked nowhere",
            format!("there is no lock that would allow {named}"),
            usual(Code::LockMissing),
        ),
        CallDenial::NotLocked => at(
            Code::ToolNotLocked,
            tool.span,
            "not in the lock",
            format!("the lock has neither {named} for a capability nor the server for a category"),
            usual(Code::ToolNotLocked),
        ),
        CallDenial::EntryChanged { version, integrity } => at(
            Code::IntegrityChanged,
            server.span,
            "not as it was locked",
            format!(
                "the index has no entry `{} {version}` with the locked integrity {integrity}",
                server.value
            ),
            usual(Code::IntegrityChanged),
        ),
        CallDenial::Forbidden { label } => at(
            Code::ForbiddenAction,
            tool.span,
            "forbidden",
            format!("{named} is forbidden by the label `{label}` of the lock"),
            "Have the label removed from `constraints.actions.forbid`, or call another tool."
                .to_owned(),
        ),
        CallDenial::NotReadonly(why) => at(
            Code::NotReadonly,
            tool.span,
            "may write",
            format!("{named} {}", may_write(why)),
            usual(Code::NotReadonly),
        ),
        CallDenial::DefinitionChanged { locked, present } => at(
            Code::DefinitionChanged,
            tool.span,
            "not as it was locked",
            format!("{named} was locked with the definition {locked}, and has {present}"),
            usual(Code::DefinitionChanged),
        ),
        CallDenial::Arguments(problem) => match problem {
            ArgumentProblem::Schema { message } => at(
                Code::SchemaInvalid,
                tool.span,
                "its input schema can't be used",
                format!("the input schema of {named} {message}"),
                usual(Code::SchemaInvalid),
            ),
            ArgumentProblem::Budget { message } => at(
                Code::SchemaBudget,
                call.args,
                "not decided",
                format!("the arguments of {named} can't be checked: {message}"),
                usual(Code::SchemaBudget),
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
                format!("`args{pointer}` {message}"),
                format!("the input schema says so at `{rule}`"),
            ),
        },
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
