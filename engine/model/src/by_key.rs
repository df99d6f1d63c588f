//! Maps from names to values.

use agent_text::sort::sort_by;

/// Values by name, as a sorted list, because it is built once and then only searched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByKey<V>(Vec<(String, V)>);

impl<V> ByKey<V> {
    /// Returns the values of distinct names.
    pub fn new(mut entries: Vec<(String, V)>) -> Self {
        sort_by(&mut entries, |a, b| a.0.cmp(&b.0));
        Self(entries)
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&V> {
        let place = self.0.binary_search_by(|(own, _)| own.as_str().cmp(key));
        Some(&self.0[place.ok()?].1)
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
