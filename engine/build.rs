//! Writes the table of what characters look like (UTS #39) in a form that a small component can
//! carry.
//!
//! For each range of characters of one prototype, in order: how many characters lie between it
//! and the range before, how many it has after its first, the length of the prototype in bytes,
//! and the prototype in UTF-8. Numbers have seven bits a byte, lowest first. Hangul syllables are
//! left out: they decompose into letters that nothing else looks like.

use std::path::Path;
use unicode_security::skeleton;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut packed = Vec::new();
    let mut next = 0;
    let mut open: Option<(u32, u32, String)> = None;
    let mut close = |(first, last, prototype): (u32, u32, String)| {
        write_number(&mut packed, first - next);
        write_number(&mut packed, last - first);
        write_number(&mut packed, prototype.len() as u32);
        packed.extend_from_slice(prototype.as_bytes());
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
