//! Ids that look alike and are not the same.
//!
//! Ids are compared by code point and never normalised. So that nobody is led to the wrong
//! server by a letter of another script, two ids of one skeleton (UTS #39, section 4) are
//! warned of.

use agent_diagnostic::{Code, Problems};
use agent_model::{Index, Rank};
use agent_text::sort::{sort_by, sort_by_number};
use std::ops::Range;

/// What characters look like, made by the build script from the `unicode-security` crate: see
/// there for the format.
const PROTOTYPES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/prototypes"));

/// Warn of each id that looks like another one.
pub(super) fn warn_of_lookalikes(index: &Index, problems: &mut Problems<'_>) {
    let mut prototypes = Prototypes::default();
    let mut skeleton = String::new();
    let mut hashes: Vec<(u64, Rank)> = index
        .by_name()
        .iter()
        .map(|rank| {
            let id = index.server(*rank).id();
            let hash = ascii_hash(id).unwrap_or_else(|| {
                prototypes.skeleton(id, &mut skeleton);
                skeleton.bytes().fold(HASH_START, hash_byte)
            });
            (hash, *rank)
        })
        .collect();
    sort_by_number(&mut hashes);
    for group in hashes.chunk_by(|a, b| a.0 == b.0) {
        let first = index.server(group[0].1).id();
        if group
            .iter()
            .all(|(_, rank)| index.server(*rank).id() == first)
        {
            continue;
        }
        // Few get here, so that equal hashes of different skeletons can be told apart in peace.
        let mut ids: Vec<_> = group
            .iter()
            .map(|(_, rank)| {
                let server = index.server(*rank);
                prototypes.skeleton(server.id(), &mut skeleton);
                (skeleton.clone(), server.id(), server.id_span())
            })
            .collect();
        sort_by(&mut ids, Ord::cmp);
        ids.dedup_by_key(|(_, id, _)| *id);
        for pair in ids.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let [(_, one, one_span), (_, other, other_span)] = [&pair[0], &pair[1]];
            problems
                .report(
                    Code::LookalikeId,
                    *other_span,
                    spelled(other),
                    format!("the id `{other}` looks like `{one}`"),
                )
                .also(*one_span, spelled(one))
                .help("make sure that the one you mean is the one you name: ids are compared by code point");
        }
    }
}

/// An id with every character outside of ASCII by its number.
fn spelled(id: &str) -> String {
    id.chars().fold(String::new(), |mut spelled, c| {
        if c.is_ascii() {
            spelled.push(c);
        } else {
            spelled.push_str(&format!("<U+{:04X}>", u32::from(c)));
        }
        spelled
    })
}

/// FNV-1a in 64 bits: the same on every host, and no more is asked of it.
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
}

/// The hash of the skeleton of an id of letters, digits and marks that have one byte, or two,
/// for a skeleton; nearly every id is one. None for the others.
fn ascii_hash(id: &str) -> Option<u64> {
    id.bytes().try_fold(HASH_START, |hash, byte| match byte {
        b'm' => Some(hash_byte(hash_byte(hash, b'r'), b'n')),
        b'"' | b'%' | 0x80.. => None,
        byte => Some(hash_byte(hash, ASCII[byte as usize])),
    })
}

/// The prototypes of the ASCII characters of which it is one ASCII character.
const ASCII: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b'0' => b'O',
            b'1' | b'I' | b'|' => b'l',
            b'`' => b'\'',
            own => own,
        };
        byte += 1;
    }
    table
};

/// The prototypes of characters.
#[derive(Default)]
pub struct Prototypes {
    /// First and last character of a range, and where in `texts` the prototype of each in it
    /// stands: sorted. Unpacked when the first id is not ASCII.
    ranges: Vec<(u32, u32, Range<usize>)>,
    texts: String,
}

impl Prototypes {
    /// Write the skeleton of an id to `out`.
    fn skeleton(&mut self, id: &str, out: &mut String) {
        out.clear();
        for c in id.chars() {
            self.each(c, |c| out.push(c));
        }
    }

    /// Hand out what a character looks like.
    pub fn each(&mut self, c: char, mut put: impl FnMut(char)) {
        match c {
            // Spelled out for speed; a test compares them with the table.
            'm' => "rn".chars().for_each(put),
            '%' => "°/₀".chars().for_each(put),
            '"' => "''".chars().for_each(put),
            c if c.is_ascii() => put(char::from(ASCII[c as usize])),
            c => match self.prototype(c) {
                Some(prototype) => prototype.chars().for_each(put),
                None => put(c),
            },
        }
    }

