//! Writes the table of what characters look like (UTS #39) in a form that a small component can
//! carry.
//!
//! For each range of characters of one prototype, in order: how many characters lie between it
//! and the range before, how many it has after its first, how many characters the prototype has,
//! how far its first character is from that of the range before, and how far each other one is
//! from the last such one. Each of these is a column of its own, with its length in bytes in
//! front, because what is alike then stands together. A column consists of runs: twice the length
//! in front of as many numbers, one more in front of the number that is repeated so often. Numbers
//! have seven bits a byte, lowest first; a distance is doubled, with the lowest bit for backwards.
//! Hangul syllables are left out: they decompose into letters that nothing else looks like.

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

/// Shorter repetitions are cheaper as they are.
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
