//! The order of the functions of a module: similar ones close together, where compression finds one in the other.
//!
//! DEFLATE looks back 32 KiB, and `wasm-bindgen` writes functions by their sizes. Of a page's code this order takes 4 %,
//! of the engine's 2.5 %.

use anyhow::Result;
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use wasmparser::{Parser, Payload, TypeRef};

/// The length of the pieces by which functions are compared, in bytes.
const PIECE: usize = 6;

/// The number of functions above which a piece says nothing about them.
const COMMON: usize = 16;

/// The number of bytes that DEFLATE looks back.
const WINDOW: usize = 32 << 10;

/// The pass of `wasm-opt` that follows the names of [`with_names`].
pub(super) const PASS: &str = "--reorder-functions-by-name";

/// Returns a module whose functions are named by their places in the order.
pub(super) fn with_names(mut module: Vec<u8>) -> Result<Vec<u8>> {
    let mut imported = 0;
    let mut functions = Vec::new();
    for payload in Parser::new(0).parse_all(&module) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += usize::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => functions.push(body.as_bytes()),
            _ => {}
        }
    }
    let mut places = vec![0; functions.len()];
    for (place, function) in order(&functions).into_iter().enumerate() {
        places[function] = place;
    }
    let mut names = number(places.len());
    for (function, place) in places.iter().enumerate() {
        names.extend(number(imported + function));
        names.extend(sized(format!("{place:06}").as_bytes()));
    }
    let mut section = sized(b"name");
    section.push(1); // The names of functions.
    section.extend(sized(&names));
    module.push(0); // A custom section.
    module.extend(sized(&section));
    Ok(module)
}

/// Returns the functions in their order: the next one is that which shares the most with those before it, for its size.
fn order(functions: &[&[u8]]) -> Vec<usize> {
    let mut holders: HashMap<_, Vec<usize>> = HashMap::new();
    for (function, body) in functions.iter().enumerate() {
        for piece in body.windows(PIECE) {
            let holders = holders.entry(piece).or_default();
            if holders.last() != Some(&function) {
                holders.push(function);
            }
        }
    }
    let telling = holders.into_values();
    let telling: Vec<_> = telling
        .filter(|it| (2..=COMMON).contains(&it.len()))
        .collect();
    let mut pieces = vec![Vec::new(); functions.len()];
    for (piece, holders) in telling.iter().enumerate() {
        for holder in holders {
            pieces[*holder].push(piece);
        }
    }

    // How often the window has a piece, and how many pieces a function shares with it.
    let mut seen = vec![0_u32; telling.len()];
    let mut shared = vec![0_u64; functions.len()];
    let mut window = VecDeque::new();
    let mut bytes = 0;
    let mut waiting: Vec<usize> = (0..functions.len()).collect();
    let mut order = Vec::new();
    let length = |function: usize| functions[function].len() as u64;
    while let Some(at) = (0..waiting.len()).max_by(|a, b| {
        let [a, b] = [a, b].map(|at| waiting[*at]);
        let by_likeness = (shared[a].pow(2) * length(b)).cmp(&(shared[b].pow(2) * length(a)));
        by_likeness.then_with(|| (length(a), Reverse(a)).cmp(&(length(b), Reverse(b))))
    }) {
        let next = waiting.remove(at);
        order.push(next);
        window.push_back(next);
        bytes += functions[next].len();
        for piece in &pieces[next] {
            seen[*piece] += 1;
            if seen[*piece] == 1 {
                telling[*piece].iter().for_each(|it| shared[*it] += 1);
            }
        }
        while bytes > WINDOW
            && window.len() > 1
            && let Some(left) = window.pop_front()
        {
            bytes -= functions[left].len();
            for piece in &pieces[left] {
                seen[*piece] -= 1;
                if seen[*piece] == 0 {
                    telling[*piece].iter().for_each(|it| shared[*it] -= 1);
                }
            }
        }
    }
    order
}

/// Returns bytes after their number.
fn sized(bytes: &[u8]) -> Vec<u8> {
    let mut sized = number(bytes.len());
    sized.extend(bytes);
    sized
}

/// Returns a number as a module has it: LEB128.
fn number(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = value.to_le_bytes()[0] & 0x7f;
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::{WINDOW, number, order, with_names};

    #[test]
    fn similar_functions_are_close_and_the_largest_is_first() {
        let (plans, calls) = ([1, 2, 3, 4, 5, 6, 7, 8], [11, 12, 13, 14, 15, 16, 17, 18]);
        let functions: [&[u8]; 5] = [
            &calls[1..],
            &plans[1..],
            &calls,
            &[21, 22, 23, 24, 25, 26, 27, 28, 29],
            &plans,
        ];
        assert_eq!(order(&functions), [3, 2, 0, 4, 1]);
    }

    #[test]
    fn what_is_out_of_sight_does_not_count() {
        let mut long = [0; WINDOW];
        long[..8].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
        long[8..14].copy_from_slice(&[11, 12, 13, 14, 15, 16]);
        let more: &[u8] = &[2, 3, 4, 5, 6, 7, 8];
        let less: &[u8] = &[11, 12, 13, 14, 15, 16];
        let nothing: &[u8] = &[21, 22, 23, 24, 25, 26, 27];
        assert_eq!(order(&[less, nothing, more, &long]), [3, 2, 1, 0]);
        assert_eq!(order(&[less, nothing, &long]), [2, 0, 1]);
        assert_eq!(order(&[]), [0; 0]);
    }

    #[test]
    fn names_follow_the_module_and_count_its_imports() {
        // (module (import "i" "f" (func)) (func) (func nop nop))
        let module = [
            &b"\0asm\x01\0\0\0"[..],
            b"\x01\x04\x01\x60\0\0",
            b"\x02\x07\x01\x01i\x01f\0\0",
            b"\x03\x03\x02\0\0",
            b"\x0a\x09\x02\x02\0\x0b\x04\0\x01\x01\x0b",
        ];
        let module = module.concat();
        let named = with_names(module.clone()).unwrap();
        let section = named.strip_prefix(&*module).unwrap();
        assert_eq!(
            section,
            b"\0\x18\x04name\x01\x11\x02\x01\x06000001\x02\x06000000"
        );
        assert!(with_names(b"\0asm".to_vec()).is_err());
    }

    #[test]
    fn a_number_has_seven_bits_a_byte() {
        assert_eq!(number(0), [0]);
        assert_eq!(number(0x7f), [0x7f]);
        assert_eq!(number(624_485), [0xe5, 0x8e, 0x26]);
    }
}
