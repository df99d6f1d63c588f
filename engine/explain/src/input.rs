//! Messages about the input of a step or a call.

use super::message::Message;
use super::wording::{did_you_mean, quoted};
use agent_decide::{DestinationDenial, FlowMismatch, InputDenial};
use agent_diagnostic::Code;
use agent_json_schema::{ArgumentProblem, token};
use agent_lower::unusable_code;
use agent_model::without_user_info;
use agent_text::Span;
use std::fmt::Display;

/// Maximum number of items of a list that a message names.
const LISTED: usize = 20;

/// Returns items in backquotes, as many as a message names.
pub(super) fn listed(items: &[impl Display]) -> String {
    match items {
        [] => "nothing".to_owned(),
        items => agent_text::listed(items, LISTED),
    }
}

/// Returns the reason why a connection is denied: a predicate about its URL.
pub(super) fn destination(denial: &DestinationDenial) -> String {
    match denial {
        DestinationDenial::Url(error) => format!("is not accepted: {error}"),
        DestinationDenial::Elsewhere { origin, allowed } => format!(
            "leads to `{origin}`, and only {} may be reached",
            listed(allowed)
        ),
        DestinationDenial::NoAddress => "has a host without an address".to_owned(),
        DestinationDenial::NonPublic(address) => {
            format!("leads to {address}, which is not a public address and has no entry of its own")
        }
    }
}

/// Returns the message about an input. Its pointer is relative to the input.
pub(super) fn input(denial: &InputDenial<'_>) -> Message {
    let denied =
        |span: &Span, label, text| Message::new(Code::MovaPolicyDenied, *span, label, text);
    match denial {
        InputDenial::TooLarge { bytes, most, span } => {
            let text = format!("the input has {bytes} bytes, and its tool accepts {most}");
            Message::new(Code::MovaLimitExceeded, *span, "too large", text)
                .rule("`limits.max_input_bytes` of the binding, in bytes as written")
                .help("shorten the input")
        }
        InputDenial::Invalid {
            pointer,
            span,
            message,
            rule,
            correction,
        } => {
            let text = format!("`input{pointer}` {message}");
            exact(Code::ArgumentInvalid, *span, REJECTED, text)
                .at(pointer)
                .rule(rule)
                .help(Code::ArgumentInvalid.help())
                .corrected(correction.as_deref())
        }
        InputDenial::Argument(problem) => {
            let message = argument(problem, "the tool", "input");
            Message {
                code: Code::MovaValidationFailed,
                reason: Some(message.code),
                ..message
            }
        }
        InputDenial::OverBudget { over, span } => {
            let text = format!("the input can't be checked: {}", over.reason());
            exact(Code::SchemaBudget, *span, "not decided", text)
                .rule("a schema is evaluated within its budget")
        }
        InputDenial::Method {
            method,
            allowed,
            span,
        } => {
            let text = format!("the method `{method}` is not one of {}", listed(allowed));
            denied(span, "not a method of the binding", text)
                .at("/method")
                .rule("`methods` of the binding")
                .help("use a method of the binding")
        }
        InputDenial::Destination { url, denial, span } => {
            let (url, why) = (without_user_info(url), destination(denial));
            let text = format!("the URL {url:?} {why}");
            let message = denied(span, "may not be reached", text);
            Message {
                code: Code::MovaDestinationDenied,
                ..message
            }
            .at("/url")
            .rule("`destinations` of the binding: scheme, host and port")
            .help("use a URL at one of the destinations of the binding")
        }
        InputDenial::Program {
            path,
            nearest,
            span,
        } => {
            let text = format!("the binding has no program {path:?}");
            denied(span, "not a program of the binding", text)
                .at("/program")
                .rule("`programs` of the binding, by their paths")
                .help(did_you_mean(nearest, "use a program of the binding"))
        }
        InputDenial::ArgumentCount {
            count,
            takes,
            or_more,
            span,
        } => {
            let more = if *or_more { " or more" } else { "" };
            let text =
                format!("the input has {count} arguments, and the program takes {takes}{more}");
            denied(span, "wrong number of arguments", text)
                .at("/arguments")
                .rule("as many arguments as patterns, and more only with `more_arguments`")
                .help("give as many arguments as there are patterns")
        }
        InputDenial::ArgumentPattern {
            number,
            pattern,
            span,
        } => {
            let text = format!("the argument does not match the pattern {pattern:?} as a whole");
            denied(span, "does not match", text)
                .at(format!("/arguments/{number}"))
                .rule("the pattern of the argument in the binding")
                .help("give an argument that matches")
        }
    }
}

