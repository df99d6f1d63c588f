//! The assessment of one server for one requirement, with every reason against it.

use super::rejection::Rejection;
use agent_model::{ConstraintKey, Constraints, Name, NonEmpty, Requirement, ServerView, ToolView};

/// The properties of a server, real or supposed, that decide whether it is eligible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer<'i> {
    /// The categories: sorted, without duplicates.
    pub categories: Vec<&'i str>,
    /// The scopes: sorted, without duplicates.
    pub scopes: Vec<&'i str>,
    /// The names of the tools: sorted, without duplicates.
    pub tools: Vec<&'i str>,
    /// The properties that constraints compare.
    pub constraint_key: ConstraintKey,
    /// The publisher.
    pub publisher: &'i str,
}

impl<'i> Offer<'i> {
    /// Returns the offer of a server of an index.
    pub fn of(server: ServerView<'i>) -> Self {
        Self {
            categories: server.categories().collect(),
            scopes: server.scopes().collect(),
            tools: server.tools().map(ToolView::name).collect(),
            constraint_key: server.constraint_key(),
            publisher: server.publisher(),
        }
    }
}

/// The answer for one server and one requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assessment<'i> {
    /// The server is eligible.
    Eligible,
    /// The server is rejected, for all of these reasons in the order of the checks: category, tools,
    /// scopes, residency, sensitivity, signature.
    Rejected(NonEmpty<Rejection<'i>>),
}

/// Checks a server against a requirement and the constraints \[0, 2.1, 2.2\].
pub fn assess<'i>(
    requirement: &'i Requirement,
    constraints: &Constraints,
    offer: &Offer<'i>,
) -> Assessment<'i> {
    let mut reasons = Vec::new();
    let category = requirement.category.value.as_str();
    if offer.categories.binary_search(&category).is_err() {
        reasons.push(Rejection::MissingCategory {
            offered: offer.categories.clone(),
        });
    }
    let tools = requirement.only.iter().map(|it| it.value.as_str());
    let missing: Vec<_> = tools
        .filter(|tool| offer.tools.binary_search(tool).is_err())
        .collect();
    if !missing.is_empty() {
        reasons.push(Rejection::ToolMissing { missing });
    }
    let permissions = requirement.permissions.iter().map(|it| it.value.as_str());
    let missing: Vec<_> = permissions
        .filter(|scope| offer.scopes.binary_search(scope).is_err())
        .collect();
    if !missing.is_empty() {
        reasons.push(Rejection::MissingScope { missing });
    }
    let (constraint_key, publisher) = (offer.constraint_key, offer.publisher);
    reasons.extend(constraint_failures(constraints, constraint_key, publisher));
    NonEmpty::new(reasons).map_or(Assessment::Eligible, Assessment::Rejected)
}

/// Returns the constraints that a server does not meet, whatever the requirement.
pub fn constraint_failures<'i>(
    constraints: &Constraints,
    constraint_key: ConstraintKey,
    publisher: &'i str,
) -> impl Iterator<Item = Rejection<'i>> {
    let residency = constraints
        .residency()
        .filter(|required| !constraint_key.residency().satisfies(Some(*required)))
        .map(|required| Rejection::ResidencyMismatch {
            required,
            offered: constraint_key.residency(),
        });
    let sensitivity = constraints
        .sensitivity()
        .filter(|required| *required > constraint_key.max_sensitivity())
        .map(|required| Rejection::SensitivityExceeded {
            required,
            offered: constraint_key.max_sensitivity(),
        });
    let unsigned = (constraints.require_signed() && !constraint_key.signed())
        .then_some(Rejection::UnsignedNotAllowed { publisher });
    [residency, sensitivity, unsigned].into_iter().flatten()
}
