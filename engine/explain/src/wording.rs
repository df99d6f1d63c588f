//! The wording of reasons, changes and drifts.

use super::decision::LostOn;
use super::located::is_definition;
use agent_decide::{
    Change, Counterfactual, Drift, PolicyError, PolicyErrorKind, Preference, Rejection, TieBreak,
};
use agent_diagnostic::{Code, Diagnostic};
use agent_model::Residency;
use agent_text::{DocumentKind, Span, Text, visible};
use std::fmt::Display;

/// Returns names in backquotes, separated by commas.
pub(super) fn quoted(names: impl IntoIterator<Item = impl Display>) -> String {
    let quoted: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Returns a question about similar names, or other help without one.
pub(super) fn did_you_mean(
    nearest: impl IntoIterator<Item = impl Display>,
    otherwise: &str,
) -> String {
    match quoted(nearest) {
        names if names.is_empty() => otherwise.to_owned(),
        names => format!("did you mean {names}?"),
    }
}

/// Returns a rejection as the predicate of a sentence about the candidate.
pub fn reason(reason: &Rejection<'_>) -> String {
    match reason {
        Rejection::MissingCategory { offered } if offered.is_empty() => {
            "offers no category".to_owned()
        }
        Rejection::MissingCategory { offered } => {
            format!("offers only {}", quoted(offered.iter().copied()))
        }
        Rejection::ToolMissing { missing } => {
            format!("has no tool {}", quoted(missing.iter().copied()))
        }
        Rejection::MissingScope { missing } => {
            format!("does not support {}", quoted(missing.iter().copied()))
        }
        Rejection::ResidencyMismatch { offered, .. } if offered.iter().next().is_none() => {
            "promises no residency".to_owned()
        }
        Rejection::ResidencyMismatch { required, offered } => format!(
            "keeps data in {}, and `{}` is required",
            quoted(offered.iter().map(Residency::as_str)),
            required.as_str()
        ),
        Rejection::SensitivityExceeded { required, offered } => format!(
            "may hold data up to `{}`, and `{}` is required",
            offered.as_str(),
            required.as_str()
        ),
        Rejection::UnsignedNotAllowed { publisher } => {
            format!("is not signed by its publisher `{publisher}`, and signatures are required")
        }
        Rejection::MissingCapability { offered } if offered.is_empty() => {
            "advertises no capability, so it can't be matched by one".to_owned()
        }
        Rejection::MissingCapability { offered } => {
            format!("advertises only {}", quoted(offered.iter().copied()))
        }
        Rejection::ConstraintUnmet { missing } => {
            format!("does not promise {}", quoted(missing.iter().copied()))
        }
        Rejection::ForbiddenAction { label } => format!("is forbidden by the label `{label}`"),
        Rejection::HiddenText { pointer, character } => {
            let pointer = visible(pointer);
            format!("contains U+{:04X} at `{pointer}`", u32::from(*character))
        }
        Rejection::PolicyDenied { reason: None } => {
            "is not among the tools that the policy allows".to_owned()
        }
        Rejection::PolicyDenied {
            reason: Some(reason),
        } => format!("is denied by the policy: {reason}"),
        Rejection::PolicyError { reason } => format!(
            "is denied because the policy gave no answer: {}",
            policy_error(*reason)
        ),
        Rejection::HealthVeto { status: None } => {
            "is on a server that the health snapshot does not list".to_owned()
        }
        Rejection::HealthVeto {
            status: Some(status),
        } => format!("is on a server that is `{}`", status.as_str()),
    }
}

/// Returns the note that a policy gave no answer.
pub fn policy_failure(error: &PolicyError) -> String {
    let PolicyError { kind, detail, .. } = error;
    format!(
        "the policy gave no answer: {}: {detail}",
        policy_error(*kind)
    )
}

/// Returns the reason why a policy gave no answer, as a clause.
pub fn policy_error(kind: PolicyErrorKind) -> &'static str {
    match kind {
        PolicyErrorKind::Budget => "it exceeded its budget",
        PolicyErrorKind::History => "it reads a history that is not known",
        PolicyErrorKind::Runtime => "it failed",
        PolicyErrorKind::Type => "`allowed_tools` is not a set of strings",
        PolicyErrorKind::Undefined => "`allowed_tools` is not defined",
    }
}

