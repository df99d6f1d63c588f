//! Lists with at least one element.

/// A list of at least one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NonEmpty<T>(Vec<T>);

impl<T> NonEmpty<T> {
    /// Returns the list, or `None` if it is empty.
    pub fn new(items: Vec<T>) -> Option<Self> {
        (!items.is_empty()).then_some(Self(items))
    }

    /// Returns a list of one element.
    pub fn one(item: T) -> Self {
        Self(vec![item])
    }

    /// Returns the elements.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}
