//! Warnings about ids that look alike but differ.
//!
//! Ids are compared by code point and never normalised. A letter of another script could lead to
//! the wrong server, so two ids with the same skeleton (UTS #39, section 4) cause a warning.

use agent_diagnostic::{Code, Problems};
use agent_model::{Index, Rank};
use agent_text::sort::{sort_by, sort_by_number};
use agent_text::spelled;
use std::ops::Range;

/// The table of prototypes. The build script makes it from the `unicode-security` crate and
/// documents its format.
#[cfg(any(test, feature = "lookalikes"))]
const PROTOTYPES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/prototypes"));

/// A build without them knows those of ASCII alone.
#[cfg(not(any(test, feature = "lookalikes")))]
const PROTOTYPES: &[u8] = &[];

/// Returns whether an index has ids whose lookalikes this build may miss.
pub fn misses_lookalikes(index: &Index) -> bool {
    PROTOTYPES.is_empty()
        && index
            .by_name()
            .iter()
            .any(|rank| !index.server(*rank).id().is_ascii())
}

/// Warns about each id that looks like another one.
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
        // Few groups get here, so computing whole skeletons to separate hash collisions is cheap.
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
            let message = format!("the id `{other}` looks like `{one}`");
            problems
                .report(Code::LookalikeId, *other_span, spelled(other), message)
                .also(*one_span, spelled(one))
                .help("check the spelling of the id that you mean: ids are compared by code point");
        }
    }
}

/// FNV-1a with 64 bits: it is the same on every host, and needs no other property.
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
}

/// Returns the hash of an ASCII id's skeleton without building the skeleton. Returns `None` if the
/// id contains `"`, `%` or a character outside of ASCII.
fn ascii_hash(id: &str) -> Option<u64> {
    id.bytes().try_fold(HASH_START, |hash, byte| match byte {
        b'm' => Some(hash_byte(hash_byte(hash, b'r'), b'n')),
        b'"' | b'%' | 0x80.. => None,
        byte => Some(hash_byte(hash, ASCII[byte as usize])),
    })
}

/// The prototypes of ASCII characters that are one ASCII character.
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
    /// First and last character of a range, and the range of each one's prototype in `texts`:
    /// sorted. Unpacked for the first id that is not ASCII.
    ranges: Vec<(u32, u32, Range<usize>)>,
    texts: String,
}

impl Prototypes {
    /// Writes the skeleton of an id to `out`.
    fn skeleton(&mut self, id: &str, out: &mut String) {
        out.clear();
        for c in id.chars() {
            self.each(c, |c| out.push(c));
        }
    }

    /// Passes each character of a character's prototype to `put`.
    pub fn each(&mut self, c: char, mut put: impl FnMut(char)) {
        match c {
            // Written out for speed; a test compares them with the table.
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

    /// Returns the prototype of a character, if it differs from the character.
    fn prototype(&mut self, c: char) -> Option<&str> {
        if PROTOTYPES.is_empty() {
            return None;
        }
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

/// A run-length encoded column of numbers.
struct Column<'p> {
    packed: &'p [u8],
    /// Remaining numbers of the run.
    left: u32,
    /// The repeated number of the run; `None` if its numbers differ.
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

/// Reads a distance from a column, and moves by it.
fn moved(from: &mut u32, column: &mut Column<'_>) -> char {
    let distance = column.next();
    *from = match distance & 1 {
        0 => *from + (distance >> 1),
        _ => *from - (distance >> 1),
    };
    // The build script wrote a character; a test reads the whole table.
    char::from_u32(*from).unwrap_or_default()
}

/// Reads a number: seven bits a byte, lowest first, the high bit set on all but the last.
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