/// Returns the name of a check, by the code of its failure.
pub fn check_name(code: Code) -> &'static str {
    match code {
        Code::MissingCategory => "category",
        Code::ToolMissing => "tools",
        Code::MissingScope => "scopes",
        Code::ResidencyMismatch => "residency",
        Code::SensitivityExceeded => "sensitivity",
        Code::UnsignedNotAllowed => "signature",
        Code::MissingCapability => "capability",
        Code::ConstraintUnmet => "constraints",
        Code::ForbiddenAction => "action",
        Code::InvisibleCharacter => "text",
        Code::PolicyDenied | Code::PolicyError => "policy",
        Code::HealthVeto => "health",
        other => other.name(),
    }
}

/// Returns the reason why an eligible candidate was not selected, as a clause about it.
pub fn lost(lost_on: LostOn) -> &'static str {
    match lost_on {
        LostOn::Server(TieBreak::Signed) => "it is not signed",
        LostOn::Server(TieBreak::Id) => "its id is later in order",
        LostOn::Server(TieBreak::Version) => "its version is later in order",
        LostOn::Tool(Preference::Priority) => "its priority is lower",
        LostOn::Tool(Preference::Id) => "the id of its server is later in order",
        LostOn::Tool(Preference::Version) => "the version of its server is later in order",
        LostOn::Tool(Preference::Tool) => "its name is later in order",
    }
}

/// Returns a change: that of a server as a condition, another one as an instruction.
fn change(change: Change<'_>) -> String {
    match change {
        Change::AddCategory(category) => format!("offered the category `{category}`"),
        Change::AddTool(tool) => format!("had the tool `{tool}`"),
        Change::AddScope(scope) => format!("supported the scope `{scope}`"),
        Change::AddResidency(residency) => format!("kept data in `{}`", residency.as_str()),
        Change::RaiseSensitivity(level) => format!("were approved for `{}`", level.as_str()),
        Change::Sign => "were signed by its publisher".to_owned(),
        Change::DropResidency => "drop `constraints.data.residency`".to_owned(),
        Change::LowerSensitivity(level) => format!(
            "lower `constraints.data.sensitivity` to `{}`",
            level.as_str()
        ),
        Change::AllowUnsigned => "drop `constraints.trust.requireSigned`".to_owned(),
        Change::Advertise(capability) => format!("advertised `{capability}`"),
        Change::AddConstraint(tag) => format!("promised `{tag}`"),
        Change::Recover => "were on a healthy server".to_owned(),
        Change::DropConstraint(tag) => format!("drop the constraint `{tag}`"),
        Change::AllowAction(label) => format!("drop `{label}` from `constraints.actions.forbid`"),
    }
}

/// Joins clauses with commas and `and`.
fn all_of(mut clauses: Vec<String>) -> String {
    let last = clauses.pop().unwrap_or_default();
    match clauses.is_empty() {
        true => last,
        false => format!("{} and {last}", clauses.join(", ")),
    }
}

/// Returns what would have to be true of a candidate, as the predicate of a sentence about it, with the
/// facts that its entry and its health state instead.
pub fn supposition(supposition: &Counterfactual<'_>, reasons: &[Rejection<'_>]) -> String {
    let changes = supposition.changes.iter().map(|c| change(*c)).collect();
    let mut words = format!("would be eligible if it {}", all_of(changes));
    let mut stated: Vec<&str> = Vec::new();
    for reason in reasons {
        match reason {
            Rejection::ResidencyMismatch { offered, .. } => {
                stated.extend(offered.iter().map(|it| it.as_str()));
            }
            Rejection::SensitivityExceeded { offered, .. } => stated.push(offered.as_str()),
            Rejection::UnsignedNotAllowed { .. } => stated.push("signed: false"),
            Rejection::MissingCategory { offered } | Rejection::MissingCapability { offered } => {
                stated.extend(offered.iter().take(STATED));
            }
            _ => {}
        }
    }
    if !stated.is_empty() {
        words.push_str(&format!("; its entry says {}", quoted(stated)));
    }
    let health = reasons.iter().find_map(|reason| match reason {
        Rejection::HealthVeto { status } => Some(*status),
        _ => None,
    });
    match health {
        Some(Some(status)) => {
            words.push_str(&format!("; the health snapshot says `{}`", status.as_str()));
        }
        Some(None) => words.push_str("; the health snapshot does not list its server"),
        None => {}
    }
    words
}

