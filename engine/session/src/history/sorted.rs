//! Few values by key, in the order of their keys. A page gets the code of a B-tree anew for each pair of types.

/// Values by key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sorted<K, V>(Vec<(K, V)>);

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord, V> Sorted<K, V> {
    /// Returns the last value of each key.
    pub(super) fn of(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let mut sorted = Self::default();
        for (key, value) in entries {
            match sorted.find(&key) {
                Ok(at) => sorted.0[at].1 = value,
                Err(at) => sorted.0.insert(at, (key, value)),
            }
        }
        sorted
    }

    fn find(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by(|(it, _)| it.cmp(key))
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.find(key).ok().map(|at| &mut self.0[at].1)
    }

    /// Returns the value of a key, which gets another one first if it has none.
    pub(super) fn or_insert(&mut self, key: K, value: V) -> &mut V {
        let at = match self.find(&key) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, (key, value));
                at
            }
        };
        &mut self.0[at].1
    }

    pub(super) fn retain(&mut self, mut stays: impl FnMut(&mut V) -> bool) {
        self.0.retain_mut(|(_, value)| stays(value));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.iter().map(|(key, _)| key)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    pub(super) fn into_all(self) -> Vec<(K, V)> {
        self.0
    }
}
