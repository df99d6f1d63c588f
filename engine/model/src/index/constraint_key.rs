//! The properties of servers that constraints compare.

use crate::level::{ResidencySet, Sensitivity};

/// The properties of a server that constraints compare, in one byte. Each constraint is decided once
/// for each of 128 values, and looked up for each server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConstraintKey(u8);

impl ConstraintKey {
    /// Number of values.
    pub const COUNT: usize = 128;

    /// Packs the properties.
    pub fn new(residency: ResidencySet, max_sensitivity: Sensitivity, signed: bool) -> Self {
        Self(residency.bits() | (max_sensitivity as u8) << 3 | u8::from(signed) << 6)
    }

    /// Returns the value of a number below [`ConstraintKey::COUNT`], or `None` if no server can have it.
    pub fn from_number(number: usize) -> Option<Self> {
        let constraint_key = Self(u8::try_from(number).ok().filter(|n| *n < 128)?);
        let level = constraint_key.0 >> 3 & 7;
        ((level as usize) < Sensitivity::ALL.len()).then_some(constraint_key)
    }

    /// Returns the number of the value, below [`ConstraintKey::COUNT`].
    pub fn number(self) -> usize {
        self.0 as usize
    }

    /// Returns the residencies of the server.
    pub fn residency(self) -> ResidencySet {
        ResidencySet::from_bits(self.0 & 7)
    }

    /// Returns the highest permitted sensitivity.
    pub fn max_sensitivity(self) -> Sensitivity {
        Sensitivity::ALL[(self.0 >> 3 & 7) as usize]
    }

    /// Returns whether the server is signed.
    pub fn signed(self) -> bool {
        self.0 & 64 != 0
    }
}