    /// The prototype of a character. None if it is its own.
    fn prototype(&mut self, c: char) -> Option<&str> {
        if self.ranges.is_empty() {
            *self = Self::unpack(PROTOTYPES);
        }
        let c = u32::from(c);
        let after = self.ranges.partition_point(|(first, _, _)| *first <= c);
        let (_, last, text) = self.ranges.get(after.checked_sub(1)?)?;
        (c <= *last).then(|| &self.texts[text.clone()])
    }

    fn unpack(mut packed: &[u8]) -> Self {
        let [mut gaps, mut lens, mut counts, mut firsts, mut others] = [(); 5].map(|()| {
            let len = number(&mut packed) as usize;
            let (column, rest) = packed.split_at(len);
            packed = rest;
            Column::new(column)
        });
        let [mut next, mut before_first, mut before_other] = [0; 3];
        let mut unpacked = Self::default();
        while !gaps.is_empty() {
            let first = next + gaps.next();
            let last = first + lens.next();
            let start = unpacked.texts.len();
            for place in 0..counts.next() {
                let c = match place {
                    0 => moved(&mut before_first, &mut firsts),
                    _ => moved(&mut before_other, &mut others),
                };
                unpacked.texts.push(c);
            }
            unpacked
                .ranges
                .push((first, last, start..unpacked.texts.len()));
            next = last + 1;
        }
        unpacked
    }
}

/// A column of numbers, in runs.
struct Column<'p> {
    packed: &'p [u8],
    /// How much of the run is left.
    left: u32,
    /// What the run repeats. None: each of its numbers stands for itself.
    repeated: Option<u32>,
}

impl<'p> Column<'p> {
    fn new(packed: &'p [u8]) -> Self {
        Self {
            packed,
            left: 0,
            repeated: None,
        }
    }

    fn is_empty(&self) -> bool {
        self.left == 0 && self.packed.is_empty()
    }

    fn next(&mut self) -> u32 {
        if self.left == 0 {
            let run = number(&mut self.packed);
            self.left = run >> 1;
            self.repeated = (run & 1 == 1).then(|| number(&mut self.packed));
        }
        self.left -= 1;
        self.repeated.unwrap_or_else(|| number(&mut self.packed))
    }
}

/// Take a distance, and go that far.
fn moved(from: &mut u32, column: &mut Column<'_>) -> char {
    let distance = column.next();
    *from = match distance & 1 {
        0 => *from + (distance >> 1),
        _ => *from - (distance >> 1),
    };
    // Written by the build script as a character; a test reads the table whole.
    char::from_u32(*from).unwrap_or_default()
}

/// Take a number: seven bits a byte, lowest first, the high bit set on all but the last.
fn number(packed: &mut &[u8]) -> u32 {
    let mut value = 0;
    let mut shift = 0;
    while let Some((byte, rest)) = packed.split_first() {
        *packed = rest;
        value |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skeleton(id: &str) -> String {
        let mut out = String::new();
        Prototypes::default().skeleton(id, &mut out);
        out
    }

    #[test]
    fn the_table_is_whole() {
        let Prototypes { ranges, texts } = Prototypes::unpack(PROTOTYPES);
        assert!(ranges.len() > 5_000, "{}", ranges.len());
        assert!(ranges.is_sorted_by(|a, b| a.1 < b.0));
        assert!(!texts.contains('\0'));
    }

    #[test]
    fn ascii_is_as_in_the_table() {
        let mut prototypes = Prototypes::default();
        for c in (0x20..0x7f).map(char::from) {
            let own = c.to_string();
            let expected = prototypes.prototype(c).unwrap_or(&own).to_owned();
            assert_eq!(skeleton(&own), expected, "{c}");
            if let Some(hash) = ascii_hash(&own) {
                assert_eq!(hash, expected.bytes().fold(HASH_START, hash_byte), "{c}");
            }
        }
    }

    #[test]
    fn other_scripts_and_invisible_characters_look_alike() {
        assert_eq!(skeleton("\u{430}cme"), skeleton("acme"));
        assert_eq!(skeleton("ac\u{200d}me"), skeleton("acme"));
        assert_eq!(skeleton("\u{e9}"), skeleton("e\u{301}"));
        assert_eq!(skeleton("paypa1"), skeleton("paypal"));
        assert_ne!(skeleton("acme"), skeleton("acne"));
    }
}
