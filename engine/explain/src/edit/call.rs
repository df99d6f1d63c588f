//! Fixes of a denied call, as edits of its plan.

use super::document;
use super::patch::Patch;
use crate::wording::json_string;
use agent_decide::CallDenial;
use agent_diagnostic::{Applicability, Change, ChangeKind, Edit, Fix};
use agent_json_schema::{ArgumentProblem, child, token};
use agent_model::{CallPlan, Planned, PlannedCall};
use agent_syntax::Node;
use agent_syntax::json::{Reader, parse_value};
use agent_text::{DocumentKind, Span};

/// Returns the fixes of a one-call plan that remove one denial, the likeliest first: names of
/// similar spelling, and arguments that are left out. Other denials may stay or appear. The fixed
/// plan is decided again, so no fix lets the agent do more than it may.
pub fn call_fixes(plan: &CallPlan, denial: &CallDenial<'_>) -> Vec<Fix> {
    let Planned::Call(call) = &plan.planned else {
        return Vec::new();
    };
    let fix = |title: String, applicability, patches: Vec<Patch>| Fix {
        title,
        applicability,
        edits: edits(plan, patches),
    };
    let names = |nearest: &[&str], span: Span, what: &str| {
        // Of several names a person has to choose one.
        let applicability = match nearest.len() {
            1 => Applicability::Safe,
            _ => Applicability::Display,
        };
        let fixes = nearest.iter().map(|name| {
            let patches = vec![named(span, name)];
            fix(format!("{what} `{name}`"), applicability, patches)
        });
        fixes.collect()
    };
    match denial {
        CallDenial::UnknownServer { nearest } => {
            names(nearest, call.server.span, "name the server")
        }
        CallDenial::UnknownTool { nearest } => names(nearest, call.tool.span, "call the tool"),
        CallDenial::Arguments(ArgumentProblem::Unknown {
            name,
            span,
            nearest,
        }) => {
            let args = Arguments::of(plan, call);
            let meant = nearest.as_deref().filter(|meant| !args.have(meant));
            let renamed = meant.map(|meant| {
                let text = format!("call the argument `{meant}`");
                fix(text, Applicability::Safe, vec![named(*span, meant)])
            });
            let left_out = args.without(name).map(|patches| {
                let text = format!("leave out the argument `{name}`");
                fix(text, Applicability::Unsafe, patches)
            });
            renamed.into_iter().chain(left_out).collect()
        }
        _ => Vec::new(),
    }
}

fn edits(plan: &CallPlan, patches: Vec<Patch>) -> Vec<Edit> {
    let edit = |patch: Patch| Edit {
        place: plan.text.place(patch.span),
        replacement: patch.text,
    };
    patches.into_iter().map(edit).collect()
}

/// Replaces a name.
fn named(span: Span, name: &str) -> Patch {
    let text = json_string(name);
    Patch { span, text }
}

/// The arguments of a plan.
struct Arguments<'p> {
    text: &'p str,
    at: Span,
    tree: Option<Node<'p>>,
}

impl<'p> Arguments<'p> {
    fn of(plan: &'p CallPlan, call: &PlannedCall) -> Self {
        let text = call.args.of(plan.text.as_str());
        Self {
            text,
            at: call.args,
            tree: parse_value(&mut Reader::new(text)).ok(),
        }
    }

    fn have(&self, name: &str) -> bool {
        self.tree
            .as_ref()
            .is_some_and(|tree| child(tree, name).is_some())
    }

    /// Returns the patches that remove an argument, if there is one of that name.
    fn without(&self, name: &str) -> Option<Vec<Patch>> {
        let removed = Change {
            source: DocumentKind::Plan,
            pointer: format!("/{}", token(name)),
            kind: ChangeKind::Remove,
            widens: false,
        };
        let patches = document::patches(self.text, self.tree.as_ref()?, &[&removed])?;
        let moved = patches.into_iter().map(|patch| Patch {
            span: Span {
                start: patch.span.start + self.at.start,
                end: patch.span.end + self.at.start,
            },
            ..patch
        });
        Some(moved.collect())
    }
}
