//! The failed checks of a candidate, without the compared values.

use agent_diagnostic::Code;

/// The checks that a candidate fails for a requirement, as a set of bits. This is the compact form
/// of the record, for views of a large index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Failures(u16);

impl Failures {
    /// The codes of the checks in order; the position of a code is the number of its bit.
    ///
    /// A requirement of a category has the first three, one of a capability the next two and those
    /// behind the constraints.
    pub const CHECKS: [Code; 13] = [
        Code::MissingCategory,
        Code::ToolMissing,
        Code::MissingScope,
        Code::MissingCapability,
        Code::ConstraintUnmet,
        Code::ResidencyMismatch,
        Code::SensitivityExceeded,
        Code::UnsignedNotAllowed,
        Code::ForbiddenAction,
        Code::InvisibleCharacter,
        Code::PolicyDenied,
        Code::PolicyError,
        Code::HealthVeto,
    ];

    /// Returns whether every check passed, so the candidate is eligible.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of failed checks.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether the check of this code failed; false if no check has the code.
    pub fn contains(self, code: Code) -> bool {
        self.0 & Self::bit(code) != 0
    }

    /// Returns the first failed check.
    pub fn first(self) -> Option<Code> {
        self.codes().next()
    }

    /// Returns the failed checks, in order.
    pub fn codes(self) -> impl Iterator<Item = Code> + Clone {
        Self::CHECKS
            .into_iter()
            .filter(move |code| self.contains(*code))
    }

    /// Returns the bits, in the order of [`Failures::CHECKS`].
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Adds the check of this code if it `failed`.
    pub(super) fn with(self, code: Code, failed: bool) -> Self {
        Self(self.0 | if failed { Self::bit(code) } else { 0 })
    }

    /// Returns whether the check of this code and all before it passed.
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
    /// Collects the checks of these codes; other codes are ignored.
    fn from_iter<T: IntoIterator<Item = Code>>(codes: T) -> Self {
        codes
            .into_iter()
            .fold(Self::default(), |failures, code| failures.with(code, true))
    }
}
