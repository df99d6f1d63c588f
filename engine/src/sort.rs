//! Sorting, in little code.
//!
//! The sorts of the standard library are compiled for each type that is sorted: 3 to 5 kB each,
//! which a browser has to load. Here it is always numbers that are sorted, so that a type costs
//! little more than its comparison. An evaluator of policies, beside which a sort is small, has the
//! standard library's.

use std::cmp::Ordering;

/// Sort, and keep the order of what is equal.
pub(crate) fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.is_sorted_by(|a, b| compare(a, b).is_le()) {
        return;
    }
    let mut order = order(items.len(), &|a, b| compare(&items[a], &items[b]).is_le());
    // Each item of a circle takes the place of the one before it; its number is then its place.
    for start in 0..items.len() {
        let mut place = start;
        loop {
            let from = std::mem::replace(&mut order[place], place);
            if from == start {
                break;
            }
            items.swap(place, from);
            place = from;
        }
    }
}

/// Sort by a key, and keep the order of what is equal.
pub(crate) fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// The numbers of as many items as there are, in the order of the items: a merge sort, from pairs
/// upwards.
fn order(len: usize, in_order: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..len).collect();
    let mut merged = sorted.clone();
    let mut width = 1;
    while width < len {
        for start in (0..len).step_by(2 * width) {
            let (middle, end) = ((start + width).min(len), (start + 2 * width).min(len));
            let (mut left, mut right) = (start, middle);
            for slot in &mut merged[start..end] {
                let from_left =
                    right == end || left < middle && in_order(sorted[left], sorted[right]);
                let next = if from_left { &mut left } else { &mut right };
                *slot = sorted[*next];
                *next += 1;
            }
        }
        std::mem::swap(&mut sorted, &mut merged);
        width *= 2;
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::sort_by_key;

    #[test]
    fn as_the_standard_library_does() {
        // Every sequence of up to six items with keys from 0 to 3.
        for len in 0..=6 {
            for number in 0..4_usize.pow(len) {
                let items: Vec<_> = (0..len)
                    .map(|place| (number / 4_usize.pow(place) % 4, place))
                    .collect();
                let [mut ours, mut expected] = [items.clone(), items];
                sort_by_key(&mut ours, |item| item.0);
                expected.sort_by_key(|item| item.0);
                assert_eq!(ours, expected);
            }
        }
    }
}
