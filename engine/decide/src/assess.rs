//! Whether one server will do for one requirement, and every reason why not.

use super::policy_decision::PolicyErrorKind;
use agent_diagnostic::Code;
use agent_model::{
    ConstraintKey, Constraints, HealthStatus, Name, NonEmpty, Requirement, Residency, ResidencySet,
    Sensitivity, ServerView,
};

/// What a server offers, real or supposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer<'i> {
    /// Its categories: sorted, without duplicates.
    pub categories: Vec<&'i str>,
    /// Its scopes: sorted, without duplicates.
    pub scopes: Vec<&'i str>,
    /// What the constraints look at.
    pub constraint_key: ConstraintKey,
    /// Who published it.
    pub publisher: &'i str,
}

impl<'i> Offer<'i> {
    /// What a server of an index offers.
    pub fn of(server: ServerView<'i>) -> Self {
        Self {
            categories: server.categories().collect(),
            scopes: server.scopes().collect(),
            constraint_key: server.constraint_key(),
            publisher: server.publisher(),
        }
    }
}

/// Why a server or a tool is no candidate, with the values that were compared \[0, 3.2; 4, 5\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection<'i> {
    /// It does not offer the category.
    MissingCategory {
        /// What it offers: sorted, without duplicates.
        offered: Vec<&'i str>,
    },
    /// It does not support all permissions.
    MissingScope {
        /// What it does not support: sorted, without duplicates.
        missing: Vec<&'i str>,
    },
    /// It keeps data elsewhere.
    ResidencyMismatch {
        /// Where data must stay.
        required: Residency,
        /// Where it would be.
        offered: ResidencySet,
    },
    /// It may not hold data that sensitive.
    SensitivityExceeded {
        /// How sensitive data is.
        required: Sensitivity,
        /// How sensitive it may be.
        offered: Sensitivity,
    },
    /// It is not signed.
    UnsignedNotAllowed {
        /// Who published it.
        publisher: &'i str,
    },
    /// The tool does not advertise the capability.
    MissingCapability {
        /// What it advertises, as `verb:resource`: sorted, without duplicates.
        offered: Vec<&'i str>,
    },
    /// The tool advertises the capability without all constraints that are required.
    ConstraintUnmet {
        /// What the nearest of its capabilities lacks: sorted, without duplicates.
        missing: Vec<&'i str>,
    },
    /// The tool, or the capability, is forbidden.
    ForbiddenAction {
        /// By this label.
        label: &'i str,
    },
    /// The policy does not allow the tool.
    PolicyDenied {
        /// Why, in the words of the policy.
        reason: Option<&'i str>,
    },
    /// The policy gave no answer.
    PolicyError {
        /// Why not.
        reason: PolicyErrorKind,
    },
    /// The server is not healthy.
    HealthVeto {
        /// How it does. None: the snapshot doesn't know it.
        status: Option<HealthStatus>,
    },
}

impl Rejection<'_> {
    /// The code of the reason.
    pub fn code(&self) -> Code {
        match self {
            Self::MissingCategory { .. } => Code::MissingCategory,
            Self::MissingScope { .. } => Code::MissingScope,
            Self::ResidencyMismatch { .. } => Code::ResidencyMismatch,
            Self::SensitivityExceeded { .. } => Code::SensitivityExceeded,
            Self::UnsignedNotAllowed { .. } => Code::UnsignedNotAllowed,
            Self::MissingCapability { .. } => Code::MissingCapability,
            Self::ConstraintUnmet { .. } => Code::ConstraintUnmet,
            Self::ForbiddenAction { .. } => Code::ForbiddenAction,
            Self::PolicyDenied { .. } => Code::PolicyDenied,
            Self::PolicyError { .. } => Code::PolicyError,
            Self::HealthVeto { .. } => Code::HealthVeto,
        }
    }
}

/// The answer for one server and one requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assessment<'i> {
    /// It will do.
    Eligible,
    /// It won't, for all of these reasons, in the order of the checks: category, scope,
    /// residency, sensitivity, signature.
    Rejected(NonEmpty<Rejection<'i>>),
}

/// Check everything that a requirement and the constraints ask of a server \[0, 2.1, 2.2\].
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
    let missing: Vec<_> = requirement
        .permissions
        .iter()
        .map(|permission| permission.value.as_str())
        .filter(|scope| offer.scopes.binary_search(scope).is_err())
        .collect();
    if !missing.is_empty() {
        reasons.push(Rejection::MissingScope { missing });
    }
    reasons.extend(constraint_failures(
        constraints,
        offer.constraint_key,
        offer.publisher,
    ));
    match NonEmpty::new(reasons) {
        None => Assessment::Eligible,
        Some(reasons) => Assessment::Rejected(reasons),
    }
}

/// The constraints that a server does not meet, whatever is required of it.
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
