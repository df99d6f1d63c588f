//! Writes the table of what characters look like (UTS #39) in a form that a small component can
//! carry.
//!
//! For each range of characters of one prototype, in order: how many characters lie between it
//! and the range before, how many it has after its first, how many characters the prototype has,
//! how far its first character is from that of the range before, and how far each other one is
//! from the last such one. Each of these is a column of its own, with its length in bytes in
//! front, because what is alike then stands together when it is compressed. Numbers have seven
//! bits a byte, lowest first; a distance is doubled, with the lowest bit for backwards. Hangul
//! syllables are left out: they decompose into letters that nothing else looks like.

use std::path::Path;
use unicode_security::skeleton;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let [mut gaps, mut lens, mut counts, mut firsts, mut others] = [const { Vec::new() }; 5];
    let [mut next, mut before_first, mut before_other] = [0; 3];
    let mut open: Option<(u32, u32, String)> = None;
    let mut close = |(first, last, prototype): (u32, u32, String)| {
        write_number(&mut gaps, first - next);
        write_number(&mut lens, last - first);
        write_number(&mut counts, prototype.chars().count() as u32);
        for (place, c) in prototype.chars().enumerate() {
            let (column, before) = match place {
                0 => (&mut firsts, &mut before_first),
                _ => (&mut others, &mut before_other),
            };
            write_distance(column, *before, u32::from(c));
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
        write_number(&mut packed, column.len() as u32);
        packed.extend(column);
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("prototypes"), packed).expect("OUT_DIR can be written to");
}

fn write_number(packed: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        packed.push(number as u8 | 0x80);
        number >>= 7;
    }
    packed.push(number as u8);
}

fn write_distance(packed: &mut Vec<u8>, from: u32, to: u32) {
    write_number(packed, from.abs_diff(to) << 1 | u32::from(to < from));
}
