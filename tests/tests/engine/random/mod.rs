//! Numbers that look random and are the same in every run.

/// xorshift64, by its seed, which is not 0.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    pub(crate) fn one_of<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
}
