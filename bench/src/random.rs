//! Numbers for generated worlds.

/// Knuth's linear congruential generator: small, and the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        Self(42)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}
