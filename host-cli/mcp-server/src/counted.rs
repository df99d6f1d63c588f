//! Counts with a maximum.

use std::cell::Cell;
use std::rc::Rc;

/// A number of things that exist at the same time, with its maximum.
#[derive(Clone)]
pub(crate) struct Count {
    number: Rc<Cell<usize>>,
    max: usize,
}

/// One of the counted things. Dropping it makes room for another one.
pub(crate) struct Counted(Rc<Cell<usize>>);

impl Count {
    pub(crate) fn up_to(max: usize) -> Self {
        Self {
            number: Rc::default(),
            max,
        }
    }

    /// Counts one more, unless there are as many as there may be.
    pub(crate) fn one(&self) -> Option<Counted> {
        let number = self.number.get();
        (number < self.max).then(|| {
            self.number.set(number + 1);
            Counted(Rc::clone(&self.number))
        })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn there_is_room_again_after_an_end() {
        let count = Count::up_to(2);
        let (first, second) = (count.one(), count.one());
        assert!(first.is_some() && second.is_some());
        assert!(count.one().is_none());
        drop(first);
        assert!(count.one().is_some());
        assert!(count.one().is_some());
    }
}
