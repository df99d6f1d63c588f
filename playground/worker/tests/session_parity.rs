//! A session in a worker of a browser leaves the same log as on this machine.
#![cfg(all(target_arch = "wasm32", feature = "session"))]

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

#[path = "sessions/recorded.rs"]
mod recorded;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn a_session_leaves_the_log_of_this_machine() {
    assert_eq!(recorded::session().records, recorded::LOG);
    assert_eq!(recorded::leak().records, recorded::LEAK);
}
