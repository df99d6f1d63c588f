//! Names that many servers have, and who has them.

use super::Rank;
use std::sync::OnceLock;

/// Names, sorted, each with the servers that have it.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    names: Vec<Box<str>>,
    /// Where each name's ranks begin in `ranks`; one more for the end.
    starts: Vec<u32>,
    ranks: Vec<Rank>,
    /// The bits of the names that many servers have, made when they are first asked for.
    bits: Vec<OnceLock<Box<[u64]>>>,
    servers: usize,
}

/// The servers that have a name.
#[derive(Debug, Clone, Copy)]
pub struct Members<'i> {
    /// Their ranks, lowest first.
    pub ranks: &'i [Rank],
    /// A bit for each server, where they are many enough that going through the bits is quicker
    /// than going through the ranks.
    pub bits: Option<&'i [u64]>,
}

impl Members<'_> {
    /// Nobody.
    pub const NONE: Self = Members {
        ranks: &[],
        bits: None,
    };

    /// Whether a server is among them.
    pub fn contains(self, rank: Rank) -> bool {
        match self.bits {
            Some(bits) => bits[rank as usize / 64] >> (rank % 64) & 1 != 0,
            None => self.ranks.binary_search(&rank).is_ok(),
        }
    }
}

impl Dictionary {
    /// Make the lists. `members` gives the numbers of each server's names, by rank.
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
        // A word of bits is looked at about as quickly as one rank.
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
