//! The compact explanation: whatever it is, it is expanded to JSON or refused with places.
#![no_main]

use agent_render as render;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match render::expand(bytes.to_vec()) {
        Ok(full) => {
            let value: serde_json::Value = serde_json::from_str(&full).expect("it is JSON");
            assert_eq!(full, format!("{value:#}\n"), "the form of the file");
        }
        Err(found) => {
            assert!(!found.is_empty());
            agent_fuzz::check(bytes, &found);
        }
    }
});
