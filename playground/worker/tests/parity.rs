//! Runs in a worker of a browser: the same actions and the same evidence as on this machine.
#![cfg(all(target_arch = "wasm32", feature = "run"))]

use serde_json::Value;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

/// The records, and how they are replayed.
#[path = "../../../tests/src/recorded.rs"]
pub mod recorded;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// The runs that `tests/examples/parity-runs.rs` wrote.
const RUNS: &str = include_str!(env!("AGENT_PARITY_RUNS"));

#[wasm_bindgen_test]
fn recorded_runs_ask_for_the_same_and_leave_the_same_evidence() {
    let runs: Vec<Value> = serde_json::from_str(RUNS).expect("runs");
    assert!(runs.len() > 300, "{} runs", runs.len());
    for run in runs {
        assert_eq!(recorded::replay(&run), run["digest"], "{}", run["name"]);
    }
}
