//! Which checks a server fails, without the reasons.

use agent_diagnostic::Code;

/// The checks that a server fails for a requirement, as a set of bits: what a view of many
/// servers needs of each. The values that were compared are in an
/// [`Assessment`](super::Assessment).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Failures(u16);

impl Failures {
    /// The codes of the checks, in their order; the place of a code is the number of its bit.
    ///
    /// A requirement of a category has the first two of them, one of a capability the next two
    /// and those behind the constraints.
    pub const CHECKS: [Code; 11] = [
        Code::MissingCategory,
        Code::MissingScope,
        Code::MissingCapability,
        Code::ConstraintUnmet,
        Code::ResidencyMismatch,
        Code::SensitivityExceeded,
        Code::UnsignedNotAllowed,
        Code::ForbiddenAction,
        Code::PolicyDenied,
        Code::PolicyError,
        Code::HealthVeto,
    ];

    /// Whether every check is passed: the server is eligible.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many checks are failed.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the check of this code is failed. False for a code that no check has.
    pub fn contains(self, code: Code) -> bool {
        self.0 & Self::bit(code) != 0
    }

    /// The first check that is failed.
    pub fn first(self) -> Option<Code> {
        self.codes().next()
    }

    /// The checks that are failed, in their order.
    pub fn codes(self) -> impl Iterator<Item = Code> + Clone {
        Self::CHECKS
            .into_iter()
            .filter(move |code| self.contains(*code))
    }

    /// As bits, in the order of [`Failures::CHECKS`].
    pub fn bits(self) -> u16 {
        self.0
    }

    /// These, and the check of this code where `failed`.
    pub(super) fn with(self, code: Code, failed: bool) -> Self {
        Self(self.0 | if failed { Self::bit(code) } else { 0 })
    }

    /// Whether the check of this code and all before it are passed.
    pub(super) fn passes_up_to(self, code: Code) -> bool {
        let bit = Self::bit(code);
        self.0 & (bit | bit.wrapping_sub(1)) == 0
    }

    fn bit(code: Code) -> u16 {
        Self::CHECKS
            .iter()
            .position(|check| *check == code)
            .map_or(0, |place| 1 << place)
    }
}

impl FromIterator<Code> for Failures {
    /// The set of these codes; those that no check has are left out.
    fn from_iter<T: IntoIterator<Item = Code>>(codes: T) -> Self {
        codes
            .into_iter()
            .fold(Self::default(), |failures, code| failures.with(code, true))
    }
}
