//! The reasons to reject a server or a tool for a requirement.

use super::policy_decision::{PolicyDecision, PolicyErrorKind};
use agent_diagnostic::Code;
use agent_model::{HealthStatus, Residency, ResidencySet, Sensitivity};

/// A reason to reject a server or a tool, with the compared values \[0, 3.2; 4, 5\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection<'i> {
    /// The server does not offer the category.
    MissingCategory {
        /// The offered categories: sorted, without duplicates.
        offered: Vec<&'i str>,
    },
    /// The server does not have all tools that the requirement names.
    ToolMissing {
        /// The absent tools: sorted, without duplicates.
        missing: Vec<&'i str>,
    },
    /// The server does not support all permissions.
    MissingScope {
        /// The unsupported permissions: sorted, without duplicates.
        missing: Vec<&'i str>,
    },
    /// The server keeps data elsewhere.
    ResidencyMismatch {
        /// The required residency.
        required: Residency,
        /// The residencies of the server.
        offered: ResidencySet,
    },
    /// The server may not hold data this sensitive.
    SensitivityExceeded {
        /// The sensitivity of the data.
        required: Sensitivity,
        /// The highest sensitivity that the server may hold.
        offered: Sensitivity,
    },
    /// The server is not signed, and signatures are required.
    UnsignedNotAllowed {
        /// The publisher of the server.
        publisher: &'i str,
    },
    /// The tool does not advertise the verb and the resource.
    MissingCapability {
        /// The advertised pairs: sorted, without duplicates.
        offered: Vec<&'i str>,
    },
    /// No advertised capability of the pair has every required constraint.
    ConstraintUnmet {
        /// The constraints that the nearest capability lacks: sorted, without duplicates.
        missing: Vec<&'i str>,
    },
    /// The tool or the capability is forbidden.
    ForbiddenAction {
        /// The label that forbids it.
        label: &'i str,
    },
    /// The definition of the tool has a character that people do not see.
    HiddenText {
        /// The JSON pointer to the string with the first such character.
        pointer: String,
        /// The character.
        character: char,
    },
    /// The policy does not allow the tool.
    PolicyDenied {
        /// The policy's own reason, if any.
        reason: Option<&'i str>,
    },
    /// The policy gave no answer.
    PolicyError {
        /// The kind of failure.
        reason: PolicyErrorKind,
    },
    /// The server is not healthy.
    HealthVeto {
        /// The status; `None` if the snapshot does not list the server.
        status: Option<HealthStatus>,
    },
}

impl<'i> Rejection<'i> {
    /// Returns the code of the reason.
    pub fn code(&self) -> Code {
        match self {
            Self::MissingCategory { .. } => Code::MissingCategory,
            Self::ToolMissing { .. } => Code::ToolMissing,
            Self::MissingScope { .. } => Code::MissingScope,
            Self::ResidencyMismatch { .. } => Code::ResidencyMismatch,
            Self::SensitivityExceeded { .. } => Code::SensitivityExceeded,
            Self::UnsignedNotAllowed { .. } => Code::UnsignedNotAllowed,
            Self::MissingCapability { .. } => Code::MissingCapability,
            Self::ConstraintUnmet { .. } => Code::ConstraintUnmet,
            Self::ForbiddenAction { .. } => Code::ForbiddenAction,
            Self::HiddenText { .. } => Code::InvisibleCharacter,
            Self::PolicyDenied { .. } => Code::PolicyDenied,
            Self::PolicyError { .. } => Code::PolicyError,
            Self::HealthVeto { .. } => Code::HealthVeto,
        }
    }

    /// Returns the reason of a policy against a tool, by its id. `None` if the policy allows the tool.
    pub(super) fn by_policy(decision: &'i PolicyDecision, id: &str) -> Option<Self> {
        match &decision.answer {
            Err(error) => Some(Self::PolicyError { reason: error.kind }),
            Ok(allowed) => (!allowed.tools.contains(id)).then(|| Self::PolicyDenied {
                reason: allowed.reasons.get(id).map(String::as_str),
            }),
        }
    }
}
