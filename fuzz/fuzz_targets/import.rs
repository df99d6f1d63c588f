//! A document, a line `=====` and an overlay: imported or refused; and imported again, the index
//! has the same bytes.
#![no_main]

use agent_import::{Overlay, import};
use agent_lower as lower;
use agent_lower::Notation;
use libfuzzer_sys::fuzz_target;

const BETWEEN: &[u8] = b"\n=====\n";

fuzz_target!(|bytes: &[u8]| {
    let at = bytes.windows(BETWEEN.len()).position(|it| it == BETWEEN);
    let (document, overlay) = match at {
        None => (bytes, None),
        Some(at) => (&bytes[..at], Some(&bytes[at + BETWEEN.len()..])),
    };
    let overlay = overlay.map(|bytes| Overlay {
        bytes: bytes.to_vec(),
        notation: Notation::ByContent,
    });
    let Ok(imported) = import(vec![document.to_vec()], overlay.clone(), None) else {
        return;
    };
    let index = imported.value.index;
    lower::index(index.clone().into_bytes()).expect("the output is an index");
    let again = import(vec![document.to_vec()], overlay, Some(index.clone().into_bytes()));
    let again = again.expect("a document can be imported again").value;
    assert_eq!(again.index, index);
    assert!(again.added.is_empty() && again.changed.is_empty());
});
