//! Messages about tools that are not exposed or not expanded.

use super::locked_policy::policy_mismatch;
use super::wording::{drift_diagnostic, quoted, reason as reason_of};
use agent_decide::{Collision, Denial, DenialReason, Holder, NotExpanded, NotExposed, Rejection};
use agent_diagnostic::{Code, Diagnostic, Label};
use agent_model::{Load, ServerView};
use agent_text::{DocumentKind, Place, Span, Text};

/// Returns the reasons why nothing is exposed: an error for each drift or for each name.
pub fn not_exposed(refused: &NotExposed<'_>) -> Vec<Diagnostic> {
    match refused {
        NotExposed::Drifted(drifts) => drifts.as_slice().iter().map(drift_diagnostic).collect(),
        NotExposed::Collisions(collisions) => {
            collisions.as_slice().iter().map(name_collision).collect()
        }
    }
}

fn name_collision(collision: &Collision<'_>) -> Diagnostic {
    let name = |server: ServerView<'_>| format!("`{} {}`", server.id(), server.version());
    let holders: Vec<_> = collision
        .holders
        .iter()
        .map(|holder| match holder {
            Holder::Stub(server) => format!("the stub of {}", name(*server)),
            Holder::Tool(tool, Load::Essential) => format!("a tool of {}", name(tool.server())),
            Holder::Tool(tool, Load::OnDemand) => {
                format!("a tool on demand of {}", name(tool.server()))
            }
        })
        .collect();
    let labels = collision.holders.iter().zip(&holders);
    let labels = labels
        .map(|(holder, text)| {
            let place = match holder {
                Holder::Stub(server) => server.place_of_id(),
                Holder::Tool(tool, _) => tool.place(),
            };
            Label::new(place, text)
        })
        .collect();
    let of_stub = |holder: &Holder<'_>| matches!(holder, Holder::Stub(_));
    let help = if collision.holders.iter().any(of_stub) {
        const { Code::StubCollision.help() }
    } else {
        "Have other tools selected: an agent calls a tool by its name alone."
    };
    let message = format!(
        "the name `{}` would belong to {}",
        collision.name,
        holders.join(" and to ")
    );
    let mut diagnostic = Diagnostic::new(Code::StubCollision, message).help(help);
    diagnostic.labels = labels;
    diagnostic
}

/// Returns the reason why a tool may not be expanded, as the predicate of a sentence about it.
pub fn denial(denial: &DenialReason) -> String {
    match denial {
        DenialReason::NotLocked => "is not locked as `on_demand`".to_owned(),
        DenialReason::Essential => "is locked as `essential`, so it is exposed already".to_owned(),
        DenialReason::Ambiguous { versions } => format!(
            "is locked in the versions {}, and none is named",
            quoted(versions)
        ),
        DenialReason::Nothing => "is named without a tool".to_owned(),
        DenialReason::Policy { reason: why } => {
            let reason = why.as_deref();
            reason_of(&Rejection::PolicyDenied { reason })
        }
        DenialReason::PolicyError { kind } => reason_of(&Rejection::PolicyError { reason: *kind }),
    }
}

/// Returns the sentence that a budget would be exceeded.
pub fn over_budget(needed: u64, used: u64, budget: Option<u64>) -> String {
    let budget = match budget {
        Some(budget) => format!("of a budget of {budget}"),
        None => "and there is no budget".to_owned(),
    };
    format!("about {needed} tokens are needed and {used} used, by an estimate, {budget}")
}

/// Returns the reasons why nothing is expanded: an error for each tool or drift, or one for the
/// budget. Most have no text: their place is the beginning of the lock.
pub fn not_expanded(refused: &NotExpanded) -> Vec<Diagnostic> {
    let lock = Text::new(DocumentKind::Lock, String::new()).place(Span::default());
    let diagnostic = |code: Code, message: String, failed_at: Option<Place>, help: String| {
        let diagnostic = Diagnostic::new(code, message).label(lock, "").help(help);
        match failed_at {
            Some(place) => diagnostic.label(place, "the policy fails here"),
            None => diagnostic,
        }
    };
    match refused {
        NotExpanded::OtherPolicy(found) => {
            let (code, message) = policy_mismatch(found);
            vec![diagnostic(code, message, None, code.help().to_owned())]
        }
        NotExpanded::Drifted(drifts) => drifts.as_slice().iter().map(drift_diagnostic).collect(),
        NotExpanded::Denied {
            denials,
            policy_decision,
        } => {
            let error = policy_decision
                .as_ref()
                .and_then(|policy_decision| policy_decision.answer.as_ref().err());
            let denied = |Denial { id, reason }: &Denial| {
                let detail = error.map_or_else(String::new, |error| format!(": {}", error.detail));
                diagnostic(
                    Code::ExpansionDenied,
                    format!("`{id}` {}{detail}", denial(reason)),
                    error.and_then(|error| error.place),
                    match reason {
                        DenialReason::PolicyError { .. } => Code::PolicyError.help().to_owned(),
                        DenialReason::Policy { .. } => Code::PolicyDenied.help().to_owned(),
                        DenialReason::Ambiguous { .. } => {
                            "Name the server as `id@version`.".to_owned()
                        }
                        _ => Code::ExpansionDenied.help().to_owned(),
                    },
                )
            };
            denials.as_slice().iter().map(denied).collect()
        }
        NotExpanded::OverBudget {
            needed,
            used,
            budget,
        } => vec![diagnostic(
            Code::TokenBudgetExceeded,
            over_budget(*needed, *used, *budget),
            None,
            match budget {
                Some(_) => Code::TokenBudgetExceeded.help().to_owned(),
                None => "Give a budget, or set `token_budget` of the tenant.".to_owned(),
            },
        )],
    }
}
