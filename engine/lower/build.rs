//! Writes the table of lookalike characters (UTS #39) in a form compact enough for a small component.
//!
//! The table has one record for each range of characters with the same prototype, in order:
//!
//! 1. the number of characters between this range and the one before;
//! 2. the number of its characters after the first;
//! 3. the number of characters of its prototype;
//! 4. the distance from the previous prototype's first character to its own;
//! 5. for each further character, the distance from the last such character.
//!
//! Each of these is a separate column, preceded by its length in bytes, because similar numbers
//! compress best side by side. A column consists of runs. An even number announces half as many
//! single numbers. An odd number announces half as many repetitions (rounded down) of one number.
//! Numbers have seven bits a byte, lowest first. A distance is doubled, and its lowest bit means
//! backwards. Hangul syllables are left out: they decompose into letters without lookalikes.

use std::env;
use std::path::Path;
use unicode_security::skeleton;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let [mut gaps, mut lens, mut counts, mut firsts, mut others] = [const { Vec::new() }; 5];
    let [mut next, mut before_first, mut before_other] = [0; 3];
    let mut open: Option<(u32, u32, String)> = None;
    let mut close = |(first, last, prototype): (u32, u32, String)| {
        gaps.push(first - next);
        lens.push(last - first);
        counts.push(prototype.chars().count() as u32);
        for (place, c) in prototype.chars().enumerate() {
            let (column, before) = match place {
                0 => (&mut firsts, &mut before_first),
                _ => (&mut others, &mut before_other),
            };
            column.push(distance(*before, u32::from(c)));
            *before = u32::from(c);
        }
        next = last + 1;
    };
    for c in ('\0'..=char::MAX).filter(|c| !('\u{ac00}'..='\u{d7a3}').contains(c)) {
        let own = c.to_string();
        let prototype: String = skeleton(&own).collect();
        if prototype == own {
            continue;
        }
        let number = u32::from(c);
        match &mut open {
            Some((_, last, before)) if *last + 1 == number && *before == prototype => {
                *last = number;
            }
            _ => {
                if let Some(range) = open.replace((number, number, prototype)) {
                    close(range);
                }
            }
        }
    }
    if let Some(range) = open {
        close(range);
    }
    let mut packed = Vec::new();
    for column in [gaps, lens, counts, firsts, others] {
        let column = runs(&column);
        write_number(&mut packed, column.len() as u32);
        packed.extend(column);
    }
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("prototypes"), packed).expect("OUT_DIR can be written to");
}

fn write_number(packed: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        packed.push(number as u8 | 0x80);
        number >>= 7;
    }
    packed.push(number as u8);
}

fn distance(from: u32, to: u32) -> u32 {
    from.abs_diff(to) << 1 | u32::from(to < from)
}

/// Minimum length of a run; shorter repetitions take less space as single numbers.
const WORTH_A_RUN: usize = 3;

fn runs(numbers: &[u32]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut single = Vec::new();
    let write_single = |single: &mut Vec<u32>, packed: &mut Vec<u8>| {
        if !single.is_empty() {
            write_number(packed, (single.len() as u32) << 1);
            single
                .drain(..)
                .for_each(|number| write_number(packed, number));
        }
    };
    for same in numbers.chunk_by(|a, b| a == b) {
        if same.len() < WORTH_A_RUN {
            single.extend(same);
        } else {
            write_single(&mut single, &mut packed);
            write_number(&mut packed, (same.len() as u32) << 1 | 1);
            write_number(&mut packed, same[0]);
        }
    }
    write_single(&mut single, &mut packed);
    packed
}
