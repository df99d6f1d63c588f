//! Values by name.

use agent_text::sort::sort_by;

/// Values by name, sorted. A list, because it is read once and then only asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByKey<V>(Vec<(String, V)>);

impl<V> ByKey<V> {
    /// Of values with names that are all different.
    pub fn new(mut entries: Vec<(String, V)>) -> Self {
        sort_by(&mut entries, |a, b| a.0.cmp(&b.0));
        Self(entries)
    }

    /// The value that has a name.
    pub fn get(&self, key: &str) -> Option<&V> {
        let place = self.0.binary_search_by(|(own, _)| own.as_str().cmp(key));
        Some(&self.0[place.ok()?].1)
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
