//! The words for what is not exposed and not expanded.

use super::wording::{drift_diagnostic, policy_error, quoted};
use agent_decide::{Collision, Denial, DenialReason, Holder, NotExpanded, NotExposed};
use agent_diagnostic::{Code, Diagnostic, Label};
use agent_model::{Load, ServerView};
use agent_text::{DocumentKind, Place, Span, Text};

/// Why nothing is exposed: an error for each drift or for each name.
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
        Code::StubCollision.help()
    } else {
        "Have other tools selected: an agent calls a tool by its name alone."
    };
    let message = format!(
        "the name `{}` would be that of {}",
        collision.name,
        holders.join(" and of ")
    );
    let mut diagnostic = Diagnostic::new(Code::StubCollision, message).help(help);
    diagnostic.labels = labels;
    diagnostic
}

/// Why a tool may not be expanded, as the predicate of a sentence about it.
pub fn denial(reason: &DenialReason) -> String {
    match reason {
        DenialReason::NotLocked => "is not locked as `on_demand`".to_owned(),
        DenialReason::Essential => {
            "is locked as `essential`, so that it is exposed already".to_owned()
        }
        DenialReason::Ambiguous { versions } => format!(
            "may be of the versions {}, and none is named",
            quoted(versions.iter().map(String::as_str))
        ),
        DenialReason::Nothing => "is asked for no tool".to_owned(),
        DenialReason::Policy { reason: None } => {
            "is not among the tools that the policy allows".to_owned()
        }
        DenialReason::Policy {
            reason: Some(reason),
        } => format!("is denied by the policy: {reason}"),
        DenialReason::PolicyError { kind } => format!(
            "is denied because the policy gave no answer: {}",
            policy_error(*kind)
        ),
    }
}

/// That a budget would be passed, as a sentence.
pub fn over_budget(needed: u64, used: u64, budget: Option<u64>) -> String {
    match budget {
        Some(budget) => format!(
            "about {needed} tokens are needed and {used} used, by an estimate, of a budget of \
             {budget}"
        ),
        None => format!(
            "about {needed} tokens are needed and {used} used, by an estimate, and there is no \
             budget"
        ),
    }
}

/// Why nothing is expanded: an error for each tool or drift, or one for the budget. Most are no
/// problem of a text, and stand at the beginning of the lock, which says what may be expanded.
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
        NotExpanded::Drifted(drifts) => drifts.as_slice().iter().map(drift_diagnostic).collect(),
        NotExpanded::Denied {
            denials,
            policy_decision,
        } => {
            let error = policy_decision
                .as_ref()
                .and_then(|policy_decision| policy_decision.answer.as_ref().err());
            let tell = |Denial { id, reason }: &Denial| {
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
            denials.as_slice().iter().map(tell).collect()
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