/// Maximum number of offered names in a supposition.
const STATED: usize = 8;

/// Returns all changes of a counterfactual as an instruction, with the document to change.
pub fn fix(fix: &Counterfactual<'_>) -> String {
    let changes = all_of(fix.changes.iter().map(|c| change(*c)).collect());
    let of_task = |change: &Change<'_>| matches!(change, Change::DropConstraint(_));
    let document = match fix.changes.iter().any(of_task) {
        true => "requirement",
        false => "manifest",
    };
    format!("in the {document}, {changes} (gives the agent more access)")
}

/// Returns what a drift is about: a category, or a capability with its tool.
pub fn drift_subject(drift: &Drift) -> Option<String> {
    let about = drift.category.as_ref().or(drift.capability.as_ref());
    match (about, &drift.tool) {
        (Some(about), Some(tool)) => Some(format!("{about} ({tool})")),
        (about, tool) => about.or(tool.as_ref()).cloned(),
    }
}

/// Returns a drift as a sentence.
pub fn drift(drift: &Drift) -> String {
    match (drift.code, &drift.details[..]) {
        (_, []) => change_of(drift),
        // What changed says more than two digests.
        (Code::DefinitionChanged, details) => {
            format!("the definition of the tool changed: {}", details.join(", "))
        }
        (_, details) => format!("{}: {}", change_of(drift), details.join(", ")),
    }
}

fn change_of(drift: &Drift) -> String {
    let before = drift.before.as_deref().unwrap_or("nothing");
    let after = drift.after.as_deref().unwrap_or("nothing");
    match drift.code {
        Code::LockMissing => "there is no lock".to_owned(),
        Code::AgentChanged => format!("the agent was `{before}` and is `{after}`"),
        Code::RequirementAdded => format!("newly selected: `{after}`"),
        Code::RequirementRemoved => format!("no longer selected: `{before}`"),
        Code::SelectionChanged => format!("the server was `{before}` and is `{after}`"),
        Code::VersionChanged => format!("the version was `{before}` and is `{after}`"),
        Code::EndpointChanged => format!("the endpoint was `{before}` and is `{after}`"),
        Code::ScopeWidened => format!("the scope `{after}` is newly granted"),
        Code::ScopeNarrowed => format!("the scope `{before}` is no longer granted"),
        Code::ToolsWidened if drift.after.is_none() => {
            format!("only `{before}` of the server were locked, and every tool is")
        }
        Code::ToolsWidened => format!("the tool `{after}` is newly locked"),
        Code::ToolsNarrowed if drift.before.is_none() => {
            format!("every tool of the server was locked, and only `{after}` are")
        }
        Code::ToolsNarrowed => format!("the tool `{before}` is no longer locked"),
        Code::ServeWidened => format!("the {after} of the server are newly passed on"),
        Code::ServeNarrowed => format!("the {before} of the server are no longer passed on"),
        Code::PatternsWidened => format!("unusable patterns of `{after}` are newly ignored"),
        Code::PatternsNarrowed => format!("unusable patterns of `{before}` are no longer ignored"),
        Code::IntegrityChanged => {
            format!("the index entry had the digest `{before}` and has `{after}`")
        }
        Code::HashChanged if is_definition(drift) => format!(
            "`agents.lock` was edited: the definition `{before}` is not that of the tool in the locked entry"
        ),
        // The right hash would invite the editor of the lock to write it in.
        Code::HashChanged => format!("the hash `{before}` is not that of the selection"),
        Code::ServerRemoved => format!("`{before}` is no longer in the index"),
        Code::ForbidAdded => format!("`{after}` is newly forbidden"),
        Code::ForbidRemoved => format!("`{before}` is no longer forbidden"),
        Code::MissingCategory => format!("the server offers {after}, and not `{before}`"),
        Code::ToolMissing => format!("the server has no tool `{before}`"),
        Code::MissingScope => format!("the server does not support the scope `{before}`"),
        Code::MissingCapability => format!("the tool advertises {after}, and not `{before}`"),
        Code::ConstraintUnmet => format!("the tool does not promise `{before}`"),
        Code::ToolChanged if drift.after.is_none() => {
            format!("the server no longer has `{before}`")
        }
        Code::ToolChanged => format!("the tool was `{before}` and is `{after}`"),
        Code::DefinitionChanged => {
            format!("the definition of the tool had the digest `{before}` and has `{after}`")
        }
        Code::DefinitionsChanged => {
            "`agents.definitions.json` is not the file of the lock".to_owned()
        }
        Code::PolicyChanged => format!("the policy was `{before}` and is `{after}`"),
        Code::PolicyWidened => format!("newly allowed (was denied: {before})"),
        Code::PolicyNarrowed => format!("newly denied ({after})"),
        Code::PolicyReasonChanged => format!("denied ({after}; before: {before})"),
        Code::LoadChanged if drift.category.is_some() => {
            format!("the server's tools were `{before}` and are `{after}`")
        }
        Code::LoadChanged => format!("the tool was `{before}` and is `{after}`"),
        _ => format!("`{before}` became `{after}`"),
    }
}

