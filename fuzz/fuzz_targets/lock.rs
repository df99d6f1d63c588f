//! `agents.lock`: an accepted lock renders to its own bytes and has no differences to itself.
#![no_main]

use agent_decide::{LockState, compare};
use agent_lower as lower;
use agent_render as render;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(lock) = agent_fuzz::checked(bytes, lower::lock(bytes.to_vec())) else {
        return;
    };
    let text = render::lock(&lock);
    let again = lower::lock(text.clone().into_bytes()).expect("it was just written");
    assert_eq!(again.value, lock);
    assert_eq!(render::lock(&again.value), text);
    assert_eq!(compare(Some(&lock), &again.value), LockState::Fresh);
});
