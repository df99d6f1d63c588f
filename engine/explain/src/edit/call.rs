//! Fixes of a denied call, as edits of its plan.

use super::super::message::slip_of;
use super::document;
use super::patch::Patch;
use agent_decide::CallDenial;
use agent_diagnostic::{Applicability, Change, ChangeKind, Fix};
use agent_json_schema::{ArgumentProblem, child, token};
use agent_model::{CallPlan, Name, Planned};
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, json_string};
use agent_text::{DocumentKind, Span, Spanned};

/// Returns the fixes of a one-call plan that remove one denial, the likeliest first: names of
/// similar spelling, and arguments that are left out. Other denials may stay or appear. The fixed
/// plan is decided again, so no fix lets the agent do more than it may.
pub fn call_fixes(plan: &CallPlan, denial: &CallDenial<'_>) -> Vec<Fix> {
    let Planned::Call(call) = &plan.planned else {
        return Vec::new();
    };
    let fix = |title: String, applicability, patches: Vec<Patch>| {
        let edits = patches.into_iter().map(|patch| patch.edit(&plan.text));
        Fix {
            title,
            applicability,
            edits: edits.collect(),
        }
    };
    let names = |nearest: &[&str], (said, span): (&str, Span), what: &str| {
        let meant = slip_of(said, nearest);
        let mut nearest = nearest.to_vec();
        if let Some(at) = nearest.iter().position(|name| Some(*name) == meant) {
            nearest[..=at].rotate_right(1);
        }
        let fixes = nearest.iter().map(|name| {
            // A person must choose a name that is only similar.
            let applicability = match meant == Some(*name) {
                true => Applicability::Safe,
                false => Applicability::Display,
            };
            let patches = vec![named(span, name)];
            fix(format!("{what} `{name}`"), applicability, patches)
        });
        fixes.collect()
    };
    match denial {
        CallDenial::UnknownServer { nearest } => {
            names(nearest, said(&call.server), "name the server")
        }
        CallDenial::UnknownTool { nearest } => names(nearest, said(&call.tool), "call the tool"),
        CallDenial::Arguments(ArgumentProblem::Unknown {
            name,
            span,
            nearest,
            correction,
        }) => {
            let text = call.args.of(plan.text.as_str());
            let tree = parse_value(&mut Reader::new(text)).ok();
            let has = |name: &str| tree.as_ref().is_some_and(|it| child(it, name).is_some());
            let renamed = nearest.as_deref().filter(|meant| !has(meant)).map(|meant| {
                let title = format!("call the argument `{meant}`");
                // A person must choose a name that is only similar.
                let applicability = match correction {
                    Some(_) => Applicability::Safe,
                    None => Applicability::Display,
                };
                fix(title, applicability, vec![named(*span, meant)])
            });
            let removed = tree.as_ref().and_then(|it| without(text, it, name));
            let left_out = removed.map(|mut patches| {
                // The spans are those of the arguments alone.
                for Patch { span, .. } in &mut patches {
                    span.start += call.args.start;
                    span.end += call.args.start;
                }
                let title = format!("leave out the argument `{name}`");
                fix(title, Applicability::Unsafe, patches)
            });
            renamed.into_iter().chain(left_out).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns a written name with its place.
fn said<N: Name>(name: &Spanned<N>) -> (&str, Span) {
    (name.value.as_str(), name.span)
}

/// Replaces a name.
fn named(span: Span, name: &str) -> Patch {
    let text = json_string(name);
    Patch { span, text }
}

/// Returns the patches that remove an argument, if there is one of that name.
fn without(text: &str, arguments: &Node<'_>, name: &str) -> Option<Vec<Patch>> {
    let removed = Change {
        source: DocumentKind::Call,
        pointer: format!("/{}", token(name)),
        kind: ChangeKind::Remove,
        widens: false,
    };
    document::patches(text, arguments, &[&removed])
}
