//! What would turn a no into a yes.

use super::assess::{Assessment, Offer, Rejection, assess};
use agent_model::{
    Capability, ConstraintKey, Constraints, Name, Requirement, Residency, ResidencySet, Sensitivity,
};

/// One change to an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'i> {
    /// Server: add this category.
    AddCategory(&'i str),
    /// Server: add this scope.
    AddScope(&'i str),
    /// Server: add this residency.
    AddResidency(Residency),
    /// Server: raise `maxSensitivity` to this level.
    RaiseSensitivity(Sensitivity),
    /// Server: have it signed.
    Sign,
    /// Manifest: drop `constraints.data.residency`.
    DropResidency,
    /// Manifest: lower `constraints.data.sensitivity` to this level.
    LowerSensitivity(Sensitivity),
    /// Manifest: drop `constraints.trust.requireSigned`.
    AllowUnsigned,
    /// Server: have the tool advertise this capability.
    Advertise(&'i Capability),
    /// Server: add this constraint to the capability that the tool advertises.
    AddConstraint(&'i str),
    /// Health: have the server healthy.
    Recover,
    /// Manifest or task: drop this constraint of the requirement.
    DropConstraint(&'i str),
    /// Manifest: drop this label from `constraints.actions.forbid`.
    AllowAction(&'i str),
}

impl Change<'_> {
    /// Whether it relaxes what the manifest asks for.
    pub fn widening(self) -> bool {
        matches!(
            self,
            Self::DropResidency
                | Self::LowerSensitivity(_)
                | Self::AllowUnsigned
                | Self::DropConstraint(_)
                | Self::AllowAction(_)
        )
    }
}

/// The smallest set of changes on one side that makes a rejected server eligible. It has been
/// verified: the changes were applied, and it was decided again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterfactual<'i> {
    /// Each is needed.
    pub changes: Vec<Change<'i>>,
    /// Whether the manifest asks for less than before. Never the first suggestion.
    pub widening: bool,
}

/// What would make a rejected server eligible: the changes on its own side first, then those of
/// the manifest, where relaxing constraints alone would do. Empty if it is eligible.
pub fn counterfactuals<'i>(
    requirement: &'i Requirement,
    constraints: &Constraints,
    offer: &Offer<'i>,
) -> Vec<Counterfactual<'i>> {
    let Assessment::Rejected(reasons) = assess(requirement, constraints, offer) else {
        return Vec::new();
    };
    let on_server: Vec<_> = reasons
        .as_slice()
        .iter()
        .flat_map(|reason| server_changes(requirement, reason))
        .collect();
    let on_manifest: Option<Vec<_>> = reasons.as_slice().iter().map(manifest_change).collect();
    [Some(on_server), on_manifest]
        .into_iter()
        .flatten()
        .filter(|changes| verify(requirement, constraints, offer, changes))
        .map(|changes| Counterfactual {
            widening: changes.iter().any(|change| change.widening()),
            changes,
        })
        .collect()
}

/// What the server would have to change for a reason to vanish.
fn server_changes<'i>(requirement: &'i Requirement, reason: &Rejection<'i>) -> Vec<Change<'i>> {
    match reason {
        Rejection::MissingCategory { .. } => {
            vec![Change::AddCategory(requirement.category.value.as_str())]
        }
        Rejection::MissingScope { missing } => missing
            .iter()
            .map(|scope| Change::AddScope(scope))
            .collect(),
        Rejection::ResidencyMismatch { required, .. } => vec![Change::AddResidency(*required)],
        Rejection::SensitivityExceeded { required, .. } => {
            vec![Change::RaiseSensitivity(*required)]
        }
        Rejection::UnsignedNotAllowed { .. } => vec![Change::Sign],
        // What is said of tools only; see `matching`.
        _ => Vec::new(),
    }
}

/// What the manifest would have to relax for a reason to vanish. None where it is no constraint.
fn manifest_change<'i>(reason: &Rejection<'i>) -> Option<Change<'i>> {
    match reason {
        Rejection::ResidencyMismatch { .. } => Some(Change::DropResidency),
        Rejection::SensitivityExceeded { offered, .. } => Some(Change::LowerSensitivity(*offered)),
        Rejection::UnsignedNotAllowed { .. } => Some(Change::AllowUnsigned),
        _ => None,
    }
}

/// Apply the changes and decide again.
fn verify(
    requirement: &Requirement,
    constraints: &Constraints,
    offer: &Offer<'_>,
    changes: &[Change<'_>],
) -> bool {
    let mut constraints = constraints.clone();
    let mut offer = offer.clone();
    for change in changes {
        apply(*change, &mut constraints, &mut offer);
    }
    assess(requirement, &constraints, &offer) == Assessment::Eligible
}

/// Apply a change to the constraints of a manifest or to what a server offers.
fn apply<'i>(change: Change<'i>, constraints: &mut Constraints, offer: &mut Offer<'i>) {
    match change {
        Change::AddCategory(category) => insert(&mut offer.categories, category),
        Change::AddScope(scope) => insert(&mut offer.scopes, scope),
        _ => {
            offer.constraint_key = apply_to_key(change, offer.constraint_key);
            apply_to_constraints(change, constraints);
        }
    }
}

/// What the constraints look at, after a change.
pub(super) fn apply_to_key(change: Change<'_>, constraint_key: ConstraintKey) -> ConstraintKey {
    match change {
        Change::AddResidency(residency) => {
            let residencies = constraint_key.residency().iter().chain([residency]);
            ConstraintKey::new(
                ResidencySet::new(residencies).unwrap_or(constraint_key.residency()),
                constraint_key.max_sensitivity(),
                constraint_key.signed(),
            )
        }
        Change::RaiseSensitivity(level) => {
            ConstraintKey::new(constraint_key.residency(), level, constraint_key.signed())
        }
        Change::Sign => ConstraintKey::new(
            constraint_key.residency(),
            constraint_key.max_sensitivity(),
            true,
        ),
        _ => constraint_key,
    }
}

/// Apply a change to the constraints of a manifest.
pub(super) fn apply_to_constraints(change: Change<'_>, constraints: &mut Constraints) {
    match change {
        Change::DropResidency => constraints.residency = None,
        Change::LowerSensitivity(level) => {
            if let Some(sensitivity) = &mut constraints.sensitivity {
                sensitivity.value = level;
            }
        }
        Change::AllowUnsigned => constraints.require_signed = None,
        Change::AllowAction(label) => {
            constraints
                .forbid
                .retain(|known| known.value.as_str() != label);
        }
        _ => {}
    }
}

fn insert<'i>(names: &mut Vec<&'i str>, name: &'i str) {
    if let Err(place) = names.binary_search(&name) {
        names.insert(place, name);
    }
}
