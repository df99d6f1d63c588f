//! The changes that make a rejected candidate eligible.

use super::assess::{Assessment, Offer, assess};
use super::rejection::Rejection;
use agent_model::{
    Capability, ConstraintKey, Constraints, Name, Requirement, Residency, ResidencySet, Sensitivity,
};
use std::collections::BinaryHeap;

/// One change to an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'i> {
    /// Server: add this category.
    AddCategory(&'i str),
    /// Server: add this tool.
    AddTool(&'i str),
    /// Server: add this scope.
    AddScope(&'i str),
    /// Server: add this residency.
    AddResidency(Residency),
    /// Server: raise `maxSensitivity` to this level.
    RaiseSensitivity(Sensitivity),
    /// Server: sign it.
    Sign,
    /// Manifest: drop `constraints.data.residency`.
    DropResidency,
    /// Manifest: lower `constraints.data.sensitivity` to this level.
    LowerSensitivity(Sensitivity),
    /// Manifest: drop `constraints.trust.requireSigned`.
    AllowUnsigned,
    /// Server: advertise this capability of the tool.
    Advertise(&'i Capability),
    /// Server: add this constraint to the capability that the tool advertises.
    AddConstraint(&'i str),
    /// Health: restore the server.
    Recover,
    /// Manifest or task: drop this constraint of the requirement.
    DropConstraint(&'i str),
    /// Manifest: drop this label from `constraints.actions.forbid`.
    AllowAction(&'i str),
}

impl Change<'_> {
    /// Returns whether the change relaxes the manifest.
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

/// The smallest set of changes on one side that makes a rejected candidate eligible. The set is
/// verified by a second decision with the changes applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterfactual<'i> {
    /// The changes, each of which is necessary.
    pub changes: Vec<Change<'i>>,
    /// Whether they relax the manifest. Never the first suggestion.
    pub widening: bool,
}

impl<'i> Counterfactual<'i> {
    pub(super) fn new(changes: Vec<Change<'i>>) -> Self {
        Self {
            widening: changes.iter().any(|change| change.widening()),
            changes,
        }
    }
}

/// Returns the changes that make a rejected server eligible: those of its entry first, then those
/// of the manifest if relaxed constraints suffice.
pub(super) fn counterfactuals<'i>(
    requirement: &'i Requirement,
    constraints: &Constraints,
    offer: &Offer<'i>,
    reasons: &[Rejection<'i>],
) -> Vec<Counterfactual<'i>> {
    let suffices = |changes: &Vec<Change<'i>>| {
        let (mut constraints, mut offer) = (constraints.clone(), offer.clone());
        for change in changes {
            match *change {
                Change::AddCategory(category) => insert(&mut offer.categories, category),
                Change::AddTool(tool) => insert(&mut offer.tools, tool),
                Change::AddScope(scope) => insert(&mut offer.scopes, scope),
                change => apply(change, &mut constraints, &mut offer.constraint_key),
            }
        }
        assess(requirement, &constraints, &offer) == Assessment::Eligible
    };
    let required = Change::AddCategory(requirement.category.value.as_str());
    suggestions(reasons, required)
        .filter(suffices)
        .map(Counterfactual::new)
        .collect()
}

/// Returns the changes that remove all reasons: those of the entry, and those of the manifest or
/// the task. A side that can't remove a reason has no change for it. `required` adds the missing
/// category or capability.
pub(super) fn suggestions<'i>(
    reasons: &[Rejection<'i>],
    required: Change<'i>,
) -> impl Iterator<Item = Vec<Change<'i>>> {
    let in_entry = reasons.iter().map(|reason| in_entry(reason, required));
    let in_entry: Option<Vec<_>> = in_entry.collect();
    let in_manifest: Option<Vec<_>> = reasons.iter().map(in_manifest).collect();
    let sides = [in_entry, in_manifest].into_iter().flatten();
    sides.map(|changes| changes.concat())
}

fn in_entry<'i>(reason: &Rejection<'i>, required: Change<'i>) -> Option<Vec<Change<'i>>> {
    Some(match reason {
        Rejection::MissingCategory { .. } | Rejection::MissingCapability { .. } => vec![required],
        Rejection::ToolMissing { missing } => each(missing, Change::AddTool),
        Rejection::MissingScope { missing } => each(missing, Change::AddScope),
        Rejection::ConstraintUnmet { missing } => each(missing, Change::AddConstraint),
        Rejection::ResidencyMismatch { required, .. } => vec![Change::AddResidency(*required)],
        Rejection::SensitivityExceeded { required, .. } => {
            vec![Change::RaiseSensitivity(*required)]
        }
        Rejection::UnsignedNotAllowed { .. } => vec![Change::Sign],
        // `Change::Recover` is added once the other changes are verified.
        Rejection::HealthVeto { .. } => Vec::new(),
        _ => return None,
    })
}

fn in_manifest<'i>(reason: &Rejection<'i>) -> Option<Vec<Change<'i>>> {
    Some(match reason {
        Rejection::ConstraintUnmet { missing } => each(missing, Change::DropConstraint),
        Rejection::ResidencyMismatch { .. } => vec![Change::DropResidency],
        Rejection::SensitivityExceeded { offered, .. } => vec![Change::LowerSensitivity(*offered)],
        Rejection::UnsignedNotAllowed { .. } => vec![Change::AllowUnsigned],
        Rejection::ForbiddenAction { label } => vec![Change::AllowAction(label)],
        _ => return None,
    })
}

fn each<'i>(names: &[&'i str], change: fn(&'i str) -> Change<'i>) -> Vec<Change<'i>> {
    names.iter().copied().map(change).collect()
}

/// Applies a change to the constraints of a manifest or to the properties that they compare.
pub(super) fn apply(change: Change<'_>, constraints: &mut Constraints, key: &mut ConstraintKey) {
    let (residency, level, signed) = (key.residency(), key.max_sensitivity(), key.signed());
    match change {
        Change::AddResidency(added) => {
            let residencies = ResidencySet::new(residency.iter().chain([added]));
            *key = ConstraintKey::new(residencies, level, signed);
        }
        Change::RaiseSensitivity(level) => *key = ConstraintKey::new(residency, level, signed),
        Change::Sign => *key = ConstraintKey::new(residency, level, true),
        Change::DropResidency => constraints.residency = None,
        Change::LowerSensitivity(level) => {
            if let Some(sensitivity) = &mut constraints.sensitivity {
                sensitivity.value = level;
            }
        }
        Change::AllowUnsigned => constraints.require_signed = None,
        Change::AllowAction(label) => constraints.forbid.retain(|it| it.value.as_str() != label),
        _ => {}
    }
}

/// Inserts a name into a sorted list, unless the list contains it.
pub(super) fn insert<'i>(names: &mut Vec<&'i str>, name: &'i str) {
    if let Err(place) = names.binary_search(&name) {
        names.insert(place, name);
    }
}

/// Returns the smallest items, at most `limit`, in order.
pub(super) fn smallest<T: Ord + Copy>(items: impl Iterator<Item = T>, limit: usize) -> Vec<T> {
    let mut heap = BinaryHeap::new();
    let mut bound = None;
    for item in items {
        if bound.is_some_and(|bound| item >= bound) {
            continue;
        }
        heap.push(item);
        if heap.len() > limit {
            heap.pop();
        }
        if heap.len() == limit {
            bound = heap.peek().copied();
        }
    }
    heap.into_sorted_vec()
}
