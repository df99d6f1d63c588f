//! Lists that are known to have an element.

/// A list of at least one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NonEmpty<T>(Vec<T>);

impl<T> NonEmpty<T> {
    /// Take a list. None if it is empty.
    pub fn new(items: Vec<T>) -> Option<Self> {
        (!items.is_empty()).then_some(Self(items))
    }

    /// A list of one element.
    pub fn one(item: T) -> Self {
        Self(vec![item])
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}
