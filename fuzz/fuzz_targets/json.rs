//! The strict JSON reader, compared with `serde_json`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    agent_fuzz::reference::compare(text);
});
