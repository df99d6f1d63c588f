//! Sorts with little code.
//!
//! The standard library's sorts are compiled for each sorted type: 3 to 5 kB each, which every
//! browser would load. These functions always sort numbers, so each type costs little more than its
//! comparison. An evaluator of policies is much larger than a sort, and uses the standard library's.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts by a comparison. The sort is stable.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.is_sorted_by(|a, b| compare(a, b).is_le()) {
        return;
    }
    let mut order = order(items.len(), &|a, b| compare(&items[a], &items[b]).is_le());
    // Each item of a cycle moves to the place of the one before it; its number is then its place.
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

/// Sorts by a key. The sort is stable.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Returns a map of entries, of which the last of a key counts. `collect` would sort them at once, by a sort of their type.
pub fn map_of<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(entries);
    map
}

/// Returns a set of items, as [`map_of`] a map.
pub fn set_of<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

/// Returns the numbers below `len` in the order of their items: a merge sort, from pairs upwards.
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

/// Sorts numbers; a few of them, the usual case, without allocation.
pub fn sort_numbers(numbers: &mut [u32]) {
    const FEW: usize = 32;
    if numbers.len() > FEW {
        return sort_by(numbers, Ord::cmp);
    }
    for end in 1..numbers.len() {
        let mut place = end;
        while place > 0 && numbers[place - 1] > numbers[place] {
            numbers.swap(place - 1, place);
            place -= 1;
        }
    }
}

/// Sorts by the first number: a stable radix sort, lowest byte first. Its lists are as long as an
/// index.
pub fn sort_by_number(items: &mut Vec<(u64, u32)>) {
    let mut moved = items.clone();
    for shift in (0..u64::BITS).step_by(8) {
        let byte = |item: &(u64, u32)| usize::from((item.0 >> shift) as u8);
        let mut counts = [0; 256];
        items.iter().for_each(|item| counts[byte(item)] += 1);
        // Ids differ in few bytes.
        if counts.contains(&items.len()) {
            continue;
        }
        let mut places = [0; 256];
        for value in 1..256 {
            places[value] = places[value - 1] + counts[value - 1];
        }
        for item in &*items {
            let place = &mut places[byte(item)];
            moved[*place] = *item;
            *place += 1;
        }
        std::mem::swap(items, &mut moved);
    }
}

#[cfg(test)]
mod tests {
    use super::{sort_by_key, sort_by_number, sort_numbers};

    #[test]
    fn few_numbers_and_many_are_sorted() {
        for len in [0, 1, 2, 31, 32, 33, 100] {
            let mut numbers: Vec<u32> = (0..len).map(|place| place * 37 % 29).collect();
            let mut expected = numbers.clone();
            expected.sort();
            sort_numbers(&mut numbers);
            assert_eq!(numbers, expected);
        }
    }

    #[test]
    fn numbers_of_all_sizes_are_sorted() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for len in [0, 1, 2, 3, 100, 5_000] {
            for bits in [0, 1, 8, 12, 40, 64] {
                let mut items: Vec<_> = (0..len)
                    .map(|place| {
                        random = random
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1);
                        (random.checked_shr(64 - bits).unwrap_or(0), place)
                    })
                    .collect();
                let mut expected = items.clone();
                expected.sort_by_key(|item| item.0);
                sort_by_number(&mut items);
                assert_eq!(items, expected, "{len} of {bits} bits");
            }
        }
    }

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
