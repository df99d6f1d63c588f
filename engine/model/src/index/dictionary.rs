//! Dictionaries of shared names, with the servers that have each.

use agent_text::sort::sort_numbers;
use std::sync::OnceLock;

/// The number of a server in the order that breaks ties: signed before unsigned, then by id, then by
/// version \[0, 2.3\]. The eligible server of the lowest rank is selected.
pub type Rank = u32;

/// Sorted names, each with its servers.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    names: Vec<Box<str>>,
    /// The start of each name's ranks in `ranks`, and one more for the end.
    starts: Vec<u32>,
    ranks: Vec<Rank>,
    /// Bit sets of frequent names, built on first use.
    bits: Vec<OnceLock<Box<[u64]>>>,
    servers: usize,
}

/// The servers with a name.
#[derive(Debug, Clone, Copy)]
pub struct Members<'i> {
    /// Their ranks, lowest first.
    pub ranks: &'i [Rank],
    /// A bit for each server, if there are so many members that scanning bits is faster than
    /// scanning ranks.
    pub bits: Option<&'i [u64]>,
}

impl Members<'_> {
    /// The empty set.
    pub const NONE: Self = Members {
        ranks: &[],
        bits: None,
    };

    /// Returns whether the set contains a server.
    pub fn contains(self, rank: Rank) -> bool {
        match self.bits {
            Some(bits) => bits[rank as usize / 64] >> (rank % 64) & 1 != 0,
            None => self.ranks.binary_search(&rank).is_ok(),
        }
    }
}

impl Dictionary {
    /// Builds the lists. `members` returns the numbers of each server's names, by rank.
    pub(super) fn new<'i>(
        names: Vec<Box<str>>,
        members: impl ExactSizeIterator<Item = &'i [u32]> + Clone,
    ) -> Self {
        let servers = members.len();
        let mut starts = vec![0; names.len() + 1];
        for numbers in members.clone() {
            for number in numbers {
                starts[*number as usize + 1] += 1;
            }
        }
        for i in 0..names.len() {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut ranks = vec![0; starts[names.len()] as usize];
        for (rank, numbers) in (0..).zip(members) {
            for number in numbers {
                let place = &mut next[*number as usize];
                ranks[*place as usize] = rank;
                *place += 1;
            }
        }
        Self {
            bits: names.iter().map(|_| OnceLock::new()).collect(),
            names,
            starts,
            ranks,
            servers,
        }
    }

    pub(super) fn names(&self) -> &[Box<str>] {
        &self.names
    }

    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.names
            .binary_search_by(|known| (**known).cmp(name))
            .ok()
            .map(|number| number as u32)
    }

    pub(super) fn members(&self, number: u32) -> Members<'_> {
        let number = number as usize;
        let ranks = &self.ranks[self.starts[number] as usize..self.starts[number + 1] as usize];
        // Testing a word of bits takes about as long as testing one rank.
        let many = ranks.len() > self.servers / 64;
        Members {
            ranks,
            bits: many.then(|| {
                &**self.bits[number].get_or_init(|| {
                    let mut bits = vec![0; self.servers.div_ceil(64)];
                    for rank in ranks {
                        bits[*rank as usize / 64] |= 1 << (rank % 64);
                    }
                    bits.into_boxed_slice()
                })
            }),
        }
    }
}

/// Renumbers, sorts and removes duplicates in place. Returns the number of those left.
pub(super) fn renumber(numbers: &mut [u32], renumbered: &[u32]) -> u32 {
    for number in &mut *numbers {
        *number = renumbered[*number as usize];
    }
    sort_numbers(numbers);
    let mut kept = 0;
    for i in 0..numbers.len() {
        if kept == 0 || numbers[kept - 1] != numbers[i] {
            numbers[kept] = numbers[i];
            kept += 1;
        }
    }
    kept as u32
}
