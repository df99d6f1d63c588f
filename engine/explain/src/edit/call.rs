//! What may be meant by a call that may not be made, as edits of its plan.

use super::{Edit, Patch, document_patches};
use agent_decide::CallDenial;
use agent_diagnostic::{Change, ChangeKind};
use agent_json_schema::{ArgumentProblem, child, token};
use agent_model::{CallPlan, Planned, PlannedCall};
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, write_string};
use agent_text::{Source, Span};

/// A change of a plan by which a reason against it is gone. Others may be left, or come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFix {
    /// What it does: an instruction.
    pub text: String,
    /// Edits of the plan: ordered by place, without overlaps.
    pub edits: Vec<Edit>,
}

/// The changes of a one-call plan by which this reason would be gone, the likeliest first: names that
/// are spelled nearly so, and arguments that are left out. None of them lets a plan do more than it
/// may: what is called is decided again.
pub fn call_fixes(plan: &CallPlan, denial: &CallDenial<'_>) -> Vec<CallFix> {
    let Planned::Call(call) = &plan.planned else {
        return Vec::new();
    };
    let fix = |text: String, patches: Vec<Patch>| CallFix {
        text,
        edits: edits(plan, patches),
    };
    let names = |nearest: &[&str], span: Span, what: &str| {
        let nearest = nearest.iter();
        nearest
            .map(|name| fix(format!("{what} `{name}`"), vec![named(span, name)]))
            .collect()
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
                fix(text, vec![named(*span, meant)])
            });
            let left_out = args.without(name).map(|patches| {
                let text = format!("leave out the argument `{name}`");
                fix(text, patches)
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

/// A name in the place of another one.
fn named(span: Span, name: &str) -> Patch {
    let mut text = String::new();
    write_string(name, &mut text);
    Patch { span, text }
}

/// The arguments of a plan, which was read before.
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

    /// What takes out the one of a name. None: there is none.
    fn without(&self, name: &str) -> Option<Vec<Patch>> {
        let removed = Change {
            source: Source::Plan,
            pointer: format!("/{}", token(name)),
            kind: ChangeKind::Remove,
            widens: false,
        };
        let patches = document_patches(self.text, self.tree.as_ref()?, &[&removed])?;
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