/// Returns the usual help for a drift. The helps of other codes are not among its results, so a module of the engine that
/// only resolves does not have them.
fn help_of(drift: Code) -> &'static str {
    macro_rules! own_help {
        ($($code:ident)*) => {
            match drift {
                $(Code::$code => const { Code::$code.help() },)*
                // What a reason rejects was eligible when it was locked.
                _ => const { Code::LockInvalid.help() },
            }
        };
    }
    own_help! {
        AgentChanged DefinitionChanged DefinitionsChanged EndpointChanged ForbidAdded
        ForbidRemoved HashChanged IntegrityChanged LoadChanged LockInvalid LockMissing
        PatternsNarrowed PatternsWidened PolicyChanged PolicyNarrowed PolicyReasonChanged
        PolicyWidened RequirementAdded RequirementRemoved ScopeNarrowed ScopeWidened
        SelectionChanged ServeNarrowed ServeWidened ServerRemoved ToolChanged ToolsNarrowed
        ToolsWidened VersionChanged
    }
}

/// Returns a drift as a problem at its places, or else at the beginning of the lock.
pub fn drift_diagnostic(drift: &Drift) -> Diagnostic {
    let about = match drift_subject(drift) {
        Some(about) => format!("{about}: "),
        None => String::new(),
    };
    let widening = if drift.widening() {
        " (gives the agent more access)"
    } else {
        ""
    };
    let message = format!("{about}{}{widening}", self::drift(drift));
    let mut diagnostic = Diagnostic::new(drift.code, message).help(help_of(drift.code));
    for place in &drift.places {
        let label = match place.source {
            DocumentKind::Lock => "locked here",
            _ => "in the index here",
        };
        diagnostic = diagnostic.label(*place, label);
    }
    if diagnostic.labels.is_empty() {
        let lock = Text::new(DocumentKind::Lock, String::new()).place(Span::default());
        diagnostic = diagnostic.label(lock, "");
    }
    diagnostic
}

#[cfg(test)]
mod tests {
    use super::{change_of, help_of};
    use agent_decide::Drift;
    use agent_diagnostic::Code;

    #[test]
    fn every_drift_with_words_of_its_own_has_the_help_of_its_code() {
        let mut of_the_lock = Vec::new();
        for &code in Code::ALL {
            let drift = Drift {
                code,
                category: None,
                capability: None,
                tool: None,
                before: None,
                after: None,
                details: Vec::new(),
                places: Vec::new(),
            };
            if change_of(&drift) == "`nothing` became `nothing`" || help_of(code) == code.help() {
                continue;
            }
            assert_eq!(help_of(code), Code::LockInvalid.help());
            of_the_lock.push(code);
        }
        // The reasons that reject what was eligible when it was locked.
        assert_eq!(
            of_the_lock,
            [
                Code::ConstraintUnmet,
                Code::MissingCapability,
                Code::MissingCategory,
                Code::MissingScope,
                Code::ToolMissing,
            ]
        );
    }
}