/// Creates the message about a value that a schema rejects, with the usual help of the exact reason.
fn exact(reason: Code, span: Span, label: &'static str, text: String) -> Message {
    Message {
        code: Code::MovaValidationFailed,
        reason: Some(reason),
        ..Message::new(reason, span, label, text)
    }
}

const REJECTED: &str = "rejected by the schema";

/// The name of the input schema in rules.
pub(super) const INPUT_SCHEMA: &str = "`inputSchema` of the tool";

/// Returns the message about the arguments of a tool. The code is the exact one; the pointer is
/// relative to the arguments.
pub(super) fn argument(problem: &ArgumentProblem, tool: &str, arguments: &str) -> Message {
    match problem {
        ArgumentProblem::Unusable(why) => {
            let text = format!("the input schema of {tool} {}", why.reason());
            let label = "its input schema can't be used";
            Message::new(unusable_code(why), Span::default(), label, text).rule(INPUT_SCHEMA)
        }
        ArgumentProblem::Unknown {
            name,
            span,
            nearest,
            correction,
        } => {
            let text = format!("{tool} takes no argument `{name}`");
            Message::new(Code::ArgumentUnknown, *span, "no such argument", text)
                .at(format!("/{}", token(name)))
                .rule(format!("only what {INPUT_SCHEMA} declares is an argument"))
                .help(did_you_mean(nearest, Code::ArgumentUnknown.help()))
                .corrected(correction.as_deref())
        }
        ArgumentProblem::Invalid {
            pointer,
            span,
            message,
            rule,
            correction,
        } => {
            let text = format!("`{arguments}{pointer}` {message}");
            Message::new(Code::ArgumentInvalid, *span, REJECTED, text)
                .at(pointer)
                .rule(format!("{INPUT_SCHEMA}#{rule}"))
                .help(Code::ArgumentInvalid.help())
                .corrected(correction.as_deref())
        }
    }
}

/// Returns the message about an input that is the output of an earlier step.
pub(super) fn flow(mismatch: &FlowMismatch<'_>) -> Message {
    const RULE: &str = "the output schema of the one step, and the input schemas of the other";
    const HELP: &str = "take another value, or the output of another step";
    let new = |span: &Span, label, text| {
        let message = Message::new(Code::MovaValidationFailed, *span, label, text);
        message.rule(RULE).help(HELP)
    };
    match mismatch {
        FlowMismatch::NoSuchPart {
            step,
            pointer,
            nearest,
            span,
        } => {
            let text = format!("no output of the step `{step}` has a value at `{pointer}`");
            new(span, "no such value", text)
                .at("/pointer")
                .help("name a value that its output schema declares")
                .named(nearest.as_deref())
        }
        FlowMismatch::Type {
            step,
            is,
            wanted,
            span,
        } => {
            let (is, wanted) = (quoted(is.names()), quoted(wanted.names()));
            let text =
                format!("the output of the step `{step}` has {is} there, and {wanted} is required");
            new(span, "another type", text).reason(Code::ArgumentInvalid)
        }
        FlowMismatch::NoProperty { step, name, span } => {
            let text =
                format!("the output of the step `{step}` has no `{name}` there, which is required");
            new(span, "a property is missing", text).reason(Code::ArgumentInvalid)
        }
        FlowMismatch::Input { step, denial, span } => {
            let inner = input(denial);
            let known = format!("the output of the step `{step}` is known there");
            Message {
                pointer: String::new(),
                span: *span,
                label: "not accepted as input",
                correction: None,
                text: format!("{known}: {}", inner.text),
                ..inner.help(HELP)
            }
        }
        FlowMismatch::OverBudget { over, span } => {
            let text = format!("the schemas can't be compared: {}", over.reason());
            exact(Code::SchemaBudget, *span, "not decided", text).rule(RULE)
        }
    }
}
